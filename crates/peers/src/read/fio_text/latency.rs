//! Latencies: least and most, and percentiles.

use super::{FioTextReading, Line, ReadError, TOOL};
use crate::read::number::{plain_number_and_unit, whole};

/// What a latency begins and ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioLatency {
    /// `slat`: from the making of an operation to its submission.
    Submission,
    /// `clat`: from there to its completion.
    Completion,
    /// `lat`: both.
    Total,
}

/// A percentile of a latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FioPercentile {
    /// The latency.
    pub latency: FioLatency,
    /// Percentage of the operations that took no longer.
    pub percent: f64,
    /// The latency, nanoseconds: the middle of a class that is up to a 64th wide, rounded up to the
    /// unit printed.
    pub at_most_ns: u64,
}

/// What is known of the latencies of a reading.
#[derive(Default)]
pub(super) struct Latencies {
    ranges: Vec<Range>,
    rows: Rows,
}

/// Between what the latencies of a kind lie.
struct Range {
    latency: FioLatency,
    least_ns: f64,
    most_ns: f64,
}

/// Whose percentiles the next rows are.
#[derive(Clone, Copy, Default)]
enum Rows {
    /// No heading stands right above.
    #[default]
    Unknown,
    /// Those of something that is not read.
    Others,
    Of(FioLatency, f64),
}

impl Latencies {
    /// A line that is no row.
    pub(super) fn end_rows(&mut self) {
        self.rows = Rows::Unknown;
    }

    /// A heading of percentiles or a line of least and most.
    pub(super) fn read(
        &mut self,
        line: Line,
        text: &str,
        reading: Option<&mut FioTextReading>,
    ) -> Result<(), ReadError> {
        if let Some((name, unit)) = text.split_once(" percentiles (") {
            self.rows = Rows::Others;
            let Some(reading) = reading else {
                return Ok(());
            };
            let Some(latency) = latency(name) else {
                return Ok(());
            };
            let unit_ns = unit.strip_suffix("):").and_then(unit_ns);
            let unit_ns =
                unit_ns.ok_or_else(|| line.error(TOOL, "nsec, usec or msec in brackets"))?;
            let mut known = reading.percentiles.iter();
            if known.any(|percentile| percentile.latency == latency) {
                return Err(line.error(TOOL, "a line `write: IOPS=…` before these percentiles"));
            }
            // Where some latencies tell their least and most, all do.
            let mut ranges = self.ranges.iter();
            if !self.ranges.is_empty() && !ranges.any(|range| range.latency == latency) {
                return Err(line.error(TOOL, "min and max of this latency above"));
            }
            self.rows = Rows::Of(latency, unit_ns);
        } else if reading.is_some() {
            self.ranges.extend(Range::parse(text));
        }
        Ok(())
    }

    /// A row of percentiles: `1.00th=[  302],  5.00th=[  326],`.
    pub(super) fn row(
        &mut self,
        line: Line,
        text: &str,
        reading: Option<&mut FioTextReading>,
    ) -> Result<(), ReadError> {
        let (latency, unit_ns) = match self.rows {
            Rows::Unknown => {
                return Err(line.error(TOOL, "`clat percentiles (usec):` or the like above this"));
            }
            Rows::Others => return Ok(()),
            Rows::Of(latency, unit_ns) => (latency, unit_ns),
        };
        let Some(reading) = reading else {
            return Ok(());
        };
        let mut ranges = self.ranges.iter();
        let range = ranges.find(|range| range.latency == latency);
        for item in text.trim_end_matches(',').split(',') {
            let found = percentile(item);
            let (percent, value) =
                found.ok_or_else(|| line.error(TOOL, "percentiles such as `99.00th=[  302]`"))?;
            let at_most_ns = whole(value * unit_ns)
                .filter(|_| range.is_none_or(|range| range.holds(value * unit_ns, unit_ns)));
            reading.percentiles.push(FioPercentile {
                latency,
                percent,
                at_most_ns: at_most_ns
                    .ok_or_else(|| line.error(TOOL, "percentiles between min and max above"))?,
            });
        }
        Ok(())
    }
}

impl Range {
    /// `clat (usec): min=170, max=78367, avg=4019.02, stdev=8293.31`; none where the line is
    /// something else.
    fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once(" (")?;
        let (unit, rest) = rest.split_once("): min=")?;
        let (least, rest) = rest.split_once(", max=")?;
        let (most, _) = rest.split_once(", avg=")?;
        let unit_ns = unit_ns(unit)?;
        let (least, most) = (shortened(least)?, shortened(most)?);
        Some(Self {
            latency: latency(name)?,
            least_ns: (least.0 - least.1) * unit_ns,
            most_ns: (most.0 + most.1) * unit_ns,
        })
    }

    /// Whether a percentile may lie in it: classes are up to a 64th wide, and it is rounded up.
    fn holds(&self, at_most_ns: f64, unit_ns: f64) -> bool {
        let least = 0.98 * self.least_ns;
        let most = 1.02 * self.most_ns + unit_ns;
        (least..=most).contains(&at_most_ns)
    }
}

/// A number and its step: `78367`, `37935k` or `1203.4K`.
fn shortened(text: &str) -> Option<(f64, f64)> {
    let (number, unit) = plain_number_and_unit(text)?;
    let unit = match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    };
    // Version 2 prints remainders for decimals.
    Some((number.value.floor() * unit, unit))
}

fn latency(name: &str) -> Option<FioLatency> {
    match name {
        "slat" => Some(FioLatency::Submission),
        "clat" => Some(FioLatency::Completion),
        "lat" => Some(FioLatency::Total),
        _ => None,
    }
}

fn unit_ns(unit: &str) -> Option<f64> {
    match unit {
        "nsec" => Some(1.0),
        "usec" => Some(1e3),
        "msec" => Some(1e6),
        _ => None,
    }
}

/// `99.00th=[  302]`.
fn percentile(text: &str) -> Option<(f64, f64)> {
    let (percent, value) = text.trim().split_once("th=[")?;
    let number = |text: &str| {
        let (number, unit) = plain_number_and_unit(text)?;
        unit.is_empty().then_some(number.value)
    };
    let (percent, value) = (number(percent)?, number(value.strip_suffix(']')?)?);
    (percent <= 100.0).then_some((percent, value))
}
