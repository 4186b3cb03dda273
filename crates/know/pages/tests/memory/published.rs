//! Pages of a site without runs, by published figures.

use cardmark_core::{Integrity, IntegrityTest, StorageKind};
use cardmark_pages::Queries;
use cardmark_pages::addresses;
use cardmark_pages::frame::Frame;
use cardmark_pages::pages::choice::ChoicePageQuery;
use cardmark_pages::pages::compare::ComparePageQuery;
use cardmark_pages::pages::ranking::{RankingPage, RankingPageQuery};
use cardmark_pages::pages::{boards, compare_products, pictures, product, ranking};
use cardmark_pages::views::product::ProductsQuery;
use cardmark_pages::views::published::known_products;
use cardmark_share::Problem;

use crate::{Memory, done, html};

/// The list of products of an empty site, with a search.
fn products_called(text: &str) -> Result<String, Problem> {
    let query = ProductsQuery {
        q: (!text.is_empty()).then(|| text.to_owned()),
        ..ProductsQuery::default()
    };
    let page = done(product::products(&Memory::of(Vec::new()), query))?;
    Ok(page.html(Frame::Site))
}

#[test]
fn an_empty_site_finds_the_published_products() {
    for text in ["", "evo+ 32", "SAMSUNG", "Samsng Evo+", "32 gb evo"] {
        let html = products_called(text).unwrap();
        assert!(html.contains("Samsung Evo+ 32 GB"), "{text}: {html}");
    }
    assert!(!products_called("sandisk").unwrap().contains("Samsung"));
    let none = products_called("zeppelin").unwrap();
    assert!(none.contains("No product called zeppelin"), "{none}");
}

#[test]
fn products_with_runs_stand_among_those_of_the_catalogue_once() {
    let memory = Memory::published();
    let page = done(product::products(&memory, ProductsQuery::default())).unwrap();
    let html = page.html(Frame::Site);
    let known = known_products(None);
    assert!(known.len() > 60, "{}", known.len());
    for one in known {
        let link = format!("\"{}\"", addresses::product(&one.key));
        assert_eq!(html.matches(&link).count(), 1, "{}", one.name);
    }
}

/// The page of a published product on an empty site.
fn page_of(name: &str) -> Result<String, Problem> {
    let memory = Memory::of(Vec::new());
    let page = product::product(&memory, name, None, "https://cards.example");
    Ok(done(page)?.html(Frame::Site))
}

#[test]
fn the_page_of_a_published_product_begins_with_an_answer_and_a_chart() {
    let html = page_of("Samsung Evo+ 32 GB").unwrap();
    let places = [
        "Samsung Evo+ 32 GB suits boot and desktop",
        "Often faked? Not known",
        "Samsung Evo+ 32 GB: place ",
        "<h2>What it is good for</h2>",
        "<h2>On each board</h2>",
        "Raspberry Pi 3 Model B, slot at 100 MHz",
        "Other sizes and generations",
        "with their sources</summary>",
    ]
    .map(|part| {
        html.find(part)
            .unwrap_or_else(|| panic!("{part} is missing in {html}"))
    });
    assert!(places.is_sorted(), "{places:?}");
    assert!(html.contains(">A1</text>"), "a line for the class");
    // What people read has no ids.
    for id in [
        "hdparm_t",
        "iozone_random_write",
        "pi3-oc100",
        ">geerling-dramble",
    ] {
        assert!(!html.contains(id), "{id}: {html}");
    }
    let about = html.split("og:description\" content=\"").nth(1).unwrap();
    assert!(about.starts_with("Samsung Evo+ 32 GB suits"), "{about}");
}

#[test]
fn every_product_of_the_catalogue_has_a_page_that_answers() {
    for known in cardmark_catalog::products() {
        let html = page_of(&known.id).unwrap();
        let first = html.split("<p>").nth(1).unwrap_or_default();
        let first = first.split("</p>").next().unwrap_or_default();
        // Links below the title, if any, have a class.
        assert!(first.contains(&known.name()), "{first}");
        assert!(html.len() < 400_000, "{}: {}", known.id, html.len());
    }
}

#[test]
fn a_product_of_which_cards_are_false_says_so_first() {
    let mut memory = Memory::published();
    memory.0.truncate(1);
    memory.0[0].integrity = Some(Integrity::new(
        IntegrityTest::Verify,
        StorageKind::Limbo,
        64_000_000_000,
        8_000_000_000,
    ));
    let name = memory.0[0].labels["product"].clone();
    let page = |memory: &Memory| {
        let page = done(product::product(memory, &name, None, "")).unwrap();
        page.html(Frame::Site)
    };
    // One run is no word about a product.
    let html = page(&memory);
    let first = html.split("<p>").nth(1).unwrap();
    assert!(!first.starts_with("FALSE CAPACITY"), "{html}");
    assert!(
        html.contains("1 of 1 with runs here failed a test"),
        "{html}"
    );
    let one = memory.0[0].clone();
    memory.0.extend([one.clone(), one]);
    let html = page(&memory);
    let first = html.split("<p>").nth(1).unwrap();
    assert!(first.starts_with("FALSE CAPACITY: 3 of 3 cards"), "{html}");
}

