//! Recovery of a journal that was cut or damaged at any place.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cardmark_core::Record;
use cardmark_store::{JobKind, Journal, JournalError, JournalHead, Recovery, discard, recover};
use proptest::prelude::*;

use crate::builder::{finding, record, trial};

fn header() -> Record {
    let mut header = record("67e5");
    header.metrics.clear();
    header
}

fn create(dir: &Path, record: &Record) -> Result<Journal, JournalError> {
    let head = JournalHead {
        job: JobKind::Run,
        target: "/mnt/card".to_owned(),
        labels: record.labels.clone(),
    };
    Journal::create(dir, &record.id.to_string(), &head, Some(record))
}

/// The record of the only unfinished work.
fn recovered(recovery: &Recovery) -> &Record {
    recovery.unfinished[0].record.as_ref().unwrap()
}

/// The bytes of a journal with a header, two trials, a finding and another trial.
fn journal_bytes() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = create(dir.path(), &header()).unwrap();
    journal.append(&trial(0)).unwrap();
    journal.append(&trial(1)).unwrap();
    journal.append_finding(&finding()).unwrap();
    journal.append(&trial(2)).unwrap();
    fs::read(journal.path()).unwrap()
}

fn recover_bytes(bytes: &[u8]) -> (tempfile::TempDir, PathBuf, Recovery) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("left.journal");
    fs::write(&path, bytes).unwrap();
    let recovery = recover(dir.path()).unwrap();
    (dir, path, recovery)
}

fn only_name(dir: &Path) -> String {
    let names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
    names.concat()
}

#[test]
fn a_journal_is_private_named_after_its_run_and_gone_when_finished() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("data/journals");
    let journal = create(&dir, &header()).unwrap();
    assert_eq!(
        only_name(&dir),
        "67e50000-0000-0000-0000-000000000000.journal"
    );
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(journal.path())), (0o700, 0o600));
    journal.finish().unwrap();
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
}

#[test]
fn a_whole_journal_gives_everything_back_and_goes_when_discarded() {
    let (dir, path, mut recovery) = recover_bytes(&journal_bytes());
    let recovered = recovery.unfinished.remove(0);
    let mut expected = header();
    expected.trials = vec![trial(0), trial(1), trial(2)];
    expected.findings = vec![finding()];
    expected.written_bytes = 3 << 20;
    assert_eq!(recovered.record, Some(expected));
    assert_eq!((&recovered.note, &recovered.path), (&None, &path));
    discard(&path).unwrap();
    discard(&path).unwrap();
    assert!(recover(dir.path()).unwrap().unfinished.is_empty());
}

#[test]
fn wherever_it_is_cut_all_wholly_written_lines_come_back() {
    let bytes = journal_bytes();
    // Ends of the content of each line; its line feed may be missing.
    let mut ends: Vec<usize> = Vec::new();
    ends.extend(
        bytes
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .map(|(at, _)| at),
    );
    for cut in 0..=bytes.len() {
        let (_dir, path, recovery) = recover_bytes(&bytes[..cut]);
        let whole = ends.iter().filter(|end| **end <= cut).count();
        if whole == 0 {
            assert!(
                matches!(recovery.unusable[..], [JournalError::Unusable { .. }]),
                "{cut}"
            );
            assert!(path.exists(), "{cut}");
            continue;
        }
        let [unfinished] = &recovery.unfinished[..] else {
            panic!("{cut}: {recovery:?}")
        };
        let count = |record: &Record| 1 + record.trials.len() + record.findings.len();
        let lines = 1 + unfinished.record.as_ref().map_or(0, count);
        assert_eq!(lines, whole, "{cut}");
        assert_eq!(unfinished.note, None, "{cut}");
    }
}

