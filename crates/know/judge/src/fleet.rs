//! The boards of a fleet, the worst first: their cards, their last looks, and what these mean together.
//!
//! Cards are in the order of [`attention`]; looks add events and silence. Groups of boards are compared only if they are large enough.

pub(crate) mod groups;
mod moved;

use std::collections::BTreeMap;

use cardmark_catalog::{is_board, is_part_of_name};
use cardmark_core::{DeviceInfo, Record};
use serde::Serialize;

use crate::attention::{
    Advice, Attention, CardRuns, HOST, NamedBy, attention, board_model, label, natural,
};
use crate::history::started_at_s;
use crate::watch::{Event, EventKind, Gravity, LastDisk, LastLook};

pub use groups::{FleetGroup, LEAST_BOARDS};
pub use moved::MovedCard;

/// Days without a look after which a board is silent.
pub const SILENT_DAYS: u64 = 7;
const DAY_S: u64 = 86_400;

/// Why a board needs somebody, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Its card cannot be relied on, or is far too slow for its use.
    Replace,
    /// A look found something by which data may be lost.
    BackUp,
    /// Its card works, but near a limit or worse than before; or a look warns.
    Watch,
    /// No look for some days.
    Silent,
}

/// A board: a computer with a name of its own (label `host`).
#[derive(Clone, Debug, PartialEq)]
pub struct FleetBoard<'a> {
    /// Its name.
    pub host: &'a str,
    /// The most urgent need; `None`: nothing is known to be wrong.
    pub need: Option<Need>,
    /// Its cards that need attention, the worst first.
    pub attention: Vec<Attention<'a>>,
    /// Open events of its looks, the gravest first.
    pub events: Vec<&'a Event>,
    /// Its runs.
    pub runs: Vec<&'a Record>,
    /// The last look at each of its targets.
    pub looks: Vec<&'a LastLook>,
    /// Days since the last look, if it is silent.
    pub silent_days: Option<u64>,
    /// Product, else the model of the card.
    pub product: Option<String>,
    /// Place of its worst card in the order of [`attention`].
    place: usize,
}

/// Need, place of the worst card, gravest event and name.
type Order = (
    bool,
    Option<Need>,
    usize,
    Option<EventKind>,
    Vec<(String, u64)>,
);

/// All boards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fleet<'a> {
    /// The boards, the worst first.
    pub boards: Vec<FleetBoard<'a>>,
    /// Cards that were seen in more than one board.
    pub moved: Vec<MovedCard<'a>>,
}

impl<'a> Fleet<'a> {
    /// Keeps the boards that pass, and the cards that were seen in one of them.
    pub fn select(&mut self, is_wanted: impl Fn(&FleetBoard<'a>) -> bool) {
        self.boards.retain(is_wanted);
        let boards = &self.boards;
        let is_kept = |host: &str| boards.iter().any(|board| board.host == host);
        self.moved
            .retain(|card| card.boards.iter().any(|(host, _)| is_kept(host)));
    }
}

impl<'a> FleetBoard<'a> {
    fn named(host: &'a str) -> Self {
        Self {
            host,
            need: None,
            attention: Vec::new(),
            events: Vec::new(),
            runs: Vec::new(),
            looks: Vec::new(),
            silent_days: None,
            product: None,
            place: usize::MAX,
        }
    }

    /// Returns the time of its last look, seconds since 1970; `None` without a look, or if its clock was not set.
    #[must_use]
    pub fn looked_s(&self) -> Option<u64> {
        self.looks.iter().filter_map(|look| look.at_s).max()
    }

    /// Returns the disk that reports the most used life.
    #[must_use]
    pub fn most_used(&self) -> Option<&'a LastDisk> {
        let disks = self.disks().filter(|disk| disk.used_percent.is_some());
        disks.max_by_key(|disk| disk.used_percent)
    }

    /// Returns the bytes written a day to the disk that is written most.
    #[must_use]
    pub fn bytes_per_day(&self) -> Option<u64> {
        self.disks()
            .filter_map(|disk| disk.written_bytes_per_day)
            .max()
    }

    /// Returns whether it has this value under this name: `host` (also its beginning with `*`), `product` and `board` (parts of
    /// names), `model`, `suite`, or a label, in any of its runs.
    #[must_use]
    pub fn has(&self, name: &str, value: &str) -> bool {
        let in_a_run = |test: &dyn Fn(&Record) -> bool| self.runs.iter().any(|run| test(run));
        match name {
            HOST => match value.strip_suffix('*') {
                Some(begin) => self.host.starts_with(begin),
                None => self.host == value,
            },
            "product" => {
                let product = self.product.as_deref();
                product.is_some_and(|product| is_part_of_name(product, value))
            }
            "board" => {
                in_a_run(&|run| board_model(run).is_some_and(|model| is_board(model, value)))
            }
            "model" => {
                let models = self
                    .disks()
                    .filter_map(|disk| disk.identity.model.as_deref());
                let is_it = |device: &DeviceInfo| device.model.as_deref() == Some(value);
                models.into_iter().any(|model| model == value)
                    || in_a_run(&|run| run.devices.iter().any(is_it))
            }
            "suite" => in_a_run(&|run| run.suite.as_ref().is_some_and(|suite| suite.name == value)),
            key => in_a_run(&|run| label(run, key) == Some(value)),
        }
    }

