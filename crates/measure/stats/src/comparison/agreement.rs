//! Agreement of the original tools' figures with ours.

use cardmark_core::Quantity;
use serde::Serialize;

/// Range that the interval of the ratio has to overlap.
pub const AGREEMENT_OVERLAP: (f64, f64) = (0.98, 1.02);
/// Range that the ratio itself has to lie in.
pub const AGREEMENT_POINT: (f64, f64) = (0.97, 1.03);

/// One figure by an original tool and by us.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Name of our metric.
    pub id: String,
    /// Quantity of its figures.
    #[serde(skip)]
    pub quantity: Quantity,
    /// Pairs of runs.
    pub pairs_count: usize,
    /// Median of our figure over the original's.
    pub ratio: f64,
    /// Lower end of its interval of at least 95 %; absent with fewer than six pairs.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Median of the original's figures.
    pub original: f64,
    /// Median of ours.
    pub ours: f64,
    /// Spread of the original's own runs: half of their range over their median.
    pub original_spread_ratio: f64,
    /// Spread of ours.
    pub ours_spread_ratio: f64,
}

/// An agreement as programs read it.
#[derive(Debug, Serialize)]
pub struct AgreementRow<'a> {
    #[serde(flatten)]
    agreement: &'a Agreement,
    /// Unit of the figures: `bytes_per_s` or `operations_per_s`.
    unit: &'static str,
    /// Verdict on the agreement of the two.
    agrees: Option<bool>,
}

impl Agreement {
    /// Returns the agreement with its unit and outcome.
    pub fn row(&self) -> AgreementRow<'_> {
        AgreementRow {
            agreement: self,
            unit: match self.quantity {
                Quantity::OperationRate => "operations_per_s",
                _ => "bytes_per_s",
            },
            agrees: self.agrees(),
        }
    }

    /// Returns whether the two agree: the interval of the ratio overlaps 0.98–1.02 and the ratio
    /// lies in 0.97–1.03. `None` without an interval.
    pub fn agrees(&self) -> Option<bool> {
        let (low, high) = self.low.zip(self.high)?;
        let overlaps = low <= AGREEMENT_OVERLAP.1 && high >= AGREEMENT_OVERLAP.0;
        let (least, most) = AGREEMENT_POINT;
        Some(overlaps && (least..=most).contains(&self.ratio))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(ratio: f64, ends: Option<(f64, f64)>) -> Agreement {
        Agreement {
            id: "dd_write".to_owned(),
            quantity: Quantity::ByteRate,
            pairs_count: 8,
            ratio,
            low: ends.map(|(low, _)| low),
            high: ends.map(|(_, high)| high),
            original: 1e6,
            ours: 1e6,
            original_spread_ratio: 0.01,
            ours_spread_ratio: 0.01,
        }
    }

    #[test]
    fn interval_and_ratio_both_have_to_be_near_one() {
        for (ratio, low, high, agrees) in [
            (1.0, 0.995, 1.004, true),
            (1.03, 1.02, 1.04, true),
            (1.025, 1.021, 1.03, false),
            (0.97, 0.9, 0.98, true),
            (0.975, 0.96, 0.979, false),
            (1.031, 0.9, 1.2, false),
            (0.969, 0.9, 1.2, false),
        ] {
            let found = agreement(ratio, Some((low, high))).agrees();
            assert_eq!(found, Some(agrees), "{ratio} {low} {high}");
        }
        assert_eq!(agreement(1.0, None).agrees(), None);
    }
}
