//! Keeps what a run has yielded so far, in memory and in the journal, so that a partial record
//! can be made at any moment, by another thread too.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cardmark_core::{Finding, FindingKind, Record, Severity, Suite, Trial};
use cardmark_engine::{Event, Observer, RunResult, record};
use cardmark_judge::{advise, notice, unstated};
use cardmark_store::{JobKind, Journal};

use crate::data::Data;
use crate::data::unfinished::{finish, unusable};
use crate::drive::session::Session;
use crate::drive::turn::{Step, Turn};
use crate::drive::watch::Rescue;
use crate::error::CommandError;
use crate::voice::{Silent, Trials, Voice};

/// Trials and findings of the current run.
#[derive(Debug)]
pub struct Keeper {
    header: Record,
    suite: Suite,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    trials: Vec<Trial>,
    findings: Vec<Finding>,
    journal: Option<Journal>,
    /// The first error of the journal; the run goes on without it.
    journal_error: Option<String>,
}

impl Keeper {
    /// Creates a keeper, with a journal unless the run is a part of another command.
    pub(crate) fn new(
        header: Record,
        suite: Suite,
        session: &Session<'_>,
        target: &str,
    ) -> Result<Arc<Self>, CommandError> {
        let begin = |data: &Data| {
            let name = header.id.to_string();
            let begun = data.begin(&name, JobKind::Run, target, Some(&header));
            begun.map_err(|error| unusable(&error))
        };
        let inner = Inner {
            journal: match session.signals {
                None => Some(begin(session.data)?),
                Some(_) => None,
            },
            ..Inner::default()
        };
        Ok(Arc::new(Self {
            header,
            suite,
            inner: Mutex::new(inner),
        }))
    }

    /// The record of what was kept so far, with a further finding.
    pub(crate) fn partial(&self, finding: Finding) -> Record {
        let inner = self.lock();
        let mut findings = inner.findings.clone();
        findings.push(finding);
        let trials = inner.trials.clone();
        drop(inner);
        let outcome = RunResult {
            trials,
            findings,
            ..RunResult::default()
        };
        record(self.header.clone(), outcome, &self.suite)
    }

    /// Takes the journal away, the record being safe elsewhere.
    /// # Errors
    /// If the journal cannot be removed.
    pub fn finish(&self) -> Result<(), CommandError> {
        finish(self.lock().journal.take())
    }

    /// The first error of the journal, if there was one.
    #[must_use]
    pub fn journal_error(&self) -> Option<String> {
        self.lock().journal_error.clone()
    }

    fn keep_trial(&self, trial: &Trial) {
        let mut inner = self.lock();
        inner.trials.push(trial.clone());
        let result = inner.journal.as_mut().map(|journal| journal.append(trial));
        inner.note(result);
    }

    fn keep_finding(&self, finding: &Finding) {
        let mut inner = self.lock();
        let finding = finding.clone().by_run();
        inner.findings.push(finding.clone());
        let result = inner
            .journal
            .as_mut()
            .map(|journal| journal.append_finding(&finding));
        inner.note(result);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Data of a panicking thread are still worth keeping.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn note<E: std::fmt::Display>(&mut self, result: Option<Result<(), E>>) {
        if let Some(Err(error)) = result {
            self.journal_error.get_or_insert(error.to_string());
        }
    }
}

/// Hears of the run: keeps what it yields, shows how far it is, and takes turns with other runs.
pub(crate) struct RunObserver {
    /// Keeps.
    pub(crate) keeper: Arc<Keeper>,
    /// Shows.
    pub(crate) progress: Option<Box<dyn Trials>>,
    /// Held during a trial and while content is read back.
    pub(crate) turn: Turn,
}

impl RunObserver {
    fn take_turn(&mut self, step_ns: u64, job_ns: u64) {
        let step = Step {
            step: Some(Duration::from_nanos(step_ns)),
            job: Some(Duration::from_nanos(job_ns)),
        };
        match &mut self.progress {
            Some(progress) => self.turn.take(step, &mut **progress),
            None => self.turn.take(step, &mut Silent),
        }
    }
}

impl Observer for RunObserver {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::TrialStarted {
                expected_ns,
                remaining_ns,
                ..
            } => self.take_turn(*expected_ns, *remaining_ns),
            Event::ReadingBack { expected_ns, .. } => self.take_turn(*expected_ns, *expected_ns),
            Event::TrialEnded { trial } => {
                self.turn.give();
                self.keeper.keep_trial(trial);
            }
            Event::Found { finding } => self.keeper.keep_finding(finding),
            Event::Started { .. } => {}
        }
        if let Some(progress) = &mut self.progress {
            progress.event(event);
        }
    }
}

/// Parts of a run that are saved if its device hangs.
pub(crate) struct RunRescue {
    pub(crate) keeper: Arc<Keeper>,
    /// Places of the store; none if nothing is to be stored.
    pub(crate) data: Option<Data>,
}

impl Rescue for RunRescue {
    const STOPPING: &'static str = "stopping at the next operation; what was measured is kept";

    fn save(&self, voice: &dyn Voice, waited: Duration) {
        let Some(data) = &self.data else {
            return;
        };
        voice.notice(
            "hint: the trials that ended are in the journal; `cardmark recover` reads it if nothing \
             more is said here",
        );
        let detail = format!("no answer for {} s", waited.as_secs());
        let finding = Finding::new(FindingKind::NoAnswer, Severity::Error, detail);
        let mut record = self.keeper.partial(finding);
        notice(&mut record);
        advise(&mut record);
        let saved = data
            .open()
            .and_then(|mut store| Ok(store.insert(&unstated(&record))?));
        match saved.and_then(|_| self.keeper.finish()) {
            Ok(()) => voice.notice(&format!(
                "saved: `cardmark show {}` shows the trials that ended",
                record.id
            )),
            Err(error) => voice.error(&error),
        }
    }
}