#[test]
fn a_damaged_line_drops_what_is_behind_it_and_says_so() {
    let mut bytes = journal_bytes();
    let mut ends = (0..bytes.len()).filter(|at| bytes[*at] == b'\n');
    let first_trial = ends.nth(1).unwrap() + 40;
    bytes[first_trial] ^= 1;
    let (_dir, _, recovery) = recover_bytes(&bytes);
    assert!(recovered(&recovery).trials.is_empty());
    assert_eq!(
        recovery.unfinished[0].note.as_deref(),
        Some("line 3 of the journal is damaged; it and 3 behind it were dropped")
    );
}

#[test]
fn zeros_behind_the_last_line_are_a_torn_line() {
    let mut bytes = journal_bytes();
    bytes.extend([0; 4096]);
    let (_dir, _, recovery) = recover_bytes(&bytes);
    let note = &recovery.unfinished[0].note;
    assert_eq!((recovered(&recovery).trials.len(), note), (3, &None));
}

#[test]
fn a_journal_whose_run_lives_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = create(dir.path(), &header()).unwrap();
    let recovery = recover(dir.path()).unwrap();
    assert_eq!((recovery.unfinished.len(), recovery.live_count), (0, 1));
    assert!(matches!(
        discard(journal.path()),
        Err(JournalError::Live { .. })
    ));
    let again = create(dir.path(), &header());
    assert!(matches!(again, Err(JournalError::Live { .. })));
    journal.append(&trial(0)).unwrap();
    drop(journal);
    let recovery = recover(dir.path()).unwrap();
    assert_eq!(
        (recovered(&recovery).trials.len(), recovery.live_count),
        (1, 0)
    );
}

#[test]
fn a_simulated_run_that_is_repeated_takes_its_old_journal_over() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = create(dir.path(), &header()).unwrap();
    journal.append(&trial(0)).unwrap();
    drop(journal);
    let journal = create(dir.path(), &header()).unwrap();
    drop(journal);
    let recovery = recover(dir.path()).unwrap();
    assert!(recovered(&recovery).trials.is_empty());
}

#[test]
fn a_draft_that_nobody_holds_is_removed_and_one_that_is_held_stays() {
    let dir = tempfile::tempdir().unwrap();
    let draft = dir.path().join("67e5.journal-new");
    fs::write(&draft, "torn").unwrap();
    let held = fs::File::open(&draft).unwrap();
    let operation = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    rustix::fs::flock(&held, operation).unwrap();
    let recovery = recover(dir.path()).unwrap();
    assert!(draft.exists());
    assert_eq!((recovery.unfinished.len(), recovery.unusable.len()), (0, 0));
    drop(held);
    let recovery = recover(dir.path()).unwrap();
    assert!(!draft.exists());
    assert_eq!((recovery.unfinished.len(), recovery.unusable.len()), (0, 0));
}

#[test]
fn a_journal_that_is_refused_leaves_no_draft() {
    let dir = tempfile::tempdir().unwrap();
    let journal = create(dir.path(), &header()).unwrap();
    assert!(create(dir.path(), &header()).is_err());
    assert_eq!(
        dir.path().join(only_name(dir.path())),
        journal.path(),
        "the journal alone"
    );
}

#[test]
fn journals_can_be_made_while_another_process_recovers() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let dir = tempfile::tempdir().unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                recover(dir.path()).unwrap();
            }
        });
        let made: Result<(), JournalError> = (0x1000..0x1020)
            .try_for_each(|id| create(dir.path(), &record(&format!("{id:x}")))?.finish());
        is_over.store(true, Ordering::Relaxed);
        made.unwrap();
    });
}

#[test]
fn no_directory_holds_no_journals_and_other_files_are_ignored() {
    let dir = tempfile::tempdir().unwrap();
    assert!(
        recover(&dir.path().join("missing"))
            .unwrap()
            .unfinished
            .is_empty()
    );
    fs::write(dir.path().join("notes.txt"), "x").unwrap();
    let recovery = recover(dir.path()).unwrap();
    assert!(recovery.unfinished.is_empty() && recovery.unusable.is_empty());
}

