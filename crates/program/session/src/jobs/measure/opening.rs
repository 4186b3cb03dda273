//! From a target to what is open, with a plan of what is done to it.

use std::path::Path;

use cardmark_core::{DeviceInfo, MIB, Suite, TargetKind, Workload};
use cardmark_device::{
    CountersSource, OpenError, OpenTarget, RealBackend, Room, TestFile, free_bytes,
    open_device_readonly, room,
};
use cardmark_engine::{Plan, PlanError, SUPPOSED_OPERATIONS_PER_S, TargetRoom, Units, make_plan};
use cardmark_host::{CounterReader, Resolution, Root};
use cardmark_report::text;
use rustix::process::{Resource, getrlimit};

use super::request::Measurement;
use crate::error::{CommandError, Exit};
use crate::gate::consent::{Intent, idle_device, permit_writing};
use crate::target::choose::refuse_memory;
use crate::voice::Voice;

/// Room left free on the filesystem beside the file, bytes: a full root filesystem harms a board.
pub(crate) const RESERVE_BYTES: u64 = 64 * MIB;

/// Opens what is to be measured, once it is clear that it can be.
pub(super) fn open(
    job: &Measurement<'_>,
    path: &Path,
    resolution: &Resolution,
) -> Result<(Plan, OpenTarget, Option<Room>), CommandError> {
    if resolution.kind == TargetKind::Device && job.request.writes(job.suite) {
        return open_for_writing(job, path, resolution);
    }
    if resolution.kind == TargetKind::Device {
        refuse_memory(path, resolution)?;
        let opened = open_device_readonly(path).map_err(|error| open_error(&error))?;
        let plan = plan(job, TargetRoom::disk(TargetKind::Device, opened.size_bytes))?;
        return Ok((plan, opened, None));
    }
    let place = match writes_long(job.suite) {
        true => quarter_of_free(path, directory(resolution))?,
        false => directory(resolution),
    };
    let plan = plan(job, place)?;
    refuse_file_limit(plan.suite.file_bytes)?;
    // Opened first, so that a read-only or closed directory is reported as such.
    let opened =
        TestFile::create(path, plan.suite.file_bytes).map_err(|error| open_error(&error))?;
    let room = has_room(path, plan.suite.file_bytes)?;
    tell_wear(
        job.session.voice,
        &plan,
        disk_below(resolution).and_then(|disk| disk.size_bytes),
    );
    tell_most(job.session.voice, &plan);
    Ok((plan, opened.into(), Some(room)))
}

/// Returns whether a file is rewritten until the rate has settled, so that any size will do.
fn writes_long(suite: &Suite) -> bool {
    let has_least = |workload: &Workload| workload.stop.least_written.is_some();
    suite.workloads.iter().any(has_least)
}

/// The same directory, of whose room at most a quarter may be used.
fn quarter_of_free(path: &Path, place: TargetRoom) -> Result<TargetRoom, CommandError> {
    let free = free_bytes(path).map_err(|error| open_error(&error))?;
    Ok(TargetRoom {
        usable_bytes: free / 4,
        ..place
    })
}

/// A directory as a place for files.
pub(super) fn directory(resolution: &Resolution) -> TargetRoom {
    TargetRoom {
        kind: TargetKind::Directory,
        usable_bytes: u64::MAX,
        disk_bytes: disk_below(resolution).and_then(|disk| disk.size_bytes),
        units: units(resolution),
    }
}

/// Checks that a directory has room for `bytes` and the reserve.
pub fn has_room(path: &Path, bytes: u64) -> Result<Room, CommandError> {
    let found = room(path).map_err(|error| open_error(&error))?;
    let (free, needed) = (found.free_bytes, bytes + RESERVE_BYTES);
    if free >= needed {
        return Ok(found);
    }
    Err(CommandError::new(
        Exit::Trouble,
        format!("not enough room in `{}`", path.display()),
    )
    .because(format!(
        "{} MiB are free; {} MiB are needed, {} MiB of it to leave the filesystem room",
        free / MIB,
        needed / MIB,
        RESERVE_BYTES / MIB
    ))
    .hint("free some room, or name a directory on another filesystem"))
}

