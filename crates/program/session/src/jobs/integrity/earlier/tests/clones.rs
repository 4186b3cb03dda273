//! Cards that report one identity, copies of each other among them.
//!
//! Tests of the first card are killed at random calls, other cards are inserted, logs are damaged or copied to another
//! store. After each session every block of the card is compared with what it held before.

use cardmark_core::{Rng, fill_payload, mix};

use super::damage::{WAYS, damage};
use super::*;

/// Number of cases unless `CARDMARK_CLONES` is set.
const CLONES: u64 = 60;
/// Size of a card, blocks: 2 MiB.
const ALL_BLOCKS: u64 = 2 << 11;
const CACHE_BLOCKS: u64 = 1 << 7;
const MIB_BYTES: usize = 1 << 20;
/// Rounds after which every card that can be restored is restored.
const ROUNDS: usize = 5;

/// Difference between the second card and the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Second {
    /// A copy from before the session.
    Copy,
    /// The same in the last MiB only.
    OtherEnd,
    /// The same but for its first block.
    OtherStart,
    /// Both cards are blank.
    Blank,
    Unlike,
    OtherIdentity,
    /// A copy from after the first test was killed: it cannot be distinguished from the first card.
    CopyOfKilled,
}

const SECONDS: [Second; 7] = [
    Second::Copy,
    Second::OtherEnd,
    Second::OtherStart,
    Second::Blank,
    Second::Unlike,
    Second::OtherIdentity,
    Second::CopyOfKilled,
];

/// The cards in the order of their insertion, and the number of stores.
const ORDERS: [&[usize]; 5] = [
    &[0, 1, 0],
    &[0, 1, 1, 0],
    &[0, 0],
    &[0, 1, 0, 1],
    &[0, 1, 1, 1, 0, 0],
];

/// Use of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stores {
    One,
    /// Each card has its own.
    Two,
    /// The second is a copy of the first, made after the first test was killed, as on another computer. Either is used.
    Copied,
}

/// Events of a case.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    cases: u64,
    /// Cases whose first card held content of the test when it was killed.
    dirty: u64,
    /// Sessions that ended with exit 0 and 3.
    done: u64,
    trouble: u64,
    /// Sessions that ended with exit 3 and set a log aside.
    set_aside: u64,
    /// Cases that ended with all cards as they were.
    whole: u64,
}

struct World {
    folder: tempfile::TempDir,
    cards: [Card; 2],
    originals: [Vec<u8>; 2],
    second: Second,
    stores: Stores,
    order: &'static [usize],
    rng: Rng,
    is_damaged: bool,
    /// For each card: true if it was named as missing since its last kill.
    is_named: [bool; 2],
}

impl World {
    fn new(case: u64) -> Self {
        let mut rng = Rng::for_part(1, "clones", case);
        let mut pick = |count: usize| usize::try_from(rng.below(count as u64)).unwrap();
        let (second, order) = (SECONDS[pick(SECONDS.len())], ORDERS[pick(ORDERS.len())]);
        let stores = [Stores::One, Stores::One, Stores::Two, Stores::Copied][pick(4)];
        let folder = folder();
        let mut first = vec![0; usize::try_from(ALL_BLOCKS).unwrap() * BLOCK_BYTES];
        if second != Second::Blank {
            fill_payload(case, &mut first);
        }
        let mut other = first.clone();
        let end = other.len() - MIB_BYTES;
        match second {
            Second::OtherEnd => fill_payload(case + 1000, &mut other[end..]),
            Second::OtherStart => fill_payload(case + 1000, &mut other[..BLOCK_BYTES]),
            Second::Unlike => fill_payload(case + 1000, &mut other),
            Second::Copy | Second::Blank | Second::OtherIdentity | Second::CopyOfKilled => {}
        }
        let card = |name: &str, identity| Card {
            folder: folder.path().join(name),
            identity,
            blocks_count: ALL_BLOCKS,
        };
        let identity = match second {
            Second::OtherIdentity => "other",
            _ => "card",
        };
        let cards = [card("first", "card"), card("second", identity)];
        let world = Self {
            cards,
            originals: [first, other],
            folder,
            second,
            stores,
            order,
            rng,
            is_damaged: false,
            is_named: [false; 2],
        };
        for (card, original) in world.cards.iter().zip(&world.originals) {
            card.write(original);
        }
        for store in [0, 1] {
            fs::create_dir(world.store(store)).unwrap();
        }
        world
    }

