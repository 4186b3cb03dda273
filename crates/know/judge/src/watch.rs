//! Looks at a board and its storage, one after the other: what happened since the last one, and how much was written.
//!
//! A look is a set of facts ([`Look`]), the state between looks is [`Kept`]; [`seen`] is a pure function of both. Events are certain:
//! there is no event for what is only probable. A look whose state was not kept is no loss, because the next one begins where the
//! kept one ended.

mod identity;
mod kept;
mod last;
mod pairs;
pub(crate) mod rules;
pub(crate) mod writers;
pub(crate) mod written;

use cardmark_core::{DiskLook, Look};

pub use identity::Identity;
use kept::KeptFilesystem;
pub use kept::{DayBytes, Event, EventKind, Gravity, KEPT_VERSION, Kept, KeptDisk, Moment};
pub use last::{LOOK_FORMAT, LastDisk, LastLook, last_look};
use pairs::{Pair, pairs};
use rules::{Scene, Sight, key_of};
pub use written::bytes_per_day;
use written::{Start, added, span_s, spread};

/// Events that are kept.
const MOST_EVENTS: usize = 24;
/// Filesystems that are kept.
const MOST_FILESYSTEMS: usize = 12;
const DAY_S: u64 = 86_400;

/// Result of a look.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The state after the look.
    pub kept: Kept,
    /// Events that began or went on since the last kept look, the gravest first.
    pub found: Vec<Event>,
    /// Lines of the kernel's log that were overwritten before a look could read them.
    pub lost_lines_count: u64,
    /// True if the state should be kept. If only counts went on, once a day is enough.
    pub is_changed: bool,
}

/// Returns what a look shows after an earlier one.
#[must_use]
pub fn seen(kept: Option<&Kept>, look: &Look) -> Seen {
    let none = Kept {
        version: KEPT_VERSION,
        begun_s: look.at_s,
        ..Kept::default()
    };
    let before = kept.unwrap_or(&none);
    let pairs = pairs(before, look);
    let scene = Scene {
        kept: before,
        look,
        pairs: &pairs,
        start: Start::between(before, look),
        is_other_disk: pairs.iter().any(|pair| pair.change.is_some()),
        is_first: kept.is_none(),
    };
    let mut sights: Vec<Sight> = pairs
        .iter()
        .filter_map(|pair| change(&scene, pair))
        .collect();
    sights.extend(scene.sights());
    let mut events = events_before(&scene);
    let found = merge(&mut events, &sights, &scene);
    let is_open = events.iter().any(Event::is_open);
    let after = Kept {
        version: KEPT_VERSION,
        begun_s: before.begun_s.or(look.at_s),
        at_s: look.at_s,
        uptime_s: look.uptime_s,
        boot_id: look.boot_id.clone(),
        clear_since_s: before.clear_since_s.or(look.at_s).filter(|_| !is_open),
        log_next: look.log.next.or(before.log_from(look.boot_id.as_deref())),
        disks: disks_after(&scene),
        filesystems: filesystems_after(&scene),
        events,
    };
    Seen {
        is_changed: kept.is_none() || is_worth_keeping(before, &after),
        lost_lines_count: lost_lines_count(before, look),
        found,
        kept: after,
    }
}

/// Marks events as known to their owner: those of a kind, or all. Returns their number. Events that are over are forgotten.
pub fn acknowledge(kept: &mut Kept, kind: Option<EventKind>, at_s: Option<u64>) -> usize {
    let is_meant = |event: &Event| kind.is_none_or(|kind| event.kind == kind);
    let mut count = 0;
    for event in kept.events.iter_mut().filter(|event| is_meant(event)) {
        count += usize::from(!event.is_acknowledged);
        event.is_acknowledged = true;
    }
    kept.events.retain(|event| !is_past(event));
    let is_open = kept.events.iter().any(Event::is_open);
    kept.clear_since_s = kept.clear_since_s.or(at_s).filter(|_| !is_open);
    count
}

/// True for an acknowledged event that cannot go on.
fn is_past(event: &Event) -> bool {
    event.is_acknowledged && (event.until.is_some() || !event.is_state())
}

fn change(scene: &Scene<'_>, pair: &Pair<'_>) -> Option<Sight> {
    let sight = Sight::new(pair.change?, &pair.disk.name, scene.since_last_look());
    Some(Sight {
        count: Some(1),
        detail: pair.kept.and_then(|kept| kept.identity.model.clone()),
        ..sight
    })
}

