//! How far a long series of writes got: its rate, tied to what was written.

use cardmark_core::{Finding, FindingKind, LeastWritten, SECOND_NS, Severity, Trial};

use crate::course::lasting::Course;
use crate::course::slices::{full_slices, mean_bytes, sum_bytes};
use crate::course::stretches::{END_NS, rate_at_end, slowest_rate};

/// Returns the rate of a series with a least amount, the part of the storage that it covers, and what was not
/// tested; `None` without a full slice.
pub(crate) fn written_part(trial: &Trial, course: &Course) -> Option<Finding> {
    let least = trial.workload.stop.least_written?;
    let coverage = Coverage::of(trial, &least);
    let mut detail = format!(
        "writes {}",
        rate_within(trial, course, &coverage.text(trial))?
    );
    if let Some(rate) = slowest_rate(trial, 60 * SECOND_NS) {
        detail += &format!("; slowest minute {}", megabytes(rate));
    }
    if !coverage.is_whole {
        detail += "; beyond not tested";
    }
    Some(Finding::new(
        FindingKind::WrittenPart,
        Severity::Note,
        detail,
    ))
}

/// The rate that describes the end of the series, and the bytes that it describes.
fn rate_within(trial: &Trial, course: &Course, written: &str) -> Option<String> {
    let slices = full_slices(trial);
    if let Some(from) = course.settled_from {
        let settled = &slices[from..];
        let per_second = SECOND_NS as f64 / trial.slice_span_ns.max(1) as f64;
        return Some(format!(
            "{}, steady over the last {} of {written}",
            megabytes(mean_bytes(settled) * per_second),
            amount(sum_bytes(settled)),
        ));
    }
    let rate = megabytes(rate_at_end(trial)?);
    let last = match trial.span_ns < END_NS {
        true => format!("{rate} over {written}"),
        false => format!("{rate} in the last minute of {written}"),
    };
    let why = match (course.falling_ratio, course.is_enough) {
        (Some(_), _) => "still falling",
        (None, true) => "not steady",
        (None, false) => "too little to call it steady",
    };
    Some(format!("{last}, {why}"))
}

/// The part of the storage that was written.
struct Coverage {
    /// Bytes at different places.
    bytes: u64,
    /// Size of the storage in bytes, if known.
    capacity_bytes: Option<u64>,
    /// True if all blocks of the storage were written.
    is_whole: bool,
}

impl Coverage {
    fn of(trial: &Trial, least: &LeastWritten) -> Self {
        let bytes = trial.bytes().min(trial.workload.span_bytes);
        let capacity_bytes = Some(least.capacity_bytes).filter(|&bytes| bytes > 0);
        let block_bytes = trial.workload.block_bytes;
        Self {
            bytes,
            capacity_bytes,
            is_whole: capacity_bytes.is_some_and(|all| bytes.saturating_add(block_bytes) > all),
        }
    }

    /// `7.5 GB written in 5 min (12 % of the capacity)`.
    fn text(&self, trial: &Trial) -> String {
        let again = match trial.bytes() > self.bytes {
            true => format!(" over the same {}", amount(self.bytes as f64)),
            false => String::new(),
        };
        let part = match self.capacity_bytes {
            None => String::new(),
            Some(_) if self.is_whole => " (all of the capacity)".to_owned(),
            // Rounded down: a part is not the whole.
            Some(all) => match 100.0 * self.bytes as f64 / all as f64 {
                percent if percent < 1.0 => " (less than 1 % of the capacity)".to_owned(),
                percent => format!(" ({:.0} % of the capacity)", percent.floor()),
            },
        };
        let (bytes, span) = (amount(trial.bytes() as f64), span(trial.span_ns));
        format!("{bytes} written in {span}{again}{part}")
    }
}

fn amount(bytes: f64) -> String {
    match bytes {
        1e9.. => format!("{:.1} GB", bytes / 1e9),
        _ => format!("{:.0} MB", bytes / 1e6),
    }
}

fn megabytes(bytes_per_s: f64) -> String {
    match bytes_per_s {
        1e8.. => format!("{:.0} MB/s", bytes_per_s / 1e6),
        _ => format!("{:.1} MB/s", bytes_per_s / 1e6),
    }
}

fn span(span_ns: u64) -> String {
    match span_ns as f64 / 1e9 {
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds => format!("{:.0} min", seconds / 60.0),
    }
}
