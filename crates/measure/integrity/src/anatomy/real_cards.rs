//! The rules on flashbench's tables of real cards (`fixtures/wirenboard`, MIT licence beside them).

use std::collections::BTreeMap;

use cardmark_core::{BoundaryTime, TurnTime, UnitStep};

use super::boundary::{found_boundary, median, to_ns};
use super::turns::{WRITE_BLOCKS, found_open};
use crate::BLOCK_BYTES;

const OPEN: &str = include_str!("../../fixtures/wirenboard/open-au.csv");
const ALIGN: &str = include_str!("../../fixtures/wirenboard/align.csv");

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split(',').collect())
}

/// Returns the results of the sessions with this order of 64 KiB: the last number of units before a step with
/// the number of sessions that have it, and the factors, by size.
fn steps(order: &str) -> (BTreeMap<Option<u32>, u32>, Vec<f64>) {
    let (mut counts, mut factors) = (BTreeMap::new(), Vec::new());
    let bytes = (WRITE_BLOCKS * BLOCK_BYTES as u64) as f64;
    for row in rows(OPEN).filter(|row| row[1] == order && row[2] == "64KiB") {
        let rates = row[6..].iter().filter_map(|text| text.parse::<f64>().ok());
        let turns: Vec<TurnTime> = (1..)
            .zip(rates)
            .map(|(units_count, kib_per_s)| {
                let write_ns = to_ns(bytes / 1024.0 / kib_per_s * 1e9);
                TurnTime {
                    units_count,
                    write_ns,
                    min_ns: write_ns,
                    max_ns: write_ns,
                }
            })
            .collect();
        let open = found_open(&turns).unwrap();
        let step = UnitStep::of(open, &turns);
        let last = step.map(|_| open.min_count);
        *counts.entry(last).or_insert(0) += 1;
        factors.extend(step.map(|step| (step.factor(), step.is_cliff())));
    }
    factors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let cliffs = factors.iter().filter(|(_, is_cliff)| *is_cliff).count();
    let soft = factors.iter().filter(|&&(factor, _)| factor < 5.0).count();
    assert_eq!(cliffs + soft, factors.len());
    (
        counts,
        factors.into_iter().map(|(factor, _)| factor).collect(),
    )
}

// The counts are those of another program over the same tables, by the rule's wording.

#[test]
fn linear_writes_of_37_sessions_show_two_kinds_of_step() {
    let (counts, factors) = steps("linear");
    let expected = [
        (None, 19),
        (Some(1), 1),
        (Some(3), 9),
        (Some(4), 5),
        (Some(6), 3),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
    let (soft, cliffs) = factors.split_at(5);
    assert!(soft[0] > 1.6 && soft[4] < 3.2, "{soft:?}");
    assert!(
        cliffs.len() == 13 && cliffs[0] > 6.5 && cliffs[12] < 83.0,
        "{cliffs:?}"
    );
}

#[test]
fn random_writes_of_32_sessions_show_two_kinds_of_step() {
    let (counts, factors) = steps("random");
    let expected = [
        (None, 15),
        (Some(2), 1),
        (Some(3), 7),
        (Some(4), 4),
        (Some(5), 1),
        (Some(6), 4),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
    let (soft, cliffs) = factors.split_at(10);
    assert!(soft[9] < 3.8 && cliffs[0] > 9.0, "{factors:?}");
}

/// Returns by session: for each size that anatomy tests, the difference and its error from three repeats.
fn sessions() -> BTreeMap<&'static str, Vec<BoundaryTime>> {
    let mut found: BTreeMap<&str, BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
    for row in rows(ALIGN) {
        let size: u64 = row[2].parse().unwrap();
        let (Ok(us), true) = (row[3].parse::<f64>(), (16_384..=64 << 20).contains(&size)) else {
            continue;
        };
        found
            .entry(row[0])
            .or_default()
            .entry(size)
            .or_default()
            .push(us * 1e3);
    }
    let times = |sizes: BTreeMap<u64, Vec<f64>>| {
        let errors = sizes.values().map(|spans| {
            let mean = spans.iter().sum::<f64>() / spans.len() as f64;
            spans.iter().map(|ns| (ns - mean).powi(2)).sum::<f64>()
        });
        let freedom: usize = sizes.values().map(|spans| spans.len() - 1).sum();
        let deviation = (errors.sum::<f64>() / freedom.max(1) as f64).sqrt();
        let time = |(size_bytes, mut spans): (u64, Vec<f64>)| {
            let more = median(&mut spans);
            BoundaryTime {
                size_bytes,
                places_count: u32::try_from(spans.len()).unwrap(),
                more_ns: to_ns(more.abs()).cast_signed() * if more < 0.0 { -1 } else { 1 },
                error_ns: to_ns(deviation / (spans.len() as f64).sqrt()).max(1),
            }
        };
        sizes.into_iter().map(time).collect()
    };
    found
        .into_iter()
        .map(|(name, sizes)| (name, times(sizes)))
        .collect()
}

#[test]
fn boundaries_of_47_sessions_are_mostly_those_of_4_mib() {
    let mut counts: BTreeMap<Option<u64>, u32> = BTreeMap::new();
    for times in sessions().into_values() {
        let found = found_boundary(&times).map(|(size_bytes, _)| size_bytes >> 10);
        *counts.entry(found).or_default() += 1;
    }
    // Another rule, of two means over all splits by size, found 34 of 4 MiB, 2 of 8 MiB, 1 of 1 MiB and
    // none within this range in 10. A read across anything takes longer than one within a page on
    // most of these cards; that must not count as a boundary of 16 KiB.
    let of = |kib: Option<u64>| counts.get(&kib).copied().unwrap_or(0);
    assert!((32..=36).contains(&of(Some(4096))), "{counts:?}");
    assert_eq!(of(Some(8192)), 2, "{counts:?}");
    assert_eq!(of(Some(16)), 0, "{counts:?}");
    assert_eq!(counts.values().sum::<u32>(), 47);
}
