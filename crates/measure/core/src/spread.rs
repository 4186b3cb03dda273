//! Places spread evenly over an object, visited so that time is not mistaken for place.

use crate::Workload;

/// Places that [`Order::Spread`](crate::Order::Spread) visits: one a round.
pub const SPREAD_PLACES_COUNT: u32 = 64;

/// Returns the place that a round visits, 0 to 63 by rising offset. Its bits are those of the round in reverse
/// order: 0, 32, 16, 48 and so on, so that any number of rounds is spread over the whole and changes over time
/// show as noise, not as a slope.
pub fn spread_place(round_index: u32) -> u32 {
    (round_index % SPREAD_PLACES_COUNT).reverse_bits() >> (32 - SPREAD_PLACES_COUNT.ilog2())
}

/// The first block of a round of such a workload: the first place begins at 0, the last one ends
/// with the span.
pub fn spread_start(workload: &Workload, round_index: u32) -> u64 {
    let blocks = workload.stop.most_bytes.unwrap_or(0) / workload.block_bytes.max(1);
    let last = workload.blocks_count().saturating_sub(blocks);
    let share = u128::from(last) * u128::from(spread_place(round_index));
    u64::try_from(share / u128::from(SPREAD_PLACES_COUNT - 1)).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_visit_every_place_once_and_halve_what_is_left() {
        let places: Vec<u32> = (0..SPREAD_PLACES_COUNT).map(spread_place).collect();
        assert_eq!(places[..5], [0, 32, 16, 48, 8]);
        let mut sorted = places.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..SPREAD_PLACES_COUNT));
        assert_eq!(spread_place(SPREAD_PLACES_COUNT + 1), spread_place(1));
    }
}
