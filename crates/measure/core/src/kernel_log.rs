//! Meaning of lines of the kernel's log about storage.
//!
//! The block layer reports a failed request by status and operation. Both are needed: a device that does not support an
//! optional operation, such as writing zeroes, refuses it, and the kernel goes on without it. Other lines are judged by
//! their words.

use serde::{Deserialize, Serialize};

/// Kind of trouble that a line reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelTrouble {
    /// The way to the device: a reset, a timeout, a disconnect, an error on the bus.
    Link,
    /// Data: a failed read, write or flush, or a damaged filesystem.
    Data,
}

/// Trouble by the operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelFault {
    /// A read failed.
    Read,
    /// A write failed.
    Write,
    /// A flush failed.
    Flush,
    /// An operation failed that the line does not name; often a further line about one that another line names.
    Operation,
    /// A filesystem found damage, or stopped.
    Filesystem,
    /// A filesystem was made read-only after an error.
    ReadOnly,
    /// Other trouble with data, which a retry may have mended, or a request that the device refused.
    Data,
    /// The way to the device: a reset, a timeout, a disconnect, an error on the bus.
    Link,
}

/// Class of a block layer operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperationClass {
    /// Moves data.
    Data,
    /// Makes data durable; a device without a cache may refuse it.
    Flush,
    /// May be refused without loss: another way exists, or another program asked for it.
    Optional,
}

/// Class of a status of the block layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatusClass {
    /// The device or a driver does not support the operation, or not with these parameters.
    Refusal,
    /// Any reason. Loop devices of Linux 5.2 to 5.7 report an operation that is not supported in this way.
    Unspecific,
    /// The medium, or the way to it, failed.
    Failure,
    /// The way to it failed.
    Link,
    /// The host repeats the request or lacks memory; the device is not the cause.
    Host,
}

/// Operations by the names in messages since Linux 5.4, with the numbers that the flags of Linux 4.20 to 5.3 contain.
/// Source: Linux `block/blk-core.c` (`blk_op_name`), `include/linux/blk_types.h` (`enum req_opf`), v4.20 to v6.12.
static OPERATIONS: [OperationRow; 20] = {
    use OperationClass::{Data, Flush, Optional};
    [
        ("READ", Some(0), Data),
        ("WRITE", Some(1), Data),
        ("FLUSH", Some(2), Flush),
        ("DISCARD", Some(3), Optional),
        ("SECURE_ERASE", Some(5), Optional),
        ("ZONE_RESET", Some(6), Optional),
        ("WRITE_SAME", Some(7), Optional),
        ("WRITE_ZEROES", Some(9), Optional),
        ("ZONE_APPEND", None, Data),
        ("ZONE_RESET_ALL", Some(8), Optional),
        ("ZONE_OPEN", None, Optional),
        ("ZONE_CLOSE", None, Optional),
        ("ZONE_FINISH", None, Optional),
        ("ZONE_REPORT", Some(4), Optional),
        ("SCSI_IN", Some(32), Optional),
        ("SCSI_OUT", Some(33), Optional),
        ("DRV_IN", Some(34), Optional),
        ("DRV_OUT", Some(35), Optional),
        ("REQ_OP_DISCARD", None, Optional),
        ("REQ_OP_WRITE_ZEROES", None, Optional),
    ]
};

/// Status words. Source: Linux `block/blk-core.c` (`blk_errors`; before 4.13 in `blk_update_request`), v4.4 to v6.12.
const STATUSES: [(&str, StatusClass); 20] = {
    use StatusClass::{Failure, Host, Link, Refusal, Unspecific};
    [
        ("operation not supported", Refusal),
        ("critical target", Refusal),
        ("invalid", Refusal),
        ("I/O", Unspecific),
        ("critical medium", Failure),
        ("protection", Failure),
        ("critical space allocation", Failure),
        ("critical nexus", Failure),
        ("reservation conflict", Failure),
        ("timeout", Link),
        ("recoverable transport", Link),
        ("device offline", Link),
        ("kernel resource", Host),
        ("device resource", Host),
        ("nonblocking retry", Host),
        ("dm internal retry", Host),
        ("zone resource", Host),
        ("open zones exceeded", Host),
        ("active zones exceeded", Host),
        ("duration limit exceeded", Host),
    ]
};

