//! Cards that last: volumes that makers state for one capacity, and cards that were written until an error.

use cardmark_catalog::{
    Cycles, EnduranceKind, EndurancePromise, ProductLine, Use, is_part_of_name, lines,
};
use cardmark_judge::{Durable, DurableQuestion, Price, Promised, Tested, Tier, VIDEO_BITS_PER_S};
use serde_json::{Value, json};

use crate::answer::{AnswerBlock, KeyFigure};
use crate::document::Block;
use crate::text::layout::{joined, section};
use crate::text::names::listed;
use crate::text::promised::{stated, stated_hours, statement_name, volume};
use crate::text::style::{Style, clean};
use crate::text::{MISSING, amount, count_of, grouped, place_text};

/// Cards in the order that are shown where not all are asked for.
const SHOWN: usize = 6;
/// Tested products that are shown where not all are asked for.
const SHOWN_TESTED: usize = 4;
/// Beginning of the note of lines that are made to be written all day.
const MADE_FOR_IT: &str = "Made for ";

/// The facts for an answer about endurance.
#[derive(Clone, Copy, Debug)]
pub struct DurableAnswer<'a> {
    /// The use.
    pub wanted: &'a Use,
    /// The question.
    pub question: &'a DurableQuestion,
    /// Volumes that makers state.
    pub found: &'a Durable<'a>,
    /// Cards that others tested, of all capacities, in their order.
    pub tested: &'a [Tested],
    /// The user's own tests, in their order.
    pub own: &'a [Tested],
}

