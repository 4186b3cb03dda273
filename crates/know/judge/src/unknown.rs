//! The one rule about storage that is not known: no verdict on it.
//!
//! A figure or a test belongs to a device only if the device below the target is known. Behind an overlay whose
//! writable directory is not visible, FUSE, a network, or memory, anything may have answered.

use std::borrow::Cow;

use cardmark_core::{
    CAPACITY_RULE, Derived, FindingKind, Layer, LayerKind, Record, StorageKind, Verdict,
    VerdictOutcome,
};

/// Filesystem of the layers that the kernel passes to a program.
const FUSE: &str = "fuse";

/// Storage of a record whose device is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownStorage {
    /// What it was measured through, such as `an overlay`.
    pub through: String,
    is_overlay: bool,
    is_memory: bool,
}

impl UnknownStorage {
    /// Returns the reason why there is no verdict, as a clause.
    pub fn reason(&self) -> String {
        match self.is_memory {
            true => "measured in memory, not on storage".to_owned(),
            false => format!(
                "measured through {}; the device below is not known",
                self.through
            ),
        }
    }

    /// Returns what to name instead, as a sentence without full stop.
    pub fn advice(&self) -> &'static str {
        match self.is_overlay {
            true => {
                "Name a directory on the card, such as /boot/firmware, or the device; or turn off the overlay \
                 filesystem (`sudo raspi-config`, Performance Options) and restart"
            }
            false => "Name a directory on the card, such as /boot/firmware, or the device",
        }
    }
}

/// Returns how the storage of a record is hidden; `None` if its device is known.
pub fn unknown_storage(record: &Record) -> Option<UnknownStorage> {
    let target = record.target.as_ref();
    let layers = target.map_or(&[][..], |target| &target.layers);
    let has = |kinds: &[LayerKind]| layers.iter().any(|layer| kinds.contains(&layer.kind));
    let mut findings = record.findings.iter();
    let is_memory = has(&[LayerKind::Memory, LayerKind::Zram]);
    let is_unknown = findings.any(|finding| finding.kind == FindingKind::UnknownDevice)
        || is_memory
        || has(&[LayerKind::Network]);
    let filesystem = target.and_then(|target| target.filesystem.as_deref());
    is_unknown.then(|| UnknownStorage {
        through: through(layers, filesystem),
        is_overlay: has(&[LayerKind::Overlay]),
        is_memory,
    })
}

/// Name of the layer that hides the device: the topmost one that is not on a device itself.
fn through(layers: &[Layer], filesystem: Option<&str>) -> String {
    let mut kinds = layers.iter().map(|layer| layer.kind);
    let named = kinds.find_map(|kind| match kind {
        LayerKind::Overlay => Some("an overlay"),
        LayerKind::Network => Some("a network"),
        LayerKind::Loop => Some("a loop device"),
        LayerKind::Dm | LayerKind::Md | LayerKind::Bcache => Some("a volume"),
        _ => None,
    });
    match (named, filesystem) {
        (Some(named), _) => named.to_owned(),
        (None, Some(name)) if name.starts_with(FUSE) => "FUSE".to_owned(),
        (None, Some(name)) => name.to_owned(),
        (None, None) => "layers that hide it".to_owned(),
    }
}

/// Returns the kind of storage that an integrity test found. A test that found no fault confirms nothing if the device is
/// not known; data that was lost is lost whatever lies below.
pub fn storage_kind(record: &Record) -> Option<StorageKind> {
    let kind = record.integrity.as_ref()?.kind;
    let is_confirmation = matches!(
        kind,
        StorageKind::Confirmed | StorageKind::Readable | StorageKind::Durable
    );
    Some(match is_confirmation && unknown_storage(record).is_some() {
        true => StorageKind::UnknownDevice,
        false => kind,
    })
}

/// Returns the verdicts of a record that hold: those on storage that is not known are not testable, whatever version of
/// the program derived them.
pub fn upheld(record: &Record) -> Option<Cow<'_, Derived>> {
    let derived = record.derived.as_ref()?;
    Some(match unknown_storage(record) {
        None => Cow::Borrowed(derived),
        Some(unknown) => {
            let mut derived = derived.clone();
            withhold(&mut derived.verdicts, &unknown);
            Cow::Owned(derived)
        }
    })
}

/// Turns verdicts on the storage into `not testable`, with the reason.
pub(crate) fn withhold(verdicts: &mut [Verdict], unknown: &UnknownStorage) {
    for verdict in verdicts
        .iter_mut()
        .filter(|verdict| is_about_storage(verdict))
    {
        verdict.outcome = VerdictOutcome::NotTestable;
        verdict.score = None;
        let reason = unknown.reason();
        if !verdict.reasons.contains(&reason) {
            verdict.reasons.insert(0, reason);
        }
    }
}

/// Returns whether a verdict needs a known device. Registers are read from a device, and a capacity that is too small
/// has been seen.
fn is_about_storage(verdict: &Verdict) -> bool {
    match verdict.outcome {
        VerdictOutcome::Usual | VerdictOutcome::Unusual | VerdictOutcome::NotTestable => false,
        VerdictOutcome::Fail => verdict.rule != CAPACITY_RULE,
        _ => true,
    }
}

#[cfg(test)]
mod tests;
