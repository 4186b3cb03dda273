//! Products to avoid: false names and capacities, early errors, command queues that fail, and rates far below a use.
//!
//! A warning is about a product of one capacity, or one line on one board: never about a brand.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_cards::CardFacts;
use cardmark_catalog::{
    BrandKind, CapacityVerdict, EnduranceSample, Fact, ProductKind, ProductLine, QueueState,
    Requirement, SampleRegisters, SignInput, Use, Weight, board_name, product, publications, signs,
};
use cardmark_core::{CardKind, FindingKind, Metric, OriginKind, Quantity, Record, StorageKind};
use serde::Serialize;

use crate::history::started_at_s;
use crate::recommendation::AskedBoard;
use crate::suitability::{Supply, USABLE_RATIO, asked, need_of, suitability};
use crate::unknown::{storage_kind, unknown_storage};

/// Fillings of the whole card within which a first error is early.
pub const EARLY_FILLINGS: u64 = 10;

/// Question for products to avoid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AvoidQuestion<'a> {
    /// The use.
    pub wanted: &'a Use,
    /// The board; `None`: any.
    pub board: Option<&'a AskedBoard>,
    /// Kinds of products; empty: all.
    pub kinds: &'a [ProductKind],
}

/// A product to avoid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warned {
    /// Name with the capacity; a false name is between quotation marks.
    pub name: String,
    /// The reason.
    #[serde(flatten)]
    pub reason: AvoidReason,
    /// Number of tested cards; 0: not known.
    pub cards_count: usize,
    /// Registers by which such a card is recognized.
    pub registers: Vec<SampleRegisters>,
    /// Years in which the cards were made, or tested.
    pub years: Vec<String>,
    /// The sources; none: own tests.
    pub sources: Vec<String>,
    /// Day on which the source was read.
    pub checked_on: Option<String>,
}

/// Reason to avoid a product, the gravest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum AvoidReason {
    /// An own test found a false capacity.
    OwnFake {
        /// Real capacity, bytes.
        real_bytes: u64,
        /// Size that the card reports, bytes.
        size_bytes: u64,
        /// Day of the test.
        tested_on: Option<String>,
    },
    /// Sold under a false name, and holds less than its label.
    FalseCapacity {
        /// Capacity on the label, bytes.
        label_bytes: u64,
        /// Least and most that cards of this name hold, bytes; absent if the source does not state it.
        holds_bytes: Option<[u64; 2]>,
    },
    /// Sold under the name of a maker that did not make it.
    FalseName,
    /// A card had its first error within a few fillings.
    EarlyError {
        /// Number of cards with such an error.
        early_count: usize,
        /// Most whole cycles before the first error of one of them.
        most_fillings: u64,
    },
    /// Its command queue fails on this board.
    BrokenQueue {
        /// The board.
        board: String,
        /// True if the board leaves the queue off unless it is turned on.
        is_off_by_default: bool,
        /// Details, in words.
        detail: String,
    },
    /// Less than half of what the use asks for, wherever it was tested.
    TooSlow {
        /// The operations in plain words, such as `random writes`.
        plain: String,
        /// Quantity of the rates.
        quantity: Quantity,
        /// The scarcest rate of the best run.
        value: f64,
        /// The rate that the use asks for: that of a class, or the sufficient one.
        asked: f64,
        /// Board of that run.
        board: Option<String>,
        /// Number of runs.
        runs_count: usize,
    },
}

impl AvoidReason {
    fn rank(&self) -> u8 {
        match self {
            Self::OwnFake { .. } => 0,
            Self::FalseCapacity { .. } => 1,
            Self::FalseName => 2,
            Self::EarlyError { .. } => 3,
            Self::BrokenQueue { .. } => 4,
            Self::TooSlow { .. } => 5,
        }
    }
}

