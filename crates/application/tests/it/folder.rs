//! The folder, and what killed runs left.

use std::fs;
use std::path::Path;

use cardmark_application::{Leftovers, WorkFolder, clear_leftovers};

use crate::support::scratch;

fn names(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

/// What a run leaves that is killed.
fn killed(directory: &Path, name: &str) -> std::path::PathBuf {
    let folder = directory.join(format!(".cardmark-application-{name}"));
    fs::create_dir_all(folder.join("install/package-01")).unwrap();
    fs::write(folder.join("install/package-01/file-00.new"), "x").unwrap();
    for file in [
        "sqlite.db",
        "sqlite.db-journal",
        "w.db-wal",
        "w.db-shm",
        "a.log",
    ] {
        fs::write(folder.join(file), "x").unwrap();
    }
    folder
}

#[test]
fn a_folder_goes_with_all_it_holds() {
    let scratch = scratch();
    let folder = WorkFolder::create(scratch.path()).unwrap();
    fs::create_dir(folder.path().join("below")).unwrap();
    fs::write(folder.path().join("below/file"), "x").unwrap();
    let found = fs::metadata(scratch.path()).unwrap();
    let device = std::os::unix::fs::MetadataExt::dev(&found);
    let (major, minor) = folder.device_id();
    assert_eq!(rustix::fs::makedev(major, minor), device);
    drop(folder);
    assert_eq!(names(scratch.path()), 0);
    assert!(WorkFolder::create(&scratch.path().join("none")).is_err());
}

#[test]
fn what_a_killed_run_left_is_removed_and_what_is_in_use_stays() {
    let scratch = scratch();
    let used = WorkFolder::create(scratch.path()).unwrap();
    let left = killed(scratch.path(), "abc123");
    fs::write(scratch.path().join("theirs"), "x").unwrap();
    let cleared = clear_leftovers(scratch.path()).unwrap();
    let expected = Leftovers {
        removed: vec![left],
        kept: Vec::new(),
    };
    assert_eq!(cleared, expected);
    assert!(used.path().is_dir());
    assert_eq!(names(scratch.path()), 2);
    assert_eq!(
        clear_leftovers(scratch.path()).unwrap(),
        Leftovers::default()
    );
}

#[test]
fn what_only_looks_like_ours_is_left_alone() {
    let scratch = scratch();
    let strange = killed(scratch.path(), "a");
    fs::write(strange.join("thesis.odt"), "x").unwrap();
    let deep = killed(scratch.path(), "b");
    fs::write(deep.join("install/photo.jpg"), "x").unwrap();
    std::os::unix::fs::symlink("/", scratch.path().join(".cardmark-application-c")).unwrap();
    fs::write(scratch.path().join(".cardmark-application-d"), "x").unwrap();
    let cleared = clear_leftovers(scratch.path()).unwrap();
    assert_eq!(cleared.removed, <[&Path; 0]>::default());
    assert_eq!(cleared.kept, [strange.clone(), deep]);
    assert!(strange.join("thesis.odt").is_file());
    assert_eq!(names(scratch.path()), 4);
}
