//! Score and verdict of two peers, from the numbers that their tools print.

/// The seven numbers that PiBenchmarks adds up, as printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PibenchmarksNumbers {
    /// dd's number, whatever unit stands behind it: 1.2 of `1.2 GB/s` counts as 1.2.
    pub dd: f64,
    /// 4 KiB random reads a second by fio.
    pub fio_random_read_iops: u64,
    /// 4 KiB random writes a second by fio.
    pub fio_random_write_iops: u64,
    /// 4 KiB reads by iozone, KiB a second.
    pub iozone_read_kib_per_s: u64,
    /// 4 KiB writes by iozone, KiB a second.
    pub iozone_write_kib_per_s: u64,
    /// 4 KiB random reads by iozone, KiB a second.
    pub iozone_random_read_kib_per_s: u64,
    /// 4 KiB random writes by iozone, KiB a second.
    pub iozone_random_write_kib_per_s: u64,
}

/// The score: rates and operations added with weights as they are, a hundredth of it, cut off.
#[must_use]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float is cut to the range of the integer"
)]
pub fn pibenchmarks_score(numbers: &PibenchmarksNumbers) -> u64 {
    let sum = numbers.dd * 1024.0
        + numbers.fio_random_read_iops as f64 * 4.0
        + numbers.fio_random_write_iops as f64 * 10.0
        + numbers.iozone_read_kib_per_s as f64
        + numbers.iozone_write_kib_per_s as f64
        + numbers.iozone_random_read_kib_per_s as f64 * 4.0
        + numbers.iozone_random_write_kib_per_s as f64 * 10.0;
    (sum / 100.0) as u64
}

/// Attempts that agnostics makes at most.
const ATTEMPTS: usize = 3;

/// The numbers of one attempt of agnostics, as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgnosticsAttempt {
    /// Sequential write by fio, KiB a second.
    pub seq_write_kib_per_s: u64,
    /// 4 KiB random writes a second.
    pub random_write_iops: u64,
    /// 4 KiB random reads a second.
    pub random_read_iops: u64,
}

/// A number and what agnostics asks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgnosticsLine {
    /// The number.
    pub value: u64,
    /// The least that passes.
    pub target: u64,
}

impl AgnosticsLine {
    /// Whether the target is reached.
    #[must_use]
    pub fn passes(self) -> bool {
        self.value >= self.target
    }
}

impl AgnosticsAttempt {
    /// Sequential write, random write and random read beside their targets, those of class A1.
    #[must_use]
    pub fn lines(&self) -> [AgnosticsLine; 3] {
        let line = |value, target| AgnosticsLine { value, target };
        [
            line(self.seq_write_kib_per_s, 10_000),
            line(self.random_write_iops, 500),
            line(self.random_read_iops, 1500),
        ]
    }

    /// Whether all targets are reached.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.lines().into_iter().all(AgnosticsLine::passes)
    }
}

/// What agnostics says after some attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgnosticsVerdict {
    /// One attempt passed, and the test ended with it.
    Pass {
        /// Which one, from 0.
        attempt_index: usize,
    },
    /// Three attempts did not pass.
    Fail,
    /// None passed so far, and there will be another.
    Open,
}

/// The verdict: the first attempt that passes ends the test; three that fail are a failure.
#[must_use]
pub fn agnostics_verdict(attempts: &[AgnosticsAttempt]) -> AgnosticsVerdict {
    let made = &attempts[..attempts.len().min(ATTEMPTS)];
    match made.iter().position(AgnosticsAttempt::passes) {
        Some(attempt_index) => AgnosticsVerdict::Pass { attempt_index },
        None if made.len() == ATTEMPTS => AgnosticsVerdict::Fail,
        None => AgnosticsVerdict::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// dd, fio random read and write, iozone read, write, random read, random write.
    fn score(dd: f64, fio: [u64; 2], iozone: [u64; 4]) -> u64 {
        pibenchmarks_score(&PibenchmarksNumbers {
            dd,
            fio_random_read_iops: fio[0],
            fio_random_write_iops: fio[1],
            iozone_read_kib_per_s: iozone[0],
            iozone_write_kib_per_s: iozone[1],
            iozone_random_read_kib_per_s: iozone[2],
            iozone_random_write_kib_per_s: iozone[3],
        })
    }

    #[test]
    fn three_published_scores_come_out() {
        // https://www.jamesachambers.com/2019/03/raspberry-pi-storage-benchmarks-2019-benchmarking-script/
        let pm871b = score(33.5, [3347, 4110], [12_993, 13_264, 11_709, 12_812]);
        assert_eq!(pm871b, 2900);
        let pro850 = score(33.2, [3107, 4131], [12_749, 13_844, 11_218, 12_723]);
        assert_eq!(pro850, 2864);
        let evo32 = score(15.5, [3091, 882], [10_418, 3100, 10_183, 3320]);
        assert_eq!(evo32, 1245);
    }

    #[test]
    fn a_score_is_cut_off_and_blind_to_the_unit_of_dd() {
        assert_eq!(score(0.0, [0, 0], [199, 0, 0, 0]), 1);
        // `1.2 GB/s` counts less than `15.5 MB/s`, and `998 kB/s` more than both.
        assert_eq!(score(1.2, [0, 0], [0; 4]), 12);
        assert_eq!(score(15.5, [0, 0], [0; 4]), 158);
        assert_eq!(score(998.0, [0, 0], [0; 4]), 10_219);
    }

    fn attempt(seq_write: u64, random_write: u64, random_read: u64) -> AgnosticsAttempt {
        AgnosticsAttempt {
            seq_write_kib_per_s: seq_write,
            random_write_iops: random_write,
            random_read_iops: random_read,
        }
    }

    #[test]
    fn three_bad_attempts_fail() {
        // A 32 GB card in pageauc/speed-camera issue 58.
        let attempts = [
            attempt(14_160, 213, 883),
            attempt(12_089, 191, 935),
            attempt(12_845, 216, 957),
        ];
        assert_eq!(agnostics_verdict(&attempts), AgnosticsVerdict::Fail);
        assert_eq!(agnostics_verdict(&attempts[..2]), AgnosticsVerdict::Open);
        assert_eq!(agnostics_verdict(&[]), AgnosticsVerdict::Open);
        let passed = attempts[0].lines().map(AgnosticsLine::passes);
        assert_eq!(passed, [true, false, false]);
    }

    #[test]
    fn the_first_pass_wins() {
        let (good, bad) = (attempt(10_000, 500, 1500), attempt(14_160, 213, 883));
        let verdict = |attempts: &[AgnosticsAttempt]| agnostics_verdict(attempts);
        let pass = |attempt_index| AgnosticsVerdict::Pass { attempt_index };
        assert_eq!(verdict(&[good]), pass(0));
        assert_eq!(verdict(&[bad, bad, good]), pass(2));
        assert_eq!(verdict(&[bad, good, bad]), pass(1));
        assert_eq!(verdict(&[bad, bad, bad, good]), AgnosticsVerdict::Fail);
    }

    #[test]
    fn each_target_counts() {
        for short in [
            attempt(9999, 500, 1500),
            attempt(10_000, 499, 1500),
            attempt(10_000, 500, 1499),
        ] {
            assert!(!short.passes(), "{short:?}");
        }
    }
}
