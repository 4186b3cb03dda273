//! Watches over work from another thread: signals, and a device that does not answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cardmark_core::{Finding, FindingKind, Severity};
use cardmark_engine::Pulse;
use cardmark_judge::advise;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::data::Data;
use crate::error::Exit;
use crate::keeper::Keeper;
use crate::print;

/// How often the watch looks.
const LOOK: Duration = Duration::from_millis(100);
/// The signals that end the work at the next operation.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// The watch over one run or preparation.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Once set, the next signal ends the process at once.
    last_call: Arc<AtomicBool>,
}

struct Shared {
    pulse: Arc<Pulse>,
    limit: Duration,
    /// Last signal that came in, 0 for none.
    signal: Arc<AtomicUsize>,
    /// Whether one came since it was last looked, where there are last words.
    again: Arc<AtomicBool>,
    ended: AtomicBool,
}

/// What is done for work whose own thread hangs in the kernel.
pub(crate) trait Rescue: Send + 'static {
    /// What is told when a signal asks for the end.
    const STOPPING: &'static str;

    /// Saves what can be saved and tells how to go on. Said before anything is tried: the store
    /// may be on the very device that hangs.
    fn save(&self, waited: Duration);

    /// What is told when a second signal ends the process in the middle of it; nothing where all is kept anyway.
    fn last_words(&self) -> Option<String> {
        None
    }
}

/// What the watch needs to save a run.
pub(crate) struct RunRescue {
    /// What was kept.
    pub(crate) keeper: Arc<Keeper>,
    /// Where the store is; absent where nothing is to be stored.
    pub(crate) data: Option<Data>,
}

impl Rescue for RunRescue {
    const STOPPING: &'static str = "stopping at the next operation; what was measured is kept";

    fn save(&self, waited: Duration) {
        let Some(data) = &self.data else {
            return;
        };
        print::notice(
            "hint: the trials that ended are in the journal; `cardmark recover` reads it if nothing \
             more is said here",
        );
        let detail = format!("no answer for {} s", waited.as_secs());
        let finding = Finding::new(FindingKind::NoAnswer, Severity::Error, detail);
        let mut record = self.keeper.partial(finding);
        advise(&mut record);
        let saved = data.open().and_then(|mut store| Ok(store.insert(&record)?));
        match saved.and_then(|_| self.keeper.finish()) {
            Ok(()) => print::notice(&format!(
                "saved: `cardmark show {}` shows the trials that ended",
                record.id
            )),
            Err(error) => print::error(&error),
        }
    }
}

/// Signals heeded for the whole of a command that measures again and again. From now on they end
/// nothing by themselves.
#[derive(Clone)]
pub(crate) struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Begins to heed them.
    pub(crate) fn heed() -> std::io::Result<Self> {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in SIGNALS {
            let value = usize::try_from(number).unwrap_or(0);
            flag::register_usize(number, Arc::clone(&signal), value)?;
        }
        Ok(Self(signal))
    }

    /// How the program is to end for the signal that came, if one did.
    pub(crate) fn exit(&self) -> Option<Exit> {
        exit_of(self.0.load(Ordering::Relaxed))
    }
}

impl Watch {
    /// Begins to watch, and to heed signals.
    pub(crate) fn start<R: Rescue>(
        pulse: Arc<Pulse>,
        limit: Duration,
        rescue: R,
    ) -> std::io::Result<Self> {
        let signal = Arc::new(AtomicUsize::new(0));
        let last_call = Arc::new(AtomicBool::new(false));
        let again = Arc::new(AtomicBool::new(false));
        // A handler can say nothing: last words are said, and the process is ended, by the watch.
        let second = match rescue.last_words() {
            Some(_) => &again,
            None => &last_call,
        };
        for number in SIGNALS {
            register(number, &signal, &last_call, second)?;
        }
        Self::start_on(pulse, limit, rescue, (signal, again), last_call)
    }

    /// Begins to watch in a program that heeds signals itself and notes them here.
    pub(crate) fn start_with<R: Rescue>(
        pulse: Arc<Pulse>,
        limit: Duration,
        rescue: R,
        signals: &Signals,
    ) -> std::io::Result<Self> {
        let signal = Arc::clone(&signals.0);
        Self::start_on(
            pulse,
            limit,
            rescue,
            (signal, Arc::default()),
            Arc::default(),
        )
    }

