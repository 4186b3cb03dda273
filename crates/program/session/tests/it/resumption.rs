//! Verify and endure: an interrupted job goes on where it was, and only on the card that it knows.

use cardmark_core::{StorageKind, WritePattern};
use cardmark_integrity::{EndureEnd, Load};
use cardmark_session::{Exit, VerifyPart, VerifyScope};
use cardmark_testkit::needs;

use crate::card::Card;
use crate::world::{Act, MIB, Person};

/// Size of the cards; many steps of each job.
const SIZE: u64 = 192 * MIB;

fn stop_at(n: usize) -> &'static Person {
    Person::absent().at(n, Act::Stop)
}

fn cycles(count: u32) -> EndureEnd {
    EndureEnd {
        bad_share: 0.5,
        most_bytes: None,
        most_cycles: Some(count),
    }
}

/// Number of steps of a whole job: in its last half it reads what it has written.
fn steps_of(job: impl FnOnce(&'static Person)) -> usize {
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let person = Person::who_counts(&count);
    job(person);
    count.load(std::sync::atomic::Ordering::Relaxed)
}

#[test]
fn verify_goes_on_after_it_was_stopped_with_its_seed() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let scope = VerifyScope::default();
    let stopped = card.verify_with(stop_at(1), &scope, false);
    stopped.assert_error(Exit::Trouble, &["the test was stopped", "goes on there"]);
    assert_eq!(card.world.remembered().len(), 1);
    assert_eq!(card.world.runs().len(), 0);
    let ended = card.verify(&scope);
    ended.assert_exit(Exit::Done);
    ended.assert_heard(&["continues the test"]);
    let found = ended.record().integrity.as_ref().unwrap();
    assert_eq!(found.kind, StorageKind::Confirmed);
    assert_eq!(found.size_bytes, SIZE);
    assert_eq!(card.world.remembered(), <[&str; 0]>::default());
    assert_eq!(card.world.runs().len(), 1);
}

#[test]
fn verify_begins_again_when_it_is_asked_to() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let scope = VerifyScope::default();
    card.verify_with(stop_at(1), &scope, false);
    let ended = card.verify_with(Person::absent(), &scope, true);
    ended.assert_exit(Exit::Done);
    assert!(!ended.heard.contains("continues"), "{ended:?}");
    assert_eq!(ended.record().written_bytes, SIZE);
}

#[test]
fn verify_goes_on_only_where_nobody_else_has_written() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let scope = VerifyScope::default();
    let steps = steps_of(|person| {
        card.verify_with(person, &scope, false);
    });
    // When all is written and a part is read.
    let reading = steps * 3 / 4;
    card.verify_with(stop_at(reading), &scope, false);
    card.verify(&scope)
        .assert_exit(Exit::Done)
        .assert_heard(&["continues the test"]);
    // As a new filesystem does, and as a copy that was made before the end was written.
    for offset in [0, SIZE - 65536] {
        card.verify_with(stop_at(reading), &scope, false);
        card.write(offset, &[0x55; 65536]);
        let ended = card.verify(&scope);
        ended.assert_exit(Exit::Done);
        ended.assert_heard(&["begins again", "holds something else now"]);
        assert_eq!(ended.record().written_bytes, SIZE);
    }
}

#[test]
fn verify_of_a_part_writes_nothing_else_and_goes_on_only_as_that_part() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let part = |from_percent: f64| VerifyScope {
        part: Some(VerifyPart {
            from_percent,
            to_percent: 75.0,
        }),
        ..VerifyScope::default()
    };
    card.verify_with(stop_at(1), &part(25.0), false);
    card.verify(&part(30.0))
        .assert_exit(Exit::Done)
        .assert_heard(&["begins again: the interrupted test is of another part"]);
    card.verify_with(stop_at(1), &part(25.0), false);
    let ended = card.verify(&part(25.0));
    ended.assert_exit(Exit::Done);
    ended.assert_heard(&["continues the test"]);
    let found = ended.record().integrity.as_ref().unwrap();
    assert_eq!(found.kind, StorageKind::Confirmed);
    let span = (found.from_bytes, found.size_bytes);
    assert_eq!(span, (Some(SIZE / 4), SIZE / 2));
    assert!(card.holds(0, 0..SIZE / 4));
    assert!(card.holds(0, SIZE / 4 * 3..SIZE));
    assert!(!card.holds(0, SIZE / 4..SIZE / 4 + MIB));
}

#[test]
fn verify_goes_on_only_under_the_same_load() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let loaded = VerifyScope {
        load: Some(Load {
            pattern: WritePattern::Random,
            queue_depth: 4,
            discards: false,
        }),
        ..VerifyScope::default()
    };
    card.verify_with(stop_at(1), &loaded, false);
    card.verify(&VerifyScope::default())
        .assert_exit(Exit::Done)
        .assert_heard(&["begins again: the interrupted test is with another `--pattern`"]);
    card.verify_with(stop_at(1), &loaded, false);
    let ended = card.verify(&loaded);
    ended.assert_exit(Exit::Done);
    ended.assert_heard(&["continues the test"]);
    let found = ended.record().integrity.as_ref().unwrap();
    assert_eq!(found.queue_depth, Some(4));
    let steps = steps_of(|person| {
        card.verify_with(person, &loaded, false);
    });
    card.verify_with(stop_at(steps * 3 / 4), &loaded, false);
    // Another card of that size, in the same reader.
    card.insert(SIZE);
    card.verify(&loaded)
        .assert_exit(Exit::Done)
        .assert_heard(&["holds something else now"]);
}

#[test]
fn endure_goes_on_with_its_card_and_within_its_limits() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let small = EndureEnd {
        most_bytes: Some(100_000_000),
        ..cycles(1)
    };
    card.endure_with(Person::absent(), small, None)
        .assert_error(Exit::Usage, &["does not hold one cycle"]);
    assert!(card.is_untouched());
    card.endure_with(stop_at(2), cycles(1000), None)
        .assert_error(Exit::Trouble, &["the test was stopped"]);
    let ended = card.endure_with(Person::absent(), cycles(1), None);
    ended.assert_exit(Exit::Done);
    assert!(!ended.heard.contains("begins again"), "{ended:?}");
    let found = ended.record().integrity.as_ref().unwrap();
    assert_eq!(found.cycles_count, Some(1));
    let steps = steps_of(|person| {
        card.endure_with(person, cycles(1), None);
    });
    card.endure_with(stop_at(steps * 3 / 4), cycles(1), None);
    card.insert(SIZE);
    let ended = card.endure_with(Person::absent(), cycles(1), None);
    ended.assert_exit(Exit::Done);
    ended.assert_heard(&["begins again"]);
    assert_eq!(ended.record().written_bytes, SIZE);
}
