use super::*;
use crate::facts::checking::{Example, check_file};

fn ids(text: &str) -> Vec<&'static str> {
    let example = Example::parse(text);
    let input = SignInput {
        kind: example.kind,
        facts: &example.facts,
        serial: example.serial,
        today: example.today.as_deref(),
    };
    signs(&input).iter().map(|sign| sign.id.as_str()).collect()
}

#[test]
fn every_sign_is_cited_and_found() {
    check_file::<Sign>(TEXT, "signs");
    for row in ROWS.iter() {
        assert_ne!(row.when, Condition::default(), "{}: always holds", row.id);
        for vector in &row.vectors {
            assert!(
                ids(vector).contains(&row.id.as_str()),
                "{vector}: {}",
                row.id
            );
        }
        assert!(!row.not_on.is_empty(), "{}: found on what not?", row.id);
        for other in &row.not_on {
            assert!(
                !ids(other).contains(&row.id.as_str()),
                "{other}: {}",
                row.id
            );
        }
    }
}

/// A sign on a genuine card can never be a strong one.
#[test]
fn what_is_sold_in_shops_weighs_little() {
    for row in ROWS.iter() {
        assert!(
            row.seen_in_retail.is_empty() || row.weight < Weight::Strong,
            "{}",
            row.id
        );
    }
}

#[test]
fn no_sign_calls_a_card_names() {
    let text = TEXT.to_lowercase();
    for word in ["fake", "counterfeit", "forged", "fraud"] {
        assert!(!text.contains(word), "{word}");
    }
}

/// Genuine cards whose registers others call counterfeit, as published (serial numbers without their last
/// digits): all their signs are known from shops.
#[test]
fn genuine_cards_with_odd_registers_are_no_more_than_unusual() {
    for (card, unusual) in [
        (
            "sd manfid=0x12 oemid=0x3456 name=ASTC? rev=2.0 date=06/2023 serial=0x00000f00 bytes=62535000000 classes=C10,U3,V30 today=2026-11",
            true,
        ),
        (
            "sd manfid=0x00 oemid=0x3432 name=SD16G rev=2.0 date=02/2025 serial=0x00000300 bytes=15978000000 classes=C10,U1,V10 today=2026-11",
            true,
        ),
        (
            "sd manfid=0x9f oemid=0x5449 name=SPCC_ rev=0.7 date=07/2025 serial=0x00940100 bytes=62225000000 classes=C10,U3,V30,A1 today=2026-11",
            false,
        ),
    ] {
        let example = Example::parse(card);
        let input = SignInput {
            kind: example.kind,
            facts: &example.facts,
            serial: example.serial,
            today: example.today.as_deref(),
        };
        let found = signs(&input);
        assert_eq!(!found.is_empty(), unusual, "{card}");
        for sign in found {
            assert!(!sign.seen_in_retail.is_empty(), "{}: {card}", sign.id);
        }
    }
}

/// Ordinary genuine cards, as published, have no signs.
#[test]
fn ordinary_cards_show_nothing() {
    for card in [
        "sd manfid=0x03 oemid=0x5344 name=SN64G rev=8.6 date=11/2022 serial=0x7e650700 bytes=63865000000 classes=C10,U3,V30,A2 today=2026-11",
        "sd manfid=0x03 oemid=0x5344 name=AGGCF rev=8.0 date=01/2023 serial=0xe05c3500 bytes=127865000000 classes=C10,U3,V30,A1 today=2026-11",
        "sd manfid=0x1b oemid=0x534d name=JD1Y7 rev=3.0 date=12/2025 serial=0xd2765400 bytes=128178000000 classes=C10,U3,V30,A2 today=2026-11",
        "sd manfid=0x1b oemid=0x534d name=00000 rev=1.0 date=04/2018 serial=0x30556500 bytes=128044000000 today=2026-11",
        "sd manfid=0x27 oemid=0x5048 name=SD16G rev=3.0 date=08/2018 serial=0x01cd5c00 bytes=15590000000 classes=C4 today=2026-11",
        "sd manfid=0x27 oemid=0x5048 name=SD32G rev=3.0 date=08/2018 serial=0x00000100 bytes=31000000000 today=2026-11",
        "sd manfid=0x41 oemid=0x3432 name=SD8GB rev=3.0 date=04/2015 serial=0x43f65d00 bytes=7860000000 classes=C10,U1 today=2026-11",
        "sd manfid=0xad oemid=0x4c53 name=USD00 rev=2.0 date=07/2025 serial=0x35841e00 bytes=63282000000 classes=C10,U3,V30,A2 today=2026-11",
    ] {
        assert_eq!(ids(card), [""; 0], "{card}");
    }
}

#[test]
fn sizes_are_read_out_of_names() {
    for (name, size) in [
        ("SD16G", Some(16)),
        ("SD8GB", Some(8)),
        ("SN128", Some(128)),
        ("WX64G", Some(64)),
        ("GD4QT", None),
        ("JD1Y7", None),
        ("EB1QT", None),
        ("00000", None),
        ("USD00", None),
        ("16G", None),
        ("SD30G", None),
        ("99999999999999999999", None),
        ("", None),
    ] {
        assert_eq!(gigabytes_in(name), size, "{name}");
    }
    assert!(contradicts(("SD16G", 31_000_000_000)));
    assert!(!contradicts(("SD16G", 15_590_000_000)));
    assert!(!contradicts(("SD64G", 61_900_000_000)));
}

#[test]
fn other_families_show_nothing() {
    assert!(ids("mmc manfid=0x12 oemid=0x3456 name=ASTC serial=0x00000001").is_empty());
    assert!(!ids("sd manfid=0x12 oemid=0x3456 name=ASTC serial=0x00000001").is_empty());
}

#[test]
fn a_beginning_of_a_name_is_a_condition() {
    let condition: Condition = toml::from_str("name_prefix = [\"SN\", \"SE\"]").unwrap();
    let holds = |name: Option<&str>| {
        let facts = CardFacts {
            product: name.map(str::to_owned),
            ..CardFacts::default()
        };
        condition.holds(&SignInput {
            kind: CardKind::Sd,
            facts: &facts,
            serial: None,
            today: None,
        })
    };
    assert!(holds(Some("SN64G")));
    assert!(!holds(Some("XSN64")));
    assert!(!holds(None));
}
