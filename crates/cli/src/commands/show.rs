//! `cardmark show`.

use std::path::Path;

use cardmark_core::{Record, parse_record};
use cardmark_report::terminal;

use super::pretty;
use crate::args::ShowArguments;
use crate::data::{Data, store_error};
use crate::error::{CommandError, Exit};
use crate::print;

/// Largest record file that is read, bytes. A run's record has some hundred kilobytes.
const LARGEST_FILE_BYTES: u64 = 64 << 20;

/// Shows a run.
pub(crate) fn show(arguments: &ShowArguments) -> Result<Exit, CommandError> {
    let (record, remarks) = load(&arguments.run)?;
    if arguments.json {
        print::result(&pretty(&record)?)?;
        return Ok(Exit::Done);
    }
    let mut text = terminal(&record, print::width(), print::style());
    for (key, value) in remarks {
        text.push_str(&format!("remark: {key} = {value}\n"));
    }
    print::result(&text)?;
    Ok(Exit::Done)
}

/// A run with the remarks added later: from a file, or from the store.
fn load(run: &str) -> Result<(Record, Vec<(String, String)>), CommandError> {
    let path = Path::new(run);
    if path.is_file() {
        return Ok((read_file(path)?, Vec::new()));
    }
    let mut store = Data::from_environment()?.open()?;
    let found = store.find(run).map_err(|error| store_error(&error))?;
    let said = |key: &String, value: &String| found.record.labels.get(key) == Some(value);
    let later = found.labels.iter().filter(|(key, value)| !said(key, value));
    let remarks = later
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    Ok((found.record, remarks))
}

fn read_file(path: &Path) -> Result<Record, CommandError> {
    let shown = path.display();
    let trouble = |cause: String| {
        CommandError::new(Exit::Trouble, format!("cannot read record `{shown}`")).because(cause)
    };
    let size = std::fs::metadata(path)
        .map_err(|error| trouble(error.to_string()))?
        .len();
    if size > LARGEST_FILE_BYTES {
        return Err(trouble(format!("it has {size} bytes; a record has fewer")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| trouble(error.to_string()))?;
    parse_record(&text).map_err(|error| {
        let mut made = CommandError::from_error(Exit::Usage, &error);
        made.what = format!("cannot read record `{shown}`");
        made.because(error.to_string())
    })
}
