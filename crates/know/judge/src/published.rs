//! Cards that were measured by one method on one board, ranked by published figures.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use cardmark_catalog::{
    Equivalents, Product, ProductKind, QueueState, board, equivalents, equivalents_of, product,
};
use cardmark_core::{Subject, told};
use cardmark_stats::{Place, Ranked, possible_places};

use crate::comparison::state_of_queue;
use crate::recommendation::{Figure, is_overclocked, published_figures};
use crate::spread::{known_elsewhere, known_spread};

/// Cards by one rate, measured by one method in the slot of one board as it is installed.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRanking {
    /// The pattern whose rate it is.
    pub pattern: &'static Equivalents,
    /// Tool whose method it is.
    pub method: &'static str,
    /// The board, as the catalogue names it.
    pub board: String,
    /// Ids of the publications.
    pub publications: BTreeSet<String>,
    /// The products, the best first.
    pub places: Vec<PublishedPlace>,
}

/// A product in a ranking by published figures.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedPlace {
    /// The product.
    pub product: &'static Product,
    /// Its rate in the quantity of the pattern: the geometric mean of its cards, each with the mean of its runs.
    pub value: f64,
    /// Number of runs behind it.
    pub runs_count: usize,
    /// First and last possible place, from 1, for another card of the product.
    pub places: [usize; 2],
}

impl PublishedRanking {
    /// Returns the place of a product, by its id.
    #[must_use]
    pub fn of(&self, product_id: &str) -> Option<&PublishedPlace> {
        self.places.iter().find(|one| one.product.id == product_id)
    }
}

/// Returns the rankings by published figures, that of most products first.
#[must_use]
pub fn published_rankings() -> &'static [PublishedRanking] {
    static ALL: LazyLock<Vec<PublishedRanking>> = LazyLock::new(|| rankings(published_figures()));
    &ALL
}

/// Pattern, method and board.
type Key<'a> = (&'a str, &'static str, &'a str);

fn rankings(figures: &[Figure]) -> Vec<PublishedRanking> {
    let mut found = BTreeMap::<Key<'_>, BTreeMap<&str, Vec<&Figure>>>::new();
    for figure in figures.iter().filter(|figure| is_usual(&figure.subject)) {
        let subject = &figure.subject;
        let method = equivalents_of(&figure.metric)
            .and_then(|one| Some((one, one.method_of(&figure.metric)?)));
        let named = subject.product.as_deref().and_then(product);
        let named = named.filter(|one| is_card(one.kind));
        if let (Some((pattern, method)), Some(board), Some(product)) =
            (method, subject.board.as_deref(), named)
        {
            let key = (pattern.id.as_str(), method, board);
            let products = found.entry(key).or_default();
            products.entry(&product.id).or_default().push(figure);
        }
    }
    let ranking =
        |((pattern, method, board), products): (Key<'_>, BTreeMap<&str, Vec<&Figure>>)| {
            let pattern = equivalents(pattern)?;
            let figures = products.values().flatten();
            let publications = figures.filter_map(|figure| figure.subject.publication.clone());
            Some(PublishedRanking {
                publications: publications.collect(),
                pattern,
                method,
                board: board.to_owned(),
                places: places(pattern, &products),
            })
        };
    let mut all: Vec<PublishedRanking> = found.into_iter().filter_map(ranking).collect();
    all.retain(|one| !one.places.is_empty());
    all.sort_by_key(|one| Reverse(one.places.len()));
    all
}

fn is_card(kind: ProductKind) -> bool {
    matches!(kind, ProductKind::Microsd | ProductKind::Sd)
}

/// True in a slot at its usual clock, with the command queue as the board uses it without a setting.
fn is_usual(subject: &Subject) -> bool {
    let is_in_slot = told(&subject.context, "reader").is_none_or(|it| it == "reader slot");
    is_in_slot && !is_overclocked(subject) && is_as_installed(subject)
}

fn is_as_installed(subject: &Subject) -> bool {
    let facts = subject.board.as_deref().and_then(board);
    let has_rule = facts.is_some_and(|facts| facts.trusted_queues_since.is_some());
    let is_on = match told(&subject.context, "command_queue").as_deref() {
        Some("command queue on") if has_rule => true,
        Some("command queue off") if has_rule => false,
        _ => return true,
    };
    match subject.product.as_deref().and_then(state_of_queue) {
        Some(QueueState::None) => true,
        state => is_on == (state == Some(QueueState::Trusted)),
    }
}

