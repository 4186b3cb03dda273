use cardmark_catalog::use_of;
use cardmark_core::{Board, Origin, run_id_from_bytes};

use super::*;

fn published() -> Vec<Record> {
    let all = publications().iter();
    all.flat_map(cardmark_catalog::Publication::records)
        .collect()
}

/// Returns a run with three rates of a boot medium, in multiples of the sufficient ones.
fn run(product: &str, board: &str, read: f64, write: f64, sequential: f64) -> Record {
    let id = run_id_from_bytes([0; 16]);
    let mut record = Record::new(id, Origin::of(OriginKind::Measured));
    record.metrics = vec![
        Metric::new("rand_read_4k", Quantity::OperationRate, 2000.0 * read),
        Metric::new("rand_write_4k", Quantity::OperationRate, 800.0 * write),
        Metric::new("seq_read_1m", Quantity::ByteRate, 20e6 * sequential),
    ];
    record
        .labels
        .insert("product".to_owned(), product.to_owned());
    record.board = Some(Board {
        model: Some(board.to_owned()),
        ..Board::default()
    });
    record
}

fn names(standings: &[Standing]) -> Vec<&str> {
    standings.iter().map(|s| s.product.as_str()).collect()
}

fn of(records: &[Record], wish: &Wish) -> Recommendation {
    recommend(records, use_of("boot").unwrap(), wish)
}

/// The article recommends the Evo+, in agreement with its table of the Raspberry Pi 2.
#[test]
fn the_card_that_the_article_recommends_leads_on_its_board() {
    let records: Vec<Record> = publications()
        .iter()
        .filter(|publication| publication.id == "geerling-dramble")
        .flat_map(cardmark_catalog::Publication::records)
        .collect();
    let wish = Wish {
        board: Some("Pi 2".to_owned()),
        ..Wish::default()
    };
    let found = of(&records, &wish).standings;
    assert_eq!(
        names(&found)[..2],
        ["Samsung Evo+ 32 GB", "OWC Envoy SSD 64 GB"]
    );
    let evo = &found[0];
    assert_eq!(evo.suitability.limiting.metric, "iozone_random_write");
    assert_eq!((evo.runs_count, evo.cards_count), (1, 1));
    assert!(evo.is_sparse, "one run is little");
    assert_eq!(evo.sources, ["geerling-dramble"]);
    assert_eq!(evo.kind, Some(ProductKind::Microsd));
    // 3.00 MB/s in blocks of 4 KiB, read with 1,000 or 1,024 kB per MB: about 759 of 800.
    assert!((evo.suitability.limiting.share() - 0.95).abs() < 0.02);
    // For the no-name card only hdparm's figure is a number.
    let apart = of(&records, &wish).cannot_tell;
    assert_eq!(names(&apart), ["No-name C4 4 GB"]);
    assert!(apart[0].known_ratio < 0.25);
}

#[test]
fn what_limits_most_decides_and_what_is_not_known_comes_last() {
    let mut silent = run("silent", "b", 9.0, 9.0, 9.0);
    silent.metrics.pop();
    let records = [
        run("uneven", "b", 9.0, 0.8, 9.0),
        silent,
        run("even", "b", 1.1, 1.2, 1.3),
        run("slow", "b", 0.4, 9.0, 9.0),
    ];
    let found = of(&records, &Wish::default()).standings;
    assert_eq!(names(&found), ["even", "uneven", "slow", "silent"]);
    assert_eq!(found[1].suitability.limiting.metric, "rand_write_4k");
    assert_eq!(found[3].suitability.unknown, ["seq_read_1m"]);
}

#[test]
fn figures_that_a_cache_answered_for_recommend_nothing() {
    let mut cached = run("cached", "b", 9.0, 9.0, 9.0);
    for metric in &mut cached.metrics {
        metric.warnings = vec!["buffered".to_owned()];
    }
    let records = [cached, run("plain", "b", 1.0, 1.0, 1.0)];
    assert_eq!(names(&of(&records, &Wish::default()).standings), ["plain"]);
}

#[test]
fn cards_count_once_and_boards_are_kept_apart() {
    let sample = |record, sample| labelled(record, "sample", sample);
    let records = [
        sample(run("A", "b", 4.0, 4.0, 4.0), "1"),
        sample(run("A", "b", 4.0, 4.0, 4.0), "1"),
        sample(run("A", "b", 1.0, 1.0, 1.0), "2"),
        sample(run("A", "fast", 99.0, 99.0, 99.0), "1"),
    ];
    let found = of(&records, &Wish::default()).standings;
    let a = &found[0];
    assert!((a.suitability.limiting.share() - 2.0).abs() < 1e-9, "{a:?}");
    assert_eq!((a.runs_count, a.cards_count, a.elsewhere_count), (3, 2, 1));
    assert!(!a.is_sparse);
    assert_eq!(a.board.as_deref(), Some("b"));
}

