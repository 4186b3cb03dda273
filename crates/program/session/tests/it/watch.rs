//! Looks at real filesystems, on which the kernel reports real errors.

use std::path::Path;

use cardmark_host::{CounterReader, Root};
use cardmark_judge::EventKind;
use cardmark_session::{LookRequest, Looked, States, watch};
use cardmark_testkit::{Mount, needs, run_tool};
use tempfile::TempDir;

use crate::world::MIB;

fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn look(states: &States, folder: &Path) -> Looked {
    let request = LookRequest {
        target: Some(folder.to_str().unwrap().to_owned()),
        ..LookRequest::default()
    };
    watch(states, &request).unwrap()
}

/// Kinds of the events that were found on a filesystem; the machine below may have its own.
fn found(looked: &Looked, point: &Path) -> Vec<EventKind> {
    let found = looked.seen.found.iter();
    let of_it = found.filter(|event| Path::new(&event.of) == point);
    of_it.map(|event| event.kind).collect()
}

#[test]
fn an_aborted_filesystem_is_found_at_the_next_look_and_once() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let card = Mount::ext4_in_memory(scratch.path(), 64 * MIB);
    let point = card.folder().parent().unwrap();
    let states = States::at(scratch.path().join("states"));
    assert_eq!(found(&look(&states, card.folder()), point), []);
    assert_eq!(found(&look(&states, card.folder()), point), []);
    run_tool("mount", &["-o", "remount,abort", point.to_str().unwrap()]);
    let kinds = found(&look(&states, card.folder()), point);
    assert!(kinds.contains(&EventKind::FilesystemErrors), "{kinds:?}");
    assert_eq!(found(&look(&states, card.folder()), point), []);
    let now = look(&states, card.folder());
    let mut events = now.seen.kept.events.iter();
    assert!(events.any(|event| Path::new(&event.of) == point && event.is_open()));
}

#[test]
fn a_filesystem_made_read_only_is_found_and_can_be_acknowledged() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let card = Mount::ext4_in_memory(scratch.path(), 64 * MIB);
    let point = card.folder().parent().unwrap();
    let states = States::at(scratch.path().join("states"));
    assert_eq!(found(&look(&states, card.folder()), point), []);
    card.make_read_only();
    let seen = look(&states, card.folder());
    assert_eq!(found(&seen, point), [EventKind::ReadOnly]);
    assert_eq!(seen.notes, [""; 0]);
    let acknowledged = watch(
        &states,
        &LookRequest {
            target: Some(card.folder().to_str().unwrap().to_owned()),
            acknowledged: Some(Some(EventKind::ReadOnly)),
            ..LookRequest::default()
        },
    );
    assert_eq!(acknowledged.unwrap().acknowledged_count, 1);
    let later = look(&states, card.folder());
    assert_eq!(found(&later, point), []);
    let mut events = later.seen.kept.events.iter();
    assert!(events.all(|event| Path::new(&event.of) != point || !event.is_open()));
}

#[test]
fn a_look_without_a_place_for_its_state_is_still_a_look() {
    let scratch = scratch();
    let file = scratch.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    let looked = look(&States::at(file.join("states")), scratch.path());
    assert_eq!(looked.notes.len(), 1, "{:?}", looked.notes);
    assert!(!looked.look.disks.is_empty());
    let request = LookRequest {
        target: Some(scratch.path().to_str().unwrap().to_owned()),
        acknowledged: Some(None),
        ..LookRequest::default()
    };
    let error = watch(&States::at(file.join("states")), &request);
    assert!(error.unwrap_err().what.contains("cannot keep"));
}

/// On a filesystem with a journal and blocks of 4 KiB, each look that keeps another state.
#[test]
fn a_look_costs_the_storage_little() {
    needs!(Root, LoopDevice, Ext4);
    const LOOKS: u64 = 10;
    const MOST_BYTES: u64 = 30_000;
    let scratch = scratch();
    let card = Mount::ext4_in_memory(scratch.path(), 600 * MIB);
    let states = States::at(card.folder().join("states"));
    let path = card.device().path().to_owned();
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut counts = CounterReader::new(&Root::system(), &[name]);
    let mut written = || {
        run_tool("sync", &["-f", card.folder().to_str().unwrap()]);
        counts.read().unwrap().write_bytes
    };
    let look = |product: &str| {
        let request = LookRequest {
            target: Some(scratch.path().to_str().unwrap().to_owned()),
            product: Some(product.to_owned()),
            ..LookRequest::default()
        };
        let looked = watch(&states, &request).unwrap();
        assert_eq!(looked.notes, [""; 0]);
    };
    look("first");
    let before = written();
    for number in 0..LOOKS {
        look(&number.to_string());
        written();
    }
    let each = (written() - before) / LOOKS;
    assert!(each <= MOST_BYTES, "{each} bytes a look");
}
