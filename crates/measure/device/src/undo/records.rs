//! Records of an undo log and of its map: writing them, and finding those that are intact in a damaged file.
//!
//! A record is a head of 512 bytes and a payload of whole 512 bytes. Head and payload have a checksum each, so
//! that a head with a damaged payload still names the blocks that are lost. Each head has the seed of its
//! session, so that bytes of another log do not count, and a number, so that a missing record is noticed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use cardmark_core::mix;
use cardmark_integrity::Span;

/// Size of a head; payloads are multiples of it.
pub(super) const UNIT_BYTES: usize = 512;
const UNIT: u64 = UNIT_BYTES as u64;
/// Begins each head; the last byte is the version of the format.
const MARK: [u8; 8] = *b"cmundo\n\x02";
const WORDS: usize = UNIT_BYTES / 8;
/// Largest payload: a longer one is damage. The longest are plans, 16 bytes for each span.
const MOST_PAYLOAD_BYTES: u64 = 64 << 20;
/// Bytes read at once when the next head is searched.
const SEARCH_BYTES: usize = 1 << 20;

/// Kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The first record of a file.
    Head,
    /// Payload: spans that the session may write.
    Plan,
    /// Payload: former content of a span.
    Piece,
    /// All records before it are durable before any of the spans in its payload is written.
    Commit,
    /// Everything is restored.
    Restored,
}

const KINDS: [Kind; 5] = [
    Kind::Head,
    Kind::Plan,
    Kind::Piece,
    Kind::Commit,
    Kind::Restored,
];

/// Head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: Kind,
    /// Seed of the session's content.
    pub(super) seed: u64,
    /// Number of records before it in the file.
    pub(super) number: u64,
    /// Of a piece: its blocks. Of a commit: its number, from 1, as `start`.
    pub(super) span: Span,
    pub(super) payload_bytes: u64,
    payload_sum: u64,
}

impl Head {
    /// The bytes of a record with this payload, which is filled up with zeros to whole 512 bytes.
    pub(super) fn record(
        kind: Kind,
        seed: u64,
        number: u64,
        span: Span,
        payload: &[u8],
    ) -> Vec<u8> {
        let mut bytes = vec![0; UNIT_BYTES + payload.len().next_multiple_of(UNIT_BYTES)];
        bytes[UNIT_BYTES..][..payload.len()].copy_from_slice(payload);
        let (head, payload) = bytes.split_at_mut(UNIT_BYTES);
        let fields = [
            u64::from_le_bytes(MARK),
            KINDS.iter().position(|known| *known == kind).unwrap_or(0) as u64,
            seed,
            number,
            span.start,
            span.count,
            payload.len() as u64,
            checksum(payload),
        ];
        let words = head.as_chunks_mut::<8>().0;
        for (word, field) in words.iter_mut().zip(fields) {
            *word = field.to_le_bytes();
        }
        let sum = checksum(&head[..UNIT_BYTES - 8]);
        head[UNIT_BYTES - 8..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The head of a piece with these bytes.
    pub(super) fn of_piece(seed: u64, number: u64, span: Span, bytes: &[u8]) -> Self {
        Self {
            kind: Kind::Piece,
            seed,
            number,
            span,
            payload_bytes: bytes.len() as u64,
            payload_sum: checksum(bytes),
        }
    }

    fn parse(bytes: &[u8; UNIT_BYTES]) -> Option<Self> {
        let words = bytes.as_chunks::<8>().0;
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let is_whole = words[0] == MARK && word(WORDS - 1) == checksum(&bytes[..UNIT_BYTES - 8]);
        let kind = *KINDS.get(usize::try_from(word(1)).ok()?)?;
        let payload_bytes = word(6);
        let head = Self {
            kind,
            seed: word(2),
            number: word(3),
            span: Span::new(word(4), word(5)),
            payload_bytes,
            payload_sum: word(7),
        };
        let has_length = payload_bytes.is_multiple_of(UNIT)
            && payload_bytes <= MOST_PAYLOAD_BYTES
            && (kind != Kind::Piece || head.span.count.checked_mul(UNIT) == Some(payload_bytes));
        (is_whole && has_length && head.span.start.checked_add(head.span.count).is_some())
            .then_some(head)
    }
}

/// The payload that names spans.
pub(super) fn payload_of(spans: &[Span]) -> Vec<u8> {
    let words = spans.iter().flat_map(|span| [span.start, span.count]);
    words.flat_map(u64::to_le_bytes).collect()
}

/// The spans that a payload names.
pub(super) fn spans_of(payload: &[u8]) -> Vec<Span> {
    let words = payload.as_chunks::<8>().0;
    let word = |bytes: [u8; 8]| u64::from_le_bytes(bytes);
    let pairs = words.as_chunks::<2>().0.iter();
    pairs
        .map(|[start, count]| Span::new(word(*start), word(*count)))
        .filter(|span| span.count > 0 && span.start.checked_add(span.count).is_some())
        .collect()
}

fn checksum(bytes: &[u8]) -> u64 {
    let words = bytes.as_chunks::<8>().0;
    words.iter().fold(bytes.len() as u64, |sum, word| {
        mix(sum ^ u64::from_le_bytes(*word))
    })
}

/// A record that was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Its place in the file, bytes.
    pub(super) at: u64,
    pub(super) head: Head,
    pub(super) is_intact: bool,
    /// True if the record follows the one before it without a gap.
    follows: bool,
    /// Spans that its payload names.
    pub(super) named: Vec<Span>,
}

/// Content found in a file.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// By rising number, each number once.
    pub(super) records: Vec<Found>,
    /// True if the records are in the file in rising order of number, each once.
    is_in_order: bool,
    /// End of the last of them, bytes.
    pub(super) end_bytes: u64,
}

