//! Runs that are killed: nothing that was reported complete is lost.

use std::path::Path;

use cardmark_core::{FindingKind, Record, Rng, Trial};
use cardmark_testkit::{Program, killing_at_sync, needs};
use serde_json::Value;

use crate::common::{QUICKEST, assert_empty, finding, folder, program, scratch, text};

/// Kills if `CARDMARK_KILLS` is not set.
const KILLS: u32 = 8;
/// One of this number of kills is on real storage.
const REAL_SHARE: u32 = 4;
/// Trials of the layout.
const LAYOUT: usize = 4;
/// Kills come at one of this number of syncs, which is fewer than a run has.
const SYNCS: u64 = 24;

fn kills_count() -> u32 {
    let asked = std::env::var("CARDMARK_KILLS").ok();
    asked.map_or(KILLS, |count| {
        count.parse().expect("CARDMARK_KILLS is a number")
    })
}

/// Differs from run to run.
fn rng() -> Rng {
    Rng::new(u64::from(std::process::id()))
}

/// The trials in the journal whose line is whole, as JSON; `None` where there is no journal.
fn journal_trials(program: &Program) -> Option<Vec<Value>> {
    let journals = program.journals();
    let is_journal = |path: &&std::path::PathBuf| path.extension() == Some("journal".as_ref());
    let bytes = std::fs::read(journals.iter().find(is_journal)?).unwrap();
    let whole = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n"));
    let trial = |line: &[u8]| {
        let rest = std::str::from_utf8(line).unwrap()[8..].strip_prefix(" trial ")?;
        Some(serde_json::from_str(rest).unwrap())
    };
    Some(whole.filter_map(trial).collect())
}

/// Phases that kills met.
#[derive(Default)]
struct Tally {
    before: u32,
    under_way: u32,
    ended: u32,
    /// Whole trials in the journals just after the kills.
    journaled: usize,
    /// Trials in the records that were recovered from them.
    recovered: usize,
    drafts: usize,
}

/// Recovers after a kill and checks that nothing is lost. Number of trials in the journal.
fn check(program: &Program, was_shown: bool, tally: &mut Tally) -> usize {
    let left = journal_trials(program);
    let recovered = program.run(&["recover", "--json"]);
    assert_eq!(recovered.code, 0, "{recovered}");
    let rows: Vec<Value> = serde_json::from_str(&recovered.stdout).unwrap();
    let count = left.as_ref().map_or(0, Vec::len);
    match &left {
        Some(trials) => {
            assert_eq!(rows.len(), 1, "{recovered}");
            let record = program.last();
            tally.journaled += trials.len();
            tally.recovered += record.trials.len();
            assert_eq!(rows[0]["id"], record.id.to_string());
            assert_eq!(
                json_trials(&record),
                *trials,
                "a whole trial was lost or changed"
            );
            tally.under_way += 1;
        }
        None => {
            assert!(rows.is_empty(), "{recovered}");
            let kept = program.runs_count();
            assert!(kept == 1 || !was_shown, "a run was shown that is not kept");
            if kept == 0 {
                tally.before += 1;
            } else {
                tally.ended += 1;
                assert!(finding(&program.last(), FindingKind::Interrupted).is_none());
            }
        }
    }
    let again = program.run(&["recover", "--json"]);
    assert_eq!((again.code, again.stdout.trim()), (0, "[]"), "{again}");
    let is_left = |path: &Path| path.extension() == Some("journal".as_ref());
    assert!(!program.journals().iter().any(|path| is_left(path)));
    tally.drafts += program.journals().len();
    count
}

/// Each trial with its whole workload, as in a journal.
fn json_trials(record: &Record) -> Vec<Value> {
    let json = |trial: &Trial| {
        let mut value = serde_json::to_value(trial).unwrap();
        value["workload"] = serde_json::to_value(&*trial.workload).unwrap();
        value
    };
    record.trials.iter().map(json).collect()
}

#[test]
fn no_whole_trial_is_lost_when_a_simulated_run_is_killed() {
    needs!(Strace);
    let (mut rng, mut tally) = (rng(), Tally::default());
    for kill in 0..kills_count() {
        let scratch = scratch();
        let program = program(&scratch);
        let seed = format!("--seed={kill}");
        let wrapper = killing_at_sync(1 + rng.below(SYNCS));
        let running = program.start_under(&wrapper, &["run", "sim:a1-32gb", &seed]);
        let output = running.wait();
        assert!([0, 128 + 9].contains(&output.code), "{output}");
        check(&program, !output.stdout.is_empty(), &mut tally);
    }
    report("simulated card", &tally);
}

/// A simulated run has the same id each time, also when its first part was recovered.
#[test]
fn a_simulated_run_that_was_recovered_can_be_repeated() {
    needs!(Strace);
    let scratch = scratch();
    let program = program(&scratch);
    let run = ["run", "sim:a1-32gb", "--seed=2"];
    let killed = program.start_under(&killing_at_sync(SYNCS / 2), &run);
    assert_eq!(killed.wait().code, 128 + 9);
    let recovered = program.run(&["recover"]);
    assert_eq!(recovered.code, 0, "{recovered}");
    assert!(finding(&program.last(), FindingKind::Interrupted).is_some());
    let again = program.run(&run);
    assert_eq!(again.code, 0, "{again}");
    assert!(finding(&program.last(), FindingKind::Interrupted).is_none());
    let nothing = program.run(&["recover", "--json"]);
    assert_eq!(
        (nothing.code, nothing.stdout.trim()),
        (0, "[]"),
        "{nothing}"
    );
}

#[test]
fn no_whole_trial_is_lost_when_a_real_run_is_killed() {
    needs!(Strace);
    let (mut rng, mut tally) = (rng(), Tally::default());
    for _ in 0..kills_count().div_ceil(REAL_SHARE) {
        let scratch = scratch();
        let (program, folder) = (program(&scratch), folder(&scratch));
        let wrapper = killing_at_sync(1 + rng.below(SYNCS));
        let running = program.start_under(&wrapper, &["run", text(&folder), QUICKEST]);
        let output = running.wait();
        assert_eq!(output.code, 128 + 9, "{output}");
        // Where a round was announced, those before it were reported complete.
        let announced = output.stderr.matches("round ").count();
        let complete = announced.checked_sub(1).map_or(0, |rounds| LAYOUT + rounds);
        let kept = check(&program, false, &mut tally);
        assert!(kept >= complete, "{kept} of {announced} rounds: {output}");
        assert_empty(&folder);
    }
    report("directory", &tally);
}

fn report(target: &str, tally: &Tally) {
    let Tally {
        before,
        under_way,
        ended,
        journaled,
        recovered,
        drafts,
    } = tally;
    let kills = before + under_way + ended;
    eprintln!(
        "| {target} | {kills} | {before} | {under_way} | {ended} | {journaled} | {recovered} | {drafts} |"
    );
}
