//! Probe and anatomy: a device is given back as it was, also after a kill.

use std::fs;

use cardmark_core::StorageKind;
use cardmark_session::{Exit, LoanTerms};
use cardmark_testkit::{Mount, needs};
use rustix::fs::{FlockOperation, flock};

use crate::card::{Card, in_folder};
use crate::world::{Act, MIB, Person, files, text};

/// Size of the cards.
const SIZE: u64 = 24 * MIB;

#[test]
fn a_probe_gives_the_device_back_as_it_was() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let ended = card.probe(&LoanTerms::default());
    ended.assert_exit(Exit::Done);
    let record = ended.record();
    let found = record.integrity.as_ref().unwrap();
    assert_eq!(found.kind, StorageKind::Confirmed);
    assert!(found.excluded_cache_bytes.unwrap() >= 2 * MIB);
    assert!(record.written_bytes > MIB, "{}", record.written_bytes);
    assert!(card.is_untouched());
    assert_eq!(card.world.remembered(), <[&str; 0]>::default());
    assert_eq!(card.world.runs().len(), 1);
}

#[test]
fn a_probe_that_is_stopped_gives_it_back_at_once() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let before = card.world.remembered();
    let person = Person::absent().at(40, Act::Stop);
    let ended = card.world.job_with(person, |session| {
        card.probing(session, &LoanTerms::default())
    });
    ended.assert_error(
        Exit::Trouble,
        &["the test was stopped", "putting back what was there"],
    );
    assert!(card.is_untouched());
    assert_eq!(card.world.remembered(), before);
    assert_eq!(card.world.runs().len(), 0);
}

#[test]
fn anatomy_gives_the_device_back_as_it_was() {
    needs!(Root, LoopDevice);
    let card = Card::new(32 * MIB);
    for with_writes in [false, true] {
        let ended = card.anatomy(&LoanTerms::default(), with_writes);
        ended.assert_exit(Exit::Done);
        let record = ended.record();
        let found = record.anatomy.as_ref().unwrap();
        assert!(!found.boundaries.is_empty());
        assert_eq!(!found.turns.is_empty(), with_writes);
        assert_eq!(record.written_bytes > 0, with_writes);
        assert!(card.is_untouched());
        assert_eq!(card.world.remembered(), <[&str; 0]>::default());
    }
}

#[test]
fn a_killed_probe_loses_nothing() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    card.kill_probe();
    // Undo log, its map, and the journal that names them.
    assert_eq!(card.world.remembered().len(), 3);
    let ended = card.probe(&LoanTerms::default());
    ended.assert_exit(Exit::Done);
    ended.assert_heard(&["an earlier test was interrupted: what it overwrote goes back first"]);
    assert!(card.is_untouched());
    assert_eq!(card.world.remembered(), <[&str; 0]>::default());
}

#[test]
fn what_was_on_a_card_is_not_put_onto_another() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    card.kill_probe();
    let first = card.content();
    card.insert(SIZE);
    let ended = card.probe(&LoanTerms::default());
    ended.assert_error(
        Exit::Trouble,
        &[
            "not the card that the interrupted test overwrote",
            "missing: a card with the same identity",
            "-missing-1.undo`",
            "it is restored first",
            "--save-to",
            "to test this card, run the same command again",
            "nothing was written",
        ],
    );
    assert!(card.holds(SIZE, 0..SIZE));
    assert_eq!(card.world.remembered().len(), 3);
    // A test of the other card, with the log of the first one beside it.
    let ended = card.probe(&LoanTerms::default());
    ended.assert_exit(Exit::Done);
    ended.assert_heard(&["another card with this identity is not restored"]);
    assert!(card.holds(SIZE, 0..SIZE));
    assert_eq!(files(&card.world.data.tests).len(), 2, "log and map");
    // The first one again.
    card.write(0, &first);
    assert!(!card.is_untouched());
    card.probe(&LoanTerms::default()).assert_exit(Exit::Done);
    assert!(card.is_untouched());
    assert_eq!(card.world.remembered(), <[&str; 0]>::default());
}

