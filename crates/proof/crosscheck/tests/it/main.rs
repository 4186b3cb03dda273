//! The original tools beside ours, through the program. The originals here are scripts of our own, so that it is known
//! what they do.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cardmark_testkit::{
    LoopDevice, Mount, Output, Program, install_script, killing_at_sync, needs, stored_documents,
};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

const MIB: u64 = 1 << 20;
/// What dd prints for 100 MiB in a second.
const DD_PRINTS: &str = "104857600 bytes (105 MB, 100 MiB) copied, 1.00000 s, 105 MB/s";
/// Longest time that a child of an original may outlive it.
const PATIENCE: Duration = Duration::from_secs(10);

/// A folder on storage, for images and results; gone with the test.
fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// The program with its results in `scratch`.
fn program(scratch: &TempDir) -> Program {
    Program::new(env!("CARGO_BIN_EXE_cardmark-crosscheck"), scratch.path())
}

/// An empty folder in `scratch`.
fn folder(scratch: &TempDir) -> PathBuf {
    let folder = scratch.path().join("card");
    std::fs::create_dir(&folder).unwrap();
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The error has an exit code and these parts.
#[track_caller]
fn assert_error(output: &Output, code: i32, parts: &[&str]) {
    assert_eq!(output.code, code, "{output}");
    for part in parts {
        assert!(output.stderr.contains(part), "no `{part}` in {output}");
    }
    assert!(output.stderr.contains("error: "), "{output}");
}

/// The folder that was measured holds nothing.
#[track_caller]
fn assert_empty(folder: &Path) {
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0, "left behind");
}

/// A folder with originals, each a shell script, that the program finds first.
fn originals(scratch: &TempDir, scripts: &[(&str, &str)]) -> PathBuf {
    let folder = scratch.path().join("originals");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, script) in scripts {
        let path = folder.join(name);
        install_script(script, &path);
    }
    folder
}

fn with(scratch: &TempDir, scripts: &[(&str, &str)]) -> Program {
    program(scratch).with_path(&originals(scratch, scripts))
}

#[test]
fn pairs_are_run_and_nothing_remains() {
    let scratch = scratch();
    let script = format!(
        "for o in \"$@\"; do case $o in of=*) : >\"${{o#of=}}\"; esac; done; echo '{DD_PRINTS}' >&2"
    );
    let program = with(&scratch, &[("dd", &script)]);
    let folder = folder(&scratch);
    let only = "--only=dd_write";
    let output = program.run(&[text(&folder), only, "--pairs=6", "--json"]);
    assert_eq!(output.code, 0, "{output}");
    let rows: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    let row = &rows[0];
    assert_eq!(row["id"], "dd_write");
    assert_eq!(
        (row["pairs_count"].as_u64(), row["unit"].as_str()),
        (Some(6), Some("bytes_per_s"))
    );
    assert_eq!(
        (
            row["original"].as_f64(),
            row["original_spread_ratio"].as_f64()
        ),
        (Some(104_857_600.0), Some(0.0))
    );
    let ratio = row["ours"].as_f64().unwrap() / 104_857_600.0;
    assert!(row["low"].as_f64() <= row["ratio"].as_f64(), "{row}");
    assert!(ratio > 0.0);
    // Every other pair begins with us, and what is written is told.
    let order: Vec<&str> = output
        .stderr
        .lines()
        .filter(|l| l.contains("pair"))
        .take(4)
        .collect();
    assert!(
        order[0].ends_with(": dd") && order[1].ends_with(": cardmark"),
        "{output}"
    );
    assert!(
        order[2].ends_with(": cardmark") && order[3].ends_with(": dd"),
        "{output}"
    );
    assert!(
        output
            .stderr
            .contains("written to the target: 629 MB by cardmark"),
        "{output}"
    );
    assert_empty(&folder);
    assert_eq!(program.journals().len(), 0);
    assert_eq!(stored_documents(&program.database()), []);
}

/// A mounted disk keeps in memory what our side has read; hdparm must not find it there.
#[test]
fn hdparm_finds_the_disk_cold_after_our_side_has_read_it() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let card = Mount::ext4_in_memory(scratch.path(), 200 * MIB);
    card.device().disguise();
    let counted = scratch.path().join("counted");
    let disk = text(card.device().path());
    let script = format!(
        "for d in {disk}; do :; done; s=/sys/block/${{d##*/}}/stat\n\
         before=$(awk '{{print $3}}' $s); head -c 8388608 $d >/dev/null\n\
         after=$(awk '{{print $3}}' $s); echo $((after - before)) >>{}\n\
         echo ' Timing buffered disk reads: 200 MB in  1.00 seconds = 200.00 MB/'sec",
        text(&counted)
    );
    let program = with(&scratch, &[("hdparm", &script)]);
    let arguments = [text(card.folder()), "--only=hdparm_t", "--pairs=3"];
    let output = program.run(&arguments);
    assert_eq!(output.code, 0, "{output}");
    let counted = std::fs::read_to_string(&counted).unwrap();
    let sectors: Vec<u64> = counted.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(sectors.len(), 3);
    // The filesystem itself keeps a few blocks.
    let whole = 8 * MIB / 512;
    assert!(
        sectors.iter().all(|read| *read > whole * 9 / 10),
        "{sectors:?}"
    );
}

