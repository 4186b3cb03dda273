//! The listing of runs.

use cardmark_core::Quantity;
use cardmark_report::{RunLine, Style, headline, list_table, name_table};
use insta::assert_snapshot;

fn rates() -> Vec<(String, f64, Quantity)> {
    [
        ("seq_write_1m", 23_440_000.0, Quantity::ByteRate),
        ("seq_read_1m", 43_710_000.0, Quantity::ByteRate),
        ("rand_read_4k", 2250.4, Quantity::OperationRate),
        ("rand_write_4k", 701.2, Quantity::OperationRate),
    ]
    .map(|(id, value, quantity)| (id.to_owned(), value, quantity))
    .to_vec()
}

fn runs() -> Vec<RunLine> {
    vec![
        RunLine {
            id: "67e55044-10b1-426f-9247-bb680e5fe0c8".to_owned(),
            started_at: Some("2025-03-04T12:00:41Z".to_owned()),
            suite: Some("quick 1".to_owned()),
            target: "Example Ultra 64, file in a directory".to_owned(),
            result: headline(&rates()),
        },
        RunLine {
            id: "0badcafe-10b1-426f-9247-bb680e5fe0c8".to_owned(),
            target: "sim".to_owned(),
            result: headline(&rates()[1..3]),
            ..RunLine::default()
        },
    ]
}

#[test]
fn at_120_columns() {
    assert_snapshot!(list_table(&runs(), 120, Style::Plain), @r"
    run       started (UTC)     suite    target                                 result (read/write, random)
    67e55044  2025-03-04 12:00  quick 1  Example Ultra 64, file in a directory  43.7/23.4 MB/s, 2250/701 IOPS
    0badcafe  –                 –        sim                                    43.7/– MB/s, 2250/– IOPS
    ");
}

#[test]
fn at_80_columns() {
    assert_snapshot!(list_table(&runs(), 80, Style::Plain), @r"
    run       started (UTC)     suite    target        result (read/write, random)
    67e55044  2025-03-04 12:00  quick 1  Example Ult…  43.7/23.4 MB/s, 2250/701 IOPS
    0badcafe  –                 –        sim           43.7/– MB/s, 2250/– IOPS
    ");
}

#[test]
fn at_40_columns() {
    assert_snapshot!(list_table(&runs(), 40, Style::Plain), @r"
    67e55044 2025-03-04 12:00 quick 1
      Example Ultra 64, file in a directory
      43.7/23.4 MB/s, 2250/701 IOPS
    0badcafe – –
      sim
      43.7/– MB/s, 2250/– IOPS
    ");
}

#[test]
fn no_runs_are_no_text() {
    assert_eq!(list_table(&[], 80, Style::Plain), "");
}

#[test]
fn headlines_of_other_suites_name_their_ids() {
    let rates = [("hdparm_t".to_owned(), 21_130_000.0, Quantity::ByteRate)];
    assert_eq!(headline(&rates), "hdparm_t 21.1 MB/s");
    let rates = [("files_per_s".to_owned(), 213.0, Quantity::OperationRate)];
    assert_eq!(headline(&rates), "files_per_s 213 files/s");
    assert_eq!(headline(&[]), "–");
}

#[test]
fn names_stand_beside_or_above_what_belongs_to_them() {
    let rows = || {
        vec![
            ("a".repeat(45), "word ".repeat(30)),
            ("b".to_owned(), "c".repeat(95)),
        ]
    };
    for width in [20, 39, 40, 41] {
        let text = name_table(rows(), width);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{width}: {text}");
        assert_eq!(text.matches('c').count(), 95);
    }
    let rows = || vec![("name".to_owned(), "twelve chars".to_owned())];
    assert_eq!(name_table(rows(), 18), "name  twelve chars\n");
    assert_eq!(name_table(rows(), 17), "name\n  twelve chars\n");
    assert_eq!(name_table(Vec::new(), 17), "");
}
