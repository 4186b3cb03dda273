//! Promises on the label in the answer of a run.

use cardmark_catalog::{classes, suite};
use cardmark_core::{CLAIMS_LABEL, Record};
use cardmark_judge::judge;
use cardmark_report::{Weight, answer_of_run};
use cardmark_samples::{Model, simulated};

fn run(by: &str) -> Record {
    simulated(&Model::named("a1-32gb").unwrap(), by, 1)
}

/// The run with this on its label.
fn claimed(run: &Record, claims: &str) -> Record {
    let mut run = run.clone();
    let by = run.suite.as_ref().map(|known| known.name.clone());
    run.labels
        .insert(CLAIMS_LABEL.to_owned(), claims.to_owned());
    run.derived = judge(&run, suite(&by.unwrap_or_default(), None).ok().as_ref());
    run
}

#[test]
fn a_promise_that_a_run_contradicts_comes_first() {
    let run = run("quick");
    for (claims, first, weight) in [
        (
            "A1 64GB",
            "Smaller than its label: the device reports 32 GB, sold as 64 GB",
            Weight::Error,
        ),
        ("130MB/s 32GB", "Fails 130 MB/s: ", Weight::Warning),
        (
            "32GB",
            "Good for running an operating system",
            Weight::Plain,
        ),
    ] {
        let answer = answer_of_run(&claimed(&run, claims)).unwrap();
        assert!(answer.sentence.starts_with(first), "{}", answer.sentence);
        assert_eq!(answer.weight, weight, "{claims}");
    }
}

/// Whatever the suite is, every class on a label has an answer.
#[test]
fn no_claim_is_passed_over_in_silence() {
    for by in ["quick", "app-class", "speed-class"] {
        let run = run(by);
        for class in classes() {
            let answer = answer_of_run(&claimed(&run, &class.id)).unwrap();
            let texts = [&answer.sentence].into_iter().chain(&answer.more);
            let texts: Vec<&str> = texts.map(String::as_str).collect();
            assert!(
                texts.join("\n").contains(&class.id),
                "{by} {}: {texts:?}",
                class.id
            );
        }
        let answer = answer_of_run(&claimed(&run, "55MB/s")).unwrap();
        let all = format!("{}\n{}", answer.sentence, answer.more.join("\n"));
        assert_eq!(all.contains("55 MB/s"), by != "quick", "{all}");
    }
}

/// The rates of a short run may meet the class of a claim that only another suite judges.
#[test]
fn a_class_that_is_met_is_not_called_untested() {
    for (claims, open) in [
        ("A1", "the claim A1, use `--suite app-class`"),
        ("A1 A2", "the claims A1 and A2, use `--suite app-class`"),
    ] {
        let answer = answer_of_run(&claimed(&run("quick"), claims)).unwrap();
        assert!(answer.sentence.contains("A1"), "{}", answer.sentence);
        let open = format!("For a verdict on {open}");
        assert!(answer.more.contains(&open), "{answer:?}");
        let texts = answer.more.iter().chain(&answer.open);
        let about = texts.filter(|text| text.contains("Not tested")).cloned();
        let about: Vec<String> = about.collect();
        assert!(!about.concat().contains("A1"), "{about:?}");
    }
}

#[test]
fn the_answer_is_about_the_use_on_the_label() {
    let mut run = run("quick");
    run.labels.insert("use".to_owned(), "Kodi".to_owned());
    let answer = answer_of_run(&run).unwrap();
    assert!(
        answer.sentence.contains(" for media: "),
        "{}",
        answer.sentence
    );
    assert!(
        answer.more[0].contains("boot and desktop"),
        "{:?}",
        answer.more
    );
}
