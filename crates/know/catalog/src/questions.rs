//! Answers to questions in people's own words: the explanations that hold the rare words of a question.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::boards::boards;
use crate::explanations::{Explanation, explanations};
use crate::lines::lines;
use crate::products::products;
use crate::synonyms::{Words, rows_of};
use crate::uses::use_of;

/// Maximum number of explanations that a search finds.
const MOST_FOUND: usize = 5;

/// Minimum weight of a question: `card` alone, with words that are not known, asks nothing.
const LEAST_WEIGHT: f64 = 1.0;

/// Minimum share of a question's weight that an explanation holds.
const LEAST_SHARE: f64 = 0.3;

/// Weight of a word in a title or a question, compared with one in the text.
const TITLE_WEIGHT: f64 = 3.0;

/// Share of [`TITLE_WEIGHT`] that does not depend on the other words of the title or question.
const ALWAYS: f64 = 0.4;

/// Weight of a word that stands in texts only, compared with one that stands in a title or a question.
const INCIDENTAL: f64 = 0.4;

/// Weight of a word that stands in questions only, such as `show`, compared with one of a title or a name.
const OF_QUESTIONS: f64 = 0.5;

/// Weight of a word that no explanation has, compared with the rarest: the question asks for something else as well.
const UNKNOWN: f64 = 0.3;

/// Letters of the shortest word that is corrected, and of the shortest one that may have two slips.
const LEAST_LETTERS: [usize; 2] = [5, 8];

/// Explanation on the choice of a card, and its command.
const BUYING: &str = "buying";
const RECOMMEND: &str = "cardmark recommend";

/// Explanation on brands, and stems of words in questions about them.
const BRANDS: &str = "brands";
const OF_BRANDS: [&str; 9] = [
    "vs", "versus", "good", "better", "best", "card", "sd", "microsd", "reliabl",
];

/// Signs in the words of a question.
const SIGNS: [(char, &str); 4] = [
    ('±', " plusminus "),
    ('~', " tilde "),
    ('≥', " atleast "),
    ('≤', " atmost "),
];

/// Words of the longest name of a use or board in a question.
const MOST_WORDS: usize = 4;

static INDEX: LazyLock<Index> = LazyLock::new(Index::new);

/// An explanation that a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The explanation.
    pub explanation: &'static Explanation,
    /// Share of the question's weight that it holds, 0 to 1: rare words weigh more than common ones.
    pub share: f64,
    /// Share of the question's weight in its title, name or question that fits best, 0 to 1; less if that has other words.
    /// 0 if the words are in its text alone.
    pub fit: f64,
}

/// Returns the explanations that answer a question best, the best first; at most five. Knows synonyms, ignores the order
/// of words, their endings and words without a meaning of their own, and corrects slips.
#[must_use]
pub fn search(question: &str) -> Vec<Answer> {
    INDEX.search(question)
}

/// Returns the explanation that answers a question at once: the only one with a title, name or question of exactly these words;
/// or that on buying, with the command for a use and a board in the question; or that on brands.
#[must_use]
pub fn answered(question: &str) -> Option<Cow<'static, Explanation>> {
    let row = |id: &str| explanations().iter().find(|row| row.id == id);
    match asked(question) {
        Some(found) if found.id != BUYING => Some(Cow::Borrowed(found)),
        found => {
            let own = || choice(question, row(BUYING)?).map(Cow::Owned);
            let brand = || row(BRANDS).filter(|_| is_of_brands(question));
            own().or_else(|| found.or_else(brand).map(Cow::Borrowed))
        }
    }
}

/// The explanation on buying with the command for the use and the board that a question names.
fn choice(question: &str, buying: &Explanation) -> Option<Explanation> {
    let terms = INDEX.terms(question);
    let parts: Vec<&str> = question
        .split(|c: char| c.is_whitespace() || "?!,.:".contains(c))
        .filter(|part| !part.is_empty())
        .collect();
    let is_which = parts.iter().any(|part| part.eq_ignore_ascii_case("which"));
    let is_choice = terms.contains("buy") || is_which && terms.contains("card");
    let phrases = || {
        let lengths = (1..=MOST_WORDS).rev();
        lengths.flat_map(|length| parts.windows(length).map(|words| words.join(" ")))
    };
    let use_id = phrases()
        .find_map(|words| use_of(&words))
        .map(|row| &row.id);
    let is_board = |words: &String| boards().iter().any(|row| row.is_called(words));
    let board = phrases().find(is_board);
    if !is_choice || use_id.is_none() && board.is_none() {
        return None;
    }
    let of_use = use_id.map(|id| format!(" --use {id}"));
    let of_board = board.map(|board| format!(" --board \"{board}\""));
    let wishes = [of_use, of_board].map(Option::unwrap_or_default).concat();
    let (own, usual) = (format!("`{RECOMMEND}{wishes}`"), format!("`{RECOMMEND}`"));
    Some(Explanation {
        text: buying.text.replacen(&usual, &own, 1),
        ..buying.clone()
    })
}

