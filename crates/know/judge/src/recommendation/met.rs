//! Rates of a product on a board for the needs of a use, each with its basis.

use std::cmp::Reverse;
use std::sync::Arc;

use cardmark_catalog::{
    Product, ProductKind, ProductLine, QueueState, Requirement, class, equivalents_of, lines_of,
};
use cardmark_core::Quantity;
use cardmark_stats::Ranked;
use serde::Serialize;

use super::asked::AskedBoard;
use super::evidence::Set;
use crate::spread::{known_elsewhere, known_spread};
use crate::suitability::asked as asked_of;

/// Bytes of a small operation, which the slot transfers in addition to the card's own time.
const BLOCK_BYTES: f64 = 4096.0;
/// Share of an estimate that 193 of 200 published pairs on two boards reached; as many stayed below its inverse.
pub(crate) const LEAST_OF_ESTIMATE: f64 = 0.8;
/// Time by which an operation may take longer on another board than estimated, microseconds: what [`LEAST_OF_ESTIMATE`] allows the
/// fastest of these pairs, 3,000 operations per second.
pub(crate) const BOARD_TIME_US: f64 = 83.0;
/// Share of the clock of a slot that data can have.
const SLOT_RATIO: f64 = 0.9;
/// Rate from which a USB port is one of USB 3, bits per second.
const USB_3_BITS_PER_S: u64 = 5_000_000_000;
/// Time that USB 2 adds to each operation, seconds: two microframes, as of the Kingston SSD in the publication `geerling-turing-pi`.
const USB_2_TIME: f64 = 250e-6;
/// Share of the bits of a USB port that data are expected to have.
const USB_RATIO: f64 = 0.7;
/// Share that data can have at most.
const MOST_USB_RATIO: f64 = 0.9;
/// USB port of an unknown board, bits per second.
const UNKNOWN_USB: u64 = 480_000_000;
/// Slot of an unknown board, bytes per second.
const UNKNOWN_SLOT: f64 = 25e6;

/// Basis of the rate of a need; the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Measured on this board.
    Here,
    /// Another figure, which stands for it, measured on this board.
    StandIn,
    /// Measured on another board with an equal slot.
    SameSlot,
    /// Estimated from another board or a reader.
    Elsewhere,
    /// Promised by a class on the label.
    Label,
}

/// A need with its rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Met {
    /// Name of the need.
    pub name: String,
    /// The operations in plain words.
    pub plain: String,
    /// Metric of the figure; absent for a promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Difference of the figure from the need, such as `32 at once`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<&'static str>,
    /// Quantity of the rates.
    pub quantity: Quantity,
    /// The figure as measured.
    pub measured: f64,
    /// The figure, or what is expected on the board that is asked for.
    pub value: f64,
    /// Smallest rate of the need; `None` if it is unknown.
    pub low: Option<f64>,
    /// True if the smallest rate is only that which the label promises, or the maker for this board.
    pub is_promised: bool,
    /// Largest rate of the need; `None` if unknown.
    pub high: Option<f64>,
    /// Rate that is asked for.
    pub asked: f64,
    /// Rate from which the storage is no longer the bottleneck.
    pub enough: f64,
    /// True if the use cannot be judged without it.
    pub is_deciding: bool,
    /// Its basis.
    pub basis: Basis,
    /// Board of the measurement, if known.
    pub board: Option<String>,
    /// State of the command queue in the measurement, if known.
    pub queue: Option<bool>,
    /// Year of the measurement, if known.
    pub year: Option<u16>,
    /// Number of runs.
    pub runs_count: usize,
    /// Number of physical cards.
    pub cards_count: usize,
    /// True if its runs were uneven.
    pub is_uneven: bool,
    /// Sources of the figure.
    pub sources: Vec<String>,
    /// True if a command queue was in use that changes the figure.
    #[serde(skip)]
    pub(super) is_queued: bool,
    #[serde(skip)]
    pub(super) ranked: Option<Ranked>,
}

impl Met {
    /// The expected rate as a share of the sufficient one.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.value / self.enough
    }
}

/// A product on a board.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    pub(super) asked: &'a AskedBoard,
    pub(super) kind: Option<ProductKind>,
    pub(super) queue: Option<QueueState>,
    /// Lines that the product may be of.
    pub(super) lines: &'a [&'static ProductLine],
}

