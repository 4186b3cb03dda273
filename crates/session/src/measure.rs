//! From a target and a request to a record: wiring of plan, back end, clock, sensors, observer.

mod applications;
mod describing;
mod erasing;
mod opening;

use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cardmark_application::WorkFolder;
use cardmark_core::{
    Finding, METHOD, Origin, OriginKind, Record, Suite, SuiteRef, Target, TargetKind, TargetNeed,
    run_id_from_bytes, simulated_run_id,
};
use cardmark_device::MonotonicClock;
use cardmark_engine::{
    Backend, Clock, Observer, Outcome, Place, Plan, Ports, Request, Sensors, execute, record,
};
use cardmark_host::{HostSensors, Resolution, Root};
use cardmark_judge::{advise, judge, notice};
use cardmark_sim::{Model, SIMULATION_REVISION, SimulatedCard};
use cardmark_stats::refresh;

pub(crate) use describing::now_text;
pub use opening::{device_bytes, disk_path, has_room};

use crate::gate::{Consent, Leave};
use crate::keeper::{Keeper, RunObserver, RunRescue};
use crate::target::Chosen;
use crate::{CommandError, Exit, Session, Silent, Turn, describe, history};
use describing::{about_target, clock_step, header, not_erased, target, threads};
use opening::{open, plan};

/// A measurement request, independent of the kind of target.
pub struct Measurement<'a> {
    /// Surroundings. Part of a command that measures again and again, it gives file and device back at once.
    pub session: &'a Session<'a>,
    /// The target as the user named it.
    pub target: &'a str,
    /// The method.
    pub suite: &'a Suite,
    /// The request.
    pub request: &'a Request,
    /// Consent to writing a raw device.
    pub consent: &'a Consent,
    /// Labels from the user.
    pub labels: &'a [(String, String)],
    /// Earlier consent to writing a device; without it, the user is asked.
    pub leave: Option<&'a Leave>,
}

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
}

/// Measures a target.
///
/// # Errors
/// If it cannot be opened or written, or the run cannot begin.
pub fn measure(job: &Measurement<'_>, target: &Chosen) -> Result<Measured, CommandError> {
    match target {
        Chosen::Simulated(model) => simulated(job, model),
        Chosen::Real { path, resolution } => real(job, path, resolution),
    }
}

/// Measures a simulated card. Board, clock and start time are simulated too.
fn simulated(job: &Measurement<'_>, model: &Model) -> Result<Measured, CommandError> {
    let card = SimulatedCard::new(model, job.request.seed);
    let place = Place::disk(TargetKind::Sim, card.capacity_bytes());
    let plan = plan(job, place)?;
    opening::tell_wear(job.session.voice, &plan, Some(card.capacity_bytes()));
    let (mut backend, mut clock, mut sensors) = card.ports();
    let labels: Vec<String> = job.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let mut asked = asked(&plan.suite_ref, job.request.limit_ns);
    if let Some(count) = job.request.passes_count {
        asked.push_str(&format!(" {count} passes"));
    }
    if let Some(bytes) = job.request.most_bytes {
        asked.push_str(&format!(" {bytes} bytes"));
    }
    let name = model.name_on_board();
    // Not the program's version: other bytes mean another method, suite, model or revision.
    let id = simulated_run_id(&[
        &name,
        model.content(),
        &format!("{:016x}", plan.seed),
        &asked,
        &METHOD.to_string(),
        &SIMULATION_REVISION.to_string(),
        &labels.join("\n"),
        &job.request.read_only.to_string(),
    ]);
    let mut origin = Origin::of(OriginKind::Simulated);
    origin.source = Some(name);
    let mut header = header(job, &plan, Record::new(id, origin));
    header.target = Some(target(TargetKind::Sim, &plan));
    describe::simulated(&mut header, &card);
    let mut run = Run::new(job, &plan, header, Box::new(Silent))?;
    run.execute(&mut backend, &mut clock, &mut sensors)
}

/// The request as a part of the id of a simulated run.
fn asked(suite: &SuiteRef, limit_ns: u64) -> String {
    let SuiteRef {
        name,
        version,
        only,
        tier,
    } = suite;
    let tier = tier
        .as_ref()
        .map_or_else(String::new, |tier| format!(" {tier}"));
    format!("SuiteRef {{ name: {name:?}, version: {version:?}, only: {only:?} }} {limit_ns}{tier}")
}

