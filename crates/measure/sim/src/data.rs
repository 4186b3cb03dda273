//! A model's data as written in TOML, and the rules they must keep.

use cardmark_core::BusMode;
use serde::Deserialize;

use crate::flash::FlashData;
use crate::ftl::FtlData;
use crate::process::{ProcessData, process_rules};
use crate::units::UnitsData;

/// Rare pause on top of an operation.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StallData {
    pub(crate) probability: f64,
    pub(crate) shortest_ms: f64,
    pub(crate) longest_ms: f64,
}

/// Cost of an operation of one kind and order.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServiceData {
    pub(crate) setup_us: f64,
    pub(crate) rate_mb_per_s: f64,
    pub(crate) variation: f64,
    #[serde(default)]
    pub(crate) crowding: f64,
    pub(crate) stall: Option<StallData>,
}

/// Both orders.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrdersData {
    pub(crate) sequential: ServiceData,
    pub(crate) random: ServiceData,
}

/// Cost of durability.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SyncData {
    pub(crate) setup_us: f64,
    pub(crate) variation: f64,
    pub(crate) flush_ms: f64,
    /// Reports data as durable without having stored them; costs nothing then.
    #[serde(default)]
    pub(crate) lies: bool,
}

/// Standard deviations of the logarithm of the rate.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct VarianceData {
    pub(crate) run_deviation: f64,
    pub(crate) trial_deviation: f64,
}

/// Swaying of the rate within a run.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SwayData {
    pub(crate) deviation: f64,
    pub(crate) correlation_ms: f64,
}

/// A reader between card and board.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BridgeData {
    pub(crate) request_us: f64,
    pub(crate) rate_mb_per_s: f64,
}

/// A board as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoardData {
    pub(crate) name: String,
    pub(crate) summary: String,
    /// Model as in its device tree.
    pub(crate) model: String,
    #[allow(
        dead_code,
        reason = "documents the source of the numbers for readers of the file"
    )]
    pub(crate) source: String,
    pub(crate) memory_bytes: u64,
    pub(crate) cpu_count: u64,
    pub(crate) mode: BusMode,
    pub(crate) clock_hz: u64,
    pub(crate) slot: BridgeData,
}

/// A fast part of the card.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CacheData {
    pub(crate) bytes: u64,
    pub(crate) slowdown: f64,
    pub(crate) drain_mb_per_s: f64,
}

/// A part of the card that is read slowly, as where cells have lost charge.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WeakData {
    pub(crate) from_bytes: u64,
    pub(crate) to_bytes: u64,
    pub(crate) slowdown: f64,
}

/// The board's temperature.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeatData {
    pub(crate) start_c: f64,
    pub(crate) idle_c: f64,
    pub(crate) busy_c: f64,
    pub(crate) time_constant_s: f64,
    pub(crate) limit_c: f64,
    pub(crate) slowdown: f64,
}

/// A board that stays cool.
pub(crate) const COOL: HeatData = HeatData {
    start_c: 45.0,
    idle_c: 45.0,
    busy_c: 51.0,
    time_constant_s: 60.0,
    limit_c: 80.0,
    slowdown: 1.0,
};

/// Faults, and their start.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum FaultData {
    /// Writes that reach beyond this address fail.
    Error { from_byte: u64 },
    /// The device disappears at that time.
    Vanish { after_s: f64 },
    /// One operation takes this long.
    Silent { after_s: f64, span_s: f64 },
}

/// A model as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelData {
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) source: String,
    pub(crate) capacity_bytes: u64,
    pub(crate) channels: usize,
    pub(crate) prepare_ms: f64,
    pub(crate) read: OrdersData,
    pub(crate) write: OrdersData,
    pub(crate) sync: SyncData,
    #[serde(default)]
    pub(crate) variance: VarianceData,
    pub(crate) sway: Option<SwayData>,
    pub(crate) bridge: Option<BridgeData>,
    pub(crate) cache: Option<CacheData>,
    pub(crate) weak: Option<WeakData>,
    pub(crate) heat: Option<HeatData>,
    pub(crate) fault: Option<FaultData>,
    pub(crate) units: Option<UnitsData>,
    #[serde(default)]
    pub(crate) process: Vec<ProcessData>,
    pub(crate) ftl: Option<FtlData>,
    #[serde(default)]
    pub(crate) flash: FlashData,
    /// The board whose slot it is in.
    #[serde(skip)]
    pub(crate) board: Option<BoardData>,
}