impl DurableAnswer<'_> {
    /// Returns the answer.
    #[must_use]
    pub fn block(&self) -> AnswerBlock {
        let ordered = &self.found.ordered;
        // A price makes the sentence longer, and products that are left out take a line.
        let lines = usize::from(!self.own.is_empty()) + 2 * usize::from(self.shows_prices());
        let shown = SHOWN - lines;
        let more = match ordered.len().saturating_sub(shown) {
            0 => None,
            more => Some(format!("{more} more: `--all`")),
        };
        let own = self.own.first().map(|test| {
            let more = self.own.len() - 1;
            let more = (more > 0).then(|| format!("; {more} more: `--all`"));
            format!("Your own test: {}{}", cards(test), more.unwrap_or_default())
        });
        AnswerBlock {
            sentence: self.sentence(),
            more: own.into_iter().collect(),
            sides: self.sides(),
            figures: ordered
                .iter()
                .take(shown)
                .map(|card| self.figure(card))
                .collect(),
            open: more
                .into_iter()
                .chain([self.basis("`--all`"), self.tests()])
                .collect(),
            ..AnswerBlock::default()
        }
    }

    /// Returns the answer, and with `all` everything behind it, as lines at most `width` columns wide.
    #[must_use]
    pub fn text(&self, all: bool, width: usize, style: Style) -> String {
        if !all {
            return joined(&[self.block().lines(width, style)]);
        }
        let sections = self.sections().into_iter();
        let sections = sections.map(|(heading, items)| section(heading, &items, width, style));
        let block = self.whole_block().lines(width, style);
        joined(&std::iter::once(block).chain(sections).collect::<Vec<_>>())
    }

    /// Returns the answer and everything behind it for a page.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = self.whole_block().blocks();
        for (heading, items) in self
            .sections()
            .into_iter()
            .filter(|(_, items)| !items.is_empty())
        {
            blocks.extend([Block::Heading(heading.to_owned()), Block::List(items)]);
        }
        blocks
    }

    /// The answer with all cards.
    fn whole_block(&self) -> AnswerBlock {
        let ordered = self.found.ordered.iter();
        AnswerBlock {
            figures: ordered.map(|card| self.figure(card)).collect(),
            open: vec![self.basis("see below")],
            ..self.block()
        }
    }

    /// Headings, and what is behind the answer.
    fn sections(&self) -> [(&'static str, Vec<String>); 5] {
        let found = self.found;
        let tests = |tests: &[Tested]| tests.iter().map(test_with_source).collect();
        let stated = |one: &&EndurancePromise| {
            format!("{}: {}; {}", statement_name(one), stated(one), source(one))
        };
        let in_order = found.ordered.iter().map(|card| card.promise);
        let replaced = found
            .replaced
            .iter()
            .map(|card| format!("{}: {}", card.name, self::stated(card.promise)));
        [
            (
                "Stated otherwise, and so without a place",
                found.beside.iter().map(stated).collect(),
            ),
            ("Replaced by a later generation", replaced.collect()),
            (
                "Cards written over and over until the first error: fillings of the whole card, product with the best median card first",
                tests(self.tested),
            ),
            ("Your own tests", tests(self.own)),
            (
                "Sources of the order",
                in_order
                    .map(|one| {
                        format!(
                            "{}: {}; {}",
                            statement_name(one),
                            stated_hours(one),
                            source(one)
                        )
                    })
                    .collect(),
            ),
        ]
    }

    /// Returns the same for programs.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "use": self.wanted,
            "answer": self.block().json(),
            "stated": self.found,
            "tested": self.tested,
            "own_tests": self.own,
        })
    }

    fn is_video(&self) -> bool {
        let first = self.found.ordered.first();
        first.is_some_and(|card| card.promise.kind == EnduranceKind::Hours)
    }

    /// True if the label has to promise a rate, as for a camera.
    fn is_camera(&self) -> bool {
        self.question.least_write_bytes_per_s.is_some()
    }

    fn sentence(&self) -> String {
        let what = match self.is_camera() {
            true => format!("a {}", self.wanted.title),
            false => self.wanted.title.clone(),
        };
        let size = amount(self.found.capacity_bytes);
        let best: Vec<String> = self
            .found
            .ordered
            .iter()
            .take_while(|card| card.places[0] == 1)
            .map(|card| clean(&card.name))
            .collect();
        if let Some(cheapest) = self.found.cheapest(self.is_camera()) {
            let price = cheapest.price.as_ref().map(Price::text).unwrap_or_default();
            return format!(
                "For {what}, {size}: {} at {} is the cheapest that is enough, made for {} of writes",
                clean(&cheapest.name),
                clean(&price),
                volume(cheapest.volume_bytes)
            );
        }
        match self.found.ordered.first() {
            Some(first) => format!(
                "For {what}, {size}: {}, made for {} of writes",
                best.join(" or "),
                volume(first.volume_bytes)
            ),
            None => format!("For {what}, {size}: no maker states how much a card takes"),
        }
    }

    /// Not beside prices: 80 columns hold one of them.
    fn shows_classes(&self) -> bool {
        let mut ordered = self.found.ordered.iter();
        self.is_camera() && !self.shows_prices() && ordered.any(|card| card.class.is_some())
    }

    fn shows_prices(&self) -> bool {
        self.found.ordered.iter().any(|card| card.price.is_some())
    }

    fn sides(&self) -> Vec<String> {
        let second = match self.is_camera() && self.is_video() {
            true => format!("{} Mbit/s", VIDEO_BITS_PER_S / 1_000_000),
            false => "fillings".to_owned(),
        };
        let class = self.shows_classes().then_some("class");
        let price = self.shows_prices().then_some("price");
        let sides = ["writes", &second, "stated", "in shops"].into_iter();
        sides.chain(class).chain(price).map(str::to_owned).collect()
    }

    fn figure(&self, card: &Promised<'_>) -> KeyFigure {
        let hours = card
            .video_hours()
            .filter(|_| self.is_camera() && self.is_video());
        let second = match hours {
            Some(hours) => Some(format!("{} h", grouped(hours))),
            None => card.fillings().map(grouped),
        };
        let or_missing = |text: Option<String>| text.unwrap_or_else(|| MISSING.to_owned());
        let class = || or_missing(card.class.clone());
        let mut cells = vec![
            volume(card.volume_bytes),
            or_missing(second),
            or_missing(card.promise.document.as_deref().and_then(month)),
            or_missing(card.known_sold.as_deref().and_then(month)),
        ];
        let price = || or_missing(card.price.as_ref().map(|price| clean(&price.text())));
        cells.extend(self.shows_classes().then(class));
        cells.extend(self.shows_prices().then(price));
        KeyFigure {
            id: card.promise.id.clone(),
            name: format!("{}. {}", place_text(card.places), clean(&card.name)),
            cells,
            word: String::new(),
        }
    }

    /// The kind of figures, and what is not in the order, with the place of it.
    fn basis(&self, place: &str) -> String {
        let figures = match self.is_video() {
            true => "Makers' figures for video, not tests",
            false => "Makers' figures, not tests",
        };
        let has_more = |one: &&EndurancePromise| {
            one.volume_bytes > self.found.ordered.first().map(|card| card.volume_bytes)
        };
        let is_industrial = self.is_video() && self.found.beside.iter().any(has_more);
        let wanted = self.question.capacity_bytes;
        if wanted != self.found.capacity_bytes {
            return format!("{figures}; no maker states any for {}", amount(wanted));
        }
        let volumes = || self.found.ordered.iter().map(|card| card.volume_bytes);
        if !volumes().is_sorted_by(|a, b| a >= b) {
            let first = match self.found.ordered.first().map(|card| card.tier) {
                Some(Tier::Sold) => "those in shops within a year",
                _ => "those first sold since 2021",
            };
            return format!("{figures}; {first} come first");
        }
        match (self.is_camera(), is_industrial) {
            (true, _) => format!("{figures}; C10, U1 or V10 on a label is fast enough"),
            (false, true) => format!("{figures}; industrial cards state more: {place}"),
            (false, false) => figures.to_owned(),
        }
    }

    /// Tests at this capacity; for a camera only of cards that are made for it.
    fn tests(&self) -> String {
        let size = self.found.capacity_bytes;
        let of_size: Vec<&Tested> = self
            .tested
            .iter()
            .filter(|one| one.capacity_bytes == size)
            .collect();
        if of_size.is_empty() {
            return self.tests_elsewhere();
        }
        let is_shown = |one: &&&Tested| !self.is_camera() || is_made_for_it(&one.product);
        let fitting = of_size.iter().filter(is_shown);
        let shown: Vec<&&Tested> = fitting.take(SHOWN_TESTED).collect();
        let left = count_of(of_size.len() - shown.len(), "product", "products");
        let left = match of_size.len() - shown.len() {
            0 => "sources: `--all`".to_owned(),
            _ if self.is_camera() => format!("{left} not made for cameras: `--all`"),
            _ => format!("{left} more: `--all`"),
        };
        if self.is_camera() {
            let texts = shown.iter().map(|test| cards(test)).chain([left]);
            return format!("Tested: {}", texts.collect::<Vec<_>>().join("; "));
        }
        let ranges = shown.iter().map(|one| {
            let name = one.product.replace(&format!(" {}", amount(size)), "");
            format!("{} {}", clean(&name), first_errors(one))
        });
        let ranges = ranges.collect::<Vec<_>>().join(", ");
        format!("Tested, fillings of each card before its first error: {ranges}; {left}")
    }

    /// The capacity with most tested products.
    fn tests_elsewhere(&self) -> String {
        let size = amount(self.found.capacity_bytes);
        let count = |size: u64| {
            let same = self.tested.iter().filter(|one| one.capacity_bytes == size);
            same.count()
        };
        let sizes = self.tested.iter().map(|one| one.capacity_bytes);
        match sizes.max_by_key(|bytes| count(*bytes)) {
            Some(bytes) => format!(
                "No {size} card was tested until an error; {}: `--capacity {}`, more: `--all`",
                amount(bytes),
                bytes / 1_000_000_000
            ),
            None => format!("No {size} card was tested until an error"),
        }
    }
}

