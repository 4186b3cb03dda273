//! In which range a run's rates lie when the card is measured again.

use cardmark_core::Record;
use cardmark_stats::{Again, AgainBasis};

use crate::text::names::workload_name;
use crate::text::style::clean;
use crate::text::{figure, in_unit, unit};

/// One rate of the run, and the range in which the next run's lies.
#[derive(Clone, Debug, PartialEq)]
pub struct RateAgain {
    /// The metric.
    pub metric: String,
    /// The range; absent where nothing is known of the spread between runs.
    pub range: Option<Again>,
}

/// The sentence about the rates that the record has; none without any.
pub(crate) fn sentence(record: &Record, rates: &[RateAgain]) -> Option<String> {
    let mut parts: Vec<(Option<AgainBasis>, Vec<String>)> = Vec::new();
    for rate in rates {
        let Some(text) = told(record, rate) else {
            continue;
        };
        let basis = rate.range.map(|range| range.basis);
        match parts.iter_mut().find(|(known, _)| *known == basis) {
            Some((_, texts)) => texts.push(text),
            None => parts.push((basis, vec![text])),
        }
    }
    let is_nothing_known = parts.iter().all(|(basis, _)| basis.is_none());
    let parts: Vec<String> = parts
        .iter()
        .map(|(basis, texts)| match basis {
            Some(AgainBasis::OwnRuns(count)) => {
                format!("{} (from {count} runs of this card)", texts.join(", "))
            }
            Some(AgainBasis::Published) => {
                format!("{} (as far apart as repeats of other cards; three runs give this card's own range)", texts.join(", "))
            }
            None if is_nothing_known => "not known from one run; run it three times".to_owned(),
            None => format!("not known of {}", texts.join(", ")),
        })
        .collect();
    (!parts.is_empty()).then(|| format!("expected of the next run: {}", parts.join("; ")))
}

/// `random write 4 KiB 880–940 IOPS`; the name alone without a range.
fn told(record: &Record, rate: &RateAgain) -> Option<String> {
    let metric = record.metric(&rate.metric)?;
    let name = clean(workload_name(&metric.id));
    let Some(range) = rate.range else {
        return Some(name);
    };
    let end = |value: f64| figure(in_unit(metric.quantity, value));
    Some(format!(
        "{name} {}–{} {}",
        end(range.low),
        end(range.high),
        unit(&metric.id, metric.quantity)
    ))
}

#[cfg(test)]
mod tests {
    use cardmark_core::{Metric, Origin, OriginKind, Quantity, run_id_from_bytes};

    use super::*;

    fn record() -> Record {
        let origin = Origin::of(OriginKind::Measured);
        let mut record = Record::new(run_id_from_bytes([1; 16]), origin);
        record.metrics = vec![
            Metric::new("seq_read_1m", Quantity::ByteRate, 90e6),
            Metric::new("rand_write_4k", Quantity::OperationRate, 910.0),
        ];
        record
    }

    fn rate(metric: &str, range: Option<(f64, f64, AgainBasis)>) -> RateAgain {
        RateAgain {
            metric: metric.to_owned(),
            range: range.map(|(low, high, basis)| Again { low, high, basis }),
        }
    }

    #[test]
    fn it_tells_the_range_and_what_it_rests_on() {
        let own = AgainBasis::OwnRuns(4);
        let write = rate("rand_write_4k", Some((880.0, 940.0, own)));
        let read = |basis| rate("seq_read_1m", Some((80e6, 95e6, basis)));
        let text = |rates: &[RateAgain]| sentence(&record(), rates).unwrap();
        assert_eq!(
            text(&[read(own), write.clone()]),
            "expected of the next run: sequential read 1 MiB 80.0–95.0 MB/s, random write 4 KiB 880–940 IOPS \
             (from 4 runs of this card)"
        );
        assert_eq!(
            text(&[read(AgainBasis::Published), write.clone()]),
            "expected of the next run: sequential read 1 MiB 80.0–95.0 MB/s (as far apart as repeats of other cards; three runs give this card's own range); \
             random write 4 KiB 880–940 IOPS (from 4 runs of this card)"
        );
        assert_eq!(
            text(&[rate("seq_read_1m", None), write]),
            "expected of the next run: not known of sequential read 1 MiB; random write 4 KiB 880–940 IOPS (from 4 \
             runs of this card)"
        );
    }

    #[test]
    fn nothing_known_is_said_and_what_was_not_measured_is_not_spoken_of() {
        let none = [rate("seq_read_1m", None), rate("rand_write_4k", None)];
        let text = sentence(&record(), &none).unwrap();
        let expected = "expected of the next run: not known from one run; run it three times";
        assert_eq!(text, expected);
        assert_eq!(sentence(&record(), &[rate("seq_write_1m", None)]), None);
        assert_eq!(sentence(&record(), &[]), None);
    }
}
