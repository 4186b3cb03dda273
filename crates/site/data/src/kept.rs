//! Documents as a site keeps them, read again.

use cardmark_share::{MOST_SENT_BYTES, TAG_BYTES, card_key, derive, read_submission};
use cardmark_site_store::Rederived;
use jiff::Timestamp;

/// Largest kept document, bytes: an amended statement may be longer than the first.
const MOST_KEPT_BYTES: usize = 2 * MOST_SENT_BYTES;
/// Level of packing. Records are as small as with level 3, in about half of its time.
const PACKING: i32 = 1;

/// Unpacks a kept document; `None` if it is damaged.
pub fn unpacked(packed: &[u8]) -> Option<String> {
    let bytes = zstd::bulk::decompress(packed, MOST_KEPT_BYTES).ok()?;
    String::from_utf8(bytes).ok()
}

/// Derives everything again that follows from a document by itself; `None` if it cannot be read.
#[must_use]
pub fn rederived(
    text: &str,
    submitter: Option<[u8; TAG_BYTES]>,
    received_ms: i64,
) -> Option<Rederived> {
    let submission = read_submission(text).ok()?;
    let derivation = derive(&submission, &day_of(received_ms));
    Some(Rederived {
        extract: derivation.extract,
        checks: derivation.checks,
        card: card_key(&submission.record, submitter.as_ref()),
    })
}

/// The day of a time, in UTC, such as `2026-11-25`.
pub fn day_of(ms: i64) -> String {
    let at = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_string().get(..10).unwrap_or_default().to_owned()
}

/// Packs a document as a site keeps it; `None` if there is no memory for it.
#[must_use]
pub fn packed(text: &str) -> Option<Vec<u8>> {
    zstd::bulk::compress(text.as_bytes(), PACKING).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_in_utc() {
        assert_eq!(day_of(0), "1970-01-01");
        assert_eq!(day_of(1_795_564_799_999), "2026-11-24");
        assert_eq!(day_of(1_795_564_800_000), "2026-11-25");
        assert_eq!(day_of(i64::MAX), "1970-01-01");
    }
}
