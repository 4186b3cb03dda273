//! Products that suit a use, by their measurements.
//!
//! Figures of one product on one board are combined: for each card the mean of its runs, for the product the
//! mean of its cards, all geometric. Boards are kept separate, because a faster board makes the same card
//! faster.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use cardmark_catalog::{ProductKind, Use, is_board, product, product_name};
use cardmark_core::{Context, Metric, OriginKind, Quantity, Record, told};
use cardmark_stats::{KnownSpread, Ranked, possible_places};
use serde::Serialize;

use crate::spread::known_spread;
use crate::suitability::{Suitability, Supply, metric_of, suitability};

/// Minimum number of runs for every need; with fewer a product is marked as sparse.
const LEAST_RUNS: usize = 3;
/// Minimum share of the wanted capacity: devices report less than their label promises.
const CAPACITY_RATIO: f64 = 0.9;
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
    /// Suitability, and what limits it.
    pub suitability: Suitability,
    /// Total weight of the known needs; the maximum is 1.
    pub known_ratio: f64,
    /// True if one of the needs has fewer than three runs.
    pub is_sparse: bool,
    /// Number of other boards, or other conditions, in which it was measured.
    pub elsewhere_count: usize,
    /// First and last possible place in its list, from 1: products share places if their limiting rates
    /// differ by less than repeats of one card do.
    pub places: [usize; 2],
    /// Limiting rate as a share of the sufficient one, with its spread.
    #[serde(skip)]
    pub limit: Ranked,
}

/// A price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Price {
    /// The amount.
    pub amount: f64,
    /// The currency as written; empty if none was given.
    pub currency: String,
}

impl Price {
    /// Parses `12`, `12.99 EUR`, `€ 9,50`; `None` unless there is exactly one number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
        let number: String = text.chars().filter(|c| is_number(*c)).collect();
        let pieces = text.split(|c| !is_number(c));
        let is_one = pieces.filter(|piece| !piece.is_empty()).count() == 1;
        let amount: f64 = number.replace(',', ".").parse().ok()?;
        let currency = text.replace(is_number, "").trim().to_owned();
        (is_one && amount > 0.0 && !currency.contains(['-', '+']))
            .then_some(Self { amount, currency })
    }

    /// True if it is at most a budget; `None` if the currencies are known to differ.
    #[must_use]
    pub fn is_within(&self, budget: &Self) -> Option<bool> {
        let is_silent = self.currency.is_empty() || budget.currency.is_empty();
        let is_alike = is_silent || self.currency.eq_ignore_ascii_case(&budget.currency);
        is_alike.then_some(self.amount <= budget.amount)
    }

    /// Returns the amount with its currency.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{:.2} {}", self.amount, self.currency)
            .trim_end()
            .to_owned()
    }
}

/// Wishes in addition to the use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// Minimum capacity.
    pub capacity_bytes: Option<u64>,
    /// Maximum price.
    pub budget: Option<Price>,
    /// Name of the boards to include, or a part of it ([`is_board`]).
    pub board: Option<String>,
}

/// Products that suit a use, and products with unknown price or capacity.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recommendation {
    /// The best first: products with all needs known come first, then sorted by the limiting rate.
    pub standings: Vec<Standing>,
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

/// Returns the products of these records for a use.
#[must_use]
pub fn recommend(records: &[Record], wanted: &Use, wish: &Wish) -> Recommendation {
    let mut recommendation = Recommendation::default();
    let mut groups = BTreeMap::<Key, Vec<&Record>>::new();
    let mut prices = BTreeMap::<String, Price>::new();
    for record in records {
        if record.origin.kind == OriginKind::Simulated {
            recommendation.simulated_runs_count += 1;
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
        if is_on(record, wish.board.as_deref()) {
            groups
                .entry(Key::of(name, record))
                .or_default()
                .push(record);
        }
    }
    let mut standings: Vec<Standing> = groups
        .iter()
        .filter_map(|(key, records)| standing(key, records, wanted, prices.get(&key.product)))
        .collect();
    standings.sort_by(order);
    for standing in one_each(standings) {
        recommendation.add(standing, wish);
    }
    share_places(&mut recommendation.standings);
    share_places(&mut recommendation.price_not_known);
    share_places(&mut recommendation.capacity_not_known);
    recommendation
}

impl Recommendation {
    /// True if no product is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let lists = [
            &self.standings,
            &self.price_not_known,
            &self.capacity_not_known,
        ];
        let counted = self.too_dear_count + self.too_small_count;
        counted == 0 && lists.iter().all(|list| list.is_empty())
    }

    fn add(&mut self, standing: Standing, wish: &Wish) {
        if let Some(wanted) = wish.capacity_bytes {
            let Some(bytes) = standing.capacity_bytes else {
                self.capacity_not_known.push(standing);
                return;
            };
            if (bytes as f64) < CAPACITY_RATIO * wanted as f64 {
                self.too_small_count += 1;
                return;
            }
        }
        let Some(budget) = &wish.budget else {
            self.standings.push(standing);
            return;
        };
        let price = standing.price.as_ref();
        match price.and_then(|price| price.is_within(budget)) {
            Some(true) => self.standings.push(standing),
            Some(false) => self.too_dear_count += 1,
            None => self.price_not_known.push(standing),
        }
    }
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
            board: record.board.as_ref().and_then(|board| board.model.clone()),
            conditions: known.chain(setting).collect(),
        }
    }
}

