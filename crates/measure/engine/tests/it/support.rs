//! A scripted back end in memory, a clock that only the device advances, and an observer that records. The
//! back end checks the contract of the port with every operation.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use cardmark_core::{
    DeviceCounters, Errno, Flush, KIB, MIB, Manner, Order, Origin, OriginKind, Passes, Payload,
    Record, SECOND_NS, SensorSample, StopRule, Suite, SuiteRef, Target, TargetKind, TargetNeed,
    Trial, Workload, simulated_run_id,
};
use cardmark_engine::{
    Backend, Clock, Done, Event, Observer, Op, OpKind, Plan, Ports, Pulse, Request, RunResult,
    Sensors, TargetRoom, TrialContext, TrialEnd, execute, make_plan, record, run_trial,
};

use crate::suite_rules::broken_rule;

/// Initial time of the clock: no test may depend on a start at zero.
pub(crate) const ORIGIN_NS: u64 = 7 * SECOND_NS;
pub(crate) const MS: u64 = 1_000_000;
pub(crate) const LIMIT_NS: u64 = 30 * SECOND_NS;
pub(crate) const EIO: Errno = Errno(5);
pub(crate) const ENODEV: Errno = Errno(19);
pub(crate) const EINVAL: Errno = Errno(22);
pub(crate) const ENOSPC: Errno = Errno(28);

/// An operation as the script sees it.
pub(crate) struct Call<'a> {
    pub(crate) workload: &'a Workload,
    /// Number of trials prepared before.
    pub(crate) trial: usize,
    /// Number of operations submitted before in this trial.
    pub(crate) number: u64,
    pub(crate) op: Op,
}

