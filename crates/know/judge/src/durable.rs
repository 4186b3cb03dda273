//! Cards that last: volumes that makers state for one capacity.
//!
//! Hours of recording are compared by their volume, because makers state them at different bit rates. A volume belongs to one
//! capacity: it is never scaled to another one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cardmark_catalog::{
    EnduranceKind, EndurancePromise, Known, PackageClaim, ProductLine, Use, class, is_part_of_name,
    look_up, split_capacity,
};
use cardmark_core::is_sold_as;
use serde::Serialize;

use crate::price::Price;
use crate::recommendation::{Day, Tier, tier};

/// Capacity that is meant if none is asked for, bytes.
const USUAL_CAPACITY_BYTES: u64 = 128 * GB;
/// Rate at which a dash cam writes at most, bytes per second: the promise of classes C10, U1 and V10.
pub const DASH_CAM_BYTES_PER_S: u64 = 10_000_000;
/// Bit rate of recording at which makers state most of their hours, bits per second.
pub const VIDEO_BITS_PER_S: u64 = 26_000_000;

/// Id of the use for which the label has to promise a rate.
const DASH_CAM: &str = "dash_cam";
const GB: u64 = 1_000_000_000;

/// Question for cards that last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurableQuestion {
    /// Capacity on the label, bytes.
    pub capacity_bytes: u64,
    /// Rate of continuous writes that the label has to promise, bytes per second.
    pub least_write_bytes_per_s: Option<u64>,
    /// The current day.
    pub today: Day,
}

impl DurableQuestion {
    /// The question of a use; `capacity_bytes` is 128 GB if none is asked for.
    #[must_use]
    pub fn new(wanted: &Use, capacity_bytes: Option<u64>, today: Day) -> Self {
        Self {
            capacity_bytes: capacity_bytes.unwrap_or(USUAL_CAPACITY_BYTES),
            least_write_bytes_per_s: (wanted.id == DASH_CAM).then_some(DASH_CAM_BYTES_PER_S),
            today,
        }
    }
}

/// Volumes that makers state for cards of one capacity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Durable<'a> {
    /// Capacity of the cards, bytes: that of the question, or else the next one for which a maker states a volume.
    pub capacity_bytes: u64,
    /// Cards in order: those known to be sold first, then by volume.
    pub ordered: Vec<Promised<'a>>,
    /// Earlier generations of cards in the order.
    pub replaced: Vec<Promised<'a>>,
    /// Statements that cannot be compared with those in the order.
    pub beside: Vec<&'a EndurancePromise>,
}

/// The volume that a maker states for a card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Promised<'a> {
    /// Maker, line and generation.
    pub name: String,
    /// The statement.
    pub promise: &'a EndurancePromise,
    /// Bytes that may be written.
    pub volume_bytes: u64,
    /// First and last possible place, from 1.
    pub places: [usize; 2],
    /// Group by its sale.
    pub tier: Tier,
    /// Last day, month or year at which a source shows it in shops.
    pub known_sold: Option<String>,
    /// A class on its label that promises the rate of the question.
    pub class: Option<String>,
    /// Price entered by the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

impl Promised<'_> {
    /// Returns the number of times that the whole card may be written.
    #[must_use]
    pub fn fillings(&self) -> Option<u64> {
        Some(self.volume_bytes / self.promise.capacity_bytes?)
    }

    /// Returns the hours of recording at [`VIDEO_BITS_PER_S`]; `None` if the maker states no hours.
    #[must_use]
    pub fn video_hours(&self) -> Option<u64> {
        let hours = self.volume_bytes / 3600 * 8 / VIDEO_BITS_PER_S;
        (self.promise.kind == EnduranceKind::Hours).then_some(hours)
    }
}

