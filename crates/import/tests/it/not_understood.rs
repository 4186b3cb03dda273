//! Lines with numbers that are in no record are listed, and no others.

use cardmark_import::NotUnderstood;

use crate::fixture;
use crate::known::known;

fn listed(text: &str) -> Vec<NotUnderstood> {
    cardmark_import::import(text, &[]).not_understood
}

#[test]
fn a_whole_output_is_understood() {
    let others = [
        fixture!("ddrescue-1.27-fast.txt"),
        fixture!("fio-3.33-agnostics-run.json"),
        fixture!("fio-3.33-agnostics.txt"),
        fixture!("iozone-3.489-all.txt"),
        fixture!("iozone-3.489-threads.txt"),
        fixture!("kdiskmark-1.6.0-default.txt"),
    ];
    let known = known();
    let texts = known.iter().map(|known| known.text.as_str());
    let listed: Vec<_> = texts
        .chain(others)
        .flat_map(|text| {
            let listed = listed(text).into_iter();
            listed.map(|one| (text.lines().nth(one.line - 1).unwrap(), one))
        })
        .collect();
    assert_eq!(listed, []);
}

#[test]
fn other_lines_are_listed_with_their_numbers_only() {
    let timing = fixture!("hdparm-9.65-t.txt");
    let damaged = timing.replace("3.10 seconds", "3.1O seconds");
    let text = format!("Bob's card: 43.5 MB/s, random 3110 IOPS\nno number\n{timing}{damaged}");
    let lines = listed(&text);
    let [other, line] = lines.as_slice() else {
        panic!("{lines:?}")
    };
    assert_eq!(other.line, 1);
    assert_eq!(other.numbers, ["43.5 MB/s", "3110 IOPS"]);
    assert_eq!(other.reason, None);
    assert_eq!(line.line, 8);
    assert_eq!(line.numbers, ["64 MB", "20.62 MB/sec"]);
    let reason = line.reason.as_deref().unwrap();
    assert!(
        reason.starts_with("not as hdparm prints it: expected `66 MB in"),
        "{reason}"
    );
}

#[test]
fn figures_of_a_damaged_report_are_listed() {
    let report = fixture!("kdiskmark-2.2.1-one-test.txt").replacen(" IOPS]", " IOPX]", 1);
    let lines = listed(&report);
    assert!(
        lines
            .iter()
            .any(|it| it.numbers.contains(&"2.328 MB/s".to_owned())),
        "{lines:?}"
    );
    assert!(lines.iter().any(|it| it.reason.is_some()));
}