/// The products of one ranking, the best first.
fn places(
    pattern: &'static Equivalents,
    products: &BTreeMap<&str, Vec<&Figure>>,
) -> Vec<PublishedPlace> {
    let rated = products.iter().filter_map(|(id, figures)| {
        let (value, cards_count) = mean_of_cards(pattern, figures)?;
        let first = figures.first()?;
        let (metric, quantity) = (first.metric.as_str(), first.quantity);
        let ranked = Ranked {
            value,
            runs_count: figures.len(),
            cards_count,
            card: None,
            place: Arc::new(Place::of(&first.subject)),
            spread: known_spread(metric, quantity),
            elsewhere: known_elsewhere(metric, quantity),
            method: "",
            between_methods: 0.0,
        };
        Some((product(id)?, ranked))
    });
    let mut rated: Vec<(&'static Product, Ranked)> = rated.collect();
    rated.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    let figures: Vec<Ranked> = rated.iter().map(|(_, ranked)| ranked.clone()).collect();
    let places = possible_places(&figures);
    let place = |((product, ranked), places): (
        (&'static Product, Ranked),
        std::ops::RangeInclusive<usize>,
    )| {
        PublishedPlace {
            product,
            value: ranked.value,
            runs_count: ranked.runs_count,
            places: [*places.start(), *places.end()],
        }
    };
    rated.into_iter().zip(places).map(place).collect()
}

/// Mean of the cards' means of their runs, all geometric, in the quantity of the pattern; and the number of cards.
fn mean_of_cards(pattern: &Equivalents, figures: &[&Figure]) -> Option<(f64, usize)> {
    let mut cards = BTreeMap::<(Option<&str>, Option<&str>), Vec<f64>>::new();
    for figure in figures {
        let value = pattern.converted(figure.quantity, pattern.quantity, figure.value);
        if let Some(value) = value.filter(|value| *value > 0.0) {
            let subject = &figure.subject;
            let card = (subject.publication.as_deref(), subject.card.as_deref());
            cards.entry(card).or_default().push(libm::log(value));
        }
    }
    let means = cards.values().map(|logarithms| {
        let mut logarithms = logarithms.clone();
        logarithms.sort_by(f64::total_cmp);
        logarithms.iter().sum::<f64>() / logarithms.len() as f64
    });
    let sum: f64 = means.sum();
    let count = cards.len();
    (count > 0).then(|| (libm::exp(sum / count as f64), count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(pattern: &str, board: &str, name: &str) -> Option<f64> {
        let mut all = published_rankings().iter();
        let found = all.find(|one| one.pattern.id == pattern && one.board == board)?;
        Some(found.of(&product(name)?.id)?.value)
    }

    #[test]
    fn most_cards_were_measured_on_a_raspberry_pi_4() {
        let first = &published_rankings()[0];
        assert_eq!(first.board, "Raspberry Pi 4 Model B");
        assert!(first.places.len() >= 20, "{}", first.places.len());
        let counts: Vec<usize> = published_rankings()
            .iter()
            .map(|one| one.places.len())
            .collect();
        assert!(counts.is_sorted_by(|one, next| one >= next), "{counts:?}");
    }

    #[test]
    fn places_hold_the_order_by_value() {
        for one in published_rankings() {
            let values: Vec<f64> = one.places.iter().map(|place| place.value).collect();
            assert!(values.is_sorted_by(|one, next| one >= next), "{values:?}");
            for (index, place) in one.places.iter().enumerate() {
                let [first, last] = place.places;
                assert!((first..=last).contains(&(index + 1)), "{place:?}");
                assert!(is_card(place.product.kind), "{place:?}");
            }
        }
    }

    /// 3.85 MB/s, in operations on blocks of 4 KiB.
    #[test]
    fn rates_are_in_the_quantity_of_the_pattern() {
        let value = rate(
            "random_write",
            "Raspberry Pi 4 Model B",
            "Samsung Evo+ 32 GB",
        );
        assert!(
            value.is_some_and(|value| (900.0..1000.0).contains(&value)),
            "{value:?}"
        );
    }

    #[test]
    fn a_slot_with_another_clock_does_not_count() {
        let overclocked = published_figures()
            .iter()
            .filter(|figure| is_overclocked(&figure.subject));
        let mut overclocked = overclocked.map(|figure| is_usual(&figure.subject));
        assert_eq!(overclocked.next(), Some(false));
        assert!(overclocked.all(|is_usual| !is_usual));
    }

    /// The queue of the official cards is on without a setting, that of others is off.
    #[test]
    fn command_queues_are_as_installed() {
        let value = |name: &str| rate("random_write_q32", "Raspberry Pi 5", name);
        let official = value("Raspberry Pi 64 GB").unwrap();
        assert!(official > 3.0 * value("SanDisk Extreme 64 GB").unwrap());
    }
}
