//! Result of a power-cut test, as text.

use cardmark_core::{Integrity, Record, StorageKind};

use crate::text::percent;

/// Chance that the bound on the share of losing cuts is too low.
const DOUBT: f64 = 0.05;

/// Result in a sentence or two.
pub(crate) fn verdict(record: &Record, found: &Integrity) -> String {
    let acknowledged = found.acknowledged_count.unwrap_or(0);
    let lost = found.lost_acknowledged_count.unwrap_or(0);
    let collateral = found.collateral_count.unwrap_or(0);
    let cuts = counted(found.cuts_count.unwrap_or(0).into(), "power cut");
    match found.kind {
        StorageKind::Durable => format!(
            "Kept all {acknowledged} acknowledged writes through {cuts}. A cut is one sample: repeat it to be surer."
        ),
        StorageKind::LosesAcknowledged if lost > 0 && collateral > 0 => format!(
            "LOST {lost} of {acknowledged} acknowledged writes, and {} that were not being written changed: writes \
             that are confirmed too early do not explain that. `cardmark probe` shows whether the card keeps data at all.",
            counted(collateral, "place")
        ),
        StorageKind::LosesAcknowledged if lost > 0 => format!(
            "LOST {lost} of {acknowledged} acknowledged writes: {} acknowledges before data are safe.",
            culprit(record)
        ),
        StorageKind::LosesAcknowledged => format!(
            "DAMAGED by power loss: {} that were not being written changed.",
            counted(collateral, "place")
        ),
        StorageKind::Other(word) => {
            format!("Result `{word}`, which this version does not know.")
        }
        _ => "Result of a power cut that this version does not know.".to_owned(),
    }
}

/// Everything that may have acknowledged too early.
fn culprit(record: &Record) -> String {
    let target = record.target.as_ref();
    match target.and_then(|target| target.filesystem.as_deref()) {
        Some(filesystem) => {
            format!("this card (or its reader, the bridge, or the filesystem {filesystem})")
        }
        None => "this card (or its reader, or the bridge)".to_owned(),
    }
}

/// Name and value of the counts.
pub(crate) fn rows(found: &Integrity) -> Vec<(&'static str, String)> {
    let cuts = found.cuts_count.unwrap_or(0);
    let known = [
        ("power cuts", Some(u64::from(cuts))),
        ("acknowledged writes", found.acknowledged_count),
        ("lost of these", found.lost_acknowledged_count),
        (
            "other places that changed",
            found.collateral_count.filter(|count| *count > 0),
        ),
    ];
    let mut rows: Vec<(&str, String)> = known
        .into_iter()
        .filter_map(|(name, count)| Some((name, count?.to_string())))
        .collect();
    if found.kind == StorageKind::Durable && cuts > 0 {
        let most = percent(most_losing_share(cuts));
        let text = format!("at most {most} of cuts (95 % sure)");
        rows.push(("loses data at", text));
    }
    rows
}

/// Returns the largest share of losing cuts with which that many cuts without loss in a row are not unlikely: about
/// three divided by their number, the rule of three.
fn most_losing_share(cuts: u32) -> f64 {
    1.0 - DOUBT.powf(1.0 / f64::from(cuts))
}

fn counted(count: u64, name: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of 1 − 0.05^(1/n), from tables of exact binomial limits for no event (Hanley and Lippman-Hand, 1983).
    #[test]
    fn the_bound_is_that_of_no_event_among_n() {
        for (cuts, expected) in [(1, 0.95), (10, 0.2589), (20, 0.1391), (100, 0.0295)] {
            let found = most_losing_share(cuts);
            assert!((found - expected).abs() < 1e-4, "{cuts}: {found}");
        }
    }
}
