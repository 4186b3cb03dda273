//! From a target and a request to a record: wiring of plan, back end, clock, sensors, observer.

use std::mem::ManuallyDrop;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cardmark_core::{
    DeviceInfo, Finding, FindingKind, METHOD, MIB, Origin, OriginKind, Record, SECOND_NS, Severity,
    Suite, Target, TargetKind, Tool, run_id_from_bytes, simulated_run_id,
};
use cardmark_device::{
    CountersSource, MonotonicClock, OpenError, OpenTarget, RealBackend, TestFile, free_bytes,
    open_device_readonly,
};
use cardmark_engine::{
    Backend, Clock, Outcome, Place, Plan, PlanError, Ports, Pulse, Request, Sensors, execute,
    make_plan, record,
};
use cardmark_host::{CounterReader, HostSensors, Resolution, Root, read_board, read_host};
use cardmark_judge::judge;
use cardmark_report::text;
use cardmark_sim::{Model, SimulatedCard};
use cardmark_stats::refresh;

use crate::args::Consent;
use crate::data::Data;
use crate::error::{CommandError, Exit};
use crate::gate;
use crate::guard;
use crate::history;
use crate::keeper::{Keeper, RunObserver};
use crate::progress::Progress;
use crate::target::refuse_memory;
use crate::watch::{RunRescue, Watch};

/// Room left free on the filesystem besides the file, bytes: a full root filesystem harms a board.
const RESERVE_BYTES: u64 = 64 * MIB;
/// Difference between wall clock and monotonic clock over a run that counts as a step.
const STEP: Duration = Duration::from_secs(2);

/// What is to be measured, whatever the target.
pub(crate) struct Job<'a> {
    /// The method.
    pub(crate) suite: &'a Suite,
    /// What was asked for.
    pub(crate) request: &'a Request,
    /// Whether a raw device may be written.
    pub(crate) consent: &'a Consent,
    /// What the user said about it.
    pub(crate) labels: &'a [(String, String)],
    /// Where results go.
    pub(crate) data: &'a Data,
    /// Whether the program measures again and again: it then shows no progress of its own for
    /// each, and gives file and device back at once.
    pub(crate) is_one_of_many: bool,
}

/// A run that ended, one way or the other.
pub(crate) struct Measured {
    /// Its record.
    pub(crate) record: Record,
    /// What keeps the journal until the record is safe.
    pub(crate) keeper: Arc<Keeper>,
    /// How the program is to end for it.
    pub(crate) exit: Exit,
}

/// Measures a simulated card. Board, clock and start time are simulated too.
pub(crate) fn simulated(job: &Job<'_>, model: &Model) -> Result<Measured, CommandError> {
    let card = SimulatedCard::new(model, job.request.seed);
    let place = Place::disk(TargetKind::Sim, card.capacity_bytes());
    let plan = plan(job, place)?;
    let (mut backend, mut clock, mut sensors) = card.ports();
    let labels: Vec<String> = job.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let asked = format!("{:?} {}", plan.suite_ref, job.request.limit_ns);
    let id = simulated_run_id(&[
        model.name(),
        &format!("{:016x}", plan.seed),
        &asked,
        &METHOD.to_string(),
        env!("CARGO_PKG_VERSION"),
        &labels.join("\n"),
        &job.request.read_only.to_string(),
    ]);
    let mut origin = Origin::of(OriginKind::Simulated);
    origin.source = Some(model.name().to_owned());
    let mut header = header(job, &plan, Record::new(id, origin));
    header.target = Some(target(TargetKind::Sim, &plan));
    header.devices = vec![card.device()];
    header.board = Some(card.board());
    header.host = Some(card.host());
    let pulse = Arc::new(Pulse::new());
    let mut run = Run::new(job, &plan, header, Progress::silent(&pulse), pulse)?;
    run.execute(&mut backend, &mut clock, &mut sensors)
}

