//! What is to be verified of a target.

use cardmark_integrity::{BLOCK_BYTES, Content, Span, Verify};

use crate::{CommandError, Exit};

/// A part of a device is a multiple of this, bytes.
const UNIT_BYTES: u64 = 1 << 20;

/// A part of a device, percent of its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerifyPart {
    /// Start.
    pub from_percent: f64,
    /// End.
    pub to_percent: f64,
}

impl VerifyPart {
    /// Returns the blocks of the part, in whole MiB, so that parts that follow each other leave no gap.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a number of blocks, rounded down"
    )]
    fn span(self, blocks_count: u64) -> Result<Span, CommandError> {
        let unit = UNIT_BYTES / BLOCK_BYTES as u64;
        let place = |percent: f64| match percent < 100.0 {
            true => (blocks_count as f64 * percent / 100.0) as u64 / unit * unit,
            false => blocks_count,
        };
        let span = Span::between(place(self.from_percent), place(self.to_percent));
        if span.count > 0 {
            return Ok(span);
        }
        let (from, to) = (self.from_percent, self.to_percent);
        let what = format!("there is nothing to test from {from} % to {to} %");
        Err(CommandError::new(Exit::Usage, what)
            .hint("`--from` must be smaller than `--to`, by at least 1 MiB of the card"))
    }

    /// `from 10 % to 20 %`.
    pub(super) fn words(self) -> String {
        format!("from {} % to {} %", self.from_percent, self.to_percent)
    }
}

/// What is to be verified of a target.
#[derive(Clone, Copy, Debug, Default)]
pub struct VerifyScope {
    /// In a directory: the most room that is used, bytes.
    pub most_bytes: Option<u64>,
    /// On a device: the part of it; all of it if none.
    pub part: Option<VerifyPart>,
}

impl VerifyScope {
    /// The part in words; empty if there is none.
    pub(crate) fn words(&self) -> String {
        self.part.map_or_else(String::new, VerifyPart::words)
    }

    /// A test of that scope on a device with that many blocks.
    pub(crate) fn test(&self, blocks_count: u64, content: Content) -> Result<Verify, CommandError> {
        Ok(match self.part {
            Some(part) => Verify::of_part(part.span(blocks_count)?, content),
            None => Verify::new(blocks_count, content),
        })
    }
}
