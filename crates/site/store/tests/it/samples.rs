//! Submissions made by hand.

use cardmark_core::Quantity;
use cardmark_share::{Area, Check, CheckName, CheckOutcome, Extract, Figure};
use cardmark_site_store::{Amendment, Incoming};
use uuid::Uuid;

pub(crate) const DAY_MS: i64 = 86_400_000;
/// 25 November 2026.
pub(crate) const NOW_MS: i64 = 1_795_564_800_000;
pub(crate) const METRICS: [&str; 2] = ["seq_read", "rand_read_4k"];

/// A record of a card of a product, whose figures follow from the number of the run.
pub(crate) fn incoming(run: u128, product: &str, submitter: u8, card: u8) -> Incoming {
    let id = Uuid::from_u128(run);
    let mut digest = [0; 32];
    digest[..16].copy_from_slice(id.as_bytes());
    let mut card_key = [card; 16];
    card_key[15] = submitter;
    Incoming {
        packed: format!("packed {run}").into_bytes(),
        digest,
        record_digest: digest,
        extract: extract(run, product),
        checks: by_itself(CheckOutcome::Passed),
        card: card_key,
        tag: Some([submitter; 16]),
        token_hash: Some(token(run)),
        revision: 0,
        received_ms: NOW_MS + i64::try_from(run).unwrap_or(0),
        limits: Vec::new(),
        newcomers: None,
    }
}

pub(crate) fn token(run: u128) -> [u8; 32] {
    let mut token = [7; 32];
    token[..16].copy_from_slice(&run.to_be_bytes());
    token
}

pub(crate) fn by_itself(outcome: CheckOutcome) -> Vec<Check> {
    [CheckName::Recomputed, CheckName::Dates]
        .map(|name| Check {
            name,
            outcome,
            reason: String::new(),
        })
        .to_vec()
}

pub(crate) fn extract(run: u128, product: &str) -> Extract {
    let value = 1e6 * (1.0 + (run % 97) as f64 / 100.0);
    let figure = |metric: &str, factor: f64| Figure {
        metric: metric.to_owned(),
        quantity: Quantity::ByteRate,
        value: value * factor,
        is_uneven: false,
    };
    Extract {
        id: Uuid::from_u128(run),
        area: Area::Shared,
        origin: "measured".to_owned(),
        product: None,
        product_name: Some(product.to_owned()),
        model: Some("SC32G".to_owned()),
        board: Some("Board 5".to_owned()),
        suite: Some("quick 1".to_owned()),
        bus: Some("SDR104".to_owned()),
        command_queue: Some("on".to_owned()),
        size_bytes: Some(32_000_000_000),
        day: Some("2026-11-25".to_owned()),
        storage: None,
        result: "90.0/– MB/s".to_owned(),
        evidence: Some(format!("evidence {run}")),
        seed: None,
        context: [("board".to_owned(), "Board 5".to_owned())].into(),
        figures: vec![figure(METRICS[0], 90.0), figure(METRICS[1], 3.0)],
    }
}

/// A new statement that changes the product.
pub(crate) fn amendment(run: u128, product: &str, revision: u64) -> Amendment {
    let mut digest = [9; 32];
    digest[0] = u8::try_from(revision).unwrap();
    digest[16..].copy_from_slice(&run.to_be_bytes());
    Amendment {
        packed: format!("amended {run} {product}").into_bytes(),
        digest,
        revision,
        extract: extract(run, product),
        checks: by_itself(CheckOutcome::Passed),
        at_ms: NOW_MS + DAY_MS,
        limits: Vec::new(),
        newcomers: None,
    }
}
