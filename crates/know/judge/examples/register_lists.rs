//! Signs of unusual registers on lists of cards whose licence keeps them out of this repository.
//!
//! `cargo run -p cardmark-judge --example register_lists FOLDER` prints a table. The folder contains
//! `cid-labels-sdinfo.csv`, `cid-sbc-bench.csv` and
//! `cid-low-serials-armbian.csv`; each names its source in its first line.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a table for a person"
)]

use std::collections::BTreeMap;
use std::path::Path;

use cardmark_catalog::{SignInput, Weight, signs};
use cardmark_core::{CardFacts, CardKind};

/// A card of a list.
struct Listed {
    kind: CardKind,
    facts: CardFacts,
    has_low_serial: bool,
}

fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let names = fields(lines.next().unwrap());
    lines
        .map(|line| names.iter().cloned().zip(fields(line)).collect())
        .collect()
}

/// Fields of a CSV line; those in double quotes may hold commas.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            letter => fields.last_mut().unwrap().push(letter),
        }
    }
    fields
}

/// Capacity in bytes from `14.6 GiB` or `14.6`.
fn bytes(text: &str) -> Option<u64> {
    let number: f64 = text.trim_end_matches(" GiB").trim().parse().ok()?;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "GiB of a card"
    )]
    Some((number * f64::from(1 << 30)) as u64)
}

fn listed(row: &BTreeMap<String, String>) -> Listed {
    let get = |name: &str| row.get(name).map(String::as_str).unwrap_or_default();
    let (maker, oem) = match row.get("manfid_oemid") {
        Some(both) => both.split_once("/0x").unwrap(),
        None => (get("mid"), get("oid")),
    };
    let maker = maker.trim_start_matches("0x");
    let month = |text: &str| match text.split_once('/') {
        Some((month, year)) => format!("{year}-{month}"),
        None => text.to_owned(),
    };
    let made = [get("made"), get("date")].map(month).join("");
    // The list names the maker before the product.
    let name = get("vendor_name").rsplit(' ').next().unwrap_or_default();
    let product = format!("{}{}", get("name"), name).trim().to_owned();
    let is_emmc = get("kind") == "eMMC" || get("mode_kind").contains("eMMC");
    Listed {
        kind: if is_emmc { CardKind::Mmc } else { CardKind::Sd },
        facts: CardFacts {
            manufacturer_id: u8::from_str_radix(&maker[maker.len() - 2..], 16).ok(),
            oem: Some(oem.to_owned()),
            product: Some(product),
            made: Some(made),
            capacity_bytes: bytes(get("capacity")).or_else(|| bytes(get("gib"))),
            ..CardFacts::default()
        },
        has_low_serial: get("serial_below_65536") == "True" || row.contains_key("hwrev_fwrev"),
    }
}

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    println!("| list | SD cards | strong | medium | weak | none |");
    println!("|---|---:|---:|---:|---:|---:|");
    let mut strong = Vec::new();
    for name in [
        "cid-labels-sdinfo",
        "cid-sbc-bench",
        "cid-low-serials-armbian",
    ] {
        let rows = rows(&Path::new(&folder).join(format!("{name}.csv")));
        let cards: Vec<Listed> = rows.iter().map(listed).collect();
        let cards = cards.iter().filter(|card| card.kind == CardKind::Sd);
        let (mut count, mut by_weight) = (0, [0; 4]);
        for card in cards {
            let found = signs(&SignInput {
                kind: card.kind,
                facts: &card.facts,
                serial: Some(if card.has_low_serial { 1 } else { u32::MAX }),
                today: Some("2026-11"),
            });
            count += 1;
            // The heaviest is first.
            let place = match found.first().map(|sign| sign.weight) {
                Some(Weight::Strong) => 0,
                Some(Weight::Medium) => 1,
                Some(Weight::Weak) => 2,
                None => 3,
            };
            by_weight[place] += 1;
            if place == 0 && name != "cid-low-serials-armbian" {
                strong.push(format!("{name}: {:?}: {}", card.facts, found[0].detail));
            }
        }
        let [heavy, medium, weak, none] = by_weight;
        println!("| {name} | {count} | {heavy} | {medium} | {weak} | {none} |");
    }
    assert!(strong.is_empty(), "{strong:#?}");
}
