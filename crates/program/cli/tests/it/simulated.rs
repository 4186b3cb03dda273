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
    quick 2 · run f6acc85b · simulated (a1-32gb)
    simulated card · a1-32gb, 32 GB (29.8 GiB) · simulated board

    Good for running an operating system: 910 random writes/s (A1 asks for 500; 800
      is comfortable)
    Fine for: cameras up to 21 MB/s (short test), database and home automation,
      media, logging
    Data read back: intact (64 MiB sample). Capacity: not tested
      → cardmark probe sim:a1-32gb

                                     MB/s  ± this run  IOPS
    sequential write 1 MiB           32.3      ±0.9 %  30.8
    sequential read 1 MiB            89.0      ±0.5 %  84.9
    random read 4 KiB                10.7      ±0.6 %  2617
    random write 4 KiB               3.73      ±1.0 %   910
    random write 4 KiB, 15 s         3.72     ~±1.1 %   908
    synced write 4 KiB               1.37      ±1.5 %   335
    mixed 4 KiB, 20 % reads          4.28      ±1.1 %  1044
    random read 4 KiB, whole device  10.7      ±0.6 %  2620
    random read 4 KiB, 32 at once    10.8      ±1.0 %  2636
    random write 4 KiB, 32 at once   3.73      ±2.5 %   911

    stalls too rare for so short a test could lower these rates: synced write 4 KiB
      to 0.547 MB/s at worst

    ~ interval from within a trial, without the differences between runs

    written to the target: 669 MB
    `cardmark show f6acc85b --all` shows all columns
    ");
}