fn product_of(record: &Record) -> Option<String> {
    let label = record.labels.get("product")?;
    Some(product_name(label))
}

fn is_on(record: &Record, board: Option<&str>) -> bool {
    let Some(wanted) = board else {
        return true;
    };
    let model = record.board.as_ref().and_then(|board| board.model.as_ref());
    model.is_some_and(|model| is_board(model, wanted))
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
        let rate = metric_of(&means, &supply.metric);
        let is_of_it = |metric: &Metric| {
            is_usable(metric) && rate.is_some_and(|rate| rate.quantity == metric.quantity)
        };
        let runs = records.iter();
        runs.filter(|record| record.metric(&supply.metric).is_some_and(is_of_it))
            .count()
    };
    let least_runs_count = suitability.supplies.iter().map(behind).min();
    let unknown = &suitability.unknown;
    let is_known = |metrics: &[String]| metrics.first().is_some_and(|id| !unknown.contains(id));
    let known = wanted.needs.iter().filter(|need| is_known(&need.metrics));
    let known_ratio: f64 = known.map(|need| need.weight).sum();
    let known_product = product(&key.product);
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
        is_sparse: least_runs_count < Some(LEAST_RUNS) || !unknown.is_empty(),
        limit: Ranked {
            value: suitability.limiting.share(),
            runs_count: behind(&suitability.limiting),
            spread: spread(&means, &suitability.limiting),
        },
        places: [1, 1],
        suitability,
        known_ratio,
        elsewhere_count: 0,
    })
}

fn spread(means: &[Metric], limiting: &Supply) -> Option<KnownSpread> {
    let metric = metric_of(means, &limiting.metric)?;
    known_spread(&metric.id, metric.quantity)
}

