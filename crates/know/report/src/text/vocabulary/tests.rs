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
        ("product", "SanDisk Extreme 64 GB"),
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

/// Known by hand: medians of three printed runs each, and the state of the line.
#[test]
fn a_product_shows_its_line_and_the_gain_of_its_queue() {
    let extreme = page("SanDisk Extreme 64 GB", 100).replace("\n    ", " ");
    for part in [
        "random writes on a Raspberry Pi 5: 2995 per second with the queue, 1145 without, 2.6 times faster",
        "random reads on a Raspberry Pi 5: 6193 per second with the queue, 2537 without, 2.4 times faster",
        "off as installed; `dtparam=sd_cqe=2`",
    ] {
        assert!(extreme.contains(part), "{part}: {extreme}");
    }
    let line = page("samsung_pro_endurance", 100);
    assert!(!line.contains("On sale."), "{line}");
}