/// True for two brands, or for one with nothing but words such as `better`; a brand alone is looked up.
fn is_of_brands(question: &str) -> bool {
    let words = words(question);
    let brands: BTreeSet<String> = lines()
        .iter()
        .map(|line| &line.brand)
        .chain(products().iter().map(|product| &product.brand))
        .map(|brand| brand.to_lowercase())
        .collect();
    let (named, others): (Vec<_>, Vec<_>) =
        words.into_iter().partition(|word| brands.contains(word));
    let small = &INDEX.language.small;
    let is_plain = |word: &String| {
        let stem = stem(word);
        small.contains(&stem) || OF_BRANDS.contains(&stem.as_str())
    };
    let is_of_one = !named.is_empty() && !others.is_empty() && others.iter().all(is_plain);
    is_of_one || BTreeSet::from_iter(named).len() > 1
}

/// Returns the only explanation with a title, name or question of exactly these words.
fn asked(question: &str) -> Option<&'static Explanation> {
    INDEX.asked(question)
}

/// Words with one meaning: the terms of the first, and of each other.
struct Synonyms {
    first: Vec<String>,
    others: Vec<Vec<String>>,
}

/// The words that the index knows, apart from their places.
struct Language {
    synonyms: Vec<Synonyms>,
    small: BTreeSet<String>,
}

impl Language {
    fn new() -> Self {
        let rows: Vec<Words> = rows_of("synonyms");
        let synonyms = rows.iter().filter_map(|row| {
            let mut all = row.words.iter().map(|words| stems(words));
            let first = all.next()?;
            let mut others: Vec<Vec<String>> = all.collect();
            // `micro sd card` before `sd`.
            others.sort_by_key(|words| std::cmp::Reverse(words.len()));
            Some(Synonyms { first, others })
        });
        let synonyms = synonyms.collect();
        let small: Vec<Words> = rows_of("small");
        let small = small.iter().flat_map(|row| &row.words);
        Self {
            synonyms,
            small: small.flat_map(|word| stems(word)).collect(),
        }
    }

    /// The terms of a text: stems with the first of their synonyms in their place, without small words.
    fn terms(&self, stems: Vec<String>, has_phrases: bool) -> BTreeSet<String> {
        let mut bag: BTreeSet<String> = stems.into_iter().collect();
        for row in &self.synonyms {
            for words in &row.others {
                let is_known = has_phrases || words.len() == 1;
                if is_known && words.iter().all(|word| bag.contains(word)) {
                    bag.retain(|word| !words.contains(word));
                    bag.extend(row.first.iter().cloned());
                }
            }
        }
        bag.retain(|word| !self.small.contains(word));
        bag
    }
}

/// The terms of an explanation.
struct Row {
    explanation: &'static Explanation,
    /// Those of its title, its names and its questions.
    phrases: Vec<BTreeSet<String>>,
    /// Those of its title and its names.
    names: BTreeSet<String>,
    /// All of them, its text's included.
    all: BTreeSet<String>,
}

struct Index {
    language: Language,
    rows: Vec<Row>,
    /// Weight of each term: the rarer, the more.
    weights: BTreeMap<String, f64>,
    /// Words of titles, names, questions and synonyms, to which slips are corrected.
    spellings: BTreeSet<String>,
    stems: BTreeSet<String>,
}

impl Index {
    fn new() -> Self {
        let language = Language::new();
        let rows: Vec<Row> = explanations()
            .iter()
            .map(|explanation| Row::new(explanation, &language))
            .collect();
        let mut spellings: BTreeSet<String> = explanations()
            .iter()
            .flat_map(phrases)
            .flat_map(|phrase| words(phrase))
            .collect();
        for table in ["small", "synonyms"] {
            let rows: Vec<Words> = rows_of(table);
            let listed = rows.iter().flat_map(|row| &row.words);
            spellings.extend(listed.flat_map(|text| words(text)));
        }
        Self {
            weights: weights(&rows),
            stems: spellings.iter().map(|word| stem(word)).collect(),
            spellings,
            language,
            rows,
        }
    }

    fn terms(&self, question: &str) -> BTreeSet<String> {
        let words = words(question).into_iter();
        let stems = words.map(|word| stem(&self.corrected(word)));
        self.language.terms(stems.collect(), true)
    }

