//! Runs that are stopped: what was measured is kept.

use std::path::Path;
use std::sync::{Arc, Mutex};

use cardmark_core::{FindingKind, Record, StopReason};
use cardmark_engine::Request;
use cardmark_session::{Consent, Exit, Measurement, choose, measure};
use cardmark_store::unfinished;

use crate::world::{Act, Person, World, files, text};

const WORKLOAD: &str = "rand_read_4k";
/// Trials of the layout.
const LAYOUT: usize = 4;

/// The event of a run in which its `n`-th trial begins, from 1: each has two, and one comes before all.
fn start_of_trial(n: usize) -> usize {
    2 * n
}

/// Runs in a directory; checks that the run is kept in its journal until its record is safe, and that nothing else is left.
fn stopped(world: &World, person: &'static Person) -> Record {
    let folder = world.folder("card");
    let ended = world.job_with(person, |session| {
        let chosen = choose(text(&folder))?;
        let job = Measurement {
            session,
            target: text(&folder),
            suite: &cardmark_catalog::suite("quick", None).unwrap(),
            request: &Request {
                only: vec![WORKLOAD.to_owned()],
                limit_ns: 60 * cardmark_core::SECOND_NS,
                seed: 1,
                ..Request::default()
            },
            consent: &Consent::default(),
            labels: &[],
            leave: None,
        };
        let measured = measure(&job, &chosen)?;
        assert_eq!(world.remembered().len(), 1);
        measured.keeper.finish()?;
        Ok((measured.exit, measured.record))
    });
    ended.assert_exit(Exit::Trouble);
    assert_eq!(files(&folder), <[&Path; 0]>::default());
    assert_eq!(world.remembered(), <[&str; 0]>::default());
    let record = ended.record();
    let mut findings = record.findings.iter();
    assert!(findings.any(|finding| finding.kind == FindingKind::Interrupted));
    let last = record.trials.last().unwrap();
    assert!(!last.is_whole());
    assert_eq!(last.stopped_by, StopReason::Interrupted);
    record.clone()
}

fn whole_count(record: &Record) -> usize {
    let trials = record.trials.iter();
    trials.filter(|trial| trial.is_whole()).count()
}

#[test]
fn a_run_that_is_stopped_keeps_every_trial_that_ended() {
    let world = World::new();
    let journals = world.data.journals.clone();
    let kept = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&kept);
    let look_and_stop = Act::Do(Box::new(move |pulse| {
        // As a kill would leave them.
        let left = unfinished(&journals).unwrap();
        *seen.lock().unwrap() = left.first().and_then(|content| content.record.clone());
        pulse.stop();
    }));
    let third_round = start_of_trial(LAYOUT + 3);
    let record = stopped(&world, Person::absent().at(third_round, look_and_stop));
    assert_eq!(whole_count(&record), LAYOUT + 2);
    assert!(record.metric(WORKLOAD).is_some());
    let kept = kept.lock().unwrap().take().unwrap();
    assert!(
        kept.trials == record.trials[..LAYOUT + 2],
        "a trial is not in the journal"
    );
}

#[test]
fn a_run_that_is_stopped_in_its_layout_leaves_no_file() {
    let world = World::new();
    let person = Person::absent().at(start_of_trial(1), Act::Stop);
    let record = stopped(&world, person);
    assert_eq!(whole_count(&record), 0);
    assert!(record.trials[0].layout);
    assert_eq!(record.metric(WORKLOAD), None);
}