/// Measures real storage: a file of ours in a directory, or a device.
fn real(
    job: &Measurement<'_>,
    path: &Path,
    resolution: &Resolution,
) -> Result<Measured, CommandError> {
    if job.suite.needs == TargetNeed::Filesystem {
        return applications::real(job, path, resolution);
    }
    let (plan, opened, room) = open(job, path, resolution)?;
    same_device(path, resolution, opened.device_id)?;
    let (direct, named, nocow) = (opened.direct, opened.named, opened.nocow);
    // Not dropped at the end: closing takes 256 MiB of blocks back, which may take long, or hang on a dying
    // card. The end of the process does it, after the record is safe.
    let backend = opening::backend(path, resolution, opened, &plan);
    let mut backend = ManuallyDrop::new(backend.with_pulse(Arc::clone(&job.session.pulse)));
    let mut described = target(resolution.kind, &plan);
    described.free_bytes = room.map(|room| room.free_bytes);
    described.filesystem_bytes = room.map(|room| room.size_bytes);
    described.direct = Some(direct);
    described.nocow = nocow.then_some(true);
    described.named_file = Some(named);
    let writes_first = plan.layout.is_some() || plan.suite.is_preconditioned();
    described.payload_rate_bytes_per_s = writes_first
        .then(|| backend.payload_rate_bytes_per_s())
        .flatten();
    let about = about_target(direct, resolution.kind, writes_first);
    let header = real_header(job, &plan, resolution, described, about)?;
    // After the header, which has the preparation of the card until now.
    let erasing = erasing::begin_erasing(&plan, resolution, job.session.data)?;
    let mut measured = on_host(job, &plan, header, resolution, &mut *backend)?;
    let kept_content = not_erased(&backend);
    if let (Some(erasing), None) = (erasing, &kept_content) {
        erasing.finish(&measured.record)?;
    }
    let late = threads(&backend).into_iter().chain(kept_content);
    add_late(job, &mut measured, late.collect());
    if job.session.signals.is_some() {
        drop(ManuallyDrop::into_inner(backend));
    }
    Ok(measured)
}

/// Header of a real run.
fn real_header(
    job: &Measurement<'_>,
    plan: &Plan,
    resolution: &Resolution,
    target: Target,
    about: Vec<Finding>,
) -> Result<Record, CommandError> {
    let id = run_id_from_bytes(*uuid::Uuid::new_v4().as_bytes());
    let mut header = header(job, plan, Record::new(id, Origin::of(OriginKind::Measured)));
    header.started_at = Some(now_text());
    header.target = Some(target);
    let devices = history::devices(resolution, job.session.data)?;
    describe::real(&mut header, &Root::system(), resolution, devices);
    header.findings.extend(about);
    notice(&mut header);
    Ok(header)
}

/// Executes a plan with the clock and the sensors of this host.
fn on_host<B: Backend>(
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
        Some(_) => Box::new(Silent),
        None => job.session.voice.trials(&job.session.pulse),
    };
    let mut run = Run::new(job, plan, header, progress)?;
    let mut measured = run.execute(backend, &mut clock, &mut sensors)?;
    let elapsed = Duration::from_nanos(clock.now_ns() - steady);
    let step = clock_step(wall, SystemTime::now(), elapsed);
    add_late(job, &mut measured, step.into_iter().collect());
    Ok(measured)
}

/// Adds what is only known after the trials, and what follows from it.
fn add_late(job: &Measurement<'_>, measured: &mut Measured, late: Vec<Finding>) {
    if !late.is_empty() {
        measured.record.findings.extend(late);
        refresh(&mut measured.record, job.suite);
        measured.record.derived = judge(&measured.record, Some(job.suite));
    }
}

/// Checks that the inspected device is the opened one: a card may be changed, or something mounted, in
/// between.
fn same_device(
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
struct Run<'a> {
    job: &'a Measurement<'a>,
    plan: &'a Plan,
    header: Record,
    keeper: Arc<Keeper>,
    observer: RunObserver,
}

impl<'a> Run<'a> {
    fn new(
        job: &'a Measurement<'a>,
        plan: &'a Plan,
        header: Record,
        progress: Box<dyn Observer>,
    ) -> Result<Self, CommandError> {
        let session = job.session;
        let keeper = Keeper::new(header.clone(), job.suite.clone(), session, job.target)?;
        let turn = match header.origin.kind {
            OriginKind::Simulated => Turn::always(session.voice, &session.pulse),
            _ => Turn::new(session.voice, &session.pulse),
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

    fn execute<B: Backend, C: Clock, S: Sensors>(
        &mut self,
        backend: &mut B,
        clock: &mut C,
        sensors: &mut S,
    ) -> Result<Measured, CommandError> {
        let session = self.job.session;
        let rescue = RunRescue {
            keeper: Arc::clone(&self.keeper),
            data: session.signals.is_none().then(|| session.data.clone()),
        };
        let observer = &mut self.observer;
        let (outcome, signal) = session.watched(rescue, || {
            let ports = Ports {
                backend,
                clock,
                sensors,
                observer: &mut *observer,
                pulse: &session.pulse,
            };
            let outcome = execute(self.plan, ports);
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
        record.derived = judge(&record, Some(self.job.suite));
        advise(&mut record);
        Ok(Measured {
            record,
            keeper: Arc::clone(&self.keeper),
            exit,
            folder: None,
        })
    }
}

fn exit_of(outcome: &Outcome, signal: Option<Exit>) -> Exit {
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
