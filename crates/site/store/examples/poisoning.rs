//! Forged submitters against the median and the place of a product: `poisoning`. See `benchmarks/poisoning/run`.
//!
//! Each product has honest submitters, whose first runs arrived within the year before, each from a network of its own. Then forgers
//! come from 1 or 10 networks, whose cards are three times as fast, and whose runs pass all checks. A forger whose run does not count
//! sends another one each day, until it does. The store is SQLite in a temporary file.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a program that prints tables"
)]

use std::collections::BTreeMap;

use cardmark_core::{Quantity, Rng};
use cardmark_share::{Area, Check, CheckName, CheckOutcome, Extract, Figure, Summary, Voice};
use cardmark_site_store::{Bucket, Incoming, Put, SiteStore, State};
use uuid::Uuid;

/// Honest submitters of a product.
const HONEST: [u32; 3] = [5, 20, 100];
const FORGERS: [u32; 4] = [1, 3, 10, 100];
const NETWORKS: [u32; 2] = [1, 10];
/// Days after the first forged runs on which the product is read.
const READ_ON: [i64; 3] = [0, 8, 40];
/// Standard deviation of the logarithm between cards of one product: the value that `compare` assumes.
const SPREAD: f64 = 0.10;
/// Forged cards are faster by this factor.
const FASTER: f64 = 3.0;
const METRIC: &str = "rand_read_4k";
const TRUE_RATE: f64 = 1_500.0;
/// Medians of the other products, relative to the true one: ten faster, ten slower, 5 % apart.
const OTHERS: i32 = 10;
const STEP: f64 = 1.05;
/// 26 November 2026.
const NOW_MS: i64 = 1_795_651_200_000;
const DAY_MS: i64 = 86_400_000;
/// As a site does if it is not configured otherwise.
const NEW_SUBMITTERS_PER_DAY: f64 = 3.0;

/// A run of a submitter's card.
struct Run {
    product: String,
    submitter: u128,
    network: u128,
    value: f64,
    received_ms: i64,
}

/// Makes runs.
#[derive(Default)]
struct Sender {
    runs: u128,
    submitters: u128,
    networks: u128,
}

impl Sender {
    fn submitter(&mut self) -> u128 {
        self.submitters += 1;
        self.submitters
    }

    fn networks(&mut self, count: u32) -> Vec<u128> {
        let first = self.networks;
        self.networks += u128::from(count);
        (first..self.networks).collect()
    }

    /// Sends a run; returns whether it counts.
    async fn send(&mut self, store: &SiteStore, run: &Run) -> bool {
        self.runs += 1;
        let Put::New(head) = store.put(incoming(self.runs, run)).await.unwrap() else {
            panic!("a run was not new");
        };
        assert_eq!(head.state, State::Shared);
        cardmark_share::counts(&head.checks)
    }
}

fn incoming(number: u128, run: &Run) -> Incoming {
    let id = Uuid::from_u128(number);
    let mut digest = [0; 32];
    digest[..16].copy_from_slice(id.as_bytes());
    Incoming {
        packed: Vec::new(),
        digest,
        record_digest: digest,
        extract: extract(id, run),
        checks: vec![Check {
            name: CheckName::Recomputed,
            outcome: CheckOutcome::Passed,
            reason: String::new(),
        }],
        card: run.submitter.to_be_bytes(),
        tag: Some(run.submitter.to_be_bytes()),
        token_hash: None,
        revision: 0,
        received_ms: run.received_ms,
        limits: Vec::new(),
        newcomers: Some(Bucket {
            key: run.network.to_be_bytes(),
            most: NEW_SUBMITTERS_PER_DAY,
            per_hour: NEW_SUBMITTERS_PER_DAY / 24.0,
        }),
    }
}

fn extract(id: Uuid, run: &Run) -> Extract {
    Extract {
        id,
        area: Area::Shared,
        origin: "measured".to_owned(),
        product: None,
        product_name: Some(run.product.clone()),
        model: None,
        board: None,
        suite: Some("quick 2".to_owned()),
        bus: None,
        command_queue: None,
        size_bytes: Some(32_000_000_000),
        day: None,
        storage: None,
        evidence: Some(id.to_string()),
        result: String::new(),
        seed: None,
        context: BTreeMap::from([("suite".to_owned(), "quick 2".to_owned())]),
        figures: vec![Figure {
            metric: METRIC.to_owned(),
            quantity: Quantity::OperationRate,
            value: run.value,
            is_uneven: false,
        }],
    }
}

