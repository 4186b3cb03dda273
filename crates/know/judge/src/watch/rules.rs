//! What a look shows: states that hold, and things that happened since the last one.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_core::{DiskLook, FilesystemLook, Health, KernelFault, LogCount, Look};

use super::kept::{EventKind, Kept, KeptDisk, KeptFilesystem, Moment};
use super::pairs::Pair;
use super::written::Start;

/// Highest share of its rated life that is not over, percent. The last step of eMMC is 110.
pub(crate) const RATED_LIFE_PERCENT: u32 = 100;
/// A warning that passes, and is no sign of wear.
const HOT: &str = "temperature";

/// Something that a look shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sight {
    pub(super) kind: EventKind,
    pub(super) of: String,
    /// First and last time.
    pub(super) since: Moment,
    pub(super) last: Moment,
    /// Number of times since the last look; `None`: a state that holds.
    pub(super) count: Option<u64>,
    pub(super) faults: BTreeMap<KernelFault, u64>,
    pub(super) detail: Option<String>,
}

impl Sight {
    pub(super) fn new(kind: EventKind, of: &str, since: Moment) -> Self {
        Self {
            kind,
            of: of.to_owned(),
            since,
            last: since,
            count: None,
            faults: BTreeMap::new(),
            detail: None,
        }
    }

    fn counted(self, count: u64, last: Moment) -> Option<Self> {
        (count > 0).then_some(Self {
            count: Some(count),
            last,
            ..self
        })
    }
}

/// What a rule may use.
pub(super) struct Scene<'a> {
    pub(super) kept: &'a Kept,
    pub(super) look: &'a Look,
    pub(super) pairs: &'a [Pair<'a>],
    pub(super) start: Start,
    /// True if the disk is another one, so that earlier lines and states are not about it.
    pub(super) is_other_disk: bool,
    /// True if there was no look before.
    pub(super) is_first: bool,
}