/// Returns the products to avoid, the gravest reason first, then by name. The order of samples, lines and records does not
/// matter, and repeated ones count once.
#[must_use]
pub fn avoid(
    samples: &[EnduranceSample],
    lines: &[ProductLine],
    records: &[Record],
    question: &AvoidQuestion<'_>,
) -> Vec<Warned> {
    let is_of = |kind: ProductKind| question.kinds.is_empty() || question.kinds.contains(&kind);
    let mut warned = own_fakes(records);
    if is_of(ProductKind::Microsd) {
        warned.extend(by_samples(samples));
    }
    let lines = lines.iter().filter(|line| is_of(line.kind));
    warned.extend(broken_queues(lines, question.board));
    warned.extend(too_slow(records, question));
    warned.sort_by(|a, b| (a.reason.rank(), &a.name).cmp(&(b.reason.rank(), &b.name)));
    warned.dedup();
    warned
}

/// Warnings by cards that others tested until an error.
fn by_samples(samples: &[EnduranceSample]) -> Vec<Warned> {
    let mut seen = BTreeSet::new();
    let mut products = BTreeMap::<String, Vec<&EnduranceSample>>::new();
    for sample in samples {
        if seen.insert((&sample.product, sample.sample)) {
            products.entry(sample.name()).or_default().push(sample);
        }
    }
    let warned = products.into_iter().filter_map(|(name, mut cards)| {
        cards.sort_by_key(|card| card.sample);
        let reason = reason_of(&cards)?;
        let is_false = matches!(
            reason,
            AvoidReason::FalseCapacity { .. } | AvoidReason::FalseName
        );
        let mut registers: Vec<SampleRegisters> = Vec::new();
        for card in cards.iter().filter(|_| is_false) {
            let known = card.registers.iter();
            let mut strong = known.filter(|found| is_suspicious(found, card.capacity_bytes));
            if let Some(found) = strong.next().filter(|found| !registers.contains(found)) {
                registers.push(found.clone());
            }
        }
        let texts = |of: fn(&EnduranceSample) -> Option<&str>| -> Vec<String> {
            let texts: BTreeSet<&str> = cards.iter().filter_map(|card| of(card)).collect();
            texts.into_iter().map(str::to_owned).collect()
        };
        Some(Warned {
            name,
            reason,
            cards_count: cards.len(),
            registers,
            years: texts(|card| card.made.as_deref()?.get(..4)),
            sources: texts(|card| Some(&card.source)),
            checked_on: cards.iter().map(|card| card.checked_on.clone()).max(),
        })
    });
    warned.collect()
}

/// Reason to avoid the product of these cards.
fn reason_of(cards: &[&EnduranceSample]) -> Option<AvoidReason> {
    if cards
        .iter()
        .any(|card| card.verdict == Some(CapacityVerdict::Fake))
    {
        let holds = || cards.iter().filter_map(|card| card.holds_bytes);
        let range = holds().min().zip(holds().max());
        return Some(AvoidReason::FalseCapacity {
            label_bytes: cards.first()?.capacity_bytes,
            holds_bytes: range.map(|(least, most)| [least, most]),
        });
    }
    if cards.iter().any(|card| card.brand == BrandKind::KnockOff) {
        return Some(AvoidReason::FalseName);
    }
    let ends = cards.iter().filter_map(|card| card.first_error?.at_most);
    let early: Vec<u64> = ends.filter(|most| *most < EARLY_FILLINGS).collect();
    Some(AvoidReason::EarlyError {
        early_count: early.len(),
        most_fillings: early.into_iter().max()?,
    })
}

/// True if no genuine card is known with these registers.
fn is_suspicious(registers: &SampleRegisters, capacity_bytes: u64) -> bool {
    let facts = CardFacts {
        manufacturer_id: Some(registers.manufacturer_id),
        oem: Some(registers.oem.clone()),
        product: Some(registers.product.clone()),
        capacity_bytes: Some(capacity_bytes),
        ..CardFacts::default()
    };
    let found = signs(&SignInput {
        kind: CardKind::Sd,
        facts: &facts,
        serial: None,
        today: None,
    });
    found.iter().any(|sign| sign.weight == Weight::Strong)
}

