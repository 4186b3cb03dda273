use std::collections::BTreeMap;

use cardmark_cards::register_tables;
use cardmark_core::FindingKind;

use super::*;
use crate::facts::checking::check_file;
use crate::{classes, suite, suite_names};

/// The kinds of findings as records write them, from their schema; a word of a later version is none.
fn finding_names() -> Vec<String> {
    let schema = schemars::schema_for!(FindingKind).to_value();
    let kinds = schema["anyOf"].as_array().unwrap().iter();
    let names = kinds.filter_map(|kind| kind["const"].as_str());
    names.map(str::to_owned).collect()
}

#[test]
fn every_explanation_is_cited_and_found() {
    check_file::<Explanation>(&text(), "explanations");
    for row in explanations() {
        for vector in row.vectors.iter().chain(row.words()) {
            let found = explanation(vector).unwrap();
            assert_eq!(found.id, row.id, "{vector}");
        }
    }
}

#[test]
fn a_word_leads_to_one_explanation() {
    let mut seen = BTreeMap::new();
    for row in explanations() {
        for word in row.words() {
            let other = seen.insert(plain(word), &row.id);
            // An alias may repeat the row's own word in capitals.
            assert!(other.is_none(), "{word}: {other:?} and {}", row.id);
        }
    }
}

/// Two to six short sentences: meaning, importance, advice.
#[test]
fn texts_are_short() {
    for row in explanations() {
        let text = &row.text;
        let sentences = text.matches(['.', '?', ':']).count();
        assert!(text.ends_with('.'), "{}: no full stop", row.id);
        assert!((2..=14).contains(&sentences), "{}: {sentences}", row.id);
        assert!(
            (80..=900).contains(&text.len()),
            "{}: {}",
            row.id,
            text.len()
        );
        assert!(!row.title.ends_with('.'), "{}", row.id);
        assert!(!text.contains("  ") && !text.contains('\n'), "{}", row.id);
    }
}

#[test]
fn no_text_judges_a_card_by_its_registers() {
    for row in explanations() {
        let text = row.text.to_lowercase();
        for word in ["is fake", "is a fake", "are fake", "counterfeit"] {
            assert!(!text.contains(word), "{}: {word}", row.id);
        }
    }
}

#[test]
fn every_class_and_every_finding_is_explained() {
    for class in classes() {
        assert!(explanation(&class.id).is_some(), "{}", class.id);
    }
    let findings = finding_names();
    assert!(findings.len() >= 20 && findings.contains(&"not_reached".to_owned()));
    for finding in findings {
        assert!(explanation(&finding).is_some(), "{finding}");
    }
}

#[test]
fn every_metric_is_explained() {
    for name in suite_names() {
        let suite = suite(name, None).unwrap();
        for workload in &suite.workloads {
            let id = &workload.id;
            let latencies = ["_p50", "_p99", "_max"].map(|end| format!("{id}{end}"));
            // If figures turn workloads into metrics, only the figures are visible.
            let metrics = std::iter::once(id.clone())
                .filter(|_| suite.figures.is_empty())
                .chain(latencies.into_iter().filter(|_| workload.latency_metrics));
            for metric in metrics {
                assert!(explanation(&metric).is_some(), "{name}: {metric}");
            }
        }
        for figure in &suite.figures {
            assert!(explanation(&figure.id).is_some(), "{name}: {}", figure.id);
        }
    }
}

#[test]
fn spelling_hardly_matters() {
    let id = |word: &str| explanation(word).map(|found| found.id.clone());
    assert_eq!(id("NO COMMAND-QUEUE").unwrap(), "no_command_queue");
    assert_eq!(id("a2").unwrap(), "A2");
    assert_eq!(id("erase timeout").unwrap(), "ERASE_TIMEOUT");
    for word in ["", "nothing like it", "RESERVED_424"] {
        assert_eq!(id(word), None, "{word}");
    }
}

