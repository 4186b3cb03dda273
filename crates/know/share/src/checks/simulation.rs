//! Simulated runs whose origin was edited. Models and seeds are ours: the first trial can be made again.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cardmark_core::{
    DeviceCounters, Errno, OriginKind, ReadBack, Record, Suite, SuiteRef, TargetKind, Trial,
    Workload,
};
use cardmark_engine::{
    Backend, Done, Event, Observer, Op, Plan, Ports, Pulse, Request, TargetRoom, execute, make_plan,
};
use cardmark_sim::{Model, SimulatedCard, boards, models};

use super::stated::stated_suite;
use crate::check::{Check, CheckName, CheckOutcome};

/// Operations of the longest first trial that is made again, with its ramp: the work of a check is bounded.
const MOST_OPERATIONS: u64 = 512;
/// Operations of the shortest one.
const LEAST_OPERATIONS: u64 = 8;
/// Limit for an answer, nanoseconds: that of the program.
const LIMIT_NS: u64 = 30_000_000_000;

/// All models, by themselves and on each board.
static MODELS: LazyLock<Vec<Model>> = LazyLock::new(|| {
    let plain = models().into_iter();
    let plain: Vec<Model> = plain
        .filter_map(|entry| Model::named(entry.name).ok())
        .collect();
    let boards: Vec<&str> = boards().iter().map(|board| board.name).collect();
    let on_boards = plain
        .iter()
        .flat_map(|model| boards.iter().filter_map(|board| model.on_board(board).ok()));
    let on_boards: Vec<Model> = on_boards.collect();
    plain.into_iter().chain(on_boards).collect()
});

/// Checks that the first trial of a measured record is not that of a simulated card with the record's seed.
pub(super) fn simulation(record: &Record) -> Check {
    let name = CheckName::Simulation;
    let cannot_tell = |reason: &str| Check::of(name, CheckOutcome::CannotTell, reason);
    if record.origin.kind != OriginKind::Measured {
        return cannot_tell("the figures were not measured by this program");
    }
    let Some(first) = record.trials.first() else {
        return cannot_tell("the record has no trials");
    };
    let seed = record.seed.as_deref();
    let Some(seed) = seed.and_then(|seed| u64::from_str_radix(seed, 16).ok()) else {
        return cannot_tell("the record holds no seed");
    };
    let (Some((suite, true)), Some(stated)) = (stated_suite(record), &record.suite) else {
        return cannot_tell("this site does not know the suite of the record");
    };
    if first.operations_count() < LEAST_OPERATIONS || operations_count(first) > MOST_OPERATIONS {
        return cannot_tell("the first trial is too short or too long to be made again");
    }
    let is_read_only = record.trials.iter().all(|trial| trial.written_bytes == 0);
    let ways = [Some(false), is_read_only.then_some(true)];
    let mut ways = ways.into_iter().flatten();
    let found = ways.find_map(|read_only| {
        let request = request(stated, seed, read_only);
        simulated_on(first, &suite, &request)
    });
    match found {
        Some(model) => {
            let card = model.name_on_board();
            let reason =
                format!("the first trial is that of the simulated card {card} with this seed");
            Check::of(name, CheckOutcome::Failed, reason)
        }
        None => Check::passed(name),
    }
}

/// The model whose first trial is this one.
fn simulated_on(first: &Trial, suite: &Suite, request: &Request) -> Option<&'static Model> {
    // Most models have one of a few sizes, on which the plan depends.
    let mut plans: BTreeMap<u64, Option<Plan>> = BTreeMap::new();
    MODELS.iter().find(|model| {
        let size = model.capacity_bytes();
        let plan = plans.entry(size).or_insert_with(|| {
            make_plan(suite, request, TargetRoom::disk(TargetKind::Sim, size)).ok()
        });
        let made = plan.as_ref().and_then(|plan| first_trial(model, plan));
        made.is_some_and(|made| fingerprint(&made) == fingerprint(first))
    })
}

/// The request of such a run; the record does not hold `read_only`.
fn request(stated: &SuiteRef, seed: u64, read_only: bool) -> Request {
    Request {
        seed,
        limit_ns: LIMIT_NS,
        only: stated.only.clone(),
        tier: stated.tier.clone(),
        read_only,
        ..Request::default()
    }
}

fn operations_count(trial: &Trial) -> u64 {
    let before = trial
        .untimed
        .as_ref()
        .map_or(0, |untimed| untimed.ramp_operations_count);
    trial.operations_count() + before
}

/// Nanoseconds that two measurements do not share by chance.
fn fingerprint(trial: &Trial) -> [u64; 5] {
    let latency = &trial.latency;
    [
        trial.span_ns,
        trial.operations_count(),
        latency.sum_ns,
        latency.min_ns,
        latency.max_ns,
    ]
}

/// The first trial of a run on a simulated card; `None` if it has none, or too long a one.
fn first_trial(model: &Model, plan: &Plan) -> Option<Trial> {
    let card = SimulatedCard::new(model, plan.seed);
    let (backend, mut clock, mut sensors) = card.ports();
    let pulse = Pulse::new();
    let mut backend = Bounded {
        backend,
        pulse: &pulse,
        // One more than can be equal.
        left: MOST_OPERATIONS + 1,
    };
    let mut observer = First {
        pulse: &pulse,
        trial: None,
    };
    let ports = Ports {
        backend: &mut backend,
        clock: &mut clock,
        sensors: &mut sensors,
        observer: &mut observer,
        pulse: &pulse,
    };
    execute(plan, ports);
    observer.trial
}

/// Keeps the first trial, and ends the run.
struct First<'p> {
    pulse: &'p Pulse,
    trial: Option<Trial>,
}

impl Observer for First<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::TrialEnded { trial } = event {
            self.trial.get_or_insert_with(|| (*trial).clone());
            self.pulse.stop();
        }
    }
}

/// A back end that ends the run after some operations.
struct Bounded<'p, B> {
    backend: B,
    pulse: &'p Pulse,
    left: u64,
}

impl<B: Backend> Backend for Bounded<'_, B> {
    fn prepare(&mut self, workload: &Workload) -> Result<u64, Errno> {
        self.backend.prepare(workload)
    }

    fn submit(&mut self, op: Op) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.pulse.stop();
        }
        self.backend.submit(op);
    }

    fn reap(&mut self) -> Done {
        self.backend.reap()
    }

    fn flush(&mut self) -> Result<(), Errno> {
        self.backend.flush()
    }

    fn counters(&mut self) -> Option<DeviceCounters> {
        self.backend.counters()
    }

    fn read_back(&mut self, offset: u64, bytes: u64) -> Result<Option<ReadBack>, Errno> {
        self.backend.read_back(offset, bytes)
    }
}
