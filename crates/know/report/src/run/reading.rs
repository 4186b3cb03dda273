//! Result of a test that only reads, as text.

use cardmark_core::{BlockState, Integrity, PlaceSpeed, Record, StorageKind};

use crate::text::{amount, count_of, rate};

/// Sector of a device, bytes.
const SECTOR_BYTES: u64 = 512;
/// Number of places that are named at most.
const MOST_PLACES: usize = 6;

/// Result in a sentence or two. `place` is what was read.
pub(crate) fn verdict(place: &str, found: &Integrity) -> String {
    let advice = "Copy what you need from it now.";
    match found.kind {
        StorageKind::Readable => match found.differing_bytes {
            Some(bytes) if bytes > 0 => format!(
                "READABLE: every block of {place} was read twice. {} differed between the two passes: the device \
                 was in use, and these may have been written meanwhile.",
                amount(bytes)
            ),
            _ => format!(
                "READABLE: every block of {place} was read twice, with the same content. Whether the capacity is \
                 real shows only when it is written: `cardmark probe`."
            ),
        },
        StorageKind::Other(word) => {
            format!("Result `{word}` for {place}, which this version does not know.")
        }
        _ => format!("DAMAGED: of {place}, {}. {advice}", faults(found)),
    }
}

fn faults(found: &Integrity) -> String {
    let counts = found.blocks.unwrap_or_default();
    let bytes = |count: u64| amount(count * SECTOR_BYTES);
    let mut faults = Vec::new();
    if counts.unreadable_count > 0 {
        faults.push(format!(
            "{} could not be read",
            bytes(counts.unreadable_count)
        ));
    }
    if counts.changed_count > 0 {
        faults.push(format!(
            "{} differed when read again",
            bytes(counts.changed_count)
        ));
    }
    if faults.is_empty() {
        faults.push("some blocks cannot be relied on".to_owned());
    }
    faults.join(", and ")
}

/// Rows of figures.
pub(crate) fn rows(found: &Integrity) -> Vec<(&'static str, String)> {
    let counts = found.blocks.unwrap_or_default();
    let all = [
        ("read twice alike", counts.good_count * SECTOR_BYTES),
        (
            "differed, in units of 1 MiB",
            counts.changed_count * SECTOR_BYTES,
        ),
        ("unreadable", counts.unreadable_count * SECTOR_BYTES),
        (
            "differed while in use",
            found.differing_bytes.unwrap_or_default(),
        ),
        (
            "slow in both passes",
            found.slow.iter().map(|place| place.size_bytes).sum(),
        ),
    ];
    let of_any = all.into_iter().filter(|(_, bytes)| *bytes > 0);
    of_any.map(|(name, bytes)| (name, amount(bytes))).collect()
}

/// The places of the faults, a sentence for each kind.
pub(crate) fn places(record: &Record, found: &Integrity) -> Vec<String> {
    let from_bytes = found.from_bytes.unwrap_or(0);
    let is_exact = found.map_cell_bytes == Some(SECTOR_BYTES);
    let of = |state: BlockState, name: &str| {
        let parts = record.surface.iter().filter(|part| part.state == state);
        let places: Vec<String> = parts
            .map(|part| sectors(from_bytes + part.start_bytes, part.size_bytes))
            .collect();
        listed(name, &places)
    };
    let mut slowest: Vec<&PlaceSpeed> = found.slow.iter().collect();
    let bytes_per_s =
        |place: &PlaceSpeed| place.size_bytes as f64 / place.span_ns.max(1) as f64 * 1e9;
    slowest.sort_by(|a, b| bytes_per_s(a).total_cmp(&bytes_per_s(b)));
    let slow: Vec<String> = slowest
        .iter()
        .map(|place| {
            let sectors = sectors(from_bytes + place.start_bytes, place.size_bytes);
            format!("{sectors} ({})", rate(bytes_per_s(place)))
        })
        .collect();
    let unreadable = of(BlockState::Unreadable, "Unreadable sectors").filter(|_| is_exact);
    let different = of(BlockState::Changed, "Different when read again, sectors");
    [
        unreadable,
        different.filter(|_| is_exact),
        listed("Slow sectors, the slowest first", &slow),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// First and last sector.
fn sectors(start_bytes: u64, size_bytes: u64) -> String {
    let first = start_bytes / SECTOR_BYTES;
    let last = (start_bytes + size_bytes.max(1) - 1) / SECTOR_BYTES;
    format!("{first}–{last}")
}

fn listed(name: &str, places: &[String]) -> Option<String> {
    let shown = places.get(..MOST_PLACES).unwrap_or(places).join(", ");
    let more = places.len().saturating_sub(MOST_PLACES);
    match (places.len(), more) {
        (0, _) => None,
        (_, 0) => Some(format!("{name}: {shown}.")),
        _ => Some(format!(
            "{name}: {shown}, and {} (`--json` lists all).",
            count_of(more, "more place", "more places")
        )),
    }
}
