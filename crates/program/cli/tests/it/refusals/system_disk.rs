//! Every command that writes to raw devices, on the disk that the system runs from.
//!
//! The refusal comes before all other checks: no command suggests a flag by which that disk could
//! be written.

use std::path::Path;

use cardmark_testkit::{Need, WriterWatch, are_met, root_disk};

use super::Bench;
use crate::common::text;

/// Commands that write, with `DISK` in place of the device.
const WRITING: &[&[&str]] = &[
    &["run", "DISK"],
    &["run", "DISK", "--only=rand_write_4k"],
    &["run", "DISK", "--suite=dramble"],
    &["run", "DISK", "--suite=sustained"],
    &["run", "DISK", "--suite=app-class"],
    &["run", "DISK", "--suite=application"],
    &["probe", "DISK"],
    &["probe", "DISK", "--destroy"],
    &["probe", "DISK", "--save-to=/nowhere"],
    &["verify", "DISK"],
    &["verify", "DISK", "--restart"],
    &["endure", "DISK"],
    &["endure", "DISK", "--cycles=1"],
    &["endure", "DISK", "--budget=1MiB"],
    &["anatomy", "DISK"],
    &["anatomy", "DISK", "--destroy"],
    &["prepare", "DISK", "--fill=zero"],
    &["prepare", "DISK", "--fill=discard"],
];

/// Ways to agree, or not to.
const CONSENTS: &[&[&str]] = &[&[], &["--yes", "--device-serial=none"]];

/// Words that must not be suggested for this disk.
const NOT_SUGGESTED: &[&str] = &["--destroy", "--yes", "--device-serial"];

#[test]
fn every_command_refuses_the_system_disk_before_all_else() {
    if are_met(&[Need::Root]) {
        let bench = Bench::new();
        assert_all_refused(&bench);
        assert!(!bench.program.database().exists(), "a store was made");
    }
}

#[test]
fn a_broken_store_does_not_hide_the_refusal() {
    if are_met(&[Need::Root]) {
        let bench = Bench::new();
        let data = bench.program.data();
        std::fs::create_dir_all(data.parent().unwrap()).unwrap();
        std::fs::write(&data, "in the way of the store").unwrap();
        assert_all_refused(&bench);
    }
}

#[test]
fn every_partition_of_the_system_disk_is_refused_as_well() {
    if are_met(&[Need::Root]) {
        let bench = Bench::new();
        let disk = root_disk();
        for part in partitions_of(&disk) {
            assert_refused(&bench, &part);
        }
    }
}

fn partitions_of(disk: &Path) -> Vec<std::path::PathBuf> {
    let name = text(disk).trim_start_matches("/dev/");
    let inside = std::fs::read_dir(Path::new("/sys/class/block").join(name)).unwrap();
    let paths = inside.map(|entry| entry.unwrap().path());
    let parts = paths.filter(|path| path.join("partition").exists());
    parts
        .map(|path| Path::new("/dev").join(path.file_name().unwrap()))
        .collect()
}

fn assert_all_refused(bench: &Bench) {
    assert_refused(bench, &root_disk());
}

/// Every command, agreed to or not, ends with 4, suggests no way to write, and opens nothing for
/// writing. The counters of this disk prove nothing: others write to it all the time.
fn assert_refused(bench: &Bench, device: &Path) {
    for command in WRITING {
        for consent in CONSENTS {
            let fill = |word: &&'static str| match *word {
                "DISK" => text(device),
                word => word,
            };
            let arguments: Vec<&str> = command.iter().chain(*consent).map(fill).collect();
            let watch = WriterWatch::on(device);
            let output = bench.program.run(&arguments);
            assert!(!watch.saw_writer(), "{arguments:?}: opened for writing");
            assert_eq!(output.code, 4, "{arguments:?}: {output}");
            assert!(
                output.stderr.contains("the system runs from it: "),
                "{arguments:?}: {output}"
            );
            for word in NOT_SUGGESTED {
                assert!(!output.stderr.contains(word), "{arguments:?}: {output}");
            }
            assert_eq!(output.stdout, "", "{arguments:?}: {output}");
            assert_eq!(bench.program.journals(), <[&Path; 0]>::default());
        }
    }
}
