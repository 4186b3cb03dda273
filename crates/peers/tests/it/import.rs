//! Every text kept under `fixtures`, imported: figures written down by hand, in bytes and
//! operations a second, and what damage does to them.

mod bad_lines;
mod known;
mod privacy;

use cardmark_core::{FindingKind, Metric, Quantity};
use cardmark_peers::{ImportError, Imported, import};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{fixture, harm};
use known::{K, M, SIX, known};

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs()
}

#[test]
fn every_text_imports_to_known_figures() {
    for known in known() {
        let name = known.name;
        let imported = import(known.text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(imported.len(), known.records.len(), "{name}");
        for (one, figures) in imported.iter().zip(known.records) {
            let found: Vec<_> = one
                .metrics
                .iter()
                .map(|metric| metric.id.as_str())
                .collect();
            let wanted: Vec<_> = figures.iter().map(|(id, _)| *id).collect();
            assert_eq!(found, wanted, "{name}");
            for (metric, (id, value)) in one.metrics.iter().zip(*figures) {
                assert!(
                    close(metric.value, *value),
                    "{name}: {id}: {} {value}",
                    metric.value
                );
            }
            assert_eq!(one.suite, known.suite, "{name}");
            assert!(!one.tools.is_empty(), "{name}");
        }
    }
}

/// What is kept beside the readers as a table of truth is no text of a tool; one is refused.
#[test]
fn no_text_is_forgotten() {
    let elsewhere = [
        "dd-9.1-rates.tsv",
        "hdparm-9.65-rates.tsv",
        "iozone-3.489-ops.txt",
        // Long ones, of which others look at some figures.
        "ddrescue-1.27-fast.txt",
        "ddrescue-1.27-read.txt",
        "ddrescue-1.27-write.txt",
        "fio-3.33-agnostics-run.json",
        "fio-3.33-agnostics-terse.txt",
        "fio-3.33-agnostics.json",
        "fio-3.33-agnostics.txt",
        "fio-3.33-randrw-run.json",
        "iozone-3.489-all.txt",
        "iozone-3.489-threads.txt",
        "kdiskmark-1.6.0-default.txt",
    ];
    let known = known();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_here = known.iter().any(|known| known.name == name);
        assert_ne!(is_here, elsewhere.contains(&name.as_str()), "{name}");
    }
}

fn one(text: &str) -> Imported {
    let [one]: [Imported; 1] = import(text).unwrap().try_into().unwrap();
    one
}

fn value(one: &Imported, id: &str) -> f64 {
    let found = one.metrics.iter().find(|metric| metric.id == id);
    found.unwrap_or_else(|| panic!("no {id}")).value
}

#[test]
fn long_texts_import_too() {
    let all = one(fixture!("iozone-3.489-all.txt"));
    assert_eq!(all.metrics.len(), 13);
    assert!(close(
        value(&all, "iozone_record_rewrite_64k"),
        13_466.0 * K
    ));
    assert!(close(value(&all, "iozone_freread_64k"), 12_316_176.0 * K));
    let threads = one(fixture!("iozone-3.489-threads.txt"));
    assert_eq!(threads.metrics.len(), 30);
    assert!(close(
        value(&threads, "iozone_t4_write_children"),
        12_992.28 * K
    ));
    assert!(close(value(&threads, "iozone_t4_read_max"), 4061.25 * K));
    // Files of 4 MiB are not those of parallel4.
    assert_eq!(threads.suite, None);
    let large = fixture!("iozone-3.489-threads.txt").replace("a 4096 kByte", "a 262144 kByte");
    assert_eq!(one(&large).suite, Some("parallel4"));
    let jobs = one(fixture!("fio-3.33-agnostics.txt"));
    assert!(close(value(&jobs, "fio_seq_write_write"), 15.4 * M));
    assert!(close(value(&jobs, "fio_rand_4k_read_read"), 2048.0 / 1.002));
    assert!(close(
        value(&jobs, "fio_rand_4k_write_write_p99"),
        7_766_016.0
    ));
    let exact = one(fixture!("fio-3.33-agnostics-run.json"));
    assert_eq!(exact.metrics.len(), 5);
    let terse = one(fixture!("fio-3.33-agnostics-terse.txt"));
    assert!(close(value(&terse, "fio_seq_read_read"), 12_449.0 * K));
    let many = one(fixture!("kdiskmark-1.6.0-default.txt"));
    assert!(close(
        value(&many, "kdiskmark_rand_read_4k_q32_t16"),
        67_889.0
    ));
    let is_told = |f: &&cardmark_core::Finding| f.detail.contains("of 16 threads");
    assert_eq!(many.findings.iter().filter(is_told).count(), 2);
    for (text, bytes_per_s) in [
        (fixture!("ddrescue-1.27-fast.txt"), 306e6),
        (fixture!("ddrescue-1.27-read.txt"), 15_000e3),
        (fixture!("ddrescue-1.27-write.txt"), 15_728e3),
    ] {
        assert!(close(value(&one(text), "ddrescue"), bytes_per_s));
    }
}

