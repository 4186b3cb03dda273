//! Forged cards against the median of a product: `medians [CARDS [DRAWS]]`. See `benchmarks/site/medians`.
//!
//! Products have honest cards, each of another submitter, whose figures differ as cards of one product do. Then submitters come
//! whose cards are three times as fast, and whose runs pass all checks. There are DRAWS products (20) of each size. To the first
//! with 6, 12, 30 and 100 cards, the first forger sends CARDS cards (10,000); all others send 20. Each submitter has one voice.
//!
//! The store is SQLite in a temporary file; then PostgreSQL, if `CARDMARK_TEST_POSTGRES` is the address of an empty database.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a program that prints tables"
)]

use std::time::Instant;

use cardmark_core::{Quantity, Rng};
use cardmark_share::{
    Area, Check, CheckName, CheckOutcome, Extract, Figure, LEAST_SUBMITTERS,
    MOST_CARDS_OF_A_SUBMITTER, Summary, Voice,
};
use cardmark_site_store::{Incoming, Put, SiteStore, State};
use uuid::Uuid;

/// Honest cards of a product, each of another submitter.
const SIZES: [u32; 9] = [1, 2, 3, 5, 6, 8, 12, 30, 100];
/// Sizes with one product that gets the flood of cards.
const FLOODED: [u32; 4] = [6, 12, 30, 100];
/// Forging submitters after which the median is read.
const FORGERS: [u32; 5] = [1, 2, 3, 5, 10];
/// Cards that a forger sends, unless it is the first of all.
const USUAL_CARDS: u32 = 20;
/// Standard deviation of the logarithm between cards of one product: the value that `compare` assumes.
const SPREAD: f64 = 0.10;
/// Forged cards are faster by this factor.
const FASTER: f64 = 3.0;
const METRIC: &str = "rand_read_4k";
const HONEST: f64 = 1_500.0;
/// 26 November 2026.
const NOW_MS: i64 = 1_795_651_200_000;
/// Writes that wait for the same commit.
const TOGETHER: usize = 64;

/// A card with one run.
struct Card {
    product: String,
    submitter: u128,
    number: u128,
    value: f64,
}

/// Makes submissions.
#[derive(Default)]
struct Sender {
    runs: u128,
    cards: u128,
    submitters: u128,
    marked: u64,
}

impl Sender {
    fn submitter(&mut self) -> u128 {
        self.submitters += 1;
        self.submitters
    }

    fn card(&mut self, product: &str, submitter: u128, value: f64) -> Card {
        self.cards += 1;
        Card {
            product: product.to_owned(),
            submitter,
            number: self.cards,
            value,
        }
    }

    async fn send(&mut self, store: &SiteStore, cards: Vec<Card>) {
        let mut waiting = Vec::new();
        for card in cards {
            self.runs += 1;
            let (store, one) = (store.clone(), incoming(self.runs, &card));
            waiting.push(tokio::spawn(async move { store.put(one).await.unwrap() }));
            if waiting.len() == TOGETHER {
                self.receive(&mut waiting).await;
            }
        }
        self.receive(&mut waiting).await;
    }

    async fn receive(&mut self, waiting: &mut Vec<tokio::task::JoinHandle<Put>>) {
        for put in waiting.drain(..) {
            let Put::New(head) = put.await.unwrap() else {
                panic!("a run was not new");
            };
            assert_eq!(head.state, State::Shared);
            let is_marked = |check: &Check| check.outcome == CheckOutcome::Marked;
            self.marked += u64::from(head.checks.iter().any(is_marked));
        }
    }
}

/// A run that has passed all checks by itself.
fn incoming(run: u128, card: &Card) -> Incoming {
    let id = Uuid::from_u128(run);
    let mut digest = [0; 32];
    digest[..16].copy_from_slice(id.as_bytes());
    let names = [
        CheckName::Recomputed,
        CheckName::Accounting,
        CheckName::Seed,
        CheckName::Physics,
        CheckName::Dates,
    ];
    let passed = |name| Check {
        name,
        outcome: CheckOutcome::Passed,
        reason: String::new(),
    };
    Incoming {
        packed: Vec::new(),
        digest,
        record_digest: digest,
        extract: extract(id, card),
        checks: names.map(passed).to_vec(),
        card: card.number.to_be_bytes(),
        tag: Some(card.submitter.to_be_bytes()),
        token_hash: None,
        revision: 0,
        received_ms: NOW_MS + i64::try_from(run).unwrap(),
        limits: Vec::new(),
        newcomers: None,
    }
}

