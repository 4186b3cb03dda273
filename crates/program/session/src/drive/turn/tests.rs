use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::lock::LockFile;
use super::note::Note;
use super::*;
use crate::voice::Silent;

fn claim(is_timed: bool, disk: &str) -> Claim {
    Claim {
        job: "run",
        target: "/dev/sdb".to_owned(),
        disks: vec![disk.to_owned()],
        is_timed,
    }
}

fn turn_of(path: &Path, claim: Claim) -> Turn {
    Turn {
        locks: locks_at(path, &claim).unwrap(),
        claim: Some(claim),
        ..Turn::always(&Silent, &Arc::new(Pulse::new()))
    }
}

fn turn(path: &Path) -> Turn {
    turn_of(path, claim(true, "sdb"))
}

fn take(turn: &mut Turn) {
    turn.take(Step::default(), &mut Silent);
}

/// A file, and a turn that holds it.
fn taken() -> (tempfile::TempDir, PathBuf, Turn) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let mut first = turn(&path);
    take(&mut first);
    (folder, path, first)
}

/// Returns whether a job would wait for that turn.
fn waits(path: &Path, claim: &Claim) -> bool {
    let locks = locks_at(path, claim).unwrap();
    locks.iter().any(|lock| lock.now.is_taken())
}

/// Keeps the messages.
#[derive(Default)]
struct Notes(Vec<String>);

impl Waits for Notes {
    fn wait(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }

    fn waited(&mut self, _span: Duration) {
        self.0.push("on".to_owned());
    }
}

#[test]
fn only_timed_jobs_wait_for_jobs_on_other_disks() {
    let (_folder, path, mut timed) = taken();
    assert!(waits(&path, &claim(true, "sdc")));
    assert!(!waits(&path, &claim(false, "sdc")));
    assert!(waits(&path, &claim(false, "sdb")), "the same disk");
    timed.leave();
    let mut untimed = turn_of(&path, claim(false, "sdb"));
    take(&mut untimed);
    assert!(!waits(&path, &claim(true, "sdc")));
    assert!(!waits(&path, &claim(false, "sdc")));
    assert!(waits(&path, &claim(true, "sdb")), "the same disk");
}

#[test]
fn a_job_on_two_disks_excludes_jobs_on_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let mut raid = Claim {
        disks: vec!["sda".to_owned(), "sdb".to_owned()],
        ..claim(false, "")
    };
    let mut turn = turn_of(&path, raid.clone());
    take(&mut turn);
    raid.disks.remove(0);
    assert!(waits(&path, &raid) && waits(&path, &claim(true, "sda")));
}

#[test]
fn an_untimed_job_keeps_its_turn_over_short_steps_and_not_in_a_pause() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let mut turn = turn_of(&path, claim(false, "sdb"));
    take(&mut turn);
    // As if the step had taken no time, and then as if it had taken that much.
    turn.since = Some(Instant::now() + SLICE);
    turn.give();
    assert!(waits(&path, &claim(true, "sdb")));
    turn.since = Instant::now().checked_sub(SLICE);
    turn.give();
    assert!(!waits(&path, &claim(true, "sdb")));
    take(&mut turn);
    turn.leave();
    assert!(!waits(&path, &claim(true, "sdb")));
}

#[test]
fn a_job_that_never_ends_is_waited_for_once() {
    let (_folder, path, _first) = taken();
    let mut second = Turn {
        patience: Duration::ZERO,
        ..turn(&path)
    };
    let locks_count = second.locks.len();
    take(&mut second);
    assert!(
        second.locks.len() < locks_count,
        "it would wait at every step"
    );
}

#[test]
fn a_turn_is_given_back() {
    let (_folder, path, mut first) = taken();
    assert!(waits(&path, &claim(true, "sdb")));
    first.give();
    assert!(!waits(&path, &claim(true, "sdb")));
}

#[test]
fn a_job_that_is_stopped_waits_no_longer() {
    let (_folder, path, first) = taken();
    let mut second = turn(&path);
    second.pulse.stop();
    take(&mut second);
    assert_eq!(second.locks.len(), first.locks.len());
}

/// Without the second lock the job that gives its turn back takes it again at once, and the other one waits
/// until the end.
#[test]
fn two_jobs_alternate() {
    let (_folder, path, mut first) = taken();
    let (steps_count, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut second = turn(&path);
            for _ in 0..3 {
                take(&mut second);
                steps_count.fetch_add(1, Ordering::Relaxed);
                second.give();
            }
            is_over.store(true, Ordering::Relaxed);
        });
        // Ends only because the other one gets its turns.
        while !is_over.load(Ordering::Relaxed) {
            first.give();
            take(&mut first);
        }
    });
    assert_eq!(steps_count.into_inner(), 3);
}

#[test]
fn a_waiting_job_hears_for_whom_and_how_long() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let mut first = turn(&path);
    let step = Step {
        step: Some(Duration::from_secs(3_600)),
        job: Some(Duration::from_secs(7_200)),
    };
    first.take(step, &mut Silent);
    let mut second = Turn {
        patience: Duration::from_millis(600),
        ..turn(&path)
    };
    let mut notes = Notes::default();
    second.take(step, &mut notes);
    let shown = &notes.0[0];
    assert!(
        shown.starts_with("waits for `run` on /dev/sdb, about "),
        "{shown}"
    );
    assert!(shown.contains("; it ends in about "), "{shown}");
    assert_eq!(notes.0.last().unwrap(), "on");
}

