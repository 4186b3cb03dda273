use cardmark_samples::record;

use super::*;

#[test]
fn a_value_may_have_a_comma() {
    let told = conditions("product=D, and more,board=Pi 4").unwrap();
    let told: Vec<_> = told
        .iter()
        .map(|c| (c.name.as_str(), c.value.as_str()))
        .collect();
    assert_eq!(told, [("product", "D, and more"), ("board", "Pi 4")]);
    assert!(conditions("last,product=A").is_err());
    let told = conditions("capacity=64 GB").unwrap();
    assert_eq!(told[0].value, "64000000000");
    assert!(conditions("capacity=large").is_err());
}

fn found(name: &str, source: Source, change: impl FnOnce(&mut Record)) -> Found {
    let mut record = record("run-sim-a1-32gb-quick");
    if source == Source::Head {
        record.trials.clear();
        record.workloads.clear();
        record.sensors.clear();
    }
    change(&mut record);
    Found {
        record,
        name: name.to_owned(),
        source,
    }
}

fn label(record: &mut Record) {
    record.labels.insert("product".to_owned(), "A".to_owned());
}

#[test]
fn one_run_counts_once_and_the_whole_record_stays() {
    let file = |name: &str| found(name, Source::File, |_| {});
    let all = vec![
        found("origin=simulated", Source::Head, label),
        found("last", Source::Store, label),
        file("a.json"),
        file("b.json"),
    ];
    let Ok(kept) = distinct(all) else {
        panic!("one content");
    };
    assert_eq!((kept.len(), kept[0].source), (1, Source::Store));
    assert!(!kept[0].record.trials.is_empty());
}

#[test]
fn one_id_with_two_contents_is_an_error() {
    let edited = |record: &mut Record| record.written_bytes = 1;
    let cut = |record: &mut Record| record.trials.clear();
    let plain = |source| found("a.json", source, |_| {});
    for (one, other) in [
        (plain(Source::File), found("b.json", Source::File, edited)),
        (plain(Source::Store), found("b.json", Source::File, cut)),
        (plain(Source::Head), found("b.json", Source::File, edited)),
        // Labels of files do not change.
        (plain(Source::File), found("b.json", Source::File, label)),
    ] {
        let id = one.record.id.to_string();
        let Err(error) = distinct(vec![one, other]) else {
            panic!("two contents");
        };
        assert_eq!(error.exit, Exit::Usage);
        assert_eq!(error.what, "`a.json` and `b.json` differ under one id");
        assert!(error.causes[0].contains(&id), "{error:?}");
        assert!(error.hints[0].contains("so one was edited"), "{error:?}");
    }
    // Another version of the program may simulate the same run differently.
    let later = found("d.json", Source::File, |record| {
        record.tool.as_mut().unwrap().version = "99.0.0".to_owned();
    });
    let one = found("a.json", Source::File, |_| {});
    let (id, version) = (
        one.record.id,
        one.record.tool.as_ref().unwrap().version.clone(),
    );
    let Err(error) = distinct(vec![one, later]) else {
        panic!("two programs");
    };
    let cause = format!("both are run {id}, simulated by cardmark {version} and 99.0.0");
    assert_eq!(error.causes, [cause]);
    assert!(!error.hints[0].contains("edited"), "{error:?}");
}
