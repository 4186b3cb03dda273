//! Common parts of the commands that test devices.

use cardmark_session::{Data, TestResult};

use crate::error::{CommandError, Exit};
use crate::print;

/// The places of the store, which can be opened: a broken store is reported before anything is measured.
pub(crate) fn opened_data() -> Result<Data, CommandError> {
    let data = Data::from_environment()?;
    data.open()?;
    Ok(data)
}

/// Shows the result of a test, and its errors.
pub(crate) fn show_result(
    result: &TestResult,
    data: &Data,
    as_json: bool,
) -> Result<Exit, CommandError> {
    let text = match as_json {
        true => print::run_file(&result.record)?,
        false => cardmark_report::terminal(&result.record, print::width(), print::style()),
    };
    print::output(as_json, &text)?;
    let mut exit = result.exit;
    for error in &result.errors {
        print::error(error);
        exit = exit.or_worse(error.exit);
    }
    if result.errors.is_empty() {
        print::owner(data);
    }
    Ok(exit)
}
