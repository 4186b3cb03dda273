//! Many runs at once, loaded into the database as an import does.

use cardmark_samples::in_a_reader;
use cardmark_share::{Derivation, derive, read_submission};
use cardmark_site_store::Incoming;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::rig::{Rig, measured, text_of};

const DAY: &str = "2026-12-01";

/// A run to be loaded.
pub(crate) struct Many {
    pub(crate) product: String,
    pub(crate) board: String,
    pub(crate) submitter: u8,
}

/// Loads runs with two figures, each of another card, the last one as the last arrival. Their documents have few trials.
pub(crate) async fn load(rig: &Rig, runs: impl IntoIterator<Item = Many>) {
    let mut record = in_a_reader(&measured());
    let mut derivation = derive(&read_submission(&text_of(&record)).unwrap(), DAY);
    let is_kept = |metric: &str| ["rand_read_4k", "seq_write_1m"].contains(&metric);
    derivation
        .extract
        .figures
        .retain(|one| is_kept(&one.metric));
    assert_eq!(derivation.extract.figures.len(), 2);
    record
        .trials
        .retain(|trial| trial.workload.id == "rand_read_4k");
    let text = text_of(&record);
    let runs = (1_u128..).zip(runs);
    let runs = runs.map(|(number, run)| incoming(&text, &derivation, number, run));
    rig.store.load(runs.collect()).await.unwrap();
    rig.store.rebuild_summaries().await.unwrap();
}

fn incoming(text: &str, derivation: &Derivation, number: u128, run: Many) -> Incoming {
    let digest: [u8; 32] = Sha256::digest(number.to_be_bytes()).into();
    let mut extract = derivation.extract.clone();
    extract.id = Uuid::from_u128(0x2000_0000_0000_4000_8000_0000_0000_0000 + number);
    extract.product_name = Some(run.product);
    extract
        .context
        .insert("board".to_owned(), run.board.clone());
    extract.board = Some(run.board);
    extract.evidence = Some(number.to_string());
    for figure in &mut extract.figures {
        figure.value *= 1.0 + number as f64 / 1e4;
        figure.is_uneven = false;
    }
    Incoming {
        packed: zstd::bulk::compress(text.as_bytes(), 3).unwrap(),
        digest: Sha256::digest(text).into(),
        record_digest: digest,
        extract,
        checks: derivation.checks.clone(),
        card: digest[..16].try_into().unwrap(),
        tag: Some([run.submitter; 16]),
        token_hash: None,
        revision: 1,
        received_ms: 1_767_225_600_000 + i64::try_from(number).unwrap(),
        limits: Vec::new(),
        newcomers: None,
    }
}

/// Runs of a product on a board from three submitters, which are enough for a place in a ranking.
pub(crate) fn ranked(product: &str, board: &str) -> impl Iterator<Item = Many> + use<> {
    let run = (product.to_owned(), board.to_owned());
    (1..=3).map(move |submitter| Many {
        product: run.0.clone(),
        board: run.1.clone(),
        submitter,
    })
}
