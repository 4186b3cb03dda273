//! Verification of a directory, in files of its own.

use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;

use cardmark_core::StorageKind;
use cardmark_session::{Consent, Exit, TestRequest, VerifyScope, VerifyTarget, verify};
use rustix::process::geteuid;

use crate::world::{Ended, MIB, World, files, text};

/// `nobody`.
const NOBODY: u32 = 65534;

fn verifying(world: &World, folder: &Path, most_bytes: u64) -> Ended {
    let scope = VerifyScope {
        most_bytes: Some(most_bytes),
        ..VerifyScope::default()
    };
    world.job(|session| {
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
