//! Look-up of products and boards by a part of their names.

use std::sync::LazyLock;

use cardmark_cards::CardFacts;

use crate::boards::{BoardFacts, board, boards};
use crate::classes::class;
use crate::facts::plain_name;
use crate::lines::{ProductLine, lines};
use crate::products::{Product, product, products};
use crate::similar::{is_one_slip, words};

/// Letters that the shortest part of a name has.
const LEAST_LETTERS: usize = 2;

/// Letters that the shortest part of a model number has.
const LEAST_NUMBER_LETTERS: usize = 4;

/// A row of the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// A product line, or one generation of it.
    Line(&'static ProductLine),
    /// A product of one capacity, as in published results.
    Product(&'static Product),
    /// A board.
    Board(&'static BoardFacts),
}

impl Known {
    /// Returns its stable id.
    pub fn id(self) -> &'static str {
        match self {
            Self::Line(line) => &line.id,
            Self::Product(product) => &product.id,
            Self::Board(board) => &board.id,
        }
    }

    /// Returns its name in full.
    pub fn name(self) -> String {
        match self {
            Self::Line(line) => line.name(),
            Self::Product(product) => product.name(),
            Self::Board(board) => board.name.clone(),
        }
    }

    /// Returns all its names.
    fn names(self) -> Vec<String> {
        let (id, aliases) = match self {
            Self::Line(line) => (&line.id, &line.aliases),
            Self::Product(product) => (&product.id, &product.vectors),
            Self::Board(board) => (&board.id, &board.aliases),
        };
        let mut names = vec![id.clone(), self.name()];
        names.extend(aliases.iter().cloned());
        match self {
            Self::Line(line) => names.push(format!("{} {}", line.brand, line.line)),
            Self::Product(_) => {}
            Self::Board(board) => names.extend(board.models.iter().cloned()),
        }
        names
    }

    /// Returns its model numbers, as patterns.
    fn numbers(self) -> &'static [String] {
        match self {
            Self::Line(line) => &line.model_numbers,
            Self::Product(product) => &product.model_numbers,
            Self::Board(_) => &[],
        }
    }

    fn is_called(self, name: &str) -> bool {
        if let Self::Board(board) = self {
            return board.is_called(name);
        }
        let wanted = joined(name);
        self.names().iter().any(|known| joined(known) == wanted)
            || self
                .numbers()
                .iter()
                .any(|number| number_holds(number, name) == Some(Extent::Whole))
    }

    fn is_partly_called(self, part: &str) -> bool {
        self.names().iter().any(|known| holds(known, part))
            || self
                .numbers()
                .iter()
                .any(|number| number_holds(number, part).is_some())
    }
}

/// Result of a look-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookUp {
    /// The rows with exactly this name, or else those that have it as a part.
    pub found: Vec<Known>,
    /// Further rows with this part in a name, if one row has exactly this name.
    pub similar: Vec<Known>,
}

/// Returns the products and boards with this name, alias, id, revision code or model number, or with this part of
/// one. Ignores case, spaces and punctuation; `+` is `plus`. A part begins with a word and does not end
/// within a number: `Pi 5` is no part of `Pi 500`. Products of one capacity are returned if nothing else
/// matches.
pub fn look_up(name: &str) -> LookUp {
    let rows = || {
        let lines = lines().iter().map(Known::Line);
        lines.chain(boards().iter().map(Known::Board))
    };
    let items = || products().iter().map(Known::Product);
    let name = name.trim();
    if joined(name).len() < LEAST_LETTERS {
        return LookUp::default();
    }
    let partly = |found: &[Known]| -> Vec<Known> {
        rows()
            .filter(|row| row.is_partly_called(name) && !found.contains(row))
            .collect()
    };
    let mut all = rows().chain(items());
    if let Some(row) = all.find(|row| row.id().eq_ignore_ascii_case(name)) {
        return LookUp {
            found: vec![row],
            similar: Vec::new(),
        };
    }
    let exact: Vec<Known> = rows().filter(|row| row.is_called(name)).collect();
    if !exact.is_empty() {
        let similar = match exact.as_slice() {
            [_] => partly(&exact),
            _ => Vec::new(),
        };
        return LookUp {
            found: exact,
            similar,
        };
    }
    let tiers = [
        items().filter(|row| row.is_called(name)).collect(),
        partly(&[]),
        items().filter(|row| row.is_partly_called(name)).collect(),
    ];
    LookUp {
        found: tiers
            .into_iter()
            .find(|tier: &Vec<Known>| !tier.is_empty())
            .unwrap_or_default(),
        similar: Vec::new(),
    }
}

