//! Records of what other tools printed.

use std::collections::BTreeMap;

use cardmark_catalog::{CatalogError, metric_quantities, product, suite};
use cardmark_core::{
    Context, Origin, OriginKind, Quantity, Record, Suite, SuiteRef, simulated_run_id,
};
use cardmark_import::{Imported, KnownMetric, tool_metrics};
use cardmark_judge::{advise, judge};

/// Source of an imported record, and what its owner adds.
#[derive(Clone, Copy, Debug)]
pub struct ImportedFrom<'a> {
    /// The text, or the kind of source.
    pub source: &'a str,
    /// Which record of it.
    pub which: &'a [String],
    /// Model of the board.
    pub board: Option<&'a str>,
    /// Labels; the last of a name counts.
    pub labels: &'a [(String, String)],
}

/// Makes the record of what a reader understood. Its id follows from the source, so that the same import is the same record.
///
/// # Errors
/// If the catalogue lacks the suite with the same figures.
pub fn imported_record(one: Imported, from: &ImportedFrom<'_>) -> Result<Record, CatalogError> {
    let empty = Record::new(id_parts(from), Origin::of(OriginKind::Imported));
    let printed_text = one.printed_text();
    let suite = one.suite.map(|name| suite(name, None)).transpose()?;
    let mut record = Record {
        board: one.board,
        host: one.host,
        devices: one.device.into_iter().collect(),
        metrics: one.metrics,
        findings: one.findings,
        ..empty
    };
    record.origin.tool = Some(one.tools.join(", "));
    record.origin.printed_text = printed_text;
    record.suite = suite.as_ref().map(|suite| suite_of(suite, &record));
    if let Some(model) = from.board {
        record.board.get_or_insert_default().model = Some(model.to_owned());
    }
    advise(&mut record);
    record.derived = judge(&record, suite.as_ref());
    record.context = Some(Context::of(&record));
    record.labels = one.labels;
    if let Some(label) = record.labels.get_mut("product")
        && let Some(product) = product(label)
    {
        *label = product.name();
    }
    record.labels.extend(from.labels.iter().cloned());
    Ok(record)
}

/// Two cards may have the same figures: labels and board are part of the id.
fn id_parts(from: &ImportedFrom<'_>) -> uuid::Uuid {
    let mut parts = vec!["imported", from.source];
    parts.extend(from.which.iter().map(String::as_str));
    let board = from.board.map(|board| format!("board {board}"));
    let labels: BTreeMap<&String, &String> = from
        .labels
        .iter()
        .map(|(key, value)| (key, value))
        .collect();
    let labels = labels
        .into_iter()
        .map(|(key, value)| format!("label {key}={value}"));
    let described: Vec<String> = board.into_iter().chain(labels).collect();
    parts.extend(described.iter().map(String::as_str));
    simulated_run_id(&parts)
}

/// The suite, with the figures that are there if some are missing.
fn suite_of(suite: &Suite, record: &Record) -> SuiteRef {
    let ids = suite.figures.iter().map(|figure| figure.id.as_str());
    let (there, missing): (Vec<&str>, Vec<&str>) = ids.partition(|id| record.metric(id).is_some());
    let only = if missing.is_empty() {
        Vec::new()
    } else {
        there
    };
    SuiteRef {
        name: suite.name.clone(),
        version: suite.version,
        digest: None,
        only: only.into_iter().map(str::to_owned).collect(),
        tier: None,
    }
}

