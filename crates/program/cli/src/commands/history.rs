//! `cardmark history`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cardmark_core::{Context, DeviceInfo, Record};
use cardmark_judge::{
    self as judge, HistoryGroup, are_of_several_cards, by_card, sort_by_start, unreadable_start,
};
use cardmark_report::{answer_of_history, card_history, card_name};
use cardmark_stats::RateTrend;
use cardmark_store::{Condition, Store};
use serde_json::json;

use crate::args::HistoryArguments;
use crate::error::{CommandError, Exit};
use crate::runs::Runs;
use crate::terminal::print;
use cardmark_session::{Chosen, choose};
use cardmark_session::{Data, store_error};

/// Lists the runs of one card in the order of time, with the trend of its rates.
pub(crate) fn history(arguments: &HistoryArguments) -> Result<Exit, CommandError> {
    let Some(card) = &arguments.card else {
        return cards(arguments.json);
    };
    let mut runs = of_card(card)?;
    sort_by_start(&mut runs);
    let mut store = Data::from_environment()?.open()?;
    // A run that cannot be read goes without.
    let document = |run: &Record| Some(store.find(&run.id.to_string()).ok()?.record);
    judge::add_reference_reads(&mut runs, &arguments.metrics, usize::MAX, document);
    let groups = judge::history(&runs, &arguments.metrics);
    if groups.is_empty() {
        let what = format!("the runs of `{card}` have no such rates");
        return Err(CommandError::new(Exit::Usage, what)
            .hint("without `--metric` all rates there are are looked at"));
    }
    if arguments.json {
        print::data(&format!("{:#}\n", as_json(card, &groups)))?;
        return Ok(Exit::Done);
    }
    let name = runs.last().map_or_else(|| card.clone(), card_name);
    let all = arguments.all || !arguments.metrics.is_empty();
    let text = card_history(&name, &groups, all, print::width(), print::style());
    print::result(&text)?;
    Ok(Exit::Done)
}

/// The runs of the card that this names: the id that its records carry, a target that lies on it, a
/// simulated card, or conditions that hold for its runs only.
fn of_card(card: &str) -> Result<Vec<Record>, CommandError> {
    if card.contains('=') && !Path::new(card).exists() {
        let runs = Runs::default().side(card)?;
        refuse_unknown_times(&runs)?;
        if are_of_several_cards(&runs) {
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
    match unreadable_start(runs) {
        Some(run) => Err(CommandError::new(
            Exit::Trouble,
            format!("the time of run {} is not readable", run.id),
        )),
        None => Ok(()),
    }
}

fn condition(name: &str, value: &str) -> Condition {
    Condition {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

fn select(store: &mut Store, conditions: &[Condition]) -> Result<Vec<Record>, CommandError> {
    store
        .select_distinct(conditions)
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
                .filter_map(DeviceInfo::card_id)
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
    let answer = answer_of_history(groups).json();
    let groups: Vec<_> = groups.iter().map(group).collect();
    json!({ "card": card, "answer": answer, "groups": groups })
}

/// Hint for cards without an id.
const BY_LABEL: &str = "by label: `cardmark history sample=NAME` or `cardmark history host=NAME`";

/// Lists the cards that there are runs of.
fn cards(is_json: bool) -> Result<Exit, CommandError> {
    let mut store = Data::from_environment()?.open()?;
    let cards = by_card(select(&mut store, &[])?);
    let day = |run: Option<&Record>| -> Option<String> {
        run?.started_at.as_deref()?.get(..10).map(str::to_owned)
    };
    let mut lines = Vec::new();
    let mut rows = Vec::new();
    for (id, runs) in cards {
        let (first, last) = (day(runs.first()), day(runs.last()));
        let name = runs.last().map_or_else(|| id.clone(), card_name);
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
        print::data(&format!("{:#}\n", json!(rows)))?;
    } else if lines.is_empty() {
        print::result(&format!(
            "there are no runs of an identifiable card (no CID or serial number was readable)\n{BY_LABEL}\n"
        ))?;
    } else {
        print::result(&format!("{}\n{BY_LABEL}\n", lines.join("\n")))?;
    }
    Ok(Exit::Done)
}