#[test]
fn content_of_a_test_without_its_log_stops_another_one_unless_it_is_accepted() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    card.kill_probe();
    let before = card.content();
    let elsewhere = in_folder(&card.world.folder("elsewhere"));
    // The journal of the interrupted test knows where its log is.
    card.probe(&elsewhere).assert_error(
        Exit::Refused,
        &["has not been undone", "--save-to", "nothing was written"],
    );
    // Another user's store has no such journal.
    for journal in files(&card.world.data.journals) {
        fs::remove_file(journal).unwrap();
    }
    card.probe(&elsewhere).assert_error(
        Exit::Trouble,
        &[
            "its undo log is not here",
            "--save-to",
            "--keep-residue",
            "--destroy",
        ],
    );
    assert!(card.content() == before, "nothing was written");
    let accepted = LoanTerms {
        keep_residue: true,
        ..elsewhere
    };
    card.probe(&accepted).assert_exit(Exit::Done);
    assert!(card.content() == before, "put back as it was");
    // Where the log is, all is restored.
    card.probe(&LoanTerms::default()).assert_exit(Exit::Done);
    assert!(card.is_untouched());
    // Content that a test leaves on purpose does not stop a probe.
    let destroy = LoanTerms {
        destroy: true,
        ..LoanTerms::default()
    };
    card.probe(&destroy).assert_exit(Exit::Done);
    assert!(!card.is_untouched());
    card.probe(&LoanTerms::default()).assert_exit(Exit::Done);
}

/// Two cards that report the same model, serial number and size have one log.
#[test]
fn a_log_that_another_test_uses_is_neither_shared_nor_restored() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    card.kill_probe();
    let log = card.log();
    let map = fs::File::open(format!("{}-map", text(&log))).unwrap();
    flock(&map, FlockOperation::LockExclusive).unwrap();
    let before = (card.content(), fs::read(&log).unwrap());
    for is_anatomy in [false, true] {
        let refused = match is_anatomy {
            false => card.probe(&LoanTerms::default()),
            true => card.anatomy(&LoanTerms::default(), true),
        };
        refused.assert_error(
            Exit::Refused,
            &[
                "is in use",
                "a card with the same identity",
                "nothing was written",
            ],
        );
    }
    assert!((card.content(), fs::read(&log).unwrap()) == before);
    drop(map);
    card.probe(&LoanTerms::default()).assert_exit(Exit::Done);
    assert!(card.is_untouched());
}

#[test]
fn a_damaged_log_is_reported_and_kept() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    card.kill_probe();
    let log = card.log();
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, b"").unwrap();
    let changed = card.content();
    let ended = card.probe(&LoanTerms::default());
    ended.assert_error(
        Exit::Trouble,
        &["is damaged", "could not be restored", "--keep-residue"],
    );
    assert!(card.content() == changed, "nothing to restore from");
    assert!(log.exists(), "the log is kept");
    fs::write(&log, bytes).unwrap();
    card.probe(&LoanTerms::default()).assert_exit(Exit::Done);
    assert!(card.is_untouched());
}

#[test]
fn nothing_is_written_that_could_not_be_put_back() {
    needs!(Root, LoopDevice, Ext4);
    let card = Card::new(SIZE);
    // A filesystem too small for what is overwritten.
    let small = Mount::ext4(card.world.scratch.path(), 32 * MIB);
    let terms = in_folder(small.folder());
    card.probe(&terms).assert_error(
        Exit::Refused,
        &["cannot be kept", "hint: `--destroy`", "nothing was written"],
    );
    card.anatomy(&terms, true)
        .assert_error(Exit::Refused, &["what is overwritten cannot be kept"]);
    assert!(card.is_untouched());
    card.world.assert_nothing_kept();
}