/// Sense keys of SCSI by name. Source: Linux `drivers/scsi/constants.c` (`snstext`), SPC-4 table 28.
const SENSE_KEYS: [(&str, Option<KernelTrouble>); 14] = {
    use KernelTrouble::{Data, Link};
    [
        ("No Sense", None),
        ("Recovered Error", Some(Data)),
        ("Not Ready", Some(Link)),
        ("Medium Error", Some(Data)),
        ("Hardware Error", Some(Data)),
        ("Illegal Request", None),
        ("Unit Attention", None),
        ("Data Protect", Some(Data)),
        ("Blank Check", Some(Data)),
        ("Copy Aborted", None),
        ("Aborted Command", Some(Link)),
        ("Volume Overflow", Some(Data)),
        ("Miscompare", Some(Data)),
        ("Completed", None),
    ]
};

/// Words, or beginnings of words, of other lines about data, in lower case.
const DATA_WORDS: &str = "i/o error, corrupt, csum failed, lost, read-only, medium error, unrecovered, \
    aborting journal, ext4-fs error, btrfs error, btrfs critical, f2fs-fs error, \
    transferring data";
/// Those of lines about the way to the device.
const LINK_WORDS: &str = "abort, broken, crc, dead, disconnect, error, exception, fail, hung, hw reset, \
    hardware interrupt, no response, not responding, not ready, offline, recovery, removed, \
    reset, retry, retries, stall, stuck, timed out, timeout, timing out, unable, unaligned";

/// Parts of lines that are no news though they hold such a word: reports of start and mount, capabilities that are
/// absent, and errors of another time.
const NO_NEWS: &[&str] = &[
    "mounted filesystem",
    "unmounting ",
    "re-mounted",
    "errors=",
    // ext4 reports the errors in its superblock once a day.
    "error count since last fsck",
    "initial error at time",
    "last error at time",
    "SerialNumber",
    "Product:",
    "Manufacturer:",
    "recovery complete",
    "recovery required",
    "during recovery",
    "Starting recovery",
    "Ending recovery",
    "Command Queue Engine enabled",
    " card at address ",
    "read-only switch",
    "Asking for cache data failed",
    "Test WP failed",
    "was not properly unmounted",
    "BTRFS info",
];

/// Error numbers of a refusal, as filesystems print them: EINVAL, EOPNOTSUPP, EREMOTEIO.
const REFUSALS: [&str; 3] = ["-22", "-95", "-121"];

/// Returns the trouble that a line of the kernel's log reports; `None` if it reports none.
pub fn kernel_trouble(line: &str) -> Option<KernelTrouble> {
    if let Some((status, operation)) = block_message(line) {
        return trouble_of(status_class(status), operation_class(&operation));
    }
    if let Some((_, key)) = line.split_once("Sense Key : ") {
        let known = SENSE_KEYS.iter().find(|(name, _)| key.starts_with(name));
        return known.map_or(Some(KernelTrouble::Link), |(_, trouble)| *trouble);
    }
    let is_answered = line.contains("hostbyte=DID_OK") || line.contains("hostbyte=0x00");
    // The device answered with a sense key, which the next line holds.
    if is_answered || is_refused_discard(line) || NO_NEWS.iter().any(|part| line.contains(part)) {
        return None;
    }
    let lower = line.to_lowercase();
    let is_any = |words: &str| words.split(", ").any(|word| begins_word(&lower, word));
    if is_any(DATA_WORDS) {
        return Some(KernelTrouble::Data);
    }
    is_any(LINK_WORDS).then_some(KernelTrouble::Link)
}

/// Words in lower case with which lines of filesystems begin.
const FILESYSTEMS: [&str; 9] = [
    "ext2-fs", "ext3-fs", "ext4-fs", "jbd2", "f2fs-fs", "btrfs", "fat-fs", "exfat-fs", "xfs",
];
/// Words of a line about a filesystem that reports damage, although it is not about data in general.
const DAMAGE_WORDS: &str = "error, corrupt, forced readonly";