#[test]
fn json_and_human_output_of_a_run_are_one() {
    let both = [
        fixture!("fio-3.33-agnostics.txt"),
        fixture!("fio-3.33-agnostics-run.json"),
    ]
    .concat();
    assert_eq!(one(&both), {
        let mut exact = one(fixture!("fio-3.33-agnostics-run.json"));
        exact.printed_text.clone_from(&one(&both).printed_text);
        exact
    });
    let twice = fixture!("fio-3.33-randrw-run.json").repeat(2);
    assert_eq!(import(&twice).unwrap().len(), 2);
    // Four jobs of one name, side by side.
    let line = fixture!("fio-3.33-terse-read.txt");
    let ids: Vec<String> = one(&line.repeat(2))
        .metrics
        .into_iter()
        .map(|m| m.id)
        .collect();
    assert_eq!(ids, ["fio_test_read", "fio_test_2_read"]);
}

/// What the well-known script prints.
const SESSION: &str = "Running hdparm test...\n\n/dev/mmcblk0:\n \
    Timing buffered disk reads:  66 MB in  3.02 seconds =  21.87 MB/sec\n\n\
    Running dd test...\n\n51200+0 records in\n51200+0 records out\n\
    419430400 bytes (419 MB, 400 MiB) copied, 40.4 s, 10.4 MB/s\n\nRunning iozone test...\n";

fn session() -> String {
    let iozone = fixture!("iozone-3.489-4k.txt");
    let iozone = iozone.replace("            8192       4", "          102400       4");
    format!("{SESSION}{iozone}")
}

#[test]
fn what_the_well_known_script_prints_is_one_record() {
    let one = one(&session());
    assert_eq!(one.tools, ["hdparm", "dd", "iozone"]);
    assert_eq!(one.suite, Some("dramble"));
    assert_eq!(one.metrics.len(), 8);
    assert!(close(value(&one, "hdparm_t"), 21.87 * M));
    assert!(close(value(&one, "dd_write"), 419_430_400.0 / 40.4));
    assert!(close(value(&one, "iozone_random_write"), 10_064.0 * K));
    let hdparm = one.metrics[0].printed.clone().unwrap();
    assert_eq!(hdparm.text, "21.87 MB/sec");
    assert_eq!(hdparm.meaning.as_deref(), Some("21.87 MiB/s"));
    assert!(one.findings.is_empty(), "{:?}", one.findings);
    let kept: Vec<&str> = one.printed_text.lines().collect();
    assert_eq!(kept.len(), 3, "{kept:?}");
    assert!(!one.printed_text.contains("mmcblk0"));
    // Another card, or the same once more.
    let twice = import(&session().repeat(2)).unwrap();
    assert_eq!(twice.len(), 2);
    assert_eq!(twice[0].metrics, twice[1].metrics);
}

