//! Subjects of a report: runs of one product on one board.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_catalog::{product, publications};
use cardmark_core::{CLAIMS_LABEL, Metric, ReaderKind, Record};
use cardmark_judge::{Advice, Attention, unknown_storage};
use cardmark_stats::{joint_rate, whole_rate};

/// Classes on labels, the most demanding first.
const CLASSES: [&str; 13] = [
    "A2", "A1", "V90", "V60", "V30", "V10", "V6", "U3", "U1", "C10", "C6", "C4", "C2",
];

/// Runs of one thing on one board.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Subject<'a> {
    /// Name.
    pub(super) name: String,
    /// On which computer, with its setting if there are several.
    pub(super) board: String,
    /// The computer alone.
    pub(super) computer: String,
    /// The most demanding class on its label, as far as known.
    pub(super) class: Option<&'static str>,
    /// What to do, if its card needs attention.
    pub(super) advice: Option<Advice>,
    /// True if it does not keep data, or fails: whatever its rates are, it is not recommended.
    pub(super) is_unsound: bool,
    /// The runs.
    pub(super) records: Vec<&'a Record>,
}

/// Words for a board that uses the command queue of cards, or not.
pub(super) const QUEUE_ON: &str = "command queue on";
const QUEUE_OFF: &str = "command queue off";
/// Marks cards to replace.
const FAULTY: &str = "!";

impl Subject<'_> {
    /// Returns whether it is to be replaced.
    pub(super) fn is_faulty(&self) -> bool {
        self.advice == Some(Advice::Replace)
    }

    /// Returns its name, with a mark before it if it is to be replaced.
    pub(super) fn marked(&self, name: &str) -> String {
        match self.is_faulty() {
            true => format!("{FAULTY} {name}"),
            false => name.to_owned(),
        }
    }

    /// Number of its runs that have rates.
    pub(super) fn rated_count(&self) -> usize {
        let has_rate = |record: &&&Record| record.metrics.iter().any(|it| it.quantity.is_rate());
        self.records.iter().filter(has_rate).count()
    }
}

/// Groups runs of the same product, or else device or model, on the same board; further
/// separated by physical card, if label or id show it, and by the label `setting`.
pub(super) fn subjects<'a>(records: &'a [Record], watched: &[Attention<'_>]) -> Vec<Subject<'a>> {
    // Several records may have one id.
    let rows: BTreeMap<*const Record, &Attention<'_>> = watched
        .iter()
        .flat_map(|row| {
            row.card
                .runs
                .iter()
                .map(move |run| (std::ptr::from_ref(*run), row))
        })
        .collect();
    let names = Cards::of(records);
    let boards = Boards::of(records);
    let mut subjects: Vec<Subject<'_>> = Vec::new();
    for record in records {
        let (name, board) = (names.name(record), boards.name(record));
        let known = subjects
            .iter_mut()
            .find(|subject| subject.name == name && subject.board == board);
        let row = rows.get(&std::ptr::from_ref(record));
        let advice = row.map(|row| row.advice);
        let is_unsound = row.is_some_and(|row| row.is_unsound());
        match known {
            Some(subject) => {
                // The graver one is the lower one.
                subject.advice = subject.advice.into_iter().chain(advice).min();
                subject.is_unsound |= is_unsound;
                subject.records.push(record);
            }
            None => subjects.push(Subject {
                name,
                board,
                computer: board_of(record),
                class: class_of(record),
                advice,
                is_unsound,
                records: vec![record],
            }),
        }
    }
    subjects
}

/// Name of a run's product, or else of its device or model.
pub(super) fn name_of(record: &Record) -> String {
    let product = record.labels.get("product").cloned();
    let model = || record.devices.first()?.model.clone();
    let source = || record.origin.source.clone();
    let name = product.or_else(model).or_else(source);
    name.unwrap_or_else(|| "unknown card".to_owned())
}

/// Name of a run's board.
pub(super) fn board_of(record: &Record) -> String {
    let model = record.board.as_ref().and_then(|board| board.model.clone());
    model.unwrap_or_else(|| "unknown board".to_owned())
}

/// Physical cards of each name.
struct Cards<'a>(BTreeMap<String, BTreeSet<Card<'a>>>);

/// What distinguishes a physical card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Card<'a> {
    Unknown,
    Sample(&'a str),
    Id(&'a str),
}

impl<'a> Cards<'a> {
    fn of(records: &'a [Record]) -> Self {
        let mut cards = BTreeMap::<_, BTreeSet<_>>::new();
        for record in records {
            let known = cards.entry(name_of(record)).or_default();
            known.insert(card_of(record));
        }
        Self(cards)
    }

    /// Name of the card, with what distinguishes it from others of this name.
    fn name(&self, record: &Record) -> String {
        let name = name_of(record);
        let others = self.0.get(&name).into_iter().flatten();
        let ids = others
            .clone()
            .filter(|card| matches!(card, Card::Id(_)))
            .count();
        match card_of(record) {
            Card::Sample(sample) if others.count() > 1 => format!("{name} ({sample})"),
            Card::Id(id) if ids > 1 => format!("{name} (card {id})"),
            _ => name,
        }
    }
}

fn card_of(record: &Record) -> Card<'_> {
    if let Some(sample) = record.labels.get("sample") {
        return Card::Sample(sample);
    }
    let device = record.devices.first();
    device
        .and_then(|device| device.card_id())
        .map_or(Card::Unknown, Card::Id)
}

/// Settings of each board, and the figures in each: card and metric.
struct Boards(BTreeMap<String, BTreeMap<Setting, BTreeSet<(String, String)>>>);

