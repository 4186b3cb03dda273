//! The running system's own filesystem, and the home of a user under `sudo`.

use std::os::unix::fs::chown;

use cardmark_testkit::{Mount, needs};

use crate::common::{
    BINARY, MIB, NOBODY, QUICKEST, assert_empty, assert_error, program, scratch, text,
};

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
