//! The board's power, the system's governor, the health of disks, the place of the partition.

use cardmark_core::{Board, DeviceInfo, Finding, FindingKind, Host, MIB, Record, Severity};

/// Share of a device's rated life from which on it is told, percent.
const WORN_PERCENT: u32 = 80;
/// Spare blocks left at which it is told, percent.
const LITTLE_SPARE_PERCENT: u32 = 10;
/// Boundary that cards are formatted to by their standard's tool at least, bytes.
const BOUNDARY_BYTES: u64 = 4 * MIB;
/// What flash translation layers map at the least, bytes.
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

/// On x86 `powersave` is the usual governor, and no brake.
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
        told.push(format!("{used} % of its rated life is used"));
    }
    if let Some(spare) = health.spare_percent.filter(|s| *s < LITTLE_SPARE_PERCENT) {
        told.push(format!("{spare} % of its spare blocks are left"));
    }
    if let Some(count) = health.media_errors_count.filter(|count| *count > 0) {
        told.push(format!("{count} errors of its medium"));
    }
    (!told.is_empty()).then(|| {
        let detail = format!("{} says of itself: {}", device.name, told.join(", "));
        Finding::new(FindingKind::Worn, Severity::Warning, detail)
            .advise("copy what is on it, and replace it soon")
    })
}

/// Partitions that do not begin where a card's own units begin: large writes then touch one unit
/// more, and small ones that straddle a page two.
fn misaligned(record: &Record) -> Option<Finding> {
    let target = record.target.as_ref()?;
    let has_flash = record.devices.iter().any(|device| {
        let queue = device.queue.as_ref();
        queue.and_then(|queue| queue.rotational) != Some(true)
    });
    let starts = target.layers.iter().filter_map(|layer| {
        let start = layer.start_bytes?;
        Some((layer.device.as_deref().unwrap_or(&layer.kind), start))
    });
    let (name, start) = starts
        .filter(|(_, start)| start % BOUNDARY_BYTES != 0)
        .max_by_key(|(_, start)| start % PAGE_BYTES != 0)?;
    // Disks for PCs are partitioned in whole MiB, which is enough for them.
    let is_card = record.devices.iter().any(|device| device.card.is_some());
    let (severity, words) = if start % PAGE_BYTES != 0 {
        (
            Severity::Warning,
            "on no boundary of 4 KiB: every write in blocks of 4 KiB touches two",
        )
    } else if is_card {
        (
            Severity::Note,
            "on no boundary of 4 MiB, as cards are formatted when new",
        )
    } else {
        return None;
    };
    has_flash.then(|| {
        let detail = format!("partition {name} begins at byte {start}, {words}");
        Finding::new(FindingKind::Misaligned, severity, detail).advise(
            "when you write the card anew, let the partition begin at a multiple of 8192 sectors",
        )
    })
}
