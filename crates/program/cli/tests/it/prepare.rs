//! `prepare` as a process: what it prints, signals, kills, and a device that does not answer. Its rules are tested in `session`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use cardmark_core::{Fill, Preparation, fill_content};
use cardmark_host::{Root, card_identity};
use cardmark_session::Prepared;
use cardmark_store::{Store, peek};
use cardmark_testkit::{
    FuseDir, LoopDevice, Output, Program, RateCap, Running, killing_at_sync, needs,
};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{MIB, assert_error, program, scratch, text};

/// Two stretches, and a part that ends inside a block.
const SIZE: u64 = 2 * STRETCH + 4096 + 512;
/// Number of bytes made durable together.
const STRETCH: u64 = 64 * MIB;
/// Rate at which a stretch takes more than the second after which it is noted.
const RATE: u64 = 48 * MIB;

/// A device on a file, and the program.
struct Rig {
    device: LoopDevice,
    program: Program,
    /// The filesystem with the file, which hangs on demand.
    below: FuseDir,
    _scratch: TempDir,
}

impl Rig {
    fn new() -> Self {
        let scratch = scratch();
        let below = FuseDir::mount(scratch.path());
        let path = below.path().join("image");
        File::create(&path).unwrap().set_len(SIZE).unwrap();
        Self {
            device: LoopDevice::attach(&path, true),
            program: program(&scratch),
            below,
            _scratch: scratch,
        }
    }

    fn words<'a>(&'a self, fill: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let said = [
            &["prepare", text(self.device.path()), "--fill", fill][..],
            &["--yes", "--device-serial", text(self.device.file())],
            more,
        ];
        said.concat()
    }

    fn start(&self, fill: &str, more: &[&str]) -> Running {
        self.program.start(&self.words(fill, more))
    }

    fn prepare(&self, fill: &str, more: &[&str]) -> Output {
        self.start(fill, more).wait()
    }

    /// The last preparation of this device, from its journal while that is unfinished.
    fn last(&self) -> Option<Preparation> {
        if !self.program.database().exists() {
            return None;
        }
        let name = self.device.path().file_name().unwrap().to_str().unwrap();
        let identity = card_identity(&Root::system(), name).unwrap();
        let mut store = Store::open(&self.program.database()).unwrap();
        let card = store.card_key(&identity.history).unwrap();
        let (id, stored) = store.last_preparation(&card).unwrap()?;
        let name = format!("{}-prepare", card.name());
        let left = peek(&self.program.data().join("journals"), &name).unwrap();
        let state = left.and_then(|left| left.state);
        let state: Option<Prepared> = state.map(|text| serde_json::from_str(&text).unwrap());
        let newer = state.filter(|state| state.id == Some(id));
        Some(newer.map_or(stored, |state| state.preparation))
    }

    /// The end of this content without a gap on the device.
    fn reached(&self, preparation: &Preparation) -> u64 {
        let mut found = vec![0; usize::try_from(SIZE).unwrap()];
        let mut expected = found.clone();
        let file = File::open(self.device.file()).unwrap();
        file.read_exact_at(&mut found, 0).unwrap();
        let seed = preparation.seed_number().unwrap();
        fill_content(preparation.fill, seed, 0, &mut expected);
        let mut sectors = found.chunks(512).zip(expected.chunks(512));
        let wrong = sectors.position(|(found, expected)| found != expected);
        wrong.map_or(SIZE, |sector| sector as u64 * 512)
    }

    /// The device holds exactly the content that the store names, all of it.
    #[track_caller]
    fn assert_whole(&self, fill: Fill) -> Preparation {
        let last = self.last().unwrap();
        assert_eq!((last.fill, last.done_bytes), (fill, SIZE));
        assert!(last.finished_at.is_some());
        assert_eq!(self.reached(&last), SIZE);
        last
    }
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

#[test]
fn it_prints_a_line_or_json() {
    needs!(Root, LoopDevice, Fuse);
    let rig = Rig::new();
    let output = rig.prepare("ff", &[]);
    assert_eq!(output.code, 0, "{output}");
    let said = "filled with 0xFF: 134 MB in ";
    assert!(output.stdout.starts_with(said), "{output}");
    assert!(output.stdout.ends_with(" MB/s\n"), "{output}");
    assert_eq!(output.stdout.lines().count(), 1, "{output}");
    let output = rig.prepare("random", &["--json"]);
    assert_eq!(output.code, 0, "{output}");
    let shown = json(&output);
    let preparation: Preparation = serde_json::from_value(shown["preparation"].clone()).unwrap();
    assert_eq!(preparation, rig.assert_whole(Fill::Random));
    assert_eq!(
        (&shown["from_bytes"], &shown["written_bytes"]),
        (&0.into(), &SIZE.into())
    );
    // Its filesystem cannot.
    let output = rig.prepare("discard", &[]);
    assert_error(&output, 3, &["cause: the device cannot discard"]);
    assert_error(&rig.program.run(&["prepare", "/dev/null"]), 2, &["--fill"]);
}