/// Returns the products with this name. The most exact matches count: a line of any capacity (`Evo+`, `SanDisk
/// Extreme`); or else an id, a full name or a model number; or else a part of the name in which `+` is not `plus`, because makers
/// distinguish them; or else such a part without the class (`SanDisk Ultra 32 GB`); or else a part in which `+` is `plus`; or else an
/// alias of the line or of its brand (`SP Elite`).
pub fn products_called(name: &str) -> Vec<&'static Product> {
    if joined(name).len() < LEAST_LETTERS {
        return Vec::new();
    }
    let found = products_named(name);
    match spelled_brand(name).filter(|_| found.is_empty()) {
        Some(spelled) => products_named(&spelled),
        None => found,
    }
}

fn products_named(name: &str) -> Vec<&'static Product> {
    let (wanted, exact) = (sign_kept(name), product(name));
    let is_line = |row: &Product| {
        let brand_and_line = format!("{} {}", row.brand, row.line);
        !row.line.is_empty()
            && [&row.line, &brand_and_line]
                .iter()
                .any(|line| sign_kept(line) == wanted)
    };
    let has_part = |full: &str| holds(&spelled_sign(full), &spelled_sign(name));
    let is_alias = |row: &Product| {
        let aliases = lines_of(row).into_iter().flat_map(|line| &line.aliases);
        aliases
            .map(|alias| with_capacity(alias, row))
            .any(|alias| has_part(&alias))
    };
    let tiers: [&dyn Fn(&Product) -> bool; 6] = [
        &is_line,
        &|row| exact.is_some_and(|found| found.id == row.id),
        &|row| has_part(&row.name()),
        &|row| has_part(&without_class(row)),
        &|row| holds(&row.name(), name),
        &is_alias,
    ];
    let mut tiers = tiers
        .into_iter()
        .map(|tier| products().iter().filter(|row| tier(row)).collect());
    tiers
        .find(|tier: &Vec<&Product>| !tier.is_empty())
        .unwrap_or_default()
}

/// Letters of a word from which one may be wrong in a search.
const LEAST_TYPED: usize = 4;
/// Words for any card, which shops add to names.
const ANY_CARD: [&str; 10] = [
    "card",
    "cards",
    "memory",
    "micro",
    "microsd",
    "microsdhc",
    "microsdxc",
    "sd",
    "sdhc",
    "sdxc",
];

/// Returns the products that a search means: each of its words is a part of a name or of a maker's number, or differs from a word
/// of one by a letter. Words for any card count only if there are no others. Numbers are whole, and `+` is `plus`; none for a search
/// without words.
#[must_use]
pub fn find_products(text: &str) -> Vec<&'static Product> {
    let mut wanted = words(text);
    let is_for_any = |word: &String| ANY_CARD.contains(&word.as_str());
    if !wanted.iter().all(is_for_any) {
        wanted.retain(|word| !is_for_any(word));
    }
    let is_meant = |names: &Vec<Vec<String>>| {
        let has = |word: &String| {
            let mut names = names.iter();
            names.any(|name| name.iter().any(|known| is_typed(known, word)) || joins(name, word))
        };
        !wanted.is_empty() && wanted.iter().all(has)
    };
    let found = SEARCHED.iter().filter(|(_, names)| is_meant(names));
    found.map(|(row, _)| *row).collect()
}