    fn start_on<R: Rescue>(
        pulse: Arc<Pulse>,
        limit: Duration,
        rescue: R,
        (signal, again): (Arc<AtomicUsize>, Arc<AtomicBool>),
        last_call: Arc<AtomicBool>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            pulse,
            limit,
            signal,
            again,
            ended: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("watch".into())
            .spawn(move || of_thread.watch(&rescue))?;
        Ok(Self {
            shared,
            thread: Some(thread),
            last_call,
        })
    }

    /// Ends the watch and tells which signal came, as the exit it means.
    pub(crate) fn end(mut self) -> Option<Exit> {
        self.shared.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A watch that panicked has nothing left to tell.
            let _ = thread.join();
        }
        // The handlers stay: without them signals would be ignored, not back to their old meaning.
        self.last_call.store(true, Ordering::Relaxed);
        exit_of(self.shared.signal.load(Ordering::Relaxed))
    }
}

/// Notes the signal's number. A second one ends the process at once (the journal stays) where `second` is
/// `last_call`, but for SIGHUP, of which a closing terminal often sends two.
fn register(
    number: i32,
    signal: &Arc<AtomicUsize>,
    last_call: &Arc<AtomicBool>,
    second: &Arc<AtomicBool>,
) -> std::io::Result<()> {
    let value = usize::try_from(number).unwrap_or(0);
    let code = exit_of(value).map_or(0, |exit| i32::from(exit.code()));
    flag::register_conditional_shutdown(number, code, Arc::clone(last_call))?;
    if number != SIGHUP {
        flag::register(number, Arc::clone(second))?;
    }
    flag::register_usize(number, Arc::clone(signal), value)?;
    Ok(())
}

fn exit_of(signal: usize) -> Option<Exit> {
    match i32::try_from(signal) {
        Ok(0) => None,
        Ok(SIGINT) => Some(Exit::Interrupted),
        _ => Some(Exit::Terminated),
    }
}

impl Shared {
    fn watch<R: Rescue>(&self, rescue: &R) {
        let (mut last, mut since) = (self.pulse.reading(), Instant::now());
        let mut is_told = false;
        while !self.ended.load(Ordering::Relaxed) {
            std::thread::park_timeout(LOOK);
            if self.signal.load(Ordering::Relaxed) != 0 && !is_told {
                is_told = true;
                self.pulse.stop();
                // Who has read the line may ask for the end again.
                self.again.store(false, Ordering::Relaxed);
                print::notice(R::STOPPING);
            } else if is_told && self.again.swap(false, Ordering::Relaxed) {
                self.end_at_once(rescue);
            }
            let reading = self.pulse.reading();
            if reading != last || !reading.1 {
                (last, since) = (reading, Instant::now());
            } else if since.elapsed() >= self.limit.saturating_mul(self.pulse.limits_count()) {
                self.rescue(rescue, since.elapsed());
                return;
            }
        }
    }

    /// Ends the process in the middle of its work, because somebody insists.
    #[allow(clippy::exit, reason = "the thread that works goes on to its end")]
    fn end_at_once<R: Rescue>(&self, rescue: &R) {
        if let Some(words) = rescue.last_words() {
            print::notice(&words);
        }
        let exit = exit_of(self.signal.load(Ordering::Relaxed)).unwrap_or(Exit::Interrupted);
        std::process::exit(i32::from(exit.code()));
    }

    /// Saves what there is and ends the process, as far as the kernel lets it.
    #[allow(
        clippy::exit,
        reason = "the thread that works hangs in the kernel and cannot return"
    )]
    fn rescue<R: Rescue>(&self, rescue: &R, waited: Duration) {
        print::notice(&format!(
            "error: the device has not answered for {} s",
            waited.as_secs()
        ));
        print::notice(
            "cause: the kernel still waits for an operation; this process can end only when the \
             kernel gives it back",
        );
        rescue.save(waited);
        let exit = exit_of(self.signal.load(Ordering::Relaxed)).unwrap_or(Exit::Trouble);
        std::process::exit(i32::from(exit.or_worse(Exit::Trouble).code()));
    }
}
