//! `cardmark probe`.

use cardmark_session::{ProbeTerms, Session, Tested};

use crate::args::ProbeArguments;
use crate::commands::tests_of_devices::{opened_data, show_storage};
use crate::error::{CommandError, Exit};
use crate::terminal::TERMINAL;

const WHOLE: &str = "only a device as a whole has a capacity that can be a lie";

/// Finds out whether a device is a fake or broken.
pub(crate) fn probe(arguments: &ProbeArguments) -> Result<Exit, CommandError> {
    let loan = arguments.loan.terms()?;
    let tested = Tested::to_write(&arguments.device, WHOLE)?;
    let data = opened_data()?;
    let test = &arguments.test;
    let session = Session::new(&TERMINAL, &data, test.timeout);
    let consent = test.consent.given();
    let request = test.request(&consent, false);
    let terms = ProbeTerms {
        cache_bytes: arguments.cache,
        wait_s: arguments.wait.unwrap_or(0),
    };
    let result = cardmark_session::probe(&session, &tested, &request, &loan, terms)?;
    show_storage(&result, &data, test.json, &arguments.device)
}
