//! Checks of runs.

use cardmark_catalog::explanation;
use cardmark_report::document::Block;
use cardmark_share::CheckName;

use crate::frame::Page;

/// The checks and what they cannot show.
pub fn checks() -> Page {
    let mut blocks = vec![Block::Text(
        "Every run is checked before it is accepted. A failed check quarantines it: its page and the reasons stay, and it counts nowhere. \
         With `not counted` it is listed, and no figure of a product counts it. A mark changes nothing else. No check is a proof."
            .to_owned(),
    )];
    for known in CheckName::ALL
        .into_iter()
        .filter_map(|name| explanation(&name.term()))
    {
        blocks.push(Block::Heading(known.title.clone()));
        blocks.push(Block::Text(known.text.clone()));
    }
    let about = "How runs are checked, and what a check cannot show.";
    Page::new("Checks", about, blocks).link("As data", "/api/v1/checks")
}
