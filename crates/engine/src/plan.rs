//! The planner: from what was asked to what will be done.

use cardmark_core::{
    Object, Order, Passes, Start, Suite, SuiteRef, TargetKind, TargetNeed, Workload,
};
use thiserror::Error;

use crate::long;
use crate::tiers::{Units, at_tier, preconditions};

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The workloads asked for; empty: all of the suite.
    pub only: Vec<String>,
    /// Whether nothing may be written.
    pub read_only: bool,
    /// Seed of offsets and payload.
    pub seed: u64,
    /// Latency after which the device counts as not answering, nanoseconds.
    pub limit_ns: u64,
    /// How often a suite that is a list is run through; absent: as often as it says.
    pub passes_count: Option<u32>,
    /// How thoroughly a suite with tiers is run; absent: as fits the target.
    pub tier: Option<String>,
    /// Most bytes of a series of writes that goes on until its rate has settled, in place of the
    /// suite's limits of bytes and time; absent: these.
    pub most_bytes: Option<u64>,
}

/// Where it will be done.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// What kind of target it is.
    pub kind: TargetKind,
    /// Bytes that may be used of it.
    pub usable_bytes: u64,
    /// Size of the disk below, bytes; absent where there is none, or more than one.
    pub disk_bytes: Option<u64>,
    /// What the card's registers tell of its units.
    pub units: Units,
}

impl Place {
    /// A target that is its own disk: a device or a simulated card.
    #[must_use]
    pub fn disk(kind: TargetKind, size_bytes: u64) -> Self {
        Self {
            kind,
            usable_bytes: size_bytes,
            disk_bytes: Some(size_bytes),
            units: Units::default(),
        }
    }

    /// The same target, whose card has these units.
    #[must_use]
    pub fn with_units(self, units: Units) -> Self {
        Self { units, ..self }
    }
}

/// What will be done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The suite the plan was made from.
    pub suite: Suite,
    /// The suite's name, and the workloads asked for where not all were.
    pub suite_ref: SuiteRef,
    /// The workload that lays out the file; absent where nothing is written.
    pub layout: Option<Workload>,
    /// The workloads to measure, in order.
    pub workloads: Vec<Workload>,
    /// Names of the workloads asked for that have nothing to work on here.
    pub absent: Vec<String>,
    /// Seed of offsets and payload.
    pub seed: u64,
    /// Latency after which the device counts as not answering, nanoseconds.
    pub limit_ns: u64,
}

/// Why there is nothing to plan.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PlanError {
    /// A workload asked for is not in the suite.
    #[error("no workload `{id}` in suite `{suite}`; it has {known}")]
    UnknownWorkload {
        /// What was asked for.
        id: String,
        /// The suite.
        suite: String,
        /// What there is.
        known: String,
    },
    /// All that was asked for writes, and nothing may be written.
    #[error("nothing is left to measure without writing")]
    NothingToRead,
    /// A directory holds nothing of ours that could be read.
    #[error("a directory cannot be measured without writing a file to read")]
    ReadOnlyDirectory,
    /// The suite is of another kind of target.
    #[error("suite `{suite}` works on {wants}")]
    WrongTarget {
        /// The suite.
        suite: String,
        /// What it works on.
        wants: &'static str,
    },
    /// The suite works on files, and there are none on such a target.
    #[error("suite `{suite}` works on files in a directory, not below the filesystem")]
    NoFilesystem {
        /// The suite.
        suite: String,
        /// What the target is.
        kind: TargetKind,
    },
    /// The suite is no list that could be run through several times.
    #[error("suite `{suite}` decides itself how often it measures")]
    OwnPasses {
        /// The suite.
        suite: String,
    },
    /// The suite has no series of writes that a limit of bytes could end.
    #[error("suite `{suite}` does not write until its rate has settled")]
    NoByteLimit {
        /// The suite.
        suite: String,
    },
    /// The suite brings its target into a known state first, which writes.
    #[error("suite `{suite}` writes before it reads")]
    WritesFirst {
        /// The suite.
        suite: String,
    },
    /// The suite is not run in such a tier.
    #[error("suite `{suite}` has no tier `{tier}`; it has {known}")]
    UnknownTier {
        /// The suite.
        suite: String,
        /// What was asked for.
        tier: String,
        /// What there is.
        known: String,
    },
    /// The target is smaller than the suite's file.
    #[error("the target has {has_bytes} bytes, suite `{suite}` needs {needs_bytes}")]
    TooSmall {
        /// The suite.
        suite: String,
        /// Bytes that are there.
        has_bytes: u64,
        /// Bytes that are needed.
        needs_bytes: u64,
    },
}

impl Request {
    /// Whether anything would be written on a device.
    #[must_use]
    pub fn writes(&self, suite: &Suite) -> bool {
        let is_asked = |w: &&Workload| self.only.is_empty() || self.only.contains(&w.id);
        let has_writing = suite
            .workloads
            .iter()
            .filter(is_asked)
            .any(Workload::writes);
        let is_prepared = !suite.layout.is_empty() || suite.is_preconditioned();
        !self.read_only && (has_writing || is_prepared)
    }
}

