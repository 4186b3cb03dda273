//! Fleets of cards whose truth is known: which of them need attention, and why.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cardmark_core::{
    Board, DeviceInfo, Finding, FindingKind, Health, Metric, Origin, OriginKind, Quantity, Record,
    Sample, Severity, StorageKind, run_id_from_bytes,
};
use cardmark_judge::{Advice, Attention, Fault, Reason, attention, cards_of, faults};
use cardmark_samples::{Model, simulated};
use proptest::prelude::*;
use serde_json::json;

/// Simulated cards with the reason for which each needs attention; those without a reason are good.
const MODELS: [(&str, Option<&str>); 9] = [
    ("a1-32gb", None),
    ("a2-64gb", None),
    ("v30-64gb", None),
    ("a1-32gb@pi3", None),
    ("a1-32gb@pi4", None),
    ("lying-32gb", Some("may lose")),
    ("worn-32gb", Some("limit")),
    ("c10-16gb", Some("too slow")),
    ("vanishing-32gb", Some("failing")),
];
/// Runs of each model.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=4;

/// Runs of `quick` on each model.
static POOL: LazyLock<BTreeMap<&str, Vec<Record>>> = LazyLock::new(|| {
    let runs = |name: &str| {
        let (name, board) = name.split_once('@').unwrap_or((name, ""));
        let model = Model::named(name).unwrap();
        let model = match board {
            "" => model,
            board => model.on_board(board).unwrap(),
        };
        let run = |seed| Record {
            // As a store keeps them for lists.
            trials: Vec::new(),
            ..simulated(&model, "quick", seed)
        };
        SEEDS.map(run).collect()
    };
    MODELS.iter().map(|(name, _)| (*name, runs(name))).collect()
});

/// Run `number` of a card named so, as if it had been made on a day of its own.
fn labelled(mut run: Record, name: &str, number: usize) -> Record {
    let mut id = [0_u8; 16];
    for (index, byte) in name
        .bytes()
        .chain([b'/'])
        .chain(number.to_le_bytes())
        .enumerate()
    {
        id[index % 16] = id[index % 16].wrapping_mul(31) ^ byte;
    }
    run.id = run_id_from_bytes(id);
    run.started_at = Some(format!("2026-03-{:02}T10:00:00Z", number + 1));
    run.labels.insert("sample".to_owned(), name.to_owned());
    run
}

/// A card of that model in a board of that number.
fn board((number, (model, count)): (usize, (usize, usize))) -> Vec<Record> {
    let name = format!("board-{number}");
    let runs = POOL[MODELS[model].0]
        .iter()
        .cycle()
        .skip(number)
        .take(count);
    runs.enumerate()
        .map(|(index, run)| labelled(run.clone(), &name, index))
        .collect()
}

fn word(reason: &Reason) -> &'static str {
    match reason {
        Reason::Fake { .. } => "fake",
        Reason::LostData { .. } => "lost data",
        Reason::MayLoseOnPowerCut => "may lose",
        Reason::ReadOnly => "read-only",
        Reason::WornOut => "worn out",
        Reason::Failing { .. } => "failing",
        Reason::FarBelowProduct(_) => "far below",
        Reason::Falling { .. } => "falling",
        Reason::TooSlow(_) => "too slow",
        Reason::Wearing { .. } => "wearing",
        Reason::AtTheLimit(_) => "limit",
        Reason::FailsClaim { .. } => "fails claim",
    }
}

/// Each board that needs attention, and its worst reason.
fn found(runs: &[Record]) -> Vec<(String, &'static str)> {
    let cards = cards_of(runs);
    let rows = attention(&cards);
    assert!(rows.windows(2).all(|pair| pair[0].advice <= pair[1].advice));
    let named = |row: &Attention<'_>| (row.card.board.clone(), word(&row.worst().unwrap().reason));
    rows.iter().map(named).collect()
}

