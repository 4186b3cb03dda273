//! `compare`, `rank` and `report` on simulated cards, whose truth is known.

use cardmark_testkit::Program;
use serde_json::Value;

use crate::common::{assert_error, program, scratch};

/// Runs a simulated card with these seeds, and labels each run.
fn measure(program: &Program, model: &str, seeds: std::ops::Range<u32>, labels: &[&str]) {
    for seed in seeds {
        let seed = seed.to_string();
        let target = format!("sim:{model}");
        let mut arguments = vec!["run", &target, "--seed", &seed];
        for label in labels {
            arguments.extend(["--label", label]);
        }
        let output = program.run(&arguments);
        assert_eq!(output.code, 0, "{output}");
    }
}

fn json(program: &Program, arguments: &[&str]) -> Value {
    let output = program.run(arguments);
    assert_eq!(output.code, 0, "{output}");
    serde_json::from_str(&output.stdout).unwrap()
}

fn difference<'a>(comparison: &'a Value, metric: &str) -> &'a Value {
    let differences = comparison["differences"].as_array().unwrap();
    let found = differences.iter().find(|d| d["metric"] == metric);
    found.unwrap()
}

#[test]
fn a_faster_card_is_found_faster() {
    let scratch = scratch();
    let program = program(&scratch);
    measure(&program, "a1-32gb", 1..4, &["product=A", "sample=1"]);
    measure(&program, "a2-64gb", 1..4, &["product=B", "sample=2"]);
    let compare = ["compare", "product=A", "product=B", "--across", "span"];
    let output = program.run(&compare);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stdout.contains("faster random write 4 KiB"),
        "{output}"
    );
    assert!(output.stdout.contains("about these cards"), "{output}");
    let all = json(&program, &[&compare[..], &["--json"]].concat());
    assert_eq!(all[0]["claim"], "cards");
    let write = difference(&all[0], "rand_write_4k");
    assert_eq!(write["outcome"], "higher");
    let [base, other] = ["a1-32gb", "a2-64gb"].map(|name| {
        let quick = cardmark_catalog::suite("quick", None).unwrap();
        let model = cardmark_sim::Model::named(name).unwrap();
        let truth = model.truth(quick.workload("rand_write_4k").unwrap());
        truth.unwrap().operations_per_s
    });
    let end = |name: &str| write[name].as_f64().unwrap();
    let truth = other / base;
    assert!(
        end("low") < truth && truth < end("high"),
        "{truth}: {write}"
    );
    assert!(end("high") / end("low") < 1.15, "{write}");
}

#[test]
fn the_same_card_is_no_faster_than_itself() {
    let scratch = scratch();
    let program = program(&scratch);
    measure(&program, "a1-32gb", 1..4, &["group=first"]);
    measure(&program, "a1-32gb", 11..14, &["group=second"]);
    let all = json(
        &program,
        &["compare", "group=first", "group=second", "--json"],
    );
    for difference in all[0]["differences"].as_array().unwrap() {
        let outcome = difference["outcome"].as_str().unwrap();
        assert!(["same", "undecided"].contains(&outcome), "{difference}");
    }
}

#[test]
fn sides_that_cannot_be_compared_are_refused() {
    let scratch = scratch();
    let program = program(&scratch);
    let of_pi2 = "publication=geerling-dramble,setting=pi2";
    let of_pi4 = "publication=geerling-2019-comments,setting=c42-pi-4";
    let card = "publication=geerling-dramble,setting=pi2,product=Samsung Evo+ 32 GB";
    let elsewhere = "publication=kulesz,product=Samsung Evo+ 32 GB";
    let cases: [(&[&str], &[&str]); 6] = [
        (&[card, card], &["is on both sides"]),
        (&[of_pi2, of_pi4], &["are mixtures of products"]),
        (&[card, ""], &["names no run"]),
        (
            &["product=Z", card],
            &["no runs match `product=Z`", "hint: "],
        ),
        (
            &[card, elsewhere],
            &["reader (slot against usb)", "--across "],
        ),
        (
            &[card, elsewhere, "--across", "weather"],
            &["no part of the context is called `weather`", "board"],
        ),
    ];
    for (sides, message) in cases {
        let output = program.run(&[&["compare"], sides].concat());
        assert_error(&output, 2, message);
    }
}

