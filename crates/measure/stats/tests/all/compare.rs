//! Comparisons: exact cases and error rates.

use cardmark_core::{
    DeviceInfo, Estimate, IntervalKind, Metric, Quantity, RateParts, Record, Rng, Sample,
};
use cardmark_stats::{
    Basis, Claim, Conclusion, Difference, KnownPairs, Observation, Pair, Products, StallPair,
    StallRun, cards_count, claim_of, compare, compare_with_stalls, pairs, runs_needed,
};

use crate::support::{normal, record};

const METRICS: usize = 8;

fn observation(value: f64) -> Observation {
    Observation {
        value,
        half_width_ratio: Some(0.02),
        error_ratio: Some(0.4 * 0.02),
    }
}

fn pair(metric: &str, base: &[f64], other: &[f64]) -> Pair {
    let one_card = |values: &[f64]| vec![values.iter().copied().map(observation).collect()];
    Pair {
        metric: metric.to_owned(),
        quantity: Quantity::ByteRate,
        class: "",
        known: None,
        repeats: None,
        is_tested: true,
        base: one_card(base),
        other: one_card(other),
        is_matched: false,
    }
}

/// Simulates a comparison with `runs` per side in eight metrics. All rates of a run share a common factor,
/// and each also has its own; those of the other side are `ratio` times higher.
fn simulated(rng: &mut Rng, runs: usize, common: f64, own: f64, ratio: f64) -> Vec<Pair> {
    let side = |rng: &mut Rng, ratio: f64| -> Vec<Vec<f64>> {
        let run = |rng: &mut Rng| {
            let factor = libm::exp(common * normal(rng));
            let rate = |rng: &mut Rng| 100.0 * ratio * factor * libm::exp(own * normal(rng));
            (0..METRICS).map(|_| rate(rng)).collect()
        };
        (0..runs).map(|_| run(rng)).collect()
    };
    let (base, other) = (side(rng, 1.0), side(rng, ratio));
    let values = |side: &[Vec<f64>], metric: usize| -> Vec<f64> {
        side.iter().map(|run| run[metric]).collect()
    };
    (0..METRICS)
        .map(|metric| {
            pair(
                &format!("m{metric}"),
                &values(&base, metric),
                &values(&other, metric),
            )
        })
        .collect()
}

/// Returns the shares of simulated comparisons in which any difference was found, and in which all were.
fn found(seed: u64, runs: usize, common: f64, own: f64, ratio: f64) -> (f64, f64) {
    const COMPARISONS: usize = 2000;
    let mut rng = Rng::new(seed);
    let (mut any, mut all) = (0, 0);
    for _ in 0..COMPARISONS {
        let differences = compare(&simulated(&mut rng, runs, common, own, ratio));
        let is_found = |outcome| matches!(outcome, Conclusion::Higher | Conclusion::Lower);
        any += usize::from(differences.iter().any(|d| is_found(d.outcome)));
        all += usize::from(differences.iter().all(|d| d.outcome == Conclusion::Higher));
    }
    let share = |count: usize| count as f64 / COMPARISONS as f64;
    (share(any), share(all))
}

#[test]
fn the_ratio_is_that_of_the_geometric_means() {
    let pairs = [pair("m", &[100.0, 400.0, 200.0], &[800.0, 200.0, 400.0])];
    let difference = &compare(&pairs)[0];
    assert!((difference.ratio - 2.0).abs() < 1e-12, "{difference:?}");
    assert!(difference.low.unwrap() < 2.0 && 2.0 < difference.high.unwrap());
    let symmetric = difference.low.unwrap() * difference.high.unwrap();
    assert!((symmetric - 4.0).abs() < 1e-9, "in logarithms: {symmetric}");
}

