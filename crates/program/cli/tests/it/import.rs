//! `import`: results of other tools become runs like any other.

use std::io::Write;
use std::process::Stdio;

use cardmark_core::{FindingKind, OriginKind};
use cardmark_testkit::{Output, Program};
use serde_json::Value;

use crate::common::{assert_error, assert_nothing_kept, finding, program, scratch};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../know/import/fixtures");

const KIB: f64 = 1024.0;
const MIB: f64 = KIB * KIB;

/// A text, how many runs it is, and a figure of its last one: id and value in bytes, operations a
/// second or bytes.
const KNOWN: [(&str, usize, &str, f64); 58] = [
    ("agnostics-0.12-pass.txt", 1, "fio_rand_read_4k_q4", 1929.0),
    (
        "agnostics-0.15-wrong-lines.txt",
        1,
        "agnostics_rand_write",
        884.0,
    ),
    (
        "agnostics-0.16-script.txt",
        3,
        "agnostics_seq_write",
        18_397.0 * KIB,
    ),
    (
        "agnostics-unknown-slow-write.txt",
        1,
        "fio_seq_write_512k_q4",
        2944.0 * KIB,
    ),
    (
        "agnostics-unknown-three-runs.txt",
        3,
        "fio_rand_write_4k_q4",
        216.0,
    ),
    (
        "crystaldiskmark-3.0.1-all.txt",
        1,
        "crystaldiskmark_seq_read",
        19.872e6,
    ),
    (
        "crystaldiskmark-5.0.2-all.txt",
        1,
        "crystaldiskmark_rand_write_4k_q1_t1",
        500.0,
    ),
    (
        "crystaldiskmark-8.0.4-default.txt",
        1,
        "crystaldiskmark_seq_write_1m_q8_t1",
        72.351e6,
    ),
    ("dd-9.1-fsync.txt", 1, "dd_40m", 41_943_040.0 / 3.67295),
    ("dd-9.1-progress.txt", 1, "dd_40m", 41_943_040.0 / 3.57674),
    ("ddrescue-1.27-fast.log", 1, "ddrescue", 314_156_646.0),
    ("ddrescue-1.27-fast.txt", 1, "ddrescue", 306e6),
    ("ddrescue-1.27-fill.txt", 1, "ddrescue", 20_480e3),
    ("ddrescue-1.27-rates.log", 1, "ddrescue", 19_595_264.0),
    ("ddrescue-1.27-read-binary.txt", 1, "ddrescue", 195.0 * KIB),
    ("ddrescue-1.27-read-slow.txt", 1, "ddrescue", 200e3),
    ("ddrescue-1.27-read.txt", 1, "ddrescue", 15_000e3),
    ("ddrescue-1.27-write.txt", 1, "ddrescue", 15_728e3),
    (
        "f3-10.0-probe-real.txt",
        1,
        "f3_usable",
        1_953_506_646.0 * 4096.0,
    ),
    ("f3-10.0-write-read.txt", 1, "f3_write", 18.2 * MIB),
    ("f3-7-read-lost.txt", 1, "f3_read", 7.7 * MIB),
    ("f3-7.2-read-partial.txt", 1, "f3_read", 14.83 * MIB),
    ("f3-7.2-write.txt", 1, "f3_write", 8.09 * MIB),
    (
        "f3-8.0-probe-damaged.txt",
        1,
        "f3_announced",
        250.0 * KIB * MIB,
    ),
    (
        "f3-8.0-probe-limbo.txt",
        1,
        "f3_usable",
        1_099_511_627_776.0,
    ),
    (
        "f3-8.0-probe-real.txt",
        1,
        "f3_usable",
        15_728_640.0 * 512.0,
    ),
    (
        "fio-2-rand-read.txt",
        1,
        "fio_rand_read_4k_read",
        5626.0 / 60.004,
    ),
    ("fio-2.1.14-write.txt", 1, "fio_seqwrite4_write", 2226.0),
    (
        "fio-3.16-rand-read.txt",
        1,
        "fio_read_iops_read",
        202_678.0 / 15.005,
    ),
    (
        "fio-3.28-rand-write.txt",
        1,
        concat!("fio_max_through", "put_write"),
        17_700.0,
    ),
    (
        "fio-3.33-agnostics-run.json",
        1,
        "fio_rand_4k_read_read",
        2048.0 / 1.002,
    ),
    (
        "fio-3.33-agnostics-terse.txt",
        1,
        "fio_seq_read_read",
        12_449.0 * KIB,
    ),
    (
        "fio-3.33-agnostics.json",
        1,
        "fio_rand_4k_read_read",
        3_117.199_391,
    ),
    (
        "fio-3.33-agnostics.txt",
        1,
        "fio_rand_4k_read_read",
        2048.0 / 1.002,
    ),
    (
        "fio-3.33-randrw-run.json",
        1,
        "fio_test_read",
        979.0 / 0.349,
    ),
    ("fio-3.33-randrw.json", 1, "fio_test_read", 2_809.590_973),
    ("fio-3.33-randrw.txt", 1, "fio_test_write", 1069.0 / 0.349),
    ("fio-3.33-terse-read.txt", 1, "fio_test_read", 3110.0),
    ("fio-3.33-terse-write.txt", 1, "fio_test_write", 3084.0),
    ("fio-3.41-write.txt", 1, "fio_seqwrite_write", 52.9 * MIB),
    ("hdparm-9.65-t-slow.txt", 1, "hdparm_t", 582.86 * KIB),
    ("hdparm-9.65-t.txt", 1, "hdparm_t", 20.62 * MIB),
    (
        "hdparm-9.65-tT-direct.txt",
        1,
        "hdparm_t_direct",
        21.17 * MIB,
    ),
    ("hdparm-9.65-tT.txt", 1, "hdparm_T", 20_071.55 * MIB),
    (
        "iozone-3.489-4k-1m.txt",
        1,
        "iozone_random_write_1m",
        13_382.0 * KIB,
    ),
    (
        "iozone-3.489-4k.txt",
        1,
        "iozone_random_write",
        10_064.0 * KIB,
    ),
    (
        "iozone-3.489-all.txt",
        1,
        "iozone_frewrite_64k",
        12_262.0 * KIB,
    ),
    (
        "iozone-3.489-no-read.txt",
        1,
        "iozone_random_read_64k",
        12_660.0 * KIB,
    ),
    (
        "iozone-3.489-stride-excel.txt",
        1,
        "iozone_stride_read_64k",
        13_034.0 * KIB,
    ),
    (
        "iozone-3.489-threads.txt",
        1,
        "iozone_t4_write_children",
        12_992.28 * KIB,
    ),
    (
        "kdiskmark-1.6.0-default.txt",
        1,
        "kdiskmark_rand_read_4k_q32_t16",
        67_889.0,
    ),
    (
        "kdiskmark-2.2.1-one-test.txt",
        1,
        "kdiskmark_rand_read_4k_q1_t1",
        582.2,
    ),
    (
        "kdiskmark-3.2.0-demo-no-heading.txt",
        1,
        "kdiskmark_seq_write_1m_q8_t1",
        8862.3 * MIB,
    ),
    (
        "pibenchmarks-2023-fio-alone.txt",
        1,
        "pibenchmarks_fio_rand_read",
        4029.0,
    ),
    (
        "kdiskmark-3.0.0-default.txt",
        1,
        "kdiskmark_rand_write_4k_q1_t1",
        22_760.3,
    ),
    (
        "pibenchmarks-2020-table.txt",
        1,
        "pibenchmarks_fio_rand_write",
        204.0,
    ),
    (
        "pibenchmarks-2024-terminal.txt",
        1,
        "pibenchmarks_hdparm_cached",
        20.9 * MIB,
    ),
    (
        "pibenchmarks-2024-two-tables.txt",
        2,
        "pibenchmarks_dd",
        433e6,
    ),
];

