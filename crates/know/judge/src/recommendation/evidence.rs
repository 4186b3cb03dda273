//! Figures of products, combined by product, method and place.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use cardmark_catalog::{Product, StandIn, Use, board, product, publications};
use cardmark_core::{OriginKind, Quantity, Record, Subject, told};
use cardmark_stats::Place;

use crate::answer::is_uneven;
use crate::field::in_catalogue;
use crate::unknown::unknown_storage;

/// A rate of a product, of one run or several.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Product, board and conditions; the names are those of the catalogue.
    pub subject: Arc<Subject>,
    /// Metric.
    pub metric: String,
    /// Quantity of the value.
    pub quantity: Quantity,
    /// Value in the unit of the quantity.
    pub value: f64,
    /// Number of runs behind it, at least 1.
    pub runs_count: usize,
    /// Number of physical cards behind it, at least 1.
    pub cards_count: usize,
    /// Year of the measurement or publication, if known.
    pub year: Option<u16>,
    /// True if the run itself calls it uneven.
    pub is_uneven: bool,
}

impl Figure {
    /// Returns the rates of a record that are the device's.
    #[must_use]
    pub fn of(record: &Record) -> Vec<Self> {
        if unknown_storage(record).is_some() {
            return Vec::new();
        }
        let subject = Arc::new(in_catalogue(Subject::of(record)));
        let published = record.labels.get("publication").and_then(|id| {
            let mut all = publications().iter();
            all.find(|one| one.id == *id)
        });
        let date = match published {
            Some(publication) => publication.published.as_deref(),
            None => record.started_at.as_deref(),
        };
        let year = date.and_then(|date| date.split('-').next()?.parse().ok());
        let metrics = record.metrics.iter();
        let usable = metrics.filter(|one| one.quantity.is_rate() && one.voided_by().is_none());
        usable
            .map(|metric| Self {
                subject: Arc::clone(&subject),
                metric: metric.id.clone(),
                quantity: metric.quantity,
                value: metric.value,
                runs_count: 1,
                cards_count: 1,
                year,
                is_uneven: metric.half_width_ratio().is_some_and(is_uneven),
            })
            .collect()
    }
}

/// Returns all published rates.
pub fn published_figures() -> &'static [Figure] {
    static ALL: LazyLock<Vec<Figure>> = LazyLock::new(|| {
        let records = publications().iter().flat_map(|one| one.records());
        records.flat_map(|record| Figure::of(&record)).collect()
    });
    &ALL
}

/// Returns the metrics of the needs of a use, with those that stand in for them.
#[must_use]
pub fn metrics_of_use(wanted: &Use) -> BTreeSet<&str> {
    let needs = wanted.needs.iter();
    let metrics = needs.flat_map(|need| {
        let stand_ins = need.stand_ins.iter().flat_map(|row| &row.metrics);
        need.metrics.iter().chain(stand_ins)
    });
    metrics.map(String::as_str).collect()
}

/// A need that a metric measures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// Index of the need.
    pub(super) need: usize,
    /// Rank among the metrics of the need; 0 is the nearest.
    pub(super) rank: usize,
    /// `None` if it measures the need itself.
    pub(super) stand_in: Option<&'static StandIn>,
}

/// Returns the ways of each metric.
fn ways(wanted: &'static Use) -> HashMap<&'static str, Vec<Way>> {
    let mut ways = HashMap::<&str, Vec<Way>>::new();
    for (need, requirement) in wanted.needs.iter().enumerate() {
        let own = requirement.metrics.iter().map(|metric| (metric, None));
        let others = requirement.stand_ins.iter().flat_map(|row| {
            let metrics = row.metrics.iter();
            metrics.map(|metric| (metric, Some(*row)))
        });
        for (rank, (metric, stand_in)) in own.chain(others).enumerate() {
            ways.entry(metric).or_default().push(Way {
                need,
                rank,
                stand_in,
            });
        }
    }
    ways
}

/// Runs of one product by one metric in one place.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) way: Way,
    pub(super) metric: String,
    pub(super) place: Arc<Place>,
    /// True unless it was measured in a reader.
    pub(super) is_in_slot: bool,
    /// State of the command queue, if known.
    pub(super) queue: Option<bool>,
    pub(super) is_published: bool,
    pub(super) is_uneven: bool,
    pub(super) sources: BTreeSet<String>,
    pub(super) year: Option<u16>,
    cards: BTreeMap<Card, OfCard>,
}

