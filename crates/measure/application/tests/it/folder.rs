//! The folder, and leftovers of killed runs.

use std::error::Error;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use cardmark_application::{Leftovers, UnsafeDirectory, WorkFolder, clear_leftovers};
use cardmark_testkit::needs;

use crate::support::scratch;

fn names(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

/// Creates the leftovers of a killed run.
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
    let mode = fs::metadata(folder.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o700);
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
    let mut expected = vec![strange.clone(), deep];
    for (index, name) in ["my file.db", "notes.log.db", "install/package-01/photo.jpg"]
        .iter()
        .enumerate()
    {
        let folder = killed(scratch.path(), &format!("c{index}"));
        fs::write(folder.join(name), "x").unwrap();
        expected.push(folder);
    }
    let linked = killed(scratch.path(), "c9");
    symlink("/", linked.join("link.log")).unwrap();
    expected.push(linked);
    symlink("/", scratch.path().join(".cardmark-application-c")).unwrap();
    fs::write(scratch.path().join(".cardmark-application-d"), "x").unwrap();
    let cleared = clear_leftovers(scratch.path()).unwrap();
    assert_eq!(cleared.removed, <[&Path; 0]>::default());
    assert_eq!(cleared.kept, expected);
    assert!(strange.join("thesis.odt").is_file());
    assert_eq!(names(scratch.path()), 8);
}

#[test]
fn what_another_user_left_is_left_alone() {
    needs!(Root);
    let scratch = scratch();
    let theirs = killed(scratch.path(), "theirs");
    chown(&theirs, Some(65534), Some(65534)).unwrap();
    let cleared = clear_leftovers(scratch.path()).unwrap();
    assert_eq!(cleared.kept, [theirs]);
    assert_eq!(names(scratch.path()), 1);
}

#[test]
fn a_link_to_the_directory_is_resolved() {
    let scratch = scratch();
    let (real, link) = (scratch.path().join("real"), scratch.path().join("link"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    let folder = WorkFolder::create(&link).unwrap();
    assert!(folder.path().starts_with(&real));
}

#[test]
fn runs_that_start_at_once_all_keep_their_folders() {
    let scratch = scratch();
    let run = || {
        for _ in 0..100 {
            clear_leftovers(scratch.path()).unwrap();
            let folder = WorkFolder::create(scratch.path()).unwrap();
            assert!(folder.path().is_dir());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(run);
        }
    });
    assert_eq!(names(scratch.path()), 0);
}

#[test]
fn root_works_only_where_nobody_can_swap_its_files() {
    needs!(Root);
    let scratch = scratch();
    let refusal = |owner: u32, mode: u32| {
        chown(scratch.path(), Some(owner), None).unwrap();
        fs::set_permissions(scratch.path(), Permissions::from_mode(mode)).unwrap();
        let cleared = clear_leftovers(scratch.path()).err();
        let error = WorkFolder::create(scratch.path()).err();
        assert_eq!(cleared.is_some(), error.is_some(), "{owner} {mode:o}");
        let error = error?;
        let told = error.get_ref()?.downcast_ref::<UnsafeDirectory>()?;
        let cause = error.source()?.to_string();
        Some((error.to_string(), cause, told.hint()))
    };
    for mode in [0o700, 0o755, 0o1777] {
        assert_eq!(refusal(0, mode), None, "{mode:o}");
    }
    let (what, cause, hint) = refusal(65534, 0o755).unwrap();
    assert_eq!(
        what,
        format!("root cannot work safely in `{}`", scratch.path().display())
    );
    assert!(cause.contains("belongs to user 65534"), "{cause}");
    assert!(hint.contains("run it as that user"), "{hint}");
    let (_, cause, hint) = refusal(0, 0o775).unwrap();
    assert!(cause.contains("mode 0775"), "{cause}");
    assert!(hint.contains("only root may write"), "{hint}");
    assert_eq!(names(scratch.path()), 0);
}
