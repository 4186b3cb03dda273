//! The sentence at the top: which card is the fastest, if one is.

use std::sync::Arc;

use cardmark_core::Quantity;
use cardmark_judge::known_spread;
use cardmark_stats::{KnownElsewhere, Place, Ranked, possible_places};

use super::methods::{Method, Rate};
use super::sources::is_own;
use super::subjects::{Subject, boards};
use crate::text::{figure, in_unit};

/// Boards that get a sentence each.
const MOST_BOARDS: usize = 3;
/// Names of cards in a sentence.
const MOST_NAMES: usize = 4;

/// The fastest cards for booting on each board, by the method of most subjects: small random writes decide, as far as no
/// other card is clearly faster in random reads. Empty without two cards on one board.
pub(super) fn sentences(method: &Method<'_>) -> Vec<String> {
    let Some(writes) = method.random_write() else {
        return Vec::new();
    };
    let mut boards = boards(&method.subjects);
    boards.retain(|board| is_one(board, method));
    let fields = boards.iter().map(|board| Field::new(method, board, writes));
    let mut fields: Vec<Field<'_>> = fields.filter(|field| field.cards.len() > 1).collect();
    // Stable: of equals the first.
    fields.sort_by_key(|field| std::cmp::Reverse(field.cards.len()));
    let are_several = boards.len() > 1;
    fields.truncate(MOST_BOARDS);
    if let Some(sentence) = same_on_all(&fields, method) {
        return vec![sentence];
    }
    let fields = fields.iter();
    fields
        .map(|field| field.sentence(method, are_several))
        .collect()
}

/// False for unknown boards of others: they may be several.
fn is_one(board: &str, method: &Method<'_>) -> bool {
    let here = method
        .subjects
        .iter()
        .filter(|subject| subject.board == board);
    let mut records = here.flat_map(|subject| &subject.records);
    !records.any(|record| !is_own(record) && record.board.is_none())
}

/// One sentence, if one card is the fastest on several boards.
fn same_on_all(fields: &[Field<'_>], method: &Method<'_>) -> Option<String> {
    let leads: Option<Vec<Lead<'_>>> = fields.iter().map(|field| field.lead(method)).collect();
    let leads = leads?;
    let [first, _, ..] = leads.as_slice() else {
        return None;
    };
    let is_same = leads
        .iter()
        .all(|lead| lead.name == first.name && lead.readers.is_none());
    let clauses = fields.iter().zip(&leads);
    let clauses: Vec<String> = clauses
        .map(|(field, lead)| format!("{} on {}{}", lead.rate, field.board, lead.ahead))
        .collect();
    let clauses = clauses.join("; ");
    is_same.then(|| {
        format!(
            "Fastest for booting: {} (random writes: {clauses}).",
            first.name
        )
    })
}

/// The card that is clearly the fastest on a board.
struct Lead<'a> {
    name: &'a str,
    rate: String,
    /// How far it is ahead.
    ahead: String,
    /// Those with clearly faster random reads.
    readers: Option<String>,
}

/// The cards on one board by a rate, the fastest first.
struct Field<'a> {
    board: &'a str,
    quantity: Quantity,
    is_spread_known: bool,
    cards: Vec<Card<'a>>,
}

struct Card<'a> {
    name: &'a str,
    value: f64,
    /// First and last place that it may have.
    places: (usize, usize),
}

impl<'a> Field<'a> {
    fn new(method: &'a Method<'_>, board: &'a str, (metric, quantity): &Rate) -> Self {
        let is_here = |subject: &&Subject<'_>| subject.board == board && !subject.is_voided(metric);
        let here = method.subjects.iter().filter(is_here);
        let spread = known_spread(metric, *quantity);
        let place = Arc::new(Place {
            board: Some(board.to_owned()),
            ..Place::default()
        });
        let mut rated: Vec<(&str, Ranked)> = here
            .filter_map(|subject| {
                let (value, _) = subject.rate(metric)?;
                let ranked = Ranked {
                    value,
                    runs_count: subject.measuring(metric).count(),
                    cards_count: 1,
                    card: None,
                    place: Arc::clone(&place),
                    spread,
                    // The sentence is about these cards.
                    elsewhere: Some(KnownElsewhere::NONE),
                    // All cards of a table were measured by one method.
                    method: "",
                    between_methods: 0.0,
                };
                (value > 0.0).then_some((subject.name.as_str(), ranked))
            })
            .collect();
        rated.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
        let figures: Vec<Ranked> = rated.iter().map(|(_, ranked)| ranked.clone()).collect();
        let places = possible_places(&figures);
        let cards = rated
            .iter()
            .zip(places)
            .map(|((name, ranked), places)| Card {
                name,
                value: ranked.value,
                places: (*places.start(), *places.end()),
            });
        Self {
            board,
            quantity: *quantity,
            is_spread_known: spread.is_some(),
            cards: cards.collect(),
        }
    }

