//! Bytes written to a disk, from counts that begin again: at each start of the system, when a disk appears, and when a
//! number of 32 bits is full. The result is never more than what was written.

use cardmark_core::{DiskLook, Look};

use super::kept::{DayBytes, Kept, KeptDisk};

const DAY_S: u64 = 86_400;
/// Days that are kept.
pub(crate) const MOST_DAYS: usize = 90;
/// Days over which the rate is the mean.
pub(crate) const RATE_DAYS: usize = 30;
/// Longest time between two looks that is believed; more is a clock that was wrong.
pub(crate) const LONGEST_S: u64 = 400 * DAY_S;

/// Whether the system was started again between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Same,
    Other,
    Unknown,
}

impl Start {
    pub(super) fn between(kept: &Kept, look: &Look) -> Self {
        match kept.boot_id.as_ref().zip(look.boot_id.as_ref()) {
            Some((before, now)) if before == now => Self::Same,
            Some(_) => Self::Other,
            None => Self::Unknown,
        }
    }
}

/// Bytes written between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Added {
    pub(super) bytes: u64,
    /// False if there may be more.
    pub(super) is_all: bool,
}

/// Returns the increase of the kernel's count; `None` if a count is missing.
fn counted(before: &KeptDisk, disk: &DiskLook, start: Start) -> Option<Added> {
    let (then, now) = before.counted_bytes.zip(disk.counted_bytes)?;
    let all = |bytes| Added {
        bytes,
        is_all: true,
    };
    let at_least = |bytes| Added {
        bytes,
        is_all: false,
    };
    let sequences = before.sequence.zip(disk.sequence);
    let is_known_device = sequences.is_some_and(|(before, now)| before == now);
    let is_other_device = sequences.is_some_and(|(before, now)| before != now);
    Some(match (start, now.checked_sub(then)) {
        (Start::Other, _) => at_least(now),
        (Start::Same, Some(grown)) if !is_other_device => all(grown),
        (_, Some(grown)) => at_least(grown),
        (Start::Same, None) if is_known_device => {
            let wrapped = disk.wraps_bytes.and_then(|wraps| wraps.checked_sub(then));
            wrapped.map_or(at_least(now), |rest| all(rest + now))
        }
        (_, None) => at_least(now),
    })
}

/// Returns the bytes written to a disk since the last look. `lifetime_bytes` is the increase of counts that outlive a start of the
/// system: that of the disk itself, or of its filesystems.
pub(super) fn added(
    before: &KeptDisk,
    disk: &DiskLook,
    start: Start,
    lifetime_bytes: Option<u64>,
) -> Option<Added> {
    let counted = counted(before, disk, start)?;
    Some(match lifetime_bytes.filter(|_| !counted.is_all) {
        Some(bytes) => Added {
            bytes: bytes.max(counted.bytes),
            is_all: true,
        },
        None => counted,
    })
}

/// Returns the time in which these bytes were written, seconds; `None` if it is not known. The time of day is used only if no other clock
/// ran through.
pub(super) fn span_s(kept: &Kept, look: &Look, start: Start, added: Added) -> Option<u64> {
    let by_day = || look.at_s?.checked_sub(kept.at_s?);
    let span_s = match start {
        Start::Same if added.is_all => look.uptime_s?.checked_sub(kept.uptime_s?),
        Start::Other if added.is_all => by_day().filter(|span| *span >= look.uptime_s.unwrap_or(0)),
        Start::Other => look.uptime_s,
        Start::Same | Start::Unknown => None,
    };
    span_s.filter(|span| *span <= LONGEST_S)
}

/// Adds bytes to the days in which they were written, evenly. A clock that is wrong for some time moves bytes to other days; their rate
/// stays.
pub(super) fn spread(days: &mut Vec<DayBytes>, end_s: u64, span_s: u64, bytes: u64) {
    let mut from_s = end_s.saturating_sub(span_s);
    let mut left = bytes;
    while from_s < end_s {
        let to_s = ((from_s / DAY_S + 1) * DAY_S).min(end_s);
        let part = match to_s == end_s {
            true => left,
            false => share(bytes, to_s - from_s, span_s).min(left),
        };
        add(days, DayBytes(from_s / DAY_S, part, to_s - from_s));
        left -= part;
        from_s = to_s;
    }
    if left > 0 {
        add(days, DayBytes(end_s / DAY_S, left, 0));
    }
    let excess = days.len().saturating_sub(MOST_DAYS);
    days.drain(..excess);
}

fn add(days: &mut Vec<DayBytes>, more: DayBytes) {
    match days.iter_mut().find(|day| day.0 == more.0) {
        Some(day) => {
            day.1 = day.1.saturating_add(more.1);
            day.2 = day.2.saturating_add(more.2);
        }
        None => days.push(more),
    }
}

