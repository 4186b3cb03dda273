//! `cardmark recover`.

use std::ffi::OsString;
use std::path::Path;

use cardmark_core::{Finding, FindingKind, METHOD, OriginKind, Record, Severity};
use cardmark_engine::{RunResult, record};
use cardmark_judge::{advise, judge, notice, unstated};
use cardmark_store::{Content, JobKind, Store, discard};
use serde_json::json;

use crate::args::RecoverArguments;
use crate::error::{CommandError, Exit};
use crate::terminal::print;
use cardmark_session::Data;

/// Turns the journals of interrupted runs into partial records. A journal goes only once its
/// record is in the store; one of a run still under way is left alone.
pub(crate) fn recover(arguments: &RecoverArguments) -> Result<Exit, CommandError> {
    let data = Data::from_environment()?;
    let mut store = data.open()?;
    let found = cardmark_store::recover(&data.journals)
        .map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
    let mut rows = Vec::new();
    let mut exit = Exit::Done;
    let is_run = |left: &&Content| left.head.job == JobKind::Run;
    for left in found.unfinished.iter().filter(is_run) {
        match keep(&mut store, left) {
            Ok((state, record)) => {
                let (id, trials_count) = (record.id, record.trials.len());
                rows.push(json!({"id": id, "trials_count": trials_count, "state": state}));
                if !arguments.json {
                    print::result(&format!("{state} {id}: {trials_count} trials\n"))?;
                }
            }
            // One journal that cannot be kept does not hold up the others.
            Err(error) => {
                print::error(&error.hint(format!(
                    "the journal `{}` was left as it is",
                    left.path.display()
                )));
                exit = Exit::Trouble;
            }
        }
    }
    if arguments.json {
        print::data(&format!("{:#}\n", json!(rows)))?;
    } else if rows.is_empty() {
        print::notice("no journal of an interrupted run");
    }
    found
        .unfinished
        .iter()
        .filter(|left| !is_run(left))
        .for_each(tell_unfinished);
    exit = exit.or_worse(tell_undo_logs(&data.tests));
    if found.live_count > 0 {
        print::notice(&format!(
            "left alone: {} of runs under way",
            found.live_count
        ));
    }
    for error in &found.unusable {
        print::error(
            &CommandError::from_error(Exit::Trouble, error)
                .hint("it was left as it is; delete it when you do not need it"),
        );
        exit = Exit::Trouble;
    }
    Ok(exit)
}

/// Shows how unfinished work continues.
fn tell_unfinished(left: &Content) {
    let (job, target) = (left.head.job, &left.head.target);
    let command = match job {
        JobKind::Crosscheck => "cardmark-crosscheck".to_owned(),
        _ => format!("cardmark {}", job.name()),
    };
    let how = match job {
        JobKind::Probe | JobKind::Anatomy => "of the same card restores it and begins again",
        JobKind::Campaign => "continues",
        _ => "of the same card continues",
    };
    print::notice(&format!(
        "unfinished: `{command} {target}` {how} (`{}`)",
        left.path.display()
    ));
}

/// Names the undo logs in that folder.
fn tell_undo_logs(folder: &Path) -> Exit {
    let names = match names_in(folder) {
        Ok(names) => names,
        Err(error) => {
            let what = format!("cannot list unfinished tests in `{}`", folder.display());
            print::error(&CommandError::new(Exit::Trouble, what).because(error.to_string()));
            return Exit::Trouble;
        }
    };
    for name in names {
        let path = folder.join(&name);
        let name = name.to_string_lossy();
        let is_lone_map = name
            .strip_suffix("-map")
            .is_some_and(|log| log.ends_with(".undo") && !folder.join(log).exists());
        if name.ends_with(".undo") || is_lone_map {
            print::notice(&format!(
                "`{}` belongs to an interrupted test of a card: insert that card, and `cardmark probe DEVICE`, \
                 run with this folder and this store, restores it first",
                path.display()
            ));
        }
    }
    Exit::Done
}

/// Returns the names of a folder, sorted; none if there is no folder.
fn names_in(folder: &Path) -> std::io::Result<Vec<OsString>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name()));
    let mut names: Vec<OsString> = names.collect::<std::io::Result<_>>()?;
    names.sort();
    Ok(names)
}

/// Stores the record of a run's journal and removes the journal; returns what was done, and the record.
///
/// The store may have a record of that id: the run had ended between storing it and removing its
/// journal, or a simulated run was repeated, whose record is the same whenever it is made.
fn keep<'a>(
    store: &mut Store,
    left: &'a Content,
) -> Result<(&'static str, &'a Record), CommandError> {
    let Some(recovered) = &left.record else {
        return Err(CommandError::new(
            Exit::Trouble,
            "the run ended before its first trial",
        ));
    };
    let id = recovered.id;
    let state = if store.contains(id)? {
        let stored = store.find(&id.to_string())?.record;
        let is_simulated = stored.origin.kind == OriginKind::Simulated;
        if !is_simulated && stored.trials.len() < recovered.trials.len() {
            let what = format!("the store holds less of run {id} than its journal");
            return Err(CommandError::new(Exit::Trouble, what));
        }
        "already kept"
    } else {
        store.insert(&unstated(&partial(recovered, left.note.as_deref())?))?;
        "recovered"
    };
    discard(&left.path).map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
    Ok((state, recovered))
}

/// The record of a run that ended without a word: what the journal holds, and that it is partial.
fn partial(recovered: &Record, note: Option<&str>) -> Result<Record, CommandError> {
    let mut header = recovered.clone();
    if header.method != Some(METHOD) {
        let what = format!(
            "run {} was measured by another version of the method",
            header.id
        );
        return Err(CommandError::new(Exit::Trouble, what)
            .because(format!("this program derives figures by method {METHOD}"))
            .hint("recover it with the program that made it"));
    }
    let known = header.suite.clone();
    let name = known.as_ref().map_or("", |suite| suite.name.as_str());
    let version = known.as_ref().map(|suite| suite.version);
    let suite = cardmark_catalog::suite(name, version).map_err(|error| {
        CommandError::from_error(Exit::Trouble, &error)
            .because(format!("run {} was made by it", header.id))
            .hint("recover it with the program that made it")
    })?;
    let mut detail = "the run ended without a word; its journal was recovered".to_owned();
    if let Some(note) = note {
        detail.push_str(&format!(" ({note})"));
    }
    let interrupted = Finding::new(FindingKind::Interrupted, Severity::Error, detail);
    header.findings.push(interrupted.by_run());
    let trials = std::mem::take(&mut header.trials);
    let outcome = RunResult {
        trials,
        ..RunResult::default()
    };
    let mut record = record(header, outcome, &suite);
    notice(&mut record);
    record.derived = judge(&record, Some(&suite));
    advise(&mut record);
    Ok(record)
}
