//! Reads across places, and on both sides of them.

use cardmark_core::{BoundaryTime, Rng};

use crate::{BLOCK_BYTES, Content, Extent, Held, Medium, Span, Trouble};

/// The least and the largest size, blocks: 16 KiB and 64 MiB.
const LEAST_BLOCKS: u64 = 32;
const MOST_BLOCKS: u64 = 131_072;
/// Places of each size.
const PLACES: u64 = 256;
/// Minimum number of places for a meaningful result.
const LEAST_PLACES: u64 = 24;
/// Half a read, blocks: 4 KiB.
const HALF_BLOCKS: u64 = 8;
/// A boundary is accepted if its explained part is at least this multiple of the square of its error. The best
/// of some twenty sizes is taken, so that chance makes 16 in one card of a thousand.
const LEAST_GAIN: f64 = 25.0;
/// Share of the sizes from the boundary on that must show at least half of it, give or take two errors.
const SHARE_SHOWING: f64 = 0.75;
/// The standard error of a median, as a multiple of that of a mean; and the standard deviation as a
/// multiple of the median absolute deviation, both for normal errors.
const MEDIAN_ERROR: f64 = 1.253;
const DEVIATION: f64 = 1.4826;

/// Times of the reads.
pub(super) struct Across {
    pub(super) read_blocks: u64,
    pub(super) read_ns: u64,
    pub(super) boundaries: Vec<BoundaryTime>,
}

/// One read.
#[derive(Clone, Copy)]
struct Look {
    size: usize,
    place: usize,
    /// 0: across; 1, 2: before and behind.
    side: usize,
    start: u64,
}

impl Across {
    /// Reads across and beside places of all sizes, in random order, so that neither preceding reads nor other
    /// disturbances affect a single size.
    pub(super) fn measure(
        medium: &mut impl Medium,
        seed: u64,
        tell: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, Trouble> {
        let half = HALF_BLOCKS.max(medium.grain_blocks());
        let mut rng = Rng::for_part(seed, "anatomy reads", 0);
        let sizes = sizes(medium.blocks_count(), half);
        let mut looks = looks(&sizes, medium.blocks_count(), half, &mut rng);
        shuffle(&mut looks, &mut rng);
        // These blocks were not written by us: their content is not checked.
        let content = Content { seed, round: 0 };
        let mut spans: Vec<Vec<[u64; 3]>> = sizes
            .iter()
            .map(|_| vec![[0; 3]; usize::try_from(PLACES).unwrap_or(0)])
            .collect();
        let wanted = looks.len() as u64;
        for (done, look) in (1..).zip(looks) {
            let answer = medium.read(Span::new(look.start, 2 * half), content)?;
            // Retries take long and carry no information about boundaries.
            let is_bad = |run: &Extent| matches!(run.held, Held::Unreadable { .. });
            if !answer.runs.iter().any(is_bad) {
                spans[look.size][look.place][look.side] = answer.span_ns;
            }
            tell(done, wanted);
        }
        let mut beside: Vec<f64> = Vec::new();
        let mut boundaries = Vec::new();
        for (&size, spans) in sizes.iter().zip(&spans) {
            let read: Vec<[f64; 3]> = spans
                .iter()
                .filter(|spans| !spans.contains(&0))
                .map(|spans| spans.map(|span_ns| span_ns as f64))
                .collect();
            if (read.len() as u64) < LEAST_PLACES {
                continue;
            }
            beside.extend(read.iter().flat_map(|spans| &spans[1..]));
            boundaries.push(boundary(size, &read));
        }
        Ok(Self {
            read_blocks: 2 * half,
            read_ns: to_ns(median(&mut beside)),
            boundaries,
        })
    }
}

/// Returns the sizes, rising: powers of two and three times powers of two with enough places.
fn sizes(blocks_count: u64, half: u64) -> Vec<u64> {
    let powers = (0..64).map(|power| 1 << power);
    let mut sizes: Vec<u64> = powers
        .flat_map(|power: u64| [power, power.saturating_mul(3)])
        .filter(|&size| (LEAST_BLOCKS.max(4 * half)..=MOST_BLOCKS).contains(&size))
        .filter(|&size| places_count(size, blocks_count) >= LEAST_PLACES)
        .collect();
    sizes.sort_unstable();
    sizes
}

/// Returns the number of odd multiples of a size that are no multiples of three times it.
fn places_count(size: u64, blocks_count: u64) -> u64 {
    blocks_count.saturating_sub(size) / size / 6 * 2
}

/// The place of that number: 1, 5, 7, 11, 13 … times the size.
fn place(size: u64, number: u64) -> u64 {
    (number / 2 * 6 + [1, 5][usize::from(!number.is_multiple_of(2))]) * size
}

fn looks(sizes: &[u64], blocks_count: u64, half: u64, rng: &mut Rng) -> Vec<Look> {
    let mut looks = Vec::new();
    for (index, &size) in sizes.iter().enumerate() {
        let count = places_count(size, blocks_count);
        let wanted = count.min(PLACES);
        for number in 0..wanted {
            // One of each part, so that they spread over the storage.
            let (low, high) = (number * count / wanted, (number + 1) * count / wanted);
            let at = place(size, low + rng.below(high - low));
            for (side, start) in [at - half, at - 2 * half, at].into_iter().enumerate() {
                looks.push(Look {
                    size: index,
                    place: usize::try_from(number).unwrap_or(0),
                    side,
                    start,
                });
            }
        }
    }
    looks
}

fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for index in (1..items.len()).rev() {
        let other = usize::try_from(rng.below(index as u64 + 1)).unwrap_or(index);
        items.swap(index, other);
    }
}

