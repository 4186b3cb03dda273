//! Percentiles of completion latencies.

use super::job::{Job, PERCENTILES, TOOL};
use crate::number::{plain_number_and_unit, whole};
use crate::text::{Damage, Line};

/// Kind of percentiles in the next rows.
#[derive(Clone, Copy, Default)]
pub(super) enum Latencies {
    /// No heading stands right above.
    #[default]
    Unknown,
    /// Those of something that is not read.
    Others,
    /// Completion latencies, with the unit in nanoseconds.
    Completions { unit_ns: f64 },
}

impl Latencies {
    /// A line that is no row.
    pub(super) fn end_rows(&mut self) {
        *self = Self::Unknown;
    }

    /// Reads a heading: `clat percentiles (usec):`.
    pub(super) fn heading(
        &mut self,
        line: Line,
        text: &str,
        job: Option<&mut Job>,
    ) -> Result<(), Damage> {
        let Some((name, unit)) = text.split_once(" percentiles (") else {
            return Ok(());
        };
        *self = Self::Others;
        let Some(job) = job.filter(|_| name == "clat") else {
            return Ok(());
        };
        let unit_ns = match unit {
            "nsec):" => 1.0,
            "usec):" => 1e3,
            "msec):" => 1e6,
            _ => return Err(line.damage(TOOL, "nsec, usec or msec in brackets")),
        };
        if job.percentiles_ns.iter().any(Option::is_some) {
            return Err(line.damage(TOOL, "a line `write: IOPS=…` before these percentiles"));
        }
        *self = Self::Completions { unit_ns };
        Ok(())
    }

    /// Reads a row: `1.00th=[  302],  5.00th=[  326],`.
    pub(super) fn row(self, line: Line, text: &str, job: Option<&mut Job>) -> Result<(), Damage> {
        let (unit_ns, job) = match (self, job) {
            (Self::Unknown, _) => {
                return Err(line.damage(TOOL, "`clat percentiles (usec):` or the like above this"));
            }
            (Self::Completions { unit_ns }, Some(job)) => (unit_ns, job),
            (Self::Others | Self::Completions { .. }, _) => return Ok(()),
        };
        for item in text.trim_end_matches(',').split(',') {
            let error = || line.damage(TOOL, "percentiles such as `99.00th=[  302]`");
            let (percent, value) = percentile(item).ok_or_else(error)?;
            let wanted = PERCENTILES.iter().position(|(known, _)| *known == percent);
            if let Some(place) = wanted {
                job.percentiles_ns[place] = Some(whole(value * unit_ns).ok_or_else(error)?);
            }
        }
        Ok(())
    }
}

/// Parses `99.00th=[  302]`.
fn percentile(text: &str) -> Option<(f64, f64)> {
    let (percent, value) = text.trim().split_once("th=[")?;
    let number = |text: &str| {
        let (number, unit) = plain_number_and_unit(text)?;
        unit.is_empty().then_some(number.value)
    };
    let (percent, value) = (number(percent)?, number(value.strip_suffix(']')?)?);
    (percent <= 100.0).then_some((percent, value))
}
