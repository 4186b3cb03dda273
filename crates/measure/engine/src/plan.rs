//! The planner: from a request to the workloads to run.

use cardmark_core::{
    Object, Order, Passes, Start, Suite, SuiteRef, TargetKind, TargetNeed, Workload,
};

use crate::long;
use crate::request::{PlanError, Request, TargetRoom};
use crate::tiers::{at_tier, preconditions};

/// Everything that a run will do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The suite the plan was made from.
    pub suite: Suite,
    /// The suite's name, and the names of the requested workloads unless all were requested.
    pub suite_ref: SuiteRef,
    /// Workload that lays out the file; absent if nothing is written.
    pub layout: Option<Workload>,
    /// Workloads to measure, in order.
    pub workloads: Vec<Workload>,
    /// Names of requested workloads that have no object on this target.
    pub absent: Vec<String>,
    /// Seed of offsets and payload.
    pub seed: u64,
    /// Latency after which the device counts as not answering, nanoseconds.
    pub limit_ns: u64,
}

/// Makes the plan for a target.
///
/// # Errors
/// If the request cannot be fulfilled on such a target.
pub fn make_plan(suite: &Suite, request: &Request, place: TargetRoom) -> Result<Plan, PlanError> {
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
            digest: suite.digest.clone(),
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

/// Returns the workloads of a list that create the file for the requested ones; they are run too, but without
/// figures. A device needs none.
fn files_before<'a>(suite: &'a Suite, request: &Request, place: TargetRoom) -> Vec<&'a String> {
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

/// Checks the request before looking at individual workloads.
fn check(suite: &Suite, request: &Request, place: TargetRoom) -> Result<(), PlanError> {
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

/// Returns the suite with the requested number of passes.
fn with_passes(suite: &Suite, request: &Request) -> Result<Suite, PlanError> {
    let mut suite = suite.clone();
    match (request.passes_count, suite.passes) {
        (None, _) => {}
        (Some(count), Some(Passes::Count(_))) => suite.passes = Some(Passes::Count(count)),
        (Some(_), _) => return Err(PlanError::OwnPasses { suite: suite.name }),
    }
    Ok(suite)
}

/// Returns the workload with its spans limited to the size of its object; `None` if the object does not
/// exist, or if this version does not know the workload.
fn resolved(workload: &Workload, place: TargetRoom, suite: &Suite) -> Option<Workload> {
    if !workload.is_known() {
        return None;
    }
    let object_bytes = match (workload.manner.object, place.kind) {
        (Object::Disk, _) => place.disk_bytes?,
        (Object::Target, TargetKind::Directory) => suite.file_bytes,
        (Object::Target, _) => place.usable_bytes,
        (Object::Other(_), _) => return None,
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
    /// Returns the layout's trial: the layout workload cut to an equal share of the file, without ramp.
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