    /// The cards that may be the fastest.
    fn first(&self) -> Vec<&Card<'a>> {
        let cards = self.cards.iter();
        cards.filter(|card| card.places.0 == 1).collect()
    }

    /// The card that is clearly the fastest.
    fn lead(&self, method: &Method<'_>) -> Option<Lead<'a>> {
        let first = self.first();
        let ([best], Some(next)) = (first.as_slice(), self.cards.get(1)) else {
            return None;
        };
        let reads = method.random_read();
        let reads = reads.map(|rate| Field::new(method, self.board, rate));
        Some(Lead {
            name: best.name,
            rate: self.rate(best.value),
            ahead: format!(", {} × the next", figure(best.value / next.value)),
            readers: reads.and_then(|reads| reads.ahead_of(best.name)),
        })
    }

    /// The first cards with their rate of reads, if this one is not among them.
    fn ahead_of(&self, name: &str) -> Option<String> {
        let first = self.first();
        let least = first.last()?.value;
        if first.iter().any(|card| card.name == name) {
            return None;
        }
        let from = if first.len() > 1 { "from " } else { "" };
        let rate = self.rate(least);
        Some(format!("{} ({from}{rate})", names_of(&first)))
    }

    fn sentence(&self, method: &Method<'_>, are_several: bool) -> String {
        let on = match are_several {
            true => format!(" on {}", self.board),
            false => String::new(),
        };
        let Some(lead) = self.lead(method) else {
            return self.undecided(&self.first(), &on);
        };
        let Lead {
            name,
            rate,
            ahead,
            readers,
        } = lead;
        match readers {
            None => format!(
                "Fastest for booting{on}: {name} ({}{ahead}).",
                self.writes(&rate)
            ),
            Some(readers) => format!(
                "Fastest random writes{on}: {name} ({rate}{ahead}); fastest random reads: {readers}."
            ),
        }
    }

    /// That several cards may be the fastest, with the range of their rates.
    fn undecided(&self, first: &[&Card<'_>], on: &str) -> String {
        let ends = (first.last(), first.first());
        let [least, most] = [ends.0, ends.1].map(|card| card.map_or(0.0, |card| card.value));
        let range = format!(
            "{} to {}",
            figure(in_unit(self.quantity, least)),
            self.rate(most)
        );
        let reason = match self.is_spread_known {
            true => "repeats of one card differ this far",
            false => "how far repeats of one card differ is not known",
        };
        let names = names_of(first);
        format!(
            "Fastest for booting{on}: no clear order of {names} (random writes: {range}); {reason}."
        )
    }

    /// A rate, without what it is of.
    fn rate(&self, value: f64) -> String {
        let number = figure(in_unit(self.quantity, value));
        match self.quantity {
            Quantity::ByteRate => format!("{number} MB/s"),
            _ => format!("{number}/s"),
        }
    }

    /// The same of random writes.
    fn writes(&self, rate: &str) -> String {
        match (self.quantity, rate.strip_suffix("/s")) {
            (Quantity::OperationRate, Some(number)) => format!("{number} random writes/s"),
            _ => format!("random writes: {rate}"),
        }
    }
}

/// `A`, `A and B`, or `A, B and 3 more cards`.
fn names_of(cards: &[&Card<'_>]) -> String {
    let mut parts: Vec<String> = cards.iter().map(|card| card.name.to_owned()).collect();
    if parts.len() > MOST_NAMES {
        let more = parts.split_off(MOST_NAMES - 1).len();
        parts.push(format!("{more} more cards"));
    }
    match parts.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}