    fn search(&self, question: &str) -> Vec<Answer> {
        let terms = self.terms(question);
        let asked = self.weight(terms.iter());
        if asked < LEAST_WEIGHT {
            return Vec::new();
        }
        let unknown = terms
            .iter()
            .filter(|term| !self.weights.contains_key(*term));
        let asked = asked + UNKNOWN * rarity(self.rows.len(), 1) * unknown.count() as f64;
        let scored = |row: &Row| {
            let held = self.held(&terms, &row.all);
            let share = held / asked;
            (share >= LEAST_SHARE).then(|| {
                let fit = self.best_phrase(row, &terms);
                let answer = Answer {
                    explanation: row.explanation,
                    share,
                    fit: fit / asked,
                };
                let score = held + TITLE_WEIGHT * fit;
                (score, row.times_asked(&terms), answer)
            })
        };
        let mut found: Vec<(f64, usize, Answer)> = self.rows.iter().filter_map(scored).collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let answers = found.into_iter().map(|(_, _, answer)| answer);
        answers.take(MOST_FOUND).collect()
    }

    /// Weight of the terms in the title, name or question that fits best; one with other words fits less.
    fn best_phrase(&self, row: &Row, terms: &BTreeSet<String>) -> f64 {
        let fits = row.phrases.iter().map(|phrase| {
            let held = self.held(terms, phrase);
            let all = self.weight(phrase.iter());
            held * (ALWAYS + (1.0 - ALWAYS) * held / all.max(f64::MIN_POSITIVE))
        });
        fits.fold(0.0, f64::max)
    }

    fn asked(&self, question: &str) -> Option<&'static Explanation> {
        let terms = self.terms(question);
        let is_it = |row: &&Row| !terms.is_empty() && row.times_asked(&terms) > 0;
        let mut found = self.rows.iter().filter(is_it);
        let only = found.next().filter(|_| found.next().is_none());
        only.map(|row| row.explanation)
    }

    /// Weight of the terms that are among others.
    fn held(&self, terms: &BTreeSet<String>, others: &BTreeSet<String>) -> f64 {
        self.weight(terms.iter().filter(|term| others.contains(*term)))
    }

    fn weight<'a>(&self, terms: impl Iterator<Item = &'a String>) -> f64 {
        terms.filter_map(|term| self.weights.get(term)).sum()
    }

    /// The word, or the known word that differs from it by a slip or two.
    fn corrected(&self, word: String) -> String {
        let is_plain = word.chars().all(|letter| letter.is_ascii_alphabetic());
        let stem = stem(&word);
        if !is_plain || self.stems.contains(&stem) || self.weights.contains_key(&stem) {
            return word;
        }
        let known = self.spellings.iter().filter_map(|known| {
            let letters = known.len().max(word.len());
            let most = LEAST_LETTERS
                .iter()
                .filter(|least| letters >= **least)
                .count();
            // The first letter is seldom wrong.
            let is_like =
                known.len().abs_diff(word.len()) <= most && known.get(..1) == word.get(..1);
            let slips = is_like.then(|| strsim::osa_distance(known, &word));
            slips
                .filter(|slips| *slips <= most)
                .map(|slips| (slips, known))
        });
        known.min().map_or(word, |(_, known)| known.clone())
    }
}

impl Row {
    fn new(explanation: &'static Explanation, language: &Language) -> Self {
        let phrases: Vec<BTreeSet<String>> = phrases(explanation)
            .map(|phrase| language.terms(stems(phrase), true))
            .filter(|terms| !terms.is_empty())
            .collect();
        let names = names(explanation).flat_map(|name| language.terms(stems(name), true));
        // A phrase may stand in a long text by chance.
        let mut all = language.terms(stems(&explanation.text), false);
        all.extend(phrases.iter().flatten().cloned());
        Self {
            explanation,
            phrases,
            names: names.collect(),
            all,
        }
    }

    /// Number of its titles, names and questions of exactly these terms.
    fn times_asked(&self, terms: &BTreeSet<String>) -> usize {
        self.phrases
            .iter()
            .filter(|phrase| *phrase == terms)
            .count()
    }
}

/// Title and names of an explanation.
fn names(explanation: &Explanation) -> impl Iterator<Item = &String> {
    [&explanation.id, &explanation.title]
        .into_iter()
        .chain(&explanation.aliases)
}

/// Title, names and questions of an explanation.
fn phrases(explanation: &Explanation) -> impl Iterator<Item = &String> {
    names(explanation).chain(&explanation.questions)
}

/// Weight of a term that some of the explanations have.
fn rarity(rows_count: usize, count: u32) -> f64 {
    ((rows_count + 1) as f64 / f64::from(count)).ln()
}

