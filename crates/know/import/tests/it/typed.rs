//! Typed figures, and tables whose headings name metrics.

use cardmark_core::{FindingKind, Quantity};
use cardmark_import::{FigureError, Import, Imported, KnownMetric, figures};

use crate::{M, close, ids, kinds, metric, value};

fn known() -> Vec<KnownMetric> {
    let named = KnownMetric {
        title: "random read 4 KiB".to_owned(),
        ..KnownMetric::new("rand_read_4k", Quantity::OperationRate)
    };
    vec![
        KnownMetric::new("hdparm_t", Quantity::ByteRate),
        KnownMetric::new("hdparm_T", Quantity::ByteRate),
        KnownMetric::new("dd_write", Quantity::ByteRate),
        KnownMetric::new("iozone_read", Quantity::ByteRate),
        KnownMetric::new("iozone_random_read", Quantity::ByteRate),
        KnownMetric::new("iozone_random_write", Quantity::ByteRate),
        named,
        KnownMetric::new("rand_read_4k_p99", Quantity::Span),
        KnownMetric::new("f3_usable", Quantity::Size),
    ]
}

fn typed(figure: (&str, &str)) -> Result<Imported, FigureError> {
    figures(&[(figure.0.to_owned(), figure.1.to_owned())], &known())
}

#[test]
fn a_figure_has_the_unit_that_was_typed() {
    for (id, text, expected) in [
        ("iozone_random_write", "1.52MB/s", 1.52e6),
        ("iozone_random_write", "1,52 MiB/s", 1.52 * M),
        ("dd_write", "830 kB/s", 830e3),
        ("dd_write", "512 B/s", 512.0),
        ("dd_write", "43.5 KiB/sec", 43.5 * 1024.0),
        ("rand_read_4k", "3110 IOPS", 3110.0),
        ("rand_read_4k_p99", "2.5ms", 2.5e6),
        ("rand_read_4k_p99", "250µs", 250e3),
        ("rand_read_4k_p99", "250 us", 250e3),
        ("f3_usable", "7.5 GB", 7.5e9),
    ] {
        let one = typed((id, text)).unwrap();
        assert!(close(value(&one, id), expected), "{text}");
        let printed = metric(&one, id).printed.clone().unwrap();
        assert_eq!(printed.tool, "typed");
        assert_eq!(printed.text.replace(' ', ""), text.replace(' ', ""));
    }
    let rate = typed(("rand_read_4k", "3110 IOPS")).unwrap();
    assert_eq!(rate.metrics[0].operations_per_s, Some(3110.0));
}

#[test]
fn a_unit_that_the_tool_means_otherwise_is_noted() {
    let one = typed(("hdparm_t", "43.5 MB/s")).unwrap();
    assert_eq!(kinds(&one), [FindingKind::AmbiguousUnit]);
    assert!(
        one.findings[0].detail.contains("write MiB/s"),
        "{:?}",
        one.findings
    );
    assert!(kinds(&typed(("hdparm_t", "43.5 MiB/s")).unwrap()).is_empty());
    assert!(kinds(&typed(("dd_write", "43.5 MB/s")).unwrap()).is_empty());
}

