//! Looks at simulated boards whose truth is known: no false alarm, every true event at the next look, and never more bytes than were
//! written.

mod board;

use std::collections::BTreeSet;

use board::{Board, Truth};
use cardmark_core::{DiskLook, FilesystemLook, Look, PowerLook, Rng};
use cardmark_judge::{Event, EventKind, Gravity, Kept, Seen, acknowledge, bytes_per_day, seen};

const BOARDS: u64 = 200;
const LOOKS: usize = 365;

/// Kinds of events that are no note.
fn alarms(events: &[Event]) -> Vec<EventKind> {
    let events = events
        .iter()
        .filter(|event| event.kind.gravity() != Gravity::Note);
    events.map(|event| event.kind).collect()
}

/// State as a file holds it, between looks.
fn stored(kept: &Kept) -> Kept {
    let text = serde_json::to_string(kept).unwrap();
    assert!(text.len() <= 8192, "{} bytes: {text}", text.len());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn boards_in_good_order_raise_no_alarm_and_count_no_byte_too_many() {
    // Boards on which every byte can be seen; those whose count began again at zero; starts of all.
    let (mut exact, mut wrapped, mut starts) = (0, 0, 0);
    for seed in 0..BOARDS {
        let mut board = Board::new(seed);
        let mut luck = Rng::for_part(seed, "kept", 0);
        let mut kept: Option<Kept> = None;
        for day in 0..LOOKS {
            let look = board.next_look(kept.as_ref());
            let Seen {
                kept: after,
                found,
                is_changed,
                ..
            } = seen(kept.as_ref(), &look);
            let context = || format!("board {seed}, look {day}: {found:?}\n{look:?}\n{kept:?}");
            assert_eq!(alarms(&found), [], "{}", context());
            assert!(
                after.events.iter().all(|event| !event.is_open()),
                "{}",
                context()
            );
            let written = after.disks[0].written_bytes;
            let rounding = 1024 * board.starts_count();
            assert!(written <= board.written_bytes() + rounding, "{}", context());
            // Some looks cannot be kept: the disk is full, or the process is killed.
            if kept.is_none() || (is_changed && luck.below(20) > 0) {
                board.was_kept();
                let is_read_again = luck.below(16) == 0;
                kept = Some(if is_read_again { stored(&after) } else { after });
            }
        }
        if board.shows_all() {
            assert_exact(&board, &kept.unwrap());
            exact += 1;
            wrapped += u64::from(board.wraps_count() > 0);
        }
        starts += board.starts_count();
    }
    assert!(
        exact >= 20 && wrapped >= 3 && starts >= 10_000,
        "{exact} {wrapped} {starts}"
    );
}

/// On boards where every byte can be seen, none is missing.
fn assert_exact(board: &Board, kept: &Kept) {
    let disk = &kept.disks[0];
    assert!(!disk.has_gaps, "{disk:?}");
    let missing = board.kept_written_bytes() - disk.written_bytes.min(board.kept_written_bytes());
    assert!(
        missing <= 1024 * board.starts_count(),
        "{missing}: {disk:?}"
    );
}

#[test]
fn every_true_event_is_found_at_the_next_look_and_once() {
    let mut tested = BTreeSet::new();
    for seed in 0..BOARDS {
        let mut board = Board::new(seed);
        let mut luck = Rng::for_part(seed, "event", 0);
        let at = 1 + usize::try_from(luck.below(60)).unwrap();
        let mut kept: Option<Kept> = None;
        let mut truth = None;
        for day in 0..at + 20 {
            let mut look = board.next_look(kept.as_ref());
            if day == at {
                let event = Truth::ALL[usize::try_from(seed).unwrap() % Truth::ALL.len()];
                look = board.happens(event, kept.as_ref());
                truth = Some(event);
            }
            let result = seen(kept.as_ref(), &look);
            let expected = match truth.filter(|_| day == at) {
                Some(event) => event.kinds().to_vec(),
                None => Vec::new(),
            };
            let found: Vec<EventKind> = match truth {
                Some(Truth::AnotherCard) => result.found.iter().map(|event| event.kind).collect(),
                _ => alarms(&result.found),
            };
            let found: Vec<EventKind> = found
                .into_iter()
                .filter(|kind| *kind != EventKind::LinkTrouble)
                .collect();
            assert_eq!(
                found, expected,
                "board {seed}, look {day}: {truth:?}\n{look:?}\n{kept:?}"
            );
            if result.is_changed || day == at {
                assert!(result.is_changed, "an event must be kept");
                kept = Some(stored(&result.kept));
            }
        }
        tested.insert(truth.unwrap());
    }
    assert_eq!(tested.len(), Truth::ALL.len());
}

fn disk(counted_bytes: u64) -> DiskLook {
    DiskLook {
        name: "mmcblk0".to_owned(),
        model: Some("SN32G".to_owned()),
        size_bytes: Some(32_000_000_000),
        id: Some("a1b2c3".to_owned()),
        is_own_id: true,
        sequence: Some(9),
        counted_bytes: Some(counted_bytes),
        ..DiskLook::default()
    }
}

fn filesystem() -> FilesystemLook {
    FilesystemLook {
        device: "mmcblk0p2".to_owned(),
        kind: "ext4".to_owned(),
        point: "/".to_owned(),
        ..FilesystemLook::default()
    }
}

fn look_at(at_s: u64, counted_bytes: u64) -> Look {
    Look {
        at_s: Some(at_s),
        uptime_s: Some(at_s - 1_800_000_000),
        boot_id: Some("one".to_owned()),
        disks: vec![disk(counted_bytes)],
        filesystems: vec![filesystem()],
        ..Look::default()
    }
}

const DAY_S: u64 = 86_400;
const BEGIN_S: u64 = 1_800_000_000 + 600;

#[test]
fn an_acknowledged_state_is_quiet_until_it_ended_and_came_again() {
    let stopped = |at_s| Look {
        filesystems: vec![FilesystemLook {
            is_read_only: true,
            is_stopped: true,
            ..filesystem()
        }],
        ..look_at(at_s, 0)
    };
    let first = seen(None, &look_at(BEGIN_S, 0)).kept;
    let mut kept = seen(Some(&first), &stopped(BEGIN_S + DAY_S)).kept;
    assert!(kept.events[0].is_open());
    assert_eq!(kept.clear_since_s, None);
    assert_eq!(acknowledge(&mut kept, None, Some(BEGIN_S + DAY_S)), 1);
    assert_eq!(kept.clear_since_s, Some(BEGIN_S + DAY_S));
    let still = seen(Some(&kept), &stopped(BEGIN_S + 2 * DAY_S));
    assert_eq!(still.found, []);
    let mended = seen(Some(&still.kept), &look_at(BEGIN_S + 3 * DAY_S, 0)).kept;
    assert_eq!(mended.events, []);
    let again = seen(Some(&mended), &stopped(BEGIN_S + 4 * DAY_S));
    assert_eq!(alarms(&again.found), [EventKind::ReadOnly]);
    let since = again.found[0].since;
    assert_eq!(since.after_s, Some(BEGIN_S + 3 * DAY_S));
    assert_eq!(since.by_s, Some(BEGIN_S + 4 * DAY_S));
}

#[test]
fn too_little_voltage_after_a_good_start_is_a_new_event() {
    let at = |day, boot: &str, was_low| Look {
        boot_id: Some(boot.to_owned()),
        power: PowerLook {
            is_low: Some(false),
            was_low: Some(was_low),
        },
        ..look_at(BEGIN_S + day * DAY_S, 0)
    };
    let mut kept = seen(None, &at(0, "one", true)).kept;
    assert_eq!(acknowledge(&mut kept, None, Some(BEGIN_S)), 1);
    assert_eq!(seen(Some(&kept), &at(1, "one", true)).found, []);
    let good = seen(Some(&kept), &at(2, "two", false)).kept;
    assert_eq!(good.events, []);
    let again = seen(Some(&good), &at(3, "three", true));
    assert_eq!(alarms(&again.found), [EventKind::UnderVoltage]);
}

#[test]
fn what_is_perhaps_another_card_ends_no_alarm() {
    let first = seen(None, &look_at(BEGIN_S, 100)).kept;
    let stopped = Look {
        filesystems: vec![FilesystemLook {
            is_read_only: true,
            is_stopped: true,
            ..filesystem()
        }],
        ..look_at(BEGIN_S + DAY_S, 200)
    };
    let kept = seen(Some(&first), &stopped).kept;
    let mut failing = look_at(BEGIN_S + 2 * DAY_S, 300);
    failing.disks[0] = DiskLook {
        model: Some("SATAFIRM S11".to_owned()),
        id: None,
        is_own_id: false,
        ..failing.disks[0].clone()
    };
    let kinds: Vec<EventKind> = seen(Some(&kept), &failing)
        .kept
        .events
        .iter()
        .map(|event| event.kind)
        .collect();
    assert_eq!(kinds, [EventKind::ReadOnly, EventKind::PerhapsAnother]);
}

#[test]
fn a_look_of_the_same_day_writes_nothing_and_loses_nothing() {
    let first = seen(None, &look_at(BEGIN_S, 100));
    assert!(first.is_changed);
    let soon = seen(Some(&first.kept), &look_at(BEGIN_S + 60, 5_000));
    assert!(!soon.is_changed);
    let later = seen(Some(&first.kept), &look_at(BEGIN_S + DAY_S, 9_100));
    assert!(later.is_changed);
    assert_eq!(later.kept.disks[0].written_bytes, 9_000);
    assert_eq!(bytes_per_day(&later.kept.disks[0].days), Some(9_000));
}

#[test]
fn another_card_begins_with_nothing_against_it() {
    let first = seen(None, &look_at(BEGIN_S, 100)).kept;
    let damaged = Look {
        filesystems: vec![FilesystemLook {
            errors_count: Some(3),
            ..filesystem()
        }],
        ..look_at(BEGIN_S + DAY_S, 200)
    };
    let kept = seen(Some(&first), &damaged).kept;
    assert_eq!(kept.events[0].kind, EventKind::FilesystemErrors);
    let mut other = look_at(BEGIN_S + 2 * DAY_S, 50);
    other.disks[0].id = Some("ffee00".to_owned());
    other.disks[0].sequence = Some(10);
    let kept = seen(Some(&kept), &other).kept;
    let kinds: Vec<EventKind> = kept.events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::AnotherCard]);
    assert_eq!(kept.events[0].detail.as_deref(), Some("SN32G"));
    assert_eq!(kept.disks.len(), 1);
    assert_eq!(kept.disks[0].written_bytes, 0);
    assert_eq!(kept.disks[0].since_s, Some(BEGIN_S + 2 * DAY_S));
}

