//! Sides that can be compared, and those that cannot.

use cardmark_catalog::publications;
use cardmark_core::{
    Estimate, Metric, Origin, OriginKind, Quantity, RateParts, Record, run_id_from_bytes,
};
use cardmark_judge::{Compared, NotComparable, compare_sides};
use cardmark_stats::{Claim, Conclusion};

fn published() -> Vec<Record> {
    let publications = publications().iter();
    publications
        .flat_map(|publication| publication.records())
        .collect()
}

fn side<'a>(records: &'a [Record], labels: &[(&str, &str)]) -> Vec<&'a Record> {
    let has = |record: &Record, (key, value): &(&str, &str)| {
        record.labels.get(*key).map(String::as_str) == Some(*value)
    };
    let is_of = |record: &&Record| labels.iter().all(|label| has(record, label));
    let side: Vec<&Record> = records.iter().filter(is_of).collect();
    assert!(!side.is_empty(), "{labels:?}");
    side
}

fn dramble<'a>(records: &'a [Record], setting: &str) -> Vec<&'a Record> {
    let labels = [("publication", "geerling-dramble"), ("setting", setting)];
    side(records, &labels)
}

fn measured(number: u8, product: &str) -> Record {
    let id = run_id_from_bytes([number; 16]);
    let mut record = Record::new(id, Origin::of(OriginKind::Measured));
    let product = ("product".to_owned(), product.to_owned());
    record.labels.extend([product]);
    let value = 1e6 + f64::from(number);
    record.metrics = vec![Metric::new("dd_write", Quantity::ByteRate, value)];
    record
}

fn compare(base: Vec<&Record>, other: Vec<&Record>) -> Result<Compared, NotComparable> {
    compare_sides(&[base, other], &[], &[])
}

/// The article: the card slot of the Pi 3, overclocked, is twice as fast in sequence.
#[test]
fn the_same_cards_in_two_settings_are_matched() {
    let records = published();
    let sides = ["pi3", "pi3-oc100"].map(|setting| dramble(&records, setting));
    let [base, other] = sides;
    let results = compare(base, other).unwrap();
    assert_eq!(results.claim, Claim::Matched);
    let mut differences = results.differences.iter();
    let read = differences.find(|it| it.metric == "hdparm_t").unwrap();
    assert_eq!(read.outcome, Conclusion::Higher, "{read:?}");
    assert!((1.6..1.9).contains(&read.ratio), "{read:?}");
}

#[test]
fn products_on_one_side_are_left_out_of_matched_sides() {
    let all = [(1, "A"), (2, "B"), (3, "A"), (4, "B"), (5, "C")];
    let records = all.map(|(number, product)| measured(number, product));
    let [base, other] = [&records[..2], &records[2..]].map(|side| side.iter().collect());
    let results = compare(base, other).unwrap();
    assert_eq!(results.left_out, ["C"]);
    assert_eq!(results.counts.map(|counts| counts.runs), [2, 2]);
}

/// Values with their stalls are those of the runs that are compared, whether or not each has parts.
#[test]
fn the_share_of_stalls_is_that_of_all_compared_runs() {
    let stalled = |number: u8, product: &str| {
        let mut record = measured(number, product);
        let body = Estimate {
            value: 4.0 * record.metrics[0].value,
            ..Estimate::default()
        };
        record.metrics[0].parts = Some(RateParts {
            body,
            ..RateParts::default()
        });
        record
    };
    let share = |base: &[Record], other: &[Record]| {
        let results = compare(base.iter().collect(), other.iter().collect()).unwrap();
        let found = results.with_stalls.get("dd_write").copied();
        found.map(|ratios| ratios.map(|ratio| (1e6 * ratio).round() / 1e6))
    };
    let plain = |number| measured(number, "A");
    let half = [stalled(1, "A"), plain(2)];
    assert_eq!(share(&half, &[plain(3)]), Some([0.5, 1.0]));
    assert_eq!(share(&half[1..], &[plain(3)]), None);
    let others = [plain(3), measured(4, "B"), stalled(5, "C")];
    assert_eq!(share(&[plain(1), measured(2, "B")], &others), None);
}

#[test]
fn a_run_on_both_sides_and_mixtures_of_products_are_refused() {
    let records = [measured(1, "A"), measured(2, "B"), measured(3, "A")];
    let both = compare(vec![&records[0]], vec![&records[2], &records[0]]);
    let id = records[0].id.to_string();
    assert_eq!(both.unwrap_err(), NotComparable::OnBothSides(id));
    let mixture = compare(vec![&records[0], &records[1]], vec![&records[2]]);
    let common = vec!["A".to_owned()];
    assert_eq!(mixture.unwrap_err(), NotComparable::Mixtures { common });
}

#[test]
fn circumstances_that_differ_are_refused_unless_they_are_allowed_to() {
    let (one, mut other) = (measured(1, "A"), measured(2, "A"));
    other.origin = Origin::of(OriginKind::Published);
    let compare = |across: &[&str]| {
        let across: Vec<String> = across.iter().map(|&name| name.to_owned()).collect();
        compare_sides(&[vec![&one], vec![&other]], &[], &across)
    };
    let Err(NotComparable::Differ(rows)) = compare(&[]) else {
        panic!("two origins");
    };
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["origin"]);
    assert_eq!(compare(&["origin"]).unwrap().differences.len(), 1);
    let unknown = compare(&["weather"]).unwrap_err();
    let NotComparable::UnknownContext { name, known } = unknown else {
        panic!("{unknown:?}");
    };
    assert_eq!(name, "weather");
    assert!(known.contains(&"board".to_owned()), "{known:?}");
}

#[test]
fn a_comparison_may_be_restricted_to_metrics() {
    let (mut one, mut other) = (measured(1, "A"), measured(2, "A"));
    for record in [&mut one, &mut other] {
        let rate = Metric::new("hdparm_t", Quantity::ByteRate, 2e7);
        record.metrics.push(rate);
    }
    let sides = [vec![&one], vec![&other]];
    let compare = |metric: &str| compare_sides(&sides, &[metric.to_owned()], &[]);
    let differences = compare("hdparm_t").unwrap().differences;
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].metric, "hdparm_t");
    assert_eq!(compare("tps").unwrap_err(), NotComparable::NoMetric);
}
