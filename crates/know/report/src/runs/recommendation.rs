//! Products that suit a use: the answer, and each product with its figures.

mod product;

use std::collections::BTreeSet;

use cardmark_catalog::{ProductKind, QueueState, Requirement, Use, nearest_boards, use_of};
use cardmark_judge::{
    AskedBoard, Band, Basis, Beside, Candidate, Choice, Grade, LeftOut, Met, Price, Question, Tier,
    asked_rate, comfortable,
};

use crate::answer::{AnswerBlock, KeyFigure};
use crate::text::layout::{joined, painted, points, wrap};
use crate::text::names::{capitalised, listed};
use crate::text::style::{Style, Tone, clean, columns};
use crate::text::{count_of, figure, in_unit, on_boards, per_second, percent, place_text, value};

/// Products in the table of the answer.
const SHOWN: usize = 3;
/// Names in one sentence.
const NAMES: usize = 3;
/// Sentences below the first one.
const MOST_NOTES: usize = 3;
/// Lines of an answer, without the command below it, on a terminal of usual width.
const MOST_LINES: usize = 9;
const USUAL_WIDTH: usize = 80;
/// Share of the first one's rate from which products are named with it.
const EQUAL_RATIO: f64 = 0.9;
/// Factor from which a gain by the command queue is worth a setting.
const WORTH_GAIN: f64 = 1.2;

/// A choice with its question.
#[derive(Clone, Copy, Debug)]
pub struct Recommended<'a> {
    /// The question.
    pub question: &'a Question,
    /// The choice.
    pub choice: &'a Choice,
}

