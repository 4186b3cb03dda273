//! What the tools printed, read back.
//!
//! Texts come from terminals and forums: lines that are not understood are passed over, but a line
//! that is the tool's must be whole. Units are those that the text states; where it states none
//! that is known, or where its figures contradict each other, that is an error. The functions that
//! are called `…_parts` keep what is readable beside the errors.

mod agnostics;
mod comment;
mod dd;
mod ddrescue;
mod f3;
mod fio;
mod fio_text;
mod hdparm;
mod iozone;
mod kdiskmark;
pub(crate) mod number;
mod pibenchmarks;

use thiserror::Error;

pub use agnostics::{
    AgnosticsFigure, AgnosticsJob, AgnosticsReading, AgnosticsRun, AgnosticsTest, read_agnostics,
};
pub use comment::{CommentDoubt, CommentFigure, CommentRate, CommentReading, read_comment};
pub(crate) use dd::dd_parts;
pub use dd::{DdReading, read_dd};
pub(crate) use ddrescue::ddrescue_parts;
pub use ddrescue::{DdrescueReading, read_ddrescue};
pub(crate) use f3::f3_parts;
pub use f3::{
    F3Amount, F3Operation, F3Output, F3Probe, F3Read, F3Sectors, F3Verdict, F3Write, read_f3,
};
pub(crate) use fio::fio_parts;
pub use fio::{FioDirection, FioReading, read_fio};
pub(crate) use fio_text::fio_text_parts;
pub use fio_text::{FioLatency, FioPercentile, FioSetup, FioTextReading, read_fio_text};
pub(crate) use hdparm::hdparm_parts;
pub use hdparm::{HdparmReading, HdparmTest, read_hdparm};
pub(crate) use iozone::iozone_parts;
pub use iozone::{IozoneOutput, IozoneRate, IozoneRow, IozoneTest, IozoneThreads, read_iozone};
pub use kdiskmark::{
    KdiskmarkDirection, KdiskmarkRate, KdiskmarkReading, KdiskmarkReport, read_kdiskmark,
};
pub(crate) use pibenchmarks::pibenchmarks_parts;
pub use pibenchmarks::{
    PibenchmarksBoard, PibenchmarksDrive, PibenchmarksReading, PibenchmarksResult,
    PibenchmarksTest, PibenchmarksUnit, read_pibenchmarks,
};

/// A rate, and how it was printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Number and unit as in the text.
    pub printed: String,
}

/// Why a text is not a tool's output.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ReadError {
    /// Nothing in the text is the tool's.
    #[error("no output of {tool} in this text: expected {expected}")]
    Missing {
        /// The tool.
        tool: &'static str,
        /// What was looked for.
        expected: &'static str,
    },
    /// A line of the tool is not as it prints them.
    #[error("line {line} is not as {tool} prints it: expected {expected}, found `{found}`")]
    Line {
        /// The tool.
        tool: &'static str,
        /// Number of the line, from 1.
        line: usize,
        /// What should be there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
}

impl ReadError {
    /// Number of the line that is not whole.
    pub(crate) fn line(&self) -> Option<usize> {
        match self {
            Self::Line { line, .. } => Some(*line),
            Self::Missing { .. } => None,
        }
    }
}

/// What can be read of a text, and of each line of the tool that cannot, why.
pub(crate) type Parts<T> = (T, Vec<ReadError>);

/// Keeps apart what could be read and what could not.
fn sift<T>(results: impl Iterator<Item = Result<T, ReadError>>) -> Parts<Vec<T>> {
    let (mut readings, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(reading) => readings.push(reading),
            Err(error) => errors.push(error),
        }
    }
    (readings, errors)
}

/// What was read, where that is all and not nothing.
fn whole<T: Default + PartialEq>(
    (found, errors): Parts<T>,
    tool: &'static str,
    expected: &'static str,
) -> Result<T, ReadError> {
    if let Some(error) = errors.into_iter().next() {
        return Err(error);
    }
    if found == T::default() {
        return Err(ReadError::Missing { tool, expected });
    }
    Ok(found)
}

/// Most characters of a line that an error repeats.
const FOUND_CHARS: usize = 100;

/// A line of the text, as a terminal would show it.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    /// From 1.
    number: usize,
    text: &'a str,
}

impl Line<'_> {
    fn error(self, tool: &'static str, expected: &'static str) -> ReadError {
        ReadError::Line {
            tool,
            line: self.number,
            expected,
            found: self.text.trim().chars().take(FOUND_CHARS).collect(),
        }
    }
}

/// The lines of a text; of one that was overwritten by carriage returns, what was written last.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.split('\n').enumerate().map(|(index, line)| {
        let line = line.trim_end_matches('\r');
        Line {
            number: index + 1,
            text: line.rsplit('\r').next().unwrap_or(line),
        }
    })
}

/// The text without the codes that colour it on a terminal: `ESC [ 1 m`, `ESC ( B`.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek().copied()) {
            ('\x1b', Some('[')) => {
                rest.next();
                // Codes that move upwards end what was printed before.
                if rest.find(|c| ('@'..='~').contains(c)) == Some('A') {
                    plain.push('\r');
                }
            }
            ('\x1b', Some('(')) => {
                rest.nth(1);
            }
            ('\x1b' | '\x0f', _) => {}
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn colours_are_no_text() {
        assert_eq!(plain("\x1b[33mHDParm\x1b(B\x1b[m 3\x0f"), "HDParm 3");
    }

    /// What was printed before is overwritten.
    #[test]
    fn a_line_upwards_ends_what_was_printed() {
        assert_eq!(plain("8.09 MB/s\x1b[A9.10 MB/s"), "8.09 MB/s\r9.10 MB/s");
    }
}
