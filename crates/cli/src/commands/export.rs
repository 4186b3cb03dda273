//! `cardmark export`.

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
    store.export(|record, document| {
        print::result(&match arguments.format {
            ExportFormat::Csv => csv_rows(record),
            ExportFormat::Jsonl => document.to_owned() + "\n",
        })
    })?;
    Ok(Exit::Done)
}
