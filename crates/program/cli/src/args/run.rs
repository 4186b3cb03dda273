//! Arguments of `run`.

use cardmark_share::Server;
use clap::{Args, ValueHint};

use super::Consent;
use super::paths::WrittenFile;
use super::values::{parse_claim, parse_class, parse_label, parse_seed, parse_server};

/// Headings of options of single suites.
const CLASSES: &str = "Only with --suite app-class or speed-class";
const OLD_TOOLS: &str = "Only with suites of old tools, such as --suite dramble";
const SUSTAINED: &str = "Only with --suite sustained";

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// A directory, a block device, or `sim:MODEL`. A block device is written from its first byte on,
    /// unless `--read-only`: what is on it is lost, and model and size have to be typed before
    #[arg(default_value = ".")]
    pub(crate) target: String,
    /// The method
    #[arg(long, default_value = "quick", value_name = "NAME")]
    pub(crate) suite: String,
    /// Thoroughness: `raw-short` (the default on devices), `raw-full`, `file`
    #[arg(long, value_name = "NAME", help_heading = CLASSES)]
    pub(crate) tier: Option<String>,
    /// Only these workloads, such as `rand_read_4k,seq_read_1m`
    #[arg(long, value_delimiter = ',', value_name = "ID,…")]
    pub(crate) only: Vec<String>,
    /// Write nothing; for block devices
    #[arg(long)]
    pub(crate) read_only: bool,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Seed of offsets and content; decimal, or hexadecimal after 0x
    #[arg(long, value_parser = parse_seed, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Get the seed from a results site, as proof that the run is later than the seed. Submit the run there within
    /// 7 days
    #[arg(long, conflicts_with = "seed")]
    pub(crate) fresh: bool,
    /// Results site that `--fresh` asks, such as https://cards.example
    #[arg(long, value_parser = parse_server, value_name = "URL", requires = "fresh")]
    pub(crate) server: Option<Server>,
    /// A remark kept beside the record, such as `product="SanDisk Extreme 64 GB"`; `use=camera` is what it is judged for
    #[arg(long, value_parser = parse_label, value_name = "K=V")]
    pub(crate) label: Vec<(String, String)>,
    /// A promise on the package: a class, rate or capacity, such as A1, 130MB/s, 64GB; exit status 1 if the run
    /// contradicts it
    #[arg(long, value_parser = parse_claim, value_name = "PROMISE")]
    pub(crate) claim: Vec<String>,
    /// A class that the card has to meet: exit status 1 if it does not, 3 if that could not be tested; borderline
    /// counts as met
    #[arg(long, value_parser = parse_class, value_name = "CLASS", help_heading = CLASSES)]
    pub(crate) require: Vec<String>,
    /// Print the record instead of the table; `--json=FILE` writes it to a file, beside the table
    #[arg(long, value_name = "FILE", require_equals = true, value_hint = ValueHint::FilePath)]
    pub(crate) json: Option<Option<WrittenFile>>,
    /// Show all columns, ranges and notes
    #[arg(long)]
    pub(crate) all: bool,
    /// Repeat the suite N times, so that results get an interval
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "N", help_heading = OLD_TOOLS)]
    pub(crate) rounds: Option<u32>,
    /// Write at most N bytes, in place of 128 GiB and 60 minutes
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N", help_heading = SUSTAINED)]
    pub(crate) bytes: Option<u64>,
    /// Write as much as the card holds, or for 60 minutes, whichever ends first. A file in a
    /// directory stays within a quarter of the free space and is written again and again
    #[arg(long, conflicts_with = "bytes", help_heading = SUSTAINED)]
    pub(crate) until_settled: bool,
    /// Seconds after which the device counts as not answering
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400), value_name = "SECONDS")]
    pub(crate) timeout: u64,
}
