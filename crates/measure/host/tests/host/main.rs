//! The readers on fixture trees of boards, and on this machine.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests stand outside the tests"
)]

mod cards;
mod facts;
mod hostile;
mod identity;
mod layers;
mod looks;
mod machine;
mod places;
mod planted;
mod readers;
mod sensors;
mod stacks;
mod targets;
mod usage;

use std::path::Path;

use cardmark_core::{FindingKind, name_of};
use cardmark_host::{Resolution, Root, Use, loop_backing_by_path, resolve, usage as usage_of};

/// Resolves a path that must be a target.
fn resolved(root: &Root, path: &str) -> Resolution {
    resolve(root, Path::new(path)).unwrap()
}

/// Returns the uses of a device; files below loop devices are found by their paths.
fn used(root: &Root, name: &str) -> Vec<Use> {
    usage_of(root, name, &|device| loop_backing_by_path(root, device))
}

/// The layers as text, such as `mount`, `partition mmcblk0p2`, `disk mmcblk0`.
fn layers(resolution: &Resolution) -> Vec<String> {
    let text = |layer: &cardmark_core::Layer| match &layer.device {
        Some(device) => format!("{} {device}", name_of(&layer.kind)),
        None => name_of(&layer.kind),
    };
    resolution.layers.iter().map(text).collect()
}

fn disks(resolution: &Resolution) -> Vec<&str> {
    resolution
        .disks
        .iter()
        .map(|disk| disk.name.as_str())
        .collect()
}

fn finds(resolution: &Resolution, kind: FindingKind) -> bool {
    resolution
        .findings
        .iter()
        .any(|finding| finding.kind == kind)
}

/// The rule of all rules: not knowing means a finding, no counters and no disk.
fn assert_unknown(resolution: &Resolution) {
    assert!(
        finds(resolution, FindingKind::UnknownDevice),
        "{resolution:?}"
    );
    assert!(resolution.counted.is_empty(), "{resolution:?}");
    assert!(resolution.disks.is_empty(), "{resolution:?}");
}
