//! probe, verify, endure and anatomy as commands: output, exit status, signals, and turns of processes. What they find and
//! write is in `crates/program/session/tests/it`.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use cardmark_core::fill_payload;
use cardmark_testkit::{LoopDevice, Program, RateCap, Running, needs};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::common::{MIB, assert_empty, assert_error, folder, program, scratch, text};

/// Size of the image below a loop device.
const SIZE: usize = 192 << 20;

/// A loop device with somebody's data on it.
struct Rig {
    device: LoopDevice,
    program: Program,
    scratch: TempDir,
}

impl Rig {
    fn new() -> Self {
        let scratch = scratch();
        let path = scratch.path().join("image");
        std::fs::write(&path, original()).unwrap();
        Self {
            device: LoopDevice::attach(&path, true),
            program: program(&scratch),
            scratch,
        }
    }

    /// The command for this device, with consent to overwrite it.
    fn with_consent<'a>(&'a self, command: &[&'a str]) -> Vec<&'a str> {
        let consent = ["--yes", "--device-serial", text(self.device.file())];
        let device = [text(self.device.path())];
        [&command[..1], &device, &command[1..], &consent].concat()
    }

    fn is_untouched(&self) -> bool {
        std::fs::read(self.device.file()).unwrap() == original()
    }
}

fn original() -> Vec<u8> {
    let mut bytes = vec![0; SIZE];
    fill_payload(3, &mut bytes);
    bytes
}

#[test]
fn each_test_shows_and_stores_its_result() {
    let scratch = scratch();
    let program = program(&scratch);
    for (command, code, message) in [
        ("probe sim:limbo-32gb", 1, "| sudo sfdisk "),
        (
            "verify sim:limbo-32gb --from 50 --to 60 --queue 32",
            1,
            "DATA LOST in the part tested, from 50 % to 60 %",
        ),
        (
            "verify sim:patchy-32gb --read-only --to 80",
            0,
            "Slow sectors, the slowest first:",
        ),
        (
            "endure sim:fading-1gb --cycles 1 --after 120",
            1,
            "lost during the rest",
        ),
        ("anatomy sim:units-16gb", 0, "5 units of 4 MiB (as found)"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let output = program.run(&words);
        assert_eq!(output.code, code, "{output}");
        let shown = output.stdout.replace("\n  ", " ");
        assert!(shown.contains(message), "no `{message}` in {output}");
        assert_eq!(program.run(&["show", "last"]).code, 0);
    }
    let json = program.run(&["probe", "sim:a1-32gb", "--json"]);
    assert_eq!(json.code, 0, "{json}");
    assert_eq!(json.record().id, program.last().id);
    let bad = |more: &[&str]| {
        let listed = program.run(&[&["list", "--bad", "--json"], more].concat());
        serde_json::from_str::<Vec<serde_json::Value>>(&listed.stdout).unwrap()
    };
    let kinds = bad(&[]);
    let kinds: Vec<&str> = kinds
        .iter()
        .map(|run| run["storage_kind"].as_str().unwrap())
        .collect();
    assert!(
        kinds.contains(&"limbo") && !kinds.contains(&"confirmed"),
        "{kinds:?}"
    );
    assert_eq!(bad(&["--limit", "1"]).len(), 1);
    let listed = program.run(&["list", "--bad", "--limit", "1"]);
    let mut lines = listed.stdout.lines();
    let first = lines.next().unwrap_or_default();
    assert!(first.contains(" cards need attention: "), "{listed}");
    assert!(
        lines
            .next()
            .is_some_and(|line| line.contains("  replace: fake: ")),
        "{listed}"
    );
    assert!(listed.stdout.contains(" more: `--limit "), "{listed}");
    let worst = bad(&[])[0]["id"].as_str().unwrap().to_owned();
    let page = program.run(&["report", &worst, "--for", "seller", "--claim", "64GB"]);
    for part in [
        "| Sold as | 64GB |",
        "FALSE CAPACITY",
        "Order number",
        &worst,
    ] {
        assert!(page.stdout.contains(part), "no {part} in {page}");
    }
    let several = program.run(&["report", &worst, "last", "--for", "seller"]);
    assert_error(&several, 2, &["`--for seller` is about one run, not 2"]);
    let listed = program.run(&["list", "runs"]);
    assert!(listed.stdout.contains("FALSE CAPACITY: "), "{listed}");
    assert_eq!(listed.stderr, "");
    let first = program.run(&["list", "runs", "--limit", "2"]);
    let more = "older runs are not shown; `--limit 8` shows more";
    assert!(first.stderr.contains(more), "{first}");
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let scratch = scratch();
    let program = program(&scratch);
    for (command, part) in [
        ("verify sim:a1-32gb --read-only --queue 2", "--queue"),
        ("verify sim:a1-32gb --queue 33", "33"),
        ("list models --bad", "`--bad` selects runs"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        assert_error(&program.run(&words), 2, &[part]);
    }
    let folder = folder(&scratch);
    let output = program.run(&["verify", text(&folder), "--read-only"]);
    assert_error(&output, 2, &["is a directory", "reads a device as a whole"]);
}

#[test]
fn who_insists_on_an_end_while_it_is_put_back_is_told_how_to_go_on() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new();
    let command = rig.with_consent(&["probe", "--cache", "16MiB"]);
    let slow = RateCap::on(&rig.device, 128 * MIB);
    let running = rig.program.start(&command);
    running.hear("writes samples");
    let cap = RateCap::on(&rig.device, 4 * MIB);
    running.signal(Signal::INT);
    running.hear("what was there is put back then");
    running.hear("putting back what was there: ");
    running.signal(Signal::INT);
    let ended = running.wait();
    drop((cap, slow));
    assert_eq!(ended.code, 130, "{ended}");
    let kept = ended.stderr.lines().last().unwrap();
    for message in [".undo`", "the same command puts it back"] {
        assert!(kept.contains(message), "{ended}");
    }
    assert!(!rig.is_untouched());
    let again = rig.program.run(&command);
    assert_eq!(again.code, 0, "{again}");
    assert!(rig.is_untouched());
}

#[test]
fn ctrl_c_ends_a_test_with_130_and_loses_nothing() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new();
    let stopped = |words: &[&str], work: &str| {
        let slow = RateCap::on(&rig.device, 4 * MIB);
        let running = rig.program.start(&rig.with_consent(words));
        running.hear(work);
        running.signal(Signal::INT);
        // Putting back is no work of the test.
        drop(slow);
        let ended = running.wait();
        assert_eq!(ended.code, 130, "{ended}");
    };
    stopped(&["probe", "--cache", "16MiB"], "writes samples");
    assert!(rig.is_untouched());
    stopped(&["verify"], "MB/s");
    let again = rig.program.run(&rig.with_consent(&["verify"]));
    assert_eq!(again.code, 0, "{again}");
    assert!(again.stderr.contains("continues the test"), "{again}");
}

/// Starts a run, and has the kernel stop it while it has its turn.
fn stopped_in_trial(program: &Program, folder: &Path) -> Running {
    let mut running = program.start(&["run", text(folder)]);
    let lock = program.lock_file();
    let is_taken = || File::open(&lock).is_ok_and(|file| file.try_lock().is_err());
    loop {
        if is_taken() {
            running.signal(Signal::STOP);
            // It may have ended the trial meanwhile.
            std::thread::sleep(Duration::from_millis(20));
            if is_taken() {
                return running;
            }
            running.signal(Signal::CONT);
        }
        assert!(!running.has_ended(), "no trial began: {}", running.heard());
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_job_waits_for_one_on_its_disk_until_that_is_killed() {
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    let stopped = stopped_in_trial(&program, &folder);
    let other = scratch.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let second = program.start(&["verify", text(&other), "--size", "8MiB"]);
    // Long names keep their end.
    let name = text(&folder);
    let name = &name[name.len().saturating_sub(48)..];
    second.hear(&format!("waits for `run` on {name}"));
    stopped.signal(Signal::KILL);
    let output = second.wait();
    assert_eq!(output.code, 0, "{output}");
}

#[test]
fn a_device_without_discard_is_told_before_anything_is_written() {
    needs!(Root, LoopDevice, Unshare);
    let rig = Rig::new();
    let name = rig.device.path().file_name().unwrap();
    let limit = Path::new("/sys/block")
        .join(name)
        .join("queue/discard_max_bytes");
    let zero = rig.scratch.path().join("zero");
    std::fs::write(&zero, "0\n").unwrap();
    // The kernel would keep a zero for the next file behind this device, and a test that is killed
    // would leave a mount that others see.
    let mount = "mount --bind \"$0\" \"$1\" && shift && exec \"$@\"";
    let (zero, limit) = (text(&zero), text(&limit));
    let wrapper = ["unshare", "--mount", "sh", "-c", mount, zero, limit];
    let command = rig.with_consent(&["verify", "--discard"]);
    let output = rig.program.start_under(&wrapper, &command).wait();
    assert_error(
        &output,
        3,
        &["does not support discard", "nothing was written"],
    );
    assert!(rig.is_untouched());
    let folder = folder(&rig.scratch);
    let output = rig.program.run(&["verify", text(&folder), "--discard"]);
    assert_error(&output, 2, &["is a directory", "a whole device"]);
    assert_empty(&folder);
}
