//! Arguments of `open`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Arguments of `open`.
#[derive(Debug, Args)]
pub(crate) struct OpenArguments {
    /// Print the address, and open no browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Port of this computer; by default any free one
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) port: u16,
    /// Show the runs of this store instead, such as a copy of another board's; may be repeated. It is only read
    #[arg(long = "store", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) stores: Vec<PathBuf>,
}
