//! `cardmark verify`.

use cardmark_session::{Session, Tested, VerifyTarget};

use crate::args::VerifyArguments;
use crate::commands::tests_of_devices::{opened_data, show_result, show_storage};
use crate::error::{CommandError, Exit};
use crate::terminal::TERMINAL;

const WHOLE: &str = "`--read-only` reads a device as a whole";

/// Writes and reads every block.
pub(crate) fn verify(arguments: &VerifyArguments) -> Result<Exit, CommandError> {
    if arguments.read_only {
        return read(arguments);
    }
    let target = VerifyTarget::named(&arguments.target)?;
    let data = opened_data()?;
    let test = &arguments.test;
    let session = Session::new(&TERMINAL, &data, test.timeout);
    let consent = test.consent.given();
    let request = test.request(&consent, arguments.restart);
    let (name, scope) = (&arguments.target, arguments.scope());
    let result = cardmark_session::verify(&session, name, &target, &request, &scope)?;
    show_storage(&result, &data, test.json, name)
}

/// Reads every block, and writes nothing.
fn read(arguments: &VerifyArguments) -> Result<Exit, CommandError> {
    let tested = Tested::to_read(&arguments.target, WHOLE)?;
    let data = opened_data()?;
    let test = &arguments.test;
    let session = Session::new(&TERMINAL, &data, test.timeout);
    let scope = arguments.scope();
    let result = cardmark_session::verify_reading(&session, &tested, test.seed, &scope)?;
    show_result(&result, &data, test.json)
}