/// Returns the operation for which a line of the kernel's log reports trouble; `None` if it reports none. Counts of
/// reads, writes and flushes are those of the block layer; other lines about the same failure have other kinds.
pub fn kernel_fault(line: &str) -> Option<KernelFault> {
    let trouble = kernel_trouble(line)?;
    if let Some((status, operation)) = block_message(line) {
        let is_refused = status_class(status) == StatusClass::Refusal;
        return Some(match (trouble, operation_name(&operation)) {
            (KernelTrouble::Link, _) => KernelFault::Link,
            // Some readers report a sector more than they have, and the kernel looks for a table there.
            (_, Some("READ")) if is_refused => KernelFault::Data,
            (_, Some("READ")) => KernelFault::Read,
            (_, Some("WRITE" | "ZONE_APPEND")) => KernelFault::Write,
            (_, Some("FLUSH")) => KernelFault::Flush,
            (_, None) => KernelFault::Operation,
            (_, Some(_)) => KernelFault::Data,
        });
    }
    let lower = line.to_lowercase();
    let is_any = |words: &str| words.split(", ").any(|word| begins_word(&lower, word));
    let is_stop = is_any("remounting filesystem read-only, filesystem has been set read-only");
    let is_filesystem =
        FILESYSTEMS.iter().any(|name| lower.starts_with(name)) || is_any("aborting journal");
    Some(match trouble {
        _ if is_stop => KernelFault::ReadOnly,
        _ if lower.starts_with("buffer i/o error") && lower.ends_with(" page write") => {
            KernelFault::Operation
        }
        KernelTrouble::Data if is_filesystem => KernelFault::Filesystem,
        KernelTrouble::Link if is_filesystem && is_any(DAMAGE_WORDS) => KernelFault::Filesystem,
        KernelTrouble::Data => KernelFault::Data,
        KernelTrouble::Link => KernelFault::Link,
    })
}

/// A filesystem that reports a discard refused by the device.
fn is_refused_discard(line: &str) -> bool {
    let is_refusal = |number: &str| REFUSALS.contains(&number.trim_end_matches([',', '.']));
    line.contains("discard") && line.split_whitespace().any(is_refusal)
}

fn begins_word(line: &str, word: &str) -> bool {
    let mut found = line.match_indices(word);
    found.any(|(at, _)| !line[..at].ends_with(char::is_alphanumeric))
}

/// Operation of a request, as a message names it.
#[derive(Debug, PartialEq, Eq)]
enum Operation<'a> {
    Named(&'a str),
    Numbered(u64),
    Absent,
}

/// Returns status and operation of a message of the block layer:
/// `[FUNCTION: ]STATUS error, dev NAME, sector N[ op 0xN:(NAME)][ flags N]…`.
fn block_message(line: &str) -> Option<(&str, Operation<'_>)> {
    let (before, after) = line.split_once(" error, dev ")?;
    let (_, request) = after.split_once(", sector ")?;
    let status = before
        .rsplit_once(": ")
        .map_or(before, |(_, status)| status);
    let named = request.split_once(" op ").and_then(|(_, op)| {
        let (_, name) = op.split_once('(')?;
        Some(name.split_once(')')?.0)
    });
    let operation = match (named, flags_operation(request)) {
        (Some(name), _) => Operation::Named(name),
        (None, Some(number)) => Operation::Numbered(number),
        (None, None) => Operation::Absent,
    };
    Some((status.trim(), operation))
}

/// Number of the operation in the lowest byte of the flags of Linux 4.20 to 5.3, hexadecimal without a prefix.
fn flags_operation(request: &str) -> Option<u64> {
    let (_, flags) = request.split_once(" flags ")?;
    let flags = flags.split_whitespace().next()?;
    Some(u64::from_str_radix(flags, 16).ok()? & 0xff)
}

