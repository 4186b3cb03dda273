//! Verdicts on classes: on every model with its own times, for every class, they follow from the model's data.

use std::collections::BTreeMap;

use cardmark_catalog::{Class, ClassFamily, class, classes};
use cardmark_core::{
    Finding, FindingKind, Origin, OriginKind, Record, Severity, Start, Suite, TargetKind,
    VerdictOutcome, Workload, simulated_run_id,
};
use cardmark_engine::{
    Event, Observer, Plan, Ports, Pulse, Request, RunResult, TargetRoom, execute, make_plan, record,
};
use cardmark_judge::{families, judge};
use cardmark_sim::{Ends, Model, SimulatedCard, models};

/// Models with service times of their own come first; those on the border of a class last.
const TIMED_COUNT: usize = 12;
const SEED: u64 = 11;
/// Difference from run to run that the judge allows a card.
const RUN_RATIO: f64 = 0.02;
/// The limit of a video class if its MB are read as MiB.
const BINARY: f64 = 1.048_576;

/// Hears of the trials, and has the run stopped in the one of that number.
struct Stopper<'a> {
    pulse: &'a Pulse,
    left: usize,
}

impl Observer for Stopper<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::TrialStarted { .. } = event {
            if self.left == 0 {
                self.pulse.stop();
            }
            self.left = self.left.saturating_sub(1);
        }
    }
}

fn names() -> Vec<&'static str> {
    let all = models();
    let timed = all.iter().take(TIMED_COUNT).map(|entry| entry.name);
    let border = all.iter().map(|entry| entry.name);
    timed
        .chain(border.filter(|name| name.starts_with("border-")))
        .collect()
}

fn plan_for(card: &SimulatedCard, suite: &Suite, tier: &str, only: &[String]) -> Plan {
    let request = Request {
        seed: SEED,
        limit_ns: 30_000_000_000,
        tier: Some(tier.to_owned()),
        only: only.to_vec(),
        ..Request::default()
    };
    let place = TargetRoom::disk(TargetKind::Sim, card.capacity_bytes());
    make_plan(suite, &request, place).unwrap()
}

/// Returns the outcome of a plan on a card, stopped in a trial.
fn executed(card: &SimulatedCard, plan: &Plan, trials_count: usize) -> RunResult {
    let (mut backend, mut clock, mut sensors) = card.ports();
    let pulse = Pulse::new();
    let ports = Ports {
        backend: &mut backend,
        clock: &mut clock,
        sensors: &mut sensors,
        observer: &mut Stopper {
            pulse: &pulse,
            left: trials_count,
        },
        pulse: &pulse,
    };
    execute(plan, ports)
}

/// The record with its verdicts.
fn judged(card: &SimulatedCard, plan: &Plan, suite: &Suite, outcome: RunResult) -> Record {
    let id = simulated_run_id(&["test"]);
    let all: Vec<&str> = classes().iter().map(|class| class.id.as_str()).collect();
    let header = Record {
        labels: BTreeMap::from([("claims".to_owned(), all.join(" "))]),
        suite: Some(plan.suite_ref.clone()),
        devices: vec![card.device()],
        ..Record::new(id, Origin::of(OriginKind::Simulated))
    };
    let mut record = record(header, outcome, suite);
    record.derived = judge(&record, Some(suite));
    record
}

fn verdicts(record: &Record) -> BTreeMap<String, VerdictOutcome> {
    let derived = record.derived.as_ref().unwrap();
    let each = derived.verdicts.iter();
    each.map(|verdict| (verdict.rule.clone(), verdict.outcome))
        .collect()
}

/// Possible verdicts on one figure: worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum May {
    Fail,
    /// It would fail, on a board that throttled itself during the run.
    Throttled,
    Border,
    Pass,
}