#[test]
fn a_note_says_what_is_known_and_still_to_come() {
    let claim = claim(true, "sdb");
    let text = |step: Option<u64>, job: Option<u64>, now_s: u64| {
        let step = Step {
            step: step.map(Duration::from_secs),
            job: job.map(Duration::from_secs),
        };
        let bytes = Note::of(&claim, Duration::from_secs(1_000), step).bytes();
        let line = String::from_utf8(bytes).unwrap();
        Note::parse(&line).unwrap().text(Duration::from_secs(now_s))
    };
    let expected = [
        (
            Some(12),
            Some(80),
            1_000,
            ", about 12 s; it ends in about 1 min 20 s",
        ),
        (Some(80), Some(80), 1_000, ", about 1 min 20 s"),
        (Some(12), Some(80), 1_013, ", which ends in about 1 min 7 s"),
        (Some(12), None, 1_020, ""),
        (None, None, 1_000, ""),
    ];
    for (step, job, now_s, end) in expected {
        let expected = format!("waits for `run` on /dev/sdb{end}");
        assert_eq!(text(step, job, now_s), expected);
    }
}

#[test]
fn notes_of_others_reach_no_terminal_unchecked() {
    let note = |job: &str, target: &str| format!("cardmark-lock 7 - - {job} {target}\n");
    assert!(Note::parse(&note("run", "/dev/sdb")).is_some());
    for bad in [
        note("run", "\u{1b}[2J"),
        note("run", "a\u{202e}b"),
        note("\u{1b}[2J", "/dev/sdb"),
        note("run", &"x".repeat(400)),
        "cardmark-lock 7 - - run".to_owned(),
        "cardmark-lock x - - run /dev/sdb".to_owned(),
        "other 7 - - run /dev/sdb".to_owned(),
        String::new(),
    ] {
        assert_eq!(Note::parse(&bad), None, "{bad:?}");
    }
    let long = Claim {
        target: format!("/media/\u{1b}[2J{}end", "ä".repeat(400)),
        ..claim(true, "sdb")
    };
    let bytes = Note::of(&long, Duration::ZERO, Step::default()).bytes();
    let text = String::from_utf8(bytes).unwrap();
    let shown = Note::parse(&text).unwrap().text(Duration::ZERO);
    assert!(shown.ends_with("ääend"), "{shown}");
}

/// A note of a process that ended does not describe the present holder.
#[test]
fn a_note_of_another_process_is_not_believed() {
    let (_folder, path, first) = taken();
    let file = LockFile::open(&path).unwrap();
    assert!(file.holder().unwrap().1.is_some());
    std::fs::write(&path, "cardmark-lock 1 - - run /dev/sdb\n").unwrap();
    let (holder, note) = file.holder().unwrap();
    assert_eq!((holder.process, note), (std::process::id(), None));
    drop(first);
}

/// `CARDMARK_LOCK_FILE` may name any file, and in a folder of all users the name may be a second one of another file.
#[test]
fn only_lock_files_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    std::fs::write(&other, "figures").unwrap();
    let linked = folder.path().join("linked");
    std::fs::write(folder.path().join("empty"), "").unwrap();
    std::fs::hard_link(folder.path().join("empty"), &linked).unwrap();
    for path in [&other, &linked] {
        let before = std::fs::read(path).unwrap();
        let mut turn = turn(path);
        take(&mut turn);
        assert!(
            waits(path, &claim(true, "sdc")),
            "it is locked all the same"
        );
        assert_eq!(std::fs::read(path).unwrap(), before);
    }
}

#[test]
fn root_waits_for_no_ordinary_user_and_says_so() {
    let (_folder, path, first) = taken();
    let mut second = Turn {
        is_root: true,
        ..turn(&path)
    };
    let locks_count = second.locks.len();
    // Whoever runs this test holds it: root waits for root.
    let is_own = getuid().is_root();
    second.pulse.stop();
    take(&mut second);
    assert_eq!(second.locks.len() == locks_count, is_own);
    drop(first);
}

/// Opening a pipe waits for a process at its other end.
#[test]
fn a_pipe_or_a_link_of_that_name_keeps_no_job_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, link) = (folder.path().join("pipe"), folder.path().join("link"));
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
    std::os::unix::fs::symlink(folder.path().join("theirs"), &link).unwrap();
    assert!(LockFile::open(&pipe).is_none() && LockFile::open(&link).is_none());
    let plain = folder.path().join("plain");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert!(LockFile::open(&plain).is_some());
    assert_eq!(mode(&plain), 0o644);
    // A file that may only be read can be locked.
    std::fs::set_permissions(&plain, Permissions::from_mode(0o444)).unwrap();
    assert!(!LockFile::open(&plain).unwrap().is_taken());
}

#[test]
fn without_a_file_no_job_waits() {
    let mut turn = Turn::always(&Silent, &Arc::new(Pulse::new()));
    take(&mut turn);
    turn.give();
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("folder/file");
    assert!(locks_at(&missing, &claim(true, "sdb")).is_none());
}
