//! Changes of a card over time, in a sentence.

use std::cmp::Reverse;

use cardmark_judge::{HistoryGroup, ROLES, role_of};
use cardmark_stats::{Conclusion, LEAST_DAYS, RateTrend, Seen};

use crate::answer::{AnswerBlock, Weight};
use crate::runs::shifts::{self, date_of};
use crate::text::names::{capitalised, plain_name};
use crate::text::style::clean;
use crate::text::{count_of, percent, unit};

/// Sentences behind the first one, at most.
const MOST_MORE: usize = 3;

/// Returns the answer of a card's history: changes of level, then trends, those of the rates that people ask for first.
#[must_use]
pub fn answer_of_history(groups: &[HistoryGroup<'_>]) -> AnswerBlock {
    let shifts = groups
        .iter()
        .flat_map(|group| shifts::clauses(&group.trends));
    let mut changes: Vec<String> = shifts.map(|text| capitalised(&text)).collect();
    let trends = groups.iter().flat_map(|group| &group.trends);
    let mut changed: Vec<&RateTrend> = trends.filter(|trend| is_changed(trend)).collect();
    changed.sort_by_key(|trend| place(&trend.metric));
    let is_lower = |trend: &&RateTrend| trend.outcome == Some(Conclusion::Lower);
    let all = groups.iter().flat_map(|group| &group.trends);
    let mut shifted = all.filter_map(|trend| trend.shift.as_ref());
    let has_fallen = changed.iter().any(is_lower) || shifted.any(|shift| shift.change_ratio < 0.0);
    changes.extend(changed.into_iter().filter_map(change));
    if changes.is_empty() {
        changes.push(unchanged(groups));
    }
    let sentence = changes.remove(0);
    changes.truncate(MOST_MORE);
    AnswerBlock {
        weight: match has_fallen {
            true => Weight::Warning,
            false => Weight::Plain,
        },
        sentence,
        more: changes,
        ..AnswerBlock::default()
    }
}

fn is_changed(trend: &RateTrend) -> bool {
    let changed = [Some(Conclusion::Lower), Some(Conclusion::Higher)];
    trend.shift.is_none() && changed.contains(&trend.outcome)
}

/// Place of a metric among the rates that people ask for; the others come last.
fn place(metric: &str) -> usize {
    let role = ROLES.iter().position(|role| Some(role) == role_of(metric));
    role.unwrap_or(ROLES.len())
}

fn name(metric: &str) -> String {
    role_of(metric).map_or_else(|| clean(&plain_name(metric)), |role| role.name.to_owned())
}

/// `Random writes: 31 % lower since 2026-03-01 (24 to 37 %)`.
fn change(trend: &RateTrend) -> Option<String> {
    let ratio = trend.change_ratio?;
    let since = date_of(trend.first_at_days?);
    let (low, high) = (trend.low_ratio?, trend.high_ratio?);
    let (word, least, most) = match ratio < 0.0 {
        true => ("lower", -high, -low),
        false => ("higher", low, high),
    };
    let (least, most) = (percent(least), percent(most));
    let least = least.trim_end_matches(" %");
    Some(format!(
        "{}: {} {word} since {since} ({least} to {most})",
        capitalised(&name(&trend.metric)),
        percent(ratio.abs())
    ))
}

/// The sentence without any change that is shown, with what the last runs seem to do.
fn unchanged(groups: &[HistoryGroup<'_>]) -> String {
    let count: usize = groups.iter().map(|group| group.runs.len()).sum();
    let runs = count_of(count, "run", "runs");
    let all = || groups.iter().flat_map(|group| &group.trends);
    let is_tested = all().any(|trend| trend.outcome.is_some());
    let seen = all().filter_map(|trend| Some((trend, trend.seen.as_ref()?)));
    let first = seen.min_by_key(|(trend, _)| place(&trend.metric));
    let seen = first.map(|(trend, seen)| {
        let reason = match seen.is_few() {
            true => "too few runs to decide",
            false => "a slow drift may do that",
        };
        format!(
            ", but {} were {}; {reason}",
            name(&trend.metric),
            changed_last(seen)
        )
    });
    let seen = seen.unwrap_or_default();
    if is_tested {
        let is_same = all().all(|trend| trend.outcome == Some(Conclusion::Same));
        return match is_same {
            true => format!("The same within 10 % in {runs}"),
            false => format!("No change shown in {runs}{seen}"),
        };
    }
    let days = all().map(|trend| trend.days_count).max().unwrap_or(0);
    match days {
        0 => format!("No trend: none of {runs} has a time"),
        days if days >= LEAST_DAYS => {
            format!("No trend: in {runs} no kernel has runs on two days{seen}")
        }
        days => {
            let days = count_of(days, "day", "days");
            match seen.as_str() {
                "" => format!("No trend yet: {runs} on {days}; a trend takes {LEAST_DAYS} days"),
                seen => format!("No trend yet in {runs} on {days}{seen}"),
            }
        }
    }
}

/// `43 % lower in the last 3 runs than in the 4 before`.
pub(super) fn changed_last(seen: &Seen) -> String {
    let (ratio, before) = (seen.change_ratio, seen.before_count);
    let word = if ratio < 0.0 { "lower" } else { "higher" };
    let last = match seen.after_count {
        1 => "the last run".to_owned(),
        count => format!("the last {count} runs"),
    };
    format!(
        "{} {word} in {last} than in the {before} before",
        percent(ratio.abs())
    )
}

/// The trends of the rates that people ask for, in their order; all if there are none.
pub(super) fn main_trends<'a>(group: &'a HistoryGroup<'_>) -> Vec<&'a RateTrend> {
    let mut main = all_trends(group);
    if main.iter().any(|trend| is_main(trend)) {
        main.retain(|trend| is_main(trend));
    }
    main
}

/// All trends, those of the rates that people ask for first.
pub(super) fn all_trends<'a>(group: &'a HistoryGroup<'_>) -> Vec<&'a RateTrend> {
    let mut all: Vec<&RateTrend> = group.trends.iter().collect();
    all.sort_by_key(|trend| {
        let days = is_main(trend).then_some(Reverse(trend.days_count));
        (place(&trend.metric), days)
    });
    all
}

fn is_main(trend: &RateTrend) -> bool {
    place(&trend.metric) < ROLES.len()
}

/// Heading of a column: a short name with the unit, such as `random writes/s` or `write MB/s`.
pub(super) fn heading(trend: &RateTrend) -> String {
    let unit = match unit(&trend.metric, trend.quantity) {
        "IOPS" => "/s".to_owned(),
        unit => format!(" {unit}"),
    };
    let name = name(&trend.metric);
    let short = match role_of(&trend.metric).map(|_| name.as_str()) {
        Some("sequential writes") => "write",
        Some("sequential reads") => "read",
        _ => &name,
    };
    format!("{short}{unit}")
}
