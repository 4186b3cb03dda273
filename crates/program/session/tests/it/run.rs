//! A run as the program makes it: a target, a method, and a record that is kept.

use cardmark_core::{Errno, Finding, FindingKind, MIB, Record, SECOND_NS, Trial};
use cardmark_engine::Request;
use cardmark_session::{Chosen, Consent, Exit, Measurement, choose, measure, refuse_used};

use crate::world::{Ended, Person, World};

pub(crate) const EIO: Errno = Errno::IO;
pub(crate) const ENODEV: Errno = Errno::NODEV;
pub(crate) const ENOSPC: Errno = Errno::NOSPC;

/// The quickest workload on real storage.
pub(crate) const QUICKEST: &str = "rand_read_4k";
/// Size of the file of suite `quick`.
pub(crate) const SPAN_BYTES: u64 = 256 * MIB;
/// Trials that lay the file out.
pub(crate) const LAYOUT: usize = 4;

/// The step of a run at which its n-th trial begins, from 1: it begins itself with a step, and each trial begins and ends with one.
pub(crate) fn trial(n: usize) -> usize {
    2 * n
}

/// A measurement, and its target.
pub(crate) struct Run<'a> {
    pub(crate) target: &'a str,
    pub(crate) suite: &'a str,
    pub(crate) request: Request,
    pub(crate) consent: Consent,
    pub(crate) labels: Vec<(String, String)>,
}

impl<'a> Run<'a> {
    /// All of suite `quick`.
    pub(crate) fn of(target: &'a str) -> Self {
        Self {
            target,
            suite: "quick",
            request: Request {
                limit_ns: 30 * SECOND_NS,
                seed: 1,
                ..Request::default()
            },
            consent: Consent::default(),
            labels: Vec::new(),
        }
    }

    /// These workloads alone.
    pub(crate) fn only(self, workloads: &[&str]) -> Self {
        let only = workloads.iter().map(|&name| name.to_owned()).collect();
        Self {
            request: Request {
                only,
                ..self.request
            },
            ..self
        }
    }

    pub(crate) fn seed(self, seed: u64) -> Self {
        Self {
            request: Request {
                seed,
                ..self.request
            },
            ..self
        }
    }

    pub(crate) fn read_only(self) -> Self {
        Self {
            request: Request {
                read_only: true,
                ..self.request
            },
            ..self
        }
    }

    pub(crate) fn suite(self, suite: &'a str) -> Self {
        Self { suite, ..self }
    }

    /// Measures, keeps the record, and closes the target.
    pub(crate) fn execute(&self, world: &World) -> Ended {
        self.attended(world, Person::absent())
    }

    /// The same while this person attends.
    pub(crate) fn attended(&self, world: &World, person: &'static Person) -> Ended {
        world.job_with(person, |session| {
            let suite = cardmark_catalog::suite(self.suite, None).unwrap();
            let chosen = choose(self.target)?;
            if let Chosen::Real { path, resolution } = &chosen
                && self.request.writes(&suite)
            {
                refuse_used(path, resolution)?;
            }
            let job = Measurement {
                session,
                target: self.target,
                suite: &suite,
                request: &self.request,
                consent: &self.consent,
                labels: &self.labels,
                leave: None,
            };
            let mut measured = measure(&job, &chosen)?;
            measured.keep(session.data)?;
            drop(
                measured
                    .device
                    .take()
                    .map(std::mem::ManuallyDrop::into_inner),
            );
            Ok((measured.exit, measured.record))
        })
    }
}

impl World {
    /// The only run that is kept; no journal is left.
    #[track_caller]
    pub(crate) fn kept(&self) -> Record {
        assert_eq!(self.remembered(), <[&str; 0]>::default());
        let [run] = &self.runs()[..] else {
            panic!("one run");
        };
        // With its trials.
        self.store().find(&run.id.to_string()).unwrap().record
    }

    /// The same of a run that is partial, for this reason.
    #[track_caller]
    pub(crate) fn partial(&self, ended: &Ended, kind: FindingKind) -> Record {
        ended.assert_exit(Exit::Trouble);
        let record = self.kept();
        assert_eq!(record.id, ended.record().id);
        assert!(finding(&record, kind).is_some(), "{:?}", record.findings);
        record
    }
}

pub(crate) fn finding(record: &Record, kind: FindingKind) -> Option<&Finding> {
    record.findings.iter().find(|finding| finding.kind == kind)
}

/// Number of trials that ended by themselves.
pub(crate) fn whole_count(record: &Record) -> usize {
    let whole = record.trials.iter().filter(|trial| trial.is_whole());
    whole.count()
}

/// The trial that was cut short: the last one.
#[track_caller]
pub(crate) fn cut_short(record: &Record) -> &Trial {
    let last = record.trials.last().unwrap();
    assert!(!last.is_whole());
    last
}
