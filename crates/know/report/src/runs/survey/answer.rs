//! The sentence at the top: which card is the fastest, if one is.

use std::sync::Arc;

use cardmark_core::{FindingKind, Quantity, Severity};
use cardmark_judge::{LONG_SERIES_RATIO, is_uneven, known_spread};
use cardmark_stats::{KnownElsewhere, Place, Ranked, possible_places};

use super::methods::{Method, Rate};
use super::sources::is_own;
use super::subjects::{Subject, boards};
use crate::answer::AnswerBlock;
use crate::text::times::times;
use crate::text::{figure, in_unit, percent};

/// Boards that get a sentence each.
const MOST_BOARDS: usize = 3;
/// Names of cards in a sentence.
const MOST_NAMES: usize = 4;
/// Random writes in short trials, and in one long series: a card may be fast in one of them only.
pub(super) const BURSTS: &str = "rand_write_4k";
pub(super) const LONG: &str = "rand_write_4k_long";
/// The same in words.
pub(super) const IN_BURSTS: &str = "in bursts";
pub(super) const OVER: &str = "over 15 s";

/// The fastest cards for booting on each board, by the method of most subjects: small random writes decide, in bursts and in a
/// long series if a card slows down there, as far as no other card is clearly faster in random reads. Cards that do not keep
/// data are left out. Also returns whether one card is the fastest on a board. `None` without two cards on one board.
pub(super) fn answer_of_survey(method: &Method<'_>) -> Option<(AnswerBlock, bool)> {
    let contests = contests(method);
    let has_winner = contests.iter().any(|contest| contest.lead().is_some());
    let mut sentences = sentences(&contests, boards_of(method).len() > 1).into_iter();
    let block = AnswerBlock {
        sentence: sentences.next()?,
        more: sentences.collect(),
        ..AnswerBlock::default()
    };
    Some((block, has_winner))
}

/// The boards that are one each.
fn boards_of(method: &Method<'_>) -> Vec<String> {
    let mut boards = boards(&method.subjects);
    boards.retain(|board| is_one(board, method));
    boards
}

/// The contests on the boards with most cards.
fn contests<'a>(method: &'a Method<'a>) -> Vec<Contest<'a>> {
    let boards = boards_of(method).into_iter();
    let contests = boards.filter_map(|board| Contest::on(board, method));
    let mut contests: Vec<Contest<'_>> = contests.collect();
    // Stable: of equals the first.
    contests.sort_by_key(|contest| std::cmp::Reverse(contest.writes.cards.len()));
    contests.truncate(MOST_BOARDS);
    contests
}