#[test]
fn what_is_killed_goes_on_and_never_claims_more_than_is_there() {
    needs!(Root, LoopDevice, Fuse, Blkio, Strace);
    let rig = Rig::new();
    let cap = RateCap::on(&rig.device, RATE);
    let (mut done, mut continued) = (0, 0);
    // Of the store, the journal, and the stretches.
    for sync in [2, 5, 6, 7] {
        let wrapper = killing_at_sync(sync);
        let running = rig.program.start_under(&wrapper, &rig.words("random", &[]));
        let output = running.wait();
        assert!([0, 128 + 9].contains(&output.code), "{output}");
        continued += u32::from(output.stderr.contains("continues at "));
        let Some(last) = rig.last() else { continue };
        if output.code == 0 || last.finished_at.is_some() {
            // Done before it was killed: from the start again.
            rig.assert_whole(Fill::Random);
            done = 0;
            continue;
        }
        assert_eq!(output.code, 128 + 9, "{output}");
        // A preparation without a noted position begins again at 0: the position never falls.
        assert!(last.done_bytes >= done, "{} < {done}", last.done_bytes);
        done = last.done_bytes;
        let is_synced = done.is_multiple_of(STRETCH) || done == SIZE;
        assert!(is_synced, "{done}: only what was synced counts");
        assert!(rig.reached(&last) >= done, "more was noted than is there");
    }
    drop(cap);
    let output = rig.prepare("random", &[]);
    assert_eq!(output.code, 0, "{output}");
    rig.assert_whole(Fill::Random);
    assert!(continued > 0, "no preparation was continued");
}

#[test]
fn ctrl_c_keeps_what_is_written_and_the_next_goes_on_there() {
    needs!(Root, LoopDevice, Fuse, Blkio);
    let rig = Rig::new();
    let cap = RateCap::on(&rig.device, RATE);
    let mut running = rig.start("ff", &["--json"]);
    while rig.last().is_none_or(|last| last.done_bytes == 0) {
        assert!(!running.has_ended(), "too early: {}", running.heard());
        std::thread::sleep(Duration::from_millis(20));
    }
    let crawl = RateCap::on(&rig.device, 4 * MIB);
    running.signal(Signal::INT);
    let output = running.wait();
    let said = [
        "error: the preparation was stopped",
        "of the device is filled with 0xFF",
        "hint: the same command goes on there",
    ];
    assert_error(&output, 130, &said);
    let begun = rig.last().unwrap();
    assert_eq!(json(&output)["preparation"]["done_bytes"], begun.done_bytes);
    // A stop is no kill: what was written until then is kept to the byte.
    assert_eq!(rig.reached(&begun), begun.done_bytes);
    drop((crawl, cap));
    let output = rig.prepare("ff", &[]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stderr.contains("continues at "), "{output}");
    assert!(output.stdout.contains(" of it now in "), "{output}");
    let last = rig.assert_whole(Fill::Ff);
    assert_eq!(
        last.started_at, begun.started_at,
        "it is the same preparation"
    );
}

#[test]
fn a_device_that_does_not_answer_is_reported() {
    needs!(Root, LoopDevice, Fuse);
    let rig = Rig::new();
    rig.below.hang_after(40);
    let running = rig.start("ff", &["--timeout=3"]);
    rig.below.await_hanging();
    running.hear("error: the device has not answered for 3 s");
    running.hear("cause: the kernel still waits for an operation");
    running.hear("hint: what was durable is noted");
    let last = rig.last().unwrap();
    assert!(last.done_bytes < SIZE && last.finished_at.is_none());
    rig.below.release();
    assert_eq!(running.wait().code, 3);
    assert!(rig.reached(&last) >= last.done_bytes);
    let output = rig.prepare("ff", &[]);
    assert_eq!(output.code, 0, "{output}");
    rig.assert_whole(Fill::Ff);
}
