//! Arguments of the tests of integrity, and of anatomy.

use std::path::Path;

use cardmark_core::WritePattern;
use cardmark_integrity::Load;
use cardmark_session::{LoanTerms, TestRequest, VerifyPart, VerifyScope};
use clap::{Args, ValueEnum, ValueHint};

use crate::error::CommandError;

use super::{Consent, WrittenFolder, parse_percent, parse_seed, parse_size};

/// Arguments of `probe`.
#[derive(Debug, Args)]
pub(crate) struct ProbeArguments {
    /// The whole block device, such as /dev/sda, or `sim:MODEL`
    pub(crate) device: String,
    /// Largest cache to exclude: a device may hide missing storage behind one. By default 1GiB, or 9/32 of a smaller
    /// device
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) cache: Option<u64>,
    /// Leave the device alone for this time before the last reading: some lose data only later
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=86_400), value_name = "SECONDS")]
    pub(crate) wait: Option<u64>,
    #[command(flatten)]
    pub(crate) loan: LoanArguments,
    #[command(flatten)]
    pub(crate) test: TestArguments,
}

/// Arguments of tests that restore the device.
#[derive(Debug, Args)]
pub(crate) struct LoanArguments {
    /// Put nothing back: what is on the device is lost
    #[arg(long)]
    pub(crate) destroy: bool,
    /// Keep what is overwritten in this folder until it is put back; else beside the results
    #[arg(long, conflicts_with = "destroy", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) save_to: Option<WrittenFolder>,
    /// Continue if the device holds content of an earlier test whose undo log is not here; it is put back
    /// like any other content
    #[arg(long, conflicts_with = "destroy")]
    pub(crate) keep_residue: bool,
}

impl LoanArguments {
    pub(crate) fn terms(&self) -> Result<LoanTerms, CommandError> {
        let folder = self.save_to.as_ref().map(WrittenFolder::checked);
        Ok(LoanTerms {
            destroy: self.destroy,
            save_to: folder.transpose()?.map(Path::to_owned),
            keep_residue: self.keep_residue,
        })
    }
}

/// Arguments of each test of a device.
#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// Seed of places and content; decimal, or hexadecimal after 0x
    #[arg(long, value_parser = parse_seed, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Seconds after which the device counts as not answering
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400), value_name = "SECONDS")]
    pub(crate) timeout: u64,
    /// Print the record
    #[arg(long)]
    pub(crate) json: bool,
}

impl TestArguments {
    pub(crate) fn request<'a>(
        &self,
        consent: &'a cardmark_session::Consent,
        restart: bool,
    ) -> TestRequest<'a> {
        TestRequest {
            seed: self.seed,
            consent,
            restart,
        }
    }
}

/// Arguments of `anatomy`.
#[derive(Debug, Args)]
pub(crate) struct AnatomyArguments {
    /// The whole block device, such as /dev/sda, or `sim:MODEL`
    pub(crate) device: String,
    /// Only read: boundaries are found, but not how many units can be written in turn
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Write in turn to units of this size, such as 4MiB; by default the size that is found or that the card reports
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) unit: Option<u64>,
    #[command(flatten)]
    pub(crate) loan: LoanArguments,
    #[command(flatten)]
    pub(crate) test: TestArguments,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// A directory, a whole block device, or `sim:MODEL`
    pub(crate) target: String,
    /// In a directory: use at most this much room
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) size: Option<u64>,
    /// On a device: write nothing. Read it twice, compare, and list unreadable and slow places
    #[arg(long, conflicts_with_all = ["size", "restart"])]
    pub(crate) read_only: bool,
    /// On a device: begin at this share of its size; the rest is neither written nor judged
    #[arg(long, value_parser = parse_percent, value_name = "PERCENT")]
    pub(crate) from: Option<f64>,
    /// On a device: end at this share of its size
    #[arg(long, value_parser = parse_percent, value_name = "PERCENT")]
    pub(crate) to: Option<f64>,
    /// Order in which the blocks are written. `random`: in units of 64 KiB, each once; some cards lose data only then
    #[arg(
        long,
        default_value = "sequential",
        conflicts_with = "read_only",
        value_name = "ORDER"
    )]
    pub(crate) pattern: Pattern,
    /// Writes or reads of 64 KiB in flight at once, 1 to 32. By default 1 with `--pattern random` or `--discard`,
    /// else a few of 1 MiB
    #[arg(long, conflicts_with = "read_only", value_parser = clap::value_parser!(u32).range(1..=32), value_name = "N")]
    pub(crate) queue: Option<u32>,
    /// Leave the storage alone for this time between writing and reading: some lose data only later
    #[arg(long, conflicts_with = "read_only", value_parser = clap::value_parser!(u64).range(..=86_400), value_name = "SECONDS")]
    pub(crate) wait: Option<u64>,
    /// On a device: then discard a half of the blocks, write it again, and check both halves
    #[arg(long, conflicts_with = "read_only")]
    pub(crate) discard: bool,
    /// Begin again, even if an interrupted test could continue
    #[arg(long)]
    pub(crate) restart: bool,
    #[command(flatten)]
    pub(crate) test: TestArguments,
}

/// Order in which `verify` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pattern {
    /// By rising address.
    Sequential,
    /// Each unit once, in an order drawn by the seed.
    Random,
}

impl VerifyArguments {
    /// The load; none if no option asks for one.
    fn load(&self) -> Option<Load> {
        let is_loaded = self.pattern == Pattern::Random || self.queue.is_some() || self.discard;
        is_loaded.then_some(Load {
            pattern: match self.pattern {
                Pattern::Sequential => WritePattern::Sequential,
                Pattern::Random => WritePattern::Random,
            },
            queue_depth: self.queue.unwrap_or(1),
            discards: self.discard,
        })
    }

    pub(crate) fn scope(&self) -> VerifyScope {
        let is_part = self.from.is_some() || self.to.is_some();
        VerifyScope {
            most_bytes: self.size,
            part: is_part.then_some(VerifyPart {
                from_percent: self.from.unwrap_or(0.0),
                to_percent: self.to.unwrap_or(100.0),
            }),
            load: self.load(),
            wait_s: self.wait.unwrap_or(0),
        }
    }
}

/// Arguments of `endure`.
#[derive(Debug, Args)]
pub(crate) struct EndureArguments {
    /// The whole block device, such as /dev/sda, or `sim:MODEL`
    pub(crate) device: String,
    /// Until this share of its blocks is bad, %; 0: until the first
    #[arg(long, default_value_t = 50.0, value_parser = parse_percent, value_name = "PERCENT")]
    pub(crate) until: f64,
    /// Largest number of cycles of writing and reading all of it
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub(crate) cycles: Option<u32>,
    /// Largest amount to write, such as 500GB
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) budget: Option<u64>,
    /// Days of rest after the last cycle; then the same command reads the card again: does it keep its content?
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36_500), value_name = "DAYS")]
    pub(crate) after: Option<u32>,
    /// Begin again, even if an interrupted test could continue
    #[arg(long)]
    pub(crate) restart: bool,
    #[command(flatten)]
    pub(crate) test: TestArguments,
}
