//! Fills a database for tests of reading: `bulk DATABASE RECORDS PATHS`. Writes requests to the file PATHS, and those for pages to
//! PATHS.pages, for `load`. `bulk DATABASE RECORDS` fills one whose pages are as full as they can be, and writes no requests.
//!
//! RECORDS are copies of 10,000 runs, each with another id, card, submitter and day. A run is the one that `load` submits with all figures
//! changed by a factor of its own, on one of 10,000 products (a few have many runs) and 20 boards. The bytes of a copy are those of its run.
//! For full pages these are 1,500 runs of 300 products with long names on 120 boards; a few boards have many runs.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a program for the hand"
)]

use std::fmt::Write as _;
use std::time::Instant;

use cardmark_core::{Rng, parse_record};
use cardmark_samples::in_a_reader;
use cardmark_share::{Derivation, derive, read_submission, write_submission};
use cardmark_site_store::{Incoming, SiteStore};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Distinct runs, with their products and boards; all others are copies of them.
struct Shape {
    runs: u64,
    products: u64,
    name: fn(u64) -> String,
    board: fn(u64) -> u64,
}

const USUAL: Shape = Shape {
    runs: 10_000,
    products: 10_000,
    name: |product| format!("Card {product}"),
    board: |run| run % 20,
};
/// For full pages.
const FULL: Shape = Shape {
    runs: 1_500,
    products: 300,
    name: |product| {
        let maker = [
            "SanDisk Extreme",
            "Samsung PRO Plus",
            "Kingston Canvas Go",
            "Lexar 1066x",
        ];
        let (maker, size) = (maker[(product % 4) as usize], 16 << (product % 7));
        format!("{maker} A2 V30 U3 UHS-I {size} GB, edition {product}")
    },
    board: |run| {
        let unit = Rng::for_part(1, "board", run).unit();
        (120.0 * unit * unit) as u64
    },
};
/// Records of a transaction.
const TOGETHER: u64 = 500;
/// Requests of each kind.
const REQUESTS: u64 = 2_000;
/// The first of January 2026, and a copy each 10 s.
const BEGIN_MS: i64 = 1_767_225_600_000;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (address, records, paths) = match words.as_slice() {
        [address, records] => (address, records, None),
        [address, records, paths] => (address, records, Some(paths)),
        _ => {
            println!("usage: bulk DATABASE RECORDS [PATHS]");
            return;
        }
    };
    let shape = paths.map_or(FULL, |_| USUAL);
    let records: u64 = records.parse().unwrap();
    let (text, derivation) = base();
    let bodies: Vec<(Vec<u8>, [u8; 32])> = (0..shape.runs.min(records))
        .map(|run| body(&text, run))
        .collect();
    let store = SiteStore::open(address).await.unwrap();
    let begin = Instant::now();
    for first in (0..records).step_by(TOGETHER as usize) {
        let part = (first..records.min(first + TOGETHER)).map(|number| {
            let document = bodies[(number % shape.runs) as usize].clone();
            incoming(&shape, &derivation, number, document)
        });
        store.load(part.collect()).await.unwrap();
    }
    let loaded = begin.elapsed().as_secs_f64();
    println!(
        "{records} records in {loaded:.0} s, {:.0}/s",
        records as f64 / loaded
    );
    let begin = Instant::now();
    let products = store.rebuild_summaries().await.unwrap();
    println!(
        "{products} products summarised in {:.0} s",
        begin.elapsed().as_secs_f64()
    );
    if let Some(paths) = paths {
        let contexts = store.contexts("rand_read_4k", None, 100).await.unwrap();
        let contexts: Vec<i64> = contexts.into_iter().map(|context| context.key).collect();
        let [api, pages] = requests(records, &contexts);
        std::fs::write(paths, api).unwrap();
        std::fs::write(format!("{paths}.pages"), pages).unwrap();
    }
    store.close().await;
}

fn base() -> (String, Derivation) {
    let file = format!("{}/fixtures/run-quick.json.zst", env!("CARGO_MANIFEST_DIR"));
    let packed = std::fs::read(file).unwrap();
    let text = String::from_utf8(zstd::bulk::decompress(&packed, 16 << 20).unwrap()).unwrap();
    let record = in_a_reader(&parse_record(&text).unwrap());
    let (text, _) = write_submission(&record, 1, &[]).unwrap();
    let derivation = derive(&read_submission(&text).unwrap(), "2026-12-01");
    (text, derivation)
}

