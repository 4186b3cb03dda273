//! Metrics that typed figures and tables may name: those of our suites, of publications, and of the
//! tools.

use std::collections::BTreeMap;

use cardmark_catalog::{publications, suite, suite_names};
use cardmark_core::{KIB, LatencyFigure, Quantity, Suite, Workload};
use cardmark_import::{KnownMetric, tool_metrics};
use cardmark_report::workload_name;

/// From this block size on, the rate of a workload is in bytes.
const BYTE_RATE_BLOCK_BYTES: u64 = 64 * KIB;

/// Returns the metrics, in the order of their ids.
pub(super) fn known_metrics() -> Vec<KnownMetric> {
    let mut quantities = BTreeMap::new();
    for metric in tool_metrics() {
        quantities.insert(metric.id, metric.quantity);
    }
    for publication in publications() {
        for figure in publication.runs.iter().flat_map(|run| &run.figures) {
            quantities.insert(figure.metric.clone(), figure.quantity);
        }
    }
    for suite in suite_names()
        .into_iter()
        .filter_map(|name| suite(name, None).ok())
    {
        quantities.extend(of_suite(&suite));
    }
    let metrics = quantities.into_iter().map(|(id, quantity)| KnownMetric {
        title: workload_name(&id).to_owned(),
        id,
        quantity,
    });
    metrics.collect()
}

fn of_suite(suite: &Suite) -> Vec<(String, Quantity)> {
    // Figures of a course have many quantities, and no tool prints them.
    let figures = suite.figures.iter();
    let figures = figures.filter_map(|figure| Some((figure.id.clone(), figure.of.quantity()?)));
    let has_figures = |workload: &&Workload| suite.figures_of(&workload.id).next().is_some();
    let workloads = suite.workloads.iter().filter(|it| !has_figures(it));
    let workloads = workloads.flat_map(|workload| {
        let quantity = match workload.block_bytes {
            BYTE_RATE_BLOCK_BYTES.. => Quantity::ByteRate,
            _ => Quantity::OperationRate,
        };
        let spans = [LatencyFigure::P50, LatencyFigure::P99];
        let spans = spans.map(|figure| (figure.of(&workload.id), Quantity::Span));
        std::iter::once((workload.id.clone(), quantity)).chain(spans)
    });
    figures.chain(workloads).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_the_quantity_that_runs_give_them() {
        let known = known_metrics();
        for (id, quantity) in [
            ("rand_read_4k", Quantity::OperationRate),
            ("rand_read_4k_p99", Quantity::Span),
            ("seq_write_1m", Quantity::ByteRate),
            ("iozone_random_write", Quantity::ByteRate),
            ("iozone_t4_read_parent", Quantity::ByteRate),
            ("hdparm_t", Quantity::ByteRate),
            ("agnostics_rand_write", Quantity::OperationRate),
            ("f3_usable", Quantity::Size),
        ] {
            let metric = known.iter().find(|metric| metric.id == id);
            assert_eq!(metric.map(|metric| metric.quantity), Some(quantity), "{id}");
        }
    }
}
