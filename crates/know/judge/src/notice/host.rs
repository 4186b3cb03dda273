//! The board's power, the system's governor, the health of disks, the position of the partition.

use cardmark_core::{Board, DeviceInfo, Finding, FindingKind, Host, MIB, Record, Severity};

/// Minimum used share of a device's rated life for a finding, percent.
const WORN_PERCENT: u32 = 80;
/// Maximum remaining share of spare blocks for a finding, percent.
const LITTLE_SPARE_PERCENT: u32 = 10;
/// Minimum boundary to which the SD formatter aligns partitions, bytes.
const BOUNDARY_BYTES: u64 = 4 * MIB;
/// Smallest mapping unit of flash translation layers, bytes.
const PAGE_BYTES: u64 = 4096;

pub(super) fn findings(record: &Record) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(record.board.as_ref().and_then(under_voltage));
    findings.extend(record.host.as_ref().and_then(powersave));
    findings.extend(record.devices.iter().filter_map(worn));
    findings.extend(misaligned(record));
    findings
}

fn under_voltage(board: &Board) -> Option<Finding> {
    let had = board
        .power_warnings
        .iter()
        .any(|warning| warning == "under_voltage");
    had.then(|| {
        let detail = "the board has had too little voltage since it was started";
        Finding::new(FindingKind::UnderVoltage, Severity::Warning, detail).advise(
            "use the power supply made for this board and a short cable; cards lose data when the \
             voltage drops",
        )
    })
}

/// On x86 `powersave` is the usual governor and does not slow the processor down.
fn powersave(host: &Host) -> Option<Finding> {
    let is_arm = host
        .architecture
        .as_deref()
        .is_some_and(|name| name.starts_with("arm") || name == "aarch64");
    (is_arm && host.governor.as_deref() == Some("powersave")).then(|| {
        let detail = "the processor stays at its lowest frequency: each operation takes longer";
        Finding::new(FindingKind::Powersave, Severity::Warning, detail).advise(
            "`echo ondemand | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor`, then \
             measure again",
        )
    })
}

fn worn(device: &DeviceInfo) -> Option<Finding> {
    let health = device.health.as_ref()?;
    let mut told: Vec<String> = health.warnings.clone();
    if let Some(used) = health.used_percent.filter(|used| *used >= WORN_PERCENT) {
        // Of the last step of eMMC, the end is not known.
        let (used, about) = if used > 100 {
            (100, "over ")
        } else {
            (used, "")
        };
        told.push(format!("{about}{used} % of its rated life is used"));
    }
    if let Some(spare) = health.spare_percent.filter(|s| *s < LITTLE_SPARE_PERCENT) {
        told.push(format!("{spare} % of its spare blocks are left"));
    }
    if let Some(count) = health.media_errors_count.filter(|count| *count > 0) {
        told.push(format!("{count} errors of its medium"));
    }
    (!told.is_empty()).then(|| {
        let detail = format!("{} reports: {}", device.name, told.join(", "));
        Finding::new(FindingKind::Worn, Severity::Warning, detail)
            .advise("copy its data and replace it soon")
    })
}

/// Returns a finding for a partition that does not begin at the start of a card's own units: large writes
/// then touch one additional unit, and small ones that straddle a page touch two.
fn misaligned(record: &Record) -> Option<Finding> {
    let target = record.target.as_ref()?;
    let has_flash = record.devices.iter().any(|device| {
        let queue = device.queue.as_ref();
        queue.and_then(|queue| queue.rotational) != Some(true)
    });
    let starts = target.layers.iter().filter_map(|layer| {
        let start = layer.start_bytes?;
        Some((layer.name(), start))
    });
    let (name, start) = starts
        .filter(|(_, start)| start % BOUNDARY_BYTES != 0)
        .max_by_key(|(_, start)| start % PAGE_BYTES != 0)?;
    // Disks for PCs are partitioned in whole MiB, which is sufficient for them.
    let is_card = record.devices.iter().any(|device| device.card.is_some());
    let (severity, words) = if start % PAGE_BYTES != 0 {
        (
            Severity::Warning,
            "not on a 4 KiB boundary: every write of a 4 KiB block touches two pages",
        )
    } else if is_card {
        (
            Severity::Note,
            "not on a 4 MiB boundary, unlike the factory format of cards",
        )
    } else {
        return None;
    };
    has_flash.then(|| {
        let detail = format!("partition {name} begins at byte {start}, {words}");
        Finding::new(FindingKind::Misaligned, severity, detail).advise(
            "when you next write the card, start the partition at a multiple of 8192 sectors",
        )
    })
}
