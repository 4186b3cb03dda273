//! Every text kept under `fixtures`, imported: figures written down by hand, in bytes and
//! operations a second, and what damage does to them.

use cardmark_core::{FindingKind, Metric};
use cardmark_import::Imported;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::known::known;
use crate::{K, M, close, fixture, harm, ids, import, kinds, metric, one, value};

#[test]
fn every_text_imports_to_known_figures() {
    for known in known() {
        let name = known.name;
        let imported = import(&known.text);
        assert_eq!(imported.len(), known.records.len(), "{name}");
        for (one, figures) in imported.iter().zip(&known.records) {
            let wanted: Vec<_> = figures.iter().map(|(id, _)| *id).collect();
            assert_eq!(ids(one), wanted, "{name}");
            for (metric, (id, value)) in one.metrics.iter().zip(figures) {
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

#[test]
fn long_texts_import_to_some_known_figures() {
    for (name, id, expected) in [
        ("ddrescue-1.27-fast.txt", "ddrescue", 306e6),
        ("ddrescue-1.27-read.txt", "ddrescue", 15_000e3),
        ("ddrescue-1.27-write.txt", "ddrescue", 15_728e3),
        (
            "fio-3.33-agnostics-run.json",
            "fio_rand_4k_read_read",
            2048.0 / 1.002,
        ),
        (
            "fio-3.33-agnostics-terse.txt",
            "fio_seq_read_read",
            12_449.0 * K,
        ),
        (
            "fio-3.33-agnostics.json",
            "fio_rand_4k_read_read",
            3_117.199_391,
        ),
        (
            "fio-3.33-agnostics.txt",
            "fio_rand_4k_read_read",
            2048.0 / 1.002,
        ),
        ("fio-3.33-randrw-run.json", "fio_test_read", 979.0 / 0.349),
        ("iozone-3.489-all.txt", "iozone_frewrite_64k", 12_262.0 * K),
        (
            "iozone-3.489-threads.txt",
            "iozone_t4_write_children",
            12_992.28 * K,
        ),
        (
            "kdiskmark-1.6.0-default.txt",
            "kdiskmark_rand_read_4k_q32_t16",
            67_889.0,
        ),
    ] {
        let path = format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
        let found = value(&one(&std::fs::read_to_string(path).unwrap()), id);
        assert!(
            (found - expected).abs() <= 1e-8 * expected,
            "{name}: {found}"
        );
    }
}

/// The table of truth beside the readers is no text of a tool; one is refused.
#[test]
fn no_text_is_forgotten() {
    let elsewhere = [
        "README.md",
        "iozone-3.489-ops.txt",
        // Long texts: some of their figures are known.
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
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            continue;
        }
        let name = entry.file_name().into_string().unwrap();
        let is_here = known.iter().any(|known| known.name == name);
        assert_ne!(is_here, elsewhere.contains(&name.as_str()), "{name}");
    }
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
        let one = one(text);
        assert!(close(value(&one, "ddrescue"), bytes_per_s));
        // None of them met an error: `100.00%, read errors: 0`.
        assert_eq!(one.findings, []);
    }
}

#[test]
fn json_and_human_output_of_a_run_are_one() {
    let both = [
        fixture!("fio-3.33-agnostics.txt"),
        fixture!("fio-3.33-agnostics-run.json"),
    ]
    .concat();
    assert_eq!(one(&both), one(fixture!("fio-3.33-agnostics-run.json")));
    let twice = fixture!("fio-3.33-randrw-run.json").repeat(2);
    assert_eq!(import(&twice).len(), 2);
    // Four jobs of one name, side by side.
    let line = fixture!("fio-3.33-terse-read.txt");
    let ids: Vec<String> = one(&line.repeat(2))
        .metrics
        .into_iter()
        .map(|m| m.id)
        .collect();
    assert_eq!(ids, ["fio_test_read", "fio_test_2_read"]);
}

/// Output of the well-known script.
pub(crate) const SESSION: &str = "Running hdparm test...\n\n/dev/mmcblk0:\n \
    Timing buffered disk reads:  66 MB in  3.02 seconds =  21.87 MB/sec\n\n\
    Running dd test...\n\n51200+0 records in\n51200+0 records out\n\
    419430400 bytes (419 MB, 400 MiB) copied, 40.4 s, 10.4 MB/s\n\nRunning iozone test...\n";

pub(crate) fn session() -> String {
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
    let kept = one.printed_text().unwrap();
    assert_eq!(kept.lines().count(), 8, "{kept}");
    assert!(
        kept.starts_with("hdparm_t: 21.87 MB/sec\ndd_write: 10.4 MB/s\n"),
        "{kept}"
    );
    // Another card, or the same once more.
    let twice = import(&session().repeat(2));
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
        (fixture!("crystaldiskmark-8.0.4-default.txt"), vec![]),
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
    let changed =
        fixture!("pibenchmarks-2024-terminal.txt").replace("Score: 10605", "Score: 99999");
    assert_eq!(kinds(&one(&changed)), [DoubtfulFigure]);
    // The rates that a unit may mean.
    let old = one(fixture!("fio-2.1.14-write.txt"));
    let bytes = |value: f64| Some(8904.0 * value);
    let rate = &old.metrics[0];
    assert_eq!(
        (rate.rate_low_bytes_per_s, rate.rate_high_bytes_per_s),
        (bytes(1000.0), bytes(K))
    );
    assert!(
        old.findings[0].detail.contains("1.2 %"),
        "{:?}",
        old.findings
    );
    assert_eq!(old.findings[0].workloads, ["fio_seqwrite4_write"]);
}

fn warnings<'a>(one: &'a Imported, id: &str) -> &'a [String] {
    &metric(one, id).warnings
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
    let notes = one(fixture!("fio-2.1.14-write.txt"));
    assert!(
        notes
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
    let records = import(&text.concat());
    let tools: Vec<&str> = records.iter().map(|one| one.tools[0].as_str()).collect();
    assert_eq!(
        tools,
        ["Raspberry Pi Diagnostics 0.12", "KDiskMark 2.2.1", "hdparm"]
    );
}

#[test]
fn a_text_without_figures_has_no_records() {
    for text in ["", "hello\nworld", "{}x", fixture!("iozone-3.489-ops.txt")] {
        assert_eq!(import(text), [], "{text}");
    }
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
fn facts_of_a_report_are_kept() {
    let one = one(fixture!("pibenchmarks-2024-terminal.txt"));
    let model = one.board.unwrap().model.unwrap();
    assert_eq!(model, "Raspberry Pi 4 Model B Rev 1.1");
    assert_eq!(one.host.unwrap().architecture.as_deref(), Some("aarch64"));
    assert_eq!(one.device.unwrap().model.as_deref(), Some("SC16G"));
    assert_eq!(one.labels["manufacturer"], "SanDisk");
    // Text typed by the owner is not kept.
    assert_eq!(one.labels.get("description"), None);
}

/// Bytes per second of a unit, read literally.
fn unit_bytes(unit: &str) -> Option<f64> {
    let unit = unit.trim().trim_end_matches("ec").strip_suffix("B/s")?;
    let base = if unit.ends_with('i') { K } else { 1000.0 };
    let power = " kMGT".find(
        unit.trim_end_matches('i')
            .replace('K', "k")
            .chars()
            .next()
            .unwrap_or(' '),
    );
    Some(base.powi(i32::try_from(power?).unwrap()))
}

/// Returns whether a rate is its number in its printed unit, or in the unit that this means, within the amount by which it is
/// rounded to.
fn is_as_printed(metric: &Metric) -> bool {
    let (Some(printed), Some(rate)) = (&metric.printed, metric.rate_bytes_per_s) else {
        return true;
    };
    let text = printed.meaning.as_ref().unwrap_or(&printed.text);
    let end = text.find(|c: char| c != '.' && c != ',' && !c.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let Some(unit) = unit_bytes(unit) else {
        return true;
    };
    // The table of PiBenchmarks prints MB/s for kB/s of dd, and KDiskMark of unknown versions
    // another MB. fio 2 and dd of busybox print binary units as decimal ones.
    if ["pibenchmarks_dd", "kdiskmark_"]
        .iter()
        .any(|it| metric.id.starts_with(it))
    {
        return true;
    }
    let decimals = number.split_once(['.', ',']).map_or(0, |(_, it)| it.len());
    let half_step = 0.51 * 0.1_f64.powi(i32::try_from(decimals).unwrap());
    let value: f64 = number.replace(',', ".").parse().unwrap();
    (rate / unit - value).abs() <= half_step + 0.0121 * value
}

/// Records of any text can be stored, and their figures are as printed.
fn check(text: &str) {
    for one in import(text) {
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
            assert!(is_as_printed(metric), "{metric:?} of {text}");
        }
    }
}

#[test]
fn known_figures_are_as_printed() {
    for known in known() {
        check(&known.text);
    }
    check("éio 4k random read 2711 IOPS");
    // Part of it seems to be in the other block.
    let report = fixture!("kdiskmark-3.0.0-default.txt");
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
        check(&harm::changed(&which.get(&known).text, at, put));
    }

    #[test]
    fn a_cut_or_shuffled_text_makes_no_other_unit(
        which in any::<Index>(),
        other in any::<Index>(),
        cut in any::<Index>(),
        without in any::<Index>(),
    ) {
        let known = known();
        let text = &which.get(&known).text;
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
