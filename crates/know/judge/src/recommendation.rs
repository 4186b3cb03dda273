//! Products that suit a use, by their measurements.
//!
//! Figures of one product on one board are combined: for each card the mean of its runs, for the product the
//! mean of its cards, all geometric. Boards are kept separate, because a faster board makes the same card
//! faster.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cardmark_catalog::{
    Availability, ProductKind, ProductLine, Requirement, Use, board_name, equivalents_of, is_board,
    lines_of, product, product_name, publications,
};
use cardmark_core::{Context, Metric, OriginKind, Quantity, Record, Subject, told};
use cardmark_stats::{Place, Ranked, possible_places};
use serde::Serialize;

use crate::field::in_catalogue;
use crate::price::Price;
use crate::spread::{known_elsewhere, known_spread};
use crate::suitability::{Suitability, Supply, metric_of, suitability};
use crate::unknown::unknown_storage;

/// Minimum number of runs for every need; with fewer a product is marked as sparse.
const LEAST_RUNS: usize = 3;
/// Minimum share of the wanted capacity: devices report less than their label promises.
const CAPACITY_RATIO: f64 = 0.9;
/// Weight from which on a need decides about a use.
const DECIDING_WEIGHT: f64 = 0.4;
/// Run label for the price of its product.
const PRICE_LABEL: &str = "price";
/// Run label for any other change in the setup.
const SETTING_LABEL: &str = "setting";
/// Names in the context of other conditions that affect figures, in addition to the board.
const CONDITIONS: [&str; 3] = ["reader", "bus", "command_queue"];

/// Suitability of a product for a use on one board.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Name of the product.
    pub product: String,
    /// Kind of product, if the catalogue contains it.
    pub kind: Option<ProductKind>,
    /// Capacity on its label, otherwise that of the device.
    pub capacity_bytes: Option<u64>,
    /// Price entered by the user.
    pub price: Option<Price>,
    /// The computer, if known.
    pub board: Option<String>,
    /// Other known conditions that affect the figures: reader, bus, command queue, setting.
    pub conditions: Vec<String>,
    /// Number of runs.
    pub runs_count: usize,
    /// Number of physical cards, as far as they can be distinguished.
    pub cards_count: usize,
    /// Sources of the figures: `own`, `imported` or ids of publications.
    pub sources: Vec<String>,
    /// Years of the tests, as far as known.
    pub tested: Vec<String>,
    /// Years in which the lines with this name were first sold, as far as known; several if makers reused the name.
    pub first_sold: Vec<u16>,
    /// State in the shops.
    pub availability: Availability,
    /// Suitability, and what limits it.
    pub suitability: Suitability,
    /// Total weight of the known needs; the maximum is 1.
    pub known_ratio: f64,
    /// True if one of the needs has fewer than three runs.
    pub is_sparse: bool,
    /// Number of other boards, or other conditions, in which it was measured.
    pub elsewhere_count: usize,
    /// First and last possible place in its list by the limiting rate, from 1, for another card of the product and, between
    /// products on two boards, on other boards.
    pub places: [usize; 2],
    /// Limiting rate as a share of the sufficient one, with its spread.
    #[serde(skip)]
    pub limit: Ranked,
}

/// Wishes in addition to the use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// Minimum capacity.
    pub capacity_bytes: Option<u64>,
    /// Maximum price.
    pub budget: Option<Price>,
    /// Prices of products by name, before those of labels.
    pub prices: BTreeMap<String, Price>,
    /// Kinds of products to include, and products of unknown kind; empty: all.
    pub kinds: Vec<ProductKind>,
    /// Name of the boards to include, or a part of it ([`is_board`]).
    pub board: Option<String>,
}

/// Products that suit a use, and products with unknown price or capacity.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recommendation {
    /// The best first: products with all needs known come first, then sorted by the limiting rate.
    pub standings: Vec<Standing>,
    /// Products without a rate that decides, in the same order.
    pub cannot_tell: Vec<Standing>,
    /// Names of the needs that decide, and that no product has a rate for, if there are only such products.
    pub unknown_needs: Vec<String>,
    /// Number of products after each filter.
    pub left: Vec<Left>,
    /// Number of products of other kinds.
    pub other_kinds_count: usize,
    /// Products without a price that could be compared with the budget, in the same order.
    pub price_not_known: Vec<Standing>,
    /// Products of unknown capacity, in the same order.
    pub capacity_not_known: Vec<Standing>,
    /// Number of products above the budget.
    pub too_dear_count: usize,
    /// Number of products below the wanted capacity.
    pub too_small_count: usize,
    /// Number of runs of unknown products.
    pub nameless_runs_count: usize,
    /// Number of runs of simulated cards, which cannot be bought.
    pub simulated_runs_count: usize,
}

