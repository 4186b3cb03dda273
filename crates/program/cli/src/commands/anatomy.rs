//! `cardmark anatomy`.

use cardmark_integrity::LEAST_UNIT_BYTES;
use cardmark_report::text;
use cardmark_session::{Session, Tested};

use crate::args::AnatomyArguments;
use crate::commands::tests_of_devices::{opened_data, show_result};
use crate::error::{CommandError, Exit};
use crate::terminal::TERMINAL;

const WHOLE: &str = "only a device as a whole lies on its own units";

/// Finds out how the inside of a card is made.
pub(crate) fn anatomy(arguments: &AnatomyArguments) -> Result<Exit, CommandError> {
    let loan = arguments.loan.terms()?;
    if let Some(bytes) = arguments.unit.filter(|&bytes| bytes < LEAST_UNIT_BYTES) {
        let what = format!("units of {} are too small", text::size(bytes));
        return Err(CommandError::new(Exit::Usage, what).because(format!(
            "{} are written to each",
            text::size(LEAST_UNIT_BYTES)
        )));
    }
    let tested = match arguments.read_only {
        true => Tested::to_read(&arguments.device, WHOLE)?,
        false => Tested::to_write(&arguments.device, WHOLE)?,
    };
    let data = opened_data()?;
    let test = &arguments.test;
    let session = Session::new(&TERMINAL, &data, test.timeout);
    let consent = test.consent.given();
    let request = test.request(&consent, false);
    let units = (!arguments.read_only, arguments.unit);
    let result = cardmark_session::anatomy(&session, &tested, &request, &loan, units)?;
    show_result(&result, &data, test.json)
}
