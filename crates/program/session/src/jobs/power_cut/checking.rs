//! After the cut: are all acknowledged writes there?

use std::path::Path;
use std::sync::Arc;

use cardmark_core::IntegrityTest;
use cardmark_device::Blocks;
use cardmark_host::{Resolution, Root, boot_id, device_numbers};
use cardmark_integrity::{
    BLOCK_BYTES, CutCheck, CutChecked, CutCycle, CutEvidence, CutLog, CutOutcome, CutPlan, LogLine,
    LostWrite, NoCut, Surroundings, Trouble, WriteState, evidence,
};
use serde::Serialize;

use super::log_file::{LogWriter, named, read};
use super::outcome::{exit_of, of_outcome};
use super::request::{CutTarget, FOLDER};
use crate::drive::job::Job;
use crate::drive::session::Session;
use crate::drive::turn::Claim;
use crate::error::{CommandError, Exit};
use crate::gate::file::Destination;
use crate::jobs::integrity::{
    Attempt, Hint, TestFolder, TestResult, ended_early, head, no_verdict,
};
use crate::voice::Voice;

/// Reads everything back after a power cut, and compares it with the log.
///
/// # Errors
/// If log or files are missing, or it cannot be told whether there was a cut.
pub fn check_power_cut(
    session: &Session<'_>,
    name: &str,
    target: &CutTarget,
    log: &Destination,
) -> Result<TestResult, CommandError> {
    let CutTarget::Directory { path, resolution } = target else {
        let what = format!("`{name}` is simulated: it is cut and checked in one go");
        return Err(CommandError::new(Exit::Usage, what).hint("leave out `--check`"));
    };
    let known = CutLog::read(&read(log)?);
    let cycle = known.cycles.last().ok_or_else(|| {
        let what = format!("`{}` holds no power-cut test", named(log).display());
        CommandError::new(Exit::Trouble, what).hint("name the log that the test wrote")
    })?;
    if known.broken_lines > 0 {
        let count = known.broken_lines;
        session.voice.notice(&format!(
            "{count} lines of the log are broken and acknowledge nothing"
        ));
    }
    let files = path.join(FOLDER);
    let plan = cycle.begin.plan;
    let has_end_mark = find_files(&files, &plan)?;
    let root = Root::system();
    let now = Surroundings {
        boot: boot_id(&root),
        disk: device_numbers(&root, resolution),
        has_end_mark,
    };
    let seen = evidence(cycle, &now);
    if seen == Err(NoCut::NothingAcknowledged) {
        return Err(cannot_tell(NoCut::NothingAcknowledged));
    }
    let head = head(
        resolution,
        session.data,
        plan.seed(),
        plan.blocks_count() * BLOCK_BYTES as u64,
    )?;
    let outcome = read_back(
        session,
        &files,
        cycle,
        &Claim::untimed("power-cut", name, resolution),
        &Attempt::new(&head, IntegrityTest::PowerCut),
    )?;
    let checked = checked(&plan, &outcome, seen.is_ok());
    tell(session.voice, resolution, cycle, &outcome, seen)?;
    let mut totals = known.earlier();
    totals.add(&checked);
    keep_check(session.voice, log, checked);
    let record = of_outcome(head, &plan, &outcome, &totals);
    Ok(TestResult {
        details: lost(cycle, &outcome),
        ..TestResult::keep(session, record, exit_of(&totals))
    })
}

/// Finds the files of that cycle. Returns whether they have the mark of an orderly end.
fn find_files(files: &Path, plan: &CutPlan) -> Result<bool, CommandError> {
    let hint = "is it the card of the last test in this log? If its filesystem was damaged, check it first";
    match TestFolder::mark_of(files) {
        Some((seed, has_ended)) if seed == plan.seed() => Ok(has_ended),
        Some(_) => {
            let what = format!("`{}` belongs to another test", files.display());
            Err(CommandError::new(Exit::Trouble, what).hint(hint))
        }
        None => {
            let what = format!("`{}` holds no files of a test", files.display());
            Err(CommandError::new(Exit::Trouble, what).hint(hint))
        }
    }
}

fn read_back(
    session: &Session<'_>,
    files: &Path,
    cycle: &CutCycle,
    claim: &Claim,
    attempt: &Attempt,
) -> Result<CutOutcome, CommandError> {
    let plan = cycle.begin.plan;
    let pulse = Arc::clone(&session.pulse);
    let mut blocks = Blocks::in_folder_readonly(files, plan.blocks_count(), pulse)
        .map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
    let mut check = CutCheck::new(plan, cycle.acknowledged);
    let rescue = Hint {
        hint: "nothing was written; the same command checks again",
    };
    let (driven, signal) = session.watched(attempt.saving(session, rescue), || {
        session.drive(claim, &mut check, &mut blocks, None)
    })?;
    driven.map_err(|trouble| {
        let error = ended_early(trouble, signal, "the same command begins again");
        attempt.note(session, trouble, session.pulse.moved_bytes(), error)
    })?;
    check.outcome().ok_or_else(no_verdict)
}