impl Durable<'_> {
    /// Enters prices by names of cards, with or without this capacity. Returns the names that are not of exactly one card in the order,
    /// each with the names of its cards.
    #[must_use]
    pub fn enter_prices(&mut self, prices: &[(String, Price)]) -> Vec<(String, Vec<String>)> {
        let mut unclear = Vec::new();
        for (name, price) in prices {
            let capacity_bytes = split_capacity(name).1.unwrap_or(self.capacity_bytes);
            let is_it = |card: &&mut Promised<'_>| {
                capacity_bytes == self.capacity_bytes
                    && is_called(&card.name, card.promise.product_line(), name)
            };
            let mut found: Vec<_> = self.ordered.iter_mut().filter(is_it).collect();
            match found.as_mut_slice() {
                [card] => card.price = Some(price.clone()),
                cards => {
                    let names = cards.iter().map(|card| card.name.clone());
                    unclear.push((name.clone(), names.collect()));
                }
            }
        }
        unclear
    }

    /// Leaves out the cards that cost more than a budget; those without a price stay.
    pub fn keep_within(&mut self, budget: &Price) {
        let is_dear = |price: &Price| price.is_within(budget) == Some(false);
        self.ordered
            .retain(|card| !card.price.as_ref().is_some_and(is_dear));
        set_places(&mut self.ordered);
    }

    /// Returns the cheapest card that is enough: its maker states a volume, and with `is_classed` its label promises the rate of the
    /// question. `None` without a price, or if a currency differs.
    #[must_use]
    pub fn cheapest(&self, is_classed: bool) -> Option<&Promised<'_>> {
        let is_enough = |card: &&Promised<'_>| card.class.is_some() || !is_classed;
        let enough = self.ordered.iter().filter(is_enough);
        let priced = || {
            enough
                .clone()
                .filter_map(|card| Some((card.price.as_ref()?, card)))
        };
        let is_least =
            |price: &Price| priced().all(|(other, _)| price.is_within(other) == Some(true));
        priced()
            .find(|(price, _)| is_least(price))
            .map(|(_, card)| card)
    }
}

/// Returns the cards for which makers state a volume, for the capacity of the question.
///
/// Hours with a bit rate are preferred to volumes stated directly, because those rest on other workloads. The order of the
/// statements does not matter, and repeated ones count once.
#[must_use]
pub fn durable<'a>(promises: &'a [EndurancePromise], question: &DurableQuestion) -> Durable<'a> {
    let capacity_bytes = next_capacity(promises, question.capacity_bytes);
    let is_of_size = |one: &&EndurancePromise| one.capacity_bytes == Some(capacity_bytes);
    let of_kind = |kind: EnduranceKind| {
        let all = promises.iter().filter(is_of_size);
        all.filter(move |one| one.kind == kind && is_comparable(one, promises))
    };
    let kind = match of_kind(EnduranceKind::Hours).next() {
        Some(_) => EnduranceKind::Hours,
        None => EnduranceKind::Volume,
    };
    let mut cards = BTreeMap::<String, Promised<'a>>::new();
    for promise in of_kind(kind) {
        let card = promised(promise, question);
        let rank = |card: &Promised<'_>| (card.volume_bytes, card.promise.id.clone());
        match cards.get(&card.name) {
            Some(known) if rank(known) <= rank(&card) => {}
            _ => _ = cards.insert(card.name.clone(), card),
        }
    }
    let lines: BTreeSet<&String> = cards
        .values()
        .filter_map(|card| card.promise.line.as_ref())
        .collect();
    let is_replaced = |card: &Promised<'_>| {
        let line = card.promise.product_line();
        let successor = line.and_then(|line| line.successor.as_ref());
        successor.is_some_and(|id| lines.contains(id))
    };
    let (mut replaced, mut ordered): (Vec<_>, Vec<_>) =
        cards.values().cloned().partition(is_replaced);
    for list in [&mut replaced, &mut ordered] {
        list.sort_by_key(|card| (card.tier, Reverse(card.volume_bytes), card.name.clone()));
        set_places(list);
    }
    Durable {
        capacity_bytes,
        ordered,
        replaced,
        beside: beside(promises, capacity_bytes, kind),
    }
}

/// Volumes that makers state for two sides at one capacity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatedPair {
    /// Maker, line and generation of each side.
    pub names: [String; 2],
    /// Bytes that may be written.
    pub volumes_bytes: [u64; 2],
    /// Capacity of both, bytes.
    pub capacity_bytes: u64,
}

