//! Storage that is not known: memory that something hides is refused, and nothing is judged by what hides a device.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use cardmark_core::{FindingKind, StorageKind};
use cardmark_judge::unknown_storage;
use cardmark_session::{Consent, Exit, TestRequest, VerifyScope, VerifyTarget, verify};
use cardmark_testkit::{Mount, needs, run_tool, spawn};

use crate::run::{QUICKEST, Run};
use crate::world::{Ended, MIB, World, files, text};

/// A directory that another one shows, unmounted on drop.
struct Shown(PathBuf);

impl Shown {
    fn by(command: &str, arguments: &[&str], point: PathBuf) -> Self {
        run_tool(command, arguments);
        Self(point)
    }

    /// Memory that can be taken out of sight.
    fn memory(scratch: &Path) -> Self {
        let point = scratch.join("memory");
        std::fs::create_dir(&point).unwrap();
        let arguments = ["-t", "tmpfs", "-o", "size=512m", "none", text(&point)];
        Self::by("mount", &arguments, point.clone())
    }

    /// An overlay whose upper directory is on a filesystem that is mounted no more, as raspi-config makes it.
    fn overlay(scratch: &Path, below: &Path) -> Self {
        let [lower, point] = ["lower", "overlay"].map(|name| scratch.join(name));
        for folder in [&lower, &point, &below.join("upper"), &below.join("work")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let (lower, upper) = (lower.display(), below.display());
        let options = format!("lowerdir={lower},upperdir={upper}/upper,workdir={upper}/work");
        let arguments = ["-t", "overlay", "-o", &options, "overlay", text(&point)];
        Self::by("mount", &arguments, point.clone())
    }

    fn bindfs(scratch: &Path, below: &Path) -> Self {
        let point = scratch.join("bindfs");
        std::fs::create_dir(&point).unwrap();
        Self::by("bindfs", &[text(below), text(&point)], point.clone())
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let mut umount = Command::new("umount");
        let _ = spawn(umount.arg("--lazy").arg(&self.0)).and_then(|mut child| child.wait());
    }
}

/// Reads at random places.
fn measured(world: &World, at: &Path) -> Ended {
    Run::of(text(at)).only(&[QUICKEST]).execute(world)
}

fn verified(world: &World, at: &Path) -> Ended {
    world.job(|session| {
        let request = TestRequest {
            seed: None,
            consent: &Consent::default(),
            restart: false,
        };
        let scope = VerifyScope {
            most_bytes: Some(8 * MIB),
            ..VerifyScope::default()
        };
        verify(
            session,
            text(at),
            &VerifyTarget::named(text(at))?,
            &request,
            &scope,
        )
    })
}

/// The proof may be disturbed by others on this machine: refused, or at least without any verdict.
fn assert_memory(at: &Path) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut tries = 0..30;
    let refused = tries.any(|_| {
        let ended = measured(&World::new(), at);
        if let Some(record) = &ended.record {
            assert!(unknown_storage(record).is_some(), "{ended:?}");
        }
        ended.exit == Exit::Trouble && ended.heard.contains("is in memory, not on storage")
    });
    assert!(refused);
    let ended = verified(&World::new(), at);
    ended.assert_exit(Exit::Trouble);
    if let Some(record) = &ended.record {
        let found = record.integrity.as_ref().unwrap();
        assert_eq!(found.kind, StorageKind::UnknownDevice);
    }
}

#[test]
fn memory_below_an_overlay_that_hides_it_is_refused() {
    needs!(Root, Overlay);
    let world = World::new();
    let memory = Shown::memory(world.scratch.path());
    let overlay = Shown::overlay(world.scratch.path(), &memory.0);
    drop(memory);
    assert_memory(&overlay.0);
}

#[test]
fn memory_below_fuse_is_refused() {
    needs!(Root, Fuse, Bindfs);
    let world = World::new();
    let memory = Shown::memory(world.scratch.path());
    let shown = Shown::bindfs(world.scratch.path(), &memory.0);
    assert_memory(&shown.0);
}

/// `report` tests that no text gives a verdict on such storage.
#[test]
fn storage_below_fuse_is_measured_without_a_verdict() {
    needs!(Root, Fuse, Bindfs);
    let world = World::new();
    let folder = world.folder("card");
    let shown = Shown::bindfs(world.scratch.path(), &folder);
    let ended = measured(&world, &shown.0);
    ended.assert_exit(Exit::Done);
    let record = ended.record();
    assert!(unknown_storage(record).is_some());
    let kind = FindingKind::UnknownDevice;
    assert!(record.findings.iter().any(|finding| finding.kind == kind));
    let derived = record.derived.iter().flat_map(|derived| &derived.verdicts);
    assert_eq!(derived.count(), 0);
    assert!(
        record
            .metrics
            .iter()
            .all(|metric| metric.voided_by().is_some())
    );
    let ended = verified(&world, &shown.0);
    ended.assert_exit(Exit::Trouble);
    let found = ended.record().integrity.as_ref().unwrap();
    assert_eq!(found.kind, StorageKind::UnknownDevice);
    assert_eq!(files(&folder), <[PathBuf; 0]>::default());
}

#[test]
fn verify_of_a_filesystem_that_is_read_only_has_a_hint() {
    needs!(Root, LoopDevice, Ext4);
    let world = World::new();
    let disk = Mount::ext4(world.scratch.path(), 64 * MIB);
    disk.make_read_only();
    let ended = verified(&world, disk.folder());
    ended.assert_error(
        Exit::Trouble,
        &["is read-only", "hint: a card that turned read-only"],
    );
    world.assert_nothing_kept();
}