/// Rates of one card, or of several that cannot be distinguished.
#[derive(Clone, Debug, Default)]
struct OfCard {
    /// Logarithms of the rates, with the number of runs behind each.
    logarithms: Vec<(f64, usize)>,
    cards_count: usize,
}

impl OfCard {
    fn runs_count(&self) -> usize {
        self.logarithms.iter().map(|(_, runs)| runs).sum()
    }

    /// Mean of the logarithms, whatever the order in which they came.
    fn mean(&self) -> f64 {
        let mut logarithms = self.logarithms.clone();
        logarithms.sort_by(|a, b| a.0.total_cmp(&b.0));
        let weighted = logarithms.iter().map(|(rate, runs)| rate * *runs as f64);
        weighted.sum::<f64>() / self.runs_count().max(1) as f64
    }
}

/// The publication, and the card's id in it. Cards of two publications are different, even with equal ids or without any.
type Card = (Option<String>, Option<String>);

impl Set {
    /// Mean of the cards' means of their runs, all geometric, in the quantity of the need.
    pub(super) fn value(&self) -> f64 {
        let cards = self.cards.values();
        let sum: f64 = cards
            .map(|card| card.mean() * card.cards_count as f64)
            .sum();
        libm::exp(sum / self.cards_count().max(1) as f64)
    }

    pub(super) fn runs_count(&self) -> usize {
        self.cards.values().map(OfCard::runs_count).sum()
    }

    pub(super) fn cards_count(&self) -> usize {
        self.cards.values().map(|card| card.cards_count).sum()
    }

    /// Id of the card, if it is a single known one.
    pub(super) fn card(&self) -> Option<Arc<str>> {
        let ((publication, card), _) = self.cards.first_key_value()?;
        let publication = publication.as_deref().unwrap_or_default();
        let id = format!("{publication} {}", card.as_deref()?);
        (self.cards.len() == 1).then(|| Arc::from(id))
    }

    /// Highest rate of the slot, bytes per second, if it was in a known one.
    pub(super) fn slot_bytes_per_s(&self) -> Option<u64> {
        let facts = self.place.board.as_deref().and_then(board)?;
        self.is_in_slot.then(|| facts.most_slot_bytes_per_s())
    }

    /// True if it was measured with a command queue, or perhaps: on a board that uses the queue of trusted cards.
    pub(super) fn may_have_queue(&self) -> bool {
        let facts = || self.place.board.as_deref().and_then(board);
        let can_have = || facts().is_some_and(|board| board.trusted_queues_since.is_some());
        self.queue.unwrap_or_else(can_have)
    }

    /// Fastest USB port of the board, bits per second, if known.
    pub(super) fn usb_bits_per_s(&self) -> Option<u64> {
        let facts = self.place.board.as_deref().and_then(board)?;
        facts.usb_bits_per_s
    }

    /// Sort key: even runs first, then the nearest metric, the most runs and the latest year.
    pub(super) fn weight(&self) -> (bool, usize, Reverse<usize>, Reverse<Option<u16>>) {
        let runs = Reverse(self.runs_count());
        (self.is_uneven, self.way.rank, runs, Reverse(self.year))
    }

    fn add(&mut self, figure: &Figure, value: f64) {
        let subject = &figure.subject;
        let card = (subject.publication.clone(), subject.card.clone());
        let of_card = self.cards.entry(card).or_default();
        let runs_count = figure.runs_count.max(1);
        of_card.logarithms.push((libm::log(value), runs_count));
        of_card.cards_count = of_card.cards_count.max(figure.cards_count.max(1));
        self.year = self.year.max(figure.year);
        self.sources.insert(source(subject));
    }
}

