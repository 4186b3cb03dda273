//! The sentence of a comparison against what was put in.

use std::collections::BTreeMap;

use cardmark_core::{
    Estimate, Metric, Origin, OriginKind, Quantity, RateParts, Record, run_id_from_bytes,
};
use cardmark_judge::{Compared, Queues, compare_sides};
use cardmark_report::{
    AnswerBlock, Place, Style, Versus, answer_of_comparison, comparison, order_of_sides,
};
use cardmark_stats::{Conclusion, Difference};
use proptest::prelude::*;

const NAMES: [&str; 2] = ["Alpha", "Beta"];
/// Rates with quantity and a usual value.
const RATES: [(&str, Quantity, f64); 6] = [
    ("rand_write_4k", Quantity::OperationRate, 900.0),
    ("rand_read_4k", Quantity::OperationRate, 2600.0),
    ("seq_write_1m", Quantity::ByteRate, 32e6),
    ("seq_read_1m", Quantity::ByteRate, 89e6),
    ("rand_write_4k_long", Quantity::OperationRate, 880.0),
    ("sync_write_4k", Quantity::OperationRate, 330.0),
];

/// Two sides: of each rate the factor between them, of each side the deviations of its runs in percent.
#[derive(Clone, Debug)]
struct Case {
    factors: Vec<f64>,
    deviations: [Vec<f64>; 2],
    spread: f64,
    order: Vec<usize>,
}

fn cases() -> impl Strategy<Value = Case> {
    let factor = prop_oneof![
        (-3.0_f64..3.0).prop_map(f64::exp),
        (-0.1_f64..0.1).prop_map(f64::exp),
        Just(1.0),
    ];
    let runs = || prop::collection::vec(-1.0_f64..1.0, 1..6);
    (
        prop::collection::vec(factor, RATES.len()),
        [runs(), runs()],
        prop_oneof![Just(0.002), 0.0_f64..0.15],
        Just((0..RATES.len()).collect::<Vec<usize>>()).prop_shuffle(),
    )
        .prop_map(|(factors, deviations, spread, order)| Case {
            factors,
            deviations,
            spread,
            order,
        })
}

fn side(case: &Case, index: usize, order: &[usize]) -> Vec<Record> {
    let runs = case.deviations[index].iter().zip(1_u8..);
    let run = |(deviation, number): (&f64, u8)| {
        let id = run_id_from_bytes([number + 100 * u8::from(index == 1); 16]);
        let mut record = Record::new(id, Origin::of(OriginKind::Measured));
        let sample = NAMES[index].to_owned();
        record.labels.insert("sample".to_owned(), sample);
        let metric = |rate: &usize| {
            let (id, quantity, usual) = RATES[*rate];
            let factor = if index == 1 { case.factors[*rate] } else { 1.0 };
            // Each rate of a run deviates in its own way.
            let turn = f64::from(u8::try_from(*rate).unwrap_or(0)) * 0.7;
            let deviation = case.spread * (deviation + turn).sin();
            Metric::new(id, quantity, usual * factor * deviation.exp())
        };
        record.metrics = order.iter().map(metric).collect();
        record
    };
    runs.map(run).collect()
}

fn compared(case: &Case, order: &[usize], is_swapped: bool) -> Compared {
    let sides = [side(case, 0, order), side(case, 1, order)];
    let [base, other] = [0, 1].map(|index| sides[index].iter().collect::<Vec<_>>());
    let sides = match is_swapped {
        true => [other, base],
        false => [base, other],
    };
    compare_sides(&sides, &[], &[]).unwrap()
}

fn versus<'a>(names: [&'a str; 2], results: &'a Compared) -> Versus<'a> {
    Versus {
        names,
        places: vec![Place {
            name: "",
            results,
            queues: Queues::Any,
        }],
        repeat: None,
        across: &[],
        aside: "",
        endurance: None,
    }
}

fn answer(results: &Compared) -> AnswerBlock {
    answer_of_comparison(&versus(NAMES, results))
}

fn difference<'a>(results: &'a Compared, metric: &str) -> &'a Difference {
    let mut all = results.differences.iter();
    all.find(|one| one.metric == metric).unwrap()
}

