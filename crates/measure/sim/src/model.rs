//! A model: the data of a simulated card.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::body::Body;
use crate::data::{
    BoardData, BridgeData, COOL, CacheData, FaultData, HeatData, ModelData, ServiceData, SwayData,
    broken_rule,
};
use crate::error::ModelError;
use crate::flash::FlashData;
use crate::ftl::FtlData;
use crate::library::{self, Entry, texts};
use crate::process::ProcessData;
use crate::service::{Service, Stall};
use crate::trace::Trace;
use crate::units::UnitsData;

/// Sizes of a scaled model are multiples of this, bytes.
const SIZE_BYTES: u64 = 4096;

/// The resolved form, shared by all cards of a model.
#[derive(Debug)]
pub(crate) struct Resolved {
    data: ModelData,
    /// By kind (read, write, write with sync) and order (sequential, random).
    pub(crate) services: [[Service; 2]; 3],
}

/// A simulated card's data: the cost of its operations, their variation, and its faults.
#[derive(Clone, Debug)]
pub struct Model {
    resolved: Arc<Resolved>,
    /// The files it was made of, without comments and prose.
    content: Arc<str>,
}

impl Model {
    /// Returns the model of that name among those that come with the program.
    ///
    /// # Errors
    /// If there is none; the message lists the known ones.
    pub fn named(name: &str) -> Result<Self, ModelError> {
        Self::parse(library::text(name)?)
    }

    /// Parses a model. Missing values are taken from the embedded model it is `like`, if it names one.
    ///
    /// # Errors
    /// If the text is no model, the model it is like does not exist, or a number is out of range.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let table = with_rest(text)?;
        let content = content_of(&table);
        let data: ModelData = from_table(table)?;
        if let Some(what) = broken_rule(&data) {
            return Err(ModelError::Invalid {
                name: data.name,
                what,
            });
        }
        Ok(Self::resolved(data, content))
    }

    /// An ordinary card whose operations take recorded latencies; neither runs nor trials differ.
    ///
    /// # Errors
    /// None, as long as the ordinary card can be read.
    pub fn replay(trace: &Trace) -> Result<Self, ModelError> {
        let text = "name = \"replay\"\nlike = \"a1-32gb\"\nsummary = \"recorded latencies\"\n\
                    [variance]\nrun_deviation = 0.0\ntrial_deviation = 0.0\n";
        let plain = Self::parse(text)?;
        let mut data = plain.data().clone();
        data.process = vec![ProcessData::Replay(Arc::new(trace.clone()))];
        Ok(Self::resolved(
            data,
            plain.content().to_owned() + &trace.content(),
        ))
    }

    /// The model of data that keep the rules, made of that content.
    pub(crate) fn resolved(data: ModelData, content: String) -> Self {
        let services = resolve(&data);
        Self {
            resolved: Arc::new(Resolved { data, services }),
            content: content.into(),
        }
    }

    /// Returns all properties of card and board in its files, as part of the id of a run. Equal texts mean
    /// equal models; comments, summaries and sources are left out.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Returns the model with all sizes divided by `divisor`, so that all of it can be tested quickly. Sizes
    /// stay multiples of 4 KiB, except those with one block more.
    pub fn scaled(&self, divisor: u64) -> Self {
        let mut data = self.data().clone();
        let scaled = |bytes: u64| {
            let odd = bytes % SIZE_BYTES;
            bytes / divisor / SIZE_BYTES * SIZE_BYTES + odd
        };
        data.capacity_bytes = scaled(data.capacity_bytes);
        let flash = &mut data.flash;
        flash.real_bytes = flash.real_bytes.map(scaled);
        flash.wrap_bytes = flash.wrap_bytes.map(scaled);
        flash.taken_bytes = flash.taken_bytes.map(scaled);
        if let Some(cache) = &mut flash.hidden_cache {
            cache.bytes = scaled(cache.bytes);
        }
        let content = format!("{}scaled by {divisor}\n", self.content);
        Self::resolved(data, content)
    }

    pub(crate) fn data(&self) -> &ModelData {
        &self.resolved.data
    }

    /// The board whose slot the card is in; absent: a board that adds nothing.
    pub(crate) fn board(&self) -> Option<&BoardData> {
        self.resolved.data.board.as_ref()
    }

    /// Name, such as `a1-32gb`.
    pub fn name(&self) -> &str {
        &self.resolved.data.name
    }

    /// Name and board, such as `a1-32gb@pi4`; the name alone on a board that adds nothing.
    pub fn name_on_board(&self) -> String {
        match self.board() {
            Some(board) => format!("{}@{}", self.name(), board.name),
            None => self.name().to_owned(),
        }
    }

    /// Returns its description in one sentence.
    pub fn summary(&self) -> &str {
        &self.resolved.data.summary
    }

    /// Returns the source of its numbers.
    pub fn source(&self) -> &str {
        &self.resolved.data.source
    }

    /// Bytes it holds.
    pub fn capacity_bytes(&self) -> u64 {
        self.resolved.data.capacity_bytes
    }

    /// Standard deviation of the logarithm of the rate between runs.
    pub fn run_deviation(&self) -> f64 {
        self.resolved.data.variance.run_deviation
    }

    /// Standard deviation of the logarithm of the rate between trials of one run.
    pub fn trial_deviation(&self) -> f64 {
        self.resolved.data.variance.trial_deviation
    }

    /// Returns whether its flash loses data once it was written often enough.
    pub fn wears_out(&self) -> bool {
        self.flash().wear.is_some()
    }

    /// Returns whether it reports data as durable when they are not.
    pub fn lies_about_flush(&self) -> bool {
        self.resolved.data.sync.lies
    }

    pub(crate) fn services(&self) -> &[[Service; 2]; 3] {
        &self.resolved.services
    }

    pub(crate) fn channels_count(&self) -> usize {
        self.resolved.data.channels
    }

    pub(crate) fn prepare_ns(&self) -> f64 {
        self.resolved.data.prepare_ms * 1e6
    }

    /// Span of a flush with something to flush.
    pub(crate) fn flush_ns(&self) -> f64 {
        if self.lies_about_flush() {
            0.0
        } else {
            self.resolved.data.sync.flush_ms * 1e6
        }
    }

    pub(crate) fn sway(&self) -> Option<SwayData> {
        self.resolved.data.sway
    }

    pub(crate) fn cache(&self) -> Option<CacheData> {
        self.resolved.data.cache
    }

    /// Factor on the span of a read at this offset.
    pub(crate) fn weakness(&self, offset: u64) -> f64 {
        match self.resolved.data.weak {
            Some(weak) if (weak.from_bytes..weak.to_bytes).contains(&offset) => weak.slowdown,
            _ => 1.0,
        }
    }

    pub(crate) fn flash(&self) -> FlashData {
        self.resolved.data.flash
    }

    pub(crate) fn heat(&self) -> HeatData {
        self.resolved.data.heat.unwrap_or(COOL)
    }

    pub(crate) fn units(&self) -> Option<UnitsData> {
        self.data().units
    }

    /// The translation layer, if it has one.
    pub fn ftl(&self) -> Option<FtlData> {
        self.data().ftl
    }

    pub(crate) fn processes(&self) -> &[ProcessData] {
        &self.data().process
    }

    pub(crate) fn fault(&self) -> Option<FaultData> {
        self.resolved.data.fault
    }
}

