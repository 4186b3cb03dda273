//! `cardmark export`.

use std::collections::BTreeSet;

use cardmark_core::{Record, Statement, public_form};
use cardmark_report::{csv_heading, csv_rows};

use crate::args::{ExportArguments, ExportFormat};
use crate::error::{CommandError, Exit};
use crate::print;
use cardmark_session::Data;

/// Writes all runs, oldest first, each with what the user states of it.
pub(crate) fn export(arguments: &ExportArguments) -> Result<Exit, CommandError> {
    let mut store = Data::from_environment()?.open()?;
    if arguments.format == ExportFormat::Jsonl && !arguments.public {
        store
            .documents(|document, stated| print::data(&format!("{document}\n{}", line(stated)?)))?;
        return Ok(Exit::Done);
    }
    let keep: Vec<&str> = arguments.keep.iter().map(String::as_str).collect();
    let mut withheld = BTreeSet::new();
    if arguments.format == ExportFormat::Csv {
        print::data(&csv_heading())?;
    }
    store.export(|record, _, stated| {
        let public = arguments.public.then(|| public_form(record, &keep));
        let record = public.as_ref().map_or(record, |form| &form.record);
        let text = match arguments.format {
            ExportFormat::Csv => csv_rows(record),
            ExportFormat::Jsonl => print::document(record)? + &restated(record, stated)?,
        };
        withheld.extend(public.into_iter().flat_map(|form| form.withheld));
        print::data(&text)
    })?;
    if !withheld.is_empty() {
        let names: Vec<&str> = withheld.iter().map(String::as_str).collect();
        print::notice(&format!(
            "withheld: {}; `--keep FIELD` keeps one",
            names.join(", ")
        ));
    }
    Ok(Exit::Done)
}

fn line(stated: Option<&Statement>) -> Result<String, CommandError> {
    stated.map_or_else(|| Ok(String::new()), print::statement)
}

/// The statement of the labels that the public form left.
fn restated(record: &Record, stated: Option<&Statement>) -> Result<String, CommandError> {
    let public = stated.map(|stated| Statement::of(record.id, stated.revision, &record.labels));
    line(public.as_ref())
}