/// The faster side, its ratio and the range of that; `None` if nothing is decided.
fn truth(difference: &Difference) -> Option<(&'static str, f64, Option<[f64; 2]>)> {
    let range = difference.low.zip(difference.high);
    if range.is_some_and(|(low, high)| low >= 1.0 / 1.1 && high <= 1.1) {
        return None;
    }
    match difference.outcome {
        Conclusion::Higher => Some((
            NAMES[1],
            difference.ratio,
            range.map(|(low, high)| [low, high]),
        )),
        Conclusion::Lower => {
            let range = range.map(|(low, high)| [high.recip(), low.recip()]);
            Some((NAMES[0], difference.ratio.recip(), range))
        }
        _ => None,
    }
}

/// The numbers of a text such as `18 times faster than B (17–19)`.
fn numbers(text: &str) -> Vec<f64> {
    let is_other = |letter: char| !letter.is_ascii_digit() && letter != '.';
    let words = text.split(is_other);
    words.filter_map(|word| word.parse().ok()).collect()
}

fn shown_ratio(number: f64, text: &str) -> f64 {
    match text.contains('%') {
        true => 1.0 + number / 100.0,
        false => number,
    }
}

/// Checks a clause such as `12 % faster than B (8–16 %)`.
fn is_right(clause: &str, ratio: f64, range: Option<[f64; 2]>) -> bool {
    is_right_in(clause, ratio, range, false)
}

fn is_right_in(clause: &str, ratio: f64, range: Option<[f64; 2]>, is_listed: bool) -> bool {
    let is_near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.06;
    let (much, ends) = clause.split_once('(').unwrap_or((clause, ""));
    let number = numbers(much).first().copied().unwrap_or(0.0);
    let in_range = match range {
        None => ends.is_empty(),
        // Several clauses share one word, and have no ranges.
        Some(_) if is_listed => true,
        Some([low, high]) => {
            let ends_found = numbers(ends.split(')').next().unwrap_or_default());
            let found = |index: usize| ends_found.get(index).copied();
            let first = found(0).unwrap_or(0.0);
            let last = found(1).unwrap_or(first);
            let [first, last] =
                [first, last].map(|end| shown_ratio(end, ends.split(')').next().unwrap_or("")));
            is_near(first, low) && is_near(last, high)
        }
    };
    is_near(shown_ratio(number, much), ratio) && in_range
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_sentence_names_the_faster_side_by_the_ratio_and_its_interval(case in cases()) {
        let results = compared(&case, &case.order, false);
        let sentence = answer(&results).sentence;
        let short = truth(difference(&results, "rand_write_4k"));
        if let Some((winner, ratio, range)) = short {
            let begin = format!("{winner} writes randomly ");
            let clause = sentence.strip_prefix(&begin);
            prop_assert!(clause.is_some_and(|clause| is_right(clause, ratio, range)), "{sentence}: {short:?}");
        } else if let Some((winner, ..)) = truth(difference(&results, "rand_write_4k_long")) {
            prop_assert!(sentence.starts_with(winner) && sentence.contains(" over 15 s"), "{sentence}");
        }
        for (metric, verb) in [
            ("rand_read_4k", "reads randomly"),
            ("seq_write_1m", "writes sequentially"),
            ("seq_read_1m", "reads sequentially"),
        ] {
            let Some((winner, ratio, range)) = truth(difference(&results, metric)) else {
                prop_assert!(!sentence.contains(&format!("{verb} ")), "{sentence}");
                continue;
            };
            // The first clause is about the leader; what the other side wins follows.
            let is_leader = sentence.starts_with(winner);
            let clause = sentence.split_once(&format!("{verb} "));
            prop_assert!(is_leader || clause.is_some(), "{sentence}: {metric}");
            if let Some((_, clause)) = clause {
                let clause = clause.replacen(&format!(" than {}", NAMES[0]), "", 1);
                let clause = clause.replacen(&format!(" than {}", NAMES[1]), "", 1);
                let first = clause.split(", ").next().and_then(|text| text.split(" and ").next());
                let first = first.unwrap_or_default();
                let is_listed = !first.contains("faster") || !clause.contains('(');
                let clause = if is_listed { first } else { &clause };
                prop_assert!(
                    is_right_in(clause, ratio, range, is_listed),
                    "{sentence}: {metric} {ratio} {range:?}"
                );
            }
        }
    }

    #[test]
    fn bursts_and_a_long_series_that_disagree_are_in_one_sentence(case in cases()) {
        let results = compared(&case, &case.order, false);
        let sentence = answer(&results).sentence;
        let short = truth(difference(&results, "rand_write_4k"));
        let long = truth(difference(&results, "rand_write_4k_long"));
        if let (Some((winner, ..)), Some((in_series, ratio, range))) = (short, long)
            && winner != in_series
        {
            let clause = sentence.split_once(&format!("but over 15 s {in_series} is "));
            prop_assert!(sentence.contains(" in bursts"), "{sentence}");
            prop_assert!(clause.is_some_and(|(_, clause)| is_right(clause, ratio, range)), "{sentence}");
        }
    }

    #[test]
    fn neither_the_order_of_sides_nor_that_of_metrics_matters(case in cases()) {
        let usual: Vec<usize> = (0..RATES.len()).collect();
        let expected = answer(&compared(&case, &usual, false));
        let permuted = answer(&compared(&case, &case.order, false));
        prop_assert_eq!(&expected.sentence, &permuted.sentence);
        let swapped = compared(&case, &usual, true);
        let swapped = answer_of_comparison(&versus([NAMES[1], NAMES[0]], &swapped));
        prop_assert_eq!(expected, swapped);
    }

    #[test]
    fn the_answer_is_short_and_without_ids(case in cases(), width in 30_usize..200) {
        let results = compared(&case, &case.order, false);
        let of = |width: usize| comparison(&versus(NAMES, &results), false, width, Style::Plain);
        let text = of(80);
        prop_assert!(text.lines().count() <= 10, "{text}");
        prop_assert!(!text.contains('_'), "{text}");
        let text = of(width);
        let widest = text.lines().map(|line| line.chars().count()).max();
        prop_assert!(widest <= Some(width), "{width}: {text}");
    }

    /// Several places, each with one ratio of its own: a side is called faster only if no place decides for the other one, and
    /// the mean is its own.
    #[test]
    fn over_several_places_no_side_wins_against_a_decision(
        places in prop::collection::vec(cases(), 2..6),
    ) {
        let results: Vec<Compared> = places
            .iter()
            .map(|case| compared(case, &case.order, false))
            .collect();
        let places = results.iter().map(|results| Place { name: "somewhere", results, queues: Queues::Any });
        let of = Versus { places: places.collect(), ..versus(NAMES, &results[0]) };
        let answer = answer_of_comparison(&of);
        let all: Vec<&Difference> = results.iter().map(|results| difference(results, "rand_write_4k")).collect();
        let has = |winner: &str| all.iter().any(|one| truth(one).is_some_and(|(name, ..)| name == winner));
        let mean = all.iter().map(|one| one.ratio.ln()).sum::<f64>();
        for (name, opposite, sign) in [(NAMES[0], NAMES[1], -1.0), (NAMES[1], NAMES[0], 1.0)] {
            if answer.sentence.starts_with(&format!("{name} writes randomly")) && !answer.sentence.contains("15 s") {
                prop_assert!(!has(opposite) && mean * sign > 0.0, "{}: {all:?}", answer.sentence);
            }
        }
    }
}