/// Weight of each term: its rarity, and less for terms of questions or texts only.
fn weights(rows: &[Row]) -> BTreeMap<String, f64> {
    let mut counts = BTreeMap::<&String, u32>::new();
    for term in rows.iter().flat_map(|row| &row.all) {
        *counts.entry(term).or_default() += 1;
    }
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| &row.names).collect();
    let phrases = rows.iter().flat_map(|row| &row.phrases);
    let topics: BTreeSet<&String> = phrases.flatten().collect();
    let weight = |(term, count): (&String, u32)| {
        let share = match (names.contains(term), topics.contains(term)) {
            (true, _) => 1.0,
            (_, true) => OF_QUESTIONS,
            _ => INCIDENTAL,
        };
        (term.clone(), share * rarity(rows.len(), count))
    };
    counts.into_iter().map(weight).collect()
}

fn stems(text: &str) -> Vec<String> {
    words(text).iter().map(|word| stem(word)).collect()
}

/// Words of a text in lower case. `Pi 4`, `rpi4` and `Pi 4B` are the word `pi4`, `class 10` is `class10`, and `45 MB/s` has the
/// word of its unit; other numbers are left out, with a unit the unit stays.
fn words(text: &str) -> Vec<String> {
    let mut text = text.to_lowercase();
    for (sign, word) in SIGNS {
        text = text.replace(sign, word);
    }
    let parts = text.split(|c: char| !c.is_alphanumeric());
    let mut words: Vec<String> = Vec::new();
    for part in parts.filter(|part| !part.is_empty()) {
        let part = match part {
            "rpi" | "raspi" => "pi",
            _ => part
                .strip_prefix('r')
                .filter(|rest| is_board(rest))
                .unwrap_or(part),
        };
        if let Some(joined) = words.last().and_then(|last| joined(last, part)) {
            words.pop();
            words.push(joined);
            continue;
        }
        let digits = part.chars().take_while(char::is_ascii_digit).count();
        match (digits, part.len() - digits) {
            (0, _) if is_board(part) => words.push(part.chars().take(3).collect()),
            (0, _) => words.push(part.to_owned()),
            (_, 0) => {}
            (_, 2) => words.push(part[digits..].to_owned()),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// The word that two parts of a text are together.
fn joined(last: &str, part: &str) -> Option<String> {
    let digits = part.bytes().take_while(u8::is_ascii_digit).count();
    match (last, part) {
        ("pi", _) if digits == 1 => Some(format!("pi{}", &part[..1])),
        ("class" | "grade", _) if digits > 0 && digits == part.len() => {
            Some(format!("{last}{part}"))
        }
        ("kb" | "mb" | "gb" | "kib" | "mib" | "gib", "s" | "sec") => Some(format!("{last}ps")),
        ("read", "only") => Some("readonly".to_owned()),
        _ => None,
    }
}

/// True for `pi4`, `pi3b` and the like.
fn is_board(word: &str) -> bool {
    let rest = word.strip_prefix("pi").unwrap_or_default();
    rest.starts_with(|c: char| c.is_ascii_digit()) && rest.len() <= 2
}

/// The word without the endings of plural, `-ed`, `-ing` and `-e`: enough to compare words, no word of its own.
fn stem(word: &str) -> String {
    if word.len() < 4 || !word.is_ascii() || word.contains(|c: char| c.is_ascii_digit()) {
        return word.to_owned();
    }
    let mut stem = singular(word);
    for ending in ["ing", "ed"] {
        let Some(rest) = stem.strip_suffix(ending) else {
            continue;
        };
        if rest.len() >= 3 && rest.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
            stem = without_double(rest).to_owned();
            break;
        }
    }
    match stem.strip_suffix('e') {
        Some(rest) if rest.len() >= 3 => rest.to_owned(),
        _ => stem,
    }
}

fn singular(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() >= 2) {
        return format!("{rest}y");
    }
    let has_es = ["ses", "xes", "ches", "shes"]
        .iter()
        .any(|end| word.ends_with(end));
    let is_plural =
        word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    let kept = match (has_es, is_plural) {
        (true, _) => word.len() - 2,
        (_, true) => word.len() - 1,
        _ => word.len(),
    };
    word[..kept].to_owned()
}

/// `stopp` as `stop`.
fn without_double(rest: &str) -> &str {
    let mut letters = rest.bytes().rev();
    let (last, before) = (letters.next(), letters.next());
    let is_double = rest.len() > 3 && last == before && last != Some(b's');
    if is_double {
        &rest[..rest.len() - 1]
    } else {
        rest
    }
}

#[cfg(test)]
mod tests;