/// Measures real storage: a file of ours in a directory, or a device.
pub(crate) fn real(
    job: &Job<'_>,
    path: &Path,
    resolution: &Resolution,
) -> Result<Measured, CommandError> {
    let (plan, opened, free) = open(job, path, resolution)?;
    same_device(path, resolution, &opened)?;
    let (direct, named, nocow) = (opened.direct, opened.named, opened.nocow);
    // Not dropped at the end: closing takes 256 MiB of blocks back, which may take long, or hang on a dying
    // card. The end of the process does it, after the record is safe.
    let mut backend = ManuallyDrop::new(self::backend(path, resolution, opened, plan.seed));
    let mut described = target(resolution.kind, &plan);
    described.layers = resolution.layers.clone();
    described.filesystem = resolution.filesystem.clone();
    described.free_bytes = free;
    described.mount_options = resolution.mount_options.clone();
    described.direct = Some(direct);
    described.nocow = nocow.then_some(true);
    described.named_file = Some(named);
    described.payload_rate_bytes_per_s = plan
        .layout
        .is_some()
        .then(|| backend.payload_rate_bytes_per_s())
        .flatten();
    let id = run_id_from_bytes(*uuid::Uuid::new_v4().as_bytes());
    let mut header = header(
        job,
        &plan,
        Record::new(id, Origin::of(OriginKind::Measured)),
    );
    header.started_at = Some(now_text());
    header.target = Some(described);
    header.devices = history::devices(resolution, job.data)?;
    header.board = Some(read_board(&Root::system()));
    header.host = Some(read_host(&Root::system()));
    header.findings = resolution.findings.clone();
    header
        .findings
        .extend(about_target(direct, resolution.kind, plan.layout.is_some()));
    let mut clock = MonotonicClock::new();
    let for_sensors = clock;
    let now = Box::new(move || for_sensors.clone().now_ns());
    let mut sensors = HostSensors::start(&Root::system(), now);
    let (wall, steady) = (SystemTime::now(), clock.now_ns());
    let pulse = Arc::new(Pulse::new());
    let progress = if job.is_one_of_many {
        Progress::silent(&pulse)
    } else {
        Progress::for_stderr(&pulse)
    };
    let mut run = Run::new(job, &plan, header, progress, pulse)?;
    let mut measured = run.execute(&mut *backend, &mut clock, &mut sensors)?;
    let elapsed = Duration::from_nanos(clock.now_ns() - steady);
    let mut late: Vec<Finding> = clock_step(wall, SystemTime::now(), elapsed)
        .into_iter()
        .collect();
    late.extend(threads(&backend));
    if !late.is_empty() {
        measured.record.findings.extend(late);
        refresh(&mut measured.record, job.suite);
    }
    if job.is_one_of_many {
        drop(ManuallyDrop::into_inner(backend));
    }
    Ok(measured)
}

/// What was looked at must be what was opened: a card may be changed, or something mounted, in
/// between.
fn same_device(
    path: &Path,
    resolution: &Resolution,
    opened: &OpenTarget,
) -> Result<(), CommandError> {
    if resolution.device_id == opened.device_id {
        return Ok(());
    }
    let what = format!("`{}` changed while it was looked at", path.display());
    Err(CommandError::new(Exit::Refused, what)
        .because("another device or filesystem is there now")
        .hint("nothing was written; try again"))
}

fn open(
    job: &Job<'_>,
    path: &Path,
    resolution: &Resolution,
) -> Result<(Plan, OpenTarget, Option<u64>), CommandError> {
    if resolution.kind == TargetKind::Device && !job.request.read_only {
        return open_for_writing(job, path, resolution);
    }
    if resolution.kind == TargetKind::Device {
        refuse_memory(path, resolution)?;
        let opened = open_device_readonly(path).map_err(|error| open_error(&error))?;
        let plan = plan(job, Place::disk(TargetKind::Device, opened.size_bytes))?;
        return Ok((plan, opened, None));
    }
    let plan = plan(
        job,
        Place {
            kind: TargetKind::Directory,
            usable_bytes: u64::MAX,
            disk_bytes: disk_below(resolution).and_then(|disk| disk.size_bytes),
        },
    )?;
    let free = free_bytes(path).map_err(|error| open_error(&error))?;
    let needed = job.suite.file_bytes + RESERVE_BYTES;
    // Asked first, so that a read-only or closed directory is told as what it is.
    let opened =
        TestFile::create(path, job.suite.file_bytes).map_err(|error| open_error(&error))?;
    if free < needed {
        return Err(CommandError::new(
            Exit::Trouble,
            format!("not enough room in `{}`", path.display()),
        )
        .because(format!(
            "{} MiB are free; {} MiB are needed, {} MiB of it to leave the filesystem room",
            free / MIB,
            needed / MIB,
            RESERVE_BYTES / MIB
        ))
        .hint("free some room, or name a directory on another filesystem"));
    }
    Ok((plan, opened.into(), Some(free)))
}

/// The one disk below a directory; `None` where there are several, or none is known.
fn disk_below(resolution: &Resolution) -> Option<&DeviceInfo> {
    match resolution.disks.as_slice() {
        [disk] => Some(disk),
        _ => None,
    }
}

/// The node of the one disk below a directory.
pub(crate) fn disk_path(resolution: &Resolution) -> Option<String> {
    disk_below(resolution).map(|disk| format!("/dev/{}", disk.name))
}

