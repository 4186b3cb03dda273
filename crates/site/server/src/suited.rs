//! Products that suit a use, from shared runs under the same circumstances.

use std::collections::BTreeMap;
use std::sync::Arc;

use cardmark_catalog::{Use, uses};
use cardmark_core::Metric;
use cardmark_judge::{Suitability, suitability};
use cardmark_site_store::RankedContext;
use tokio::sync::Mutex;

use crate::answers::this_minute;
use crate::lists::SummaryView;
use crate::problem::Refusal;
use crate::published::quantity;
use crate::rankings::places;
use crate::state::Site;

/// Products of a metric that are looked at, the best first.
const MOST_PRODUCTS: u32 = 100;

/// Products under the same circumstances, those that suit best first.
#[derive(Debug)]
pub(crate) struct Suited {
    pub(crate) context: BTreeMap<String, String>,
    pub(crate) products: Vec<SuitedProduct>,
}

/// A product with all key figures of a use.
#[derive(Debug)]
pub(crate) struct SuitedProduct {
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) suitability: Suitability,
    /// The figure that limits it.
    pub(crate) limiting: SummaryView,
}

/// Answers by use; uses without ranked products are absent.
pub(crate) type ByUse = BTreeMap<&'static str, Suited>;

/// The answers of a minute, for the pages that show them.
#[derive(Debug, Default)]
pub(crate) struct KeptSuited(Mutex<Option<(i64, Arc<ByUse>)>>);

/// Returns the products that suit each use. They are found once a minute, by one of those who ask.
pub(crate) async fn suited(site: &Site, kept: &KeptSuited) -> Result<Arc<ByUse>, Refusal> {
    let now = this_minute();
    let mut kept = kept.0.lock().await;
    if let Some((_, found)) = kept.as_ref().filter(|(at, _)| *at == now) {
        return Ok(Arc::clone(found));
    }
    let mut by_use = BTreeMap::new();
    for wanted in uses() {
        if let Some(found) = of_use(site, wanted).await? {
            by_use.insert(wanted.id.as_str(), found);
        }
    }
    let found = Arc::new(by_use);
    *kept = Some((now, Arc::clone(&found)));
    Ok(found)
}

/// Products in the circumstances in which most are ranked by the need with the greatest weight.
async fn of_use(site: &Site, wanted: &'static Use) -> Result<Option<Suited>, Refusal> {
    let Some(context) = circumstances(site, wanted).await? else {
        return Ok(None);
    };
    let mut products = BTreeMap::<String, (String, Vec<SummaryView>)>::new();
    for metric in wanted.needs.iter().flat_map(|need| &need.metrics) {
        for place in places(site, metric, context.key, MOST_PRODUCTS).await? {
            let product = products.entry(place.key).or_default();
            product.0 = place.name;
            product.1.push(place.summary);
        }
    }
    let product = |(key, (name, summaries)): (String, (String, Vec<SummaryView>))| {
        let metric =
            |one: &SummaryView| Metric::new(&one.metric, quantity(&one.metric), one.median);
        let metrics: Vec<Metric> = summaries.iter().map(metric).collect();
        let suitability = suitability(&metrics, wanted)?;
        // A product is comparable only with all key figures.
        suitability.score?;
        let limits = |one: &SummaryView| one.metric == suitability.limiting.metric;
        let limiting = summaries.into_iter().find(limits)?;
        Some(SuitedProduct {
            key,
            name,
            suitability,
            limiting,
        })
    };
    let mut products: Vec<SuitedProduct> = products.into_iter().filter_map(product).collect();
    products.sort_by(|a, b| {
        let key = |one: &SuitedProduct| {
            let score = one.suitability.score.unwrap_or_default();
            (one.suitability.limiting.share(), score)
        };
        let (a, b) = (key(a), key(b));
        b.0.total_cmp(&a.0).then_with(|| b.1.total_cmp(&a.1))
    });
    Ok((!products.is_empty()).then_some(Suited {
        context: context.context,
        products,
    }))
}

async fn circumstances(site: &Site, wanted: &Use) -> Result<Option<RankedContext>, Refusal> {
    let needs = wanted.needs.iter();
    let Some(first) = needs.max_by(|a, b| a.weight.total_cmp(&b.weight)) else {
        return Ok(None);
    };
    let mut most: Option<RankedContext> = None;
    for metric in &first.metrics {
        let found = site
            .store
            .contexts(metric, None, 1)
            .await?
            .into_iter()
            .next();
        let count = |one: &Option<RankedContext>| one.as_ref().map(|one| one.products_count);
        if count(&found) > count(&most) {
            most = found;
        }
    }
    Ok(most)
}