fn sentences(contests: &[Contest<'_>], are_several: bool) -> Vec<String> {
    if let Some(sentence) = same_on_all(contests) {
        return vec![sentence];
    }
    let contests = contests.iter();
    contests
        .map(|contest| contest.sentence(are_several))
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

/// One sentence, if one card is the fastest on several boards, and nothing else is to be said.
fn same_on_all(contests: &[Contest<'_>]) -> Option<String> {
    let leads: Option<Vec<Lead<'_>>> = contests.iter().map(Contest::lead).collect();
    let leads = leads?;
    let [first, _, ..] = leads.as_slice() else {
        return None;
    };
    let is_same = leads.iter().zip(contests).all(|(lead, contest)| {
        lead.name == first.name && lead.others.is_empty() && contest.caveats().is_empty()
    });
    let clauses = contests.iter().zip(&leads);
    let clauses: Vec<String> = clauses
        .map(|(contest, lead)| {
            format!(
                "{}{} on {}{}",
                lead.rate, lead.over, contest.board, lead.ahead
            )
        })
        .collect();
    let clauses = clauses.join("; ");
    is_same.then(|| {
        format!(
            "Fastest for booting: {} (random writes: {clauses})",
            first.name
        )
    })
}

/// The cards on one board by the rates that decide.
struct Contest<'a> {
    board: String,
    method: &'a Method<'a>,
    /// By bursts; by the lower one of bursts and long series if a card slows down in that.
    writes: Field<'a>,
    /// By each of them, if a card slows down and all cards have both; what a card does in it, and the cards.
    parts: Vec<(&'static str, Field<'a>)>,
    reads: Option<Field<'a>>,
}

/// The card that is clearly the fastest on a board.
struct Lead<'a> {
    name: &'a str,
    rate: String,
    /// The kind of writes that the rate is of, if it is the long series.
    over: &'static str,
    /// How far it is ahead.
    ahead: String,
    /// Clauses on what others are clearly faster in.
    others: Vec<String>,
}

impl<'a> Contest<'a> {
    fn on(board: String, method: &'a Method<'a>) -> Option<Self> {
        let writes = method.random_write()?;
        let by = |id: &str| {
            let rate = (id.to_owned(), writes.1);
            Field::new(method, &board, &rate, |subject| rate_of(subject, &rate))
        };
        let long = (LONG.to_owned(), writes.1);
        let bursts = by(&writes.0);
        let in_long = (writes.0 == BURSTS).then(|| by(LONG));
        let slows_down = |field: &Field<'_>| {
            let mut cards = bursts.cards.iter();
            cards.any(|card| {
                field
                    .value_of(card.name)
                    .is_some_and(|long| is_slower(long, card.value))
            })
        };
        let in_long =
            in_long.filter(|field| field.cards.len() == bursts.cards.len() && slows_down(field));
        let (lower, parts) = match in_long {
            None => (bursts, Vec::new()),
            Some(in_long) => {
                let lower = Field::new(method, &board, writes, |subject| {
                    Some(rate_of(subject, writes)?.min(rate_of(subject, &long)?))
                });
                (lower, vec![(IN_BURSTS, bursts), (OVER, in_long)])
            }
        };
        let reads = method.random_read();
        let reads = reads.map(|rate| Field::new(method, &board, rate, |it| rate_of(it, rate)));
        (lower.cards.len() > 1).then_some(Self {
            board,
            method,
            writes: lower,
            parts,
            reads,
        })
    }

    /// The card that is clearly the fastest.
    fn lead(&self) -> Option<Lead<'a>> {
        let first = self.writes.first();
        let ([best], Some(next)) = (first.as_slice(), self.writes.cards.get(1)) else {
            return None;
        };
        let reads = self.reads.as_ref().and_then(|reads| reads.ahead_of(&first));
        let reads = reads.map(|names| format!("fastest random reads: {names}"));
        let in_long = self.parts.iter().find(|(kind, _)| *kind == OVER);
        let in_long = in_long.and_then(|(_, field)| field.value_of(best.name));
        let in_bursts = self
            .parts
            .first()
            .and_then(|(_, field)| field.value_of(best.name));
        let is_long_lower = in_long
            .zip(in_bursts)
            .is_some_and(|(long, burst)| long < burst);
        let mut others = self.faster_in_parts();
        others.extend(reads);
        Some(Lead {
            name: best.name,
            rate: self.writes.rate(best.value),
            over: if is_long_lower { " over 15 s" } else { "" },
            ahead: format!(", {} faster than the next", times(best.value / next.value)),
            others,
        })
    }

    /// Clauses on bursts or the long series in which a first card is clearly slower than another.
    fn faster_in_parts(&self) -> Vec<String> {
        let first = self.writes.first();
        let clause = |(kind, field): &(&str, Field<'_>)| {
            Some(format!("fastest {kind}: {}", field.ahead_of(&first)?))
        };
        self.parts.iter().filter_map(clause).collect()
    }

    fn sentence(&self, are_several: bool) -> String {
        let on = match are_several {
            true => format!(" on {}", self.board),
            false => String::new(),
        };
        let mut parts = match self.lead() {
            None => {
                let mut parts = vec![self.writes.undecided(&on)];
                parts.extend(self.faster_in_parts());
                parts
            }
            Some(lead) => {
                let Lead {
                    name,
                    rate,
                    over,
                    ahead,
                    others,
                } = lead;
                let first = match others.is_empty() {
                    true => {
                        let writes = self.writes.writes(&rate);
                        format!("Fastest for booting{on}: {name} ({writes}{over}{ahead})")
                    }
                    false => format!("Fastest random writes{on}: {name} ({rate}{over}{ahead})"),
                };
                std::iter::once(first).chain(others).collect()
            }
        };
        parts.extend(self.caveats());
        parts.join("; ")
    }

    /// What limits trust in the rates of the first cards.
    fn caveats(&self) -> Vec<String> {
        let first = self.writes.first();
        let mut named: Vec<&str> = first.iter().map(|card| card.name).collect();
        named.truncate(MOST_NAMES);
        let here = self
            .method
            .subjects
            .iter()
            .filter(|subject| subject.board == self.board);
        let here = here.filter(|subject| named.contains(&subject.name.as_str()));
        let writes = self.method.random_write().map(|rate| rate.0.as_str());
        here.filter_map(|subject| caveat(subject, writes?))
            .collect()
    }
}

