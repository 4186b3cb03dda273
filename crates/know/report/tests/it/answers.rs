//! One answer of each record, wherever it is shown.

use cardmark_core::Record;
use cardmark_report::document::Block;
use cardmark_report::{Style, answer_of_run, survey, terminal};
use cardmark_samples::{Model, corpus, simulated};

/// Words that a terminal shows in one line.
const UNBROKEN: usize = 1 << 16;

/// Checks that all forms of the answer begin alike.
fn check(name: &str, record: &Record) {
    let Some(answer) = answer_of_run(record) else {
        return;
    };
    let sentence = &answer.sentence;
    assert!(
        !sentence.is_empty() && !sentence.ends_with('.'),
        "{name}: {sentence}"
    );
    let text = terminal(record, UNBROKEN, Style::Plain).replace('\u{a0}', " ");
    let is_shown = text
        .to_lowercase()
        .lines()
        .any(|line| line.starts_with(&sentence.to_lowercase()));
    assert!(
        is_shown,
        "{name}: no line begins with `{sentence}` in {text}"
    );
    assert_eq!(answer.json()["sentence"], sentence.as_str(), "{name}");
    let first = Block::Text(format!("{sentence}."));
    let of_answer = |block: Option<&Block>| match block {
        Some(Block::Answer { blocks, .. }) => blocks.first().cloned(),
        _ => None,
    };
    assert_eq!(of_answer(answer.blocks().first()), Some(first), "{name}");
    let document = survey("Run", std::slice::from_ref(record));
    let begins = match of_answer(document.blocks.first()) {
        Some(Block::Text(text)) => text.starts_with(sentence.as_str()),
        _ => false,
    };
    assert!(begins || record.anatomy.is_some(), "{name}: {document:?}");
}

#[test]
fn every_kept_record_has_one_answer() {
    let kept = corpus();
    let answered = kept
        .iter()
        .filter(|kept| answer_of_run(&kept.record()).is_some());
    assert!(2 * answered.count() > kept.len());
    for kept in &kept {
        check(&kept.name, &kept.record());
    }
}

#[test]
fn every_kind_of_run_has_one_answer() {
    for (model, suite) in [
        ("a1-32gb", "quick"),
        ("c10-16gb", "quick"),
        ("hot-32gb", "sustained"),
        ("c10-16gb", "app-class"),
        ("a1-32gb", "app-class"),
        ("v30-64gb", "speed-class"),
    ] {
        let record = simulated(&Model::named(model).unwrap(), suite, 1);
        assert!(answer_of_run(&record).is_some(), "{model} {suite}");
        check(&format!("{model} {suite}"), &record);
    }
}

/// The verdict on a class comes before its figures.
#[test]
fn a_test_of_a_class_begins_with_its_verdict() {
    let sentence = |model: &str, suite: &str| {
        let record = simulated(&Model::named(model).unwrap(), suite, 1);
        answer_of_run(&record).unwrap().sentence
    };
    let slow = sentence("c10-16gb", "app-class");
    assert!(slow.starts_with("Fails A1: "), "{slow}");
    let writes = slow.find(" random writes/s (needs 500), ");
    let reads = slow.find(" random reads/s (needs 1500)");
    assert!(writes.is_some() && writes < reads, "{slow}");
    let good = sentence("a1-32gb", "app-class");
    assert!(good.starts_with("Meets A1"), "{good}");
    let video = sentence("v30-64gb", "speed-class");
    assert!(video.starts_with("Meets C10"), "{video}");
}
