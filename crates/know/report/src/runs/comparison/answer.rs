//! The answer to a comparison: who is faster, by how much, and what that is about.

use std::collections::BTreeSet;

use cardmark_catalog::publications;
use cardmark_core::{ContextRow, Quantity};
use cardmark_judge::{
    Compared, KeyRates, Queues, RateContrast, RateVerdict, Role, at_once, key_rates, queue_depth,
};
use cardmark_stats::{Basis, Claim, Conclusion, Difference, SAME_RATIO};

use crate::answer::{AnswerBlock, KeyFigure};
use crate::text::layout::cut;
use crate::text::names::{capitalised, listed, role_name};
use crate::text::style::clean;
use crate::text::times::{times, times_range};
use crate::text::{count_of, figure, in_unit, percent, unit};

/// Two sides, compared in one place or several.
#[derive(Clone, Debug)]
pub struct Versus<'a> {
    /// Names of base and other side.
    pub names: [&'a str; 2],
    /// The places, those as installed first.
    pub places: Vec<Place<'a>>,
    /// The command that makes one more run of a side that has one only.
    pub repeat: Option<&'a str>,
    /// Names of the context that were allowed to differ.
    pub across: &'a [String],
    /// Clause at the end of the sentence; may be empty.
    pub aside: &'a str,
    /// Sentence on the endurance of both.
    pub endurance: Option<&'a str>,
}

/// A place where both sides were measured.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// Board and circumstances, as far as known.
    pub name: &'a str,
    /// The results.
    pub results: &'a Compared,
    /// Use of the command queues.
    pub queues: Queues,
}

/// Duration of the long series of random writes.
const LONG_SERIES: &str = "over 15 s";
/// Circumstances that hardly any two runs share.
const OF_EACH_RUN: [&str; 2] = ["temperature", "fill"];
/// Runs of each card that a claim about the cards needs.
const LEAST_RUNS: usize = 3;
/// Columns of a line on a usual terminal.
const LONG_LINE: usize = 80;
/// Columns of a name in a table.
const SHORT_NAME: usize = 16;
/// Rates that leave out the stalls.
pub(super) const BETWEEN_STALLS: &str = "between stalls";
/// Verdict on rates whose difference is smaller than the limit.
const SAME: &str = "equally fast within 10 %";

/// Returns the answer to a comparison. Swapping the sides does not change it: the faster side comes first.
#[must_use]
pub fn answer_of_comparison(versus: &Versus<'_>) -> AnswerBlock {
    let is_leading = |place: &&Place<'_>| !matches!(place.queues, Queues::Set(_));
    let all: Vec<&Place<'_>> = versus.places.iter().collect();
    let leading: Vec<&Place<'_>> = versus.places.iter().filter(is_leading).collect();
    let (leading, others) = match leading.is_empty() {
        true => (all, Vec::new()),
        false => {
            let others = versus.places.iter().filter(|place| !is_leading(place));
            (leading, others.collect())
        }
    };
    let results: Vec<&Compared> = leading.iter().map(|place| place.results).collect();
    let rates = key_rates(&results);
    let view = View::of(versus, &rates);
    let mut more: Vec<String> = queue_words(&view, &leading).into_iter().collect();
    more.extend(under_settings(versus, &others, &rates));
    let has_open = rates.leading().is_none() && has_open(&rates);
    AnswerBlock {
        sentence: [view.sentence(&rates, &results), versus.aside.to_owned()]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join("; "),
        more,
        sides: view.short.to_vec(),
        figures: view.figures(&rates),
        open: open(versus, &view, &leading, &rates),
        next: versus.repeat.filter(|_| has_open).map(str::to_owned),
        ..AnswerBlock::default()
    }
}

fn has_open(rates: &KeyRates<'_>) -> bool {
    let mut main = rates.main.iter();
    main.any(|one| one.verdict == RateVerdict::Undecided)
}

