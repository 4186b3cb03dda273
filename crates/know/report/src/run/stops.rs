//! Stops of a run in words.

use cardmark_core::SECOND_NS;
use cardmark_stats::{Stopping, Stops};

use crate::text::span;

/// Number of stops from which a frequency is known within a factor of about 2.5 (Garwood).
const LEAST_FOR_FREQUENCY: u64 = 5;
/// Share of the run below which its stops were a passing trouble: five stops at random are so close together in 5 % of
/// runs.
const PASSING_RATIO: f64 = 1.0 / 3.0;

/// `stops for up to 1.5 s about every 20 s`; of few stops their number: `stops for 1.5 s (once in 89 s)`.
pub(crate) fn words(stops: &Stops) -> String {
    let length = span(stops.longest_ns);
    let run = span(stops.run_ns);
    let is_passing = (stops.within_ns as f64) < PASSING_RATIO * stops.run_ns as f64;
    match stops.count {
        0 | 1 => format!("stops for {length} (once in {run})"),
        2 => format!("stops for up to {length} (twice in {run})"),
        few @ 3..LEAST_FOR_FREQUENCY => {
            format!("stops for up to {length} ({few} times in {run})")
        }
        count if is_passing => {
            let within = span(stops.within_ns.max(SECOND_NS));
            format!("stops for up to {length} ({count} times within {within} of {run})")
        }
        count => {
            let every = every(stops.observed_ns / count);
            let what = match stops.on {
                Stopping::Reads => " of reading",
                Stopping::Writes => " of writing",
                Stopping::All => "",
            };
            format!("stops for up to {length} about {every}{what}")
        }
    }
}

/// `every 4 s`, `every 20 s`, `once a minute`, `every 3 minutes`.
fn every(interval_ns: u64) -> String {
    let seconds = (interval_ns as f64 / SECOND_NS as f64).max(1.0);
    match seconds {
        ..1.5 => "once a second".to_owned(),
        ..9.5 => format!("every {seconds:.0} s"),
        ..52.5 => format!("every {:.0} s", 5.0 * (seconds / 5.0).round()),
        ..90.0 => "once a minute".to_owned(),
        _ => format!("every {:.0} minutes", seconds / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: u64, on: Stopping, observed_s: u64, within_s: u64) -> String {
        words(&Stops {
            on,
            count,
            longest_ns: 1_500_000_000,
            observed_ns: observed_s * SECOND_NS,
            within_ns: within_s * SECOND_NS,
            run_ns: 90 * SECOND_NS,
        })
    }

    #[test]
    fn a_frequency_is_named_from_five_stops_on() {
        let all = Stopping::All;
        assert_eq!(of(1, all, 80, 0), "stops for 1.5 s (once in 1 min 30 s)");
        let twice = "stops for up to 1.5 s (twice in 1 min 30 s)";
        assert_eq!(of(2, all, 80, 41), twice);
        let few = "stops for up to 1.5 s (4 times in 1 min 30 s)";
        assert_eq!(of(4, all, 80, 60), few);
        let often = "stops for up to 1.5 s about every 15 s";
        assert_eq!(of(5, all, 80, 60), often);
        let rarely = "stops for up to 1.5 s about once a minute";
        assert_eq!(of(5, all, 320, 80), rarely);
        let writing = "stops for up to 1.5 s about every 4 s of writing";
        assert_eq!(of(10, Stopping::Writes, 40, 80), writing);
        let reading = "stops for up to 1.5 s about once a second of reading";
        assert_eq!(of(40, Stopping::Reads, 40, 80), reading);
        let minutes = "stops for up to 1.5 s about every 3 minutes";
        assert_eq!(of(10, all, 1800, 80), minutes);
    }

    #[test]
    fn stops_in_a_small_part_of_the_run_are_no_frequency() {
        let passing = "stops for up to 1.5 s (7 times within 12 s of 1 min 30 s)";
        assert_eq!(of(7, Stopping::All, 80, 12), passing);
    }
}
