//! Fixture trees: the files of boards that few people have at hand, and kinds of damage to them.

mod boards;
mod computers;
mod damage;
mod parts;
mod pis;
mod tree;

pub use boards::{
    PC_NVME, PI3_CARD, PI3_STICK, PI4_CARD, btrfs_two, pc_crypt, pi3_stick, pi4, pi4_loop,
    pi4_overlay,
};
pub use computers::{
    PC_READER, RK3399_CARD, VIRTUAL_DISK, emmc_board, pc_uas, pc_usb_storage, virtual_machine,
};
pub use damage::{Damage, Spoilt};
pub use pis::{
    PI5_CARD, PI5_NVME, ZERO_CARD, pi_zero, pi3_overclocked, pi4_ddr50, pi5_nvme, pi5_queue_off,
    pi5_queue_on,
};
pub use tree::Tree;

/// Returns every tree with complete files, by name.
pub fn whole() -> Vec<(&'static str, Tree)> {
    vec![
        ("pi_zero", pi_zero()),
        ("pi3_overclocked", pi3_overclocked()),
        ("pi4_ddr50", pi4_ddr50()),
        ("pi5_queue_on", pi5_queue_on()),
        ("pi5_queue_off", pi5_queue_off()),
        ("pi5_nvme", pi5_nvme()),
        ("pc_uas", pc_uas()),
        ("pc_usb_storage", pc_usb_storage()),
        ("emmc_board", emmc_board()),
        ("virtual_machine", virtual_machine()),
    ]
}