/// A filter, and the number of products that passed it and those before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// The filter.
    pub filter: Filter,
    /// Number of products.
    pub products_count: usize,
}

/// Filter of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    /// Products with a rate that the use needs.
    Rate,
    /// Products measured on the wanted board.
    Board,
    /// Products of the wanted kinds.
    Kind,
    /// Products with at least the wanted capacity, or an unknown one.
    Capacity,
    /// Products with a known price within the budget.
    Budget,
}

/// Returns the products of these records for a use.
pub fn recommend(records: &[Record], wanted: &Use, wish: &Wish) -> Recommendation {
    let mut recommendation = Recommendation::default();
    let mut groups = BTreeMap::<Key, Vec<&Record>>::new();
    let mut prices = BTreeMap::<String, Price>::new();
    for record in records {
        if record.origin.kind == OriginKind::Simulated {
            recommendation.simulated_runs_count += 1;
            continue;
        }
        if unknown_storage(record).is_some() {
            continue;
        }
        let Some(name) = product_of(record) else {
            recommendation.nameless_runs_count += 1;
            continue;
        };
        if let Some(price) = record.labels.get(PRICE_LABEL).and_then(|t| Price::parse(t)) {
            // The latest price counts.
            prices.insert(name.clone(), price);
        }
        let group = groups.entry(Key::of(name, record)).or_default();
        group.push(record);
    }
    prices.extend(wish.prices.clone());
    let known = groups
        .iter()
        .filter_map(|(key, records)| standing(key, records, wanted, prices.get(&key.product)));
    let mut standings: Vec<Standing> = known.collect();
    recommendation.count(Filter::Rate, &standings);
    if let Some(board) = &wish.board {
        standings.retain(|standing| is_on(standing, board));
        recommendation.count(Filter::Board, &standings);
    }
    standings.sort_by(order);
    recommendation.sort_out(one_each(standings), wanted, wish);
    share_places(&mut recommendation.standings);
    share_places(&mut recommendation.price_not_known);
    share_places(&mut recommendation.capacity_not_known);
    recommendation
}

impl Recommendation {
    /// True if no product is known.
    pub fn is_empty(&self) -> bool {
        let lists = [
            &self.standings,
            &self.cannot_tell,
            &self.price_not_known,
            &self.capacity_not_known,
        ];
        let counted = self.too_dear_count + self.too_small_count;
        counted == 0 && lists.iter().all(|list| list.is_empty())
    }

    /// True if products are known, but none of them has a rate that decides.
    pub fn cannot_answer(&self) -> bool {
        !self.unknown_needs.is_empty()
    }

    fn count(&mut self, filter: Filter, standings: &[Standing]) {
        let products: BTreeSet<&str> = standings.iter().map(|one| one.product.as_str()).collect();
        self.left.push(Left {
            filter,
            products_count: products.len(),
        });
    }

    /// Applies the wishes of the product itself, and sets products apart that cannot be judged.
    fn sort_out(&mut self, mut standings: Vec<Standing>, wanted: &Use, wish: &Wish) {
        if !wish.kinds.is_empty() {
            let all = standings.len();
            standings.retain(|one| one.kind.is_none_or(|kind| wish.kinds.contains(&kind)));
            self.other_kinds_count = all - standings.len();
            self.count(Filter::Kind, &standings);
        }
        if let Some(bytes) = wish.capacity_bytes {
            let all = standings.len();
            let least = CAPACITY_RATIO * bytes as f64;
            standings.retain(|one| one.capacity_bytes.is_none_or(|bytes| bytes as f64 >= least));
            self.too_small_count = all - standings.len();
            self.count(Filter::Capacity, &standings);
        }
        if let Some(budget) = &wish.budget {
            let is_within = |one: &Standing| one.price.as_ref()?.is_within(budget);
            let all = standings.len();
            standings.retain(|one| is_within(one) != Some(false));
            self.too_dear_count = all - standings.len();
            let cheap = standings.iter().filter(|one| is_within(one) == Some(true));
            self.count(Filter::Budget, &cheap.cloned().collect::<Vec<_>>());
        }
        for standing in standings {
            self.add(standing, wanted, wish);
        }
        let lists = [
            &self.standings,
            &self.price_not_known,
            &self.capacity_not_known,
        ];
        if lists.iter().all(|list| list.is_empty()) {
            let is_unknown = |need: &&Requirement| {
                let mut all = self.cannot_tell.iter();
                all.all(|one| is_missing(one, need)) && !self.cannot_tell.is_empty()
            };
            let unknown = deciding(wanted).filter(is_unknown);
            self.unknown_needs = unknown.map(|need| need.name.clone()).collect();
        }
    }