/// The month of a date, or the year; `None` for the number of a document.
fn month(text: &str) -> Option<String> {
    let is_date = text.get(..4)?.bytes().all(|byte| byte.is_ascii_digit());
    is_date.then(|| text.chars().take(7).collect())
}

/// True if a line with a name in this one is made to be written all day.
fn is_made_for_it(product: &str) -> bool {
    let is_named = |line: &ProductLine| {
        line.aliases
            .iter()
            .any(|alias| is_part_of_name(product, alias))
    };
    let is_made = |line: &ProductLine| {
        line.note
            .as_deref()
            .is_some_and(|note| note.starts_with(MADE_FOR_IT))
    };
    lines().iter().any(|line| is_made(line) && is_named(line))
}

/// `395 to 1,905 (3 cards)`; `> 17,222` for a card without an error.
pub(super) fn first_errors(test: &Tested) -> String {
    let all = &test.first_errors;
    let least = all.iter().min_by_key(|one| one.at_least);
    let most = all.iter().max_by_key(|one| one.at_least);
    let ends: Vec<String> = least.into_iter().chain(most).map(cycles).collect();
    let range = match ends.as_slice() {
        [least, most] if least != most => format!("{least} to {most}"),
        ends => ends.first().cloned().unwrap_or_default(),
    };
    format!("{range} ({})", count_of(all.len(), "card", "cards"))
}

fn cycles(one: &Cycles) -> String {
    match one.at_most {
        None => format!("> {}", grouped(one.at_least)),
        Some(most) if most == one.at_least => grouped(most),
        Some(most) => format!("{} to {}", grouped(one.at_least), grouped(most)),
    }
}

/// `SanDisk Ultra 32 GB, first error after 395, 1,583 and 1,905 fillings`.
fn cards(test: &Tested) -> String {
    let all: Vec<String> = test.first_errors.iter().map(cycles).collect();
    let numbers = listed(&all, "and");
    let fillings = if numbers == "1" {
        "filling"
    } else {
        "fillings"
    };
    let is_whole = test.first_errors.iter().all(|one| one.at_most.is_none());
    let product = clean(&test.product);
    match is_whole {
        true => format!(
            "{product}, no error after {} {fillings}",
            numbers.replace("> ", "")
        ),
        false => format!("{product}, first error after {numbers} {fillings}"),
    }
}

pub(crate) fn test_with_source(test: &Tested) -> String {
    let cards_count = count_of(test.first_errors.len(), "card", "cards");
    let made = match test.made.as_slice() {
        [] => String::new(),
        years => format!(" made {}", years.join(", ")),
    };
    let source = match &test.checked_on {
        Some(day) => format!("; {}, read {day}", test.sources.join(", ")),
        None => String::new(),
    };
    format!("{} ({cards_count}{made}{source})", cards(test))
}

fn source(one: &EndurancePromise) -> String {
    let document = one.document.as_deref().map(|name| format!("{name}, "));
    clean(&format!(
        "{}{}, read {}",
        document.unwrap_or_default(),
        one.source,
        one.checked_on
    ))
}

#[cfg(test)]
mod tests;
