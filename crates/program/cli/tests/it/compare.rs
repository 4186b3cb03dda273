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

#[test]
fn own_runs_of_products_meet_on_their_board() {
    let scratch = scratch();
    let program = program(&scratch);
    let red = ["product=Red 32 GB", "sample=1", "setting=pi4"];
    measure(&program, "a1-32gb", 1..4, &red);
    let blue = ["product=Blue 16 GB", "sample=2", "setting=pi4"];
    measure(&program, "c10-16gb", 1..4, &blue);
    let elsewhere = ["product=Blue 16 GB", "setting=pi5"];
    measure(&program, "c10-16gb", 5..6, &elsewhere);
    let compare = [
        "compare", "red 32", "Blue", "--board", "pi4", "--across", "span",
    ];
    let output = program.run(&compare);
    assert_eq!(output.code, 0, "{output}");
    let begin = "Red 32 GB writes randomly 1";
    assert!(output.stdout.starts_with(begin), "{output}");
    let claim = "About these two cards (3 runs of each)";
    assert!(output.stdout.contains(claim), "{output}");
    assert!(output.stdout.lines().count() <= 12, "{output}");
    assert!(!output.stdout.contains("rand_"), "{output}");
    let all = json(&program, &[&compare[..], &["--json"]].concat());
    assert_eq!(all[0]["claim"], "cards");
    let sentence = all[0]["answer"]["sentence"].as_str().unwrap();
    let shown = output.stdout.lines().map(str::trim);
    let shown = shown.collect::<Vec<_>>().join(" ");
    assert!(shown.starts_with(sentence), "{sentence}: {output}");
    let runs = |side: &str| all[0][side]["runs"].as_array().unwrap().len();
    assert_eq!((runs("base"), runs("other")), (3, 3));
    let differences = all[0]["differences"].as_array().unwrap();
    let write = differences
        .iter()
        .find(|one| one["metric"] == "rand_write_4k");
    assert_eq!(write.unwrap()["outcome"], "lower");
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

/// A card against its product is a card against the others of it.
#[test]
fn a_card_is_compared_with_the_others_of_its_product() {
    let scratch = scratch();
    let program = program(&scratch);
    measure(&program, "a1-32gb", 1..3, &["product=A", "sample=S1"]);
    measure(&program, "a1-32gb", 3..5, &["product=A", "sample=S2"]);
    for sides in [["product=A", "sample=S1"], ["sample=S1", "product=A"]] {
        let output = program.run(&[&["compare"], &sides[..]].concat());
        assert_eq!(output.code, 0, "{output}");
        assert!(
            output
                .stderr
                .contains("`product=A` counts without the runs of `sample=S1`"),
            "{output}"
        );
    }
    let all = program.run(&["compare", "product=A", "product=A"]);
    assert_error(&all, 2, &["is on both sides", "hint: "]);
    let unknown = program.run(&["rank", "--board", "foo"]);
    assert_error(
        &unknown,
        2,
        &["no results on a board called `foo`", "hint: "],
    );
    let near = program.run(&["rank", "--board", "Rasberry Pi 4"]);
    assert_error(
        &near,
        2,
        &["no results on a board called", "perhaps", "Raspberry Pi 4"],
    );
    let recommended = program.run(&["recommend", "--board", "foo"]);
    assert!(
        !recommended.stdout.contains("--board \"foo\""),
        "{recommended}"
    );
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
    let metric = ["--metric", "rand_write_4k", "--json"];
    let all = json(&program, &[&["rank", "last"], &metric[..]].concat());
    let places = all[0]["places"].as_array().unwrap();
    assert_eq!(
        (&places[0]["name"], &places[0]["runs_count"]),
        (&"A".into(), &2.into())
    );
    assert_eq!(places[1]["is_asked"], true);
    let published = |more: &[&str]| {
        let all = json(&program, &[&["rank"], &metric[..], more].concat());
        assert_eq!(all[0]["simulated_count"], 3);
        all[0]["places"].as_array().map_or(0, Vec::len)
    };
    assert!(published(&[]) > 80);
    let alone = program.run(&["rank", "--metric", "rand_write_4k", "--exact"]);
    assert_error(
        &alone,
        2,
        &["simulated runs are not ranked with real cards"],
    );
    let output = program.run(&["rank", "--metric", "no_such_metric"]);
    assert_error(&output, 2, &["no results of no_such_metric", "hint: "]);
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
        (["--publication", "unknown"], "there is geerling-dramble"),
        (["--publication", "kulez"], "perhaps kulesz"),
        (["--metric", "nonsense"], "`cardmark rank --list` shows"),
    ] {
        let output = program.run(&[&["rank"], &arguments[..]].concat());
        assert_error(&output, 2, &[message]);
    }
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
    // A simulated run has no place on a real board.
    let beside = program.run(&["rank", "--board", "Pi 4"]).stdout;
    let rest = beside.strip_prefix(&text).unwrap_or(&beside);
    let expected = "\nLeft out: 1 simulated run; only real cards are ranked here.\n";
    assert_eq!(rest, expected);
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
    let output = program.run(&[&sides[..], &["--all"]].concat());
    assert_eq!(output.code, 0, "{output}");
    let heading = "SanDisk Extreme 16 GB (1 run) against Samsung Evo+ 32 GB (1 run), Raspberry Pi 4 \
                   Model B, suite dramble, geerling-a2";
    let lines = output
        .stdout
        .lines()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(" ");
    assert!(lines.contains(heading), "{output}");
    assert!(output.stdout.contains("too few runs to decide"), "{output}");
    assert!(output.stderr.contains("left out: "), "{output}");
    // Once a board: what differs between boards is not taken for a difference of the cards.
    let all = json(&program, &["compare", "Evo+", "Extreme", "--json"]);
    assert_eq!(all.as_array().unwrap().len(), 4);
    let output = program.run(&["compare", "Evo+", "Extreme"]);
    let sentence = "Samsung Evo+ 32 GB writes randomly 46 % faster than SanDisk Extreme 16 GB";
    let lines = output.stdout.lines().map(str::trim);
    let text = lines.collect::<Vec<_>>().join(" ");
    assert!(text.starts_with(sentence), "{output}");
    assert!(
        text.contains("In 4 places where both were measured"),
        "{output}"
    );
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
fn one_product_in_two_settings_is_named_by_what_they_change() {
    let scratch = scratch();
    let program = program(&scratch);
    let sides = ["pi3", "pi3-oc100"].map(|setting| format!("Samsung Evo+ 32 GB,setting={setting}"));
    let text = program.run(&["compare", &sides[0], &sides[1]]).stdout;
    let expected =
        "No difference shown between the slot at 100 MHz and the slot at its usual clock: ";
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    assert!(lines.join(" ").starts_with(expected), "{text}");
    let sides = ["on", "off"].map(|state| format!("SanDisk Extreme 64 GB,command_queue={state}"));
    let across = ["compare", &sides[0], &sides[1], "--across", "command_queue"];
    let text = program.run(&across).stdout;
    let expected = "command queue on writes randomly 2.6 times";
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("queue on for"), "{text}");
    assert!(!text.contains("also differ"), "{text}");
}

