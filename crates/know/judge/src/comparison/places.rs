//! Places where both sides of a comparison were measured.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_catalog::{QueueState, board as facts_of_board, lines_of, product};
use cardmark_core::{Context, OriginKind, Record, name_of, told};

use crate::unknown::unknown_storage;

/// Runs of two sides under the same circumstances.
#[derive(Clone, Debug, PartialEq)]
pub struct CommonPlace<'a> {
    /// Board, suite, use of the command queue, bus and publication, as far as known.
    pub name: String,
    /// The runs of each side.
    pub sides: [Vec<&'a Record>; 2],
    /// Use of the command queues there.
    pub queues: Queues,
}

/// Use of the command queues of both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queues {
    /// It makes no difference on this board, or is not known.
    #[default]
    Any,
    /// As the board uses them without a setting: on or off, base first.
    AsInstalled([bool; 2]),
    /// Another state, which a setting of the board gives.
    Set([bool; 2]),
}

/// Returns the runs of both sides that were measured in the same place: on one board, in one setting of one
/// publication, with the same reader, bus and suite. If there is none, on the same board; empty if they
/// have no board in common either. Runs of storage that is not known are left out. Where a board uses the queues of some
/// cards only, the runs as installed come first, though the queue is then on for one side and off for the other.
pub fn common_places<'a>(sides: [&'a [Record]; 2]) -> Vec<CommonPlace<'a>> {
    places(sides, &state_of_queue)
}

/// State of the command queue of a product, as far as known.
type StateOf = dyn Fn(&str) -> Option<QueueState>;

pub(crate) fn state_of_queue(product_name: &str) -> Option<QueueState> {
    let lines = product(product_name).map(lines_of).unwrap_or_default();
    let mut queues = lines.iter().filter_map(|line| line.command_queue.as_ref());
    Some(queues.next()?.state)
}

fn places<'a>(sides: [&'a [Record]; 2], state_of: &StateOf) -> Vec<CommonPlace<'a>> {
    let exact = common(sides, state_of, |record| {
        let setting = record.labels.get("setting").cloned();
        let mut key = key(record, &SAME_IN_A_PLACE);
        key.extend([setting.unwrap_or_default()]);
        Some(key)
    });
    if !exact.is_empty() {
        return installed_first(exact, sides, state_of);
    }
    common(sides, state_of, |record| {
        let is_simulated = record.origin.kind == OriginKind::Simulated;
        Some(vec![is_simulated.to_string(), board(record)?])
    })
}

/// Names of the context that are the same in one place.
const SAME_IN_A_PLACE: [&str; 4] = ["suite", "reader", "bus", "command_queue"];
/// The same without the state of the command queue.
const SAME_BUT_QUEUE: [&str; 3] = ["suite", "reader", "bus"];

/// Origin, publication, board, and these parts of the context.
fn key(record: &Record, names: &[&str]) -> Vec<String> {
    let context = Context::of(record).must;
    let part = |name: &&str| context.get(*name).cloned().unwrap_or_default();
    let publication = record.labels.get("publication").cloned();
    let mut key = vec![
        name_of(&record.origin.kind),
        publication.unwrap_or_default(),
        board(record).unwrap_or_default(),
    ];
    key.extend(names.iter().map(part));
    key
}

/// Puts the places with the command queues as installed first. Adds those in which they are on for one side only.
fn installed_first<'a>(
    mut places: Vec<CommonPlace<'a>>,
    sides: [&'a [Record]; 2],
    state_of: &StateOf,
) -> Vec<CommonPlace<'a>> {
    let is_installed = |place: &CommonPlace<'_>| !matches!(place.queues, Queues::Set(_));
    if !places.iter().any(is_installed) {
        let mixed = common(sides, state_of, |record| {
            let state = queue_of(record, state_of);
            let is_default = state.is_none_or(|(is_on, by_default)| is_on == by_default);
            is_default.then(|| key(record, &SAME_BUT_QUEUE))
        });
        let mixed = mixed.into_iter();
        places.extend(mixed.filter(|place| matches!(place.queues, Queues::AsInstalled(_))));
    }
    places.sort_by_key(|place| !is_installed(place));
    places
}