/// Sets the shared places. Products with more known needs stay before the others, whatever their rates.
fn share_places(standings: &mut [Standing]) {
    let mut before = 0;
    for alike in standings.chunk_by_mut(|a, b| known(a).total_cmp(&known(b)).is_eq()) {
        let limits: Vec<Ranked> = alike.iter().map(|standing| standing.limit).collect();
        for (standing, range) in alike.iter_mut().zip(possible_places(&limits)) {
            standing.places = [before + range.start(), before + range.end()];
        }
        before += alike.len();
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
mod tests {
    use cardmark_catalog::{publications, use_of};
    use cardmark_core::{Board, Origin, run_id_from_bytes};

    use super::*;

    fn published() -> Vec<Record> {
        let all = publications().iter();
        all.flat_map(cardmark_catalog::Publication::records)
            .collect()
    }

    /// Returns a run with three rates of a boot medium, in multiples of the sufficient ones.
    fn run(product: &str, board: &str, read: f64, write: f64, sequential: f64) -> Record {
        let id = run_id_from_bytes([0; 16]);
        let mut record = Record::new(id, Origin::of(OriginKind::Measured));
        record.metrics = vec![
            Metric::new("rand_read_4k", Quantity::OperationRate, 2000.0 * read),
            Metric::new("rand_write_4k", Quantity::OperationRate, 800.0 * write),
            Metric::new("seq_read_1m", Quantity::ByteRate, 20e6 * sequential),
        ];
        record
            .labels
            .insert("product".to_owned(), product.to_owned());
        record.board = Some(Board {
            model: Some(board.to_owned()),
            ..Board::default()
        });
        record
    }

    fn names(standings: &[Standing]) -> Vec<&str> {
        standings.iter().map(|s| s.product.as_str()).collect()
    }

    fn of(records: &[Record], wish: &Wish) -> Recommendation {
        recommend(records, use_of("boot").unwrap(), wish)
    }

    /// The article recommends the Evo+, in agreement with its table of the Raspberry Pi 2.
    #[test]
    fn the_card_that_the_article_recommends_leads_on_its_board() {
        let records: Vec<Record> = publications()
            .iter()
            .filter(|publication| publication.id == "geerling-dramble")
            .flat_map(cardmark_catalog::Publication::records)
            .collect();
        let wish = Wish {
            board: Some("Pi 2".to_owned()),
            ..Wish::default()
        };
        let found = of(&records, &wish).standings;
        assert_eq!(
            names(&found)[..2],
            ["Samsung Evo+ 32 GB", "OWC Envoy SSD 64 GB"]
        );
        let evo = &found[0];
        assert_eq!(evo.suitability.limiting.metric, "iozone_random_write");
        assert_eq!((evo.runs_count, evo.cards_count), (1, 1));
        assert!(evo.is_sparse, "one run is little");
        assert_eq!(evo.sources, ["geerling-dramble"]);
        assert_eq!(evo.kind, Some(ProductKind::Microsd));
        // 3.00 MB/s in blocks of 4 KiB, read with 1,000 or 1,024 kB per MB: about 759 of 800.
        assert!((evo.suitability.limiting.share() - 0.95).abs() < 0.02);
        // For the no-name card only hdparm's figure is a number.
        assert_eq!(*names(&found).last().unwrap(), "No-name C4 4 GB");
        assert!(found.last().unwrap().known_ratio < 0.25);
    }

    #[test]
    fn what_limits_most_decides_and_what_is_not_known_comes_last() {
        let mut silent = run("silent", "b", 9.0, 9.0, 9.0);
        silent.metrics.pop();
        let records = [
            run("uneven", "b", 9.0, 0.8, 9.0),
            silent,
            run("even", "b", 1.1, 1.2, 1.3),
            run("slow", "b", 0.4, 9.0, 9.0),
        ];
        let found = of(&records, &Wish::default()).standings;
        assert_eq!(names(&found), ["even", "uneven", "slow", "silent"]);
        assert_eq!(found[1].suitability.limiting.metric, "rand_write_4k");
        assert_eq!(found[3].suitability.unknown, ["seq_read_1m"]);
    }

    #[test]
    fn figures_that_a_cache_answered_for_recommend_nothing() {
        let mut cached = run("cached", "b", 9.0, 9.0, 9.0);
        for metric in &mut cached.metrics {
            metric.warnings = vec!["buffered".to_owned()];
        }
        let records = [cached, run("plain", "b", 1.0, 1.0, 1.0)];
        assert_eq!(names(&of(&records, &Wish::default()).standings), ["plain"]);
    }

    #[test]
    fn cards_count_once_and_boards_are_kept_apart() {
        let sample = |record, sample| labelled(record, "sample", sample);
        let records = [
            sample(run("A", "b", 4.0, 4.0, 4.0), "1"),
            sample(run("A", "b", 4.0, 4.0, 4.0), "1"),
            sample(run("A", "b", 1.0, 1.0, 1.0), "2"),
            sample(run("A", "fast", 99.0, 99.0, 99.0), "1"),
        ];
        let found = of(&records, &Wish::default()).standings;
        let a = &found[0];
        assert!((a.suitability.limiting.share() - 2.0).abs() < 1e-9, "{a:?}");
        assert_eq!((a.runs_count, a.cards_count, a.elsewhere_count), (3, 2, 1));
        assert!(!a.is_sparse);
        assert_eq!(a.board.as_deref(), Some("b"));
    }

    /// Adds this label to the record.
    fn labelled(mut record: Record, key: &str, text: &str) -> Record {
        record.labels.insert(key.to_owned(), text.to_owned());
        record
    }

    #[test]
    fn settings_are_kept_apart() {
        let records = [
            labelled(run("A", "b", 1.0, 1.0, 1.0), "setting", "pi4-usb-bot"),
            labelled(run("A", "b", 4.0, 4.0, 4.0), "setting", "pi4-usb-uasp"),
            labelled(run("A", "b", 4.0, 4.0, 4.0), "setting", "pi4-usb-uasp"),
        ];
        let found = of(&records, &Wish::default()).standings;
        let a = &found[0];
        assert_eq!(a.conditions, ["setting pi4-usb-uasp"]);
        assert_eq!((a.runs_count, a.elsewhere_count), (2, 1));
        assert!((a.suitability.limiting.share() - 4.0).abs() < 1e-9, "{a:?}");
    }

    #[test]
    fn simulated_cards_are_counted_and_left_out() {
        let mut simulated = run("sim", "b", 9.0, 9.0, 9.0);
        simulated.origin = Origin::of(OriginKind::Simulated);
        let found = of(&[simulated.clone()], &Wish::default());
        assert!(found.is_empty());
        let mut nameless = simulated.clone();
        nameless.labels.clear();
        let records = [simulated, nameless, run("real", "b", 1.0, 1.0, 1.0)];
        let found = of(&records, &Wish::default());
        assert_eq!(names(&found.standings), ["real"]);
        assert_eq!(
            (found.simulated_runs_count, found.nameless_runs_count),
            (2, 0)
        );
    }

    #[test]
    fn few_data_are_told_by_the_need_that_fewest_runs_tell_of() {
        let only = |index: usize| {
            let mut record = run("A", "b", 1.0, 1.0, 1.0);
            record.metrics = vec![record.metrics.swap_remove(index)];
            record
        };
        let is_sparse = |records: &[Record]| of(records, &Wish::default()).standings[0].is_sparse;
        assert!(is_sparse(&[only(0), only(1), only(2)]), "one run a need");
        let whole = || run("A", "b", 1.0, 1.0, 1.0);
        assert!(is_sparse(&[whole(), whole(), only(0), only(1)]));
        assert!(!is_sparse(&[whole(), whole(), only(0), only(1), only(2)]));
        // A rate of 0 provides no information.
        let mut nothing = whole();
        nothing.metrics[1].value = 0.0;
        assert!(is_sparse(&[whole(), whole(), nothing]));
    }

    #[test]
    fn two_publications_had_two_cards() {
        let from = |publication: &str, rate: f64| {
            labelled(run("A", "b", rate, rate, rate), "publication", publication)
        };
        let share = |records: &[Record]| {
            let found = of(records, &Wish::default()).standings;
            let limiting = found[0].suitability.limiting.share();
            (found[0].cards_count, (limiting * 1e6).round() / 1e6)
        };
        let records = [from("one", 4.0), from("one", 4.0), from("other", 1.0)];
        assert_eq!(share(&records), (2, 2.0));
        let records = records.map(|record| labelled(record, "sample", "1"));
        assert_eq!(share(&records), (2, 2.0));
    }

    #[test]
    fn nothing_without_a_price_is_dropped_nor_given_one() {
        let priced = |record, price| labelled(record, "price", price);
        let records = [
            priced(run("cheap", "b", 1.0, 1.0, 1.0), "9,50 EUR"),
            priced(run("dear", "b", 2.0, 2.0, 2.0), "30 eur"),
            priced(run("dollars", "b", 3.0, 3.0, 3.0), "5 USD"),
            run("unknown", "b", 4.0, 4.0, 4.0),
        ];
        let wish = Wish {
            budget: Price::parse("10 EUR"),
            ..Wish::default()
        };
        let found = of(&records, &wish);
        assert_eq!(names(&found.standings), ["cheap"]);
        assert_eq!(found.too_dear_count, 1);
        assert_eq!(names(&found.price_not_known), ["unknown", "dollars"]);
        assert!(of(&published(), &wish).standings.is_empty());
    }

    #[test]
    fn a_capacity_is_the_least_and_may_be_unknown() {
        let wish = Wish {
            capacity_bytes: Some(64_000_000_000),
            ..Wish::default()
        };
        let found = of(&published(), &wish);
        let least = found
            .standings
            .iter()
            .filter_map(|s| s.capacity_bytes)
            .min();
        assert_eq!(least, Some(64_000_000_000));
        assert!(found.too_small_count > 10);
        assert!(names(&found.capacity_not_known).contains(&"Kingston SSD"));
    }

    #[test]
    fn runs_that_name_no_product_are_counted() {
        let mut nameless = run("A", "b", 1.0, 1.0, 1.0);
        nameless.labels.clear();
        let found = of(&[nameless], &Wish::default());
        assert_eq!((found.nameless_runs_count, found.standings.len()), (1, 0));
    }

    #[test]
    fn prices_have_one_number_and_perhaps_a_currency() {
        let read = |text: &str| Price::parse(text).map(|price| (price.amount, price.currency));
        assert_eq!(read("12"), Some((12.0, String::new())));
        assert_eq!(read("€ 9,50"), Some((9.5, "€".to_owned())));
        assert_eq!(read("12.99 EUR"), Some((12.99, "EUR".to_owned())));
        for text in ["", "EUR", "1 or 2", "-3", "0", "1,234.50"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
