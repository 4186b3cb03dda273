//! Arguments of `power-cut`.

use clap::{Args, ValueHint};

use super::{WrittenFile, parse_seed, parse_size};

/// Smallest size of the file, bytes.
const LEAST_BYTES: u64 = 1 << 20;
/// Largest size of the file, bytes: with a larger one, the last writes would be spread no further.
const MOST_BYTES: u64 = 1 << 30;

/// Arguments of `power-cut`.
#[derive(Debug, Args)]
pub(crate) struct PowerCutArguments {
    /// A directory on the card, or `sim:MODEL`
    pub(crate) target: String,
    /// Log of acknowledged writes, which must not be on the card; `-`: standard output, so that another computer can
    /// keep it. Later cycles are appended
    #[arg(long, value_name = "FILE|-", value_hint = ValueHint::FilePath)]
    pub(crate) log: Option<WrittenFile>,
    /// After the cut: read everything back, and compare it with the log
    #[arg(long, requires = "log", conflicts_with_all = ["size", "batch", "seconds", "seed"])]
    pub(crate) check: bool,
    /// Size of the file that is written, from 1 MiB to 1 GiB
    #[arg(long, default_value = "64MiB", value_parser = parse_file_size, value_name = "SIZE")]
    pub(crate) size: u64,
    /// Writes before each flush; only the flush acknowledges them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024), value_name = "N")]
    pub(crate) batch: u32,
    /// Longest time of writing: it ends then, even without a cut
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400), value_name = "SECONDS")]
    pub(crate) seconds: u64,
    /// Seed of places and content; decimal, or hexadecimal after 0x
    #[arg(long, value_parser = parse_seed, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Seconds after which the device counts as not answering
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400), value_name = "SECONDS")]
    pub(crate) timeout: u64,
    /// Print the record
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_file_size(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text)?;
    match (LEAST_BYTES..=MOST_BYTES).contains(&bytes) {
        true => Ok(bytes),
        false => Err("from 1 MiB to 1 GiB".to_owned()),
    }
}
