//! Integrity tests: does storage hold the data written to it?
//!
//! Blocks of 512 bytes are written, each with unique content ([`Content`]), and read back. A block may then
//! hold its own content, that of another block, its own with bits changed, or nothing of ours ([`Held`]). The
//! positions of these states determine the kind of storage ([`judge()`]).
//!
//! [`Verify`] checks every block, [`probe()`] a sample that is large enough, [`Endure`] writes and checks in
//! cycles. [`Reading`] writes nothing and reads every block twice. [`PowerCut`] writes numbered blocks before a power cut, and
//! [`CutCheck`] reads them after it. [`anatomy()`] evaluates the times of reads and writes instead. All of them access
//! storage through a port, [`Medium`].
//!
//! Pure: no file, clock, environment or random source.

mod anatomy;
mod answering;
mod block;
mod endure;
mod map;
mod medium;
mod part;
mod power_cut;
mod probe;
mod reading;
mod rehearsal;
mod restoring;
mod span;
mod surface;
mod verdict;
mod verify;

pub use anatomy::{AnatomyRequest, LEAST_UNIT_BYTES, Looked, anatomy, anatomy_bytes};
pub use block::{Content, fill, is_borrowed_content, look};
pub use endure::{Endure, EndureEnd};
pub use map::{Map, derive_again};
pub use medium::{Answer, Direction, Medium, Trouble, Unit};
pub use part::Part;
pub use power_cut::{
    Confirming, CutBegin, CutCheck, CutChecked, CutCycle, CutEnd, CutEvidence, CutLog, CutOutcome,
    CutPlan, CutStep, CutTotals, LogLine, LostWrite, MOST_WRITES, NoCut, PLACE_BLOCKS, PowerCut,
    Surroundings, WriteState, evidence,
};
pub use probe::{
    Probe, ProbeRequest, Progress, Stage, most_bytes, probe, read_bytes, usual_cache_blocks,
    wanted_bytes,
};
pub use reading::{Contents, Reading};
pub use rehearsal::rehearse;
pub use restoring::{Piece, Raw, Restoring, UndoLog};
pub use span::{BLOCK_BYTES, Span};
pub use surface::{Extent, Held, Surface};
pub use verdict::{StorageVerdict, judge};
pub use verify::{Load, Pass, Speed, Verify};
