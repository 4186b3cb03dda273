//! The commands.

mod anatomy;
mod beginner;
mod campaign;
mod compare;
mod endure;
mod explain;
mod export;
mod fleet;
mod generate;
mod history;
mod import;
mod info;
mod label;
mod list;
mod open;
mod power_cut;
mod prepare;
mod probe;
mod rank;
mod recommend;
mod recover;
mod report;
mod run;
mod show;
mod submit;
mod tests_of_devices;
mod verify;
mod watch;

use crate::args::{Arguments, Command};
use crate::error::{CommandError, Exit};
use crate::runs::defaults::{report_of_last, sides_of_comparison};

/// Executes what was asked for.
pub(crate) fn execute(arguments: Arguments) -> Result<Exit, CommandError> {
    match arguments.command {
        None => beginner::beginner(execute),
        Some(Command::Run(arguments)) => run::run(&arguments),
        Some(Command::Prepare(arguments)) => prepare::prepare(&arguments),
        Some(Command::Probe(arguments)) => probe::probe(&arguments),
        Some(Command::Verify(arguments)) => verify::verify(&arguments),
        Some(Command::Endure(arguments)) => endure::endure(&arguments),
        Some(Command::PowerCut(arguments)) => power_cut::power_cut(&arguments),
        Some(Command::Anatomy(arguments)) => anatomy::anatomy(&arguments),
        Some(Command::Info(arguments)) => info::info(&arguments),
        Some(Command::Watch(arguments)) => watch::watch(&arguments),
        Some(Command::Fleet(arguments)) => fleet::fleet(&arguments),
        Some(Command::Explain(arguments)) => explain::explain(&arguments),
        Some(Command::Compare(mut arguments)) => {
            (arguments.base, arguments.others) =
                sides_of_comparison(&arguments.base, &arguments.others)?;
            compare::compare(&arguments)
        }
        Some(Command::Rank(arguments)) => rank::rank(&arguments),
        Some(Command::History(arguments)) => history::history(&arguments),
        Some(Command::Recommend(arguments)) => recommend::recommend(&arguments),
        Some(Command::Import(arguments)) => import::import(&arguments),
        Some(Command::Report(mut arguments)) => {
            arguments.runs = report_of_last(&arguments.runs)?;
            report::report(&arguments)
        }
        Some(Command::Campaign(arguments)) => campaign::campaign(&arguments),
        Some(Command::Show(arguments)) => show::show(&arguments),
        Some(Command::Open(arguments)) => open::open(&arguments),
        Some(Command::List(arguments)) => list::list(&arguments),
        Some(Command::Label(arguments)) => label::label(&arguments),
        Some(Command::Export(arguments)) => export::export(&arguments),
        Some(Command::Submit(arguments)) => submit::submit(&arguments),
        Some(Command::Recover(arguments)) => recover::recover(&arguments),
        Some(Command::Generate(arguments)) => generate::generate(&arguments),
    }
}