/// Lines whose command queue is known to fail, on boards that use it.
fn broken_queues<'a>(
    lines: impl Iterator<Item = &'a ProductLine>,
    board: Option<&AskedBoard>,
) -> Vec<Warned> {
    let mut known = board.into_iter().flat_map(|board| &board.known);
    let Some(board) = known.find(|board| board.command_queue.is_some()) else {
        return Vec::new();
    };
    let warned = lines.filter_map(|line| {
        let queue = line.command_queue.as_ref()?;
        let sources = line.sources.iter();
        let of_queue = sources.filter(|source| source.of.contains(&Fact::CommandQueue));
        (queue.state == QueueState::Broken).then(|| Warned {
            name: line.name(),
            reason: AvoidReason::BrokenQueue {
                board: board.name.clone(),
                is_off_by_default: board.trusted_queues_since.is_some(),
                detail: queue.detail.clone(),
            },
            cards_count: 0,
            registers: Vec::new(),
            years: Vec::new(),
            sources: of_queue.map(|source| source.source.clone()).collect(),
            checked_on: Some(line.checked_on.clone()),
        })
    });
    warned.collect()
}

/// Own cards whose last test found a false capacity. Simulated cards cannot be bought.
fn own_fakes(records: &[Record]) -> Vec<Warned> {
    let mut last = BTreeMap::<(String, Option<&str>), &Record>::new();
    for record in records {
        let is_own = matches!(
            record.origin.kind,
            OriginKind::Measured | OriginKind::Imported
        );
        if !is_own || unknown_storage(record).is_some() || record.integrity.is_none() {
            continue;
        }
        let card = record.devices.first().and_then(|device| device.card_id());
        let at = |record: &Record| (started_at_s(record), record.id);
        let known = last.entry((own_name(record), card)).or_insert(record);
        if at(record) > at(known) {
            *known = record;
        }
    }
    let warned = last.into_iter().filter_map(|((name, _), record)| {
        let is_fake = match storage_kind(record) {
            Some(StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain) => true,
            _ => record
                .findings
                .iter()
                .any(|one| one.kind == FindingKind::FalseCapacity),
        };
        let integrity = record.integrity.as_ref().filter(|_| is_fake)?;
        Some(Warned {
            name,
            reason: AvoidReason::OwnFake {
                real_bytes: integrity.real_bytes,
                size_bytes: integrity.size_bytes,
                tested_on: record
                    .started_at
                    .as_deref()
                    .and_then(|at| at.get(..10))
                    .map(str::to_owned),
            },
            cards_count: 1,
            registers: own_registers(record).into_iter().collect(),
            years: Vec::new(),
            sources: Vec::new(),
            checked_on: None,
        })
    });
    warned.collect()
}

/// Product, or else the user's name of the card, or else its model.
fn own_name(record: &Record) -> String {
    let label = |key: &str| record.labels.get(key).cloned();
    let product = label("product").map(|name| cardmark_catalog::product_name(&name));
    let model = || record.devices.first()?.model.clone();
    let named = product.or_else(|| label("sample")).or_else(model);
    named.unwrap_or_else(|| "a card without a name".to_owned())
}

fn own_registers(record: &Record) -> Option<SampleRegisters> {
    let facts = &record.devices.first()?.card.as_ref()?.decoded;
    Some(SampleRegisters {
        manufacturer_id: facts.manufacturer_id?,
        oem: facts.oem.clone()?,
        product: facts.product.clone()?,
    })
}

/// A published run with its scarcest rate.
struct Judged<'a> {
    record: &'a Record,
    board: Option<String>,
    supply: Supply,
    need: &'a Requirement,
}