fn extract(id: Uuid, card: &Card) -> Extract {
    Extract {
        id,
        area: Area::Shared,
        origin: "measured".to_owned(),
        product: None,
        product_name: Some(card.product.clone()),
        model: None,
        board: None,
        suite: Some("quick 2".to_owned()),
        bus: None,
        command_queue: None,
        size_bytes: Some(32_000_000_000),
        day: Some("2026-11-26".to_owned()),
        storage: None,
        result: String::new(),
        evidence: Some(id.to_string()),
        seed: None,
        context: [("suite".to_owned(), "quick 2".to_owned())].into(),
        figures: vec![Figure {
            metric: METRIC.to_owned(),
            quantity: Quantity::OperationRate,
            value: card.value,
            is_uneven: false,
        }],
    }
}

/// Draws a number from the standard normal distribution (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * rng.unit()).cos()
}

/// Summary of the product as the store has it.
async fn summary(store: &SiteStore, product: &str) -> Summary {
    let key = cardmark_share::product_key(product);
    let (_, rows) = store.product(&key, None, 200).await.unwrap().unwrap();
    let row = rows.into_iter().find(|row| row.metric == METRIC).unwrap();
    row.submitters
}

/// Medians of a product before and after.
#[derive(Clone, Copy)]
struct Moved {
    factor: f64,
    is_inside: Option<bool>,
    is_ranked: bool,
}

fn moved(before: &Summary, after: &Summary) -> Moved {
    let (was, interval) = before.median().unwrap();
    let (is, _) = after.median().unwrap();
    Moved {
        factor: is / was,
        is_inside: interval.map(|interval| (interval.low..=interval.high).contains(&is)),
        is_ranked: after.count() >= LEAST_SUBMITTERS,
    }
}

/// The same product if each card counted by itself, up to the most of a submitter.
fn by_card(before: &Summary, forgers: u32) -> Summary {
    let mut after = before.clone();
    let cards = u64::from(forgers) * MOST_CARDS_OF_A_SUBMITTER;
    (0..cards).for_each(|_| after.add(FASTER * HONEST, Voice::NEW));
    after
}

/// Products of one size.
#[derive(Default)]
struct OfSize {
    /// Of the store, for each number of forgers.
    as_stored: Vec<Vec<Moved>>,
    by_card: Vec<Vec<Moved>>,
    /// Half the width of the interval before, relative to the median.
    half_widths: Vec<f64>,
}

impl OfSize {
    async fn measure(
        store: &SiteStore,
        sender: &mut Sender,
        size: u32,
        (cards, draws): (u32, u32),
    ) -> Self {
        let mut rng = Rng::new(u64::from(size));
        let mut found = Self {
            as_stored: vec![Vec::new(); FORGERS.len()],
            by_card: vec![Vec::new(); FORGERS.len()],
            ..Self::default()
        };
        for draw in 0..draws {
            let product = format!("Card {size} {draw}");
            let honest = (0..size).map(|_| {
                let submitter = sender.submitter();
                let value = HONEST * (SPREAD * normal(&mut rng)).exp();
                sender.card(&product, submitter, value)
            });
            let honest = honest.collect();
            sender.send(store, honest).await;
            let before = summary(store, &product).await;
            assert_eq!(before.count(), u64::from(size));
            if let Some((value, Some(interval))) = before.median() {
                found
                    .half_widths
                    .push((interval.high - interval.low) / 2.0 / value);
            }
            let mut there = 0;
            for (at, forgers) in FORGERS.into_iter().enumerate() {
                while there < forgers {
                    let count = if draw == 0 && there == 0 && FLOODED.contains(&size) {
                        cards
                    } else {
                        USUAL_CARDS
                    };
                    let submitter = sender.submitter();
                    let forged = (0..count)
                        .map(|_| sender.card(&product, submitter, FASTER * HONEST))
                        .collect();
                    sender.send(store, forged).await;
                    there += 1;
                }
                let after = summary(store, &product).await;
                assert_eq!(after.count(), u64::from(size + forgers));
                found.as_stored[at].push(moved(&before, &after));
                found.by_card[at].push(moved(&before, &by_card(&before, forgers)));
            }
        }
        found
    }
}

