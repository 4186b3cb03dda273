//! Arguments of `submit`.

use std::path::PathBuf;

use cardmark_share::Server;
use clap::{ArgGroup, Args, ValueHint};

use super::WrittenFile;
use super::values::{keepable, parse_server};

/// Arguments of `submit`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("other").multiple(false))]
pub(crate) struct SubmitArguments {
    /// Ids, unique prefixes of one, or `last`
    #[arg(
        value_name = "RUN",
        required_unless_present_any = ["new", "status", "export_secret", "import_secret"],
        conflicts_with_all = ["export_secret", "import_secret"]
    )]
    pub(crate) runs: Vec<String>,
    /// Send all runs that were measured on storage of this computer and that the site does not have; imported and
    /// simulated runs only by name
    #[arg(long, conflicts_with_all = ["runs", "other"])]
    pub(crate) new: bool,
    /// Write the exact bytes to standard output, and send nothing
    #[arg(long, conflicts_with = "other")]
    pub(crate) dry_run: bool,
    /// Keep this field of the public form, such as `labels.sample` or `started_at`
    #[arg(long, value_name = "FIELD", value_parser = keepable,
        conflicts_with_all = ["status", "withdraw", "answer", "export_secret", "import_secret"])]
    pub(crate) keep: Vec<String>,
    /// Address of the site, such as https://cards.example; without it, CARDMARK_SERVER or `server` in the configuration
    #[arg(long, value_name = "URL", value_parser = parse_server)]
    pub(crate) server: Option<Server>,
    /// Send or withdraw without asking
    #[arg(long, conflicts_with_all = ["dry_run", "status", "amend", "answer", "export_secret", "import_secret"])]
    pub(crate) yes: bool,
    /// Show the state of these runs on the site; without RUN, of all that were sent there
    #[arg(long, group = "other")]
    pub(crate) status: bool,
    /// Send the present labels of runs that the site has
    #[arg(long, group = "other")]
    pub(crate) amend: bool,
    /// Withdraw runs: the site deletes them
    #[arg(long, group = "other")]
    pub(crate) withdraw: bool,
    /// Answer to the quarantine of a run, for the moderators of the site: up to 2,000 characters
    #[arg(long, group = "other", value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) answer: Option<String>,
    /// Write the secret that can amend and withdraw the runs of this store to a new file; `-` prints it
    #[arg(long, group = "other", value_name = "FILE|-", value_hint = ValueHint::FilePath)]
    pub(crate) export_secret: Option<WrittenFile>,
    /// Restore an exported secret; `-` is standard input
    #[arg(long, group = "other", value_name = "FILE|-")]
    pub(crate) import_secret: Option<PathBuf>,
    /// Print the state of each run as one line of JSON
    #[arg(long, conflicts_with_all = ["dry_run", "export_secret", "import_secret"])]
    pub(crate) json: bool,
    /// Import a secret although the present one is in use, and lose what depends on that
    #[arg(long, requires = "import_secret")]
    pub(crate) force: bool,
}
