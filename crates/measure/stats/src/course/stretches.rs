//! The slowest stretches of a series of writes, and its end.

use cardmark_core::{SECOND_NS, Trial};

use crate::course::slices::full_slices;

/// Span for the rate at the end, nanoseconds.
pub(crate) const END_NS: u64 = 60 * SECOND_NS;

/// Returns the rate of the slowest stretch of this span in a series of writes, bytes per second, with any start;
/// `None` if the series is shorter. The flush after the series belongs to it, because written data is not
/// stored before. Within a slice, bytes count as written evenly.
pub(crate) fn slowest_rate(trial: &Trial, span_ns: u64) -> Option<f64> {
    let written = Written::of(trial);
    let last_ns = written.points.last()?.0.checked_sub(span_ns)?;
    // The slowest stretch begins or ends where the rate changes.
    let starts = written
        .points
        .iter()
        .flat_map(|point| [Some(point.0), point.0.checked_sub(span_ns)]);
    let least = starts
        .flatten()
        .filter(|&start_ns| start_ns <= last_ns)
        .map(|start_ns| written.at(start_ns + span_ns) - written.at(start_ns))
        .fold(f64::INFINITY, f64::min);
    Some(least * SECOND_NS as f64 / span_ns.max(1) as f64)
}

/// Bytes written at points in time.
struct Written {
    /// Nanoseconds since the start, and all bytes written until then.
    points: Vec<(u64, f64)>,
}

impl Written {
    fn of(trial: &Trial) -> Self {
        let mut points = vec![(0, 0.0)];
        let mut bytes = 0.0;
        for (index, slice) in trial.slices.iter().enumerate() {
            bytes += slice.0 as f64;
            let ends_ns = (index as u64 + 1).saturating_mul(trial.slice_span_ns);
            points.push((ends_ns.min(trial.span_ns), bytes));
        }
        let flush_ns = trial.flush_span_ns.unwrap_or(0);
        points.push((trial.span_ns, bytes));
        points.push((trial.span_ns.saturating_add(flush_ns), bytes));
        Self { points }
    }

    fn at(&self, at_ns: u64) -> f64 {
        let next = self.points.partition_point(|point| point.0 < at_ns);
        let Some(&(to_ns, to)) = self.points.get(next) else {
            return self.points.last().map_or(0.0, |point| point.1);
        };
        let (from_ns, from) = self.points[next.saturating_sub(1)];
        let span_ns = to_ns.saturating_sub(from_ns).max(1);
        to - (to - from) * (to_ns - at_ns) as f64 / span_ns as f64
    }
}

/// Returns the rate over the last [`END_NS`], bytes per second, or over the whole of a shorter series; `None`
/// without a full slice.
pub(crate) fn rate_at_end(trial: &Trial) -> Option<f64> {
    full_slices(trial).first()?;
    let written = Written::of(trial);
    let from_ns = trial.span_ns.saturating_sub(END_NS);
    let bytes = written.at(trial.span_ns) - written.at(from_ns);
    Some(bytes * SECOND_NS as f64 / (trial.span_ns - from_ns) as f64)
}