fn case(factors: [f64; 6], runs: usize, spread: f64) -> Case {
    let deviations = [0.0, 0.9, -0.8, 0.4, -0.3];
    Case {
        factors: factors.to_vec(),
        deviations: [deviations[..runs].to_vec(), deviations[..runs].to_vec()],
        spread,
        order: (0..RATES.len()).collect(),
    }
}

fn sentence(factors: [f64; 6], runs: usize, spread: f64) -> String {
    let case = case(factors, runs, spread);
    answer(&compared(&case, &case.order, false)).sentence
}

#[test]
fn sentences_in_plain_words() {
    // Factors, runs and spread; beginning, and what follows.
    for (factors, runs, spread, begin, part) in [
        (
            [1.0 / 18.0, 0.54, 0.28, 0.23, 1.0 / 18.0, 0.06],
            3,
            0.004,
            "Alpha writes randomly 18 times faster than Beta (1",
            "",
        ),
        (
            [1.12, 1.0, 1.0, 0.8, 1.12, 1.0],
            5,
            0.002,
            "Beta writes randomly 12 % faster than Alpha (1",
            "; Alpha reads sequentially 25 % faster (2",
        ),
        (
            [1.12, 0.5, 1.0, 0.8, 1.12, 1.0],
            5,
            0.002,
            "Beta writes randomly 12 % faster than Alpha (1",
            "; Alpha reads randomly 2.0 times faster and reads sequentially 25 % faster",
        ),
        (
            [1.38, 1.0, 1.0, 1.0, 0.56, 1.0],
            3,
            0.004,
            "Beta writes randomly 38 % faster than Alpha in bursts (3",
            ", but over 15 s Alpha is 79 % faster (7",
        ),
        (
            [1.0 / 17.0, 0.5, 0.3, 0.3, 1.0 / 17.0, 0.06],
            1,
            0.0,
            "Alpha writes randomly 17 times faster than Beta",
            "",
        ),
        (
            [1.02, 1.01, 0.99, 1.0, 1.02, 1.0],
            1,
            0.0,
            "No difference shown between Alpha and Beta: about ",
            "of each would show 15 % in random writes",
        ),
    ] {
        let found = sentence(factors, runs, spread);
        assert!(found.starts_with(begin), "{found}");
        assert!(found.contains(part), "{found}");
        let is_one_clause = !part.starts_with("; ");
        assert!(!(is_one_clause && found.contains(';')), "{found}");
    }
    let same = sentence([1.01; 6], 5, 0.02);
    assert_eq!(
        same,
        "Alpha and Beta are equally fast within 10 % in random writes, random reads, sequential writes and \
         sequential reads"
    );
}

