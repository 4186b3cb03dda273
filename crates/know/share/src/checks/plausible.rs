//! Dates and workloads.

use cardmark_core::{Record, Trial, Workload};
use jiff::civil::Date;

use super::stated::stated_suite;
use crate::check::{Check, CheckName, CheckOutcome};

/// A date is at least a year and a month: `2026-11`.
const MONTH_CHARACTERS: usize = 7;

/// A run is not later than its arrival by more than a day (time zones), and not earlier than the month in which the
/// card was made. Boards without a clock have wrong dates: they are marked, and nothing follows from it.
pub(super) fn dates(record: &Record, received_on: &str) -> Check {
    let name = CheckName::Dates;
    let Some(started) = record.started_at.as_deref() else {
        return Check::of(name, CheckOutcome::CannotTell, "the record has no date");
    };
    let day = started.get(..received_on.len()).unwrap_or(started);
    if is_after_tomorrow(day, received_on) {
        let reason =
            format!("the run is of {day}, which is in the future: the board's clock was wrong");
        return Check::of(name, CheckOutcome::Marked, reason);
    }
    let card = record
        .devices
        .first()
        .and_then(|device| device.card.as_ref());
    let made = card.and_then(|card| card.decoded.made.as_deref());
    match made {
        Some(made) if made.len() == MONTH_CHARACTERS && started < made => {
            let reason = format!("the run is of {day}, but the card was made in {made}");
            Check::of(name, CheckOutcome::Marked, reason)
        }
        _ => Check::passed(name),
    }
}

/// Returns whether a day is later than the one after the day of arrival. A text that is no day is not.
fn is_after_tomorrow(day: &str, received_on: &str) -> bool {
    let [day, received_on] = [day, received_on].map(str::parse::<Date>);
    let tomorrow = received_on.ok().and_then(|day| day.tomorrow().ok());
    day.ok()
        .zip(tomorrow)
        .is_some_and(|(day, tomorrow)| day > tomorrow)
}

/// A workload that the suite of the record, in its version, does not have.
pub(super) fn other_workload(record: &Record) -> Option<String> {
    let stated = record.suite.as_ref()?;
    let (suite, _) = stated_suite(record).filter(|(_, is_same)| *is_same)?;
    let has_tier = stated.tier.is_some();
    let is_of_suite = |trial: &&Trial| {
        let all = suite.workloads.iter();
        let mut same = all.filter(|known| is_same(&trial.workload, known));
        same.any(|known| has_tier || trial.layout || has_same_times(&trial.workload, known))
    };
    let trial = record.trials.iter().find(|trial| !is_of_suite(trial))?;
    Some(format!(
        "{}: not a workload of {} {}",
        trial.workload.id, stated.name, stated.version
    ))
}

/// Sizes and places depend on the target; the rest does not.
fn is_same(workload: &Workload, known: &Workload) -> bool {
    known.id == workload.id
        && known.read_share_percent == workload.read_share_percent
        && known.order == workload.order
        && known.block_bytes == workload.block_bytes
        && known.queue_depth == workload.queue_depth
        && known.payload == workload.payload
        && known.flush == workload.flush
        && known.manner.access == workload.manner.access
}

/// Tiers have times of their own, and the layout has none.
fn has_same_times(workload: &Workload, known: &Workload) -> bool {
    known.ramp_ns == workload.ramp_ns && known.stop.least_span_ns == workload.stop.least_span_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_after_the_arrival_is_not_in_the_future() {
        for (day, received_on, expected) in [
            ("2026-11-26", "2026-11-25", false),
            ("2026-11-27", "2026-11-25", true),
            ("2027-01-01", "2026-12-31", false),
            ("2028-03-01", "2028-02-28", true),
            ("2100-03-01", "2100-02-28", false),
            ("1970-01-01", "2026-11-25", false),
            ("soon", "2026-11-25", false),
        ] {
            assert_eq!(is_after_tomorrow(day, received_on), expected, "{day}");
        }
    }
}
