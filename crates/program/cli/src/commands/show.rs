//! `cardmark show`.

use std::path::Path;

use cardmark_core::visible;
use cardmark_report::{Beside, terminal_with};
use uuid::Uuid;

use crate::args::ShowArguments;
use crate::error::{CommandError, Exit};
use crate::runs::again::rates_again;
use crate::runs::{One, Runs, short};
use crate::terminal::print;

/// Copies that are named.
const MOST_COPIES: usize = 3;

/// Shows a run.
pub(crate) fn show(arguments: &ShowArguments) -> Result<Exit, CommandError> {
    let mut runs = Runs::default();
    let One {
        record,
        document,
        statement,
    } = runs.one(&arguments.run)?;
    if arguments.json {
        let statement = statement.as_deref().map(visible);
        let lines = std::iter::once(document.as_str()).chain(statement.as_deref());
        print::data(&lines.map(print::shown).collect::<Result<String, _>>()?)?;
        return Ok(Exit::Done);
    }
    let again = match arguments.all {
        true => rates_again(&record)?,
        false => Vec::new(),
    };
    let beside = Beside {
        again: &again,
        all: arguments.all,
        ..Beside::default()
    };
    let mut text = terminal_with(&record, &beside, print::width(), print::style());
    if let Some(copies) = copies(&mut runs, &arguments.run, record.id)? {
        text += &format!("{copies}\n");
    }
    print::result(&text)?;
    Ok(Exit::Done)
}

/// Names the runs with the measurements of a stored run, if there are any.
fn copies(runs: &mut Runs, run: &str, id: Uuid) -> Result<Option<String>, CommandError> {
    let copies = match Path::new(run).is_file() {
        true => Vec::new(),
        false => runs.copies(id)?,
    };
    let named: Vec<&str> = copies
        .iter()
        .take(MOST_COPIES)
        .map(|id| short(id))
        .collect();
    let more = match copies.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Ok(match named.as_slice() {
        [] => None,
        [one] => Some(format!("same measurements as run {one}")),
        _ => Some(format!(
            "same measurements as runs {}{more}",
            named.join(", ")
        )),
    })
}