/// The events of the last look, with the names that the disks have now. Another card ends all but those of the board and of disks that
/// stayed; one that is only perhaps another ends none.
fn events_before(scene: &Scene<'_>) -> Vec<Event> {
    let mut changes = scene.pairs.iter().filter_map(|pair| pair.change);
    let is_other = changes.any(|change| change == EventKind::AnotherCard);
    let events = scene.kept.events.iter();
    let after = events.filter_map(|event| {
        let is_of = |pair: &&Pair<'_>| pair.known().is_some_and(|kept| kept.name == event.of);
        let pair = scene.pairs.iter().find(is_of);
        let stays = !is_other || event.kind.is_of_board() || pair.is_some();
        stays.then(|| Event {
            of: pair.map_or_else(|| event.of.clone(), |pair| pair.disk.name.clone()),
            ..event.clone()
        })
    });
    after.collect()
}

/// Adds what was seen to the events, and returns those that are new or went on.
fn merge(events: &mut Vec<Event>, sights: &[Sight], scene: &Scene<'_>) -> Vec<Event> {
    let mut found = Vec::new();
    for sight in sights {
        let is_it = |event: &&mut Event| event.kind == sight.kind && event.of == sight.of;
        let known = events.iter_mut().find(is_it);
        match (known, sight.count) {
            (Some(event), None) if event.until.is_none() && event.detail == sight.detail => {}
            (Some(event), Some(count)) if !event.is_acknowledged => {
                event.count = event.count.saturating_add(count);
                event.last = sight.last;
                for (fault, count) in &sight.faults {
                    *event.faults.entry(*fault).or_default() += count;
                }
                found.push(event.clone());
            }
            (Some(event), _) => {
                // A state with another detail goes on.
                let goes_on = event.until.is_none() && !event.is_acknowledged;
                *event = Event {
                    since: if goes_on { event.since } else { sight.since },
                    ..new_event(sight)
                };
                found.push(event.clone());
            }
            (None, _) => {
                events.push(new_event(sight));
                found.push(new_event(sight));
            }
        }
    }
    for event in events.iter_mut().filter(|event| event.until.is_none()) {
        let has_ended = event.is_state() && scene.shows_end(event.kind, &event.of);
        event.until = has_ended.then(|| scene.since_last_look());
    }
    events.retain(|event| !is_past(event));
    events.sort_by(|one, other| (one.kind, &one.of).cmp(&(other.kind, &other.of)));
    events.truncate(MOST_EVENTS);
    found.sort_by_key(|event| event.kind);
    found
}

fn new_event(sight: &Sight) -> Event {
    Event {
        kind: sight.kind,
        of: sight.of.clone(),
        since: sight.since,
        last: sight.last,
        count: sight.count.unwrap_or(1),
        faults: sight.faults.clone(),
        detail: sight.detail.clone(),
        until: None,
        is_acknowledged: false,
    }
}

/// The disks of the look, then those that are not in it.
fn disks_after(scene: &Scene<'_>) -> Vec<KeptDisk> {
    let mut disks: Vec<KeptDisk> = scene
        .pairs
        .iter()
        .map(|pair| match pair.known() {
            Some(known) => disk_after(scene, known, pair.disk),
            None => new_disk(pair.disk, scene.look.at_s),
        })
        .collect();
    let is_absent = |kept: &&KeptDisk| {
        let mut known = scene.pairs.iter().filter_map(|pair| pair.kept);
        !known.any(|known| std::ptr::eq(known, *kept))
    };
    disks.extend(scene.kept.disks.iter().filter(is_absent).map(absent));
    disks
}

/// A disk that is not there: its counts begin again when it appears.
fn absent(kept: &KeptDisk) -> KeptDisk {
    KeptDisk {
        counted_bytes: None,
        ..kept.clone()
    }
}

fn new_disk(disk: &DiskLook, at_s: Option<u64>) -> KeptDisk {
    KeptDisk {
        name: disk.name.clone(),
        identity: Identity::of(disk),
        since_s: at_s,
        sequence: disk.sequence,
        counted_bytes: disk.counted_bytes,
        media_errors_count: media_errors(disk),
        used_percent: used_percent(disk),
        is_emmc: disk.is_emmc,
        ..KeptDisk::default()
    }
}

fn media_errors(disk: &DiskLook) -> Option<u64> {
    disk.health.as_ref()?.media_errors_count
}

fn used_percent(disk: &DiskLook) -> Option<u32> {
    disk.health.as_ref()?.used_percent
}

