//! Comparisons, rankings and histories of simulated cards, whose truth is known.

use cardmark_catalog::{publications, suite};
use cardmark_core::{
    Metric, Origin, OriginKind, Quantity, Record, Sample, parse_record, run_id_from_bytes,
};
use cardmark_judge::{
    Compared, Field, FieldFilter, HistoryGroup, NotComparable, Order, Ranking, compare_sides,
    history,
};
use cardmark_samples::{Model, full_record, later_records, simulated};
use cardmark_stats::{Claim, Conclusion, RateTrend};

fn model(name: &str) -> Model {
    Model::named(name).unwrap()
}

/// Runs of a simulated card with these seeds and labels.
fn runs(name: &str, seeds: std::ops::RangeInclusive<u64>, labels: &[(&str, &str)]) -> Vec<Record> {
    let run = |seed| {
        let mut run = simulated(&model(name), "quick", seed);
        let labels = labels
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        run.labels.extend(labels);
        run
    };
    seeds.map(run).collect()
}

fn compare(base: &[Record], other: &[Record], across: &[&str]) -> Result<Compared, NotComparable> {
    let across: Vec<String> = across.iter().map(|&name| name.to_owned()).collect();
    let sides = [base, other].map(|side| side.iter().collect());
    compare_sides(&sides, &[], &across)
}

#[test]
fn a_faster_card_is_found_faster_and_the_interval_holds_the_truth() {
    let base = runs("a1-32gb", 1..=3, &[("product", "A"), ("sample", "1")]);
    let other = runs("a2-64gb", 1..=3, &[("product", "B"), ("sample", "2")]);
    let compared = compare(&base, &other, &["span"]).unwrap();
    assert_eq!(compared.claim, Claim::Cards);
    let mut differences = compared.differences.iter();
    let write = differences
        .find(|one| one.metric == "rand_write_4k")
        .unwrap();
    assert_eq!(write.outcome, Conclusion::Higher, "{write:?}");
    let quick = suite("quick", None).unwrap();
    let workload = quick.workload("rand_write_4k").unwrap();
    let [base, other] =
        ["a1-32gb", "a2-64gb"].map(|name| model(name).truth(workload).unwrap().operations_per_s);
    let truth = other / base;
    let (low, high) = (write.low.unwrap(), write.high.unwrap());
    assert!(low < truth && truth < high, "{truth}: {write:?}");
    assert!(high / low < 1.15, "{write:?}");
}

#[test]
fn the_same_card_is_no_faster_than_itself() {
    let compared = compare(
        &runs("a1-32gb", 1..=3, &[]),
        &runs("a1-32gb", 11..=13, &[]),
        &[],
    );
    let differences = compared.unwrap().differences;
    assert!(differences.len() >= 5, "{differences:?}");
    for difference in differences {
        let is_neither = matches!(difference.outcome, Conclusion::Same | Conclusion::Undecided);
        assert!(is_neither, "{difference:?}");
    }
}

#[test]
fn sides_that_mix_the_same_suites_differ_in_them() {
    let side = |seed| ["quick", "dramble"].map(|suite| simulated(&model("a1-32gb"), suite, seed));
    let (one, other) = (side(1), side(2));
    let Err(NotComparable::Differ(rows)) = compare(&one, &other, &[]) else {
        panic!("two suites on each side");
    };
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert!(names.contains(&"suite"), "{names:?}");
    assert!(compare(&one[..1], &other[..1], &[]).is_ok());
}

/// Different circumstances are a reason to refuse; an unknown word is none.
#[test]
fn words_of_later_versions_do_not_keep_runs_from_being_compared() {
    let parsed = |document: &str| parse_record(document).unwrap();
    let full = [parsed(&full_record())];
    for later in later_records() {
        let compared = compare(&full, &[parsed(&later.document)], &[]);
        let is_fine = matches!(compared, Ok(_) | Err(NotComparable::Differ(_)));
        assert!(is_fine, "{}: {compared:?}", later.what);
    }
}

fn ranked(asked: Option<&Record>, all: &[Record], metric: &str, filter: &FieldFilter) -> Ranking {
    let mut field = Field::new(metric, asked, filter);
    all.iter().for_each(|record| field.add_record(record));
    field.ranking().unwrap()
}

#[test]
fn a_run_has_its_place_among_other_simulated_cards() {
    let all = runs("a1-32gb", 1..=2, &[("product", "A")]);
    let asked = runs("c10-16gb", 1..=1, &[("product", "C")]).remove(0);
    let found = ranked(Some(&asked), &all, "rand_write_4k", &FieldFilter::default());
    let places: Vec<_> = found
        .places
        .iter()
        .map(|place| (place.name.as_str(), place.runs_count, place.is_asked))
        .collect();
    assert_eq!(places, [("A", 2, false), ("C", 1, true)]);
}

#[test]
fn a_run_is_placed_among_published_figures_of_other_methods() {
    let mut own = Record::new(run_id_from_bytes([1; 16]), Origin::of(OriginKind::Imported));
    own.metrics = vec![Metric::new("rand_write_4k", Quantity::OperationRate, 500.0)];
    let mut all = runs("a1-32gb", 1..=1, &[("product", "Simulated")]);
    all.extend(
        publications()
            .iter()
            .flat_map(|publication| publication.records()),
    );
    let found = ranked(Some(&own), &all, "rand_write_4k", &FieldFilter::default());
    assert!(found.places.len() > 80, "{}", found.places.len());
    let is_simulated = |origin: OriginKind| origin == OriginKind::Simulated;
    assert!(!found.places.iter().any(|place| is_simulated(place.origin)));
    assert_eq!(found.simulated_count, 1);
    let mut places = found.places.iter();
    let evo = places.find(|place| {
        place.name == "Samsung Evo+ 32 GB" && place.publication.as_deref() == Some("geerling-a2")
    });
    let evo = evo.unwrap();
    assert_eq!(evo.method, Some("iozone"));
    // 3.85 MB/s in blocks of 4 KiB.
    assert!((900.0..1000.0).contains(&evo.value), "{evo:?}");
    let exact = FieldFilter {
        is_exact: true,
        ..FieldFilter::default()
    };
    let alone = ranked(Some(&own), &all, "rand_write_4k", &exact);
    assert!(alone.is_alone(), "{alone:?}");
}

