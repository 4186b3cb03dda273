use cardmark_catalog::{boards, lines, look_up, products};

use super::*;

fn page(name: &str, width: usize) -> String {
    vocabulary(name, &look_up(name), width)
}

#[test]
fn pages_and_lists() {
    for (snapshot, name) in [
        ("several", "Evo Plus"),
        ("line", "Evo Plus 2021"),
        ("registers", "Canvas Go"),
        ("product", "Micro Center 128GB A2"),
        ("board", "Zero 2 W"),
        ("fast_board", "Pi 5"),
    ] {
        insta::assert_snapshot!(snapshot, page(name, 80));
    }
    insta::assert_snapshot!("narrow", page("Zero 2 W", 40));
}

#[test]
fn no_page_is_wider_than_asked() {
    let lines = lines().iter().map(|line| &line.id);
    let boards = boards().iter().map(|board| &board.id);
    let products = products().iter().map(|product| &product.id);
    for id in lines.chain(boards).chain(products) {
        for width in [40, 80, 120] {
            let page = page(id, width);
            let longest = page.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(width), "{id}: {page}");
            assert!(page.contains("Sources"), "{id}: {page}");
        }
    }
}