#[test]
fn the_last_run_alone_is_compared_with_another_card() {
    let scratch = scratch();
    let program = program(&scratch);
    measure(&program, "c10-16gb", 1..2, &[]);
    measure(&program, "a1-32gb", 1..2, &[]);
    let expected = program.run(&["compare"]);
    assert_eq!(expected.code, 0, "{expected}");
    let id = json(&program, &["list", "runs", "--json"])[0]["id"].clone();
    for base in ["last", id.as_str().unwrap()] {
        let output = program.run(&["compare", base]);
        assert_eq!(output.stdout, expected.stdout, "{output}");
    }
}

#[test]
fn three_sides_begin_with_their_order_and_tests_of_capacity_have_no_speed() {
    let scratch = scratch();
    let program = program(&scratch);
    for (model, sample) in [("c10-16gb", "A"), ("a1-32gb", "B"), ("stalls-rare", "C")] {
        measure(&program, model, 1..4, &[&format!("sample={sample}")]);
    }
    let three = [
        "compare", "sample=A", "sample=B", "sample=C", "--across", "span",
    ];
    let output = program.run(&three);
    assert_eq!(output.code, 0, "{output}");
    let words: Vec<&str> = output.stdout.split_whitespace().collect();
    let text = words.join(" ");
    assert!(text.starts_with("Random writes, fastest "), "{output}");
    for part in ["first: 1–2 sample ", "3 sample A ("] {
        assert!(text.contains(part), "no `{part}` in {output}");
    }
    assert_eq!(program.run(&["probe", "sim:a1-32gb"]).code, 0);
    assert_error(
        &program.run(&["compare", "last", "sample=B"]),
        2,
        &["no run of `last` measured a speed", "`cardmark run`"],
    );
}

