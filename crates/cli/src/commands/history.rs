//! `cardmark history`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cardmark_core::{Context, Metric, Record};
use cardmark_report::{CardHistory, HistoryGroup, card_history, device_line};
use cardmark_stats::{HistoryRun, RateHistory, RateTrend, rate_trends};
use cardmark_store::{Condition, Store};
use serde_json::json;

use crate::args::HistoryArguments;
use crate::error::{CommandError, Exit};
use crate::print;
use crate::runs::Runs;
use cardmark_session::{Chosen, choose};
use cardmark_session::{Data, store_error};

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// Lists the runs of one card in the order of time, with the trend of its rates.
pub(crate) fn history(arguments: &HistoryArguments) -> Result<Exit, CommandError> {
    let Some(card) = &arguments.card else {
        return cards(arguments.json);
    };
    let mut runs = of_card(card)?;
    runs.sort_by_cached_key(|run| (moment(run), run.id));
    let groups = grouped(&runs, &arguments.metrics);
    if groups.is_empty() {
        let what = format!("the runs of `{card}` have no such rates");
        return Err(CommandError::new(Exit::Usage, what)
            .hint("without `--metric` all rates there are are looked at"));
    }
    if arguments.json {
        print::result(&format!("{:#}\n", as_json(card, &groups)))?;
        return Ok(Exit::Done);
    }
    let name = runs.last().map_or_else(|| card.clone(), name_of);
    let history = CardHistory {
        card: name,
        groups: &groups,
    };
    let text = card_history(&history, print::width(), print::style());
    print::result(&text)?;
    Ok(Exit::Done)
}

/// The runs of the card that this names: the id that its records carry, a target that lies on it, a
/// simulated card, or conditions that hold for its runs only.
fn of_card(card: &str) -> Result<Vec<Record>, CommandError> {
    if card.contains('=') && !Path::new(card).exists() {
        let runs = Runs::default().side(card)?;
        refuse_unknown_times(&runs)?;
        if are_of_several(&runs) {
            let what = format!("`{card}` holds for runs of several cards");
            return Err(CommandError::new(Exit::Usage, what)
                .hint("name one of them: `cardmark history` lists them"));
        }
        return Ok(runs);
    }
    let is_target = card.starts_with("sim:") || card.contains('/') || Path::new(card).exists();
    let conditions = if is_target {
        conditions_of(card)?
    } else {
        vec![condition("card", card)]
    };
    let mut store = Data::from_environment()?.open()?;
    let runs = select(&mut store, &conditions)?;
    refuse_unknown_times(&runs)?;
    if runs.is_empty() {
        let what = format!("there is no run of the card `{card}`");
        return Err(CommandError::new(Exit::Usage, what)
            .hint("`cardmark history` lists the cards that there are runs of"));
    }
    Ok(runs)
}

/// Refuses runs whose time of start is not a time: they would be missing in the trends.
fn refuse_unknown_times(runs: &[Record]) -> Result<(), CommandError> {
    let is_damaged = |run: &&Record| run.started_at.is_some() && moment(run).is_none();
    match runs.iter().find(is_damaged) {
        Some(run) => Err(CommandError::new(
            Exit::Trouble,
            format!("the time of run {} is not readable", run.id),
        )),
        None => Ok(()),
    }
}

/// Returns whether runs are of more than one card by their labels `sample`, or else their ids; runs
/// without an id do not count as runs of a card that has one.
fn are_of_several(runs: &[Record]) -> bool {
    let labels: Option<BTreeSet<&String>> =
        runs.iter().map(|run| run.labels.get("sample")).collect();
    let id = |run: &'_ Record| run.devices.first().and_then(|d| d.sample_id.clone());
    let count = labels.map_or_else(
        || runs.iter().map(id).collect::<BTreeSet<_>>().len(),
        |labels| labels.len(),
    );
    count > 1
}

fn condition(name: &str, value: &str) -> Condition {
    Condition {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

fn select(store: &mut Store, conditions: &[Condition]) -> Result<Vec<Record>, CommandError> {
    store
        .select(conditions)
        .map_err(|error| store_error(&error))
}

/// Conditions for the runs of the card below a target.
fn conditions_of(target: &str) -> Result<Vec<Condition>, CommandError> {
    match choose(target)? {
        Chosen::Simulated(model) => Ok(vec![
            condition("origin", "simulated"),
            condition("model", model.name()),
        ]),
        Chosen::Real { resolution, .. } => {
            let ids: BTreeSet<&str> = resolution
                .disks
                .iter()
                .filter_map(|disk| disk.sample_id.as_deref())
                .collect();
            match Vec::from_iter(ids).as_slice() {
                [id] => Ok(vec![condition("card", id)]),
                _ => Err(CommandError::new(
                    Exit::Trouble,
                    format!("it is not known which card lies below `{target}`"),
                )
                .because(
                    "neither its CID nor a serial number can be read here, or it is on several",
                )
                .hint("label its runs, `--label sample=A`, and name them so: `sample=A`")),
            }
        }
    }
}

/// Start of a run, whole seconds; none if it is unknown.
fn moment(run: &Record) -> Option<i64> {
    let text = run.started_at.as_deref()?;
    let at: jiff::Timestamp = text.parse().ok()?;
    Some(at.as_second())
}

/// Name of a card: its id and its own identification.
fn name_of(run: &Record) -> String {
    let Some(device) = run.devices.first() else {
        return "card without a name".to_owned();
    };
    match &device.sample_id {
        Some(id) => format!("{id}, {}", device_line(device, &[])),
        None => device_line(device, &[]),
    }
}

/// Circumstances that must be equal in runs whose rates are combined: the context, and the board, because
/// another one is not a change of the card.
pub(crate) fn circumstances(
    run: &Record,
) -> (BTreeMap<String, String>, Option<String>, Option<String>) {
    let model = run.devices.first().and_then(|device| device.model.clone());
    let board = run.board.as_ref().and_then(|board| board.model.clone());
    (Context::of(run).must, board, model)
}

/// The runs by their circumstances, the earliest first, each group with its trends. Corrected is over
/// the rates of all groups.
fn grouped<'a>(runs: &'a [Record], wanted: &[String]) -> Vec<HistoryGroup<'a>> {
    let mut groups: Vec<(_, Vec<&Record>)> = Vec::new();
    for run in runs
        .iter()
        .filter(|run| rates(run, wanted).next().is_some())
    {
        let key = circumstances(run);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(run),
            None => groups.push((key, vec![run])),
        }
    }
    let histories: Vec<Vec<RateHistory>> = groups
        .iter()
        .map(|(_, members)| histories(members, wanted))
        .collect();
    let mut trends = rate_trends(&histories.concat()).into_iter();
    groups
        .into_iter()
        .zip(&histories)
        .map(|((_, members), histories)| HistoryGroup {
            about: about(&members),
            runs: members,
            trends: trends.by_ref().take(histories.len()).collect(),
        })
        .collect()
}

