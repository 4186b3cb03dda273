//! Facts of the catalogue on a product or a board, without its rates.

use cardmark_catalog::{
    BoardFacts, EndurancePromise, Product, class, endurance_promises, endurance_samples, lines_of,
    product,
};
use cardmark_judge::tested_by_others;

use crate::runs::durable::test_with_source;
use crate::text::promised;
use crate::text::vocabulary::{in_shops, other_disks, promise, queue_items, slot};

/// A heading with its facts.
pub type Facts = (&'static str, Vec<String>);

/// Returns what is known of a product: promises, command queue, endurance, shops. Headings without facts are left out.
#[must_use]
pub fn product_facts(of: &Product) -> Vec<Facts> {
    let lines = lines_of(of);
    let classes = of.claims.iter().filter_map(|name| class(name));
    let is_of_size = |one: &&EndurancePromise| {
        let is_of_line = lines.iter().any(|line| one.line.as_ref() == Some(&line.id));
        let is_of_all = one.capacity_bytes.is_none();
        is_of_line && (is_of_all || one.capacity_bytes == of.capacity_bytes)
    };
    let stated = endurance_promises().iter().filter(is_of_size);
    let tested = tested_by_others(endurance_samples(), of.capacity_bytes);
    let tested = tested.iter().filter(|test| {
        let known = product(&test.product);
        known.is_some_and(|known| known.id == of.id)
    });
    let shops = lines
        .iter()
        .map(|line| format!("{}: {}", line.name(), in_shops(line)));
    let all = [
        ("The package promises", classes.map(promise).collect()),
        ("Command queue", queue_items(of)),
        (
            "Endurance, as its maker states it",
            stated.filter_map(promised::of_line).collect(),
        ),
        (
            "Written again and again by others, fillings before the first error",
            tested.map(test_with_source).collect::<Vec<_>>(),
        ),
        ("In shops", shops.collect()),
    ];
    with_facts(all)
}

/// Returns what a board can do for cards and disks. Headings without facts are left out.
#[must_use]
pub fn board_facts(board: &BoardFacts) -> Vec<Facts> {
    with_facts([
        ("Card slot", slot(board)),
        ("Other disks", other_disks(board)),
        ("Notes", board.notes.clone()),
    ])
}

fn with_facts<const N: usize>(all: [Facts; N]) -> Vec<Facts> {
    let all = all.into_iter();
    all.filter(|(_, facts)| !facts.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use cardmark_catalog::{boards, products};

    use super::*;

    #[test]
    fn a_product_has_its_promises_and_its_tests_by_others() {
        let evo = product("Samsung EVO Plus 32 GB").unwrap();
        let facts = product_facts(evo);
        let tests = facts.iter().find(|(name, _)| name.starts_with("Written"));
        assert!(
            tests.is_some_and(|(_, tests)| tests[0].contains("fillings")),
            "{facts:?}"
        );
        let extreme = product("SanDisk Extreme 64 GB").unwrap();
        let facts = product_facts(extreme);
        let names: Vec<&str> = facts.iter().map(|(name, _)| *name).collect();
        assert!(names.contains(&"Command queue"), "{facts:?}");
    }

    #[test]
    fn no_heading_is_empty() {
        let of_products = products().iter().flat_map(product_facts);
        let of_boards = boards().iter().flat_map(board_facts);
        for (name, facts) in of_products.chain(of_boards) {
            assert!(
                !facts.is_empty() && facts.iter().all(|fact| !fact.is_empty()),
                "{name}"
            );
        }
        assert!(
            boards()
                .iter()
                .all(|board| board_facts(board)[0].0 == "Card slot")
        );
    }
}
