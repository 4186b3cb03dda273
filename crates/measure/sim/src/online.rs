//! A simulated card in real time: requests arrive at any time, and their completion times are returned at once.
//!
//! Its service is that of [`crate::SimulatedCard`]: the same draws in front of the same channels. Three things
//! differ. Requests are not marked as sequential, so that this is inferred from their addresses; pieces that
//! the kernel has cut off a large request cost no setup of their own. It has no trials: the run's own factor
//! holds throughout. And requests and answers have a transit time, which is none of the card's ([`TransitTime`]).

use cardmark_core::{Errno, Order};
use cardmark_engine::{Op, OpKind};

use crate::Model;
use crate::service::to_ns;
use crate::state::{REFUSAL_NS, State, service_of};
use crate::streams::{Continuation, Streams};

/// Span of a discard: it is only noted, and erased later.
const DISCARD_NS: u64 = 1_000_000;
/// The smallest request that counts for [`OnlineCard::fastest_ns`].
const LEAST_BYTES: u64 = 4096;

/// A read or a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Kind of operation.
    pub kind: OpKind,
    /// Position, bytes from the start of the card.
    pub offset: u64,
    /// Size, bytes.
    pub bytes: u32,
}

/// Transit time of answers and requests, there and back.
///
/// In a closed loop the next request comes as soon as an answer is out, apart from the transit time: up to
/// `most_ns` after the card became idle it therefore counts as having come at once, so that variations of the
/// transit do not change the card's rate. (Work of the caller in that time is then not visible either.) A later
/// request came at its own time, less a usual transit time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransitTime {
    /// As it is usually.
    pub usual_ns: u64,
    /// As it can be.
    pub most_ns: u64,
}

impl TransitTime {
    /// Returns the start of an operation that arrives now at a resource that is free from `free_ns` on.
    fn start(self, at_ns: u64, free_ns: u64) -> u64 {
        if at_ns <= free_ns.saturating_add(self.most_ns) {
            free_ns
        } else {
            at_ns.saturating_sub(self.usual_ns)
        }
    }
}

/// One card of a model in one run, for requests that arrive by a clock that rises from 0.
pub struct OnlineCard {
    model: Model,
    state: State,
    /// When each channel has done all that was given to it.
    free_ns: Vec<u64>,
    /// Until then the channels' one bus has something to move.
    moved_ns: u64,
    /// Until then the card does something as a whole.
    held_ns: u64,
    reads: Line,
    writes: Line,
    /// Until then the board's temperature is known.
    known_ns: u64,
    unsynced: Unsynced,
}

/// Requests of one kind.
#[derive(Debug, Default)]
struct Line {
    streams: Streams,
    /// The channel of the last one.
    channel: usize,
}

/// Data written since the last flush.
#[derive(Clone, Copy, Debug)]
enum Unsynced {
    Nothing,
    One(Order),
    More,
}

impl OnlineCard {
    /// A card of this model. The seed draws everything that varies; the run's own factor is that
    /// of a [`crate::SimulatedCard`] of the same seed.
    pub fn new(model: &Model, seed: u64) -> Self {
        Self {
            model: model.clone(),
            state: State::new(model, seed),
            free_ns: vec![0; model.channels_count()],
            moved_ns: 0,
            held_ns: 0,
            reads: Line::default(),
            writes: Line::default(),
            known_ns: 0,
            unsynced: Unsynced::Nothing,
        }
    }