#[test]
fn what_is_no_figure_is_refused() {
    for (id, text, word) in [
        ("rand_read_4k", "3.1 MB/s", "in IOPS, not"),
        ("dd_write", "3110 IOPS", "in B/s"),
        ("dd_write", "43.5", "in B/s"),
        ("dd_write", "43.5 KB/s", "kB/s, MB/s"),
        ("rand_read_4k_p99", "3 min", "ms or s"),
        ("dd_write", "fast", "not a number"),
        ("dd_write", "-3 MB/s", "not a number"),
        ("dd_write", "0 MB/s", "not a number"),
        ("dd_write", "1,234 kB/s", "thousands"),
    ] {
        let error = typed((id, text)).unwrap_err().to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
    let FigureError::UnknownMetric { near, .. } =
        typed(("iozone_rand_write", "1 MB/s")).unwrap_err()
    else {
        panic!()
    };
    assert_eq!(near[0], "iozone_random_write");
    let twice = ["1 MB/s", "2 MB/s"].map(|text| ("dd_write".to_owned(), text.to_owned()));
    let error = figures(&twice, &known()).unwrap_err();
    assert_eq!(
        error,
        FigureError::Twice {
            id: "dd_write".to_owned()
        }
    );
}

fn table(text: &str) -> Import {
    cardmark_import::import(text, &known())
}

/// Two cards, in each form that people use.
const TABLES: [&str; 5] = [
    "Card,hdparm_t (MiB/s),dd_write,Random read 4KiB\n\
     Red card 32GB,21.64,18.5 MB/s,3110 IOPS\n\"Blue, 16GB\",17.31,10.1 MB/s,\n",
    "Card;hdparm_t [MiB/s];dd_write (MB/s);rand_read_4k (IOPS)\r\n\
     Red card 32GB;21,64;18,5;3110\r\nBlue, 16GB;17,31;10,1;-\r\n",
    "| Card | `hdparm_t` (MiB/s) | dd_write (MB/s) | random read 4 KiB (IOPS) |\n\
     |---|---:|---:|---:|\n\
     | Red card 32GB | 21.64 | **18.5** | 3110 |\n| Blue, 16GB | 17,31 | 10,1 | n/a |\n",
    "Card | hdparm_t | dd_write | rand_read_4k\n--- | --- | --- | ---\n\
     Red card 32GB | 21.64 MiB/s | 18.5 MB/s | 3110 IOPS\nBlue, 16GB | 17.31 MiB/s | 10.1 MB/s | –\n",
    "Card\thdparm_t (MiB/s)\tdd_write (MB/s)\trand_read_4k (IOPS)\n\
     Red card 32GB\t21,64\t18,5\t3110\nBlue, 16GB\t17,31\t10,1\t\n",
];

#[test]
fn each_row_of_a_table_is_a_record() {
    for text in TABLES {
        let Import {
            records,
            not_understood,
        } = table(text);
        assert_eq!(not_understood, [], "{text}");
        let [red, blue] = records.as_slice() else {
            panic!("{text}: {records:?}")
        };
        assert_eq!(ids(red), ["hdparm_t", "dd_write", "rand_read_4k"]);
        assert_eq!(red.labels["product"], "Red card 32GB");
        assert!(close(value(red, "hdparm_t"), 21.64 * M), "{text}");
        assert!(close(value(red, "dd_write"), 18.5e6), "{text}");
        assert_eq!(value(red, "rand_read_4k"), 3110.0);
        assert_eq!(ids(blue), ["hdparm_t", "dd_write"], "{text}");
        assert_eq!(blue.labels["product"], "Blue, 16GB");
        assert!(close(value(blue, "hdparm_t"), 17.31 * M), "{text}");
    }
}

#[test]
fn a_table_without_labels_has_none() {
    let one = &table("hdparm_T;hdparm_t\n900,5 MiB/s;21,5 MiB/s\n").records[0];
    assert_eq!(ids(one), ["hdparm_T", "hdparm_t"]);
    assert!(one.labels.is_empty());
}

#[test]
fn cells_that_are_no_figures_are_listed_with_their_line() {
    let text =
        "Card;hdparm_t;speed\nRed;21,5 MiB/s;5\nBlue;fast 3;6\nGreen;1\n\nOther;7,5 MiB/s;1\n";
    let Import {
        records,
        not_understood,
    } = table(text);
    assert_eq!(records.len(), 1);
    let lines: Vec<_> = not_understood
        .iter()
        .map(|it| {
            (
                it.line,
                it.reason.as_deref().unwrap_or("").split(' ').nth(1),
            )
        })
        .collect();
    let words = [Some("the"), Some("names"), Some("a"), Some("as"), None];
    assert_eq!(
        lines,
        [1, 2, 3, 4, 6].into_iter().zip(words).collect::<Vec<_>>()
    );
    let heading = not_understood[0].reason.as_deref();
    assert_eq!(
        heading,
        Some("expected the name of a metric above column 3")
    );
    assert_eq!(not_understood[4].numbers, ["7,5 MiB/s", "1"]);
    // Without a metric in a heading there is no table.
    assert_eq!(table("Card;speed\nRed;5 MB/s\n").records, []);
}

#[test]
fn a_point_may_separate_thousands_or_decimals() {
    let values = |rows: &str| {
        let text = format!("Card;dd_write (kB/s);rand_read_4k (IOPS)\n{rows}");
        let Import {
            records,
            not_understood,
        } = table(&text);
        let metrics = records.into_iter().flat_map(|one| one.metrics);
        let values: Vec<f64> = metrics.map(|metric| metric.value).collect();
        (values, not_understood.len())
    };
    // Nothing shows which it is.
    assert_eq!(values("A;2.652;-\n"), (vec![], 1));
    assert_eq!(values("A;2,652;-\nB;3,107;-\n"), (vec![], 2));
    // Another figure does.
    assert_eq!(values("A;2.652;10,5\n"), (vec![2_652e3, 10.5], 0));
    assert_eq!(values("A;2.652;10.5\n"), (vec![2652.0, 10.5], 0));
    assert_eq!(values("A;2,652;-\nB;0.5;-\n"), (vec![2_652e3, 500.0], 0));
    assert_eq!(values("A;1.107.500,5;-\n"), (vec![1_107_500_500.0], 0));
    // Both: each number that shows it itself is read.
    assert_eq!(
        values("A;10,5;-\nB;10.5;-\nC;2.652;-\n"),
        (vec![10_500.0, 10_500.0], 1)
    );
}

/// Tables of the common scripts as people publish them.
#[test]
fn headings_are_read_in_the_words_that_people_use() {
    let text = "Card\thdparm buffered\tdd write\t4K rand read\n\
                Red\t21.88 MB/s\t20.2 MB/s\t9.61 MB/s\nBlue\t13.37 MB/s\tSad\t–\n";
    let Import {
        records,
        not_understood,
    } = table(text);
    assert_eq!(not_understood.len(), 1);
    assert_eq!(not_understood[0].line, 3);
    let [red, blue] = records.as_slice() else {
        panic!("{records:?}")
    };
    assert_eq!(ids(red), ["hdparm_t", "dd_write", "iozone_random_read"]);
    // hdparm prints MB of 1,048,576 bytes; the table may have converted them.
    let timing = metric(red, "hdparm_t");
    assert!(timing.low.is_some_and(|low| close(low, 21.88e6)));
    assert!(timing.high.is_some_and(|high| close(high, 21.88 * M)));
    assert!(close(value(red, "dd_write"), 20.2e6));
    assert_eq!(
        kinds(red),
        [FindingKind::DoubtfulFigure, FindingKind::AmbiguousUnit]
    );
    assert_eq!(red.findings[0].workloads, ["iozone_random_read"]);
    assert_eq!(ids(blue), ["hdparm_t"]);
    let raw = "Card,16M seq. read (MB/s),4K rand. read (KB/s)\nRed,42.75,854\n";
    assert_eq!(
        ids(&table(raw).records[0]),
        ["iozone_read_16m", "iozone_random_read_4k"]
    );
    // Without such columns, the tool is unknown.
    assert_eq!(table("Card,4K rand. read (MB/s)\nRed,42.75\n").records, []);
}

#[test]
fn tests_may_stand_in_rows() {
    let text = "| Benchmark | Card A | Card B |\n|---|---|---|\n\
                | iozone 4K random read | 14.77MB/s | - |\n\
                | hdparm buffered (MiB/s) | **44.5** | 216 |\n| Write | 270 MB/s | 267 MB/s |\n";
    let tabs: Vec<String> = text
        .lines()
        .map(|line| line.trim_matches([' ', '|']).replace('|', "\t"))
        .collect();
    for text in [text.to_owned(), tabs.join("\n")] {
        let Import {
            records,
            not_understood,
        } = table(&text);
        let [a, b] = records.as_slice() else {
            panic!("{text}: {records:?}")
        };
        assert_eq!(ids(a), ["iozone_random_read", "hdparm_t"]);
        assert_eq!(a.labels["product"], "Card A");
        assert!(close(value(b, "hdparm_t"), 216.0 * M));
        let lines: Vec<_> = not_understood
            .iter()
            .map(|it| (it.line, it.reason.is_some()))
            .collect();
        assert_eq!(lines, [(5, true)]);
    }
    let one = &table("Test;Result\nhdparm_t;43.5 MiB/s\n").records[0];
    assert!(one.labels.is_empty());
}
