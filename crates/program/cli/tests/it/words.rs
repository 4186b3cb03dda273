//! Questions in people's own words, slips, and commands without arguments.

use cardmark_testkit::Program;
use serde_json::Value;

use crate::common::{assert_error, program, scratch};
use crate::tmux::{Style, screen};

fn measure(program: &Program, model: &str, seed: &str) {
    let output = program.run(&["run", &format!("sim:{model}"), "--seed", seed]);
    assert_eq!(output.code, 0, "{output}");
}

#[test]
fn questions_are_answered_at_once() {
    let scratch = scratch();
    let program = program(&scratch);
    for (question, title) in [
        ("128 GB card corrupt after 8 GB", "Fake cards\n"),
        ("why is A2 slower?", "A1 or A2\n"),
        ("dashcam", "Cards for a dash cam\n"),
        ("Home Assistant", "Cards for Home Assistant\n"),
        ("eMMC", "eMMC\n"),
        ("write protected", "READ-ONLY\n"),
        ("wear leveling", "Wear levelling\n"),
        ("boot", "Use: boot and desktop\n"),
        ("refund", "Returning a card, with evidence\n"),
        (
            "how do I get my money back",
            "Returning a card, with evidence\n",
        ),
        ("is probe safe", "What tests do to your files\n"),
        ("what does ± mean", "Signs before a figure"),
        ("±", "Signs before a figure"),
        ("what is class 10", "Speed Class 10\n"),
        ("is Samsung better than SanDisk", "Brands\n"),
        ("Lenovo", "Which cards to avoid\n"),
    ] {
        let output = program.run(&["explain", question]);
        assert_eq!(output.code, 0, "{output}");
        assert!(output.stdout.starts_with(title), "{question}: {output}");
        assert!(output.stdout.contains("source:"), "{question}: {output}");
    }
    let refund = program.run(&["explain", "refund"]);
    assert!(refund.stdout.contains("--for seller"), "{refund}");
    let product = program.run(&["explain", "Kingston SSD"]);
    assert!(product.stdout.starts_with("Kingston SSD\n"), "{product}");
    let words = [
        "explain",
        "is",
        "my",
        "sandisk",
        "card",
        "a",
        "counterfiet?",
    ];
    let output = program.run(&words);
    assert!(output.stdout.contains("\nSee also:\n"), "{output}");
    let json = program.run(&[&words[..], &["--json"]].concat());
    let found: Vec<Value> = serde_json::from_str(&json.stdout).unwrap();
    assert!(found.len() > 1 && found.len() <= 5, "{json}");
    let unknown = program.run(&["explain", "what is a zeppelin"]);
    assert_error(
        &unknown,
        2,
        &["no explanation of `what is a zeppelin`", "hint: "],
    );
}

#[test]
fn slips_get_a_suggestion() {
    let scratch = scratch();
    let program = program(&scratch);
    for (words, said) in [
        (&["rnu", "sim:a1-32gb"][..], "'run'"),
        (&["run", "sim:a1"], "perhaps a1-32gb"),
        (&["run", "sim:a1-32gb", "--suite", "quik"], "perhaps quick"),
    ] {
        assert_error(&program.run(words), 2, &[said]);
    }
}

#[test]
fn comparisons_and_reports_without_arguments_take_the_last_runs() {
    let scratch = scratch();
    let program = program(&scratch);
    for words in [&["compare"][..], &["report"]] {
        assert_error(&program.run(words), 2, &["hint: "]);
    }
    measure(&program, "a1-32gb", "1");
    assert_error(
        &program.run(&["compare"]),
        2,
        &[
            "no run of another card",
            "the last run is a1-32gb",
            "hint: measure another card",
        ],
    );
    measure(&program, "c10-16gb", "1");
    measure(&program, "c10-16gb", "2");
    let compared = program.run(&["compare"]);
    assert_eq!(compared.code, 0, "{compared}");
    assert!(
        compared.stderr.contains("the last run, c10-16gb (run ")
            && compared.stderr.contains("of another card, a1-32gb (run "),
        "{compared}"
    );
    let named = program.run(&["list", "--json"]);
    let runs: Vec<Value> = serde_json::from_str(&named.stdout).unwrap();
    let id = |index: usize| runs[index]["id"].as_str().unwrap().to_owned();
    let expected = program.run(&["compare", &id(2), &id(0)]);
    assert_eq!(compared.stdout, expected.stdout);
    let with_last = program.run(&["compare", &id(2)]);
    assert_eq!(with_last.stdout, expected.stdout);
    let report = program.run(&["report"]);
    assert_eq!(report.stdout, program.run(&["report", "last"]).stdout);
    assert!(
        report.stderr.contains("report on the last run: c10-16gb"),
        "{report}"
    );
}

/// Errors, hints and the help as a person sees them: no line is broken within a word by the terminal.
#[test]
fn errors_and_help_fit_the_terminal() {
    let scratch = scratch();
    let program = program(&scratch);
    for columns in [30, 40, 80, 120] {
        for line in [
            "cardmark run sim:a1-32gb --suite fast",
            "cardmark run /nonexistent/place/of/a/card",
            "cardmark run --seed xyz",
            "cardmark explain zeppelin",
            "cardmark compare nonesuch other",
            "cardmark --help",
        ] {
            let shown = screen(&program, scratch.path(), columns, line, Style::Plain);
            let words: Vec<&str> = shown.split_whitespace().collect();
            // A terminal that breaks a line fills all its columns, and the next one begins within a word.
            let wide = program.run(&line.split(' ').skip(1).collect::<Vec<_>>());
            let known = format!("{} {}", wide.stdout, wide.stderr);
            let known: Vec<&str> = known.split_whitespace().collect();
            let is_long = |word: &&&str| word.len() > columns as usize - 8;
            let of_long = |part: &str| known.iter().filter(is_long).any(|word| word.contains(part));
            let is_broken = |word: &&&str| !known.contains(*word) && !of_long(word);
            let broken: Vec<&&str> = words.iter().filter(is_broken).collect();
            assert!(
                broken.is_empty(),
                "{line} at {columns}: {broken:?} in\n{shown}"
            );
        }
    }
}