/// Returns the volumes that makers state for the lines of these names, at the capacity in the names, or else at 128 GB or another one
/// of both. The latest generation counts; `None` if a name is that of several lines.
#[must_use]
pub fn stated_pair(promises: &[EndurancePromise], names: [&str; 2]) -> Option<StatedPair> {
    let named = names.map(|name| split_capacity(name).1);
    let of_promises = promises.iter().filter_map(|one| one.capacity_bytes);
    let mut capacities: Vec<u64> = of_promises.collect();
    capacities.sort_by_key(|bytes| (*bytes != USUAL_CAPACITY_BYTES, *bytes));
    capacities.dedup();
    capacities.retain(|bytes| named.iter().flatten().all(|named| named == bytes));
    let [base, other] = names.map(|name| {
        let is_called =
            |one: &&EndurancePromise| is_called(&stated_name(one), one.product_line(), name);
        latest(promises.iter().filter(is_called).collect())
    });
    let sides = [base?, other?];
    let pair = |capacity_bytes: u64, kind: EnduranceKind| {
        let [base, other] = [&sides[0], &sides[1]].map(|side| {
            let is_of = |one: &&&EndurancePromise| {
                one.kind == kind
                    && one.capacity_bytes == Some(capacity_bytes)
                    && is_comparable(one, promises)
            };
            let of = side.iter().filter(is_of);
            of.min_by_key(|one| (one.volume_bytes, &one.id))
        });
        let (base, other) = (*base?, *other?);
        let names = [stated_name(base), stated_name(other)];
        (names[0] != names[1]).then_some(StatedPair {
            names,
            volumes_bytes: [base.volume_bytes?, other.volume_bytes?],
            capacity_bytes,
        })
    };
    let kinds = [EnduranceKind::Hours, EnduranceKind::Volume];
    let mut pairs = kinds
        .into_iter()
        .flat_map(|kind| capacities.iter().map(move |bytes| (*bytes, kind)));
    pairs.find_map(|(bytes, kind)| pair(bytes, kind))
}

/// Returns the volume that the maker of a product states at the size of a device, bytes; `None` without a statement, or if the name is
/// that of several lines.
#[must_use]
pub fn stated_volume(promises: &[EndurancePromise], name: &str, size_bytes: u64) -> Option<u64> {
    let is_meant = |one: &&EndurancePromise| {
        let is_of_size = |bytes| is_sold_as(size_bytes, bytes);
        one.capacity_bytes.is_some_and(is_of_size)
            && is_called(&stated_name(one), one.product_line(), name)
            && is_comparable(one, promises)
    };
    let found = latest(promises.iter().filter(is_meant).collect())?;
    found.iter().filter_map(|one| one.volume_bytes).min()
}

/// Returns the promises of the latest generation; `None` if these are several lines.
fn latest(mut found: Vec<&EndurancePromise>) -> Option<Vec<&EndurancePromise>> {
    let lines: BTreeSet<String> = found.iter().filter_map(|one| one.line.clone()).collect();
    found.retain(|one| {
        let successor = one.product_line().and_then(|line| line.successor.as_ref());
        successor.is_none_or(|id| !lines.contains(id))
    });
    let names: BTreeSet<String> = found.iter().map(|one| stated_name(one)).collect();
    (names.len() == 1).then_some(found)
}

fn stated_name(promise: &EndurancePromise) -> String {
    let name = || format!("{} {}", promise.maker, promise.name);
    promise.product_line().map_or_else(name, ProductLine::name)
}

/// True if the product or line of this full name is meant by `asked`, with or without a capacity: a part of its name, or a name of its
/// line. A plus sign is no word.
pub(crate) fn is_called(full_name: &str, line: Option<&ProductLine>, asked: &str) -> bool {
    let asked = split_capacity(asked).0;
    let is_signed = |name: &str| name.contains('+');
    if is_part_of_name(full_name, asked) {
        return is_signed(full_name) == is_signed(asked);
    }
    let lower = full_name.to_lowercase();
    let is_begin = |alias: &String| lower.starts_with(&alias.to_lowercase());
    let is_same = |known: &Known| match known {
        Known::Line(found) => {
            line.is_some_and(|line| line.id == found.id) || found.aliases.iter().any(is_begin)
        }
        _ => false,
    };
    !is_signed(asked) && look_up(asked).found.iter().any(is_same)
}

/// True if the volume can be compared with others of its kind and capacity.
fn is_comparable(promise: &EndurancePromise, all: &[EndurancePromise]) -> bool {
    promise.volume_bytes.is_some() && !promise.up_to && !exceeds_cycles(promise, all)
}

