//! Verification of a directory, in files of its own.

use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;

use cardmark_core::{Errno, FindingKind, StorageKind};
use cardmark_judge::faults;
use cardmark_report::{Style, terminal};
use cardmark_session::{Consent, Exit, TestRequest, VerifyScope, VerifyTarget, verify};
use cardmark_testkit::{FuseDir, needs};
use rustix::process::geteuid;

use crate::run::finding;
use crate::world::{Act, Ended, MIB, Person, World, files, text};

/// `nobody`.
const NOBODY: u32 = 65534;

fn verifying(world: &World, folder: &Path, most_bytes: u64) -> Ended {
    attended(world, Person::absent(), folder, most_bytes)
}

fn attended(world: &World, person: &'static Person, folder: &Path, most_bytes: u64) -> Ended {
    let scope = VerifyScope {
        most_bytes: Some(most_bytes),
        ..VerifyScope::default()
    };
    world.job_with(person, |session| {
        let request = TestRequest {
            seed: None,
            consent: &Consent::default(),
            restart: false,
        };
        let target = VerifyTarget::named(text(folder))?;
        verify(session, text(folder), &target, &request, &scope)
    })
}

#[test]
fn a_directory_is_verified_and_left_empty() {
    let world = World::new();
    let folder = world.folder("card");
    let ended = verifying(&world, &folder, 96 * MIB);
    ended.assert_exit(Exit::Done);
    let found = ended.record().integrity.as_ref().unwrap();
    assert_eq!(found.kind, StorageKind::Confirmed);
    assert_eq!(found.size_bytes, 96 * MIB);
    assert!(!found.written.is_empty() && !found.read.is_empty());
    assert_eq!(files(&folder), <[&Path; 0]>::default());
    assert_eq!(world.remembered(), <[&str; 0]>::default());
    assert_eq!(world.runs().len(), 1);
}

#[test]
fn a_folder_of_somebody_else_stays_as_it_is() {
    let world = World::new();
    let folder = world.folder("card");
    let theirs = folder.join("cardmark-verify");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("notes"), "mine").unwrap();
    let refused = || {
        let ended = verifying(&world, &folder, 8 * MIB);
        ended.assert_error(Exit::Refused, &["is there already", "nothing was written"]);
        world.assert_nothing_kept();
    };
    refused();
    assert_eq!(fs::read_to_string(theirs.join("notes")).unwrap(), "mine");
    assert_eq!(files(&theirs).len(), 1);
    fs::remove_file(theirs.join("notes")).unwrap();
    fs::write(theirs.join("00000.blocks"), "left").unwrap();
    // Of another user, where owners are real.
    if geteuid().is_root() {
        chown(&theirs, Some(NOBODY), None).unwrap();
        refused();
        chown(&theirs, Some(0), None).unwrap();
    }
    // Files that a killed test left are ours, though nothing is remembered of them.
    verifying(&world, &folder, 8 * MIB).assert_exit(Exit::Done);
    assert_eq!(files(&folder), <[&Path; 0]>::default());
}

#[test]
fn a_filesystem_that_accepts_no_more_data_leaves_a_record_without_a_verdict() {
    needs!(Root, Fuse);
    for (errno, kind, why, hint) in [
        (
            Errno::NOSPC,
            FindingKind::NoSpace,
            "its filesystem became full",
            "free some room",
        ),
        (
            Errno::ROFS,
            FindingKind::RemountedReadOnly,
            "its filesystem became read-only",
            "dmesg",
        ),
    ] {
        let world = World::new();
        let card = FuseDir::mount(world.scratch.path());
        card.fail_writes_beyond(4 * MIB, errno);
        let ended = verifying(&world, card.path(), 8 * MIB);
        ended
            .assert_exit(Exit::Trouble)
            .assert_heard(&[hint, "the same command goes on there"]);
        let record = ended.record();
        assert_eq!(world.runs()[0].id, record.id);
        let found = record.integrity.as_ref().unwrap();
        assert_eq!(found.kind, StorageKind::Unfinished);
        let finding = finding(record, kind).unwrap();
        assert!(finding.advice.is_some(), "{finding:?}");
        assert!(faults(record).is_empty(), "{record:?}");
        let shown = terminal(record, 200, Style::Plain);
        let verdict = format!("No verdict on the card: {why}. The test of ");
        assert!(shown.contains(&verdict), "{shown}");
        // The test continues when there is room again.
        card.fail_writes_beyond(u64::MAX, errno);
        let ended = verifying(&world, card.path(), 8 * MIB);
        ended.assert_exit(Exit::Done);
        let found = ended.record().integrity.as_ref().unwrap();
        assert_eq!(found.kind, StorageKind::Confirmed);
    }
}

#[test]
fn a_card_that_is_gone_when_its_test_continues_leaves_a_record() {
    needs!(Root, Fuse);
    let world = World::new();
    let card = FuseDir::mount(world.scratch.path());
    let person = Person::absent().at(1, Act::Stop);
    attended(&world, person, card.path(), 8 * MIB).assert_exit(Exit::Trouble);
    // The first operations find the files.
    let mut ends = (0..100).map(|operations_count| {
        card.fail_all_after(operations_count, Errno::NODEV);
        verifying(&world, card.path(), 8 * MIB)
    });
    let ended = ends.find(|ended| ended.heard.contains("the device is gone"));
    let record = ended.as_ref().unwrap().record();
    assert!(
        finding(record, FindingKind::Vanished).is_some(),
        "{record:?}"
    );
    assert_eq!(world.runs()[0].id, record.id);
}