/// Returns the possible verdicts on a figure that lies between these ends. The verdict is certain, except for
/// figures that fall by chance on either side of the judge's own edges.
fn possible(ends: Ends, spread: f64, limit: f64, other_reading: f64) -> Vec<May> {
    let upper = limit * other_reading;
    let mut found = Vec::new();
    if ends.low * (1.0 + RUN_RATIO) < limit {
        found.push(May::Fail);
    }
    let not_surely_failed = ends.high * (1.0 + RUN_RATIO + spread) >= limit;
    let not_surely_passed = ends.low * (1.0 - RUN_RATIO - spread) < upper;
    if not_surely_failed && not_surely_passed {
        found.push(May::Border);
    }
    if ends.high * (1.0 - RUN_RATIO) >= upper {
        found.push(May::Pass);
    }
    found
}

/// Possible verdicts of a class, from those of its figures: the worst counts.
fn worst_of(parts: &[Vec<May>]) -> Vec<May> {
    let mut all = vec![May::Pass];
    for part in parts {
        let mut next: Vec<May> = all
            .iter()
            .flat_map(|one| part.iter().map(move |other| *one.min(other)))
            .collect();
        next.sort();
        next.dedup();
        all = next;
    }
    all
}

struct Truth<'a> {
    card: &'a SimulatedCard,
    plan: &'a Plan,
}

impl Truth<'_> {
    fn workload(&self, id: &str) -> &Workload {
        self.plan.workloads.iter().find(|w| w.id == id).unwrap()
    }

    /// Returns the range of factors by which this run's trials differ from the model.
    fn run(&self, ends: Ends) -> Ends {
        let model = self.card.model();
        let chance = 3.5 * model.trial_deviation();
        Ends {
            low: ends.low * self.card.run_factor() * (1.0 - chance),
            high: ends.high * self.card.run_factor() * (1.0 + chance),
        }
    }

    /// Operations a second.
    fn rate(&self, id: &str) -> Option<Ends> {
        let rate = self
            .card
            .model()
            .settled_operations_per_s(self.workload(id))?;
        // A mean over minutes.
        Some(self.run(Ends {
            low: rate * 0.99,
            high: rate * 1.01,
        }))
    }

    fn window(&self, id: &str, window_bytes: u64) -> Option<Ends> {
        let workload = self.workload(id);
        let count = workload.span_bytes / window_bytes;
        let ends = self
            .card
            .model()
            .slowest_window(workload, window_bytes, count)?;
        Some(self.run(ends))
    }

    fn of(&self, class: &Class) -> Option<Vec<May>> {
        let least = class.least_write_bytes_per_s as f64;
        // The judge's allowance for chance is about half of the difference between windows of several runs.
        let spread = |ends: Ends| 0.5 * (ends.high / ends.low - 1.0);
        let parts = match class.family {
            ClassFamily::Application => {
                let queue = if class.needs.is_empty() { "" } else { "_q32" };
                let read = self.rate(&format!("app_rand_read{queue}"))?;
                let write = self.rate(&format!("app_rand_write{queue}"))?;
                let sequential = self.rate("app_seq_write")?;
                let bytes = self.workload("app_seq_write").block_bytes as f64;
                let operations = |least: Option<u64>| least.unwrap() as f64;
                vec![
                    possible(
                        read,
                        0.01,
                        operations(class.least_read_operations_per_s),
                        1.0,
                    ),
                    possible(
                        write,
                        0.01,
                        operations(class.least_write_operations_per_s),
                        1.0,
                    ),
                    possible(sequential, 0.03, least / bytes, 1.0),
                ]
            }
            ClassFamily::Video => {
                let manner = self.workload("class_write").manner;
                let write = self.window("class_write", manner.video_window_bytes)?;
                let read = self.window("class_seq_read", manner.video_window_bytes)?;
                vec![
                    possible(write, spread(write), least, BINARY),
                    possible(read, spread(read), least, BINARY),
                ]
            }
            ClassFamily::Express => return None,
            ClassFamily::Speed | ClassFamily::Uhs => {
                let manner = self.workload("class_write").manner;
                let write = self.window("class_write", manner.window_bytes)?;
                let read = self.rate("class_rand_read")?;
                let bytes = self.workload("class_rand_read").block_bytes as f64;
                vec![
                    possible(write, spread(write), least, 1.0),
                    possible(read, 0.02, least / bytes, 1.0),
                ]
            }
        };
        Some(worst_of(&parts))
    }
}