/// Returns whether the command queue was on, and whether the board uses it without a setting; `None` if that is not known or
/// makes no difference.
fn queue_of(record: &Record, state_of: &StateOf) -> Option<(bool, bool)> {
    let context = Context::of(record).must;
    let is_on = match context.get("command_queue")?.as_str() {
        "on" => true,
        "off" => false,
        _ => return None,
    };
    facts_of_board(&board(record)?)?
        .trusted_queues_since
        .as_ref()?;
    match record
        .labels
        .get("product")
        .and_then(|label| state_of(label))
    {
        Some(QueueState::None) => None,
        state => Some((is_on, state == Some(QueueState::Trusted))),
    }
}

/// Returns the use of the queues by the runs of both sides, if each side has one.
fn queues(sides: &[Vec<&Record>; 2], state_of: &StateOf) -> Queues {
    let of = |side: &Vec<&Record>| -> BTreeSet<(bool, bool)> {
        let states = side.iter().map(|record| queue_of(record, state_of));
        states.flatten().collect()
    };
    let [base, other] = sides.each_ref().map(of);
    let states: BTreeSet<(bool, bool)> = base.union(&other).copied().collect();
    // A card without a queue of its own is as fast with the setting as without.
    let one = |side: &BTreeSet<(bool, bool)>| side.first().or(states.first()).map(|state| state.0);
    let (Some(base), Some(other)) = (one(&base), one(&other)) else {
        return Queues::Any;
    };
    match states.iter().all(|(is_on, by_default)| is_on == by_default) {
        true => Queues::AsInstalled([base, other]),
        false => Queues::Set([base, other]),
    }
}

fn board(record: &Record) -> Option<String> {
    record.board.as_ref()?.model.clone()
}

fn common<'a>(
    sides: [&'a [Record]; 2],
    state_of: &StateOf,
    key: impl Fn(&Record) -> Option<Vec<String>>,
) -> Vec<CommonPlace<'a>> {
    let [base, other] = sides.map(|side| {
        let mut places = BTreeMap::<Vec<String>, Vec<&Record>>::new();
        for record in side {
            let is_known = unknown_storage(record).is_none();
            if let Some(key) = key(record).filter(|_| is_known) {
                places.entry(key).or_default().push(record);
            }
        }
        places
    });
    let pair = |(key, base): (Vec<String>, Vec<&'a Record>)| {
        let other = other.get(&key)?.clone();
        let name = place_name(base.iter().chain(&other).copied());
        let sides = [base, other];
        let queues = queues(&sides, state_of);
        Some(CommonPlace {
            name,
            sides,
            queues,
        })
    };
    base.into_iter().filter_map(pair).collect()
}

