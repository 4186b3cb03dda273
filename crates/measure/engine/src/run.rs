//! A run: layout, rounds, looks, and the handling of failures.

use cardmark_core::{
    Access, Finding, FindingKind, Order, Passes, ReadBack, SensorSample, Severity, Start,
    StopReason, Trial, Workload,
};
use cardmark_stats::{is_equal, is_good, is_precise};

use crate::apart::Apart;
use crate::context::TrialContext;
use crate::failure::{Failure, failure_finding};
use crate::long;
use crate::read_back::{PIECE_BYTES, read_back};
use crate::readings::Readings;
use crate::schedule::Schedule;
use crate::tally::Memory;
use crate::trial::{TrialEnd, run_trial_in};
use crate::wear::{NS_PER_BYTE, expected_ns, largest_trial_bytes};
use crate::{Backend, Clock, Event, Observer, Plan, Pulse, Sensors};

/// The ports of one run.
pub struct Ports<'a, B, C, S, O> {
    /// Executes the operations.
    pub backend: &'a mut B,
    /// Clock for all measurements.
    pub clock: &'a mut C,
    /// Reads the sensors of the board.
    pub sensors: &'a mut S,
    /// Receives the events.
    pub observer: &'a mut O,
    /// Shows progress and accepts a request to stop.
    pub pulse: &'a Pulse,
}

/// Results of a run.
#[derive(Debug, Default)]
pub struct RunResult {
    /// All trials, complete or not.
    pub trials: Vec<Trial>,
    /// Readings of the board.
    pub sensors: Vec<SensorSample>,
    /// Result of reading back written data; absent if the run wrote none.
    pub read_back: Option<ReadBack>,
    /// Problems of the run.
    pub findings: Vec<Finding>,
    /// Duration of the whole run, nanoseconds.
    pub span_ns: u64,
}

impl RunResult {
    /// True if everything planned was measured.
    pub fn is_complete(&self) -> bool {
        let is_error = |finding: &Finding| finding.severity == Severity::Error;
        !self.findings.iter().any(is_error)
    }

    /// True if the run was stopped from outside.
    pub fn is_interrupted(&self) -> bool {
        self.trials
            .last()
            .is_some_and(|trial| trial.stopped_by == StopReason::Interrupted)
    }
}

/// Executes a plan.
pub fn execute<B: Backend, C: Clock, S: Sensors, O: Observer>(
    plan: &Plan,
    ports: Ports<'_, B, C, S, O>,
) -> RunResult {
    ports.observer.event(&Event::Started { plan });
    let started_ns = ports.clock.now_ns();
    let mut run = Run {
        plan,
        ports,
        started_ns,
        waited_ns: 0,
        readings: Readings::default(),
        memory: Memory::default(),
        outcome: RunResult::default(),
    };
    run.ports.pulse.set_waiting(true);
    run.phases();
    run.ports.pulse.set_waiting(false);
    run.outcome.span_ns = run.elapsed_ns();
    run.read_sensors();
    run.outcome.sensors = run.readings.into_list();
    run.outcome
}

/// Shifts the time of a reading to the run's start; `None` if it was taken before.
fn rebase(mut sample: SensorSample, started_ns: u64) -> Option<SensorSample> {
    sample.at_ns = sample.at_ns.checked_sub(started_ns)?;
    Some(sample)
}

struct Run<'a, B, C, S, O> {
    plan: &'a Plan,
    ports: Ports<'a, B, C, S, O>,
    started_ns: u64,
    /// Time in which the observer waited for another run before trials; it does not count.
    waited_ns: u64,
    readings: Readings,
    memory: Memory,
    outcome: RunResult,
}

/// Next block of each sequential workload, by index in the plan.
type Cursors = Vec<u64>;