/// The sentence on the places with other settings of the queue, by setting; none where they change no ratio of the sentence by
/// 10 %.
fn under_settings(
    versus: &Versus<'_>,
    others: &[&Place<'_>],
    installed: &KeyRates<'_>,
) -> Vec<String> {
    let mut settings: Vec<Queues> = Vec::new();
    for place in others {
        if !settings.contains(&place.queues) {
            settings.push(place.queues);
        }
    }
    let sentence = |queues: &Queues| {
        let places = others.iter().filter(|place| place.queues == *queues);
        let results: Vec<&Compared> = places.map(|place| place.results).collect();
        let rates = key_rates(&results);
        let view = View::of(versus, &rates);
        let Queues::Set(states) = queues else {
            return None;
        };
        let states = queues_of(&view, *states);
        rates.leading()?;
        if are_alike(installed, &rates) {
            return None;
        }
        let sentence = view.plain_sentence(&rates, &results);
        Some(format!("With the command {states}: {sentence}"))
    };
    settings.iter().filter_map(sentence).collect()
}

/// True if the sentences on both name the same rates with about the same ratios.
fn are_alike(one: &KeyRates<'_>, other: &KeyRates<'_>) -> bool {
    let (one, other) = (named_rates(one), named_rates(other));
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            let change = (one.ratio / other.ratio).ln().abs();
            (one.role, one.verdict) == (other.role, other.verdict) && change < SAME_RATIO.ln_1p()
        })
}

/// The leading rate, and those in which the other side is faster.
fn named_rates<'a>(rates: &'a KeyRates<'a>) -> Vec<&'a RateContrast<'a>> {
    let leading = rates.leading();
    let is_opposite = |one: &&RateContrast<'_>| {
        let is_other = leading.is_some_and(|leading| leading.verdict != one.verdict);
        one.verdict.is_decided() && is_other
    };
    let others = rates.main.iter().filter(is_opposite);
    leading.into_iter().chain(others).collect()
}