/// Adds this label to the record.
fn labelled(mut record: Record, key: &str, text: &str) -> Record {
    record.labels.insert(key.to_owned(), text.to_owned());
    record
}

#[test]
fn settings_are_kept_apart() {
    let records = [
        labelled(run("A", "b", 1.0, 1.0, 1.0), "setting", "pi4-usb-bot"),
        labelled(run("A", "b", 4.0, 4.0, 4.0), "setting", "pi4-usb-uasp"),
        labelled(run("A", "b", 4.0, 4.0, 4.0), "setting", "pi4-usb-uasp"),
    ];
    let found = of(&records, &Wish::default()).standings;
    let a = &found[0];
    assert_eq!(a.conditions, ["setting pi4-usb-uasp"]);
    assert_eq!((a.runs_count, a.elsewhere_count), (2, 1));
    assert!((a.suitability.limiting.share() - 4.0).abs() < 1e-9, "{a:?}");
}

#[test]
fn simulated_cards_are_counted_and_left_out() {
    let mut simulated = run("sim", "b", 9.0, 9.0, 9.0);
    simulated.origin = Origin::of(OriginKind::Simulated);
    let found = of(&[simulated.clone()], &Wish::default());
    assert!(found.is_empty());
    let mut nameless = simulated.clone();
    nameless.labels.clear();
    let records = [simulated, nameless, run("real", "b", 1.0, 1.0, 1.0)];
    let found = of(&records, &Wish::default());
    assert_eq!(names(&found.standings), ["real"]);
    assert_eq!(
        (found.simulated_runs_count, found.nameless_runs_count),
        (2, 0)
    );
}

#[test]
fn few_data_are_told_by_the_need_that_fewest_runs_tell_of() {
    let only = |index: usize| {
        let mut record = run("A", "b", 1.0, 1.0, 1.0);
        record.metrics = vec![record.metrics.swap_remove(index)];
        record
    };
    let is_sparse = |records: &[Record]| of(records, &Wish::default()).standings[0].is_sparse;
    assert!(is_sparse(&[only(0), only(1), only(2)]), "one run a need");
    let whole = || run("A", "b", 1.0, 1.0, 1.0);
    assert!(is_sparse(&[whole(), whole(), only(0), only(1)]));
    assert!(!is_sparse(&[whole(), whole(), only(0), only(1), only(2)]));
    // A rate of 0 provides no information.
    let mut nothing = whole();
    nothing.metrics[1].value = 0.0;
    assert!(is_sparse(&[whole(), whole(), nothing]));
}

#[test]
fn two_publications_had_two_cards() {
    let from = |publication: &str, rate: f64| {
        labelled(run("A", "b", rate, rate, rate), "publication", publication)
    };
    let share = |records: &[Record]| {
        let found = of(records, &Wish::default()).standings;
        let limiting = found[0].suitability.limiting.share();
        (found[0].cards_count, (limiting * 1e6).round() / 1e6)
    };
    let records = [from("one", 4.0), from("one", 4.0), from("other", 1.0)];
    assert_eq!(share(&records), (2, 2.0));
    let records = records.map(|record| labelled(record, "sample", "1"));
    assert_eq!(share(&records), (2, 2.0));
}

#[test]
fn nothing_without_a_price_is_dropped_nor_given_one() {
    let priced = |record, price| labelled(record, "price", price);
    let records = [
        priced(run("cheap", "b", 1.0, 1.0, 1.0), "9,50 EUR"),
        priced(run("dear", "b", 2.0, 2.0, 2.0), "30 eur"),
        priced(run("dollars", "b", 3.0, 3.0, 3.0), "5 USD"),
        run("unknown", "b", 4.0, 4.0, 4.0),
    ];
    let wish = Wish {
        budget: Price::parse("10 EUR"),
        ..Wish::default()
    };
    let found = of(&records, &wish);
    assert_eq!(names(&found.standings), ["cheap"]);
    assert_eq!(found.too_dear_count, 1);
    assert_eq!(names(&found.price_not_known), ["unknown", "dollars"]);
    assert!(of(&published(), &wish).standings.is_empty());
}

