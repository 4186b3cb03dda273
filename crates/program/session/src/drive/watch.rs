//! Watch over work from another thread: signals, and a device that does not answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cardmark_engine::Pulse;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::Exit;
use crate::voice::Voice;

/// Interval of the watch.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// Longest time that one look counts as silence of the device. More has passed if this process, or the whole
/// machine, was paused.
pub(crate) const LONGEST_LOOK: Duration = Duration::from_secs(1);
/// Time after the first signal in which another SIGTERM has no effect: `timeout` sends two at once.
pub(crate) const SECOND_CALL: Duration = Duration::from_secs(1);
/// Signals that end the work at the next operation.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Actions for work whose own thread hangs in the kernel.
pub trait Rescue: Send + 'static {
    /// Message after a signal has requested the end.
    const STOPPING: &'static str;

    /// Saves what can be saved, and shows how to continue. Messages come first: the store may be on the very
    /// device that hangs.
    fn save(&self, voice: &dyn Voice, waited: Duration);

    /// Message before a second signal ends the process in the middle of the work; `None` if everything is kept
    /// anyway.
    fn last_words(&self) -> Option<String> {
        None
    }
}

/// Signals of a command that starts many jobs. After [`Signals::heed`] they end nothing by themselves.
#[derive(Clone)]
pub struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Begins to heed them.
    ///
    /// # Errors
    /// If the system refuses a handler.
    pub fn heed() -> std::io::Result<Self> {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in SIGNALS {
            let value = usize::try_from(number).unwrap_or(0);
            flag::register_usize(number, Arc::clone(&signal), value)?;
        }
        Ok(Self(signal))
    }

    /// Returns the exit that stands for the last signal, if one arrived.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        exit_of(self.0.load(Ordering::Relaxed))
    }
}

/// The watch over one job.
pub struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Once set, a signal ends the process at once.
    is_over: Arc<AtomicBool>,
}

struct Shared {
    voice: &'static dyn Voice,
    pulse: Arc<Pulse>,
    limit: Duration,
    /// Last signal that arrived, 0 for none.
    signal: Arc<AtomicUsize>,
    /// True if a signal arrived since the last look.
    again: Arc<AtomicBool>,
    ended: AtomicBool,
}