    fn disks(&self) -> impl Iterator<Item = &'a LastDisk> + use<'a, '_> {
        self.looks.iter().flat_map(|look| &look.disks)
    }

    /// Completes what follows from cards and looks.
    fn complete(&mut self, cards: &[CardRuns<'a>], now_s: u64, silent_days: u64) {
        let events = self.looks.iter().flat_map(|look| &look.events);
        self.events = events.filter(|event| event.is_open()).collect();
        self.events.sort_by_key(|event| event.kind);
        self.runs.sort_by_cached_key(|run| started_at_s(run));
        let days = self
            .looked_s()
            .map(|at_s| now_s.saturating_sub(at_s) / DAY_S);
        self.silent_days = days.filter(|days| *days >= silent_days);
        let by_card = self.attention.iter().map(|row| match row.advice {
            Advice::Replace => Need::Replace,
            Advice::Watch => Need::Watch,
        });
        let by_event = self.events.iter().map(|event| match event.kind.gravity() {
            Gravity::Alarm => Need::BackUp,
            Gravity::Warning | Gravity::Note => Need::Watch,
        });
        let by_silence = self.silent_days.map(|_| Need::Silent);
        self.need = by_card.chain(by_event).chain(by_silence).min();
        self.product = self.product_of(cards);
    }

    /// The product as its owner calls it at a look, else that of the card of the last look, else of the last run.
    fn product_of(&self, cards: &[CardRuns<'a>]) -> Option<String> {
        let disk = self.disks().next();
        let id = disk.filter(|disk| disk.identity.is_own_id);
        let id = id.and_then(|disk| disk.identity.id.as_deref());
        let mine = cards.iter().filter(|card| {
            card.named_by == NamedBy::Host && card.board == self.host && !card.is_retired
        });
        let last_run = |card: &&CardRuns<'_>| {
            let start = card.runs.last().and_then(|run| run.started_at.clone());
            (card.id.is_some() && card.id == id, start)
        };
        let card = mine.max_by_key(last_run);
        // Without a run of the card that is in the board now, its model is all that is known.
        let card = card.filter(|card| id.is_none() || card.id.is_none() || card.id == id);
        disk.and_then(|disk| disk.product.clone())
            .or_else(|| card.map(|card| card.name.clone()))
            .or_else(|| disk?.identity.model.clone())
    }

    /// Place in the order of boards.
    fn order(&self) -> Order {
        let event = self.events.first().map(|event| event.kind);
        (
            self.need.is_none(),
            self.need,
            self.place,
            event,
            natural(self.host),
        )
    }
}

/// Returns all boards that runs or looks name, the worst first. `looks` are those of each board; `now_s` is in seconds since 1970.
#[must_use]
pub fn fleet<'a>(
    cards: &[CardRuns<'a>],
    looks: &'a [(String, LastLook)],
    now_s: u64,
    silent_days: u64,
) -> Fleet<'a> {
    let mut boards = BTreeMap::<&'a str, FleetBoard<'a>>::new();
    let runs = cards.iter().flat_map(|card| &card.runs);
    for (host, run) in runs.filter_map(|run| Some((label(run, HOST)?, *run))) {
        let board = boards
            .entry(host)
            .or_insert_with(|| FleetBoard::named(host));
        board.runs.push(run);
    }
    for (host, look) in looks {
        let board = boards
            .entry(host)
            .or_insert_with(|| FleetBoard::named(host));
        board.looks.push(look);
    }
    let rows = attention(cards).into_iter().enumerate();
    for (place, row) in rows.filter(|(_, row)| row.card.named_by == NamedBy::Host) {
        if let Some(board) = boards.get_mut(row.card.board.as_str()) {
            board.place = board.place.min(place);
            board.attention.push(row);
        }
    }
    let mut boards: Vec<FleetBoard<'a>> = boards.into_values().collect();
    for board in &mut boards {
        board.complete(cards, now_s, silent_days);
    }
    boards.sort_by_cached_key(FleetBoard::order);
    let places = boards
        .iter()
        .map(|board| (board.host, &board.runs[..], &board.looks[..]));
    Fleet {
        moved: moved::moved(places),
        boards,
    }
}
