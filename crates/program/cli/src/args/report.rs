//! Arguments of `report` and `campaign`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::Consent;
use super::paths::WrittenFile;
use super::values::parse_claim;

/// Formats of `report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Markdown with tables
    #[value(alias = "markdown")]
    Md,
    /// One metric a line
    Csv,
    /// One self-contained page
    #[value(alias = "htm")]
    Html,
    /// One of the charts
    Svg,
    /// One of the charts as a picture, into a file
    Png,
    /// The records
    Json,
}

/// Readers of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Audience {
    /// Whoever has the card, or reads about it
    Owner,
    /// Who sold it: one page of evidence on one run
    Seller,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Ids, record files, products such as `Evo+ 32 GB`, or conditions such as `label=value` and `publication=kulesz`
    #[arg(default_value = "last", value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Only runs on boards whose name holds this, such as `Pi 4`
    #[arg(long, value_name = "NAME")]
    pub(crate) board: Option<String>,
    /// Format; without it, that of the ending of `--output`, else `svg` with `--chart`, else `md`
    #[arg(long)]
    pub(crate) format: Option<ReportFormat>,
    /// A chart: its name such as `random-write-4k`, a part of it, or its number
    #[arg(long, value_name = "CHART")]
    pub(crate) chart: Option<String>,
    /// With `--chart`: cards in another colour, by a part of their name
    #[arg(long, value_name = "NAME", requires = "chart")]
    pub(crate) highlight: Option<String>,
    /// Title of the report, or the message of the chart
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Reader of the report
    #[arg(long = "for", value_enum, default_value_t = Audience::Owner, conflicts_with = "chart")]
    pub(crate) audience: Audience,
    /// With `--for seller`: a promise on the package, beyond those that are labels of the run
    #[arg(long, value_parser = parse_claim, value_name = "PROMISE")]
    pub(crate) claim: Vec<String>,
    /// Write to this file; `-`: standard output
    #[arg(short, long, value_name = "FILE|-", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<WrittenFile>,
}

/// Arguments of `campaign`.
#[derive(Debug, Args)]
pub(crate) struct CampaignArguments {
    /// The campaign: a file that names cards, boards and suites. Its runs and the report go into the
    /// folder of the same name without the ending
    #[arg(value_name = "FILE", required_unless_present = "example")]
    pub(crate) file: Option<PathBuf>,
    /// Print a file to begin with
    #[arg(long)]
    pub(crate) example: bool,
    /// Show what is done and what is left, and end
    #[arg(long, conflicts_with = "report")]
    pub(crate) plan: bool,
    /// Report on what there is, and end
    #[arg(long)]
    pub(crate) report: bool,
    /// The board of the campaign that this computer is; by default it is recognised by its model
    #[arg(long, value_name = "NAME")]
    pub(crate) board: Option<String>,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Seconds after which the device counts as not answering
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400), value_name = "SECONDS")]
    pub(crate) timeout: u64,
}