    fn add(&mut self, standing: Standing, wanted: &Use, wish: &Wish) {
        let is_within = |budget| standing.price.as_ref()?.is_within(budget);
        let list = if deciding(wanted).any(|need| is_missing(&standing, need)) {
            &mut self.cannot_tell
        } else if wish.capacity_bytes.is_some() && standing.capacity_bytes.is_none() {
            &mut self.capacity_not_known
        } else if wish
            .budget
            .as_ref()
            .is_some_and(|budget| is_within(budget).is_none())
        {
            &mut self.price_not_known
        } else {
            &mut self.standings
        };
        list.push(standing);
    }
}

/// Returns the needs without which a use cannot be judged: those of the largest weight, and of at least 40 %.
fn deciding(wanted: &Use) -> impl Iterator<Item = &Requirement> {
    let weights = wanted.needs.iter().map(|need| need.weight);
    let least = weights.fold(0.0, f64::max).min(DECIDING_WEIGHT);
    wanted.needs.iter().filter(move |need| need.weight >= least)
}

fn is_missing(standing: &Standing, need: &Requirement) -> bool {
    let unknown = &standing.suitability.unknown;
    need.metrics.first().is_some_and(|id| unknown.contains(id))
}

/// Properties that records of one group have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    product: String,
    board: Option<String>,
    conditions: Vec<String>,
}

impl Key {
    fn of(product: String, record: &Record) -> Self {
        let context = Context::of(record).must;
        let known = CONDITIONS.iter().filter_map(|name| told(&context, name));
        let setting = record.labels.get(SETTING_LABEL);
        let setting = setting.map(|setting| format!("{SETTING_LABEL} {setting}"));
        Self {
            product,
            board: record
                .board
                .as_ref()
                .and_then(|board| Some(board_name(board.model.as_deref()?))),
            conditions: known.chain(setting).collect(),
        }
    }
}

fn product_of(record: &Record) -> Option<String> {
    let label = record.labels.get("product")?;
    Some(product_name(label))
}

fn is_on(standing: &Standing, wanted: &str) -> bool {
    let setting = format!("{SETTING_LABEL} {wanted}");
    let board = standing.board.as_deref();
    board.is_some_and(|model| is_board(model, &board_name(wanted)))
        || standing.conditions.contains(&setting)
}

fn standing(
    key: &Key,
    records: &[&Record],
    wanted: &Use,
    price: Option<&Price>,
) -> Option<Standing> {
    let means = means(records);
    let suitability = suitability(&means, wanted)?;
    let behind = |supply: &Supply| {
        let mean = metric_of(&means, &supply.metric);
        let runs = records.iter();
        runs.filter(|record| is_behind(record, mean)).count()
    };
    let least_runs_count = suitability.supplies.iter().map(behind).min();
    let unknown = &suitability.unknown;
    let is_known = |metrics: &[String]| metrics.first().is_some_and(|id| !unknown.contains(id));
    let known = wanted.needs.iter().filter(|need| is_known(&need.metrics));
    let known_ratio: f64 = known.map(|need| need.weight).sum();
    let known_product = product(&key.product);
    let lines = known_product.map(lines_of).unwrap_or_default();
    let size = || {
        records
            .iter()
            .find_map(|record| record.devices.first()?.size_bytes)
    };
    let cards: BTreeSet<Card<'_>> = records.iter().map(|record| card(record)).collect();
    let sources: BTreeSet<String> = records.iter().map(|record| source(record)).collect();
    Some(Standing {
        product: key.product.clone(),
        kind: known_product.map(|product| product.kind),
        capacity_bytes: known_product
            .and_then(|product| product.capacity_bytes)
            .or_else(size),
        price: price.cloned(),
        board: key.board.clone(),
        conditions: key.conditions.clone(),
        runs_count: records.len(),
        cards_count: cards.len(),
        sources: sources.into_iter().collect(),
        tested: years(records),
        first_sold: first_sold(&lines),
        availability: availability(&lines),
        is_sparse: least_runs_count < Some(LEAST_RUNS) || !unknown.is_empty(),
        limit: limit(&suitability.limiting, &means, records),
        places: [1, 1],
        suitability,
        known_ratio,
        elsewhere_count: 0,
    })
}

