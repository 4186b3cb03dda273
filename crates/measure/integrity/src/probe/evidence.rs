//! Observations of a probe, and the geometries that may explain them.
//!
//! A geometry becomes the verdict only if it explains every observation, those made before it was suspected included.

use crate::{Extent, Held};

/// Content that a place returned after it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Its own, possibly with bits changed.
    Kept,
    /// Nothing of this probe.
    Lost,
    /// Its own of an earlier write.
    Old,
    /// That of another place.
    Elsewhere(u64),
    /// An error, on write or read.
    Failed,
    /// Not the content of another place that would be there if addresses repeated; the place itself was not written.
    Nothing,
}

impl Found {
    /// Content of a place, from the runs of its blocks: the worst counts.
    pub(super) fn of(runs: &[Extent]) -> Self {
        let elsewhere = runs.iter().find_map(|run| match run.held {
            Held::Other { block, .. } if run.shift().is_some() => Some(block),
            _ => None,
        });
        let any = |is: fn(&Held) -> bool| runs.iter().any(|run| is(&run.held));
        match elsewhere {
            _ if runs.iter().any(|run| run.has_failed()) => Self::Failed,
            _ if any(|held| *held == Held::Foreign) => Self::Lost,
            Some(block) => Self::Elsewhere(block),
            None if any(|held| matches!(held, Held::Other { .. })) => Self::Old,
            None => Self::Kept,
        }
    }
}

/// A place that was written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Observation {
    /// First block of the place, which is one grain long.
    pub(super) start: u64,
    /// Its content.
    pub(super) found: Found,
    /// Blocks written elsewhere between its write and its reading, as far as they were written to displace a cache.
    pub(super) displaced_blocks: u64,
}

/// Geometry of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The first blocks exist, and no others.
    Prefix {
        /// Their number.
        real_blocks: u64,
    },
    /// Addresses repeat.
    Repeating {
        /// Distance after which they do, blocks.
        module: u64,
        /// Number of blocks of each repetition that exist, from its beginning on.
        kept_blocks: u64,
    },
}

impl Shape {
    /// Number of blocks that exist.
    pub(super) fn real_blocks(self) -> u64 {
        match self {
            Self::Prefix { real_blocks } => real_blocks,
            Self::Repeating { kept_blocks, .. } => kept_blocks,
        }
    }

    /// Returns whether storage of this shape, behind a cache of at most `cache_blocks`, returns that.
    pub(super) fn explains(self, seen: &Observation, cache_blocks: u64) -> bool {
        let is_real = match self {
            Self::Prefix { real_blocks } => seen.start < real_blocks,
            Self::Repeating {
                module,
                kept_blocks,
            } => seen.start % module < kept_blocks,
        };
        match seen.found {
            // A cache may have answered.
            Found::Kept => is_real || seen.displaced_blocks < cache_blocks,
            Found::Elsewhere(other) if is_real => match self {
                Self::Prefix { .. } => false,
                Self::Repeating { module, .. } => other.abs_diff(seen.start).is_multiple_of(module),
            },
            Found::Nothing if matches!(self, Self::Prefix { .. }) => true,
            _ => !is_real,
        }
    }
}

/// All observations of a probe.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    seen: Vec<Observation>,
}

impl Evidence {
    pub(super) fn add(&mut self, observation: Observation) {
        self.seen.push(observation);
    }

    /// Returns whether storage of this shape explains every observation.
    pub(super) fn is_explained(&self, shape: Shape, cache_blocks: u64) -> bool {
        let mut seen = self.seen.iter();
        seen.all(|seen| shape.explains(seen, cache_blocks))
    }

    /// Returns the lowest place that holds nothing of its own: lost, old or failed.
    pub(super) fn lowest_lost(&self) -> Option<u64> {
        let lost = self
            .seen
            .iter()
            .filter(|seen| matches!(seen.found, Found::Lost | Found::Old | Found::Failed));
        lost.map(|seen| seen.start).min()
    }

    /// Returns the pairs of places below `end` that share storage, the lower one first, each once.
    pub(super) fn pairs_below(&self, end: u64) -> Vec<(u64, u64)> {
        let pairs = self.seen.iter().filter_map(|seen| match seen.found {
            Found::Elsewhere(other) => Some((seen.start.min(other), seen.start.max(other))),
            _ => None,
        });
        let mut pairs: Vec<(u64, u64)> = pairs.filter(|pair| pair.1 < end).collect();
        pairs.sort_unstable_by_key(|pair| (pair.1, pair.0));
        pairs.dedup();
        pairs
    }

    /// Returns the places that were kept when they were last read after a write, by rising address.
    pub(super) fn kept(&self) -> Vec<u64> {
        let mut last = std::collections::BTreeMap::new();
        for seen in self.seen.iter().filter(|seen| seen.found != Found::Nothing) {
            last.insert(seen.start, seen.found);
        }
        let kept = last.into_iter().filter(|(_, found)| *found == Found::Kept);
        kept.map(|(start, _)| start).collect()
    }

    /// Returns whether any place failed.
    pub(super) fn has_failed(&self) -> bool {
        self.seen.iter().any(|seen| seen.found == Found::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(start: u64, found: Found) -> Observation {
        Observation {
            start,
            found,
            displaced_blocks: 0,
        }
    }

    #[test]
    fn a_prefix_explains_kept_places_below_it_and_all_else_above() {
        let shape = Shape::Prefix { real_blocks: 100 };
        let explains = |start, found| shape.explains(&seen(start, found), 0);
        assert!(explains(99, Found::Kept) && !explains(100, Found::Kept));
        for found in [Found::Lost, Found::Old, Found::Elsewhere(7), Found::Failed] {
            assert!(explains(100, found) && !explains(99, found), "{found:?}");
        }
    }

    #[test]
    fn a_repetition_explains_only_content_of_its_own_distance() {
        let shape = Shape::Repeating {
            module: 100,
            kept_blocks: 60,
        };
        let explains = |start, found| shape.explains(&seen(start, found), 0);
        assert!(explains(10, Found::Elsewhere(310)) && explains(310, Found::Elsewhere(10)));
        assert!(!explains(10, Found::Elsewhere(320)));
        assert!(explains(259, Found::Kept) && !explains(260, Found::Kept));
        assert!(explains(260, Found::Lost) && !explains(259, Found::Lost));
    }

    #[test]
    fn a_place_that_was_not_written_contradicts_a_repetition_but_is_not_lost() {
        let repeating = Shape::Repeating {
            module: 100,
            kept_blocks: 60,
        };
        let prefix = Shape::Prefix { real_blocks: 400 };
        let nothing = seen(310, Found::Nothing);
        assert!(!repeating.explains(&nothing, 0) && prefix.explains(&nothing, 0));
        assert!(repeating.explains(&seen(370, Found::Nothing), 0));
        let mut evidence = Evidence::default();
        evidence.add(seen(310, Found::Kept));
        evidence.add(nothing);
        assert_eq!((evidence.lowest_lost(), evidence.kept()), (None, vec![310]));
        evidence.add(seen(310, Found::Lost));
        assert_eq!(evidence.lowest_lost(), Some(310));
    }

    #[test]
    fn a_cache_explains_only_what_was_not_displaced() {
        let shape = Shape::Prefix { real_blocks: 100 };
        let kept = Observation {
            displaced_blocks: 50,
            ..seen(200, Found::Kept)
        };
        assert!(shape.explains(&kept, 51) && !shape.explains(&kept, 50));
        assert!(!shape.explains(&seen(20, Found::Lost), 51));
    }
}
