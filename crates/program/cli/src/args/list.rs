//! Arguments of `info`, `show`, `list` and `label`.

use clap::{Args, ValueEnum};

use super::values::{parse_claim, parse_label};

/// Arguments of `info`.
#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    /// A directory, a block device, or `sim:MODEL`
    #[arg(default_value = ".")]
    pub(crate) target: String,
    /// A promise on the package: a class, rate or capacity, such as A1, 130MB/s, 64GB
    #[arg(long, value_parser = parse_claim, value_name = "PROMISE")]
    pub(crate) claim: Vec<String>,
    /// Print JSON: all that is known, each field of the registers with it
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// An id, a unique prefix of one, `last`, or a record file
    #[arg(default_value = "last")]
    pub(crate) run: String,
    /// Show all columns, ranges and notes
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the record itself
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// The runs kept here, newest first
    Runs,
    /// The disks and cards of this computer
    Devices,
    /// The methods
    Suites,
    /// The simulated cards
    Models,
    /// Results that others published
    Published,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// The list
    #[arg(default_value = "runs")]
    pub(crate) what: Listing,
    /// Cards that need attention, the worst first: fake, losing data, worn, failing, fallen, too slow for their use (label
    /// `use`, else an operating system), without those of the label `status=retired`
    #[arg(long)]
    pub(crate) bad: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// At most this many runs, or cards
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub(crate) limit: u32,
}

/// Arguments of `label`.
#[derive(Debug, Args)]
pub(crate) struct LabelArguments {
    /// An id, a unique prefix of one, or `last`
    pub(crate) run: String,
    /// Remarks, such as `reader="Anker 2.0"`; an empty value takes one away. None: show them. `use=camera` is what the card
    /// is judged for; `status=retired` takes it out of `list --bad`
    #[arg(value_parser = parse_label, value_name = "K=V")]
    pub(crate) labels: Vec<(String, String)>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
