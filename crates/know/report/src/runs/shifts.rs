//! Changes of level of rates in words.

use cardmark_stats::{RateTrend, Shift};

use crate::text::names::workload_name;
use crate::text::{MISSING, count_of, percent};

/// Returns a clause for each day on which levels of rates changed, the last day first.
pub(crate) fn clauses(trends: &[RateTrend]) -> Vec<String> {
    let mut changed: Vec<(&RateTrend, &Shift)> = trends
        .iter()
        .filter_map(|trend| Some((trend, trend.shift.as_ref()?)))
        .collect();
    changed.sort_by(|one, other| other.1.at_days.total_cmp(&one.1.at_days));
    changed
        .chunk_by(|one, other| is_same_change(one.1, other.1))
        .map(clause)
        .collect()
}

fn is_same_change(one: &Shift, other: &Shift) -> bool {
    one.at_days.total_cmp(&other.at_days).is_eq()
        && (one.days_count, one.beyond_count) == (other.days_count, other.beyond_count)
        && reference(one) == reference(other)
}

/// `since 2026-05-12, on 3 of 3 days with runs: random write 4 KiB about 50 % lower (the reference reads did not
/// change alike)`.
fn clause(changed: &[(&RateTrend, &Shift)]) -> String {
    let shift = changed[0].1;
    let rates: Vec<String> = changed
        .iter()
        .map(|(trend, shift)| format!("{} {}", workload_name(&trend.metric), amount(shift)))
        .collect();
    let days = count_of(shift.days_count, "day", "days");
    let kernel = if shift.has_new_kernel {
        ", with another kernel"
    } else {
        ""
    };
    format!(
        "since {}{kernel}, on {} of {days} with runs: {}{}",
        date_of(shift.at_days),
        shift.beyond_count,
        rates.join("; "),
        reference(shift)
    )
}

fn amount(shift: &Shift) -> String {
    let ratio = shift.change_ratio;
    match ratio {
        _ if ratio < 0.0 => format!("about {} lower", percent(-ratio)),
        0.9..=1.1 => "about double".to_owned(),
        _ => format!("about {} higher", percent(ratio)),
    }
}

/// Returns the bearing of the reference reads on the cause.
fn reference(shift: &Shift) -> &'static str {
    match shift.is_in_reference() {
        Some(true) => " (the reference reads changed alike: look at board, reader and power, too)",
        Some(false) => " (the reference reads did not change alike)",
        None => "",
    }
}

/// The date (UTC) of a moment in days since 1970-01-01.
#[allow(
    clippy::cast_possible_truncation,
    reason = "seconds; the cast saturates where there are too many"
)]
pub(crate) fn date_of(at_days: f64) -> String {
    let second = libm::floor(at_days * 86_400.0) as i64;
    let moment = jiff::Timestamp::from_second(second);
    moment.map_or_else(
        |_| MISSING.to_owned(),
        |moment| moment.to_string().chars().take(10).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardmark_core::Quantity;
    use cardmark_stats::{HistoryRun, RateHistory, rate_trends};

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (at_days, date) in [
            (0.0, "1970-01-01"),
            (-0.1, "1969-12-31"),
            (10_956.999, "1999-12-31"),
            (11_016.5, "2000-02-29"),
            (11_017.0, "2000-03-01"),
            (20_513.4, "2026-03-01"),
            (47_540.0, "2100-02-28"),
            (47_541.0, "2100-03-01"),
        ] {
            assert_eq!(date_of(at_days), date);
        }
    }

    /// Eight even days, then three with these shares of both rates and of the reference reads.
    fn said(rates: [f64; 2], reference: f64, new_kernel: bool) -> Vec<String> {
        let history = |(metric, share): (&str, f64)| {
            let run = |day: i32| {
                let is_after = day >= 8;
                let of = |value: f64, share: f64| value * if is_after { share } else { 1.0 };
                HistoryRun {
                    at_days: 20_513.4 + 7.0 * f64::from(day),
                    value: of(1_000.0 + f64::from(day % 3), share),
                    kernel: Some(
                        if is_after && new_kernel {
                            "6.12"
                        } else {
                            "6.6"
                        }
                        .to_owned(),
                    ),
                    reference: Some(of(1_500.0, reference)),
                }
            };
            RateHistory {
                metric: metric.to_owned(),
                quantity: Quantity::OperationRate,
                runs: (0..11).map(run).collect(),
            }
        };
        let names = ["rand_write_4k", "rand_read_4k"];
        let histories: Vec<RateHistory> = names.into_iter().zip(rates).map(history).collect();
        clauses(&rate_trends(&histories))
    }

    #[test]
    fn a_change_of_level_is_told_with_its_days_and_reference_reads() {
        assert_eq!(
            said([0.5, 1.0], 1.0, false),
            [
                "since 2026-04-26, on 3 of 3 days with runs: random write 4 KiB about 50 % lower (the \
                 reference reads did not change alike)"
            ]
        );
        assert_eq!(
            said([0.6, 2.0], 0.6, true),
            [
                "since 2026-04-26, with another kernel, on 3 of 3 days with runs: random write 4 KiB about \
                 40 % lower (the reference reads changed alike: look at board, reader and power, too)",
                "since 2026-04-26, with another kernel, on 3 of 3 days with runs: random read 4 KiB \
                 about double (the reference reads did not change alike)",
            ]
        );
        assert!(said([0.9, 1.1], 0.5, false).is_empty());
    }
}
