//! The chart of the rate over the place.

use cardmark_core::{Order, Trial, spread_start};

use super::curves::{Source, curve_of, curves_of, heading, seconds, trials};
use super::subjects::Subject;
use crate::chart::{Curve, Curves};

/// The workload whose rate over the place is drawn.
const OVER_POSITION: &str = "position_read";

/// The rate of reading over the place in the device, or in the file.
pub(super) fn over_position(subjects: &[Subject<'_>]) -> Option<Curves> {
    let curve = |subject: &Subject<'_>| {
        let mut points: Vec<(f64, f64)> = trials(subject.records.first()?, OVER_POSITION)
            .into_iter()
            .filter(|trial| trial.workload.order == Order::Spread && trial.span_ns > 0)
            .map(place_and_rate)
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        curve_of(subject, points)
    };
    // The slowest place.
    let slow = |curve: &Curve| {
        let rates = curve.points.iter().map(|point| point.1);
        -rates.fold(f64::INFINITY, f64::min)
    };
    let drawn = curves_of(subjects, curve, slow, "the slowest")?;
    Some(Curves {
        heading: heading(
            Source::of(subjects).by_trials(OVER_POSITION),
            "sequential-read-over-the-place",
            format!(
                "Sequential read over the place{} (higher is better)",
                drawn.remark
            ),
            "rate of each place of the first run, from the start of the device or file to its end"
                .to_owned(),
        ),
        x_axis: "place, GB from the start".to_owned(),
        y_axis: "MB/s".to_owned(),
        is_log: (false, false),
        curves: drawn.curves,
    })
}

/// The middle of the place that a trial read, GB from the start, and its rate, MB/s.
fn place_and_rate(trial: &Trial) -> (f64, f64) {
    let start = spread_start(&trial.workload, trial.round_index) * trial.workload.block_bytes;
    let middle = start as f64 + 0.5 * trial.bytes() as f64;
    (
        middle / 1e9,
        trial.bytes() as f64 / seconds(trial.span_ns) / 1e6,
    )
}