type OperationRow = (&'static str, Option<u64>, OperationClass);

fn operation_row(operation: &Operation<'_>) -> Option<&'static OperationRow> {
    OPERATIONS.iter().find(|row| match operation {
        Operation::Named(name) => row.0 == *name,
        Operation::Numbered(number) => row.1 == Some(*number),
        Operation::Absent => false,
    })
}

fn operation_name(operation: &Operation<'_>) -> Option<&'static str> {
    operation_row(operation).map(|row| row.0)
}

fn operation_class(operation: &Operation<'_>) -> OperationClass {
    operation_row(operation).map_or(OperationClass::Data, |row| row.2)
}

fn status_class(status: &str) -> StatusClass {
    let known = STATUSES.iter().find(|(name, _)| *name == status);
    known.map_or(StatusClass::Unspecific, |(_, class)| *class)
}

fn trouble_of(status: StatusClass, operation: OperationClass) -> Option<KernelTrouble> {
    match (status, operation) {
        (StatusClass::Host, _)
        | (StatusClass::Refusal, OperationClass::Flush | OperationClass::Optional)
        | (StatusClass::Unspecific, OperationClass::Optional) => None,
        (StatusClass::Link, OperationClass::Optional) => Some(KernelTrouble::Link),
        _ => Some(KernelTrouble::Data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of Linux 3.12 to 6.12: of reports of errors by users, and made with the formats in the sources of the kernel.
    const REAL: &[(&str, Option<KernelTrouble>)] = {
        const DATA: Option<KernelTrouble> = Some(KernelTrouble::Data);
        const LINK: Option<KernelTrouble> = Some(KernelTrouble::Link);
        &[
            (
                "end_request: critical target error, dev sdc, sector 2048",
                DATA,
            ),
            ("end_request: I/O error, dev sda, sector 1044921936", DATA),
            (
                "blk_update_request: critical medium error, dev sdb, sector 4096",
                DATA,
            ),
            (
                "print_req_error: I/O error, dev mmcblk0, sector 30449664",
                DATA,
            ),
            (
                "print_req_error: I/O error, dev sdb, sector 0 flags 80700",
                DATA,
            ),
            (
                "print_req_error: critical target error, dev sda, sector 2048 flags 8801",
                DATA,
            ),
            (
                "print_req_error: critical target error, dev sdb, sector 2048 flags 803",
                None,
            ),
            (
                "print_req_error: I/O error, dev loop0, sector 2 flags 809",
                None,
            ),
            (
                "blk_update_request: I/O error, dev sdb, sector 8 op 0x1:(WRITE) flags 0x0 phys_seg 1 prio class 0",
                DATA,
            ),
            (
                "blk_update_request: I/O error, dev loop6, sector 522 op 0x9:(WRITE_ZEROES) flags 0x1000800 phys_seg 0 prio class 0",
                None,
            ),
            (
                "blk_update_request: operation not supported error, dev vdb, sector 826298624 op 0x9:(WRITE_ZEROES) flags 0x800 phys_seg 0 prio class 0",
                None,
            ),
            (
                "operation not supported error, dev loop2, sector 16906 op 0x9:(WRITE_ZEROES) flags 0x9000800 phys_seg 0 prio class 2",
                None,
            ),
            (
                "critical target error, dev sdb, sector 3778028504 op 0x3:(DISCARD) flags 0x800 phys_seg 1 prio class 2",
                None,
            ),
            (
                "critical medium error, dev sda, sector 124 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2",
                DATA,
            ),
            (
                "I/O error, dev mmcblk0, sector 0 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2",
                DATA,
            ),
            (
                "timeout error, dev sdb, sector 0 op 0x3:(DISCARD) flags 0x800 phys_seg 1 prio class 2",
                LINK,
            ),
            (
                "sd 2:0:0:0: [sdb] tag#0 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK cmd_age=0s",
                None,
            ),
            (
                "sd 2:0:0:0: [sdb] tag#0 FAILED Result: hostbyte=DID_NO_CONNECT driverbyte=DRIVER_OK cmd_age=0s",
                LINK,
            ),
            (
                "sd 2:0:0:0: [sdb] tag#0 FAILED Result: hostbyte=DID_ERROR driverbyte=DRIVER_OK cmd_age=0s",
                LINK,
            ),
            (
                "sd 2:0:0:0: [sdb] tag#0 Sense Key : Illegal Request [current]",
                None,
            ),
            (
                "sd 2:0:0:0: [sdb] tag#0 Sense Key : Medium Error [current]",
                DATA,
            ),
            (
                "sd 2:0:0:0: [sdb] tag#0 Sense Key : Unit Attention [current]",
                None,
            ),
            (
                "sd 2:0:0:0: [sdb] tag#0 Add. Sense: Invalid command operation code",
                None,
            ),
            (
                "sd 2:0:0:0: [sdb] tag#0 Add. Sense: Unrecovered read error",
                DATA,
            ),
            (
                "sd 2:0:0:0: [sdb] tag#0 CDB: Unmap/Read sub-channel 42 00 00 00 00 00 00 00 18 00",
                None,
            ),
            ("sd 2:0:0:0: [sdb] Asking for cache data failed", None),
            (
                "sd 2:0:0:0: [sdb] tag#5 uas_eh_abort_handler 0 uas-tag 6 inflight: CMD OUT",
                LINK,
            ),
            (
                "Buffer I/O error on dev mmcblk0p2, logical block 0, lost async page write",
                DATA,
            ),
            ("Buffer I/O error on device sdc1, logical block 0", DATA),
            (
                "usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd",
                LINK,
            ),
            ("usb 1-1.2: USB disconnect, device number 5", LINK),
            ("usb 1-1: device descriptor read/64, error -110", LINK),
            ("mmc0: Timeout waiting for hardware interrupt.", LINK),
            ("mmc0: running CQE recovery", LINK),
            (
                "mmc0: host does not support reading read-only switch, assuming write-enable",
                None,
            ),
            ("mmc0: new high speed SDHC card at address aaaa", None),
            ("mmc0: card aaaa removed", LINK),
            (
                "mmcblk0: error -110 transferring data, sector 1224, nr 8, cmd response 0x900, card status 0xc00",
                DATA,
            ),
            ("mmcblk0: error -110 sending status command, retrying", LINK),
            (
                "EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: reading directory lblock 0",
                DATA,
            ),
            ("EXT4-fs (sda1): Remounting filesystem read-only", DATA),
            (
                "EXT4-fs (sda1): discard request in group:3 block:128 count:16 failed with -121",
                None,
            ),
            (
                "EXT4-fs (sda1): discard request in group:3 block:128 count:16 failed with -5",
                LINK,
            ),
            (
                "EXT4-fs (sda1): mounting with \"discard\" option, but the device does not support discard",
                None,
            ),
            (
                "EXT4-fs (sda1): INFO: recovery required on readonly filesystem",
                None,
            ),
            ("EXT4-fs (sda1): recovery complete", None),
            ("Aborting journal on device sda1-8.", DATA),
            (
                "BTRFS error (device sda1): bdev errs: wr 1, rd 0, flush 0, corrupt 0, gen 0",
                DATA,
            ),
            (
                "BTRFS warning (device sda1): csum failed root 5 ino 257 off 0 csum 0x8941f998 expected csum 0xb",
                DATA,
            ),
            (
                "BTRFS info (device sda1): bdev errs: wr 0, rd 0, flush 0, corrupt 2, gen 0",
                None,
            ),
            (
                "FAT-fs (sda1): Volume was not properly unmounted. Some data may be corrupt. Please run fsck.",
                None,
            ),
            (
                "nvme0n1: I/O Cmd(0x2) @ LBA 8, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81)",
                DATA,
            ),
            ("nvme nvme0: I/O 12 QID 3 timeout, completion polled", LINK),
        ]
    };

    #[test]
    fn real_messages_are_told_by_operation_and_status() {
        for (line, expected) in REAL {
            assert_eq!(kernel_trouble(line), *expected, "{line}");
        }
    }

    /// The message of each kernel for a status and an operation; `None` if it cannot name the operation.
    fn messages(status: &str, name: &str, number: Option<u64>) -> Vec<String> {
        let mut all = vec![
            format!(
                "blk_update_request: {status} error, dev sdb, sector 8 op 0x1:({name}) flags 0x800 phys_seg 1 prio class 0"
            ),
            format!(
                "{status} error, dev sdb, sector 8 op 0x1:({name}) flags 0x80700 phys_seg 1 prio class 2"
            ),
        ];
        all.extend(number.map(|number| {
            let flags = 0x80800 | number;
            format!("print_req_error: {status} error, dev sdb, sector 8 flags {flags:x}")
        }));
        all
    }

    /// An independent statement of the rule, over all operations and statuses in all forms.
    #[test]
    fn of_all_operations_and_statuses_only_refusals_and_host_troubles_are_no_news() {
        let host = ["retry", "resource", "exceeded"];
        let moves_data = ["READ", "WRITE", "ZONE_APPEND", "FLUSH"];
        let refuses = ["operation not supported", "critical target", "invalid"];
        for (status, _) in STATUSES {
            for (name, number, _) in OPERATIONS {
                let is_quiet = host.iter().any(|word| status.ends_with(word))
                    || (!moves_data.contains(&name)
                        && (refuses.contains(&status) || status == "I/O"))
                    || (name == "FLUSH" && refuses.contains(&status));
                for line in messages(status, name, number) {
                    assert_eq!(kernel_trouble(&line).is_none(), is_quiet, "{line}");
                }
            }
        }
    }

    #[test]
    fn a_fault_names_the_operation_that_failed() {
        use KernelFault::{Data, Filesystem, Flush, Link, Operation, Read, ReadOnly, Write};
        for (line, fault) in [
            (
                "I/O error, dev mmcblk0, sector 0 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2",
                Some(Read),
            ),
            (
                "blk_update_request: I/O error, dev sdb, sector 8 op 0x1:(WRITE) flags 0x0 phys_seg 1",
                Some(Write),
            ),
            (
                "I/O error, dev mmcblk0, sector 0 op 0x2:(FLUSH) flags 0x800",
                Some(Flush),
            ),
            (
                "print_req_error: I/O error, dev mmcblk0, sector 30449664",
                Some(Operation),
            ),
            (
                "critical target error, dev sda, sector 62333951 op 0x0:(READ) flags 0x0 phys_seg 1",
                Some(Data),
            ),
            (
                "critical target error, dev sda, sector 2048 op 0x1:(WRITE) flags 0x0 phys_seg 1",
                Some(Write),
            ),
            (
                "mmcblk0: error -110 transferring data, sector 1224, nr 8, cmd response 0x900",
                Some(Data),
            ),
            (
                "Buffer I/O error on dev sda, logical block 7791739, async page read",
                Some(Data),
            ),
            (
                "timeout error, dev sdb, sector 0 op 0x3:(DISCARD) flags 0x800",
                Some(Link),
            ),
            ("mmc0: Timeout waiting for hardware interrupt.", Some(Link)),
            (
                "Buffer I/O error on dev mmcblk0p2, logical block 0, lost async page write",
                Some(Operation),
            ),
            (
                "EXT4-fs (mmcblk0p2): Remounting filesystem read-only",
                Some(ReadOnly),
            ),
            (
                "FAT-fs (mmcblk0p1): Filesystem has been set read-only",
                Some(ReadOnly),
            ),
            (
                "FAT-fs (mmcblk0p1): error, fat_get_cluster: invalid cluster chain (i_pos 0)",
                Some(Filesystem),
            ),
            (
                "EXT4-fs error (device mmcblk0p2): ext4_find_entry:1455: inode #2: reading directory",
                Some(Filesystem),
            ),
            ("Aborting journal on device mmcblk0p2-8.", Some(Filesystem)),
            ("EXT4-fs (mmcblk0p2): error count since last fsck: 12", None),
            (
                "EXT4-fs (mmcblk0p2): initial error at time 1620000000: ext4_find_entry:1455",
                None,
            ),
            (
                "EXT4-fs (mmcblk0p2): last error at time 1620000000: ext4_find_entry:1455",
                None,
            ),
            (
                "EXT4-fs (mmcblk0p2): re-mounted a1 r/w. Quota mode: none.",
                None,
            ),
            ("mmc0: new high speed SDHC card at address aaaa", None),
        ] {
            assert_eq!(kernel_fault(line), fault, "{line}");
        }
    }

    #[test]
    fn unknown_operations_and_statuses_count_as_data() {
        for line in [
            "new words error, dev sdb, sector 8 op 0x1:(WRITE) flags 0x0",
            "I/O error, dev sdb, sector 8 op 0x77:(UNKNOWN) flags 0x0",
            "critical target error, dev sdb, sector 8",
            "I/O error, dev sdb, sector 8 op 0x3:(DISCARD",
        ] {
            assert_eq!(kernel_trouble(line), Some(KernelTrouble::Data), "{line}");
        }
    }

    #[test]
    fn no_part_of_a_line_makes_it_panic() {
        for (line, _) in REAL {
            for (at, _) in line.char_indices() {
                let _ = kernel_trouble(&line[at..]);
                let _ = kernel_trouble(&line[..at]);
                let _ = kernel_trouble(&format!("{}é{}", &line[..at], &line[at..]));
            }
        }
    }
}
