use std::collections::BTreeSet;

use super::*;
use crate::facts::checking::is_day;
use crate::{class, explanation, publications};

const GB: u64 = 1_000_000_000;
const TB: u64 = 1000 * GB;

fn promise(id: &str) -> &'static EndurancePromise {
    let mut all = endurance_promises().iter();
    all.find(|promise| promise.id == id).unwrap()
}

#[test]
fn every_promise_is_cited_and_states_what_its_kind_says() {
    let file: File = from_toml(&TEXT).expect("promises and samples");
    let tables = TEXT.lines().filter(|line| line.starts_with("[[")).count();
    assert_eq!(file.promises.len() + file.samples.len(), tables);
    let mut ids = BTreeSet::new();
    for promise in endurance_promises() {
        let id = &promise.id;
        assert!(ids.insert(id), "{id} is listed twice");
        assert!(promise.source.contains("://"), "{id}: no source");
        assert!(is_day(&promise.checked_on), "{id}: checked_on is no day");
        let stated = (
            promise.hours.is_some(),
            promise.cycles.is_some(),
            promise.volume_bytes.is_some(),
        );
        let expected = match promise.kind {
            EnduranceKind::Hours => (true, false, promise.bits_per_s.is_some()),
            EnduranceKind::Cycles => (false, true, false),
            EnduranceKind::Volume => (false, false, true),
            EnduranceKind::Warranty | EnduranceKind::None => (false, false, false),
        };
        assert_eq!(stated, expected, "{id}");
        let has_years = promise.warranty_years.is_some();
        assert!(promise.kind != EnduranceKind::Warranty || has_years, "{id}");
        assert!(
            promise.bits_per_s.is_none() || promise.hours.is_some(),
            "{id}"
        );
        assert!(
            promise.bit_rate_from.is_none() || promise.bits_per_s.is_some(),
            "{id}"
        );
        assert!(
            promise.classes.iter().all(|name| class(name).is_some()),
            "{id}"
        );
        assert!(
            promise.capacity_bytes.is_none_or(|bytes| bytes % GB == 0),
            "{id}"
        );
    }
}

#[test]
fn hours_at_a_bit_rate_are_a_volume() {
    for promise in endurance_promises() {
        if let Some((hours, bits)) = promise.hours.zip(promise.bits_per_s) {
            let volume = hours * 3600 * bits / 8;
            assert_eq!(promise.volume_bytes, Some(volume), "{}", promise.id);
        }
    }
    // 26 Mbit/s are 11.7 GB an hour; 13 Mbit/s half of it.
    let volume = |id: &str| promise(id).volume_bytes.unwrap();
    assert_eq!(
        volume("samsung_pro_endurance_2022_128gb_hours"),
        819_936 * GB
    );
    assert_eq!(volume("sandisk_max_endurance_128gb_hours"), 702 * TB);
    let (kingston, adata) = (
        volume("kingston_high_endurance_2022_128gb_hours"),
        volume("adata_high_endurance_2022_128gb_hours"),
    );
    assert_eq!((kingston, adata), (117 * TB, 234 * TB));
}

#[test]
fn lines_of_promises_are_known() {
    let named = endurance_promises().iter().filter(|one| one.line.is_some());
    let mut count = 0;
    for promise in named {
        let line = promise.product_line();
        assert_eq!(
            line.map(|line| &line.brand),
            Some(&promise.maker),
            "{}",
            promise.id
        );
        count += 1;
    }
    assert!(count > 20, "{count}");
}

/// Counted in the tables of the sources.
#[test]
fn promises_and_samples_are_counted() {
    let of = |kind| {
        let all = endurance_promises().iter();
        all.filter(|promise| promise.kind == kind).count()
    };
    let kinds = [
        EnduranceKind::Hours,
        EnduranceKind::Volume,
        EnduranceKind::Cycles,
        EnduranceKind::Warranty,
        EnduranceKind::None,
    ];
    assert_eq!(kinds.map(of), [17, 11, 12, 1, 3]);
    assert_eq!(endurance_samples().len(), 40);
}