impl Recommended<'_> {
    /// Returns the answer: products, the reason, and missing figures.
    #[must_use]
    pub fn answer(&self) -> AnswerBlock {
        let (choice, wanted) = (self.choice, self.question.wanted);
        let shown: Vec<&Candidate> = self.shown();
        let deciding: Vec<&Requirement> = deciding(wanted, choice);
        let notes = [
            self.unknown_board(),
            self.why(&shown),
            self.boot_setting(&shown),
            self.prices(),
            wanted.advice.clone(),
            queue(choice),
        ];
        let mut more: Vec<String> = notes.into_iter().flatten().collect();
        if shown.is_empty() {
            let left_out = left_out(&choice.left_out, self.question);
            let first = left_out
                .first()
                .map(|text| text.trim_end_matches('.').to_owned());
            more.extend(first);
        }
        more.truncate(MOST_NOTES);
        let row = |one: &&Candidate| {
            let cell = |need: &&Requirement| {
                let met = one.needs.iter().find(|met| met.name == need.name);
                met.map_or_else(|| "–".to_owned(), rate_cell)
            };
            KeyFigure {
                id: one
                    .scarcest()
                    .and_then(|met| met.metric.clone())
                    .unwrap_or_default(),
                name: self.numbered(one, &shown),
                cells: deciding.iter().map(cell).collect(),
                word: self.in_word(one),
            }
        };
        let mut block = AnswerBlock {
            sentence: self.sentence(),
            more,
            sides: deciding.iter().map(|need| need.plain.clone()).collect(),
            figures: shown.iter().map(row).collect(),
            open: open(choice, false).into_iter().take(1).collect(),
            ..AnswerBlock::default()
        };
        shorten(&mut block);
        block
    }

    /// Products in the table.
    fn shown(&self) -> Vec<&Candidate> {
        let best = self.choice.best();
        match &self.choice.value {
            Some(value) => {
                let indices = [Some(value.cheapest), value.next_better];
                indices
                    .into_iter()
                    .flatten()
                    .filter_map(|index| best.get(index))
                    .collect()
            }
            None => match best_of_kinds(best) {
                kinds if kinds.len() > 1 => kinds,
                _ => best.iter().take(SHOWN).collect(),
            },
        }
    }

    /// Name with its places, and with the kind beside products of others.
    fn numbered(&self, one: &Candidate, shown: &[&Candidate]) -> String {
        let is_alone = shown.iter().all(|other| other.is_of_kind(one));
        match one.kind.filter(|_| !is_alone) {
            Some(kind) => format!("{} ({})", numbered(one), kind.name()),
            None => numbered(one),
        }
    }

    /// Sale and test of the first product, and the boards of the other ones if they differ.
    fn why(&self, shown: &[&Candidate]) -> Option<String> {
        let (first, others) = shown.split_first()?;
        let (sold, name) = (capitalised(&sold_words(first)), clean(&first.product));
        let Some(own) = measured(first, self.choice) else {
            return Some(clean(&sold));
        };
        let is_slow = |board: &AskedBoard| board.is_slow;
        let slow = match self.choice.board.as_ref().is_some_and(is_slow) {
            true => "; here the processor may be the limit",
            false => "",
        };
        let is_same = |one: &&Candidate| measured(one, self.choice).as_ref() == Some(&own);
        if others.iter().all(is_same) {
            return Some(clean(&format!("{sold}; {own}{slow}")));
        }
        let boards = others.iter().map(|one| scarce(one)?.board.as_deref());
        let boards: BTreeSet<Option<&str>> = boards.collect();
        let others = match (others.len(), on_boards(boards.iter().copied())) {
            (_, on) if on.is_empty() || boards.contains(&None) => "others elsewhere".to_owned(),
            (1, on) => format!("the other {on}"),
            (_, on) => format!("the others {on}"),
        };
        let sold = sold_words(first);
        Some(clean(&format!("{name}: {sold}, {own}; {others}{slow}")))
    }

    /// The setting without which the board does not boot from the first product.
    fn boot_setting(&self, shown: &[&Candidate]) -> Option<String> {
        let board = self.choice.board.as_ref()?;
        let is_boot = self.question.wanted.id == "boot";
        let note = board
            .boot_setting(shown.first()?.kind)
            .filter(|_| is_boot)?;
        Some(note.trim_end_matches('.').to_owned())
    }

    fn sentence(&self) -> String {
        let choice = self.choice;
        let place = match &choice.board {
            Some(board) => format!(" {}", on_boards([Some(board.name.as_str())].into_iter())),
            None => " on any board".to_owned(),
        };
        let head = format!("{}{place}", capitalised(&self.question.wanted.title));
        let shown = self.shown();
        let Some(first) = shown.first() else {
            let left_out = &choice.left_out;
            return match choice.too_slow.first() {
                None if left_out.no_boot_count > 0 => {
                    format!("{head}: it cannot boot from USB disks")
                }
                None if left_out.no_socket_count > 0 => {
                    format!("{head}: no eMMC for it is known")
                }
                Some(best) => format!(
                    "{head}: nothing that was measured suits, not even {}",
                    clean(&best.product)
                ),
                None => format!("{head}: no published figures of such products"),
            };
        };
        if choice.value.is_some() {
            let price = |one: &Candidate| one.price.as_ref().map(Price::text).unwrap_or_default();
            let next = shown.get(1).map(|next| {
                format!(
                    "; the next better is {} at {}",
                    clean(&next.product),
                    price(next)
                )
            });
            return format!(
                "{head}: {} at {} is the cheapest that is enough{}",
                clean(&first.product),
                price(first),
                next.unwrap_or_default()
            );
        }
        let names = names(&leaders(choice.best()));
        match choice.first.is_empty() {
            true => format!("{head}: {names} may suit; nothing is known to suit for certain"),
            false => {
                let others = best_of_kinds(choice.best()).into_iter().skip(1);
                let others = others.filter_map(|one| {
                    Some(format!("; {} {}", one.kind?.name(), clean(&one.product)))
                });
                format!("{head}: {names}{}", others.collect::<String>())
            }
        }
    }

    /// Returns the grade of a product in a few words, such as `suits any board`, and its price if one matters.
    #[must_use]
    pub fn in_word(&self, one: &Candidate) -> String {
        let word = grade_words(one);
        match self.question.wish.budget.is_some() && one.price.is_none() {
            true => format!("{}, no price", graded(one)),
            false => word,
        }
    }

    fn unknown_board(&self) -> Option<String> {
        let name = self.question.board.as_deref()?;
        let name = clean(name);
        let text = || {
            if let Some(known) = use_of(&name) {
                return format!("`{name}` is not a board here: `--use {}`", known.id);
            }
            let near = match nearest_boards(&name).as_slice() {
                [] => String::new(),
                near => format!(" (perhaps {})", near.join(", ")),
            };
            format!("No board called `{name}` is known{near}: this holds for any board")
        };
        self.choice.is_board_unknown.then(text)
    }

    /// Hint on prices, if they were asked for and none is known.
    fn prices(&self) -> Option<String> {
        let wish = &self.question.wish;
        let is_asked = wish.is_by_value || wish.budget.is_some();
        let is_priced = self.choice.best().iter().any(|one| one.price.is_some());
        let choice = self.choice;
        let others = [&choice.may_suit, &choice.too_slow, &choice.beside];
        let mut others = others.into_iter().flatten();
        let priced = others.find(|one| one.price.is_some());
        let (is_known, count) = (priced.is_some(), choice.left_out.too_dear_count);
        if let Some(one) = priced.filter(|_| is_asked && !is_priced) {
            let (name, grade) = (clean(&one.product), graded(one));
            return Some(format!(
                "{name}, which has a price, is not known to be enough: {grade}"
            ));
        }
        if is_asked && !is_priced && !is_known && count > 0 {
            return Some("All products with a price cost more".to_owned());
        }
        (is_asked && !is_priced).then(|| {
            "No price is known: add `--price \"NAME=AMOUNT\"` for each product of a shop".to_owned()
        })
    }

    /// Returns everything: the answer, each product with its figures, the needs, and omissions.
    #[must_use]
    pub fn all(&self, width: usize, style: Style) -> String {
        let choice = self.choice;
        let mut blocks = vec![self.answer().lines(width, style)];
        for (heading, products) in [
            ("Suit", &choice.first),
            ("May suit", &choice.may_suit),
            ("Too slow", &choice.too_slow),
            ("Cannot be put in order", &choice.beside),
        ] {
            if products.is_empty() {
                continue;
            }
            let heading = format!(
                "{heading}: {}",
                count_of(products.len(), "product", "products")
            );
            let mut lines = painted(&[heading], width, style, Tone::Heading);
            for one in products {
                lines.extend(wrap(&numbered(one), width, 3));
                let details = clean(&details(one));
                let inner = wrap(&details, width.saturating_sub(3), 0);
                lines.extend(inner.iter().map(|line| format!("   {line}")));
            }
            blocks.push(lines);
        }
        blocks.push(points(&open(choice, true), width));
        blocks.push(needs(self.question.wanted, width));
        blocks.push(painted(&self.notes(), width, style, Tone::Dim));
        joined(&blocks)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = left_out(&self.choice.left_out, self.question);
        notes.push(
            "Within a kind, those known to be on sale within a year come first, then lines of 2021 and later, then the others by the year of their test. Figures of \
             one method on one board are in order; a place such as 1–3 means that another card of the product may differ by as much. An \
             estimate takes the time of each operation on the other board and adds what a slower slot needs for it; from several operations at once \
             it gives an order only, and the minimum is what the maker states: for the board, or by the class on the label."
                .to_owned(),
        );
        notes.push(format!(
            "Source of these needs: {}",
            self.question.wanted.source
        ));
        notes
    }
}