/// Refuses files beyond the limit of this process: the kernel would end it without a word.
pub(crate) fn refuse_file_limit(bytes: u64) -> Result<(), CommandError> {
    let limit = getrlimit(Resource::Fsize).current;
    match limit.filter(|limit| *limit < bytes) {
        None => Ok(()),
        Some(limit) => Err(CommandError::new(
            Exit::Trouble,
            format!("cannot make a file of {}", text::size(bytes)),
        )
        .because(format!("files may have at most {} here", text::size(limit)))
        .hint("`ulimit -f unlimited` lifts the limit of this shell")),
    }
}

/// Size of a device; it is only opened for reading.
pub fn device_bytes(path: &Path) -> Result<u64, CommandError> {
    let opened = open_device_readonly(path).map_err(|error| open_error(&error))?;
    Ok(opened.size_bytes)
}

/// The one disk below a directory; `None` where there are several, or none is known.
fn disk_below(resolution: &Resolution) -> Option<&DeviceInfo> {
    match resolution.disks.as_slice() {
        [disk] => Some(disk),
        _ => None,
    }
}

/// The node of the one disk below a directory.
pub fn disk_path(resolution: &Resolution) -> Option<String> {
    disk_below(resolution).map(|disk| format!("/dev/{}", disk.name))
}

/// Counters of these devices of the block layer.
pub(super) fn counters(names: &[String]) -> CountersSource {
    let mut reader = CounterReader::new(&Root::system(), names);
    Box::new(move || reader.read())
}

