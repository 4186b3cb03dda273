//! Ranking of a figure among others of the same metric.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use cardmark_core::{OriginKind, Subject, told};
use serde::Serialize;

use crate::comparison::sides::KnownSpread;
use crate::comparison::ties::{KnownElsewhere, Place, Ranked, possible_places};

/// Figure of the metric in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Object and circumstances of the run.
    pub subject: Arc<Subject>,
    /// The figure.
    pub value: f64,
    /// Printed form, with its unit.
    pub printed: Option<String>,
    /// Tool, if the figure was measured by another method than the ranked metric.
    pub method: Option<&'static str>,
}

/// Differences between figures that are not differences between cards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankSpread {
    /// Published spread of the metric's class between runs of one card.
    pub known: Option<KnownSpread>,
    /// Differences between cards and boards in the class.
    pub elsewhere: Option<KnownElsewhere>,
    /// Standard deviation of the logarithm of the ratio between two methods on one card.
    pub between_methods: f64,
}

/// All runs of one product on one board in one setting and context.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankingRow {
    /// Product, or the name that the device reports.
    pub name: String,
    /// The computer, with the setting if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// The computer without the setting.
    #[serde(skip)]
    pub computer: Option<String>,
    /// Origin of the figures.
    pub origin: OriginKind,
    /// Their publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publication: Option<String>,
    /// Bus and command queue, if known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// Number of runs.
    pub runs_count: usize,
    /// Number of physical cards, as far as they can be distinguished.
    pub cards_count: usize,
    /// Geometric mean of the cards' means.
    pub value: f64,
    /// First and last possible place, from 1, for other cards of the products and, between rows of two boards, on other
    /// boards. `None` if no repeats of the metric were published.
    pub places: Option<[usize; 2]>,
    /// Smallest of the cards' means.
    pub least: f64,
    /// Largest of the cards' means.
    pub most: f64,
    /// Printed form of a single run, with its unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed: Option<String>,
    /// Tool, if it was measured by another method than the ranked metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'static str>,
    /// True if it contains the run that was asked for.
    pub is_asked: bool,
    /// Names of the context, `board` and `setting`, whose known values differ from those of the run that was
    /// asked for.
    pub differs: Vec<String>,
}

/// Properties that runs of one place have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    name: &'a str,
    board: Option<&'a str>,
    setting: Option<&'a str>,
    publication: Option<&'a str>,
    method: Option<&'static str>,
    context: SharedContext<'a>,
}

/// A context that is usually the identical object, compared by pointer first.
struct SharedContext<'a>(&'a BTreeMap<String, String>);

impl Ord for SharedContext<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        if std::ptr::eq(self.0, other.0) {
            return Ordering::Equal;
        }
        self.0.cmp(other.0)
    }
}

impl PartialOrd for SharedContext<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SharedContext<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SharedContext<'_> {}

/// Returns the places, the highest figure first. `asked` is the index of the run that was asked for.
pub fn rank(candidates: &[Candidate], asked: Option<usize>, spread: RankSpread) -> Vec<RankingRow> {
    let mut groups = BTreeMap::<Key<'_>, Vec<usize>>::new();
    let usable = candidates.iter().enumerate().filter(|(_, c)| c.value > 0.0);
    for (index, candidate) in usable {
        let key = key(candidate);
        groups.entry(key).or_default().push(index);
    }
    let asked_for = asked
        .and_then(|index| candidates.get(index))
        .map(|candidate| candidate.subject.as_ref());
    let mut places: Vec<(RankingRow, &Subject)> = groups
        .values()
        .filter_map(|indices| {
            let members: Vec<&Candidate> =
                indices.iter().map(|index| &candidates[*index]).collect();
            let is_asked = asked.is_some_and(|index| indices.binary_search(&index).is_ok());
            let row = place(&members, is_asked, asked_for)?;
            Some((row, members.first()?.subject.as_ref()))
        })
        .collect();
    places.sort_by(|(a, _), (b, _)| b.value.total_cmp(&a.value));
    if spread.known.is_some() {
        share_places(&mut places, spread);
    }
    places.into_iter().map(|(row, _)| row).collect()
}