fn fixture(name: &str) -> String {
    format!("{FIXTURES}/{name}")
}

fn json(program: &Program, arguments: &[&str]) -> Value {
    let output = program.run(arguments);
    assert_eq!(output.code, 0, "{output}");
    serde_json::from_str(&output.stdout).unwrap()
}

fn value(record: &Value, id: &str) -> f64 {
    let metrics = record["metrics"].as_array().unwrap();
    let found = metrics.iter().find(|metric| metric["id"] == id);
    let found = found.unwrap_or_else(|| panic!("no {id} in {metrics:?}"));
    found["value"].as_f64().unwrap()
}

#[test]
fn what_other_tools_print_is_kept_with_its_figures() {
    let scratch = scratch();
    let program = program(&scratch);
    let mut runs_count = 0;
    for (name, count, id, expected) in KNOWN {
        let rows = json(&program, &["import", &fixture(name), "--json"]);
        let rows = rows.as_array().unwrap();
        assert_eq!(rows.len(), count, "{name}");
        assert!(rows.iter().all(|row| row["state"] == "imported"), "{name}");
        let last = &rows[count - 1]["record"];
        let found = value(last, id);
        let is_close = (found - expected).abs() <= 1e-8 * expected;
        assert!(is_close, "{name}: {found}");
        runs_count += count;
    }
    assert_eq!(program.runs_count(), runs_count);
    let listed = json(&program, &["list", "--json", "--limit", "1000"]);
    assert_eq!(listed.as_array().unwrap().len(), runs_count);
    assert!(program.run(&["list"]).stdout.contains("imported"));
}