/// The limiting rate as a share of the sufficient one, with what it may differ by.
fn limit(limiting: &Supply, means: &[Metric], records: &[&Record]) -> Ranked {
    let metric = metric_of(means, &limiting.metric);
    let behind = records.iter().filter(|record| is_behind(record, metric));
    let behind: Vec<&Record> = behind.copied().collect();
    let cards: BTreeSet<Card<'_>> = behind.iter().map(|record| card(record)).collect();
    let only = cards.first().filter(|_| cards.len() == 1);
    let id = only.and_then(|(publication, card)| {
        Some(format!("{} {}", publication.unwrap_or_default(), (*card)?))
    });
    let place = behind
        .first()
        .map(|record| Place::of(&in_catalogue(Subject::of(record))));
    Ranked {
        value: limiting.share(),
        runs_count: behind.len(),
        cards_count: cards.len(),
        card: id.map(Arc::from),
        place: Arc::new(place.unwrap_or_default()),
        spread: metric.and_then(|metric| known_spread(&metric.id, metric.quantity)),
        elsewhere: metric.and_then(|metric| known_elsewhere(&metric.id, metric.quantity)),
        method: method(limiting),
        between_methods: between_methods(limiting),
    }
}

/// True if the mean rate contains a figure of this run.
fn is_behind(record: &Record, mean: Option<&Metric>) -> bool {
    let found = mean.and_then(|mean| Some((mean, record.metric(&mean.id)?)));
    found.is_some_and(|(mean, own)| is_usable(own) && own.quantity == mean.quantity)
}

/// Returns the tool whose method the limiting rate was measured by, if its pattern has several.
fn method(limiting: &Supply) -> &'static str {
    let method = equivalents_of(&limiting.metric).and_then(|row| row.method_of(&limiting.metric));
    method.unwrap_or_default()
}

fn between_methods(limiting: &Supply) -> f64 {
    equivalents_of(&limiting.metric).map_or(0.0, |row| row.deviation)
}

/// Sets the shared places. Products with more known needs stay before the others, whatever their rates.
fn share_places(standings: &mut [Standing]) {
    let mut before = 0;
    for alike in standings.chunk_by_mut(|a, b| known(a).total_cmp(&known(b)).is_eq()) {
        let limits: Vec<Ranked> = alike
            .iter()
            .map(|standing| standing.limit.clone())
            .collect();
        for (standing, range) in alike.iter_mut().zip(possible_places(&limits)) {
            standing.places = [before + range.start(), before + range.end()];
        }
        before += alike.len();
    }
}

/// Returns the years in which these runs were measured or published, as far as known.
fn years(records: &[&Record]) -> Vec<String> {
    let year = |record: &&Record| {
        let publication = record.labels.get("publication");
        let published = publication.and_then(|id| publications().iter().find(|one| one.id == *id));
        let date = match published {
            Some(publication) => publication.published.as_deref(),
            None => record.started_at.as_deref(),
        };
        Some(date?.split('-').next()?.to_owned())
    };
    let years: BTreeSet<String> = records.iter().filter_map(year).collect();
    years.into_iter().collect()
}

/// Returns the years of the first sale; none if the year of a line is unknown, because the product may be of that line.
fn first_sold(lines: &[&ProductLine]) -> Vec<u16> {
    let years: Option<BTreeSet<u16>> = lines.iter().map(|line| line.year).collect();
    years.unwrap_or_default().into_iter().collect()
}