/// The back end for what was opened, with all that workloads may work on besides.
fn backend(path: &Path, resolution: &Resolution, opened: OpenTarget, seed: u64) -> RealBackend {
    let counters = |names: &[String]| -> CountersSource {
        let mut reader = CounterReader::new(&Root::system(), names);
        Box::new(move || reader.read())
    };
    let backend = RealBackend::new(opened, seed, counters(&resolution.counted));
    if resolution.kind == TargetKind::Device {
        return backend.with_disk(path.to_owned(), counters(&resolution.counted));
    }
    let backend = backend.with_directory(path.to_owned());
    match disk_below(resolution) {
        Some(disk) => {
            let node = Path::new("/dev").join(&disk.name);
            backend.with_disk(node, counters(std::slice::from_ref(&disk.name)))
        }
        None => backend,
    }
}

/// A device that is used is refused before anything else that may be wrong is told.
fn open_for_writing(
    job: &Job<'_>,
    path: &Path,
    resolution: &Resolution,
) -> Result<(Plan, OpenTarget, Option<u64>), CommandError> {
    let device = gate::idle_device(path, resolution)?;
    let plan = plan(job, Place::disk(TargetKind::Device, device.size_bytes))?;
    let (what, bytes) = overwriting(&plan, device.size_bytes);
    let opened = gate::permit_writing(path, resolution, job.consent, bytes, &what)?;
    Ok((plan, opened, None))
}

/// What a plan does to a raw device, and how many bytes it writes where that is known before.
fn overwriting(plan: &Plan, size_bytes: u64) -> (String, Option<u64>) {
    let writing = || plan.workloads.iter().filter(|workload| workload.writes());
    let spans = writing().map(|workload| workload.span_bytes);
    let reach_bytes = spans.max().unwrap_or(0).max(match plan.layout {
        Some(_) => plan.suite.file_bytes,
        None => 0,
    });
    let exact: Option<u64> = writing().map(|workload| workload.stop.most_bytes).sum();
    let part = if reach_bytes.saturating_add(MIB) > size_bytes {
        "all".to_owned()
    } else {
        format!("the first {}", text::size(reach_bytes))
    };
    let (how_often, bytes) = match (plan.layout.is_some(), writing().next().is_some()) {
        (true, true) => (
            ": once for the layout, then again and again, some hundred MB on a card, more on a fast \
             disk",
            None,
        ),
        (true, false) => (", once", Some(reach_bytes)),
        (false, _) => ("", exact),
    };
    (
        format!("write over {part} of a raw device{how_often}"),
        bytes,
    )
}

/// One execution of a plan, with everything that watches over it.
struct Run<'a> {
    job: &'a Job<'a>,
    plan: &'a Plan,
    header: Record,
    keeper: Arc<Keeper>,
    observer: RunObserver,
    pulse: Arc<Pulse>,
}

impl<'a> Run<'a> {
    fn new(
        job: &'a Job<'a>,
        plan: &'a Plan,
        header: Record,
        progress: Progress,
        pulse: Arc<Pulse>,
    ) -> Result<Self, CommandError> {
        let keeper = Keeper::new(header.clone(), job.suite.clone(), &job.data.journals)?;
        let observer = RunObserver {
            keeper: Arc::clone(&keeper),
            progress,
        };
        Ok(Self {
            job,
            plan,
            header,
            keeper,
            observer,
            pulse,
        })
    }

