//! Spans as f3 prints them.

use cardmark_core::SECOND_NS;

use crate::read::number::{plain_number_and_unit, whole};

/// A span, cut to the last step that was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) ns: u64,
    pub(super) step_ns: u64,
}

impl Span {
    /// The highest and the lowest rate at which bytes may have been moved in it.
    pub(super) fn rates(self, bytes: u64) -> (f64, f64) {
        let second = SECOND_NS as f64;
        let bytes = bytes as f64;
        let most = bytes / (self.ns.max(1) as f64 / second);
        let least = bytes / ((self.ns as f64 + self.step_ns as f64) / second);
        (most, least)
    }
}

/// `1 day 2:03:04`, `1:34:28`, `2'14"`, `13.80s`, `552.7ms`, `33us` or `33ns`.
pub(super) fn span(text: &str) -> Option<Span> {
    let (weeks, rest) = counted(text.trim(), "week");
    let (days, rest) = counted(rest, "day");
    let hours = weeks.checked_mul(7)?.checked_add(days)?.checked_mul(24)?;
    let seconds = hours.checked_mul(3600)?;
    // Full days come without anything below.
    let rest = if rest.is_empty() && seconds > 0 {
        whole_seconds(0)?
    } else {
        below_a_day(rest)?
    };
    let ns = seconds.checked_mul(SECOND_NS)?.checked_add(rest.ns)?;
    Some(Span { ns, ..rest })
}

/// `2 weeks` at the start, and what follows it, to which version 8 leaves no space.
fn counted<'a>(text: &'a str, noun: &str) -> (u64, &'a str) {
    let found = text.split_once(noun).and_then(|(count, rest)| {
        let count = count.trim_end().parse::<u64>().ok()?;
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        Some((count, rest.trim_start()))
    });
    found.unwrap_or((0, text))
}

fn below_a_day(text: &str) -> Option<Span> {
    // Full minutes come without seconds.
    if let Some((hours, rest)) = text.split_once(':') {
        let (minutes, seconds) = rest.split_once(':').unwrap_or((rest, "0"));
        let hours: u64 = hours.parse().ok()?;
        let minutes = hours.checked_mul(60)?.checked_add(sixtieth(minutes)?)?;
        let seconds = minutes.checked_mul(60)?.checked_add(sixtieth(seconds)?)?;
        return whole_seconds(seconds);
    }
    if let Some((minutes, rest)) = text.split_once('\'') {
        let seconds = match rest {
            "" => 0,
            rest => sixtieth(rest.strip_suffix('"')?)?,
        };
        return whole_seconds(sixtieth(minutes)? * 60 + seconds);
    }
    let (number, unit) = plain_number_and_unit(text)?;
    let unit_ns = match unit {
        "s" => SECOND_NS as f64,
        "ms" => 1e6,
        "us" => 1e3,
        "ns" => 1.0,
        _ => return None,
    };
    Some(Span {
        ns: whole(number.value * unit_ns)?,
        step_ns: whole(2.0 * number.half_step * unit_ns)?.max(1),
    })
}

fn whole_seconds(seconds: u64) -> Option<Span> {
    Some(Span {
        ns: seconds.checked_mul(SECOND_NS)?,
        step_ns: SECOND_NS,
    })
}

/// Minutes of an hour or seconds of a minute.
fn sixtieth(text: &str) -> Option<u64> {
    text.parse::<u64>().ok().filter(|&count| count < 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_cut_to_a_step() {
        let known = |text| span(text).map(|span| (span.ns, span.step_ns));
        let seconds = |count: u64| Some((count * SECOND_NS, SECOND_NS));
        assert_eq!(known("1:34:28"), seconds(5668));
        assert_eq!(known("2:05"), seconds(2 * 3600 + 5 * 60));
        assert_eq!(known("2'14\""), seconds(134));
        assert_eq!(known("5'"), seconds(300));
        assert_eq!(known("2 days 3:00:01"), seconds(51 * 3600 + 1));
        assert_eq!(known("1 days5s"), seconds(86_405));
        assert_eq!(known("1 week 1 day 5s"), seconds(8 * 86_400 + 5));
        assert_eq!(known("1 day"), seconds(86_400));
        assert_eq!(known("13.80s"), Some((13_800_000_000, 10_000_000)));
        assert_eq!(known("552.7ms"), Some((552_700_000, 100_000)));
        assert_eq!(known("33us"), Some((33_000, 1000)));
        assert_eq!(known("33ns"), Some((33, 1)));
        for wrong in [
            "", "5", "5 h", "1:60", "1:2:99", "61'", "2'14", "days", "5 min",
        ] {
            assert_eq!(known(wrong), None, "{wrong}");
        }
    }
}