#[test]
fn the_other_way_round_it_is_the_inverse() {
    let (a, b) = ([100.0, 104.0, 99.0], [131.0, 128.0, 135.0]);
    let forth = &compare(&[pair("m", &a, &b)])[0];
    let back = &compare(&[pair("m", &b, &a)])[0];
    assert!((forth.ratio * back.ratio - 1.0).abs() < 1e-12);
    assert!((forth.low.unwrap() * back.high.unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(forth.p_value, back.p_value);
    assert_eq!(
        (forth.outcome, back.outcome),
        (Conclusion::Higher, Conclusion::Lower)
    );
}

#[test]
fn what_is_claimed_follows_from_runs_and_cards() {
    let runs = |count: usize| vec![observation(100.0); count];
    let claim = |base: Vec<Vec<Observation>>, other: Vec<Vec<Observation>>| {
        claim_of(&[Pair {
            base,
            other,
            ..pair("m", &[], &[])
        }])
    };
    assert_eq!(claim(vec![runs(1)], vec![runs(9)]), Claim::Runs);
    assert_eq!(claim(vec![runs(2)], vec![runs(3)]), Claim::Runs);
    assert_eq!(claim(vec![runs(3)], vec![runs(3)]), Claim::Cards);
    assert_eq!(claim(vec![runs(3)], vec![runs(1), runs(2)]), Claim::Cards);
    assert_eq!(
        claim(vec![runs(1), runs(1)], vec![runs(1), runs(2)]),
        Claim::Products
    );
}

/// Holm (1979): the smallest p-value times the number of metrics, the next times one less, and so on, none
/// smaller than the one before.
#[test]
fn p_values_are_corrected_over_the_metrics() {
    let pairs: Vec<Pair> = [1.20, 1.12, 1.01]
        .iter()
        .map(|ratio| {
            pair(
                "m",
                &[99.0, 100.0, 101.0],
                &[99.0, 100.0, 101.0].map(|v| v * ratio),
            )
        })
        .collect();
    let d = compare(&pairs);
    assert!((d[0].adjusted_p_value.unwrap() - 3.0 * d[0].p_value.unwrap()).abs() < 1e-15);
    assert!((d[1].adjusted_p_value.unwrap() - 2.0 * d[1].p_value.unwrap()).abs() < 1e-15);
    assert!((d[2].adjusted_p_value.unwrap() - d[2].p_value.unwrap()).abs() < 1e-15);
    assert_eq!(d[2].outcome, Conclusion::Same);
    let twice = compare(&[pairs[2].clone(), pairs[2].clone()]);
    assert_eq!(twice[0].adjusted_p_value, twice[1].adjusted_p_value);
}

#[test]
fn a_runs_own_interval_bounds_what_can_be_known() {
    let vague = |value| Observation {
        value,
        half_width_ratio: Some(0.30),
        error_ratio: Some(0.4 * 0.30),
    };
    let side = |value: f64| vec![vec![vague(value); 3]];
    let pairs = [Pair {
        base: side(100.0),
        other: side(115.0),
        ..pair("m", &[], &[])
    }];
    assert_eq!(compare(&pairs)[0].outcome, Conclusion::Undecided);
}

/// At most 6.5 %, plus three standard errors of 2,000 comparisons.
#[test]
fn chance_seldom_makes_a_difference() {
    for runs in [2, 3, 5] {
        for (common, own) in [
            (0.0, 0.025),
            (0.0, 0.1),
            (0.8_f64.sqrt() * 0.05, 0.2_f64.sqrt() * 0.05),
        ] {
            let (any, _) = found(7, runs, common, own, 1.0);
            assert!(any <= 0.065 + 0.0166, "{runs} runs, {common}, {own}: {any}");
        }
    }
}

#[test]
fn one_run_a_side_never_decides() {
    for ratio in [1.0, 1.5, 10.0] {
        let (any, _) = found(7, 1, 0.0, 0.05, ratio);
        assert_eq!(any, 0.0);
    }
    let one_and_many = pair("m", &[100.0], &[200.0, 201.0, 199.0, 200.0, 200.5]);
    let difference = &compare(&[one_and_many])[0];
    assert_eq!((difference.p_value, difference.low), (None, None));
    assert_eq!(difference.outcome, Conclusion::Undecided);
    assert!((difference.ratio - 2.0).abs() < 0.01);
    // Without a spread of its own or a published one, the required number of runs is unknown.
    assert_eq!(difference.runs_needed, None);
}

/// One run on a side: only a ratio that published repeats hardly ever reach decides, in both directions.
#[test]
fn one_run_a_side_decides_beyond_what_repeats_reach() {
    let of = |ratio: f64| {
        let pair = Pair {
            repeats: Some(KnownPairs { p90: 0.1, p99: 0.7 }),
            ..pair("m", &[100.0], &[100.0 * ratio])
        };
        compare(&[pair])[0].clone()
    };
    assert_eq!(of(17.0).outcome, Conclusion::Higher);
    assert_eq!(of(1.0 / 17.0).outcome, Conclusion::Lower);
    let close = of(1.9);
    assert_eq!(
        (close.outcome, close.basis),
        (Conclusion::Undecided, Basis::PublishedRepeats)
    );
    assert!(
        close
            .runs_needed
            .is_some_and(|runs| (2..10).contains(&runs)),
        "{close:?}"
    );
    assert_eq!((close.p_value, close.low), (None, None));
}

/// A figure that is listed, and metrics of another class, do not decide about the variance of the others.
#[test]
fn a_wide_spread_stays_in_its_class() {
    let calm = || pair("calm", &[100.0, 101.0, 99.0], &[115.0, 116.0, 114.0]);
    let wild = |class: &'static str, is_tested: bool| Pair {
        class,
        is_tested,
        ..pair("wild", &[10.0, 100.0, 30.0], &[80.0, 12.0, 40.0])
    };
    let of = |wild: Pair| compare(&[calm(), wild])[0].outcome;
    assert_eq!(of(wild("", true)), Conclusion::Undecided);
    assert_eq!(of(wild("", false)), Conclusion::Higher);
    assert_eq!(of(wild("other", true)), Conclusion::Higher);
}

/// Stalls have a test of their own, so that the rate beside them is that between them.
#[test]
fn rates_are_compared_by_their_bodies() {
    let run = |rate: f64, body: f64| -> Record {
        let mut record = record(Vec::new());
        let mut metric = Metric::new("write", Quantity::ByteRate, rate);
        metric.parts = Some(RateParts {
            body: Estimate {
                value: body,
                ..Estimate::default()
            },
            ..RateParts::default()
        });
        let tail = Metric::new("write_p99", Quantity::Span, 1.0 / rate);
        record.metrics = vec![metric, tail];
        record
    };
    let base = [run(50.0, 100.0), run(90.0, 101.0), run(10.0, 99.0)];
    let other = [run(95.0, 120.0), run(30.0, 121.0), run(60.0, 119.0)];
    let found = pairs(
        &base.iter().collect::<Vec<_>>(),
        &other.iter().collect::<Vec<_>>(),
    );
    let differences = compare(&found);
    assert!((differences[0].ratio - 1.2).abs() < 0.01);
    assert_eq!(differences[0].outcome, Conclusion::Higher);
    let tail = &differences[1];
    assert_eq!((tail.basis, tail.p_value), (Basis::Listed, None));
}

/// The two goals of power; at least 90 %, minus three standard errors of 2,000 comparisons.
#[test]
fn true_differences_are_found() {
    let (three, _) = found(11, 3, 0.0, 0.05, 1.15);
    let (five, _) = found(11, 5, 0.8_f64.sqrt() * 0.05, 0.2_f64.sqrt() * 0.05, 1.20);
    assert!(three >= 0.88 && five >= 0.88, "{three} {five}");
}

/// With n runs per side the condition is n ≥ 2 (t + z)² (s/d)²: with s = d, one test and many runs 2 · (1.96
/// + 0.84)².
#[test]
fn runs_needed_follow_from_spread_and_difference() {
    assert_eq!(runs_needed(0.05, 0.05, 1), Some(17));
    let (few, many) = (runs_needed(0.05, 0.15, 8), runs_needed(0.05, 0.05, 8));
    assert!(few < many, "{few:?} {many:?}");
    assert_eq!(runs_needed(0.0, 0.1, 8), Some(2));
    assert_eq!(runs_needed(1.0, 0.01, 8), None);
}

fn stalls(base: &[u64], other: &[u64]) -> Conclusion {
    let side = |counts: &[u64]| -> Vec<StallRun> {
        let run = |&seen_count: &u64| StallRun {
            seen_count,
            observed_ns: 20_000_000_000,
        };
        counts.iter().map(run).collect()
    };
    let pair = StallPair {
        metric: "rand_write_4k".to_owned(),
        base: side(base),
        other: side(other),
    };
    compare_with_stalls(&[], &[pair]).1[0].outcome
}

#[test]
fn stalls_are_compared_by_their_counts() {
    assert_eq!(stalls(&[2, 3, 2], &[20, 22, 19]), Conclusion::Higher);
    assert_eq!(stalls(&[20, 22, 19], &[2, 3, 2]), Conclusion::Lower);
    assert_eq!(stalls(&[0, 0, 0], &[0, 0, 0]), Conclusion::Undecided);
    assert_eq!(stalls(&[0, 1, 0], &[1, 1, 0]), Conclusion::Undecided);
    assert_eq!(stalls(&[0], &[90]), Conclusion::Undecided, "one run a side");
    // One run has nearly all stalls: this is a difference between runs, not between sides.
    assert_eq!(stalls(&[2, 3, 2], &[60, 0, 1]), Conclusion::Undecided);
}

#[test]
fn metrics_are_paired_by_name_and_cards_by_their_ids() {
    let run = |sample: &str, metrics: &[(&str, f64, IntervalKind)]| -> Record {
        let mut record = record(Vec::new());
        record.labels.insert("sample".to_owned(), sample.to_owned());
        let metric = |(id, value, interval_kind): &(&str, f64, IntervalKind)| Metric {
            low: Some(value * 0.98),
            high: Some(value * 1.02),
            interval_kind: *interval_kind,
            ..Metric::new(*id, Quantity::ByteRate, *value)
        };
        record.metrics = metrics.iter().map(metric).collect();
        let latency = Metric::new("latency", Quantity::Span, 1.0);
        record.metrics.push(latency);
        record
    };
    let both = IntervalKind::BetweenRounds;
    let base = [run("a", &[("read", 10.0, both), ("write", 5.0, both)])];
    let other = [
        run(
            "b",
            &[
                ("write", 6.0, IntervalKind::WithinTrial),
                ("else", 1.0, both),
            ],
        ),
        run("c", &[("write", 7.0, both)]),
    ];
    let found = pairs(
        &base.iter().collect::<Vec<_>>(),
        &other.iter().collect::<Vec<_>>(),
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].metric, "write");
    assert_eq!(found[0].base.len(), 1);
    let widths: Vec<Option<f64>> = found[0]
        .other
        .iter()
        .flatten()
        .map(|run| run.half_width_ratio)
        .collect();
    assert_eq!(widths.len(), 2);
    assert_eq!(
        widths[0], None,
        "an interval within one trial cannot be compared"
    );
    assert!((widths[1].unwrap() - 0.02).abs() < 1e-12);
}

