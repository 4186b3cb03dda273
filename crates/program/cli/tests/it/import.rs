//! `import`: results of other tools become runs like any other. The readers have tests of their own.

use std::io::Write;
use std::process::Stdio;

use cardmark_core::OriginKind;
use cardmark_testkit::{Output, Program};
use serde_json::Value;

use crate::common::{assert_error, assert_nothing_kept, program, scratch};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../know/import/fixtures");

fn fixture(name: &str) -> String {
    format!("{FIXTURES}/{name}")
}

fn json(program: &Program, arguments: &[&str]) -> Value {
    let output = program.run(arguments);
    assert_eq!(output.code, 0, "{output}");
    serde_json::from_str(&output.stdout).unwrap()
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
    let text = format!("Bob Meyer: 43.5 MB/s at 192.168.1.17\n{}", session());
    let more = [
        "--label",
        "product=Red 32 GB",
        "--board",
        "Raspberry Pi 2 Model B",
    ];
    let output = typed(&program, &text, &more);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stdout.contains("imported (hdparm, dd, iozone)"),
        "{output}"
    );
    assert!(output.stdout.contains("= 20.62 MiB/s"), "{output}");
    // A line that was not understood is listed by its numbers.
    assert_eq!(output.stderr, "-:1: not understood: 43.5 MB/s\n");
    assert_eq!(program.runs_count(), 1);
    let record = program.last();
    assert_eq!(record.metrics.len(), 8);
    assert_eq!(record.origin.kind, OriginKind::Imported);
    // What the text does not say is not known.
    assert_eq!((&record.started_at, &record.target), (&None, &None));
    let stored = program.run(&["export"]).stdout;
    for word in [
        "bob",
        "kitchen",
        "S4EVNX",
        "/dev/",
        "/home",
        "/mnt",
        "microsd-benchmarks.sh",
        "Meyer",
        "43.5",
        "192.168",
    ] {
        assert!(!stored.contains(word), "{word} in {stored}");
    }
    let kept = record.origin.printed_text.unwrap();
    assert!(
        kept.starts_with("hdparm_t: 20.62 MB") && kept.contains("\ndd_write: 13.9 MB/s\n"),
        "{kept}"
    );
}

#[test]
fn the_same_text_twice_is_one_run_and_is_shown_as_it_is_stored() {
    let scratch = scratch();
    let program = program(&scratch);
    let path = fixture("hdparm-9.65-t.txt");
    let import = ["import", &path, "--label", "product=A", "--json"];
    let first = json(&program, &import);
    assert_eq!(first[0]["state"], "imported");
    let labelled = program.run(&["label", "last", "product=C"]);
    assert_eq!(labelled.code, 0, "{labelled}");
    let again = program.run(&import);
    assert_eq!(again.code, 0, "{again}");
    assert!(again.stderr.contains("was imported before"), "{again}");
    let rows: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(rows[0]["state"], "already kept");
    assert_eq!(
        (&rows[0]["id"], &rows[0]["record"]),
        (&first[0]["id"], &first[0]["record"])
    );
    assert_eq!(rows[0]["labels"]["product"], "C");
    let shown = program.run(&import[..4]).stdout;
    assert!(
        shown.contains("product=C") && !shown.contains("product=A"),
        "{shown}"
    );
    // From elsewhere, with other ends of lines.
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text.replace('\n', " \r\n");
    let output = typed(&program, &text, &["--label", "product=A", "--json"]);
    let rows: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(rows[0]["id"], first[0]["id"]);
    // The same text of another card.
    let other = typed(&program, &text, &["--label", "product=B"]);
    assert_eq!((other.code, program.runs_count()), (0, 2), "{other}");
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
    let rows = "Card;hdparm_t (MiB/s);random write 4 KiB (IOPS)\n\
                Amazon Basics 64GB;21,3;417\nMy old card;17,3;\n";
    let output = typed(&program, rows, &["--json"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output}");
    let imported: Value = serde_json::from_str(&output.stdout).unwrap();
    let label = |at: usize| &imported[at]["labels"]["product"];
    assert_eq!(label(0), "Amazon Basics 64 GB");
    assert_eq!(label(1), "My old card");
    assert_eq!(program.runs_count(), 2);
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
fn doubts_and_verdicts_stand_below_the_figures() {
    let scratch = scratch();
    let program = program(&scratch);
    let imported = |name: &str, parts: &[&str]| {
        let output = program.run(&["import", &fixture(name)]);
        assert_eq!(output.code, 0, "{output}");
        for part in parts {
            assert!(output.stdout.contains(part), "no `{part}` in {output}");
        }
        output.stdout
    };
    imported("f3-8.0-probe-limbo.txt", &["warning: f3probe found that"]);
    // A unit with two readings: no interval, but the range is in the record.
    let text = imported("fio-2.1.14-write.txt", &["by 1.2 % (fio_seqwrite4_write"]);
    assert!(!text.contains("95 % interval"), "{text}");
    let reports = [
        "pibenchmarks: score 10605",
        "Raspberry Pi 4 Model B Rev 1.1",
    ];
    imported("pibenchmarks-2024-terminal.txt", &reports);
    // Each of its runs has its own verdict, and that of the test.
    let labels = [1, 2, 3].map(|run| format!("labels: diagnostics=fail, run={run} of 3: fail"));
    let mut parts = vec![
        "agnostics: fail",
        "agnostics_rand_write: 363 IOPS, below 500",
    ];
    parts.extend(labels.iter().map(String::as_str));
    imported("agnostics-0.16-script.txt", &parts);
    // A warning stands on the figure that it touches.
    let text = imported("kdiskmark-1.6.0-default.txt", &[]);
    let marked = |id: &str| {
        text.lines()
            .find(|line| line.contains(id))
            .unwrap()
            .contains('!')
    };
    assert!(marked("kdiskmark_rand_read_4k_q32_t16"), "{text}");
    assert!(!marked("kdiskmark_seq_read_1m_q8_t1"), "{text}");
    let csv = program.run(&["export", "--format=csv"]).stdout;
    let of = |id: &str| csv.lines().find(|line| line.contains(id)).unwrap();
    assert!(of("kdiskmark_rand_read_4k_q32_t16").contains(",doubtful_figure,"));
    assert!(!of("kdiskmark_seq_read_1m_q8_t1").contains("doubtful_figure"));
}
