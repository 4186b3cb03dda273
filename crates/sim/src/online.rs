//! A simulated card in a time that passes by itself: requests arrive whenever they do, and are
//! told at once when they will be done.
//!
//! Its service is that of [`crate::SimulatedCard`]: the same draws in front of the same channels.
//! Two things differ. Nobody says whether requests are sequential, so that is seen from their
//! addresses. And there are no trials: the run's own factor holds throughout.

use cardmark_core::Order;
use cardmark_engine::{Op, OpKind};

use crate::Model;
use crate::service::to_ns;
use crate::state::{ENODEV, REFUSAL_NS, State, service_of};
use crate::streams::Streams;

/// Span of a discard: what is erased is noted, not erased at once.
const DISCARD_NS: u64 = 1_000_000;
/// The smallest request that counts for [`OnlineCard::fastest_ns`].
const LEAST_BYTES: u64 = 4096;

/// A read or a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What it does.
    pub kind: OpKind,
    /// Where, bytes from the start of the card.
    pub offset: u64,
    /// How much, bytes.
    pub bytes: u32,
    /// How long it was on its way to the card and its answer will be on its way back: an idle card
    /// began with it that much earlier.
    pub path_ns: u64,
}

/// One card of a model in one run, for requests that arrive by a clock that rises from 0.
pub struct OnlineCard {
    model: Model,
    state: State,
    /// When each channel has done all that was given to it.
    free_ns: Vec<u64>,
    reads: Streams,
    writes: Streams,
    /// Until then the board's temperature is known.
    known_ns: u64,
    unsynced: Unsynced,
}

/// What was written since the last flush.
#[derive(Clone, Copy, Debug)]
enum Unsynced {
    Nothing,
    One(Order),
    More,
}

impl OnlineCard {
    /// A card of this model. The seed draws everything that varies; the run's own factor is that
    /// of a [`crate::SimulatedCard`] of the same seed.
    #[must_use]
    pub fn new(model: &Model, seed: u64) -> Self {
        Self {
            model: model.clone(),
            state: State::new(model, seed),
            free_ns: vec![0; model.channels_count()],
            reads: Streams::default(),
            writes: Streams::default(),
            known_ns: 0,
            unsynced: Unsynced::Nothing,
        }
    }

    /// Takes on a read or a write that arrives now, which must not be before an earlier arrival.
    /// Says when its answer is due, and what it is: bytes moved, or the system's error number.
    pub fn arrive(&mut self, at_ns: u64, request: Request) -> (u64, Result<u32, i32>) {
        self.pass_to(at_ns);
        let (channel, start_ns) = self.next_start(at_ns, request.path_ns);
        let op = Op {
            kind: request.kind,
            offset: request.offset,
            bytes: request.bytes,
            slot: 0,
        };
        let outcome = self.state.outcome(start_ns.max(at_ns), op);
        if outcome == Err(ENODEV) {
            return (at_ns + REFUSAL_NS, outcome);
        }
        let bytes = u64::from(request.bytes);
        let streams = match request.kind {
            OpKind::Read => &mut self.reads,
            OpKind::Write | OpKind::WriteSync => &mut self.writes,
        };
        let order = streams.place(at_ns, request.offset, bytes);
        let others_count = self.free_ns.iter().filter(|&&ns| ns > start_ns).count();
        let finish_ns = self.state.serve(start_ns, op, order, others_count + 1);
        streams.keep_busy(finish_ns);
        self.free_ns[channel] = finish_ns;
        if outcome.is_ok() {
            self.state.count(request.kind, request.bytes);
            self.note(request.kind, order);
        }
        (finish_ns, outcome)
    }

    /// Stores everything: after all that is under way, and before all that comes. Says when that
    /// is done.
    ///
    /// One write made durable costs what it costs as one operation
    /// ([`OpKind::WriteSync`]); more of them cost a whole flush.
    pub fn flush(&mut self, at_ns: u64, path_ns: u64) -> (u64, Result<(), i32>) {
        let unsynced = std::mem::replace(&mut self.unsynced, Unsynced::Nothing);
        self.alone(at_ns, path_ns, |state, start_ns| match unsynced {
            Unsynced::One(order) => state.sync(start_ns, order),
            Unsynced::Nothing | Unsynced::More => state.flush(start_ns),
        })
    }

    /// Forgets what is stored somewhere. Says when that is done.
    pub fn discard(&mut self, at_ns: u64, path_ns: u64) -> (u64, Result<(), i32>) {
        self.alone(at_ns, path_ns, |state, start_ns| {
            state.refuse_if_gone(start_ns)?;
            Ok(state.pass(start_ns, DISCARD_NS, true))
        })
    }

    /// A span that hardly any read or write of at least 4 KiB falls below.
    #[must_use]
    pub fn fastest_ns(&self) -> u64 {
        let orders = [Order::Sequential, Order::Random];
        let spans = [OpKind::Read, OpKind::Write].into_iter().flat_map(|kind| {
            orders.map(|order| {
                let service = service_of(&self.model, kind, order);
                service.ordinary_ns(LEAST_BYTES, 1) * service.body.quantile(0.01)
            })
        });
        to_ns(spans.fold(f64::INFINITY, f64::min) / self.state.run_factor())
    }

    /// Which channel serves next, and from when on.
    fn next_start(&self, at_ns: u64, path_ns: u64) -> (usize, u64) {
        let channels = self.free_ns.iter().copied().enumerate();
        // There is always a channel: a rule of models.
        let (channel, free_ns) = channels.min_by_key(|&(_, ns)| ns).unwrap_or((0, 0));
        (channel, start(at_ns, path_ns, free_ns))
    }

    /// Something that all channels do together.
    fn alone(
        &mut self,
        at_ns: u64,
        path_ns: u64,
        work: impl FnOnce(&mut State, u64) -> Result<u64, i32>,
    ) -> (u64, Result<(), i32>) {
        self.pass_to(at_ns);
        let last_ns = self.free_ns.iter().copied().max().unwrap_or(0);
        let start_ns = start(at_ns, path_ns, last_ns);
        match work(&mut self.state, start_ns) {
            Ok(finish_ns) => {
                self.free_ns.fill(finish_ns);
                self.known_ns = self.known_ns.max(finish_ns);
                (finish_ns, Ok(()))
            }
            Err(errno) => (at_ns + REFUSAL_NS, Err(errno)),
        }
    }

    /// The board's time goes on.
    fn pass_to(&mut self, now_ns: u64) {
        let Some(span_ns) = now_ns.checked_sub(self.known_ns) else {
            return;
        };
        let last_ns = self.free_ns.iter().copied().max().unwrap_or(0);
        let busy_ns = last_ns.saturating_sub(self.known_ns).min(span_ns);
        let rest_ns = self.state.pass(self.known_ns, busy_ns, true);
        self.known_ns = self.state.pass(rest_ns, span_ns - busy_ns, false);
    }

    fn note(&mut self, kind: OpKind, order: Order) {
        if kind != OpKind::Read {
            self.unsynced = match self.unsynced {
                Unsynced::Nothing => Unsynced::One(order),
                Unsynced::One(_) | Unsynced::More => Unsynced::More,
            };
        }
    }
}

/// When something begins that arrives now at what is free from then on.
fn start(at_ns: u64, path_ns: u64, free_ns: u64) -> u64 {
    if free_ns <= at_ns {
        // Not cut off at `free_ns`: a path that was shorter this time makes up for one that was
        // longer, and the mean stays right.
        at_ns.saturating_sub(path_ns)
    } else {
        free_ns
    }
}