/// Shortens the answer to its number of lines, the least important parts first.
fn shorten(block: &mut AnswerBlock) {
    let is_long = |block: &AnswerBlock| block.lines(USUAL_WIDTH, Style::Plain).len() > MOST_LINES;
    if is_long(block) && block.more.len() > 2 {
        block.more.pop();
    }
    while is_long(block) && block.figures.len() > 2 {
        block.figures.pop();
    }
    if is_long(block) {
        block.open.clear();
    }
    while is_long(block) && block.more.len() > 1 {
        block.more.pop();
    }
}

/// The needs without which the use cannot be judged.
fn deciding<'a>(wanted: &'a Use, choice: &Choice) -> Vec<&'a Requirement> {
    let is_deciding = |need: &&Requirement| {
        let lists = [&choice.first, &choice.may_suit, &choice.too_slow];
        let mut mets = lists.into_iter().flatten().flat_map(|one| &one.needs);
        mets.any(|met| met.is_deciding && met.name == need.name)
    };
    wanted.needs.iter().filter(is_deciding).collect()
}

/// The first product, and those that are nearly as fast and not clearly behind it.
fn leaders(products: &[Candidate]) -> Vec<&Candidate> {
    let share = |one: &Candidate| one.scarcest().map_or(0.0, Met::share);
    let Some(first) = products.first() else {
        return Vec::new();
    };
    let is_equal = |one: &&Candidate| {
        let may_be_first = one.places.is_none_or(|places| places[0] == 1);
        may_be_first && one.is_comparable(first) && share(one) >= EQUAL_RATIO * share(first)
    };
    products.iter().take_while(is_equal).take(NAMES).collect()
}

