//! Documents as they are kept, read again.

use cardmark_core::Record;
use cardmark_judge::derive_again;
use cardmark_share::{MOST_SENT_BYTES, Submission, read_submission};

use crate::problem::Refusal;

/// Largest kept document, bytes: a little more than a submission, since an amended statement may be longer than the first.
pub(crate) const MOST_KEPT_BYTES: usize = 2 * MOST_SENT_BYTES;

/// Unpacks a kept document.
pub(crate) fn unpack(packed: &[u8]) -> Result<String, Refusal> {
    let unpacked = zstd::bulk::decompress(packed, MOST_KEPT_BYTES).map_err(|_| damaged())?;
    String::from_utf8(unpacked).map_err(|_| damaged())
}

/// Reads a kept document.
pub(crate) fn submission(packed: &[u8]) -> Result<Submission, Refusal> {
    read_submission(&unpack(packed)?).map_err(|_| damaged())
}

/// The record of a kept document, with its labels and everything derived again.
pub(crate) fn record(packed: &[u8]) -> Result<Record, Refusal> {
    let mut record = submission(packed)?.record;
    let _ = derive_again(&mut record);
    Ok(record)
}

fn damaged() -> Refusal {
    tracing::error!("a kept document cannot be read");
    Refusal::failed()
}
