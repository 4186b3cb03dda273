//! Arguments of `fleet`.

use cardmark_judge::SILENT_DAYS;
use clap::Args;

use super::values::{parse_label, parse_text};

/// Arguments of `fleet`.
#[derive(Debug, Args)]
pub(crate) struct FleetArguments {
    /// Only boards with all these values: `host` (`pi-1*`: all whose names begin so), `product`, `board`, `model`, `suite`, or a label
    #[arg(value_parser = parse_label, value_name = "K=V")]
    pub(crate) conditions: Vec<(String, String)>,
    /// Count boards by what they have in common: `product`, `board` or a label. Groups of fewer than five have no place
    #[arg(long, value_parser = parse_text, value_name = "KEY")]
    pub(crate) by: Option<String>,
    /// Days without a look after which a board is silent
    #[arg(long, value_name = "DAYS", default_value_t = SILENT_DAYS, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) silent: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// At most this many boards, or groups
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub(crate) limit: u32,
}
