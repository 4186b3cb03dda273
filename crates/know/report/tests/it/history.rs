//! The runs of a card over time.

use cardmark_core::{OriginKind, Record};
use cardmark_judge::history;
use cardmark_report::{Style, card_history};
use cardmark_samples::{Model, simulated};

/// Shows runs of one card, one a month, whose random write falls to a half, evenly.
fn shown(months: u32, all: bool) -> String {
    let runs: Vec<Record> = (1..=months)
        .map(|month| {
            let mut run = in_month(month, u64::from(month));
            let mut metrics = run.metrics.iter_mut();
            let write = metrics.find(|metric| metric.id == "rand_write_4k").unwrap();
            write.value *= 0.5_f64.powf(f64::from(month - 1) / f64::from(months - 1));
            run
        })
        .collect();
    shown_runs(&runs, all)
}

fn in_month(month: u32, seed: u64) -> Record {
    let mut run = simulated(&Model::named("a1-32gb").unwrap(), "quick", seed);
    run.origin.kind = OriginKind::Measured;
    run.started_at = Some(format!("2026-{month:02}-03T10:00:00Z"));
    run
}

fn shown_runs(runs: &[Record], all: bool) -> String {
    let text = card_history("Red", &history(runs, &[]), all, 80, Style::Plain);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_rate_that_fell_has_its_size_and_the_day_it_began() {
    let text = shown(9, true);
    for part in [
        "random write 4 KiB fell 5",
        "% since 2026-01-03 (95 % CI",
        "2026-09-03",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!text.contains("random read 4 KiB fell"), "{text}");
}

#[test]
fn nothing_is_made_of_too_few_days() {
    let text = shown(4, true);
    assert!(text.contains("too few days with runs"), "{text}");
    assert!(!text.contains("fell"), "{text}");
}

#[test]
fn the_sentence_comes_first_and_has_no_method_in_it() {
    let text = shown(9, false);
    assert!(text.starts_with("Random writes: 5"), "{text}");
    assert!(text.contains("lower since 2026-01-03 ("), "{text}");
    for word in ["CI", "p =", "Holm", "rand_write_4k", "mixed"] {
        assert!(!text.contains(word), "`{word}` in {text}");
    }
    let few = shown(4, false);
    let expected = "No trend yet in 4 runs on 4 days, but random writes were 37 % lower in the last 2 runs than in the 2 \
                    before; too few runs to decide";
    assert!(few.starts_with(expected), "{few}");
    let fewer = shown(3, false);
    let expected = "No trend yet: 3 runs on 3 days; a trend takes 5 days";
    assert!(fewer.starts_with(expected), "{fewer}");
}

#[test]
fn a_card_is_the_same_only_if_every_rate_was_tested() {
    let mut runs: Vec<Record> = (1..=9).map(|month| in_month(month, 1)).collect();
    let same = shown_runs(&runs, false);
    assert!(same.starts_with("The same within 10 % in 9 runs"), "{same}");
    // A rate of four of the runs has too few days.
    for run in &mut runs[4..] {
        run.metrics.retain(|metric| metric.id != "seq_read_1m");
    }
    let some = shown_runs(&runs, false);
    assert!(some.starts_with("No change shown in 9 runs"), "{some}");
}