impl Judged<'_> {
    /// The rate as a share of what is asked for.
    fn share(&self) -> f64 {
        self.supply.value / asked(self.need)
    }
}

/// Published products with less than half of what the use asks for, wherever they were tested; only where another product shows
/// that board and method allow more.
fn too_slow(records: &[Record], question: &AvoidQuestion<'_>) -> Vec<Warned> {
    let mut products = BTreeMap::<&str, Vec<Judged<'_>>>::new();
    let mut reached = BTreeSet::<(Option<String>, String)>::new();
    let mut seen = BTreeSet::new();
    let published = records
        .iter()
        .filter(|record| record.origin.kind == OriginKind::Published);
    for record in published.filter(|record| seen.insert(record.id)) {
        let model = record
            .board
            .as_ref()
            .and_then(|board| board.model.as_deref());
        let board = model.map(board_name);
        let is_asked = |wanted: &AskedBoard| board.as_deref().is_some_and(|it| wanted.is_it(it));
        let is_meant = question.board.is_none_or(is_asked);
        let Some(name) = record.labels.get("product").filter(|_| is_meant) else {
            continue;
        };
        let kind = product(name).map(|product| product.kind);
        let is_of = |kind: ProductKind| question.kinds.is_empty() || question.kinds.contains(&kind);
        if !kind.is_some_and(is_of) {
            continue;
        }
        let rates = record
            .metrics
            .iter()
            .filter(|metric| metric.quantity.is_rate());
        let rates: Vec<Metric> = rates.cloned().collect();
        let Some(found) = suitability(&rates, question.wanted) else {
            continue;
        };
        let needed = |supply: &Supply| Some((supply.clone(), need_of(question.wanted, supply)?));
        let rates = found.supplies.iter().filter_map(needed);
        let judged = rates.map(|(supply, need)| Judged {
            record,
            board: board.clone(),
            supply,
            need,
        });
        let judged: Vec<Judged<'_>> = judged.collect();
        let enough = judged.iter().filter(|one| one.share() >= 1.0);
        reached.extend(enough.map(|one| (one.board.clone(), one.supply.metric.clone())));
        let scarcest = judged
            .into_iter()
            .min_by(|a, b| a.share().total_cmp(&b.share()));
        products.entry(name.as_str()).or_default().extend(scarcest);
    }
    let warned = products.into_iter().filter_map(|(name, runs)| {
        let best = runs.iter().max_by(|a, b| {
            let by_id = || a.record.id.cmp(&b.record.id);
            a.share().total_cmp(&b.share()).then_with(by_id)
        })?;
        let is_allowed = reached.contains(&(best.board.clone(), best.supply.metric.clone()));
        (best.share() < USABLE_RATIO && is_allowed).then(|| slow(name, best, &runs))
    });
    warned.collect()
}

fn slow(name: &str, best: &Judged<'_>, runs: &[Judged<'_>]) -> Warned {
    let ids = runs
        .iter()
        .filter_map(|run| run.record.labels.get("publication"));
    let ids: BTreeSet<&String> = ids.collect();
    let sources = || publications().iter().filter(|one| ids.contains(&one.id));
    let years: BTreeSet<&str> = sources()
        .filter_map(|one| one.published.as_deref()?.get(..4))
        .collect();
    let sources_of: BTreeSet<&String> = sources().map(|one| &one.address).collect();
    Warned {
        name: name.to_owned(),
        reason: AvoidReason::TooSlow {
            plain: best.need.plain.clone(),
            quantity: best.supply.quantity,
            value: best.supply.value,
            asked: asked(best.need),
            board: best.board.clone(),
            runs_count: runs.len(),
        },
        cards_count: 0,
        registers: Vec::new(),
        years: years.into_iter().map(str::to_owned).collect(),
        sources: sources_of.into_iter().cloned().collect(),
        checked_on: sources().map(|one| one.checked_on.clone()).max(),
    }
}