/// Largest factor, and number of products whose median left its interval.
fn cell(of_products: &[Moved]) -> String {
    let most = of_products.iter().map(|one| one.factor).fold(0.0, f64::max);
    let outside = of_products
        .iter()
        .filter(|one| one.is_inside == Some(false))
        .count();
    let of = of_products
        .iter()
        .filter(|one| one.is_inside.is_some())
        .count();
    let state = match (of, outside) {
        (0, _) if of_products.iter().any(|one| one.is_ranked) => "no interval, ranked".to_owned(),
        (0, _) => "no interval, not ranked".to_owned(),
        (_, 0) => "inside".to_owned(),
        _ => format!("**{outside}/{of} outside**"),
    };
    format!("×{most:.2} {state}")
}

fn print_rows(title: &str, rows: &[(u32, Vec<Vec<Moved>>, f64)]) {
    println!("{title}\n");
    let heads = FORGERS.map(|count| format!("{count} forgers")).join(" | ");
    println!("| Honest cards | half of the interval | {heads} |");
    println!("|---:|---:|{}", "---|".repeat(FORGERS.len()));
    for (size, of_forgers, half) in rows {
        let cells: Vec<String> = of_forgers.iter().map(|moved| cell(moved)).collect();
        let half = if *half > 0.0 {
            format!("{:.0} %", 100.0 * half)
        } else {
            "–".to_owned()
        };
        println!("| {size} | {half} | {} |", cells.join(" | "));
    }
    println!();
}

async fn measure(store: &SiteStore, kind: &str, (cards, draws): (u32, u32)) -> bool {
    let began = Instant::now();
    let mut sender = Sender::default();
    let (mut stored, mut by_card) = (Vec::new(), Vec::new());
    let mut is_met = true;
    for size in SIZES {
        let of_size = OfSize::measure(store, &mut sender, size, (cards, draws)).await;
        is_met &= of_size.as_stored[0]
            .iter()
            .all(|one| one.is_inside != Some(false));
        let count = of_size.half_widths.len().max(1) as f64;
        let half = of_size.half_widths.iter().sum::<f64>() / count;
        stored.push((size, of_size.as_stored, half));
        by_card.push((size, of_size.by_card, half));
    }
    print_rows(
        &format!("{kind}: each submitter has one voice, as the site counts"),
        &stored,
    );
    print_rows(
        &format!(
            "For comparison, computed: up to {MOST_CARDS_OF_A_SUBMITTER} cards of each submitter count"
        ),
        &by_card,
    );
    println!(
        "{kind}: {} runs in {:.0} s, {} of them marked, none quarantined; one submitter moves no median beyond its interval: {}\n",
        sender.runs,
        began.elapsed().as_secs_f64(),
        sender.marked,
        if is_met { "met" } else { "MISSED" }
    );
    is_met
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let mut words = std::env::args().skip(1).map(|word| word.parse().unwrap());
    let numbers = (words.next().unwrap_or(10_000), words.next().unwrap_or(20));
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite:{}", folder.path().join("site.sqlite").display());
    let addresses = [
        ("SQLite", Some(file)),
        ("PostgreSQL", std::env::var("CARDMARK_TEST_POSTGRES").ok()),
    ];
    let mut is_met = true;
    for (kind, address) in addresses {
        if let Some(address) = address {
            let store = SiteStore::open(&address).await.unwrap();
            is_met &= measure(&store, kind, numbers).await;
            store.close().await;
        }
    }
    match is_met {
        true => std::process::ExitCode::SUCCESS,
        false => std::process::ExitCode::FAILURE,
    }
}
