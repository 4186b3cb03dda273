//! `cardmark show`.

use cardmark_report::{Beside, terminal_with};

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
        statement,
    } = Runs::default().one(&arguments.run)?;
    if arguments.json {
        let statement = statement.as_ref().map(print::statement).transpose()?;
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
    let text = terminal_with(&record, &beside, print::width(), print::style());
    print::result(&text)?;
    Ok(Exit::Done)
}
