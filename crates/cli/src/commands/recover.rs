//! `cardmark recover`.

use cardmark_core::{Finding, FindingKind, Record, Severity};
use cardmark_engine::{Outcome, record};
use cardmark_store::{Recovered, Store, discard};
use serde_json::json;

use crate::args::RecoverArguments;
use crate::data::{Data, store_error};
use crate::error::{CommandError, Exit};
use crate::print;

/// Turns the journals of interrupted runs into partial records. A journal goes only once its
/// record is in the store; one of a run still under way is left alone.
pub(crate) fn recover(arguments: &RecoverArguments) -> Result<Exit, CommandError> {
    let data = Data::from_environment()?;
    let mut store = data.open()?;
    let found = cardmark_store::recover(&data.journals)
        .map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
    let mut rows = Vec::new();
    for recovered in &found.recovered {
        let record = keep(&mut store, recovered)?;
        rows.push(json!({"id": record.id, "trials_count": record.trials.len()}));
        if !arguments.json {
            print::result(&format!(
                "recovered {}: {} trials\n",
                record.id,
                record.trials.len()
            ))?;
        }
        discard(&recovered.path)
            .map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&rows).unwrap_or_default();
        print::result(&(text + "\n"))?;
    } else if rows.is_empty() {
        print::notice("no journal of an interrupted run");
    }
    let mut exit = Exit::Done;
    for error in &found.unusable {
        print::error(
            &CommandError::from_error(Exit::Trouble, error)
                .hint("it was left as it is; delete it when you do not need it"),
        );
        exit = Exit::Trouble;
    }
    Ok(exit)
}

/// Makes the record and stores it, unless the store already has it whole: then the run had ended
/// between storing and taking its journal away.
fn keep(store: &mut Store, recovered: &Recovered) -> Result<Record, CommandError> {
    let id = recovered.record.id;
    if store.contains(id).map_err(|error| store_error(&error))? {
        return Ok(recovered.record.clone());
    }
    let record = partial(recovered)?;
    store.insert(&record).map_err(|error| store_error(&error))?;
    Ok(record)
}

/// The record of a run that ended without a word: what the journal holds, and that it is partial.
fn partial(recovered: &Recovered) -> Result<Record, CommandError> {
    let mut header = recovered.record.clone();
    let name = header
        .suite
        .as_ref()
        .map(|suite| suite.name.clone())
        .unwrap_or_default();
    let suite = cardmark_catalog::suite(&name)
        .map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
    let mut detail = "the run ended without a word; its journal was recovered".to_owned();
    if let Some(note) = &recovered.note {
        detail.push_str(&format!(" ({note})"));
    }
    header.findings.push(Finding::new(
        FindingKind::Interrupted,
        Severity::Error,
        detail,
    ));
    let trials = std::mem::take(&mut header.trials);
    let outcome = Outcome {
        trials,
        ..Outcome::default()
    };
    Ok(record(header, outcome, &suite))
}
