//! Allocation units: parts of the flash that a card writes and erases as a whole.
//!
//! A simple card can keep only a few of them open for writing. To write in another one that is not empty, it
//! first copies its content. A read that extends into a second one costs a lookup in a second table.

use serde::Deserialize;

use cardmark_engine::OpKind;

/// A model's units as written in TOML.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnitsData {
    /// Size of one.
    pub(crate) bytes: u64,
    /// Number of units that the card can keep open.
    pub(crate) open_count: usize,
    /// Extra time to switch to another one.
    pub(crate) reopen_ms: f64,
    /// Extra time of a read across a boundary.
    pub(crate) boundary_us: f64,
}

/// The units that a card has open.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    data: UnitsData,
    /// Open units, the most recently written one last.
    open: Vec<u64>,
}

impl Units {
    pub(crate) fn new(data: UnitsData) -> Self {
        Self {
            data,
            open: Vec::with_capacity(data.open_count + 1),
        }
    }

    /// Returns the extra cost of an operation, nanoseconds.
    pub(crate) fn cost_ns(&mut self, kind: OpKind, offset: u64, bytes: u64) -> f64 {
        let first = offset / self.data.bytes;
        let last = (offset + bytes.max(1) - 1) / self.data.bytes;
        match kind {
            OpKind::Sync => 0.0,
            OpKind::Read => (last - first) as f64 * self.data.boundary_us * 1e3,
            OpKind::Write | OpKind::WriteSync => {
                let reopened = (first..=last).filter(|&unit| {
                    let is_begun = unit == first && !offset.is_multiple_of(self.data.bytes);
                    !self.open(unit) && is_begun
                });
                reopened.count() as f64 * self.data.reopen_ms * 1e6
            }
        }
    }

    /// Opens a unit, and shuts the one that was not written for longest; whether it was open.
    fn open(&mut self, unit: u64) -> bool {
        let place = self.open.iter().position(|&open| open == unit);
        if let Some(place) = place {
            self.open.remove(place);
        } else if self.open.len() >= self.data.open_count {
            self.open.remove(0);
        }
        self.open.push(unit);
        place.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units() -> Units {
        Units::new(UnitsData {
            bytes: 1000,
            open_count: 2,
            reopen_ms: 3.0,
            boundary_us: 5.0,
        })
    }

    #[test]
    fn a_read_across_boundaries_costs_each_of_them() {
        let mut units = units();
        for (offset, bytes, cost_us) in [(0, 1000, 0.0), (999, 2, 5.0), (500, 2000, 10.0)] {
            let cost_ns = units.cost_ns(OpKind::Read, offset, bytes);
            assert_eq!(cost_ns, cost_us * 1e3, "{offset}");
        }
    }

    #[test]
    fn writing_in_more_units_than_may_be_open_costs_each_time() {
        let mut units = units();
        let mut write = |offset| units.cost_ns(OpKind::Write, offset, 10);
        // Started at their beginning they cost nothing, nor as long as they are open.
        assert_eq!(write(0) + write(1000) + write(10) + write(1010), 0.0);
        // A third shuts the first.
        assert_eq!(write(2000), 0.0);
        assert_eq!(write(20), 3e6);
        assert_eq!(write(2010), 0.0);
        assert_eq!(write(1020), 3e6);
    }
}
