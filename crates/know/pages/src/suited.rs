//! Products that suit a use, from shared runs under the same circumstances.

use std::collections::BTreeMap;

use cardmark_catalog::{Use, uses};
use cardmark_core::Metric;
use cardmark_judge::suitability;

use crate::queries::Queries;
use crate::views::product::SummaryView;
use crate::views::published::quantity;
use crate::views::ranking::ContextEntry;
use crate::views::suited::{ByUse, Suited, SuitedProduct};

/// Products of a metric that are looked at, the best first.
const MOST_PRODUCTS: u32 = 100;

/// Finds the products that suit each use.
///
/// # Errors
/// If a query has no answer.
pub async fn by_use<Q: Queries>(queries: &Q) -> Result<ByUse, Q::Error> {
    let mut by_use = BTreeMap::new();
    for wanted in uses() {
        if let Some(found) = of_use(queries, wanted).await? {
            by_use.insert(wanted.id.as_str(), found);
        }
    }
    Ok(by_use)
}

/// Products in the circumstances in which most are ranked by the need with the greatest weight.
async fn of_use<Q: Queries>(queries: &Q, wanted: &'static Use) -> Result<Option<Suited>, Q::Error> {
    let Some(context) = circumstances(queries, wanted).await? else {
        return Ok(None);
    };
    let mut products = BTreeMap::<String, (String, Vec<SummaryView>)>::new();
    for metric in wanted.needs.iter().flat_map(|need| &need.metrics) {
        let ranking = queries.ranking(metric, context.key, None, MOST_PRODUCTS);
        for place in ranking.await?.places {
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

async fn circumstances<Q: Queries>(
    queries: &Q,
    wanted: &Use,
) -> Result<Option<ContextEntry>, Q::Error> {
    let needs = wanted.needs.iter();
    let Some(first) = needs.max_by(|a, b| a.weight.total_cmp(&b.weight)) else {
        return Ok(None);
    };
    let mut most: Option<ContextEntry> = None;
    for metric in &first.metrics {
        let found = queries.contexts(metric, None, 1).await?.contexts;
        let found = found.into_iter().next();
        let count = |one: &Option<ContextEntry>| one.as_ref().map(|one| one.products_count);
        if count(&found) > count(&most) {
            most = found;
        }
    }
    Ok(most)
}
