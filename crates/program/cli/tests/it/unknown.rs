//! Storage that is not known, the running system's own filesystem, and the home of a user under `sudo`.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use cardmark_core::StorageKind;
use cardmark_testkit::{Mount, Program, needs};
use tempfile::TempDir;

use crate::common::{
    BINARY, MIB, NOBODY, QUICKEST, assert_empty, assert_error, assert_nothing_kept, folder,
    program, scratch, text,
};

/// A directory that another one shows, unmounted on drop.
struct Shown(PathBuf);

impl Shown {
    fn by(command: &str, arguments: &[&str], point: PathBuf) -> Self {
        let made = std::process::Command::new(command).args(arguments).status();
        assert!(made.unwrap().success(), "{command} {arguments:?}");
        Self(point)
    }

    /// Memory that can be taken out of sight.
    fn memory(scratch: &TempDir) -> Self {
        let point = scratch.path().join("memory");
        std::fs::create_dir(&point).unwrap();
        let arguments = ["-t", "tmpfs", "-o", "size=512m", "none", text(&point)];
        Self::by("mount", &arguments, point.clone())
    }

    /// An overlay whose upper directory is on a filesystem that is mounted no more, as raspi-config makes it.
    fn overlay(scratch: &TempDir, below: &Path) -> Self {
        let [lower, point] = ["lower", "overlay"].map(|name| scratch.path().join(name));
        for folder in [&lower, &point, &below.join("upper"), &below.join("work")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let (lower, upper) = (lower.display(), below.display());
        let options = format!("lowerdir={lower},upperdir={upper}/upper,workdir={upper}/work");
        let arguments = ["-t", "overlay", "-o", &options, "overlay", text(&point)];
        Self::by("mount", &arguments, point.clone())
    }

    fn bindfs(scratch: &TempDir, below: &Path) -> Self {
        let point = scratch.path().join("bindfs");
        std::fs::create_dir(&point).unwrap();
        Self::by("bindfs", &[text(below), text(&point)], point.clone())
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount")
            .arg("--lazy")
            .arg(&self.0)
            .status();
    }
}

/// The proof may be disturbed by others on this machine: refused, or at least without any verdict.
fn assert_memory(program: &Program, at: &Path) {
    let mut tries = 0..5;
    let refused = tries.any(|_| {
        let output = program.run(&["run", text(at), QUICKEST]);
        assert!(!output.stdout.contains("Fast for"), "{output}");
        output.code == 3 && output.stderr.contains("is in memory, not on storage")
    });
    assert!(refused);
    let output = program.run(&["verify", text(at), "--size", "8MiB"]);
    assert_eq!(output.code, 3, "{output}");
    assert!(!output.stdout.contains("onfirmed"), "{output}");
}

#[test]
fn memory_below_an_overlay_that_hides_it_is_refused() {
    needs!(Root, Overlay);
    let scratch = scratch();
    let (program, memory) = (program(&scratch), Shown::memory(&scratch));
    let overlay = Shown::overlay(&scratch, &memory.0);
    drop(memory);
    assert_memory(&program, &overlay.0);
}

#[test]
fn memory_below_fuse_is_refused() {
    needs!(Root, Fuse, Bindfs);
    let scratch = scratch();
    let (program, memory) = (program(&scratch), Shown::memory(&scratch));
    let shown = Shown::bindfs(&scratch, &memory.0);
    assert_memory(&program, &shown.0);
}

#[test]
fn storage_below_fuse_is_measured_without_a_verdict() {
    needs!(Root, Fuse, Bindfs);
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    let shown = Shown::bindfs(&scratch, &folder);
    let output = program.run(&["run", text(&shown.0), QUICKEST]);
    assert_eq!(output.code, 0, "{output}");
    let told = "Measured through FUSE; the device below is not known";
    assert!(output.stdout.contains(told), "{output}");
    for word in [
        "Fast for",
        "Good for",
        "Slow for",
        "Fine for",
        "Faster than",
        "cardmark verify",
    ] {
        assert!(!output.stdout.contains(word), "{word}: {output}");
    }
    let output = program.run(&["rank", "last"]);
    assert_ne!(output.code, 0, "{output}");
    let output = program.run(&["verify", text(&shown.0), "--size", "8MiB"]);
    assert_eq!(output.code, 3, "{output}");
    assert!(output.stdout.contains("No verdict on any card"), "{output}");
    let found = program.last().integrity.unwrap();
    assert_eq!(found.kind, StorageKind::UnknownDevice);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

/// A small disk of the running system: its folder is `/home` for the program.
#[test]
fn a_disk_of_the_running_system_keeps_1_gib() {
    needs!(Root, LoopDevice, Ext4, Unshare);
    let scratch = scratch();
    let (program, disk) = (program(&scratch), Mount::ext4(scratch.path(), 1280 * MIB));
    let free = disk.free_bytes();
    let enter = "mount --bind \"$0\" /home && exec \"$@\"";
    let wrapper = ["unshare", "--mount", "sh", "-c", enter, text(disk.folder())];
    let run = |arguments: &[&str]| program.start_under(&wrapper, arguments).wait();
    let output = run(&["verify", "/home", "--json"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stderr.contains("filesystem of the running system"),
        "{output}"
    );
    assert!(output.stderr.contains("from another computer"), "{output}");
    let tested = program.last().integrity.unwrap().size_bytes;
    assert!(
        tested > 32 * MIB && free - tested >= 1024 * MIB,
        "{tested} of {free}"
    );
    let output = run(&["verify", "/home", "--queue", "4"]);
    assert_error(&output, 2, &["cannot give way", "in another computer"]);
    let output = run(&["run", "/home", QUICKEST]);
    assert!(
        output
            .stdout
            .contains("from another computer: sudo cardmark probe"),
        "{output}"
    );
    assert!(!output.stdout.contains("cardmark verify"), "{output}");
}

#[test]
fn verify_of_a_filesystem_that_is_read_only_has_a_hint() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let (program, disk) = (program(&scratch), Mount::ext4(scratch.path(), 64 * MIB));
    disk.make_read_only();
    let output = program.run(&["verify", text(disk.folder())]);
    assert_error(
        &output,
        3,
        &["is read-only", "hint: a card that turned read-only"],
    );
    assert_nothing_kept(&program, &output);
}

/// `sudo` that keeps HOME, first use by root. In a tree of mounts of its own, root has another home.
#[test]
fn root_leaves_nothing_of_its_own_in_the_home_of_a_user() {
    needs!(Root, Unshare);
    let scratch = scratch();
    let [home, roots] = ["home", "root"].map(|name| scratch.path().join(name));
    std::fs::create_dir(&home).unwrap();
    chown(&home, Some(NOBODY), None).unwrap();
    std::fs::create_dir(&roots).unwrap();
    let enter = "mount --bind \"$0\" /root && exec \"$@\"";
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", enter, text(&roots), &BINARY]);
    command.args(["run", "sim:a1-32gb", "--only", "rand_read_4k"]);
    command
        .env_clear()
        .env("HOME", &home)
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command
        .env("SUDO_USER", "nobody")
        .env("SUDO_UID", NOBODY.to_string());
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert_empty(&home);
    assert!(roots.join(".local/share/cardmark/records.sqlite").exists());
    assert!(
        told.contains("as root: `sudo cardmark show last`"),
        "{told}"
    );
}
