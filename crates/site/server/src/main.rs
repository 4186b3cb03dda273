//! `cardmark-site`: a results site.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use cardmark_core::visible;
use cardmark_site::{
    Config, Removal, Removals, SiteError, account_add, account_list, account_remove, chain, derive,
    dump, export, import, openapi_json, read_upload, rebuild, serve, withdraw,
};
use cardmark_site_data::{Dumped, Imported};
use cardmark_site_store::{Rebuilt, Removed};
use clap::{Parser, Subcommand};
use uuid::Uuid;

/// A results site for cardmark: one process and one SQLite file, or several with PostgreSQL.
#[derive(Parser)]
#[command(name = "cardmark-site", version, after_help = HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Answers requests until SIGTERM or Ctrl-C; the default
    Serve,
    /// Derives everything again from the received bytes
    Rebuild,
    /// Writes all data as a new folder: JSON lines, Parquet, and a list of files
    Dump {
        /// A folder that is not there yet
        folder: PathBuf,
    },
    /// Fills an empty database from a dump, after checking all of it
    Import {
        /// The folder of the dump
        folder: PathBuf,
    },
    /// Writes all pages and a dump as a new folder, which needs no server
    Export {
        /// A folder that is not there yet
        #[arg(long = "static", value_name = "FOLDER")]
        folder: PathBuf,
    },
    /// Derives parts of a dump's documents again into tables (Parquet); prints a line for each part
    Derive {
        /// Files of `documents/`; `-` reads paths from standard input, one a line
        #[arg(required = true, value_name = "FILE")]
        parts: Vec<PathBuf>,
        /// Folder for the tables
        #[arg(long, value_name = "FOLDER")]
        to: PathBuf,
    },
    /// Withdraws runs for good, as their owners would; needs no token, and is possible while the site runs
    Withdraw {
        /// Ids of runs
        #[arg(value_name = "RUN", required_unless_present = "as_in")]
        runs: Vec<Uuid>,
        /// Withdraws the runs of this dump's tombstones that are still here, as after restoring a backup
        #[arg(long, value_name = "DUMP", conflicts_with = "runs")]
        as_in: Option<PathBuf>,
    },
    /// Adds, lists or removes accounts of moderators; possible while the site runs
    #[command(subcommand)]
    Account(AccountCommand),
    /// Prints the description of the API (OpenAPI)
    Openapi,
    /// Reads an upload for a site that runs
    #[command(hide = true)]
    ReadUpload,
}

#[derive(Subcommand)]
enum AccountCommand {
    /// Adds an account and prints the secret of its one-time codes
    ///
    /// The password is asked for without showing it, or read as one line if standard input is no terminal.
    Add {
        /// Name, which everybody sees beside the acts of the account
        name: String,
    },
    /// Lists all accounts
    List,
    /// Removes an account and ends its sessions; its acts stay
    Remove {
        /// Name
        name: String,
    },
}

const HELP: &str = "\
Environment (or the file named by CARDMARK_SITE_CONFIG, in TOML, with the names in brackets):
  CARDMARK_LISTEN         address and port; 127.0.0.1:8080 [listen]
  CARDMARK_DATABASE_URL   sqlite:FILE or postgres://…; a file in the data folder [database_url]
  CARDMARK_ORIGIN         https://HOST, as readers reach the site; the address it listens on [origin]
  CARDMARK_DUMPS          folder for a daily dump, shown at /data [dumps, folder]
  CARDMARK_REPLICA_URL    a second PostgreSQL that answers lists [replica_url]
  CARDMARK_SITE_SECRET    any long text; the same for all instances [secret]
  CARDMARK_BEHIND_PROXY   1 if a proxy in front sets X-Forwarded-For [behind_proxy]

Examples:
  cardmark-site                                          on http://127.0.0.1:8080
  CARDMARK_DATABASE_URL=postgres:///cards cardmark-site  one of several instances
  cardmark-site account add anna                         a moderator's account
  cardmark-site withdraw --as-in DUMP                    withdrawals that came after a restored backup
  cardmark-site openapi > openapi.json";