#[test]
fn an_unusable_journal_is_named() {
    let (_dir, path, recovery) = recover_bytes(b"not a journal\n");
    let message = recovery.unusable[0].to_string();
    assert_eq!(
        message,
        format!("journal `{}` has no readable header", path.display())
    );
}

#[test]
fn a_journal_that_cannot_be_made_names_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let blocked = dir.path().join("file");
    fs::write(&blocked, "").unwrap();
    let error = create(&blocked.join("journals"), &header()).unwrap_err();
    assert!(error.to_string().contains("file/journals"), "{error}");
}

fn verify_head() -> JournalHead {
    JournalHead {
        job: JobKind::Verify,
        target: "/dev/sdz".to_owned(),
        labels: header().labels,
    }
}

#[test]
fn the_last_state_counts_and_resumed_work_goes_on_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let name = "card-verify";
    assert!(Journal::resume(dir.path(), name).unwrap().is_none());
    let mut journal = Journal::create(dir.path(), name, &verify_head(), None).unwrap();
    journal.state(&"first").unwrap();
    journal.state(&"second").unwrap();
    let held = Journal::resume(dir.path(), name);
    assert!(matches!(held, Err(JournalError::Live { .. })));
    drop(journal);
    let (mut journal, content) = Journal::resume(dir.path(), name).unwrap().unwrap();
    assert_eq!(content.head, verify_head());
    assert_eq!(content.state.as_deref(), Some("\"second\""));
    journal.state(&"third").unwrap();
    drop(journal);
    let (_, content) = Journal::resume(dir.path(), name).unwrap().unwrap();
    assert_eq!(content.state.as_deref(), Some("\"third\""));
}

/// Four of these states are more than the most superseded content.
#[test]
fn superseded_states_are_cleared_away_and_the_lock_stays() {
    let dir = tempfile::tempdir().unwrap();
    let mut header = header();
    header.findings = vec![finding()];
    let mut journal =
        Journal::create(dir.path(), "card-verify", &verify_head(), Some(&header)).unwrap();
    let large = "x".repeat(1 << 20);
    for step in 0..20 {
        journal.state(&(step, &large)).unwrap();
        let bytes = fs::metadata(journal.path()).unwrap().len();
        assert!(bytes < 7 << 20, "{step}: {bytes}");
        assert_eq!(recover(dir.path()).unwrap().live_count, 1, "{step}");
    }
    drop(journal);
    let (_, content) = Journal::resume(dir.path(), "card-verify").unwrap().unwrap();
    assert_eq!(content.record.unwrap(), header);
    assert!(content.state.unwrap().starts_with("[19,"));
}

#[test]
fn work_resumes_behind_the_last_whole_line_wherever_the_journal_was_cut() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(dir.path(), "a", &verify_head(), Some(&header())).unwrap();
    journal.state(&1).unwrap();
    journal.state(&2).unwrap();
    let bytes = fs::read(journal.path()).unwrap();
    drop(journal);
    let first_bytes = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    for cut in first_bytes..=bytes.len() {
        fs::write(dir.path().join("a.journal"), &bytes[..cut]).unwrap();
        let (mut journal, before) = Journal::resume(dir.path(), "a").unwrap().unwrap();
        journal.state(&3).unwrap();
        drop(journal);
        let (_, after) = Journal::resume(dir.path(), "a").unwrap().unwrap();
        assert_eq!(
            (after.state.as_deref(), after.note),
            (Some("3"), None),
            "{cut}"
        );
        assert_eq!(after.record, before.record, "{cut}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn one_flipped_bit_never_invents_a_trial(place in any::<prop::sample::Index>(), bit in 0..8) {
        let mut bytes = journal_bytes();
        let place = place.index(bytes.len());
        bytes[place] ^= 1_u8 << bit;
        let (_dir, _, recovery) = recover_bytes(&bytes);
        let known = [trial(0), trial(1), trial(2)];
        for record in recovery.unfinished.iter().filter_map(|left| left.record.as_ref()) {
            prop_assert!(known.starts_with(&record.trials));
        }
    }
}
