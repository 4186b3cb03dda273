//! Runs of each physical card, and the board that it is in.

use std::collections::BTreeMap;

use cardmark_core::{DeviceInfo, ReaderKind, Record};

use crate::history::started_at_s;

/// Label with the name of the computer.
pub(crate) const HOST: &str = "host";
/// Label with the owner's name of the card, often that of its board.
const SAMPLE: &str = "sample";
/// Label with the name of the product.
const PRODUCT: &str = "product";
/// Label with the state of the card.
const STATUS: &str = "status";
/// Its value for a card that is no longer in use.
const RETIRED: &str = "retired";

/// Runs of one card.
#[derive(Clone, Debug, PartialEq)]
pub struct CardRuns<'a> {
    /// Name of its board: the label `host`, else the label `sample`, else the model of the board.
    pub board: String,
    /// Origin of `board`.
    pub named_by: NamedBy,
    /// The label `sample`, if it is not the name of the board.
    pub sample: Option<&'a str>,
    /// Id of the card, if it reports one.
    pub id: Option<&'a str>,
    /// Product, else the model or source.
    pub name: String,
    /// True if it is no longer in use: the last label `status` says `retired`, or a later run with the same names and
    /// product is of another card.
    pub is_retired: bool,
    /// The runs, in the order of time; at least one.
    pub runs: Vec<&'a Record>,
}

/// Origin of the name of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// The label `host`.
    Host,
    /// The label `sample`: the owner's name of the card, often that of its board.
    Sample,
    /// Its model, which other boards share.
    Model,
}

/// Identity of a card.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    /// Its own id, which is unique together with its size.
    Id(&'a str, Option<u64>),
    /// The owner's names of computer and card, what the device reports, the product of a card without a name of its own, and
    /// the board if there are no names.
    Named(Names<'a>, [Option<&'a str>; 3], Option<u64>),
    /// The owner's names alone: the device reported nothing, or stands behind a reader.
    Unknown(Names<'a>),
}

/// Labels `host` and `sample`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Names<'a> {
    host: Option<&'a str>,
    sample: Option<&'a str>,
}

impl<'a> Names<'a> {
    fn of(run: &'a Record) -> Self {
        let [host, sample] = [HOST, SAMPLE].map(|key| label(run, key));
        Self { host, sample }
    }

    fn are_given(&self) -> bool {
        self.host.is_some() || self.sample.is_some()
    }
}

impl<'a> Key<'a> {
    fn of(run: &'a Record) -> Self {
        let device = run.devices.first();
        let size = device.and_then(|device| device.size_bytes);
        let names = Names::of(run);
        if let Some(id) = device.and_then(DeviceInfo::card_id) {
            return Self::Id(id, size);
        }
        let reader = device.and_then(|device| device.reader.as_ref());
        let is_behind_reader = reader.is_some_and(|reader| reader.kind == ReaderKind::Usb);
        let model = device.and_then(|device| device.model.as_deref());
        let product = label(run, PRODUCT).filter(|_| names.sample.is_none());
        match names.are_given() && (model.is_none() || is_behind_reader) {
            true => Self::Unknown(names),
            false => {
                let reported = model.or(run.origin.source.as_deref());
                let board = board_model(run).filter(|_| !names.are_given());
                Self::Named(names, [reported, product, board], size)
            }
        }
    }
}

/// Order of cards: names of boards in parts, then of boards and cards as they are.
type Order = (Vec<(String, u64)>, String, Option<String>, String);

impl CardRuns<'_> {
    /// Place in the order of the names of boards, in which `board-4` comes before `board-12`, then of cards.
    pub(super) fn order(&self) -> Order {
        let sample = self.sample.map(str::to_owned);
        (
            natural(&self.board),
            self.board.clone(),
            sample,
            self.name.clone(),
        )
    }
}

/// Returns the runs of each card, by board. `runs` are in the order of storing, the oldest first; they are sorted by their start,
/// and a run of an unknown start stays behind the one that was stored before it.
pub fn cards_of<'a>(runs: impl IntoIterator<Item = &'a Record>) -> Vec<CardRuns<'a>> {
    let mut before = None;
    let mut runs: Vec<(Option<i64>, &Record)> = runs
        .into_iter()
        .map(|run| {
            before = started_at_s(run).or(before);
            (before, run)
        })
        .collect();
    runs.sort_by_key(|(start, _)| *start);
    let mut cards = BTreeMap::<Key<'a>, Vec<Placed<'a>>>::new();
    for (place, (_, run)) in runs.into_iter().enumerate() {
        cards.entry(Key::of(run)).or_default().push((place, run));
    }
    join_unknown(&mut cards);
    let mut cards: Vec<CardRuns<'_>> = cards
        .into_values()
        .map(|mut runs| {
            runs.sort_by_key(|(place, _)| *place);
            card(runs.into_iter().map(|(_, run)| run).collect())
        })
        .collect();
    retire_replaced(&mut cards);
    cards.sort_by_cached_key(CardRuns::order);
    cards
}

