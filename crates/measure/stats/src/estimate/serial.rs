//! Error of a slope over correlated days.

use crate::estimate::outcome::tested;

/// Assumed correlation of the deviations of two successive days with a distance of a week or more; higher for
/// closer days.
pub const STEP_CORRELATION: f64 = 0.8;
/// Distance from which on the correlation of two days no longer decreases, days.
pub(crate) const STEP_DAYS: f64 = 7.0;

/// Start time of a day's first run, mean logarithm of the rate, and number of its stretch.
pub(crate) type Day = (f64, f64, usize);

/// A slope tested against its error.
pub(crate) struct Serial {
    /// Two-sided probability of such a slope without a trend.
    pub(crate) p_value: f64,
    /// Half-width of the 95 % interval, in units of the logarithm per day.
    pub(crate) half_width: f64,
}

impl Serial {
    /// Calculates the error of `slope` for these days (time, logarithm of the rate, stretch), with a level
    /// for each stretch. Deviations have a correlation of [`STEP_CORRELATION`] to the power of the number of
    /// steps between two days; a step is a week, or the distance between successive days if that is longer.
    /// With this correlation R, residual maker M and the weights a of the least-squares slope, the variance
    /// is e'e / tr(MR) · a'Ra, and its degrees of freedom are tr(MR)² / tr(MRMR) (Satterthwaite 1946). `None`
    /// if no stretch has two days, or no degree is left.
    pub(crate) fn of(days: &[Day], slope: f64) -> Option<Self> {
        let correlation = correlation(days);
        let moments = centred(days, |day| day.0);
        let spread: f64 = moments.iter().map(|moment| moment * moment).sum();
        if spread <= 0.0 {
            return None;
        }
        let residuals = centred(days, |day| day.1 - slope * day.0);
        let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
        let product = residual_product(days, &moments, spread, &correlation);
        let trace: f64 = (0..days.len()).map(|i| product[i][i]).sum();
        let square: f64 = (0..days.len())
            .map(|i| {
                (0..days.len())
                    .map(|j| product[i][j] * product[j][i])
                    .sum::<f64>()
            })
            .sum();
        let degrees = trace * trace / square;
        if degrees.is_nan() || degrees < 1.0 {
            return None;
        }
        let of_row = |(row, moment): (&Vec<f64>, &f64)| {
            let sum: f64 = row.iter().zip(&moments).map(|(r, m)| r * m).sum();
            moment * sum
        };
        let weight: f64 = correlation.iter().zip(&moments).map(of_row).sum();
        let error = libm::sqrt(squares / trace * weight) / spread;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and the number of days"
        )]
        let degrees = degrees as u32;
        let (p_value, half_width) = tested(slope, error, degrees);
        Some(Self {
            p_value,
            half_width,
        })
    }
}

/// Returns the correlation of all pairs of days.
fn correlation(days: &[Day]) -> Vec<Vec<f64>> {
    let mut steps = Vec::with_capacity(days.len());
    let mut sum = 0.0;
    let mut before = days.first().map_or(0.0, |day| day.0);
    for day in days {
        sum += ((day.0 - before) / STEP_DAYS).min(1.0);
        before = day.0;
        steps.push(sum);
    }
    let between = |one: f64, other: f64| libm::pow(STEP_CORRELATION, (one - other).abs());
    let row = |one: &f64| steps.iter().map(|other| between(*one, *other)).collect();
    steps.iter().map(row).collect()
}

/// Returns the values minus their mean in the stretch.
fn centred(days: &[Day], value: impl Fn(&Day) -> f64) -> Vec<f64> {
    let of_stretch = |stretch: &[Day]| -> Vec<f64> {
        let mean = stretch.iter().map(&value).sum::<f64>() / stretch.len() as f64;
        stretch.iter().map(|day| value(day) - mean).collect()
    };
    days.chunk_by(|one, next| one.2 == next.2)
        .flat_map(of_stretch)
        .collect()
}

/// Returns M R: each column of the correlation minus its mean in the stretch and its component along the
/// times.
fn residual_product(
    days: &[Day],
    moments: &[f64],
    spread: f64,
    correlation: &[Vec<f64>],
) -> Vec<Vec<f64>> {
    let count = days.len();
    let mut product = vec![vec![0.0; count]; count];
    for column in 0..count {
        let with: Vec<Day> = days
            .iter()
            .enumerate()
            .map(|(i, day)| (day.0, correlation[i][column], day.2))
            .collect();
        let values = centred(&with, |day| day.1);
        let along: f64 = values.iter().zip(moments).map(|(v, m)| v * m).sum();
        for (row, (value, moment)) in values.iter().zip(moments).enumerate() {
            product[row][column] = value - moment * along / spread;
        }
    }
    product
}
