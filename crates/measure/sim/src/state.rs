//! The state of a simulated card, and the course of an operation.

use cardmark_core::{
    Access, DeviceCounters, Errno, Order, ReadBack, Rng, SECOND_NS, SensorSample, Workload,
};
use cardmark_engine::{Done, Op, OpKind};

use crate::Model;
use crate::body::draw_factor;
use crate::data::{CacheData, FaultData};
use crate::ftl::{Ftl, FtlCounts};
use crate::heat::Heat;
use crate::kept::Kept;
use crate::page_cache::{PageCache, Share};
use crate::process::{Call, Processes};
use crate::queue::{Flight, MOST_IN_FLIGHT, ServiceQueue};
use crate::service::{Service, to_ns};
use crate::streams::Continuation;
use crate::sway::Sway;
use crate::units::Units;

/// Span after which the kernel refuses an operation that cannot be done.
pub(crate) const REFUSAL_NS: u64 = 20_000;
/// Span of a flush with nothing to flush.
const IDLE_FLUSH_NS: u64 = 60_000;

pub(crate) struct State {
    model: Model,
    run_factor: f64,
    /// Spans are divided by this: factors of the run and of the trial.
    rate_factor: f64,
    order: Order,
    /// Start of each stream's object, as a multiple of its number, bytes.
    stream_bytes: u64,
    /// Present while a workload goes through it.
    page_cache: Option<PageCache>,
    queue: ServiceQueue,
    cache: Option<Cache>,
    heat: Heat,
    sway: Option<Sway>,
    fault: Option<FaultData>,
    units: Option<Units>,
    kept: Option<Kept>,
    processes: Processes,
    ftl: Option<Ftl>,
    /// Position of data that goes through the page cache, bytes.
    cached_place: u64,
    counters: DeviceCounters,
    is_dirty: bool,
    service_rng: Rng,
    trial_rng: Rng,
}

impl State {
    pub(crate) fn new(model: &Model, seed: u64) -> Self {
        let part = |name: &str| Rng::for_part(seed, name, 0);
        let run_factor = draw_factor(model.run_deviation(), &mut part("sim run"));
        let sway = model
            .sway()
            .map(|data| Sway::new(data.deviation, data.correlation_ms * 1e6, part("sim sway")));
        Self {
            model: model.clone(),
            run_factor,
            rate_factor: run_factor,
            order: Order::Random,
            stream_bytes: 0,
            page_cache: None,
            queue: ServiceQueue::new(model.channels_count()),
            cache: model.cache().map(Cache::new),
            heat: Heat::new(model.heat()),
            sway,
            fault: model.fault(),
            units: model.units().map(Units::new),
            kept: Kept::new(model, seed),
            processes: Processes::new(model, Some(seed)),
            ftl: model
                .ftl()
                .map(|data| Ftl::new(data, model.capacity_bytes())),
            cached_place: 0,
            counters: DeviceCounters::default(),
            is_dirty: false,
            service_rng: part("sim service"),
            trial_rng: first_trial(seed),
        }
    }

    pub(crate) fn run_factor(&self) -> f64 {
        self.run_factor
    }

    pub(crate) fn counters(&self) -> DeviceCounters {
        self.counters
    }

    pub(crate) fn take_samples(&mut self) -> Vec<SensorSample> {
        self.heat.take()
    }

    /// Makes ready for a trial. Returns the time afterwards.
    pub(crate) fn prepare(&mut self, now_ns: u64, workload: &Workload) -> Result<u64, Errno> {
        if self.is_gone(now_ns) {
            return Err(Errno::NODEV);
        }
        let depth = usize::try_from(workload.in_flight_count()).unwrap_or(usize::MAX);
        if !(1..=MOST_IN_FLIGHT).contains(&depth) || workload.block_bytes == 0 {
            return Err(Errno::INVAL);
        }
        self.queue.clear();
        self.order = workload.order;
        self.stream_bytes = workload.span_bytes;
        self.page_cache = (workload.manner.access == Access::Cached).then(PageCache::default);
        let trial_factor = draw_factor(self.model.trial_deviation(), &mut self.trial_rng);
        self.rate_factor = self.run_factor * trial_factor * self.processes.trial_factor();
        Ok(self.pass(now_ns, to_ns(self.model.prepare_ns()), false))
    }

    /// Stores everything. Returns the time afterwards.
    pub(crate) fn flush(&mut self, now_ns: u64) -> Result<u64, Errno> {
        if self.is_gone(now_ns) {
            return Err(Errno::NODEV);
        }
        let span_ns = self.flush_span_ns();
        Ok(self.pass(now_ns, span_ns, true))
    }