#[test]
fn the_claim_and_the_table_stand_below() {
    let case = case([1.0 / 18.0, 0.54, 0.28, 0.23, 1.0 / 18.0, 0.06], 3, 0.004);
    let results = compared(&case, &case.order, false);
    let text = comparison(&versus(NAMES, &results), false, 80, Style::Plain);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    assert!(
        lines[2].starts_with("random writes") && lines[2].contains("18 times faster"),
        "{text}"
    );
    assert!(lines[5].starts_with("sequential reads"), "{text}");
    assert!(
        text.contains("About these two cards (3 runs of each)"),
        "{text}"
    );
    let all = comparison(&versus(NAMES, &results), true, 120, Style::Plain);
    for part in ["synced write 4 KiB", "95 % CI", "Holm"] {
        assert!(all.contains(part), "no `{part}` in {all}");
        assert!(!text.contains(part), "{part}: {text}");
    }
}

/// The answer to one comparison as installed and another one with both queues on.
fn with_queues(installed: &Case, set: &Case) -> AnswerBlock {
    let results = [installed, set].map(|case| compared(case, &case.order, false));
    let queues = [
        Queues::AsInstalled([true, false]),
        Queues::Set([true, true]),
    ];
    let places = results.iter().zip(queues).map(|(results, queues)| Place {
        name: "Raspberry Pi 5",
        results,
        queues,
    });
    answer_of_comparison(&Versus {
        places: places.collect(),
        ..versus(NAMES, &results[0])
    })
}

#[test]
fn the_queue_as_installed_leads_and_other_settings_follow() {
    let installed = case([0.3, 1.0, 1.0, 1.0, 0.3, 1.0], 3, 0.004);
    let set = case([1.4, 1.0, 1.0, 1.0, 1.4, 1.0], 3, 0.004);
    let answer = with_queues(&installed, &set);
    assert!(
        answer
            .sentence
            .starts_with("Alpha writes randomly 3.3 times faster than Beta"),
        "{answer:?}"
    );
    assert_eq!(
        answer.more[0],
        "Command queue on for Alpha, off for Beta, as installed"
    );
    let more = &answer.more[1];
    assert!(
        more.starts_with("With the command queue on: Beta writes randomly 40 % faster than Alpha"),
        "{more}"
    );
}

#[test]
fn a_setting_that_changes_another_rate_has_a_sentence() {
    let installed = case([0.3, 1.0, 1.0, 1.0, 0.3, 1.0], 3, 0.004);
    let set = case([0.3, 2.0, 1.0, 1.0, 0.3, 1.0], 3, 0.004);
    let more = with_queues(&installed, &set).more;
    assert!(
        more.iter()
            .any(|one| one.contains("; Beta reads randomly 2.0 times faster")),
        "{more:?}"
    );
    assert_eq!(with_queues(&installed, &installed).more.len(), 1);
}

#[test]
fn no_common_rate_is_an_answer_too() {
    let results = Compared {
        counts: [cardmark_judge::Counts { runs: 1, cards: 1 }; 2],
        claim: cardmark_stats::Claim::Runs,
        differences: Vec::new(),
        stalls: Vec::new(),
        with_stalls: BTreeMap::new(),
        context: Vec::new(),
        left_out: Vec::new(),
    };
    assert_eq!(
        answer(&results).sentence,
        "No rate of Alpha and Beta can be compared"
    );
}

