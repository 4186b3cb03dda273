//! Runs of devices: what is read, what is not written, and a rate that is known.

use cardmark_core::{FindingKind, MIB, Order};
use cardmark_report::survey_charts;
use cardmark_session::Exit;
use cardmark_testkit::{RateCap, needs};

use crate::card::Card;
use crate::run::{QUICKEST, Run, finding};

const CAP_BYTES_PER_S: u64 = 4_000_000;
/// Tolerance around the cap: wide, as a run of `quick` is short next to the kernel's slices of 100 ms;
/// `benchmarks/known-truth` is strict.
const MARGIN: f64 = 0.1;
/// Number of runs; one of them must reach the cap.
const ATTEMPTS_COUNT: usize = 8;

#[test]
fn a_device_is_read_at_64_places_without_asking() {
    needs!(Root, LoopDevice);
    let card = Card::new(1100 * MIB);
    let ended = Run::of(card.name()).suite("position").execute(&card.world);
    ended.assert_exit(Exit::Done);
    let record = ended.record();
    assert_eq!((record.trials.len(), record.written_bytes), (64, 0));
    let mut trials = record.trials.iter();
    assert!(trials.all(|t| t.workload.order == Order::Spread && t.bytes() == 16 * MIB));
    let counters = record
        .trials
        .iter()
        .filter_map(|trial| trial.device_counters);
    let counted: u64 = counters.map(|counters| counters.read_bytes).sum();
    assert!(counted >= 1024 * MIB, "{counted}");
    let mut charts = survey_charts(&[card.world.kept()]).into_iter();
    let title = "Sequential read over the place";
    assert!(charts.any(|chart| chart.heading().title.contains(title)));
    assert!(card.is_untouched());
}

#[test]
fn a_device_that_would_be_written_is_not_without_consent() {
    needs!(Root, LoopDevice);
    let card = Card::sparse(4200 * MIB);
    let run = Run::of(card.name()).suite("sustained");
    let ended = card.device.unwritten(|_| run.execute(&card.world));
    let parts = ["there is no terminal to confirm", "nothing was written"];
    ended.assert_error(Exit::Refused, &parts);
    card.world.assert_nothing_kept();
}

/// The kernel caps its rate.
#[test]
fn a_capped_device_reads_at_its_cap() {
    needs!(Root, LoopDevice, Blkio);
    let card = Card::sparse(320 * MIB);
    let _cap = RateCap::on(&card.device, CAP_BYTES_PER_S);
    let run = Run::of(card.name()).only(&[QUICKEST]).read_only();
    // A busy machine can only make it slower, and not every time.
    let reaches_cap = (0..ATTEMPTS_COUNT).any(|_| {
        let ended = run.execute(&card.world);
        ended.assert_exit(Exit::Done);
        let record = ended.record();
        let metric = record.metric(QUICKEST).unwrap();
        let ratio = metric.rate_bytes_per_s.unwrap() / CAP_BYTES_PER_S as f64;
        assert!(
            ratio < 1.0 + MARGIN,
            "faster than the kernel allows: {ratio}"
        );
        assert!(finding(record, FindingKind::NotReached).is_none());
        assert!(finding(record, FindingKind::SharedDevice).is_none());
        ratio > 1.0 - MARGIN
    });
    assert!(reaches_cap, "slower than the cap in {ATTEMPTS_COUNT} runs");
}
