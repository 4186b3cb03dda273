//! Corrects the announced time of a run once the target's own rate is known.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cardmark_engine::{Event, Observer, Plan, Pulse};
use cardmark_report::text;

use crate::voice::Voice;

/// Time of writing after which the rate is looked at.
const LOOK_AT: Duration = Duration::from_secs(8);
/// Interval at which the thread wakes up.
const PAUSE: Duration = Duration::from_millis(500);

/// Passes events on, and shows another time if the layout is slower or faster than the announcement assumed.
pub(crate) struct Announced<'a, O> {
    inner: &'a mut O,
    voice: &'static dyn Voice,
    pulse: Arc<Pulse>,
    /// The plan, until its layout has begun.
    plan: Option<Plan>,
    layout: Arc<Mutex<Layout>>,
    thread: Option<JoinHandle<()>>,
}

/// The layout so far.
#[derive(Default)]
struct Layout {
    bytes: u64,
    span: Duration,
    /// Start of the piece that is being written, and the pulse's count then.
    piece: Option<(Instant, usize)>,
    is_over: bool,
}

impl Layout {
    /// Returns bytes written and time taken once that is [`LOOK_AT`], the current piece included; `None` between two
    /// pieces.
    fn so_far(&self, now: Instant, pulse: &Pulse, block_bytes: u64) -> Option<(u64, Duration)> {
        let (started, before) = self.piece?;
        let operations = pulse.reading().0.saturating_sub(before) as u64;
        let bytes = self.bytes + operations.saturating_mul(block_bytes);
        let span = self.span + now.saturating_duration_since(started);
        (span >= LOOK_AT).then_some((bytes, span))
    }
}

impl<'a, O: Observer> Announced<'a, O> {
    /// Puts it before an observer.
    pub(crate) fn around(inner: &'a mut O, voice: &'static dyn Voice, pulse: &Arc<Pulse>) -> Self {
        Self {
            inner,
            voice,
            pulse: Arc::clone(pulse),
            plan: None,
            layout: Arc::default(),
            thread: None,
        }
    }

    fn begin_piece(&mut self) {
        let piece = (Instant::now(), self.pulse.reading().0);
        self.lock().piece = Some(piece);
        let Some(plan) = self.plan.take() else {
            return;
        };
        let (voice, pulse, layout) = (
            self.voice,
            Arc::clone(&self.pulse),
            Arc::clone(&self.layout),
        );
        let look = move || {
            if let Some(text) = correction(&plan, &pulse, &layout) {
                voice.notice(&text);
            }
        };
        // Without a thread the announcement stays as it is.
        let builder = std::thread::Builder::new().name("announced".into());
        self.thread = builder.spawn(look).ok();
    }

    fn end_piece(&mut self, bytes: u64) {
        let mut layout = self.lock();
        if let Some((started, _)) = layout.piece.take() {
            layout.bytes += bytes;
            layout.span += started.elapsed();
        }
    }

    fn end(&mut self) {
        self.lock().is_over = true;
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A thread that panicked has nothing left to show.
            let _ = thread.join();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Layout> {
        self.layout.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O: Observer> Observer for Announced<'_, O> {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::TrialEnded { trial } = event
            && trial.layout
        {
            self.end_piece(trial.bytes());
        }
        // The inner observer waits for other runs before a trial.
        self.inner.event(event);
        match event {
            Event::Started { plan } => self.plan = plan.announces().then(|| (*plan).clone()),
            Event::TrialStarted { layout: true, .. } => self.begin_piece(),
            Event::TrialStarted { layout: false, .. } if self.thread.is_some() => self.end(),
            _ => {}
        }
    }
}

impl<O> Drop for Announced<'_, O> {
    fn drop(&mut self) {
        let mut layout = self.layout.lock().unwrap_or_else(PoisonError::into_inner);
        layout.is_over = true;
        drop(layout);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

/// Waits until the layout has run long enough; returns the new time if it differs much from the announced one.
fn correction(plan: &Plan, pulse: &Pulse, layout: &Mutex<Layout>) -> Option<String> {
    let block_bytes = plan.layout.as_ref()?.block_bytes;
    loop {
        std::thread::park_timeout(PAUSE);
        let layout = layout.lock().unwrap_or_else(PoisonError::into_inner);
        if layout.is_over {
            return None;
        }
        let found = layout.so_far(Instant::now(), pulse, block_bytes);
        drop(layout);
        if let Some((bytes, span)) = found {
            return corrected(plan, bytes, span);
        }
    }
}

/// Returns the text on a run whose layout wrote these bytes in this time, if the announced time was much different.
fn corrected(plan: &Plan, bytes: u64, span: Duration) -> Option<String> {
    let span_ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
    let whole_ns = plan.corrected_ns(bytes, span_ns)?;
    let rate = text::rate(bytes as f64 / span.as_secs_f64());
    Some(format!(
        "this target writes {rate}: it takes about {} in all",
        text::span(whole_ns)
    ))
}

#[cfg(test)]
mod tests;