    /// Lets time pass in which nothing is asked of the card. Returns the time afterwards.
    pub(crate) fn rest(&mut self, now_ns: u64, span_ns: u64) -> u64 {
        self.pass(now_ns, span_ns, false)
    }

    fn flush_span_ns(&mut self) -> u64 {
        match (std::mem::take(&mut self.is_dirty), self.model.flush_ns()) {
            (true, full_ns) if full_ns > 0.0 => to_ns(full_ns / self.rate_factor),
            _ => IDLE_FLUSH_NS,
        }
    }

    /// Fails once the device has disappeared.
    pub(crate) fn refuse_if_gone(&self, now_ns: u64) -> Result<(), Errno> {
        if self.is_gone(now_ns) {
            return Err(Errno::NODEV);
        }
        Ok(())
    }

    /// Makes one write durable. Returns the time afterwards: with the write's own span it is that
    /// of a [`OpKind::WriteSync`].
    pub(crate) fn sync(&mut self, now_ns: u64, order: Order) -> Result<u64, Errno> {
        if self.is_gone(now_ns) {
            return Err(Errno::NODEV);
        }
        let synced = service_of(&self.model, OpKind::WriteSync, order);
        let plain = service_of(&self.model, OpKind::Write, order);
        let more_ns = (synced.setup_ns - plain.setup_ns) / self.rate_factor;
        if more_ns <= 0.0 {
            return self.flush(now_ns);
        }
        let span_ns = to_ns(more_ns * synced.body.draw(&mut self.service_rng));
        self.is_dirty = false;
        Ok(self.pass(now_ns, span_ns, true))
    }

    /// Reads a stretch back. Returns the time afterwards, and the data that is still intact.
    pub(crate) fn read_back(&mut self, now_ns: u64, offset: u64, bytes: u32) -> (u64, ReadBack) {
        let read = Op {
            kind: OpKind::Read,
            offset,
            bytes,
            slot: 0,
            stream: 0,
        };
        let finish_ns = self.serve(now_ns, read, Continuation::Sequential, 1);
        self.heat.pass(now_ns, finish_ns, true);
        let found = match &mut self.kept {
            Some(kept) => kept.read_back(offset, u64::from(bytes)),
            None => ReadBack {
                read_bytes: u64::from(bytes),
                ..ReadBack::default()
            },
        };
        (finish_ns, found)
    }

    /// Takes an operation on.
    #[inline]
    pub(crate) fn submit(&mut self, now_ns: u64, op: Op) {
        if self.queue.has_room() {
            self.begin(now_ns, op);
        } else {
            self.queue.wait(op);
        }
    }

    /// The next completion and its time.
    #[inline]
    pub(crate) fn reap(&mut self, now_ns: u64) -> (u64, Done) {
        let Some(flight) = self.queue.take_first() else {
            // The port forbids it; an error keeps a mistaken caller from waiting for ever.
            return (
                now_ns,
                Done {
                    slot: 0,
                    outcome: Err(Errno::INVAL),
                },
            );
        };
        let finish_ns = flight.finish_ns.max(now_ns);
        self.heat.pass(now_ns, finish_ns, true);
        if let Ok(bytes) = flight.done.outcome
            && self.page_cache.is_none()
            && flight.kind != OpKind::Sync
        {
            self.count(flight.kind, u64::from(bytes));
        }
        if let Some(op) = self.queue.next_waiting() {
            self.begin(finish_ns, op);
        }
        (finish_ns, flight.done)
    }

    #[inline]
    fn begin(&mut self, start_ns: u64, op: Op) {
        let outcome = self.outcome(start_ns, op);
        if let Some(kept) = &mut self.kept
            && outcome.is_ok()
            && matches!(op.kind, OpKind::Write | OpKind::WriteSync)
        {
            let begin = u64::from(op.stream).saturating_mul(self.stream_bytes);
            kept.write(begin + op.offset, u64::from(op.bytes));
        }
        let finish_ns = match outcome {
            Err(Errno::NODEV) => start_ns + REFUSAL_NS,
            _ => self.finish(start_ns, op),
        };
        let done = Done {
            slot: op.slot,
            outcome,
        };
        self.queue.begin(Flight {
            finish_ns,
            kind: op.kind,
            done,
        });
    }

