//! Suites that erase a card, in its history.

use cardmark_core::{Fill, Preparation, Record, Start, TargetKind, Trial};
use cardmark_engine::Plan;
use cardmark_host::Resolution;

use cardmark_store::PreparationId;

use crate::data::Data;
use crate::error::CommandError;
use crate::target::describe::now_text;
use crate::target::history::CardHistory;

/// An erasing that a suite begins with, in the card's history.
pub(super) struct Erasing {
    history: CardHistory,
    id: PreparationId,
    preparation: Preparation,
}

/// Notes that a suite is going to erase the card, where it is: what was done to it before holds no longer.
pub(super) fn begin_erasing(
    plan: &Plan,
    resolution: &Resolution,
    data: &Data,
) -> Result<Option<Erasing>, CommandError> {
    let erases = plan.workloads.iter().any(|workload| {
        workload.manner.start == Start::Erased && resolution.kind == TargetKind::Device
    });
    let (true, [disk]) = (erases, resolution.disks.as_slice()) else {
        return Ok(None);
    };
    let Some(mut history) = CardHistory::of(data, &disk.name)? else {
        return Ok(None);
    };
    let preparation = Preparation {
        fill: Fill::Discard,
        seed: None,
        started_at: now_text(),
        finished_at: None,
        size_bytes: disk.size_bytes.unwrap_or(0),
        done_bytes: 0,
    };
    let id = history.begin(&preparation)?;
    Ok(Some(Erasing {
        history,
        id,
        preparation,
    }))
}

impl Erasing {
    /// Notes the end, if a trial shows it.
    pub(super) fn finish(mut self, record: &Record) -> Result<(), CommandError> {
        let erased = |trial: &Trial| trial.workload.manner.start == Start::Erased;
        if record.trials.iter().any(erased) {
            self.preparation.finished_at = Some(now_text());
            self.history.note(self.id, &self.preparation)?;
        }
        Ok(())
    }
}