/// Returns the board, suite, use of the command queue, bus and publication that all these runs share.
fn place_name<'a>(records: impl Iterator<Item = &'a Record>) -> String {
    let records: Vec<&Record> = records.collect();
    let shared = |part: &dyn Fn(&Record) -> Option<String>| {
        let all: BTreeSet<Option<String>> = records.iter().map(|record| part(record)).collect();
        let first = all.first().cloned().flatten();
        first.filter(|_| all.len() == 1)
    };
    let part = |name: &'static str| move |record: &Record| told(&Context::of(record).must, name);
    let suite = |record: &Record| Some(format!("suite {}", record.suite.as_ref()?.name));
    let parts = [
        shared(&board),
        shared(&suite),
        shared(&part("command_queue")),
        shared(&part("bus")),
        shared(&|record| record.labels.get("publication").cloned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use cardmark_catalog::publications;

    use super::*;

    fn of(product: &str) -> Vec<Record> {
        let all = publications()
            .iter()
            .flat_map(|publication| publication.records());
        all.filter(|record| record.labels["product"] == product)
            .collect()
    }

    /// On a Raspberry Pi 5 the queue is on for the official cards alone, whose line the kernel trusts.
    #[test]
    fn on_a_board_that_trusts_some_queues_the_places_as_installed_come_first() {
        let [extreme, basics] = ["SanDisk Extreme 64 GB", "Amazon Basics 64 GB"].map(of);
        let places = common_places([&extreme, &basics]);
        assert_eq!(places.len(), 4, "{places:?}");
        let queues: Vec<Queues> = places.iter().map(|place| place.queues).collect();
        assert_eq!(queues[..2], [Queues::AsInstalled([false; 2]); 2]);
        assert_eq!(queues[2..], [Queues::Set([true; 2]); 2]);
    }

    /// The official cards of Raspberry Pi have a queue that the kernel trusts.
    #[test]
    fn a_trusted_card_meets_others_with_its_queue_on_and_theirs_off() {
        let sides = ["Raspberry Pi 64 GB", "SanDisk Extreme 64 GB"].map(of);
        let state_of = |product: &str| {
            let is_official = product.starts_with("Raspberry Pi");
            is_official.then_some(QueueState::Trusted)
        };
        let places = super::places([&sides[0], &sides[1]], &state_of);
        let queues: Vec<Queues> = places.iter().map(|place| place.queues).collect();
        assert_eq!(queues[..2], [Queues::AsInstalled([true, false]); 2]);
        assert!(
            queues[2..]
                .iter()
                .all(|state| matches!(state, Queues::Set(_)))
        );
        assert_eq!(queues.len(), 6, "{places:?}");
        // Without a queue of its own it is compared where the other is as installed.
        let none = |product: &str| {
            let is_official = product.starts_with("Raspberry Pi");
            is_official.then_some(QueueState::None)
        };
        let places = super::places([&sides[0], &sides[1]], &none);
        assert_eq!(places[0].queues, Queues::AsInstalled([false, false]));
        assert_eq!(places.len(), 4);
    }

    fn names(one: &[Record], other: &[Record]) -> Vec<(String, [usize; 2])> {
        let places = common_places([one, other]).into_iter();
        places
            .map(|place| (place.name, place.sides.map(|side| side.len())))
            .collect()
    }

    #[test]
    fn products_meet_in_the_settings_of_one_publication() {
        let places = names(&of("Samsung Evo+ 32 GB"), &of("SanDisk Extreme 16 GB"));
        let expected = [
            "Raspberry Pi 4 Model B, suite dramble, geerling-a2",
            "Raspberry Pi 2 Model B, suite dramble, geerling-dramble",
            "Raspberry Pi 3 Model B, suite dramble, geerling-dramble",
            "Raspberry Pi 3 Model B, suite dramble, bus overclocked to 100 MHz, geerling-dramble",
        ];
        let mut found: Vec<&str> = places.iter().map(|(name, _)| name.as_str()).collect();
        found.sort_unstable();
        let mut sorted = expected.to_vec();
        sorted.sort_unstable();
        assert_eq!(found, sorted);
        assert!(
            places.iter().all(|(_, counts)| *counts == [1, 1]),
            "{places:?}"
        );
    }

    #[test]
    fn places_of_two_published_products_have_distinct_names() {
        let mut of_products = BTreeMap::<String, Vec<Record>>::new();
        for record in publications().iter().flat_map(|one| one.records()) {
            let product = record.labels["product"].clone();
            of_products.entry(product).or_default().push(record);
        }
        for (product, base) in &of_products {
            for (_, other) in of_products.iter().filter(|(name, _)| *name != product) {
                let places = common_places([base, other]);
                let names: BTreeSet<&str> =
                    places.iter().map(|place| place.name.as_str()).collect();
                let all: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
                assert_eq!(names.len(), all.len(), "{all:?}");
            }
        }
    }

    #[test]
    fn without_a_common_setting_the_board_is_shared_or_nothing() {
        let evo = of("Samsung Evo+ 16 GB");
        let on_pi4 = names(&evo, &of("Samsung PRO Endurance (2018) 32 GB"));
        let name = "Raspberry Pi 4 Model B, suite dramble".to_owned();
        assert_eq!(on_pi4, [(name, [1, 1])]);
        assert!(names(&evo, &of("SanDisk Extreme 64 GB")).is_empty());
    }
}
