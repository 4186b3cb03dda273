//! Processes against their long-run truth.

use cardmark_core::{Order, SECOND_NS, Workload};
use cardmark_sim::{Model, SimulatedCard, Trace};

use crate::support::{Rig, workload};

const SEEDS: u64 = 24;

/// Model, workload, and simulated seconds per seed.
const SERIES: [(&str, Kind, u64); 18] = [
    ("stalls-often", Kind::Random, 150),
    ("stalls-rare", Kind::Random, 250),
    ("stalls-heavy", Kind::Random, 150),
    ("stalls-heavy", Kind::Sequential, 1_500),
    ("freeze-2s", Kind::Sequential, 1_500),
    ("freeze-2s", Kind::Reads, 100),
    ("freeze-700ms", Kind::Sequential, 1_500),
    ("garbage", Kind::Random, 400),
    ("garbage", Kind::Sequential, 300),
    ("regimes", Kind::Sequential, 4_000),
    ("slow-sway", Kind::Sequential, 2_000),
    ("slower-sway", Kind::Sequential, 6_000),
    ("gentle-sway", Kind::Sequential, 6_000),
    ("two-speeds", Kind::Random, 60),
    ("housekeeping", Kind::Random, 200),
    ("housekeeping", Kind::Reads, 60),
    ("switching", Kind::Mixed, 600),
    ("switching", Kind::Random, 60),
];

#[derive(Clone, Copy, Debug)]
enum Kind {
    Random,
    Sequential,
    Reads,
    Mixed,
}

impl Kind {
    fn workload(self) -> Workload {
        match self {
            Self::Random => workload(0, Order::Random, 4096, 1),
            Self::Sequential => workload(0, Order::Sequential, 1 << 20, 1),
            Self::Reads => workload(100, Order::Random, 4096, 1),
            Self::Mixed => workload(70, Order::Random, 4096, 1),
        }
    }
}

