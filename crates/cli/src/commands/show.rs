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
        statement,
    } = Runs::default().one(&arguments.run)?;
    if arguments.json {
        let statement = statement.as_ref().map(print::statement).transpose()?;
        let lines = std::iter::once(document.as_str()).chain(statement.as_deref());
        print::result(&lines.map(print::shown).collect::<Result<String, _>>()?)?;
        return Ok(Exit::Done);
    }
    let again = rates_again(&record)?;
    let text = terminal_with_again(&record, &again, print::width(), print::style());
    print::result(&text)?;
    Ok(Exit::Done)
}
