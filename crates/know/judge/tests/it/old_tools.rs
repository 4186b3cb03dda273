//! The verdict of agnostics and the score of PiBenchmarks, from printed numbers.

use cardmark_catalog::suite;
use cardmark_core::{
    Metric, Origin, OriginKind, Printed, Quantity, Record, Verdict, VerdictOutcome,
    simulated_run_id,
};
use cardmark_judge::judge;

/// Returns a record with these printed numbers.
fn record(figures: &[(&str, f64)]) -> Record {
    let metric = |&(id, value): &(&str, f64)| Metric {
        printed: Some(Printed {
            tool: "test".to_owned(),
            text: value.to_string(),
            value,
            meaning: None,
        }),
        // The value is ignored: the tools judge the number that they print.
        ..Metric::new(id, Quantity::ByteRate, 0.0)
    };
    let origin = Origin::of(OriginKind::Simulated);
    Record {
        metrics: figures.iter().map(metric).collect(),
        ..Record::new(simulated_run_id(&["judge"]), origin)
    }
}

fn verdict(name: &str, figures: &[(&str, f64)]) -> Verdict {
    let mut derived = judge(&record(figures), Some(&suite(name, None).unwrap())).unwrap();
    assert_eq!(derived.verdicts.len(), 1);
    let verdict = derived.verdicts.remove(0);
    assert_eq!(verdict.rule, name);
    verdict
}

/// Returns the verdict for dd, fio random read and write, iozone read, write, random read, random write.
fn pibenchmarks(numbers: [f64; 7]) -> Verdict {
    let names = [
        "dd",
        "fio_rand_read",
        "fio_rand_write",
        "iozone_read",
        "iozone_write",
        "iozone_random_read",
        "iozone_random_write",
    ];
    let ids: Vec<String> = names.iter().map(|n| format!("pibenchmarks_{n}")).collect();
    let figures: Vec<(&str, f64)> = ids.iter().map(String::as_str).zip(numbers).collect();
    verdict("pibenchmarks", &figures)
}

#[test]
fn three_published_scores_come_out() {
    // The table of 2019 on the site of the script's author; see docs/OLD-TOOLS.md.
    let rows = [
        (
            [33.5, 3347.0, 4110.0, 12_993.0, 13_264.0, 11_709.0, 12_812.0],
            2900.0,
        ),
        (
            [33.2, 3107.0, 4131.0, 12_749.0, 13_844.0, 11_218.0, 12_723.0],
            2864.0,
        ),
        (
            [15.5, 3091.0, 882.0, 10_418.0, 3100.0, 10_183.0, 3320.0],
            1245.0,
        ),
    ];
    for (numbers, score) in rows {
        let verdict = pibenchmarks(numbers);
        assert_eq!(
            (verdict.outcome, verdict.score),
            (VerdictOutcome::Score, Some(score))
        );
    }
}

#[test]
fn a_score_is_cut_off_and_blind_to_the_unit_of_dd() {
    let score = |dd, iozone_read| {
        pibenchmarks([dd, 0.0, 0.0, iozone_read, 0.0, 0.0, 0.0])
            .score
            .unwrap()
    };
    assert_eq!(score(0.0, 199.0), 1.0);
    // `1.2 GB/s` counts less than `15.5 MB/s`, and `998 kB/s` more than both.
    assert_eq!(score(1.2, 0.0), 12.0);
    assert_eq!(score(15.5, 0.0), 158.0);
    assert_eq!(score(998.0, 0.0), 10_219.0);
}

#[test]
fn without_one_of_its_numbers_there_is_no_score() {
    let verdict = verdict("pibenchmarks", &[("pibenchmarks_dd", 20.0)]);
    assert_eq!(
        (verdict.outcome, verdict.score),
        (VerdictOutcome::NotTestable, None)
    );
    assert!(
        verdict.reasons[0].ends_with("was not measured"),
        "{verdict:?}"
    );
}

fn agnostics(numbers: [f64; 3]) -> Verdict {
    let ids = [
        "agnostics_seq_write",
        "agnostics_rand_write",
        "agnostics_rand_read",
    ];
    let figures: Vec<(&str, f64)> = ids.into_iter().zip(numbers).collect();
    verdict("agnostics", &figures)
}

#[test]
fn each_mark_counts_and_is_reached_by_its_own_number() {
    assert_eq!(
        agnostics([10_000.0, 500.0, 1500.0]).outcome,
        VerdictOutcome::Pass
    );
    for short in [
        [9999.0, 500.0, 1500.0],
        [10_000.0, 499.0, 1500.0],
        [10_000.0, 500.0, 1499.0],
        // A card of 32 GB that a user reported.
        [12_845.0, 216.0, 957.0],
    ] {
        let verdict = agnostics(short);
        assert_eq!(verdict.outcome, VerdictOutcome::Fail, "{short:?}");
        assert!(
            verdict
                .reasons
                .iter()
                .any(|reason| reason.contains("below"))
        );
    }
}

#[test]
fn a_missing_figure_cannot_pass() {
    let figures = [
        ("agnostics_seq_write", 20_000.0),
        ("agnostics_rand_write", 900.0),
    ];
    let verdict = verdict("agnostics", &figures);
    assert_eq!(verdict.outcome, VerdictOutcome::NotTestable);
}

#[test]
fn our_own_suite_has_no_verdict_yet() {
    assert_eq!(
        judge(
            &record(&[("rand_read_4k", 1.0)]),
            Some(&suite("quick", None).unwrap())
        ),
        None
    );
}