/// A product with the words of each of its names.
type Searched = (&'static Product, Vec<Vec<String>>);

static SEARCHED: LazyLock<Vec<Searched>> = LazyLock::new(|| {
    let searched = |row: &'static Product| {
        let own = [row.id.clone(), row.name()].into_iter();
        let names = own.chain(row.vectors.iter().chain(&row.model_numbers).cloned());
        (row, names.map(|name| words(&name)).collect())
    };
    products().iter().map(searched).collect()
});

/// True if a word of a search is meant to be this one, or a part of it.
fn is_typed(known: &str, word: &str) -> bool {
    let is_number = |text: &str| text.starts_with(char::is_numeric);
    if is_number(known) || is_number(word) {
        return known == word;
    }
    known.contains(word) || (word.len() >= LEAST_TYPED && is_one_slip(known, word))
}

/// True if a word of a search is several of a name, written as one.
fn joins(name: &[String], word: &str) -> bool {
    word.len() > LEAST_TYPED
        && (0..name.len()).any(|first| name[first..].concat().starts_with(word))
}

/// Returns the name of the product without the classes in it.
fn without_class(product: &Product) -> String {
    let words = product.line.split(' ').filter(|word| class(word).is_none());
    let words: Vec<&str> = std::iter::once(product.brand.as_str())
        .chain(words)
        .collect();
    with_capacity(&words.join(" "), product)
}

fn with_capacity(name: &str, product: &Product) -> String {
    match product.capacity_bytes {
        Some(bytes) => format!("{name} {} GB", bytes / 1_000_000_000),
        None => name.to_owned(),
    }
}

/// Returns the name with its brand in full, if it begins with another name of one: `SP` in `SP Elite` is `Silicon Power`.
fn spelled_brand(name: &str) -> Option<String> {
    let (first, rest) = name.trim().split_once(' ')?;
    let is_brand = |line: &&ProductLine| {
        let mut aliases = line.aliases.iter();
        aliases.any(|alias| {
            let brand = alias.strip_suffix(&line.line).map(str::trim_end);
            brand.is_some_and(|brand| brand.eq_ignore_ascii_case(first))
        })
    };
    let line = lines().iter().find(is_brand)?;
    Some(format!("{} {rest}", line.brand))
}

/// Splits a capacity such as `64 GB`, `64gb`, `1 TB` or `64` from the end of a name; in bytes.
pub fn split_capacity(name: &str) -> (&str, Option<u64>) {
    let name = name.trim();
    let lower = name.to_ascii_lowercase();
    let (number, unit_bytes) = match (lower.strip_suffix("gb"), lower.strip_suffix("tb")) {
        (Some(before), _) => (before.trim_end(), 1_000_000_000),
        (_, Some(before)) => (before.trim_end(), 1_000_000_000_000),
        _ => (lower.as_str(), 1_000_000_000),
    };
    let before = number.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let count = number[before.len()..].parse::<u64>().ok();
    match count.filter(|_| before.ends_with(' ')) {
        Some(count) => (
            name[..before.len()].trim_end(),
            count.checked_mul(unit_bytes),
        ),
        None => (name, None),
    }
}

/// Returns the lines that a product may be of: that which it names, or those with its model number, or else with its name, or else with its name as
/// an alias. Several if its maker used the name again.
pub fn lines_of(product: &Product) -> Vec<&'static ProductLine> {
    if let Some(id) = &product.product_line {
        return lines().iter().filter(|line| line.id == *id).collect();
    }
    let is_of_brand =
        |line: &&ProductLine| line.kind == product.kind && line.brand == product.brand;
    let has_number = |line: &&ProductLine| {
        let patterns = &line.model_numbers;
        let mut numbers = product.model_numbers.iter();
        let is_whole = |pattern: &String, number: &String| {
            number_holds(pattern, number) == Some(Extent::Whole)
        };
        numbers.any(|number| patterns.iter().any(|pattern| is_whole(pattern, number)))
    };
    let name = sign_kept(&product.line);
    let full_name = sign_kept(&format!("{} {}", product.brand, product.line));
    let is_name = |text: &String| [&name, &full_name].contains(&&sign_kept(text));
    let of_brand = || lines().iter().filter(is_of_brand);
    let tiers: [Vec<&ProductLine>; 3] = [
        of_brand().filter(has_number).collect(),
        of_brand().filter(|line| is_name(&line.line)).collect(),
        of_brand()
            .filter(|line| line.aliases.iter().any(is_name))
            .collect(),
    ];
    let mut tiers = tiers.into_iter();
    tiers.find(|tier| !tier.is_empty()).unwrap_or_default()
}