/// What the well-known script prints, with the prompt of its owner.
fn session() -> String {
    let read = |name: &str| std::fs::read_to_string(fixture(name)).unwrap();
    let iozone = read("iozone-3.489-4k.txt");
    let iozone = iozone.replace("            8192       4", "          102400       4");
    let copy = "419430400 bytes (419 MB, 400 MiB) copied, 30.2417 s, 13.9 MB/s";
    format!(
        "bob@kitchen:~ $ sudo ./microsd-benchmarks.sh\n Serial Number: S4EVNX0R123456K\n{}\
         51200+0 records in\n51200+0 records out\n{copy}\n{iozone}",
        read("hdparm-9.65-t.txt")
    )
}

/// Imports a text from standard input.
fn typed(program: &Program, text: &str, more: &[&str]) -> Output {
    let mut command = program.command(&[&["import", "-"], more].concat());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Output {
        code: output.status.code().unwrap(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

#[test]
fn a_session_of_the_well_known_script_is_one_run() {
    let scratch = scratch();
    let program = program(&scratch);
    let more = [
        "--label",
        "product=Red 32 GB",
        "--board",
        "Raspberry Pi 2 Model B",
    ];
    let output = typed(&program, &session(), &more);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stdout.contains("imported (hdparm, dd, iozone)"),
        "{output}"
    );
    assert!(output.stdout.contains("= 20.62 MiB/s"), "{output}");
    assert_eq!(program.runs_count(), 1);
    let record = program.last();
    assert_eq!(record.metrics.len(), 8);
    assert_eq!(record.origin.kind, OriginKind::Imported);
    assert_eq!(record.origin.source, None);
    let suite = record.suite.as_ref().unwrap();
    assert_eq!((suite.name.as_str(), suite.only.len()), ("dramble", 8));
    // What the text does not say is not known.
    assert_eq!((&record.started_at, &record.target), (&None, &None));
    assert!(record.findings.is_empty(), "{:?}", record.findings);
    let stored = program.run(&["export"]).stdout;
    for word in [
        "bob",
        "kitchen",
        "S4EVNX",
        "/dev/",
        "/home",
        "/mnt",
        "microsd-benchmarks.sh",
    ] {
        assert!(!stored.contains(word), "{word} in {stored}");
    }
    let kept = record.origin.printed_text.unwrap();
    assert!(
        kept.starts_with("hdparm_t: 20.62 MB") && kept.contains("\ndd_write: 13.9 MB/s\n"),
        "{kept}"
    );
    // It has its place among what others published of the same board.
    let rank = [
        "rank",
        "last",
        "--metric",
        "iozone_random_write",
        "--board",
        "Pi 2",
        "--json",
    ];
    let ranked = json(&program, &rank);
    let places = ranked[0]["places"].as_array().unwrap();
    assert!(places.len() > 5, "{places:?}");
    let own = places
        .iter()
        .find(|place| place["is_asked"] == true)
        .unwrap();
    assert_eq!(own["name"], "Red 32 GB");
}

#[test]
fn the_same_text_twice_is_one_run() {
    let scratch = scratch();
    let program = program(&scratch);
    let path = fixture("hdparm-9.65-t.txt");
    let first = json(&program, &["import", &path, "--json"]);
    let again = program.run(&["import", &path, "--json"]);
    assert_eq!(again.code, 0, "{again}");
    assert!(again.stderr.contains("was imported before"), "{again}");
    let rows: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(rows[0]["id"], first[0]["id"]);
    assert_eq!(rows[0]["state"], "already kept");
    // From elsewhere, with other ends of lines.
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace('\n', " \r\n");
    let output = typed(&program, &text, &["--json"]);
    let rows: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(rows[0]["id"], first[0]["id"]);
    assert_eq!(program.runs_count(), 1);
}

#[test]
fn the_same_figure_of_two_cards_is_two_runs() {
    let scratch = scratch();
    let program = program(&scratch);
    let import = |more: &[&str]| {
        let figure = ["import", "--figure", "hdparm_t=22.5 MiB/s", "--json"];
        let output = program.run(&[&figure, more].concat());
        assert_eq!(output.code, 0, "{output}");
        let rows: Value = serde_json::from_str(&output.stdout).unwrap();
        rows[0].clone()
    };
    let cards = [
        import(&[]),
        import(&["--label", "product=A"]),
        import(&["--label", "product=B"]),
        import(&["--label", "product=A", "--board", "Pi 4"]),
        import(&["--label", "product=A", "--board", "Pi 5"]),
        import(&["--label", "product=A", "--label", "n=1"]),
    ];
    assert_eq!(program.runs_count(), cards.len());
    assert!(cards.iter().all(|row| row["state"] == "imported"));
    assert_eq!(cards[2]["labels"]["product"], "B");
    assert_eq!(cards[4]["record"]["board"]["model"], "Pi 5");
    for (again, card) in [
        (import(&["--label", "product=B"]), &cards[2]),
        (
            import(&["--label", "n=1", "--label", "product=A"]),
            &cards[5],
        ),
        (
            import(&["--label", "product=Z", "--label", "product=B"]),
            &cards[2],
        ),
    ] {
        assert_eq!(again["state"], "already kept");
        assert_eq!(again["id"], card["id"]);
        assert_eq!(again["record"], card["record"]);
    }
    assert_eq!(program.runs_count(), cards.len());
}

#[test]
fn what_was_imported_before_is_shown_as_it_is_stored() {
    let scratch = scratch();
    let program = program(&scratch);
    let import = [
        "import",
        "--figure",
        "hdparm_t=22.5MiB/s",
        "--label",
        "product=A",
    ];
    let first = program.run(&import);
    assert!(first.stdout.contains("product=A"), "{first}");
    let labelled = program.run(&["label", "last", "product=C"]);
    assert_eq!(labelled.code, 0, "{labelled}");
    let again = program.run(&import);
    assert!(again.stderr.contains("was imported before"), "{again}");
    assert!(again.stdout.contains("product=C"), "{again}");
    assert!(!again.stdout.contains("product=A"), "{again}");
    let rows = json(&program, &[&import[..], &["--json"]].concat());
    assert_eq!(rows[0]["labels"]["product"], "C");
}

#[test]
fn typed_figures_are_one_run() {
    let scratch = scratch();
    let program = program(&scratch);
    let figures = |figures: &[&str]| {
        let figures = figures.iter().flat_map(|figure| ["--figure", figure]);
        let arguments: Vec<&str> = std::iter::once("import").chain(figures).collect();
        program.run(&arguments)
    };
    let output = figures(&[
        "iozone_random_write=1.52MB/s",
        "rand_read_4k=3110 IOPS",
        "rand_read_4k_p99=2.5ms",
    ]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("imported (typed)"), "{output}");
    let record = program.last();
    let values: Vec<f64> = record.metrics.iter().map(|it| it.value).collect();
    assert_eq!(values, [1.52e6, 3110.0, 2.5e6]);
    assert_eq!(record.suite, None);
    for (figure, words) in [
        (
            "iozone_rand_write=1MB/s",
            ["unknown metric", "iozone_random_write"],
        ),
        ("iozone_random_write=1KB/s", ["is measured in B/s", "KiB/s"]),
        ("iozone_random_write=fast", ["not a number", "hint: "]),
    ] {
        assert_error(&figures(&[figure]), 2, &words);
    }
    assert_eq!(figures(&["iozone_random_write"]).code, 2);
    assert_eq!(program.runs_count(), 1);
}

#[test]
fn each_row_of_a_table_is_a_run() {
    let scratch = scratch();
    let program = program(&scratch);
    let rows = "Card;hdparm_t (MiB/s);dd_write (MB/s);random write 4 KiB (IOPS)\n\
                Amazon Basics 64GB;21,3;18,5;417\n\
                My old card;17,3;10,1;\n";
    let output = typed(&program, rows, &["--json"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output}");
    let imported: Value = serde_json::from_str(&output.stdout).unwrap();
    let label = |at: usize| &imported[at]["labels"]["product"];
    assert_eq!(label(0), "Amazon Basics 64 GB");
    assert_eq!(label(1), "My old card");
    assert_eq!(value(&imported[0]["record"], "rand_write_4k"), 417.0);
    assert_eq!(program.runs_count(), 2);
}

#[test]
fn lines_that_were_not_understood_are_listed_and_not_stored() {
    let scratch = scratch();
    let program = program(&scratch);
    let text = format!("Bob Meyer: 43.5 MB/s at 192.168.1.17\n{}", session());
    let output = typed(&program, &text, &[]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(output.stderr, "-:1: not understood: 43.5 MB/s\n");
    let stored = program.run(&["export"]).stdout;
    for word in ["Bob", "Meyer", "43.5", "192.168"] {
        assert!(!stored.contains(word), "{word} in {stored}");
    }
}

#[test]
fn a_file_that_cannot_be_read_does_not_keep_others_from_being_imported() {
    let scratch = scratch();
    let program = program(&scratch);
    let garbage = program.file("garbage.txt");
    std::fs::write(&garbage, b"\xff\xfe no figures here\x00").unwrap();
    let garbage = garbage.to_str().unwrap();
    let good = fixture("hdparm-9.65-t.txt");
    let output = program.run(&["import", garbage]);
    let words = [
        "nothing can be imported from",
        "cause: no output",
        "hint: known tools are hdparm",
    ];
    assert_error(&output, 2, &words);
    assert_nothing_kept(&program, &output);
    let output = program.run(&["import", &fixture("iozone-3.489-ops.txt")]);
    assert_error(
        &output,
        2,
        &["cause: line 31: not as iozone prints it", "hint: "],
    );
    let output = program.run(&["import", "no-such-file"]);
    assert_error(&output, 2, &["cannot read `no-such-file`", "hint: "]);
    let output = program.run(&["import", scratch.path().to_str().unwrap()]);
    assert_error(&output, 3, &["cannot read"]);
    let output = program.run(&["import"]);
    assert_eq!(output.code, 2, "{output}");
    let output = program.run(&["import", &good, "--board", " "]);
    assert_eq!(output.code, 2, "{output}");
    assert_nothing_kept(&program, &output);
    for bad in [garbage, "no-such-file"] {
        let output = program.run(&["import", bad, &good]);
        assert_eq!(output.code, 1, "{output}");
        assert!(output.stdout.contains("20.62 MiB/s"), "{output}");
        assert!(output.stderr.contains(bad), "{output}");
    }
    assert_eq!(program.runs_count(), 1);
}

#[test]
fn doubts_stand_below_the_figures() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["import", &fixture("f3-8.0-probe-limbo.txt")]);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stdout.contains("warning: f3probe found that"),
        "{output}"
    );
    let record = program.last();
    assert!(finding(&record, FindingKind::FalseCapacity).is_some());
    assert_eq!(record.devices[0].size_bytes, Some(4_075_520_000 * 512));
    // A unit with two readings: no interval, but the range is in the record.
    let output = program.run(&["import", &fixture("fio-2.1.14-write.txt")]);
    assert!(
        output.stdout.contains("by 1.2 % (fio_seqwrite4_write"),
        "{output}"
    );
    assert!(!output.stdout.contains("95 % interval"), "{output}");
}

#[test]
fn a_warning_stands_on_the_figure_that_it_touches() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["import", &fixture("kdiskmark-1.6.0-default.txt")]);
    assert_eq!(output.code, 0, "{output}");
    let marked = |id: &str| {
        let mut lines = output.stdout.lines();
        let line = lines.find(|line| line.contains(id)).unwrap();
        line.contains('!')
    };
    assert!(marked("kdiskmark_rand_read_4k_q32_t16"), "{output}");
    assert!(!marked("kdiskmark_seq_read_1m_q8_t1"), "{output}");
    let csv = program.run(&["export", "--format=csv"]).stdout;
    let of = |id: &str| csv.lines().find(|line| line.contains(id)).unwrap();
    assert!(of("kdiskmark_rand_read_4k_q32_t16").contains(",doubtful_figure,"));
    assert!(!of("kdiskmark_seq_read_1m_q8_t1").contains("doubtful_figure"));
}

