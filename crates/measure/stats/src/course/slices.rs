//! The slices of a trial, which all have equal length.

use cardmark_core::{Slice, Trial};

use crate::estimate::interval::Portion;

/// Returns the slices of a trial except the last one, which was cut short.
pub(crate) fn full_slices(trial: &Trial) -> &[Slice] {
    let full = trial.span_ns.checked_div(trial.slice_span_ns).unwrap_or(0);
    let full = usize::try_from(full).unwrap_or(usize::MAX);
    &trial.slices[..trial.slices.len().min(full)]
}

/// Bytes of all slices.
pub(crate) fn sum_bytes(slices: &[Slice]) -> f64 {
    slices.iter().map(|slice| slice.0 as f64).sum()
}

/// Mean bytes per slice.
pub(crate) fn mean_bytes(slices: &[Slice]) -> f64 {
    sum_bytes(slices) / slices.len().max(1) as f64
}

/// Returns batches of `size` slices; the remaining slices are omitted.
pub(crate) fn batches<'a>(
    slices: &'a [Slice],
    size: usize,
    slice_span_ns: u64,
    amount: impl Fn(&Slice) -> u64 + 'a,
) -> impl Iterator<Item = Portion> + 'a {
    slices.chunks_exact(size).map(move |batch| {
        let sum = batch.iter().map(&amount).fold(0, u64::saturating_add);
        Portion::new(sum, slice_span_ns.saturating_mul(size as u64))
    })
}