#[test]
fn a_command_tells_what_dd_did() {
    let copy = "419430400 bytes (419 MB, 400 MiB) copied, 40.4 s, 10.4 MB/s";
    for (command, id) in [
        ("", "dd_write"),
        (
            "$ dd if=/dev/zero of=test bs=8k count=50k conv=fsync\n",
            "dd_write",
        ),
        (
            "$ dd if=/dev/zero of=test bs=1M count=400\n",
            "dd_write_400m",
        ),
        ("$ dd if=test of=/dev/null bs=8k\n", "dd_read_400m"),
        ("$ dd if=a of=b\n", "dd_400m"),
    ] {
        assert_eq!(
            one(&format!("{command}{copy}")).metrics[0].id,
            id,
            "{command}"
        );
    }
}

fn kinds(one: &Imported) -> Vec<FindingKind> {
    one.findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn doubts_are_told() {
    use FindingKind::{AmbiguousUnit, DataLost, DoubtfulFigure, FalseCapacity, IoError};
    for (text, expected) in [
        (fixture!("f3-7-read-lost.txt"), vec![DataLost]),
        (fixture!("f3-7.2-read-partial.txt"), vec![IoError]),
        (fixture!("f3-8.0-probe-limbo.txt"), vec![FalseCapacity]),
        (fixture!("f3-8.0-probe-damaged.txt"), vec![DataLost]),
        (fixture!("f3-8.0-probe-real.txt"), vec![]),
        (fixture!("fio-2.1.14-write.txt"), vec![AmbiguousUnit]),
        (fixture!("fio-3.28-rand-write.txt"), vec![]),
        (fixture!("iozone-3.489-threads.txt"), vec![]),
        (fixture!("comment-commas.txt"), vec![AmbiguousUnit]),
        (fixture!("comment-lines.txt"), vec![DoubtfulFigure; 3]),
        (
            fixture!("pibenchmarks-2020-table.txt"),
            vec![AmbiguousUnit; 3],
        ),
        (fixture!("pibenchmarks-2024-terminal.txt"), vec![]),
        (
            fixture!("agnostics-0.15-wrong-lines.txt"),
            vec![DoubtfulFigure; 2],
        ),
        (
            fixture!("kdiskmark-3.2.0-demo-no-heading.txt"),
            vec![AmbiguousUnit],
        ),
    ] {
        assert_eq!(kinds(&one(text)), expected, "{text}");
    }
    let doubts = one(fixture!("comment-doubts.txt"));
    assert_eq!(
        kinds(&doubts)
            .iter()
            .filter(|kind| **kind == DoubtfulFigure)
            .count(),
        3
    );
    let changed =
        fixture!("pibenchmarks-2024-terminal.txt").replace("Score: 10605", "Score: 99999");
    assert_eq!(kinds(&one(&changed)), [DoubtfulFigure]);
    // The rates that a unit may mean.
    let commas = one(fixture!("comment-commas.txt"));
    let random = &commas.metrics[2];
    assert_eq!(
        (random.low, random.high),
        (Some(10.31 * 1000.0 * K), Some(10.31 * M))
    );
    assert!(
        commas.findings[0].detail.contains("1.2 %"),
        "{:?}",
        commas.findings
    );
    assert_eq!(commas.findings[0].workloads, [SIX[4], SIX[5]]);
    assert_eq!(commas.metrics[0].low, None);
    let meanings = commas
        .metrics
        .iter()
        .map(|it| it.printed.clone().unwrap().meaning);
    let meanings: Vec<Option<String>> = meanings.collect();
    assert_eq!(meanings, [Some("44,06 MiB/s".to_owned()), None, None, None]);
}

fn warnings<'a>(one: &'a Imported, id: &str) -> &'a [String] {
    let found = one.metrics.iter().find(|metric| metric.id == id);
    &found.unwrap_or_else(|| panic!("no {id}")).warnings
}