/// Seconds that the author printed: 161 for the best card, 1070 for the worst.
#[test]
fn times_have_the_shortest_first() {
    let all: Vec<Record> = publications()
        .iter()
        .flat_map(|publication| publication.records())
        .collect();
    let metric = "desktop_install_time_1st";
    let found = ranked(None, &all, metric, &FieldFilter::default());
    assert_eq!(found.order, Order::LowestFirst);
    // The mean over runs leaves rounding errors below a nanosecond.
    let seconds = found.places.iter().map(|place| place.value.round() / 1e9);
    let seconds: Vec<f64> = seconds.collect();
    assert_eq!(
        seconds,
        [161.0, 178.0, 190.0, 207.0, 216.0, 253.0, 430.0, 1070.0]
    );
}

/// Rows of one board in two settings.
#[test]
fn rows_of_two_settings_are_two_places() {
    let filter = FieldFilter {
        publication: Some("geerling-turing-pi".to_owned()),
        ..FieldFilter::default()
    };
    let published: Vec<Record> = publications()
        .iter()
        .flat_map(|publication| publication.records())
        .collect();
    let found = ranked(None, &published, "iozone_random_write", &filter);
    for printed in ["23.28", "28.54"] {
        let has = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains(printed));
        assert!(
            found.places.iter().any(|place| has(&place.printed)),
            "{printed}: {found:?}"
        );
    }
    assert!(
        found.places.iter().all(|place| place.runs_count == 1),
        "{found:?}"
    );
    // Own runs as well.
    let own = [(1, "on", 10e6), (2, "off", 20e6)].map(|(number, setting, rate)| {
        let id = run_id_from_bytes([number; 16]);
        let mut run = Record::new(id, Origin::of(OriginKind::Imported));
        run.metrics = vec![Metric::new("dd_write", Quantity::ByteRate, rate)];
        for (key, value) in [("product", "Mine"), ("setting", setting)] {
            run.labels.insert(key.to_owned(), value.to_owned());
        }
        run
    });
    let found = ranked(None, &own, "dd_write", &FieldFilter::default());
    let boards: Vec<_> = found
        .places
        .iter()
        .map(|place| place.board.as_deref().unwrap())
        .collect();
    assert_eq!(boards, ["unknown board, off", "unknown board, on"]);
}

/// Runs of one card, one a month, whose random write is multiplied by this factor.
fn months(count: u32, factor: impl Fn(u32) -> f64) -> Vec<Record> {
    let run = |month: u32| {
        let mut run = simulated(&model("a1-32gb"), "quick", u64::from(month));
        run.origin.kind = OriginKind::Measured;
        run.started_at = Some(format!("2026-{month:02}-03T10:00:00Z"));
        run.devices[0].sample = Some(Sample::of_card("aaaaaa"));
        for metric in &mut run.metrics {
            if metric.id == "rand_write_4k" {
                metric.value *= factor(month);
            }
        }
        run
    };
    (1..=count).map(run).collect()
}

fn trend<'a>(groups: &'a [HistoryGroup<'_>], metric: &str) -> &'a RateTrend {
    let mut trends = groups[0].trends.iter();
    trends.find(|trend| trend.metric == metric).unwrap()
}

#[test]
fn a_card_that_gets_worse_is_found_with_rate_and_size() {
    let runs = months(9, |month| 0.5_f64.powf(f64::from(month - 1) / 8.0));
    let groups = history(&runs, &[]);
    assert_eq!((groups.len(), groups[0].runs.len()), (1, 9));
    let write = trend(&groups, "rand_write_4k");
    assert_eq!(write.outcome, Some(Conclusion::Lower));
    let change = write.change_ratio.unwrap();
    assert!((change + 0.5).abs() < 0.06, "{write:?}");
    assert!(write.adjusted_p_value.unwrap() < 0.01, "{write:?}");
    for other in ["seq_write_1m", "rand_read_4k", "sync_write_4k"] {
        let outcome = trend(&groups, other).outcome.unwrap();
        assert!(
            matches!(outcome, Conclusion::Same | Conclusion::Undecided),
            "{other}"
        );
    }
}

#[test]
fn another_level_is_found_with_its_days_and_the_reference_reads() {
    let runs = months(9, |month| if month < 7 { 1.0 } else { 0.5 });
    let groups = history(&runs, &[]);
    let shift = trend(&groups, "rand_write_4k").shift.unwrap();
    assert_eq!((shift.days_count, shift.beyond_count), (3, 3));
    assert!(shift.reference_ratio.unwrap().abs() < 0.05, "{shift:?}");
    assert!(trend(&groups, "rand_read_4k").shift.is_none());
}

#[test]
fn too_few_days_have_no_outcome() {
    let runs = months(4, |month| 0.5_f64.powf(f64::from(month - 1) / 3.0));
    assert_eq!(trend(&history(&runs, &[]), "rand_write_4k").outcome, None);
}
