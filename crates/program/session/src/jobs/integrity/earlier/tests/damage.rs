//! Undo logs that are damaged after a test was killed.
//!
//! A probe ends at a random call, the log or its map is damaged, and new sessions follow. Every block of the storage is
//! compared with what it held before.

use std::collections::BTreeMap;

use cardmark_core::{Rng, fill_payload, mix};

use super::*;

/// Number of damages unless `CARDMARK_DAMAGES` is set.
const DAMAGES: u64 = 24;
/// Size of the storage, blocks: 16 MiB.
const ALL_BLOCKS: u64 = 16 << 11;
const CACHE_BLOCKS: u64 = 1 << 11;
/// Mark of a record, and its size without payload.
const MARK: &[u8; 8] = b"cmundo\n\x02";
const HEAD_BYTES: usize = 512;
/// Kind of a record that has a piece.
const PIECE: u64 = 2;

/// A card, a store, and the former content of the card.
struct Bench {
    folder: tempfile::TempDir,
    card: Card,
    original: Vec<u8>,
    seed: u64,
}

impl Bench {
    fn new() -> Self {
        let folder = folder();
        let mut original = vec![0; usize::try_from(ALL_BLOCKS).unwrap() * BLOCK_BYTES];
        fill_payload(1, &mut original);
        Self {
            card: Card {
                folder: folder.path().join("blocks"),
                identity: "card",
                blocks_count: ALL_BLOCKS,
            },
            folder,
            original,
            seed: 0,
        }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn log(&self) -> PathBuf {
        self.store().join("card.undo")
    }

    fn map(&self) -> PathBuf {
        self.store().join("card.undo-map")
    }

    /// The card as it was, without a log.
    fn begin(&self) {
        let _ = fs::remove_dir_all(self.store());
        fs::create_dir(self.store()).unwrap();
        self.card.write(&self.original);
    }

    /// Returns the numbers of the blocks that do not hold their former content.
    fn changed(&self) -> Vec<u64> {
        self.card.changed(&self.original)
    }

    fn session(&mut self, calls: u64) -> (Ended, u64) {
        self.seed += 1;
        let request = ProbeRequest {
            seed: mix(self.seed),
            cache_blocks: CACHE_BLOCKS,
            wait_ns: 0,
        };
        self.card.probe(&self.store(), &request, calls)
    }
}

/// A record of an undamaged file: where it begins and ends, and the blocks of its piece, if it has one.
struct Record {
    from: usize,
    to: usize,
    piece: Option<Span>,
}

/// The records of an undamaged file, read without the code under test.
fn records(bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut from = 0;
    while bytes.get(from..from + 8) == Some(&MARK[..]) {
        let word = |index: usize| {
            let word = bytes[from + index * 8..].first_chunk::<8>();
            u64::from_le_bytes(*word.unwrap())
        };
        let to = from + HEAD_BYTES + usize::try_from(word(6)).unwrap();
        let span = Span::new(word(4), word(5));
        records.push(Record {
            from,
            to,
            piece: (word(1) == PIECE).then_some(span),
        });
        from = to;
    }
    assert_eq!(from, bytes.len());
    records
}

/// Ways in which a file is damaged.
pub(super) const WAYS: [&str; 14] = [
    "one bit",
    "eight bits",
    "cut anywhere",
    "cut at a record",
    "record missing",
    "bytes missing",
    "records swapped",
    "record twice",
    "emptied",
    "4 KiB zeroed",
    "4 KiB random",
    "wrong length",
    "bytes appended",
    "deleted",
];

/// Damages a file.
pub(super) fn damage(path: &Path, way: &str, rng: &mut Rng) {
    let mut bytes = fs::read(path).unwrap();
    let records = records(&bytes);
    let mut below = |limit: usize| usize::try_from(rng.below(limit as u64)).unwrap();
    let mut flip = |bytes: &mut Vec<u8>| {
        let bit = below(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
    };
    match way {
        "one bit" => flip(&mut bytes),
        "eight bits" => (0..8).for_each(|_| flip(&mut bytes)),
        "cut anywhere" => bytes.truncate(below(bytes.len())),
        "cut at a record" => bytes.truncate(records[below(records.len())].from),
        "record missing" => {
            let record = &records[below(records.len())];
            bytes.drain(record.from..record.to);
        }
        "bytes missing" => {
            let from = below(bytes.len());
            let to = bytes.len().min(from + 1 + below(5000));
            bytes.drain(from..to);
        }
        "records swapped" => {
            let first = below(records.len());
            let second = below(records.len());
            let mut order: Vec<usize> = (0..records.len()).collect();
            order.swap(first, second);
            let parts = order
                .iter()
                .map(|&index| &bytes[records[index].from..records[index].to]);
            bytes = parts.collect::<Vec<_>>().concat();
        }
        "record twice" => {
            let record = &records[below(records.len())];
            let copy = bytes[record.from..record.to].to_vec();
            bytes.splice(record.to..record.to, copy);
        }
        "emptied" => bytes.clear(),
        "4 KiB zeroed" | "4 KiB random" => {
            let from = below(bytes.len());
            let to = bytes.len().min(from + 4096);
            bytes[from..to].fill(0);
            if way == "4 KiB random" {
                fill_payload(from as u64, &mut bytes[from..to]);
            }
        }
        "wrong length" => {
            let record = &records[below(records.len())];
            let field = record.from + 8 * (5 + below(2));
            let length = [0, 512, 1 << 40, 1 << 63, u64::MAX][below(5)];
            bytes[field..field + 8].copy_from_slice(&length.to_le_bytes());
        }
        "bytes appended" => {
            let mut more = vec![0; 1 + below(10_000)];
            fill_payload(7, &mut more);
            bytes.extend(more);
        }
        "deleted" => return fs::remove_file(path).unwrap(),
        _ => unreachable!(),
    }
    fs::write(path, bytes).unwrap();
}

/// Blocks of pieces whose records are whole in the damaged file.
fn intact(before: &[u8], path: &Path) -> Vec<Span> {
    let after = fs::read(path).unwrap_or_default();
    let mut places: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (at, window) in after.windows(MARK.len()).enumerate() {
        if window == MARK
            && let Some(head) = after.get(at..at + HEAD_BYTES)
        {
            places.entry(head).or_default().push(at);
        }
    }
    let mut spans = Vec::new();
    for record in records(before) {
        let whole = &before[record.from..record.to];
        let at = places.get(&whole[..HEAD_BYTES]).into_iter().flatten();
        let mut copies = at.filter(|at| after.get(**at..**at + whole.len()) == Some(whole));
        if copies.next().is_some() {
            spans.extend(record.piece);
        }
    }
    spans
}

/// Counts of outcomes of one way of damage.
#[derive(Default)]
struct Tally {
    damages: u64,
    /// Exit statuses 0 and 3 of the first session after the damage.
    codes: [u64; 2],
    dirty: u64,
    with_unrestored: u64,
    pieces: u64,
}

#[test]
fn no_damage_to_a_log_loses_a_block_silently() {
    let mut bench = Bench::new();
    bench.begin();
    let (ended, calls) = bench.session(u64::MAX);
    assert_eq!(ended, Ended::With(0));
    assert_eq!(bench.changed(), [0; 0]);
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let seed = std::env::var("CARDMARK_SEED").map_or(1, |seed| seed.parse().unwrap());
    for case in 0..count("CARDMARK_DAMAGES", DAMAGES) {
        let mut rng = Rng::for_part(seed, "damage", case);
        let way = WAYS[usize::try_from(case % WAYS.len() as u64).unwrap()];
        bench.begin();
        assert_eq!(bench.session(rng.below(calls)).0, Ended::Killed);
        let dirty = bench.changed().len();
        let mut log = Vec::new();
        if bench.log().exists() {
            log = fs::read(bench.log()).unwrap();
            // Three of five: the log, one: the map, one: both.
            let target = rng.below(5);
            if target != 3 {
                damage(&bench.log(), way, &mut rng);
            }
            if target > 2 {
                damage(&bench.map(), way, &mut rng);
            }
        }
        let spans = intact(&log, &bench.log());
        let mut sessions = Vec::new();
        while sessions.len() < 3 {
            let (ended, _) = bench.session(u64::MAX);
            let Ended::With(code) = ended else {
                panic!("case {case}: {ended:?}");
            };
            let changed = bench.changed();
            assert!(
                code != 0 || changed.is_empty(),
                "case {case}, {way}: exit status 0 with {} of {dirty} blocks unrestored",
                changed.len()
            );
            assert!([0, 3].contains(&code), "case {case}, {way}: {code}");
            for span in &spans {
                let is_in = |block: &&u64| span.start <= **block && **block < span.end();
                assert_eq!(
                    changed.iter().find(is_in),
                    None,
                    "case {case}, {way}: {span:?}"
                );
            }
            sessions.push((code, changed.len()));
            if code == 0 {
                break;
            }
        }
        let tally = tallies.entry(way).or_default();
        tally.damages += 1;
        let (code, left) = sessions[0];
        tally.codes[[0, 3].iter().position(|known| *known == code).unwrap()] += 1;
        tally.dirty += u64::from(dirty > 0);
        tally.with_unrestored += u64::from(left > 0);
        tally.pieces += spans.len() as u64;
    }
    for (way, tally) in &tallies {
        let [done, trouble] = tally.codes;
        eprintln!(
            "| {way} | {} | {} | {done} | {trouble} | {} | {} |",
            tally.damages, tally.dirty, tally.with_unrestored, tally.pieces
        );
    }
}
