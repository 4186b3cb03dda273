//! Whether storage holds what is written to it.
//!
//! Blocks of 512 bytes are written, each with content of its own ([`Content`]), and read back. What
//! is read tells what became of a block: it may hold its own content, that of another block, its own
//! with bits changed, or nothing of ours ([`Held`]). From where which of these stand follows what
//! kind of storage it is ([`judge()`]).
//!
//! [`Verify`] looks at every block, [`probe()`] at so many as say enough, [`Endure`] again and again.
//! [`anatomy()`] looks at what reads and writes take
//! instead. They reach storage through a port, [`Medium`].
//!
//! Pure: no file, clock, environment or random source.

mod anatomy;
mod answering;
mod block;
mod endure;
mod medium;
mod probe;
mod rehearsal;
mod restoring;
mod span;
mod surface;
mod verdict;
mod verify;

pub use anatomy::{AnatomyRequest, LEAST_UNIT_BYTES, Looked, anatomy, anatomy_bytes};
pub use block::{BLOCK_BYTES, Content, fill, is_borrowed_content, look};
pub use endure::{Endure, EndureEnd};
pub use medium::{Answer, Medium, Trouble};
pub use probe::{Probe, ProbeRequest, Progress, Stage, probe, wanted_bytes};
pub use rehearsal::rehearse;
pub use restoring::{Piece, Raw, Restoring, UndoLog};
pub use span::Span;
pub use surface::{Held, Run, Surface};
pub use verdict::{Verdict, judge};
pub use verify::{Pass, Speed, Verify};
