//! Metrics that typed figures and tables may name: those of our suites, of publications, and of the
//! tools.

use std::collections::BTreeMap;

use cardmark_catalog::metric_quantities;
use cardmark_core::Quantity;
use cardmark_import::{KnownMetric, tool_metrics};
use cardmark_report::workload_name;

/// Returns the metrics, in the order of their ids.
pub(super) fn known_metrics() -> Vec<KnownMetric> {
    let of_tools = tool_metrics().into_iter();
    let mut quantities: BTreeMap<String, Quantity> = of_tools
        .map(|metric| (metric.id, metric.quantity))
        .collect();
    quantities.extend(metric_quantities());
    let metrics = quantities.into_iter().map(|(id, quantity)| KnownMetric {
        title: workload_name(&id).to_owned(),
        id,
        quantity,
    });
    metrics.collect()
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
