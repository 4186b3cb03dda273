//! A simulated card: writes, a cut and the check in one go.

use cardmark_core::{IntegrityTest, Rng};
use cardmark_integrity::{
    CutBegin, CutCheck, CutEnd, CutLog, CutPlan, CutStep, LogLine, PowerCut, Trouble,
};
use cardmark_sim::{Model, SimMedium};
use serde_json::json;

use super::checking::{checked, lost};
use super::outcome::{exit_of, of_outcome};
use crate::drive::session::Session;
use crate::error::CommandError;
use crate::jobs::integrity::{Attempt, TestResult, model_fault, no_verdict, simulated_head};

/// The cut comes after at least this number of calls to the card: writes and flushes.
const LEAST_CALLS: u64 = 2_000;
/// Range of that number.
const CALLS_RANGE: u64 = 8_000;

pub(super) fn simulated(
    session: &Session<'_>,
    model: &Model,
    plan: &CutPlan,
) -> Result<TestResult, CommandError> {
    let mut medium = SimMedium::new(model, plan.seed()).with_limit(session.limit_ns());
    let asked = json!({
        "test": "power_cut",
        "places_count": plan.places_count(),
        "batch": plan.batch(),
    });
    let head = simulated_head(model, &asked, plan.seed());
    let failed = |medium: &SimMedium, trouble: Trouble| {
        let attempt = Attempt::new(&head, IntegrityTest::PowerCut);
        attempt.end(session, trouble, medium.moved_bytes(), model_fault(trouble))
    };
    let text = match log_of(&mut medium, plan) {
        Ok(text) => text,
        Err(trouble) => return failed(&medium, trouble),
    };
    medium.lose_power();
    medium.stop_after(None);
    let log = CutLog::read(&text);
    let cycle = log.cycles.last().ok_or_else(no_verdict)?;
    let mut check = CutCheck::new(*plan, cycle.acknowledged);
    while !check.is_done() {
        if let Err(trouble) = check.advance(&mut medium) {
            return failed(&medium, trouble);
        }
    }
    let outcome = check.outcome().ok_or_else(no_verdict)?;
    let mut totals = log.earlier();
    totals.add(&checked(plan, &outcome, true));
    let details = lost(cycle, &outcome);
    let record = of_outcome(head, plan, &outcome, &totals);
    Ok(TestResult {
        details,
        ..TestResult::keep(session, record, exit_of(&totals))
    })
}

/// Writes until the card loses power in the middle of a call. Returns the log.
fn log_of(medium: &mut SimMedium, plan: &CutPlan) -> Result<String, Trouble> {
    let mut course = PowerCut::new(*plan);
    let begin = CutBegin {
        plan: *plan,
        boot: None,
        disk: None,
        at: None,
    };
    let mut text = LogLine::Begin(begin).text();
    loop {
        let step = course.advance(medium);
        let at_ms = medium.now_ns() / 1_000_000;
        let line = match step {
            Ok(CutStep::Filled) => continue,
            Ok(CutStep::Ready) => {
                let mut drawn = Rng::for_part(plan.seed(), "power cut", 0);
                medium.stop_after(Some(LEAST_CALLS + drawn.below(CALLS_RANGE)));
                LogLine::Ready { at_ms }
            }
            Ok(CutStep::Acknowledged(number)) => LogLine::Acknowledged { number, at_ms },
            Err(Trouble::Stopped) => {
                let end = CutEnd::Gone;
                text.push_str(&LogLine::End { end, at_ms }.text());
                return Ok(text);
            }
            Err(trouble) => return Err(trouble),
        };
        text.push_str(&line.text());
    }
}