#[test]
fn a_run_named_twice_is_one_run() {
    let scratch = scratch();
    let program = program(&scratch);
    measure(&program, "a1-32gb", 1..3, &[]);
    let first = program.run(&["list", "--json"]);
    let runs: Value = serde_json::from_str(&first.stdout).unwrap();
    let ids: Vec<&str> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["id"].as_str().unwrap())
        .collect();
    let thrice = [ids[0]; 3].join(",");
    let all = json(&program, &["compare", &thrice, ids[1], "--json"]);
    assert_eq!(all[0]["claim"], "runs");
    assert_eq!(all[0]["base"]["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_run_has_its_place() {
    let scratch = scratch();
    let program = program(&scratch);
    measure(&program, "a1-32gb", 1..3, &["product=A"]);
    measure(&program, "c10-16gb", 1..2, &["product=C"]);
    let output = program.run(&["rank"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("place 2 of 2"), "{output}");
    let all = json(
        &program,
        &["rank", "last", "--metric", "rand_write_4k", "--json"],
    );
    let places = all[0]["places"].as_array().unwrap();
    assert_eq!(places[0]["name"], "A");
    assert_eq!(places[0]["runs_count"], 2);
    assert_eq!(places[1]["is_asked"], true);
    let output = program.run(&["rank", "--metric", "no_such_metric"]);
    assert_error(&output, 2, &["no results of no_such_metric", "hint: "]);
}

/// A card of 64 GB that is in no catalogue, as somebody typed its figures.
fn import(program: &Program, rates: &[&str]) {
    let mut arguments = vec!["import", "--board", "Raspberry Pi 4 Model B"];
    arguments.extend(["--label", "product=Red 64 GB"]);
    for rate in rates {
        arguments.extend(["--figure", rate]);
    }
    let output = program.run(&arguments);
    assert_eq!(output.code, 0, "{output}");
}

#[test]
fn a_run_is_placed_among_published_figures_of_other_methods() {
    let scratch = scratch();
    let program = program(&scratch);
    import(&program, &["rand_write_4k=500IOPS", "sync_write_4k=90IOPS"]);
    measure(&program, "a1-32gb", 1..2, &["product=Simulated"]);
    let all = json(&program, &["rank", "--metric", "rand_write_4k", "--json"]);
    let places = all[0]["places"].as_array().unwrap();
    assert!(places.len() > 80, "{}", places.len());
    assert!(places.iter().all(|place| place["origin"] != "simulated"));
    assert_eq!(all[0]["simulated_count"], 1);
    let evo = |place: &&Value| {
        place["name"] == "Samsung Evo+ 32 GB" && place["publication"] == "geerling-a2"
    };
    let evo = places.iter().find(evo).unwrap();
    assert_eq!(evo["method"], "iozone");
    // 3.85 MB/s in blocks of 4 KiB.
    let rate = evo["value"].as_f64().unwrap();
    assert!((900.0..1000.0).contains(&rate), "{evo}");
    let runs = program.run(&["list", "--json"]);
    let runs: Value = serde_json::from_str(&runs.stdout).unwrap();
    let own = runs[1]["id"].as_str().unwrap();
    let text = program.run(&["rank", own]).stdout;
    for part in [
        "by iozone",
        "Methods may differ",
        "with: synced write 4 KiB (90.0 IOPS)",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!text.contains("place 1 of 1"), "{text}");
    let text = program.run(&["rank", own, "--exact"]).stdout;
    assert!(
        !text.contains("iozone") && text.contains("No other results"),
        "{text}"
    );
    // The last run is the simulated one.
    let text = program.run(&["rank"]).stdout;
    assert!(text.contains("not ranked with real cards"), "{text}");
    assert!(
        !text.contains("Evo") && !text.contains("Red 64 GB"),
        "{text}"
    );
}

#[test]
fn rank_knows_what_it_can_rank() {
    let scratch = scratch();
    let program = program(&scratch);
    let all = json(&program, &["rank", "--publication", "kulesz", "--json"]);
    let metrics: Vec<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|ranking| ranking["metric"].as_str().unwrap())
        .collect();
    assert!(metrics.contains(&"iozone_random_write_4k"), "{metrics:?}");
    for (arguments, message) in [
        (["--publication", "unknown"], "available: geerling-dramble"),
        (["--metric", "nonsense"], "`cardmark rank --list` shows"),
    ] {
        let output = program.run(&[&["rank"], &arguments[..]].concat());
        assert_error(&output, 2, &[message]);
    }
    // Seconds that the author printed: 161 for the best card, 1070 for the worst.
    let times = ["rank", "--metric", "desktop_install_time_1st", "--json"];
    let times = json(&program, &times);
    let places = times[0]["places"].as_array().unwrap();
    // The mean over runs leaves rounding errors below a nanosecond.
    let seconds: Vec<f64> = places
        .iter()
        .map(|place| place["value"].as_f64().unwrap().round() / 1e9)
        .collect();
    assert_eq!(
        seconds,
        [161.0, 178.0, 190.0, 207.0, 216.0, 253.0, 430.0, 1070.0]
    );
    assert_eq!(times[0]["order"], "lowest_first");
    let wide = crate::common::program(&scratch).columns(120);
    let list = wide.run(&["rank", "--list"]).stdout;
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = list.lines().map(words).collect();
    let expected = "boot_time_rc_local boot until rc.local, shortest first 8 0";
    assert!(lines.iter().any(|line| line == expected), "{list}");
    let output = program.run(&["rank"]);
    assert_error(
        &output,
        2,
        &["no run has rates yet", "`cardmark run` measures"],
    );
    let text = program.run(&["rank", "--board", "Pi 4"]).stdout;
    assert!(text.contains("random write 4 KiB: 25 places"), "{text}");
    measure(&program, "a1-32gb", 1..2, &[]);
    assert_eq!(program.run(&["anatomy", "sim:a1-32gb"]).code, 0);
    let output = program.run(&["rank"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stderr.contains("the last run has no rates"),
        "{output}"
    );
    let output = program.run(&["rank", "--metric", "mixed_4k"]);
    assert_error(
        &output,
        2,
        &["simulated runs are not ranked with real cards"],
    );
}

#[test]
fn two_products_on_a_board_are_one_command() {
    let scratch = scratch();
    let program = program(&scratch);
    let sides = ["compare", "Evo+", "Extreme", "--board", "Pi 4"];
    let output = program.run(&sides);
    assert_eq!(output.code, 0, "{output}");
    let heading =
        "SanDisk Extreme 16 GB on Raspberry Pi 4 Model B, pi4, geerling-a2 (1 run) against";
    let lines = output
        .stdout
        .lines()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(" ");
    assert!(lines.contains(heading), "{output}");
    assert!(
        output.stdout.contains("too close for one run each"),
        "{output}"
    );
    assert!(output.stderr.contains("left out: "), "{output}");
    // Printed there: 2.30 against 3.00, 2.42 against 3.43, 2.36 against 3.75 MB/s; 2.46 against 3.85 on a Pi 4.
    let wide = crate::common::program(&scratch).columns(200);
    let output = wide.run(&["compare", "Evo+", "Extreme"]);
    for part in [
        "Extreme against Evo+, in the 4 places where both were measured",
        "random write (iozone): 0.683 times as fast (0.629 to 0.767), slower in 4 of 4",
        "sequential read (hdparm): 1.03 times as fast (1.00 to 1.08), less than 10 % apart",
        "- Raspberry Pi 2 Model B, pi2, geerling-dramble",
    ] {
        assert!(output.stdout.contains(part), "no `{part}` in {output}");
    }
    // Once a board: what differs between boards is not taken for a difference of the cards.
    let all = json(&program, &["compare", "Evo+", "Extreme", "--json"]);
    assert_eq!(all.as_array().unwrap().len(), 4);
    for (sides, message) in [
        (["Evo+ 16", "Extreme 64"], "not measured on the same board"),
        (["Samsung", "Extreme"], "a side has several products"),
        (
            ["Evo+", "no such card"],
            "no run, record file or product is called `no such card`",
        ),
    ] {
        let output = program.run(&[&["compare"], &sides[..]].concat());
        assert_error(&output, 2, &[message]);
    }
    let output = program.run(&["compare", "Evo+", "Extreme", "--board", "Amiga"]);
    assert_error(
        &output,
        2,
        &["no runs match", "this product was measured on "],
    );
    let with_conditions = "product=Samsung Evo+ 32 GB,board=Pi 3,setting=pi3";
    let other = "Evo+ 32,board=Pi 4,publication=geerling-a2";
    let output = program.run(&["compare", with_conditions, other]);
    assert_eq!(output.code, 0, "{output}");
    let output = program.run(&["report", "Evo+", "--board", "Pi 4"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("Samsung Evo+ 32 GB"), "{output}");
    assert!(!output.stdout.contains("Raspberry Pi 3"), "{output}");
}

#[test]
fn own_runs_of_products_meet_on_their_board() {
    let scratch = scratch();
    let program = program(&scratch);
    measure(
        &program,
        "a1-32gb",
        1..4,
        &["product=Red 32 GB", "sample=1", "setting=pi4"],
    );
    measure(
        &program,
        "c10-16gb",
        1..4,
        &["product=Blue 16 GB", "sample=2", "setting=pi4"],
    );
    measure(
        &program,
        "c10-16gb",
        5..6,
        &["product=Blue 16 GB", "setting=pi5"],
    );
    let compare = [
        "compare", "red 32", "Blue", "--board", "pi4", "--across", "span",
    ];
    let output = program.run(&compare);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("about these cards"), "{output}");
    assert!(
        output.stdout.contains("slower random write 4 KiB"),
        "{output}"
    );
}

#[test]
fn sides_that_mix_the_same_suites_are_told_to_name_one() {
    let scratch = scratch();
    let program = program(&scratch);
    for side in ["side=one", "side=other"] {
        for suite in ["quick", "dramble"] {
            let seed = if side == "side=one" { "1" } else { "2" };
            let arguments = ["run", "sim:a1-32gb", "--suite", suite, "--seed", seed];
            let output = program.run(&[&arguments[..], &["--label", side]].concat());
            assert_eq!(output.code, 0, "{output}");
        }
    }
    let output = program.run(&["compare", "side=one", "side=other"]);
    let message = "each side has runs with different suite (dramble 1, quick ";
    assert_error(
        &output,
        2,
        &[message, "name one on each side", "suite=dramble"],
    );
    let output = program.run(&["compare", "side=one,suite=quick", "side=other,suite=quick"]);
    assert_eq!(output.code, 0, "{output}");
}

#[test]
fn reports_come_in_all_forms() {
    let scratch = scratch();
    let program = program(&scratch);
    measure(&program, "a1-32gb", 1..3, &["product=A"]);
    measure(&program, "c10-16gb", 1..2, &["product=C <b>"]);
    let report = |format: &str| {
        let output = program.run(&["report", "product=A", "product=C <b>", "--format", format]);
        assert_eq!(output.code, 0, "{output}");
        output.stdout
    };
    let markdown = report("md");
    assert!(
        markdown.contains("| Card | Random write, 4 KiB, IOPS |"),
        "{markdown}"
    );
    assert!(markdown.contains("3 runs of 2 cards"), "{markdown}");
    let page = report("html");
    assert!(page.starts_with("<!doctype html>") && page.contains("</html>"));
    assert!(
        page.contains("C &lt;b&gt;") && !page.contains("C <b>"),
        "{page}"
    );
    assert!(
        !page.contains("<script") && !page.contains("http://fonts"),
        "{page}"
    );
    assert!(report("svg").starts_with("<svg "));
    assert_eq!(report("html"), page, "the same bytes each time");
    let records: Value = serde_json::from_str(&report("json")).unwrap();
    assert_eq!(records.as_array().unwrap().len(), 3);
    let output = program.run(&["report", "product=A", "--format", "svg", "--chart", "99"]);
    assert_error(
        &output,
        2,
        &[
            "no chart `99`",
            "hint: charts of these runs: sequential-write-1m-over-time, ",
        ],
    );
    for (wanted, title) in [
        (
            "mixed-4k-20-reads",
            "Mixed, 4 KiB, 20 % reads (higher is better)",
        ),
        ("vs-random", "Random write, 4 KiB vs. random read 4 KiB"),
        ("2", "Random read, 4 KiB (higher is better)"),
        ("synced write", "Synced write, 4 KiB (higher is better)"),
    ] {
        let sides = ["product=A", "product=C <b>"];
        let asked = ["--chart", wanted];
        let output = program.run(&[&["report"], &sides[..], &asked[..]].concat());
        assert!(output.stdout.contains(title), "{wanted}: {output}");
    }
    let file = program.file("report.html");
    let file = file.to_str().unwrap();
    let output = program.run(&["report", "last", "--format", "html", "-o", file]);
    assert_eq!((output.code, output.stdout.as_str()), (0, ""), "{output}");
    assert!(
        std::fs::read_to_string(file)
            .unwrap()
            .contains("<h1>C &lt;b&gt;</h1>")
    );
}

#[test]
fn the_ending_of_a_report_names_its_format() {
    let scratch = scratch();
    let program = program(&scratch);
    measure(&program, "a1-32gb", 1..2, &[]);
    for (name, begin) in [
        ("page.html", "<!doctype html>"),
        ("page.HTM", "<!doctype html>"),
        ("chart.svg", "<svg "),
        ("chart.png", "\u{fffd}PNG"),
        ("figures.csv", "record_id,"),
        ("runs.json", "["),
        ("report.md", "# "),
        ("plain", "# "),
    ] {
        let file = program.file(name);
        let output = program.run(&["report", "last", "-o", file.to_str().unwrap()]);
        assert_eq!(output.code, 0, "{name}: {output}");
        let bytes = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with(begin), "{name}: {text:.40}");
    }
    let file = program.file("report.html");
    let output = program.run(&[
        "report",
        "last",
        "--format",
        "md",
        "-o",
        file.to_str().unwrap(),
    ]);
    assert_eq!(output.code, 0, "{output}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("# "));
    let output = program.run(&["report", "last", "-o", "report.docx"]);
    let message = [
        "no format has the ending `.docx`",
        "hint: end the name in one of md, csv, html",
    ];
    assert_error(&output, 2, &message);
}

#[test]
fn a_picture_goes_into_a_file_like_any_other() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = scratch();
    let program = program(&scratch);
    measure(&program, "a1-32gb", 1..2, &[]);
    let output = program.run(&["report", "last", "--format", "png"]);
    assert_error(&output, 2, &["a PNG needs a file", "hint: add `--output"]);
    let [picture, plain] = ["chart.png", "plain"].map(|name| program.file(name));
    let path = picture.to_str().unwrap();
    let output = program.run(&["report", "last", "--format", "png", "-o", path]);
    assert_eq!((output.code, output.stdout.as_str()), (0, ""), "{output}");
    let bytes = std::fs::read(&picture).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n"));
    std::fs::write(&plain, "").unwrap();
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&picture), mode(&plain));
    let output = program.run(&["report", "last", "--format", "png", "-o", path]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(std::fs::read(&picture).unwrap(), bytes, "the same bytes");
}