impl Job for CutCheck {
    type Io = Blocks;
    type Error = Trouble;

    fn step(&mut self, blocks: &mut Blocks) -> Result<(), Trouble> {
        self.advance(blocks)
    }

    fn is_done(&self) -> bool {
        Self::is_done(self)
    }

    fn moved_bytes(&self) -> (u64, u64) {
        let (read, all) = self.read_blocks();
        (read * BLOCK_BYTES as u64, all * BLOCK_BYTES as u64)
    }

    // Nothing is kept: reading takes seconds.
    fn state(&self) -> &impl Serialize {
        &()
    }
}

/// Returns the line of a check.
pub(super) fn checked(plan: &CutPlan, outcome: &CutOutcome, is_cut: bool) -> CutChecked {
    CutChecked {
        seed: plan.seed(),
        is_cut,
        acknowledged: outcome.acknowledged,
        lost: u32::try_from(outcome.lost.len()).unwrap_or(u32::MAX),
        collateral: outcome.collateral,
    }
}

/// Adds the result to the log, so that later cuts can be counted with it.
fn keep_check(voice: &dyn Voice, log: &Destination, checked: CutChecked) {
    let line = LogLine::Checked(checked);
    if !matches!(log, Destination::File(_)) {
        let text = line.text();
        voice.notice(&format!(
            "to count this cut with later ones, append this line to the log: {}",
            text.trim_end()
        ));
        return;
    }
    let kept = LogWriter::open(log).map(|mut log| log.append(&line).is_ok());
    if !kept.is_ok_and(|kept| kept) {
        voice.notice(
            "warning: the result cannot be added to the log; later checks will not count it",
        );
    }
}

/// Shows the signs of a cut, and what is neither kept nor lost.
fn tell(
    voice: &dyn Voice,
    resolution: &Resolution,
    cycle: &CutCycle,
    outcome: &CutOutcome,
    seen: Result<CutEvidence, NoCut>,
) -> Result<(), CommandError> {
    let is_whole = outcome.lost.is_empty() && outcome.collateral == 0;
    let sign = match seen {
        Ok(CutEvidence::Gone) => "the device disappeared while it was written",
        Ok(CutEvidence::Restarted) => {
            "the log breaks off, and the system was started again, or this is another computer"
        }
        Ok(CutEvidence::Reattached) => "the log breaks off, and the device was attached again",
        Err(no_cut) if is_whole => return Err(cannot_tell(no_cut)),
        Err(_) => {
            "none; the losses below need another explanation than a power cut, or it was not noticed"
        }
    };
    voice.notice(&format!("sign of a power cut: {sign}"));
    let filesystem = resolution.filesystem.as_deref().unwrap_or("unknown");
    voice.notice(&format!(
        "filesystem: {filesystem}; {} acknowledged writes in {} s; {} were the last of their place and could be \
         checked",
        outcome.acknowledged,
        cycle.last_ms / 1000,
        outcome.checked
    ));
    if outcome.torn > 0 || outcome.unacknowledged > 0 {
        voice.notice(&format!(
            "not acknowledged, which is no loss: {} writes are there, {} are partly there",
            outcome.unacknowledged, outcome.torn
        ));
    }
    Ok(())
}

/// Returns a line for each lost write, the last one first.
pub(super) fn lost(cycle: &CutCycle, outcome: &CutOutcome) -> Vec<String> {
    let line = |lost: &LostWrite| {
        let before = cycle.before_last_ms(lost.number);
        let before = before.map(|ms| {
            let seconds = ms as f64 / 1e3;
            format!(", acknowledged {seconds:.3} s before the last one")
        });
        let state = match lost.state {
            WriteState::Old => "an older write is there",
            WriteState::Torn | WriteState::Kept => "only a part of it is there",
            WriteState::Changed => "bits of it are changed",
            WriteState::Foreign => "something else is there",
            WriteState::Unreadable => "it cannot be read",
        };
        let before = before.unwrap_or_default();
        format!("lost: write {}{before}: {state}", lost.number)
    };
    outcome.lost.iter().rev().map(line).collect()
}

fn cannot_tell(no_cut: NoCut) -> CommandError {
    let why = match no_cut {
        NoCut::NothingAcknowledged => "no write was acknowledged before the end",
        NoCut::Ended => "the test was ended before any power cut",
        NoCut::StayedOn => {
            "neither the system was started again nor the device attached again since"
        }
        NoCut::Unknown => "neither the start of the system nor the device is known",
    };
    CommandError::new(
        Exit::Trouble,
        "cannot tell whether the card keeps what it acknowledges",
    )
    .because(format!("no power cut was seen: {why}"))
    .hint("begin again without `--check`, and cut the power while it writes")
}