/// The model without factors of runs and trials, whose noise would hide a small bias.
fn even(name: &str) -> Model {
    let path = format!("{}/models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let even = "[variance]\nrun_deviation = 0.0\ntrial_deviation = 0.0\n";
    let (top, tables) = text.split_once("\n[").unwrap();
    Model::parse(&format!("{top}\n{even}\n[{tables}")).unwrap()
}

/// Mean over seeds of the rate ÷ the truth, and its standard error.
fn against_truth(name: &str, kind: Kind, span_s: u64) -> (f64, f64) {
    let model = even(name);
    let workload = kind.workload();
    let ratios: Vec<f64> = (0..SEEDS)
        .map(|seed| {
            let mut rig = Rig::new(SimulatedCard::new(&model, seed), seed + 7);
            let truth = rig.card.truth(&workload).unwrap().operations_per_s;
            // Deferred work has come due afterwards.
            if name == "housekeeping" {
                rig.trial(&workload, 10 * SECOND_NS);
            }
            rig.trial(&workload, span_s * SECOND_NS).rate() / truth
        })
        .collect();
    let count = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / count;
    let squares: f64 = ratios.iter().map(|r| (r - mean) * (r - mean)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[test]
fn long_simulations_agree_with_the_truth_of_processes() {
    for (name, kind, span_s) in SERIES {
        let (mean, error) = against_truth(name, kind, span_s);
        println!(
            "{name:14} {kind:?} {:+.5} {:+.2}",
            mean - 1.0,
            (mean - 1.0) / error
        );
        assert!((mean - 1.0).abs() < 0.02, "{name} {kind:?} {mean}");
        assert!(
            (mean - 1.0).abs() < 3.3 * error + 0.002,
            "{name} {kind:?} {mean} ± {error}"
        );
    }
}

#[test]
fn slow_trials_are_as_frequent_as_stated() {
    let model = even("slow-trials");
    let reads = Kind::Reads.workload();
    let mut rig = Rig::new(SimulatedCard::new(&model, 1), 2);
    let truth = rig.card.truth(&reads).unwrap().operations_per_s;
    let rates: Vec<f64> = (0..1_000)
        .map(|_| rig.trial(&reads, SECOND_NS / 4).rate() / truth)
        .collect();
    let slow_count = rates.iter().filter(|&&rate| rate < 0.8).count();
    // Binomial: 200 with a standard deviation of 12.6.
    assert!((160..240).contains(&slow_count), "{slow_count}");
    let mean = rates.iter().sum::<f64>() / 1_000.0;
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
}

#[test]
fn processes_draw_on_their_own() {
    // The same seed with and without a process that never happens gives the same spans.
    let never = "name = \"x\"\nlike = \"a1-32gb\"\n[[process]]\nkind = \"stalls\"\non = \"all\"\n\
                 probability = 0.0\nshortest_ms = 1.0\nlongest_ms = 2.0\n";
    let spans = |model: &Model| {
        let mut rig = Rig::new(SimulatedCard::new(model, 5), 6);
        rig.trial(&Kind::Mixed.workload(), SECOND_NS).latencies_ns
    };
    let plain = spans(&Model::named("a1-32gb").unwrap());
    assert_eq!(plain, spans(&Model::parse(never).unwrap()));
}

#[test]
fn a_drift_has_no_long_run() {
    let model = Model::named("drift").unwrap();
    assert!(!model.is_stationary());
    assert!(model.truth(&Kind::Random.workload()).is_none());
}

#[test]
fn stalls_are_known_with_their_length() {
    let truth = |name: &str, kind: Kind| Model::named(name).unwrap().stalls(&kind.workload());
    let often = truth("stalls-often", Kind::Random).unwrap();
    assert_eq!((often.mean_ns, often.per_operation), (700e6, 2e-4));
    assert!(truth("stalls-often", Kind::Reads).is_none());
    let frozen = truth("freeze-2s", Kind::Reads).unwrap();
    assert_eq!((frozen.mean_ns, frozen.per_second), (2e9, 0.04));
    // Of a Pareto distribution from 20 ms with α = 1.5 8.9 % lie above 100 ms.
    let heavy = truth("stalls-heavy", Kind::Random).unwrap();
    assert!((heavy.per_operation - 8.85e-5).abs() < 1e-6, "{heavy:?}");
    assert!((heavy.mean_ns - 234e6).abs() < 5e6, "{heavy:?}");
}

#[test]
fn models_of_real_figures_have_their_truth() {
    for (name, kind, span_s) in [
        ("sd-stalls", Kind::Random, 200),
        ("emmc-stalls", Kind::Random, 100),
        ("pause-5mb", Kind::Sequential, 300),
        ("recorded-emmc", Kind::Sequential, 300),
    ] {
        let (mean, error) = against_truth(name, kind, span_s);
        println!("{name:14} {kind:?} {:+.5} {error:.5}", mean - 1.0);
        assert!(
            (mean - 1.0).abs() < 3.3 * error + 0.003,
            "{name} {mean} ± {error}"
        );
    }
}

#[test]
fn a_recording_is_played_in_its_order_and_its_mean_is_the_truth() {
    let spans: Vec<u64> = (0..40)
        .map(|number| 500_000 + 10_000 * number * number)
        .collect();
    let lines: String = spans.iter().map(|ns| format!("write,{ns}\n")).collect();
    let csv = Trace::from_csv(&format!("kind,latency_ns\n{lines}"), "a test").unwrap();
    let lines: String = spans
        .iter()
        .map(|ns| format!("7, {ns}, 1, 4096, 0\n"))
        .collect();
    assert_eq!(csv, Trace::from_fio(&lines, "a test").unwrap());
    let model = Model::replay(&csv).unwrap();
    let writes = Kind::Random.workload();
    let mean_ns = spans.iter().sum::<u64>() as f64 / 40.0;
    let truth = model.truth(&writes).unwrap().operations_per_s;
    assert!((truth * mean_ns / 1e9 - 1.0).abs() < 1e-12);
    let starts: Vec<u64> = (0..20)
        .map(|seed| {
            let mut rig = Rig::new(SimulatedCard::new(&model, seed), 1);
            let played = rig.trial(&writes, SECOND_NS).latencies_ns;
            let start = spans.iter().position(|&ns| ns == played[0]).unwrap();
            let expected = spans.iter().cycle().skip(start);
            assert!(played.iter().zip(expected).all(|(a, b)| a == b));
            played[0]
        })
        .collect();
    assert!(starts.iter().any(|&first| first != starts[0]));
    assert!(csv.origin().source.unwrap().contains("replay of recorded"));
}

#[test]
fn what_is_made_up_says_so_and_what_is_no_recording_is_refused() {
    let quantiles = [(0.0, 1e6), (0.5, 2e6), (1.0, 9e6)];
    let made_up = Trace::made_up(&[], &quantiles, 4_000, 1, "a table").unwrap();
    let source = made_up.origin().source.unwrap();
    assert!(
        source.starts_with("simulated: latencies made up from percentiles"),
        "{source}"
    );
    // Halves of even spans: 1.5 ms and 5.5 ms in the mean.
    let truth = Model::replay(&made_up)
        .unwrap()
        .truth(&Kind::Random.workload())
        .unwrap();
    assert!((truth.operations_per_s * 3.5e-3 - 1.0).abs() < 0.05);
    for text in ["", "write,1\n", "write;5\n", "erase,5\n", "write,-3\n"] {
        assert!(Trace::from_csv(text, "x").is_err(), "{text}");
    }
    assert!(Trace::made_up(&[], &quantiles[1..], 100, 1, "x").is_err());
}
