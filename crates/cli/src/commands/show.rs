//! `cardmark show`.

use cardmark_report::terminal_with_again;

use crate::again::rates_again;
use crate::args::ShowArguments;
use crate::error::{CommandError, Exit};
use crate::print;
use crate::runs::{One, Runs};

/// Shows a run.
pub(crate) fn show(arguments: &ShowArguments) -> Result<Exit, CommandError> {
    let One {
        record,
        document,
        remarks,
    } = Runs::default().one(&arguments.run)?;
    if arguments.json {
        print::result(&print::shown(&document)?)?;
        return Ok(Exit::Done);
    }
    let again = rates_again(&record, &remarks)?;
    let mut text = terminal_with_again(&record, &again, print::width(), print::style());
    for (key, value) in remarks {
        text.push_str(&format!("remark: {key} = {value}\n"));
    }
    print::result(&text)?;
    Ok(Exit::Done)
}