/// Each further product has its answer in the order of the command, whichever is faster.
#[test]
fn products_are_answered_in_the_order_of_the_command() {
    const BASE: &str = "Samsung Pro+ 32 GB";
    const OTHERS: [&str; 2] = ["SanDisk Extreme 16 GB", "Samsung Evo Plus 64 GB"];
    let scratch = scratch();
    let program = program(&scratch);
    for others in [OTHERS, [OTHERS[1], OTHERS[0]]] {
        let sides = [BASE, others[0], others[1]].map(|name| format!("product={name}"));
        let output = program.run(&["compare", &sides[0], &sides[1], &sides[2]]);
        assert_eq!(output.code, 0, "{output}");
        let answers: Vec<&str> = output.stdout.split("\n\n").collect();
        assert_eq!(answers.len(), 2, "{output}");
        for (answer, other) in answers.into_iter().zip(others) {
            let words: Vec<&str> = answer.split_whitespace().collect();
            let is_named = |name: &&str| words.join(" ").contains(name);
            let named: Vec<&str> = OTHERS.into_iter().filter(is_named).collect();
            assert_eq!(named, [other], "{answer}");
            assert!(is_named(&BASE), "{answer}");
        }
    }
}

/// A terminal gets lines of its width; a file or a program gets one line for each message.
#[test]
fn a_piped_message_is_one_line() {
    let scratch = scratch();
    let program = program(&scratch);
    for (arguments, begins) in [
        (
            &["compare", "Evo+", "Extreme", "--board", "Pi 4"][..],
            &["left out: "][..],
        ),
        (
            &["compare", "Evo+ 16", "Extreme 64"],
            &["error: ", "cause: ", "hint: "],
        ),
        (&["run", "--suite", "no-such-suite"], &["error: ", "hint: "]),
    ] {
        let mut command = program.command(arguments);
        let output = command.env("COLUMNS", "40").output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.lines().any(|line| line.len() > 60), "{text}");
        for line in text.lines() {
            assert!(begins.iter().any(|begin| line.starts_with(begin)), "{text}");
        }
    }
}

