//! The program `cardmark-crosscheck`: see the library.

mod plain;

use std::io::Write;
use std::process::ExitCode;

use cardmark_crosscheck::{CrosscheckRequest, crosscheck};
use cardmark_report::{Agreement, Style, agreement_table};
use cardmark_session::{CommandError, Consent, Data, Exit, Voice};
use clap::Parser;

use crate::plain::PLAIN;

/// Columns of the table.
const COLUMNS: usize = 120;

const EXAMPLES: &str = "\
Examples:
  cardmark-crosscheck /mnt/card
          all tools that are installed
  cardmark-crosscheck /mnt/card --only hdparm_t,dd_write
          two of them

Exit codes: 0 all was compared · 2 asked wrongly · 3 a tool failed or something is missing · 4 refused";

/// Run the original tools and ours in turn on a target, and compare
#[derive(Debug, Parser)]
#[command(name = "cardmark-crosscheck", version, max_term_width = 100, after_help = EXAMPLES)]
struct Arguments {
    /// A directory or a block device. A device is written all over: what is on it is lost, and
    /// model and size have to be typed before
    #[arg(default_value = ".")]
    target: String,
    /// Only contests with these workloads, such as `hdparm_t,fio_rand_read_q32`
    #[arg(long, value_delimiter = ',', value_name = "ID,…")]
    only: Vec<String>,
    /// At most this many pairs of each; fewer where the ratio is known to ± 1.5 % before
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000), value_name = "N")]
    pairs: u32,
    /// Begin again instead of continuing an interrupted crosscheck of this target
    #[arg(long)]
    restart: bool,
    /// Write to a block device without asking, if it has that serial number: what is on it is lost
    #[arg(long, requires = "device_serial")]
    yes: bool,
    /// Serial number of the block device that may be written; of a loop device, the path of its file
    #[arg(long, requires = "yes", value_name = "SERIAL")]
    device_serial: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let exit = checked(&Arguments::parse()).unwrap_or_else(|error| {
        PLAIN.error(&error);
        error.exit
    });
    ExitCode::from(exit.code())
}

/// Runs the originals and ours in turn, and shows how they compare.
fn checked(arguments: &Arguments) -> Result<Exit, CommandError> {
    let data = Data::from_environment()?;
    let checked = crosscheck(&CrosscheckRequest {
        target: &arguments.target,
        only: &arguments.only,
        most_pairs: arguments.pairs,
        restart: arguments.restart,
        consent: &Consent {
            yes: arguments.yes,
            device_serial: arguments.device_serial.clone(),
        },
        voice: &PLAIN,
        data: &data,
    })?;
    let text = shown(&checked.agreements, arguments.json)?;
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| {
            CommandError::new(Exit::Trouble, "cannot write to standard output")
                .because(error.to_string())
        })?;
    Ok(checked.exit)
}

fn shown(agreements: &[Agreement], as_json: bool) -> Result<String, CommandError> {
    if as_json {
        let rows: Vec<_> = agreements.iter().map(Agreement::row).collect();
        return serde_json::to_string_pretty(&rows)
            .map(|text| text + "\n")
            .map_err(|error| CommandError::from_error(Exit::Bug, &error));
    }
    if agreements.is_empty() {
        return Ok("nothing was compared\n".to_owned());
    }
    Ok(agreement_table(agreements, COLUMNS, Style::Plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_documents_are_accepted() {
        for command in cardmark_documents::commands_of("cardmark-crosscheck") {
            let parsed = Arguments::try_parse_from(&command.words);
            assert!(parsed.is_ok(), "{command}: {parsed:?}");
        }
    }
}
