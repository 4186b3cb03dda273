//! Verify and endure: an interrupted job goes on where it was, and only on the card that it knows.

use std::fs;

use cardmark_core::{IntegrityTest, StorageKind, WritePattern};
use cardmark_integrity::{EndureEnd, Load};
use cardmark_session::{
    Endurance, Exit, LoanTerms, ProbeTerms, TestRequest, Tested, VerifyPart, VerifyScope,
    VerifyTarget, card_name, journal_name, probe, verify,
};
use cardmark_store::JobKind;
use cardmark_testkit::needs;
use jiff::SignedDuration;

use crate::card::{Card, cycles};
use crate::world::{Act, MIB, Person, consent};

/// Size of the cards: a step of 64 MiB and a short one, in each pass.
const SIZE: u64 = 72 * MIB;
/// Size of a card whose half has two steps.
const LARGE: u64 = 144 * MIB;

fn stop_at(n: usize) -> &'static Person {
    Person::absent().at(n, Act::Stop)
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
    let stopped = card.verify_seeded(stop_at(1), &scope, (Some(5), false));
    stopped.assert_error(Exit::Trouble, &["the test was stopped", "goes on there"]);
    assert_eq!(card.world.remembered().len(), 1);
    assert_eq!(card.world.runs().len(), 0);
    let ended = card.verify(&scope);
    ended.assert_exit(Exit::Done);
    ended.assert_heard(&["continues the test"]);
    assert_eq!(ended.record().seed.as_deref(), Some("0000000000000005"));
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
    let card = Card::new(LARGE);
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
    assert_eq!(span, (Some(LARGE / 4), LARGE / 2));
    assert!(card.holds(0, 0..LARGE / 4));
    assert!(card.holds(0, LARGE / 4 * 3..LARGE));
    let mut middle = (LARGE / 4..LARGE / 4 * 3).step_by(1 << 20);
    assert!(middle.all(|offset| !card.holds(0, offset..offset + MIB)));
    assert_eq!(card.world.remembered(), <[&str; 0]>::default());
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
        most_bytes: Some(50_000_000),
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
    // In the second cycle.
    card.endure_with(stop_at(steps + 1), cycles(1000), None);
    card.endure_with(Person::absent(), cycles(1), None)
        .assert_error(
            Exit::Usage,
            &["has reached this limit already", "--restart"],
        );
    let ended = card.endure_with(Person::absent(), cycles(2), None);
    let found = ended.record().integrity.as_ref().unwrap();
    assert_eq!(found.cycles_count, Some(2));
    card.endure_with(stop_at(steps * 3 / 4), cycles(1), None);
    card.insert(SIZE);
    let ended = card.endure_with(Person::absent(), cycles(1), None);
    ended.assert_exit(Exit::Done);
    ended.assert_heard(&["begins again"]);
    assert_eq!(ended.record().written_bytes, SIZE);
}

#[test]
fn a_result_that_could_not_be_stored_is_stored_by_the_same_command() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let steps = steps_of(|person| {
        card.endure_with(person, cycles(1), None);
    });
    assert_eq!(card.world.runs().len(), 1);
    let database = card.world.data.database.clone();
    let aside = card.world.path("aside");
    let (from, to) = (database.clone(), aside.clone());
    let take_away = move || {
        fs::rename(&from, to).unwrap();
        fs::write(from, [b'x'; 4096]).unwrap();
    };
    let person = Person::absent().at(steps, Act::of(take_away));
    let ended = card.endure_with(person, cycles(1), None);
    ended.assert_exit(Exit::Trouble).assert_heard(&["error: "]);
    assert_eq!(ended.record().written_bytes, SIZE);
    fs::rename(aside, &database).unwrap();
    assert_eq!(card.world.remembered().len(), 1);
    assert_eq!(card.world.runs().len(), 1);
    let again = card
        .device
        .unwritten(|_| card.endure_with(Person::absent(), cycles(1), None));
    again.assert_exit(Exit::Done);
    let found = again.record().integrity.as_ref().unwrap();
    assert_eq!(found.cycles_count, Some(1));
    assert_eq!(card.world.remembered(), <[&str; 0]>::default());
    assert_eq!(card.world.runs().len(), 2);
}

/// A card is known by size and name; here it is changed between that and the opening.
#[test]
fn a_card_that_is_changed_before_it_is_opened_is_not_taken_for_the_first() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let scope = VerifyScope::default();
    card.verify_with(stop_at(1), &scope, false);
    let journals = card.world.remembered();
    let consent = consent(&card.device);
    let request = || TestRequest {
        seed: None,
        consent: &consent,
        restart: false,
    };
    let halve = || {
        let image = fs::File::options()
            .write(true)
            .open(card.device.file())
            .unwrap();
        let size = image.metadata().unwrap().len();
        image.set_len(size / 2).unwrap();
        // A file that is open for writing is in use.
        drop(image);
        card.device.notice_size();
    };
    let message = ["changed while it was looked at", "nothing was written"];
    let target = VerifyTarget::named(card.name()).unwrap();
    halve();
    let refused = card
        .world
        .job(|session| verify(session, card.name(), &target, &request(), &scope));
    refused.assert_error(Exit::Refused, &message);
    let tested = Tested::to_write(card.name(), "all of it").unwrap();
    halve();
    let terms = ProbeTerms {
        cache_bytes: Some(2 * MIB),
        wait_s: 0,
    };
    let refused = card
        .world
        .job(|session| probe(session, &tested, &request(), &LoanTerms::default(), terms));
    refused.assert_error(Exit::Refused, &message);
    assert_eq!(card.world.remembered(), journals);
    assert_eq!(card.world.runs().len(), 0);
}

/// Moves the beginning of the rest of the card back, as if that many days had passed.
fn wait_days(card: &Card, days: i64) {
    let disk = card.name().trim_start_matches("/dev/");
    let name = card_name(&card.world.data, disk).unwrap().unwrap();
    let name = journal_name(&name, JobKind::Endure);
    let begun = card.world.data.unfinished::<Endurance>(&name).unwrap();
    let mut begun = begun.unwrap();
    let rest = begun.state.rest.as_mut().unwrap();
    rest.since -= SignedDuration::from_hours(24 * days);
    begun.journal.state(&begun.state).unwrap();
}

#[test]
fn a_device_is_read_again_after_its_rest_and_not_before() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let again = || card.endure_with(Person::absent(), cycles(1), Some(30));
    again()
        .assert_exit(Exit::Done)
        .assert_heard(&["leave it alone", " UTC or later"]);
    for days in [0, 29] {
        wait_days(&card, days);
        again().assert_error(Exit::Trouble, &["is to rest until", "--restart"]);
    }
    wait_days(&card, 2);
    // The card forgets these meanwhile.
    card.write(5 * MIB, &[0x55; 4096]);
    // Another card in the reader has forgotten nothing.
    let first = card.content();
    card.insert(SIZE);
    again().assert_error(Exit::Trouble, &["is not the card", "--restart"]);
    card.write(0, &first);
    let read = again();
    read.assert_exit(Exit::Bad);
    assert_eq!(read.record().written_bytes, 0);
    let found = read.record().integrity.as_ref().unwrap();
    let result = (found.test, found.faded_count);
    assert_eq!(result, (IntegrityTest::Retention, Some(8)));
    assert_eq!(found.rested_ms.unwrap() / 86_400_000, 31);
    assert_eq!(card.world.remembered(), <[&str; 0]>::default());
}