fn rates<'a>(run: &'a Record, wanted: &'a [String]) -> impl Iterator<Item = &'a Metric> {
    let is_wanted = |id: &String| wanted.is_empty() || wanted.contains(id);
    let metrics = run.metrics.iter();
    metrics.filter(move |metric| metric.quantity.is_rate() && is_wanted(&metric.id))
}

/// Each rate with the moments and values of the runs that have both.
fn histories(runs: &[&Record], wanted: &[String]) -> Vec<RateHistory> {
    let mut histories: Vec<RateHistory> = Vec::new();
    for run in runs {
        for metric in rates(run, wanted) {
            let alike = |known: &RateHistory| {
                known.metric == metric.id && known.quantity == metric.quantity
            };
            let index = histories.iter().position(alike).unwrap_or_else(|| {
                histories.push(RateHistory {
                    metric: metric.id.clone(),
                    quantity: metric.quantity,
                    runs: Vec::new(),
                });
                histories.len() - 1
            });
            if let Some(second) = moment(run) {
                let day = second as f64 / DAY_S;
                let kernel = run.host.as_ref().and_then(|host| host.kernel.clone());
                histories[index].runs.push(HistoryRun {
                    at_days: day,
                    value: metric.value,
                    kernel,
                });
            }
        }
    }
    histories
}

/// Suite, board, kind of target and bus in words.
fn about(runs: &[&Record]) -> String {
    let Some(run) = runs.first() else {
        return String::new();
    };
    let context = Context::of(run);
    let part = |name: &str| context.must.get(name).filter(|value| *value != "unknown");
    let board = run.board.as_ref().and_then(|board| board.model.clone());
    let parts = [
        part("suite").cloned(),
        board,
        part("target").cloned(),
        part("bus").cloned(),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let count = runs.len();
    let word = if count == 1 { "run" } else { "runs" };
    format!("{} · {count} {word}", parts.join(" · "))
}

fn as_json(card: &str, groups: &[HistoryGroup<'_>]) -> serde_json::Value {
    let run = |run: &&Record, trends: &[RateTrend]| {
        let rates: BTreeMap<&str, f64> = trends
            .iter()
            .filter_map(|trend| Some((trend.metric.as_str(), run.metric(&trend.metric)?.value)))
            .collect();
        json!({ "id": run.id, "started_at": run.started_at, "rates": rates })
    };
    let group = |group: &HistoryGroup<'_>| {
        let runs: Vec<_> = group.runs.iter().map(|r| run(r, &group.trends)).collect();
        let context = group.runs.first().map(|run| Context::of(run));
        let board = group.runs.first().and_then(|run| run.board.clone());
        json!({
            "context": context.map(|context| context.must),
            "board": board.and_then(|board| board.model),
            "runs": runs,
            "trends": group.trends,
        })
    };
    let groups: Vec<_> = groups.iter().map(group).collect();
    json!({ "card": card, "groups": groups })
}

/// Lists the cards that there are runs of.
fn cards(is_json: bool) -> Result<Exit, CommandError> {
    let mut store = Data::from_environment()?.open()?;
    let mut cards = BTreeMap::<String, Vec<Record>>::new();
    for run in select(&mut store, &[])? {
        let id = run.devices.first().and_then(|d| d.sample_id.clone());
        if let Some(id) = id {
            cards.entry(id).or_default().push(run);
        }
    }
    let day = |run: Option<&Record>| -> Option<String> {
        run?.started_at.as_deref()?.get(..10).map(str::to_owned)
    };
    let mut lines = Vec::new();
    let mut rows = Vec::new();
    for (id, mut runs) in cards {
        runs.sort_by_cached_key(|run| (moment(run), run.id));
        let (first, last) = (day(runs.first()), day(runs.last()));
        let name = runs.last().map_or_else(|| id.clone(), name_of);
        rows.push(json!({
            "card": id, "name": name, "runs_count": runs.len(), "first": first, "last": last,
        }));
        let word = if runs.len() == 1 { "run" } else { "runs" };
        let period = first.zip(last).map_or(String::new(), |(first, last)| {
            format!(", {first} to {last}")
        });
        lines.push(format!("{name}: {} {word}{period}", runs.len()));
    }
    if is_json {
        print::result(&format!("{:#}\n", json!(rows)))?;
    } else if lines.is_empty() {
        print::result(
            "there are no runs of an identifiable card (no CID or serial number was readable)\n",
        )?;
    } else {
        print::result(&(lines.join("\n") + "\n"))?;
    }
    Ok(Exit::Done)
}