impl Watch {
    /// Begins to watch and to heed signals. A device counts as hanging if the pulse is silent for `limit`.
    ///
    /// # Errors
    /// If the system refuses the thread or a handler.
    pub fn start<R: Rescue>(
        voice: &'static dyn Voice,
        pulse: Arc<Pulse>,
        limit: Duration,
        rescue: R,
    ) -> std::io::Result<Self> {
        let signal = Arc::new(AtomicUsize::new(0));
        let (is_over, again) = <(Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        for number in SIGNALS {
            register(number, &signal, &is_over, &again)?;
        }
        let shared = Shared::new(voice, pulse, limit, signal, again);
        Self::start_on(shared, rescue, is_over)
    }

    /// Begins to watch in a program that heeds signals itself and notes them here.
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub fn start_with<R: Rescue>(
        voice: &'static dyn Voice,
        pulse: Arc<Pulse>,
        limit: Duration,
        rescue: R,
        signals: &Signals,
    ) -> std::io::Result<Self> {
        let signal = Arc::clone(&signals.0);
        let shared = Shared::new(voice, pulse, limit, signal, Arc::default());
        Self::start_on(shared, rescue, Arc::default())
    }

    fn start_on<R: Rescue>(
        shared: Shared,
        rescue: R,
        is_over: Arc<AtomicBool>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(shared);
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("watch".into())
            .spawn(move || of_thread.watch(&rescue))?;
        Ok(Self {
            shared,
            thread: Some(thread),
            is_over,
        })
    }

    /// Ends the watch; returns the exit that stands for the signal that arrived, if any.
    #[must_use]
    pub fn end(self) -> Option<Exit> {
        let signal = Arc::clone(&self.shared.signal);
        drop(self);
        exit_of(signal.load(Ordering::Relaxed))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A watch that panicked has nothing left to report.
            let _ = thread.join();
        }
        // The handlers stay: without them signals would be ignored, not back to their default action.
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Notes the number of a signal. Another SIGHUP is not counted: a closing terminal often sends two.
fn register(
    number: i32,
    signal: &Arc<AtomicUsize>,
    is_over: &Arc<AtomicBool>,
    again: &Arc<AtomicBool>,
) -> std::io::Result<()> {
    let value = usize::try_from(number).unwrap_or(0);
    let code = exit_of(value).map_or(0, |exit| i32::from(exit.code()));
    flag::register_conditional_shutdown(number, code, Arc::clone(is_over))?;
    if number != SIGHUP {
        flag::register(number, Arc::clone(again))?;
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

/// Time for which the device has been silent, without pauses of this process.
#[derive(Debug, Default)]
struct Silence {
    span: Duration,
    last_reading: Option<usize>,
}

impl Silence {
    /// Takes a reading of the pulse, `looked` after the last one; returns the silence so far.
    fn take(&mut self, (beats, is_waiting): (usize, bool), looked: Duration) -> Duration {
        if self.last_reading == Some(beats) && is_waiting {
            self.span += looked.min(LONGEST_LOOK);
        } else {
            self.span = Duration::ZERO;
        }
        self.last_reading = Some(beats);
        self.span
    }
}

impl Shared {
    fn new(
        voice: &'static dyn Voice,
        pulse: Arc<Pulse>,
        limit: Duration,
        signal: Arc<AtomicUsize>,
        again: Arc<AtomicBool>,
    ) -> Self {
        Self {
            voice,
            pulse,
            limit,
            signal,
            again,
            ended: AtomicBool::new(false),
        }
    }

    #[allow(
        clippy::exit,
        reason = "the thread that works goes on to its end, or hangs in the kernel and cannot return"
    )]
    fn watch<R: Rescue>(&self, rescue: &R) {
        let mut seen = Seen::default();
        let mut looked = Instant::now();
        while !self.ended.load(Ordering::Relaxed) {
            std::thread::park_timeout(LOOK);
            let passed = looked.elapsed();
            looked = Instant::now();
            if let Some(exit) = self.look(rescue, &mut seen, passed) {
                std::process::exit(i32::from(exit.code()));
            }
        }
    }

    /// Looks at signals and the device, `passed` after the last look. Returns the exit with which the process is to end
    /// in the middle of its work, if it is.
    fn look<R: Rescue>(&self, rescue: &R, seen: &mut Seen, passed: Duration) -> Option<Exit> {
        if let Some(exit) = self.heed(rescue, seen, passed) {
            return Some(exit);
        }
        if passed >= LONGEST_LOOK {
            self.pulse.note_pause();
        }
        let silent = seen.silence.take(self.pulse.reading(), passed);
        if silent >= self.limit.saturating_mul(self.pulse.limits_count()) {
            return Some(self.rescue(rescue, silent));
        }
        None
    }

    /// Stops the work after the first signal, and ends the process after a later one.
    fn heed<R: Rescue>(&self, rescue: &R, seen: &mut Seen, passed: Duration) -> Option<Exit> {
        let exit = exit_of(self.signal.load(Ordering::Relaxed))?;
        let is_again = self.again.swap(false, Ordering::Relaxed);
        let Some(stopped) = &mut seen.stopped else {
            seen.stopped = Some(Duration::ZERO);
            self.pulse.stop();
            self.voice.notice(R::STOPPING);
            return None;
        };
        *stopped += passed;
        // Ctrl-C always asks for an end at once.
        let is_meant = exit == Exit::Interrupted || *stopped >= SECOND_CALL;
        if !(is_again && is_meant) {
            return None;
        }
        if let Some(words) = rescue.last_words() {
            self.voice.notice(&words);
        }
        Some(exit)
    }

    /// Saves what there is, as far as the kernel lets it; returns the exit.
    fn rescue<R: Rescue>(&self, rescue: &R, waited: Duration) -> Exit {
        self.voice.notice(&format!(
            "error: the device has not answered for {} s",
            waited.as_secs()
        ));
        self.voice.notice(
            "cause: the kernel still waits for an operation; this process can end only when the \
             kernel gives it back",
        );
        rescue.save(self.voice, waited);
        let exit = exit_of(self.signal.load(Ordering::Relaxed)).unwrap_or(Exit::Trouble);
        exit.or_worse(Exit::Trouble)
    }
}

/// Result of all looks so far.
#[derive(Debug, Default)]
struct Seen {
    silence: Silence,
    /// Time since the first signal, if one arrived.
    stopped: Option<Duration>,
}

#[cfg(test)]
mod tests;
