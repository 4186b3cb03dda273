//! `recommend` on what others published, and on own runs; lists in little room.

use cardmark_testkit::Program;
use serde_json::Value;

use crate::common::{assert_error, program, scratch};

fn products(list: &Value) -> Vec<&str> {
    let candidates = list.as_array().unwrap().iter();
    candidates
        .map(|one| one["product"].as_str().unwrap())
        .collect()
}

/// Imports a rate of dd, as of this product.
fn import(program: &Program, rate: &str, labels: &[&str]) {
    let figure = format!("dd_write={rate}MB/s");
    let mut arguments = vec!["import", "--figure", &figure];
    for label in labels {
        arguments.extend(["--label", label]);
    }
    let output = program.run(&arguments);
    assert_eq!(output.code, 0, "{output}");
}

fn choice(program: &Program, arguments: &[&str]) -> Value {
    let output = program.run(&[&["recommend", "--json"], arguments].concat());
    assert_eq!(output.code, 0, "{output}");
    let shown: Value = serde_json::from_str(&output.stdout).unwrap();
    shown["choice"].clone()
}

#[test]
fn prices_are_the_users_own() {
    let scratch = scratch();
    let program = program(&scratch);
    for (rate, product, price) in [
        ("61", "product=Samsung Evo 32 GB", "price=8 EUR"),
        ("62", "product=Silicon Power 3D NAND 32 GB", "price=80 EUR"),
    ] {
        import(&program, rate, &[product]);
        assert_eq!(program.run(&["label", "last", price]).code, 0);
    }
    let wish = ["--use", "camera", "--board", "Pi 4", "--budget", "10 EUR"];
    let found = choice(&program, &wish);
    assert_eq!(found["left_out"]["too_dear_count"], 1);
    assert!(!products(&found["first"]).contains(&"Silicon Power 3D NAND 32 GB"));
    let wish = ["--use", "camera", "--board", "Pi 4", "--by-value"];
    let cheapest = |more: &[&str]| {
        let found = choice(&program, &[&wish[..], more].concat());
        let index = found["value"]["cheapest"].as_u64().unwrap();
        let index = usize::try_from(index).unwrap();
        products(&found["first"])[index].to_owned()
    };
    assert_eq!(cheapest(&[]), "Samsung Evo 32 GB");
    // Stated on the command line, too.
    let stated = cheapest(&["--price", "Evo Plus 64=7,50 EUR"]);
    assert_eq!(stated, "Samsung Evo Plus 64 GB");
    let text = program.run(&[&["recommend"], &wish[..]].concat()).stdout;
    let words: Vec<&str> = text.split_whitespace().collect();
    let said = "Samsung Evo 32 GB at 8.00 EUR is the cheapest that is enough";
    assert!(words.join(" ").contains(said), "{text}");
    assert!(text.contains("--use camera --by-value"), "{text}");
    let output = program.run(&["recommend", "--price", "Foo=7", "--by-value"]);
    assert_error(&output, 2, &["no product is called `Foo`"]);
    let output = program.run(&["recommend", "--price", "Extreme Pro=9"]);
    assert_error(&output, 2, &["`Extreme Pro` is several products"]);
}

#[test]
fn own_runs_count_and_simulated_ones_do_not() {
    let scratch = scratch();
    let program = program(&scratch);
    import(&program, "61", &["product=Samsung Evo 32 GB"]);
    let output = program.run(&["run", "sim:a1-32gb", "--label", "product=Samsung Pro 16 GB"]);
    assert_eq!(output.code, 0, "{output}");
    let found = choice(&program, &["--use", "camera"]);
    let first = found["first"].as_array().unwrap();
    let own = first
        .iter()
        .find(|one| one["product"] == "Samsung Evo 32 GB")
        .unwrap();
    assert_eq!(own["needs"][0]["sources"], serde_json::json!(["imported"]));
    assert_eq!(found["left_out"]["simulated_runs_count"], 1);
}

/// Whatever is asked, somebody who wants to buy a card gets an answer.
#[test]
fn there_is_always_an_answer() {
    let scratch = scratch();
    let program = program(&scratch);
    for arguments in [
        &[][..],
        &["--use", "Home Assistant"],
        &["--use", "pi-hole", "--board", "Zero 2 W"],
        &["--board", "Amiga"],
        &["--board", "Pi 5", "--capacity", "4000", "--budget", "1"],
        &["--use", "nas", "--kind", "cf"],
    ] {
        for more in [&[][..], &["--all"], &["--json"]] {
            let output = program.run(&[&["recommend"], arguments, more].concat());
            assert_eq!(output.code, 0, "{output}");
            assert!(
                !output.stdout.is_empty() && output.stderr.is_empty(),
                "{output}"
            );
        }
        let output = program.run(&[&["recommend"], arguments].concat());
        assert!(output.stdout.lines().count() <= 10, "{output}");
    }
    let text = program.run(&["recommend"]).stdout;
    assert!(
        text.starts_with("Boot and desktop on any board: "),
        "{text}"
    );
}

#[test]
fn no_line_of_a_list_is_wider_than_the_terminal() {
    let scratch = scratch();
    let program = program(&scratch);
    let text = program.run(&["list", "published"]).stdout;
    assert!(
        text.contains("1 figure of 1 run;") && text.contains("desktop_install_time_1st"),
        "{text}"
    );
    let program = program.columns(40);
    for what in ["models", "suites", "published", "devices"] {
        let output = program.run(&["list", what]);
        assert_eq!(output.code, 0, "{output}");
        for line in output.stdout.lines() {
            assert!(line.chars().count() <= 40, "{what}: {line}");
        }
    }
}

#[test]
fn a_use_that_is_not_known_is_told_those_that_are() {
    let scratch = scratch();
    let program = program(&scratch);
    for (wanted, hint) in [
        ("knitting", "there is boot and desktop, database"),
        ("medai", "perhaps media"),
    ] {
        let output = program.run(&["recommend", "--use", wanted]);
        assert_error(&output, 2, &[&format!("unknown use `{wanted}`"), hint]);
    }
    for (option, value, said) in [
        ("--budget", "cheap", "expected one number"),
        ("--kind", "tape", "expected one of microsd, sd"),
    ] {
        let output = program.run(&["recommend", "--use", "boot", option, value]);
        assert_error(&output, 2, &[said]);
    }
}