/// Draws a number from the standard normal distribution (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * rng.unit()).cos()
}

async fn summary(store: &SiteStore, product: &str) -> Summary {
    let key = cardmark_share::product_key(product);
    let (_, rows) = store.product(&key, None, 200).await.unwrap().unwrap();
    let row = rows.into_iter().find(|row| row.metric == METRIC).unwrap();
    row.submitters
}

/// Place among the other products, the fastest first.
fn place(median: f64) -> i32 {
    let others = (-OTHERS..=OTHERS).filter(|step| *step != 0);
    let faster = others.filter(|step| TRUE_RATE * STEP.powi(*step) > median);
    1 + i32::try_from(faster.count()).unwrap()
}

fn median(summary: &Summary) -> f64 {
    summary.median().unwrap().0
}

/// Movement of median and place.
fn moved(before: f64, after: f64) -> String {
    let percent = 100.0 * (after / before - 1.0);
    format!("{percent:+.0} %, {} → {}", place(before), place(after))
}

/// A product with honest submitters, and all their figures.
async fn honest(store: &SiteStore, sender: &mut Sender, product: &str, count: u32) -> Vec<f64> {
    let mut rng = Rng::new(u64::from(count));
    let mut values = Vec::new();
    for index in 0..count {
        let value = TRUE_RATE * (SPREAD * normal(&mut rng)).exp();
        let days = 365 * i64::from(count - index) / i64::from(count);
        let run = Run {
            product: product.to_owned(),
            submitter: sender.submitter(),
            network: sender.networks(1)[0],
            value,
            received_ms: NOW_MS - days * DAY_MS,
        };
        assert!(sender.send(store, &run).await);
        values.push(value);
    }
    values
}

/// One row: with each submitter counting the same, as before, and as the site counts on each day.
async fn row(
    store: &SiteStore,
    sender: &mut Sender,
    (count, forgers, networks): (u32, u32, u32),
) -> String {
    let product = format!("Card {count} {forgers} {networks}");
    let mut values = honest(store, sender, &product, count).await;
    store.reweigh(NOW_MS).await.unwrap();
    let before = median(&summary(store, &product).await);
    let networks_of = sender.networks(networks);
    let mut waiting: Vec<Run> = (0..forgers as usize)
        .map(|index| Run {
            product: product.clone(),
            submitter: sender.submitter(),
            network: networks_of[index % networks_of.len()],
            value: FASTER * TRUE_RATE,
            received_ms: NOW_MS,
        })
        .collect();
    let mut equal = Summary::default();
    values.extend(waiting.iter().map(|run| run.value));
    values
        .iter()
        .for_each(|value| equal.add(*value, Voice::NEW));
    let mut cells = vec![moved(before, median(&equal))];
    for day in 0..=*READ_ON.last().unwrap() {
        let now_ms = NOW_MS + day * DAY_MS + DAY_MS / 2;
        let mut left = Vec::new();
        for mut run in waiting {
            run.received_ms = now_ms;
            if !sender.send(store, &run).await {
                left.push(run);
            }
        }
        waiting = left;
        store.reweigh(now_ms).await.unwrap();
        if READ_ON.contains(&day) {
            cells.push(moved(before, median(&summary(store, &product).await)));
        }
    }
    format!(
        "| {count} | {forgers} | {networks} | {} |",
        cells.join(" | ")
    )
}

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", folder.path().join("site.sqlite").display());
    let store = SiteStore::open(&address).await.unwrap();
    let mut sender = Sender::default();
    let days: Vec<String> = READ_ON.iter().map(|day| format!("day {day}")).collect();
    println!(
        "| honest | forged | networks | all submitters equal | {} |",
        days.join(" | ")
    );
    println!("|---:|---:|---:|{}", "---|".repeat(1 + READ_ON.len()));
    for count in HONEST {
        for forgers in FORGERS {
            for networks in NETWORKS {
                println!(
                    "{}",
                    row(&store, &mut sender, (count, forgers, networks)).await
                );
            }
        }
    }
    println!("\n{} runs", sender.runs);
    store.close().await;
}