fn disk_after(scene: &Scene<'_>, known: &KeptDisk, disk: &DiskLook) -> KeptDisk {
    let is_same_start = scene.start == Start::Same;
    let counted = known.counted_bytes.filter(|_| is_same_start);
    let sequence = known.sequence.filter(|_| is_same_start);
    let mut after = KeptDisk {
        name: disk.name.clone(),
        identity: known.identity.refreshed(&Identity::of(disk)),
        since_s: known.since_s.or(scene.look.at_s),
        sequence: disk.sequence.or(sequence),
        counted_bytes: disk.counted_bytes.or(counted),
        media_errors_count: media_errors(disk).or(known.media_errors_count),
        used_percent: used_percent(disk).or(known.used_percent),
        is_emmc: disk.is_emmc,
        ..known.clone()
    };
    let Some(added) = added(known, disk, scene.start, lifetime_bytes(scene)) else {
        after.has_gaps |= after.counted_bytes != known.counted_bytes;
        return after;
    };
    after.written_bytes = known.written_bytes.saturating_add(added.bytes);
    after.has_gaps |= !added.is_all;
    let span_s = span_s(scene.kept, scene.look, scene.start, added);
    if let Some((at_s, span_s)) = scene.look.at_s.zip(span_s) {
        spread(&mut after.days, at_s, span_s, added.bytes);
    }
    after
}

/// Increase of the counts of filesystems that can be found again by their ids; `None` without any, and with several disks.
fn lifetime_bytes(scene: &Scene<'_>) -> Option<u64> {
    let grown = scene.look.filesystems.iter().filter_map(|filesystem| {
        let (key, has_own_id) = key_of(filesystem);
        let mut known = scene.kept.filesystems.iter();
        let known = known.find(|one| has_own_id && one.has_own_id && one.key == key)?;
        filesystem
            .lifetime_bytes?
            .checked_sub(known.lifetime_bytes?)
    });
    let grown: Vec<u64> = grown.collect();
    let is_one_disk = scene.pairs.len() == 1;
    (is_one_disk && !grown.is_empty()).then(|| grown.iter().sum())
}

/// The filesystems of the look, then those that were mounted before: their counts of errors are known.
fn filesystems_after(scene: &Scene<'_>) -> Vec<KeptFilesystem> {
    let mounted = scene.look.filesystems.iter().map(|filesystem| {
        let (key, has_own_id) = key_of(filesystem);
        KeptFilesystem {
            key: key.to_owned(),
            has_own_id,
            was_writable: !filesystem.is_read_only,
            errors_count: filesystem.errors_count,
            lifetime_bytes: filesystem.lifetime_bytes,
        }
    });
    let mut after: Vec<KeptFilesystem> = mounted.collect();
    let before = scene
        .kept
        .filesystems
        .iter()
        .filter(|_| !scene.is_other_disk);
    for known in before {
        if after.iter().all(|one| one.key != known.key) {
            after.push(KeptFilesystem {
                was_writable: false,
                ..known.clone()
            });
        }
    }
    after.truncate(MOST_FILESYSTEMS);
    after
}

/// Returns the number of lines between the last line that a look has read and the oldest that the kernel still has.
fn lost_lines_count(before: &Kept, look: &Look) -> u64 {
    let from = before.log_from(look.boot_id.as_deref());
    let lines = look.log.oldest.zip(from);
    lines.map_or(0, |(oldest, from)| oldest.saturating_sub(from))
}

/// True if more than counts went on, or a day is over.
fn is_worth_keeping(before: &Kept, after: &Kept) -> bool {
    let day = |kept: &Kept| kept.at_s.map(|at_s| at_s / DAY_S);
    let ran_s = after.uptime_s.zip(before.uptime_s);
    let ran_a_day = ran_s.is_none_or(|(now, then)| now.abs_diff(then) >= DAY_S);
    let disks = |kept: &Kept| -> Vec<(String, Identity)> {
        let disks = kept.disks.iter();
        disks
            .map(|disk| (disk.name.clone(), disk.identity.clone()))
            .collect()
    };
    let filesystems = |kept: &Kept| -> Vec<KeptFilesystem> {
        let all = kept.filesystems.iter();
        all.map(|one| KeptFilesystem {
            lifetime_bytes: None,
            ..one.clone()
        })
        .collect()
    };
    before.boot_id != after.boot_id
        || day(before) != day(after)
        || ran_a_day
        || before.events != after.events
        || disks(before) != disks(after)
        || filesystems(before) != filesystems(after)
}
