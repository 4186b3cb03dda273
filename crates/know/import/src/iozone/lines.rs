//! Lines of iozone by their words, and the numbers in them.

use crate::form::{Role, Span};
use crate::text::Words;

/// Beginnings of the lines around a table.
pub(super) const FRAME: [&str; 17] = [
    "Iozone: Performance Test",
    "Version $Revision:",
    "Compiled for ",
    "Build:",
    "Run began:",
    "File size set to ",
    "Record Size ",
    "Command line used:",
    "Output is in ",
    "Time Resolution =",
    "Processor cache ",
    "File stride size ",
    "Throughput test with ",
    "Min process =",
    "Max process =",
    "Using minimum file size of ",
    "Using maximum file size of ",
];

/// Forms of lines around a table and of blocks.
pub(super) const FORMS: [&str; 7] = [
    "Each thread writes a {n} kByte file in {n} kByte records",
    "{-} throughput for {n} {-} = {}",
    "{-} throughput per {-} = {}",
    "Min xfer = {n}",
    "{t}Min xfer = {n}",
    "\"{n}\"",
    "{*}",
];

/// Words of lines that are looked at, but for the rows of a table.
pub(super) static MARKS: Words = Words::new(&[
    "Iozone: Performance",
    "iozone test complete",
    "iozone ",
    "O_DIRECT feature enabled",
    "Include fsync in write",
    "Version $Revision:",
    "Compiled for ",
    "Build:",
    "Run began:",
    "File size set to ",
    "Record Size ",
    "Command line used:",
    "Output is in ",
    "Time Resolution =",
    "Processor cache ",
    "File stride size ",
    "hroughput ",
    "Min process =",
    "Max process =",
    "Using m",
    "Excel output is below",
    "reclen",
    " writes a ",
    "Min xfer",
]);

/// The sizes of a row, and its figures.
pub(super) fn row_spans(line: &str) -> Vec<Span> {
    let size = line
        .split(|c: char| !c.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .nth(1);
    let end = size.map_or(0, |size| Span::of(line, size, Role::Known).range.end);
    vec![
        Span::new(0..end, Role::Known),
        Span::new(end..line.len(), Role::Figure),
    ]
}

/// The sizes in quotation marks of a line for Excel, and the figures behind them.
pub(super) fn excel_spans(line: &str) -> Vec<Span> {
    let roles = [Role::Figure, Role::Known].into_iter().cycle();
    let parts = line.split('"').zip(roles);
    parts
        .map(|(part, role)| Span::of(line, part, role))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise a line of the frame would not be looked at.
    #[test]
    fn each_line_of_the_frame_has_a_mark() {
        for begin in FRAME {
            assert!(MARKS.any(begin), "{begin}");
        }
    }
}