/// A setting of a board.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Setting {
    /// Its label; `None` without one.
    id: Option<String>,
    /// What it is, in words; empty if nothing is known.
    words: String,
    /// Author of the figures, if published.
    author: Option<String>,
    /// True if it is known not to use the command queue of cards.
    is_queue_off: bool,
}

impl Boards {
    fn of(records: &[Record]) -> Self {
        let mut boards = BTreeMap::<_, BTreeMap<_, BTreeSet<_>>>::new();
        for record in records {
            let known = boards.entry(board_of(record)).or_default();
            let figures: &mut BTreeSet<_> = known.entry(Setting::of(record)).or_default();
            let name = name_of(record);
            // Figures of two methods do not need to be kept apart by the setting.
            figures.extend(
                record
                    .metrics
                    .iter()
                    .map(|it| (name.clone(), it.id.clone())),
            );
            if record.metrics.is_empty() {
                figures.insert((name, String::new()));
            }
        }
        Self(boards)
    }

    /// Name of the board, with what distinguishes the setting from others of this board: its description, the author,
    /// and its label if one figure of a card was measured in two settings of one author that are described alike.
    fn name(&self, record: &Record) -> String {
        let (board, own) = (board_of(record), Setting::of(record));
        let figures = self.0.get(&board).and_then(|settings| settings.get(&own));
        let others = self.0.get(&board).into_iter().flatten();
        let others = || others.clone().filter(|(other, _)| other.id != own.id);
        let shares_figure = |of: &BTreeSet<_>| figures.is_some_and(|own| !own.is_disjoint(of));
        let alike = || others().filter(|(other, _)| other.words == own.words);
        let is_own_author = |other: &Setting| other.author == own.author;
        let has_other_author = alike().any(|(other, _)| !is_own_author(other));
        let has_same_figure = alike().any(|(other, of)| is_own_author(other) && shares_figure(of));
        let has_other_words = others().any(|(other, _)| other.words != own.words);
        let is_labelled = has_same_figure || (own.author.is_none() && others().next().is_some());
        let has_queue = others().any(|(other, _)| other.words.contains(QUEUE_ON));
        let parts = [
            (own.is_queue_off && has_queue).then(|| QUEUE_OFF.to_owned()),
            Some(own.words).filter(|words| has_other_words && !words.is_empty()),
            own.author.filter(|_| has_other_author),
            own.id.filter(|_| is_labelled),
        ];
        let parts = parts.into_iter().flatten();
        std::iter::once(board)
            .chain(parts)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl Setting {
    fn of(record: &Record) -> Self {
        let id = record.labels.get("setting").cloned();
        let publication = record.labels.get("publication").and_then(|wanted| {
            let mut known = publications().iter();
            known.find(|publication| publication.id == *wanted)
        });
        let setting = publication.zip(id.as_deref());
        let setting = setting.and_then(|(publication, id)| publication.setting(id));
        let reader = setting.and_then(|setting| setting.reader.as_ref());
        let parts = [
            reader
                .filter(|kind| **kind == ReaderKind::Usb)
                .map(|_| "USB".to_owned()),
            setting
                .and_then(|setting| setting.overclock_hz)
                .map(|hertz| format!("slot at {} MHz", hertz / 1_000_000)),
            setting
                .and_then(|setting| setting.command_queue)
                .filter(|is_on| *is_on)
                .map(|_| QUEUE_ON.to_owned()),
        ];
        Self {
            id,
            words: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
            author: publication.map(|publication| publication.author.clone()),
            is_queue_off: setting.is_some_and(|it| it.command_queue == Some(false)),
        }
    }
}

/// Returns the setup of a published run in words, such as `slot at 100 MHz`, as far as it is not the usual one.
#[must_use]
pub fn setting_words(record: &Record) -> String {
    let setting = Setting::of(record);
    match setting.is_queue_off {
        true => QUEUE_OFF.to_owned(),
        false => setting.words,
    }
}

/// The most demanding class on the label, from the run's own label or the catalogue.
fn class_of(record: &Record) -> Option<&'static str> {
    let stated = record.labels.get(CLAIMS_LABEL);
    let stated = stated.map(|claims| claims.split_whitespace().map(str::to_uppercase).collect());
    let listed = || {
        let product = product(record.labels.get("product")?)?;
        Some(product.claims.clone())
    };
    let claims: Vec<String> = stated.or_else(listed)?;
    CLASSES
        .into_iter()
        .find(|class| claims.iter().any(|claim| claim == class))
}

/// The boards, in the order of the runs.
pub(super) fn boards(subjects: &[Subject<'_>]) -> Vec<String> {
    let mut boards: Vec<String> = Vec::new();
    for subject in subjects {
        if !boards.contains(&subject.board) {
            boards.push(subject.board.clone());
        }
    }
    boards
}

pub(super) fn suite_of(record: &Record) -> Option<String> {
    let suite = record.suite.as_ref()?;
    Some(format!("{} {}", suite.name, suite.version))
}

impl<'a> Subject<'a> {
    /// The rate over all runs and its interval.
    pub(super) fn rate(&self, metric: &str) -> Option<(f64, Option<(f64, f64)>)> {
        let runs: Vec<_> = self.measuring(metric).map(whole_rate).collect();
        joint_rate(&runs)
    }

    /// The figures of this metric, one of each run that has it.
    pub(super) fn measuring(&self, metric: &str) -> impl Iterator<Item = &'a Metric> {
        self.records
            .iter()
            .filter_map(move |record| record.metric(metric))
    }

    /// True if a figure of this metric is not the card's, such as that of a cache, or of storage that is not known.
    pub(super) fn is_voided(&self, metric: &str) -> bool {
        let mut records = self.records.iter();
        records.any(|record| {
            let found = record.metric(metric);
            found.is_some_and(|found| {
                found.voided_by().is_some() || unknown_storage(record).is_some()
            })
        })
    }
}
