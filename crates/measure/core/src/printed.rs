//! Figures as other tools print them.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Format in which another tool prints a figure: rounding and unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PrintStyle {
    /// `hdparm -t` and `-T`: two decimals, megabytes of 2²⁰ bytes; below one, kilobytes of 2¹⁰.
    Hdparm,
    /// The last line of `dd`: decimal units, at most one decimal.
    Dd,
    /// A column of iozone's table: whole KiB a second, cut off.
    Iozone,
    /// iozone with `-t`: KiB a second with two decimals.
    IozoneThreads,
    /// `average rate` of ddrescue: decimal units, cut off.
    Ddrescue,
    /// hdparm's figure in the table of PiBenchmarks.
    PibenchmarksHdparm,
    /// dd's figure in the table of PiBenchmarks.
    PibenchmarksDd,
    /// fio's figures in the table of PiBenchmarks; the number is that of the operations a second.
    PibenchmarksFio,
    /// iozone's figure in the table of PiBenchmarks.
    PibenchmarksIozone,
    /// fio's rate in the log of Raspberry Pi Diagnostics (agnostics).
    Agnostics,
    /// fio's operations a second in the log of Raspberry Pi Diagnostics (agnostics).
    AgnosticsIops,
}

/// A figure as a tool prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Printed {
    /// Name of the tool.
    pub tool: String,
    /// Number and unit, letter for letter.
    pub text: String,
    /// The number in the text, in the text's own unit.
    pub value: f64,
    /// The same figure with the right unit, if the tool's unit is not SI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
}
