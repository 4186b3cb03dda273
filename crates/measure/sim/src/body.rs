//! The distribution of ordinary latencies: lognormal, cut off at its far ends, with mean one.
//!
//! It is kept as a table of quantiles between which we go in straight lines. The table *is* the
//! distribution: its mean and its quantiles are exact, and a draw costs a few nanoseconds.

use cardmark_core::Rng;

/// Binary logarithm of the number of cells.
const CELL_BITS: u32 = 10;
/// Number of cells.
const CELLS: usize = 1 << CELL_BITS;
/// Cut-off of the tails: about 3.5 standard deviations.
const END: f64 = 1.0 / 4096.0;

/// Table of quantiles at equal steps of probability.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    quantiles: Box<[f64; CELLS + 1]>,
}

impl Body {
    /// A body with this coefficient of variation (before the cut).
    pub(crate) fn new(variation: f64) -> Self {
        let deviation = libm::sqrt(libm::log1p(variation * variation));
        let mut quantiles = Box::new([0.0; CELLS + 1]);
        for (index, quantile) in quantiles.iter_mut().enumerate() {
            let share = (index as f64 / CELLS as f64).clamp(END, 1.0 - END);
            *quantile = libm::exp(deviation * inverse_normal(share));
        }
        // Mean of straight lines: inner points count fully, the two ends by half.
        let ends = 0.5 * (quantiles[0] + quantiles[CELLS]);
        let mean = (ends + quantiles[1..CELLS].iter().sum::<f64>()) / CELLS as f64;
        for quantile in quantiles.iter_mut() {
            *quantile /= mean;
        }
        Self { quantiles }
    }

    /// Draws a factor; its mean is one.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng) -> f64 {
        let bits = rng.next_u64();
        let cell = usize::try_from(bits >> (64 - CELL_BITS)).unwrap_or(0);
        let within = ((bits << CELL_BITS) >> 11) as f64 / (1u64 << 53) as f64;
        self.between(cell, within)
    }

    /// The quantile at this share, 0.0–1.0.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let place = share.clamp(0.0, 1.0) * CELLS as f64;
        let cell = floor_index(place).min(CELLS - 1);
        self.between(cell, (place - cell as f64).min(1.0))
    }

    /// Share of the factors that are at most this.
    pub(crate) fn share_up_to(&self, factor: f64) -> f64 {
        let above = self.quantiles.partition_point(|&q| q <= factor);
        if above == 0 {
            return 0.0;
        }
        if above > CELLS {
            return 1.0;
        }
        let (low, high) = (self.quantiles[above - 1], self.quantiles[above]);
        (above as f64 - 1.0 + (factor - low) / (high - low)) / CELLS as f64
    }

    /// The largest factor there is.
    pub(crate) fn largest(&self) -> f64 {
        self.quantiles[CELLS]
    }

    #[inline]
    fn between(&self, cell: usize, within: f64) -> f64 {
        let low = self.quantiles[cell];
        low + (self.quantiles[cell + 1] - low) * within
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in the table: from 0 to the number of cells"
)]
fn floor_index(place: f64) -> usize {
    place as usize
}

/// A factor with mean one whose logarithm has this standard deviation.
pub(crate) fn draw_factor(deviation: f64, rng: &mut Rng) -> f64 {
    libm::exp(deviation * draw_normal(rng) - 0.5 * deviation * deviation)
}

/// A standard normal number.
pub(crate) fn draw_normal(rng: &mut Rng) -> f64 {
    // Half a step up, so that neither 0 nor 1 is met.
    inverse_normal(rng.unit() + 0.5 / (1u64 << 53) as f64)
}

/// Quantile of the standard normal distribution: algorithm AS 241 (Wichura 1988), PPND16, without its branch
/// for shares below 10⁻¹¹: there the result stays at about ±6.7.
pub(crate) fn inverse_normal(share: f64) -> f64 {
    let centred = share - 0.5;
    if centred.abs() <= 0.425 {
        let r = 0.180_625 - centred * centred;
        return centred * polynomial(&CENTRE_OVER, r) / polynomial(&CENTRE_UNDER, r);
    }
    let tail = if centred < 0.0 { share } else { 1.0 - share };
    let r = libm::sqrt(-libm::log(tail.max(1.4e-11))) - 1.6;
    let size = polynomial(&TAIL_OVER, r) / polynomial(&TAIL_UNDER, r);
    if centred < 0.0 { -size } else { size }
}

fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

const CENTRE_OVER: [f64; 8] = [
    3.387_132_872_796_366_5,
    133.141_667_891_784_38,
    1_971.590_950_306_551_3,
    13_731.693_765_509_46,
    45_921.953_931_549_87,
    67_265.770_927_008_7,
    33_430.575_583_588_13,
    2_509.080_928_730_122_7,
];
const CENTRE_UNDER: [f64; 8] = [
    1.0,
    42.313_330_701_600_91,
    687.187_007_492_057_9,
    5_394.196_021_424_751,
    21_213.794_301_586_597,
    39_307.895_800_092_71,
    28_729.085_735_721_943,
    5_226.495_278_852_854,
];
const TAIL_OVER: [f64; 8] = [
    1.423_437_110_749_683_5,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_5,
    1.270_458_252_452_368_4,
    0.241_780_725_177_450_6,
    0.022_723_844_989_269_184,
    7.745_450_142_783_414e-4,
];
const TAIL_UNDER: [f64; 8] = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    0.689_767_334_985_1,
    0.148_103_976_427_480_08,
    0.015_198_666_563_616_457,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_normal_undoes_the_normal_distribution() {
        for step in 1..2_000 {
            let share = f64::from(step) / 2_000.0;
            let back = 0.5 * libm::erfc(-inverse_normal(share) / std::f64::consts::SQRT_2);
            assert!((back - share).abs() < 1e-14, "{share} {back}");
        }
        for share in [1e-4, 1e-7, 1e-10] {
            let back = 0.5 * libm::erfc(-inverse_normal(share) / std::f64::consts::SQRT_2);
            assert!((back / share - 1.0).abs() < 1e-10, "{share} {back}");
        }
    }

    #[test]
    fn draws_have_mean_one_and_the_stated_variation() {
        let body = Body::new(0.25);
        let mut rng = Rng::new(3);
        let count = 400_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..count {
            let factor = body.draw(&mut rng);
            sum += factor;
            squares += factor * factor;
        }
        let mean = sum / f64::from(count);
        let variation = libm::sqrt(squares / f64::from(count) - mean * mean) / mean;
        assert!(
            (mean - 1.0).abs() < 3.0 * 0.25 / libm::sqrt(f64::from(count)),
            "{mean}"
        );
        assert!((variation - 0.25).abs() < 0.004, "{variation}");
    }

    #[test]
    fn shares_and_quantiles_agree() {
        let body = Body::new(0.4);
        for step in 1..1_000 {
            let share = f64::from(step) / 1_000.0;
            assert!((body.share_up_to(body.quantile(share)) - share).abs() < 1e-9);
        }
        assert!(body.share_up_to(0.0) == 0.0 && body.share_up_to(body.largest()) == 1.0);
    }
}