#[test]
fn a_run_at_40_columns() {
    insta::assert_snapshot!(shown(40), @"
    quick 2 · run f6acc85b · simulated
      (a1-32gb)
    simulated card · a1-32gb, 32 GB (29.8
      GiB) · simulated board

    Good for running an operating system:
      910 random writes/s (A1 asks for 500;
      800 is comfortable)
    Fine for: cameras up to 21 MB/s (short
      test), database and home automation,
      media, logging
    Data read back: intact (64 MiB sample).
      Capacity: not tested
      → cardmark probe sim:a1-32gb

    sequential write 1 MiB
      32.3 MB/s ±0.9 %
      30.8 IOPS
    sequential read 1 MiB
      89.0 MB/s ±0.5 %
      84.9 IOPS
    random read 4 KiB
      10.7 MB/s ±0.6 %
      2617 IOPS
    random write 4 KiB
      3.73 MB/s ±1.0 %
      910 IOPS
    random write 4 KiB, 15 s
      3.72 MB/s ~±1.1 %
      908 IOPS
    synced write 4 KiB
      1.37 MB/s ±1.5 %
      335 IOPS
    mixed 4 KiB, 20 % reads
      4.28 MB/s ±1.1 %
      1044 IOPS
    random read 4 KiB, whole device
      10.7 MB/s ±0.6 %
      2620 IOPS
    random read 4 KiB, 32 at once
      10.8 MB/s ±1.0 %
      2636 IOPS
    random write 4 KiB, 32 at once
      3.73 MB/s ±2.5 %
      911 IOPS

    stalls too rare for so short a test
      could lower these rates: synced write
      4 KiB to 0.547 MB/s at worst

    ~ interval from within a trial, without
      the differences between runs

    written to the target: 669 MB
    `cardmark show f6acc85b --all` shows all
      columns
    ");
}

#[test]
fn all_columns_ranges_and_notes_are_shown_on_request() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["run", "sim:a1-32gb", "--all"]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(program.run(&["show", "--all"]).stdout, output.stdout);
    insta::assert_snapshot!(output.stdout, @"
    quick 2 · run f6acc85b · simulated (a1-32gb)
    simulated card · a1-32gb, 32 GB (29.8 GiB) · simulated board

    Good for running an operating system: 910 random writes/s (A1 asks for 500; 800
      is comfortable)
    Fine for: cameras up to 21 MB/s (short test), database and home automation,
      media, logging
    Data read back: intact (64 MiB sample). Capacity: not tested
      → cardmark probe sim:a1-32gb

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

/// The workloads of the answer.
const FOUR: &str = "--only=seq_write_1m,seq_read_1m,rand_read_4k,rand_write_4k";

/// The first sentence about every simulated card.
#[test]
fn every_simulated_card_gets_an_answer() {
    let scratch = scratch();
    let program = program(&scratch).columns(200);
    let models = program.run(&["list", "models", "--json"]).stdout;
    let models: Vec<serde_json::Value> = serde_json::from_str(&models).unwrap();
    let names = models.iter().filter_map(|model| model["name"].as_str());
    let answers = names.filter(|name| !name.starts_with('@')).map(|name| {
        let output = program.run(&["run", name, FOUR]);
        let line = output
            .stdout
            .lines()
            .skip_while(|line| !line.is_empty())
            .nth(1);
        format!("{name}: {}\n", line.unwrap_or_default())
    });
    insta::assert_snapshot!(answers.collect::<String>(), @"
    sim:a1-32gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:a2-64gb: Good for running an operating system: 1115 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:c10-16gb: Slow for running an operating system: 53 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:usb2-32gb: Somewhat slow for running an operating system: 1429 random reads/s (A1 asks for 1500; 2400 is comfortable)
    sim:swaying-32gb: Good for running an operating system: 915 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:worn-32gb: About fast enough for running an operating system: 494 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:lying-32gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:v30-64gb: Good for running an operating system: 924 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:hot-32gb: Meets A1, enough for running an operating system: 1999 random reads/s (A1 asks for 1500; see the warnings)
    sim:failing-32gb: Do not rely on this device: reads or writes failed
    sim:vanishing-32gb: Do not rely on this device: it disappeared during the test
    sim:silent-32gb: Do not rely on this device: it stopped answering
    sim:patchy-32gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:honest-2mb: 
    sim:honest-1gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:dead-1gb: Do not store data here: all 64 MiB read back differ from what was written
    sim:limbo-32gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:wrap-16gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:chain-16gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:tiny-1tb: Do not store data here: 63 MiB of the 64 MiB read back differ from what was written
    sim:cached-64gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:loosely-cached-64gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:devil-1tb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:loose-devil-1tb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:wrap-700mb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:huge-cache-64gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:spotted-64gb: Do not store data here: 16 KiB of the 64 MiB read back differ from what was written
    sim:rotten-64gb: Do not store data here: 624 KiB of the 64 MiB read back differ from what was written
    sim:unreadable-64gb: Do not store data here: 128 KiB of the 64 MiB read back differ from what was written
    sim:flipping-32gb: Do not store data here: 6.5 KiB of the 64 MiB read back differ from what was written
    sim:readonly-32gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:crossing-32gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:forgetting-32gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:spilling-32gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:wearing-1gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:fading-1gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:units-16gb: Slow for running an operating system: 13 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:triple-64gb: Slow for running an operating system: 103 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:border-a1-32gb: Meets A1, enough for running an operating system: 1506 random reads/s (A1 asks for 1500)
    sim:border-a2-64gb: Meets A1, enough for running an operating system: 2266 random reads/s (A1 asks for 1500)
    sim:border-v30-64gb: Good for running an operating system: 905 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:border-c10-16gb: Slow for running an operating system: 51 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:stalls-often: Good for running an operating system, but stops for up to 0.99 s (4 times in this run): 817 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:stalls-rare: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:stalls-heavy: Good for running an operating system, but stops for up to 0.49 s (twice in this run): 831 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:freeze-2s: Good for running an operating system, but stops for up to 2.0 s (3 times in this run): 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:freeze-700ms: Meets A1, enough for running an operating system, but stops for up to 0.70 s about every 7 s: 789 random writes/s (A1 asks for 500)
    sim:garbage: Meets A1, enough for running an operating system, but stops for up to 1.5 s (3 times in this run): 599 random writes/s (A1 asks for 500)
    sim:regimes: Meets A1, enough for running an operating system: roughly 2012 random reads/s (A1 asks for 1500)
    sim:slow-sway: Good for running an operating system: 928 random writes/s (A1 asks for 500; 800 is comfortable; see the warnings)
    sim:slower-sway: Good for running an operating system: 946 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:gentle-sway: Good for running an operating system: 923 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:drift: Meets A1, enough for running an operating system: 2339 random reads/s (A1 asks for 1500; see the warnings)
    sim:two-speeds: Meets A1, enough for running an operating system, but stops for up to 0.35 s about every 4 s: 1805 random reads/s (A1 asks for 1500)
    sim:slow-trials: Good for running an operating system: 854 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:housekeeping: Cannot tell whether it is fast enough for running an operating system: 1831 random reads/s, varying by ±24 % (A1 asks for 1500; 2400 is comfortable)
    sim:switching: Good for running an operating system, but stops for up to 0.74 s about every 3 s: 913 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:ftl-4gb: Good for running an operating system: 2652 random reads/s (A1 asks for 1500; 2400 is comfortable)
    sim:sd-stalls: Meets A1, enough for running an operating system, but stops for up to 0.38 s (3 times in this run): 761 random writes/s (A1 asks for 500)
    sim:emmc-stalls: Fast for running an operating system, but stops for up to 0.38 s about every 2 s of writing: 1728 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:pause-5mb: Good for running an operating system, but stops for up to 0.16 s about every 3 s of writing: 828 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:pause-4gib: Good for running an operating system, but stops for 0.90 s (once in this run): 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:read-retries: Good for running an operating system, but stops for up to 5.6 s (twice in this run): 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:runs-apart: Good for running an operating system: 916 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:recorded-emmc: Good for running an operating system: 906 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:soft-units-16gb: Slow for running an operating system: 33 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:hard-units-16gb: Slow for running an operating system: 1.69 random writes/s (A1 asks for 500; 800 is comfortable)
    ");
}

/// A console without UTF-8 gets ASCII, with the same columns; JSON and documents stay.
#[test]
fn a_console_without_utf8_gets_ascii() {
    let scratch = scratch();
    let program = program(&scratch);
    let run = |arguments: &[&str], locale: &str| {
        let mut command = program.command(arguments);
        let output = command.env("LC_ALL", locale).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for columns in [80, 40] {
        let program = &program;
        let mut command = program.command(&["run", "sim:hot-32gb"]);
        command
            .env("LC_ALL", "C")
            .env("COLUMNS", columns.to_string());
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(text.is_ascii(), "{text}");
        assert!(text.lines().all(|line| line.len() <= columns), "{text}");
    }
    let text = run(&["show", "--all"], "C");
    let figures: Vec<&str> = text
        .lines()
        .filter(|line| line.contains(" MiB ! "))
        .collect();
    insta::assert_snapshot!(figures.join("\n"), @"
    sequential write 1 MiB !           26.1      +-19 %   14.8-31.0  24.9       -
    sequential read 1 MiB !            62.0      +-16 %   22.3-71.7  59.1       -
    ");
    assert!(run(&["run", "--help"], "C").is_ascii());
    for arguments in [&["show", "--json"][..], &["report", "last"]] {
        assert_eq!(run(arguments, "C"), run(arguments, "C.UTF-8"));
    }
    assert!(!run(&["report", "last"], "C").is_ascii());
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
    let run = |model: &str, seed: &str| told(&["run", model, seed, "--all"]);
    let published = "as far apart as repeats of other";
    assert!(run("sim:a1-32gb", "--seed=1").contains(published));
    assert!(run("sim:a2-64gb", "--seed=1").contains(published));
    assert!(run("sim:a1-32gb", "--seed=2").contains(published));
    assert!(run("sim:a1-32gb", "--seed=3").contains("(from 3 runs of this card)"));
    assert!(told(&["show", "last", "--all"]).contains("(from 3 runs of this card)"));
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