#[test]
fn a_reader_without_a_card_is_no_other_card() {
    let first = seen(None, &look_at(BEGIN_S, 100)).kept;
    let mut empty = look_at(BEGIN_S + DAY_S, 100);
    empty.disks[0].size_bytes = None;
    empty.disks[0].id = None;
    let without = seen(Some(&first), &empty);
    assert_eq!(without.found, []);
    let back = seen(Some(&without.kept), &look_at(BEGIN_S + 2 * DAY_S, 300));
    assert_eq!(back.found, []);
    assert_eq!(back.kept.disks[0].since_s, Some(BEGIN_S));
    assert!(back.kept.disks[0].has_gaps);
}

#[test]
fn swapped_names_of_disks_are_no_other_disks() {
    let named = |name: &str, id: &str| DiskLook {
        name: name.to_owned(),
        id: Some(id.to_owned()),
        ..disk(0)
    };
    let of = |at_s, disks| Look {
        disks,
        ..look_at(at_s, 0)
    };
    let first = of(
        BEGIN_S,
        vec![named("sda", "aaaaaa"), named("sdb", "bbbbbb")],
    );
    let kept = seen(None, &first).kept;
    let swapped = of(
        BEGIN_S + DAY_S,
        vec![named("sda", "bbbbbb"), named("sdb", "aaaaaa")],
    );
    assert_eq!(seen(Some(&kept), &swapped).found, []);
}

#[test]
fn a_filesystem_that_should_be_read_only_may_be() {
    let as_stated = |at_s, is_read_only| Look {
        filesystems: vec![FilesystemLook {
            is_read_only,
            stated_writable: Some(false),
            ..filesystem()
        }],
        ..look_at(at_s, 0)
    };
    let kept = seen(None, &as_stated(BEGIN_S, false)).kept;
    assert_eq!(
        seen(Some(&kept), &as_stated(BEGIN_S + DAY_S, true)).found,
        []
    );
}