#[test]
fn warnings_are_named_on_each_figure_that_they_touch() {
    let many = one(fixture!("kdiskmark-1.6.0-default.txt"));
    assert_eq!(
        warnings(&many, "kdiskmark_rand_read_4k_q32_t16"),
        ["doubtful_figure"]
    );
    assert!(warnings(&many, "kdiskmark_seq_read_1m_q8_t1").is_empty());
    let lost = one(fixture!("f3-7-read-lost.txt"));
    assert!(
        lost.metrics
            .iter()
            .all(|metric| metric.warnings == ["data_lost"])
    );
    // Notes limit no trust.
    let notes = one(fixture!("comment-commas.txt"));
    assert_eq!(kinds(&notes), [FindingKind::AmbiguousUnit]);
    assert!(
        notes
            .metrics
            .iter()
            .all(|metric| metric.warnings.is_empty())
    );
    // What was left out says nothing of another figure of that test.
    let typed = one("dd 21.5 MB/s\nhdparm 22.5 MB/s\ndd 26.2");
    assert_eq!(kinds(&typed), [FindingKind::DoubtfulFigure]);
    assert!(
        typed
            .metrics
            .iter()
            .all(|metric| metric.warnings.is_empty())
    );
    let failed = fixture!("fio-3.33-agnostics.txt").replace("err= 0", "err= 5");
    let failed = one(&failed);
    assert!(
        failed
            .metrics
            .iter()
            .any(|metric| metric.id.ends_with("_p99"))
    );
    assert!(
        failed
            .metrics
            .iter()
            .all(|metric| metric.warnings == ["io_error"]),
        "{failed:?}"
    );
}

#[test]
fn the_size_of_records_is_not_guessed_in_silence() {
    let alone = one("random read 80 MB/s");
    assert_eq!(alone.metrics[0].id, "iozone_random_read_unsized");
    assert_eq!(alone.metrics[0].operations_per_s, None);
    assert_eq!(
        warnings(&alone, "iozone_random_read_unsized"),
        ["doubtful_figure"]
    );
    // The usual script's, but said.
    let beside = one("hdparm 43.5 MB/s\ndd 22.5 MB/s\nrandom read 8.1 MB/s\nrandom write 2.2 MB/s");
    let ids: Vec<&str> = beside
        .metrics
        .iter()
        .map(|metric| metric.id.as_str())
        .collect();
    assert_eq!(ids, ["hdparm_t", "dd_write", SIX[4], SIX[5]]);
    for id in &ids[2..] {
        assert_eq!(warnings(&beside, id), ["doubtful_figure"]);
    }
    assert!(warnings(&beside, "dd_write").is_empty());
    // Another size in the same line is not the usual one.
    for other in [
        "80 MB/s (1 MiB records)",
        "80 MB/s bs=64k",
        "80 MB/s, 128 kB",
    ] {
        let one = one(&format!("hdparm 85.5 MB/s\nrandom read {other}"));
        assert_eq!(one.metrics[1].id, "iozone_random_read_unsized", "{other}");
    }
    let told = one("4k random read 8.1 MB/s");
    assert_eq!(
        (told.metrics[0].id.as_str(), kinds(&told)),
        (SIX[4], vec![FindingKind::AmbiguousUnit])
    );
}

#[test]
fn threads_of_iozone_without_their_record_size_are_of_no_suite() {
    let text = fixture!("iozone-3.489-threads.txt");
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains(" writes a "))
        .collect();
    let one = one(&lines.join("\n"));
    assert_eq!(one.metrics.len(), 30);
    for metric in &one.metrics {
        assert!(metric.id.contains("_unsized_"), "{}", metric.id);
        assert_eq!(metric.warnings, ["doubtful_figure"]);
    }
}

#[test]
fn reports_and_single_tools_stand_beside_each_other() {
    let text = [
        fixture!("agnostics-0.12-pass.txt"),
        fixture!("hdparm-9.65-t.txt"),
        fixture!("kdiskmark-2.2.1-one-test.txt"),
    ];
    let records = import(&text.concat()).unwrap();
    let tools: Vec<&str> = records.iter().map(|one| one.tools[0].as_str()).collect();
    assert_eq!(
        tools,
        ["Raspberry Pi Diagnostics 0.12", "KDiskMark 2.2.1", "hdparm"]
    );
    let text = "Free space: lots\n{\nhdparm 43.5 MB/s\n";
    assert!(close(value(&one(text), "hdparm_t"), 43.5 * M));
}