impl Scan {
    /// Finds all records of the session that most records belong to.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let size_bytes = file.metadata()?.len();
        let mut all: Vec<Found> = Vec::new();
        let mut at = 0;
        let mut end = 0;
        while let Some((found, next)) = next_record(file, at, size_bytes, end)? {
            end = next;
            at = next;
            all.push(found);
        }
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for found in &all {
            *counts.entry(found.head.seed).or_default() += 1;
        }
        let seed = counts.iter().max_by_key(|(_, count)| **count);
        let seed = seed.map(|(seed, _)| *seed);
        all.retain(|found| Some(found.head.seed) == seed);
        let is_in_order = all
            .windows(2)
            .all(|pair| pair[0].head.number < pair[1].head.number);
        // Of records with one number, the intact one.
        all.sort_by_key(|found| (found.head.number, !found.is_intact));
        all.dedup_by_key(|found| found.head.number);
        Ok(Self {
            records: all,
            is_in_order,
            end_bytes: end,
        })
    }

    pub(super) fn seed(&self) -> Option<u64> {
        self.records.first().map(|found| found.head.seed)
    }

    /// Returns whether the first `count` records, by number, are all present, intact, in order and without
    /// gaps.
    pub(super) fn is_whole_to(&self, count: usize) -> bool {
        let is_head = |found: &Found| found.head.kind == Kind::Head;
        let are_whole = self.records.iter().take(count).enumerate();
        let are_whole = are_whole.clone().count() == count
            && are_whole.into_iter().all(|(index, found)| {
                found.head.number == index as u64 && found.is_intact && found.follows
            });
        self.is_in_order && are_whole && self.records.first().is_some_and(is_head)
    }

    /// The position behind the last intact record of that kind.
    pub(super) fn count_to_last(&self, is_kind: impl Fn(Kind) -> bool) -> usize {
        let last = self
            .records
            .iter()
            .rposition(|found| is_kind(found.head.kind) && found.is_intact);
        last.map_or(0, |index| index + 1)
    }
}

/// Returns the next record from that place on, and its end; `end` is the end of the one before it.
fn next_record(
    file: &File,
    from: u64,
    size_bytes: u64,
    end: u64,
) -> io::Result<Option<(Found, u64)>> {
    let mut at = from;
    loop {
        let Some(place) = find_mark(file, at, size_bytes)? else {
            return Ok(None);
        };
        let Some(head) = read_head(file, place) else {
            at = place + 1;
            continue;
        };
        let payload = read_payload(file, place, &head, size_bytes);
        let is_intact = payload.is_some();
        let behind = place + UNIT + head.payload_bytes;
        // A payload that lost bytes hides no head behind it.
        let is_next = behind == size_bytes || read_head(file, behind).is_some();
        let next = if is_intact || is_next {
            behind
        } else {
            place + UNIT
        };
        let names_spans = matches!(head.kind, Kind::Plan | Kind::Commit);
        let named = payload.filter(|_| names_spans);
        let found = Found {
            at: place,
            head,
            is_intact,
            follows: place == end,
            named: named.map_or_else(Vec::new, |payload| spans_of(&payload)),
        };
        return Ok(Some((found, next)));
    }
}

fn read_head(file: &File, at: u64) -> Option<Head> {
    let mut bytes = [0; UNIT_BYTES];
    file.read_exact_at(&mut bytes, at).ok()?;
    Head::parse(&bytes)
}

/// The payload of a record, if it is intact and can be read.
pub(super) fn read_payload(file: &File, at: u64, head: &Head, size_bytes: u64) -> Option<Vec<u8>> {
    if at + UNIT + head.payload_bytes > size_bytes {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(head.payload_bytes).ok()?];
    file.read_exact_at(&mut bytes, at + UNIT).ok()?;
    (checksum(&bytes) == head.payload_sum).then_some(bytes)
}

/// Returns the first place from there on, at any byte, at which a head may begin. Skips unreadable parts.
fn find_mark(file: &File, from: u64, size_bytes: u64) -> io::Result<Option<u64>> {
    let mut mark = [0; MARK.len()];
    if file.read_exact_at(&mut mark, from).is_ok() && mark == MARK {
        return Ok(Some(from));
    }
    let mut bytes = vec![0; SEARCH_BYTES];
    let mut at = from;
    let mut length = SEARCH_BYTES;
    while at + MARK.len() as u64 <= size_bytes {
        let count = match file.read_at(&mut bytes[..length], at) {
            Ok(count) => count,
            // Storage that is bad in single places: those are found by reading less at a time.
            Err(_) if length > UNIT_BYTES => {
                length = UNIT_BYTES;
                continue;
            }
            Err(_) => {
                at += UNIT;
                continue;
            }
        };
        let found = bytes[..count]
            .windows(MARK.len())
            .position(|window| window == MARK);
        if let Some(index) = found {
            return Ok(Some(at + index as u64));
        }
        if count < MARK.len() {
            break;
        }
        at += (count - MARK.len() + 1) as u64;
    }
    Ok(None)
}