#[test]
fn every_sample_is_cited_and_fails_after_its_first_error() {
    let mut seen = BTreeSet::new();
    for sample in endurance_samples() {
        let name = format!("{} {}", sample.product, sample.sample);
        assert!(sample.source.starts_with("https://"), "{name}");
        assert!(is_day(&sample.checked_on), "{name}");
        assert!(
            sample.first_error.is_some() || sample.failed.is_some(),
            "{name}"
        );
        for cycles in [sample.first_error, sample.failed].into_iter().flatten() {
            assert!(
                cycles.at_most.is_none_or(|most| most >= cycles.at_least),
                "{name}"
            );
        }
        if let Some((first, failed)) = sample.first_error.zip(sample.failed) {
            assert!(failed.at_least >= first.at_least, "{name}");
        }
        if let Some(holds) = sample.holds_bytes {
            let is_fake = sample.verdict == Some(CapacityVerdict::Fake);
            assert_eq!(holds < sample.capacity_bytes / 2, is_fake, "{name}");
        }
        if let Some(registers) = &sample.registers {
            assert_eq!(registers.oem.len(), 4, "{name}");
        }
        assert!(seen.insert(name.clone()), "{name} is listed twice");
    }
}

#[test]
fn false_names_stand_between_quotation_marks() {
    let mut false_names = BTreeSet::new();
    for sample in endurance_samples() {
        let is_false = sample.brand == BrandKind::KnockOff;
        let is_quoted = sample.product.starts_with('"') && sample.product.matches('"').count() == 2;
        assert_eq!(is_quoted, is_false, "{}", sample.product);
        assert!(is_false || !sample.product.contains('"'));
        let is_fake = sample.verdict == Some(CapacityVerdict::Fake);
        assert!(is_false || !is_fake, "{}", sample.product);
        false_names.extend(is_false.then(|| sample.name()));
    }
    let expected = [
        "\"Lenovo\" 128 GB",
        "\"Lenovo\" 2 TB",
        "\"Lenovo\" 256 GB",
        "\"Sansumg\" PRO Plus 2 TB",
        "\"Sony\" 32 GB",
        "\"Xiaomi\" 2 TB",
    ];
    assert_eq!(Vec::from_iter(false_names), expected);
}

#[test]
fn brands_are_counted() {
    let of = |kind| {
        let all = endurance_samples().iter();
        all.filter(|sample| sample.brand == kind).count()
    };
    let kinds = [BrandKind::Name, BrandKind::Off, BrandKind::KnockOff];
    assert_eq!(kinds.map(of), [23, 9, 8]);
}

#[test]
fn a_name_keeps_all_words_of_the_source() {
    for sample in endurance_samples() {
        let letters = |text: &str| text.replace(' ', "");
        assert_eq!(letters(&sample.name()), letters(&sample.product));
    }
    let kodak = endurance_samples()
        .iter()
        .find(|one| one.product.starts_with("Kodak"))
        .unwrap();
    assert_eq!(
        kodak.name(),
        "Kodak Ultra Performance 64 GB (black and gold)"
    );
}

/// Figures in explanations are those of the facts.
#[test]
fn explanations_state_the_volumes_of_the_catalogue() {
    let text = &explanation("hours of video").unwrap().text;
    for (id, stated) in [
        ("kingston_high_endurance_2022_128gb_hours", "117 TB"),
        ("sandisk_high_endurance_128gb_hours", "117 TB"),
        ("sandisk_max_endurance_128gb_hours", "702 TB"),
        ("samsung_pro_endurance_2022_128gb_hours", "820 TB"),
    ] {
        let volume = promise(id).volume_bytes.unwrap();
        assert_eq!(format!("{} TB", (volume + TB / 2) / TB), stated);
        assert!(text.contains(stated), "{id}");
    }
    for (hours, megabits) in [("20,000", 13), ("10,000", 26)] {
        assert!(text.contains(&format!("{hours} h at {megabits} Mbit/s")));
    }
}

#[test]
fn the_answer_on_a2_has_published_figures() {
    let text = &explanation("A2 on a Pi 4").unwrap().text;
    let publication = publications().iter().find(|one| one.id == "geerling-a2");
    let runs = &publication.unwrap().runs;
    for (product, stated) in [
        ("sandisk_extreme_a2_64gb", ["947", "1,882"]),
        ("sandisk_extreme_pro_a1_32gb", ["1,203", "2,514"]),
    ] {
        let run = runs.iter().find(|run| run.product.id == product).unwrap();
        let metrics = ["iozone_random_write", "iozone_random_read"];
        for (metric, stated) in metrics.iter().zip(stated) {
            let mut figures = run.figures.iter();
            let figure = figures.find(|figure| figure.metric == *metric).unwrap();
            let per_s = format!("{:.0}", figure.value / 4096.0);
            assert_eq!(per_s, stated.replace(',', ""), "{product}");
            assert!(text.contains(stated), "{stated}");
        }
    }
}