/// A setting that changes nothing has no sentence, and the answer is ten lines with everything in it.
#[test]
fn a_full_answer_is_ten_lines_and_has_one_ratio_of_a_rate() {
    let installed = case([0.3, 1.0, 1.0, 1.0, 0.3, 0.06], 3, 0.004);
    let alike = case([0.31, 1.0, 1.0, 1.0, 0.31, 0.06], 3, 0.004);
    let results = [&installed, &alike].map(|case| compared(case, &case.order, false));
    let queues = [
        Queues::AsInstalled([true, false]),
        Queues::Set([true, true]),
    ];
    let places = results.iter().zip(queues).map(|(results, queues)| Place {
        name: "Raspberry Pi 4 Model B, suite dramble, geerling-a2",
        results,
        queues,
    });
    let names = [
        "Alpha with a name of its own 64 GB",
        "Beta with another name 128 GB",
    ];
    let endurance = "Alpha is made for 1.2 times the writes of Beta: 820 against 702 TB at 128 GB";
    let of = Versus {
        places: places.collect(),
        aside: "their capacities differ",
        endurance: Some(endurance),
        ..versus(names, &results[0])
    };
    let text = comparison(&of, false, 80, Style::Plain);
    assert!(text.lines().count() <= 10, "{text}");
    assert_eq!(text.matches("3.3 times faster than").count(), 1, "{text}");
    for part in [
        "On Pi 4, 20",
        "capacities differ",
        "on for the first, off for the other",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let all = comparison(&of, true, 80, Style::Plain);
    assert!(all.contains("820 against 702 TB"), "{all}");
}

/// Three runs with this rate of random writes, and one deviation.
fn with_writes(first: u8, rate: f64) -> Vec<Record> {
    let run = |number: u8| {
        let id = run_id_from_bytes([first + number; 16]);
        let mut record = Record::new(id, Origin::of(OriginKind::Measured));
        let value = rate * (1.0 + 0.004 * f64::from(number));
        record.metrics = vec![Metric::new("rand_write_4k", Quantity::OperationRate, value)];
        record
    };
    (0..3).map(run).collect()
}

#[test]
fn several_sides_have_one_order_with_shared_places() {
    let sides = [
        with_writes(1, 850.0),
        with_writes(11, 1700.0),
        with_writes(21, 852.0),
    ];
    let names = ["A", "B", "C"].map(str::to_owned);
    let of = |indices: [usize; 2]| {
        let sides = indices.map(|index| sides[index].iter().collect::<Vec<_>>());
        (indices, compare_sides(&sides, &[], &[]).unwrap())
    };
    let pairs = [[0, 1], [0, 2], [1, 2]].map(of);
    assert_eq!(
        order_of_sides(&names, &pairs).unwrap(),
        "Random writes, fastest first: 1 B (1707/s), 2–3 C (855/s), 2–3 A (853/s)"
    );
    assert_eq!(order_of_sides(&names[..2], &pairs[..1]), None);
    assert_eq!(order_of_sides(&names, &pairs[..2]), None);
}

#[test]
fn rates_without_their_stalls_are_named_so() {
    let stalled = |first: u8, share: f64| -> Vec<Record> {
        let mut records = with_writes(first, 600.0);
        for metric in records.iter_mut().flat_map(|record| &mut record.metrics) {
            let body = Estimate {
                value: metric.value / (1.0 - share),
                ..Estimate::default()
            };
            metric.parts = Some(RateParts {
                body,
                ..RateParts::default()
            });
        }
        records
    };
    let of = |share: f64| {
        let sides = [stalled(1, share), with_writes(11, 300.0)];
        let [base, other] = sides.each_ref().map(|side| side.iter().collect::<Vec<_>>());
        answer(&compare_sides(&[base, other], &[], &[]).unwrap())
    };
    let (quiet, stalls) = (of(0.0), of(0.25));
    assert!(
        quiet
            .sentence
            .starts_with("Alpha writes randomly 2.0 times faster"),
        "{}",
        quiet.sentence
    );
    assert!(
        stalls
            .sentence
            .starts_with("Alpha writes randomly 2.7 times faster than Beta between stalls ("),
        "{}",
        stalls.sentence
    );
    // The values are those that each run shows.
    assert_eq!(stalls.figures[0].cells, quiet.figures[0].cells);
    assert!(
        stalls.figures[0]
            .word
            .starts_with("2.7 times faster between stalls (")
    );
}
