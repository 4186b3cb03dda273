//! No journal makes `recover` panic, and what it restores can be kept in a journal again.
//!
//! Every line of the input gets its checksum, so that what lies behind it is reached; a line that
//! begins with `!` is written as it is.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use cardmark_core::Record;
use cardmark_store::{Journal, recover};
use libfuzzer_sys::fuzz_target;

/// In memory where possible: journals are synced.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    let folder = base.join(format!("cardmark-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for journals");
    folder
});

fn crc32(bytes: &[u8]) -> u32 {
    let step = |value: u32, _| (value >> 1) ^ (0xEDB8_8320 & (value & 1).wrapping_neg());
    !bytes.iter().fold(u32::MAX, |value, &byte| {
        (0..8).fold(value ^ u32::from(byte), step)
    })
}

fn journal(input: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for line in input.split_inclusive(|&byte| byte == b'\n') {
        if let Some(raw) = line.strip_prefix(b"!") {
            text.extend_from_slice(raw);
        } else {
            let content = line.strip_suffix(b"\n").unwrap_or(line);
            text.extend_from_slice(format!("{:08x} ", crc32(content)).as_bytes());
            text.extend_from_slice(line);
        }
    }
    text
}

fuzz_target!(|input: &[u8]| {
    let path = FOLDER.join("input.journal");
    fs::write(&path, journal(input)).expect("a journal");
    let found = recover(&FOLDER).expect("the folder can be read");
    assert_eq!(found.unfinished.len() + found.unusable.len(), 1);
    fs::remove_file(&path).expect("recover leaves the journal in place");

    let Some(first) = found.unfinished.into_iter().next() else {
        return;
    };
    let header = first.record.as_ref().map(|record| Record {
        trials: Vec::new(),
        ..record.clone()
    });
    // Journals of earlier versions have labels in the record.
    let mut head = first.head.clone();
    if let Some(record) = &header {
        head.labels.clone_from(&record.labels);
    }
    let mut journal =
        Journal::create(&FOLDER, "copy", &head, header.as_ref()).expect("a new journal");
    for trial in first.record.iter().flat_map(|record| &record.trials) {
        journal.append(trial).expect("a trial can be appended");
    }
    let state: Option<serde_json::Value> = first
        .state
        .as_ref()
        .and_then(|state| serde_json::from_str(state).ok());
    if let Some(state) = &state {
        journal.state(state).expect("a state can be stored");
    }
    let again = recover(&FOLDER).expect("the folder can be read");
    assert_eq!(again.live_count, 1, "a journal that is held is left alone");
    let copy = journal.path().to_owned();
    drop(journal);
    let again = recover(&FOLDER).expect("the folder can be read");
    assert_eq!(again.unfinished.len(), 1);
    assert_eq!(again.unfinished[0].record, first.record);
    assert_eq!(again.unfinished[0].head, head);
    fs::remove_file(copy).expect("recover leaves the journal in place");
});