    fn execute<B: Backend, C: Clock, S: Sensors>(
        &mut self,
        backend: &mut B,
        clock: &mut C,
        sensors: &mut S,
    ) -> Result<Measured, CommandError> {
        let pulse = Arc::clone(&self.pulse);
        let rescue = RunRescue {
            keeper: Arc::clone(&self.keeper),
            data: self.job.data.clone(),
        };
        let limit = Duration::from_nanos(self.plan.limit_ns);
        let watch = Watch::start(Arc::clone(&pulse), limit, rescue).map_err(|error| {
            CommandError::new(Exit::Trouble, "cannot watch over the run").because(error.to_string())
        })?;
        let observer = &mut self.observer;
        let plan = self.plan;
        let ports = Ports {
            backend,
            clock,
            sensors,
            observer,
            pulse: &pulse,
        };
        let outcome = guard(AssertUnwindSafe(|| execute(plan, ports)));
        self.observer.progress.end();
        let signal = watch.end();
        let outcome = outcome.map_err(|exit| {
            CommandError::new(exit, "cardmark failed: this is a bug in the program")
                .hint("the trials that ended are in the journal: `cardmark recover`")
        })?;
        let exit = exit_of(&outcome, signal);
        let mut record = record(self.header.clone(), outcome, self.job.suite);
        record.derived = judge(&record, self.job.suite);
        Ok(Measured {
            record,
            keeper: Arc::clone(&self.keeper),
            exit,
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

fn plan(job: &Job<'_>, place: Place) -> Result<Plan, CommandError> {
    make_plan(job.suite, job.request, place).map_err(|error| plan_error(&error))
}

fn plan_error(error: &PlanError) -> CommandError {
    let made = |exit| CommandError::from_error(exit, error);
    match error {
        PlanError::UnknownWorkload { .. } => made(Exit::Usage),
        PlanError::NothingToRead => {
            made(Exit::Usage).hint("leave `--read-only` out, or ask for a workload that reads")
        }
        PlanError::ReadOnlyDirectory => made(Exit::Usage)
            .hint("leave `--read-only` out, or name the block device, such as /dev/mmcblk0"),
        PlanError::TooSmall { .. } => made(Exit::Trouble),
        PlanError::WrongTarget { .. } => {
            made(Exit::Usage).hint("`cardmark list suites` tells what each of them works on")
        }
        PlanError::OwnPasses { .. } => {
            made(Exit::Usage).hint("leave `--rounds` out, or name a suite of an old tool")
        }
    }
}

fn open_error(error: &OpenError) -> CommandError {
    let made = CommandError::from_error(Exit::Trouble, error);
    match error {
        OpenError::NotWritable { .. } => {
            made.hint("name a directory that you may write in, such as your home directory")
        }
        OpenError::NotReadable { .. } => made.hint("reading a device needs root: use sudo"),
        OpenError::ReadOnly { .. } => made.hint(
            "a card that turned read-only by itself is often at its end; check the lock switch of \
             its adapter first",
        ),
        OpenError::NoSpace { .. } => made.hint("free some room, or name another directory"),
        _ => made,
    }
}

fn header(job: &Job<'_>, plan: &Plan, mut record: Record) -> Record {
    record.method = Some(METHOD);
    record.tool = Some(Tool {
        name: "cardmark".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: None,
    });
    record.suite = Some(plan.suite_ref.clone());
    record.seed = Some(format!("{:016x}", plan.seed));
    record.labels = job.labels.iter().cloned().collect();
    record
}

fn target(kind: TargetKind, plan: &Plan) -> Target {
    Target {
        kind,
        layers: Vec::new(),
        filesystem: None,
        span_bytes: plan.suite.file_bytes,
        free_bytes: None,
        direct: None,
        mount_options: Vec::new(),
        nocow: None,
        named_file: None,
        payload_rate_bytes_per_s: None,
    }
}

/// What the way the target was opened says about every figure.
fn about_target(direct: bool, kind: TargetKind, is_laid_out: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !direct {
        findings.push(Finding::new(
            FindingKind::Buffered,
            Severity::Warning,
            "the filesystem refuses direct I/O: the page cache stands between, and figures for \
             writing are partly those of memory",
        ));
    }
    if kind == TargetKind::Device && !is_laid_out {
        findings.push(Finding::new(
            FindingKind::UnwrittenSpan,
            Severity::Note,
            "the span was not written by this run: blocks never written may be answered faster \
             than stored ones",
        ));
    }
    findings
}

fn threads(backend: &RealBackend) -> Option<Finding> {
    backend.used_threads().then(|| {
        let detail = match backend.uring_refusal() {
            Some(errno) => format!("io_uring was refused with error {errno}; threads stood in"),
            None => "io_uring is not offered here; threads stood in".to_owned(),
        };
        Finding::new(FindingKind::Threads, Severity::Note, detail)
    })
}

/// Whether the wall clock stepped while `elapsed` went by on the monotonic one.
fn clock_step(before: SystemTime, after: SystemTime, elapsed: Duration) -> Option<Finding> {
    let expected = before.checked_add(elapsed)?;
    let (step, sign) = match after.duration_since(expected) {
        Ok(ahead) => (ahead, "forward"),
        Err(behind) => (behind.duration(), "back"),
    };
    (step > STEP).then(|| {
        let seconds = step.as_secs();
        let detail = format!(
            "the wall clock stepped {sign} by {seconds} s during the run; spans are measured on \
             the monotonic clock, only the start time may be off"
        );
        Finding::new(FindingKind::ClockStepped, Severity::Note, detail)
    })
}

/// Now, RFC 3339, UTC, whole seconds.
pub(crate) fn now_text() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second())
        .unwrap_or(now)
        .to_string()
}

/// The limit for an answer, nanoseconds.
pub(crate) fn limit_ns(seconds: u64) -> u64 {
    seconds.saturating_mul(SECOND_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stepping_wall_clock_is_told_either_way_and_drift_is_not() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let minute = Duration::from_secs(60);
        let step = |after: SystemTime| clock_step(start, after, minute).map(|f| f.detail);
        assert_eq!(step(start + minute), None);
        assert_eq!(step(start + minute + Duration::from_secs(1)), None);
        let ahead = step(start + Duration::from_secs(3660)).unwrap();
        assert!(ahead.contains("stepped forward by 3600 s"), "{ahead}");
        let back = step(start - Duration::from_secs(3540)).unwrap();
        assert!(back.contains("stepped back by 3600 s"), "{back}");
    }
}
