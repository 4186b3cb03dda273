//! Check that storage still answers. A reader that hangs, or that the kernel has given up, answers every block
//! with an error, like a card with bad blocks: such errors are no verdict on the card.

use crate::{Content, Held, Medium, Span, Trouble};
use cardmark_core::Errno;

/// Reads single blocks until one of them is returned without an error, with any content.
///
/// # Errors
/// [`Trouble::OnlyErrors`] if none is.
pub(crate) fn still_answers(
    medium: &mut impl Medium,
    content: Content,
    blocks: &[u64],
) -> Result<(), Trouble> {
    let grain = medium.grain_blocks().max(1);
    let mut last_errno = Errno::NONE;
    for block in blocks {
        let start = block / grain * grain;
        let end = medium.blocks_count().min(start + grain);
        let answer = medium.read(Span::between(start, end), content)?;
        match answer.runs.first().map(|run| run.held) {
            Some(Held::Unreadable { errno }) => last_errno = errno,
            _ => return Ok(()),
        }
    }
    Err(Trouble::OnlyErrors { errno: last_errno })
}
