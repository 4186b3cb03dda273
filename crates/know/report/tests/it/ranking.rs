//! Places.

use cardmark_core::{OriginKind, Quantity};
use cardmark_judge::{Among, Order, Ranking};
use cardmark_report::{Style, answer_of_rankings, place_line, rankings};
use cardmark_stats::RankingRow;
use insta::assert_snapshot;

fn place(name: &str, megabytes_per_s: f64) -> RankingRow {
    RankingRow {
        name: name.to_owned(),
        board: Some("Raspberry Pi 4 Model B".to_owned()),
        computer: Some("Raspberry Pi 4 Model B".to_owned()),
        origin: OriginKind::Measured,
        publication: None,
        conditions: Vec::new(),
        runs_count: 1,
        cards_count: 1,
        value: megabytes_per_s * 1e6,
        places: None,
        least: megabytes_per_s * 1e6,
        most: megabytes_per_s * 1e6,
        printed: None,
        method: None,
        is_asked: false,
        differs: Vec::new(),
    }
}

fn places() -> Vec<RankingRow> {
    vec![
        RankingRow {
            publication: Some("geerling-dramble".to_owned()),
            origin: OriginKind::Published,
            differs: vec!["board".to_owned(), "suite".to_owned()],
            conditions: vec!["high_speed".to_owned()],
            printed: Some("2.86 MiB/s".to_owned()),
            ..place("Samsung Evo Plus 32 GB", 3.0)
        },
        RankingRow {
            cards_count: 3,
            runs_count: 9,
            least: 2.1e6,
            most: 3.2e6,
            ..place("SanDisk Extreme Pro 64 GB", 2.7)
        },
        place("third", 2.0),
        place("fourth", 1.9),
        place("fifth", 1.8),
        place("sixth", 1.7),
        RankingRow {
            is_asked: true,
            runs_count: 3,
            ..place("This card\u{7}", 1.2)
        },
        RankingRow {
            origin: OriginKind::Simulated,
            board: None,
            computer: None,
            ..place("eighth", 1.0)
        },
        place("ninth", 0.9),
        place("tenth", 0.17),
    ]
}

fn of(metric: &str, places: Vec<RankingRow>) -> Ranking {
    Ranking {
        metric: metric.to_owned(),
        quantity: Quantity::ByteRate,
        order: Order::HighestFirst,
        between_methods: None,
        simulated_count: 0,
        places,
    }
}

#[test]
fn times_have_the_shortest_first_and_the_longest_bar_last() {
    let time = |name: &str, seconds: f64| RankingRow {
        value: seconds * 1e9,
        ..place(name, 0.0)
    };
    let ranking = Ranking {
        quantity: Quantity::Span,
        order: Order::LowestFirst,
        ..of(
            "desktop_install_time_1st",
            vec![time("fast", 100.0), time("slow", 200.0)],
        )
    };
    let text = rankings(&[ranking], true, 100, Style::Plain);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "install a desktop (desktop_install_time_1st), shortest first: 2 places on a Raspberry Pi 4 Model B"
    );
    let bar = |line: &str| line.matches('█').count();
    assert_eq!((bar(lines[1]), bar(lines[2])), (10, 20), "{text}");
}

fn text(all: bool, width: usize) -> String {
    let ranking = of("rand_write_4k", places());
    rankings(&[ranking], all, width, Style::Plain)
}

#[test]
fn neighbours_at_120_columns() {
    assert_snapshot!(text(false, 120));
}

#[test]
fn neighbours_at_80_columns() {
    assert_snapshot!(text(false, 80));
}

#[test]
fn all_at_40_columns() {
    assert_snapshot!(text(true, 40));
}

/// Places that repeats of one card cannot separate are ranges, with a line that explains them.
#[test]
fn shared_places_are_ranges() {
    let ranges = [[1, 2], [1, 3], [2, 3]];
    let places: Vec<RankingRow> = places()
        .into_iter()
        .zip(ranges)
        .map(|(place, range)| RankingRow {
            places: Some(range),
            is_asked: range == [1, 3],
            ..place
        })
        .collect();
    let ranking = of("rand_write_4k", places);
    let text = rankings(&[ranking], false, 80, Style::Plain);
    assert!(
        text.starts_with("random write 4 KiB: place 1–3 of 3 on a Raspberry Pi 4 Model B\n"),
        "{text}"
    );
    assert!(text.contains("▶1–3"), "{text}");
    assert!(text.contains("cards narrow the range"), "{text}");
    assert!(!text.contains("cannot tell"), "{text}");
}

#[test]
fn several_metrics_share_one_legend() {
    let alike = |mut places: Vec<RankingRow>| {
        places.truncate(2);
        for place in &mut places {
            place.places = Some([1, 2]);
        }
        places
    };
    let all = [
        of("seq_read_1m", alike(places())),
        of("seq_write_1m", alike(places())),
        of("rand_write_4k", places()),
    ];
    let text = rankings(&all, true, 200, Style::Plain);
    assert_eq!(
        text.matches("1–2: another card of the product").count(),
        1,
        "{text}"
    );
    let unknown = "No repeats of random write 4 KiB were published";
    assert_eq!(text.matches("No repeats").count(), 1, "{text}");
    assert!(text.contains(unknown), "{text}");
}