/// Part of the script that is called for one operation.
type PerCall<T> = Box<dyn FnMut(&Call<'_>) -> T>;

/// Context of the first trial of a run, with the rig's time limit only.
pub(crate) const CONTEXT: TrialContext = TrialContext {
    id: 0,
    round_index: 0,
    layout: false,
    run_started_ns: ORIGIN_NS,
    seed: 1,
    next_block: 0,
    limit_ns: 0,
};

/// Behaviour of the device.
pub(crate) struct Script {
    /// Number of operations served at a time.
    pub(crate) channels_count: usize,
    pub(crate) service_ns: PerCall<u64>,
    /// Outcome of an operation; `None`: the whole block.
    pub(crate) outcome: PerCall<Option<Result<u32, Errno>>>,
    /// Outcome of preparing trial `n`.
    pub(crate) prepare: Box<dyn FnMut(usize) -> Result<(), Errno>>,
    /// Number of bytes written to prepare it.
    pub(crate) written_bytes: u64,
    /// Duration of the flush after trial `n`.
    pub(crate) flush: Box<dyn FnMut(usize) -> Result<u64, Errno>>,
    /// Counted bytes in per mille of the truth; `None`: no counters.
    pub(crate) counted: Option<u64>,
    /// Asks to stop the run when this operation (trial, number) completes.
    pub(crate) stop_at: Option<(usize, u64)>,
}

impl Script {
    /// Returns a script in which every operation takes this long and succeeds.
    pub(crate) fn constant(service_ns: u64) -> Self {
        Self::of(move |_| service_ns)
    }

    pub(crate) fn of(service_ns: impl FnMut(&Call<'_>) -> u64 + 'static) -> Self {
        Self {
            channels_count: 1,
            service_ns: Box::new(service_ns),
            outcome: Box::new(|_| None),
            prepare: Box::new(|_| Ok(())),
            written_bytes: 0,
            flush: Box::new(|_| Ok(0)),
            counted: Some(1000),
            stop_at: None,
        }
    }

    pub(crate) fn channels(mut self, count: usize) -> Self {
        self.channels_count = count;
        self
    }

    /// Gives operation `number` of trial `trial` this outcome.
    pub(crate) fn failing(
        mut self,
        trial: usize,
        number: u64,
        outcome: Result<u32, Errno>,
    ) -> Self {
        self.outcome =
            Box::new(move |call| ((call.trial, call.number) == (trial, number)).then_some(outcome));
        self
    }
}

/// Log of a trial as seen by the back end.
#[derive(Clone, Debug)]
pub(crate) struct TrialLog {
    pub(crate) workload: Workload,
    /// Operations with their times of submission, in that order.
    pub(crate) submitted: Vec<(Op, u64)>,
    /// Index among the submitted operations and time of completion, in that order.
    pub(crate) reaped: Vec<(usize, u64)>,
    pub(crate) flushes_count: u32,
    /// Number of time limits allowed for preparing, and then for each sync.
    pub(crate) limits: Vec<u32>,
}

impl TrialLog {
    pub(crate) fn offsets(&self) -> Vec<u64> {
        self.submitted.iter().map(|(op, _)| op.offset).collect()
    }
}

#[derive(Debug)]
struct Flying {
    index: usize,
    done: Done,
    at_ns: u64,
}

/// Accepts operations, serves them first in, first out on its channels, and logs everything.
pub(crate) struct ScriptedBackend {
    script: Script,
    now_ns: Rc<Cell<u64>>,
    pulse: Rc<Pulse>,
    pub(crate) trials: Vec<TrialLog>,
    flying: Vec<Flying>,
    free_at_ns: Vec<u64>,
    counters: DeviceCounters,
}

impl Backend for ScriptedBackend {
    fn prepare(&mut self, workload: &Workload) -> Result<u64, Errno> {
        assert!(self.flying.is_empty(), "trials do not overlap");
        self.trials.push(TrialLog {
            workload: workload.clone(),
            submitted: Vec::new(),
            reaped: Vec::new(),
            flushes_count: 0,
            limits: vec![self.pulse.limits_count()],
        });
        (self.script.prepare)(self.trials.len() - 1)?;
        Ok(self.script.written_bytes)
    }

    fn submit(&mut self, op: Op) {
        let trial = self.trials.len() - 1;
        let log = &mut self.trials[trial];
        assert_allowed(&log.workload, op);
        assert!(
            self.flying.len() < log.workload.in_flight_count() as usize,
            "more than the queue depth"
        );
        if op.kind == OpKind::Sync {
            log.limits.push(self.pulse.limits_count());
        }
        assert!(
            self.flying.iter().all(|other| other.done.slot != op.slot),
            "two in one slot"
        );
        let number = log.submitted.len() as u64;
        let call = Call {
            workload: &log.workload,
            trial,
            number,
            op,
        };
        let service_ns = (self.script.service_ns)(&call);
        let outcome = (self.script.outcome)(&call).unwrap_or(Ok(op.bytes));
        let now_ns = self.now_ns.get();
        let channel = self.free_at_ns.iter_mut().min().unwrap();
        *channel = now_ns.max(*channel) + service_ns;
        let (index, at_ns) = (log.submitted.len(), *channel);
        self.flying.push(Flying {
            index,
            done: Done {
                slot: op.slot,
                outcome,
            },
            at_ns,
        });
        log.submitted.push((op, now_ns));
    }

    fn reap(&mut self) -> Done {
        let first = (0..self.flying.len()).min_by_key(|&i| self.flying[i].at_ns);
        let flying = self
            .flying
            .remove(first.expect("no operation is in flight"));
        self.now_ns.set(self.now_ns.get().max(flying.at_ns));
        let trial = self.trials.len() - 1;
        let log = &mut self.trials[trial];
        log.reaped.push((flying.index, self.now_ns.get()));
        if self.script.stop_at == Some((trial, flying.index as u64)) {
            self.pulse.stop();
        }
        let op = log.submitted[flying.index].0;
        let bytes = u64::from(op.bytes) * self.script.counted.unwrap_or(0) / 1000;
        if op.kind == OpKind::Read {
            self.counters.read_bytes += bytes;
        } else {
            self.counters.write_bytes += bytes;
        }
        flying.done
    }

    fn flush(&mut self) -> Result<(), Errno> {
        assert!(
            self.flying.is_empty(),
            "flushed while operations are in flight"
        );
        let trial = self.trials.len() - 1;
        self.trials[trial].flushes_count += 1;
        let span_ns = (self.script.flush)(trial)?;
        self.now_ns.set(self.now_ns.get() + span_ns);
        Ok(())
    }

    fn counters(&mut self) -> Option<DeviceCounters> {
        self.script.counted.map(|_| self.counters)
    }
}

/// Asserts that the workload allows such an operation.
fn assert_allowed(workload: &Workload, op: Op) {
    assert!(op.slot < workload.in_flight_count());
    assert!(op.stream < workload.manner.streams_count);
    let is_lead = workload.manner.lead_read && op.offset == 0;
    if op.kind == OpKind::Sync {
        assert_eq!(op.bytes, 0);
        return;
    }
    assert_eq!(u64::from(op.bytes), workload.block_bytes);
    let inside = op.offset.checked_sub(workload.manner.start_bytes);
    let inside = inside.expect("before the span");
    assert_eq!(inside % workload.block_bytes, 0, "not aligned");
    assert!(
        inside + workload.block_bytes <= workload.span_bytes,
        "outside the span"
    );
    match op.kind {
        OpKind::Read => assert!(workload.reads() || is_lead),
        OpKind::Write => assert!(workload.writes() && workload.flush != Flush::EachOperation),
        OpKind::WriteSync => assert!(workload.writes() && workload.flush == Flush::EachOperation),
        OpKind::Sync => unreachable!("matched above"),
    }
}

pub(crate) struct ManualClock {
    now_ns: Rc<Cell<u64>>,
    pulse: Rc<Pulse>,
    /// Asks to stop the run at the end of the rest that reaches this time.
    stop_at_ns: Option<u64>,
}

impl Clock for ManualClock {
    fn now_ns(&mut self) -> u64 {
        self.now_ns.get()
    }

    fn rest(&mut self, span_ns: u64) {
        self.now_ns.set(self.now_ns.get() + span_ns);
        if self
            .stop_at_ns
            .is_some_and(|at_ns| self.now_ns.get() >= at_ns)
        {
            self.pulse.stop();
        }
    }
}

#[derive(Default)]
pub(crate) struct ScriptedSensors(pub(crate) Vec<SensorSample>);

impl Sensors for ScriptedSensors {
    fn take(&mut self) -> Vec<SensorSample> {
        std::mem::take(&mut self.0)
    }
}

/// A recorded event.
#[derive(Debug)]
pub(crate) enum Heard {
    Started,
    ReadingBack,
    TrialStarted {
        workload: String,
        round_index: u32,
        remaining_ns: u64,
        layout: bool,
        at_ns: u64,
    },
    TrialEnded(u32),
    Found(String),
}

/// Records events; asks to stop the run after a given number of them.
struct Listener {
    heard: Rc<RefCell<Vec<Heard>>>,
    stop_after: Option<usize>,
    /// Time for which every trial waits for its turn.
    wait_ns: u64,
    now_ns: Rc<Cell<u64>>,
    pulse: Rc<Pulse>,
}

impl Observer for Listener {
    fn event(&mut self, event: &Event<'_>) {
        if matches!(event, Event::TrialStarted { .. }) {
            self.now_ns.set(self.now_ns.get() + self.wait_ns);
        }
        // The watch covers observers too: the journal may lie on the device under test.
        let begins = matches!(event, Event::Started { .. });
        assert_eq!(
            self.pulse.reading().1,
            !begins,
            "watched from the first trial on"
        );
        let mut heard = self.heard.borrow_mut();
        heard.push(match event {
            Event::Started { .. } => Heard::Started,
            Event::ReadingBack { .. } => Heard::ReadingBack,
            Event::TrialStarted {
                workload,
                round_index,
                remaining_ns,
                layout,
                ..
            } => Heard::TrialStarted {
                workload: (*workload).to_owned(),
                round_index: *round_index,
                remaining_ns: *remaining_ns,
                layout: *layout,
                at_ns: self.now_ns.get() - ORIGIN_NS,
            },
            Event::TrialEnded { trial } => Heard::TrialEnded(trial.id),
            Event::Found { finding } => Heard::Found(finding.kind.name()),
        });
        if self.stop_after == Some(heard.len()) {
            self.pulse.stop();
        }
    }
}

/// Everything that a trial or a run needs.
pub(crate) struct Rig {
    pub(crate) backend: ScriptedBackend,
    pub(crate) sensors: ScriptedSensors,
    /// Asks to stop the run after this number of events.
    pub(crate) stop_after: Option<usize>,
    /// Time for which every trial waits for its turn.
    pub(crate) wait_ns: u64,
    /// Asks to stop the run in a rest, at this time.
    pub(crate) stop_at_ns: Option<u64>,
    pub(crate) heard: Rc<RefCell<Vec<Heard>>>,
    pub(crate) pulse: Rc<Pulse>,
    now_ns: Rc<Cell<u64>>,
}

impl Rig {
    pub(crate) fn new(script: Script) -> Self {
        let now_ns = Rc::new(Cell::new(ORIGIN_NS));
        let pulse = Rc::new(Pulse::new());
        let backend = ScriptedBackend {
            free_at_ns: vec![0; script.channels_count],
            script,
            now_ns: Rc::clone(&now_ns),
            pulse: Rc::clone(&pulse),
            trials: Vec::new(),
            flying: Vec::new(),
            counters: DeviceCounters::default(),
        };
        let (sensors, heard) = Default::default();
        Self {
            backend,
            sensors,
            stop_after: None,
            wait_ns: 0,
            stop_at_ns: None,
            heard,
            pulse,
            now_ns,
        }
    }

    fn clock(&self) -> ManualClock {
        ManualClock {
            now_ns: Rc::clone(&self.now_ns),
            pulse: Rc::clone(&self.pulse),
            stop_at_ns: self.stop_at_ns,
        }
    }

    /// Runs one trial on its own; the run began with the clock.
    pub(crate) fn trial(&mut self, workload: &Workload, context: TrialContext) -> TrialEnd {
        let mut clock = self.clock();
        let context = TrialContext {
            run_started_ns: ORIGIN_NS,
            limit_ns: if context.limit_ns == 0 {
                LIMIT_NS
            } else {
                context.limit_ns
            },
            ..context
        };
        let end = run_trial(
            &mut self.backend,
            &mut clock,
            &self.pulse,
            workload,
            context,
        );
        assert!(!self.pulse.reading().1, "is not waiting after a trial");
        end
    }

    /// Runs a plan.
    pub(crate) fn run(&mut self, plan: &Plan) -> RunResult {
        let mut clock = self.clock();
        let mut observer = Listener {
            heard: Rc::clone(&self.heard),
            stop_after: self.stop_after,
            wait_ns: self.wait_ns,
            now_ns: Rc::clone(&self.now_ns),
            pulse: Rc::clone(&self.pulse),
        };
        let ports = Ports {
            backend: &mut self.backend,
            clock: &mut clock,
            sensors: &mut self.sensors,
            observer: &mut observer,
            pulse: &self.pulse,
        };
        execute(plan, ports)
    }

    /// Returns the log of the only trial.
    pub(crate) fn log(&self) -> &TrialLog {
        assert_eq!(self.backend.trials.len(), 1);
        &self.backend.trials[0]
    }
}

/// Random reads of 4 KiB, 100 ms after a ramp of 10 ms.
pub(crate) fn workload(id: &str) -> Workload {
    Workload {
        id: id.to_owned(),
        read_share_percent: 100,
        order: Order::Random,
        block_bytes: 4 * KIB,
        queue_depth: 1,
        span_bytes: 4 * MIB,
        flush: Flush::AfterTrial,
        payload: Payload::Incompressible,
        ramp_ns: 10 * MS,
        stop: StopRule {
            least_span_ns: 100 * MS,
            least_operations_count: 34,
            most_bytes: None,
            longest_span_ns: None,
            ..StopRule::default()
        },
        latency_metrics: true,
        manner: Manner::default(),
        procedure: None,
        rounds: cardmark_core::Rounds::default(),
    }
}

/// Sequential writes of 64 KiB. As short as a piece of the layout at 1 ms per operation, so that none are
/// merged.
pub(crate) fn sequential(id: &str, read_share_percent: u8) -> Workload {
    Workload {
        stop: StopRule {
            least_span_ns: 16 * MS,
            least_operations_count: 16,
            ..workload(id).stop
        },
        read_share_percent,
        order: Order::Sequential,
        block_bytes: 64 * KIB,
        latency_metrics: false,
        manner: Manner::default(),
        ..workload(id)
    }
}

/// A suite whose file of 4 MiB is laid out in four trials by its first workload.
pub(crate) fn suite(workloads: Vec<Workload>) -> Suite {
    let suite = Suite {
        name: "test".to_owned(),
        version: 1,
        digest: None,
        summary: String::new(),
        file_bytes: 4 * MIB,
        needs: TargetNeed::Any,
        layout: workloads[0].id.clone(),
        layout_trials_count: 4,
        looks: vec![6, 12, 24],
        goal_percent: 3.0,
        budget_ns: 60 * SECOND_NS,
        passes: None,
        longest_ns: 0,
        read_back_bytes: 0,
        workloads,
        figures: Vec::new(),
        score: None,
        tiers: Vec::new(),
        deviations: Vec::new(),
    };
    assert_eq!(broken_rule(&suite), None);
    suite
}

/// A suite that runs through a list in order.
pub(crate) fn list(workloads: Vec<Workload>, passes: Passes) -> Suite {
    let suite = Suite {
        layout: String::new(),
        layout_trials_count: 0,
        looks: Vec::new(),
        passes: Some(passes),
        ..suite(vec![sequential("seq_write", 0)])
    };
    Suite { workloads, ..suite }
}

/// A sequential write and two random workloads, one of them deep.
pub(crate) fn three() -> Suite {
    let deep = Workload {
        read_share_percent: 0,
        queue_depth: 32,
        ..workload("rand_write")
    };
    suite(vec![
        sequential("seq_write", 0),
        workload("rand_read"),
        deep,
    ])
}

pub(crate) fn plan(suite: &Suite) -> Plan {
    plan_only(suite, &[])
}

pub(crate) fn plan_only(suite: &Suite, only: &[&str]) -> Plan {
    let request = Request {
        only: only.iter().map(|&id| id.to_owned()).collect(),
        read_only: false,
        seed: 1,
        limit_ns: LIMIT_NS,
        passes_count: None,
        tier: None,
        most_bytes: None,
        until_settled: false,
    };
    make_plan(
        suite,
        &request,
        TargetRoom::disk(TargetKind::Sim, suite.file_bytes),
    )
    .unwrap()
}

/// Returns the record header of a run.
pub(crate) fn header(suite_ref: SuiteRef, payload_rate_bytes_per_s: Option<f64>) -> Record {
    let id = simulated_run_id(&["engine"]);
    Record {
        suite: Some(suite_ref),
        target: Some(Target {
            kind: TargetKind::Sim,
            layers: Vec::new(),
            filesystem: None,
            span_bytes: 4 * MIB,
            free_bytes: None,
            filesystem_bytes: None,
            direct: None,
            mount_options: Vec::new(),
            nocow: None,
            named_file: None,
            payload_rate_bytes_per_s,
        }),
        ..Record::new(id, Origin::of(OriginKind::Simulated))
    }
}

/// Returns the record of a run of this plan.
pub(crate) fn recorded(plan: &Plan, outcome: RunResult) -> Record {
    record(header(plan.suite_ref.clone(), None), outcome, &plan.suite)
}

/// Returns workload and round of each trial.
pub(crate) fn order(trials: &[Trial]) -> Vec<(&str, u32)> {
    trials
        .iter()
        .map(|trial| (trial.workload.id.as_str(), trial.round_index))
        .collect()
}
