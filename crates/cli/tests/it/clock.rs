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