/// Returns whether random writes slow down in a long series.
pub(super) fn is_slower(long: f64, bursts: f64) -> bool {
    long < LONG_SERIES_RATIO * bursts
}

/// The rate of a subject that counts for an order.
fn rate_of(subject: &Subject<'_>, (metric, quantity): &Rate) -> Option<f64> {
    let is_of_quantity = subject
        .measuring(metric)
        .all(|found| found.quantity == *quantity);
    let is_known = is_of_quantity && !subject.is_voided(metric);
    let (value, _) = subject.rate(metric).filter(|_| is_known)?;
    (value > 0.0).then_some(value)
}

/// A clause on a subject whose rate may not be that of the card, or not the usual one.
fn caveat(subject: &Subject<'_>, metric: &str) -> Option<String> {
    let name = &subject.name;
    let mut findings = subject.records.iter().flat_map(|record| &record.findings);
    let is_throttled = findings.any(|finding| {
        finding.kind == FindingKind::Throttled && finding.severity != Severity::Note
    });
    if is_throttled {
        return Some(format!("the board was throttled while it tested {name}"));
    }
    let (value, ends) = subject.rate(metric)?;
    let (low, high) = ends?;
    let half_width = 0.5 * (high - low) / value;
    is_uneven(half_width).then(|| format!("the rate of {name} varied by ± {}", percent(half_width)))
}

/// The cards on one board by a rate, the fastest first.
struct Field<'a> {
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
    fn new(
        method: &'a Method<'_>,
        board: &str,
        (metric, quantity): &Rate,
        rate: impl Fn(&Subject<'_>) -> Option<f64>,
    ) -> Self {
        let is_here = |subject: &&Subject<'_>| subject.board == board && !subject.is_unsound;
        let here = method.subjects.iter().filter(is_here);
        let spread = known_spread(metric, *quantity);
        let place = Arc::new(Place {
            board: Some(board.to_owned()),
            ..Place::default()
        });
        let mut rated: Vec<(&str, Ranked)> = here
            .filter_map(|subject| {
                let ranked = Ranked {
                    value: rate(subject)?,
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
                Some((subject.name.as_str(), ranked))
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

    fn value_of(&self, name: &str) -> Option<f64> {
        let card = self.cards.iter().find(|card| card.name == name)?;
        Some(card.value)
    }

    /// The first cards with their rate, if not all of these are among them.
    fn ahead_of(&self, cards: &[&Card<'_>]) -> Option<String> {
        let first = self.first();
        let least = first.last()?.value;
        let is_first = |name: &str| first.iter().any(|card| card.name == name);
        if cards.iter().all(|card| is_first(card.name)) {
            return None;
        }
        let from = if first.len() > 1 { "from " } else { "" };
        let rate = self.rate(least);
        Some(format!("{} ({from}{rate})", names_of(&first)))
    }

    /// That several cards may be the fastest, with the range of their rates.
    fn undecided(&self, on: &str) -> String {
        let first = self.first();
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
        let names = names_of(&first);
        format!(
            "Fastest for booting{on}: no clear order of {names} (random writes: {range}); {reason}"
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