    fn store(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("store-{number}"))
    }

    fn is_dirty(&self, number: usize) -> bool {
        !self.cards[number]
            .changed(&self.originals[number])
            .is_empty()
    }

    fn store_of(&mut self, card: usize) -> PathBuf {
        let number = match self.stores {
            Stores::One => 0,
            Stores::Two => card,
            Stores::Copied => usize::try_from(self.rng.below(2)).unwrap(),
        };
        self.store(number)
    }

    /// A session with a card, which may be killed. Checks its end.
    fn session(&mut self, number: usize, store: &Path, calls: u64, tally: &mut Tally) -> Ended {
        let request = ProbeRequest {
            wait_ns: 0,
            seed: mix(self.rng.below(1 << 40)),
            cache_blocks: CACHE_BLOCKS,
        };
        let before = logs(store);
        let (ended, _) = self.cards[number].probe(store, &request, calls);
        let mut was_set_aside = false;
        for log in logs(store) {
            let is_new = !before.contains(&log) && log.to_str().unwrap().contains("-missing-");
            was_set_aside |= is_new;
        }
        let other = 1 - number;
        match ended {
            Ended::Killed => self.is_named[number] = false,
            Ended::With(code) => {
                tally.done += u64::from(code == 0);
                tally.trouble += u64::from(code == 3);
                tally.set_aside += u64::from(code == 3 && was_set_aside);
                let has_one_identity = self.cards[0].identity == self.cards[1].identity;
                if was_set_aside && has_one_identity {
                    assert_eq!(code, 3, "{self}");
                    self.is_named[other] = true;
                }
                assert!([0, 3].contains(&code), "{self}: exit {code}");
                if code == 0 {
                    assert!(!self.is_dirty(number), "{self}: card {number}");
                    let can_know = has_one_identity
                        && self.stores == Stores::One
                        && self.second != Second::CopyOfKilled
                        && !self.is_damaged;
                    assert!(
                        !can_know || !self.is_dirty(other) || self.is_named[other],
                        "{self}: card {other} was never named as missing"
                    );
                }
            }
        }
        ended
    }

    fn play(&mut self, calls: u64, tally: &mut Tally) {
        let order = self.order;
        for (step, &number) in order.iter().enumerate() {
            let store = self.store_of(number);
            // The first session is killed, and one of four later ones.
            let is_killed = step == 0 || self.rng.below(4) == 0;
            let most = match is_killed {
                true => self.rng.below(calls),
                false => u64::MAX,
            };
            self.session(number, &store, most, tally);
            if step == 0 {
                tally.dirty += u64::from(self.is_dirty(0));
                self.after_first_kill(&store);
            }
            if !self.is_damaged && self.rng.below(8) == 0 {
                self.damage(&store);
            }
        }
    }

    fn after_first_kill(&mut self, store: &Path) {
        if self.second == Second::CopyOfKilled {
            fs::copy(self.cards[0].image(), self.cards[1].image()).unwrap();
            self.originals[1] = self.originals[0].clone();
        }
        if self.stores == Stores::Copied {
            let other = [self.store(0), self.store(1)];
            let other = other.iter().find(|other| *other != store).unwrap();
            for entry in fs::read_dir(store).unwrap() {
                let entry = entry.unwrap();
                fs::copy(entry.path(), other.join(entry.file_name())).unwrap();
            }
        }
    }

    fn damage(&mut self, store: &Path) {
        if let Some(log) = logs(store).first() {
            let way = WAYS[usize::try_from(self.rng.below(WAYS.len() as u64)).unwrap()];
            damage(log, way, &mut self.rng);
            self.is_damaged = true;
        }
    }

    /// Inserts all cards in turn until each session ends with exit 0.
    fn restore_all(&mut self, tally: &mut Tally) {
        let stores = match self.stores {
            Stores::One => 1,
            Stores::Two | Stores::Copied => 2,
        };
        let mut codes = Vec::new();
        for _ in 0..ROUNDS {
            codes.clear();
            for number in [0, 1] {
                for store in 0..stores {
                    let of_other = self.stores == Stores::Two && store != number;
                    if !of_other {
                        let store = self.store(store);
                        codes.push(self.session(number, &store, u64::MAX, tally));
                    }
                }
            }
            if codes.iter().all(|ended| *ended == Ended::With(0)) {
                break;
            }
        }
        let is_whole = !self.is_dirty(0) && !self.is_dirty(1);
        tally.whole += u64::from(is_whole);
        if !self.is_damaged && self.second != Second::CopyOfKilled {
            assert!(is_whole, "{self}: {codes:?}");
            assert!(
                codes.iter().all(|ended| *ended == Ended::With(0)),
                "{self}: {codes:?}"
            );
        }
        if self.second == Second::CopyOfKilled && !self.is_damaged {
            assert!(
                !self.is_dirty(0) || !self.is_dirty(1),
                "{self}: one of the two is restored"
            );
        }
    }
}