impl Case<'_> {
    /// Rate of the slot that is asked for, bytes per second; of an unknown one the slowest that is common.
    fn slot(&self) -> f64 {
        let known = self.asked.slot_bytes_per_s;
        known.map_or(UNKNOWN_SLOT, |slot| slot as f64)
    }

    /// Rate of a need that the maker states for this board, if for all lines that the product may be of.
    fn stated(&self, need: &Requirement) -> Option<f64> {
        let of_line = |line: &&ProductLine| {
            let is_it = |id: &String| self.asked.known.iter().all(|board| board.id == *id);
            let rates = line.rates.iter().find(|rates| is_it(&rates.board))?;
            match need.pattern.as_deref()? {
                "random_read" => Some(rates.random_reads_per_s),
                "random_write" => Some(rates.random_writes_per_s),
                _ => None,
            }
        };
        let all: Option<Vec<u32>> = self.lines.iter().map(of_line).collect();
        let is_known = !self.asked.known.is_empty();
        all?.into_iter().min().filter(|_| is_known).map(f64::from)
    }

    fn is_card(&self) -> bool {
        let kinds = [ProductKind::Microsd, ProductKind::Sd];
        self.kind.is_none_or(|kind| kinds.contains(&kind))
    }

    /// True if the figures hold for the command queue as installed.
    fn counts(&self, set: &Set) -> bool {
        match (set.is_published, set.queue) {
            (_, None) | (false, _) => true,
            (true, Some(is_on)) => match self.queue {
                Some(QueueState::None) => true,
                _ => is_on == self.uses_queue(),
            },
        }
    }

    /// True if the board turns the queue on as installed.
    fn uses_queue(&self) -> bool {
        self.queue == Some(QueueState::Trusted) && self.asked.has_trusted_queues
    }

    /// True if a command queue changes this figure.
    fn is_queued(&self, set: &Set) -> bool {
        let can_be = set.way.stand_in.is_some_and(|row| row.is_queued);
        can_be && set.may_have_queue() && self.queue != Some(QueueState::None)
    }

    /// True if two inferences were made, which no published card allows to check together: from several operations at once to one, and
    /// from one board to another. For large blocks the time between operations does not matter.
    fn is_unchecked(&self, set: &Set, quantity: Quantity) -> bool {
        let is_estimated = self.basis(set) == Basis::Elsewhere && set.way.stand_in.is_some();
        is_estimated && quantity == Quantity::OperationRate
    }

    fn basis(&self, set: &Set) -> Basis {
        let is_here = set
            .place
            .board
            .as_deref()
            .is_some_and(|it| self.asked.is_it(it));
        let is_comparable = set.is_in_slot || !self.is_card();
        let slot = set.slot_bytes_per_s();
        let is_alike = self.is_card() && slot.is_some() && slot == self.asked.slot_bytes_per_s;
        match set.way.stand_in {
            None if is_here && is_comparable => Basis::Here,
            Some(_) if is_here && is_comparable => Basis::StandIn,
            _ if is_alike && (self.uses_queue() || !self.is_queued(set)) => Basis::SameSlot,
            _ => Basis::Elsewhere,
        }
    }

    /// The best figures of a need.
    fn best<'s>(&self, sets: impl Iterator<Item = &'s Set>) -> Option<&'s Set> {
        sets.min_by(|one, other| {
            let is_nearer = |set: &Set| self.usb_time(set) <= 0.0;
            let key = |set: &Set| (self.basis(set), !is_nearer(set), set.weight());
            let by_value = || other.value().total_cmp(&one.value());
            key(one).cmp(&key(other)).then_with(by_value)
        })
    }

    fn is_at_usb(&self) -> bool {
        self.kind.is_some_and(|kind| self.asked.is_at_usb(kind))
    }

    /// Time that the USB port adds to each operation of these figures, or saves, seconds.
    fn usb_time(&self, set: &Set) -> f64 {
        let is_fast = |port: Option<u64>| port.map(|port| port >= USB_3_BITS_PER_S);
        let of_asked = is_fast(self.asked.usb_bits_per_s);
        match (is_fast(set.usb_bits_per_s()), of_asked) {
            _ if !self.is_at_usb() => 0.0,
            (Some(false), Some(true)) => -USB_2_TIME,
            (None | Some(true), None | Some(false)) => USB_2_TIME,
            _ => 0.0,
        }
    }

    /// The range at a USB port of the board, from figures on another one.
    fn range_at_usb(&self, set: &Set, quantity: Quantity, rates: [f64; 3]) -> [f64; 3] {
        let [low, value, high] = rates;
        if quantity == Quantity::ByteRate {
            let port = self.asked.usb_bits_per_s;
            let limit = |port: u64, ratio: f64| ratio * port as f64 / 8.0;
            let expected = limit(port.unwrap_or(UNKNOWN_USB), USB_RATIO);
            let most = port.map_or(f64::INFINITY, |port| limit(port, MOST_USB_RATIO));
            return [
                LEAST_OF_ESTIMATE * low.min(expected),
                value.min(expected),
                high.min(most),
            ];
        }
        let time = self.usb_time(set);
        let through = |rate: f64| 1.0 / (1.0 / rate + time.max(0.0));
        let high = 1.0 / (1.0 / high + time.min(0.0)).max(0.5 / high);
        [LEAST_OF_ESTIMATE * through(low), through(value), high]
    }

    /// Smallest, expected and largest rate of a need by these figures.
    pub(super) fn range(&self, set: &Set, quantity: Quantity) -> [f64; 3] {
        let value = set.value();
        let [low, high] = set
            .way
            .stand_in
            .map_or([value; 2], |row| [row.low(value), row.most * value]);
        match self.basis(set) {
            Basis::SameSlot => self.range_in_slot(set, quantity, [low, value, high]),
            Basis::Elsewhere if self.is_at_usb() => {
                self.range_at_usb(set, quantity, [low, value, high])
            }
            Basis::Elsewhere if self.is_card() => {
                self.range_in_slot(set, quantity, [low, value, high])
            }
            Basis::Elsewhere => [LEAST_OF_ESTIMATE * low, value, high],
            _ => [low, value, high],
        }
    }

    /// The range in the slot of the board, from figures in another one or in a reader.
    fn range_in_slot(&self, set: &Set, quantity: Quantity, rates: [f64; 3]) -> [f64; 3] {
        let [low, value, high] = rates;
        let own = set.slot_bytes_per_s().map(|slot| slot as f64);
        let slot = self.slot();
        let is_known = self.asked.slot_bytes_per_s.is_some();
        let is_slower = !is_known || own.is_none_or(|own| own > slot);
        if quantity == Quantity::ByteRate {
            let limit = |rate: f64| match own == Some(slot) {
                true => rate,
                false => rate.min(SLOT_RATIO * slot),
            };
            let most = match own {
                // The slower slot may have been the limit.
                Some(own) if own < slot => slot,
                _ => slot.min(high / LEAST_OF_ESTIMATE),
            };
            return [LEAST_OF_ESTIMATE * limit(low), limit(value), most];
        }
        let through = |rate: f64| match is_slower {
            true => 1.0 / (1.0 / rate + BLOCK_BYTES / slot),
            false => rate,
        };
        let least = |rate: f64| 1.0 / (1.0 / rate + BOARD_TIME_US / 1e6);
        let estimated = through(low);
        // A faster slot saves at most the difference of both transfers.
        let saved = own
            .filter(|_| !is_slower)
            .map_or(0.0, |own| BLOCK_BYTES / own - BLOCK_BYTES / slot);
        let high = 1.0 / (1.0 / high - saved).max(0.5 / high);
        [
            least(estimated).min(LEAST_OF_ESTIMATE * estimated),
            through(value),
            high / LEAST_OF_ESTIMATE,
        ]
    }
}

