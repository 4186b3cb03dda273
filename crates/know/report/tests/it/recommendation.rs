//! Products that suit a use, from what others published.

use std::collections::BTreeMap;

use cardmark_catalog::{boards, use_of, uses};
use cardmark_judge::{Day, Price, Question, Wish, published_figures, recommend};
use cardmark_report::{Recommended, Style};

fn question(wanted: &str, board: Option<&str>) -> Question {
    let today = Day::parse("2026-11-28").unwrap();
    Question::new(use_of(wanted).unwrap(), board, today)
}

/// Lines of the answer, or of everything.
fn lines(question: &Question, all: bool, width: usize) -> Vec<String> {
    let choice = recommend(published_figures(), question);
    let found = Recommended {
        question,
        choice: &choice,
    };
    if all {
        return found
            .all(width, Style::Plain)
            .lines()
            .map(str::to_owned)
            .collect();
    }
    let mut answer = found.answer();
    answer.next = Some(
        "cardmark recommend --use camera_trap --board \"Raspberry Pi Zero 2 W\" --all".to_owned(),
    );
    answer.lines(width, Style::Plain)
}

fn assert_has(lines: &[String], parts: &[&str]) {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(&lines.join(" "));
    for part in parts {
        assert!(text.contains(part), "no `{part}` in {lines:#?}");
    }
}

#[test]
fn the_answer_names_cards_with_the_reason() {
    let found = lines(&question("boot", Some("Pi 5")), false, 80);
    assert!(
        found[0].starts_with("Boot and desktop on a Raspberry Pi 5: Raspberry Pi 64 GB or 128 GB"),
        "{found:#?}"
    );
    assert_has(
        &found,
        &[
            "measured on this board in 2024, 3 runs each, 32 at once",
            "`dtparam=sd_cqe=2` makes random writes of SanDisk Extreme",
            "suits",
        ],
    );
    let found = lines(&question("boot", Some("Zero 2 W")), false, 80);
    assert_has(
        &found,
        &[
            "suits as its maker states",
            "≥ 1500/s",
            "on a Raspberry Pi 5 in 2024",
        ],
    );
    let found = lines(&question("boot", Some("Amiga")), false, 80);
    assert_has(
        &found,
        &["No board called `Amiga` is known: ", "suits any board"],
    );
    let found = lines(&question("boot", Some("Steam Deck")), false, 80);
    assert_has(&found, &["`Steam Deck` is not a board here: `--use games`"]);
    let found = lines(&question("boot", Some("Zerro 2W")), false, 120);
    assert_has(
        &found,
        &["No board called `Zerro 2W` is known (perhaps Zero 2 W"],
    );
    let found = lines(&question("Home Assistant", Some("Pi 4")), false, 80);
    assert_has(
        &found,
        &[
            "may suit; nothing is known to suit for certain",
            "No published figures of synced writes",
            "--use endurance",
        ],
    );
}

#[test]
fn the_cheapest_comes_with_the_next_better() {
    let price = |(name, price): (&str, &str)| (name.to_owned(), Price::parse(price).unwrap());
    let prices = [("Amazon Basics 64 GB", "9"), ("Raspberry Pi 64 GB", "14")].map(price);
    let wish = Wish {
        prices: BTreeMap::from(prices),
        is_by_value: true,
        ..Wish::default()
    };
    let mut asked = Question {
        wish,
        ..question("boot", Some("Pi 5"))
    };
    let sentence = "Amazon Basics 64 GB at 9.00 is the cheapest that is enough; the next better is Raspberry Pi 64 GB at 14.00";
    assert_has(&lines(&asked, false, 200), &[sentence]);
    asked.wish.prices.clear();
    assert_has(
        &lines(&asked, false, 80),
        &["No price is known: add `--price"],
    );
}

/// Every use on every board, and with wishes.
#[test]
fn an_answer_has_ten_lines_of_80_columns_and_no_metric() {
    let longest = boards()
        .iter()
        .map(|board| board.name.as_str())
        .max_by_key(|name| name.len());
    let boards = [
        Some("Pi 5"),
        Some("Zero 2 W"),
        Some("Amiga"),
        Some("NanoPi M4"),
        longest,
        None,
    ];
    for board in boards {
        for wanted in uses().iter().filter(|one| !one.needs.is_empty()) {
            for (capacity, is_by_value, budget) in [
                (None, false, None),
                (Some(512), true, None),
                (Some(64), false, Price::parse("20 EUR")),
            ] {
                let asked = Question {
                    wish: Wish {
                        capacity_bytes: capacity.map(|gigabytes| gigabytes * 1_000_000_000),
                        is_by_value,
                        budget,
                        ..Wish::default()
                    },
                    ..question(&wanted.id, board)
                };
                let found = lines(&asked, false, 80);
                assert!(found.len() <= 10, "{board:?} {}: {found:#?}", wanted.id);
                let text = found[..found.len() - 1].join(" ");
                assert!(
                    !text.contains("rand_") && !text.contains("iozone"),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [30, 40, 80, 120, 200] {
        for board in [None, Some("Pi 5"), Some("Zero 2 W")] {
            for all in [false, true] {
                for line in lines(&question("boot", board), all, width) {
                    assert!(line.chars().count() <= width, "{width}: {line}");
                }
            }
        }
    }
}

#[test]
fn everything_is_shown_with_its_origin_on_request() {
    let found = lines(&question("boot", Some("Pi 4")), true, 100);
    assert_has(
        &found,
        &[
            "Suit: ",
            "May suit: ",
            "Too slow: ",
            "Cannot be put in order: ",
            "from geerling-a2",
            "tested in 2019, may no longer be sold",
            "a figure that decides is missing",
            "It needs: - random read 4 KiB: 1500 IOPS, comfortable from 2400 IOPS (",
            "- sequential read: 20.0 MB/s (",
            "products of other kinds; `--kind all` shows them",
            "SD Specifications",
        ],
    );
}
