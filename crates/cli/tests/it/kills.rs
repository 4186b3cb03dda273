//! Runs that are killed: nothing that was reported complete is lost.

use std::path::Path;
use std::time::{Duration, Instant};

use cardmark_core::{FindingKind, Record};
use cardmark_testkit::Program;
use rustix::fs::FlockOperation;
use rustix::process::Signal;
use serde_json::Value;

use crate::common::{QUICKEST, assert_empty, finding, folder, program, scratch, text};

/// Kills if `CARDMARK_KILLS` is not set.
const KILLS: u32 = 8;
/// One of this number of kills is on real storage.
const REAL_SHARE: u32 = 4;
/// Trials of the layout.
const LAYOUT: usize = 4;

fn kills_count() -> u32 {
    let asked = std::env::var("CARDMARK_KILLS").ok();
    asked.map_or(KILLS, |count| {
        count.parse().expect("CARDMARK_KILLS is a number")
    })
}

/// Numbers in 0..1 that differ from run to run.
struct Chance(u64);

impl Chance {
    fn new() -> Self {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap();
        Self(u64::from(now.subsec_nanos()) << 32 | u64::from(std::process::id()))
    }

    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(1);
        (cardmark_core::mix(self.0) >> 11) as f64 / (1_u64 << 53) as f64
    }
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

fn json_trials(record: &Record) -> Vec<Value> {
    let json = |trial| serde_json::to_value(trial).unwrap();
    record.trials.iter().map(json).collect()
}

#[test]
fn no_whole_trial_is_lost_when_a_simulated_run_is_killed() {
    let span = {
        let scratch = scratch();
        let program = program(&scratch);
        let begun = Instant::now();
        assert_eq!(program.run(&["run", "sim:a1-32gb"]).code, 0);
        begun.elapsed()
    };
    let (mut chance, mut tally) = (Chance::new(), Tally::default());
    for kill in 0..kills_count() {
        let scratch = scratch();
        let program = program(&scratch);
        let seed = format!("--seed={kill}");
        let running = program.start(&["run", "sim:a1-32gb", &seed]);
        std::thread::sleep(span.mul_f64(1.1 * chance.draw()));
        running.signal(Signal::KILL);
        let output = running.wait();
        assert!([0, 128 + 9].contains(&output.code), "{output}");
        check(&program, !output.stdout.is_empty(), &mut tally);
    }
    report("simulated card", &tally, &span.as_millis().to_string());
}

/// A simulated run has the same id each time, also when its first part was recovered.
#[test]
fn a_simulated_run_that_was_recovered_can_be_repeated() {
    let scratch = scratch();
    let program = program(&scratch);
    // Held up before its end: its store is locked, so that it leaves its journal.
    assert_eq!(program.run(&["run", "sim:a1-32gb", "--seed=1"]).code, 0);
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(program.database())
        .unwrap();
    let mut running = program.start(&["run", "sim:a1-32gb", "--seed=2"]);
    rustix::fs::fcntl_lock(&file, FlockOperation::LockExclusive).unwrap();
    while journal_trials(&program).is_none_or(|trials| trials.len() < 3) && !running.has_ended() {
        std::thread::yield_now();
    }
    running.signal(Signal::KILL);
    let _ = running.wait();
    drop(file);
    let recovered = program.run(&["recover"]);
    assert_eq!(recovered.code, 0, "{recovered}");
    let again = program.run(&["run", "sim:a1-32gb", "--seed=2"]);
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
    let (mut chance, mut tally) = (Chance::new(), Tally::default());
    for kill in 0..kills_count().div_ceil(REAL_SHARE) {
        let scratch = scratch();
        let (program, folder) = (program(&scratch), folder(&scratch));
        let running = program.start(&["run", text(&folder), QUICKEST]);
        let round = kill as usize % 4 + 1;
        running.hear(&format!("round {round}"));
        std::thread::sleep(Duration::from_millis(700).mul_f64(chance.draw()));
        running.signal(Signal::KILL);
        let output = running.wait();
        assert_eq!(output.code, 128 + 9, "{output}");
        // Where a round was announced, those before it were reported complete.
        let announced = output.stderr.matches("round ").count();
        assert!(announced >= round, "{output}");
        let kept = check(&program, false, &mut tally);
        assert!(
            kept >= LAYOUT + announced - 1,
            "{kept} of {announced} rounds: {output}"
        );
        assert_empty(&folder);
    }
    report("directory", &tally, "–");
}

fn report(target: &str, tally: &Tally, span_ms: &str) {
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
        "| {target} | {kills} | {before} | {under_way} | {ended} | {journaled} | {recovered} | {drafts} | {span_ms} |"
    );
}
