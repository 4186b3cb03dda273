//! Secrets of a server.

use std::fs::File;
use std::io::Read;

use cardmark_share::to_hexadecimal;

/// Size of a key, bytes.
const BYTES: usize = 32;

/// A secret, in hexadecimal digits. It has no `Debug`, so that no message shows it.
pub(crate) struct Key(String);

impl Key {
    /// Draws a key.
    pub(crate) fn new() -> std::io::Result<Self> {
        let mut bytes = [0; BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(to_hexadecimal(&bytes)))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Compares without showing by its duration how much of a text is right.
    pub(crate) fn is(&self, given: &str) -> bool {
        let pairs = self.0.bytes().zip(given.bytes());
        let differences = pairs.fold(0, |found, (own, given)| found | (own ^ given));
        given.len() == self.0.len() && std::hint::black_box(differences) == 0
    }
}
