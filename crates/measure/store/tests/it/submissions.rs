//! Runs that were sent to results sites, and the secret that permits changes there.

use std::path::Path;

use cardmark_core::{Fill, OriginKind, Preparation, parse_record, record_to_json};
use cardmark_store::{
    Incoming, Queued, SECRET_BYTES, SecretReplaced, SecretState, Store, StoreError, SubmissionState,
};
use rusqlite::Connection;
use uuid::Uuid;

use crate::builder::record;

const ONE: &str = "https://one.example";
const OTHER: &str = "https://other.example";

fn open(folder: &Path) -> Store {
    Store::open(&folder.join("records.sqlite")).unwrap()
}

fn waiting(run: Uuid) -> Queued {
    Queued {
        run,
        state: SubmissionState::Waiting,
        keep: vec!["labels.sample".to_owned()],
        body: Some(vec![0x1f, 0x8b, 0, 255]),
    }
}

#[test]
fn a_submission_waits_with_its_bytes_until_it_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let run = Uuid::from_u128(1);
    let queued = waiting(run);
    open(folder.path()).put_submission(ONE, &queued).unwrap();
    let mut store = open(folder.path());
    assert_eq!(
        store.submissions(ONE).unwrap(),
        std::slice::from_ref(&queued)
    );
    assert_eq!(store.submission(ONE, run).unwrap().as_ref(), Some(&queued));
    assert_eq!(store.submissions(OTHER).unwrap(), []);
    let sent = Queued {
        state: SubmissionState::Sent,
        body: None,
        ..queued.clone()
    };
    store.put_submission(ONE, &sent).unwrap();
    store.put_submission(OTHER, &queued).unwrap();
    assert_eq!(store.submission(ONE, run).unwrap(), Some(sent));
    store.forget_submission(ONE, run).unwrap();
    assert_eq!(store.submission(ONE, run).unwrap(), None);
    assert_eq!(store.submission(OTHER, run).unwrap(), Some(queued));
}

#[test]
fn new_runs_were_measured_here_and_not_sent_to_this_site() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let [own, sent, simulated, imported] = ["aaaa", "bbbb", "cccc", "dddd"].map(record);
    let mut simulated = simulated;
    simulated.origin.kind = OriginKind::Simulated;
    for run in [&own, &sent, &simulated] {
        store.insert(run).unwrap();
    }
    let document = record_to_json(&imported).unwrap();
    let parsed = Box::new(parse_record(&document).unwrap());
    store
        .take_in(&[Incoming::Record(parsed, document)])
        .unwrap();
    assert!(store.contains(imported.id).unwrap());
    store.put_submission(ONE, &waiting(sent.id)).unwrap();
    assert_eq!(store.unsent(ONE).unwrap(), [own.id]);
    assert_eq!(store.unsent(OTHER).unwrap(), [own.id, sent.id]);
}

#[test]
fn a_secret_in_use_is_replaced_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let (first, second) = ([1; SECRET_BYTES], [2; SECRET_BYTES]);
    assert_ne!(store.secret().unwrap(), first);
    let replaced = store.replace_secret(&first, false).unwrap();
    assert_eq!(replaced, SecretReplaced::Replaced);
    assert_eq!(store.secret().unwrap(), first);
    let card = store.card_key(b"card").unwrap();
    let preparation = Preparation {
        fill: Fill::Ff,
        seed: None,
        started_at: "2026-11-21T10:00:00Z".to_owned(),
        finished_at: None,
        size_bytes: 9,
        done_bytes: 0,
    };
    store.begin_preparation(&card, &preparation).unwrap();
    let run = Uuid::from_u128(1);
    store.put_submission(ONE, &waiting(run)).unwrap();
    let state = SecretState {
        submissions_count: 1,
        preparations_count: 1,
    };
    let refused = store.replace_secret(&second, false).unwrap();
    assert_eq!(refused, SecretReplaced::Refused(state));
    let same = store.replace_secret(&first, false).unwrap();
    assert_eq!(same, SecretReplaced::Same);
    assert_eq!(store.secret().unwrap(), first);
    let forced = store.replace_secret(&second, true).unwrap();
    assert_eq!(forced, SecretReplaced::Replaced);
    assert_ne!(store.card_key(b"card").unwrap(), card);
}

#[test]
fn damage_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    store.put_submission(ONE, &waiting(Uuid::nil())).unwrap();
    let change = |sql: &str| {
        let path = folder.path().join("records.sqlite");
        Connection::open(path).unwrap().execute_batch(sql).unwrap();
    };
    for sql in [
        "UPDATE submissions SET state = 'lost'",
        "UPDATE submissions SET state = 'sent', keep = '{'",
        "UPDATE submissions SET keep = '[]', record_id = 'x'",
    ] {
        change(sql);
        let error = store.submissions(ONE).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    }
    change("UPDATE secret SET bytes = x'00'");
    let error = store.secret().unwrap_err();
    assert!(
        matches!(error, StoreError::DamagedSecret { .. }),
        "{error:?}"
    );
}
