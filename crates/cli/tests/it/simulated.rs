//! Simulated cards, whose output is the same everywhere.

use cardmark_core::FindingKind;

use crate::common::{assert_partial, program, scratch, whole_count};

fn shown(columns: u32) -> String {
    let scratch = scratch();
    let program = program(&scratch).columns(columns);
    let output = program.run(&["run", "sim:a1-32gb"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output}");
    assert!(
        output
            .stdout
            .lines()
            .all(|line| line.chars().count() <= columns as usize)
    );
    output.stdout
}

#[test]
fn a_run_at_80_columns() {
    insta::assert_snapshot!(shown(80), @"
    quick 2 · run c9a95663 · simulated (a1-32gb)
    simulated card · a1-32gb, 32 GB (29.8 GiB) · simulated board

                                     MB/s  ± this run    long run  IOPS  p99 ms
    sequential write 1 MiB           32.3      ±0.9 %   21.9–32.6  30.8       –
    sequential read 1 MiB            89.0      ±0.5 %   38.1–89.5  84.9       –
    random read 4 KiB                10.7      ±0.6 %   4.55–10.8  2617   0.618
    random write 4 KiB               3.73      ±1.0 %   2.71–3.77   910    2.07
    random write 4 KiB, 15 s         3.72     ~±1.1 %           –   908    2.09
    synced write 4 KiB               1.37      ±1.5 %  0.547–1.39   335    5.12
    mixed 4 KiB, 20 % reads          4.28      ±1.1 %   1.71–4.32  1044    2.05
    random read 4 KiB, whole device  10.7      ±0.6 %   4.31–10.8  2620   0.617
    random read 4 KiB, 32 at once    10.8      ±1.0 %           –  2636    13.3
    random write 4 KiB, 32 at once   3.73      ±2.5 %           –   911    40.9

    no stall over 100 ms was seen in 16 s of sequential write 1 MiB, 21 s of random
      write 4 KiB, 5.0 s of synced write 4 KiB; the long run allows for stalls too
      rare to be seen in so short a time
    measured again: sequential read 1 MiB 73.3–108 MB/s, sequential write 1 MiB
      24.4–42.6 MB/s, random read 4 KiB 2385–2871 IOPS, random write 4 KiB 755–1097
      IOPS (as far apart as repeats of other cards; three runs give this card's own
      range)

    ~ interval from within a trial, without the differences between runs

    written to the target: 669 MB
    ");
}

#[test]
fn a_run_at_40_columns() {
    insta::assert_snapshot!(shown(40), @"
    quick 2 · run c9a95663 · simulated
      (a1-32gb)
    simulated card · a1-32gb, 32 GB (29.8
      GiB) · simulated board

    sequential write 1 MiB
      32.3 MB/s (long run 21.9–32.6)
      30.8 IOPS
    sequential read 1 MiB
      89.0 MB/s (long run 38.1–89.5)
      84.9 IOPS
    random read 4 KiB
      10.7 MB/s (long run 4.55–10.8)
      2617 IOPS, p99 0.618 ms
    random write 4 KiB
      3.73 MB/s (long run 2.71–3.77)
      910 IOPS, p99 2.07 ms
    random write 4 KiB, 15 s
      3.72 MB/s
      908 IOPS, p99 2.09 ms
    synced write 4 KiB
      1.37 MB/s (long run 0.547–1.39)
      335 IOPS, p99 5.12 ms
    mixed 4 KiB, 20 % reads
      4.28 MB/s (long run 1.71–4.32)
      1044 IOPS, p99 2.05 ms
    random read 4 KiB, whole device
      10.7 MB/s (long run 4.31–10.8)
      2620 IOPS, p99 0.617 ms
    random read 4 KiB, 32 at once
      10.8 MB/s
      2636 IOPS, p99 13.3 ms
    random write 4 KiB, 32 at once
      3.73 MB/s
      911 IOPS, p99 40.9 ms

    no stall over 100 ms was seen in 16 s of
      sequential write 1 MiB, 21 s of random
      write 4 KiB, 5.0 s of synced write 4
      KiB; the long run allows for stalls
      too rare to be seen in so short a time
    measured again: sequential read 1 MiB
      73.3–108 MB/s, sequential write 1 MiB
      24.4–42.6 MB/s, random read 4 KiB
      2385–2871 IOPS, random write 4 KiB
      755–1097 IOPS (as far apart as repeats
      of other cards; three runs give this
      card's own range)

    ~ interval from within a trial, without
      the differences between runs

    written to the target: 669 MB
    ");
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let run = |seed: &str| {
        let scratch = scratch();
        program(&scratch).run(&["run", "sim:a2-64gb", seed, "--json=-"])
    };
    let first = run("--seed=7");
    assert_eq!(first.code, 0, "{first}");
    assert_eq!(run("--seed=7"), first);
    assert_ne!(run("--seed=8").stdout, first.stdout);
}

#[test]
fn a_run_can_be_repeated() {
    let scratch = scratch();
    let program = program(&scratch);
    for _ in 0..2 {
        let output = program.run(&["run", "sim:a1-32gb"]);
        assert_eq!(output.code, 0, "{output}");
    }
    assert_eq!(program.runs_count(), 1);
}

/// Lines are joined: where they end depends on the figures.
#[test]
fn three_runs_of_a_card_tell_what_the_next_one_does() {
    let scratch = scratch();
    let program = program(&scratch);
    let told = |arguments: &[&str]| {
        let output = program.run(arguments);
        assert_eq!(output.code, 0, "{output}");
        let words: Vec<&str> = output.stdout.split_whitespace().collect();
        words.join(" ")
    };
    let run = |model: &str, seed: &str| told(&["run", model, seed]);
    let published = "as far apart as repeats of other";
    assert!(run("sim:a1-32gb", "--seed=1").contains(published));
    assert!(run("sim:a2-64gb", "--seed=1").contains(published));
    assert!(run("sim:a1-32gb", "--seed=2").contains(published));
    assert!(run("sim:a1-32gb", "--seed=3").contains("(from 3 runs of this card)"));
    assert!(told(&["show", "last"]).contains("(from 3 runs of this card)"));
}

#[test]
fn cards_that_fail_leave_a_partial_record() {
    let cases = [
        ("sim:failing-32gb", FindingKind::IoError, "at byte "),
        (
            "sim:vanishing-32gb",
            FindingKind::Vanished,
            "no such device",
        ),
        ("sim:silent-32gb", FindingKind::NoAnswer, "no answer for "),
    ];
    for (target, kind, said) in cases {
        let scratch = scratch();
        let program = program(&scratch);
        let output = program.run(&["run", target]);
        assert_eq!(output.code, 3, "{output}");
        assert!(output.stdout.contains(said), "{output}");
        let record = assert_partial(&program, kind);
        assert!(whole_count(&record) > 0, "{target}");
    }
}

/// Findings and exit status that the behaviour of each model calls for.
#[test]
fn quick_reports_cards_that_lose_data_or_confirm_before_storing() {
    let scratch = scratch();
    let program = program(&scratch);
    for (model, code, kind) in [
        ("dead-1gb", 1, Some("data_lost")),
        ("lying-32gb", 0, Some("sync_not_slower")),
        ("units-16gb", 0, None),
    ] {
        let output = program.run(&["run", &format!("sim:{model}"), "--json=-"]);
        assert_eq!(output.code, code, "{model}: {output}");
        let record = cardmark_core::parse_record(&output.stdout).unwrap();
        for watched in ["data_lost", "sync_not_slower"] {
            let mut names = record
                .findings
                .iter()
                .map(|finding| wire_name(finding.kind));
            assert_eq!(
                names.any(|name| name == watched),
                kind == Some(watched),
                "{model}"
            );
        }
    }
}

fn wire_name(kind: cardmark_core::FindingKind) -> String {
    let name = serde_json::to_value(kind).unwrap();
    name.as_str().unwrap().to_owned()
}
