//! Arguments of commands that read or write files: `import`, `export`, `recover`, `generate`.

use std::path::PathBuf;

use cardmark_session::Since;
use clap::{Args, ValueEnum, ValueHint};

use super::paths::WrittenFolder;
use super::values::{keepable, parse_figure, parse_label, parse_since, parse_text};

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Files with records (.json, .jsonl), with the output of tools, or with tables, also packed with
    /// gzip or zstd; `-` is standard input
    #[arg(required_unless_present = "figure", value_name = "FILE|-")]
    pub(crate) files: Vec<PathBuf>,
    /// A figure: metric, number and unit, such as `iozone_random_write=1.52MB/s`. Units are B/s, kB/s,
    /// MB/s, KiB/s, MiB/s, IOPS, ms or µs; MB are 10^6 bytes. All typed figures are one run
    #[arg(long, value_parser = parse_figure, value_name = "ID=NUMBER")]
    pub(crate) figure: Vec<(String, String)>,
    /// A remark kept in the records, such as `product="SanDisk Extreme 64 GB"`
    #[arg(long, value_parser = parse_label, value_name = "K=V")]
    pub(crate) label: Vec<(String, String)>,
    /// The computer that it was measured on, such as `Raspberry Pi 4 Model B`
    #[arg(long, value_parser = parse_text, value_name = "TEXT")]
    pub(crate) board: Option<String>,
    /// A name for the computer that records come from; kept beside them, and never sent
    #[arg(long, value_parser = parse_text, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Formats of `export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One record a line
    Jsonl,
    /// One metric a line
    Csv,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Format
    #[arg(long, default_value = "jsonl")]
    pub(crate) format: ExportFormat,
    /// Only what was stored since a day (`2026-11-01`, UTC), a time, or within `36h`, `7d`, `2w`; with the last look of `watch` at each
    /// target, but in JSON lines that are not public
    #[arg(long, value_name = "DATE|SPAN", value_parser = parse_since)]
    pub(crate) since: Option<Since>,
    /// Without anything that could identify a person
    #[arg(long)]
    pub(crate) public: bool,
    /// Keep this field of the public form, such as `labels.sample` or `started_at`
    #[arg(long, value_name = "FIELD", requires = "public", value_parser = keepable)]
    pub(crate) keep: Vec<String>,
}

/// Arguments of `recover`.
#[derive(Debug, Args)]
pub(crate) struct RecoverArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `generate`.
#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    /// Folder for `man/` and `completions/`; made if it does not exist
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: WrittenFolder,
}