/// The first rule that does not hold. The simulation relies on all of them, so that no number can
/// make it hang.
pub(crate) fn broken_rule(data: &ModelData) -> Option<&'static str> {
    let services = [
        data.read.sequential,
        data.read.random,
        data.write.sequential,
        data.write.random,
    ];
    let mut rules = card_rules(data);
    rules.extend(services.into_iter().flat_map(service_rules));
    rules.extend(surroundings_rules(data));
    rules.extend(flash_rules(data.flash));
    let broken = process_rules(&data.process, data.sway.is_some());
    rules.push((broken.is_none(), broken.unwrap_or_default()));
    let broken = data
        .ftl
        .and_then(|ftl| ftl.broken_rule(data.capacity_bytes));
    rules.push((broken.is_none(), broken.unwrap_or_default()));
    rules
        .into_iter()
        .find(|(holds, _)| !holds)
        .map(|(_, what)| what)
}

type Rule = (bool, &'static str);

fn card_rules(data: &ModelData) -> Vec<Rule> {
    let mut rules = vec![
        (data.capacity_bytes > 0, "capacity must be above zero"),
        ((1..=32).contains(&data.channels), "channels must be 1–32"),
        (is_span(data.prepare_ms), "prepare_ms out of range"),
        (
            is_span(data.sync.setup_us) && is_span(data.sync.flush_ms),
            "sync out of range",
        ),
        (
            is_variation(data.sync.variation),
            "variation must be 0.001–3",
        ),
        (
            is_deviation(data.variance.run_deviation),
            "run_deviation must be 0–0.5",
        ),
        (
            is_deviation(data.variance.trial_deviation),
            "trial_deviation must be 0–0.5",
        ),
    ];
    if let Some(sway) = data.sway {
        rules.push((is_deviation(sway.deviation), "sway deviation must be 0–0.5"));
        rules.push((
            (1.0..=1e6).contains(&sway.correlation_ms),
            "correlation_ms out of range",
        ));
    }
    if let Some(units) = data.units {
        rules.push((
            units.bytes >= 4096 && units.bytes.is_multiple_of(4096),
            "units must be multiples of 4,096 bytes",
        ));
        rules.push((
            (1..=1024).contains(&units.open_count),
            "open_count must be 1–1,024",
        ));
        rules.push((
            is_span(units.reopen_ms) && is_span(units.boundary_us),
            "spans of units out of range",
        ));
    }
    if let Some(weak) = data.weak {
        rules.push((is_factor(weak.slowdown), "slowdown must be 1–1,000"));
        rules.push((weak.from_bytes < weak.to_bytes, "a weak part has a size"));
    }
    if let Some(cache) = data.cache {
        rules.push((is_factor(cache.slowdown), "slowdown must be 1–1,000"));
        rules.push((
            (0.0..=1e5).contains(&cache.drain_mb_per_s),
            "drain_mb_per_s out of range",
        ));
    }
    rules
}

fn service_rules(service: ServiceData) -> Vec<Rule> {
    let mut rules = vec![
        (is_span(service.setup_us), "setup_us out of range"),
        (is_rate(service.rate_mb_per_s), "rate_mb_per_s out of range"),
        (is_variation(service.variation), "variation must be 0.001–3"),
        (
            (0.0..=10.0).contains(&service.crowding),
            "crowding must be 0–10",
        ),
    ];
    if let Some(stall) = service.stall {
        rules.push((
            (0.0..=1.0).contains(&stall.probability),
            "probability must be 0–1",
        ));
        let rise = is_span(stall.shortest_ms) && stall.longest_ms > stall.shortest_ms;
        rules.push((rise && is_span(stall.longest_ms), "stall spans must rise"));
    }
    rules
}

/// The first rule that does not hold of a bridge.
pub(crate) fn broken_bridge(bridge: BridgeData) -> Option<&'static str> {
    let broken = |(holds, what): Rule| (!holds).then_some(what);
    bridge_rules(bridge).into_iter().find_map(broken)
}