/// True if the maker states fewer cycles for the same card than its volume would take: one of the two is wrong.
fn exceeds_cycles(promise: &EndurancePromise, all: &[EndurancePromise]) -> bool {
    let (Some(volume), Some(capacity)) = (promise.volume_bytes, promise.capacity_bytes) else {
        return false;
    };
    let card = |one: &EndurancePromise| (one.maker.clone(), one.name.clone(), one.capacity_bytes);
    let same = all.iter().filter(|one| card(one) == card(promise));
    let mut cycles = same.filter_map(|one| one.cycles);
    cycles.any(|cycles| volume > capacity.saturating_mul(cycles.into()))
}

/// Returns the capacity of the question if a maker states a volume for it, or else the next larger one, or else the largest.
fn next_capacity(promises: &[EndurancePromise], wanted_bytes: u64) -> u64 {
    let stated = promises.iter().filter(|one| is_comparable(one, promises));
    let capacities: BTreeSet<u64> = stated.filter_map(|one| one.capacity_bytes).collect();
    let next = capacities.range(wanted_bytes..).next();
    *next.or(capacities.last()).unwrap_or(&wanted_bytes)
}

fn promised<'a>(promise: &'a EndurancePromise, question: &DurableQuestion) -> Promised<'a> {
    let line = promise.product_line();
    let least = question.least_write_bytes_per_s;
    Promised {
        name: stated_name(promise),
        promise,
        volume_bytes: promise.volume_bytes.unwrap_or(0),
        places: [1, 1],
        tier: line.map_or(Tier::Older, |line| tier(line, question.today)),
        known_sold: line.and_then(|line| line.known_sold.clone()),
        class: least.and_then(|least| class_of(promise, line, least)),
        price: None,
    }
}

/// Returns a class that promises this rate, of those on the label of this capacity.
fn class_of(
    promise: &EndurancePromise,
    line: Option<&ProductLine>,
    least_write_bytes_per_s: u64,
) -> Option<String> {
    let capacity_bytes = promise.capacity_bytes?;
    let of_size = |claim: &&PackageClaim| {
        claim.of.is_none()
            || claim
                .capacities_bytes()
                .any(|bytes| bytes == capacity_bytes)
    };
    let claims = line.into_iter().flat_map(|line| &line.claims);
    let on_label = claims.filter(of_size).flat_map(|claim| &claim.classes);
    let mut classes = promise.classes.iter().chain(on_label);
    let is_enough = |name: &&String| {
        class(name).is_some_and(|class| class.least_write_bytes_per_s >= least_write_bytes_per_s)
    };
    classes.find(is_enough).cloned()
}

/// Sets the places that cards with one volume share.
fn set_places(cards: &mut [Promised<'_>]) {
    let mut before = 0;
    for alike in cards.chunk_by_mut(|a, b| (a.tier, a.volume_bytes) == (b.tier, b.volume_bytes)) {
        let places = [before + 1, before + alike.len()];
        before += alike.len();
        alike.iter_mut().for_each(|card| card.places = places);
    }
}

/// Returns the statements on this capacity, or on a line as a whole, that have no place in the order of this kind.
fn beside(
    promises: &[EndurancePromise],
    capacity_bytes: u64,
    kind: EnduranceKind,
) -> Vec<&EndurancePromise> {
    let is_of_size = |one: &&EndurancePromise| {
        one.capacity_bytes
            .is_none_or(|bytes| bytes == capacity_bytes)
    };
    let is_left = |one: &&EndurancePromise| match one.kind {
        EnduranceKind::Hours | EnduranceKind::Volume => {
            one.kind != kind || !is_comparable(one, promises)
        }
        EnduranceKind::Cycles => true,
        EnduranceKind::Warranty | EnduranceKind::None => false,
    };
    let all = promises.iter().filter(is_of_size).filter(is_left);
    let by_id: BTreeMap<&String, &EndurancePromise> = all.map(|one| (&one.id, one)).collect();
    let mut beside: Vec<&EndurancePromise> = by_id.into_values().collect();
    beside.sort_by_key(|one| Reverse(one.volume_bytes));
    beside
}
