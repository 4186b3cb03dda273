//! Products that suit a use, from what others published.

use cardmark_catalog::{publications, use_of};
use cardmark_core::{Metric, Origin, OriginKind, Quantity, Record, run_id_from_bytes};
use cardmark_judge::{Wish, recommend};
use cardmark_report::{Recommended, Style, recommendation};

/// The recommendation of published products and these runs for a use.
fn shown(wanted: &str, board: Option<&str>, own: &[Record], width: usize) -> String {
    let published = publications()
        .iter()
        .flat_map(|publication| publication.records());
    let records: Vec<Record> = own.iter().cloned().chain(published).collect();
    let wanted = use_of(wanted).unwrap();
    let wish = Wish {
        board: board.map(str::to_owned),
        kinds: vec![cardmark_catalog::ProductKind::Microsd],
        ..Wish::default()
    };
    let found = recommend(&records, wanted, &wish);
    let recommended = Recommended {
        wanted,
        wish: &wish,
        found: &found,
        all: true,
    };
    recommendation(&recommended, width, Style::Plain)
}

/// An own run with this rate.
fn own(kind: OriginKind, product: &str, metric: &str, value: f64) -> Record {
    let mut run = Record::new(run_id_from_bytes([1; 16]), Origin::of(kind));
    run.metrics = vec![Metric::new(metric, Quantity::OperationRate, value)];
    run.labels.insert("product".to_owned(), product.to_owned());
    run
}

fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn the_card_of_the_articles_leads_and_says_why() {
    let text = shown("boot", Some("Pi 2"), &[], 80);
    let parts = [
        "1–4. Samsung Evo+ 32 GB (microSD): slow",
        "759 IOPS (needs 800)",
        "test undated, first sold 2015",
        "2 products of other kinds; `--kind all` shows",
        "(few data)",
        "geerling-dramble",
        "SD Specifications",
    ];
    assert_has(&text, &parts);
    for line in shown("boot", Some("Pi 2"), &[], 40).lines() {
        assert!(line.chars().count() <= 40, "{line}");
    }
}

#[test]
fn without_the_figure_that_decides_there_is_no_answer() {
    let text = shown("logging", None, &[], 80);
    let parts = [
        "Cannot answer: ",
        "– SanDisk Extreme Plus 16 GB (microSD): could be ample",
        "no figure of synced write 4 KiB",
    ];
    assert_has(&text, &parts);
    // An own figure answers.
    let mine = own(OriginKind::Imported, "Mine", "sync_write_4k", 90.0);
    let text = shown("logging", None, &[mine], 80);
    assert_has(&text, &["1. Mine: could be good", "Cannot tell: "]);
}

#[test]
fn nobody_is_told_to_buy_a_simulated_card() {
    let simulated = own(OriginKind::Simulated, "Simulated", "rand_write_4k", 9e9);
    let text = shown("boot", None, &[simulated], 80);
    assert!(!text.contains("Simulated"), "{text}");
    assert_has(&text, &["Left out: 1 run of simulated cards."]);
}
