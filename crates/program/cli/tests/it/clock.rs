//! A wall clock that steps while a run is under way.

use cardmark_core::{FindingKind, SECOND_NS};
use cardmark_testkit::{needs, wall_clock};

use crate::common::{QUICKEST, assert_empty, finding, folder, program, scratch, text};

#[test]
fn a_wall_clock_that_steps_is_told_and_changes_no_span() {
    needs!(WallClock);
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    let clock = wall_clock(scratch.path());
    clock.set("+0s");
    let program = program.clock(&clock);
    let running = program.start(&["run", text(&folder), QUICKEST]);
    running.hear("round 2");
    clock.set("-3h");
    let output = running.wait();
    assert_eq!(output.code, 0, "{output}");
    let record = program.last();
    let step = finding(&record, FindingKind::ClockStepped).expect("the step is told");
    assert!(
        step.detail.contains("stepped back by 10"),
        "{}",
        step.detail
    );
    for trial in &record.trials {
        assert!(trial.span_ns < 60 * SECOND_NS, "{} ns", trial.span_ns);
    }
    assert!(record.started_at.is_some());
    assert_empty(&folder);
}

#[test]
fn a_clock_that_is_not_set_gives_a_note_and_no_time() {
    needs!(WallClock);
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    let clock = wall_clock(scratch.path());
    clock.set("-20y");
    let program = program.clock(&clock);
    let info = program.run(&["info", text(&folder)]);
    assert!(
        info.stdout.contains("the time of day lies before"),
        "{info}"
    );
    let output = program.run(&["run", text(&folder), QUICKEST, "--all"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stdout.contains("the time of day lies before"),
        "{output}"
    );
    let record = program.last();
    assert!(finding(&record, FindingKind::ClockNotSet).is_some());
    assert_eq!(record.started_at, None);
}

#[test]
fn a_measurement_names_the_build_that_made_it() {
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    let version = program.run(&["--version"]).stdout;
    assert_eq!(program.run(&["run", text(&folder), QUICKEST]).code, 0);
    let measured = program.last();
    let (tool, suite) = (measured.tool.unwrap(), measured.suite.unwrap());
    let is_modified = tool.modified.unwrap_or(false);
    let commit = tool.commit.unwrap_or_else(|| "unknown commit".to_owned());
    let target = tool.target.unwrap();
    for part in [&tool.version, &commit, &target, &tool.profile.unwrap()] {
        assert!(version.contains(part), "{version} without {part}");
    }
    assert_eq!(version.contains("modified"), is_modified);
    let sums = include_str!("../../../../know/catalog/suites/SHA256SUMS");
    let line = format!(
        "{}  {}-{}.toml",
        suite.digest.unwrap(),
        suite.name,
        suite.version
    );
    assert!(sums.lines().any(|known| known == line), "{line}");
    let simulated = program
        .run(&["run", "sim:a1-32gb", QUICKEST, "--json=-"])
        .record();
    let tool = simulated.tool.unwrap();
    assert_eq!((tool.commit, tool.target, tool.profile), (None, None, None));
    assert_eq!(simulated.suite.unwrap().digest, None);
}