fn fits(may: May, outcome: VerdictOutcome) -> bool {
    match may {
        May::Fail => outcome == VerdictOutcome::Fail,
        May::Throttled => outcome == VerdictOutcome::NotTestable,
        May::Border => outcome == VerdictOutcome::Borderline,
        May::Pass => matches!(outcome, VerdictOutcome::Pass | VerdictOutcome::LikelyPass),
    }
}

/// Returns the verdicts on all classes that a suite measures, next to the possible ones.
fn compare(suite: &str, tier: &str) -> Vec<(String, VerdictOutcome, Option<Vec<May>>)> {
    let suite = cardmark_catalog::suite(suite, None).unwrap();
    let families = families(&suite);
    let mut rows = Vec::new();
    for name in names() {
        let card = SimulatedCard::new(&Model::named(name).unwrap(), SEED);
        let plan = plan_for(&card, &suite, tier, &[]);
        let outcome = executed(&card, &plan, usize::MAX);
        let record = judged(&card, &plan, &suite, outcome);
        let found = verdicts(&record);
        let truth = Truth {
            card: &card,
            plan: &plan,
        };
        let measured = classes().iter().filter(|c| families.contains(&c.family));
        let mut count = 0;
        for class in measured {
            let said = format!("{name} {}", class.id);
            let mut may = truth.of(class);
            if is_throttled(&record) {
                let fails = may.iter_mut().flatten().filter(|may| **may == May::Fail);
                fails.for_each(|may| *may = May::Throttled);
            }
            rows.push((said, found[&class.id], may));
            count += 1;
        }
        assert_eq!(found.len(), count, "{found:?}");
    }
    // No shorter procedure passes a card, whatever its result.
    let is_full = tier == "raw-full";
    assert_eq!(
        rows.iter().any(|row| row.1 == VerdictOutcome::Pass),
        is_full,
        "{tier}"
    );
    rows
}

fn is_throttled(record: &Record) -> bool {
    let mut findings = record.findings.iter();
    findings.any(|finding| finding.kind == FindingKind::Throttled)
}

