//! Secrets of a submitter, derived from the one secret of the store.
//!
//! Nothing has to be noted down: the store that sent a run can derive its edit token again. A site receives only hashes.

use std::fmt;

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::hexadecimal::{from_hexadecimal, to_hexadecimal};
use crate::server::Server;

/// Length of a submitter's tag, and of the pseudonym that a site keeps in its place, bytes.
pub const TAG_BYTES: usize = 16;
/// Purposes of derived secrets; part of the protocol.
const TOKEN_PURPOSE: &str = "cardmark edit token 1";
const TAG_PURPOSE: &str = "cardmark submitter tag 1";
/// Purpose of the hash of a tag.
const SUBMITTER_PURPOSE: &str = "cardmark submitter 1\n";
const PHRASE_PURPOSE: &str = "cardmark phrase 1";
const PHRASE_TOKEN_PURPOSE: &str = "cardmark phrase token 1";

/// The secret of a store.
#[derive(Clone)]
pub struct Secrets([u8; 32]);

/// Permission to amend or withdraw one run on one server.
#[derive(Clone, PartialEq, Eq)]
pub struct EditToken([u8; 32]);

impl Secrets {
    /// Takes the secret of a store: 32 random bytes.
    pub fn new(store_secret: [u8; 32]) -> Self {
        Self(store_secret)
    }

    /// Secrets of somebody without a store, who sent a run in a browser: they follow from a phrase that only this person knows.
    pub fn of_phrase(phrase: &str) -> Self {
        let mut digest = Sha256::new();
        digest.update(PHRASE_PURPOSE);
        digest.update([b'\n']);
        digest.update(phrase);
        Self(digest.finalize().into())
    }

    /// The edit token of a run on any server, for secrets of a phrase: the same as [`Self::edit_token`], without a server.
    pub fn phrase_token(&self, run: Uuid) -> EditToken {
        EditToken(self.derive(&[PHRASE_TOKEN_PURPOSE, &run.to_string()]))
    }

    /// The edit token of a run on a server: HMAC-SHA-256 (RFC 2104) of purpose, server and id of the run, each
    /// followed by a line feed.
    pub fn edit_token(&self, server: &Server, run: Uuid) -> EditToken {
        EditToken(self.derive(&[TOKEN_PURPOSE, &server.origin(), &run.to_string()]))
    }

    /// The submitter's tag on a server: the same for all runs of a store there. Tags on two servers have nothing in common.
    pub fn tag(&self, server: &Server) -> [u8; TAG_BYTES] {
        let derived = self.derive(&[TAG_PURPOSE, &server.origin()]);
        let mut tag = [0; TAG_BYTES];
        tag.copy_from_slice(&derived[..TAG_BYTES]);
        tag
    }

    fn derive(&self, parts: &[&str]) -> [u8; 32] {
        // HMAC takes keys of any length.
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("any length");
        for part in parts {
            mac.update(part.as_bytes());
            mac.update(b"\n");
        }
        mac.finalize().into_bytes().into()
    }
}

/// Never prints the secret.
impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secrets(…)")
    }
}

impl EditToken {
    /// The token as it is sent with a change: 64 hexadecimal digits.
    pub fn to_text(&self) -> String {
        to_hexadecimal(&self.0)
    }

    /// The hash that the site keeps.
    pub fn hash(&self) -> [u8; 32] {
        token_hash(&self.0)
    }
}

/// Never prints the token.
impl fmt::Debug for EditToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("EditToken(…)")
    }
}

/// Reads a token as it was sent and returns its hash; `None` if the text is no token.
pub fn hash_of_token_text(text: &str) -> Option<[u8; 32]> {
    from_hexadecimal::<32>(text).map(|token| token_hash(&token))
}

/// SHA-256 of a token.
pub fn token_hash(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// The pseudonym of a submitter, which a site keeps in place of the tag: the first 16 bytes of the SHA-256 of
/// `cardmark submitter 1`, a line feed and the tag. Whoever knows a tag can submit in its owner's name, so that no site keeps it.
pub fn submitter_of(tag: &[u8; TAG_BYTES]) -> [u8; TAG_BYTES] {
    let digest = Sha256::new_with_prefix(SUBMITTER_PURPOSE)
        .chain_update(tag)
        .finalize();
    let mut submitter = [0; TAG_BYTES];
    submitter.copy_from_slice(&digest[..TAG_BYTES]);
    submitter
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(text: &str) -> Server {
        text.parse().unwrap()
    }

    #[test]
    fn servers_and_runs_have_unrelated_secrets() {
        let secrets = Secrets::new([7; 32]);
        let (one, other) = (
            server("https://cards.example"),
            server("https://other.example"),
        );
        let run = Uuid::from_u128(1);
        assert_eq!(
            secrets.tag(&one),
            secrets.tag(&server("https://CARDS.example:443/"))
        );
        assert_ne!(secrets.tag(&one), secrets.tag(&other));
        assert_ne!(secrets.tag(&one), Secrets::new([8; 32]).tag(&one));
        let token = secrets.edit_token(&one, run);
        assert_eq!(token, secrets.edit_token(&one, run));
        assert_ne!(token, secrets.edit_token(&other, run));
        assert_ne!(token, secrets.edit_token(&one, Uuid::from_u128(2)));
        assert!(!format!("{secrets:?}{token:?}").contains("07"));
    }

    /// Values from `openssl dgst -sha256 -mac HMAC -macopt hexkey:0707…`.
    #[test]
    fn derived_secrets_are_those_of_the_protocol() {
        let secrets = Secrets::new([7; 32]);
        let server = server("https://cards.example");
        let token = secrets.edit_token(&server, Uuid::nil());
        assert_eq!(token.to_text(), TOKEN);
        assert_eq!(to_hexadecimal(&secrets.tag(&server)), TAG);
    }

    const TOKEN: &str = "38ff5919e6830e90f855750440931b409dfb94ba338562f2cb3d5f63a8c1f620";
    const TAG: &str = "c1dfd78e2d92119daac115d7b3a9223c";
}