/// Returns the state in the shops that all lines of this name share.
fn availability(lines: &[&ProductLine]) -> Availability {
    let Some(first) = lines.first() else {
        return Availability::Unknown;
    };
    let is_shared = lines
        .iter()
        .all(|line| line.availability == first.availability);
    if is_shared {
        first.availability
    } else {
        Availability::Unknown
    }
}

fn source(record: &Record) -> String {
    match record.origin.kind {
        OriginKind::Measured => "own".to_owned(),
        OriginKind::Imported => "imported".to_owned(),
        _ => {
            let publication = record.labels.get("publication");
            publication.map_or("published", String::as_str).to_owned()
        }
    }
}

/// The publication, and the card's id in it.
type Card<'a> = (Option<&'a str>, Option<&'a str>);

/// Cards of two publications are different, even with equal ids or without any.
fn card(record: &Record) -> Card<'_> {
    let label = |key: &str| record.labels.get(key).map(String::as_str);
    let sample = label("sample").or_else(|| record.devices.first()?.card_id());
    (label("publication"), sample)
}

/// Returns the mean of each rate over the cards' means of their runs.
fn means(records: &[&Record]) -> Vec<Metric> {
    type ByCard<'a> = BTreeMap<Card<'a>, Vec<f64>>;
    let mut rates = BTreeMap::<&str, (Quantity, ByCard<'_>)>::new();
    for record in records {
        for metric in record.metrics.iter().filter(|metric| is_usable(metric)) {
            let rate = rates.entry(metric.id.as_str());
            let (quantity, by_card) = rate.or_insert_with(|| (metric.quantity, ByCard::new()));
            if *quantity == metric.quantity {
                let values = by_card.entry(card(record)).or_default();
                values.push(libm::log(metric.value));
            }
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let metric = |(id, (quantity, by_card)): (&str, (Quantity, ByCard<'_>))| {
        let means: Vec<f64> = by_card.values().map(|values| mean(values)).collect();
        Metric::new(id, quantity, libm::exp(mean(&means)))
    };
    rates.into_iter().map(metric).collect()
}

fn is_usable(metric: &Metric) -> bool {
    metric.quantity.is_rate() && metric.value > 0.0 && metric.voided_by().is_none()
}

/// Weight of the known needs, without rounding errors of the sum.
fn known(standing: &Standing) -> f64 {
    (standing.known_ratio * 1e6).round()
}

/// Sorts by the weight of known needs, then by the limiting rate.
fn order(a: &Standing, b: &Standing) -> Ordering {
    let share = |standing: &Standing| standing.suitability.limiting.share();
    let score = |standing: &Standing| standing.suitability.score.unwrap_or(0.0);
    known(b)
        .total_cmp(&known(a))
        .then_with(|| share(b).total_cmp(&share(a)))
        .then_with(|| score(b).total_cmp(&score(a)))
        .then_with(|| a.product.cmp(&b.product))
}

/// Returns one standing per product: the one with most known needs; then the one in the place where most
/// products were measured, so that they can be compared; then the one with most runs.
fn one_each(standings: Vec<Standing>) -> Vec<Standing> {
    let place = |s: &Standing| (s.board.clone(), s.conditions.clone());
    let mut places = BTreeMap::<_, usize>::new();
    for standing in &standings {
        *places.entry(place(standing)).or_default() += 1;
    }
    let neighbours = |s: &Standing| places.get(&place(s)).copied();
    let rests_on_more = |one: &Standing, other: &Standing| {
        known(one)
            .total_cmp(&known(other))
            .then_with(|| neighbours(one).cmp(&neighbours(other)))
            .then_with(|| one.runs_count.cmp(&other.runs_count))
            .is_gt()
    };
    let mut kept = BTreeMap::<String, Standing>::new();
    for mut standing in standings {
        let Some(before) = kept.get_mut(&standing.product) else {
            kept.insert(standing.product.clone(), standing);
            continue;
        };
        before.elsewhere_count += 1;
        if rests_on_more(&standing, before) {
            standing.elsewhere_count = before.elsewhere_count;
            *before = standing;
        }
    }
    let mut kept: Vec<Standing> = kept.into_values().collect();
    kept.sort_by(order);
    kept
}

#[cfg(test)]
mod tests;