/// Returns the name with a plus sign as a word of its own, different from `plus`.
fn spelled_sign(name: &str) -> String {
    name.replace('+', " plussign ")
}

fn sign_kept(name: &str) -> String {
    joined(&spelled_sign(name))
}

/// True if the name holds this part, as whole words or their beginning. Ignores case, spaces and punctuation.
pub fn is_part_of_name(name: &str, part: &str) -> bool {
    holds(name, part)
}

/// True if a board of this model, as in records, is meant by this name: a part of the model, such as
/// `Zero 2 W`, or another name of the board, such as `3B+`.
pub fn is_board(model: &str, name: &str) -> bool {
    holds(model, name) || board(model).is_some_and(|board| Known::Board(board).is_called(name))
}

/// Returns the product lines with a known card that has these registers. Other products may have the
/// same registers.
pub fn lines_with_registers(facts: &CardFacts) -> Vec<&'static ProductLine> {
    let is_same = |line: &&ProductLine| {
        line.registers.iter().any(|seen| {
            let product = facts.product.as_deref().map(plain_name);
            facts.manufacturer_id == Some(seen.manufacturer_id)
                && facts.oem.as_deref() == Some(seen.oem.as_str())
                && product == Some(seen.product.as_str())
        })
    };
    lines().iter().filter(is_same).collect()
}

fn joined(name: &str) -> String {
    words(name).concat()
}

/// True if the name holds this part.
fn holds(name: &str, part: &str) -> bool {
    let part = joined(part);
    let words = words(name);
    part.len() >= LEAST_LETTERS && (0..words.len()).any(|first| begins(&words[first..], &part))
}

/// True if these words begin with these letters, which end within none of the numbers.
fn begins(words: &[String], letters: &str) -> bool {
    let mut rest = letters;
    for word in words {
        match rest.strip_prefix(word.as_str()) {
            Some("") => return true,
            Some(further) => rest = further,
            None => {
                let is_number = word.starts_with(char::is_numeric);
                return !is_number && word.starts_with(rest);
            }
        }
    }
    false
}

/// Length of the match of a model number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    Part,
}

/// Compares a model number with a pattern, in which `*` stands for a capacity; a suffix, such as a country, may
/// follow.
fn number_holds(pattern: &str, number: &str) -> Option<Extent> {
    let plain = |text: &str| -> String {
        // A stroke parts a family from the capacity: `SDCS/`, `SDCS2/`.
        let is_kept = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '/';
        let letters = text.chars().filter(is_kept);
        letters.map(|letter| letter.to_ascii_lowercase()).collect()
    };
    let number = plain(number);
    let (before, after) = match pattern.split_once('*') {
        Some((before, after)) => (plain(before), Some(plain(after))),
        None => (plain(pattern), None),
    };
    let Some(rest) = number.strip_prefix(&before) else {
        let is_part = number.len() >= LEAST_NUMBER_LETTERS && before.starts_with(&number);
        return is_part.then_some(Extent::Part);
    };
    let Some(after) = after else {
        return Some(Extent::Whole);
    };
    // 1 TB is `1T0` or `1T00`.
    let capacity = rest
        .char_indices()
        .take_while(|(at, letter)| letter.is_ascii_digit() || (*at > 0 && *letter == 't'))
        .count();
    let rest = &rest[capacity..];
    match capacity {
        0 => rest.is_empty().then_some(Extent::Part),
        _ if rest.starts_with(&after) => Some(Extent::Whole),
        _ => after.starts_with(rest).then_some(Extent::Part),
    }
}

#[cfg(test)]
mod tests;
