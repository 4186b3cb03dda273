//! Trees with one file spoilt after the other: no reader panics, waits, takes in much, or names a
//! disk that is not there.

use std::fmt::Debug;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use cardmark_host::{
    CounterReader, KernelLog, Root, block_devices, card_identity, device_info, disk_identity,
    log_names, mmc_host, mounted_directories, read_board, read_host, read_look, register_texts,
    resolve,
};
use cardmark_testkit::trees::{Damage, Tree, whole};

use crate::used;

/// Maximum number of bytes one reader may read: less than a huge file, and that in several small parts.
const MOST_BYTES: u64 = 32 << 20;
/// Far more than any tree takes, on any machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Output of the readers as text, and the disks that they named.
#[derive(Default)]
struct Said {
    text: String,
    disks: Vec<String>,
}

impl Said {
    /// Asks one reader.
    fn ask<T: Debug>(&mut self, reader: impl FnOnce() -> T) -> T {
        let before = taken_in();
        let answer = reader();
        let taken = taken_in() - before;
        self.text.push_str(&format!("{answer:?}"));
        assert!(taken < MOST_BYTES, "took in {taken} bytes for {answer:?}");
        answer
    }

    /// Asks all of them.
    fn all(root: &Root, names: &[String]) -> Self {
        let mut said = Self::default();
        let devices = said.ask(|| block_devices(root));
        said.disks
            .extend(devices.into_iter().map(|device| device.name));
        said.ask(|| (read_board(root), read_host(root)));
        said.ask(|| KernelLog::open(root).lines(&|_| true).len());
        for name in names {
            said.ask(|| device_info(root, name));
            said.ask(|| register_texts(root, name).map(|card| card.texts));
            said.ask(|| (mmc_host(root, name), log_names(root, name)));
            said.ask(|| CounterReader::new(root, std::slice::from_ref(name)).read());
            said.ask(|| disk_identity(root, name).size_bytes);
            said.ask(|| card_identity(root, name).is_some());
            said.target(root, &format!("/dev/{name}"));
        }
        let system = names.first().map_or("", String::as_str);
        said.ask(|| used(root, system).len());
        said.target(root, "/");
        let places = said.ask(|| mounted_directories(root));
        said.disks
            .extend(places.into_iter().map(|place| place.disk.name));
        said
    }

    fn target(&mut self, root: &Root, path: &str) {
        if let Ok(resolution) = self.ask(|| resolve(root, Path::new(path))) {
            self.ask(|| read_look(root, &resolution, Some(3)));
            let disks = resolution.disks.into_iter();
            self.disks.extend(disks.map(|disk| disk.name));
        }
    }
}

/// Bytes that this thread has read so far.
fn taken_in() -> u64 {
    let counts = fs::read_to_string("/proc/thread-self/io").unwrap_or_default();
    let mut lines = counts.lines();
    lines
        .find_map(|line| line.strip_prefix("rchar: "))
        .map_or(0, |count| count.parse().unwrap())
}

fn names_of(tree: &Tree) -> Vec<String> {
    let names = fs::read_dir(tree.finish().join("sys/class/block")).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[expect(
    clippy::print_stdout,
    reason = "reports the damaged file if a reader panics"
)]
#[track_caller]
fn assert_sane(tree: &Tree, names: &[String], known: &[String], what: &str) {
    println!("{what}");
    let Said { text, disks } = Said::all(&tree.root(), names);
    for disk in disks {
        assert!(known.contains(&disk), "{what}: named {disk}");
    }
    let commands = |c: char| c.is_control() || c == '\u{FFFD}';
    let shown = text.replace("\\0", "\0").replace("\\u{1b}", "\u{1b}");
    let at = shown.find(commands);
    assert_eq!(
        at,
        None,
        "{what}: {}",
        &shown[at.unwrap_or(0).saturating_sub(80)..]
    );
}

/// Fails if it takes far too long, instead of hanging.
fn within_patience(work: impl FnOnce() + Send + 'static) {
    let (done, waiting) = channel::<()>();
    let worker = thread::spawn(move || {
        work();
        drop(done);
    });
    let ended = waiting.recv_timeout(PATIENCE);
    assert_eq!(ended, Err(RecvTimeoutError::Disconnected), "a reader waits");
    worker.join().unwrap();
}

/// The disk that the system runs from, and a part of it.
fn system_names(names: &[String]) -> Vec<String> {
    let ends = [names.first(), names.last()];
    ends.into_iter().flatten().cloned().collect()
}

fn spoil_each_file_of(part: usize) {
    within_patience(move || {
        // The others differ in a few texts alone.
        let like_another = ["pi5_queue_off", "pc_usb_storage"];
        let trees = whole()
            .into_iter()
            .filter(|(name, _)| !like_another.contains(name));
        for (name, mut tree) in trees.skip(part).step_by(2) {
            let known = Said::all(&tree.root(), &names_of(&tree)).disks;
            let names = system_names(&names_of(&tree));
            for file in tree.all_files() {
                for damage in Damage::ALL {
                    let spoilt = tree.spoil(&file, damage);
                    assert_sane(&tree, &names, &known, &format!("{name} {file} {damage:?}"));
                    tree.mend(spoilt);
                }
            }
            assert_eq!(Said::all(&tree.root(), &names_of(&tree)).disks, known);
        }
    });
}

#[test]
fn no_spoilt_file_spoils_more_than_itself() {
    spoil_each_file_of(0);
}

#[test]
fn no_spoilt_file_of_the_other_boards_does_either() {
    spoil_each_file_of(1);
}

#[test]
fn trees_of_spoilt_files_are_read_to_their_end() {
    within_patience(|| {
        for damage in Damage::ALL {
            for (name, mut tree) in whole() {
                let names = names_of(&tree);
                let known = Said::all(&tree.root(), &names).disks;
                for file in tree.all_files() {
                    drop(tree.spoil(&file, damage));
                }
                assert_sane(&tree, &names, &known, &format!("{name} {damage:?}"));
            }
        }
    });
}