/// Returns the metrics that typed figures and tables may name, in the order of their ids: those of our suites, of publications, and of the
/// tools. `title` names a metric.
pub fn known_metrics(title: impl Fn(&str) -> &str) -> Vec<KnownMetric> {
    let of_tools = tool_metrics().into_iter();
    let mut quantities: BTreeMap<String, Quantity> = of_tools
        .map(|metric| (metric.id, metric.quantity))
        .collect();
    quantities.extend(metric_quantities());
    let metrics = quantities.into_iter().map(|(id, quantity)| KnownMetric {
        title: title(&id).to_owned(),
        id,
        quantity,
    });
    metrics.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::slice;

    use cardmark_core::VerdictOutcome;
    use cardmark_import::import;

    use super::*;

    fn label(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    fn records(text: &str, board: Option<&str>, labels: &[(String, String)]) -> Vec<Record> {
        let records = import(text, &known_metrics(|id| id)).records.into_iter();
        let record = |(index, one): (usize, Imported)| {
            let from = ImportedFrom {
                source: text,
                which: &[index.to_string()],
                board,
                labels,
            };
            imported_record(one, &from).unwrap()
        };
        records.enumerate().map(record).collect()
    }

    const HDPARM: &str = include_str!("../../import/fixtures/hdparm-9.65-t.txt");

    #[test]
    fn the_id_follows_from_text_board_and_labels() {
        let (a, b, n) = (
            label("product", "A"),
            label("product", "B"),
            label("n", "1"),
        );
        let record = |board, labels: &[(String, String)]| records(HDPARM, board, labels).remove(0);
        let cards = [
            record(None, &[]),
            record(None, slice::from_ref(&a)),
            record(None, slice::from_ref(&b)),
            record(Some("Pi 4"), slice::from_ref(&a)),
            record(Some("Pi 5"), slice::from_ref(&a)),
            record(None, &[a.clone(), n.clone()]),
        ];
        let ids: BTreeSet<_> = cards.iter().map(|record| record.id).collect();
        assert_eq!(ids.len(), cards.len());
        assert_eq!(cards[2].labels["product"], "B");
        let board = cards[4].board.as_ref().unwrap();
        assert_eq!(board.model.as_deref(), Some("Pi 5"));
        // The order of labels does not count, and the last of a name does.
        assert_eq!(record(None, &[n, a]), cards[5]);
        let replaced = record(None, &[label("product", "Z"), b]);
        assert_eq!(replaced, cards[2]);
    }

    #[test]
    fn a_product_of_the_catalogue_has_its_name_there() {
        let rows = "Card;hdparm_t (MiB/s)\nAmazon Basics 64GB;21,3\nMy old card;17,3\n";
        let products = records(rows, None, &[]).into_iter();
        let products: Vec<String> = products
            .map(|mut one| one.labels.remove("product").unwrap())
            .collect();
        assert_eq!(products, ["Amazon Basics 64 GB", "My old card"]);
    }

    /// The program passes a card with the first of three runs that passes. No record hides that, and none hides the run
    /// before it.
    #[test]
    fn a_card_that_passed_in_its_second_run_is_not_failed() {
        // As the program writes it.
        let unit = ["KB", "sec"].join("/");
        let run = |write: u64, word: &str| {
            format!(
                "seq-write;0;0;18565;4\nseq-read;22993;5;0;0\nrand-4k-write;0;0;{};{write}\n\
                 rand-4k-read;8117;2029;0;0\nSequential write speed 18565 {unit} (target 10000) - PASS\n\
                 Random write speed {write} IOPS (target 500) - {word}\n\
                 Random read speed 2029 IOPS (target 1500) - PASS\n",
                4 * write
            )
        };
        let text = format!(
            "Raspberry Pi Diagnostics - version 0.16\n\nTest : SD Card Speed Test\nRun 1\n{}Run 2\n{}Test PASS\n",
            run(359, "FAIL"),
            run(884, "PASS")
        );
        let outcomes = [VerdictOutcome::Fail, VerdictOutcome::Pass];
        let found = records(&text, None, &[]);
        assert_eq!(found.len(), outcomes.len());
        for (record, (outcome, run)) in found
            .iter()
            .zip(outcomes.into_iter().zip(["1 of 2: fail", "2 of 2: pass"]))
        {
            let verdicts = &record.derived.as_ref().unwrap().verdicts;
            let own = verdicts.iter().find(|verdict| verdict.rule == "agnostics");
            assert_eq!(own.unwrap().outcome, outcome);
            assert_eq!(record.labels["diagnostics"], "pass in run 2");
            assert_eq!(record.labels["run"], run);
        }
    }

    #[test]
    fn metrics_have_the_quantity_that_runs_give_them() {
        let known = known_metrics(|id| id);
        for (id, quantity) in [
            ("rand_read_4k", Quantity::OperationRate),
            ("rand_read_4k_p99", Quantity::Span),
            ("seq_write_1m", Quantity::ByteRate),
            ("iozone_random_write", Quantity::ByteRate),
            ("iozone_t4_read_parent", Quantity::ByteRate),
            ("hdparm_t", Quantity::ByteRate),
            ("agnostics_rand_write", Quantity::OperationRate),
            ("f3_usable", Quantity::Size),
        ] {
            let metric = known.iter().find(|metric| metric.id == id);
            assert_eq!(metric.map(|metric| metric.quantity), Some(quantity), "{id}");
        }
    }
}
