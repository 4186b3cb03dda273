//! Programs behind `BENCHMARKS.md`.

use cardmark_core::{Record, Suite};
use cardmark_engine::{Event, Observer, Place, Ports, Pulse, Request, execute, make_plan, record};
use cardmark_sim::SimulatedCard;

/// Limit for an answer, nanoseconds: that of the program.
const LIMIT_NS: u64 = 30_000_000_000;

/// Hears nothing.
struct Deaf;

impl Observer for Deaf {
    fn event(&mut self, _: &Event<'_>) {}
}

/// The record of one run on a simulated card, as the program makes it, under this head.
///
/// # Errors
/// When the suite does not fit on the card.
pub fn simulate(
    card: &SimulatedCard,
    suite: &Suite,
    seed: u64,
    place: Place,
    head: Record,
) -> Result<Record, String> {
    let request = Request {
        seed,
        limit_ns: LIMIT_NS,
        passes_count: None,
        ..Request::default()
    };
    let plan = make_plan(suite, &request, place).map_err(|error| error.to_string())?;
    let (mut backend, mut clock, mut sensors) = card.ports();
    let pulse = Pulse::new();
    let ports = Ports {
        backend: &mut backend,
        clock: &mut clock,
        sensors: &mut sensors,
        observer: &mut Deaf,
        pulse: &pulse,
    };
    Ok(record(head, execute(&plan, ports), suite))
}