/// No verdict may be another one than the truth's, and nearly all truths are certain.
fn assert_true(rows: &[(String, VerdictOutcome, Option<Vec<May>>)], most_open: usize) {
    let mut wrong = Vec::new();
    for (name, outcome, truth) in rows {
        let is_right = match truth {
            None => *outcome == VerdictOutcome::NotTestable,
            Some(may) => may.iter().any(|may| fits(*may, *outcome)),
        };
        if !is_right {
            wrong.push(format!("{name}: {outcome:?}, true is {truth:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let opens: Vec<_> = rows
        .iter()
        .filter(|row| row.2.as_ref().is_some_and(|m| m.len() > 1))
        .collect();
    assert!(
        opens.len() <= most_open,
        "{} of {} are open: {opens:?}",
        opens.len(),
        rows.len()
    );
}

fn outcome_of(rows: &[(String, VerdictOutcome, Option<Vec<May>>)], name: &str) -> VerdictOutcome {
    rows.iter().find(|row| row.0 == name).unwrap().1
}

#[test]
fn application_classes_are_those_of_the_models() {
    let rows = compare("app-class", "raw-full");
    assert_true(&rows, 3);
    for (name, outcome) in [
        ("a1-32gb A1", VerdictOutcome::Pass),
        ("a1-32gb A2", VerdictOutcome::Fail),
        ("a2-64gb A1", VerdictOutcome::Pass),
        ("a2-64gb A2", VerdictOutcome::Pass),
        ("c10-16gb A1", VerdictOutcome::Fail),
        ("border-a1-32gb A1", VerdictOutcome::Borderline),
        ("border-a1-32gb A2", VerdictOutcome::Fail),
        ("border-a2-64gb A1", VerdictOutcome::Pass),
        ("border-a2-64gb A2", VerdictOutcome::Borderline),
        ("failing-32gb A1", VerdictOutcome::NotTestable),
        ("vanishing-32gb A1", VerdictOutcome::NotTestable),
        ("silent-32gb A1", VerdictOutcome::NotTestable),
    ] {
        assert_eq!(outcome_of(&rows, name), outcome, "{name}");
    }
}

#[test]
fn speed_classes_are_those_of_the_models() {
    let rows = compare("speed-class", "raw-full");
    assert_true(&rows, 14);
    for (name, outcome) in [
        ("a2-64gb V30", VerdictOutcome::Pass),
        ("a2-64gb V90", VerdictOutcome::Fail),
        ("c10-16gb C6", VerdictOutcome::Pass),
        ("border-v30-64gb V10", VerdictOutcome::Pass),
        ("border-v30-64gb V30", VerdictOutcome::Borderline),
        ("border-v30-64gb U3", VerdictOutcome::Borderline),
        ("border-v30-64gb V60", VerdictOutcome::Fail),
        ("border-c10-16gb C6", VerdictOutcome::Pass),
        ("border-c10-16gb C10", VerdictOutcome::Borderline),
        ("border-c10-16gb U3", VerdictOutcome::Fail),
        ("vanishing-32gb C2", VerdictOutcome::NotTestable),
    ] {
        assert_eq!(outcome_of(&rows, name), outcome, "{name}");
    }
}

/// The shorter tiers give the same verdicts on these models, whose rates are the same everywhere.
#[test]
fn shorter_tiers_say_the_same() {
    for (suite, tier) in [
        ("app-class", "raw-short"),
        ("app-class", "file"),
        ("speed-class", "raw-short"),
        ("speed-class", "file"),
    ] {
        assert_true(&compare(suite, tier), 17);
    }
}

/// A run may be stopped in any trial, and its record made at once or from its journal: missing measurements
/// have no verdict, and preparatory work is measured again.
#[test]
fn an_interrupted_procedure_has_no_verdict_and_begins_anew() {
    for (name, every) in [("app-class", ["A1", "A2"]), ("speed-class", ["C10", "V30"])] {
        let suite = cardmark_catalog::suite(name, None).unwrap();
        let model = Model::named("a2-64gb").unwrap();
        let planned = plan_for(&SimulatedCard::new(&model, SEED), &suite, "raw-short", &[]);
        for stopped in 0..planned.workloads.len() {
            let card = SimulatedCard::new(&model, SEED);
            let outcome = executed(&card, &planned, stopped);
            assert!(outcome.is_interrupted());
            assert_eq!(outcome.trials.len(), stopped + 1);
            let recovered = RunResult {
                trials: outcome.trials[..stopped].to_vec(),
                findings: vec![Finding::new(
                    FindingKind::Interrupted,
                    Severity::Error,
                    "the run ended without a word",
                )],
                ..RunResult::default()
            };
            for outcome in [outcome, recovered] {
                let record = judged(&card, &planned, &suite, outcome);
                for (class, outcome) in verdicts(&record) {
                    let can_fail = outcome == VerdictOutcome::Fail && class == "V60";
                    let is_asked = every.contains(&class.as_str());
                    let last = is_last_needed(&planned, &class, stopped);
                    assert!(
                        outcome == VerdictOutcome::NotTestable || last || can_fail || !is_asked,
                        "{class} after {stopped}: {outcome:?}"
                    );
                    assert_ne!(outcome, VerdictOutcome::Pass, "{class} after {stopped}");
                    if !last {
                        let passed = VerdictOutcome::LikelyPass;
                        assert_ne!(outcome, passed, "{class} after {stopped}");
                    }
                }
            }
            let asked = planned.workloads[stopped].id.clone();
            let first = &plan_for(&card, &suite, "raw-short", &[asked]).workloads[0];
            assert_eq!(first.manner.start, Start::Erased);
        }
    }
}

/// Returns whether everything that the class needs was complete before that trial.
fn is_last_needed(plan: &Plan, name: &str, stopped: usize) -> bool {
    let needed: &[&str] = match class(name).unwrap().family {
        ClassFamily::Application => &["app_seq_write"],
        ClassFamily::Video => &["class_seq_read"],
        _ => &["class_rand_read"],
    };
    let place = |id: &&str| plan.workloads.iter().position(|w| w.id == **id).unwrap();
    needed.iter().map(place).all(|place| place < stopped)
}

/// A trial in the middle that fails leaves those behind it without ground: nothing rests on them until
/// the card is erased again.
#[test]
fn after_a_failure_nothing_is_measured_without_preconditioning() {
    let suite = cardmark_catalog::suite("app-class", None).unwrap();
    let card = SimulatedCard::new(&Model::named("failing-32gb").unwrap(), SEED);
    let plan = plan_for(&card, &suite, "raw-short", &[]);
    let outcome = executed(&card, &plan, usize::MAX);
    let ids: Vec<&str> = outcome
        .trials
        .iter()
        .map(|t| t.workload.id.as_str())
        .collect();
    assert_eq!(ids, ["app_fill", "app_seq_fill"]);
}

/// The announced and the actual amount of writing agree, except for trials that last for a time.
#[test]
fn wear_is_told_before() {
    let suite = cardmark_catalog::suite("speed-class", None).unwrap();
    for tier in ["raw-short", "raw-full"] {
        let card = SimulatedCard::new(&Model::named("a1-32gb").unwrap(), SEED);
        let plan = plan_for(&card, &suite, tier, &[]);
        let outcome = executed(&card, &plan, usize::MAX);
        let record = judged(&card, &plan, &suite, outcome);
        assert_eq!(record.written_bytes, plan.wear().bytes);
    }
    let suite = cardmark_catalog::suite("app-class", None).unwrap();
    let card = SimulatedCard::new(&Model::named("a2-64gb").unwrap(), SEED);
    let plan = plan_for(&card, &suite, "raw-full", &[]);
    let outcome = executed(&card, &plan, usize::MAX);
    let record = judged(&card, &plan, &suite, outcome);
    let ratio = record.written_bytes as f64 / plan.wear().bytes as f64;
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
}

/// The slowest window of a run matches the model, and the interval reported with it holds the slowest window of
/// another run.
#[test]
fn the_slowest_window_is_where_the_model_puts_it() {
    let suite = cardmark_catalog::suite("speed-class", None).unwrap();
    for name in ["a1-32gb", "worn-32gb", "swaying-32gb", "c10-16gb"] {
        let model = Model::named(name).unwrap();
        let mut held = 0;
        let mut before: Option<(f64, f64)> = None;
        let runs_count = 60;
        for seed in 0..=runs_count {
            let card = SimulatedCard::new(&model, seed);
            let plan = plan_for(&card, &suite, "raw-short", &[]);
            let truth = Truth {
                card: &card,
                plan: &plan,
            };
            let window_bytes = plan.workloads[0].manner.window_bytes;
            let ends = truth.window("class_write", window_bytes).unwrap();
            let outcome = executed(&card, &plan, 1);
            let record = judged(&card, &plan, &suite, outcome);
            let metric = record.metric("class_worst_window").unwrap();
            let (low, high) = (metric.low.unwrap(), metric.high.unwrap());
            assert!(low <= metric.value && metric.value <= high);
            assert!(
                (ends.low..=ends.high).contains(&metric.value),
                "{name} {seed}: {} outside of {ends:?}",
                metric.value
            );
            // Between runs the card itself differs; the interval does not cover that.
            let factor = card.run_factor();
            if let Some((low, high)) = before {
                held += usize::from((low..=high).contains(&(metric.value / factor)));
            }
            before = Some((low / factor, high / factor));
        }
        assert!(held >= 52, "{name}: {held} of {runs_count}");
    }
}
