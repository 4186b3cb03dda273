//! Simulated cards, whose output is the same everywhere. Runs of all models are tested in `session`.

use crate::common::{assert_error, program, scratch};

/// The text of a run, at most so wide.
fn shown(columns: u32) -> String {
    let scratch = scratch();
    let program = program(&scratch).columns(columns);
    let output = program.run(&["run", "sim:a1-32gb"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output}");
    let mut lines = output.stdout.lines();
    assert!(lines.all(|line| line.chars().count() <= columns as usize));
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
    Reading all of it takes about 6 min
    Data read back: intact (64 MiB sample). Capacity: not tested
      → cardmark probe sim:a1-32gb

                                     MB/s  ± this run  IOPS
    sequential write 1 MiB           32.3      ±0.9 %  30.8
    sequential read 1 MiB            89.0      ±0.5 %  84.9
    random read 4 KiB                10.7      ±0.6 %  2617
    random write 4 KiB               3.73      ±1.0 %   910
    random write 4 KiB, 15 s         3.72      ±1.1 %   908
    synced write 4 KiB               1.37      ±1.5 %   335
    mixed 4 KiB, 20 % reads          4.28      ±1.1 %  1044
    random read 4 KiB, whole device  10.7      ±0.6 %  2620
    random read 4 KiB, 32 at once    10.8      ±1.0 %  2636
    random write 4 KiB, 32 at once   3.73      ±2.5 %   911

    written to the target: 669 MB
    `cardmark show f6acc85b --all` shows all columns
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
    Reading all of it takes about 6 min
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
    stalls too rare for so short a test could lower these rates: synced write 4 KiB
      to 0.547 MB/s at worst
    expected of the next run: sequential read 1 MiB 73.4–108 MB/s, sequential write
      1 MiB 24.5–42.6 MB/s, random read 4 KiB 2390–2865 IOPS, random write 4 KiB
      757–1094 IOPS (as far apart as repeats of other cards; three runs give this
      card's own range)

    ~ interval from within a trial, without the differences between runs

    written to the target: 669 MB
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
fn a_run_on_a_card_that_loses_data_ends_with_1() {
    let scratch = scratch();
    let output = program(&scratch).run(&["run", "sim:dead-1gb"]);
    assert_error(
        &output,
        1,
        &["the device does not keep what is written to it"],
    );
}
