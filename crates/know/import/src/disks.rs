//! The benchmark of GNOME Disks.

use cardmark_core::{Metric, Quantity};

use crate::number::{plain_number_and_unit, unit_bytes};
use crate::reading::{Found, Reading, byte_rate, printed};
use crate::text::{Damage, Line};

const TOOL: &str = "GNOME Disks";
/// Labels of its lines, and the metrics.
const LABELS: [(&str, &str); 3] = [
    ("Average Read Rate", "gnome_disks_read"),
    ("Average Write Rate", "gnome_disks_write"),
    ("Average Access Time", "gnome_disks_access"),
];

/// Form of its lines.
const FORMS: [&str; 1] = ["{-}{} {-} ({n} samples)"];

/// Reads the lines, each by itself: writing is measured only if asked for.
pub(crate) fn read(lines: &[Line], found: &mut Found) {
    for line in lines {
        let text = line.unquoted();
        let mut labels = LABELS.iter();
        let labelled = labels.find_map(|(label, id)| Some((*id, text.strip_prefix(label)?)));
        // Its older versions and others print a word alone: the number of samples is its mark.
        let Some((id, figure)) = labelled.filter(|(_, rest)| rest.contains(" samples)")) else {
            continue;
        };
        let figure = figure.trim_start_matches([':', ' ', '\t']);
        match metric(*line, id, figure) {
            Ok(metric) => {
                found.understand(*line, &FORMS);
                found.add(Reading::new(TOOL, line.number, vec![metric]));
            }
            Err(damage) => found.damaged(damage),
        }
    }
}

fn metric(line: Line, id: &str, text: &str) -> Result<Metric, Damage> {
    let error = || {
        line.damage(
            TOOL,
            "`87.6 MB/s (100 samples)` or `0.65 msec (1000 samples)`",
        )
    };
    let shown = text.split('(').next().unwrap_or(text).trim();
    let (number, unit) = plain_number_and_unit(shown).ok_or_else(error)?;
    let number = Some(number.value)
        .filter(|value| *value > 0.0)
        .ok_or_else(error)?;
    let printed = printed(TOOL, shown, None);
    if id.ends_with("_access") {
        const NS_PER_MS: f64 = 1e6;
        if !["msec", "ms"].contains(&unit) {
            return Err(error());
        }
        let metric = Metric::new(id, Quantity::Span, number * NS_PER_MS);
        return Ok(Metric { printed, ..metric });
    }
    let unit = unit
        .strip_suffix("/s")
        .and_then(unit_bytes)
        .ok_or_else(error)?;
    Ok(byte_rate(id, number * unit, printed))
}
