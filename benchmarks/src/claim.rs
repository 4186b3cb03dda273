//! What the sentence about a long write claims, and the truth from the writes themselves.

use crate::drawn::Write;

const MINUTE_S: f64 = 60.0;

/// The claims of a sentence, read from its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Rate at the end, MB/s.
    pub rate: f64,
    /// What the rate describes.
    pub of: Stretch,
    /// Bytes written.
    pub written_bytes: f64,
    /// Bytes at different places, if fewer.
    pub same_bytes: Option<f64>,
    /// Share of the capacity, percent; absent if the sentence has none.
    pub percent: Option<f64>,
    /// True if it states that the rate was still falling.
    pub is_falling: bool,
    /// Rate of the slowest minute, MB/s.
    pub slowest: Option<f64>,
    /// True if it states that nothing beyond was tested.
    pub is_limited: bool,
}

/// The part of the writing that a rate describes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stretch {
    /// The last bytes, at a steady rate.
    Last(f64),
    /// The last minute.
    Minute,
    /// All.
    All,
}

impl Claim {
    /// Reads a sentence; `None` if it has another form.
    pub fn read(sentence: &str) -> Option<Self> {
        let mut parts = sentence.split("; ");
        let main = parts.next()?.strip_prefix("writes ")?;
        let rest: Vec<&str> = parts.collect();
        let (rate, main) = main.split_once(" MB/s")?;
        let written = main.split_once(" written in ")?.0;
        let (of, written) = if let Some(steady) = written.strip_prefix(", steady over the last ") {
            let (last, written) = steady.split_once(" of ")?;
            (Stretch::Last(amount(last)?), written)
        } else if let Some(written) = written.strip_prefix(" in the last minute of ") {
            (Stretch::Minute, written)
        } else {
            (Stretch::All, written.strip_prefix(" over ")?)
        };
        let same = main.split_once(" over the same ");
        let same = same.map(|(_, text)| text.split([',', '(']).next().unwrap_or(""));
        let share = main
            .split_once('(')
            .and_then(|(_, text)| text.split_once(" of the capacity)"));
        let percent = share.map(|(share, _)| match share {
            "all" => Some(100.0),
            "less than 1 %" => Some(0.0),
            _ => share.strip_suffix(" %")?.parse().ok(),
        });
        let slowest = rest
            .iter()
            .find_map(|part| part.strip_prefix("slowest minute "));
        let slowest = slowest.and_then(|text| text.strip_suffix(" MB/s"));
        Some(Self {
            rate: rate.parse().ok()?,
            of,
            written_bytes: amount(written)?,
            same_bytes: same.map(|text| amount(text.trim())).unwrap_or_default(),
            percent: percent.unwrap_or_default(),
            is_falling: main.ends_with("still falling"),
            slowest: slowest.map(str::parse).transpose().ok()?,
            is_limited: rest.last() == Some(&"beyond not tested"),
        })
    }
}

fn amount(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    match unit {
        "GB" => Some(number * 1e9),
        "MB" => Some(number * 1e6),
        _ => None,
    }
}

/// The truth about a series of writes.
pub struct Truth<'a> {
    writes: &'a [Write],
    /// Bytes written before the end of each write.
    sums: Vec<f64>,
    /// End of the flush after the series, seconds.
    flushed_s: f64,
}

impl<'a> Truth<'a> {
    /// Of these writes, one after the other, and the end of their flush in seconds.
    #[must_use]
    pub fn new(writes: &'a [Write], flushed_s: f64) -> Self {
        let mut sum = 0.0;
        let sums = writes.iter().map(|write| {
            sum += write.bytes as f64;
            sum
        });
        Self {
            writes,
            sums: sums.collect(),
            flushed_s,
        }
    }

    /// Bytes written.
    pub fn bytes(&self) -> f64 {
        self.sums.last().copied().unwrap_or(0.0)
    }

    /// Bytes at different places.
    pub fn places_bytes(&self) -> f64 {
        let mut places: Vec<(u64, u64)> =
            self.writes.iter().map(|it| (it.offset, it.bytes)).collect();
        places.sort_unstable();
        places.dedup();
        places.iter().map(|place| place.1 as f64).sum()
    }

    /// Begin and end of the writes, seconds.
    #[must_use]
    pub fn span_s(&self) -> (f64, f64) {
        let ends = |write: Option<&Write>, of: fn(&Write) -> f64| write.map_or(0.0, of);
        (
            ends(self.writes.first(), |write| write.begins_s),
            ends(self.writes.last(), |write| write.ends_s),
        )
    }