/// Figures of a product.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) product: String,
    pub(super) known: Option<&'static Product>,
    pub(super) sets: Vec<Set>,
}

/// Figures by product, with the number of those that were left out.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) products: Vec<Evidence>,
    pub(super) boards: BTreeSet<String>,
    /// Number of runs of unknown products.
    pub(super) nameless_count: usize,
    /// Number of runs of simulated cards.
    pub(super) simulated_count: usize,
}

/// Product, index of the need, metric, place, the setting at a port, where it is the adapter, and whether it is uneven.
type Key<'a> = (&'a str, usize, &'a str, Arc<Place>, Option<&'a str>, bool);

/// Combines the figures of a use.
pub(super) fn gather(figures: &[Figure], wanted: &'static Use) -> Gathered {
    let mut gathered = Gathered::default();
    let ways = ways(wanted);
    let mut places = HashMap::<*const Subject, Arc<Place>>::new();
    let mut sets = BTreeMap::<Key<'_>, Set>::new();
    let (mut simulated, mut nameless) = (BTreeSet::new(), BTreeSet::new());
    for figure in figures {
        let subject = figure.subject.as_ref();
        let (Some(of_metric), true) = (ways.get(figure.metric.as_str()), figure.value > 0.0) else {
            continue;
        };
        if subject.origin == OriginKind::Simulated {
            simulated.insert(std::ptr::from_ref(subject));
            continue;
        }
        let Some(product) = subject.product.as_deref() else {
            nameless.insert(std::ptr::from_ref(subject));
            continue;
        };
        if is_overclocked(subject) {
            continue;
        }
        let place = places.entry(std::ptr::from_ref(subject));
        let place = place.or_insert_with(|| Arc::new(Place::of(subject)));
        gathered.boards.extend(subject.board.clone());
        let is_in_slot = told(&subject.context, "reader").is_none_or(|it| it == "reader slot");
        let setting = subject.setting.as_deref().filter(|_| !is_in_slot);
        for way in of_metric {
            let need = &wanted.needs[way.need];
            let Some(value) = need.converted(figure.quantity, figure.value) else {
                continue;
            };
            let metric = figure.metric.as_str();
            let place_of = Arc::clone(place);
            let key = (
                product,
                way.need,
                metric,
                place_of,
                setting,
                figure.is_uneven,
            );
            let set = sets.entry(key).or_insert_with(|| Set {
                way: *way,
                metric: figure.metric.clone(),
                place: Arc::clone(place),
                is_in_slot,
                queue: queue(subject),
                is_published: subject.origin == OriginKind::Published,
                is_uneven: figure.is_uneven,
                sources: BTreeSet::new(),
                year: None,
                cards: BTreeMap::new(),
            });
            set.add(figure, value);
        }
    }
    gathered.simulated_count = simulated.len();
    gathered.nameless_count = nameless.len();
    for ((name, ..), set) in sets {
        match gathered.products.last_mut() {
            Some(last) if last.product == name => last.sets.push(set),
            _ => gathered.products.push(Evidence {
                product: name.to_owned(),
                known: product(name),
                sets: vec![set],
            }),
        }
    }
    gathered
}

/// Returns whether the clock of the slot was raised.
pub(crate) fn is_overclocked(subject: &Subject) -> bool {
    told(&subject.context, "bus").is_some_and(|bus| bus.contains(" MHz"))
}

fn queue(subject: &Subject) -> Option<bool> {
    match told(&subject.context, "command_queue")?.as_str() {
        "command queue on" => Some(true),
        "command queue off" => Some(false),
        _ => None,
    }
}

fn source(subject: &Subject) -> String {
    let by_origin = || match subject.origin {
        OriginKind::Measured => "own",
        OriginKind::Imported => "imported",
        _ => "published",
    };
    let publication = subject.publication.clone();
    publication.unwrap_or_else(|| by_origin().to_owned())
}