/// The models there are, in a fixed order.
pub fn models() -> Vec<Entry> {
    texts()
        .map(|(name, text)| Entry {
            name,
            // A test parses every embedded model, so that the empty summary is never seen.
            summary: Model::parse(text)
                .map(|m| m.summary().to_owned())
                .unwrap_or_default(),
        })
        .collect()
}

/// Keys of models and boards that decide no number.
const PROSE: [&str; 2] = ["summary", "source"];

/// A table as text, keys sorted, without prose.
pub(crate) fn content_of(table: &Map<String, Value>) -> String {
    let mut lines: Vec<String> = table
        .iter()
        .filter(|(key, _)| !PROSE.contains(&key.as_str()))
        .map(|(key, value)| format!("{key} = {}\n", written(value)))
        .collect();
    lines.sort();
    lines.concat()
}

/// A value on one line, keys sorted.
fn written(value: &Value) -> String {
    let mut parts: Vec<String> = match value {
        Value::String(text) => return format!("{text:?}"),
        Value::Number(number) if number.is_f64() => {
            return number.as_f64().unwrap_or(f64::NAN).to_string();
        }
        Value::Null | Value::Number(_) | Value::Bool(_) => return value.to_string(),
        Value::Array(values) => {
            let parts: Vec<String> = values.iter().map(written).collect();
            return format!("[{}]", parts.join(", "));
        }
        Value::Object(table) => table
            .iter()
            .map(|(key, value)| format!("{key} = {}", written(value)))
            .collect(),
    };
    parts.sort();
    format!("{{{}}}", parts.join(", "))
}

/// Parses TOML. JSON stands for its values, because the program has readers for that.
pub(crate) fn table(text: &str) -> Result<Map<String, Value>, ModelError> {
    toml::from_str(text).map_err(|error| ModelError::Text(error.to_string()))
}

/// Reads data of a table.
pub(crate) fn from_table<T: DeserializeOwned>(table: Map<String, Value>) -> Result<T, ModelError> {
    serde_json::from_value(Value::Object(table))
        .map_err(|error| ModelError::Text(error.to_string()))
}

/// Returns the text as a table, with missing values from the model that it is like.
fn with_rest(text: &str) -> Result<Map<String, Value>, ModelError> {
    let mut table = table(text)?;
    if let Some(like) = table.remove("like") {
        let name = like.as_str().unwrap_or_default();
        for (key, value) in self::table(library::text(name)?)? {
            table.entry(key).or_insert(value);
        }
    }
    Ok(table)
}

fn resolve(data: &ModelData) -> [[Service; 2]; 3] {
    let plain = |service: ServiceData| resolve_one(&service, data.bridge.as_ref());
    let synced = |service: ServiceData| {
        if data.sync.lies {
            return plain(service);
        }
        let mut resolved = plain(service);
        resolved.setup_ns += data.sync.setup_us * 1e3;
        resolved.body = Body::new(data.sync.variation);
        resolved
    };
    [
        [plain(data.read.sequential), plain(data.read.random)],
        [plain(data.write.sequential), plain(data.write.random)],
        [synced(data.write.sequential), synced(data.write.random)],
    ]
}

/// A bridge adds its own setup to each request and may be slower than the card.
fn resolve_one(data: &ServiceData, bridge: Option<&BridgeData>) -> Service {
    let rate_mb_per_s = bridge.map_or(data.rate_mb_per_s, |b| {
        data.rate_mb_per_s.min(b.rate_mb_per_s)
    });
    Service {
        setup_ns: (data.setup_us + bridge.map_or(0.0, |b| b.request_us)) * 1e3,
        transfer_ns_per_byte: 1e3 / rate_mb_per_s,
        crowding: data.crowding,
        body: Body::new(data.variation),
        stall: data.stall.map(|stall| Stall {
            probability: stall.probability,
            shortest_ns: stall.shortest_ms * 1e6,
            longest_ns: stall.longest_ms * 1e6,
        }),
    }
}