/// Marks cards whose name another one has in a later run: one name is one card, or the place of one. The name of a computer is
/// none, because it may have several cards.
fn retire_replaced(cards: &mut [CardRuns<'_>]) {
    let named = |run: &Record| {
        let [host, sample, product] =
            [HOST, SAMPLE, PRODUCT].map(|key| run.labels.get(key).cloned());
        sample.map(|sample| (host, sample, product))
    };
    let last = |card: &CardRuns<'_>| {
        let run = card.runs.last()?;
        Some((named(run)?, (started_at_s(run)?, card.id?.to_owned())))
    };
    let mut newest = BTreeMap::new();
    for (name, at) in cards.iter().filter_map(last) {
        let known = newest.entry(name).or_insert_with(|| at.clone());
        if at > *known {
            *known = at;
        }
    }
    for card in cards {
        let Some((name, (at_s, id))) = last(card) else {
            continue;
        };
        let is_older = |known: &(i64, String)| known.0 > at_s && known.1 != id;
        card.is_retired |= newest.get(&name).is_some_and(is_older);
    }
}

/// A run with its place in the order of time.
type Placed<'a> = (usize, &'a Record);

/// Returns whether a run is of one card by its id or the owner's name of it. The name of a computer is none: cards in the same
/// reader look alike.
pub(super) fn is_identified(run: &Record) -> bool {
    let id = run.devices.first().and_then(DeviceInfo::card_id);
    id.is_some() || label(run, SAMPLE).is_some()
}

/// Adds the runs of a device that reported nothing to the only card that the owner called the same.
fn join_unknown<'a>(cards: &mut BTreeMap<Key<'a>, Vec<Placed<'a>>>) {
    let unknown: Vec<(Key<'_>, Names<'_>)> = cards
        .keys()
        .filter_map(|key| match key {
            Key::Unknown(names) if names.sample.is_some() => Some((key.clone(), *names)),
            _ => None,
        })
        .collect();
    for (key, names) in unknown {
        let is_alike = |(other, runs): &(&Key<'_>, &Vec<Placed<'_>>)| {
            **other != key && runs.iter().any(|(_, run)| Names::of(run) == names)
        };
        let mut alike = cards
            .iter()
            .filter(is_alike)
            .map(|(other, _)| other.clone());
        if let (Some(only), None) = (alike.next(), alike.next())
            && let Some(runs) = cards.remove(&key)
        {
            cards.entry(only).or_default().extend(runs);
        }
    }
}

fn card(runs: Vec<&Record>) -> CardRuns<'_> {
    let last =
        |value: &dyn Fn(&'_ Record) -> Option<String>| runs.iter().rev().find_map(|run| value(run));
    let model = |run: &Record| run.devices.first()?.model.clone();
    let name = last(&|run| label(run, PRODUCT).map(str::to_owned))
        .or_else(|| last(&model))
        .or_else(|| last(&|run| run.origin.source.clone()));
    let find = |key: &str| runs.iter().rev().find_map(|run| label(run, key));
    let (host, sample) = (find(HOST), find(SAMPLE));
    let board = host
        .or(sample)
        .or_else(|| runs.iter().rev().find_map(|run| board_model(run)));
    let id = runs
        .iter()
        .rev()
        .find_map(|run| run.devices.first()?.card_id());
    let is_retired = find(STATUS).is_some_and(|status| status.eq_ignore_ascii_case(RETIRED));
    CardRuns {
        board: board.unwrap_or("unknown board").to_owned(),
        named_by: match (host, sample) {
            (Some(_), _) => NamedBy::Host,
            (None, Some(_)) => NamedBy::Sample,
            (None, None) => NamedBy::Model,
        },
        sample: sample.filter(|_| host.is_some()),
        id,
        name: name.unwrap_or_else(|| "unknown card".to_owned()),
        is_retired,
        runs,
    }
}

pub(crate) fn label<'a>(run: &'a Record, key: &str) -> Option<&'a str> {
    run.labels.get(key).map(String::as_str)
}

pub(crate) fn board_model(run: &Record) -> Option<&str> {
    run.board.as_ref()?.model.as_deref()
}

/// A name in parts, numbers by their value.
pub(crate) fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0_u64)];
    let mut was_digit = false;
    for letter in name.chars() {
        let digit = letter.to_digit(10);
        if was_digit && digit.is_none() {
            parts.push((String::new(), 0));
        }
        if let Some(part) = parts.last_mut() {
            match digit {
                Some(digit) => part.1 = part.1.saturating_mul(10).saturating_add(digit.into()),
                None => part.0.extend(letter.to_lowercase()),
            }
        }
        was_digit = digit.is_some();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_ordered_by_value() {
        let mut names = ["board-12", "Board-4", "board-4b", "board", "7", "board-100"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(
            names,
            ["7", "board", "Board-4", "board-4b", "board-12", "board-100"]
        );
    }
}
