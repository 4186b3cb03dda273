//! Products: items that makers sell under one name and capacity.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::facts::embedded;
use crate::kinds::ProductKind;
use crate::lines::lines;

pub(crate) const TEXT: &str = include_str!("../facts/products.toml");

static ROWS: LazyLock<Vec<Product>> = LazyLock::new(|| embedded(TEXT, "products"));

/// An item that a maker sells under one name and capacity. Variants that its maker distinguishes are separate
/// products.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Product {
    /// Brand, line and capacity, `a-z0-9_`; never changes.
    pub id: String,
    /// Brand.
    pub brand: String,
    /// Its name without the brand.
    pub line: String,
    /// Kind of product.
    pub kind: ProductKind,
    /// Id of its product line, if its name is that of several.
    pub product_line: Option<String>,
    /// Id of the board to which it is soldered.
    pub part_of: Option<String>,
    /// Capacity on the label, bytes; absent if the source does not contain it.
    pub capacity_bytes: Option<u64>,
    /// The maker's numbers, or their beginnings.
    #[serde(default)]
    pub model_numbers: Vec<String>,
    /// Classes on the label.
    #[serde(default)]
    pub claims: Vec<String>,
    /// Difference from other products with similar names.
    pub note: Option<String>,
    /// Source of the name.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
    /// Spellings in sources and by users, used by a test.
    pub vectors: Vec<String>,
}

impl Product {
    /// Returns brand, line and capacity in their usual form; of a name with several generations, with the year.
    pub fn name(&self) -> String {
        let of = |id: &String| lines().iter().find(|line| line.id == *id)?.year;
        let year = self.product_line.as_ref().and_then(of);
        let generation = year.map(|year| format!(" ({year})")).unwrap_or_default();
        let name = format!("{} {}{generation}", self.brand, self.line);
        let name = name.trim_end();
        match self.capacity_bytes {
            Some(bytes) => format!("{name} {} GB", bytes / 1_000_000_000),
            None => name.to_owned(),
        }
    }
}

/// Returns all known products, in the order of their ids.
pub fn products() -> &'static [Product] {
    &ROWS
}

/// Returns the product of an id, a name, or a maker's number with any suffix, such as a country code. Ignores
/// case, spaces and dashes, but not plus signs.
pub fn product(name: &str) -> Option<&'static Product> {
    let name = plain(name);
    let by_number = || {
        let mut numbers = NAMES.numbers.iter();
        numbers.find(|(number, _)| name.starts_with(number))
    };
    let by_name = NAMES.names.get(&name).copied();
    let index = by_name.or_else(|| by_number().map(|(_, index)| *index))?;
    ROWS.get(index)
}

/// Returns the product's own name if it is known, so that each product has one name; otherwise the given
/// name.
pub fn product_name(called: &str) -> String {
    product(called).map_or_else(|| called.to_owned(), Product::name)
}

/// All names in plain letters, created once, because a store may have thousands of look-ups.
struct Names {
    names: BTreeMap<String, usize>,
    numbers: Vec<(String, usize)>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut names = BTreeMap::new();
    let mut numbers = Vec::new();
    for (index, row) in ROWS.iter().enumerate() {
        let own = [row.id.clone(), row.name()];
        for name in own.iter().chain(&row.vectors) {
            names.entry(plain(name)).or_insert(index);
        }
        let of_row = row.model_numbers.iter();
        numbers.extend(of_row.map(|number| (plain(number), index)));
    }
    Names { names, numbers }
});

fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, ' ' | '-' | '_' | ','))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class;
    use crate::facts::checking::check_file;

    #[test]
    fn every_product_is_cited_and_found() {
        check_file::<Product>(TEXT, "products");
        for row in products() {
            for name in row.vectors.iter().chain([&row.id, &row.name()]) {
                assert_eq!(
                    product(name).map(|found| &found.id),
                    Some(&row.id),
                    "{name}"
                );
            }
            for number in &row.model_numbers {
                let found = product(&format!("{number}/EU")).unwrap();
                assert_eq!(found.id, row.id, "{number}");
            }
            for claim in &row.claims {
                assert!(class(claim).is_some(), "{}: {claim}", row.id);
            }
        }
    }

    #[test]
    fn a_name_is_that_of_one_product() {
        let mut seen = BTreeMap::new();
        for row in products() {
            let mut names: Vec<String> = row.vectors.iter().map(|name| plain(name)).collect();
            names.push(plain(&row.id));
            names.push(plain(&row.name()));
            names.sort();
            names.dedup();
            for name in names {
                let other = seen.insert(name.clone(), &row.id);
                assert!(other.is_none(), "{name}: {other:?} and {}", row.id);
            }
        }
    }

    #[test]
    fn what_makers_tell_apart_stays_apart() {
        let id = |name: &str| product(name).map(|row| row.id.as_str());
        let plus_sign = id("Samsung Evo+ 32GB");
        let plus_word = id("samsung evo plus 32 gb");
        assert!(plus_sign.is_some() && plus_word.is_some());
        assert_ne!(plus_sign, plus_word);
        assert_eq!(id("MB-MC32DA/AM"), plus_sign);
        assert_eq!(id("MB-MC32GA/EU"), plus_word);
        assert_eq!(id("no such card"), None);
        assert_eq!(id(""), None);
    }
}
