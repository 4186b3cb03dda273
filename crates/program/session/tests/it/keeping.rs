//! Results that cannot be stored, and cards that are changed before they are opened.

use std::fs::{self, File};

use cardmark_integrity::EndureEnd;
use cardmark_session::{
    Exit, LoanTerms, ProbeTerms, TestRequest, Tested, VerifyScope, VerifyTarget, probe, verify,
};
use cardmark_testkit::needs;

use crate::card::Card;
use crate::world::{Act, MIB, Person, consent};

/// Size of the cards.
const SIZE: u64 = 192 * MIB;

/// The store is gone when the result is there: it is kept by the same command, which measures nothing then.
#[test]
fn a_result_that_could_not_be_stored_keeps_its_journal() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let once = EndureEnd {
        bad_share: 0.5,
        most_bytes: None,
        most_cycles: Some(1),
    };
    let database = card.world.data.database.clone();
    let aside = card.world.path("aside");
    let of_person = (database.clone(), aside.clone());
    let lose = Act::of(move || {
        let (database, aside) = of_person;
        fs::rename(&database, aside).unwrap();
        fs::create_dir(database).unwrap();
    });
    let unstored = card.endure_with(Person::absent().at(1, lose), once, None);
    unstored.assert_exit(Exit::Usage);
    unstored.assert_heard(&["error: "]);
    assert_eq!(card.world.remembered().len(), 1, "the journal");
    fs::remove_dir(&database).unwrap();
    fs::rename(aside, &database).unwrap();
    assert_eq!(card.world.runs().len(), 0);
    let stored = card.device.unwritten(|_| {
        let ended = card.endure_with(Person::absent(), once, None);
        ended.assert_exit(Exit::Done);
        ended
    });
    let found = stored.record().integrity.as_ref().unwrap();
    assert_eq!(found.cycles_count, Some(1));
    assert_eq!(card.world.remembered(), <[&str; 0]>::default());
    assert_eq!(card.world.runs().len(), 1);
}

/// A card is known by size and name; here it is changed between that and the opening.
#[test]
fn a_card_that_is_changed_before_it_is_opened_is_not_taken_for_the_first() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let scope = VerifyScope::default();
    card.verify_with(Person::absent().at(1, Act::Stop), &scope, false);
    let journals = card.world.remembered();
    let consent = consent(&card.device);
    let request = || TestRequest {
        seed: None,
        consent: &consent,
        restart: false,
    };
    let change = || {
        let image = File::options()
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
    let refused = card.world.job(|session| {
        let target = VerifyTarget::named(card.name())?;
        change();
        verify(session, card.name(), &target, &request(), &scope)
    });
    refused.assert_error(Exit::Refused, &message);
    let refused = card.world.job(|session| {
        let tested = Tested::to_write(card.name(), "all of it")?;
        change();
        let terms = ProbeTerms {
            cache_bytes: Some(2 * MIB),
            wait_s: 0,
        };
        probe(session, &tested, &request(), &LoanTerms::default(), terms)
    });
    refused.assert_error(Exit::Refused, &message);
    assert_eq!(card.world.remembered(), journals);
    assert_eq!(card.world.runs().len(), 0);
}
