//! Every long job, killed at its syncs and at moments of the clock: `recover` and the same command lose nothing.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cardmark_core::{Rng, fill_payload};
use cardmark_testkit::{LoopDevice, Output, Program, killing_at_sync, needs};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::common::{MIB, QUICKEST, folder, program, scratch, text};

/// Size of the image below a loop device.
const SIZE: u64 = 24 * MIB;
/// Kills at syncs and at moments for each job if `CARDMARK_JOB_KILLS` is not set.
const KILLS: (u64, u64) = (2, 0);
const CAMPAIGN: &str = r#"
title = "Two cards"
repeats = 1
[[cards]]
name = "red"
simulated = "a1-32gb"
[[cards]]
name = "blue"
simulated = "a2-64gb"
[[boards]]
name = "pi4"
simulated = "pi4"
"#;

/// Number of kills at syncs, and at moments of the clock: `STEPS,MOMENTS`.
fn kills_count() -> (u64, u64) {
    let Ok(asked) = std::env::var("CARDMARK_JOB_KILLS") else {
        return KILLS;
    };
    let (steps, moments) = asked.split_once(',').expect("STEPS,MOMENTS");
    let number = |text: &str| text.parse().expect("a number");
    (number(steps), number(moments))
}

/// Expectation about the device after the job came to its end.
#[derive(Clone, Copy, PartialEq)]
enum After {
    /// As before.
    Same,
    /// Every byte is 0xFF.
    Filled,
    /// Written by the test.
    Any,
}

/// A job with all that it works on.
struct Rig {
    program: Program,
    arguments: Vec<String>,
    device: Option<(LoopDevice, Vec<u8>)>,
    after: After,
    _scratch: TempDir,
}

impl Rig {
    /// A job on a loop device that holds somebody's data.
    fn on_device(words: &[&str], after: After) -> Self {
        let scratch = scratch();
        let image = scratch.path().join("image");
        let mut original = vec![0; usize::try_from(SIZE).unwrap()];
        fill_payload(3, &mut original);
        fs::write(&image, &original).unwrap();
        let device = LoopDevice::attach(&image, true);
        let consent = ["--yes", "--device-serial", text(device.file())];
        let said = [&words[..1], &[text(device.path())], &words[1..], &consent].concat();
        Self {
            program: program(&scratch),
            arguments: said.iter().map(|&word| word.to_owned()).collect(),
            device: Some((device, original)),
            after,
            _scratch: scratch,
        }
    }

    /// A job on files.
    fn on_files(make: impl FnOnce(&TempDir) -> (Program, Vec<String>)) -> Self {
        let scratch = scratch();
        let (program, arguments) = make(&scratch);
        Self {
            program,
            arguments,
            device: None,
            after: After::Any,
            _scratch: scratch,
        }
    }

    fn words(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).collect()
    }

    /// Kills the job when one of its threads enters its `number`th sync. Returns its output.
    fn kill_at_sync(&self, number: u64) -> Output {
        let wrapper = killing_at_sync(number);
        self.program.start_under(&wrapper, &self.words()).wait()
    }

    /// Kills the job after this time.
    fn kill_after(&self, span: Duration) -> Output {
        let running = self.program.start(&self.words());
        std::thread::sleep(span);
        running.signal(Signal::KILL);
        running.wait()
    }

    /// Recovers, completes the job with the same command, and checks that nothing is lost or left.
    fn check(&self, what: &str) {
        let recovered = self.program.run(&["recover"]);
        assert_eq!(recovered.code, 0, "{what}: {recovered}");
        let mut again = self.program.run(&self.words());
        // Killed before its first write or after its last one: the log stays, because a copy would hold the same.
        if again.stderr.contains("this card holds all that is kept") {
            assert_eq!(again.code, 3, "{what}: {again}");
            for left in self.left() {
                if text(&left).contains("-missing-") {
                    fs::remove_file(left).unwrap();
                }
            }
            again = self.program.run(&self.words());
        }
        assert_eq!(again.code, 0, "{what}: {again}");
        if let Some((device, original)) = &self.device {
            let now = fs::read(device.file()).unwrap();
            match self.after {
                After::Same => assert!(now == *original, "{what}: content was lost"),
                After::Filled => assert!(now.iter().all(|byte| *byte == 0xff), "{what}"),
                After::Any => {}
            }
        }
        assert_eq!(self.left(), <[PathBuf; 0]>::default(), "{what}");
    }

    /// Journals and undo logs.
    fn left(&self) -> Vec<PathBuf> {
        let folders = ["journals", "tests"].map(|name| self.program.data().join(name));
        let entries = folders
            .iter()
            .filter_map(|folder| fs::read_dir(folder).ok());
        entries
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    /// Kills the job again and again.
    fn torture(&self, name: &str) {
        let (steps_count, moments_count) = kills_count();
        let mut rng = Rng::new(u64::from(std::process::id()));
        let (mut under_way, mut most) = (0, 2);
        for step in 0..steps_count {
            let number = 1 + rng.below(most);
            let killed = self.kill_at_sync(number);
            let is_killed = killed.code != 0;
            under_way += u64::from(is_killed);
            // Later syncs are tried until the job ends before them.
            most = if is_killed {
                (2 * most).min(64)
            } else {
                number.max(2)
            };
            self.check(&format!("{name}, kill {step} at sync {number}"));
        }
        let begun = Instant::now();
        if moments_count > 0 {
            self.check(name);
        }
        let span = begun.elapsed();
        for moment in 0..moments_count {
            let killed = self.kill_after(span.mul_f64(rng.unit()));
            under_way += u64::from(killed.code != 0);
            self.check(&format!("{name}, kill {moment} by the clock"));
        }
        assert!(under_way > 0, "{name}: no kill met the job under way");
        eprintln!("| {name} | {steps_count} | {moments_count} | {under_way} |");
    }
}

#[test]
fn a_run_is_recovered() {
    needs!(Strace);
    let rig = Rig::on_files(|scratch| {
        let folder = folder(scratch);
        let arguments = ["run", text(&folder), QUICKEST];
        (program(scratch), arguments.map(str::to_owned).to_vec())
    });
    rig.torture("run");
}

#[test]
fn a_preparation_continues() {
    needs!(Root, LoopDevice, Strace);
    Rig::on_device(&["prepare", "--fill", "ff"], After::Filled).torture("prepare");
}

#[test]
fn a_probe_restores() {
    needs!(Root, LoopDevice, Strace);
    Rig::on_device(&["probe", "--cache", "2MiB"], After::Same).torture("probe");
}

#[test]
fn an_anatomy_restores() {
    needs!(Root, LoopDevice, Strace);
    Rig::on_device(&["anatomy"], After::Same).torture("anatomy");
}

#[test]
fn a_verify_continues() {
    needs!(Root, LoopDevice, Strace);
    Rig::on_device(&["verify"], After::Any).torture("verify");
}

#[test]
fn an_endurance_test_continues() {
    needs!(Root, LoopDevice, Strace);
    Rig::on_device(&["endure", "--cycles", "1"], After::Any).torture("endure");
}

#[test]
fn a_campaign_continues() {
    needs!(Strace);
    let rig = Rig::on_files(|scratch| {
        let file = scratch.path().join("cards.toml");
        fs::write(&file, CAMPAIGN).unwrap();
        let arguments = ["campaign", text(&file)];
        (program(scratch), arguments.map(str::to_owned).to_vec())
    });
    rig.torture("campaign");
}
