//! Submissions of real records, as a site reads them.

use cardmark_core::{Record, documents_of, parse_record};
use cardmark_samples::in_a_reader;
use cardmark_share::write_submission;
use cardmark_site_data::{packed, rederived};
use cardmark_site_store::{Incoming, Put, SiteStore, State};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// 30 November 2026, 23:59:00: the next minute is in another month.
pub(crate) const LATE_MS: i64 = 1_796_083_140_000;
pub(crate) const TOKEN: [u8; 32] = [7; 32];

/// A record of the corpus.
pub(crate) fn corpus(name: &str) -> Record {
    let path = format!(
        "{}/../../proof/samples/records/method-2/{name}.json.zst",
        env!("CARGO_MANIFEST_DIR")
    );
    let packed = std::fs::read(path).unwrap();
    let text = zstd::bulk::decompress(&packed, 16 << 20).unwrap();
    parse_record(&String::from_utf8(text).unwrap()).unwrap()
}

/// A small record under another id.
pub(crate) fn small(number: u128) -> Record {
    let mut record = corpus("probe-sim-limbo-32gb");
    record.id = Uuid::from_u128(0x2000_0000_0000_4000_8000_0000_0000_0000 + number);
    record
}

/// The measured record as one of many: another id, another card of a product.
pub(crate) fn measured(number: u64) -> Record {
    let mut record = in_a_reader(&corpus("run-measured-quick"));
    record.id = Uuid::from_u128(0x1000_0000_0000_4000_8000_0000_0000_0000 + u128::from(number));
    record
        .labels
        .insert("product".to_owned(), "SanDisk Ultra 32 GB".to_owned());
    record.trials.last_mut().unwrap().started_ns += number * 1_000;
    record
}

pub(crate) fn text_of(record: &Record) -> String {
    write_submission(record, 1, &[]).unwrap().0
}

/// A submission as the site makes it of a document.
pub(crate) fn incoming(text: &str, submitter: Option<u8>, received_ms: i64) -> Incoming {
    let submitter = submitter.map(|submitter| [submitter; 16]);
    let derived = rederived(text, submitter, received_ms).unwrap();
    let (document, statement) = documents_of(text);
    Incoming {
        packed: packed(text).unwrap(),
        digest: Sha256::digest(text.as_bytes()).into(),
        record_digest: Sha256::digest(document.as_bytes()).into(),
        extract: derived.extract,
        checks: derived.checks,
        card: derived.card,
        tag: submitter,
        token_hash: Some(TOKEN),
        revision: u64::from(statement.is_some()),
        received_ms,
        limits: Vec::new(),
        newcomers: None,
    }
}

pub(crate) async fn put(store: &SiteStore, incoming: Incoming) -> State {
    match store.put(incoming).await.unwrap() {
        Put::New(head) => head.state,
        other => panic!("{other:?}"),
    }
}

/// Three cards of three submitters, a repeated run, simulated ones without a tag on both sides of a month's end, and a document with
/// other line ends. Returns the ids in the order of arrival.
pub(crate) async fn fill(store: &SiteStore) -> Vec<Uuid> {
    let mut ids = Vec::new();
    let mut at_ms = LATE_MS;
    for number in 1..=3 {
        let text = text_of(&measured(u64::from(number)));
        let incoming = incoming(&text, Some(number), at_ms);
        ids.push(incoming.extract.id);
        assert_eq!(put(store, incoming).await, State::Shared);
        at_ms += 1;
    }
    let mut repeated = measured(3);
    repeated.id = Uuid::from_u128(0x3000_0000_0000_4000_8000_0000_0000_0000);
    ids.push(repeated.id);
    let repeated = incoming(&text_of(&repeated), Some(4), at_ms);
    assert_eq!(put(store, repeated).await, State::Quarantined);
    for number in 0..40 {
        at_ms += 3_000;
        let mut text = text_of(&small(number));
        if number == 5 {
            text = text.replace('\n', "\r\n");
        }
        let incoming = incoming(&text, None, at_ms);
        ids.push(incoming.extract.id);
        put(store, incoming).await;
    }
    ids
}