#[test]
fn the_same_products_on_both_sides_are_matched() {
    let run = |product: &str, value: f64| -> Record {
        let mut record = record(Vec::new());
        record
            .labels
            .insert("product".to_owned(), product.to_owned());
        record.metrics = vec![Metric::new("write", Quantity::ByteRate, value)];
        record
    };
    // Products differ by a factor of ten; each is twice as fast on the other side.
    let base = [
        run("A", 1.0),
        run("B", 10.0),
        run("C", 5.0),
        run("only here", 70.0),
    ];
    let other = [
        run("C", 10.1),
        run("B", 19.9),
        run("A", 2.0),
        run("only there", 0.1),
    ];
    let found = pairs(
        &base.iter().collect::<Vec<_>>(),
        &other.iter().collect::<Vec<_>>(),
    );
    assert!(found[0].is_matched);
    assert_eq!((found[0].base.len(), found[0].other.len()), (3, 3));
    assert_eq!(claim_of(&found), Claim::Matched);
    let difference = &compare(&found)[0];
    assert!((difference.ratio - 2.0).abs() < 0.02, "{difference:?}");
    assert_eq!(difference.outcome, Conclusion::Higher);
}

/// `Same` requires that the whole interval lies within a tenth, on both sides.
#[test]
fn the_same_is_only_said_where_a_tenth_is_ruled_out() {
    let side = |value: f64, half: f64| {
        let run = Observation {
            value,
            half_width_ratio: Some(half),
            error_ratio: Some(0.4 * half),
        };
        vec![vec![run; 3]]
    };
    for (ratio, half, expected) in [
        (1.0, 0.02, Conclusion::Same),
        (1.0, 0.20, Conclusion::Undecided),
        // Too small to be found, and too close to a tenth for `Same`.
        (1.065, 0.10, Conclusion::Undecided),
        (0.94, 0.10, Conclusion::Undecided),
    ] {
        let difference = &compare(&[Pair {
            base: side(100.0, half),
            other: side(100.0 * ratio, half),
            ..pair("m", &[], &[])
        }])[0];
        assert_eq!(
            difference.outcome, expected,
            "{ratio}, {half}: {difference:?}"
        );
        let is_within = difference.low.unwrap() >= 1.0 / 1.1 && difference.high.unwrap() <= 1.1;
        assert_eq!(is_within, expected == Conclusion::Same, "{difference:?}");
    }
}

