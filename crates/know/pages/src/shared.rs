//! Figures from which products are recommended: published ones, and those of shared runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use cardmark_catalog::uses;
use cardmark_core::{OriginKind, Subject, told};
use cardmark_judge::{Figure, metrics_of_use, published_figures};

use crate::queries::Queries;
use crate::views::published::quantity;
use crate::views::ranking::RankedEntry;

/// Circumstances of a metric that count, those with the most products first.
const MOST_CONTEXTS: u32 = 10;
/// Products in the same circumstances that count, the best first.
const MOST_PRODUCTS: u32 = 100;
/// Source of these figures.
const SHARED: &str = "shared runs";

static PUBLISHED: LazyLock<Arc<Vec<Figure>>> =
    LazyLock::new(|| Arc::new(published_figures().to_vec()));

/// Returns the published figures.
#[must_use]
pub fn published() -> Arc<Vec<Figure>> {
    Arc::clone(&PUBLISHED)
}

/// Returns the published figures with those of shared runs, of products with at least three submitters.
///
/// # Errors
/// If a query has no answer.
pub async fn all_figures<Q: Queries>(queries: &Q) -> Result<Arc<Vec<Figure>>, Q::Error> {
    let metrics: BTreeSet<&str> = uses().iter().flat_map(metrics_of_use).collect();
    let mut shared = Vec::new();
    for metric in metrics {
        let contexts = queries
            .contexts(metric, None, MOST_CONTEXTS)
            .await?
            .contexts;
        for entry in contexts {
            let ranking = queries
                .ranking(metric, entry.key, None, MOST_PRODUCTS)
                .await?;
            let context = Arc::new(entry.context);
            shared.extend(
                ranking
                    .places
                    .into_iter()
                    .map(|place| figure(&context, place)),
            );
        }
    }
    if shared.is_empty() {
        return Ok(published());
    }
    Ok(Arc::new([published_figures(), &shared].concat()))
}

/// The median of the submitters, each of whom counts as a card.
fn figure(context: &Arc<BTreeMap<String, String>>, place: RankedEntry) -> Figure {
    let summary = place.summary;
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    Figure {
        subject: Arc::new(Subject {
            product: Some(place.name),
            model: None,
            board: told(context, "board").and_then(|_| context.get("board").cloned()),
            setting: None,
            origin: OriginKind::Measured,
            publication: Some(SHARED.to_owned()),
            card: None,
            context: Arc::clone(context),
        }),
        quantity: quantity(&summary.metric),
        value: summary.median,
        runs_count: count(summary.cards_count),
        cards_count: count(summary.submitters_count),
        year: None,
        is_uneven: false,
        metric: summary.metric,
    }
}
