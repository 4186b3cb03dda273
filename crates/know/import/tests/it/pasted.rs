//! Pastes from public pages against what a careful person reads from them.

use cardmark_core::{Metric, Quantity};
use cardmark_import::{Import, Imported, KnownMetric, import};
use toml::{Table, Value};

use crate::ids;

/// Figures in all pastes: expected, read, and left out as the table of pastes expects.
const COUNTS: [usize; 3] = [452, 356, 96];

/// Relative error of the expected values, which have six digits.
const ROUNDING: f64 = 1e-5;

fn known() -> Vec<KnownMetric> {
    let ids = [
        "hdparm_t",
        "hdparm_T",
        "dd_write",
        "iozone_read",
        "iozone_write",
        "iozone_random_read",
        "iozone_random_write",
    ];
    ids.map(|id| KnownMetric::new(id, Quantity::ByteRate))
        .to_vec()
}

fn folder() -> String {
    format!("{}/fixtures/pasted", env!("CARGO_MANIFEST_DIR"))
}

fn rows<'a>(table: &'a Table, key: &str) -> Vec<&'a Value> {
    table[key].as_array().unwrap().iter().collect()
}

fn count(value: &Value) -> usize {
    usize::try_from(value.as_integer().unwrap()).unwrap()
}

/// Returns whether a metric has this value in one of its units; a unit with two meanings has both.
fn has_value(metric: &Metric, wanted: f64) -> bool {
    let near = |value: &f64| (value - wanted).abs() <= ROUNDING * wanted;
    let ends = [metric.rate_low_bytes_per_s, metric.rate_high_bytes_per_s];
    let values = [
        Some(metric.value),
        metric.rate_bytes_per_s,
        metric.operations_per_s,
    ];
    match ends {
        [Some(_), Some(_)] => ends.iter().flatten().any(near),
        _ => values.iter().flatten().any(near),
    }
}

/// Asserts that this figure of a text is in the records as it was printed.
fn assert_read(figure: &Value, text: &str, records: &[Imported]) {
    let line = text.lines().nth(count(&figure["line"]) - 1).unwrap();
    let number = figure["printed"]
        .as_str()
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    assert!(line.contains(number), "{figure:?}: {line}");
    let record = &records[count(&figure["record"]) - 1];
    let id = figure["id"].as_str().unwrap();
    let metric = record.metrics.iter().find(|metric| metric.id == id);
    let metric = metric.unwrap_or_else(|| panic!("{figure:?}: only {:?}", ids(record)));
    let printed = metric
        .printed
        .as_ref()
        .map_or("", |printed| printed.text.as_str());
    assert_eq!(printed, figure["printed"].as_str().unwrap());
    let wanted = figure["value"].as_float().unwrap();
    assert!(has_value(metric, wanted), "{figure:?}: {metric:?}");
}

#[test]
fn pasted_figures_arrive_and_all_others_are_listed() {
    let folder = folder();
    let expected = std::fs::read_to_string(format!("{folder}/expected.toml")).unwrap();
    let expected: Table = expected.parse().unwrap();
    let (mut read_count, mut unread_count) = (0, 0);
    for paste in rows(&expected, "paste") {
        let paste = paste.as_table().unwrap();
        let name = paste["file"].as_str().unwrap();
        let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let Import {
            records,
            not_understood,
        } = import(&text, &known());
        let figures = rows(paste, "figures");
        figures
            .iter()
            .for_each(|figure| assert_read(figure, &text, &records));
        let all: usize = records.iter().map(|record| record.metrics.len()).sum();
        assert_eq!(all, figures.len(), "{name}: {records:?}");
        let listed: Vec<usize> = not_understood.iter().map(|it| it.line).collect();
        let wanted: Vec<usize> = rows(paste, "listed").into_iter().map(count).collect();
        assert_eq!(listed, wanted, "{name}");
        read_count += all;
        unread_count += paste
            .get("unread")
            .map_or(0, |unread| count(&unread["count"]));
    }
    assert_eq!(
        [read_count + unread_count, read_count, unread_count],
        COUNTS
    );
}
