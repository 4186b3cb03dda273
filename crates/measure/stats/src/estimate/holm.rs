//! Holm's correction for multiple tests.

/// Returns the corrected probabilities, in order.
pub(crate) fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut least: f64 = 0.0;
    for (rank, index) in order.iter().enumerate() {
        let remaining = (order.len() - rank) as f64;
        least = least.max((remaining * p_values[*index]).min(1.0));
        corrected[*index] = least;
    }
    corrected
}
