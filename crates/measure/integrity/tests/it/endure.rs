//! Endure: end conditions and milestones.

use cardmark_integrity::{Endure, EndureEnd, Medium};
use cardmark_sim::{Model, SimMedium};

fn endured(model: &Model, end: EndureEnd) -> Endure {
    let mut medium = SimMedium::new(model, 2);
    let mut endure = Endure::new(medium.blocks_count(), 4, end);
    while !endure.is_done() {
        endure.advance(&mut medium).unwrap();
    }
    endure
}

const UNTIL_HALF: EndureEnd = EndureEnd {
    bad_share: 0.5,
    most_bytes: None,
    most_cycles: None,
};

/// Half of the spots of this card last 100 cycles; the logarithm of that has a deviation of 0.3. That one in a
/// thousand is bad comes 3.1 deviations earlier in a normal distribution, and at 2.4 here.
#[test]
fn milestones_come_when_the_model_has_them() {
    let model = Model::named("wearing-1gb").unwrap().scaled(4);
    let endure = endured(&model, UNTIL_HALF);
    let shares: Vec<f64> = endure.milestones().iter().map(|m| m.bad_ratio).collect();
    assert_eq!(shares, [0.0, 0.001, 0.01, 0.1, 0.25, 0.5]);
    let cycles: Vec<u32> = endure.milestones().iter().map(|m| m.cycles_count).collect();
    assert!(cycles.is_sorted(), "{cycles:?}");
    assert!((95..=106).contains(&cycles[5]), "{cycles:?}");
    // A tenth: 1.3 deviations below the median.
    assert!((62..=74).contains(&cycles[3]), "{cycles:?}");
    assert!(endure.bad_blocks() * 2 >= model.capacity_bytes() / 512);
    let per_cycle = endure.written_bytes() / u64::from(endure.cycles());
    assert_eq!(per_cycle, model.capacity_bytes());
}

#[test]
fn it_ends_where_it_was_told_to() {
    let model = Model::named("wearing-1gb").unwrap().scaled(16);
    let first = endured(
        &model,
        EndureEnd {
            bad_share: 0.0,
            ..UNTIL_HALF
        },
    );
    assert_eq!(first.milestones()[0].cycles_count, first.cycles());
    let budget = 10 * model.capacity_bytes() + 5;
    let spent = endured(
        &model,
        EndureEnd {
            most_bytes: Some(budget),
            ..UNTIL_HALF
        },
    );
    assert_eq!(spent.cycles(), 10);
    assert_eq!(spent.bad_blocks(), 0);
    let cycles = endured(
        &model,
        EndureEnd {
            most_cycles: Some(3),
            ..UNTIL_HALF
        },
    );
    assert_eq!(cycles.cycles(), 3);
}

/// Half of the spots of this card last 120 days; the logarithm of that has a deviation of 0.3.
#[test]
fn what_is_forgotten_in_a_rest_is_found() {
    let model = Model::named("fading-1gb").unwrap();
    let blocks_count = model.capacity_bytes() / 512;
    for (days, least, most) in [(30.0, 0.0, 0.0), (120.0, 0.48, 0.52), (400.0, 1.0, 1.0)] {
        let mut medium = SimMedium::new(&model, 2);
        let once = EndureEnd {
            most_cycles: Some(1),
            ..UNTIL_HALF
        };
        let mut endure = Endure::new(medium.blocks_count(), 4, once);
        while !endure.is_done() {
            endure.advance(&mut medium).unwrap();
        }
        assert_eq!(endure.bad_blocks(), 0);
        medium.rest(days);
        let mut again = endure.verify().again();
        while !again.is_done() {
            again.advance(&mut medium).unwrap();
        }
        assert_eq!(again.written_blocks(), 0);
        let faded = again.surface().bad_since(endure.verify().surface());
        let share = faded as f64 / blocks_count as f64;
        assert!((least..=most).contains(&share), "{days}: {share}");
        // Data written again is kept again.
        let mut next = Endure::new(medium.blocks_count(), 5, once);
        while !next.is_done() {
            next.advance(&mut medium).unwrap();
        }
        assert_eq!(next.bad_blocks(), 0, "{days}");
    }
}
