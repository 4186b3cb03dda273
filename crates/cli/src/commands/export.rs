//! `cardmark export`.

use cardmark_core::record_to_json;
use cardmark_report::{csv_heading, csv_rows};

use crate::args::{ExportArguments, ExportFormat};
use crate::error::{CommandError, Exit};
use crate::print;
use cardmark_session::Data;

/// Writes all runs, oldest first.
pub(crate) fn export(arguments: &ExportArguments) -> Result<Exit, CommandError> {
    let mut store = Data::from_environment()?.open()?;
    if arguments.format == ExportFormat::Csv {
        print::result(&csv_heading())?;
    }
    store.export(|record| {
        print::result(&match arguments.format {
            ExportFormat::Csv => csv_rows(record),
            ExportFormat::Jsonl => {
                let text = record_to_json(record)
                    .map_err(|error| CommandError::from_error(Exit::Bug, &error))?;
                text + "\n"
            }
        })
    })?;
    Ok(Exit::Done)
}