fn bridge_rules(bridge: BridgeData) -> [Rule; 2] {
    [
        (is_span(bridge.request_us), "request_us out of range"),
        (is_rate(bridge.rate_mb_per_s), "bridge rate out of range"),
    ]
}

fn surroundings_rules(data: &ModelData) -> Vec<Rule> {
    let mut rules = Vec::new();
    rules.extend(data.bridge.into_iter().flat_map(bridge_rules));
    if let Some(heat) = data.heat {
        let degrees = [heat.start_c, heat.idle_c, heat.busy_c, heat.limit_c];
        let possible = degrees.iter().all(|c| (-50.0..=200.0).contains(c));
        rules.push((possible, "temperature must be -50–200"));
        rules.push((
            (0.1..=1e6).contains(&heat.time_constant_s),
            "time_constant_s out of range",
        ));
        rules.push((is_factor(heat.slowdown), "slowdown must be 1–1,000"));
    }
    match data.fault {
        Some(FaultData::Vanish { after_s }) => rules.push((is_moment(after_s), MOMENT)),
        Some(FaultData::Silent { after_s, span_s }) => {
            rules.push((is_moment(after_s) && is_moment(span_s), MOMENT));
        }
        Some(FaultData::Error { .. }) | None => {}
    }
    rules
}

fn flash_rules(flash: FlashData) -> Vec<Rule> {
    let is_share = |share: f64| (0.0..1.0).contains(&share);
    let is_block = |bytes: u64| bytes > 0 && bytes.is_multiple_of(512);
    let mut rules = vec![
        (
            is_block(flash.block_bytes),
            "block_bytes must be a multiple of 512",
        ),
        (
            is_share(flash.flipped_share),
            "flipped_share must be below 1",
        ),
        (
            is_share(flash.crossed_share)
                && is_share(flash.unmapped_share)
                && is_share(flash.spilled_share),
            "shares of faults under load must be below 1",
        ),
        (
            flash.wrap_bytes.is_none_or(|bytes| {
                is_block(bytes) && flash.real_bytes.is_some_and(|real| real <= bytes)
            }),
            "wrap_bytes must be at least real_bytes",
        ),
    ];
    if let Some(damage) = flash.damage {
        rules.push((
            is_share(damage.share),
            "share of the damage must be below 1",
        ));
        rules.push((
            is_block(damage.spot_bytes),
            "spot_bytes must be a multiple of 512",
        ));
    }
    if let Some(wear) = flash.wear {
        rules.push((
            is_block(wear.spot_bytes),
            "spot_bytes must be a multiple of 512",
        ));
        rules.push((wear.cycles > 0.0, "cycles must be above zero"));
        rules.push((is_deviation(wear.deviation), "wear deviation must be 0–0.5"));
    }
    if let Some(fade) = flash.fade {
        rules.push((
            is_block(fade.spot_bytes),
            "spot_bytes must be a multiple of 512",
        ));
        rules.push((fade.days > 0.0, "days must be above zero"));
        rules.push((is_deviation(fade.deviation), "fade deviation must be 0–0.5"));
    }
    rules
}

const MOMENT: &str = "seconds of a fault must be 0–1,000,000";

fn is_moment(seconds: f64) -> bool {
    (0.0..=1e6).contains(&seconds)
}

fn is_span(value: f64) -> bool {
    (0.0..=1e9).contains(&value)
}

fn is_rate(mb_per_s: f64) -> bool {
    (0.001..=1e5).contains(&mb_per_s)
}

fn is_factor(slowdown: f64) -> bool {
    (1.0..=1e3).contains(&slowdown)
}

fn is_variation(value: f64) -> bool {
    (0.001..=3.0).contains(&value)
}

fn is_deviation(value: f64) -> bool {
    (0.0..=0.5).contains(&value)
}
