//! Two sides beside each other.

use std::collections::BTreeMap;

use cardmark_catalog::publications;
use cardmark_core::{ContextRow, Quantity, Record};
use cardmark_judge::{Compared, Counts, Queues, common_places, compare_sides};
use cardmark_report::{
    Comparison, Place, Style, Versus, answer_of_comparison, comparison, comparison_blocks,
    places_of_comparison,
};
use cardmark_stats::{Basis, Claim, Conclusion, Difference};
use insta::assert_snapshot;

fn difference(metric: &str, values: [f64; 2], half: f64, outcome: Conclusion) -> Difference {
    let ratio = values[1] / values[0];
    Difference {
        metric: metric.to_owned(),
        quantity: Quantity::ByteRate,
        base_value: values[0],
        other_value: values[1],
        ratio,
        low: Some(ratio / half),
        high: Some(ratio * half),
        p_value: Some(0.0001),
        adjusted_p_value: Some(if outcome == Conclusion::Higher {
            0.000_4
        } else {
            0.031
        }),
        runs_needed: Some(12),
        outcome,
        basis: Basis::Runs,
    }
}

fn differences() -> Vec<Difference> {
    vec![
        difference("rand_write_4k", [7e5, 2.94e6], 1.09, Conclusion::Higher),
        difference("seq_write_1m", [2e7, 2.4e7], 1.05, Conclusion::Higher),
        difference("rand_read_4k", [9e6, 4e6], 1.08, Conclusion::Lower),
        difference("seq_read_1m", [4.3e7, 4.4e7], 1.02, Conclusion::Same),
        Difference {
            quantity: Quantity::OperationRate,
            ..difference(
                "fio_rand_read_q1",
                [120.0, 150.0],
                1.6,
                Conclusion::Undecided,
            )
        },
    ]
}

fn row(name: &str, must_match: bool, sides: [&[&str]; 2]) -> ContextRow {
    ContextRow {
        name: name.to_owned(),
        must_match,
        sides: sides
            .map(|side| side.iter().map(|&text| text.to_owned()).collect())
            .to_vec(),
    }
}

fn context() -> Vec<ContextRow> {
    vec![
        row("suite", true, [&["quick 1"], &["quick 1"]]),
        row("bus", true, [&["SDR104, 200 MHz"], &["unknown"]]),
        row(
            "board",
            false,
            [
                &["Raspberry Pi 3 Model B Rev 1.2"],
                &["Raspberry Pi 4 Model B Rev 1.4"],
            ],
        ),
    ]
}

fn text(claim: Claim, width: usize) -> String {
    text_of(&differences(), claim, width)
}

fn results(differences: &[Difference], claim: Claim) -> Compared {
    Compared {
        counts: [Counts { runs: 1, cards: 1 }; 2],
        claim,
        differences: differences.to_vec(),
        stalls: Vec::new(),
        with_stalls: BTreeMap::new(),
        context: Vec::new(),
        left_out: Vec::new(),
    }
}

fn text_of(differences: &[Difference], claim: Claim, width: usize) -> String {
    let across = ["board".to_owned()];
    let results = Compared {
        counts: [Counts { runs: 3, cards: 1 }, Counts { runs: 6, cards: 2 }],
        context: context(),
        ..results(differences, claim)
    };
    let names = ["SanDisk Ultra", "Samsung Evo\u{1b}[2J Plus"];
    let versus = Versus {
        across: &across,
        ..in_one_place(names, &results, None)
    };
    comparison(&versus, true, width, Style::Plain)
}

fn in_one_place<'a>(
    names: [&'a str; 2],
    results: &'a Compared,
    repeat: Option<&'a str>,
) -> Versus<'a> {
    let place = Place {
        name: "",
        results,
        queues: Queues::Any,
    };
    Versus {
        names,
        places: vec![place],
        repeat,
        across: &[],
        aside: "",
        endurance: None,
    }
}

/// The text of one run a side.
fn single(differences: &[Difference], repeat: Option<&str>) -> String {
    let results = results(differences, Claim::Runs);
    let versus = in_one_place(["a", "b"], &results, repeat);
    comparison(&versus, true, 80, Style::Plain)
}

#[test]
fn a_comparison_at_80_columns() {
    assert_snapshot!(text(Claim::Cards, 80));
}

#[test]
fn a_comparison_at_120_columns_tells_how_probable_it_is() {
    assert_snapshot!(text(Claim::Cards, 120));
}

#[test]
fn a_comparison_at_40_columns() {
    assert_snapshot!(text(Claim::Cards, 40));
}

#[test]
fn the_narrowest_comparison_is_stacked() {
    assert_snapshot!(text(Claim::Runs, 30));
}