impl std::fmt::Display for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_damaged = if self.is_damaged { ", damaged log" } else { "" };
        let (second, stores, order) = (self.second, self.stores, self.order);
        write!(
            f,
            "{second:?}, stores {stores:?}, order {order:?}{is_damaged}"
        )
    }
}

#[test]
fn no_card_is_lost_whatever_others_report_its_identity() {
    let request = ProbeRequest {
        wait_ns: 0,
        seed: 1,
        cache_blocks: CACHE_BLOCKS,
    };
    let mut tally = Tally::default();
    let world = World::new(0);
    let (ended, calls) = world.cards[0].probe(&world.store(0), &request, u64::MAX);
    assert_eq!(ended, Ended::With(0));
    for case in 0..count("CARDMARK_CLONES", CLONES) {
        let mut world = World::new(case);
        tally.cases += 1;
        world.play(calls, &mut tally);
        world.restore_all(&mut tally);
    }
    let Tally {
        cases,
        dirty,
        done,
        trouble,
        set_aside,
        whole,
    } = tally;
    eprintln!("| cards | {cases} | {dirty} | {done} | {trouble} | {set_aside} | {whole} |");
    assert!(
        dirty * 4 > cases * 3,
        "{dirty} of {cases} first cards were dirty"
    );
}

/// The case of the review: a copy of the card is inserted after the test of the card was killed, at every tenth call.
#[test]
fn the_log_of_a_card_outlives_a_test_of_its_copy() {
    let mut tally = Tally::default();
    let world = World::new(0);
    let request = ProbeRequest {
        wait_ns: 0,
        seed: 1,
        cache_blocks: CACHE_BLOCKS,
    };
    let (_, calls) = world.cards[0].probe(&world.store(0), &request, u64::MAX);
    for kill in (0..calls).step_by(usize::try_from(calls / 10).unwrap()) {
        let mut world = World {
            second: Second::Copy,
            stores: Stores::One,
            ..World::new(3)
        };
        world.originals[1] = world.originals[0].clone();
        world.cards[1].identity = "card";
        world.cards[1].write(&world.originals[1]);
        let store = world.store(0);
        world.session(0, &store, kill, &mut tally);
        let (was_dirty, held) = (world.is_dirty(0), fs::read(world.cards[0].image()).unwrap());
        let ended = world.session(1, &store, u64::MAX, &mut tally);
        if was_dirty {
            assert_eq!(ended, Ended::With(3), "{kill}");
            let aside = store.join("card-missing-1.undo");
            assert!(opened(&aside).is_some_and(|log| !log.is_empty()));
            assert_eq!(fs::read(world.cards[0].image()).unwrap(), held);
        }
        let again = world.session(1, &store, u64::MAX, &mut tally);
        assert_eq!(again, Ended::With(0), "{kill}");
        let first = world.session(0, &store, u64::MAX, &mut tally);
        assert_eq!(first, Ended::With(0), "{kill}");
        assert!(!world.is_dirty(0));
        assert!(logs(&store).is_empty() || !was_dirty, "{kill}");
    }
}