/// Names joined by `or`: `Raspberry Pi 64 GB or 128 GB`.
fn names(products: &[&Candidate]) -> String {
    let mut line = "";
    let mut words = Vec::new();
    for one in products {
        let size = one.product.strip_prefix(line).filter(|_| !line.is_empty());
        words.push(clean(size.unwrap_or(&one.product)));
        let parts: Vec<&str> = one.product.rsplitn(3, ' ').collect();
        let is_sized = one.capacity_bytes.is_some() && parts.len() == 3;
        line = match is_sized {
            true => &one.product[..=parts[2].len()],
            false => "",
        };
    }
    listed(&words, "or")
}

/// The first product of each kind, the best first.
fn best_of_kinds(products: &[Candidate]) -> Vec<&Candidate> {
    let kinds = products.chunk_by(Candidate::is_of_kind);
    kinds.filter_map(<[Candidate]>::first).take(SHOWN).collect()
}

/// Name with its places.
fn numbered(one: &Candidate) -> String {
    let name = clean(&one.product);
    match one.places {
        Some(places) => format!("{}. {name}", place_text(places)),
        None => name,
    }
}

/// Grade of a product in a few words.
#[must_use]
pub fn grade_words(one: &Candidate) -> String {
    let grade = graded(one);
    let band = one.band.filter(|_| one.grade < Grade::TooSlow);
    let mut word = match (band, one.basis) {
        (Some(_), _) if one.kind == Some(ProductKind::EmbeddedMmc) => {
            format!("{grade} boards with its socket")
        }
        (Some(band), _) => format!("{grade} {}", band_words(band)),
        (None, Basis::Elsewhere) if is_promised(one) => format!("{grade} as its maker states"),
        (None, Basis::Elsewhere) => format!("{grade}, estimated"),
        (None, Basis::Label) => format!("{grade} by its label"),
        (None, _) => grade.to_owned(),
    };
    if let Some(price) = &one.price {
        word = format!("{grade}, {}", clean(&price.text()));
    }
    match one.is_rough() {
        true => format!("{word}, roughly"),
        false => word,
    }
}

/// True if the minimum of a rate that decides is only a statement of the maker.
fn is_promised(one: &Candidate) -> bool {
    let mut deciding = one.needs.iter().filter(|met| met.is_deciding);
    deciding.any(|met| met.is_promised)
}

fn graded(one: &Candidate) -> &'static str {
    match one.grade {
        Grade::Suits => "suits",
        Grade::MaySuit => "may suit",
        Grade::TooSlow => "too slow",
        Grade::Unknown => "cannot tell",
    }
}

/// Boards with a slot of this rate.
fn band_words(band: Band) -> String {
    match band.slot_bytes_per_s {
        _ if band.is_any => "any board".to_owned(),
        50_000_000 => "Pi 4, Pi 5".to_owned(),
        100_000_000 => "Pi 5".to_owned(),
        slot => format!("slots of {} MB/s", slot / 1_000_000),
    }
}

/// Returns a rate with its unit, and with the sign of a bound: `≥ 1500/s`.
#[must_use]
pub fn rate_cell(met: &Met) -> String {
    let (sign, rate) = bounded(met);
    format!("{sign}{}", per_second(met.quantity, rate))
}

/// A rate and its sign: of an estimate the low end, of another operation the high end.
fn bounded(met: &Met) -> (&'static str, f64) {
    match (met.low, met.high) {
        (Some(low), Some(high)) if low <= 0.0 => ("≤ ", high),
        (Some(low), _) if met.basis >= Basis::Elsewhere => ("≥ ", low),
        _ => ("", met.value),
    }
}

/// The deciding need with the least direct basis.
fn scarce(one: &Candidate) -> Option<&Met> {
    let deciding = one.needs.iter().filter(|met| met.is_deciding);
    deciding.max_by_key(|met| met.basis)
}

/// Place, year and method of the test of a product.
fn measured(one: &Candidate, choice: &Choice) -> Option<String> {
    let met = scarce(one)?;
    let year = met
        .year
        .map(|year| format!(" in {year}"))
        .unwrap_or_default();
    let board = met.board.as_deref();
    let on = on_boards([board].into_iter());
    let on = if on.is_empty() {
        "on an unknown board".to_owned()
    } else {
        on
    };
    let runs = match met.runs_count {
        1 => "1 run".to_owned(),
        count => format!("{count} runs each"),
    };
    let way = met
        .stand_in
        .map(|way| format!(", {way}"))
        .unwrap_or_default();
    Some(match met.basis {
        Basis::Here | Basis::StandIn => format!("measured on this board{year}, {runs}{way}"),
        Basis::SameSlot if choice.board.is_some() => {
            format!("measured {on} (same slot){year}, {runs}{way}")
        }
        Basis::Elsewhere if is_promised(one) => {
            format!("order estimated from figures {on}{year}, {runs}{way}")
        }
        Basis::SameSlot | Basis::Elsewhere => format!("measured {on}{year}, {runs}{way}"),
        Basis::Label => "by the class on its label, without published figures".to_owned(),
    })
}

