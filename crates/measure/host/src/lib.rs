//! Reads the host: the disk below a directory, the counters of the block layer, the board and its temperature.
//! Reads only; nothing here writes.
//!
//! Every reader takes a [`Root`], so that fixture trees of boards that are not at hand can be read like the
//! running system. Files that a board lacks are left out, never an error.

mod backing;
mod block;
mod board;
mod boot;
mod card;
mod constants;
mod controller;
mod counters;
mod devices;
mod filesystems;
mod firmware;
mod identity;
mod load;
mod log;
mod look;
mod machine;
mod messages;
mod mounts;
mod openers;
mod pcie;
mod places;
mod power;
mod presence;
mod reader;
mod registers;
mod resolve;
mod root;
mod sensors;
mod slot;
mod stack;
mod system;
mod usage;
mod usb;
mod uses;
mod walk;
mod writers;

pub use backing::{AskLoop, LoopBacking, loop_backing_by_path};
pub use board::{read_board, read_host};
pub use card::{CardIdentity, card_identity};
pub use constants::CONSTANTS;
pub use counters::CounterReader;
pub use devices::{block_devices, device_info};
pub use identity::{DiskIdentity, Partition, disk_identity};
pub use load::LoadReader;
pub use log::{KernelLog, LogAccess, LogLine, parse_record};
pub use look::read_look;
pub use messages::{log_names, storage_message};
pub use places::{MountedDirectory, mounted_directories};
pub use presence::{boot_id, device_numbers};
pub use registers::{RegisterTexts, register_texts};
pub use resolve::{ResolveError, resolve};
pub use root::Root;
pub use sensors::HostSensors;
pub use slot::{mmc_host, parse_new_card, parse_state};
pub use system::holds_system;
pub use usage::usage;
pub use usb::offers_uas;
pub use uses::{MadeKind, Use};
pub use walk::Resolution;
pub use writers::process_writes;