    /// Bytes written until this time; a block is written evenly.
    fn until(&self, at_s: f64) -> f64 {
        let next = self.writes.partition_point(|write| write.ends_s <= at_s);
        let before = next.checked_sub(1).map_or(0.0, |last| self.sums[last]);
        let under_way = self.writes.get(next).map_or(0.0, |write| {
            let share = (at_s - write.begins_s) / (write.ends_s - write.begins_s);
            share.clamp(0.0, 1.0) * write.bytes as f64
        });
        before + under_way
    }

    /// Rate between two points in time, MB/s.
    pub fn rate(&self, from_s: f64, to_s: f64) -> f64 {
        (self.until(to_s) - self.until(from_s)) / 1e6 / (to_s - from_s)
    }

    /// Rate over the last bytes, MB/s.
    pub fn rate_of_last(&self, bytes: f64) -> f64 {
        let begin = self.bytes() - bytes;
        let first = self.sums.partition_point(|&sum| sum <= begin);
        let from_s = self.writes.get(first).map_or(0.0, |write| write.begins_s);
        self.rate(from_s, self.span_s().1)
    }

    /// Rate of the slowest minute that begins or ends with a write, the flush included, MB/s.
    pub fn slowest_minute(&self) -> Option<f64> {
        let begin_s = self.span_s().0;
        let edges = self
            .writes
            .iter()
            .flat_map(|write| [write.begins_s, write.ends_s]);
        let edges = edges.chain([self.flushed_s]);
        let begins = edges.flat_map(|edge| [edge, edge - MINUTE_S]);
        begins
            .filter(|from_s| *from_s >= begin_s && from_s + MINUTE_S <= self.flushed_s)
            .map(|from_s| self.rate(from_s, from_s + MINUTE_S))
            .min_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_read() {
        let steady = "writes 25.0 MB/s, steady over the last 3.8 GB of 7.5 GB written in 5 min (12 % of the capacity); \
                      slowest minute 24.1 MB/s; beyond not tested";
        let expected = Claim {
            rate: 25.0,
            of: Stretch::Last(3.8e9),
            written_bytes: 7.5e9,
            same_bytes: None,
            percent: Some(12.0),
            is_falling: false,
            slowest: Some(24.1),
            is_limited: true,
        };
        assert_eq!(Claim::read(steady), Some(expected.clone()));
        let falling = "writes 25.0 MB/s in the last minute of 7.5 GB written in 60 min over the same 3.0 GB (all of the \
                       capacity), still falling; slowest minute 24.1 MB/s";
        let other = Claim {
            of: Stretch::Minute,
            same_bytes: Some(3e9),
            percent: Some(100.0),
            is_falling: true,
            is_limited: false,
            ..expected.clone()
        };
        assert_eq!(Claim::read(falling), Some(other));
        let short = "writes 25.0 MB/s over 900 MB written in 36 s, too little to call it steady; beyond not tested";
        let other = Claim {
            of: Stretch::All,
            written_bytes: 9e8,
            percent: None,
            slowest: None,
            ..expected
        };
        assert_eq!(Claim::read(short), Some(other));
        assert_eq!(Claim::read("no rate"), None);
    }

    #[test]
    fn the_truth_is_that_of_the_writes() {
        let write = |index: u64, begins_s: f64, ends_s: f64| Write {
            begins_s,
            ends_s,
            offset: 1_000_000 * (index % 50),
            bytes: 1_000_000,
        };
        // 40 s at 1 MB/s, a freeze of 30 s, 40 s at 2 MB/s.
        let first = (0..40).map(|i| write(i, i as f64, i as f64 + 1.0));
        let frozen = [write(40, 40.0, 70.0)];
        let second = (0..80).map(|i| write(41 + i, 70.0 + 0.5 * i as f64, 70.5 + 0.5 * i as f64));
        let writes: Vec<Write> = first.chain(frozen).chain(second).collect();
        let truth = Truth::new(&writes, 110.0);
        assert_eq!((truth.bytes(), truth.places_bytes()), (121e6, 50e6));
        assert_eq!(truth.slowest_minute(), Some(31.0 / 60.0));
        assert_eq!(truth.rate_of_last(80e6), 2.0);
        assert_eq!(
            Truth::new(&writes[..41], 75.0).slowest_minute(),
            Some(26.0 / 60.0)
        );
        assert_eq!(Truth::new(&writes[..40], 40.0).slowest_minute(), None);
    }
}