fn sold_words(one: &Candidate) -> String {
    let sold = &one.sold;
    match (sold.tier, &sold.known_sold, sold.tested) {
        (Tier::Sold, Some(seen), _) => {
            format!("on sale in {}", seen.split('-').next().unwrap_or_default())
        }
        (Tier::Recent, ..) => {
            let year = sold.first_sold.first();
            format!(
                "first sold in {}, may no longer be sold",
                year.map_or_else(String::new, u16::to_string)
            )
        }
        (_, _, Some(year)) => format!("tested in {year}, may no longer be sold"),
        _ => "test undated, may no longer be sold".to_owned(),
    }
}

/// Gain by the command queue on this board.
fn queue(choice: &Choice) -> Option<String> {
    let board = choice.board.as_ref()?;
    let can = |one: &&Candidate| {
        let is_known_bad = matches!(one.queue, Some(QueueState::Broken | QueueState::None));
        !is_known_bad && one.queue_gain.is_some_and(|gain| gain >= WORTH_GAIN)
    };
    let one = choice
        .first
        .iter()
        .find(can)
        .filter(|_| board.has_trusted_queues)?;
    let (name, gain) = (clean(&one.product), one.queue_gain?);
    Some(format!(
        "`dtparam=sd_cqe=2` makes random writes of {name} {gain:.1} times faster"
    ))
}

/// Missing figures, and other products that are sold.
fn open(choice: &Choice, all: bool) -> Vec<String> {
    let lacking = choice.lacks.iter().filter(|lack| lack.is_anywhere);
    let lacking: Vec<String> = lacking.map(|lack| lack.plain.clone()).collect();
    let mut open = Vec::new();
    if !lacking.is_empty() {
        open.push(format!(
            "No published figures of {}: `cardmark run` measures them",
            lacking.join(", ")
        ));
    }
    let sold = choice.sold_untested.iter().map(|line| line.name.clone());
    let sold: Vec<String> = sold.collect();
    if !sold.is_empty() {
        let begin = match choice.is_empty() {
            true => "Sold, but without figures: ",
            false => "Sold too, without figures: ",
        };
        open.push(match all {
            true => format!("{begin}{}", sold.join(", ")),
            false => as_many(begin, &sold),
        });
    }
    open
}