/// `Command queue on for A, off for B, as installed`, on a board where that matters; `None` if the names contain it.
fn queue_words(view: &View, places: &[&Place<'_>]) -> Option<String> {
    if view.names.iter().any(|name| name.contains("command queue")) {
        return None;
    }
    let states = places.iter().find_map(|place| match place.queues {
        Queues::AsInstalled(states) => Some((states, "as installed")),
        Queues::Set(states) => Some((states, "by a setting of the board")),
        Queues::Any => None,
    });
    let (states, how) = states?;
    let words = format!("Command {}, {how}", queues_of(view, states));
    let [first, second] = view.turned(states).map(on_or_off);
    Some(match words.chars().count() > LONG_LINE {
        true => format!("Command queue {first} for the first, {second} for the other, {how}"),
        false => words,
    })
}

/// `queue on for A, off for B`.
fn queues_of(view: &View, states: [bool; 2]) -> String {
    let [first, second] = view.turned(states).map(on_or_off);
    match first == second {
        true => format!("queue {first}"),
        false => format!(
            "queue {first} for {}, {second} for {}",
            view.names[0], view.names[1]
        ),
    }
}

fn on_or_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

/// The sides in the order of the answer.
struct View {
    names: [String; 2],
    /// The names for a table.
    short: [String; 2],
    /// True if the base comes second.
    is_turned: bool,
}

impl View {
    /// The faster side first; without one by name.
    fn of(versus: &Versus<'_>, rates: &KeyRates<'_>) -> Self {
        let [base, other] = versus.names.map(clean);
        let is_turned = match rates.leading().map(|one| one.verdict) {
            Some(verdict) => verdict == RateVerdict::OtherFaster,
            None => other < base,
        };
        let names = match is_turned {
            true => [other, base],
            false => [base, other],
        };
        let short = short_names(&names);
        Self {
            names,
            short,
            is_turned,
        }
    }

    fn turned<T>(&self, [base, other]: [T; 2]) -> [T; 2] {
        match self.is_turned {
            true => [other, base],
            false => [base, other],
        }
    }

    /// Index of the faster side.
    fn winner(&self, of: &RateContrast<'_>) -> Option<usize> {
        match of.verdict {
            RateVerdict::OtherFaster => Some(usize::from(!self.is_turned)),
            RateVerdict::BaseFaster => Some(usize::from(self.is_turned)),
            _ => None,
        }
    }

    /// The sentence with the number of operations in flight, if that is more than one.
    fn sentence(&self, rates: &KeyRates<'_>, results: &[&Compared]) -> String {
        let sentence = self.plain_sentence(rates, results);
        match rates.leading().and_then(|one| at_once(one.metric())) {
            Some(depth) => format!("With {depth} operations at once, {sentence}"),
            None => self.begun(sentence),
        }
    }

    /// Capitalises a sentence that begins with words of a name, but not the name `old` of a sample.
    fn begun(&self, sentence: String) -> String {
        let name = &self.names[0];
        let first_word = name.split_once(' ').map(|(word, _)| word);
        let is_word = |word: &str| word.bytes().all(|letter| letter.is_ascii_lowercase());
        match first_word.is_some_and(is_word) && sentence.starts_with(name.as_str()) {
            true => capitalised(&sentence),
            false => sentence,
        }
    }

    fn plain_sentence(&self, rates: &KeyRates<'_>, results: &[&Compared]) -> String {
        let Some(leading) = rates.leading() else {
            return self.without_leader(rates, results);
        };
        let [first, second] = &self.names;
        let mut sentence = self.bursts(rates).unwrap_or_else(|| {
            let clause = clause(leading, &format!(" than {second}"));
            format!("{first} {clause}")
        });
        let others = rates.main.iter().filter(|one| self.winner(one) == Some(1));
        sentence += &match others.collect::<Vec<_>>().as_slice() {
            [] => String::new(),
            [one] => format!("; {second} {}", clause(one, "")),
            several => {
                let parts = several.iter().map(|one| without_range(one, ""));
                format!("; {second} {}", listed(&parts.collect::<Vec<_>>(), "and"))
            }
        };
        sentence
    }

    /// Random writes in bursts and in a long series, if both are worth a word.
    fn bursts(&self, rates: &KeyRates<'_>) -> Option<String> {
        let long = rates.deviating_long_writes()?;
        let short = rates.main.first()?;
        let leading = rates.leading()?.metric();
        if ![short.metric(), long.metric()].contains(&leading) {
            return None;
        }
        let [first, second] = &self.names;
        let (in_bursts, in_series) = (range_words(short), range_words(long));
        if self.winner(short).is_none() {
            let much = faster(long);
            let begin = format!("{first} writes randomly {much} than {second}");
            let short = match short.verdict {
                RateVerdict::Same => format!("in bursts they are {SAME}"),
                _ => "no difference is shown in bursts".to_owned(),
            };
            return Some(format!("{begin} {LONG_SERIES}{in_series}; {short}"));
        }
        let begin = without_range(short, &format!(" than {second}"));
        let begin = format!("{first} {begin} in bursts{in_bursts}");
        let much = faster(long);
        Some(match self.winner(long) {
            Some(0) => format!("{begin}, {much} {LONG_SERIES}{in_series}"),
            Some(_) => format!("{begin}, but {LONG_SERIES} {second} is {much}{in_series}"),
            None if long.verdict == RateVerdict::Same => {
                format!("{begin}, but {LONG_SERIES} they are {SAME}")
            }
            None => format!("{begin}; {LONG_SERIES} no difference is shown"),
        })
    }

    fn without_leader(&self, rates: &KeyRates<'_>, results: &[&Compared]) -> String {
        let [first, second] = &self.names;
        let of = |verdict: RateVerdict| -> Vec<String> {
            let found = rates.main.iter().filter(|one| one.verdict == verdict);
            found.map(rate_name).collect()
        };
        let (same, depends) = (of(RateVerdict::Same), of(RateVerdict::Depends));
        if rates.main.is_empty() {
            return format!("No rate of {first} and {second} can be compared");
        }
        if same.len() == rates.main.len() {
            return format!(
                "{first} and {second} are {SAME} in {}",
                listed(&same, "and")
            );
        }
        let mut parts = Vec::new();
        if !depends.is_empty() {
            parts.push(format!("{} depend on the place", listed(&depends, "and")));
        }
        if !same.is_empty() {
            parts.push(format!("{SAME} in {}", listed(&same, "and")));
        }
        parts.extend(runs_to_decide(rates, results));
        let begin = match depends.is_empty() {
            true => format!("No difference shown between {first} and {second}"),
            false => format!("Neither {first} nor {second} is faster everywhere"),
        };
        match parts.is_empty() {
            true => begin,
            false => format!("{begin}: {}", parts.join("; ")),
        }
    }

    fn figures(&self, rates: &KeyRates<'_>) -> Vec<KeyFigure> {
        let mut shown: Vec<(String, &RateContrast<'_>)> = Vec::new();
        let long = rates.deviating_long_writes();
        for one in &rates.main {
            shown.push((rate_name(one), one));
            if let Some(long) = long.filter(|_| one.role == rates.main[0].role) {
                let name = format!("{}, {LONG_SERIES}", rate_name(one));
                shown.push((name, long));
            }
        }
        let synced = rates.synced_writes.as_ref();
        let synced = synced.filter(|one| one.verdict.is_decided());
        shown.extend(synced.map(|one| (rate_name(one), one)));
        let mut winners = shown.iter().filter_map(|(_, one)| self.winner(one));
        let is_mixed = winners.any(|winner| winner == 1);
        let figures = shown.into_iter().map(|(name, one)| KeyFigure {
            id: one.metric().to_owned(),
            name,
            cells: self.turned(cells(one)).to_vec(),
            word: self.word(one, is_mixed),
        });
        figures.chain(self.stalls(rates)).collect()
    }

    fn word(&self, one: &RateContrast<'_>, is_mixed: bool) -> String {
        if let Some(winner) = self.winner(one) {
            let range = of_stalls(one) + &range_words(one);
            return match is_mixed {
                true => {
                    let winner = cut(&self.short[winner], SHORT_NAME);
                    format!("{winner} by {}{range}", times(ratio(one)))
                }
                false => format!("{}{range}", faster(one)),
            };
        }
        match one.verdict {
            RateVerdict::Same if one.is_between_stalls() => {
                format!("same within 10 % {BETWEEN_STALLS}")
            }
            RateVerdict::Same => SAME.to_owned(),
            RateVerdict::Depends => "depends on the place".to_owned(),
            _ if one.is_by_single_runs() => "too few runs to decide".to_owned(),
            _ => "no difference shown".to_owned(),
        }
    }

    /// The workload in which the stalls differ most.
    fn stalls(&self, rates: &KeyRates<'_>) -> Option<KeyFigure> {
        let difference = |of: &[f64; 2]| (of[1] - of[0]).abs();
        let per_minute = rates.stalls.iter().map(|one| {
            let rates = [one.base_per_minute, one.other_per_minute];
            (one, rates)
        });
        let most =
            per_minute.max_by(|one, other| difference(&one.1).total_cmp(&difference(&other.1)));
        let (one, per_minute) = most?;
        let is_more_first = (one.outcome == Conclusion::Higher) == self.is_turned;
        let more = cut(&self.short[usize::from(!is_more_first)], SHORT_NAME);
        let word = match one.outcome {
            Conclusion::Higher | Conclusion::Lower => format!("more on {more}"),
            _ => "no difference shown".to_owned(),
        };
        Some(KeyFigure {
            id: one.metric.clone(),
            name: "stalls over 100 ms".to_owned(),
            cells: self
                .turned(per_minute.map(|rate| format!("{} a minute", short(rate))))
                .to_vec(),
            word,
        })
    }
}

/// The names without the words that both begin with, or a capacity that both end with, if they are long.
fn short_names(names: &[String; 2]) -> [String; 2] {
    let is_long = names.iter().any(|name| name.chars().count() > SHORT_NAME);
    let [one, other] = names
        .each_ref()
        .map(|name| name.split(' ').collect::<Vec<_>>());
    if !is_long || one == other {
        return names.clone();
    }
    let most = one.len().min(other.len()) - 1;
    let alike = one
        .iter()
        .zip(&other)
        .take_while(|(one, other)| one == other);
    let begin = alike.count().min(most);
    let is_number = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let has_capacity = begin == 0
        && most >= 2
        && one.ends_with(&other[other.len() - 2..])
        && other.iter().nth_back(1).is_some_and(is_number);
    let end = if has_capacity { 2 } else { 0 };
    [one, other].map(|words| words[begin..words.len() - end].join(" "))
}

/// A number below 10 with two digits, else whole.
fn short(value: f64) -> String {
    match value {
        10.0..1000.0 => format!("{value:.0}"),
        0.095..10.0 => format!("{value:.1}"),
        _ => figure(value),
    }
}

/// The values of base and other side with their stalls; of several places the least and the most.
pub(super) fn cells(of: &RateContrast<'_>) -> [String; 2] {
    let side = |index: usize, value: fn(&Difference) -> f64| {
        let values = of.differences.iter().zip(&of.with_stalls);
        let values = values.map(|(one, ratios)| value(one) * ratios[index]);
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(0.0, f64::max);
        let first = of.differences[0];
        let number = |value: f64| figure(in_unit(first.quantity, value));
        let range = match number(least) == number(most) {
            true => String::new(),
            false => format!("{}–", number(least)),
        };
        range + &rate_in_words(first, most)
    };
    [
        side(0, |one| one.base_value),
        side(1, |one| one.other_value),
    ]
}

/// A rate of a difference with its unit: `993/s`, `32.2 MB/s`.
fn rate_in_words(of: &Difference, rate: f64) -> String {
    let number = figure(in_unit(of.quantity, rate));
    match (of.quantity, unit(&of.metric, of.quantity)) {
        (Quantity::OperationRate, "IOPS") => format!("{number}/s"),
        (_, unit) => format!("{number} {unit}"),
    }
}

/// `18 times faster`.
fn faster(of: &RateContrast<'_>) -> String {
    format!("{} faster", times(ratio(of)))
}

/// The faster side divided by the other one.
fn ratio(of: &RateContrast<'_>) -> f64 {
    of.ratio.max(of.ratio.recip())
}

/// ` (17–19)`; empty without a range.
fn range_words(of: &RateContrast<'_>) -> String {
    let Some([low, high]) = of.range else {
        return String::new();
    };
    let (ratio, range) = match of.ratio >= 1.0 {
        true => (of.ratio, [low, high]),
        false => (of.ratio.recip(), [high.recip(), low.recip()]),
    };
    format!(" ({})", times_range(ratio, range))
}

/// `writes randomly 18 times faster than B (17–19)`.
fn clause(of: &RateContrast<'_>, than: &str) -> String {
    without_range(of, than) + &range_words(of)
}

fn without_range(of: &RateContrast<'_>, than: &str) -> String {
    let much = faster(of);
    match (of.role.and_then(|role| verb(role.name)), of.role) {
        (Some(verb), _) => format!("{verb} {much}{than}{}", of_stalls(of)),
        (None, Some(_)) => format!("does {} {much}{than}{}", rate_name(of), of_stalls(of)),
        (None, None) => format!("is {much}{than} in {}", rate_name(of)),
    }
}

/// The verb for a rate that people ask for.
fn verb(role: &str) -> Option<&'static str> {
    Some(match role {
        "random writes" => "writes randomly",
        "random reads" => "reads randomly",
        "sequential writes" => "writes sequentially",
        "sequential reads" => "reads sequentially",
        _ => return None,
    })
}

fn rate_name(of: &RateContrast<'_>) -> String {
    role_name(of.role, of.metric())
}

/// ` between stalls` if that makes a difference.
fn of_stalls(of: &RateContrast<'_>) -> String {
    match of.is_between_stalls() {
        true => format!(" {BETWEEN_STALLS}"),
        false => String::new(),
    }
}

/// `about 4 more runs of each would show 15 % in random writes`.
fn runs_to_decide(rates: &KeyRates<'_>, results: &[&Compared]) -> Option<String> {
    let [only] = results else {
        return None;
    };
    let mut open = rates.main.iter();
    let of = open.find(|one| one.verdict == RateVerdict::Undecided)?;
    let difference = of.differences.first()?;
    let runs = usize::try_from(difference.runs_needed?).ok()?;
    let have = only.counts.iter().map(|counts| counts.runs).min()?;
    let seen = difference.ratio.max(difference.ratio.recip()) - 1.0;
    let shown = match difference.basis {
        Basis::PublishedRepeats => 0.15,
        _ => seen.max(SAME_RATIO),
    };
    let more = count_of(runs.saturating_sub(have).max(1), "more run", "more runs");
    let name = rate_name(of);
    Some(format!(
        "about {more} of each would show {} in {name}",
        percent(shown)
    ))
}

/// The scope of the answer, and other differences of the sides.
fn open(
    versus: &Versus<'_>,
    view: &View,
    places: &[&Place<'_>],
    rates: &KeyRates<'_>,
) -> Vec<String> {
    let mut open = Vec::new();
    let count = rates.main.iter().map(|one| one.differences.len()).max();
    match count {
        Some(count @ 2..) => open.push(match measured(places) {
            Some(where_and_when) => format!(
                "In {count} places ({where_and_when}); the ranges are the least and the most"
            ),
            None => format!(
                "In {count} places where both were measured: the ranges are the least and the most"
            ),
        }),
        _ => open.extend(place_of(rates, places).map(|place| claim(view, place))),
    }
    let differing = differing(view, places);
    if !differing.is_empty() {
        let across = match versus.across.is_empty() {
            true => "",
            false => ", which may be the reason",
        };
        open.push(format!(
            "The sides also differ in {}{across}",
            listed(&differing, "and")
        ));
    }
    open.extend(versus.endurance.map(str::to_owned));
    let is_unstated = |one: &&RateContrast<'_>| {
        one.role.is_some_and(Role::is_random) && queue_depth(one.metric()).is_none()
    };
    if rates.main.iter().any(|one| is_unstated(&one)) {
        open.push("Random rates: how many operations were in flight is not stated".to_owned());
    }
    let mut left_out: Vec<String> = places
        .iter()
        .flat_map(|place| &place.results.left_out)
        .map(|name| clean(name))
        .collect();
    left_out.dedup();
    if !left_out.is_empty() {
        open.push(format!(
            "Left out, not on both sides: {}",
            listed(&left_out, "and")
        ));
    }
    open
}

/// The place of the most important rate.
fn place_of<'a>(rates: &KeyRates<'_>, places: &[&'a Place<'a>]) -> Option<&'a Place<'a>> {
    let main = rates.leading().or(rates.main.first());
    let first = main.and_then(|one| one.differences.first());
    let is_there = |place: &&&Place<'_>| {
        let mut all = place.results.differences.iter();
        first.is_some_and(|first| all.any(|one| std::ptr::eq(one, *first)))
    };
    places.iter().find(is_there).or(places.first()).copied()
}

