//! Combinations of the usual conditions, each a number in an index: a search for one of them reads only what it shows.

use std::collections::BTreeMap;

use cardmark_share::{Area, Extract, context_key};

/// Usual conditions; each combination of their values has a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet<'a> {
    pub(crate) is_simulated: bool,
    pub(crate) product: Option<&'a str>,
    pub(crate) board: Option<&'a str>,
    pub(crate) suite: Option<&'a str>,
}

impl<'a> Facet<'a> {
    /// All records of an area.
    pub(crate) fn of_area(area: Area) -> Self {
        Self {
            is_simulated: area == Area::Simulated,
            product: None,
            board: None,
            suite: None,
        }
    }

    fn values(&self) -> [(&'static str, Option<&'a str>); 3] {
        [
            ("product", self.product),
            ("board", self.board),
            ("suite", self.suite),
        ]
    }

    /// The number of the combination of all values that are there.
    pub(crate) fn key(&self) -> i64 {
        key(self.is_simulated, self.values().into_iter())
    }

    /// Numbers of all combinations of values that are there, the empty one included.
    pub(crate) fn keys(&self) -> Vec<i64> {
        let there = self
            .values()
            .into_iter()
            .filter(|(_, value)| value.is_some());
        let there: Vec<_> = there.collect();
        let subset = |mask: usize| {
            let chosen = there.iter().enumerate();
            let chosen = chosen.filter(move |(place, _)| mask >> place & 1 == 1);
            key(self.is_simulated, chosen.map(|(_, value)| *value))
        };
        (0..1 << there.len()).map(subset).collect()
    }
}

fn key<'a>(
    is_simulated: bool,
    values: impl Iterator<Item = (&'static str, Option<&'a str>)>,
) -> i64 {
    let area = if is_simulated { "simulated" } else { "shared" };
    let values = values.filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let mut all: BTreeMap<String, String> = values.collect();
    all.insert("area".to_owned(), area.to_owned());
    context_key(&all)
}

/// Numbers of all combinations that a record under a product meets.
pub(crate) fn facets(extract: &Extract, product: Option<&str>) -> Vec<i64> {
    let facet = Facet {
        is_simulated: extract.area == Area::Simulated,
        product,
        board: extract.board.as_deref(),
        suite: extract.suite.as_deref(),
    };
    facet.keys()
}
