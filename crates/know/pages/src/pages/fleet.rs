//! The boards of a fleet, the worst first: the answer of `cardmark fleet`.

use cardmark_core::Record;
use cardmark_judge::{LastLook, SILENT_DAYS, cards_of, fleet};
use cardmark_report::fleet_blocks;

use crate::addresses;
use crate::frame::Page;

/// The page of the boards that these runs, in the order of storing, and looks name. `now_s` is in seconds since 1970.
#[must_use]
pub fn page(runs: &[Record], looks: &[(String, LastLook)], now_s: u64) -> Page {
    let cards = cards_of(runs);
    let boards = fleet(&cards, looks, now_s, SILENT_DAYS);
    let address = |run: &Record| Some(addresses::run(run.id));
    let about = "Boards by their names, the worst first.";
    Page::new("Fleet", about, fleet_blocks(&boards, address))
}
