//! What is to be verified of a target.

use cardmark_integrity::{BLOCK_BYTES, Content, Load, Span, Verify};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{CommandError, Exit};

/// A part of a device is a multiple of this, bytes.
const UNIT_BYTES: u64 = 1 << 20;

/// A part of a device, percent of its size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
    /// Load under which it is written and read.
    pub load: Option<Load>,
    /// Time without access before the reading, seconds.
    pub wait_s: u64,
}

impl VerifyScope {
    /// The request as a part of the id of a simulated test.
    pub(crate) fn asked(&self, test: &str) -> Value {
        json!({"test": test, "part": self.part, "load": self.load, "wait_s": self.wait_s})
    }

    /// The test under this load, with this wait.
    pub(crate) fn asked_of(&self, test: Verify) -> Verify {
        test.under(self.load)
            .waiting(self.wait_s.saturating_mul(1_000_000_000))
    }

    /// A test of that scope on a device with that many blocks.
    pub(crate) fn test(&self, blocks_count: u64, content: Content) -> Result<Verify, CommandError> {
        let test = match self.part {
            Some(part) => Verify::of_part(part.span(blocks_count)?, content),
            None => Verify::new(blocks_count, content),
        };
        Ok(self.asked_of(test))
    }
}