/// Names of the circumstances that are known to differ, without those that name the sides.
fn differing(view: &View, places: &[&Place<'_>]) -> Vec<String> {
    let rows = places.iter().flat_map(|place| &place.results.context);
    let mut names: Vec<String> = Vec::new();
    let is_installed = |place: &&&Place<'_>| matches!(place.queues, Queues::AsInstalled(_));
    let is_stated =
        |name: &str| name == "command_queue" && places.iter().any(|one| is_installed(&one));
    let names_sides = |row: &ContextRow| {
        let mut values = row.sides.iter().flatten();
        let in_words = |value: &str| format!("{} {value}", row.name.replace('_', " "));
        values.all(|value| view.names.contains(value) || view.names.contains(&in_words(value)))
    };
    let is_worth = |row: &&ContextRow| {
        let is_rare = !OF_EACH_RUN.contains(&row.name.as_str());
        row.differs() && is_rare && !is_stated(&row.name) && !names_sides(row)
    };
    for row in rows.filter(is_worth) {
        let name = clean(&row.name.replace('_', " "));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Scope of the answer, from the numbers of runs and cards.
fn claim(view: &View, place: &Place<'_>) -> String {
    let results = place.results;
    let about = match measured(&[place]) {
        Some(where_and_when) => format!("On {where_and_when}; these"),
        None => "About these".to_owned(),
    };
    let [first, second] = view.turned(results.counts);
    let runs = match first.runs == second.runs {
        true => format!("{} of each", count_of(first.runs, "run", "runs")),
        false => format!("{} and {} runs", first.runs, second.runs),
    };
    match results.claim {
        Claim::Runs if first.runs.min(second.runs) >= LEAST_RUNS => {
            format!("{about} runs ({runs}, fewer with some of the metrics)")
        }
        Claim::Runs => {
            format!("{about} runs ({runs}): a claim about the cards needs three of each")
        }
        Claim::Cards => format!("{about} two cards ({runs}), not all of their products"),
        Claim::Products => format!(
            "{about} products, as far as {} and {} cards stand for them",
            first.cards, second.cards
        ),
        Claim::Matched => format!(
            "About what changes from {} to {}: each product is compared with itself ({runs})",
            view.names[1], view.names[0]
        ),
    }
}

/// Boards and years of published figures, such as `Pi 3 and Pi 4, 2018–2020`; `None` unless all places are of publications.
fn measured(places: &[&Place<'_>]) -> Option<String> {
    let (mut boards, mut years) = (BTreeSet::new(), BTreeSet::new());
    for place in places {
        let (board, _) = place.name.split_once(", ")?;
        let (_, id) = place.name.rsplit_once(", ")?;
        let publication = publications().iter().find(|one| one.id == id)?;
        years.insert(publication.published.as_deref()?.get(..4)?.to_owned());
        let board = board.strip_prefix("Raspberry ").unwrap_or(board);
        boards.insert(clean(&board.replace(" Model B", "")));
    }
    let boards: Vec<String> = boards.into_iter().collect();
    let years = match (years.first()?, years.last()?) {
        (first, last) if first == last => first.clone(),
        (first, last) => format!("{first}–{last}"),
    };
    Some(format!("{}, {years}", listed(&boards, "and")))
}

/// One line for each place: its name and its own answer.
#[must_use]
pub fn places_of_comparison(versus: &Versus<'_>) -> Vec<String> {
    let line = |place: &Place<'_>| {
        let results = [place.results];
        let rates = key_rates(&results);
        let sentence = View::of(versus, &rates).sentence(&rates, &results);
        format!("{}: {sentence}", capitalised(&clean(place.name)))
    };
    versus.places.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_table_keep_what_distinguishes_them() {
        for (names, expected) in [
            (["good", "old"], ["good", "old"]),
            (["sample 1", "sample 2"], ["sample 1", "sample 2"]),
            (
                ["Samsung Evo Plus 32 GB", "Samsung Evo Plus 64 GB"],
                ["32 GB", "64 GB"],
            ),
            (
                ["Raspberry Pi 64 GB", "SanDisk Extreme 64 GB"],
                ["Raspberry Pi", "SanDisk Extreme"],
            ),
            (
                ["Samsung Evo+ 32 GB", "SanDisk Extreme 16 GB"],
                ["Samsung Evo+ 32 GB", "SanDisk Extreme 16 GB"],
            ),
            (
                ["SanDisk Extreme", "SanDisk Extreme Pro"],
                ["Extreme", "Extreme Pro"],
            ),
        ] {
            let found = short_names(&names.map(str::to_owned));
            assert_eq!(found, expected.map(str::to_owned));
        }
    }
}
