//! `cardmark list`.

use std::collections::BTreeMap;

use cardmark_catalog::{Publication, publications};
use cardmark_core::{DeviceInfo, Record, Suite, TargetNeed};
use cardmark_host::{Root, block_devices, mounted_directories};
use cardmark_judge::{Attention, attention, cards_of, faults, storage_kind};
use cardmark_report::{
    RunLine, attention_json, attention_list, device_line, list_table, method_of, name_table,
    result_of, text,
};
use cardmark_store::{Store, StoreError, Summary};
use serde_json::json;

use crate::args::{ListArguments, Listing};
use crate::error::{CommandError, Exit};
use crate::terminal::print;
use cardmark_session::{Data, store_error};

/// Notice on an empty store.
const NO_RUNS: &str =
    "no runs yet; `cardmark run` makes one, `cardmark run sim:a1-32gb` a simulated one";

/// Lists runs, devices, suites, models or publications.
pub(crate) fn list(arguments: &ListArguments) -> Result<Exit, CommandError> {
    if arguments.bad && arguments.what != Listing::Runs {
        let what = "`--bad` selects runs, nothing else has verdicts";
        return Err(CommandError::new(Exit::Usage, what).hint("`cardmark list runs --bad`"));
    }
    let text = match arguments.what {
        Listing::Runs if arguments.bad => bad(arguments)?,
        Listing::Runs => runs(arguments)?,
        Listing::Devices => devices(arguments.json)?,
        Listing::Suites => suites(arguments.json)?,
        Listing::Models => named(&models(), arguments.json)?,
        Listing::Published => published(arguments.json)?,
    };
    print::output(arguments.json, &text)?;
    Ok(Exit::Done)
}

fn suites(json: bool) -> Result<String, CommandError> {
    let suites: Vec<Suite> = cardmark_catalog::suite_names()
        .into_iter()
        .map(|name| {
            cardmark_catalog::suite(name, None)
                .map_err(|error| CommandError::from_error(Exit::Bug, &error))
        })
        .collect::<Result<_, _>>()?;
    if json {
        let rows: Vec<_> = suites
            .iter()
            .map(|suite| {
                json!({
                    "name": suite.name,
                    "version": suite.version,
                    "summary": suite.summary,
                    "needs": suite.needs,
                    "file_bytes": suite.file_bytes,
                    "tiers": suite.tiers.iter().map(|tier| &tier.name).collect::<Vec<_>>(),
                })
            })
            .collect();
        return print::pretty(&rows);
    }
    let told = |suite: Suite| {
        (
            suite.name.clone(),
            format!("{}; {}", suite.summary, needs(&suite)),
        )
    };
    let rows: Vec<_> = suites.into_iter().map(told).collect();
    Ok(name_table(rows.to_vec(), print::width()))
}

/// Target of a suite, and the room that it needs there.
fn needs(suite: &Suite) -> String {
    let room = text::size(suite.file_bytes);
    if !suite.tiers.is_empty() {
        return format!("erases all of a device, or in {room} of a directory");
    }
    match suite.needs {
        TargetNeed::Any => format!("in {room} of a directory or device"),
        TargetNeed::Directory => format!("in {room} of a directory"),
        TargetNeed::Filesystem => format!("in {room} of a directory; not on a simulated card"),
        TargetNeed::Device => "on a whole device".to_owned(),
    }
}

/// The disks and cards of this host, with the directories on them.
fn devices(json: bool) -> Result<String, CommandError> {
    let root = Root::system();
    let places = mounted_directories(&root);
    let on = |device: &DeviceInfo| -> Vec<String> {
        let places = places.iter().filter(|place| place.disk.name == device.name);
        places
            .map(|place| place.directory.display().to_string())
            .collect()
    };
    let devices = block_devices(&root);
    if json {
        let row = |device: &DeviceInfo| {
            let mut row = json!(device);
            row["directories"] = json!(on(device));
            row
        };
        return print::pretty(&devices.iter().map(row).collect::<Vec<_>>());
    }
    if devices.is_empty() {
        print::notice("no disk is to be seen here");
    }
    let told = |device: &DeviceInfo| (device.name.clone(), device_line(device, &on(device)));
    let rows: Vec<_> = devices.iter().map(told).collect();
    Ok(name_table(rows.to_vec(), print::width()))
}

fn models() -> Vec<(String, String)> {
    let models = cardmark_sim::models().into_iter();
    let models = models.map(|model| (format!("sim:{}", model.name), model.summary));
    let boards = cardmark_sim::boards().into_iter();
    // Behind a model's name.
    let boards = boards.map(|board| (format!("@{}", board.name), board.summary));
    models.chain(boards).collect()
}

fn named(rows: &[(String, String)], json: bool) -> Result<String, CommandError> {
    if json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, summary)| json!({"name": name, "summary": summary}))
            .collect();
        return print::pretty(&rows);
    }
    Ok(name_table(rows.to_vec(), print::width()))
}

