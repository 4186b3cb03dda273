//! Classes: requests, announcements, records, and exits.

use cardmark_core::{FindingKind, Record, Start, VerdictOutcome};
use cardmark_testkit::{killing_at_sync, needs};

use crate::common::{assert_error, assert_nothing_kept, finding, program, scratch};

fn outcome(record: &Record, class: &str) -> Option<VerdictOutcome> {
    let verdicts = &record.derived.as_ref()?.verdicts;
    let found = verdicts.iter().find(|verdict| verdict.rule == class)?;
    Some(found.outcome)
}

#[test]
fn what_is_required_decides_how_it_ends() {
    let scratch = scratch();
    let program = program(&scratch);
    let class = |model: &str, suite: &str, require: &str| {
        let require = format!("--require={require}");
        program.run(&["run", model, "--suite", suite, &require])
    };
    let met = class("sim:a1-32gb", "app-class", "A1");
    assert_eq!(met.code, 0, "{met}");
    assert!(met.stdout.contains("A1: likely pass (short test)"), "{met}");
    let tier = "not the whole procedure of the SD Association (tier raw-short):";
    assert!(met.stdout.contains(tier), "{met}");
    assert!(met.stdout.contains("required by `--require`"), "{met}");
    assert!(!met.stdout.contains("claimed by the label"), "{met}");
    let failed = class("sim:a1-32gb", "app-class", "A2");
    assert_error(&failed, 1, &["cause: A2 is not met"]);
    assert!(failed.stdout.contains("A2: fail"), "{failed}");
    let border = class("sim:border-a1-32gb", "app-class", "A1");
    assert_eq!(border.code, 0, "{border}");
    assert!(border.stdout.contains("A1: borderline"), "{border}");
    let broken = class("sim:vanishing-32gb", "app-class", "A1");
    assert_error(&broken, 3, &["cause: A1 could not be tested here"]);
    let hot = class("sim:hot-32gb", "app-class", "A2");
    assert_error(&hot, 3, &["cause: A2 could not be tested here"]);
    let why = "no fail, as it may be too low under throttled";
    assert!(hot.stdout.replace("\n    ", " ").contains(why), "{hot}");
    let slot = class("sim:a1-32gb@pi3", "app-class", "A1");
    assert_error(&slot, 3, &["cause: A1 could not be tested here"]);
    let why = "A1 is not defined for the bus mode high speed at 50 MHz";
    assert!(slot.stdout.contains(why), "{slot}");
    let video = class("sim:border-v30-64gb", "speed-class", "V30");
    assert!(video.stdout.contains("V30: borderline"), "{video}");
    let shown = video.stdout.replace("\n    ", " ");
    assert!(shown.contains("if MB means MiB"), "{video}");
}

#[test]
fn wrong_wishes_are_refused_before_anything_is_written() {
    for (said, cause) in [
        (&["--require=A1"][..], "suite `quick` does not judge A1"),
        (
            &["--suite=app-class", "--require=V30"],
            "does not judge V30",
        ),
        (
            &["--suite=app-class", "--tier=best"],
            "no tier `best`; it has raw-short, raw-full, file",
        ),
        (
            &["--tier=file"],
            "suite `quick` has no tier `file`; it has none",
        ),
        (
            &["--suite=speed-class", "--read-only"],
            "writes before it reads",
        ),
    ] {
        let scratch = scratch();
        let program = program(&scratch);
        let output = program.run(&[&["run", "sim:a1-32gb"][..], said].concat());
        assert_error(&output, 2, &[cause]);
        assert_nothing_kept(&program, &output);
    }
}

/// Killed at any sync, what its journal holds is never a pass unless all was measured; and the next
/// run begins with erasing.
#[test]
fn a_killed_procedure_is_no_pass() {
    needs!(Strace);
    let asked = ["run", "sim:a2-64gb", "--suite=app-class", "--tier=raw-full"];
    for number in [2, 4, 6, 8] {
        let scratch = scratch();
        let program = program(&scratch);
        let wrapper = killing_at_sync(number);
        let ended = program.start_under(&wrapper, &asked).wait();
        assert_eq!(ended.code, 137, "{ended}");
        let recovered = program.run(&["recover"]);
        assert_eq!(recovered.code, 0, "{recovered}");
        if program.runs_count() == 0 {
            continue;
        }
        let record = program.last();
        assert!(finding(&record, FindingKind::Interrupted).is_some());
        let is_whole = record.metric("app_seq_write").is_some();
        for class in ["A1", "A2"] {
            let found = outcome(&record, class);
            assert!(
                is_whole || found == Some(VerdictOutcome::NotTestable),
                "{found:?}"
            );
        }
    }
    let scratch = scratch();
    let again = program(&scratch);
    assert_eq!(
        again.run(&["run", "sim:a2-64gb", "--suite=app-class"]).code,
        0
    );
    let record = again.last();
    assert_eq!(record.trials[0].workload.manner.start, Start::Erased);
    assert_eq!(outcome(&record, "A1"), Some(VerdictOutcome::LikelyPass));
}
