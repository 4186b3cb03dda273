//! A campaign on this computer.

use std::path::Path;

use cardmark_host::{Root, read_board};
use cardmark_session::{CommandError, Data, Exit, journal_name, path_name, unusable};
use cardmark_store::{JobKind, Journal};

use crate::child::Child;
use crate::folder::{Done, Folder};
use crate::order::Progress;
use crate::request::CampaignRequest;
use crate::spec::{Campaign, SlotSpec};
use crate::tour::Tour;

/// Measures what is left of a campaign on this computer. Its journal names it until all is measured.
///
/// # Errors
/// If it is unclear which board this is, or the records cannot be read or written.
pub fn measure(
    campaign: &Campaign,
    folder: &Folder,
    request: &CampaignRequest<'_>,
) -> Result<Exit, CommandError> {
    let computer = read_board(&Root::system()).model;
    let boards = campaign.boards_here(request.board, computer.as_deref())?;
    // A broken store is reported at once, not after a card is measured.
    request.data.open()?;
    folder.make()?;
    let journal = begin(request.file, request.data)?;
    let child = Child::new(request.voice)?;
    let mut exit = Exit::Done;
    for &board in &boards {
        let mut tour = Tour::new(campaign, board, folder, request.data, &child, request);
        let ended = match &board.simulated {
            Some(_) => tour.simulate(),
            None => tour.lead(),
        };
        exit = exit.or_worse(ended?);
        if matches!(exit, Exit::Interrupted | Exit::Terminated) {
            let voice = request.voice;
            voice.notice("what was measured is kept; the same command goes on");
            return Ok(exit);
        }
    }
    let is_left = |board: &SlotSpec| {
        let done = folder.done(&campaign.title)?;
        Ok(!Progress::of(campaign, board, &done).left.is_empty())
    };
    let left: Result<Vec<bool>, CommandError> = boards.iter().map(|board| is_left(board)).collect();
    if !left?.contains(&true) {
        cardmark_session::finish(Some(journal))?;
    }
    Ok(exit)
}

/// Begins the journal, which names the campaign until all is measured. Its results are the records in the
/// folder.
fn begin(file: &Path, data: &Data) -> Result<Journal, CommandError> {
    let name = journal_name(&path_name(file, data)?, JobKind::Campaign);
    let target = file.display().to_string();
    let begun = data.begin(&name, JobKind::Campaign, &target, None);
    begun.map_err(|error| unusable(&error))
}

/// Progress of each card on each board.
pub fn plan(campaign: &Campaign, done: &[Done]) -> String {
    let mut lines = Vec::new();
    for board in &campaign.boards {
        let progress = Progress::of(campaign, board, done);
        let done_count = progress.all_count - progress.left.len();
        lines.push(format!(
            "{}: {done_count} of {} done",
            board.name, progress.all_count
        ));
        for card in &campaign.cards {
            let left = progress
                .left
                .iter()
                .filter(|visit| visit.card.name == card.name);
            let done_count = campaign.repeats as usize - left.count();
            let product = card.product.as_ref().map(|product| format!(" ({product})"));
            lines.push(format!(
                "  {}{}: {done_count} of {}",
                card.name,
                product.unwrap_or_default(),
                campaign.repeats
            ));
        }
        if let Some(next) = progress.left.first() {
            lines.push(format!("  next: {}", next.card.name));
        }
    }
    lines.join("\n") + "\n"
}
