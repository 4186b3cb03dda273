//! Turns of several jobs on one host: a job waits while another one has its turn.

use std::sync::Arc;
use std::thread::{Scope, ScopedJoinHandle, scope};

use cardmark_core::Fill;
use cardmark_engine::Pulse;
use cardmark_session::{Chosen, Claim, Exit, LoanTerms, Silent, Step, Turn, VerifyScope, choose};
use cardmark_testkit::needs;

use crate::card::{Card, cycles};
use crate::world::{Ended, MIB, Person, World, text};

/// Size of the cards.
const SIZE: u64 = 24 * MIB;

/// The turn of a run on that target, in a trial.
fn taken_by_run(world: &World, target: &str) -> Turn {
    let Chosen::Real { resolution, .. } = choose(target).unwrap() else {
        panic!("{target} is simulated");
    };
    let claim = Claim::timed("run", target, &resolution);
    let pulse = Arc::new(Pulse::new());
    let mut turn = Turn::new(&Silent, &pulse, &claim, world.data.lock_file.as_deref());
    turn.take(Step::default(), &mut Silent);
    turn
}

/// A job that runs beside the test, and its person.
fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    job: impl FnOnce(&'static Person) -> Ended + Send + 'scope,
) -> (&'static Person, ScopedJoinHandle<'scope, Ended>) {
    let person = Person::absent();
    (person, scope.spawn(move || job(person)))
}

#[test]
fn verify_and_endure_wait_for_a_job_on_their_device() {
    needs!(Root, LoopDevice);
    let card = &Card::new(SIZE);
    let verify = |person| card.verify_with(person, &VerifyScope::default(), false);
    let endure = |person| card.endure_with(person, cycles(1), None);
    let jobs: [&(dyn Fn(&'static Person) -> Ended + Sync); 2] = [&verify, &endure];
    for job in jobs {
        let before = card.content();
        scope(|scope| {
            let mut turn = taken_by_run(&card.world, card.name());
            let (person, job) = start(scope, job);
            person.await_heard(&format!("waits for `run` on {}", card.name()));
            let is_untouched = card.content() == before;
            turn.leave();
            job.join().unwrap().assert_exit(Exit::Done);
            assert!(is_untouched, "written while another job had its turn");
        });
        assert!(card.content() != before);
    }
}

#[test]
fn untimed_jobs_wait_for_no_job_on_another_device() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let folder = card.world.folder("folder");
    let _turn = taken_by_run(&card.world, text(&folder));
    for ended in [
        card.probe(&LoanTerms::default()),
        card.verify(&VerifyScope::default()),
        card.endure_with(Person::absent(), cycles(1), None),
        card.prepare_with(Person::absent(), Fill::Ff, false).0,
    ] {
        ended.assert_exit(Exit::Done);
        assert!(!ended.heard.contains("waits for"), "{ended:?}");
    }
}

#[test]
fn timed_jobs_take_turns_and_show_for_whom_they_wait() {
    needs!(Root, LoopDevice);
    let second = &Card::new(SIZE);
    let mut third = Card::new(SIZE);
    third
        .world
        .data
        .lock_file
        .clone_from(&second.world.data.lock_file);
    let third = &third;
    let folder = second.world.folder("folder");
    let look = |card: &Card, person| card.anatomy_with(person, &LoanTerms::default(), false);
    scope(|scope| {
        let mut turn = taken_by_run(&second.world, text(&folder));
        let (first_person, looks) = start(scope, move |person| look(second, person));
        // Long names keep their end.
        let name = text(&folder);
        let name = &name[name.len().saturating_sub(48)..];
        first_person.await_heard(&format!("waits for `run` on {name}"));
        // It waits behind the second one.
        let (person, looks_later) = start(scope, move |person| look(third, person));
        person.await_heard(&format!("waits for `anatomy` on {}", second.name()));
        first_person.stop();
        looks
            .join()
            .unwrap()
            .assert_error(Exit::Trouble, &["the test was stopped"]);
        turn.leave();
        looks_later.join().unwrap().assert_exit(Exit::Done);
    });
}
