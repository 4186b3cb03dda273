//! `cardmark show`.

use cardmark_report::terminal;

use super::pretty;
use crate::args::ShowArguments;
use crate::error::{CommandError, Exit};
use crate::print;
use crate::runs::Runs;

/// Shows a run.
pub(crate) fn show(arguments: &ShowArguments) -> Result<Exit, CommandError> {
    let (record, remarks) = Runs::default().one(&arguments.run)?;
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
