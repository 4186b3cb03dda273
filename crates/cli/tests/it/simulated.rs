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
    quick 1 · run d2057f22 · simulated (a1-32gb)
    simulated card · a1-32gb, 32 GB (29.8 GiB) · simulated board

                                    MB/s       ±  95 % interval  IOPS  p99 ms
    sequential write 1 MiB          32.4  ±1.3 %      31.9–32.8  30.9       –
    sequential read 1 MiB           89.8  ±1.1 %      88.8–90.7  85.6       –
    random read 4 KiB               10.7  ±1.0 %      10.6–10.9  2624   0.611
    random write 4 KiB              3.71  ±2.6 %      3.61–3.81   906    2.14
    random read 4 KiB, 32 at once   10.7  ±2.1 %      10.5–10.9  2609    13.5
    random write 4 KiB, 32 at once  3.76  ±1.7 %      3.70–3.82   919    39.8
    mixed 4 KiB, 20 % reads         4.27  ±1.5 %      4.20–4.33  1042    2.04
    synced write 4 KiB              1.36  ±1.4 %      1.34–1.38   332    5.28

    written to the target: 405 MB
    ");
}

#[test]
fn a_run_at_40_columns() {
    insta::assert_snapshot!(shown(40), @"
    quick 1 · run d2057f22 · simulated
      (a1-32gb)
    simulated card · a1-32gb, 32 GB (29.8
      GiB) · simulated board

    sequential write 1 MiB
      32.4 MB/s (31.9–32.8)
      30.9 IOPS
    sequential read 1 MiB
      89.8 MB/s (88.8–90.7)
      85.6 IOPS
    random read 4 KiB
      10.7 MB/s (10.6–10.9)
      2624 IOPS, p99 0.611 ms
    random write 4 KiB
      3.71 MB/s (3.61–3.81)
      906 IOPS, p99 2.14 ms
    random read 4 KiB, 32 at once
      10.7 MB/s (10.5–10.9)
      2609 IOPS, p99 13.5 ms
    random write 4 KiB, 32 at once
      3.76 MB/s (3.70–3.82)
      919 IOPS, p99 39.8 ms
    mixed 4 KiB, 20 % reads
      4.27 MB/s (4.20–4.33)
      1042 IOPS, p99 2.04 ms
    synced write 4 KiB
      1.36 MB/s (1.34–1.38)
      332 IOPS, p99 5.28 ms

    written to the target: 405 MB
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