impl Scene<'_> {
    /// Between the last look and this one.
    pub(super) fn since_last_look(&self) -> Moment {
        let at_s = self.look.at_s;
        Moment {
            after_s: self.kept.at_s.filter(|before| Some(*before) <= at_s),
            by_s: at_s,
        }
    }

    /// Time of day of a time since the start of the system.
    fn time_of(&self, us: u64) -> Option<u64> {
        let started_s = self.look.at_s?.checked_sub(self.look.uptime_s?)?;
        Some((started_s + us / 1_000_000).min(self.look.at_s?))
    }

    fn counts(&self) -> impl Iterator<Item = &LogCount> {
        let is_new_disk = self.is_other_disk || self.is_first;
        let counts = self.look.log.counts.iter();
        counts.filter(move |count| !(is_new_disk && count.is_before))
    }

    /// A sight of lines of these kinds; `None` without any.
    fn logged(
        &self,
        kind: EventKind,
        of: &str,
        faults: &[KernelFault],
        is_meant: &dyn Fn(&LogCount) -> bool,
    ) -> Option<Sight> {
        let mut found = BTreeMap::<KernelFault, u64>::new();
        let (mut first, mut last) = (u64::MAX, 0);
        let counts = self.counts().filter(|count| is_meant(count));
        for count in counts.filter(|count| faults.contains(&count.fault)) {
            *found.entry(count.fault).or_default() += count.count;
            first = first.min(count.first_us);
            last = last.max(count.last_us);
        }
        let all: u64 = found.values().sum();
        let since = Moment::at(self.time_of(first));
        let sight = Sight::new(kind, of, since).counted(all, Moment::at(self.time_of(last)))?;
        Some(Sight {
            faults: found,
            ..sight
        })
    }

    fn before(&self, filesystem: &FilesystemLook) -> Option<&KeptFilesystem> {
        let key = key_of(filesystem).0;
        let mut known = self.kept.filesystems.iter();
        known
            .find(|one| one.key == key)
            .filter(|_| !self.is_other_disk)
    }

    /// Returns everything that the look shows, but for the change of a disk.
    pub(super) fn sights(&self) -> Vec<Sight> {
        let look = self.look;
        let disk = look.disks.first().map_or("", |disk| disk.name.as_str());
        let mut sights = Vec::new();
        sights.extend(
            look.filesystems
                .iter()
                .filter_map(|one| self.read_only(one)),
        );
        sights.extend(self.failed());
        sights.extend(self.damage());
        for pair in self.pairs {
            sights.extend(self.health(pair.disk, pair.known()));
        }
        sights.extend(self.under_voltage());
        let others = [KernelFault::Link, KernelFault::Data];
        sights.extend(self.logged(EventKind::LinkTrouble, disk, &others, &|_| true));
        sights
    }

    /// A filesystem is read-only although it should not be: the kernel stopped it, `/etc/fstab` wants it writable, or it was writable in
    /// this run of the system and nothing says that it should not be.
    fn read_only(&self, filesystem: &FilesystemLook) -> Option<Sight> {
        if !filesystem.is_read_only {
            return None;
        }
        let before = self.before(filesystem);
        let is_same = self.start == Start::Same;
        let was_writable = before.is_some_and(|before| before.was_writable);
        let has_fallen = was_writable && is_same && filesystem.stated_writable != Some(false);
        let is_wrong =
            filesystem.is_stopped || filesystem.stated_writable == Some(true) || has_fallen;
        let mut all = self.look.filesystems.iter().filter(|one| one.is_read_only);
        let is_only = all.next().is_some() && all.next().is_none();
        let logged = self.logged(EventKind::ReadOnly, "", &[KernelFault::ReadOnly], &|_| true);
        let since = match (logged.filter(|_| is_only), was_writable) {
            (Some(logged), _) => logged.since,
            (_, true) => self.since_last_look(),
            (_, false) => Moment {
                after_s: None,
                by_s: self.look.at_s,
            },
        };
        is_wrong.then(|| Sight::new(EventKind::ReadOnly, &filesystem.point, since))
    }

    /// Lines of the block layer about failed operations, by disk. Lines that name none count if there are no others.
    fn failed(&self) -> Vec<Sight> {
        use KernelFault::{Flush, Operation, Read, Write};
        let kind = EventKind::FailedOperations;
        let disks: BTreeSet<&str> = self.counts().map(|count| self.disk_of(&count.of)).collect();
        let failed = disks.into_iter().filter_map(|disk| {
            let is_of = |count: &LogCount| self.disk_of(&count.of) == disk;
            self.logged(kind, disk, &[Read, Write, Flush], &is_of)
                .or_else(|| self.logged(kind, disk, &[Operation], &is_of))
        });
        failed.collect()
    }

    /// The disk that a device is a part of; itself if it is none of these.
    fn disk_of<'b>(&'b self, device: &'b str) -> &'b str {
        let mut disks = self.look.disks.iter().map(|disk| disk.name.as_str());
        disks
            .find(|disk| device.starts_with(*disk))
            .unwrap_or(device)
    }

    /// Errors that filesystems counted on the disk, and lines of the kernel's log about those that do not count.
    fn damage(&self) -> Vec<Sight> {
        let counted = |filesystem: &FilesystemLook| {
            let count = filesystem.errors_count?;
            let before = self.before(filesystem).and_then(|one| one.errors_count);
            // A check of the filesystem sets the count to zero.
            let new = count.checked_sub(before.unwrap_or(0)).unwrap_or(count);
            let since = match before {
                None | Some(0) => Moment::at(filesystem.first_error_s),
                Some(_) => Moment::at(filesystem.last_error_s),
            };
            let since = match since.by_s {
                Some(_) => since,
                None => self.since_last_look(),
            };
            let sight = Sight::new(EventKind::FilesystemErrors, &filesystem.point, since);
            let last = filesystem.last_error_s;
            sight.counted(new, last.map_or(since, |last| Moment::at(Some(last))))
        };
        let mut sights: Vec<Sight> = self.look.filesystems.iter().filter_map(counted).collect();
        let kinds = [KernelFault::Filesystem, KernelFault::ReadOnly];
        let devices: BTreeSet<&str> = self.counts().map(|count| count.of.as_str()).collect();
        for device in devices {
            let mut all = self.look.filesystems.iter();
            let filesystem = all.find(|one| one.device == device);
            if filesystem.is_none_or(|one| one.errors_count.is_none()) {
                let of = filesystem.map_or(device, |one| one.point.as_str());
                let is_of = |count: &LogCount| count.of == device;
                sights.extend(self.logged(EventKind::FilesystemErrors, of, &kinds, &is_of));
            }
        }
        sights
    }

    fn health(&self, disk: &DiskLook, before: Option<&KeptDisk>) -> Vec<Sight> {
        let Some(health) = &disk.health else {
            return Vec::new();
        };
        let since = match before {
            Some(_) => self.since_last_look(),
            None => Moment {
                after_s: None,
                by_s: self.look.at_s,
            },
        };
        let sight = |kind| Sight::new(kind, &disk.name, since);
        let mut sights = Vec::new();
        let is_over = health
            .used_percent
            .is_some_and(|used| used > RATED_LIFE_PERCENT);
        sights.extend(is_over.then(|| sight(EventKind::LifeOver)));
        sights.extend(lasting_warnings(health).map(|detail| Sight {
            detail: Some(detail),
            ..sight(EventKind::DiskWarning)
        }));
        if let Some(count) = health.media_errors_count {
            let known = before.and_then(|before| before.media_errors_count);
            let new = count.saturating_sub(known.unwrap_or(0));
            sights.extend(sight(EventKind::MediaErrors).counted(new, since));
        }
        sights
    }

    fn under_voltage(&self) -> Option<Sight> {
        let power = &self.look.power;
        let has_been = power.was_low == Some(true) || power.is_low == Some(true);
        let started_s = self.time_of(0);
        let since = Moment {
            after_s: match self.start {
                Start::Same => self.kept.at_s.max(started_s),
                Start::Other | Start::Unknown => started_s,
            },
            by_s: self.look.at_s,
        };
        has_been.then(|| Sight::new(EventKind::UnderVoltage, "", since))
    }

    /// Returns whether a state of this kind has ended: the look shows its opposite.
    pub(super) fn shows_end(&self, kind: EventKind, of: &str) -> bool {
        let disk = || self.look.disks.iter().find(|disk| disk.name == of);
        let health = || disk().and_then(|disk| disk.health.as_ref());
        match kind {
            EventKind::ReadOnly => {
                let mut all = self.look.filesystems.iter();
                all.any(|one| one.point == of && !one.is_read_only)
            }
            EventKind::DiskWarning => {
                health().is_some_and(|health| lasting_warnings(health).is_none())
            }
            // It is about one run of the system. Only the firmware's flags can tell within it that there was none.
            EventKind::UnderVoltage => {
                let power = &self.look.power;
                let is_seen = power.is_low == Some(true) || power.was_low == Some(true);
                !is_seen && (power.was_low.is_some() || self.start == Start::Other)
            }
            _ => false,
        }
    }
}

/// Key of a filesystem, and whether it is its own id. Without one, its mount point: the kernel's names of devices change.
pub(super) fn key_of(filesystem: &FilesystemLook) -> (&str, bool) {
    match &filesystem.id {
        Some(id) => (id.as_str(), true),
        None => (filesystem.point.as_str(), false),
    }
}

/// Warnings of a disk about its wear.
fn lasting_warnings(health: &Health) -> Option<String> {
    let warnings = health.warnings.iter();
    let lasting: Vec<&str> = warnings
        .map(String::as_str)
        .filter(|warning| !warning.starts_with(HOT))
        .collect();
    (!lasting.is_empty()).then(|| lasting.join(", "))
}
