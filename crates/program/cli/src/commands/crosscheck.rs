//! `cardmark crosscheck`.

use cardmark_crosscheck::CrosscheckRequest;
use cardmark_report::{Agreement, agreement_table};
use cardmark_session::Data;

use crate::args::CrosscheckArguments;
use crate::error::{CommandError, Exit};
use crate::print;
use crate::terminal::TERMINAL;

/// Runs the originals and ours in turn, and shows how they compare.
pub(crate) fn crosscheck(arguments: &CrosscheckArguments) -> Result<Exit, CommandError> {
    let data = Data::from_environment()?;
    let checked = cardmark_crosscheck::crosscheck(&CrosscheckRequest {
        target: &arguments.target,
        only: &arguments.only,
        most_pairs: arguments.pairs,
        restart: arguments.restart,
        consent: &arguments.consent.given(),
        voice: &TERMINAL,
        data: &data,
    })?;
    show(&checked.agreements, arguments.json)?;
    Ok(checked.exit)
}

fn show(agreements: &[Agreement], as_json: bool) -> Result<(), CommandError> {
    if as_json {
        let rows: Vec<_> = agreements.iter().map(Agreement::row).collect();
        return print::data(&print::pretty(&rows)?);
    }
    if agreements.is_empty() {
        return print::result("nothing was compared\n");
    }
    print::result(&agreement_table(agreements, print::width(), print::style()))
}