#[test]
fn a_text_without_figures_is_refused() {
    for text in ["", "hello\nworld", "{}x", fixture!("dd-9.1-rates.tsv")] {
        assert!(import(text).is_err(), "{text}");
    }
    assert_eq!(import("hello").unwrap_err(), ImportError::Nothing);
    let Err(ImportError::NotUnderstood { reasons }) = import(fixture!("iozone-3.489-ops.txt"))
    else {
        panic!()
    };
    assert!(reasons[0].contains("other figures"), "{reasons:?}");
}

#[test]
fn a_number_that_hdparm_prints_in_one_unit_only_has_that() {
    let table = fixture!("pibenchmarks-2020-table.txt");
    for (number, bytes_per_s) in [("1500.12", 1500.12 * M), ("0.58", 0.58 * K)] {
        let changed = table.replace("28.48 MB/s", &format!("{number} MB/s"));
        let one = one(&changed);
        assert!(close(value(&one, "pibenchmarks_hdparm_disk"), bytes_per_s));
        assert_eq!(kinds(&one), [FindingKind::AmbiguousUnit; 2]);
    }
}

#[test]
fn what_a_text_says_besides_is_kept() {
    let one = one(fixture!("pibenchmarks-2024-terminal.txt"));
    let model = one.board.unwrap().model.unwrap();
    assert_eq!(model, "Raspberry Pi 4 Model B Rev 1.1");
    assert_eq!(one.host.unwrap().architecture.as_deref(), Some("aarch64"));
    assert_eq!(one.device.unwrap().model.as_deref(), Some("SC16G"));
    assert_eq!(one.labels["manufacturer"], "SanDisk");
    assert_eq!(one.labels["description"], "worn 16 GB card");
    let cards = import(fixture!("comment-table.txt")).unwrap();
    let names: Vec<&str> = cards
        .iter()
        .map(|card| card.named.as_deref().unwrap())
        .collect();
    assert_eq!(names, ["Red card 32GB", "Blue card 16GB"]);
}

/// Bytes or operations a second that the printed text of a figure means in its tool's units; they
/// are written down here apart from the importer.
fn meant(metric: &Metric) -> Option<Vec<f64>> {
    let printed = metric.printed.as_ref()?;
    let start = printed
        .text
        .find(|c: char| c != '.' && c != ',' && !c.is_ascii_digit());
    let unit = start.map_or("", |at| printed.text[at..].trim());
    let is_decimal_tool =
        printed.tool == "ddrescue" || printed.tool == "dd" || printed.tool == "fio";
    let base = if unit.contains("iB") || !is_decimal_tool {
        K
    } else {
        1000.0
    };
    let prefix = unit.chars().next().map_or(' ', |c| c.to_ascii_uppercase());
    let power = match prefix {
        'K' => 1,
        'M' => 2,
        'G' => 3,
        'T' => 4,
        _ => 0,
    };
    // Tables without a unit are of KiB.
    let power = if unit.is_empty() { 1 } else { power };
    let mut bases = vec![base];
    let is_open = printed.tool == "fio" || printed.tool == "dd" || printed.tool == "iozone";
    if is_open && !unit.contains("iB") {
        bases = vec![1000.0, K, (1000.0 * K).sqrt()];
    }
    if printed.tool == "KDiskMark" {
        return Some(vec![
            printed.value * 1e6,
            printed.value * 1.024e6,
            printed.value * M,
        ]);
    }
    Some(
        bases
            .into_iter()
            .map(|base| printed.value * base.powi(power))
            .collect(),
    )
}