fn share_places(places: &mut [(RankingRow, &Subject)], spread: RankSpread) {
    let ranked = |(row, subject): &(RankingRow, &Subject)| Ranked {
        value: row.value,
        runs_count: row.runs_count,
        cards_count: row.cards_count,
        card: subject
            .card
            .as_deref()
            .filter(|_| row.cards_count == 1)
            .map(Arc::from),
        place: Arc::new(Place::of(subject)),
        spread: spread.known,
        elsewhere: spread.elsewhere,
        method: row.method.unwrap_or_default(),
        between_methods: spread.between_methods,
    };
    let figures: Vec<Ranked> = places.iter().map(ranked).collect();
    for ((row, _), range) in places.iter_mut().zip(possible_places(&figures)) {
        row.places = Some([*range.start(), *range.end()]);
    }
}

fn key(candidate: &Candidate) -> Key<'_> {
    let subject = &candidate.subject;
    Key {
        name: subject.name(),
        board: subject.board.as_deref(),
        setting: subject.setting.as_deref(),
        publication: subject.publication.as_deref(),
        method: candidate.method,
        context: SharedContext(&subject.context),
    }
}

fn place(members: &[&Candidate], is_asked: bool, asked: Option<&Subject>) -> Option<RankingRow> {
    let candidate = members.first()?;
    let first = &candidate.subject;
    let mut by_card = BTreeMap::<Option<&str>, Vec<f64>>::new();
    for member in members {
        let values = by_card.entry(member.subject.card.as_deref()).or_default();
        values.push(member.value);
    }
    let means: Vec<f64> = by_card
        .values()
        .map(|values| geometric_mean(values))
        .collect();
    Some(RankingRow {
        name: first.name().to_owned(),
        board: board(first),
        computer: first.board.clone(),
        origin: first.origin,
        publication: first.publication.clone(),
        conditions: conditions(&first.context),
        runs_count: members.len(),
        cards_count: means.len(),
        value: geometric_mean(&means),
        places: None,
        least: means.iter().copied().fold(f64::INFINITY, f64::min),
        most: means.iter().copied().fold(0.0, f64::max),
        printed: candidate.printed.clone().filter(|_| members.len() == 1),
        method: candidate.method,
        is_asked,
        differs: asked.map(|asked| differs(first, asked)).unwrap_or_default(),
    })
}

/// Returns the displayed name of the computer: two settings of it are two rows.
fn board(subject: &Subject) -> Option<String> {
    let Some(setting) = &subject.setting else {
        return subject.board.clone();
    };
    let board = subject.board.as_deref().unwrap_or("unknown board");
    Some(format!("{board}, {setting}"))
}

/// Returns the values that distinguish places of one product on one board.
fn conditions(context: &BTreeMap<String, String>) -> Vec<String> {
    let names = ["bus", "command_queue"];
    names
        .iter()
        .filter_map(|name| told(context, name))
        .collect()
}

fn geometric_mean(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().map(|value| libm::log(*value)).sum();
    libm::exp(sum / values.len() as f64)
}

