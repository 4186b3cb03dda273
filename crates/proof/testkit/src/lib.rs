//! Rigs for tests: storage of every kind that misbehaves on demand, and the program under test.
//!
//! Everything a rig makes is removed when it is dropped, also on panic, and nothing else is touched. A test
//! declares its requirements with [`needs!`].
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a rig that cannot be set up fails its test; that is what panics are for"
)]

mod command;
mod database;
mod executable;
mod fuse_dir;
mod fuse_files;
mod loop_device;
mod mount;
mod needs;
mod nobody;
mod program;
mod rate_cap;
mod refusal;
mod rig;
mod sim_card;
mod starts;
mod switches;
pub mod trees;
mod volatile;
mod wall_clock;

pub use database::{damage_database, stored_documents};
pub use executable::{install, install_script};
pub use fuse_dir::FuseDir;
pub use loop_device::LoopDevice;
pub use mount::{Frozen, Mount};
pub use needs::{Need, are_met};
pub use nobody::run_as_nobody;
pub use program::{Output, Program, Running, killing_at_sync};
pub use rate_cap::RateCap;
pub use refusal::Refusal;
pub use rig::{Undo, WriterWatch, make_ext4, root_disk, run_tool};
pub use sim_card::SimCard;
pub use starts::{NoStarts, spawn};
pub use volatile::Syncs;
pub use wall_clock::{WallClock, wall_clock};