    /// Accepts a read or a write that arrives now, which must not be before an earlier arrival. Returns the
    /// time at which its answer is due, and the answer: bytes moved, or the system's error number.
    pub fn arrive(
        &mut self,
        at_ns: u64,
        way: TransitTime,
        request: Request,
    ) -> (u64, Result<u32, Errno>) {
        self.pass_to(at_ns);
        let bytes = u64::from(request.bytes);
        let line = match request.kind {
            OpKind::Read => &mut self.reads,
            OpKind::Write | OpKind::WriteSync | OpKind::Sync => &mut self.writes,
        };
        let place = line.streams.place(at_ns, request.offset, bytes);
        // As if it came when all that holds the whole card up is done.
        let from_ns = at_ns.max(self.held_ns);
        let is_full = self.free_ns.iter().all(|&ns| ns > from_ns);
        let channel = match place {
            Continuation::Rest if !is_full => line.channel,
            _ => next_channel(&self.free_ns, from_ns, way),
        };
        let start_ns = way.start(from_ns, self.free_ns[channel]).max(self.held_ns);
        let op = Op {
            kind: request.kind,
            offset: request.offset,
            bytes: request.bytes,
            slot: 0,
            stream: 0,
        };
        let outcome = self.state.outcome(at_ns.max(start_ns), op);
        if outcome == Err(Errno::NODEV) {
            return (at_ns + REFUSAL_NS, outcome);
        }
        let others_count = self.free_ns.iter().filter(|&&ns| ns > start_ns).count();
        let busy_count = others_count + 1;
        let alone_ns = self.state.serve(start_ns, op, place, busy_count);
        let service = service_of(&self.model, op.kind, place.order());
        let share = match place {
            Continuation::Rest => 1.0 / busy_count as f64,
            Continuation::Sequential | Continuation::Random => {
                service.moving_share(bytes, busy_count)
            }
        };
        // Its span was drawn for the channels at work now. If more channels start before its end, as in a burst
        // after a pause, they would otherwise move more than one bus can.
        let moving_ns = to_ns((alone_ns - start_ns) as f64 * share);
        self.moved_ns = self.moved_ns.max(start_ns) + moving_ns;
        let finish_ns = alone_ns.max(self.moved_ns);
        self.free_ns[channel] = finish_ns;
        line.channel = channel;
        line.streams.keep_busy(finish_ns);
        if outcome.is_ok() {
            self.state.count(request.kind, bytes);
            self.note(request.kind, place.order());
        }
        (finish_ns, outcome)
    }

    /// Stores everything: after all operations under way, and before all later ones. Returns the completion
    /// time.
    ///
    /// One write made durable costs the time of one operation ([`OpKind::WriteSync`]); more of them cost a
    /// whole flush.
    pub fn flush(&mut self, at_ns: u64, way: TransitTime) -> (u64, Result<(), Errno>) {
        let unsynced = std::mem::replace(&mut self.unsynced, Unsynced::Nothing);
        self.alone(at_ns, way, |state, start_ns| match unsynced {
            Unsynced::One(order) => state.sync(start_ns, order),
            Unsynced::Nothing | Unsynced::More => state.flush(start_ns),
        })
    }

    /// Discards the content of some place. Returns the completion time.
    pub fn discard(&mut self, at_ns: u64, way: TransitTime) -> (u64, Result<(), Errno>) {
        self.alone(at_ns, way, |state, start_ns| {
            state.refuse_if_gone(start_ns)?;
            Ok(state.pass(start_ns, DISCARD_NS, true))
        })
    }

    /// A span that hardly any read or write of at least 4 KiB falls below.
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

    /// Something that all channels do together.
    fn alone(
        &mut self,
        at_ns: u64,
        way: TransitTime,
        work: impl FnOnce(&mut State, u64) -> Result<u64, Errno>,
    ) -> (u64, Result<(), Errno>) {
        self.pass_to(at_ns);
        let start_ns = way.start(at_ns, self.last_ns());
        match work(&mut self.state, start_ns) {
            Ok(finish_ns) => {
                self.held_ns = finish_ns;
                // The next request comes only after its answer: the other channels stay idle.
                self.free_ns[0] = finish_ns;
                self.known_ns = self.known_ns.max(finish_ns);
                (finish_ns, Ok(()))
            }
            Err(errno) => (at_ns + REFUSAL_NS, Err(errno)),
        }
    }

    /// When all that was taken on is done.
    fn last_ns(&self) -> u64 {
        self.free_ns.iter().copied().fold(self.held_ns, u64::max)
    }

    /// Advances the time of the board.
    fn pass_to(&mut self, now_ns: u64) {
        let Some(span_ns) = now_ns.checked_sub(self.known_ns) else {
            return;
        };
        let busy_ns = self.last_ns().saturating_sub(self.known_ns).min(span_ns);
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

/// Returns the channel that serves next: among those that were idle no longer than a transit takes, and those
/// at work if none is idle, the one that was or is free first; else an idle one.
fn next_channel(free_ns: &[u64], at_ns: u64, way: TransitTime) -> usize {
    let earliest = |from_ns: u64| {
        let channels = free_ns.iter().copied().enumerate();
        channels
            .filter(|&(_, ns)| ns >= from_ns)
            .min_by_key(|&(_, ns)| ns)
    };
    let fresh = earliest(at_ns.saturating_sub(way.most_ns)).filter(|&(_, ns)| ns <= at_ns);
    // There is always a channel: a rule of models.
    fresh
        .or_else(|| earliest(0))
        .map_or(0, |(channel, _)| channel)
}
