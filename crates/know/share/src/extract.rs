//! Values of a record that a site keeps for searching and for summaries.

use std::collections::BTreeMap;

use cardmark_catalog::product;
use cardmark_core::{
    Context, DeviceInfo, OriginKind, Quantity, Record, StorageKind, evidence_digest, is_hidden,
    name_of,
};
use cardmark_judge::{is_too_uneven, ordered_metrics, stated_product, storage_kind};
use cardmark_report::result_of;
use jiff::civil::Date;
use serde_json::json;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::secrets::TAG_BYTES;

/// Longest text of a name that is kept for searching, characters.
const MOST_NAME_CHARACTERS: usize = 120;

/// Part of the site in which a record is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// Storage.
    Shared,
    /// Simulated cards: on no page of a product.
    Simulated,
}

/// A figure of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Id of the metric.
    pub metric: String,
    /// Its quantity.
    pub quantity: Quantity,
    /// Its value, positive and finite.
    pub value: f64,
    /// True if it is too uneven to be compared: no summary counts it.
    pub is_uneven: bool,
}

/// Values of a record that a site keeps beside its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Extract {
    /// Id of the run.
    pub id: Uuid,
    /// Part of the site.
    pub area: Area,
    /// Origin of the figures.
    pub origin: String,
    /// Id of the product in the catalogue.
    pub product: Option<String>,
    /// The product as its owner calls it, the catalogue's name if it is known there.
    pub product_name: Option<String>,
    /// Model that the device reports.
    pub model: Option<String>,
    /// Model of the board.
    pub board: Option<String>,
    /// Suite and version, or the test of storage.
    pub suite: Option<String>,
    /// Bus between reader and card.
    pub bus: Option<String>,
    /// State of the command queue, such as `on`.
    pub command_queue: Option<String>,
    /// Size of the device, bytes.
    pub size_bytes: Option<u64>,
    /// Day of the run.
    pub day: Option<String>,
    /// Kind of storage that a test of all blocks found.
    pub storage: Option<StorageKind>,
    /// Verdict and the figures that matter most, as the program lists runs.
    pub result: String,
    /// Digest of the measurements.
    pub evidence: Option<String>,
    /// Seed of the run.
    pub seed: Option<String>,
    /// Values that must match before figures are summarised, with the board.
    pub context: BTreeMap<String, String>,
    /// Figures that are the device's, and have an order.
    pub figures: Vec<Figure>,
}

impl Extract {
    /// Takes what is needed from a record with the labels of its statement.
    pub fn of(record: &Record) -> Self {
        let device = record.devices.first();
        let label = |name: &str| record.labels.get(name).map(|text| short(text));
        let stated = label("product");
        let known = stated_product(record);
        let full = Context::of(record);
        let known_value = |name: &str| {
            full.must
                .get(name)
                .filter(|value| *value != "unknown")
                .map(|value| short(value))
        };
        let mut context: BTreeMap<String, String> = full
            .must
            .iter()
            .map(|(name, value)| (name.clone(), short(value)))
            .collect();
        context.insert(
            "board".to_owned(),
            board(record).unwrap_or_else(|| "unknown".to_owned()),
        );
        let test = record.integrity.as_ref().map(|test| name_of(&test.test));
        let is_simulated = record.origin.kind == OriginKind::Simulated;
        Self {
            id: record.id,
            area: if is_simulated {
                Area::Simulated
            } else {
                Area::Shared
            },
            origin: name_of(&record.origin.kind),
            product: known.map(|row| row.id.clone()),
            product_name: known.map(cardmark_catalog::Product::name).or(stated),
            model: device.and_then(|device| device.model.as_deref()).map(short),
            board: board(record),
            suite: known_value("suite").or(test),
            bus: known_value("bus"),
            command_queue: known_value("command_queue"),
            size_bytes: device.and_then(|device| device.size_bytes),
            day: record.started_at.as_deref().and_then(day),
            storage: storage_kind(record),
            result: short(&result_of(record)),
            evidence: evidence_digest(record),
            seed: record
                .seed
                .as_deref()
                .filter(|seed| is_seed(seed))
                .map(str::to_owned),
            context,
            figures: figures(record),
        }
    }

    /// The key of the product on a site ([`product_key`]).
    pub fn product_key(&self) -> Option<String> {
        self.product_name.as_deref().map(product_key)
    }
}

/// The key of a product on a site: its id in the catalogue, or `~` and its name in small letters.
pub fn product_key(name: &str) -> String {
    match product(name) {
        Some(known) => known.id.clone(),
        None => format!("~{}", short(name.trim_start_matches('~')).to_lowercase()),
    }
}

fn board(record: &Record) -> Option<String> {
    record.board.as_ref()?.model.as_deref().map(short)
}

/// A text without control characters and hidden ones, which neither a database nor a page should have to bear.
fn short(text: &str) -> String {
    let shown: String = text
        .chars()
        .filter(|c| c.is_whitespace() || !is_hidden(*c))
        .collect();
    shown
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(MOST_NAME_CHARACTERS)
        .collect()
}

/// The day at the beginning of a time; `None` if it is none.
fn day(text: &str) -> Option<String> {
    let day: Date = text.get(..10)?.parse().ok()?;
    Some(day.to_string())
}

fn is_seed(text: &str) -> bool {
    (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn figures(record: &Record) -> Vec<Figure> {
    let ordered = ordered_metrics(record).into_iter();
    let usable = ordered.filter(|metric| metric.value.is_finite() && metric.value > 0.0);
    usable
        .map(|metric| Figure {
            metric: short(&metric.id),
            quantity: metric.quantity,
            value: metric.value,
            is_uneven: is_too_uneven(metric),
        })
        .collect()
}

/// The key of a context: the first 8 bytes of the SHA-256 of its canonical JSON.
pub fn context_key(context: &BTreeMap<String, String>) -> i64 {
    let digest = Sha256::digest(json!(context).to_string().as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(bytes)
}

/// The key of a card on a site: its registers without the serial number, its size, its sample id, and who sent it.
///
/// Without the submitter in it, anybody could send runs of a card that somebody else measured, and move its figure. All
/// cards of a submitter without a sample id are one.
pub fn card_key(record: &Record, tag: Option<&[u8; TAG_BYTES]>) -> [u8; 16] {
    let device = record.devices.first();
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(tag.map_or(&[], |tag| &tag[..]));
    part(
        device
            .and_then(DeviceInfo::card_id)
            .unwrap_or_default()
            .as_bytes(),
    );
    part(
        &device
            .and_then(|device| device.size_bytes)
            .unwrap_or(0)
            .to_le_bytes(),
    );
    let model = device.and_then(|device| device.model.as_deref());
    part(model.unwrap_or_default().as_bytes());
    let card = device.and_then(|device| device.card.as_ref());
    let registers = card.map(|card| json!(card.decoded).to_string());
    part(registers.unwrap_or_default().as_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hash.finalize()[..16]);
    key
}