    fn finish(&mut self, start_ns: u64, op: Op) -> u64 {
        if let Some(cache) = &mut self.page_cache {
            let share = match op.kind {
                OpKind::Read => {
                    let size_bytes = self.model.capacity_bytes();
                    cache.read(op.offset, u64::from(op.bytes), size_bytes)
                }
                OpKind::Write | OpKind::WriteSync => cache.write(u64::from(op.bytes)),
                OpKind::Sync => cache.sync(),
            };
            return self.finish_cached(start_ns, op.kind, share);
        }
        if op.kind == OpKind::Sync {
            return start_ns + self.flush_span_ns();
        }
        let busy_count = self.queue.busy_count() + 1;
        let place = match self.order {
            Order::Sequential | Order::Spread | Order::Other(_) => Continuation::Sequential,
            Order::Random | Order::Permuted => Continuation::Random,
        };
        self.serve(start_ns, op, place, busy_count)
    }

    /// Returns the completion time of an operation begun now, with `busy_count` channels at work, its own among
    /// them.
    pub(crate) fn serve(
        &mut self,
        start_ns: u64,
        op: Op,
        place: Continuation,
        busy_count: usize,
    ) -> u64 {
        if let Some(end_ns) = self.silence(start_ns) {
            return end_ns;
        }
        let bytes = u64::from(op.bytes);
        let mut slowdown = self.heat.slowdown() / self.rate_factor;
        if op.kind == OpKind::Read {
            slowdown *= self.model.weakness(op.offset);
        }
        if let Some(cache) = &mut self.cache
            && op.kind != OpKind::Read
        {
            slowdown *= cache.write(start_ns, bytes);
        }
        let begin = u64::from(op.stream).saturating_mul(self.stream_bytes);
        let offset = begin.saturating_add(op.offset);
        let units = self.units.as_mut();
        let more_ns = units.map_or(0.0, |units| units.cost_ns(op.kind, offset, bytes))
            + self.flash_ns(start_ns, op.kind, offset, bytes);
        let service = service_of(&self.model, op.kind, place.order());
        let rng = &mut self.service_rng;
        let ordinary_ns = match place {
            Continuation::Rest => service.draw_rest_ns(bytes, busy_count, rng),
            Continuation::Sequential | Continuation::Random => {
                service.draw_ns(bytes, busy_count, rng)
            }
        };
        let call = Call {
            start_ns,
            is_read: op.kind == OpKind::Read,
            is_sequential: place.order() == Order::Sequential,
            bytes,
        };
        let work_ns = slowdown * self.processes.work_ns(&call, ordinary_ns) + more_ns;
        let finish_ns = self.done_ns(start_ns, work_ns);
        if let Some(cache) = &mut self.cache
            && op.kind != OpKind::Read
        {
            cache.written_ns = finish_ns;
        }
        finish_ns
    }

    /// Returns the completion time of work begun at `start_ns`.
    #[inline]
    fn done_ns(&mut self, start_ns: u64, work_ns: f64) -> u64 {
        let finish_ns = match &mut self.sway {
            Some(sway) => sway.finish(start_ns, work_ns),
            None => self.processes.finish(start_ns, work_ns),
        };
        if let Some(ftl) = &mut self.ftl {
            ftl.ended(finish_ns);
        }
        finish_ns
    }

    /// Returns the work of the flash below a translation layer, nanoseconds.
    fn flash_ns(&mut self, start_ns: u64, kind: OpKind, offset: u64, bytes: u64) -> f64 {
        match (&mut self.ftl, kind) {
            (Some(ftl), OpKind::Read) => ftl.read_ns(start_ns, offset, bytes),
            (Some(ftl), OpKind::Write | OpKind::WriteSync) => ftl.write_ns(start_ns, offset, bytes),
            (None, _) | (_, OpKind::Sync) => 0.0,
        }
    }

    /// Returns the work of the translation layer so far.
    pub(crate) fn ftl_counts(&self) -> Option<FtlCounts> {
        self.ftl.as_ref().map(Ftl::counts)
    }

    /// The end of the one long silence of a card that has it, if it begins now.
    fn silence(&mut self, start_ns: u64) -> Option<u64> {
        match self.fault {
            Some(FaultData::Silent { after_s, span_s })
                if start_ns as f64 >= after_s * SECOND_NS as f64 =>
            {
                self.fault = None;
                Some(start_ns + to_ns(span_s * SECOND_NS as f64))
            }
            _ => None,
        }
    }