impl<B: Backend, C: Clock, S: Sensors, O: Observer> Run<'_, B, C, S, O> {
    fn phases(&mut self) {
        for workload in &self.plan.absent {
            self.found(no_object(workload));
        }
        match self.plan.suite.passes {
            Some(Passes::Count(count)) => self.passes(count, false),
            Some(Passes::UntilGood(count)) => self.passes(count, true),
            None => self.rounds(),
        }
    }

    /// Runs the workloads in the order of their list, as the scripts of the old tools do.
    fn passes(&mut self, count: u32, until_good: bool) {
        let plan = self.plan;
        let mut expected: Vec<u64> = plan.workloads.iter().map(expected_ns).collect();
        for pass in 0..count {
            let mut is_prepared = true;
            for (index, workload) in plan.workloads.iter().enumerate() {
                is_prepared |= workload.manner.start != Start::Kept;
                if !is_prepared {
                    continue;
                }
                let rest: u64 = expected[index..].iter().sum();
                let more = if until_good { 0 } else { count - pass - 1 };
                let remaining_ns = rest + u64::from(more) * expected.iter().sum::<u64>();
                self.announce(workload, pass, expected[index], remaining_ns, false);
                let begun_ns = self.elapsed_ns();
                let adapted = long::behind_rest(in_pass(workload, pass), &self.outcome.trials);
                let workload = match adapted {
                    Ok(workload) => workload,
                    Err(note) => {
                        self.found(*note);
                        continue;
                    }
                };
                let end = self.trial(&workload, pass, 0, false);
                expected[index] = self.elapsed_ns() - begun_ns;
                self.keep(end.trial);
                if let Some(failure) = end.failure {
                    if !self.fail(&workload, failure) {
                        return;
                    }
                    // A procedure restarts with its preconditioning, because it cannot build on an incomplete
                    // one.
                    is_prepared = !plan.suite.is_preconditioned();
                }
            }
            if until_good && is_good(&self.outcome.trials, &plan.suite) {
                return;
            }
        }
    }

    /// Measures in interleaved rounds until every figure is precise enough, or time or bytes are used up.
    fn rounds(&mut self) {
        let plan = self.plan;
        let expected: Vec<u64> = plan.workloads.iter().map(expected_ns).collect();
        let suite = &plan.suite;
        let longest_ns = match suite.longest_ns {
            0 => u64::MAX,
            longest_ns => longest_ns,
        };
        let mut schedule = Schedule::new(&suite.looks, suite.budget_ns, longest_ns, &expected);
        let mut apart = Apart::of(&plan.workloads);
        for index in apart.indices() {
            schedule.leave_out(index);
        }
        if !self.lay_out(&mut schedule) {
            return;
        }
        let laid_out_ns = self.busy_ns();
        let mut cursors: Cursors = vec![0; plan.workloads.len()];
        loop {
            let elapsed_ns = self.busy_ns() - laid_out_ns;
            let left_ns = schedule.remaining_ns(elapsed_ns) + apart.remaining_ns(&expected);
            let goes_on = match (apart.due(elapsed_ns), schedule.next(elapsed_ns)) {
                (Some(index), Some(next)) => {
                    schedule.put_back(next.0);
                    self.apart_trial(&mut apart, index, left_ns)
                }
                (_, Some(next)) => self.round_trial(&mut schedule, &mut cursors, next, left_ns),
                (_, None) => break,
            };
            if !goes_on {
                return;
            }
        }
        self.note_unmeasured(&apart);
        while let Some(index) = apart.last() {
            let left_ns = apart.remaining_ns(&expected);
            if !self.apart_trial(&mut apart, index, left_ns) {
                return;
            }
        }
        self.read_back();
    }

    /// Adds a finding for each workload that was not measured for lack of time.
    fn note_unmeasured(&mut self, apart: &Apart) {
        let later = apart.indices();
        for (index, workload) in self.plan.workloads.iter().enumerate() {
            let is_measured = |trial: &Trial| trial.workload.id == workload.id;
            if later.contains(&index) || self.outcome.trials.iter().any(is_measured) {
                continue;
            }
            let detail = "no time was left for it";
            let finding = Finding::new(FindingKind::NotApplicable, Severity::Note, detail);
            self.found(finding.on(&workload.id));
        }
    }

    /// Reads a sample of the data that the layout and later trials wrote, and compares it.
    fn read_back(&mut self) {
        let suite = &self.plan.suite;
        let (Some(layout), bytes @ 1..) = (&self.plan.layout, suite.read_back_bytes) else {
            return;
        };
        self.ports.observer.event(&Event::ReadingBack {
            expected_ns: bytes * NS_PER_BYTE,
            pieces_count: bytes / PIECE_BYTES,
        });
        let Ports { backend, pulse, .. } = &mut self.ports;
        let written_bytes = suite.file_bytes;
        let seed = self.plan.seed;
        let (found, failure) = read_back(*backend, pulse, seed, written_bytes, bytes);
        self.outcome.read_back = found;
        if let Some(failure) = failure {
            self.fail(layout, failure);
        }
    }

    /// Runs one trial of a workload outside the rounds. Returns true if the run can continue.
    fn apart_trial(&mut self, apart: &mut Apart, index: usize, left_ns: u64) -> bool {
        let workload = &self.plan.workloads[index];
        let round_index = apart.note(index);
        self.announce(workload, round_index, expected_ns(workload), left_ns, false);
        let end = self.trial(workload, round_index, 0, false);
        self.keep(end.trial);
        let Some(failure) = end.failure else {
            return true;
        };
        apart.drop_workload(index);
        self.fail(workload, failure)
    }

    /// Writes the file for the first time. Returns true if the run can continue.
    fn lay_out(&mut self, schedule: &mut Schedule) -> bool {
        let Some(workload) = self.plan.layout_trial() else {
            return true;
        };
        let mut next_block = 0;
        let trials_count = self.plan.suite.layout_trials_count;
        // Recorded immediately, so that the rest is not counted twice; if one trial fails, the run ends.
        if let Some(index) = self.plan.workloads.iter().position(|w| w.id == workload.id) {
            let later_ns = expected_ns(&self.plan.workloads[index]);
            for _ in 0..trials_count {
                schedule.note(index, later_ns);
            }
        }
        let mut expected = expected_ns(&workload);
        for piece in 0..trials_count {
            let rest = u64::from(trials_count - piece) * expected;
            let remaining_ns = rest + schedule.remaining_ns(self.elapsed_ns());
            self.announce(&workload, piece, expected, remaining_ns, true);
            let begun_ns = self.elapsed_ns();
            let end = self.trial(&workload, piece, next_block, true);
            expected = self.elapsed_ns() - begun_ns;
            next_block = end.next_block;
            if let Some(failure) = end.failure {
                self.keep(end.trial);
                self.fail(&workload, failure);
                return false;
            }
            self.keep(end.trial);
        }
        true
    }

    /// Runs one trial of a round. Returns true if the run can continue.
    fn round_trial(
        &mut self,
        schedule: &mut Schedule,
        cursors: &mut Cursors,
        (index, round_index): (usize, u32),
        left_ns: u64,
    ) -> bool {
        let workload = &self.plan.workloads[index];
        if !self.has_bytes_left(workload) {
            schedule.end_for_bytes(index);
            return true;
        }
        self.announce(
            workload,
            round_index,
            schedule.expected_ns(index),
            left_ns,
            false,
        );
        let begun_ns = self.elapsed_ns();
        let end = self.trial(workload, round_index, cursors[index], false);
        cursors[index] = end.next_block;
        self.keep(end.trial);
        if let Some(failure) = end.failure {
            schedule.drop_workload(index);
            return self.fail(workload, failure);
        }
        if schedule.note(index, self.elapsed_ns() - begun_ns) {
            schedule.look(index, self.is_enough(workload));
        }
        true
    }

    /// True if a further trial of maximum size stays within the workload's bytes.
    fn has_bytes_left(&self, workload: &Workload) -> bool {
        let Some(budget_bytes) = workload.rounds.budget_bytes else {
            return true;
        };
        let of_workload = self
            .outcome
            .trials
            .iter()
            .filter(|trial| trial.workload.id == workload.id);
        let spent_bytes: u64 = of_workload.map(|trial| trial.written_bytes).sum();
        spent_bytes + largest_trial_bytes(workload) <= budget_bytes
    }

    /// True if a workload needs no further rounds: its rate is precise enough, or the rate of the workload
    /// beside which it is measured.
    fn is_enough(&self, workload: &Workload) -> bool {
        let trials = self.trials_of(&workload.id);
        let beside = workload.rounds.unless_equal_to.as_ref();
        let is_equal = beside.is_some_and(|id| is_equal(&trials, &self.trials_of(id)));
        is_equal || is_precise(&trials, self.plan.suite.goal_percent / 100.0)
    }

    fn trial(
        &mut self,
        workload: &Workload,
        round_index: u32,
        next_block: u64,
        layout: bool,
    ) -> TrialEnd {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a run has some hundred trials"
        )]
        let context = TrialContext {
            id: self.outcome.trials.len() as u32,
            round_index,
            layout,
            run_started_ns: self.started_ns,
            seed: self.plan.seed,
            next_block,
            limit_ns: self.plan.limit_ns,
        };
        self.read_sensors();
        let Ports {
            backend,
            clock,
            pulse,
            ..
        } = &mut self.ports;
        let memory = &mut self.memory;
        let end = run_trial_in(memory, *backend, *clock, pulse, workload, context);
        self.read_sensors();
        end
    }

    fn read_sensors(&mut self) {
        let readings = self.ports.sensors.take();
        let started_ns = self.started_ns;
        for reading in readings {
            if let Some(reading) = rebase(reading, started_ns) {
                self.readings.add(reading);
            }
        }
    }

    fn announce(
        &mut self,
        workload: &Workload,
        round_index: u32,
        expected_ns: u64,
        remaining_ns: u64,
        layout: bool,
    ) {
        let before_ns = self.ports.clock.now_ns();
        self.ports.observer.event(&Event::TrialStarted {
            workload: &workload.id,
            round_index,
            expected_ns,
            remaining_ns,
            layout,
            operations_count: exact_operations(workload),
            longest_ns: workload.stop.longest_span_ns,
        });
        self.waited_ns += self.ports.clock.now_ns() - before_ns;
    }

    fn keep(&mut self, trial: Trial) {
        self.ports
            .observer
            .event(&Event::TrialEnded { trial: &trial });
        self.outcome.trials.push(trial);
    }

    /// Records a failure. Returns true if other workloads can continue.
    fn fail(&mut self, workload: &Workload, failure: Failure) -> bool {
        let (finding, goes_on) = failure_finding(workload, failure);
        self.found(finding);
        goes_on
    }

    fn found(&mut self, finding: Finding) {
        self.ports
            .observer
            .event(&Event::Found { finding: &finding });
        self.outcome.findings.push(finding);
    }

    fn trials_of(&self, id: &str) -> Vec<&Trial> {
        let whole = |trial: &&Trial| trial.workload.id == id && trial.is_whole();
        self.outcome.trials.iter().filter(whole).collect()
    }

    /// Time since the run began, without the time spent waiting for other runs.
    fn busy_ns(&mut self) -> u64 {
        self.elapsed_ns() - self.waited_ns
    }

    fn elapsed_ns(&mut self) -> u64 {
        self.ports.clock.now_ns() - self.started_ns
    }
}

