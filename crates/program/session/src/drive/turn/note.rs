//! Description of the holder of a lock, as written in the lock file.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use cardmark_core::is_hidden;
use cardmark_report::text;
use rustix::time::{ClockId, clock_gettime};

use super::claim::Claim;

/// First word of a lock file.
const MARK: &str = "cardmark-lock";
/// Size of a description, bytes.
pub(super) const NOTE_BYTES: usize = 320;
/// Longest name of a target in it, characters; the end of a longer one is kept.
const TARGET_CHARS: usize = 48;
/// Shortest waiting time that is stated.
const LEAST: Duration = Duration::from_secs(1);

/// Expected durations of a step and of the work left, its own included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Of the step.
    pub step: Option<Duration>,
    /// Of the job from now.
    pub job: Option<Duration>,
}

/// Job that holds a lock, and the times at which step and job are expected to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note<'a> {
    /// Process id.
    pub(super) process: u32,
    job: &'a str,
    target: &'a str,
    /// Time of the kernel's monotonic clock, which all processes share.
    step_end: Option<Duration>,
    job_end: Option<Duration>,
}

impl<'a> Note<'a> {
    /// The note of this process for a step that begins at `start`.
    pub(super) fn of(claim: &'a Claim, start: Duration, step: Step) -> Self {
        Self {
            process: std::process::id(),
            job: claim.job,
            target: &claim.target,
            step_end: step.step.map(|span| start + span),
            job_end: step.job.map(|span| start + span),
        }
    }

    /// Of fixed size, so that nothing of an earlier note remains.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let time = |end: Option<Duration>| {
            end.map_or_else(|| "-".to_owned(), |end| end.as_millis().to_string())
        };
        let target: Vec<char> = self.target.chars().filter(|c| !is_hidden(*c)).collect();
        let target: String = target[target.len().saturating_sub(TARGET_CHARS)..]
            .iter()
            .collect();
        let line = format!(
            "{MARK} {} {} {} {} {target}",
            self.process,
            time(self.step_end),
            time(self.job_end),
            self.job,
        );
        let mut bytes = line.into_bytes();
        bytes.truncate(NOTE_BYTES - 1);
        bytes.resize(NOTE_BYTES - 1, b' ');
        bytes.push(b'\n');
        bytes
    }

    /// Parses a note, whoever wrote it.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let mut words = text.trim_end().splitn(6, ' ');
        let mark = words.next()?;
        let process = words.next()?.parse().ok()?;
        let mut time = || {
            let millis: u64 = words.next()?.parse().ok()?;
            Some(Duration::from_millis(millis))
        };
        let (step_end, job_end) = (time(), time());
        let (job, target) = (words.next()?, words.next()?);
        let is_word = !job.is_empty() && job.len() <= 16 && job.bytes().all(is_of_name);
        let is_target = target.chars().count() <= TARGET_CHARS && !target.chars().any(is_hidden);
        (mark == MARK && is_word && is_target).then_some(Self {
            process,
            job,
            target,
            step_end,
            job_end,
        })
    }

    /// Returns whether the file begins with a note.
    pub(super) fn is_in(file: &File) -> bool {
        let mut first = [0; MARK.len()];
        file.read_exact_at(&mut first, 0).is_ok() && first == *MARK.as_bytes()
    }

    /// Time at which its step is expected to end, if that is known and still to come.
    pub(super) fn step_end(&self, now: Duration) -> Option<Duration> {
        self.step_end.filter(|end| *end > now)
    }

    /// Time at which the job is expected to end, if that is known.
    pub(super) fn job_end(&self) -> Option<Duration> {
        self.job_end
    }

    /// ``waits for `verify` on /dev/sdb, about 12 s; it ends in about 1 min 20 s``.
    pub(super) fn text(&self, now: Duration) -> String {
        let left = |end: Option<Duration>| {
            let left = end?.checked_sub(now).filter(|left| *left >= LEAST)?;
            // Tenths of a second would claim more than an estimate holds.
            let text = match left.as_secs() {
                few @ 0..60 => format!("{few} s"),
                many => text::span(many.saturating_mul(1_000_000_000)),
            };
            Some((left, text))
        };
        let (step, job) = (left(self.step_end), left(self.job_end));
        let who = format!("waits for `{}` on {}", self.job, self.target);
        match (step, job) {
            (Some((step, span)), Some((job, all))) if job > step + LEAST => {
                format!("{who}, about {span}; it ends in about {all}")
            }
            (Some((_, span)), _) => format!("{who}, about {span}"),
            (None, Some((_, all))) => format!("{who}, which ends in about {all}"),
            (None, None) => who,
        }
    }
}

/// Time of the clock that all processes of a host share.
pub(super) fn now() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte == b'-'
}