#[test]
fn slips_are_understood() {
    assert_eq!(nearest_terms("no_comand_queue")[0], "no_command_queue");
    assert_eq!(nearest_terms("througtled")[0], "throttled");
    assert_eq!(nearest_terms("VSC_AU_SIZ")[0], "VSC_AU_SIZE");
    assert!(nearest_terms("zzzzzz").is_empty());
}

#[test]
fn a_field_tells_the_registers_that_hold_it() {
    let field = explanation("ERASE_TIMEOUT").unwrap();
    let place = "SSR, bits 407 to 402: limit for erasing them";
    assert!(field.text.starts_with(place), "{}", field.text);
    assert!(!field.source.contains("JEDEC"), "{}", field.source);
    let in_many = explanation("C_SIZE").unwrap();
    for place in [
        "CSD of SDSC, bits",
        "CSD of SDHC and SDXC, bits",
        "CSD of eMMC, bits",
    ] {
        assert!(in_many.text.contains(place), "{}", in_many.text);
    }
    assert!(
        in_many.source.contains("SD Specifications"),
        "{}",
        in_many.source
    );
    assert!(in_many.source.contains("JEDEC"), "{}", in_many.source);
}

#[test]
fn every_field_of_the_registers_is_explained() {
    let mut count = 0;
    for (register, table) in register_tables() {
        let named = table.iter().filter(|field| field.about != "reserved");
        for field in named {
            count += 1;
            let found = explanation(field.name);
            assert!(found.is_some(), "{} of {register}", field.name);
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn every_group_has_terms_and_a_name_of_its_own() {
    for group in Group::ALL {
        assert!(group.rows().next().is_some(), "{}", group.name());
        assert_eq!(Group::of(&group.name().to_uppercase()), Some(group));
        assert!(explanation(group.name()).is_none(), "{}", group.name());
    }
    let grouped: usize = Group::ALL
        .into_iter()
        .map(|group| group.rows().count())
        .sum();
    assert_eq!(grouped, explanations().len());
}

#[test]
fn findings_are_in_the_group_of_warnings() {
    // This one is explained with its figure.
    for name in finding_names().iter().filter(|name| *name != "period") {
        assert_eq!(explanation(name).unwrap().group, Group::Warnings, "{name}");
    }
}

#[test]
fn every_word_of_a_use_is_explained() {
    for row in crate::uses() {
        let source = &row.source;
        for word in row.vectors.iter().chain([&row.id]) {
            let found = explanation(word).unwrap();
            assert!(!found.text.is_empty(), "{word}: {source}");
        }
    }
    let boot = explanation("boot").unwrap();
    assert!(
        boot.text.contains("2000 random reads per second"),
        "{}",
        boot.text
    );
    assert!(
        boot.text.contains("20 MB/s of sequential reads"),
        "{}",
        boot.text
    );
}

/// Words of people whose storage is a card, of `docs/COVERAGE.md` and of forums.
#[test]
fn the_words_of_people_are_explained() {
    for word in [
        "dash cam",
        "dashcam",
        "car camera",
        "surveillance",
        "security camera",
        "24/7 recording",
        "camera trap",
        "trail camera",
        "wildlife camera",
        "Home Assistant",
        "HA",
        "Pi-hole",
        "AdGuard",
        "Nextcloud",
        "retro games",
        "RetroPie",
        "Batocera",
        "Steam Deck",
        "Switch",
        "NAS",
        "OctoPrint",
        "swap",
        "write protected",
        "SMART",
        "wear levelling",
        "wear leveling",
        "h2testw",
        "f3",
        "longevity",
        "log2ram",
        "overlay",
        "btrfs",
        "preparation",
        "0xff",
        "Raspberry Pi Imager",
        "backup",
        "eMMC",
        "SSD",
        "NVMe",
        "health",
        "price",
        "TLC",
        "industrial",
    ] {
        let is_found = explanation(word).is_some() || !crate::search(word).is_empty();
        assert!(is_found, "{word}");
    }
}
