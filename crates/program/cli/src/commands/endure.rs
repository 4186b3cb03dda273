//! `cardmark endure`.

use cardmark_integrity::EndureEnd;
use cardmark_session::{Data, EndureRequest, Session, to_endure};

use crate::args::EndureArguments;
use crate::commands::tests_of_devices::{opened_data, show_result};
use crate::error::{CommandError, Exit};
use crate::terminal::TERMINAL;

/// Writes and reads a device until it fails.
pub(crate) fn endure(arguments: &EndureArguments) -> Result<Exit, CommandError> {
    let known = Data::from_environment().ok();
    let tested = to_endure(&arguments.device, arguments.restart, known.as_ref())?;
    let data = opened_data()?;
    let test = &arguments.test;
    let session = Session::new(&TERMINAL, &data, test.timeout);
    let consent = test.consent.given();
    let request = EndureRequest {
        test: test.request(&consent, arguments.restart),
        end: EndureEnd {
            bad_share: arguments.until / 100.0,
            most_bytes: arguments.budget,
            most_cycles: arguments.cycles,
        },
        after_days: arguments.after,
    };
    let result = cardmark_session::endure(&session, &tested, &request)?;
    show_result(&result, &data, test.json)
}