#[test]
fn each_rate_has_the_unit_of_what_it_counts() {
    let of = |metric: &str| {
        let of = difference(metric, [120.0, 150.0], 1.6, Conclusion::Undecided);
        let quantity = Quantity::OperationRate;
        let text = text_of(&[Difference { quantity, ..of }], Claim::Cards, 120);
        text.lines()
            .rfind(|line| line.contains("150"))
            .unwrap()
            .to_owned()
    };
    assert!(of("rand_read_4k").contains("120 IOPS  150 IOPS"));
    assert!(of("sqlite_wal_tps").contains("120 transactions/s  150 transactions/s"));
    assert!(of("append_sync_per_s").contains("120 lines/s  150 lines/s"));
}

#[test]
fn each_claim_names_its_scope() {
    let of = |claim| text(claim, 200);
    for (claim, short, long) in [
        (Claim::Runs, "About these runs", "about these runs"),
        (Claim::Cards, "About these two cards", "about these cards"),
        (
            Claim::Products,
            "About these products",
            "about these products",
        ),
        (
            Claim::Matched,
            "About what changes from",
            "what the change does",
        ),
    ] {
        let text = of(claim);
        assert!(text.contains(short) && text.contains(long), "{text}");
    }
}

#[test]
fn every_width_is_kept_to() {
    for width in 30..=200 {
        for line in text(Claim::Matched, width).lines() {
            assert!(line.chars().count() <= width, "{width}: `{line}`");
            assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }
}

#[test]
fn sides_without_a_common_metric_are_a_sentence() {
    assert_snapshot!(single(&[], None));
}

#[test]
fn one_run_a_side_gets_the_command_to_repeat_it() {
    let without_interval = |difference: Difference| Difference {
        low: None,
        high: None,
        p_value: None,
        adjusted_p_value: None,
        basis: Basis::PublishedRepeats,
        ..difference
    };
    let found = [without_interval(difference(
        "rand_write_4k",
        [7e5, 2.94e6],
        1.09,
        Conclusion::Undecided,
    ))];
    let text = single(&found, Some("cardmark run TARGET --suite quick"));
    assert!(
        text.contains("too few runs to decide")
            && text.contains("about 12 runs a side")
            && text.contains("cardmark run TARGET"),
        "{text}"
    );
    assert!(text.contains("4.20"), "the ratio is shown: {text}");
    for word in ["faster", "slower", "same"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

/// Printed there: 2.30 against 3.00, 2.42 against 3.43, 2.36 against 3.75 MB/s; 2.46 against 3.85 on a Pi 4.
#[test]
fn two_products_are_compared_in_all_places_where_both_were_measured() {
    let of = |product: &str| -> Vec<Record> {
        let all = publications()
            .iter()
            .flat_map(|publication| publication.records());
        all.filter(|record| record.labels["product"] == product)
            .collect()
    };
    let sides = ["Samsung Evo+ 32 GB", "SanDisk Extreme 16 GB"].map(of);
    let places = common_places([&sides[0], &sides[1]]);
    let compared: Vec<(String, Compared)> = places
        .into_iter()
        .map(|place| (place.name, compare_sides(&place.sides, &[], &[]).unwrap()))
        .collect();
    let places = compared.iter().map(|(name, results)| Place {
        name,
        results,
        queues: Queues::Any,
    });
    let versus = Versus {
        names: ["Evo+", "Extreme"],
        places: places.collect(),
        repeat: None,
        across: &[],
        aside: "",
        endurance: None,
    };
    let answer = answer_of_comparison(&versus);
    let expected = "Evo+ writes randomly 46 % faster than Extreme (30–59 %)";
    assert!(answer.sentence.starts_with(expected), "{answer:?}");
    let reads = answer
        .figures
        .iter()
        .find(|figure| figure.name == "sequential reads");
    assert_eq!(reads.unwrap().id, "hdparm_t");
    let places = places_of_comparison(&versus);
    assert_eq!(places.len(), 4);
    let pi2 = "Raspberry Pi 2 Model B, suite dramble, geerling-dramble: ";
    assert!(
        places.iter().any(|line| line.starts_with(pi2)),
        "{places:?}"
    );
    let all = comparison(&versus, true, 120, Style::Plain);
    assert!(all.contains(pi2), "{all}");
    let short = comparison(&versus, false, 80, Style::Plain);
    assert!(short.lines().count() <= 12, "{short}");
}

#[test]
fn a_page_begins_with_the_answer_of_the_program() {
    let results = results(&differences(), Claim::Cards);
    let versus = in_one_place(["a", "b"], &results, None);
    let blocks = comparison_blocks(&Comparison {
        base: "a",
        other: "b",
        results: &results,
        repeat: None,
        across: &[],
    });
    let expected = answer_of_comparison(&versus).blocks();
    assert_eq!(blocks[..expected.len()], expected);
}