#[test]
fn what_is_readable_beside_a_bad_line_is_kept() {
    let scratch = scratch();
    let program = program(&scratch);
    let copy = "419430400 bytes (419 MB, 400 MiB) copied, 40.4 s, 10.4 MB/s\n";
    let text = [copy, &copy.replace("40.4", "4O.4"), copy].concat();
    let output = typed(&program, &text, &[]);
    assert_eq!(output.code, 0, "{output}");
    let told = "warning: line 2 is not as dd prints it";
    assert!(output.stdout.contains(told), "{output}");
    assert_eq!(program.runs_count(), 2);
}

#[test]
fn reports_have_their_verdicts() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["import", &fixture("pibenchmarks-2024-terminal.txt")]);
    assert!(
        output.stdout.contains("pibenchmarks: score 10605"),
        "{output}"
    );
    assert!(
        output.stdout.contains("Raspberry Pi 4 Model B Rev 1.1"),
        "{output}"
    );
    let output = program.run(&["import", &fixture("agnostics-0.16-script.txt")]);
    assert!(output.stdout.contains("agnostics: fail"), "{output}");
    assert!(
        output
            .stdout
            .contains("agnostics_rand_write: 363 IOPS, below 500"),
        "{output}"
    );
    // Each of its runs has its own verdict, and that of the test.
    for run in 1..=3 {
        let label = format!("labels: diagnostics=fail, run={run} of 3: fail");
        assert!(output.stdout.contains(&label), "{output}");
    }
}

