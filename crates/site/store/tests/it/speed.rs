//! Rates of many writes and searches together, which are printed; as a test only that they work. To measure:
//! `CARDMARK_SPEED_RECORDS=3200 scripts/postgres cargo test -p cardmark-site-store --release -- --nocapture speed`.

use std::time::Instant;

use cardmark_core::Quantity;
use cardmark_share::Figure;
use cardmark_site_store::{Incoming, MetricRange, Search, SiteStore};

use crate::samples::incoming;
use crate::site::{Site, with_postgres, with_sqlite};

const BATCH: u128 = 64;
const METRICS_COUNT: u32 = 25;

/// A record such as `quick` makes; every second one is of one product.
fn typical(run: u128) -> Incoming {
    let product = if run.is_multiple_of(2) {
        "Popular".to_owned()
    } else {
        format!("Card {}", run % 1000)
    };
    let mut one = incoming(run, &product, (run % 200) as u8, (run % 251) as u8);
    one.packed = (0..17_000_u64)
        .map(|byte| (byte.wrapping_mul(run as u64 + 7) >> 3) as u8)
        .collect();
    one.extract.board = Some(format!("Board {}", run % 20));
    one.extract.context = (0..12)
        .map(|key| (format!("key {key}"), "some value".to_owned()))
        .collect();
    one.extract.figures = (0..METRICS_COUNT)
        .map(|metric| Figure {
            metric: format!("metric_{metric}"),
            quantity: Quantity::ByteRate,
            value: 1e6
                * (1.0 + f64::from(metric) + (run.wrapping_mul(7919) % 1000) as f64 / 1000.0),
            is_uneven: false,
        })
        .collect();
    one
}

async fn fill(store: &SiteStore, runs: std::ops::Range<u128>) {
    let mut next = runs.start;
    while next < runs.end {
        let batch = (next..(next + BATCH).min(runs.end)).map(|run| {
            let store = store.clone();
            tokio::spawn(async move { store.put(typical(run)).await.unwrap() })
        });
        for put in batch.collect::<Vec<_>>() {
            put.await.unwrap();
        }
        next += BATCH;
    }
}

async fn measure(site: Site) {
    let store = site.open().await;
    fill(&store, 1..BATCH).await;
    let mut first = BATCH;
    let steps = std::env::var("CARDMARK_SPEED_RECORDS").map_or(128, |count| count.parse().unwrap());
    for count in [steps, steps] {
        let begin = Instant::now();
        fill(&store, first..first + count).await;
        let rate = count as f64 / begin.elapsed().as_secs_f64();
        first += count;
        println!("{}: {rate:.0} puts/s, {first} records", site.address);
        pages(&store).await;
    }
    store.close().await;
}

async fn pages(store: &SiteStore) {
    let popular = Some("~popular".to_owned());
    let metric = Some(MetricRange {
        metric: "metric_3".to_owned(),
        least: 4.2e6,
        most: 4.3e6,
    });
    let board = Some("Board 3".to_owned());
    let days = Some(("2026-11-01".to_owned(), "2026-11-30".to_owned()));
    let none = Search {
        limit: 50,
        ..Search::default()
    };
    for (name, search) in [
        ("all", none.clone()),
        (
            "product and board",
            Search {
                product: popular.clone(),
                board: board.clone(),
                ..none.clone()
            },
        ),
        (
            "board",
            Search {
                board,
                ..none.clone()
            },
        ),
        (
            "product and days",
            Search {
                product: popular.clone(),
                days,
                ..none.clone()
            },
        ),
        (
            "metric",
            Search {
                metric: metric.clone(),
                ..none.clone()
            },
        ),
        (
            "product and metric",
            Search {
                product: popular,
                metric,
                ..none.clone()
            },
        ),
    ] {
        let begin = Instant::now();
        for _ in 0..20 {
            store.search(&search).await.unwrap();
        }
        println!(
            "  {name}: {:.2} ms",
            begin.elapsed().as_secs_f64() * 1000.0 / 20.0
        );
    }
    let begin = Instant::now();
    store.product("~popular", None, 200).await.unwrap().unwrap();
    store.contexts("metric_3", None, 30).await.unwrap();
    println!(
        "  product and contexts: {:.2} ms",
        begin.elapsed().as_secs_f64() * 1000.0
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn speed_of_sqlite() {
    with_sqlite(measure).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn speed_of_postgres() {
    with_postgres(measure).await;
}
