//! Pictures of the inside of cards.

use cardmark_core::Anatomy;

use super::curves::{Source, curve_of, curves_of, heading};
use super::subjects::Subject;
use crate::chart::Curves;
use crate::text::size;

/// The pictures that these subjects have figures for.
pub(super) fn charts(subjects: &[Subject<'_>]) -> impl Iterator<Item = Curves> {
    [across(subjects), in_turn(subjects)].into_iter().flatten()
}

fn of<'a>(subject: &Subject<'a>) -> Option<&'a Anatomy> {
    let mut records = subject.records.iter();
    records.find_map(|record| record.anatomy.as_ref())
}

fn across(subjects: &[Subject<'_>]) -> Option<Curves> {
    // Of the boundary's own kind, powers of two or three times these: only they show it as a step.
    let points = |found: &Anatomy| {
        let is_threefold = |bytes: u64| bytes.is_multiple_of(3);
        let Some(boundary) = found.boundary_bytes.map(is_threefold) else {
            return Vec::new();
        };
        let times = found.boundaries.iter();
        times
            .filter(|time| is_threefold(time.size_bytes) == boundary)
            .map(|time| (time.size_bytes as f64 / 1024.0, time.more_ns as f64 / 1e3))
            .collect()
    };
    let curve = |subject: &Subject<'_>| curve_of(subject, points(of(subject)?));
    let drawn = curves_of(subjects, curve, |_| 0.0, "the first")?;
    Some(Curves {
        heading: heading(
            Source::of(subjects).by_anatomy(),
            "reads-across-boundaries",
            format!("Reads across boundaries{}", drawn.remark),
            "how much longer reads across multiples of a size take than reads beside them: a step up \
             shows the size of an erase block or allocation unit"
                .to_owned(),
        ),
        x_axis: "size, KiB".to_owned(),
        y_axis: "longer by, microseconds".to_owned(),
        is_log: (true, false),
        curves: drawn.curves,
    })
}

fn in_turn(subjects: &[Subject<'_>]) -> Option<Curves> {
    let points = |found: &Anatomy| {
        let times = found.turns.iter();
        times
            .map(|time| (f64::from(time.units_count), time.write_ns as f64 / 1e6))
            .collect()
    };
    let curve = |subject: &Subject<'_>| curve_of(subject, points(of(subject)?));
    let drawn = curves_of(subjects, curve, |_| 0.0, "the first")?;
    let mut sizes = subjects.iter().filter_map(of);
    let bytes = sizes.next().map_or(0, |found| found.write_bytes);
    Some(Curves {
        heading: heading(
            Source::of(subjects).by_anatomy(),
            "writes-to-several-units",
            format!(
                "Writes to several units in turn{} (lower is better)",
                drawn.remark
            ),
            format!(
                "how long a write of {} takes when so many units are written in turn: a step up shows how \
                 many a card can keep open",
                size(bytes)
            ),
        ),
        x_axis: "units".to_owned(),
        y_axis: "milliseconds".to_owned(),
        is_log: (true, true),
        curves: drawn.curves,
    })
}
