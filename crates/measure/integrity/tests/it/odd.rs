//! Geometries and failures that no simulated card of the library has, drawn by a seed. Nothing of them comes from the
//! simulator or from the code under test; the truth follows from the rule that a card obeys.
//!
//! `CARDMARK_SEEDS` is the number of cards of each kind, `CARDMARK_FROM` the first seed, `CARDMARK_KIND` the only kind, and
//! `CARDMARK_SCALE` the factor of their size; `benchmarks/fakes/geometries` sets them.

#![allow(clippy::print_stdout, reason = "the benchmark prints the rows")]

mod card;
mod kinds;

use cardmark_core::StorageKind;
use cardmark_integrity::{ProbeRequest, Verify, most_bytes, probe};

use crate::support::content;
use card::{Card, MEBI};
use kinds::{KINDS, Must, card};

/// Seeds of each kind in the suite, beside those that were judged wrongly.
const USUAL_SEEDS: u64 = 4;

/// Result of either test.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    kind: StorageKind,
    real: u64,
    is_irregular: bool,
}

/// Returns the reason for which a result is wrong; `None` if it is right.
fn fault(card: &Card, must: Must, found: Outcome, is_verify: bool) -> Option<&'static str> {
    use StorageKind::{Chain, Confirmed, Damaged, Limbo, Wraparound};
    let is_fake = matches!(found.kind, Limbo | Wraparound | Chain);
    match must {
        Must::Be(kind, real) if (found.kind, found.real) == (kind, real) && !found.is_irregular => {
            return None;
        }
        Must::Be(..) => return Some("not exact"),
        Must::NotBeFake => return is_fake.then_some("called a fake"),
        _ if found.kind == Confirmed => return Some("confirmed"),
        Must::BeWorn => return is_fake.then_some("called a fake"),
        Must::BeBadLater if found.kind == Damaged && found.real == card.all => return None,
        Must::BeBad | Must::BeBadLater => {}
    }
    let truth = card.truth();
    match found.real {
        real if real > truth.exist => Some("more than exists"),
        real if real > truth.first_lost => Some("above a lost place"),
        // A verify overwrites the prefix where addresses repeat.
        real if must == Must::BeBad && !is_verify && real < truth.prefix / 2 => Some("too little"),
        _ => None,
    }
}

fn probe_of(mut medium: Card, seed: u64, wait_ns: u64) -> (Card, Outcome, u64) {
    let request = ProbeRequest {
        seed,
        cache_blocks: 8 * MEBI * scale(),
        wait_ns,
    };
    let most = most_bytes(medium.all, &request) / 512;
    let found = probe(&mut medium, &request, &mut |_| ()).unwrap();
    assert!(medium.written <= most, "{} of {most}", medium.written);
    let result = Outcome {
        kind: found.kind,
        real: found.real_blocks,
        is_irregular: found.is_irregular,
    };
    (medium, result, found.written_blocks)
}

fn verify_of(mut medium: Card, seed: u64, wait_ns: u64) -> (Card, Outcome) {
    let mut verify = Verify::new(medium.all, content(seed)).waiting(wait_ns);
    while !verify.is_done() {
        verify.advance(&mut medium).unwrap();
    }
    let found = verify.verdict().unwrap();
    let result = Outcome {
        kind: found.kind,
        real: found.real_blocks,
        is_irregular: found.is_irregular,
    };
    (medium, result)
}

fn asked(name: &str) -> Option<u64> {
    let asked = std::env::var(name).ok();
    asked.map(|count| count.parse().unwrap())
}

fn scale() -> u64 {
    asked("CARDMARK_SCALE").unwrap_or(1)
}

/// The seeds that were asked for, or the usual ones and those that were judged wrongly.
fn seeds(known: &[u64]) -> Vec<u64> {
    let from = asked("CARDMARK_FROM").unwrap_or(0);
    match asked("CARDMARK_SEEDS") {
        Some(count) => (from..from + count).collect(),
        None => {
            let known = known.iter().copied().filter(|&seed| seed >= USUAL_SEEDS);
            (0..USUAL_SEEDS).chain(known).collect()
        }
    }
}

/// Rows about the cards of a kind.
#[derive(Default)]
struct Row {
    cards: usize,
    probed: usize,
    verified: usize,
    written: f64,
    wrong: Vec<String>,
}

impl Row {
    fn add(&mut self, kind: &str, seed: u64) {
        self.cards += 1;
        let (medium, must) = card(kind, seed, scale());
        let wait_ns = match must {
            Must::BeBadLater => 31_000_000_000,
            _ => 0,
        };
        let (medium, found, blocks) = probe_of(medium, seed, wait_ns);
        self.written = self.written.max(blocks as f64 / medium.all as f64);
        let wrong = fault(&medium, must, found, false);
        self.probed += usize::from(wrong.is_none());
        self.note("probe", seed, wrong, found, (&medium, must));
        // A verify of a large card is too slow here.
        if scale() == 1 {
            let (medium, found) = verify_of(card(kind, seed, 1).0, seed, wait_ns);
            let wrong = fault(&medium, must, found, true);
            self.verified += usize::from(wrong.is_none());
            self.note("verify", seed, wrong, found, (&medium, must));
        }
    }

    fn note(
        &mut self,
        test: &str,
        seed: u64,
        wrong: Option<&str>,
        found: Outcome,
        (medium, must): (&Card, Must),
    ) {
        if let Some(wrong) = wrong {
            self.wrong.push(format!(
                "{test} {seed}: {wrong}: {found:?}; {must:?}, {:?} of {}",
                medium.truth(),
                medium.all
            ));
        }
    }
}

#[test]
fn each_kind_is_called_what_it_is_or_bad_with_no_more_than_exists() {
    println!("| kind | cards | probe | verify | written by the probe, of the card | first fault |");
    println!("|---|---:|---:|---:|---:|---|");
    let mut is_right = true;
    let only = std::env::var("CARDMARK_KIND").ok();
    let asked = |kind: &str| only.as_deref().is_none_or(|only| only == kind);
    for (kind, known) in KINDS.iter().filter(|(kind, _)| asked(kind)) {
        let mut row = Row::default();
        for seed in seeds(known) {
            row.add(kind, seed);
        }
        is_right &= row.wrong.is_empty();
        let verified = match scale() {
            1 => row.verified.to_string(),
            _ => "–".into(),
        };
        println!(
            "| {kind} | {} | {} | {verified} | {:.2} | {} |",
            row.cards,
            row.probed,
            row.written,
            row.wrong.first().map_or("", String::as_str)
        );
        row.wrong
            .iter()
            .for_each(|wrong| eprintln!("{kind}: {wrong}"));
    }
    assert!(is_right);
}

/// A worn card is named as one, whatever it was when the test began.
#[test]
fn a_card_that_ignores_or_refuses_writes_is_called_worn() {
    for (kind, expected) in [
        ("ignores writes early", StorageKind::IgnoresWrites),
        ("ignores writes late", StorageKind::IgnoresWrites),
        ("refuses writes late", StorageKind::ReadOnly),
    ] {
        for seed in seeds(&[]) {
            let (_, found, _) = probe_of(card(kind, seed, scale()).0, seed, 0);
            assert_eq!(found.kind, expected, "{kind}, {seed}: {found:?}");
            let (_, found) = verify_of(card(kind, seed, scale()).0, seed, 0);
            assert_eq!(found.kind, expected, "{kind}, {seed}: {found:?}");
        }
    }
}
