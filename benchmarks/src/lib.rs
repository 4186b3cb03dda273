//! Programs behind `BENCHMARKS.md`.

#![allow(clippy::print_stderr, reason = "programs for the hand")]

pub mod claim;
pub mod course;
pub mod drawn;
pub mod forgery;
pub mod hostile;
pub mod poisson;
pub mod reach;
pub mod share;

use std::process::ExitCode;
use std::str::FromStr;

use cardmark_core::{Origin, OriginKind, Record, Rng, Suite, TargetKind, simulated_run_id};
use cardmark_engine::{
    Event, Observer, Ports, Pulse, Request, TargetRoom, execute, make_plan, record,
};
use cardmark_sim::{Model, SimulatedCard};

use crate::hostile::{Hostile, Process, Running};

/// Maximum latency before a device counts as not answering, nanoseconds; the same as in the program.
const LIMIT_NS: u64 = 30_000_000_000;

/// Ignores all events.
pub struct Deaf;

impl Observer for Deaf {
    fn event(&mut self, _: &Event<'_>) {}
}

/// Draws a number from the standard normal distribution (Box and Muller 1958).
pub fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// Returns the record of one run on a card of this model, with an id from model and seed.
///
/// # Errors
/// If the suite does not fit on the card.
pub fn simulated_run(model: &Model, suite: &Suite, seed: u64) -> Result<Record, String> {
    let card = SimulatedCard::new(model, seed);
    let place = TargetRoom::disk(TargetKind::Sim, card.capacity_bytes());
    let id = simulated_run_id(&[model.name(), &seed.to_string()]);
    let head = Record::new(id, Origin::of(OriginKind::Simulated));
    simulate(&card, suite, seed, place, head)
}

/// Returns the record of one run on a simulated card, as the program creates it, with this header.
///
/// # Errors
/// If the suite does not fit on the card.
pub fn simulate(
    card: &SimulatedCard,
    suite: &Suite,
    seed: u64,
    place: TargetRoom,
    head: Record,
) -> Result<Record, String> {
    simulate_under(card, suite, (seed, place), head, Process::Calm, &mut Deaf)
}

/// As [`simulate`], with seed and place, under a process, and with an observer.
///
/// # Errors
/// If the suite does not fit on the card.
pub fn simulate_under(
    card: &SimulatedCard,
    suite: &Suite,
    (seed, place): (u64, TargetRoom),
    head: Record,
    process: Process,
    observer: &mut impl Observer,
) -> Result<Record, String> {
    let request = Request {
        seed,
        limit_ns: LIMIT_NS,
        passes_count: None,
        ..Request::default()
    };
    let plan = make_plan(suite, &request, place).map_err(|error| error.to_string())?;
    let (backend, mut clock, mut sensors) = card.ports();
    let (_, beside, _) = card.ports();
    let mut backend = Hostile::new(backend, beside, Running::new(process, seed));
    let pulse = Pulse::new();
    let ports = Ports {
        backend: &mut backend,
        clock: &mut clock,
        sensors: &mut sensors,
        observer,
        pulse: &pulse,
    };
    Ok(record(head, execute(&plan, ports), suite))
}

/// Returns the argument of this index as a number, or a default if it is missing.
///
/// # Errors
/// The argument, if it is not a number.
pub fn number<T: FromStr>(index: usize, otherwise: T) -> Result<T, String> {
    let word = std::env::args().nth(index + 1);
    word.map_or(Ok(otherwise), |word| word.parse().map_err(|_| word))
}

/// Exit status of a program: success if its table met all goals.
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
