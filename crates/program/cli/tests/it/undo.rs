//! Undo logs of probes that are killed. Damage to logs, copies of cards and logs in use are tested in `session`.

use std::fs;
use std::path::{Path, PathBuf};

use cardmark_core::{Rng, fill_payload};
use cardmark_testkit::{LoopDevice, Output, Program, killing_at_sync, needs};
use tempfile::TempDir;

use crate::common::{MIB, program, scratch, text};

/// Size of the image below a loop device.
const SIZE: u64 = 24 * MIB;
/// Kills if `CARDMARK_KILLS` is not set.
const KILLS: u64 = 3;
/// Kills come at one of this number of syncs, which is fewer than a probe has.
const SYNCS: u64 = 64;

/// A loop device with somebody's data on it.
struct Rig {
    device: LoopDevice,
    program: Program,
    original: Vec<u8>,
    _scratch: TempDir,
}

impl Rig {
    fn new() -> Self {
        let scratch = scratch();
        let image = scratch.path().join("image");
        let mut original = vec![0; usize::try_from(SIZE).unwrap()];
        fill_payload(3, &mut original);
        fs::write(&image, &original).unwrap();
        Self {
            device: LoopDevice::attach(&image, true),
            program: program(&scratch),
            original,
            _scratch: scratch,
        }
    }

    fn words(&self) -> [&str; 7] {
        let [device, serial] = [self.device.path(), self.device.file()].map(text);
        let consent = ["--yes", "--device-serial", serial];
        [
            "probe", device, "--cache", "2MiB", consent[0], consent[1], consent[2],
        ]
    }

    /// Kills a probe at one of its syncs; returns what `recover` prints then.
    fn kill(&self, rng: &mut Rng) -> Output {
        let wrapper = killing_at_sync(1 + rng.below(SYNCS));
        let running = self.program.start_under(&wrapper, &self.words());
        let output = running.wait();
        assert_eq!(output.code, 137, "{output}");
        self.program.run(&["recover"])
    }

    fn is_untouched(&self) -> bool {
        fs::read(self.device.file()).unwrap() == self.original
    }

    /// Files that tests left.
    fn left(&self) -> Vec<PathBuf> {
        let folder = self.program.database().with_file_name("tests");
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

#[test]
fn a_killed_probe_with_an_undamaged_log_loses_nothing() {
    needs!(Root, LoopDevice, Strace);
    let rig = Rig::new();
    let mut rng = Rng::new(u64::from(std::process::id()));
    let asked = std::env::var("CARDMARK_KILLS").ok();
    let kills = asked.map_or(KILLS, |count| count.parse().expect("a number"));
    let mut dirty = 0;
    for kill in 0..kills {
        let recovered = rig.kill(&mut rng);
        // Only its card can be restored, and only by a test of it.
        let is_named = recovered
            .stderr
            .contains(".undo` belongs to an interrupted test");
        // The map of a log is made before it.
        let is_log = |path: &PathBuf| path.extension() == Some("undo".as_ref());
        assert_eq!(is_named, rig.left().iter().any(is_log), "{recovered}");
        dirty += u64::from(!rig.is_untouched());
        let mut again = rig.program.run(&rig.words());
        // Killed before its first write or after its last one: a copy of the card would hold the same.
        if again.stderr.contains("this card holds all that is kept") {
            assert!(
                (again.code, rig.is_untouched()) == (3, true),
                "kill {kill}: {again}"
            );
            again = rig.program.run(&rig.words());
            for left in rig.left() {
                assert!(text(&left).contains("-missing-"), "kill {kill}");
                fs::remove_file(left).unwrap();
            }
        }
        assert_eq!(again.code, 0, "kill {kill}: {again}");
        assert!(rig.is_untouched(), "kill {kill}");
        assert_eq!(rig.left(), [] as [&Path; 0], "kill {kill}");
    }
    eprintln!("| kills of probes | {kills} | {kills} | {dirty} | {kills} | 0 |");
}