fn is_whole(workload: &Workload) -> bool {
    let least = workload.stop.least_written;
    least.is_some_and(|least| least.is_whole())
}

/// Number of operations of a trial, if its progress follows from them. Through the page cache it does not:
/// the flush at the end takes most of the time.
fn exact_operations(workload: &Workload) -> Option<u64> {
    let stop = &workload.stop;
    let whole_bytes = stop.most_bytes.filter(|_| is_whole(workload));
    let exact_bytes = workload.exact_bytes();
    let bytes = whole_bytes.or(exact_bytes.filter(|_| stop.longest_span_ns.is_none()))?;
    let is_followed = workload.manner.access == Access::Direct;
    is_followed.then(|| bytes / workload.block_bytes.max(1))
}

/// Returns the workload as it is run in a pass. A file whose positions are visited one by one is written only
/// before the first of them.
fn in_pass(workload: &Workload, pass: u32) -> Workload {
    let mut workload = workload.clone();
    if workload.order == Order::Spread && pass > 0 {
        workload.manner.start = Start::Kept;
    }
    workload
}

/// Returns the finding for a workload without an object.
fn no_object(workload: &str) -> Finding {
    let detail = "the block device below this target is unknown";
    Finding::new(FindingKind::NotApplicable, Severity::Note, detail).on(workload)
}