fn boundary(size: u64, read: &[[f64; 3]]) -> BoundaryTime {
    let differences = read
        .iter()
        .map(|[across, before, behind]| across - (before + behind) / 2.0);
    let mut differences: Vec<f64> = differences.collect();
    let more = median(&mut differences);
    let mut off: Vec<f64> = differences
        .iter()
        .map(|value| (value - more).abs())
        .collect();
    let error = MEDIAN_ERROR * DEVIATION * median(&mut off) / (read.len() as f64).sqrt();
    BoundaryTime {
        size_bytes: size * BLOCK_BYTES as u64,
        places_count: u32::try_from(read.len()).unwrap_or(u32::MAX),
        more_ns: to_ns(more.abs()).cast_signed() * if more < 0.0 { -1 } else { 1 },
        error_ns: to_ns(error).max(1),
    }
}

/// Returns the least size across whose multiples reads take longer, bytes, and the extra time.
///
/// A boundary at the multiples of a size is also one at the multiples of its multiples: a power of two shows at
/// all sizes from it on, three times a power of two only at those of its own kind. If both explain the result,
/// the better explanation counts. On many cards a read across anything takes longer than one within a page, so
/// that a boundary is judged by the distance of its multiples from all other sizes.
pub(super) fn found_boundary(boundaries: &[BoundaryTime]) -> Option<(u64, u64)> {
    let explained = boundaries.iter().filter_map(|begin| {
        let is_showing = |time: &&BoundaryTime| time.size_bytes.is_multiple_of(begin.size_bytes);
        let (showing, others): (Vec<_>, Vec<_>) = boundaries.iter().partition(is_showing);
        let (gain, more) = gain(&showing, &others)?;
        Some((gain, begin.size_bytes, more))
    });
    let best = explained.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= LEAST_GAIN).then(|| (best.1, to_ns(best.2)))
}

/// Returns the part that a common difference of these explains beyond that of the others, and the difference;
/// `None` without a difference.
fn gain(showing: &[&BoundaryTime], others: &[&BoundaryTime]) -> Option<(f64, f64)> {
    let (more, weight) = mean(showing)?;
    // Without others every size shows it; then it is no boundary, but the cost of any read across one.
    let (base, base_weight) = mean(others)?;
    let above = more - base;
    let agreeing = showing
        .iter()
        .filter(|time| time.more_ns as f64 + 2.0 * time.error_ns as f64 >= base + above / 2.0);
    let share = agreeing.count() as f64 / showing.len() as f64;
    let harmonic = weight * base_weight / (weight + base_weight);
    (above > 0.0 && more > 0.0 && share >= SHARE_SHOWING)
        .then_some((above * above * harmonic, more))
}

/// The mean of differences, weighted by their errors, and the sum of the weights.
fn mean(times: &[&BoundaryTime]) -> Option<(f64, f64)> {
    let weight = |time: &BoundaryTime| (time.error_ns as f64).powi(-2);
    let weights: f64 = times.iter().map(|time| weight(time)).sum();
    let sum: f64 = times
        .iter()
        .map(|time| weight(time) * time.more_ns as f64)
        .sum();
    (!times.is_empty()).then(|| (sum / weights, weights))
}

/// The median; 0 of nothing.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        count if count % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "spans are positive and far below 2^53 ns; the cast saturates"
)]
pub(super) fn to_ns(span_ns: f64) -> u64 {
    (span_ns + 0.5) as u64
}
