//! Undo logs that are damaged, and copies of a card.

use std::fs;
use std::path::{Path, PathBuf};

use cardmark_core::Rng;
use cardmark_session::{Exit, LoanTerms, Session};
use cardmark_testkit::needs;

use crate::card::Card;
use crate::world::{MIB, files, text};

/// Size of the cards.
const SIZE: u64 = 24 * MIB;
/// Number of damages if `CARDMARK_LOOP_DAMAGES` is not set: one of each kind.
const DAMAGES: usize = WAYS.len();

/// Ways in which a log is damaged.
const WAYS: [&str; 8] = [
    "first piece",
    "middle",
    "cut",
    "wrong length",
    "emptied",
    "log deleted",
    "map deleted",
    "both deleted",
];

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

fn damage(log: &Path, way: &str, rng: &mut Rng) {
    let map = PathBuf::from(format!("{}-map", text(log)));
    let mut below = |limit: usize| usize::try_from(rng.below(limit as u64)).unwrap();
    match way {
        "first piece" => change(log, |bytes| bytes[1024 + below(512)] ^= 1),
        "middle" => change(log, |bytes| {
            let at = bytes.len() / 4 + below(bytes.len() / 2);
            bytes[at] ^= 0x80;
        }),
        "cut" => change(log, |bytes| bytes.truncate(below(bytes.len()))),
        "wrong length" => change(log, |bytes| {
            bytes[512 + 5 * 8..][..8].copy_from_slice(&(1_u64 << 63).to_le_bytes());
        }),
        "emptied" => change(log, Vec::clear),
        "log deleted" => fs::remove_file(log).unwrap(),
        "map deleted" => fs::remove_file(map).unwrap(),
        _ => [log, &map]
            .iter()
            .for_each(|path| fs::remove_file(path).unwrap()),
    }
}

/// Numbers of the blocks that do not hold what they held.
fn changed(card: &Card, original: &[u8]) -> Vec<usize> {
    let now = card.content();
    let blocks = now.chunks(512).zip(original.chunks(512)).enumerate();
    let changed = blocks.filter(|(_, (now, before))| now != before);
    changed.map(|(number, _)| number).collect()
}

/// Kills a probe after this number of steps, or more and more until one has overwritten something; returns the number.
fn kill_dirty(card: &Card, steps: usize) -> usize {
    let mut after = (0..).map(|power| steps << power);
    let probing = |session: &Session<'_>| card.probing(session, &LoanTerms::default());
    let is_enough = |steps: &usize| {
        assert!(card.world.kill(*steps, probing), "nothing was overwritten");
        !card.is_untouched()
    };
    after.find(is_enough).unwrap()
}

#[test]
fn a_damaged_log_is_reported_kept_and_restored_as_far_as_it_goes() {
    needs!(Root, LoopDevice);
    let asked = std::env::var("CARDMARK_LOOP_DAMAGES").ok();
    let count = asked.map_or(DAMAGES, |count| count.parse().expect("a number"));
    let card = Card::new(SIZE);
    let original = card.content();
    let mut rng = Rng::new(11);
    let (mut steps, mut restored, mut with_unrestored) = (1, 0, 0);
    for way in WAYS.iter().copied().cycle().take(count) {
        steps = kill_dirty(&card, steps);
        damage(&card.log(), way, &mut rng);
        let left_before = files(&card.world.data.tests);
        let ended = card.probe(&LoanTerms::default());
        let changed_now = changed(&card, &original);
        ended.assert_error(Exit::Trouble, &[]);
        assert_eq!(card.world.runs().len(), 0, "{way}: no new test");
        let is_offered = ended.heard.contains("`--keep-residue`");
        assert_eq!(is_offered, !changed_now.is_empty(), "{way}: {ended:?}");
        match way {
            "both deleted" => ended.assert_heard(&["its undo log is not here"]),
            _ => {
                let left = files(&card.world.data.tests);
                assert_eq!(left.len(), left_before.len(), "{way}: the log is kept");
                ended.assert_heard(&["is damaged"])
            }
        };
        match way {
            "map deleted" => assert_eq!(changed_now, [0; 0], "the log has all"),
            // The first piece has the marks that are written first.
            "first piece" | "wrong length" => {
                let number = changed_now.len();
                let message = format!("{number} blocks of 512 bytes could not be restored");
                ended.assert_heard(&[&message]);
                assert!(changed_now.iter().all(|block| *block < 64), "{way}");
            }
            _ => {}
        }
        if changed_now.is_empty() {
            restored += 1;
        } else {
            with_unrestored += 1;
            let again = card.probe(&LoanTerms::default());
            again.assert_error(Exit::Trouble, &[]);
            assert_eq!(changed(&card, &original), changed_now, "{way}");
        }
        card.insert(0);
        for left in files(&card.world.data.tests) {
            fs::remove_file(left).unwrap();
        }
    }
    eprintln!(
        "| damages on a loop device | {count} | {count} | {count} | {restored} | {with_unrestored} |"
    );
}

/// Cards behind one reader report one identity, and cards with one image hold the same.
#[test]
fn a_copy_of_the_card_does_not_take_its_undo_log() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    card.kill_probe();
    let first = card.content();
    card.insert(0);
    let ended = card.probe(&LoanTerms::default());
    ended.assert_error(
        Exit::Trouble,
        &[
            "not the card that the interrupted test overwrote",
            "missing: a card with the same identity",
            "-missing-1.undo`",
            "it is restored first",
            "to test this card, run the same command again",
        ],
    );
    assert!(card.is_untouched());
    assert_eq!(card.world.runs().len(), 0);
    // A test of the copy, with the log of the first card beside it.
    let ended = card.probe(&LoanTerms::default());
    ended.assert_exit(Exit::Done);
    ended.assert_heard(&["another card with this identity is not restored"]);
    assert!(card.is_untouched());
    assert_eq!(files(&card.world.data.tests).len(), 2, "log and map");
    card.write(0, &first);
    assert!(!card.is_untouched());
    card.probe(&LoanTerms::default()).assert_exit(Exit::Done);
    assert!(card.is_untouched());
    assert_eq!(card.world.remembered(), <[&str; 0]>::default());
}
