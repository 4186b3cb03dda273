//! `cardmark fleet`.

use std::time::{SystemTime, UNIX_EPOCH};

use cardmark_judge::{FleetGroup, cards_of, fleet as boards_of};
use cardmark_report::{fleet_groups, fleet_json, fleet_list, no_fleet};
use cardmark_session::{Data, looks_of};
use serde_json::json;

use crate::args::FleetArguments;
use crate::error::{CommandError, Exit};
use crate::terminal::print;

/// Lists the boards whose runs or looks were imported, the worst first.
pub(crate) fn fleet(arguments: &FleetArguments) -> Result<Exit, CommandError> {
    let mut store = Data::from_environment()?.open()?;
    let runs = store.briefs()?;
    let looks = looks_of(&mut store)?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_s = since.map_or(0, |since| since.as_secs());
    let cards = cards_of(&runs);
    let mut fleet = boards_of(&cards, &looks, now_s, arguments.silent);
    let all = fleet.boards.len();
    let conditions = &arguments.conditions;
    fleet.select(|board| {
        conditions
            .iter()
            .all(|(name, value)| board.has(name, value))
    });
    let groups = arguments.by.as_deref();
    let groups = groups.map(|key| (FleetGroup::by(&fleet.boards, key), key));
    let most = arguments.limit as usize;
    if arguments.json {
        let mut value = fleet_json(&fleet);
        if let Some((groups, key)) = groups {
            value["groups"] = json!({ "by": key, "groups": groups });
        }
        print::output(true, &print::pretty(&value)?)?;
        return Ok(Exit::Done);
    }
    let (width, style) = (print::width(), print::style());
    print::result(&match groups {
        _ if all == 0 => no_fleet().lines(width, style).join("\n") + "\n",
        _ if fleet.boards.is_empty() => none_of(all, conditions),
        Some((groups, key)) => fleet_groups(&groups, key, most, width, style),
        None => fleet_list(&fleet, most, width, style),
    })?;
    Ok(Exit::Done)
}

fn none_of(all: usize, conditions: &[(String, String)]) -> String {
    let conditions = conditions.iter();
    let texts: Vec<String> = conditions
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("None of {all} boards has {}\n", texts.join(" "))
}
