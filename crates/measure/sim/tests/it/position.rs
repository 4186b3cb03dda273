//! The suite `position` on simulated cards: it finds the part that is read slowly, and nowhere else.

use cardmark_core::{Record, SPREAD_PLACES_COUNT, TargetKind, spread_start};
use cardmark_engine::{Request, TargetRoom, record};
use cardmark_sim::{Model, SimulatedCard};

use crate::support::{executed, head};

/// The record of a run that may not write.
fn measured(name: &str, seed: u64) -> Record {
    let card = SimulatedCard::new(&Model::named(name).unwrap(), seed);
    let suite = cardmark_catalog::suite("position", None).unwrap();
    let request = Request {
        seed,
        read_only: true,
        ..Request::default()
    };
    assert!(!request.writes(&suite));
    let place = TargetRoom::disk(TargetKind::Device, card.capacity_bytes());
    let (_, outcome) = executed(&card, &suite, request, place);
    record(head(), outcome, &suite)
}

/// Start and rate of each place, by rising start.
fn places(record: &Record) -> Vec<(u64, f64)> {
    let mut places: Vec<(u64, f64)> = record
        .trials
        .iter()
        .map(|trial| {
            let start = spread_start(&trial.workload, trial.round_index) << 20;
            (start, trial.bytes() as f64 * 1e9 / trial.span_ns as f64)
        })
        .collect();
    places.sort_by_key(|place| place.0);
    places
}

#[test]
fn the_part_that_is_read_slowly_is_found_and_no_other() {
    let record = measured("patchy-32gb", 3);
    let places = places(&record);
    assert_eq!(places.len(), SPREAD_PLACES_COUNT as usize);
    assert_eq!(places[0].0, 0);
    let last_end = places[63].0 + (16 << 20);
    assert!(32_010_928_128 - last_end < 1 << 20, "{last_end}");
    let step = (places[1].0 - places[0].0) as f64;
    for (start, rate) in places {
        let is_weak = (16_000_000_000..24_000_000_000 - (16 << 20)).contains(&start);
        let is_between = (16_000_000_000 - (16 << 20)..24_000_000_000).contains(&start);
        assert!(is_weak == is_between, "a place lies on a border: {start}");
        let expected = if is_weak { 22.0e6 } else { 88.0e6 };
        assert!((rate / expected - 1.0).abs() < 0.1, "{start}: {rate}");
    }
    assert!((step / 508e6 - 1.0).abs() < 0.01, "{step}");
    let slowest = record.metric("position_read_min").unwrap();
    assert!((slowest.value / 22.0e6 - 1.0).abs() < 0.1);
    assert_eq!(slowest.low, None);
}

#[test]
fn nothing_is_written_and_an_even_card_reads_alike_everywhere() {
    let record = measured("a1-32gb", 1);
    assert_eq!(record.written_bytes, 0);
    let rates: Vec<f64> = places(&record).into_iter().map(|place| place.1).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(most / least < 1.1, "{least} {most}");
    let rate = record.metric("position_read").unwrap();
    assert!(rate.low.unwrap() < rate.value && rate.value < rate.high.unwrap());
}