/// Time for threads that are still at work at the end.
const BLOCKED_TIME: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return not_understood(&error),
    };
    if let Some(Command::Openapi) = arguments.command {
        return ended(openapi_json().map(|text| show_text(&text)));
    }
    if let Some(Command::Derive { parts, to }) = &arguments.command {
        return ended(derive(parts, to, show_text));
    }
    if let Some(Command::ReadUpload) = arguments.command {
        return ended(read_upload());
    }
    let config = match Config::from_environment() {
        Ok(config) => config,
        Err(error) => return failed(&error.to_string()),
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.to_string()),
    };
    let result = runtime.block_on(async {
        match arguments.command {
            Some(Command::Dump { folder }) => dump(&config, &folder)
                .await
                .map(|dumped| show_dump(&dumped)),
            Some(Command::Import { folder }) => {
                let imported = import(&config, &folder).await;
                imported.map(|imported| show_import(&imported))
            }
            Some(Command::Export { folder }) => {
                let count = export(config, &folder).await;
                count.map(|count| show_text(&format!("{count} pages")))
            }
            Some(Command::Rebuild) => rebuild(&config).await.map(|rebuilt| show(&rebuilt)),
            Some(Command::Withdraw { runs, as_in }) => removed(&config, runs, as_in).await,
            Some(Command::Account(command)) => account(&config, command).await,
            _ => serve(config).await,
        }
    });
    // Work that blocks is not waited for.
    runtime.shutdown_timeout(BLOCKED_TIME);
    ended(result)
}

fn ended(result: Result<(), SiteError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&chain(&error)),
    }
}

async fn account(config: &Config, command: AccountCommand) -> Result<(), SiteError> {
    let text = match command {
        AccountCommand::Add { name } => account_add(config, &name).await?,
        AccountCommand::List => account_list(config).await?,
        AccountCommand::Remove { name } => account_remove(config, &name).await?,
    };
    let _ = printed(&text);
    Ok(())
}

async fn removed(
    config: &Config,
    runs: Vec<Uuid>,
    as_in: Option<PathBuf>,
) -> Result<(), SiteError> {
    let is_named = as_in.is_none();
    let removal = as_in.map_or(Removal::Runs(runs), Removal::AsIn);
    let show = |run: Uuid, removed| match removed {
        Removed::Now => show_text(&format!("{run}: withdrawn")),
        Removed::Before if is_named => show_text(&format!("{run}: gone already")),
        Removed::Unknown if is_named => show_text(&format!("{run}: unknown")),
        // A dump lists all withdrawals of a site's life.
        Removed::Before | Removed::Unknown => {}
    };
    let removals = withdraw(config, removal, show).await?;
    show_removals(&removals);
    match removals.unknown {
        unknown if is_named && unknown > 0 => Err(SiteError::UnknownRuns(unknown)),
        _ => Ok(()),
    }
}

#[expect(clippy::print_stdout, reason = "the result of the command")]
fn printed(text: &str) -> ExitCode {
    println!("{text}");
    ExitCode::SUCCESS
}

fn show_text(text: &str) {
    let _ = printed(text);
}

fn show_dump(dumped: &Dumped) {
    let manifest = &dumped.manifest;
    show_text(&format!(
        "{} records, {} quarantined, {} withdrawn; {} bytes",
        manifest.records, manifest.quarantined, manifest.tombstones, dumped.bytes
    ));
    for id in &manifest.damaged {
        show_text(&format!(
            "left out, because the kept document is damaged: {id}"
        ));
    }
}

fn show_import(imported: &Imported) {
    let manifest = &imported.manifest;
    show_text(&format!(
        "{} records, {} of another state or level than in the dump, {} withdrawn; {} products",
        manifest.records, imported.differing_count, manifest.tombstones, imported.products_count
    ));
}

fn show_removals(removals: &Removals) {
    show_text(&format!(
        "{} withdrawn, {} gone already, {} unknown",
        removals.now, removals.before, removals.unknown
    ));
}

fn show(rebuilt: &Rebuilt) {
    show_text(&format!(
        "{} records, {} changed, {} unreadable; {} products",
        rebuilt.records_count,
        rebuilt.changed_count,
        rebuilt.unreadable_count,
        rebuilt.products_count
    ));
}

/// Shows the help, or an error with hidden characters of the arguments escaped.
#[expect(clippy::print_stderr, reason = "the log is not open yet")]
fn not_understood(error: &clap::Error) -> ExitCode {
    match error.use_stderr() {
        true => eprint!("{}", visible(&error.render().to_string())),
        // Without an output there is no reader.
        false => drop(error.print()),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

#[expect(clippy::print_stderr, reason = "the log is not open yet")]
fn failed(what: &str) -> ExitCode {
    eprintln!("error: {}", visible(what));
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use cardmark_documents::{Place, commands_of};
    use clap::error::ErrorKind;

    use super::*;

    #[test]
    fn commands_in_documents_are_accepted() {
        for command in commands_of("cardmark-site") {
            let id = Uuid::nil().to_string();
            let value = |word: &String| {
                if word == "RUN" {
                    id.clone()
                } else {
                    word.clone()
                }
            };
            let parsed = Arguments::try_parse_from(command.words.iter().map(value));
            let is_name = command.place == Place::Text && command.words.len() == 2;
            if let Some(error) = parsed.err() {
                // The name of a command.
                let is_right = is_name && error.kind() == ErrorKind::MissingRequiredArgument;
                assert!(is_right, "{command}: {error}");
            }
        }
    }
}