fn runs(arguments: &ListArguments) -> Result<String, CommandError> {
    let mut store = Data::from_environment()?.open()?;
    let most = arguments.limit.saturating_add(1);
    let mut runs = heads(&mut store, most).map_err(|error| store_error(&error))?;
    if runs.len() > arguments.limit as usize {
        runs.truncate(arguments.limit as usize);
        let more = arguments.limit.saturating_mul(4);
        print::notice(&format!(
            "older runs are not shown; `--limit {more}` shows more"
        ));
    }
    if arguments.json {
        let rows: Vec<_> = runs.iter().map(|(run, head)| row(run, head)).collect();
        return print::pretty(&rows);
    }
    if runs.is_empty() {
        print::notice(NO_RUNS);
        return Ok(String::new());
    }
    let lines: Vec<RunLine> = runs.iter().map(|(run, head)| line(run, head)).collect();
    Ok(list_table(&lines, print::width(), print::style()))
}

/// Cards that need attention, the worst first.
fn bad(arguments: &ListArguments) -> Result<String, CommandError> {
    let mut store = Data::from_environment()?.open()?;
    let found = store.briefs().map_err(|error| store_error(&error))?;
    let cards = cards_of(&found);
    let rows = attention(&cards);
    let most = arguments.limit as usize;
    if arguments.json {
        let summaries = store.list(u32::MAX).map_err(|error| store_error(&error))?;
        let summaries = summaries.iter().map(|run| (run.id.as_str(), run));
        let summaries: BTreeMap<&str, &Summary> = summaries.collect();
        let json_row = |one: &Attention<'_>| {
            let shown = one.worst()?.run;
            let mut value = row(summaries.get(shown.id.to_string().as_str())?, shown);
            value["attention"] = attention_json(one);
            Some(value)
        };
        let rows: Vec<_> = rows.iter().filter_map(json_row).take(most).collect();
        return print::pretty(&rows);
    }
    if found.is_empty() {
        print::notice(NO_RUNS);
        return Ok(String::new());
    }
    Ok(attention_list(
        &cards,
        &rows,
        most,
        print::width(),
        print::style(),
    ))
}

/// A run in a listing, and its record without trials.
type Listed = (Summary, Record);

/// The last runs, newest first.
fn heads(store: &mut Store, most: u32) -> Result<Vec<Listed>, StoreError> {
    let summaries = store.list(most)?.into_iter();
    let listed = summaries.map(|run| {
        let head = store.head(&run.id)?;
        Ok((run, head))
    });
    listed.collect()
}

fn row(run: &Summary, head: &Record) -> serde_json::Value {
    let headline = run.headline.iter();
    let found = head.integrity.as_ref();
    json!({
        "id": run.id,
        "started_at": run.started_at,
        "suite": run.suite,
        "suite_version": run.suite_version,
        "test": found.map(|found| found.test),
        "storage_kind": storage_kind(head),
        "faults": faults(head),
        "target_kind": run.target_kind,
        "origin": run.origin,
        "labels": run.labels,
        "headline": headline.map(|(id, value, quantity)| {
            json!({"id": id, "value": value, "quantity": quantity})
        }).collect::<Vec<_>>(),
    })
}

fn line(run: &Summary, head: &Record) -> RunLine {
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let product = run.labels.get("product").cloned();
    let kind = run.target_kind.map(|kind| word(json!(kind)));
    // An imported text rarely names the tested target.
    let kind = kind.unwrap_or_else(|| word(json!(run.origin)));
    let model = || head.devices.first()?.model.clone();
    let model = model().or_else(|| head.origin.source.clone());
    let named = product.or(model).unwrap_or(kind);
    // The owner's name of the card, such as the board in which it is.
    let target = match run.labels.get("sample") {
        Some(sample) => format!("{sample}: {named}"),
        None => named,
    };
    RunLine {
        id: run.id.clone(),
        started_at: run.started_at.clone(),
        suite: method_of(head),
        target,
        result: result_of(head),
    }
}

/// Publications of others, with their numbers of results.
fn published(json: bool) -> Result<String, CommandError> {
    if json {
        let records: Vec<serde_json::Value> = publications()
            .iter()
            .map(|publication| {
                json!({
                    "id": publication.id,
                    "title": publication.title,
                    "author": publication.author,
                    "address": publication.address,
                    "published": publication.published,
                    "licence": publication.licence,
                    "checked_on": publication.checked_on,
                    "figures_count": publication.figures_count(),
                    "metrics": metrics(publication),
                    "absent": publication.absent.iter().map(|absent| {
                        json!({ "what": absent.what, "why": absent.why })
                    }).collect::<Vec<_>>(),
                    "records": publication.records(),
                })
            })
            .collect();
        return print::pretty(&records);
    }
    let told = |publication: &Publication| {
        let date = publication.published.as_deref().unwrap_or("no date");
        let (figures, runs) = (publication.figures_count(), publication.runs.len());
        let summary = format!(
            "{}, {} ({date}): {figures} {} of {runs} {}; {}; metrics: {}",
            publication.author,
            publication.title,
            if figures == 1 { "figure" } else { "figures" },
            if runs == 1 { "run" } else { "runs" },
            publication.address,
            metrics(publication).join(", ")
        );
        (publication.id.clone(), summary)
    };
    let rows: Vec<_> = publications().iter().map(told).collect();
    Ok(name_table(rows.to_vec(), print::width()))
}

/// The metrics of a publication, in its order.
fn metrics(publication: &Publication) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for figure in publication.runs.iter().flat_map(|run| &run.figures) {
        if !ids.contains(&figure.metric.as_str()) {
            ids.push(&figure.metric);
        }
    }
    ids
}
