//! Begin of a time that lasts until now.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::build::LEAST_TIME_S;

/// Begin of a time that lasts until now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    begin_s: i64,
}

impl Since {
    /// Parses a day (`2026-11-01`, UTC), a time (RFC 3339), or a time before now: `36h`, `7d`, `2w`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_at(text.trim(), Timestamp::now())
    }

    fn parse_at(text: &str, now: Timestamp) -> Option<Self> {
        let begin = match text.parse::<Date>() {
            Ok(day) if text.len() == DAY_LETTERS => {
                TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).ok()?
            }
            _ => match text.parse::<Timestamp>() {
                Ok(time) => time,
                Err(_) => now.checked_sub(before(text)?).ok()?,
            },
        };
        Some(Self {
            begin_s: begin.as_second(),
        })
    }

    /// Returns whether a time, seconds since 1970, lies in it, or may do so: a clock that was not set shows a time before this
    /// program was first released.
    #[must_use]
    pub fn holds(self, at_s: i64) -> bool {
        at_s >= self.begin_s || at_s < LEAST_TIME_S
    }
}

/// Length of a day in a text.
const DAY_LETTERS: usize = "2026-11-01".len();

fn before(text: &str) -> Option<SignedDuration> {
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let hours = match unit {
        "h" => 1,
        "d" => 24,
        "w" => 7 * 24,
        _ => return None,
    };
    let number: i64 = number.parse().ok()?;
    SignedDuration::try_from_hours(number.checked_mul(hours)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_times_and_spans_are_understood() {
        let now: Timestamp = "2026-11-29T12:00:00Z".parse().unwrap();
        let begin = |text: &str| {
            let since = Since::parse_at(text, now)?;
            Some(Timestamp::from_second(since.begin_s).unwrap().to_string())
        };
        for (text, expected) in [
            ("2026-11-01", "2026-11-01T00:00:00Z"),
            ("2026-11-01T10:30:00+02:00", "2026-11-01T08:30:00Z"),
            ("36h", "2026-11-28T00:00:00Z"),
            ("7d", "2026-11-22T12:00:00Z"),
            ("2w", "2026-11-15T12:00:00Z"),
        ] {
            assert_eq!(begin(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "7", "d", "-7d", "7m", "yesterday", "99999999999999999d"] {
            assert_eq!(begin(text), None, "{text}");
        }
    }

    #[test]
    fn a_clock_that_was_not_set_loses_no_record() {
        let since = Since {
            begin_s: LEAST_TIME_S + 100,
        };
        let held =
            [0, LEAST_TIME_S, LEAST_TIME_S + 99, LEAST_TIME_S + 100].map(|at| since.holds(at));
        assert_eq!(held, [true, false, false, true]);
    }
}
