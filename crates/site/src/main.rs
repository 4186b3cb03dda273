//! `cardmark-site`: a results site.

use std::path::PathBuf;
use std::process::ExitCode;

use cardmark_site::{
    Config, SiteError, account_add, account_list, account_remove, openapi_json, rebuild, serve,
    serve_mine,
};
use cardmark_site_store::Rebuilt;
use clap::{Parser, Subcommand};

/// A results site for cardmark: one process and one SQLite file, or several with PostgreSQL.
#[derive(Parser)]
#[command(
    name = "cardmark-site",
    version,
    after_help = HELP,
    args_conflicts_with_subcommands = true
)]
struct Arguments {
    /// Show the runs of this computer, on this computer only; nothing is sent or changed
    #[arg(long)]
    mine: bool,
    /// With --mine: a store to show instead of this computer's, such as a copy of another board's; may be repeated
    #[arg(long = "store", value_name = "FILE", requires = "mine")]
    stores: Vec<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Answers requests until SIGTERM or Ctrl-C; the default
    Serve,
    /// Derives everything again from the received bytes
    Rebuild,
    /// Adds, lists or removes accounts of moderators; possible while the site runs
    #[command(subcommand)]
    Account(AccountCommand),
    /// Prints the description of the API (OpenAPI)
    Openapi,
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
  CARDMARK_REPLICA_URL    a second PostgreSQL that answers lists [replica_url]
  CARDMARK_SITE_SECRET    any long text; the same for all instances [secret]
  CARDMARK_BEHIND_PROXY   1 if a proxy in front sets X-Forwarded-For [behind_proxy]

Examples:
  cardmark-site                                          on http://127.0.0.1:8080
  CARDMARK_DATABASE_URL=postgres:///cards cardmark-site  one of several instances
  cardmark-site --mine                                   the runs of this computer, for its browser
  cardmark-site account add anna                         a moderator's account
  cardmark-site openapi > openapi.json";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(Command::Openapi) = arguments.command {
        return printed(&openapi_json());
    }
    let config = match Config::from_environment() {
        Ok(config) => config,
        Err(error) => return failed(&error.to_string()),
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.to_string()),
    };
    let ended = runtime.block_on(async {
        match arguments.command {
            Some(Command::Rebuild) => rebuild(&config).await.map(|rebuilt| show(&rebuilt)),
            Some(Command::Account(command)) => account(&config, command).await,
            _ if arguments.mine => serve_mine(config, arguments.stores).await,
            _ => serve(config).await,
        }
    });
    match ended {
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

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    text
}

#[expect(clippy::print_stdout, reason = "the result of the command")]
fn printed(text: &str) -> ExitCode {
    println!("{text}");
    ExitCode::SUCCESS
}

fn show(rebuilt: &Rebuilt) {
    let _ = printed(&format!(
        "{} records, {} changed, {} unreadable; {} products",
        rebuilt.records_count,
        rebuilt.changed_count,
        rebuilt.unreadable_count,
        rebuilt.products_count
    ));
}

#[expect(clippy::print_stderr, reason = "the log is not open yet")]
fn failed(what: &str) -> ExitCode {
    eprintln!("error: {what}");
    ExitCode::FAILURE
}