#[test]
fn every_width_is_kept_to() {
    for width in 30..=200 {
        for line in text(true, width).lines() {
            assert!(line.chars().count() <= width, "{width}: `{line}`");
            assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }
}

#[test]
fn bars_are_as_long_as_their_shares() {
    let text = text(true, 120);
    let eighths = |name: &str| {
        let line = text.lines().find(|line| line.contains(name)).unwrap();
        let of = |letter: char| match letter {
            '█' => 8,
            '▉' => 7,
            '▊' => 6,
            '▋' => 5,
            '▌' => 4,
            '▍' => 3,
            '▎' => 2,
            '▏' => 1,
            _ => 0,
        };
        line.chars().map(of).sum::<i32>()
    };
    assert_eq!(eighths("Evo Plus"), 160);
    assert_eq!(eighths("This card"), 64);
    assert_eq!(eighths("tenth"), 9);
}

#[test]
fn a_run_is_placed_in_one_line() {
    let line = |faster_than, here_count, others: &[&str]| {
        place_line(&Among {
            pattern: "random write 4 KiB".to_owned(),
            faster_than,
            of: 63,
            board: Some("Raspberry Pi 4 Model B".to_owned()),
            here_count,
            other_boards: others.iter().map(|&board| board.to_owned()).collect(),
        })
    };
    let boards = ["NanoPi M4", "Raspberry Pi 5", "Orange Pi"];
    for (found, expected) in [
        (
            line(12, 9, &boards),
            "Faster than 12 of 63 published cards at random write 4 KiB (9 on a Raspberry Pi 4 Model B, 54 on other boards) · cardmark rank",
        ),
        (
            line(12, 63, &[]),
            "Faster than 12 of 63 published cards at random write 4 KiB, on a Raspberry Pi 4 Model B · cardmark rank",
        ),
        (
            line(0, 0, &boards),
            "Not clearly faster than any of 63 published cards at random write 4 KiB (on NanoPi M4, Raspberry Pi 5 and 1 other board) · cardmark rank",
        ),
        (
            line(1, 0, &boards[2..]),
            "Faster than 1 of 63 published cards at random write 4 KiB (on an Orange Pi) · cardmark rank",
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_figure_alone_has_no_place_and_other_methods_are_marked() {
    let alone = RankingRow {
        is_asked: true,
        ..place("mine", 1.0)
    };
    let by_iozone = RankingRow {
        method: Some("iozone"),
        ..place("other", 2.0)
    };
    let compared = Ranking {
        between_methods: Some(0.1),
        simulated_count: 2,
        ..of("rand_write_4k", vec![by_iozone, alone.clone()])
    };
    let rankings_of = [of("sync_write_4k", vec![alone]), compared];
    let text = rankings(&rankings_of, false, 80, Style::Plain);
    for part in [
        "random write 4 KiB: place 1–2 of 2",
        "by iozone",
        "No other results to rank with: synced write 4 KiB (1.00 MB/s).",
        "Methods may differ by",
        "Left out: 2 simulated runs; only real cards are ranked here.",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!text.contains("synced write 4 KiB: place"), "{text}");
}

/// Rows with these names and possible places, all without a requested run.
fn rows(of: &[(&str, Option<[usize; 2]>)]) -> Vec<RankingRow> {
    let row = |(name, places): &(&str, Option<[usize; 2]>)| RankingRow {
        places: *places,
        ..place(name, 2.0)
    };
    of.iter().map(row).collect()
}

#[test]
fn the_answer_names_the_first_only_if_the_order_is_known() {
    let answer = |rankings: &[Ranking]| answer_of_rankings(rankings).unwrap().sentence;
    let [a, b, c] = [[1, 2], [1, 2], [3, 3]].map(Some);
    let clear = of("rand_write_4k", rows(&[("A", a), ("B", b), ("C", c)]));
    let begin = "Fastest in random writes: A or B, of 3";
    assert!(answer(std::slice::from_ref(&clear)).starts_with(begin));
    let names: Vec<(&str, Option<[usize; 2]>)> =
        ["A", "B", "C", "D"].map(|name| (name, None)).to_vec();
    let unknown = of("agnostics_rand_read", rows(&names));
    let found = answer(&[clear, unknown]);
    let end = "; in random reads, 32 at once: no clear order among the first 4 of 4";
    assert!(found.starts_with(begin) && found.ends_with(end), "{found}");
}

#[test]
fn the_place_of_a_run_is_in_the_answer() {
    let of_run = |metric: &str| {
        let mut places = rows(&[("A", Some([1, 1])), ("mine", Some([2, 2]))]);
        places[1].is_asked = true;
        of(metric, places)
    };
    let rankings = ["agnostics_rand_write", "agnostics_rand_read", "seq_read_1m"].map(of_run);
    let found = answer_of_rankings(&rankings).unwrap().sentence;
    let begin = "Random writes, 32 at once: place 2 of 2";
    let end = "; random reads, 32 at once, 2 of 2; sequential reads 2 of 2";
    assert!(found.starts_with(begin) && found.ends_with(end), "{found}");
}