/// Whether a rate is what its own text says, as good as that is rounded.
fn is_said(metric: &Metric, text: &str) -> bool {
    if metric.id.starts_with("pibenchmarks_hdparm") {
        let number = metric.printed.as_ref().unwrap().value;
        // hdparm goes on to the next unit there.
        let is_told = !(1.0..=K).contains(&number);
        return is_told || is_said_by(&TIMINGS, metric, text);
    }
    if metric.id == "pibenchmarks_dd" {
        return is_said_by(&COPIES, metric, text);
    }
    let value = match (metric.quantity, metric.rate_bytes_per_s) {
        (Quantity::OperationRate, None) => return true,
        (_, Some(bytes_per_s)) => bytes_per_s,
        _ => return true,
    };
    let Some(meant) = meant(metric) else {
        return true;
    };
    let Some(printed) = &metric.printed else {
        return true;
    };
    if printed.text.contains("IOPS") {
        let operations = match metric.quantity {
            Quantity::OperationRate => Some(metric.value),
            _ => metric.operations_per_s,
        };
        return operations.is_some_and(|operations| close(operations, printed.value));
    }
    let number = printed
        .text
        .split(|c: char| c != '.' && c != ',' && !c.is_ascii_digit());
    let number = number.into_iter().next().unwrap_or("");
    let decimals = number
        .split_once(['.', ','])
        .map_or(0, |(_, decimals)| decimals.len());
    let half_step = 0.51 * 0.1_f64.powi(i32::try_from(decimals).unwrap());
    let slack = (half_step / printed.value.max(1e-9)).max(0.0121);
    meant
        .iter()
        .any(|meant| (value / meant - 1.0).abs() <= slack)
}

/// Units that hdparm and dd print, and what they are.
const TIMINGS: [(&str, f64); 3] = [("MB/sec", M), ("kB/sec", K), ("KB/sec", K)];
const COPIES: [(&str, f64); 5] = [
    ("B/s", 1.0),
    ("kB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("TB/s", 1e12),
];

/// The unit in the table may be wrong; one of these stands elsewhere in the text then.
fn is_said_by(units: &[(&str, f64)], metric: &Metric, text: &str) -> bool {
    let printed = &metric.printed.as_ref().unwrap().text;
    let end = printed.find(|c: char| c != '.' && c != ',' && !c.is_ascii_digit());
    let (number, _) = printed.split_at(end.unwrap_or(printed.len()));
    let value: f64 = number.replace(',', ".").parse().unwrap();
    units.iter().any(|(unit, bytes)| {
        let is_value = (metric.value / value / bytes - 1.0).abs() < 0.09;
        is_value && text.contains(&format!("{number} {unit}"))
    })
}

/// What comes out of any text can be stored, and is what the text says.
fn check(text: &str) {
    for one in import(text).into_iter().flatten() {
        let mut ids = std::collections::BTreeSet::new();
        assert!(!one.metrics.is_empty());
        for metric in &one.metrics {
            assert!(ids.insert(&metric.id), "{} twice", metric.id);
            assert!(
                metric.value.is_finite() && metric.value >= 0.0,
                "{metric:?}"
            );
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            assert!(metric.id.chars().all(is_plain), "{}", metric.id);
            assert!(is_said(metric, text), "{metric:?} of {text}");
        }
    }
}

#[test]
fn what_is_true_is_said() {
    for known in known() {
        check(known.text);
    }
    check("éio 4k random read 2711 IOPS");
    // Part of it seems to be in the other block.
    let report = include_str!("../../fixtures/kdiskmark-3.0.0-default.txt");
    check(&report.replacen("[Read]", "[Write]", 1));
    check(&report.replacen("[Read]", "![Read]", 1));
    check(&report.repeat(2).replacen("[Read]", "[Write]", 1));
}

proptest! {
    #[test]
    fn a_changed_character_makes_no_other_unit(
        which in any::<Index>(),
        at in any::<Index>(),
        put in harm::any_char(),
    ) {
        let known = known();
        check(&harm::changed(which.get(&known).text, at, put));
    }

    #[test]
    fn a_cut_or_shuffled_text_makes_no_other_unit(
        which in any::<Index>(),
        other in any::<Index>(),
        cut in any::<Index>(),
        without in any::<Index>(),
    ) {
        let known = known();
        let text = which.get(&known).text;
        let at = cut.index(text.chars().count());
        let start: String = text.chars().take(at).collect();
        check(&start);
        let less = harm::without_a_line(text);
        check(&less[without.index(less.len())]);
        check(&format!("{start}\n{}", other.get(&known).text));
    }

    #[test]
    fn any_text_does_not_panic(text in "\\PC*") {
        check(&text);
    }
}