/// Returns the rate for a need by these figures of a product, or by the classes on its label; `None` if it is unknown.
pub(super) fn met(
    case: &Case<'_>,
    sets: &[&Set],
    need: &Requirement,
    is_deciding: bool,
    classes: &[String],
) -> Option<Met> {
    let counting = sets.iter().copied().filter(|set| case.counts(set));
    let without_queue = || sets.iter().copied().filter(|set| !set.may_have_queue());
    let Some(set) = case.best(counting).or_else(|| case.best(without_queue())) else {
        return promised(case, need, is_deciding, classes);
    };
    let [low, value, high] = case.range(set, need.quantity);
    let is_queued = case.is_queued(set);
    // The range of a stand-in holds without a queue: then the same card without it decides.
    let (of_range, range) = match is_queued {
        false => (set, Some([low, high])),
        true => case.best(without_queue()).map_or((set, None), |off| {
            let [low, _, high] = case.range(off, need.quantity);
            (off, Some([low, high]))
        }),
    };
    let is_unchecked = case.is_unchecked(of_range, need.quantity);
    let promise = || {
        let by_class = promised(case, need, is_deciding, classes).and_then(|met| met.low);
        by_class
            .into_iter()
            .chain(case.stated(need))
            .fold(0.0, f64::max)
    };
    let range = range.map(|[low, high]| match is_unchecked {
        true => [promise().min(high), high],
        false => [low, high],
    });
    Some(Met {
        is_promised: is_unchecked && range.is_some_and(|[low, _]| low > 0.0),
        metric: Some(set.metric.clone()),
        stand_in: set.way.stand_in.map(|row| row.plain.as_str()),
        measured: set.value(),
        low: range.map(|[low, _]| low),
        high: range.map(|[_, high]| high),
        basis: case.basis(set),
        board: set.place.board.clone(),
        queue: set.queue,
        year: set.year,
        runs_count: set.runs_count(),
        cards_count: set.cards_count(),
        is_uneven: set.is_uneven,
        sources: set.sources.iter().cloned().collect(),
        is_queued,
        ranked: Some(ranked(set, value / need.enough)),
        ..by_label(need, is_deciding, value)
    })
}

