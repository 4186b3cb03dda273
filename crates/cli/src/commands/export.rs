//! `cardmark export`.

use cardmark_core::{Record, record_to_json};
use cardmark_report::csv;

use crate::args::{ExportArguments, ExportFormat};
use crate::data::Data;
use crate::error::{CommandError, Exit};
use crate::print;

/// Writes all runs, oldest first.
pub(crate) fn export(arguments: &ExportArguments) -> Result<Exit, CommandError> {
    let mut store = Data::from_environment()?.open()?;
    if arguments.format == ExportFormat::Csv {
        print::result(&csv(&[]))?;
    }
    store.export(|record| {
        print::result(&match arguments.format {
            ExportFormat::Csv => rows(record),
            ExportFormat::Jsonl => {
                let text = record_to_json(record)
                    .map_err(|error| CommandError::from_error(Exit::Bug, &error))?;
                text + "\n"
            }
        })
    })?;
    Ok(Exit::Done)
}

/// The lines of one record, without the heading.
fn rows(record: &Record) -> String {
    let text = csv(std::slice::from_ref(record));
    text.split_once('\n').map(|(_, rows)| rows.to_owned()).unwrap_or_default()
}
