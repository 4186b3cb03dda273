//! What makers state about the endurance of a card, in words.

use cardmark_catalog::{EnduranceKind, EndurancePromise};

use crate::text::style::clean;
use crate::text::{amount, grouped};

/// A volume in TB, as makers state it: `820 TB`, `3,840 TB`.
pub(crate) fn volume(bytes: u64) -> String {
    const TB: u64 = 1_000_000_000_000;
    match bytes {
        bytes if bytes >= 1000 * TB => format!("{} TB", grouped((bytes + TB / 2) / TB)),
        bytes => amount(bytes),
    }
}

/// Maker, line and capacity of a statement.
pub(crate) fn statement_name(one: &EndurancePromise) -> String {
    let size = one
        .capacity_bytes
        .map(|bytes| format!(" {}", amount(bytes)));
    clean(&format!(
        "{} {}{}",
        one.maker,
        one.name,
        size.unwrap_or_default()
    ))
}

/// The statement in words.
pub(crate) fn stated(one: &EndurancePromise) -> String {
    let written = one.volume_bytes.map(volume);
    match (one.kind, written, one.cycles) {
        (EnduranceKind::Cycles, _, Some(cycles)) => {
            format!("{} cycles of its cells", grouped(u64::from(cycles)))
        }
        (_, Some(written), _) if one.up_to => format!("up to {written}"),
        (_, Some(written), _) => written,
        _ => stated_hours(one),
    }
}

/// Hours with their bit rate, as the maker states them.
pub(crate) fn stated_hours(one: &EndurancePromise) -> String {
    let rate = one
        .bits_per_s
        .map(|bits| format!(" at {} Mbit/s", bits / 1_000_000));
    match one.hours {
        Some(hours) => format!(
            "{} h{}",
            grouped(hours),
            rate.unwrap_or_else(|| ", bit rate not stated".to_owned())
        ),
        None => one.volume_bytes.map_or_else(String::new, volume),
    }
}

/// Capacity, statement, volume and document: `128 GB: 20,000 h at 13 Mbit/s, 117 TB (2022)`.
pub(crate) fn of_line(one: &EndurancePromise) -> Option<String> {
    let is_figure = !matches!(one.kind, EnduranceKind::Warranty | EnduranceKind::None);
    let size = one
        .capacity_bytes
        .map(|bytes| format!("{}: ", amount(bytes)));
    let stated_volume = one.volume_bytes.filter(|_| one.hours.is_some());
    let written = stated_volume.map(|bytes| format!(", {}", volume(bytes)));
    let what = match one.hours {
        Some(_) => stated_hours(one),
        None => stated(one),
    };
    let document = one.document.as_deref().map(|name| format!(" ({name})"));
    is_figure.then(|| {
        let parts = [size, Some(what), written, document];
        clean(&parts.into_iter().flatten().collect::<String>())
    })
}

#[cfg(test)]
mod tests {
    use cardmark_catalog::{endurance_promises, look_up};

    use super::*;
    use crate::text::vocabulary::vocabulary;

    fn shown(id: &str) -> Option<String> {
        let mut all = endurance_promises().iter();
        of_line(all.find(|promise| promise.id == id).unwrap())
    }

    #[test]
    fn hours_stand_beside_their_volume() {
        let of = |id: &str| shown(id).unwrap();
        let kingston = "128 GB: 20,000 h at 13 Mbit/s, 117 TB (2022)";
        assert_eq!(of("kingston_high_endurance_2022_128gb_hours"), kingston);
        let sandisk = "128 GB: 10,000 h at 26 Mbit/s, 117 TB (2023-05)";
        assert_eq!(of("sandisk_high_endurance_128gb_hours"), sandisk);
        let industrial = "128 GB: up to 3,840 TB (MKD-02122026)";
        assert_eq!(of("kingston_industrial_sdcit2_128gb_volume"), industrial);
        assert_eq!(shown("samsung_evo_plus_2021_512gb_warranty"), None);
        let page = vocabulary("", &look_up("Kingston High Endurance"), 100);
        assert!(page.contains(kingston), "{page}");
    }

    #[test]
    fn every_statement_has_words() {
        for promise in endurance_promises() {
            assert!(!of_line(promise).is_some_and(|text| text.is_empty()));
            assert!(!statement_name(promise).is_empty());
        }
    }
}