    /// Performs an operation through the page cache: copying, and the transfers that the card has to make for
    /// it, with all its channels at work.
    fn finish_cached(&mut self, start_ns: u64, kind: OpKind, share: Share) -> u64 {
        let card_kind = match kind {
            OpKind::Read => OpKind::Read,
            OpKind::Write | OpKind::WriteSync | OpKind::Sync => OpKind::Write,
        };
        if let Some(end_ns) = self.silence(start_ns) {
            return end_ns;
        }
        let channels = self.model.channels_count();
        let mut finish_ns = start_ns + to_ns(share.copy_ns);
        let mut rest = share.card_bytes;
        while rest > 0 {
            let bytes = rest.min(share.piece_bytes);
            rest -= bytes;
            let slowdown = self.heat.slowdown() / self.rate_factor / channels as f64;
            let service = service_of(&self.model, card_kind, Order::Sequential);
            let ordinary_ns = service.draw_ns(bytes, channels, &mut self.service_rng);
            let call = Call {
                start_ns: finish_ns,
                is_read: card_kind == OpKind::Read,
                is_sequential: true,
                bytes,
            };
            let place = self.cached_place;
            self.cached_place = (place + bytes) % self.stream_bytes.max(1);
            let more_ns = self.flash_ns(finish_ns, card_kind, place, bytes);
            let work_ns = slowdown * self.processes.work_ns(&call, ordinary_ns) + more_ns;
            finish_ns = self.done_ns(finish_ns, work_ns);
            self.count(card_kind, bytes);
        }
        if kind == OpKind::Sync {
            finish_ns += self.flush_span_ns();
        }
        finish_ns
    }

    #[inline]
    pub(crate) fn outcome(&self, now_ns: u64, op: Op) -> Result<u32, Errno> {
        let begin = u64::from(op.stream).saturating_mul(self.stream_bytes);
        let end = begin
            .saturating_add(op.offset)
            .saturating_add(u64::from(op.bytes));
        if end > self.model.capacity_bytes() {
            return Err(Errno::IO);
        }
        match self.fault {
            Some(FaultData::Error { from_byte }) if op.kind != OpKind::Read && end > from_byte => {
                Err(Errno::IO)
            }
            Some(FaultData::Vanish { .. }) if self.is_gone(now_ns) => Err(Errno::NODEV),
            _ => Ok(op.bytes),
        }
    }

    fn is_gone(&self, now_ns: u64) -> bool {
        matches!(self.fault, Some(FaultData::Vanish { after_s })
            if now_ns as f64 >= after_s * SECOND_NS as f64)
    }

    #[inline]
    pub(crate) fn count(&mut self, kind: OpKind, bytes: u64) {
        if kind == OpKind::Read {
            self.counters.read_operations_count += 1;
            self.counters.read_bytes += bytes;
        } else {
            self.counters.write_operations_count += 1;
            self.counters.write_bytes += bytes;
            self.is_dirty = kind == OpKind::Write;
        }
    }

    pub(crate) fn pass(&mut self, now_ns: u64, span_ns: u64, busy: bool) -> u64 {
        self.heat.pass(now_ns, now_ns + span_ns, busy);
        now_ns + span_ns
    }
}

/// Returns the generator of the factors of a run's trials, before the first one.
pub(crate) fn first_trial(seed: u64) -> Rng {
    Rng::for_part(seed, "sim trial", 0)
}

/// The service of this kind of operation in this order.
#[inline]
pub(crate) fn service_of(model: &Model, kind: OpKind, order: Order) -> &Service {
    let by_order = match kind {
        OpKind::Read => &model.services()[0],
        OpKind::Write | OpKind::Sync => &model.services()[1],
        OpKind::WriteSync => &model.services()[2],
    };
    match order {
        Order::Sequential | Order::Spread | Order::Other(_) => &by_order[0],
        Order::Random | Order::Permuted => &by_order[1],
    }
}

/// A part of the card that takes writes fast until it is full, and is emptied while none come.
struct Cache {
    data: CacheData,
    filled_bytes: f64,
    written_ns: u64,
}

impl Cache {
    fn new(data: CacheData) -> Self {
        Self {
            data,
            filled_bytes: 0.0,
            written_ns: 0,
        }
    }

    /// Factor on the span of a write of this size now.
    fn write(&mut self, now_ns: u64, bytes: u64) -> f64 {
        let rest_ns = now_ns.saturating_sub(self.written_ns) as f64;
        let drained_bytes = rest_ns * self.data.drain_mb_per_s * 1e-3;
        self.filled_bytes = (self.filled_bytes - drained_bytes).max(0.0);
        self.written_ns = now_ns;
        if self.filled_bytes + bytes as f64 > self.data.bytes as f64 {
            return self.data.slowdown;
        }
        self.filled_bytes += bytes as f64;
        1.0
    }
}
