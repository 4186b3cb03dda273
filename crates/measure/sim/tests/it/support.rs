//! Drives the ports as the engine does, without the engine.

use cardmark_core::{
    Errno, Flush, Manner, Order, Origin, OriginKind, Payload, Record, Rng, StopRule, Suite,
    Workload, simulated_run_id,
};
use cardmark_engine::{
    Backend, Clock, Event, Observer, Op, OpKind, Plan, Ports, Pulse, Request, RunResult,
    TargetRoom, execute, make_plan,
};
use cardmark_sim::{SimBackend, SimClock, SimulatedCard};

/// File of the suite `quick`.
pub(crate) const SPAN_BYTES: u64 = 256 << 20;

/// A workload by its features.
pub(crate) fn workload(read_share: u8, order: Order, block_bytes: u64, depth: u32) -> Workload {
    Workload {
        id: "test".to_owned(),
        read_share_percent: read_share,
        order,
        block_bytes,
        queue_depth: depth,
        span_bytes: SPAN_BYTES,
        flush: Flush::AfterTrial,
        payload: Payload::Incompressible,
        ramp_ns: 0,
        stop: StopRule::default(),
        latency_metrics: true,
        manner: Manner::default(),
        procedure: None,
        rounds: cardmark_core::Rounds::default(),
    }
}

/// Writes of 4 KiB that are made durable one by one.
pub(crate) fn synced() -> Workload {
    Workload {
        flush: Flush::EachOperation,
        ..workload(0, Order::Random, 4096, 1)
    }
}

/// The workloads of `quick`, and some more depths.
pub(crate) fn workloads() -> Vec<(&'static str, Workload)> {
    vec![
        ("seq_write_1m", workload(0, Order::Sequential, 1 << 20, 1)),
        ("seq_read_1m", workload(100, Order::Sequential, 1 << 20, 1)),
        ("rand_read_4k", workload(100, Order::Random, 4096, 1)),
        ("rand_write_4k", workload(0, Order::Random, 4096, 1)),
        ("rand_read_4k_q32", workload(100, Order::Random, 4096, 32)),
        ("rand_write_4k_q32", workload(0, Order::Random, 4096, 32)),
        ("mixed_4k", workload(20, Order::Random, 4096, 1)),
        ("mixed_4k_q3", workload(20, Order::Random, 4096, 3)),
        ("sync_write_4k", synced()),
    ]
}

/// Result of a trial.
#[derive(Default)]
pub(crate) struct Yield {
    pub(crate) span_ns: u64,
    pub(crate) operations_count: u64,
    pub(crate) latencies_ns: Vec<u64>,
    pub(crate) errors: Vec<(u64, Errno)>,
}

impl Yield {
    pub(crate) fn rate(&self) -> f64 {
        self.operations_count as f64 / self.span_ns as f64 * 1e9
    }
}

/// One card driven by simple loops.
pub(crate) struct Rig {
    pub(crate) card: SimulatedCard,
    pub(crate) backend: SimBackend,
    pub(crate) clock: SimClock,
    rng: Rng,
    place: u64,
    submitted_ns: [u64; 256],
    offsets: [u64; 256],
}

impl Rig {
    pub(crate) fn new(card: SimulatedCard, seed: u64) -> Self {
        let (backend, clock, _) = card.ports();
        let rng = Rng::new(seed);
        Self {
            card,
            backend,
            clock,
            rng,
            place: 0,
            submitted_ns: [0; 256],
            offsets: [0; 256],
        }
    }

    fn submit(&mut self, workload: &Workload, slot: u32) {
        let block = match workload.order {
            Order::Random | Order::Permuted | Order::Other(_) => {
                self.rng.below(workload.blocks_count())
            }
            Order::Sequential | Order::Spread => self.place % workload.blocks_count(),
        };
        self.place += 1;
        let write = match workload.flush {
            Flush::AfterTrial | Flush::InSpan | Flush::Other(_) => OpKind::Write,
            Flush::EachOperation => OpKind::WriteSync,
        };
        let reads = self.rng.below(100) < u64::from(workload.read_share_percent);
        let kind = if reads { OpKind::Read } else { write };
        let bytes = u32::try_from(workload.block_bytes).unwrap();
        let offset = block * workload.block_bytes;
        self.submitted_ns[slot as usize] = self.clock.now_ns();
        self.offsets[slot as usize] = offset;
        self.backend.submit(Op {
            kind,
            offset,
            bytes,
            slot,
            stream: 0,
        });
    }

    /// Runs until this span is over or an operation failed; then drains.
    pub(crate) fn trial(&mut self, workload: &Workload, span_ns: u64) -> Yield {
        self.backend.prepare(workload).unwrap();
        let start_ns = self.clock.now_ns();
        for slot in 0..workload.queue_depth {
            self.submit(workload, slot);
        }
        let mut result = Yield::default();
        let mut in_flight = workload.queue_depth;
        while in_flight > 0 {
            let done = self.backend.reap();
            let now_ns = self.clock.now_ns();
            result
                .latencies_ns
                .push(now_ns - self.submitted_ns[done.slot as usize]);
            in_flight -= 1;
            match done.outcome {
                Ok(_) => result.operations_count += 1,
                Err(errno) => result
                    .errors
                    .push((self.offsets[done.slot as usize], errno)),
            }
            if now_ns < start_ns + span_ns && result.errors.is_empty() {
                self.submit(workload, done.slot);
                in_flight += 1;
            }
        }
        result.span_ns = self.clock.now_ns() - start_ns;
        result
    }
}

/// Limit for an answer, nanoseconds: that of the program.
const LIMIT_NS: u64 = 30_000_000_000;

struct Nobody;

impl Observer for Nobody {
    fn event(&mut self, _: &Event<'_>) {}
}

/// Returns the outcome of a suite on a card, and the plan made of it.
pub(crate) fn executed(
    card: &SimulatedCard,
    suite: &Suite,
    request: Request,
    place: TargetRoom,
) -> (Plan, RunResult) {
    let request = Request {
        limit_ns: LIMIT_NS,
        ..request
    };
    let plan = make_plan(suite, &request, place).unwrap();
    let (mut backend, mut clock, mut sensors) = card.ports();
    let ports = Ports {
        backend: &mut backend,
        clock: &mut clock,
        sensors: &mut sensors,
        observer: &mut Nobody,
        pulse: &Pulse::new(),
    };
    let outcome = execute(&plan, ports);
    (plan, outcome)
}

/// The head of a record that is not stored.
pub(crate) fn head() -> Record {
    Record::new(
        simulated_run_id(&["test"]),
        Origin::of(OriginKind::Simulated),
    )
}
