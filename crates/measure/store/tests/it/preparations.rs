//! The history of cards.

use std::path::Path;

use cardmark_core::{Fill, Preparation};
use cardmark_store::{CardKey, Store};

const SIZE: u64 = 63_864_569_856;
/// Identity of the card.
const CARD: &[u8] = b"mmc 035344534236344780a1b2c3d4016700 63864569856";
/// A serial number as it would appear there, and its bytes.
const SERIAL: &str = "a1b2c3d4";
const SERIAL_BYTES: [u8; 4] = [0xa1, 0xb2, 0xc3, 0xd4];

fn preparation(fill: Fill) -> Preparation {
    Preparation {
        fill,
        seed: (fill == Fill::Random).then(|| "00000000000000ff".to_owned()),
        started_at: "2026-11-21T10:00:00Z".to_owned(),
        finished_at: None,
        size_bytes: SIZE,
        done_bytes: 0,
    }
}

fn open(folder: &Path) -> Store {
    Store::open(&folder.join("records.sqlite")).unwrap()
}

fn last(store: &mut Store, card: &CardKey) -> Option<Preparation> {
    let last = store.last_preparation(card).unwrap();
    last.map(|(_, preparation)| preparation)
}

#[test]
fn a_preparation_is_noted_continued_and_finished_also_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let card = store.card_key(CARD).unwrap();
    assert_eq!(last(&mut store, &card), None);
    let mut expected = preparation(Fill::Random);
    let id = store.begin_preparation(&card, &expected).unwrap();
    assert_eq!(last(&mut store, &card).as_ref(), Some(&expected));
    store.note_progress(id, 64 << 20).unwrap();
    drop(store);

    let mut store = open(folder.path());
    assert_eq!(store.card_key(CARD).unwrap(), card);
    expected.done_bytes = 64 << 20;
    let unfinished = store.unfinished_preparation(&card, Fill::Random).unwrap();
    assert_eq!(unfinished, Some((id, expected.clone())));
    store
        .finish_preparation(id, "2026-11-21T11:00:00Z")
        .unwrap();
    expected.done_bytes = SIZE;
    expected.finished_at = Some("2026-11-21T11:00:00Z".to_owned());
    assert_eq!(last(&mut store, &card), Some(expected));
    assert_eq!(
        store.unfinished_preparation(&card, Fill::Random).unwrap(),
        None
    );
}

#[test]
fn after_another_fill_began_an_earlier_one_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let card = store.card_key(CARD).unwrap();
    let first = store
        .begin_preparation(&card, &preparation(Fill::Ff))
        .unwrap();
    store.note_progress(first, 1 << 30).unwrap();
    assert_eq!(
        store.unfinished_preparation(&card, Fill::Zero).unwrap(),
        None
    );
    store
        .begin_preparation(&card, &preparation(Fill::Zero))
        .unwrap();
    assert_eq!(store.unfinished_preparation(&card, Fill::Ff).unwrap(), None);
    assert!(
        store
            .unfinished_preparation(&card, Fill::Zero)
            .unwrap()
            .is_some()
    );
}

#[test]
fn what_is_taken_back_leaves_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let card = store.card_key(CARD).unwrap();
    store
        .begin_preparation(&card, &preparation(Fill::Ff))
        .unwrap();
    let id = store
        .begin_preparation(&card, &preparation(Fill::Discard))
        .unwrap();
    store.forget_preparation(id).unwrap();
    let last = last(&mut store, &card).unwrap();
    assert_eq!(last.fill, Fill::Ff);
}

#[test]
fn cards_have_a_history_each() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let (card, other) = (
        store.card_key(CARD).unwrap(),
        store.card_key(b"other").unwrap(),
    );
    let id = store
        .begin_preparation(&card, &preparation(Fill::Ff))
        .unwrap();
    store
        .begin_preparation(&other, &preparation(Fill::Zero))
        .unwrap();
    store.note_progress(id, 5).unwrap();
    let last = |store: &mut Store, key| last(store, key).unwrap();
    assert_eq!(last(&mut store, &card).done_bytes, 5);
    assert_eq!(last(&mut store, &other).done_bytes, 0);
}

#[test]
fn every_store_names_a_card_differently() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let key = |folder: &Path| open(folder).card_key(CARD).unwrap();
    assert_ne!(key(one.path()), key(two.path()));
}

#[test]
fn no_serial_is_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let card = store.card_key(CARD).unwrap();
    store
        .begin_preparation(&card, &preparation(Fill::Ff))
        .unwrap();
    drop(store);
    let bytes = std::fs::read(folder.path().join("records.sqlite")).unwrap();
    let holds = |part: &[u8]| bytes.windows(part.len()).any(|found| found == part);
    assert!(holds(b"2026-11-21T10:00:00Z"), "the row is in the file");
    assert!(!holds(SERIAL.as_bytes()) && !holds(&SERIAL_BYTES) && !holds(&CARD[..12]));
}