fn sorted(mut rows: Vec<(String, &'static str)>) -> Vec<(String, &'static str)> {
    rows.sort();
    rows
}

/// Boards in the order of their numbers, and their runs in any order.
fn fleets() -> impl Strategy<Value = (Vec<(usize, usize)>, Vec<Record>)> {
    let boards = prop::collection::vec((0..MODELS.len(), 1_usize..=4), 1..=12);
    boards.prop_flat_map(|boards| {
        let runs = boards.iter().copied().enumerate().flat_map(board);
        let runs: Vec<Record> = runs.collect();
        (Just(boards), Just(runs).prop_shuffle())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_bad_card_is_named_with_its_reason_and_no_good_one(
        (boards, runs) in fleets()
    ) {
        let truth = boards.iter().enumerate().filter_map(|(number, (model, _))| {
            Some((format!("board-{number}"), MODELS[*model].1?))
        });
        let rows = found(&runs);
        prop_assert_eq!(sorted(rows.clone()), sorted(truth.collect()));
        // One more good board hides nothing.
        let more = labelled(POOL["a1-32gb"][0].clone(), "board-new", 0);
        let runs: Vec<Record> = runs.into_iter().chain([more]).collect();
        prop_assert_eq!(found(&runs), rows);
    }
}

#[test]
fn of_sixty_boards_the_fifteen_bad_ones_are_named() {
    let bad = ["lying-32gb", "worn-32gb", "c10-16gb"];
    let model = |number: usize| match number {
        0..15 => bad[number % 3],
        _ => MODELS[number % 5].0,
    };
    let index = |name: &str| MODELS.iter().position(|(known, _)| *known == name).unwrap();
    let boards = (0..60).map(|number| (number, (index(model(number)), 1 + number % 3)));
    let runs: Vec<Record> = boards.flat_map(board).collect();
    let rows = found(&runs);
    let expected: Vec<(String, &str)> = [(0, "may lose"), (2, "too slow"), (1, "limit")]
        .into_iter()
        .flat_map(|(first, reason)| {
            (first..15)
                .step_by(3)
                .map(move |number| (format!("board-{number}"), reason))
        })
        .collect();
    assert_eq!(sorted(rows.clone()), sorted(expected));
    let words: Vec<&str> = rows.iter().map(|(_, word)| *word).collect();
    assert_eq!(
        words,
        [["may lose"; 5], ["too slow"; 5], ["limit"; 5]].concat()
    );
}

/// A run of a measured card: id of the card, number of the run.
fn measured(card: &str, number: usize) -> Record {
    let run = Record::new(run_id_from_bytes([0; 16]), Origin::of(OriginKind::Measured));
    let mut run = labelled(run, card, number);
    run.labels.clear();
    run.labels.insert("host".to_owned(), "pi".to_owned());
    run.devices = vec![DeviceInfo {
        size_bytes: Some(32 << 30),
        model: Some("SC32G".to_owned()),
        sample: Some(Sample::of_card(card)),
        ..DeviceInfo::default()
    }];
    run
}

fn tested(card: &str, number: usize, test: &str, kind: StorageKind, size_bytes: u64) -> Record {
    let mut run = measured(card, number);
    let found = json!({
        "test": test, "kind": kind, "size_bytes": size_bytes, "real_bytes": size_bytes / 4,
    });
    run.integrity = Some(serde_json::from_value(found).unwrap());
    run
}

const ALL: u64 = 32 << 30;

#[test]
fn a_later_clean_test_of_the_same_card_clears_it_and_of_another_does_not() {
    let of = |runs: &[Record]| -> Vec<&'static str> {
        found(runs).into_iter().map(|(_, word)| word).collect()
    };
    let clean = |card, number, size| tested(card, number, "verify", StorageKind::Confirmed, size);
    for (kind, word) in [
        (StorageKind::Limbo, "fake"),
        (StorageKind::Damaged, "lost data"),
        (StorageKind::Dead, "lost data"),
        (StorageKind::ReadOnly, "read-only"),
        (StorageKind::IgnoresWrites, "worn out"),
    ] {
        let bad = || tested("aaaaaa", 1, "probe", kind, ALL);
        assert_eq!(of(&[bad()]), [word]);
        assert_eq!(of(&[bad(), clean("aaaaaa", 2, ALL)]), [""; 0]);
        assert_eq!(of(&[clean("aaaaaa", 0, ALL), bad()]), [word]);
        assert_eq!(of(&[bad(), clean("bbbbbb", 2, ALL)]), [word]);
        // The part of a fake that is left after repartitioning, and samples, prove nothing.
        assert_eq!(of(&[bad(), clean("aaaaaa", 2, ALL / 4)]), [word]);
        let samples = tested("aaaaaa", 2, "probe", StorageKind::Confirmed, ALL);
        assert_eq!(of(&[bad(), samples]), [word]);
    }
}

#[test]
fn only_a_power_cut_without_loss_clears_a_loss_at_one() {
    let lost = || {
        tested(
            "aaaaaa",
            1,
            "power_cut",
            StorageKind::LosesAcknowledged,
            ALL,
        )
    };
    let later = |test, kind| tested("aaaaaa", 2, test, kind, ALL);
    let intact = later("verify", StorageKind::Confirmed);
    assert_eq!(found(&[lost(), intact]), found(&[lost()]));
    assert_eq!(found(&[lost()]).len(), 1);
    let durable = later("power_cut", StorageKind::Durable);
    assert_eq!(found(&[lost(), durable]), []);
}

#[test]
fn a_later_run_without_a_test_keeps_the_details_of_one() {
    let finding = |kind, number| {
        let mut run = measured("aaaaaa", number);
        run.findings = vec![Finding::new(kind, Severity::Error, "found")];
        run
    };
    for (kind, noticed) in [
        (StorageKind::Limbo, FindingKind::FalseCapacity),
        (StorageKind::Dead, FindingKind::DataLost),
    ] {
        let test = tested("aaaaaa", 1, "probe", kind, ALL);
        let runs = [finding(noticed, 0), test, finding(noticed, 2)];
        let cards = cards_of(&runs);
        let rows = attention(&cards);
        assert_eq!(rows[0].worst().unwrap().run.id, runs[1].id);
        let later = [runs[0].clone(), runs[2].clone()];
        let cards = cards_of(&later);
        let rows = attention(&cards);
        assert_eq!(rows[0].worst().unwrap().run.id, runs[2].id);
    }
}

#[test]
fn a_clean_test_clears_no_other_card_that_looks_alike() {
    let of_board = |mut run: Record, model: &str| {
        run.labels.clear();
        run.devices[0].sample = None;
        run.board = Some(Board {
            model: Some(model.to_owned()),
            ..Board::default()
        });
        run
    };
    let bad = tested("", 1, "probe", StorageKind::Limbo, ALL);
    let clean = tested("", 2, "verify", StorageKind::Confirmed, ALL);
    let row = || ("Pi 3".to_owned(), "fake");
    for other in ["Pi 3", "Pi 4"] {
        let runs = [
            of_board(bad.clone(), "Pi 3"),
            of_board(clean.clone(), other),
        ];
        assert_eq!(found(&runs), [row()], "{other}");
    }
    // A name makes them runs of one card.
    let named = [bad, clean].map(|run| {
        let mut run = of_board(run, "Pi 3");
        run.labels.insert("sample".to_owned(), "blue".to_owned());
        run
    });
    assert_eq!(found(&named), []);
}

#[test]
fn two_cards_of_one_board_have_a_row_each() {
    let runs = [
        tested("aaaaaa", 1, "verify", StorageKind::Damaged, ALL),
        tested("bbbbbb", 2, "probe", StorageKind::Limbo, ALL),
        tested("cccccc", 3, "probe", StorageKind::Confirmed, ALL),
    ];
    let pi = || "pi".to_owned();
    assert_eq!(found(&runs), [(pi(), "fake"), (pi(), "lost data")]);
}

#[test]
fn a_run_through_a_reader_belongs_to_the_only_card_of_that_name() {
    let named = |mut run: Record| {
        run.labels.insert("sample".to_owned(), "blue".to_owned());
        run
    };
    let mut imported = named(tested("", 2, "verify", StorageKind::Confirmed, ALL));
    imported.devices.clear();
    let bad = named(tested("aaaaaa", 1, "verify", StorageKind::Damaged, ALL));
    assert_eq!(found(&[bad.clone(), imported.clone()]), []);
    let other = named(tested("bbbbbb", 1, "verify", StorageKind::Damaged, ALL));
    assert_eq!(found(&[bad, other, imported]).len(), 2);
}

fn with_rates(card: &str, number: usize, write: f64) -> Record {
    let mut run = measured(card, number);
    run.metrics = [
        ("rand_write_4k", Quantity::OperationRate, write),
        ("rand_read_4k", Quantity::OperationRate, 2600.0),
        ("seq_read_1m", Quantity::ByteRate, 4e7),
    ]
    .map(|(id, quantity, value)| Metric::new(id, quantity, value))
    .to_vec();
    run.board = Some(Board {
        model: Some("Raspberry Pi 4".to_owned()),
        ..Board::default()
    });
    run
}

#[test]
fn a_card_far_below_its_product_is_named() {
    let product = |mut run: Record, name: &str| {
        run.labels.insert("product".to_owned(), name.to_owned());
        run
    };
    let fleet = |low: f64, name: &str| -> Vec<Record> {
        let cards = ["c1", "c2", "c3", "c4", "c5"].map(|card| with_rates(card, 1, 4000.0));
        let odd = with_rates("c6", 1, low);
        let runs = cards.into_iter().chain([odd]);
        runs.map(|run| match name {
            "" => run,
            name => product(run, name),
        })
        .collect()
    };
    let words = |runs: &[Record]| found(runs).into_iter().map(|row| row.1).collect::<Vec<_>>();
    assert_eq!(words(&fleet(1400.0, "Fast 32 GB")), ["far below"]);
    assert_eq!(words(&fleet(3000.0, "Fast 32 GB")), [""; 0]);
    assert_eq!(words(&fleet(1400.0, "")), ["far below"]);
    // Too few of a model, which is what devices call themselves.
    assert_eq!(words(&fleet(1400.0, "")[1..]), [""; 0]);
    // On a slow link nothing is known of the card.
    let mut slowed = fleet(1400.0, "Fast 32 GB");
    let finding = Finding::new(FindingKind::SlowBus, Severity::Warning, "slow");
    slowed[5].findings.push(finding);
    assert_eq!(words(&slowed), [""; 0]);
}

#[test]
fn a_rate_that_fell_is_named_and_noise_is_not() {
    let day = |run: Record, number: usize| Record {
        started_at: Some(format!(
            "2026-{:02}-{:02}T10:00:00Z",
            1 + number / 3,
            1 + number % 3 * 9
        )),
        ..run
    };
    let card = |name: &'static str, last: f64| {
        (0..18).map(move |number| {
            let noise = 1.0 + 0.05 * ((number * 7 + name.len() * 3) % 5) as f64 / 5.0;
            let level = if number < 12 { 4000.0 } else { last };
            day(with_rates(name, number, level * noise), number)
        })
    };
    let runs: Vec<Record> = card("falling", 1500.0)
        .chain(card("steady", 4000.0))
        .collect();
    let cards = cards_of(&runs);
    let rows = attention(&cards);
    let [row] = rows.as_slice() else {
        panic!("{rows:?}")
    };
    let Reason::Falling {
        metric,
        change_ratio,
        since_days,
    } = &row.worst().unwrap().reason
    else {
        panic!("{row:?}")
    };
    assert_eq!(
        (row.card.id, metric.as_str()),
        (Some("falling"), "rand_write_4k")
    );
    assert!((-0.7..-0.5).contains(change_ratio) && since_days.is_some());
}

#[test]
fn wear_counts_as_last_reported() {
    let worn = |number: usize, used_percent: u32, errors: u64| {
        let mut run = measured("aaaaaa", number);
        run.devices[0].health = Some(Health {
            used_percent: Some(used_percent),
            media_errors_count: Some(errors),
            ..Health::default()
        });
        if used_percent >= 80 || errors > 0 {
            run.findings = vec![Finding::new(FindingKind::Worn, Severity::Warning, "worn")];
        }
        run
    };
    assert_eq!(found(&[worn(1, 50, 0)]), []);
    let pi = || "pi".to_owned();
    assert_eq!(found(&[worn(1, 90, 0)]), [(pi(), "wearing")]);
    assert_eq!(
        found(&[worn(1, 90, 0), worn(2, 100, 0)]),
        [(pi(), "worn out")]
    );
    assert_eq!(found(&[worn(1, 90, 3)]), [(pi(), "worn out")]);
}

#[test]
fn the_use_of_a_card_decides_what_is_too_slow() {
    let of = |wanted: &str| {
        let mut run = with_rates("aaaaaa", 1, 50.0);
        run.labels.insert("use".to_owned(), wanted.to_owned());
        let cards = [run];
        let cards = cards_of(&cards);
        attention(&cards).first().map(|row| row.advice)
    };
    assert_eq!(of("boot"), Some(Advice::Replace));
    assert_eq!(of("media"), None);
    assert_eq!(of("an unknown use"), Some(Advice::Replace));
}

/// `quick` judges the use, `app-class` the class that the use asks for.
#[test]
fn two_suites_do_not_contradict_each_other_about_a_card() {
    for name in ["c10-16gb", "usb2-32gb", "a1-32gb", "v30-64gb"] {
        let of = |suite: &str| {
            let run = Record {
                trials: Vec::new(),
                ..simulated(&Model::named(name).unwrap(), suite, 1)
            };
            let runs = [run];
            let rows = found(&runs);
            rows.into_iter().map(|(_, word)| word).collect::<Vec<_>>()
        };
        assert_eq!(of("app-class"), of("quick"), "{name}");
    }
}

/// Stores keep records without what is claimed, so that its verdicts are derived when they are read.
#[test]
fn a_claim_that_a_run_contradicts_is_named() {
    let of = |claims: &str| {
        let mut run = labelled(POOL["a1-32gb"][0].clone(), "card", 0);
        run.labels.insert("claims".to_owned(), claims.to_owned());
        let failed = faults(&run).into_iter().map(|fault| match fault {
            Fault::Failed(rule) => rule,
            other => format!("{other:?}"),
        });
        let failed: Vec<String> = failed.collect();
        let runs = [run];
        let cards = cards_of(&runs);
        let advice = attention(&cards).first().map(|row| row.advice);
        (advice, failed)
    };
    let one = |advice, rule: &str| (Some(advice), vec![rule.to_owned()]);
    assert_eq!(of("64GB"), one(Advice::Replace, "capacity"));
    assert_eq!(of("A1 64GB"), one(Advice::Replace, "capacity"));
    assert_eq!(of("130MB/s 32GB"), one(Advice::Watch, "130MB/s"));
    assert_eq!(of("32GB A1 80MB/s"), (None, Vec::new()));
}

#[test]
fn the_reasons_of_a_row_have_the_order_of_all() {
    let fleet = ["c1", "c2", "c3"].map(|card| with_rates(card, 1, 4000.0));
    let mut odd = with_rates("c4", 1, 50.0);
    odd.findings = vec![Finding::new(
        FindingKind::IoError,
        Severity::Error,
        "failed",
    )];
    let mut fine = with_rates("c4", 0, 50.0);
    fine.labels.insert("claims".to_owned(), "64GB".to_owned());
    fine.method = Some(cardmark_core::METHOD);
    let test =
        json!({ "test": "probe", "kind": "confirmed", "size_bytes": ALL, "real_bytes": ALL });
    fine.integrity = Some(serde_json::from_value(test).unwrap());
    let slow = with_rates("c4", 2, 50.0);
    let mut runs: Vec<Record> = fleet.into_iter().chain([odd, fine, slow]).collect();
    for run in &mut runs {
        run.labels.insert("product".to_owned(), "Red 32".to_owned());
    }
    let cards = cards_of(&runs);
    let rows = attention(&cards);
    let words: Vec<&str> = rows[0]
        .grounds
        .iter()
        .map(|one| word(&one.reason))
        .collect();
    assert_eq!(words, ["fails claim", "failing", "far below", "too slow"]);
    assert_eq!(rows[0].advice, Advice::Replace);
}

#[test]
fn a_card_that_is_no_longer_in_use_needs_no_attention() {
    let bad = || tested("aaaaaa", 1, "probe", StorageKind::Limbo, ALL);
    let with = |mut run: Record, key: &str, value: &str| {
        run.labels.insert(key.to_owned(), value.to_owned());
        run
    };
    assert_eq!(found(&[with(bad(), "status", "retired")]), []);
    assert_eq!(found(&[with(bad(), "status", "spare")]).len(), 1);
    // On any run of the card; the last one that says something counts.
    let later = || measured("aaaaaa", 2);
    assert_eq!(found(&[with(bad(), "status", "Retired"), later()]), []);
    let back = with(later(), "status", "in use");
    assert_eq!(found(&[with(bad(), "status", "retired"), back]).len(), 1);
    // Another card has its name, and not only that of its computer.
    let other = |number| tested("bbbbbb", number, "verify", StorageKind::Confirmed, ALL);
    let named = |run| with(run, "sample", "board-4");
    assert_eq!(found(&[named(bad()), named(other(2))]), []);
    assert_eq!(found(&[named(bad()), named(other(0))]).len(), 1);
    assert_eq!(found(&[bad(), other(2)]).len(), 1);
    let product = |run, name| with(named(run), "product", name);
    assert_eq!(
        found(&[product(bad(), "Red"), product(other(2), "Blue")]).len(),
        1
    );
}

#[test]
fn a_slow_link_is_not_held_against_a_card_and_clears_none() {
    let of = |number, writes, wanted: &str, mbit: Option<u64>| {
        let mut run = with_rates("aaaaaa", number, writes);
        run.metrics[1].value = 1400.0;
        run.metrics[2].value = 9e6;
        run.labels.insert("use".to_owned(), wanted.to_owned());
        let reader = json!({
            "kind": "usb",
            "usb": { "vendor": "0001", "product": "0001", "link_bits_per_s": mbit.map(|it| it * 1_000_000) },
        });
        run.devices[0].reader = mbit.map(|_| serde_json::from_value(reader).unwrap());
        run
    };
    let (slow, fast) = (Some(480), Some(5000));
    let reason = |runs: &[Record]| {
        let cards = cards_of(runs);
        let rows = attention(&cards);
        let [row] = rows.as_slice() else { return None };
        match row.worst()?.reason.clone() {
            Reason::TooSlow(shortfall) => Some(shortfall.plain),
            other => panic!("{other:?}"),
        }
    };
    for wanted in ["boot", "media"] {
        let run = |number, link| of(number, 4000.0, wanted, link);
        assert_eq!(reason(&[run(1, slow)]), None, "{wanted}");
        let limit = reason(&[run(1, fast)]);
        assert!(limit.is_some(), "{wanted}");
        assert_eq!(reason(&[run(1, None)]), limit);
        // A run over a slow link changes nothing of it.
        assert_eq!(reason(&[run(1, fast), run(2, slow)]), limit);
    }
    // No link makes random writes as slow as these.
    let writes = [of(1, 50.0, "boot", slow)];
    assert_eq!(reason(&writes).as_deref(), Some("random writes"));
}

#[test]
fn the_name_of_a_computer_names_none_of_the_cards_in_its_reader() {
    let in_reader = |number, kind| {
        let mut run = tested("", number, "verify", kind, ALL);
        run.devices[0].sample = None;
        let reader = json!({ "kind": "usb" });
        run.devices[0].reader = Some(serde_json::from_value(reader).unwrap());
        run
    };
    let bad = in_reader(1, StorageKind::Limbo);
    let clean = in_reader(2, StorageKind::Confirmed);
    let row = || ("pi".to_owned(), "fake");
    assert_eq!(found(&[bad.clone(), clean.clone()]), [row()]);
    // Neither are they the card in its slot.
    let slot = |kind| tested("aaaaaa", 0, "verify", kind, ALL);
    assert_eq!(found(&[slot(StorageKind::Limbo), clean]), [row()]);
    let runs = [slot(StorageKind::Confirmed), bad];
    let cards = cards_of(&runs);
    assert_eq!(attention(&cards)[0].card.id, None);
}

#[test]
fn durable_writes_in_a_later_run_clear_the_doubt() {
    let synced = |number: usize, is_early: bool| {
        let mut run = with_rates("aaaaaa", number, 4000.0);
        run.metrics
            .push(Metric::new("sync_write_4k", Quantity::OperationRate, 300.0));
        let finding = Finding::new(FindingKind::SyncNotSlower, Severity::Warning, "as fast");
        run.findings.extend(is_early.then_some(finding));
        run
    };
    assert_eq!(found(&[synced(1, true)]).len(), 1);
    assert_eq!(found(&[synced(1, true), synced(2, false)]), []);
    assert_eq!(found(&[synced(1, false), synced(2, true)]).len(), 1);
    // Runs without synced writes show nothing of them, and tests of the capacity neither.
    let intact = tested("aaaaaa", 2, "verify", StorageKind::Confirmed, ALL);
    assert_eq!(found(&[synced(1, true), intact]).len(), 1);
    assert_eq!(
        found(&[synced(1, true), with_rates("aaaaaa", 2, 4000.0)]).len(),
        1
    );
}