/// The names that fit on a line of usual width, at least one, and the number of the others.
fn as_many(begin: &str, names: &[String]) -> String {
    let text = |count: usize| {
        let more = match names.len() - count {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{begin}{}{more}", names[..count].join(", "))
    };
    let fits = |count: &usize| columns(&text(*count)) <= USUAL_WIDTH;
    text((1..=names.len()).rev().find(fits).unwrap_or(1))
}

/// Figures of a product with their origin, and its sale.
fn details(one: &Candidate) -> String {
    let mut parts: Vec<String> = one.needs.iter().map(met_words).collect();
    let [runs, cards] = one.counts();
    if runs > 0 {
        let cards = match cards {
            0 | 1 => String::new(),
            cards => format!(" of {cards} cards"),
        };
        parts.push(format!("{}{cards}", count_of(runs, "run", "runs")));
    }
    let boards: BTreeSet<Option<&str>> = one.needs.iter().map(|met| met.board.as_deref()).collect();
    let boards: Vec<&str> = boards.into_iter().flatten().collect();
    if !boards.is_empty() {
        parts.push(boards.join(", "));
    }
    let sources = one.sources();
    if !sources.is_empty() {
        parts.push(format!("from {}", sources.join(", ")));
    }
    parts.push(sold_words(one));
    parts.extend(
        one.band
            .filter(|_| one.grade < Grade::TooSlow)
            .map(band_words),
    );
    parts.extend(
        one.queue_gain
            .map(|gain| format!("random writes × {gain:.1} with the command queue")),
    );
    if one.queue == Some(QueueState::Broken) {
        parts.push(
            "newer cards of this name fail with the command queue, which is off as installed"
                .to_owned(),
        );
    }
    parts.extend(
        one.price
            .as_ref()
            .map(|price| format!("price {}", price.text())),
    );
    parts.extend(one.beside.map(|reason| match reason {
        Beside::Rate => "a figure that decides is missing".to_owned(),
        Beside::Kind => "its kind is not known".to_owned(),
        Beside::Capacity => "its capacity is not known".to_owned(),
    }));
    parts.join("; ")
}

/// `random writes 3950/s (32 at once; 3850 to 4096 one at a time; asked 500)`
fn met_words(met: &Met) -> String {
    let rate = |rate: f64| figure(in_unit(met.quantity, rate));
    let mut notes: Vec<String> = met.stand_in.map(str::to_owned).into_iter().collect();
    notes.extend(match met.basis {
        Basis::Here => None,
        Basis::StandIn | Basis::SameSlot | Basis::Elsewhere => match (met.low, met.high) {
            (Some(low), Some(high)) if met.is_promised => Some(format!(
                "counts as {}, as its maker states, to {}",
                rate(low),
                rate(high)
            )),
            (Some(low), Some(high)) => Some(format!("counts as {} to {}", rate(low), rate(high))),
            _ => None,
        },
        Basis::Label => Some("by its label".to_owned()),
    });
    notes.push(format!("asked {}", rate(met.asked)));
    let measured = value("", met.quantity, met.measured);
    format!("{} {measured} ({})", met.plain, notes.join("; "))
}

/// Each need with the rate that is asked for, the comfortable one, and its reason.
fn needs(wanted: &Use, width: usize) -> Vec<String> {
    let notes = wanted.needs.iter().map(|need| {
        let weight = percent(need.weight);
        let (name, reason) = (&need.name, &need.reason);
        let rate = |rate: f64| value(need_metric(need), need.quantity, rate);
        let (asked, most) = (asked_rate(need), comfortable(need));
        let comfortable = match most > asked {
            true => format!(", comfortable from {}", rate(most)),
            false => String::new(),
        };
        format!(
            "{name}: {}{comfortable} (weight {weight}: {reason})",
            rate(asked)
        )
    });
    let needs = points(&notes.collect::<Vec<_>>(), width);
    [vec!["It needs:".to_owned()], needs].concat()
}

/// Omitted products and runs, with the reason.
fn left_out(left_out: &LeftOut, question: &Question) -> Vec<String> {
    let products = |count| count_of(count, "product", "products");
    let runs = |count| count_of(count, "run", "runs");
    let mut notes = Vec::new();
    if left_out.too_small_count > 0 {
        notes.push(format!(
            "Left out: {} of less capacity.",
            products(left_out.too_small_count)
        ));
    }
    if left_out.no_boot_count > 0 {
        let products = products(left_out.no_boot_count);
        notes.push(format!(
            "Left out: {products} at USB, from which the board cannot boot."
        ));
    }
    if left_out.no_socket_count > 0 {
        notes.push(format!(
            "Left out: {} of eMMC that the board has no socket for, as far as known.",
            products(left_out.no_socket_count)
        ));
    }
    let budget = question.wish.budget.as_ref();
    if let Some(budget) = budget.filter(|_| left_out.too_dear_count > 0) {
        let products = products(left_out.too_dear_count);
        notes.push(format!(
            "Left out: {products} that cost more than {}.",
            budget.text()
        ));
    }
    if left_out.other_kinds_count > 0 {
        let products = products(left_out.other_kinds_count);
        notes.push(format!(
            "Left out: {products} of other kinds; `--kind all` shows them."
        ));
    }
    notes.push(
        "Prices are your own: `--price \"NAME=AMOUNT\"`, or `cardmark label RUN price=AMOUNT`."
            .to_owned(),
    );
    if left_out.simulated_runs_count > 0 {
        notes.push(format!(
            "Left out: {} of simulated cards.",
            runs(left_out.simulated_runs_count)
        ));
    }
    if left_out.nameless_runs_count > 0 {
        notes.push(format!(
            "Left out: {} without a known product; `cardmark label RUN product=NAME` sets it.",
            runs(left_out.nameless_runs_count)
        ));
    }
    notes
}

/// Metric in which the need is expressed.
fn need_metric(need: &Requirement) -> &str {
    need.metrics.first().map_or("", String::as_str)
}

#[cfg(test)]
mod tests;
