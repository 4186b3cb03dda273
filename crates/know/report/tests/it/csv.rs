//! Comma-separated values.

use cardmark_core::{Board, Quantity};
use cardmark_report::csv;
use insta::assert_snapshot;

use crate::builder::{bare, empty, rate, warn};

#[test]
fn one_row_for_each_metric() {
    let mut record = empty();
    record.metrics = vec![
        rate("seq_write_1m", 23_440_000.25, 1_048_576.0, 0.5),
        bare("reach", Quantity::Ratio, 0.1),
    ];
    warn(&mut record, "seq_write_1m", "not_settled");
    warn(&mut record, "seq_write_1m", "throttled");
    let table = csv(&[record]);
    assert!(table.lines().count() == 3 && table.matches("\r\n").count() == 3);
    assert_snapshot!(table.replace('\r', ""), @r"
    record_id,started_at,suite,suite_version,origin,target_kind,board_model,metric,quantity,unit,value,low,high,interval_kind,warnings,product,printed,publication,author,published,address,licence
    67e55044-10b1-426f-9247-bb680e5fe0c8,2025-03-04T12:00:41Z,quick,1,measured,directory,Raspberry Pi 4 Model B Rev 1.4,seq_write_1m,byte_rate,bytes/s,23440000.25,11720000.125,35160000.375,between_rounds,not_settled throttled,,,,,,,
    67e55044-10b1-426f-9247-bb680e5fe0c8,2025-03-04T12:00:41Z,quick,1,measured,directory,Raspberry Pi 4 Model B Rev 1.4,reach,ratio,1,0.1,,,none,,,,,,,,
    ");
}

#[test]
fn no_text_becomes_a_formula_or_a_column() {
    let mut record = empty();
    record.board = Some(Board {
        model: Some("=HYPERLINK(\"http://x\",\"a\")".to_owned()),
        ..Board::default()
    });
    record.started_at = Some("-1\nnext".to_owned());
    record.metrics = vec![bare("@sum", Quantity::Count, -3.0)];
    let table = csv(&[record]);
    assert!(
        table.contains(",\"'=HYPERLINK(\"\"http://x\"\",\"\"a\"\")\","),
        "{table}"
    );
    assert!(table.contains(",\"'-1\nnext\","), "{table}");
    assert!(
        table.contains(",'@sum,count,1,-3,,,none,,,,,,,,\r\n"),
        "{table}"
    );
}

#[test]
fn no_records_leave_the_heading() {
    assert_eq!(csv(&[]).lines().count(), 1);
}
