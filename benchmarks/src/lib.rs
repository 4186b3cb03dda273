//! Programs behind `BENCHMARKS.md`.

#![allow(clippy::print_stderr, reason = "programs for the hand")]

pub mod poisson;

use std::process::ExitCode;
use std::str::FromStr;

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

/// The argument of that index as a number, or another where there is none.
///
/// # Errors
/// The argument, where it is no number.
pub fn number<T: FromStr>(index: usize, otherwise: T) -> Result<T, String> {
    let word = std::env::args().nth(index + 1);
    word.map_or(Ok(otherwise), |word| word.parse().map_err(|_| word))
}

/// How a program ends whose table kept to its goals, or did not.
#[must_use]
pub fn ended(table: Result<bool, String>) -> ExitCode {
    match table {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
