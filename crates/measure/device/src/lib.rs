//! Real storage: safe opening, aligned buffers, back ends for the engine's ports.
//!
//! The only crate with `unsafe`. Everything here is Linux; `io_uring` is used on 64-bit machines.

mod backend;
mod blocks;
mod buffer;
mod clock;
mod constants;
mod error;
mod fill;
mod folder;
mod health;
mod loop_file;
mod modified;
mod null;
mod object;
mod objects;
mod payload;
mod slot;
mod smartctl;
mod target;
mod threads;
mod undo;
#[cfg(target_pointer_width = "64")]
mod uring;

pub use backend::{CountersSource, RealBackend};
pub use blocks::{Blocks, BlocksPiece, can_discard};
pub use clock::MonotonicClock;
pub use constants::CONSTANTS;
pub use error::OpenError;
pub use fill::{FillContent, FillError, Filled, Filler};
pub use health::disk_health;
pub use loop_file::{LoopFile, loop_file};
pub use modified::ModifiedFiles;
pub use null::NullBackend;
pub use objects::empty_page_cache;
pub use smartctl::bridged_health;
pub use target::{
    OpenTarget, Room, TestFile, claim_device, free_bytes, open_device_for_writing,
    open_device_readonly, room,
};
pub use undo::FileLog;