/// Makes the plan for a target.
///
/// # Errors
/// When the request cannot be fulfilled on such a target.
pub fn make_plan(suite: &Suite, request: &Request, place: Place) -> Result<Plan, PlanError> {
    let (suite, tier) = at_tier(suite.clone(), request, place)?;
    let suite = long::adapted(suite, request, place)?;
    check(&suite, request, place)?;
    let suite = with_passes(&suite, request)?;
    let is_asked = |id: &String| request.only.is_empty() || request.only.contains(id);
    let before = files_before(&suite, request, place);
    let wanted = suite
        .workloads
        .iter()
        .filter(|w| is_asked(&w.id) || before.contains(&&w.id));
    let mut absent = Vec::new();
    let mut workloads = Vec::new();
    for workload in wanted.filter(|w| !(request.read_only && w.writes())) {
        match resolved(workload, place, &suite) {
            Some(resolved) => workloads.push(resolved),
            None => absent.push(workload.id.clone()),
        }
    }
    if workloads.is_empty() && absent.is_empty() {
        return Err(PlanError::NothingToRead);
    }
    let layout = (!request.read_only)
        .then(|| suite.workload(&suite.layout).cloned())
        .flatten();
    let ids = workloads.iter().map(|w| &w.id).chain(&absent);
    let only: Vec<String> = ids.filter(|id| is_asked(id)).cloned().collect();
    Ok(Plan {
        suite_ref: SuiteRef {
            name: suite.name.clone(),
            version: suite.version,
            only: if only.len() == suite.workloads.len() {
                Vec::new()
            } else {
                only
            },
            tier,
        },
        layout,
        workloads,
        absent,
        seed: request.seed,
        limit_ns: request.limit_ns,
        suite,
    })
}

/// The workloads of a list that make the file for those that were asked for; they are run too, but
/// yield no figures. A device needs none.
fn files_before<'a>(suite: &'a Suite, request: &Request, place: Place) -> Vec<&'a String> {
    if suite.is_preconditioned() {
        return preconditions(suite, &request.only);
    }
    if suite.passes.is_none() || place.kind == TargetKind::Device {
        return Vec::new();
    }
    let makes_file = |w: &&Workload| w.manner.start != Start::Kept;
    let needs_file = |w: &Workload| {
        let is_kept = w.manner.start == Start::Kept && w.manner.object == Object::Target;
        is_kept && request.only.contains(&w.id)
    };
    let all = &suite.workloads;
    (0..all.len())
        .filter(|&index| needs_file(&all[index]))
        .filter_map(|index| all[..index].iter().rev().find(makes_file))
        .map(|workload| &workload.id)
        .collect()
}

/// What can be said before any workload is looked at.
fn check(suite: &Suite, request: &Request, place: Place) -> Result<(), PlanError> {
    let is_directory = place.kind == TargetKind::Directory;
    let wrong = |wants| {
        Err(PlanError::WrongTarget {
            suite: suite.name.clone(),
            wants,
        })
    };
    match suite.needs {
        needs if needs.is_met_by(place.kind) => {}
        TargetNeed::Device => return wrong("a whole block device"),
        TargetNeed::Any | TargetNeed::Directory => return wrong("files in a directory"),
        TargetNeed::Filesystem => {
            return Err(PlanError::NoFilesystem {
                suite: suite.name.clone(),
                kind: place.kind,
            });
        }
    }
    if is_directory && request.read_only {
        return Err(PlanError::ReadOnlyDirectory);
    }
    if request.read_only && suite.is_preconditioned() {
        return Err(PlanError::WritesFirst {
            suite: suite.name.clone(),
        });
    }
    if place.usable_bytes < suite.file_bytes {
        return Err(PlanError::TooSmall {
            suite: suite.name.clone(),
            has_bytes: place.usable_bytes,
            needs_bytes: suite.file_bytes,
        });
    }
    let missing = request.only.iter().find(|id| suite.workload(id).is_none());
    missing.map_or(Ok(()), |id| Err(unknown(suite, id)))
}

/// The suite, run through as often as was asked.
fn with_passes(suite: &Suite, request: &Request) -> Result<Suite, PlanError> {
    let mut suite = suite.clone();
    match (request.passes_count, suite.passes) {
        (None, _) => {}
        (Some(count), Some(Passes::Count(_))) => suite.passes = Some(Passes::Count(count)),
        (Some(_), _) => return Err(PlanError::OwnPasses { suite: suite.name }),
    }
    Ok(suite)
}

/// The workload with its spans as large as its object; `None` where that is not there.
fn resolved(workload: &Workload, place: Place, suite: &Suite) -> Option<Workload> {
    let object_bytes = match (workload.manner.object, place.kind) {
        (Object::Disk, _) => place.disk_bytes?,
        (Object::Target, TargetKind::Directory) => suite.file_bytes,
        (Object::Target, _) => place.usable_bytes,
    };
    let mut workload = workload.clone();
    let whole_bytes = object_bytes - object_bytes % workload.block_bytes;
    if workload.span_bytes == 0 || workload.span_bytes > object_bytes {
        workload.span_bytes = whole_bytes;
    }
    if let Some(most) = &mut workload.stop.most_bytes
        && workload.stop.settled_span_ns.is_none()
        && !workload.rounds.once
        && workload.stop.refill.is_none()
        && (*most == 0 || *most > workload.span_bytes)
    {
        *most = workload.span_bytes;
    }
    (workload.span_bytes > 0).then_some(workload)
}

fn unknown(suite: &Suite, id: &str) -> PlanError {
    let known: Vec<&str> = suite.workloads.iter().map(|w| w.id.as_str()).collect();
    PlanError::UnknownWorkload {
        id: id.to_owned(),
        suite: suite.name.clone(),
        known: known.join(", "),
    }
}

impl Plan {
    /// The layout's trials: the layout workload cut to an equal share of the file, without ramp.
    #[must_use]
    pub fn layout_trial(&self) -> Option<Workload> {
        let share = self.suite.file_bytes / u64::from(self.suite.layout_trials_count.max(1));
        self.layout.clone().map(|mut workload| {
            debug_assert_eq!(workload.order, Order::Sequential);
            workload.ramp_ns = 0;
            workload.stop.most_bytes = Some(share);
            workload.stop.cap_bytes = None;
            workload
        })
    }
}