#[test]
fn an_original_that_fails_is_told_in_its_own_words_and_others_go_on() {
    let scratch = scratch();
    let failing = "echo '0+0 records in' >&2; echo \"dd: error writing 'x': Broken\" >&2; exit 1";
    let program = with(&scratch, &[("dd", failing)]);
    let folder = folder(&scratch);
    let output = program.run(&[text(&folder), "--only=dd_write"]);
    assert_error(&output, 3, &["dd failed", "dd: error writing 'x': Broken"]);
    assert!(output.stdout.contains("nothing was compared"), "{output}");
    assert_empty(&folder);
}

/// The original of the second pair has a child that sleeps; both go when a signal comes.
#[test]
fn a_signal_ends_the_original_and_its_children() {
    let scratch = scratch();
    let marker = scratch.path().join("marker");
    let child = scratch.path().join("child");
    let script = format!(
        "if [ -e {m} ]; then sleep 600 & echo $! >{c}; wait; fi; : >{m}; echo '{DD_PRINTS}' >&2",
        m = text(&marker),
        c = text(&child)
    );
    let program = with(&scratch, &[("dd", &script)]);
    let folder = folder(&scratch);
    let running = program.start(&[text(&folder), "--only=dd_write"]);
    running.hear("pair 2: dd");
    let process = await_number(&child);
    running.signal(Signal::TERM);
    let output = running.wait();
    assert_eq!(output.code, 143, "{output}");
    assert_empty(&folder);
    // With the first pair, which is whole.
    assert_eq!(program.journals().len(), 1);
    let begun = Instant::now();
    while Path::new(&format!("/proc/{process}")).exists() {
        assert!(
            begun.elapsed() < PATIENCE,
            "the original's child still runs"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A signal while our side measures, in a pair after the first.
#[test]
fn a_signal_ends_our_side_and_the_whole_pairs_continue_later() {
    let scratch = scratch();
    let script = format!("echo '{DD_PRINTS}' >&2");
    let program = with(&scratch, &[("dd", &script)]);
    let folder = folder(&scratch);
    let running = program.start(&[text(&folder), "--only=dd_write"]);
    running.hear("pair 2: cardmark");
    running.signal(Signal::INT);
    let output = running.wait();
    assert_eq!(output.code, 130, "{output}");
    assert_empty(&folder);
    assert_eq!(program.journals().len(), 1);
    let one = [text(&folder), "--only=dd_write", "--pairs=1", "--json"];
    let again = program.run(&one);
    assert_eq!(again.code, 0, "{again}");
    assert!(
        again.stderr.contains("continues with the 1 pairs"),
        "{again}"
    );
    assert!(
        !again.stderr.contains("pair 1: "),
        "nothing is left to do: {again}"
    );
    assert!(again.stdout.contains("dd_write"), "{again}");
    assert_eq!(program.journals().len(), 0);
}

fn await_number(path: &Path) -> u32 {
    let begun = Instant::now();
    loop {
        if let Ok(text) = std::fs::read_to_string(path)
            && let Ok(number) = text.trim().parse()
        {
            return number;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "no number in {}",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn without_room_no_original_starts() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let marker = scratch.path().join("started");
    let script = format!(": >{}; echo '{DD_PRINTS}' >&2", text(&marker));
    let program = with(&scratch, &[("dd", &script)]);
    let mount = Mount::ext4(scratch.path(), 160 * MIB);
    let output = program.run(&[text(mount.folder()), "--only=dd_write"]);
    assert_error(&output, 3, &["not enough room"]);
    assert!(!marker.exists(), "dd was started");
}

#[test]
fn missing_tools_are_named_with_their_package() {
    let scratch = scratch();
    let folder = folder(&scratch);
    let program = program(&scratch);
    let mut command = program.command(&[text(&folder), "--only=fio_rand_read_q1"]);
    let none = scratch.path().join("missing");
    let output = command.env("PATH", &none).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("fio is not installed; Debian has it in the package fio"),
        "{stderr}"
    );
}

/// A loop device on a file of that size, and ddrescue that notes its arguments.
fn rescuer(scratch: &TempDir, size_bytes: u64) -> (PathBuf, LoopDevice, PathBuf, Program) {
    let image = scratch.path().join("image");
    std::fs::File::create(&image)
        .unwrap()
        .set_len(size_bytes)
        .unwrap();
    let device = LoopDevice::attach(&image, true);
    let log = scratch.path().join("log");
    let script = format!("echo \"$@\" >>{}; sleep 0.1", text(&log));
    let program = with(scratch, &[("ddrescue", &script)]);
    (image, device, log, program)
}

#[test]
fn on_a_device_originals_get_its_own_size_and_leave_is_needed() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let (image, device, log, program) = rescuer(&scratch, 128 * MIB);
    let only = "--only=ddrescue_write";
    let refused = program.run(&[text(device.path()), only, "--pairs=1"]);
    assert_error(&refused, 4, &["there is no terminal to confirm"]);
    assert!(!log.exists(), "ddrescue was started");
    let serial = format!("--device-serial={}", text(&image));
    let arguments = [text(device.path()), only, "--pairs=1", "--yes", &serial];
    let output = program.run(&arguments);
    assert_eq!(output.code, 0, "{output}");
    let called = std::fs::read_to_string(&log).unwrap();
    assert!(
        called.contains(&format!("--size={}", 128 * MIB)),
        "{called}"
    );
    assert!(called.contains(text(device.path())), "{called}");
}

#[test]
fn what_only_reads_a_device_needs_no_leave() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let (_, device, log, program) = rescuer(&scratch, 128 * MIB);
    let only = "--only=ddrescue_read";
    let output = program.run(&[text(device.path()), only, "--pairs=1"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(log.exists());
}

/// iozone writes what it reads afterwards.
#[test]
fn an_original_that_writes_needs_leave_whatever_was_asked_for() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let image = scratch.path().join("image");
    std::fs::write(&image, vec![7; 128 << 20]).unwrap();
    let device = LoopDevice::attach(&image, true);
    let script = "while [ \"$1\" != -f ]; do shift; done; dd if=/dev/zero of=\"$2\" bs=4k count=1";
    let program = with(&scratch, &[("iozone", script)]);
    let only = "--only=iozone_read_4k";
    let output = program.run(&[text(device.path()), only, "--pairs=1"]);
    assert_error(&output, 4, &["there is no terminal to confirm"]);
    drop(device);
    let held = std::fs::read(&image).unwrap();
    assert!(held.iter().all(|&byte| byte == 7), "it was written");
}

/// Another card in the same place: neither the original nor ours may write to it. The first original ends when the
/// device is to get another file, which the kernel allows when cardmark closes it.
#[test]
fn a_device_that_is_changed_after_an_original_is_not_written() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let (image, mut device, log, _) = rescuer(&scratch, 128 * MIB);
    let path = device.path().to_owned();
    let name = path.file_name().unwrap().to_str().unwrap();
    let script = format!(
        "echo \"$@\" >>{}; until grep -q 1 /sys/block/{name}/loop/autoclear; do sleep 0.02; done",
        text(&log)
    );
    let program = with(&scratch, &[("ddrescue", &script)]);
    let other = scratch.path().join("other");
    std::fs::File::create(&other)
        .unwrap()
        .set_len(128 * MIB)
        .unwrap();
    let serial = format!("--device-serial={}", text(&image));
    let arguments = [
        text(&path),
        "--only=ddrescue_write",
        "--pairs=6",
        "--yes",
        &serial,
    ];
    let running = program.start(&arguments);
    running.await_file(&log);
    device.change_file(&other);
    let output = running.wait();
    // 4 with the other file there, 3 if cardmark is faster and finds none.
    assert!([3, 4].contains(&output.code), "{output}");
    let calls = std::fs::read_to_string(&log).unwrap().lines().count();
    assert_eq!(calls, 1, "{output}");
    assert!(
        std::fs::read(&other).unwrap().iter().all(|byte| *byte == 0),
        "the other was written"
    );
}

#[test]
fn a_simulated_card_and_a_small_device_are_told() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let (_, device, _, program) = rescuer(&scratch, 16 * MIB);
    let simulated = program.run(&["sim:a1-32gb"]);
    assert_error(&simulated, 2, &["cannot run on a simulated card"]);
    let small = program.run(&[text(device.path())]);
    assert_error(&small, 3, &["too small"]);
    let unknown = program.run(&[text(device.path()), "--only=nonsense"]);
    assert_ne!(unknown.code, 0, "{unknown}");
}

#[test]
fn a_device_in_use_is_refused_before_all_else() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let mount = Mount::ext4(scratch.path(), 160 * MIB);
    let program = program(&scratch);
    let device = text(mount.device().path());
    for consent in [&[][..], &["--yes", "--device-serial=none"]] {
        let refused = program.run(&[&[device][..], consent].concat());
        assert_error(&refused, 4, &["mounted"]);
    }
    assert!(!program.database().exists(), "a store was made");
}

/// Killed at each of its first syncs, also in the second pair.
#[test]
fn a_killed_crosscheck_continues() {
    needs!(Strace);
    let scratch = scratch();
    let script = format!("echo '{DD_PRINTS}' >&2");
    let program = with(&scratch, &[("dd", &script)]);
    let folder = folder(&scratch);
    let arguments = [text(&folder), "--only=dd_write", "--pairs=2"];
    let mut under_way = 0;
    for number in [1, 2, 3, 5, 8] {
        let killed = program
            .start_under(&killing_at_sync(number), &arguments)
            .wait();
        under_way += u64::from(killed.code != 0);
        let again = program.run(&arguments);
        assert_eq!(again.code, 0, "sync {number}: {again}");
        assert!(again.stdout.contains("dd_write"), "{again}");
        assert_eq!(program.journals().len(), 0, "sync {number}");
        assert_empty(&folder);
    }
    assert!(under_way > 0, "no kill met it under way");
}
