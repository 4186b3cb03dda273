//! Runs as lists and products show them.

use std::collections::BTreeMap;

use cardmark_core::{Record, StorageKind, name_of};
use cardmark_pages::bad_request;
use cardmark_pages::pages::attention::Attention;
use cardmark_pages::views::product::{ProductEntry, SummaryView};
use cardmark_pages::views::run::{ListedRun, RunState};
use cardmark_pages::views::search::SearchQuery;
use cardmark_share::{
    Area, Extract, Level, Problem, Summary, Voice, card_key, context_key, product_key,
};
use cardmark_stats::median;

/// All runs of the stores.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    /// Those stored last first.
    pub(crate) all: Vec<Run>,
    /// Reasons why some are missing.
    pub(crate) unreadable: Vec<String>,
    pub(crate) attention: Attention,
}

/// A run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) extract: Extract,
    level: Level,
    card: [u8; 16],
}

impl Runs {
    /// The runs of these records, which are in the order of storing.
    pub(crate) fn of(records: &[Record], unreadable: Vec<String>) -> Self {
        Self {
            all: records.iter().rev().map(Run::of).collect(),
            unreadable,
            attention: Attention::of(records),
        }
    }

    /// Runs on storage, not on simulated cards.
    pub(crate) fn real(&self) -> impl Iterator<Item = &Run> {
        self.all.iter().filter(|run| run.is_real())
    }
}

impl Run {
    fn of(record: &Record) -> Self {
        let extract = Extract::of(record);
        Self {
            level: cardmark_share::level(&extract.origin, &[]),
            card: card_key(record, None),
            extract,
        }
    }

    fn is_real(&self) -> bool {
        self.extract.area == Area::Shared
    }

    /// The run in a list.
    pub(crate) fn listed(&self) -> ListedRun {
        let extract = self.extract.clone();
        ListedRun {
            id: extract.id,
            state: RunState::Shared,
            level: self.level,
            received_on: String::new(),
            received_ms: 0,
            product: extract.product_key(),
            day: extract.day,
            product_name: extract.product_name,
            model: extract.model,
            board: extract.board,
            suite: extract.suite,
            bus: extract.bus,
            size_bytes: extract.size_bytes,
            storage: extract.storage.map(|kind| name_of(&kind)),
            decided_by: None,
            result: extract.result,
        }
    }
}

/// Conditions of a search.
pub(super) struct Wanted {
    query: SearchQuery,
    /// True if the board is the whole name of one that there is; otherwise it is a part.
    is_whole_board: bool,
}

impl Wanted {
    /// Reads the conditions of a search among these runs.
    pub(super) fn new(query: SearchQuery, all: &[Run]) -> Result<Self, Problem> {
        if query.metric.is_none() && (query.least.is_some() || query.most.is_some()) {
            return Err(bad_request("least and most are of a metric: name it too"));
        }
        let is_whole_board = all.iter().any(|run| run.extract.board == query.board);
        Ok(Self {
            query,
            is_whole_board,
        })
    }

    pub(super) fn is_met(&self, run: &Run) -> bool {
        let (query, extract) = (&self.query, &run.extract);
        let is_simulated = query.simulated.unwrap_or(false);
        let is_same =
            |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        let is_board = match &query.board {
            Some(part) if !self.is_whole_board => holds(extract.board.as_deref(), part),
            whole => is_same(whole, &extract.board),
        };
        is_simulated != run.is_real()
            && is_board
            && query
                .product
                .as_ref()
                .is_none_or(|name| is_of(extract, name))
            && is_same(&query.bus, &extract.bus)
            && is_same(&query.queue, &extract.command_queue)
            && is_same(&query.suite, &extract.suite)
            && self.is_within_days(extract.day.as_deref())
            && query
                .metric
                .as_ref()
                .is_none_or(|metric| self.is_in_range(extract, metric))
    }

    fn is_within_days(&self, day: Option<&str>) -> bool {
        let (from, to) = (self.query.from.as_deref(), self.query.to.as_deref());
        if from.is_none() && to.is_none() {
            return true;
        }
        // Days sort as text.
        day.is_some_and(|day| from.is_none_or(|from| day >= from) && to.is_none_or(|to| day <= to))
    }

    fn is_in_range(&self, extract: &Extract, metric: &str) -> bool {
        let (least, most) = (self.query.least, self.query.most);
        let range = least.unwrap_or(0.0)..=most.unwrap_or(f64::MAX);
        let mut figures = extract.figures.iter();
        figures.any(|figure| figure.metric == metric && range.contains(&figure.value))
    }
}

/// Returns whether storage is the product of this name or key, or has it in its name.
fn is_of(extract: &Extract, name: &str) -> bool {
    extract.product_key() == Some(product_key(name))
        || holds(extract.product_name.as_deref(), name)
        || holds(extract.model.as_deref(), name)
}

fn holds(text: Option<&str>, part: &str) -> bool {
    text.is_some_and(|text| text.to_lowercase().contains(&part.to_lowercase()))
}

/// Products with their numbers of runs and cards, by key.
pub(super) fn counted(all: &[Run]) -> BTreeMap<String, ProductEntry> {
    let mut cards = BTreeMap::<String, BTreeMap<[u8; 16], bool>>::new();
    let mut products = BTreeMap::<String, ProductEntry>::new();
    for run in all.iter().filter(|run| run.is_real()) {
        let extract = &run.extract;
        let (Some(key), Some(name)) = (extract.product_key(), &extract.product_name) else {
            continue;
        };
        let entry = products.entry(key.clone()).or_default();
        (entry.key, entry.name) = (key.clone(), name.clone());
        entry.runs_count += 1;
        let is_fake = cards.entry(key).or_default().entry(run.card).or_default();
        *is_fake |= matches!(
            extract.storage,
            Some(StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain)
        );
    }
    for (key, entry) in &mut products {
        let of_product = cards.remove(key).unwrap_or_default();
        entry.cards_count = of_product.len() as u64;
        entry.fakes_count = of_product.values().filter(|is_fake| **is_fake).count() as u64;
    }
    products
}

/// Values of the cards of a product, by context and metric, each with those of its runs.
type Values<'a> = BTreeMap<(i64, &'a str), BTreeMap<[u8; 16], Vec<f64>>>;

/// Figures of a product: of each card the median of its runs, of the cards the median.
pub(super) fn summaries(all: &[Run], key: &str) -> Vec<SummaryView> {
    let of_product =
        |run: &&Run| run.is_real() && run.extract.product_key().as_deref() == Some(key);
    let mut values = Values::new();
    let mut contexts = BTreeMap::new();
    for run in all.iter().filter(of_product) {
        let context = context_key(&run.extract.context);
        contexts.insert(context, &run.extract.context);
        for figure in &run.extract.figures {
            let cards = values.entry((context, figure.metric.as_str())).or_default();
            cards.entry(run.card).or_default().push(figure.value);
        }
    }
    let view = |((context, metric), cards): ((i64, &str), BTreeMap<_, Vec<f64>>)| {
        let of_cards = cards.into_values().filter_map(middle);
        let of_cards: Vec<f64> = of_cards.collect();
        let cards_count = of_cards.len() as u64;
        let mut own = Summary::default();
        own.add(middle(of_cards)?, Voice::NEW);
        let context = (*contexts.get(&context)?).clone();
        SummaryView::of(metric.to_owned(), context, own, cards_count)
    };
    values.into_iter().filter_map(view).collect()
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    median(&values)
}
