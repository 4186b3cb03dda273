//! A submission on its way to the database.

use cardmark_core::documents_of;
use cardmark_share::{card_key, derive, read_submission};
use cardmark_site_data::{day_of, packed};
use cardmark_site_store::{Bucket, Incoming};
use sha2::{Digest, Sha256};

use crate::clock::now_ms;
use crate::http::body::Received;
use crate::http::problem::Refusal;
use crate::http::quota::Charge;
use crate::state::{MOST_CHECKING_OF_BLOCK, Site};

const HOURS_PER_DAY: f64 = 24.0;

/// The sender of a submission.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sender {
    /// Pseudonym in place of the tag, which nothing keeps.
    pub(crate) submitter: Option<[u8; 16]>,
    pub(crate) token_hash: Option<[u8; 32]>,
}

/// A place among submissions that are checked or wait for it; fails if all are taken, or all of the address block.
pub(crate) fn place(site: &Site, block: [u8; 16]) -> Result<Charge, Refusal> {
    let mut place = Charge::of(&site.checking, block);
    match place.take(1, MOST_CHECKING_OF_BLOCK) {
        true => Ok(place),
        false => Err(Refusal::busy()),
    }
}

/// Token buckets that a change is charged to.
pub(crate) fn limits(site: &Site, block: [u8; 16], submitter: Option<[u8; 16]>) -> Vec<Bucket> {
    let writes = site.config.writes;
    let of_address = Bucket {
        key: block,
        most: f64::from(writes.of_address),
        per_hour: f64::from(writes.of_address_per_hour),
    };
    let of_tag = submitter.map(|key| Bucket {
        key,
        most: f64::from(writes.of_tag),
        per_hour: f64::from(writes.of_tag_per_hour),
    });
    std::iter::once(of_address).chain(of_tag).collect()
}

/// The bucket of new submitters of an address block that begin to count.
pub(crate) fn newcomers(site: &Site, block: [u8; 16]) -> Bucket {
    let per_day = f64::from(site.config.writes.new_submitters_per_day);
    let digest = Sha256::digest([b"new submitters ".as_slice(), &block].concat());
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    Bucket {
        key,
        most: per_day,
        per_hour: per_day / HOURS_PER_DAY,
    }
}

/// Reads, checks and packs a submission; blocks.
pub(crate) fn incoming(
    received: Received,
    sender: Sender,
    limits: Vec<Bucket>,
) -> Result<Incoming, Refusal> {
    incoming_of(&received.unpack()?, sender, limits)
}

/// Reads, checks and packs a document; blocks.
pub(crate) fn incoming_of(
    text: &str,
    sender: Sender,
    limits: Vec<Bucket>,
) -> Result<Incoming, Refusal> {
    let submission =
        read_submission(text).map_err(|error| Refusal::not_a_submission(&error, text))?;
    let received_ms = now_ms();
    let derivation = derive(&submission, &day_of(received_ms));
    let (document, _) = documents_of(text);
    Ok(Incoming {
        packed: pack(text)?,
        digest: Sha256::digest(text.as_bytes()).into(),
        record_digest: Sha256::digest(document.as_bytes()).into(),
        card: card_key(&submission.record, sender.submitter.as_ref()),
        extract: derivation.extract,
        checks: derivation.checks,
        tag: sender.submitter,
        token_hash: sender.token_hash,
        revision: submission
            .statement
            .map_or(0, |statement| statement.revision),
        received_ms,
        limits,
        newcomers: None,
    })
}

/// Packs a document for the database.
pub(crate) fn pack(text: &str) -> Result<Vec<u8>, Refusal> {
    packed(text).ok_or_else(Refusal::failed)
}
