//! Packs: many kept documents in one file, which is replaced as a whole and never edited.
//!
//! A pack is a skippable frame of zstd (RFC 8878, 3.1.2) with the index in JSON, then the kept bytes of each document, which are
//! frames of zstd themselves: `zstd -dc PACK` prints all documents.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

/// Magic number of the skippable frame, little-endian: `0x184D2A50` and a number of our own below 16.
const MAGIC: u32 = 0x184D_2A5C;
/// Bytes before the index: magic number and length.
const BEFORE_INDEX: usize = 8;
/// Version of the index.
const VERSION: u32 = 1;

/// A document in a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackEntry {
    /// Id of the run.
    pub id: Uuid,
    /// First byte in the pack, after the index.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
    /// SHA-256 of the unpacked document, hexadecimal.
    pub digest: String,
    /// Time of arrival, milliseconds since 1970.
    pub received_ms: i64,
    /// Submitter as the site keeps it, hexadecimal.
    pub submitter: Option<String>,
}

/// Index of a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    version: u32,
    entries: Vec<PackEntry>,
}

/// A document for a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Id of the run.
    pub id: Uuid,
    /// The kept bytes: one frame of zstd.
    pub bytes: Vec<u8>,
    /// SHA-256 of the unpacked document, hexadecimal.
    pub digest: String,
    /// Time of arrival, milliseconds since 1970.
    pub received_ms: i64,
    /// Submitter as the site keeps it, hexadecimal.
    pub submitter: Option<String>,
}

/// Reason for which bytes are no pack.
#[derive(Debug, Error)]
pub enum PackError {
    /// It does not begin with an index.
    #[error("it does not begin with the index of a pack")]
    NoIndex,
    /// The index cannot be read.
    #[error("the index cannot be read")]
    Index(#[source] serde_json::Error),
    /// The index is of a newer version.
    #[error("its index has version {0}, and this program knows {VERSION}")]
    Version(u32),
    /// A document ends behind the end of the pack.
    #[error("the pack ends before the document of {0}")]
    Short(Uuid),
}

/// Writes a pack, and returns it with its entries, whose offsets are from the beginning of the file.
#[must_use]
pub fn write_pack(documents: &[Packed]) -> (Vec<u8>, Vec<PackEntry>) {
    let mut offset = 0;
    let entries = documents.iter().map(|document| {
        let length = document.bytes.len() as u64;
        let entry = PackEntry {
            id: document.id,
            offset,
            length,
            digest: document.digest.clone(),
            received_ms: document.received_ms,
            submitter: document.submitter.clone(),
        };
        offset += length;
        entry
    });
    let index = Index {
        version: VERSION,
        entries: entries.collect(),
    };
    let text = serde_json::to_vec(&index).unwrap_or_default();
    let mut pack =
        Vec::with_capacity(BEFORE_INDEX + text.len() + usize::try_from(offset).unwrap_or(0));
    pack.extend(MAGIC.to_le_bytes());
    // An index of 4 GiB would have twenty million entries.
    pack.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    pack.extend(&text);
    let begin = pack.len() as u64;
    for document in documents {
        pack.extend(&document.bytes);
    }
    (pack, from_beginning(index.entries, begin))
}

/// Reads the entries of a pack, whose offsets are from the beginning of the file.
///
/// # Errors
/// If the bytes are no pack, or end before one of its documents.
pub fn read_pack(pack: &[u8]) -> Result<Vec<PackEntry>, PackError> {
    let number = |at: usize| {
        let bytes = pack.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let length = number(0)
        .filter(|magic| *magic == MAGIC)
        .and_then(|_| number(4));
    let text = length
        .and_then(|length| pack.get(BEFORE_INDEX..BEFORE_INDEX + length as usize))
        .ok_or(PackError::NoIndex)?;
    let index: Index = serde_json::from_slice(text).map_err(PackError::Index)?;
    if index.version != VERSION {
        return Err(PackError::Version(index.version));
    }
    let entries = from_beginning(index.entries, (BEFORE_INDEX + text.len()) as u64);
    let is_short = |entry: &&PackEntry| {
        let end = entry.offset.checked_add(entry.length);
        end.is_none_or(|end| end > pack.len() as u64)
    };
    match entries.iter().find(is_short) {
        Some(entry) => Err(PackError::Short(entry.id)),
        None => Ok(entries),
    }
}

fn from_beginning(mut entries: Vec<PackEntry>, begin: u64) -> Vec<PackEntry> {
    for entry in &mut entries {
        entry.offset = entry.offset.saturating_add(begin);
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn documents() -> Vec<Packed> {
        // Frames of zstd with one raw block: magic number, one segment with its size, block header.
        let frame = |text: &str| {
            let size = u8::try_from(text.len()).unwrap();
            let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, size, size << 3 | 1, 0, 0];
            frame.extend(text.as_bytes());
            frame
        };
        let document = |number: u128, text: &str| Packed {
            id: Uuid::from_u128(number),
            bytes: frame(text),
            digest: "ab".repeat(32),
            received_ms: 1_764_000_000_000,
            submitter: (number == 1).then(|| "cd".repeat(16)),
        };
        vec![document(1, "one\n"), document(2, "two\n")]
    }

    #[test]
    fn documents_come_back() {
        let documents = documents();
        let (pack, entries) = write_pack(&documents);
        assert_eq!(read_pack(&pack).unwrap(), entries);
        for (entry, document) in entries.iter().zip(&documents) {
            let [begin, length] =
                [entry.offset, entry.length].map(|at| usize::try_from(at).unwrap());
            assert_eq!(pack[begin..begin + length], document.bytes);
            assert_eq!(entry.id, document.id);
        }
    }

    #[test]
    fn another_decoder_skips_the_index_and_prints_all_documents() {
        let (pack, _) = write_pack(&documents());
        let (mut rest, mut text) = (pack.as_slice(), String::new());
        while !rest.is_empty() {
            match ruzstd::decoding::StreamingDecoder::new(&mut rest) {
                Ok(mut decoder) => {
                    decoder.read_to_string(&mut text).unwrap();
                }
                Err(ruzstd::decoding::errors::FrameDecoderError::ReadFrameHeaderError(
                    ruzstd::decoding::errors::ReadFrameHeaderError::SkipFrame { length, .. },
                )) => rest = &rest[length as usize..],
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(text, "one\ntwo\n");
    }

    #[test]
    fn what_is_no_pack_is_refused() {
        let (pack, entries) = write_pack(&documents());
        assert!(matches!(read_pack(&[]), Err(PackError::NoIndex)));
        assert!(matches!(read_pack(&pack[..40]), Err(PackError::NoIndex)));
        assert!(matches!(read_pack(&pack[8..]), Err(PackError::NoIndex)));
        let short = &pack[..pack.len() - 1];
        assert!(matches!(read_pack(short), Err(PackError::Short(id)) if id == entries[1].id));
    }
}
