//! Runs of simulated cards: the same everywhere.

use cardmark_core::{FindingKind, Record};
use cardmark_report::{Style, survey_charts, terminal};
use cardmark_session::{Exit, seed};

use crate::run::{Run, finding, whole_count};
use crate::world::{Ended, World};

fn shown(record: &Record, width: usize) -> String {
    terminal(record, width, Style::Plain)
}

/// A run as the program makes it if nothing else is asked for.
fn run(world: &World, target: &str) -> Ended {
    Run::of(target).seed(seed(None, true)).execute(world)
}

#[test]
fn a_run_at_40_columns() {
    let world = World::new();
    let ended = run(&world, "sim:a1-32gb");
    ended.assert_exit(Exit::Done);
    insta::assert_snapshot!(shown(ended.record(), 40), @"
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
    Reading all of it takes about 6 min
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
      3.72 MB/s ±1.1 %
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

    written to the target: 669 MB
    `cardmark show f6acc85b --all` shows all
      columns
    ");
}

/// The workloads of the answer.
const FOUR: [&str; 4] = [
    "seq_write_1m",
    "seq_read_1m",
    "rand_read_4k",
    "rand_write_4k",
];

/// The first sentence about every simulated card.
#[test]
fn every_simulated_card_gets_an_answer() {
    let world = World::new();
    let answers = cardmark_sim::models().into_iter().map(|model| {
        let target = format!("sim:{}", model.name);
        let ended = Run::of(&target)
            .only(&FOUR)
            .seed(seed(None, true))
            .execute(&world);
        if ended.heard.contains("suite `quick` needs") {
            return format!("{target}: {}", ended.heard);
        }
        let text = shown(ended.record(), 200);
        let mut lines = text.lines().skip_while(|line| !line.is_empty());
        format!("{target}: {}\n", lines.nth(1).unwrap_or_default())
    });
    insta::assert_snapshot!(answers.collect::<String>(), @"
    sim:a1-32gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:a2-64gb: Good for running an operating system: 1115 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:c10-16gb: Slow for running an operating system: 53 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:usb2-32gb: About fast enough for running an operating system: 1429 random reads/s (A1 asks for 1500; 2400 is comfortable)
    sim:swaying-32gb: Good for running an operating system: 915 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:worn-32gb: About fast enough for running an operating system: 494 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:lying-32gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:v30-64gb: Good for running an operating system: 924 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:hot-32gb: Meets A1, enough for running an operating system: 1999 random reads/s (A1 asks for 1500; see the warnings)
    sim:failing-32gb: Do not rely on this device: reads or writes failed
    sim:vanishing-32gb: Do not rely on this device: it disappeared during the test
    sim:silent-32gb: Do not rely on this device: it stopped answering
    sim:patchy-32gb: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:honest-2mb: error: the target has 2097152 bytes, suite `quick` needs 268435456
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
    sim:stalls-often: Good for running an operating system, but stops for up to 0.99 s (4 times in 1 min 5 s): 817 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:stalls-rare: Good for running an operating system: 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:stalls-heavy: Good for running an operating system, but stops for up to 0.49 s (twice in 1 min 5 s): 831 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:freeze-2s: Good for running an operating system, but stops for up to 2.0 s (3 times in 1 min 7 s): 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:freeze-700ms: Meets A1, enough for running an operating system, but stops for up to 0.74 s about every 7 s: 789 random writes/s (A1 asks for 500)
    sim:garbage: Meets A1, enough for running an operating system, but stops for up to 1.5 s (3 times in 1 min 4 s): 599 random writes/s (A1 asks for 500)
    sim:regimes: Meets A1, enough for running an operating system: roughly 2012 random reads/s (A1 asks for 1500)
    sim:slow-sway: Good for running an operating system: 928 random writes/s (A1 asks for 500; 800 is comfortable; see the warnings)
    sim:slower-sway: Good for running an operating system: 946 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:gentle-sway: Good for running an operating system: 923 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:drift: Meets A1, enough for running an operating system: 2339 random reads/s (A1 asks for 1500; see the warnings)
    sim:two-speeds: Meets A1, enough for running an operating system, but stops for up to 0.38 s about every 4 s: 1805 random reads/s (A1 asks for 1500)
    sim:slow-trials: Good for running an operating system: 854 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:housekeeping: Cannot tell whether it is fast enough for running an operating system: 1831 random reads/s, varying by ±24 % (A1 asks for 1500; 2400 is comfortable)
    sim:switching: Good for running an operating system, but stops for up to 0.75 s about every 3 s: 913 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:ftl-4gb: Good for running an operating system: 2652 random reads/s (A1 asks for 1500; 2400 is comfortable)
    sim:sd-stalls: Meets A1, enough for running an operating system, but stops for up to 0.38 s (3 times in 1 min 5 s): 761 random writes/s (A1 asks for 500)
    sim:emmc-stalls: Fast for running an operating system, but stops for up to 0.38 s about every 2 s of writing: 1728 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:pause-5mb: Good for running an operating system, but stops for up to 0.19 s about every 3 s of writing: 828 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:pause-4gib: Good for running an operating system, but stops for 0.93 s (once in 1 min 5 s): 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:read-retries: Good for running an operating system, but stops for up to 5.6 s (twice in 1 min 6 s): 907 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:runs-apart: Good for running an operating system: 916 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:recorded-emmc: Good for running an operating system: 906 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:soft-units-16gb: Slow for running an operating system: 33 random writes/s (A1 asks for 500; 800 is comfortable)
    sim:hard-units-16gb: Slow for running an operating system: 1.69 random writes/s (A1 asks for 500; 800 is comfortable)
    ");
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let json = |seed: u64| {
        let world = World::new();
        let ended = Run::of("sim:a2-64gb").seed(seed).execute(&world);
        ended.assert_exit(Exit::Done);
        assert_eq!(world.kept().id, ended.record().id);
        serde_json::to_string(ended.record()).unwrap()
    };
    let first = json(7);
    assert_eq!(json(7), first);
    assert_ne!(json(8), first);
}

#[test]
fn a_run_can_be_repeated() {
    let world = World::new();
    for _ in 0..2 {
        run(&world, "sim:a1-32gb").assert_exit(Exit::Done);
        world.kept();
    }
}

#[test]
fn cards_that_fail_leave_a_partial_record() {
    for (target, kind, said) in [
        ("sim:failing-32gb", FindingKind::IoError, "at byte "),
        (
            "sim:vanishing-32gb",
            FindingKind::Vanished,
            "no such device",
        ),
        ("sim:silent-32gb", FindingKind::NoAnswer, "no answer for "),
    ] {
        let world = World::new();
        let ended = run(&world, target);
        let record = world.partial(&ended, kind);
        let text = shown(&record, 80);
        assert!(text.contains(said), "{text}");
        assert!(whole_count(&record) > 0, "{target}");
    }
}

/// Findings and exit that the behaviour of each model calls for.
#[test]
fn quick_reports_cards_that_lose_data_or_confirm_before_storing() {
    let world = World::new();
    for (target, exit, kind) in [
        ("sim:dead-1gb", Exit::Bad, Some(FindingKind::DataLost)),
        (
            "sim:lying-32gb",
            Exit::Done,
            Some(FindingKind::SyncNotSlower),
        ),
        ("sim:units-16gb", Exit::Done, None),
    ] {
        let ended = run(&world, target);
        ended.assert_exit(exit);
        for watched in [FindingKind::DataLost, FindingKind::SyncNotSlower] {
            let found = finding(ended.record(), watched);
            assert_eq!(found.is_some(), kind == Some(watched), "{target}");
        }
    }
}

#[test]
fn a_cliff_is_shown_with_its_rates_and_drawn() {
    let world = World::new();
    let ended = Run::of("sim:v30-64gb").suite("sustained").execute(&world);
    ended.assert_exit(Exit::Done);
    let text = shown(ended.record(), 80);
    for line in [
        "write before the cliff",
        "steady part of writing",
        "written until the cliff: 16",
    ] {
        assert!(text.contains(line), "no `{line}`: {text}");
    }
    let mut charts = survey_charts(&[world.kept()]).into_iter();
    let title = "Sustained sequential write 1 MiB over time (higher is better)";
    assert!(charts.any(|chart| chart.heading().title.contains(title)));
}

#[test]
fn without_a_cliff_it_says_so_and_names_no_cache() {
    let world = World::new();
    let ended = Run::of("sim:worn-32gb").suite("sustained").execute(&world);
    ended.assert_exit(Exit::Done);
    let text = shown(ended.record(), 80);
    assert!(text.contains("no cliff within"), "{text}");
    assert!(!text.contains("written until the cliff"), "{text}");
    assert!(finding(ended.record(), FindingKind::NoCliff).is_some());
}