/// Returns the names of values that are known for both and differ. The origin of the figures is displayed
/// separately.
fn differs(subject: &Subject, asked: &Subject) -> Vec<String> {
    const UNKNOWN: &str = "unknown";
    let mut names: Vec<String> = subject
        .context
        .iter()
        .filter(|(name, value)| {
            let other = asked.context.get(*name);
            let is_known = *value != UNKNOWN && other.is_some_and(|other| other != UNKNOWN);
            *name != "origin" && is_known && other != Some(value)
        })
        .map(|(name, _)| name.clone())
        .collect();
    let boards = subject.board.as_ref().zip(asked.board.as_ref());
    if boards.is_some_and(|(one, other)| one != other) {
        names.push("board".to_owned());
    }
    // Names of settings have a meaning only for the user who chose them.
    let settings = subject.setting.as_ref().zip(asked.setting.as_ref());
    let is_same_source = subject.publication == asked.publication;
    if is_same_source && settings.is_some_and(|(one, other)| one != other) {
        names.push("setting".to_owned());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bus(mode: &str) -> Arc<BTreeMap<String, String>> {
        Arc::new(BTreeMap::from([("bus".to_owned(), mode.to_owned())]))
    }

    fn candidate(name: &str, card: &str, value: f64) -> Candidate {
        let subject = Subject {
            product: Some(name.to_owned()),
            model: None,
            board: Some("Raspberry Pi 4 Model B".to_owned()),
            setting: None,
            origin: OriginKind::Measured,
            publication: None,
            card: Some(card.to_owned()),
            context: bus("ddr50"),
        };
        Candidate {
            subject: Arc::new(subject),
            value,
            printed: Some(format!("{value} MB/s")),
            method: None,
        }
    }

    #[test]
    fn a_place_is_the_mean_of_its_cards_not_of_its_runs() {
        let all = [
            candidate("A", "1", 100.0),
            candidate("A", "1", 400.0),
            candidate("A", "2", 50.0),
            candidate("B", "3", 120.0),
        ];
        let places = rank(&all, Some(2), RankSpread::default());
        let names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
        assert_eq!(names, ["B", "A"]);
        let a = &places[1];
        assert_eq!((a.runs_count, a.cards_count), (3, 2));
        assert!((a.value - 100.0).abs() < 1e-9, "{a:?}");
        assert!((a.least - 50.0).abs() < 1e-9 && (a.most - 200.0).abs() < 1e-9);
        assert!(a.is_asked && !places[0].is_asked);
        assert_eq!(places[0].printed.as_deref(), Some("120 MB/s"));
        assert_eq!(a.printed, None, "a mean of three has no printed form");
    }

    #[test]
    fn another_board_or_context_is_another_place_and_told() {
        let other = |value: f64, change: fn(&mut Subject)| {
            let mut candidate = candidate("A", "1", value);
            change(Arc::make_mut(&mut candidate.subject));
            candidate
        };
        let slow = other(10.0, |subject| subject.context = bus("high_speed"));
        let elsewhere = other(20.0, |subject| {
            subject.board = Some("Raspberry Pi 5".to_owned());
        });
        let silent = other(30.0, |subject| subject.context = bus("unknown"));
        let places = rank(
            &[candidate("A", "1", 40.0), slow, elsewhere, silent],
            Some(0),
            RankSpread::default(),
        );
        let told: Vec<&[String]> = places
            .iter()
            .map(|place| place.differs.as_slice())
            .collect();
        assert_eq!(places[0].conditions, ["bus ddr50"]);
        assert!(places[1].conditions.is_empty(), "unknown: omitted");
        let none: &[String] = &[];
        assert_eq!(
            told,
            [none, none, &["board".to_owned()], &["bus".to_owned()]]
        );
    }

    #[test]
    fn another_setting_is_another_place_and_names_itself_with_the_board() {
        let set = |value: f64, setting: &str, publication: Option<&str>| {
            let mut candidate = candidate("A", "1", value);
            let subject = Arc::make_mut(&mut candidate.subject);
            subject.setting = Some(setting.to_owned());
            subject.publication = publication.map(str::to_owned);
            candidate
        };
        let mut boardless = set(5.0, "uasp", None);
        Arc::make_mut(&mut boardless.subject).board = None;
        let all = [
            set(40.0, "uasp", None),
            set(30.0, "bot", None),
            set(20.0, "usb", Some("article")),
            candidate("A", "1", 10.0),
            boardless,
        ];
        let places = rank(&all, Some(0), RankSpread::default());
        let told: Vec<_> = places
            .iter()
            .map(|place| (place.board.as_deref().unwrap(), place.differs.join(" ")))
            .collect();
        let none = String::new;
        let expected = [
            ("Raspberry Pi 4 Model B, uasp", none()),
            ("Raspberry Pi 4 Model B, bot", "setting".to_owned()),
            ("Raspberry Pi 4 Model B, usb", none()),
            ("Raspberry Pi 4 Model B", none()),
            ("unknown board, uasp", none()),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn another_method_is_another_place_and_shares_more_places() {
        let mut by_iozone = candidate("A", "1", 120.0);
        by_iozone.method = Some("iozone");
        let all = [candidate("A", "1", 100.0), by_iozone];
        let spread = |between_methods| RankSpread {
            known: Some(KnownSpread {
                pooled: 0.05,
                degrees: 1_000,
                typical: 0.05,
                typical_degrees: 1,
            }),
            elsewhere: Some(KnownElsewhere::NONE),
            between_methods,
        };
        let ranges = |between| -> Vec<_> {
            let places = rank(&all, Some(0), spread(between));
            places
                .iter()
                .map(|place| (place.method, place.places))
                .collect()
        };
        let apart = [(Some("iozone"), Some([1, 1])), (None, Some([2, 2]))];
        assert_eq!(ranges(0.0), apart);
        let shared = [(Some("iozone"), Some([1, 2])), (None, Some([1, 2]))];
        assert_eq!(ranges(0.1), shared);
    }

    #[test]
    fn figures_without_a_rate_have_no_place() {
        assert_eq!(
            rank(&[candidate("A", "1", 0.0)], None, RankSpread::default()),
            []
        );
        assert_eq!(rank(&[], None, RankSpread::default()), []);
    }
}