/// A difference that would be significant alone is not significant among many equal metrics.
#[test]
fn many_metrics_ask_for_more_than_one_alone() {
    let alike = [100.0, 102.0, 98.0];
    let higher = alike.map(|value| value * 1.055);
    let alone = &compare(&[pair("m", &alike, &higher)])[0];
    assert_eq!(alone.outcome, Conclusion::Higher, "{alone:?}");
    let mut many = vec![pair("m", &alike, &higher)];
    many.extend((0..7).map(|_| pair("n", &alike, &alike)));
    let among = &compare(&many)[0];
    assert!(among.p_value.unwrap() < 0.05, "{among:?}");
    assert!((among.adjusted_p_value.unwrap() / among.p_value.unwrap() - 8.0).abs() < 1e-9);
    assert_ne!(among.outcome, Conclusion::Higher, "{among:?}");
}

/// Three scopes: the same difference of means supports ever wider claims, and needs ever more evidence.
#[test]
fn cards_of_one_product_are_not_taken_for_runs_of_one_card() {
    let run = |value: f64| vec![observation(value)];
    let values = [100.0, 115.0, 90.0, 105.0];
    let others = values.map(|value| value * 1.12);
    let of = |base: Vec<Vec<Observation>>, other: Vec<Vec<Observation>>| {
        let pairs = [Pair {
            base,
            other,
            ..pair("m", &[], &[])
        }];
        (claim_of(&pairs), compare(&pairs)[0].clone())
    };
    let width = |d: &Difference| d.high.unwrap() - d.low.unwrap();
    let cards = |values: [f64; 4]| values.map(run).to_vec();
    let (claim, apart) = of(cards(values), cards(others));
    assert_eq!(claim, Claim::Products);
    assert_eq!(apart.outcome, Conclusion::Undecided, "{apart:?}");
    // Runs of one card that are similar: the same ratio is found.
    let same = |value: f64| vec![vec![observation(value); 4]];
    let (claim, together) = of(same(100.0), same(112.0));
    assert_eq!(claim, Claim::Cards);
    assert_eq!(together.outcome, Conclusion::Higher, "{together:?}");
    assert!((apart.ratio - together.ratio).abs() < 1e-9);
    assert!(width(&apart) > 2.0 * width(&together));
}

