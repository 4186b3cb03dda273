//! Turns of several processes on one host: a run is stopped while it holds its turn, for as long as the others need.

use super::*;
use crate::common::QUICKEST;

/// Longest time until the run has its turn.
const LIMIT: Duration = Duration::from_secs(120);

/// A run in a folder, stopped by the kernel in a trial; killed on drop.
struct Stopped {
    running: Running,
    folder: std::path::PathBuf,
}

impl Stopped {
    fn in_trial(rig: &Rig) -> Self {
        let folder = folder(&rig.scratch);
        let running = rig.program.start(&["run", text(&folder)]);
        let lock = rig.program.lock_file();
        let is_taken = || File::open(&lock).is_ok_and(|file| file.try_lock().is_err());
        let until = Instant::now() + LIMIT;
        loop {
            assert!(
                Instant::now() < until,
                "no trial began: {}",
                running.heard()
            );
            if is_taken() {
                running.signal(Signal::STOP);
                // It may have ended the trial meanwhile.
                std::thread::sleep(Duration::from_millis(20));
                if is_taken() {
                    return Self { running, folder };
                }
                running.signal(Signal::CONT);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The beginning of the message of a job that waits for it.
    fn message(&self) -> String {
        format!("waits for `run` on {}", &text(&self.folder)[self.start()..])
    }

    /// Long names keep their end.
    fn start(&self) -> usize {
        text(&self.folder).len().saturating_sub(48)
    }
}

#[test]
fn untimed_jobs_wait_for_no_job_on_another_device() {
    needs!(Root, LoopDevice);
    let rig = Rig::of(64 * MIB);
    let stopped = Stopped::in_trial(&rig);
    for command in [
        &["probe", "--cache", "4MiB"][..],
        &["verify"],
        &["endure", "--cycles", "1"],
        &["prepare", "--fill", "ff"],
    ] {
        let output = rig.run(command);
        assert_eq!(output.code, 0, "{output}");
        assert!(!output.stderr.contains("waits for"), "{output}");
    }
    drop(stopped);
}

#[test]
fn timed_jobs_take_turns_and_say_for_whom_they_wait() {
    needs!(Root, LoopDevice);
    let rig = Rig::of(320 * MIB);
    let stopped = Stopped::in_trial(&rig);
    let options = ["run", QUICKEST, "--read-only"];
    let second = rig.start(&options);
    second.hear(&stopped.message());
    assert!(!second.heard().contains("/s"), "{}", second.heard());
    let third = rig.start(&["anatomy", "--read-only"]);
    // It waits behind the second one.
    third.hear(&format!("waits for `run` on {}", text(rig.device.path())));
    let message = third.heard();
    assert!(
        !message.contains("/s") && !message.contains(" d "),
        "{message}"
    );
    stopped.running.signal(Signal::KILL);
    for waiting in [second, third] {
        let output = waiting.wait();
        assert_eq!(output.code, 0, "{output}");
    }
    drop(stopped);
}

#[test]
fn two_jobs_on_one_device_exclude_each_other() {
    needs!(Root, LoopDevice);
    let rig = Rig::of(MIB);
    let stopped = Stopped::in_trial(&rig);
    let other = rig.scratch.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let second = rig
        .program
        .start(&["verify", text(&other), "--size", "8MiB"]);
    second.hear(&stopped.message());
    stopped.running.signal(Signal::KILL);
    let output = second.wait();
    assert_eq!(output.code, 0, "{output}");
}
