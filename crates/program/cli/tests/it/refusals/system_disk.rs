//! Every command that writes to raw devices, on the disk that the system runs from.
//!
//! The refusal comes before all other checks: no command suggests a flag by which that disk could
//! be written.

use std::path::{Path, PathBuf};

use cardmark_testkit::{WriterWatch, needs, root_disk};

use super::Bench;
use crate::common::text;

/// Commands that write, with `DISK` in place of the device.
const WRITING: [&str; 18] = [
    "run DISK",
    "run DISK --only=rand_write_4k",
    "run DISK --suite=dramble",
    "run DISK --suite=sustained",
    "run DISK --suite=app-class",
    "run DISK --suite=application",
    "probe DISK",
    "probe DISK --destroy",
    "probe DISK --save-to=/nowhere",
    "verify DISK",
    "verify DISK --restart",
    "endure DISK",
    "endure DISK --cycles=1",
    "endure DISK --budget=1MiB",
    "anatomy DISK",
    "anatomy DISK --destroy",
    "prepare DISK --fill=zero",
    "prepare DISK --fill=discard",
];

/// Ways to agree, or not to.
const CONSENTS: [&str; 2] = ["", " --yes --device-serial=none"];

/// Words that must not be suggested for this disk.
const NOT_SUGGESTED: [&str; 3] = ["--destroy", "--yes", "--device-serial"];

#[test]
fn every_command_refuses_the_system_disk_before_all_else() {
    needs!(Root);
    let bench = Bench::new();
    assert_refused(&bench, &root_disk());
    assert!(!bench.program.database().exists(), "a store was made");
}

#[test]
fn a_broken_store_does_not_hide_the_refusal() {
    needs!(Root);
    let bench = Bench::new();
    let data = bench.program.data();
    std::fs::create_dir_all(data.parent().unwrap()).unwrap();
    std::fs::write(&data, "in the way of the store").unwrap();
    assert_refused(&bench, &root_disk());
}

#[test]
fn every_partition_of_the_system_disk_is_refused_as_well() {
    needs!(Root);
    let bench = Bench::new();
    for part in partitions_of(&root_disk()) {
        assert_refused(&bench, &part);
    }
}

fn partitions_of(disk: &Path) -> Vec<PathBuf> {
    let folder = Path::new("/sys/class/block").join(disk.file_name().unwrap());
    let inside = std::fs::read_dir(folder).unwrap();
    let parts = inside.map(|entry| entry.unwrap().path());
    let parts = parts.filter(|path| path.join("partition").exists());
    parts
        .map(|path| Path::new("/dev").join(path.file_name().unwrap()))
        .collect()
}

/// Every command, agreed to or not, ends with 4, suggests no way to write, and opens nothing for
/// writing. The counters of this disk prove nothing: others write to it all the time.
fn assert_refused(bench: &Bench, device: &Path) {
    for command in WRITING {
        for consent in CONSENTS {
            let command = format!("{command}{consent}").replace("DISK", text(device));
            let words: Vec<&str> = command.split(' ').collect();
            let watch = WriterWatch::on(device);
            let output = bench.program.run(&words);
            assert!(!watch.saw_writer(), "{command}: opened for writing");
            assert_eq!(output.code, 4, "{command}: {output}");
            let message = "the system runs from it: ";
            assert!(output.stderr.contains(message), "{command}: {output}");
            for word in NOT_SUGGESTED {
                assert!(!output.stderr.contains(word), "{command}: {output}");
            }
            assert_eq!(output.stdout, "", "{command}: {output}");
            assert_eq!(bench.program.journals(), <[&Path; 0]>::default());
        }
    }
}
