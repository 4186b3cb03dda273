//! The disks of a look, each with what is known of it.

use cardmark_core::{DiskLook, Look};

use super::identity::{Identity, Sameness};
use super::kept::{EventKind, Kept, KeptDisk};

/// A disk, and the one that was in its place.
pub(super) struct Pair<'a> {
    pub(super) disk: &'a DiskLook,
    pub(super) kept: Option<&'a KeptDisk>,
    /// Kind of the event if it is not the same one.
    pub(super) change: Option<EventKind>,
}

impl<'a> Pair<'a> {
    /// What is known of the disk itself.
    pub(super) fn known(&self) -> Option<&'a KeptDisk> {
        self.kept.filter(|_| self.change.is_none())
    }
}

/// Returns the disks that have a medium. The kernel's names may change at each start of the system, so that numbers of disks count
/// first, names only for disks that are alike.
pub(super) fn pairs<'a>(kept: &'a Kept, look: &'a Look) -> Vec<Pair<'a>> {
    let mut left: Vec<&KeptDisk> = kept.disks.iter().collect();
    let with_medium = look.disks.iter().filter(|disk| disk.size_bytes.is_some());
    let mut pairs: Vec<Pair<'a>> = with_medium
        .map(|disk| Pair {
            disk,
            kept: None,
            change: None,
        })
        .collect();
    let tests: [fn(&DiskLook, &KeptDisk) -> bool; 3] = [
        |disk, kept| disk.id.is_some() && disk.id == kept.identity.id && is_same(disk, kept),
        |disk, kept| disk.name == kept.name && is_same(disk, kept),
        is_same,
    ];
    for test in tests {
        for pair in pairs.iter_mut().filter(|pair| pair.kept.is_none()) {
            let found = left.iter().position(|kept| test(pair.disk, kept));
            pair.kept = found.map(|at| left.remove(at));
        }
    }
    for pair in pairs.iter_mut().filter(|pair| pair.kept.is_none()) {
        let former = (!left.is_empty()).then(|| left.remove(0));
        pair.kept = former;
        pair.change = former.map(|kept| match compared(pair.disk, kept) {
            Sameness::Other => EventKind::AnotherCard,
            Sameness::Same | Sameness::Unclear => EventKind::PerhapsAnother,
        });
    }
    pairs
}

fn compared(disk: &DiskLook, kept: &KeptDisk) -> Sameness {
    kept.identity.compare(&Identity::of(disk))
}

fn is_same(disk: &DiskLook, kept: &KeptDisk) -> bool {
    compared(disk, kept) == Sameness::Same
}
