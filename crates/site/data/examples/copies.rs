//! Fills a database with copies of a run, for tests of derivation: `copies DATABASE RECORDS`.
//!
//! Each copy is a document of its own, with another id, product, board and submitter; they arrive over a year. Rows of the database follow
//! from those of the run and these changes, not from deriving each document, so that a derivation of the dump's documents has something to
//! be compared with.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a program for the hand"
)]

use std::time::Instant;

use cardmark_core::{Record, Rng, documents_of, parse_record};
use cardmark_samples::in_a_reader;
use cardmark_share::{card_key, write_submission};
use cardmark_site_data::{packed, rederived};
use cardmark_site_store::{Incoming, Rederived, SiteStore};
use sha2::{Digest, Sha256};
use uuid::Uuid;

const PRODUCTS: u64 = 1_000;
const BOARDS: u64 = 20;
/// Records of a transaction.
const TOGETHER: u64 = 500;
/// The first of December 2026, and the year from then on.
const BEGIN_MS: i64 = 1_796_083_200_000;
const YEAR_MS: i64 = 365 * 86_400_000;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, records] = words.as_slice() else {
        println!("usage: copies DATABASE RECORDS");
        return;
    };
    let records: u64 = records.parse().unwrap();
    let base = Base::read();
    let store = SiteStore::open(address).await.unwrap();
    let begin = Instant::now();
    for first in (0..records).step_by(TOGETHER as usize) {
        let part = first..records.min(first + TOGETHER);
        let incoming = part.map(|number| base.copy(number, records));
        store.load(incoming.collect::<Vec<_>>()).await.unwrap();
    }
    let products = store.rebuild_summaries().await.unwrap();
    let took = begin.elapsed().as_secs_f64();
    println!("{records} records of {products} products in {took:.0} s");
    store.close().await;
}

/// The run that all are copies of.
struct Base {
    record: Record,
    text: String,
    derived: Rederived,
}

fn product_name(number: u64) -> String {
    format!("Card {number:06}")
}

fn board_name(number: u64) -> String {
    format!("Board {number:02}")
}

impl Base {
    fn read() -> Self {
        let file = format!(
            "{}/../server/fixtures/run-quick.json.zst",
            env!("CARGO_MANIFEST_DIR")
        );
        let packed = std::fs::read(file).unwrap();
        let text = String::from_utf8(zstd::bulk::decompress(&packed, 16 << 20).unwrap()).unwrap();
        let mut record = in_a_reader(&parse_record(&text).unwrap());
        record.labels.insert("product".to_owned(), product_name(0));
        record.board.get_or_insert_default().model = Some(board_name(0));
        let (text, _) = write_submission(&record, 1, &[]).unwrap();
        let derived = rederived(&text, None, BEGIN_MS).unwrap();
        Self {
            record,
            text,
            derived,
        }
    }

    fn copy(&self, number: u64, records: u64) -> Incoming {
        let mut rng = Rng::for_part(1, "copy", number);
        let id = Uuid::from_u64_pair(rng.next_u64(), rng.next_u64());
        let (product, board) = (rng.below(PRODUCTS), rng.below(BOARDS));
        let (product, board) = (product_name(product), board_name(board));
        // 50 runs of a submitter.
        let mut submitter = [0; 16];
        submitter[8..].copy_from_slice(&(number / 50).to_be_bytes());
        let text = self
            .text
            .replace(&self.record.id.to_string(), &id.to_string())
            .replace(&product_name(0), &product)
            .replace(&board_name(0), &board);
        let mut extract = self.derived.extract.clone();
        extract.id = id;
        extract.product_name = Some(product);
        extract.context.insert("board".to_owned(), board.clone());
        extract.board = Some(board);
        let bytes = packed(&text).unwrap();
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let received_ms = BEGIN_MS + YEAR_MS * number as i64 / records as i64;
        Incoming {
            packed: bytes,
            digest,
            record_digest: Sha256::digest(documents_of(&text).0).into(),
            extract,
            checks: self.derived.checks.clone(),
            card: card_key(&self.record, Some(&submitter)),
            tag: Some(submitter),
            token_hash: None,
            revision: 1,
            received_ms,
            limits: Vec::new(),
            newcomers: None,
        }
    }
}
