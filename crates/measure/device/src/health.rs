//! Asks NVMe and SATA disks for their health.

use std::ffi::c_void;
use std::fs::File;
use std::path::Path;

use cardmark_cards::{SMART_LOG_BYTES, ata_health, nvme_health};
use cardmark_core::Health;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// Longest wait for an answer, milliseconds.
const PATIENCE_MS: u32 = 2000;

type Log = [u8; SMART_LOG_BYTES];

/// Returns the health that the disk at this path reports; `None` if it is neither NVMe nor SATA, reports no
/// health, or may not be queried by this user. Nothing is written and no medium is read.
#[must_use]
pub fn disk_health(path: &Path) -> Option<Health> {
    let name = path.file_name()?.to_str()?;
    let file = File::open(path).ok()?;
    if name.starts_with("nvme") {
        return Some(nvme_health(&nvme_log(&file)?));
    }
    if name.starts_with("sd") {
        return ata_health(
            &ata_table(&file, SMART_DATA)?,
            &ata_table(&file, SMART_THRESHOLDS)?,
        );
    }
    None
}

/// `struct nvme_admin_cmd` of `linux/nvme_ioctl.h`.
#[repr(C)]
#[derive(Default)]
struct NvmeCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_length: u32,
    data_length: u32,
    words_10_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

const NVME_ADMIN_COMMAND: Opcode = opcode::read_write::<NvmeCommand>(b'N', 0x41);
const GET_LOG_PAGE: u8 = 0x02;
const ALL_NAMESPACES: u32 = 0xFFFF_FFFF;
/// Page 2, and the number of words of four bytes less one.
const HEALTH_PAGE: u32 = 0x02 | (SMART_LOG_BYTES as u32 / 4 - 1) << 16;

fn nvme_log(file: &File) -> Option<Log> {
    let mut log = [0; SMART_LOG_BYTES];
    let command = NvmeCommand {
        opcode: GET_LOG_PAGE,
        namespace: ALL_NAMESPACES,
        address: log.as_mut_ptr() as u64,
        data_length: SMART_LOG_BYTES as u32,
        words_10_15: [HEALTH_PAGE, 0, 0, 0, 0, 0],
        timeout_ms: PATIENCE_MS,
        ..NvmeCommand::default()
    };
    // SAFETY: the opcode takes this structure, and the kernel writes at most `data_length` bytes
    // to `address`, which is a buffer of that size that outlives the call.
    let status = unsafe { ioctl(file, command) }.ok()?;
    // A status above zero is the device's refusal.
    (status == 0).then_some(log)
}

// Not one of the patterns of `rustix`: their result has no status.
// SAFETY: the opcode takes this structure, and the kernel may write to it.
unsafe impl rustix::ioctl::Ioctl for NvmeCommand {
    type Output = i32;
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        NVME_ADMIN_COMMAND
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self).cast()
    }

    unsafe fn output_from_ptr(
        out: rustix::ioctl::IoctlOutput,
        _: *mut c_void,
    ) -> rustix::io::Result<Self::Output> {
        Ok(out)
    }
}

/// `struct sg_io_hdr` of `scsi/sg.h`.
#[repr(C)]
struct ScsiRequest {
    interface_id: i32,
    direction: i32,
    command_length: u8,
    sense_length: u8,
    iovec_count: u16,
    data_length: u32,
    data: *mut c_void,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack_id: i32,
    user_pointer: *mut c_void,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residual: i32,
    duration_ms: u32,
    info: u32,
}

const SG_IO: Opcode = 0x2285;
const FROM_DEVICE: i32 = -3;
const SMART_DATA: u8 = 0xD0;
const SMART_THRESHOLDS: u8 = 0xD1;

/// One of the tables that `SMART` (command 0xB0) reads, through ATA PASS-THROUGH (16).
fn ata_table(file: &File, feature: u8) -> Option<Log> {
    let mut table = [0; SMART_LOG_BYTES];
    let mut sense = [0_u8; 32];
    // Protocol PIO in; one block from the device, counted in the sector count; the signature of
    // SMART in the middle and high bytes of the address.
    let command = [
        0x85, 0x08, 0x0E, 0, feature, 0, 1, 0, 0, 0, 0x4F, 0, 0xC2, 0, 0xB0, 0,
    ];
    let mut request = ScsiRequest {
        interface_id: i32::from(b'S'),
        direction: FROM_DEVICE,
        command_length: command.len() as u8,
        sense_length: sense.len() as u8,
        iovec_count: 0,
        data_length: SMART_LOG_BYTES as u32,
        data: table.as_mut_ptr().cast(),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: PATIENCE_MS,
        flags: 0,
        pack_id: 0,
        user_pointer: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: the opcode takes this structure; the kernel reads `command` and writes at most the lengths given
    // to `data` and `sense`, and all three outlive the call.
    let sent = unsafe { ioctl(file, Updater::<SG_IO, ScsiRequest>::new(&mut request)) };
    let is_done = sent.is_ok()
        && request.host_status == 0
        && request.status & !CHECK_CONDITION == 0
        && request.residual == 0;
    is_done.then_some(table)
}

/// Some bridges answer with sense data although all went well.
const CHECK_CONDITION: u8 = 0x02;