/// Few products have many runs: the k-th about 50 ÷ √k.
fn product_of(shape: &Shape, run: u64) -> u64 {
    let unit = Rng::for_part(1, "product", run).unit();
    (shape.products as f64 * unit * unit) as u64
}

fn id_of(number: u64) -> Uuid {
    let mut rng = Rng::for_part(1, "id", number);
    Uuid::from_u64_pair(rng.next_u64(), rng.next_u64())
}

/// Packed document and its digest.
fn body(text: &str, run: u64) -> (Vec<u8>, [u8; 32]) {
    let old = text.split("\"id\":\"").nth(1).unwrap().get(..36).unwrap();
    let text = text.replace(old, &id_of(run).to_string());
    let packed = zstd::bulk::compress(text.as_bytes(), 3).unwrap();
    (packed, Sha256::digest(text).into())
}

fn incoming(
    shape: &Shape,
    derivation: &Derivation,
    number: u64,
    (packed, digest): (Vec<u8>, [u8; 32]),
) -> Incoming {
    let run = number % shape.runs;
    let board = format!("Board {}", (shape.board)(run));
    let mut rng = Rng::for_part(1, "copy", number);
    let mut extract = derivation.extract.clone();
    extract.id = id_of(number);
    extract.product_name = Some((shape.name)(product_of(shape, run)));
    extract.context.insert("board".to_owned(), board.clone());
    extract.board = Some(board);
    extract.bus = Some(["sdr104", "hs", "sdr50"][(run % 3) as usize].to_owned());
    extract.command_queue = Some(["on", "off"][(run % 2) as usize].to_owned());
    extract.evidence = Some(format!("{:016x}{:016x}", rng.next_u64(), rng.next_u64()));
    let day = 1 + number % 28;
    extract.day = Some(format!("2026-{:02}-{day:02}", 1 + number / 28 % 12));
    // Within a factor of four.
    let factor = libm::exp2(2.0 * Rng::for_part(1, "run", run).unit() - 1.0);
    for figure in &mut extract.figures {
        figure.value *= factor * (0.95 + 0.1 * rng.unit());
        figure.is_uneven = false;
    }
    let mut words = || [rng.next_u64().to_le_bytes(), rng.next_u64().to_le_bytes()].concat();
    let (card, tag): (Vec<u8>, Vec<u8>) = (words(), words());
    Incoming {
        digest,
        record_digest: [words(), words()].concat().try_into().unwrap(),
        packed,
        extract,
        checks: derivation.checks.clone(),
        card: card.try_into().unwrap(),
        tag: Some(tag.try_into().unwrap()),
        token_hash: Some([1; 32]),
        revision: 1,
        received_ms: BEGIN_MS + number as i64 * 10_000,
        limits: Vec::new(),
        newcomers: None,
    }
}

/// Requests of all kinds in turn: of the API, and for pages.
fn requests(records: u64, contexts: &[i64]) -> [String; 2] {
    let (mut text, mut pages) = (String::new(), String::new());
    for request in 0..REQUESTS {
        let mut rng = Rng::for_part(1, "request", request);
        let id = id_of(rng.below(records));
        let product = product_of(&USUAL, rng.below(USUAL.runs));
        let board = rng.below(20);
        let least = 1000.0 * (1.0 + rng.unit());
        let search = match request % 6 {
            0 => String::new(),
            1 => format!("product=Card+{product}"),
            2 => format!("board=Board+{board}&queue=on"),
            3 => format!("metric=rand_read_4k&least={least}&most={}", least * 1.5),
            4 => format!("from=2026-03-{:02}&to=2026-05-01&bus=hs", 1 + rng.below(28)),
            _ => format!("suite=quick+2&bus=sdr104&metric=rand_read_4k&least={least}"),
        };
        let _ = writeln!(text, "/api/v1/records/{id}");
        let _ = writeln!(text, "/api/v1/records/{id}/document");
        let _ = writeln!(text, "/api/v1/products/~card%20{product}");
        let _ = writeln!(text, "/api/v1/products?q=card+{product}");
        let context = contexts[rng.below(contexts.len() as u64) as usize];
        let ranking = format!("/rankings?metric=rand_read_4k&context={context}");
        let _ = writeln!(text, "/api/v1{ranking}");
        let _ = writeln!(text, "/api/v1/records?{search}");
        let _ = writeln!(pages, "/runs/{id}");
        let _ = writeln!(pages, "/products/~card%20{product}");
        let _ = writeln!(pages, "{ranking}");
        let _ = writeln!(pages, "/runs?{search}");
    }
    [text, pages]
}
