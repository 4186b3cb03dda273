//! Common parts of the tests.

use std::path::Path;
use std::sync::LazyLock;

use cardmark_core::{Errno, Finding, FindingKind, Record};
use cardmark_testkit::{Output, Program};
use tempfile::TempDir;

/// The program under test: another one, such as a program for another processor in its emulator, if the environment names
/// its path (`scripts/emulated-tests`).
pub(crate) static BINARY: LazyLock<String> = LazyLock::new(|| {
    let own = env!("CARGO_BIN_EXE_cardmark").to_owned();
    std::env::var("CARDMARK_TEST_PROGRAM").unwrap_or(own)
});

/// The user `nobody`.
pub(crate) const NOBODY: u32 = 65534;

/// Error number of failed input or output.
pub(crate) const EIO: Errno = Errno::IO;

pub(crate) const MIB: u64 = 1 << 20;

/// The quickest run on real storage.
pub(crate) const QUICKEST: &str = "--only=rand_read_4k";

/// A folder on storage, for images and results; gone with the test.
pub(crate) fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// The program with its results in `scratch`.
pub(crate) fn program(scratch: &TempDir) -> Program {
    Program::new(&BINARY, scratch.path())
}

/// An empty folder in `scratch`.
pub(crate) fn folder(scratch: &TempDir) -> std::path::PathBuf {
    let folder = scratch.path().join("card");
    std::fs::create_dir(&folder).unwrap();
    folder
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The error has an exit code and says this, each in a line of its own beginning so.
#[track_caller]
pub(crate) fn assert_error(output: &Output, code: i32, said: &[&str]) {
    assert_eq!(output.code, code, "{output}");
    for part in said {
        assert!(output.stderr.contains(part), "no `{part}` in {output}");
    }
    assert!(output.stderr.contains("error: "), "{output}");
}

/// Nothing was begun: no journal, no run, nothing printed as a result.
#[track_caller]
pub(crate) fn assert_nothing_kept(program: &Program, output: &Output) {
    assert_eq!(output.stdout, "", "{output}");
    assert_eq!(program.journals(), <[&Path; 0]>::default());
    assert_eq!(program.runs_count(), 0);
}

/// The folder that was measured holds nothing.
#[track_caller]
pub(crate) fn assert_empty(folder: &Path) {
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

/// The one run that is kept is partial, for this reason; nothing else is left. Its record.
#[track_caller]
pub(crate) fn assert_partial(program: &Program, kind: FindingKind) -> Record {
    assert_eq!(program.journals(), <[&Path; 0]>::default());
    assert_eq!(program.runs_count(), 1);
    let record = program.last();
    assert!(finding(&record, kind).is_some(), "{:?}", record.findings);
    record
}

pub(crate) fn finding(record: &Record, kind: FindingKind) -> Option<&Finding> {
    record.findings.iter().find(|finding| finding.kind == kind)
}

/// Number of trials that ended by themselves.
pub(crate) fn whole_count(record: &Record) -> usize {
    record
        .trials
        .iter()
        .filter(|trial| trial.is_whole())
        .count()
}
