//! `cardmark verify`.

use cardmark_session::{Chosen, Session, choose, refuse_used};

use super::{opened_data, show_result};
use crate::args::VerifyArguments;
use crate::error::{CommandError, Exit};
use crate::print::TERMINAL;

/// Writes and reads every block.
pub(crate) fn verify(arguments: &VerifyArguments) -> Result<Exit, CommandError> {
    let chosen = choose(&arguments.target)?;
    if let Chosen::Real { path, resolution } = &chosen {
        refuse_used(path, resolution)?;
    }
    let data = opened_data()?;
    let test = &arguments.test;
    let session = Session::new(&TERMINAL, &data, test.timeout);
    let consent = test.consent.given();
    let request = test.request(&consent, arguments.restart);
    let target = &arguments.target;
    let result = cardmark_session::verify(&session, target, chosen, &request, arguments.size)?;
    show_result(&result, &data, test.json)
}
