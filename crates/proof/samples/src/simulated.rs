//! Runs of simulated cards, with figures, findings and verdicts as the program derives them.

use cardmark_core::{METHOD, Origin, OriginKind, Record, Target, TargetKind, simulated_run_id};
use cardmark_engine::{
    Event, Observer, Ports, Pulse, Request, TargetRoom, execute, make_plan, record,
};
use cardmark_judge::{advise, judge, notice};
pub use cardmark_sim::Model;
use cardmark_sim::SimulatedCard;

struct Nobody;

impl Observer for Nobody {
    fn event(&mut self, _: &Event<'_>) {}
}

/// Limit for an answer, nanoseconds: that of the program.
const LIMIT_NS: u64 = 30_000_000_000;

/// Returns the run of a suite on a simulated card with this seed.
#[must_use]
pub fn simulated(model: &Model, suite: &str, seed: u64) -> Record {
    let suite = cardmark_catalog::suite(suite, None).unwrap();
    let card = SimulatedCard::new(model, seed);
    let request = Request {
        seed,
        limit_ns: LIMIT_NS,
        ..Request::default()
    };
    let room = TargetRoom::disk(TargetKind::Sim, card.capacity_bytes());
    let plan = make_plan(&suite, &request, room).unwrap();
    let name = model.name_on_board();
    let id = simulated_run_id(&[&name, &suite.name, &seed.to_string()]);
    let mut header = Record::new(id, Origin::of(OriginKind::Simulated));
    header.origin.source = Some(name);
    header.method = Some(METHOD);
    header.seed = Some(format!("{seed:016x}"));
    header.suite = Some(plan.suite_ref.clone());
    header.target = Some(Target {
        span_bytes: plan.suite.file_bytes,
        ..Target::of(TargetKind::Sim)
    });
    header.devices = vec![card.device()];
    header.board = Some(card.board());
    header.host = Some(card.host());
    let (mut backend, mut clock, mut sensors) = card.ports();
    let ports = Ports {
        backend: &mut backend,
        clock: &mut clock,
        sensors: &mut sensors,
        observer: &mut Nobody,
        pulse: &Pulse::new(),
    };
    let outcome = execute(&plan, ports);
    let mut run = record(header, outcome, &suite);
    notice(&mut run);
    run.derived = judge(&run, Some(&suite));
    advise(&mut run);
    run
}
