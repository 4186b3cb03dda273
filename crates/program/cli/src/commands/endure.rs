//! `cardmark endure`.

use cardmark_integrity::EndureEnd;
use cardmark_session::{EndureRequest, Session, Tested, is_resting, refuse_used};

use crate::args::EndureArguments;
use crate::error::{CommandError, Exit};
use crate::terminal::TERMINAL;
use crate::tests_of_devices::{opened_data, show_result};

const WHOLE: &str = "a device wears out as a whole";

/// Writes and reads a device until it fails.
pub(crate) fn endure(arguments: &EndureArguments) -> Result<Exit, CommandError> {
    let tested = Tested::checked(&arguments.device, WHOLE, |path, resolution| {
        let used = refuse_used(path, resolution);
        // A card that rested is only read: it may be write-protected by now.
        match used.is_err() && !arguments.restart && is_resting(resolution) {
            true => Ok(()),
            false => used,
        }
    })?;
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
