//! `cardmark-site`: a results site.

use std::path::PathBuf;
use std::process::ExitCode;

use cardmark_site::{Config, PackingDone, openapi_json, pack_by_hand, rebuild, serve, serve_mine};
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
    /// Packs older documents now, and replaces packs with withdrawn or amended ones; `serve` does it each hour
    Pack,
    /// Prints the description of the API (OpenAPI)
    Openapi,
}

const HELP: &str = "\
Environment (or the file named by CARDMARK_SITE_CONFIG, in TOML, with the names in brackets):
  CARDMARK_LISTEN         address and port; 127.0.0.1:8080 [listen]
  CARDMARK_DATABASE_URL   sqlite:FILE or postgres://…; a file in the data folder [database_url]
  CARDMARK_REPLICA_URL    a second PostgreSQL that answers lists [replica_url]
  CARDMARK_SITE_SECRET    any long text; the same for all instances [secret]
  CARDMARK_BEHIND_PROXY   1 if a proxy in front sets X-Forwarded-For [behind_proxy]
  CARDMARK_PACKS_URL      file:///FOLDER or s3://BUCKET/PREFIX for packs of older documents [packs.url]

Examples:
  cardmark-site                                          on http://127.0.0.1:8080
  CARDMARK_DATABASE_URL=postgres:///cards cardmark-site  one of several instances
  cardmark-site --mine                                   the runs of this computer, for its browser
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
            Some(Command::Pack) => pack_by_hand(&config).await.map(|done| show_packed(&done)),
            _ if arguments.mine => serve_mine(config, arguments.stores).await,
            _ => serve(config).await,
        }
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&chain(&error)),
    }
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

fn show_packed(done: &PackingDone) {
    let _ = printed(&format!(
        "{} documents in {} new packs ({} bytes), {} packs replaced, {} deleted; {} damaged rows, {} unreadable packs",
        done.documents,
        done.packs,
        done.bytes,
        done.replaced,
        done.deleted,
        done.damaged,
        done.unreadable
    ));
}

#[expect(clippy::print_stderr, reason = "the log is not open yet")]
fn failed(what: &str) -> ExitCode {
    eprintln!("error: {what}");
    ExitCode::FAILURE
}
