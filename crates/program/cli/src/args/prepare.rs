//! Arguments of `prepare`.

use cardmark_core::Fill;
use clap::{Args, ValueEnum};

use super::Consent;

/// Content for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FillArgument {
    /// 0xFF in every byte, as erased flash reads
    Ff,
    /// Zero in every byte
    Zero,
    /// Incompressible content that can be made again from the record
    Random,
    /// Discard all blocks (TRIM); takes seconds and writes no cell
    Discard,
}

impl From<FillArgument> for Fill {
    fn from(argument: FillArgument) -> Self {
        match argument {
            FillArgument::Ff => Self::Ff,
            FillArgument::Zero => Self::Zero,
            FillArgument::Random => Self::Random,
            FillArgument::Discard => Self::Discard,
        }
    }
}

/// Arguments of `prepare`.
#[derive(Debug, Args)]
pub(crate) struct PrepareArguments {
    /// The whole block device, such as /dev/mmcblk0
    pub(crate) device: String,
    /// Content of every byte
    #[arg(long)]
    pub(crate) fill: FillArgument,
    /// Begin again, even if an interrupted preparation could continue
    #[arg(long)]
    pub(crate) restart: bool,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Seconds after which the device counts as not answering
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400), value_name = "SECONDS")]
    pub(crate) timeout: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
