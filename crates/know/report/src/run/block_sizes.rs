//! The smallest block size that is fast.

use cardmark_core::{Metric, Quantity, Record};

use crate::text::names::workload_name;
use crate::text::style::clean;
use crate::text::value;

/// Least rate, relative to the fastest, of a block size that counts as fast.
const FAST_RATIO: f64 = 0.95;

/// The smallest block sizes of writes and reads that are fast, if the run measured several.
pub(crate) fn sentence(record: &Record) -> Option<String> {
    let kinds = ["block_write_", "block_read_"];
    let found = kinds.iter().filter_map(|kind| fast(record, kind));
    let parts: Vec<String> = found.map(part).collect();
    (!parts.is_empty()).then(|| {
        let parts = parts.join(", ");
        format!("smallest block size within 5 % of the fastest: {parts}")
    })
}

fn part(metric: &Metric) -> String {
    let rate = value(&metric.id, metric.quantity, metric.value);
    format!("{} ({rate})", clean(workload_name(&metric.id)))
}

/// The metric of the smallest block size that is fast; `None` without two sizes whose rates are the device's.
fn fast<'r>(record: &'r Record, kind: &str) -> Option<&'r Metric> {
    let is_size = |metric: &&Metric| {
        let is_rate = metric.quantity == Quantity::ByteRate && metric.voided_by().is_none();
        is_rate && metric.id.starts_with(kind)
    };
    let mut sizes: Vec<(u64, &Metric)> = record
        .metrics
        .iter()
        .filter(is_size)
        .filter_map(|metric| Some((bytes(metric.id.strip_prefix(kind)?)?, metric)))
        .collect();
    sizes.sort_by_key(|(bytes, _)| *bytes);
    let most = sizes
        .iter()
        .map(|(_, metric)| metric.value)
        .fold(0.0, f64::max);
    let mut fast = sizes
        .iter()
        .filter(|(_, metric)| metric.value >= FAST_RATIO * most);
    fast.next()
        .map(|(_, metric)| *metric)
        .filter(|_| sizes.len() > 1)
}

/// Bytes of `4k` or `1m`.
fn bytes(size: &str) -> Option<u64> {
    let (number, unit) = match size.strip_suffix('k') {
        Some(number) => (number, 1 << 10),
        None => (size.strip_suffix('m')?, 1 << 20),
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use cardmark_core::{Origin, OriginKind, run_id_from_bytes};

    use super::*;

    #[test]
    fn the_smallest_size_that_is_fast_is_named() {
        let origin = Origin::of(OriginKind::Measured);
        let mut record = Record::new(run_id_from_bytes([1; 16]), origin);
        assert_eq!(sentence(&record), None);
        // As dd of an A1 card showed, with a larger size that is no faster.
        let rates = [
            ("block_write_16m", 20.0e6),
            ("block_write_4k", 3.7e6),
            ("block_write_1m", 19.9e6),
            ("block_write_256k", 18.0e6),
            ("block_read_4k", 11e6),
        ];
        record.metrics = rates
            .map(|(id, rate)| Metric::new(id, Quantity::ByteRate, rate))
            .to_vec();
        assert_eq!(
            sentence(&record).as_deref(),
            Some(
                "smallest block size within 5 % of the fastest: sequential write 1 MiB (19.9 MB/s)"
            )
        );
        record.metrics[2].warnings = vec!["not_reached".to_owned()];
        assert!(sentence(&record).unwrap().contains("write 16 MiB"));
    }
}
