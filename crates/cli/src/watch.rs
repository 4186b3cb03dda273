//! Watches over a run from another thread: signals, and a device that does not answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cardmark_core::{Finding, FindingKind, Severity};
use cardmark_engine::Pulse;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{SigId, flag};

use crate::data::Data;
use crate::error::Exit;
use crate::keeper::Keeper;
use crate::print;

/// How often the watch looks.
const LOOK: Duration = Duration::from_millis(100);
/// The signals that end a run at the next operation.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// The watch over one run.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    registered: Vec<SigId>,
}

struct Shared {
    pulse: Arc<Pulse>,
    limit: Duration,
    /// Last signal that came in, 0 for none.
    signal: Arc<AtomicUsize>,
    ended: AtomicBool,
}

/// What the watch needs to save a run whose own thread hangs in the kernel.
pub(crate) struct Rescue {
    /// What was kept.
    pub(crate) keeper: Arc<Keeper>,
    /// Where the store is.
    pub(crate) data: Data,
}

impl Watch {
    /// Begins to watch.
    pub(crate) fn start(
        pulse: Arc<Pulse>,
        limit: Duration,
        rescue: Rescue,
    ) -> std::io::Result<Self> {
        let signal = Arc::new(AtomicUsize::new(0));
        let again = Arc::new(AtomicBool::new(false));
        let mut registered = Vec::new();
        for number in SIGNALS {
            registered.extend(register(number, &signal, &again)?);
        }
        let shared = Arc::new(Shared {
            pulse,
            limit,
            signal,
            ended: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("watch".into())
            .spawn(move || of_thread.watch(&rescue))?;
        Ok(Self {
            shared,
            thread: Some(thread),
            registered,
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
        for id in self.registered.drain(..) {
            signal_hook::low_level::unregister(id);
        }
        exit_of(self.shared.signal.load(Ordering::Relaxed))
    }
}

/// Notes the signal's number; a second signal ends the process at once (the journal stays).
fn register(
    number: i32,
    signal: &Arc<AtomicUsize>,
    again: &Arc<AtomicBool>,
) -> std::io::Result<[SigId; 3]> {
    let value = usize::try_from(number).unwrap_or(0);
    let code = exit_of(value).map_or(0, |exit| i32::from(exit.code()));
    Ok([
        flag::register_conditional_shutdown(number, code, Arc::clone(again))?,
        flag::register(number, Arc::clone(again))?,
        flag::register_usize(number, Arc::clone(signal), value)?,
    ])
}

fn exit_of(signal: usize) -> Option<Exit> {
    match i32::try_from(signal) {
        Ok(0) => None,
        Ok(SIGINT) => Some(Exit::Interrupted),
        _ => Some(Exit::Terminated),
    }
}

impl Shared {
    fn watch(&self, rescue: &Rescue) {
        let (mut last, mut since) = (self.pulse.reading(), Instant::now());
        let mut is_told = false;
        while !self.ended.load(Ordering::Relaxed) {
            std::thread::park_timeout(LOOK);
            if self.signal.load(Ordering::Relaxed) != 0 && !is_told {
                is_told = true;
                self.pulse.stop();
                print::notice("stopping at the next operation; what was measured is kept");
            }
            let reading = self.pulse.reading();
            if reading != last || !reading.1 {
                (last, since) = (reading, Instant::now());
            } else if since.elapsed() >= self.limit {
                self.rescue(rescue, since.elapsed());
                return;
            }
        }
    }

    /// Saves what there is and ends the process, as far as the kernel lets it.
    #[allow(
        clippy::exit,
        reason = "the main thread hangs in the kernel and cannot return"
    )]
    fn rescue(&self, rescue: &Rescue, waited: Duration) {
        let seconds = waited.as_secs();
        print::notice(&format!(
            "error: the device has not answered for {seconds} s"
        ));
        print::notice(
            "cause: the kernel still waits for an operation; this process can end only when the \
             kernel gives it back",
        );
        let detail = format!("no answer for {seconds} s");
        let finding = Finding::new(FindingKind::NoAnswer, Severity::Error, detail);
        let record = rescue.keeper.partial(finding);
        let saved = rescue
            .data
            .open()
            .and_then(|mut store| Ok(store.insert(&record)?));
        match saved.and_then(|_| rescue.keeper.finish()) {
            Ok(()) => print::notice(&format!(
                "hint: the trials that ended are kept; `cardmark show {}` shows them",
                record.id
            )),
            Err(error) => {
                print::error(&error);
                print::notice("hint: the journal is kept; `cardmark recover` reads it later");
            }
        }
        let exit = exit_of(self.signal.load(Ordering::Relaxed)).unwrap_or(Exit::Trouble);
        std::process::exit(i32::from(exit.or_worse(Exit::Trouble).code()));
    }
}
