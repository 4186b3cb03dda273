//! Course of a trial over time, in at most 4,096 slices.

use cardmark_core::Slice;

/// Initial span of a slice, nanoseconds.
pub(crate) const FIRST_SPAN_NS: u64 = 100_000_000;
/// Maximum number of slices; when it is reached, neighbours are merged and the span doubles.
pub(crate) const MOST_SLICES: usize = 4096;

/// Slices under construction.
pub(crate) struct Slices {
    list: Vec<Slice>,
    current: Slice,
    span_ns: u64,
    ends_ns: u64,
}

impl Slices {
    #[cfg(test)]
    fn new() -> Self {
        Self::in_memory(Vec::new())
    }

    /// Starts with no slices, in the memory of an earlier list.
    pub(crate) fn in_memory(mut list: Vec<Slice>) -> Self {
        list.clear();
        list.reserve_exact(MOST_SLICES);
        Self {
            list,
            current: Slice::default(),
            span_ns: FIRST_SPAN_NS,
            ends_ns: FIRST_SPAN_NS,
        }
    }

    /// Adds an operation completed `at_ns` after the trial's start.
    #[inline(always)]
    pub(crate) fn add(&mut self, bytes: u64, latency_ns: u64, offset: u64, at_ns: u64) {
        if at_ns >= self.ends_ns {
            self.roll(at_ns);
        }
        self.current.0 += bytes;
        self.current.1 += 1;
        if latency_ns >= self.current.2 {
            self.current.2 = latency_ns;
            self.current.3 = Some(offset);
        }
    }

    #[cold]
    fn roll(&mut self, at_ns: u64) {
        while at_ns >= self.ends_ns {
            self.list.push(std::mem::take(&mut self.current));
            if self.list.len() == MOST_SLICES {
                self.halve();
            }
            self.ends_ns = (self.list.len() as u64 + 1) * self.span_ns;
        }
    }

    fn halve(&mut self) {
        for index in 0..MOST_SLICES / 2 {
            self.list[index] = join(self.list[2 * index], self.list[2 * index + 1]);
        }
        self.list.truncate(MOST_SLICES / 2);
        self.span_ns *= 2;
    }

    /// Returns the full slices so far.
    pub(crate) fn full(&self) -> &[Slice] {
        &self.list
    }

    pub(crate) fn span_ns(&self) -> u64 {
        self.span_ns
    }

    /// Returns all slices, and the memory for the next trial; the last slice may be shorter than the span.
    pub(crate) fn into_list(mut self) -> (Vec<Slice>, Vec<Slice>) {
        if self.current.1 > 0 {
            self.list.push(self.current);
        }
        (self.list.as_slice().to_vec(), self.list)
    }
}

fn join(first: Slice, second: Slice) -> Slice {
    let slower = if second.2 > first.2 { second } else { first };
    Slice(first.0 + second.0, first.1 + second.1, slower.2, slower.3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_trial_keeps_its_totals_in_few_slices() {
        let mut slices = Slices::new();
        let operations = 20_000u64;
        for index in 0..operations {
            let latency = if index == 12_345 { 9_999 } else { 10 };
            slices.add(4096, latency, index * 4096, index * 100_000_000);
        }
        assert_eq!(slices.span_ns(), 800_000_000);
        let span = slices.span_ns();
        let (list, _) = slices.into_list();
        assert!(list.len() <= MOST_SLICES);
        assert_eq!(list.iter().map(|slice| slice.1).sum::<u64>(), operations);
        let slowest = list.iter().position(|slice| slice.2 == 9_999).unwrap();
        assert_eq!(slowest as u64, 12_345 * 100_000_000 / span);
        assert_eq!(list[slowest].3, Some(12_345 * 4096));
    }

    #[test]
    fn a_pause_leaves_empty_slices() {
        let mut slices = Slices::new();
        slices.add(1, 1, 0, 50_000_000);
        slices.add(1, 300_000_000, 1, 350_000_000);
        let (list, _) = slices.into_list();
        let operations: Vec<u64> = list.iter().map(|slice| slice.1).collect();
        assert_eq!(operations, [1, 0, 0, 1]);
    }
}