/// The program passes a card with the first of three runs that passes. No record hides that, and none hides the run
/// before it.
#[test]
fn a_card_that_passed_in_its_second_run_is_not_failed() {
    let scratch = scratch();
    let program = program(&scratch);
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
    let output = typed(&program, &text, &[]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(program.runs_count(), 2);
    for (own, number) in [("fail", 1), ("pass", 2)] {
        assert!(
            output.stdout.contains(&format!("agnostics: {own}")),
            "{output}"
        );
        let label = format!("labels: diagnostics=pass in run 2, run={number} of 2: {own}");
        assert!(output.stdout.contains(&label), "{output}");
    }
}

#[test]
fn imported_runs_are_compared() {
    let scratch = scratch();
    let program = program(&scratch);
    for (product, figure) in [("Red", "21.64"), ("Blue", "17.31")] {
        let label = format!("product={product} card");
        let figure = format!("hdparm_t={figure}MiB/s");
        let output = program.run(&["import", "--figure", &figure, "--label", &label]);
        assert_eq!(output.code, 0, "{output}");
    }
    let sides = ["compare", "product=Blue card", "product=Red card", "--json"];
    let all = json(&program, &sides);
    let differences = all[0]["differences"].as_array().unwrap();
    let read = differences
        .iter()
        .find(|one| one["metric"] == "hdparm_t")
        .unwrap();
    let ratio = read["ratio"].as_f64().unwrap();
    assert!((ratio - 21.64 / 17.31).abs() < 1e-9, "{read}");
}
