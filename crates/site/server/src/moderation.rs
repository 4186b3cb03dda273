//! Moderation: accounts, sessions, and the words for acts.

pub(crate) mod account;
pub(crate) mod acts;
mod password;
pub(crate) mod session;
pub(crate) mod sign_in;
pub(crate) mod totp;
pub(crate) mod words;

use cardmark_share::to_hexadecimal;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// 32 random bytes.
fn random() -> [u8; 32] {
    Sha256::new()
        .chain_update(Uuid::new_v4())
        .chain_update(Uuid::new_v4())
        .finalize()
        .into()
}

/// The first 16 bytes of a hash of the site's secret and of texts.
fn key(secret: &[u8], purpose: &str, text: &[u8]) -> [u8; 16] {
    let hash = Sha256::new()
        .chain_update(secret)
        .chain_update(purpose)
        .chain_update(text)
        .finalize();
    let mut key = [0; 16];
    key.copy_from_slice(&hash[..16]);
    key
}

/// The beginning of a submitter's tag, by which people recognise it.
pub(crate) fn short_tag(tag: &[u8]) -> String {
    to_hexadecimal(tag).chars().take(8).collect()
}
