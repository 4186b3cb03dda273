//! The answer of a test of classes: which are met, and which are not, by what figures.

use cardmark_catalog::{Class, class};
use cardmark_core::{Quantity, Record, Verdict, VerdictOutcome};
use cardmark_judge::{ClassFigure, class_figures, upheld};

use crate::text::names::{capitalised, listed};
use crate::text::style::clean;

/// Beginnings of reasons that name who asks for a class.
const ASKED_BY: [&str; 2] = ["claimed by", "required by"];

/// Returns the sentence on the classes of a record, without full stop: first those that it fails if they are claimed, else
/// those that it meets. Of each family it names the highest one that is met, and the lowest one that is not.
pub(crate) fn sentence(record: &Record) -> Option<String> {
    let derived = upheld(record)?;
    let verdicts = derived.verdicts.iter();
    let judged: Vec<Judged<'_>> = verdicts
        .filter_map(|verdict| Some((class(&verdict.rule)?, verdict)))
        .collect();
    let of = |outcome: VerdictOutcome, highest: bool| {
        let found = judged.iter().filter(|(_, one)| one.outcome == outcome);
        one_of_each_family(found.copied().collect(), highest)
    };
    let is_claimed = judged.iter().any(|(_, verdict)| is_asked_for(verdict));
    let fails = failed(record, &of(VerdictOutcome::Fail, false));
    let met = [
        met(record, &of(VerdictOutcome::Pass, true), ""),
        met(
            record,
            &of(VerdictOutcome::LikelyPass, true),
            " in this short test",
        ),
    ];
    let met = met.into_iter().flatten();
    let border = of(VerdictOutcome::Borderline, false);
    let border = border.iter().map(|(class, _)| {
        let figures = figures(record, class, |_| true);
        with_figures(&format!("borderline for {}", class.id), &figures)
    });
    let untestable = untestable(&of(VerdictOutcome::NotTestable, false));
    let parts: Vec<String> = match is_claimed {
        true => fails.into_iter().chain(met).collect(),
        false => met.chain(fails).collect(),
    };
    let parts: Vec<String> = parts.into_iter().chain(border).chain(untestable).collect();
    (!parts.is_empty()).then(|| capitalised(&parts.join("; ")))
}

type Judged<'a> = (&'static Class, &'a Verdict);

fn is_asked_for(verdict: &Verdict) -> bool {
    verdict.reasons.iter().any(|reason| is_asking(reason))
}

fn is_asking(reason: &str) -> bool {
    ASKED_BY.iter().any(|begin| reason.starts_with(begin))
}

/// The highest or the lowest class of each family, in the order of the catalogue.
fn one_of_each_family(found: Vec<Judged<'_>>, highest: bool) -> Vec<Judged<'_>> {
    let mut kept: Vec<Judged<'_>> = Vec::new();
    for one in found {
        match kept
            .iter_mut()
            .find(|(class, _)| class.family == one.0.family)
        {
            Some(known) if highest => *known = one,
            Some(_) => {}
            None => kept.push(one),
        }
    }
    kept
}

/// `fails A1: 52 random writes/s (needs 500); also fails A2`.
fn failed(record: &Record, found: &[Judged<'_>]) -> Option<String> {
    let ((class, _), others) = found.split_first()?;
    let too_low = figures(record, class, |figure| figure.value < figure.least);
    let sentence = with_figures(&format!("fails {}", class.id), &too_low);
    match names(others).as_str() {
        "" => Some(sentence),
        others => Some(format!("{sentence}; also fails {others}")),
    }
}

/// `meets C10, U1 and V10 in this short test`; of one class with its figures.
fn met(record: &Record, found: &[Judged<'_>], how: &str) -> Option<String> {
    let begin = format!("meets {}{how}", names(found));
    match found {
        [] => None,
        [(class, _)] => Some(with_figures(&begin, &figures(record, class, |_| true))),
        _ => Some(begin),
    }
}

/// `A2 cannot be tested here: the bus mode is hidden`.
fn untestable(found: &[Judged<'_>]) -> Option<String> {
    let (_, verdict) = found.first()?;
    let reason = verdict.reasons.iter().find(|reason| !is_asking(reason));
    let reason = reason.map(|reason| {
        let reason = clean(reason);
        let reason = reason.trim_start_matches("not testable here: ");
        format!(": {reason}")
    });
    Some(format!(
        "{} cannot be tested here{}",
        names(found),
        reason.unwrap_or_default()
    ))
}

fn names(of: &[Judged<'_>]) -> String {
    let names: Vec<String> = of.iter().map(|(class, _)| class.id.clone()).collect();
    listed(&names, "and")
}

fn with_figures(begin: &str, figures: &[String]) -> String {
    match figures {
        [] => begin.to_owned(),
        figures => format!("{begin}: {}", figures.join(", ")),
    }
}

fn figures(record: &Record, class: &Class, is_shown: impl Fn(&ClassFigure) -> bool) -> Vec<String> {
    let mut figures = class_figures(record, class);
    figures.retain(is_shown);
    // The scarcest first.
    figures.sort_by(|one, other| share(one).total_cmp(&share(other)));
    figures.into_iter().map(figure).collect()
}

/// The rate, relative to the one that is required.
fn share(figure: &ClassFigure) -> f64 {
    figure.value / figure.least
}

/// `52 random writes/s (needs 500)` or `7.21 MB/s in the slowest window of writing (needs 10)`.
fn figure(figure: ClassFigure) -> String {
    let words = figure.words;
    let words = words.replacen("random read", "random reads", 1);
    let words = words.replacen("random write", "random writes", 1);
    let words = words.replacen("sequential write", "sequential writes", 1);
    match figure.quantity {
        Quantity::ByteRate => {
            let words = match words.starts_with("slowest") {
                true => format!("the {words}"),
                false => words,
            };
            let (value, least) = (figure.value / 1e6, figure.least / 1e6);
            format!("{value:.2} MB/s in {words} (needs {least})")
        }
        _ => {
            let (what, more) = words.split_once(", ").unwrap_or((&words, ""));
            let more = match more {
                "" => String::new(),
                more => format!(", {more}"),
            };
            format!(
                "{:.0} {what}/s{more} (needs {})",
                figure.value, figure.least
            )
        }
    }
}
