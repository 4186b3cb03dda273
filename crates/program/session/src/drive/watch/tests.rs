use std::sync::Mutex;

use super::*;
use crate::error::CommandError;
use crate::voice::{Progress, Silent, Trials};

const LIMIT: Duration = Duration::from_secs(8);

/// Keeps the messages.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Voice for Notes {
    fn notice(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }

    fn error(&self, error: &CommandError) {
        self.notice(&error.what);
    }

    fn progress(&self, _done_bytes: u64, _all_bytes: u64) -> Box<dyn Progress> {
        Box::new(Silent)
    }

    fn steps(&self) -> Box<dyn Progress> {
        Box::new(Silent)
    }

    fn trials(&self, _pulse: &Arc<Pulse>) -> Box<dyn Trials> {
        Box::new(Silent)
    }

    fn ask(&self, _question: &str) -> Option<std::io::Result<String>> {
        None
    }
}

struct Lent;

impl Rescue for Lent {
    const STOPPING: &'static str = "stopping";

    fn save(&self, voice: &dyn Voice, waited: Duration) {
        voice.notice(&format!("saved after {} s", waited.as_secs()));
    }

    fn last_words(&self) -> Option<String> {
        Some("not put back".to_owned())
    }
}

/// A watch without a thread, in virtual time.
struct Rig {
    shared: Shared,
    notes: &'static Notes,
    seen: Seen,
}

impl Rig {
    fn new() -> Self {
        let notes: &Notes = Box::leak(Box::default());
        let pulse = Arc::new(Pulse::new());
        Self {
            shared: Shared::new(notes, pulse, LIMIT, Arc::default(), Arc::default()),
            notes,
            seen: Seen::default(),
        }
    }

    /// A signal arrives, as the handlers note it.
    fn signal(&self, number: i32) {
        let number = usize::try_from(number).unwrap();
        self.shared.signal.store(number, Ordering::Relaxed);
        self.shared.again.store(true, Ordering::Relaxed);
    }

    fn look(&mut self, passed: Duration) -> Option<Exit> {
        self.shared.look(&Lent, &mut self.seen, passed)
    }

    /// Number of looks until the process is to end, and the exit.
    fn looks_until_end(&mut self) -> (u32, Exit) {
        (1..)
            .find_map(|count| self.look(LOOK).map(|exit| (count, exit)))
            .unwrap()
    }
}

#[test]
fn a_signal_stops_the_work_and_another_ctrl_c_ends_it_at_once() {
    for first in SIGNALS {
        let mut rig = Rig::new();
        assert_eq!(rig.look(LOOK), None);
        assert!(!rig.shared.pulse.is_stopped());
        rig.signal(first);
        assert_eq!(rig.look(LOOK), None);
        assert!(rig.shared.pulse.is_stopped());
        // However long the work needs to stop.
        for _ in 0..600 {
            assert_eq!(rig.look(LOOK), None);
        }
        assert_eq!(rig.notes.take(), ["stopping"]);
        rig.signal(SIGINT);
        assert_eq!(rig.look(LOOK), Some(Exit::Interrupted));
        assert_eq!(rig.notes.take(), ["not put back"]);
    }
}

/// `timeout` sends SIGTERM to the program, and at once to its group.
#[test]
fn two_sigterms_at_once_are_one_and_a_later_one_ends_at_once() {
    let mut rig = Rig::new();
    rig.signal(SIGTERM);
    assert_eq!(rig.look(LOOK), None);
    rig.signal(SIGTERM);
    assert_eq!(rig.look(SECOND_CALL - LOOK), None);
    assert_eq!(rig.look(LOOK), None, "it was heard before");
    rig.signal(SIGTERM);
    assert_eq!(rig.look(LOOK), Some(Exit::Terminated));
    assert_eq!(rig.notes.take(), ["stopping", "not put back"]);
}

#[test]
fn a_device_that_does_not_answer_within_the_limit_is_reported() {
    for (signal, exit) in [
        (None, Exit::Trouble),
        (Some(SIGTERM), Exit::Terminated),
        (Some(SIGINT), Exit::Interrupted),
    ] {
        let mut rig = Rig::new();
        rig.shared.pulse.set_waiting(true);
        if let Some(number) = signal {
            rig.signal(number);
        }
        // The first look has nothing to compare with.
        assert_eq!(rig.looks_until_end(), (81, exit));
        let notes = rig.notes.take().join("\n");
        assert!(
            notes.contains("error: the device has not answered for 8 s\ncause: "),
            "{notes}"
        );
        assert!(notes.ends_with("saved after 8 s"), "{notes}");
    }
}

#[test]
fn a_device_that_answers_or_has_nothing_to_do_does_not_hang() {
    let mut rig = Rig::new();
    for _ in 0..1000 {
        assert_eq!(rig.look(LOOK), None);
    }
    rig.shared.pulse.set_waiting(true);
    for _ in 0..1000 {
        assert_eq!(rig.look(LOOK), None);
        rig.shared.pulse.beat();
    }
    assert_eq!(rig.notes.take(), <[&str; 0]>::default());
    assert!(!rig.shared.pulse.was_paused());
}

#[test]
fn a_pause_of_the_process_is_noted_and_no_silence_of_the_device() {
    let mut rig = Rig::new();
    rig.shared.pulse.set_waiting(true);
    assert_eq!(rig.look(LOOK), None);
    let hours = Duration::from_secs(7200);
    assert_eq!(rig.look(hours), None);
    assert!(rig.shared.pulse.was_paused());
    // The pause counts as one second of eight.
    assert_eq!(rig.looks_until_end(), (70, Exit::Trouble));
}

#[test]
fn an_answer_or_a_rest_ends_the_silence() {
    let mut silence = Silence::default();
    silence.take((7, true), LOOK);
    assert_eq!(silence.take((7, true), LOOK), LOOK);
    assert_eq!(silence.take((8, true), LOOK), Duration::ZERO);
    assert_eq!(silence.take((8, true), LOOK), LOOK);
    assert_eq!(silence.take((8, false), LOOK), Duration::ZERO);
}
