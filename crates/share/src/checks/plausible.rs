//! Dates and workloads.

use cardmark_core::{Record, Suite, Workload};

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

/// Days are compared as texts: a day later than the day of arrival, unless it is the next one.
fn is_after_tomorrow(day: &str, received_on: &str) -> bool {
    day > received_on && Some(day) != next_day(received_on).as_deref()
}

/// The day after, in the Gregorian calendar; `None` if the text is no day.
fn next_day(day: &str) -> Option<String> {
    let mut parts = day.splitn(3, '-').map(|part| part.parse::<u32>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    };
    let (year, month, day) = match (day < last, month < 12) {
        (true, _) => (year, month, day + 1),
        (false, true) => (year, month + 1, 1),
        (false, false) => (year + 1, 1, 1),
    };
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

/// A workload that the suite of the record, in its version, does not have.
pub(super) fn other_workload(record: &Record) -> Option<String> {
    let stated = record.suite.as_ref()?;
    let suite = cardmark_catalog::suite(&stated.name, Some(stated.version)).ok()?;
    let is_same = stated.digest.is_none() || stated.digest == suite.digest;
    if !is_same {
        return None;
    }
    let trial = record
        .trials
        .iter()
        .find(|trial| !is_of_suite(&trial.workload, &suite))?;
    Some(format!(
        "{}: not a workload of {} {}",
        trial.workload.id, stated.name, stated.version
    ))
}

/// Sizes and places depend on the target; the rest does not.
fn is_of_suite(workload: &Workload, suite: &Suite) -> bool {
    let same = |known: &Workload| {
        known.id == workload.id
            && known.read_share_percent == workload.read_share_percent
            && known.order == workload.order
            && known.block_bytes == workload.block_bytes
            && known.queue_depth == workload.queue_depth
            && known.payload == workload.payload
            && known.flush == workload.flush
            && known.manner.access == workload.manner.access
    };
    suite.workloads.iter().any(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_day_follows_the_calendar() {
        for (day, next) in [
            ("2026-11-25", "2026-11-26"),
            ("2026-11-30", "2026-12-01"),
            ("2026-12-31", "2027-01-01"),
            ("2028-02-28", "2028-02-29"),
            ("2100-02-28", "2100-03-01"),
        ] {
            assert_eq!(next_day(day).as_deref(), Some(next));
        }
        assert_eq!(next_day("2026"), None);
        assert!(!is_after_tomorrow("2026-11-26", "2026-11-25"));
        assert!(is_after_tomorrow("2026-11-27", "2026-11-25"));
        assert!(!is_after_tomorrow("1970-01-01", "2026-11-25"));
    }
}
