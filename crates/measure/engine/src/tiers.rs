//! Tiers of a suite: from the requested extent of a procedure to sizes and positions of workloads.

use cardmark_core::{Region, Rng, Start, Suite, TargetKind, Tier, TierPart, Workload};

use crate::request::{PlanError, Request, TargetRoom, Units};

/// Minimum alignment of drawn regions, bytes.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Returns the suite in the requested tier, and the tier's name; a suite without tiers is unchanged.
pub(crate) fn at_tier(
    suite: Suite,
    request: &Request,
    place: TargetRoom,
) -> Result<(Suite, Option<String>), PlanError> {
    if suite.tiers.is_empty() && request.tier.is_none() {
        return Ok((suite, None));
    }
    let tier = chosen(&suite, request, place)?.clone();
    let object_bytes = match place.kind {
        TargetKind::Directory => tier.file_bytes,
        _ => place.usable_bytes,
    };
    let mut workloads: Vec<Workload> = tier
        .parts
        .iter()
        .filter_map(|part| Some((part, suite.workload(&part.workload)?)))
        .map(|(part, workload)| sized(workload, part, object_bytes, place.units))
        .collect();
    set_regions(&mut workloads, object_bytes, request.seed);
    let at = Suite {
        file_bytes: tier.file_bytes,
        needs: tier.needs,
        workloads,
        ..suite
    };
    Ok((at, Some(tier.name)))
}

/// Returns the requested tier, or the first that fits the target.
fn chosen<'a>(
    suite: &'a Suite,
    request: &Request,
    place: TargetRoom,
) -> Result<&'a Tier, PlanError> {
    let Some(name) = &request.tier else {
        let mut tiers = suite.tiers.iter();
        let found = tiers.find(|tier| tier.needs.is_met_by(place.kind));
        return found.ok_or_else(|| unknown(suite, "for this target"));
    };
    suite.tier(name).ok_or_else(|| unknown(suite, name))
}

fn unknown(suite: &Suite, tier: &str) -> PlanError {
    let known: Vec<&str> = suite.tiers.iter().map(|tier| tier.name.as_str()).collect();
    PlanError::UnknownTier {
        suite: suite.name.clone(),
        tier: tier.to_owned(),
        known: if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        },
    }
}

/// Returns a workload with the size and duration of the tier, and with the card's own windows.
fn sized(workload: &Workload, part: &TierPart, object_bytes: u64, units: Units) -> Workload {
    let mut workload = workload.clone();
    let percent = u64::from(part.span_percent.unwrap_or(100));
    let share = object_bytes / 100 * percent + object_bytes % 100 * percent / 100;
    let bytes = part.span_bytes.unwrap_or(share).min(object_bytes);
    workload.span_bytes = bytes - bytes % workload.block_bytes;
    if let Some(span_ns) = part.least_span_ns {
        workload.stop.least_span_ns = span_ns;
    }
    let block_bytes = workload.block_bytes;
    let is_usable = |bytes: &u64| *bytes > 0 && bytes.is_multiple_of(block_bytes);
    let own = |asked: u64, unit: Option<u64>| match unit.filter(is_usable) {
        Some(unit) if asked > 0 => unit,
        _ => asked,
    };
    let manner = &mut workload.manner;
    manner.window_bytes = own(manner.window_bytes, units.window_bytes);
    manner.video_window_bytes = own(manner.video_window_bytes, units.video_window_bytes);
    workload
}

/// Draws the positions of the regions.
fn set_regions(workloads: &mut [Workload], object_bytes: u64, seed: u64) {
    let mut area_bytes = object_bytes;
    let mut start_bytes = 0;
    for (index, workload) in workloads.iter_mut().enumerate() {
        if workload.manner.start != Start::Kept {
            area_bytes = object_bytes;
        }
        let step_bytes = match workload.manner.region {
            Region::Front => {
                (area_bytes, start_bytes) = (workload.span_bytes, 0);
                continue;
            }
            Region::Same | Region::Other(_) => {
                workload.manner.start_bytes = start_bytes;
                continue;
            }
            Region::Drawn => PAGE_BYTES,
            Region::DrawnAligned => aligned_step(workload),
        };
        let room_bytes = area_bytes.saturating_sub(workload.span_bytes);
        let mut rng = Rng::for_part(seed, "region", index as u64);
        start_bytes = step_bytes * rng.below(room_bytes / step_bytes + 1);
        workload.manner.start_bytes = start_bytes;
    }
}

/// Least common multiple of all window sizes: regions begin on window boundaries.
fn aligned_step(workload: &Workload) -> u64 {
    let windows = workload.manner.windows_bytes();
    windows.fold(workload.block_bytes.max(PAGE_BYTES), common_multiple)
}

fn common_multiple(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one, other);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    one / a * other
}

/// Ids of the workloads that bring the target into the state that the requested ones need. After an
/// interruption the run starts with them again.
pub(crate) fn preconditions<'a>(suite: &'a Suite, only: &[String]) -> Vec<&'a String> {
    let all = &suite.workloads;
    // A workload without figures prepares, and so does one that begins with an empty or erased target.
    let prepares = |workload: &&Workload| {
        let is_bare = suite.figures_of(&workload.id).next().is_none();
        is_bare || workload.manner.start != Start::Kept
    };
    let asked = (0..all.len()).filter(|&index| only.contains(&all[index].id));
    asked
        .flat_map(|index| {
            let begins = |at: &usize| all[*at].manner.start != Start::Kept;
            let first = (0..=index).rev().find(begins).unwrap_or(0);
            all[first..index].iter().filter(prepares)
        })
        .map(|workload| &workload.id)
        .collect()
}
