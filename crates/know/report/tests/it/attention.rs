//! Cards that need attention, in words.

use cardmark_core::{Integrity, IntegrityTest, Record, StorageKind, run_id_from_bytes};
use cardmark_judge::{attention, cards_of};
use cardmark_report::chart::Chart;
use cardmark_report::document::markdown;
use cardmark_report::{Style, answer_of_attention, attention_list, survey, survey_charts};
use cardmark_samples::{Model, simulated};
use insta::assert_snapshot;

/// Runs of sixty boards with one card each: five may lose data, five are worn, five are slow.
fn fleet() -> Vec<Record> {
    let run = |name: &str| simulated(&Model::named(name).unwrap(), "quick", 7);
    let bad = ["lying-32gb", "worn-32gb", "c10-16gb"].map(run);
    let good = ["a1-32gb", "a2-64gb", "v30-64gb"].map(run);
    let board = |number: u8| {
        let of = if number < 15 { &bad } else { &good };
        let mut run = of[usize::from(number) % 3].clone();
        run.id = run_id_from_bytes([number; 16]);
        run.labels
            .insert("sample".to_owned(), format!("board-{number}"));
        run
    };
    (0..60).map(board).collect()
}

#[test]
fn the_list_begins_with_the_number_and_names_boards_first() {
    let runs = fleet();
    let cards = cards_of(&runs);
    let rows = attention(&cards);
    assert_eq!(
        answer_of_attention(&cards, &rows).sentence,
        "15 of 60 cards need attention: 10 to replace, 5 to watch"
    );
    assert_snapshot!(attention_list(&cards, &rows, 50, 80, Style::Plain));
    for width in 30..=200 {
        let text = attention_list(&cards, &rows, 50, width, Style::Plain);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{width}: {text}");
        assert!(text.contains("board-14"), "{text}");
    }
    let first = attention_list(&cards, &rows, 3, 80, Style::Plain);
    assert!(first.contains("12 more: `--limit 15`"), "{first}");
}

/// Only a test that wrote to all of the card shows its capacity.
#[test]
fn tests_of_something_else_leave_the_capacity_open() {
    use IntegrityTest::{PowerCut, Probe, Read, Verify};
    for (test, kind, from_bytes, is_open) in [
        (Probe, StorageKind::Confirmed, None, false),
        (Verify, StorageKind::Confirmed, None, false),
        (Verify, StorageKind::Limbo, None, false),
        (Verify, StorageKind::Confirmed, Some(0), true),
        (Verify, StorageKind::Unfinished, None, true),
        (Verify, StorageKind::UnknownDevice, None, true),
        (Read, StorageKind::Readable, None, true),
        (PowerCut, StorageKind::Durable, None, true),
    ] {
        let mut run = fleet().remove(0);
        run.integrity = Some(Integrity {
            from_bytes,
            ..Integrity::new(test, kind, 32_000_000_000, 32_000_000_000)
        });
        let runs = [run];
        let cards = cards_of(&runs);
        let open = answer_of_attention(&cards, &attention(&cards)).open;
        let is_said = open
            .iter()
            .any(|text| text.starts_with("Capacity not tested"));
        assert_eq!(is_said, is_open, "{test:?} {kind:?} {from_bytes:?}");
    }
}

#[test]
fn boards_are_counted_if_all_have_names() {
    let mut runs = fleet();
    for (index, run) in runs.iter_mut().enumerate() {
        // Two cards in each computer: a bad one is never alone.
        run.labels
            .insert("host".to_owned(), format!("pi-{}", index / 2));
    }
    let cards = cards_of(&runs);
    let rows = attention(&cards);
    let sentence = answer_of_attention(&cards, &rows).sentence;
    assert_eq!(sentence, "8 of 30 boards need attention: 8 to replace");
    let only = cards_of(runs.iter().skip(20).take(2));
    let sentence = answer_of_attention(&only, &attention(&only)).sentence;
    assert_eq!(sentence, "The board needs no attention");
}

#[test]
fn a_report_begins_with_the_cards_to_replace_and_its_charts_keep_them() {
    let runs = fleet();
    let text = markdown(&survey("Boards", &runs));
    let [answer, table, summary, fastest] = [
        "15 of 60 cards need attention",
        "| board-0 |",
        "60 runs of ",
        "Fastest ",
    ]
    .map(|part| {
        text.find(part)
            .unwrap_or_else(|| panic!("no {part}: {text}"))
    });
    assert!(answer < table && table < fastest && fastest < summary);
    // What loses data is not praised for its rates.
    let line = text
        .lines()
        .find(|line| line.starts_with("Fastest "))
        .unwrap();
    assert!(!line.contains("lying"), "{line}");
    let charts = survey_charts(&runs);
    let Chart::Bars(bars) = &charts[0] else {
        panic!("{:?}", charts[0].heading())
    };
    let is_drawn = |number: usize| {
        let name = format!("(board-{number})");
        bars.groups.iter().any(|group| group.name.ends_with(&name))
    };
    assert!((0..15).all(is_drawn), "{:?}", bars.groups);
    assert!(
        bars.groups
            .iter()
            .map(|group| group.bars.len())
            .sum::<usize>()
            <= 40
    );
    let left_out = "20 of 60 cards: 15 that need attention, the 3 best, the 2 slowest";
    assert!(
        bars.heading.subtitle.contains(left_out),
        "{}",
        bars.heading.subtitle
    );
    let spots = charts.iter().find_map(|chart| match chart {
        Chart::Scatter(scatter) => Some(scatter),
        _ => None,
    });
    assert_eq!(spots.unwrap().named.len(), 15);
}
