//! Tests whose device or filesystem fails before their end: they leave a record of what was seen.

use std::sync::Arc;
use std::time::Duration;

use cardmark_core::{
    Errno, Finding, FindingKind, Integrity, IntegrityTest, OriginKind, Record, Severity,
    StorageKind, run_id_from_bytes, simulated_run_id,
};
use cardmark_engine::Pulse;
use cardmark_integrity::{BLOCK_BYTES, Held, Trouble, Verify};
use cardmark_judge::{advise, notice};
use cardmark_report::text;

use super::outcome::so_far;
use super::{TestResult, ended_early, no_verdict, store};
use crate::data::Data;
use crate::drive::session::Session;
use crate::drive::watch::Rescue;
use crate::error::{CommandError, Exit};
use crate::voice::Voice;

/// A test that may not reach its end.
#[derive(Clone)]
pub(crate) struct Attempt {
    head: Record,
    /// None of an examination, which gives no verdict on the storage.
    found: Option<Integrity>,
    /// Bytes that were read and did not hold their data.
    lost_bytes: u64,
}

impl Attempt {
    /// A test of all that the head names.
    pub(crate) fn new(head: &Record, test: IntegrityTest) -> Self {
        let target = head.target.as_ref();
        let size_bytes = target.map_or(0, |target| target.span_bytes);
        let found = Integrity::new(test, StorageKind::Unfinished, size_bytes, size_bytes);
        Self {
            found: Some(found),
            ..Self::without_verdict(head)
        }
    }

    /// An examination, which gives no verdict on the storage.
    pub(crate) fn without_verdict(head: &Record) -> Self {
        Self {
            head: head.clone(),
            found: None,
            lost_bytes: 0,
        }
    }

    /// A test of every block, with what it has found so far.
    pub(crate) fn of(head: &Record, test: IntegrityTest, verify: &Verify) -> Self {
        let runs = verify.surface().runs().iter();
        let lost = runs.filter(|run| !matches!(run.held, Held::Good) && !run.has_failed());
        let lost_blocks: u64 = lost.map(|run| run.span.count).sum();
        Self {
            head: head.clone(),
            found: Some(so_far(test, verify)),
            lost_bytes: lost_blocks * BLOCK_BYTES as u64,
        }
    }

    /// Returns the record of a test in trouble, after these bytes were written, and read; `None` if the trouble is of neither the
    /// device nor its filesystem. It has an id of its own: the test may continue later.
    fn failed(&self, trouble: Trouble, moved_bytes: [u64; 2]) -> Option<Record> {
        let (kind, why) = failure(trouble)?;
        let detail = format!("{why}, {}", after(moved_bytes));
        let mut record = self.head.clone();
        record.id = match record.origin.kind {
            OriginKind::Simulated => simulated_run_id(&[&record.id.to_string(), &detail]),
            _ => run_id_from_bytes(*uuid::Uuid::new_v4().as_bytes()),
        };
        record.integrity.clone_from(&self.found);
        record.written_bytes = moved_bytes[0];
        let mut found = vec![Finding::new(kind, Severity::Error, detail)];
        if self.lost_bytes > 0 {
            let lost = text::amount(self.lost_bytes);
            let detail = format!("{lost} of what was read did not keep their data");
            found.push(Finding::new(FindingKind::DataLost, Severity::Error, detail));
        }
        record
            .findings
            .extend(found.into_iter().map(Finding::by_run));
        notice(&mut record);
        advise(&mut record);
        Some(record)
    }

    /// Ends a test in trouble, after these bytes were written, and read: a failure of the device or its filesystem leaves a
    /// record, beside the error.
    ///
    /// # Errors
    /// `error`, if the trouble is of neither.
    pub(crate) fn end(
        &self,
        session: &Session<'_>,
        trouble: Trouble,
        moved_bytes: [u64; 2],
        error: CommandError,
    ) -> Result<TestResult, CommandError> {
        match self.failed(trouble, moved_bytes) {
            Some(record) => Ok(TestResult::keep(session, record, Exit::Trouble).with(Some(error))),
            None => Err(error),
        }
    }

    /// Keeps the record of a test in trouble, if there is one. Returns the error, which names it.
    pub(crate) fn note(
        &self,
        session: &Session<'_>,
        trouble: Trouble,
        moved_bytes: [u64; 2],
        error: CommandError,
    ) -> CommandError {
        match self.end(session, trouble, moved_bytes, error) {
            Ok(TestResult {
                record, mut errors, ..
            }) => {
                let error = errors.pop().unwrap_or_else(no_verdict);
                match errors.pop() {
                    None => error.hint(shown(&record)),
                    Some(not_kept) => {
                        session.voice.error(&not_kept);
                        error
                    }
                }
            }
            Err(error) => error,
        }
    }

    /// Returns a rescue that also keeps the record of the test.
    pub(crate) fn saving<R: Rescue>(&self, session: &Session<'_>, rescue: R) -> Saving<R> {
        Saving {
            rescue,
            attempt: self.clone(),
            data: session.data.clone(),
            pulse: Arc::clone(&session.pulse),
        }
    }
}

/// Returns the finding about the device or its filesystem, and the reason; `None` if the trouble is of neither.
fn failure(trouble: Trouble) -> Option<(FindingKind, String)> {
    let why = ended_early(trouble, None, "").what;
    Some(match trouble {
        Trouble::Gone { .. } => (FindingKind::Vanished, why),
        Trouble::NoAnswer { .. } => (FindingKind::NoAnswer, why),
        Trouble::OnlyErrors { .. } => (FindingKind::IoError, why),
        Trouble::Filesystem { errno } => match FindingKind::of_failure(errno) {
            // Any other error, such as a file that somebody removed, is none of the device.
            FindingKind::IoError if errno != Errno::IO => return None,
            kind => (kind, format!("{why}: {errno}")),
        },
        Trouble::NotKept { .. } | Trouble::Residue { .. } | Trouble::Stopped => return None,
    })
}

/// `after 1.2 GB were written and 300 MB were read`.
fn after(moved_bytes: [u64; 2]) -> String {
    let moved = moved_bytes.into_iter().zip(["written", "read"]);
    let parts: Vec<String> = moved
        .filter(|(bytes, _)| *bytes > 0)
        .map(|(bytes, how)| format!("{} were {how}", text::amount(bytes)))
        .collect();
    match parts.is_empty() {
        true => "before anything was written or read".to_owned(),
        false => format!("after {}", parts.join(" and ")),
    }
}

fn shown(record: &Record) -> String {
    format!("`cardmark show {}` shows what was seen", record.id)
}

/// Keeps the record of a test whose device hangs.
pub(crate) struct Saving<R> {
    rescue: R,
    attempt: Attempt,
    data: Data,
    pulse: Arc<Pulse>,
}

impl<R: Rescue> Rescue for Saving<R> {
    const STOPPING: &'static str = R::STOPPING;

    fn save(&self, voice: &dyn Voice, waited: Duration) {
        self.rescue.save(voice, waited);
        let limit_ns = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
        let trouble = Trouble::NoAnswer { limit_ns };
        let Some(mut record) = self.attempt.failed(trouble, self.pulse.moved_bytes()) else {
            return;
        };
        match store(&self.data, &mut record) {
            Ok(()) => voice.notice(&format!("saved: {}", shown(&record))),
            Err(error) => voice.error(&error),
        }
    }

    fn last_words(&self) -> Option<String> {
        self.rescue.last_words()
    }
}
