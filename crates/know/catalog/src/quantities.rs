//! Quantities of metrics.

use std::collections::BTreeMap;

use cardmark_core::{KIB, LatencyFigure, Quantity, Suite, Workload};

use crate::{publications, suite, suite_names};

/// From this block size on, the rate of a workload is in bytes.
const BYTE_RATE_BLOCK_BYTES: u64 = 64 * KIB;

/// Returns the quantities of the metrics of our suites and of publications, by the metrics' ids.
pub fn metric_quantities() -> BTreeMap<String, Quantity> {
    let mut quantities = BTreeMap::new();
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
    quantities
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
