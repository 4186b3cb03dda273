//! Documents as they are kept, read again.

use cardmark_core::Record;
use cardmark_judge::derive_again;
use cardmark_share::{Submission, read_kept};
use cardmark_site_data::unpacked;

use crate::http::problem::Refusal;

/// Unpacks a kept document.
pub(crate) fn unpack(packed: &[u8]) -> Result<String, Refusal> {
    unpacked(packed).ok_or_else(damaged)
}

/// Reads a kept document.
pub(crate) fn submission(packed: &[u8]) -> Result<Submission, Refusal> {
    read_kept(&unpack(packed)?).map_err(|_| damaged())
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