/// Two cards of each product that happen to be similar provide little information about other cards of it.
#[test]
fn that_cards_of_a_product_differ_is_known_beforehand() {
    let pairs = [Pair {
        base: vec![vec![observation(100.0)]; 2],
        other: vec![vec![observation(115.0)]; 2],
        ..pair("m", &[], &[])
    }];
    assert_eq!(claim_of(&pairs), Claim::Products);
    assert_eq!(compare(&pairs)[0].outcome, Conclusion::Undecided);
}

#[test]
fn cards_are_told_apart_by_what_all_runs_of_a_side_say() {
    let run = |label: Option<&str>, id: Option<&str>| -> Record {
        let mut record = record(Vec::new());
        let label = label.map(|label| ("sample".to_owned(), label.to_owned()));
        record.labels.extend(label);
        record.devices = vec![DeviceInfo {
            sample: id.map(Sample::of_card),
            ..DeviceInfo::default()
        }];
        record
    };
    let count = |runs: &[Record]| cards_count(&runs.iter().collect::<Vec<_>>());
    assert_eq!(count(&[run(Some("1"), None), run(Some("2"), None)]), 2);
    assert_eq!(count(&[run(None, Some("a")), run(None, Some("b"))]), 2);
    // The label was added later: it is the same card.
    assert_eq!(count(&[run(None, Some("a")), run(Some("1"), Some("a"))]), 1);
    // A reader reports its own id for every card in it.
    assert_eq!(
        count(&[run(Some("1"), Some("a")), run(Some("2"), Some("a"))]),
        2
    );
    assert_eq!(count(&[run(None, None), run(Some("1"), None)]), 1);
}

#[test]
fn mixtures_of_products_are_seen() {
    let run = |product: &str| -> Record {
        let mut record = record(Vec::new());
        record
            .labels
            .insert("product".to_owned(), product.to_owned());
        record
    };
    let of = |base: &[&str], other: &[&str]| {
        let [base, other] = [base, other]
            .map(|side| -> Vec<Record> { side.iter().map(|product| run(product)).collect() });
        Products::of(
            &base.iter().collect::<Vec<_>>(),
            &other.iter().collect::<Vec<_>>(),
        )
    };
    let one = of(&["A", "A"], &["B"]);
    assert!(!one.are_several && !one.are_matched());
    let mixture = of(&["A", "B"], &["A"]);
    assert!(mixture.are_several && !mixture.are_matched());
    let matched = of(&["A", "B", "C"], &["A", "B"]);
    assert!(matched.are_matched());
    assert_eq!(matched.one.into_iter().collect::<Vec<_>>(), ["C"]);
}