/// `bytes` times `part` by `whole`.
fn share(bytes: u64, part: u64, whole: u64) -> u64 {
    let product = u128::from(bytes) * u128::from(part);
    u64::try_from(product / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

/// Returns the bytes written a day, the mean of the last 30 observed days; `None` before a whole day was observed.
#[must_use]
pub fn bytes_per_day(days: &[DayBytes]) -> Option<u64> {
    let last = days.iter().rev().take(RATE_DAYS);
    let (bytes, seconds) = last.fold((0_u64, 0_u64), |(bytes, seconds), day| {
        (bytes.saturating_add(day.1), seconds.saturating_add(day.2))
    });
    (seconds >= DAY_S).then(|| share(bytes, DAY_S, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRAP: u64 = 1 << 41;

    fn disk(counted_bytes: u64, sequence: Option<u64>) -> DiskLook {
        DiskLook {
            counted_bytes: Some(counted_bytes),
            sequence,
            ..DiskLook::default()
        }
    }

    fn kept(counted_bytes: u64, sequence: Option<u64>) -> KeptDisk {
        KeptDisk {
            counted_bytes: Some(counted_bytes),
            sequence,
            ..KeptDisk::default()
        }
    }

    #[test]
    fn a_count_is_never_taken_for_more_than_was_written() {
        let of_32_bits = |now| DiskLook {
            wraps_bytes: Some(WRAP),
            ..disk(now, Some(1))
        };
        use Start::{Other, Same, Unknown};
        for (before, now, start, bytes, is_all) in [
            (kept(100, Some(1)), disk(300, Some(1)), Same, 200, true),
            (kept(100, None), disk(300, None), Same, 200, true),
            // It appeared again; its count went on, or began again and grew.
            (kept(100, Some(1)), disk(300, Some(2)), Same, 200, false),
            (kept(300, Some(1)), disk(100, Some(2)), Same, 100, false),
            (kept(300, None), disk(100, None), Same, 100, false),
            (kept(300, Some(1)), disk(100, Some(1)), Other, 100, false),
            (kept(100, Some(1)), disk(300, Some(1)), Other, 300, false),
            (kept(100, Some(1)), disk(300, Some(1)), Unknown, 200, false),
            (kept(300, Some(1)), disk(100, Some(1)), Unknown, 100, false),
            (kept(WRAP - 50, Some(1)), of_32_bits(20), Same, 70, true),
            (kept(WRAP + 50, Some(1)), of_32_bits(20), Same, 20, false),
            (kept(WRAP - 50, Some(2)), of_32_bits(20), Same, 20, false),
        ] {
            let added = added(&before, &now, start, None);
            let expected = Added { bytes, is_all };
            assert_eq!(added, Some(expected), "{before:?} {now:?} {start:?}");
        }
    }

    #[test]
    fn a_count_that_outlives_a_start_fills_the_gap() {
        let (before, now) = (kept(300, Some(1)), disk(100, Some(1)));
        let of = |start, lifetime| added(&before, &now, start, lifetime).unwrap();
        assert_eq!(of(Start::Other, Some(5000)).bytes, 5000);
        assert_eq!(of(Start::Other, Some(5)).bytes, 100);
        assert!(of(Start::Other, Some(5)).is_all);
        let grown = disk(400, Some(1));
        let same = added(&before, &grown, Start::Same, Some(5000)).unwrap();
        assert_eq!(same.bytes, 100, "the exact count is the better one");
    }

    #[test]
    fn bytes_are_spread_over_the_days_in_which_they_may_have_been_written() {
        let mut days = Vec::new();
        // From noon of day 1 to noon of day 3.
        spread(&mut days, 3 * DAY_S + DAY_S / 2, 2 * DAY_S, 4001);
        let half = DAY_S / 2;
        let expected = [
            DayBytes(1, 1000, half),
            DayBytes(2, 2000, DAY_S),
            DayBytes(3, 1001, half),
        ];
        assert_eq!(days, expected);
        assert_eq!(bytes_per_day(&days), Some(2000));
        spread(&mut days, 3 * DAY_S + DAY_S / 2, 0, 7);
        assert_eq!(days[2], DayBytes(3, 1008, half));
        assert_eq!(bytes_per_day(&days[..1]), None, "half a day is no day");
    }

    #[test]
    fn a_clock_from_the_future_does_not_push_out_the_days() {
        let mut days = Vec::new();
        for day in 1..=200 {
            spread(&mut days, day * DAY_S, DAY_S, 1000);
        }
        assert_eq!(days.len(), MOST_DAYS);
        spread(&mut days, 40_000 * DAY_S, DAY_S, 1000);
        spread(&mut days, 201 * DAY_S, DAY_S, 1000);
        assert_eq!(days.len(), MOST_DAYS);
        assert_eq!(bytes_per_day(&days), Some(1000));
    }
}
