//! Fixture trees: the files of boards that few people have at hand, and what can become of them.

mod boards;
mod damage;
mod machines;
mod tree;

pub use boards::{
    PC_NVME, PI3_CARD, PI3_STICK, PI4_CARD, btrfs_two, pc_crypt, pi3_stick, pi4, pi4_loop,
    pi4_overlay,
};
pub use damage::{Damage, Spoilt};
pub use machines::{
    EMMC_CARD, PC_READER, PI5_CARD, PI5_NVME, VIRTUAL_DISK, ZERO_CARD, emmc_board, pc_uas,
    pc_usb_storage, pi_zero, pi3_overclocked, pi4_ddr50, pi5_nvme, pi5_queue_off, pi5_queue_on,
    virtual_machine, whole,
};
pub use tree::Tree;
