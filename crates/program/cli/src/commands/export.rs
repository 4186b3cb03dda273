//! `cardmark export`.

use std::collections::BTreeSet;

use cardmark_core::{Record, Statement, parse_statement, public_form, visible};
use cardmark_report::{csv_heading, csv_rows};

use crate::args::{ExportArguments, ExportFormat};
use crate::error::{CommandError, Exit};
use crate::terminal::print;
use cardmark_session::{Data, Since, States, last_looks};

/// Writes runs, oldest first, each with what the user states of it; if since a time, then the last looks before them.
pub(crate) fn export(arguments: &ExportArguments) -> Result<Exit, CommandError> {
    let data = Data::from_environment()?;
    // None is made: a card that has become read-only has looks to export.
    let mut store = match data.database.try_exists() {
        Ok(false) => None,
        _ => Some(data.open()?),
    };
    let since = arguments.since;
    let is_wanted = |stored_s: i64| since.is_none_or(|since| since.holds(stored_s));
    if arguments.format == ExportFormat::Jsonl && !arguments.public {
        let looks_count = since.map_or(Ok(0), |_| looks())?;
        let mut count = 0;
        if let Some(store) = &mut store {
            store.documents_stored(is_wanted, |document, stated| {
                count += 1;
                print::data(&format!("{document}\n{}", line(stated)))
            })?;
        }
        note_if_none(count, since);
        if since.is_some() && looks_count == 0 {
            print::notice(
                "no look of `cardmark watch`; those of root are exported by `sudo cardmark export`",
            );
        }
        return Ok(Exit::Done);
    }
    let keep: Vec<&str> = arguments.keep.iter().map(String::as_str).collect();
    let mut withheld = BTreeSet::new();
    if arguments.format == ExportFormat::Csv {
        print::data(&csv_heading())?;
    }
    let mut count = 0;
    if let Some(store) = &mut store {
        store.export_stored(is_wanted, |record, _, stated| {
            count += 1;
            let public = arguments.public.then(|| public_form(record, &keep));
            let record = public.as_ref().map_or(record, |form| &form.record);
            let text = match arguments.format {
                ExportFormat::Csv => csv_rows(record),
                ExportFormat::Jsonl => print::document(record)? + &restated(record, stated)?,
            };
            withheld.extend(public.into_iter().flat_map(|form| form.withheld));
            print::data(&text)
        })?;
    }
    if !withheld.is_empty() {
        let names: Vec<&str> = withheld.iter().map(String::as_str).collect();
        print::notice(&format!(
            "withheld: {}; `--keep FIELD` keeps one",
            names.join(", ")
        ));
    }
    note_if_none(count, since);
    Ok(Exit::Done)
}

/// Writes the last look at each target. Returns their number.
fn looks() -> Result<usize, CommandError> {
    let states = States::from_environment();
    let looks = states.as_ref().map(last_looks).unwrap_or_default();
    for look in &looks {
        print::data(&print::one_line(look)?)?;
    }
    Ok(looks.len())
}

fn note_if_none(count: usize, since: Option<Since>) {
    match (count, since) {
        (0, None) => print::notice("no runs yet: the export is empty"),
        (0, Some(_)) => print::notice("no run was stored since then"),
        _ => {}
    }
}

fn line(stated: Option<&str>) -> String {
    stated.map_or_else(String::new, |text| visible(text).into_owned() + "\n")
}

/// The statement of the labels that the public form left.
fn restated(record: &Record, stated: Option<&str>) -> Result<String, CommandError> {
    let Some(stated) = stated else {
        return Ok(String::new());
    };
    let stated =
        parse_statement(stated).map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
    print::statement(&Statement::of(record.id, stated.revision, &record.labels))
}