/// A need with a rate that the label promises.
fn by_label(need: &Requirement, is_deciding: bool, rate: f64) -> Met {
    Met {
        name: need.name.clone(),
        plain: need.plain.clone(),
        metric: None,
        stand_in: None,
        quantity: need.quantity,
        measured: rate,
        value: rate,
        low: Some(rate),
        is_promised: true,
        high: None,
        asked: asked_of(need),
        enough: need.enough,
        is_deciding,
        basis: Basis::Label,
        board: None,
        queue: None,
        year: None,
        runs_count: 0,
        cards_count: 0,
        is_uneven: false,
        sources: Vec::new(),
        is_queued: false,
        ranked: None,
    }
}

fn ranked(set: &Set, share: f64) -> Ranked {
    let pattern = equivalents_of(&set.metric);
    let quantity = pattern.map_or(Quantity::OperationRate, |pattern| pattern.quantity);
    Ranked {
        value: share,
        runs_count: set.runs_count(),
        cards_count: set.cards_count(),
        card: set.card(),
        place: Arc::clone(&set.place),
        spread: known_spread(&set.metric, quantity),
        elsewhere: known_elsewhere(&set.metric, quantity),
        method: pattern
            .and_then(|row| row.method_of(&set.metric))
            .unwrap_or_default(),
        between_methods: pattern.map_or(0.0, |row| row.deviation),
    }
}

/// The rate that a class on the label promises.
fn promised(
    case: &Case<'_>,
    need: &Requirement,
    is_deciding: bool,
    classes: &[String],
) -> Option<Met> {
    let classes: Vec<_> = classes.iter().filter_map(|name| class(name)).collect();
    let rate = match (&need.class, need.pattern.as_deref()) {
        (Some(wanted), _) => {
            let has =
                |one: &&cardmark_catalog::Class| one.id == *wanted || one.implies.contains(wanted);
            classes.iter().copied().find(has).map(|_| need.reference)
        }
        (None, Some("sequential_write")) => {
            let rates = classes.iter().map(|one| one.least_write_bytes_per_s);
            rates.max().filter(|rate| *rate > 0).map(|rate| rate as f64)
        }
        _ => None,
    }?;
    let rate = match need.quantity {
        Quantity::ByteRate => rate.min(SLOT_RATIO * case.slot()),
        _ => rate,
    };
    Some(by_label(need, is_deciding, rate))
}

/// Classes on the label of a product, or of the lines that it may be of.
pub(super) fn classes_of(product: &Product) -> Vec<String> {
    if !product.claims.is_empty() {
        return product.claims.clone();
    }
    let lines = lines_of(product);
    shared(lines.iter().map(|line| classes_of_line(line)))
}

/// Classes that are promised on each capacity of a line with known classes.
pub(super) fn classes_of_line(line: &ProductLine) -> Vec<String> {
    let all = line.claims.iter().map(|claim| claim.classes.clone());
    shared(all.filter(|classes| !classes.is_empty()))
}

/// Classes that are in all lists.
fn shared(mut all: impl Iterator<Item = Vec<String>>) -> Vec<String> {
    let first = all.next().unwrap_or_default();
    all.fold(first, |mut shared, next| {
        shared.retain(|class| next.contains(class));
        shared
    })
}

/// Returns the need whose rate is the smallest share of what is enough, among those that decide.
pub(super) fn scarcest(needs: &[Met]) -> Option<&Met> {
    let deciding = needs.iter().filter(|met| met.is_deciding);
    deciding.min_by(|a, b| {
        let key = |met: &Met| (met.share(), Reverse(met.runs_count));
        let (one, other) = (key(a), key(b));
        one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1))
    })
}
