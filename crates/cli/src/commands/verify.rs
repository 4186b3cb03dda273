//! `cardmark verify`.

use cardmark_session::{Session, VerifyTarget};

use crate::args::VerifyArguments;
use crate::error::{CommandError, Exit};
use crate::terminal::TERMINAL;
use crate::tests_of_devices::{opened_data, show_storage};

/// Writes and reads every block.
pub(crate) fn verify(arguments: &VerifyArguments) -> Result<Exit, CommandError> {
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
