//! Transit times from an asker to the card and back. They are taken off the card's own spans.

use cardmark_engine::OpKind;
use cardmark_sim::TransitTime;

/// Size of a small request, bytes.
pub(crate) const SMALL_BYTES: usize = 4096;
/// Size of a large request, bytes.
pub(crate) const LARGE_BYTES: usize = 1 << 20;
/// Margin by which a transit can be longer than the sum of two usual ones without a disturbance.
const SWAY_NS: u64 = 150_000;

/// Transit times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ways {
    pub(crate) read: Line,
    pub(crate) write: Line,
    /// That of a flush, which the kernel hands on more often.
    pub(crate) flush_ns: u64,
}

/// Transit time by the size of the request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) small_ns: u64,
    pub(crate) large_ns: u64,
}

impl Line {
    /// A straight line between the sizes measured, and further.
    fn at(self, bytes: u32) -> u64 {
        let range_ns = u128::from(self.large_ns.saturating_sub(self.small_ns));
        let more_bytes = (bytes as usize).saturating_sub(SMALL_BYTES) as u128;
        let more_ns = range_ns * more_bytes / (LARGE_BYTES - SMALL_BYTES) as u128;
        self.small_ns + u64::try_from(more_ns).unwrap_or(0)
    }
}

impl Ways {
    /// The way of a request that comes after an answer that was so late.
    pub(crate) fn of(&self, kind: OpKind, bytes: u32, late_ns: u64) -> TransitTime {
        let line = match kind {
            OpKind::Read => self.read,
            OpKind::Write | OpKind::WriteSync | OpKind::Sync => self.write,
        };
        self.with(line.at(bytes), late_ns)
    }

    /// Returns the transit time of a request without content.
    pub(crate) fn of_flush(&self, late_ns: u64) -> TransitTime {
        self.with(self.flush_ns, late_ns)
    }

    fn with(&self, usual_ns: u64, late_ns: u64) -> TransitTime {
        // It may come after a flush.
        let longer_ns = usual_ns.max(self.flush_ns);
        TransitTime {
            usual_ns,
            most_ns: 2 * longer_ns + SWAY_NS + late_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_grows_with_what_is_carried() {
        let line = Line {
            small_ns: 40_000,
            large_ns: 440_000,
        };
        assert_eq!(line.at(0), 40_000);
        assert_eq!(line.at(4096), 40_000);
        assert_eq!(line.at(1 << 20), 440_000);
        assert!(line.at(512 << 10).abs_diff(239_000) < 1_000);
        let ways = Ways {
            read: line,
            write: line,
            flush_ns: 50_000,
        };
        let way = ways.of(OpKind::Read, 4096, 7);
        assert_eq!((way.usual_ns, way.most_ns), (40_000, 250_007));
        let way = ways.of(OpKind::Write, 1 << 20, 0);
        assert_eq!((way.usual_ns, way.most_ns), (440_000, 1_030_000));
        assert_eq!(ways.of_flush(0).usual_ns, 50_000);
    }
}
