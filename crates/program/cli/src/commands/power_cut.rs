//! `cardmark power-cut`.

use std::time::Duration;

use cardmark_session::{CutDone, CutRequest, CutTarget, Session, TestResult};

use crate::args::PowerCutArguments;
use crate::commands::tests_of_devices::{opened_data, show_result};
use crate::error::{CommandError, Exit};
use crate::terminal::TERMINAL;

/// Writes until the power is cut, or checks after it.
pub(crate) fn power_cut(arguments: &PowerCutArguments) -> Result<Exit, CommandError> {
    let name = &arguments.target;
    let log = arguments.log.as_ref().map(|log| match arguments.check {
        true => log.read_first(),
        false => log.destination(),
    });
    let log = log.transpose()?;
    let target = CutTarget::named(name)?;
    let data = opened_data()?;
    let session = Session::new(&TERMINAL, &data, arguments.timeout);
    let show = |result: &TestResult| show_result(result, &data, arguments.json);
    if let (true, Some(log)) = (arguments.check, &log) {
        let result = cardmark_session::check_power_cut(&session, name, &target, log)?;
        return show(&result);
    }
    let request = CutRequest {
        log,
        size_bytes: arguments.size,
        batch: arguments.batch,
        limit: Duration::from_secs(arguments.seconds),
        seed: arguments.seed,
    };
    match cardmark_session::power_cut(&session, name, &target, &request)? {
        CutDone::Tested(result) => show(&result),
        CutDone::Written(exit) => Ok(exit),
    }
}