#[test]
fn a_capacity_is_the_least_and_may_be_unknown() {
    let wish = Wish {
        capacity_bytes: Some(64_000_000_000),
        ..Wish::default()
    };
    let found = of(&published(), &wish);
    let least = found
        .standings
        .iter()
        .filter_map(|s| s.capacity_bytes)
        .min();
    assert_eq!(least, Some(64_000_000_000));
    assert!(found.too_small_count > 10);
    assert!(names(&found.capacity_not_known).contains(&"Kingston SSD"));
}

#[test]
fn runs_that_name_no_product_are_counted() {
    let mut nameless = run("A", "b", 1.0, 1.0, 1.0);
    nameless.labels.clear();
    let found = of(&[nameless], &Wish::default());
    assert_eq!((found.nameless_runs_count, found.standings.len()), (1, 0));
}

#[test]
fn without_the_rate_that_decides_nothing_is_ranked() {
    let records = [run("A", "b", 9.0, 9.0, 9.0), run("B", "b", 8.0, 8.0, 8.0)];
    let of = |records: &[Record]| recommend(records, use_of("database").unwrap(), &Wish::default());
    let found = of(&records);
    assert!(found.standings.is_empty() && found.cannot_answer());
    assert_eq!(found.unknown_needs, ["synced write 4 KiB"]);
    assert_eq!(names(&found.cannot_tell), ["A", "B"]);
    let mut known = run("C", "b", 1.0, 1.0, 1.0);
    let synced = Metric::new("sync_write_4k", Quantity::OperationRate, 200.0);
    known.metrics.push(synced);
    let [a, b] = records;
    let found = of(&[a, b, known]);
    assert_eq!(names(&found.standings), ["C"]);
    assert_eq!(names(&found.cannot_tell), ["A", "B"]);
    assert!(!found.cannot_answer());
    assert!(of(&published()).cannot_answer());
}

#[test]
fn only_the_wanted_kinds_are_ranked() {
    let ranked = |kinds: &[ProductKind]| {
        let wish = Wish {
            kinds: kinds.to_vec(),
            ..Wish::default()
        };
        let found = of(&published(), &wish).standings;
        let mut found: Vec<_> = found.into_iter().map(|one| one.kind).collect();
        found.sort();
        found.dedup();
        found
    };
    let (card, chip) = (ProductKind::Microsd, ProductKind::EmbeddedMmc);
    assert_eq!(ranked(&[card]), [Some(card)]);
    assert_eq!(ranked(&[chip]), [Some(chip)]);
    assert_eq!(ranked(&[card, chip]).len(), 2);
    assert!(ranked(&[]).len() > 2);
}

#[test]
fn each_filter_tells_how_many_it_left() {
    let wish = Wish {
        capacity_bytes: Some(64_000_000_000),
        budget: Price::parse("15 EUR"),
        board: Some("Pi 4".to_owned()),
        kinds: vec![ProductKind::Microsd],
        ..Wish::default()
    };
    let found = of(&published(), &wish);
    let filters: Vec<Filter> = found.left.iter().map(|left| left.filter).collect();
    let expected = [
        Filter::Rate,
        Filter::Board,
        Filter::Kind,
        Filter::Capacity,
        Filter::Budget,
    ];
    assert_eq!(filters, expected);
    let counts = found.left.iter().map(|left| left.products_count);
    assert!(
        counts.is_sorted_by(|one, next| one >= next),
        "{:?}",
        found.left
    );
    assert_eq!(
        found.left.last().unwrap().products_count,
        0,
        "nothing has a price"
    );
    assert!(found.other_kinds_count > 0 && found.standings.is_empty());
    let evo = "Samsung Evo Plus 64 GB".to_owned();
    let prices = BTreeMap::from([(evo, Price::parse("9.50").unwrap())]);
    let found = of(&published(), &Wish { prices, ..wish });
    assert_eq!(names(&found.standings), ["Samsung Evo Plus 64 GB"]);
    assert_eq!(found.left.last().unwrap().products_count, 1);
}

#[test]
fn a_product_tells_when_it_was_tested_and_sold() {
    let found = of(&published(), &Wish::default()).standings;
    let of = |name: &str| found.iter().find(|one| one.product == name).unwrap();
    let evo = of("Samsung Evo+ 32 GB");
    assert_eq!(
        (evo.tested.clone(), evo.first_sold.clone()),
        (vec!["2019".to_owned()], vec![2015])
    );
    // An address in a shop without a date is no sale.
    for name in ["SanDisk Extreme A1 32 GB", "Samsung Evo 16 GB"] {
        assert_eq!(of(name).availability, Availability::Unknown, "{name}");
    }
}