#[test]
fn the_page_of_a_board_answers_without_a_run() {
    let memory = Memory::of(Vec::new());
    let list = done(boards::boards(&memory, None))
        .unwrap()
        .html(Frame::Site);
    for board in cardmark_catalog::boards() {
        let address = format!("\"{}\"", addresses::board(&board.name));
        assert!(list.contains(&address), "{}", board.name);
        let page = done(boards::board(&memory, board.name.clone())).unwrap();
        let html = page.html(Frame::Site);
        let answer = html.find("<p>Boot and desktop on a");
        assert!(answer.is_some(), "{html}");
        assert!(answer < html.find("<h2>Card slot</h2>"), "{html}");
        assert!(
            html.contains("pass: a faster card is no faster here"),
            "{html}"
        );
    }
    let four = done(boards::board(
        &memory,
        "Raspberry Pi 4 Model B Rev 1.4".to_owned(),
    ))
    .unwrap();
    let four = four.html(Frame::Site);
    assert!(
        four.contains("<svg") && four.contains("Samsung Evo+ 32 GB"),
        "{four}"
    );
    assert!(done(boards::board(&memory, "Amiga".to_owned())).is_err());
}

#[test]
fn the_short_name_of_a_board_is_enough() {
    let memory = Memory::of(Vec::new());
    let page = done(boards::board(&memory, "Raspberry Pi 4".to_owned())).unwrap();
    html(&page, &["<p>Boot and desktop on a Raspberry Pi 4 Model B"]);
    assert!(done(boards::board(&memory, "Raspberry P".to_owned())).is_err());
}

#[test]
fn products_in_an_answer_lead_to_their_pages() {
    let page = done(boards::board(
        &Memory::of(Vec::new()),
        "Raspberry Pi 5".to_owned(),
    ))
    .unwrap();
    let known = cardmark_catalog::product("Raspberry Pi 64 GB").unwrap();
    let address = addresses::product(&known.id);
    let page = html(&page, &[]);
    let answer = page.split("class=\"answer\"").nth(1).unwrap();
    assert!(answer.contains(&address), "{page}");
}

#[test]
fn a_use_is_found_by_a_word_of_people() {
    let asked = |wanted: &str| ChoicePageQuery {
        wanted: wanted.to_owned(),
        board: "Raspberry Pi 4 Model B".to_owned(),
        capacity: "64".to_owned(),
    };
    assert_eq!(
        asked("Home Assistant").address().unwrap(),
        "/for/database?board=Raspberry%20Pi%204%20Model%20B&capacity=64"
    );
    assert_eq!(asked("chess").address().unwrap_err().status, 404);
}

/// The comparison of two products on an empty site.
fn compared(base: &str, other: &str) -> Result<String, Problem> {
    let asked = ComparePageQuery {
        base: base.to_owned(),
        other: other.to_owned(),
        across: String::new(),
    };
    let memory = Memory::of(Vec::new());
    let page = done(compare_products::compare_products(&memory, asked))?;
    Ok(page.html(Frame::Site))
}

#[test]
fn two_products_are_compared_by_their_names() {
    let html = compared("Raspberry Pi 64 GB", "SanDisk Extreme 64 GB").unwrap();
    let sentence = "Raspberry Pi 64 GB writes randomly 3.4 times faster than SanDisk Extreme 64 GB";
    let at = html.find(sentence);
    assert!(at.is_some() && at < html.find("<svg"), "{html}");
    assert!(
        html.contains("<h1>Raspberry Pi 64 GB or SanDisk Extreme 64 GB</h1>"),
        "{html}"
    );
    let turned = compared("SanDisk Extreme 64 GB", "Raspberry Pi 64 GB").unwrap();
    assert!(turned.contains(sentence), "{turned}");
    // A chart for each of the four rates, for wide and for narrow screens.
    assert_eq!(html.matches("<svg").count(), 8, "{html}");
}

#[test]
fn a_part_of_a_name_means_the_sizes_that_were_measured_together() {
    let html = compared("Evo+", "extrme pro").unwrap();
    assert!(html.contains("<h1>Samsung Evo+ "), "{html}");
    assert!(html.contains("extrme pro may be"), "{html}");
    assert!(html.contains("other=sandisk"), "{html}");
    // A line without a size has no figures of its own.
    let lines = compared("evo+", "extreme").unwrap();
    let answer = lines.split("<p>").nth(1).unwrap();
    assert!(!answer.contains("not measured"), "{answer}");
    let unknown = compared("Evo+", "zeppelin").unwrap();
    assert!(unknown.contains("No product called zeppelin"), "{unknown}");
    let same = compared("Samsung Evo+ 32 GB", "Samsung Evo+ 32 GB").unwrap();
    assert!(same.contains("the same product"), "{same}");
}

#[test]
fn every_two_published_products_are_compared_or_it_says_why_not() {
    let known = known_products(None);
    // Each with the next but four: all lines and boards are among them.
    for (one, other) in known.iter().zip(known.iter().skip(5)) {
        let html = compared(&one.name, &other.name).unwrap();
        let first = html.split("<p>").nth(1).unwrap();
        let answers = [
            "faster",
            "equally fast",
            "No difference shown",
            "No rate",
            "not measured on the same board",
            "is made for",
            "Tested by others",
        ];
        assert!(answers.iter().any(|one| first.contains(one)), "{first}");
    }
}

#[test]
fn a_ranking_has_published_figures_from_the_first_day() {
    let memory = Memory::of(Vec::new());
    let RankingPage::Here(page) =
        done(ranking::ranking(&memory, &RankingPageQuery::default())).unwrap()
    else {
        panic!("it is the first page");
    };
    html(&page, &["<h2>By published figures</h2>", "<svg"]);
}

#[test]
fn the_picture_of_a_published_product_has_its_figures() {
    let memory = Memory::of(Vec::new());
    let view = done(memory.product("Samsung Evo+ 32 GB", None)).unwrap();
    let badge = pictures::of_product(&view).badge();
    assert!(badge.contains("Random writes"), "{badge}");
    assert!(!badge.contains("no figures yet"), "{badge}");
}