/// Back end for the opened target, with everything else that workloads may work on.
pub(super) fn backend(
    path: &Path,
    resolution: &Resolution,
    opened: OpenTarget,
    plan: &Plan,
) -> RealBackend {
    let mut backend = RealBackend::new(opened, plan.seed, counters(&resolution.counted));
    if plan.suite.read_back_bytes > 0 {
        backend = backend.keep_in_mind(plan.suite.file_bytes);
    }
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

/// A device in use is refused before any other error is reported.
fn open_for_writing(
    job: &Measurement<'_>,
    path: &Path,
    resolution: &Resolution,
) -> Result<(Plan, OpenTarget, Option<Room>), CommandError> {
    let device = idle_device(path, resolution)?;
    let place = TargetRoom::disk(TargetKind::Device, device.size_bytes);
    let plan = plan(job, place.with_units(units(resolution)))?;
    if plan.suite.is_preconditioned() && device.name != device.disk {
        return Err(part_of_a_card(path, &device.disk));
    }
    tell_wear(job.session.voice, &plan, Some(device.size_bytes));
    tell_most(job.session.voice, &plan);
    let (what, bytes) = overwriting(&plan, device.size_bytes);
    let opened = match job.leave {
        Some(leave) => leave.open()?,
        None => {
            let intent = Intent {
                what: &what,
                bytes_to_write: bytes,
                puts_back: false,
            };
            permit_writing(job.session.voice, path, resolution, job.consent, &intent)?
        }
    };
    Ok((plan, opened, None))
}

fn part_of_a_card(path: &Path, disk: &str) -> CommandError {
    CommandError::new(
        Exit::Usage,
        format!("`{}` is a part of a card", path.display()),
    )
    .because("classes are promised of whole cards, from their first unit on")
    .hint(format!(
        "name the whole device, `/dev/{disk}`, or a directory on it"
    ))
}

/// Units of the only card below a target, if its registers have them.
fn units(resolution: &Resolution) -> Units {
    let card = disk_below(resolution).and_then(|disk| disk.card.as_ref());
    card.map_or_else(Units::default, |card| Units::of(&card.decoded))
}

/// Announces the cost of a procedure, which wears the storage more than other suites.
pub(super) fn tell_wear(voice: &dyn Voice, plan: &Plan, size_bytes: Option<u64>) {
    let settles = |workload: &Workload| workload.stop.settled_span_ns.is_some();
    if plan.suite.is_preconditioned() {
        voice.notice(&wear_text(plan, size_bytes));
    } else if plan.workloads.iter().any(settles) {
        voice.notice(&format!(
            "{} writes{}",
            plan.suite.name,
            until_settled(plan)
        ));
        if let Some(text) = expected_text(plan, size_bytes) {
            voice.notice(&text);
        }
    }
}

/// Announces the largest amount that rounds write, if known.
fn tell_most(voice: &dyn Voice, plan: &Plan) {
    if plan.layout.is_some() && plan.is_bounded() {
        voice.notice(&format!("{}{}", plan.suite.name, at_most(plan)));
    }
}

/// Largest amount that a plan writes, and its duration on an average card.
fn at_most(plan: &Plan) -> String {
    let wear = plan.wear();
    let (bytes, span) = (text::amount(wear.bytes), text::span(wear.span_ns));
    match wear.is_exact {
        true => format!(" writes {bytes} and takes about {span}"),
        false => format!(" writes {bytes} at most, far less on a card, and takes about {span}"),
    }
}

fn wear_text(plan: &Plan, size_bytes: Option<u64>) -> String {
    let wear = plan.wear();
    let share = size_bytes.map_or_else(String::new, |size_bytes| {
        let share = wear.bytes as f64 / size_bytes.max(1) as f64;
        format!(", {} of its capacity", text::percent(share))
    });
    let tier = plan.suite_ref.tier.as_deref().unwrap_or_default();
    let more = match wear.is_exact {
        true => String::new(),
        false => format!(
            "; more where more than {SUPPOSED_OPERATIONS_PER_S} small blocks a second are written"
        ),
    };
    format!(
        "{} ({tier}): about {} will be written{share}, in about {} on an average card{more}",
        plan.suite.name,
        text::amount(wear.bytes),
        text::span(wear.span_ns)
    )
}

/// Effect of a plan on a raw device, and the number of bytes that it writes, if known.
fn overwriting(plan: &Plan, size_bytes: u64) -> (String, Option<u64>) {
    let wear = plan.wear();
    let exact_bytes = wear.is_exact.then_some(wear.bytes);
    if plan.suite.is_preconditioned() {
        let what = format!("erase all of a raw device and to run {}", plan.suite.name);
        return (what, exact_bytes);
    }
    let writing = || plan.workloads.iter().filter(|workload| workload.writes());
    let spans = writing().map(|workload| workload.span_bytes);
    let reach_bytes = spans.max().unwrap_or(0).max(match plan.layout {
        Some(_) => plan.suite.file_bytes,
        None => 0,
    });
    let settles = writing().any(|workload| workload.stop.settled_span_ns.is_some());
    let part = if reach_bytes.saturating_add(MIB) > size_bytes {
        "all".to_owned()
    } else {
        format!("the first {}", text::size(reach_bytes))
    };
    let (how_often, bytes) = match (plan.layout.is_some(), writing().next().is_some()) {
        (true, true) => (
            format!(
                ": once for the layout, then again and again, {} at most, far less on a card",
                text::amount(plan.wear().bytes)
            ),
            None,
        ),
        (true, false) => (", once".to_owned(), Some(reach_bytes)),
        (false, _) if settles => (until_settled(plan), None),
        (false, _) => (String::new(), exact_bytes),
    };
    (
        format!("write over {part} of a raw device{how_often}"),
        bytes,
    )
}

/// Amount that a workload writes whose end depends on its rate, or that writes all of the storage.
fn until_settled(plan: &Plan) -> String {
    let Some(workload) = settling(plan) else {
        return String::new();
    };
    let stop = workload.stop;
    if stop.least_written.is_some_and(|least| least.is_whole()) {
        return whole(workload);
    }
    let minutes = match stop.longest_span_ns {
        Some(longest_ns) if stop.least_written.is_some() => {
            format!(" or {}", text::span(longest_ns))
        }
        _ => String::new(),
    };
    format!(
        ": from its start on until the rate has settled, some GB on a card; after a cliff again behind rests of \
         30 s and 120 s; {} in all{minutes} before the rests at most",
        text::amount(stop.most_bytes.unwrap_or(0))
    )
}

/// Amount of a series that writes all of the storage, and its limit of time.
fn whole(workload: &Workload) -> String {
    let most_bytes = workload.stop.most_bytes.unwrap_or(0);
    let again = match workload.span_bytes < most_bytes {
        true => format!(" over the same {}", text::amount(workload.span_bytes)),
        false => String::new(),
    };
    let longest_ns = workload.stop.longest_span_ns.unwrap_or(0);
    let (most, longest) = (text::amount(most_bytes), text::span(longest_ns));
    format!(
        ": from its start on {most}{again}, or for {longest}, whichever ends first; after a cliff again behind \
         rests of 30 s and 120 s, unless the {most} are written"
    )
}

/// The workload that ends when its rate has settled.
fn settling(plan: &Plan) -> Option<&Workload> {
    let mut workloads = plan.workloads.iter();
    workloads.find(|workload| workload.stop.settled_span_ns.is_some())
}

/// Expected amount and duration on an average card.
fn expected_text(plan: &Plan, size_bytes: Option<u64>) -> Option<String> {
    let stop = settling(plan)?.stop;
    let least = stop.least_written?;
    let most = stop.most_bytes.unwrap_or(u64::MAX);
    // 20 MB/s, as for all that is expected of a middling card.
    let bytes = least.bytes.max(least.span_ns / 50).min(most);
    // All of the storage was announced before.
    let size_bytes = size_bytes.filter(|_| !least.is_whole());
    let share = size_bytes.map_or_else(String::new, |size_bytes| {
        let share = bytes as f64 / size_bytes.max(1) as f64;
        format!(", {} of its capacity", text::percent(share))
    });
    let behind = match least.behind_cliff_bytes().min(most) {
        more if more > bytes && !least.is_whole() => {
            format!("; behind a cliff {}", text::amount(more))
        }
        _ => String::new(),
    };
    Some(format!(
        "expected: about {}{share}, in about {} on an average card{behind}",
        text::amount(bytes),
        text::span(bytes.saturating_mul(50))
    ))
}

pub(super) fn plan(job: &Measurement<'_>, place: TargetRoom) -> Result<Plan, CommandError> {
    make_plan(job.suite, job.request, place).map_err(|error| plan_error(&error))
}

pub(super) fn plan_error(error: &PlanError) -> CommandError {
    let made = |exit| CommandError::from_error(exit, error);
    match error {
        PlanError::UnknownWorkload { .. } => made(Exit::Usage),
        PlanError::NothingToRead => {
            made(Exit::Usage).hint("leave `--read-only` out, or ask for a workload that reads")
        }
        PlanError::ReadOnlyDirectory => made(Exit::Usage)
            .hint("leave `--read-only` out, or name the block device, such as /dev/mmcblk0"),
        PlanError::TooSmall { .. } => made(Exit::Trouble),
        PlanError::UnknownTier { .. } => made(Exit::Usage)
            .hint("only the suites of classes have tiers; without `--tier` the target decides"),
        PlanError::WritesFirst { .. } => {
            made(Exit::Usage).hint("leave `--read-only` out, or take another suite")
        }
        PlanError::WrongTarget { .. } => {
            made(Exit::Usage).hint("`cardmark list suites` shows their targets")
        }
        PlanError::NoFilesystem { kind, .. } => made(Exit::Usage).hint(match kind {
            TargetKind::Sim => {
                "`cardmark-simfs` plays a simulated card as a file, for a loop device with a \
                 filesystem; name a directory on it"
            }
            _ => "mount a filesystem of the device and name a directory on it",
        }),
        PlanError::NoLongWrite { .. } => made(Exit::Usage)
            .hint("leave `--bytes` and `--until-settled` out, or take `--suite sustained`"),
        PlanError::OwnPasses { .. } => made(Exit::Usage).hint(
            "leave `--rounds` out; dramble, raw-survey, parallel4 and pibenchmarks have rounds",
        ),
    }
}

pub(crate) fn open_error(error: &OpenError) -> CommandError {
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