#[test]
fn sides_with_several_suites_ask_for_one() {
    let scratch = scratch();
    let program = program(&scratch);
    for (side, seed) in [("side=one", "1"), ("side=other", "2")] {
        for suite in ["quick", "dramble"] {
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
fn a_chart_is_found_by_name_number_or_title() {
    let scratch = scratch();
    let program = program(&scratch);
    measure(&program, "a1-32gb", 1..3, &["product=A"]);
    measure(&program, "c10-16gb", 1..2, &["product=C <b>"]);
    let sides = ["report", "product=A", "product=C <b>"];
    let records = json(&program, &[&sides[..], &["--format", "json"]].concat());
    assert_eq!(records.as_array().unwrap().len(), 3);
    let output = program.run(&["report", "product=A", "--format", "svg", "--chart", "99"]);
    let charts = "hint: charts of these runs: random-reads-and-writes, ";
    assert_error(&output, 2, &["no chart `99`", charts]);
    let titled = ["--chart", "1", "--title", "Take <A>"];
    let output = program.run(&[&sides[..], &titled].concat());
    assert!(
        output.stdout.contains("<title>Take &lt;A&gt;</title>"),
        "{output}"
    );
    let highlighted = |name: &str| {
        let options = ["--chart", "random-read-4k", "--highlight", name];
        program.run(&[&sides[..], &options].concat())
    };
    let output = highlighted("A");
    assert!(output.stdout.contains(">Others</text>"), "{output}");
    assert_error(&highlighted("absent"), 2, &["no bar has such a name"]);
    for (wanted, title) in [
        (
            "mixed-4k-20-reads",
            "Mixed, 4 KiB, 20 % reads (higher is better)",
        ),
        ("vs-random", "Random write, 4 KiB vs. random read 4 KiB"),
        ("2", "Random read, 4 KiB (higher is better)"),
        ("synced write", "Synced write, 4 KiB (higher is better)"),
    ] {
        let output = program.run(&[&sides[..], &["--chart", wanted]].concat());
        assert!(output.stdout.starts_with("<svg "), "{wanted}: {output}");
        assert!(output.stdout.contains(title), "{wanted}: {output}");
    }
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

/// The text of a comparison in one line.
fn flat(program: &Program, arguments: &[&str]) -> String {
    let output = program.run(&[&["compare"], arguments].concat());
    assert_eq!(output.code, 0, "{arguments:?}: {output}");
    let count = output.stdout.lines().count();
    assert!(count <= 10, "{count} lines: {output}");
    let words: Vec<&str> = output.stdout.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn lines_meet_at_one_capacity_or_all_are_listed() {
    let scratch = scratch();
    let program = program(&scratch);
    let text = flat(
        &program,
        &["Raspberry Pi", "SanDisk Extreme", "--board", "Pi 5"],
    );
    assert!(
        text.starts_with("With 32 operations at once, Raspberry Pi 64 GB"),
        "{text}"
    );
    assert!(text.contains("than SanDisk Extreme 64 GB"), "{text}");
    assert!(text.contains("On Pi 5, 202"), "{text}");
    let text = flat(&program, &["Evo+", "Extreme", "--board", "Pi 4"]);
    assert!(text.contains("; their capacities differ"), "{text}");
    let text = flat(&program, &["Evo+ 32", "Extreme 16", "--board", "Pi 4"]);
    assert!(!text.contains("capacities differ"), "{text}");
    let text = flat(&program, &["PNY Elite", "SP Elite"]);
    assert!(text.contains("Silicon Power Elite 32 GB"), "{text}");
    for (sides, messages) in [
        (
            ["Evo+ 32", "Sandisk Ultra 64gb"],
            ["SanDisk Ultra A1 64 GB, SanDisk Ultra C10 64 GB"],
        ),
        (
            ["Evo+ 32", "SanDisk Extreme 512 GB"],
            ["perhaps SanDisk Extreme 16 GB"],
        ),
    ] {
        let output = program.run(&[&["compare"], &sides[..]].concat());
        assert_error(&output, 2, &messages);
    }
}

#[test]
fn endurance_stands_alone_or_below_the_rates() {
    let scratch = scratch();
    let program = program(&scratch);
    let text = flat(
        &program,
        &["Samsung Pro Endurance", "SanDisk Max Endurance"],
    );
    let expected = "Samsung PRO Endurance (2022) is made for 1.17 times the writes of SanDisk MAX Endurance: 820 \
                    against 702 TB at 128 GB, makers' figures No rates";
    assert!(text.starts_with(expected), "{text}");
    let text = flat(
        &program,
        &["SanDisk High Endurance", "SanDisk Max Endurance"],
    );
    assert!(text.contains("702 against 117 TB at 128 GB"), "{text}");
    let text = flat(&program, &["Samsung EVO Plus 32 GB", "SanDisk Ultra 32 GB"]);
    let expected = "Samsung EVO Plus 32 GB 1,415 to > 17,222 (3 cards), SanDisk Ultra 32 GB 395 to 1,905 (3 cards)";
    assert!(text.contains(expected), "{text}");
    let sides = ["SanDisk High Endurance", "SanDisk Max Endurance", "--json"];
    let all = json(&program, &[&["compare"], &sides[..]].concat());
    assert_eq!(
        all[0]["endurance"]["stated"]["capacity_bytes"],
        128_000_000_000_u64
    );
}
