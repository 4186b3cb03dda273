//! The execution of a plan, with everything that watches over it.

use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cardmark_application::WorkFolder;
use cardmark_core::{Finding, OriginKind, Record, Target};
use cardmark_device::{MonotonicClock, RealBackend};
use cardmark_engine::{Backend, Clock, Plan, Ports, RunResult, Sensors, execute, record};
use cardmark_host::{HostSensors, Resolution, Root};
use cardmark_judge::{advise, judge, notice, unstated};
use cardmark_stats::refresh;

use super::describing::{clock_step, of_run};
use super::request::Measurement;
use crate::data::Data;
use crate::drive::announced::Announced;
use crate::drive::keeper::{Keeper, RunObserver, RunRescue};
use crate::drive::turn::{Claim, FirstWait, Turn};
use crate::error::{CommandError, Exit};
use crate::target::head;
use crate::voice::Trials;

/// A run that ended, one way or the other.
pub struct Measured {
    /// Its record.
    pub record: Record,
    /// Keeper of the journal until the record is safe.
    pub keeper: Arc<Keeper>,
    /// Exit of the program for it.
    pub exit: Exit,
    /// Directory in which applications worked; removed with this value, after the record is safe: a dying card may take
    /// long for it.
    pub folder: Option<WorkFolder>,
    /// The file or device, open, unless the run is a part of another command: closing it may hang on a dying card, and
    /// the end of the process does it.
    pub device: Option<ManuallyDrop<RealBackend>>,
}

impl Measured {
    /// Stores the record; only then the journal goes.
    ///
    /// # Errors
    /// If the store cannot be written, or the journal cannot be removed.
    pub fn keep(&self, data: &Data) -> Result<(), CommandError> {
        let stored = data
            .open()
            .and_then(|mut store| Ok(store.insert(&unstated(&self.record))?));
        stored.map_err(|error| match self.keeper.journal_error() {
            None => error.hint("the run is in its journal: `cardmark recover` reads it later"),
            Some(_) => error.hint("the journal failed too: `--json=FILE` keeps a record elsewhere"),
        })?;
        self.keeper.finish()
    }
}

/// Header of a real run.
pub(super) fn real_header(
    job: &Measurement<'_>,
    plan: &Plan,
    resolution: &Resolution,
    target: Target,
    about: Vec<Finding>,
) -> Result<Record, CommandError> {
    let head = head::of_storage(resolution, job.session.data, plan.seed, target)?;
    let mut header = of_run(job, plan, head);
    header
        .findings
        .extend(about.into_iter().map(Finding::by_run));
    notice(&mut header);
    Ok(header)
}

/// Executes a plan with the clock and the sensors of this host.
pub(super) fn on_host<B: Backend>(
    job: &Measurement<'_>,
    plan: &Plan,
    header: Record,
    resolution: &Resolution,
    backend: &mut B,
) -> Result<Measured, CommandError> {
    let mut clock = MonotonicClock::new();
    let for_sensors = clock;
    let now = Box::new(move || for_sensors.clone().now_ns());
    let disks: Vec<String> = resolution.disks.iter().map(|d| d.name.clone()).collect();
    let mut sensors = HostSensors::start(&Root::system(), &disks, now);
    let (wall, steady) = (SystemTime::now(), clock.now_ns());
    let progress = match job.session.signals {
        Some(_) => Box::new(FirstWait::new(job.session.voice)),
        None => job.session.voice.trials(&job.session.pulse),
    };
    let claim = Claim::timed("run", job.target, resolution);
    let mut run = Run::new(job, plan, header, (progress, Some(claim)))?;
    let mut measured = run.execute(backend, &mut clock, &mut sensors)?;
    let elapsed = Duration::from_nanos(clock.now_ns() - steady);
    let step = clock_step(wall, SystemTime::now(), elapsed);
    add_late(job, &mut measured, step.into_iter().collect());
    Ok(measured)
}

/// Adds what is only known after the trials, and what follows from it.
pub(super) fn add_late(job: &Measurement<'_>, measured: &mut Measured, late: Vec<Finding>) {
    if !late.is_empty() {
        measured
            .record
            .findings
            .extend(late.into_iter().map(Finding::by_run));
        refresh(&mut measured.record, job.suite);
        measured.record.derived = judge(&measured.record, Some(job.suite));
    }
}

/// Checks that the inspected device is the opened one: a card may be changed, or something mounted, in
/// between.
pub(super) fn same_device(
    path: &Path,
    resolution: &Resolution,
    opened: (u32, u32),
) -> Result<(), CommandError> {
    if resolution.device_id == opened {
        return Ok(());
    }
    let what = format!("`{}` changed while it was looked at", path.display());
    Err(CommandError::new(Exit::Refused, what)
        .because("another device or filesystem is there now")
        .hint("nothing was written; try again"))
}

/// One execution of a plan, with everything that watches over it.
pub(super) struct Run<'a> {
    job: &'a Measurement<'a>,
    plan: &'a Plan,
    header: Record,
    keeper: Arc<Keeper>,
    observer: RunObserver,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        job: &'a Measurement<'a>,
        plan: &'a Plan,
        header: Record,
        (progress, claim): (Box<dyn Trials>, Option<Claim>),
    ) -> Result<Self, CommandError> {
        let session = job.session;
        let keeper = Keeper::new(header.clone(), job.suite.clone(), session, job.target)?;
        let turn = match claim {
            None => Turn::always(session.voice, &session.pulse),
            Some(claim) => session.turn(&claim),
        };
        let observer = RunObserver {
            keeper: Arc::clone(&keeper),
            progress: Some(progress),
            turn,
        };
        Ok(Self {
            job,
            plan,
            header,
            keeper,
            observer,
        })
    }

    pub(super) fn execute<B: Backend, C: Clock, S: Sensors>(
        &mut self,
        backend: &mut B,
        clock: &mut C,
        sensors: &mut S,
    ) -> Result<Measured, CommandError> {
        let session = match self.header.origin.kind {
            OriginKind::Simulated => &self.job.session.without_limit(),
            _ => self.job.session,
        };
        let rescue = RunRescue {
            keeper: Arc::clone(&self.keeper),
            data: session.signals.is_none().then(|| session.data.clone()),
        };
        let observer = &mut self.observer;
        let (outcome, signal) = session.watched(rescue, || {
            let mut announced = Announced::around(observer, session.voice, &session.pulse);
            let ports = Ports {
                backend,
                clock,
                sensors,
                observer: &mut announced,
                pulse: &session.pulse,
            };
            let outcome = execute(self.plan, ports);
            drop(announced);
            observer.progress = None;
            observer.turn.give();
            outcome
        })?;
        let exit = exit_of(&outcome, signal);
        let is_lost = outcome.read_back.is_some_and(|read| read.lost_bytes > 0);
        let exit = if is_lost {
            exit.or_worse(Exit::Bad)
        } else {
            exit
        };
        let mut record = record(self.header.clone(), outcome, self.job.suite);
        // Findings about the host depend on those about the trials.
        notice(&mut record);
        record.derived = judge(&record, Some(self.job.suite));
        advise(&mut record);
        Ok(Measured {
            record,
            keeper: Arc::clone(&self.keeper),
            exit,
            folder: None,
            device: None,
        })
    }
}

fn exit_of(outcome: &RunResult, signal: Option<Exit>) -> Exit {
    let own = if outcome.is_complete() {
        Exit::Done
    } else {
        Exit::Trouble
    };
    match signal {
        // A signal that came after the last operation changed nothing.
        Some(signal) if !outcome.is_complete() => own.or_worse(signal),
        _ => own,
    }
}
