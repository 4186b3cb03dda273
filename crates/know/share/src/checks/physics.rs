//! Limits of the bus of a record. Each limit follows from the record's own circumstances; there is no fixed maximum for
//! a figure, because the next card may be faster.

use cardmark_catalog::board;
use cardmark_core::{
    Access, Bus, BusMode, CardKind, DeviceInfo, FindingKind, LayerKind, OriginKind, PcieLink,
    Reader, ReaderKind, Record, Trial,
};

use crate::check::{Check, CheckName, CheckOutcome};

/// Clocks and lengths of slices are a little off.
const TOLERANCE: f64 = 1.02;
/// Payload of 13 bulk packets of 512 bytes in each of 8,000 microframes a second: all that fit (USB 2.0, 5.8.4).
const USB_2_BYTES_PER_S: f64 = 13.0 * 512.0 * 8_000.0;
/// Payload of 19 bulk packets of 64 bytes in each of 1,000 frames a second (USB 2.0, 5.8.4).
const USB_1_BYTES_PER_S: f64 = 19.0 * 64.0 * 1_000.0;
/// USB 3.2 Gen 1: 8b/10b.
const USB_3_GEN_1_BITS_PER_S: u64 = 5_000_000_000;
/// 8b/10b of SATA, of USB 3.2 Gen 1 and of PCI Express up to 5 GT/s.
const EIGHT_OF_TEN: f64 = 0.8;
/// 128b/132b of USB 3.2 Gen 2.
const USB_GEN_2: f64 = 128.0 / 132.0;
/// 128b/130b of PCI Express from 8 GT/s on.
const PCIE_GEN_3: f64 = 128.0 / 130.0;
/// Highest transfer rate of a lane with 8b/10b, million transfers a second.
const PCIE_EIGHT_OF_TEN: u64 = 5_000;
const NS_PER_S: f64 = 1e9;

/// Checks slices and trials against the bus, and the size against the registers.
pub(super) fn physics(record: &Record) -> Check {
    let name = CheckName::Physics;
    let cannot_tell = |reason: &str| Check::of(name, CheckOutcome::CannotTell, reason);
    if record.origin.kind != OriginKind::Measured {
        return cannot_tell("the figures were not measured by this program");
    }
    let Some(device) = record.devices.first() else {
        return cannot_tell("the device is unknown");
    };
    if let Some(reason) = other_size(device).or_else(|| larger_filesystem(record)) {
        return Check::of(name, CheckOutcome::Failed, reason);
    }
    let of_record = device.reader.as_ref().and_then(ceiling);
    let Some(ceiling) = of_record.or_else(|| slot_of_board(record, device)) else {
        return cannot_tell("the speed of the bus is unknown");
    };
    if record.host.as_ref().and_then(|host| host.is_virtual) == Some(true) {
        // An emulated bus has the name of a real one, and not its speed.
        return cannot_tell("the run was made in a virtual machine");
    }
    match too_fast(record, &ceiling) {
        Some(reason) => Check::of(name, CheckOutcome::Failed, reason),
        None => Check::passed(name),
    }
}

/// The kernel takes the size of an SD card from its registers: a record cannot hold another one. The size of an eMMC's
/// user area is in a register that records do not keep.
fn other_size(device: &DeviceInfo) -> Option<String> {
    let card = device.card.as_ref()?;
    let (stated, size) = (card.decoded.capacity_bytes?, device.size_bytes?);
    (card.kind == CardKind::Sd && stated != size)
        .then(|| format!("the card reports {stated} bytes, the device has {size}"))
}

/// A filesystem on partitions and disks is not larger than these.
fn larger_filesystem(record: &Record) -> Option<String> {
    let target = record.target.as_ref()?;
    let is_plain = |kind| {
        matches!(
            kind,
            LayerKind::Mount | LayerKind::Partition | LayerKind::Disk
        )
    };
    if target.layers.is_empty() || !target.layers.iter().all(|layer| is_plain(layer.kind)) {
        return None;
    }
    let sizes: Option<Vec<u64>> = record
        .devices
        .iter()
        .map(|device| device.size_bytes)
        .collect();
    let size = sizes?.into_iter().fold(0, u64::saturating_add);
    let used = target.filesystem_bytes?;
    (used > size).then(|| format!("the filesystem has {used} bytes, the device below it {size}"))
}

/// The fastest mode of the card slot of a board that is known: the bus is at most that fast if the record does not show it. An
/// overclocked slot is shown to every user.
fn slot_of_board(record: &Record, device: &DeviceInfo) -> Option<Ceiling> {
    let reader = device.reader.as_ref()?;
    let is_card = device.card.as_ref().map(|card| card.kind) == Some(CardKind::Sd);
    let is_overclocked = reader
        .bus
        .as_ref()
        .is_some_and(|bus| bus.overclock_hz.is_some());
    if reader.kind != ReaderKind::Slot || !is_card || is_overclocked {
        return None;
    }
    let stated = record.board.as_ref()?;
    let known = board(stated.model.as_deref()?).filter(|known| known.is_raspberry_pi())?;
    // The model of a newer board may begin with the name of an older one.
    let code = stated.revision.as_deref();
    if code.is_some_and(|code| !known.revision_codes.is_empty() && !known.may_have_code(code)) {
        return None;
    }
    Some(Ceiling {
        bytes_per_s: known.most_slot_bytes_per_s() as f64,
        of: format!("the fastest mode of the slot of {}", known.name),
    })
}

/// A limit, and what sets it.
struct Ceiling {
    bytes_per_s: f64,
    of: String,
}

fn ceiling(reader: &Reader) -> Option<Ceiling> {
    match reader.kind {
        ReaderKind::Slot => slot(reader.bus.as_ref()?),
        ReaderKind::Usb => usb(reader.usb.as_ref()?.link_bits_per_s?),
        ReaderKind::Sata => Some(Ceiling {
            bytes_per_s: reader.sata_bits_per_s? as f64 * EIGHT_OF_TEN / 8.0,
            of: format!("SATA at {} Mbit/s", reader.sata_bits_per_s? / 1_000_000),
        }),
        ReaderKind::Nvme => pcie(reader.pcie.as_ref()?),
        _ => None,
    }
}

/// Lines times clock, twice in modes with double data rate (SD Physical Layer, 3.9; JESD84-B51, 5.3.2).
fn slot(bus: &Bus) -> Option<Ceiling> {
    let (mode, lines) = (bus.mode?, bus.lines_count?);
    let nominal_hz = nominal_clock_hz(mode)?;
    let clocks = [bus.actual_clock_hz, bus.clock_hz, bus.overclock_hz];
    // The requested clock is the highest that the controller generates.
    let clock_hz = clocks.into_iter().flatten().max().unwrap_or(nominal_hz);
    let edges = if is_double_rate(mode) { 2.0 } else { 1.0 };
    Some(Ceiling {
        bytes_per_s: f64::from(lines) / 8.0 * clock_hz as f64 * edges,
        of: format!(
            "{lines} lines at {} MHz in {}",
            clock_hz / 1_000_000,
            mode.name()
        ),
    })
}

fn is_double_rate(mode: BusMode) -> bool {
    matches!(mode, BusMode::Ddr50 | BusMode::Ddr52 | BusMode::Hs400)
}

/// The highest clock of a mode, hertz (the same sources).
fn nominal_clock_hz(mode: BusMode) -> Option<u64> {
    let mhz = match mode {
        BusMode::Legacy => 26,
        BusMode::Sdr12 => 25,
        BusMode::HighSpeed | BusMode::Sdr25 | BusMode::Ddr50 => 50,
        BusMode::MmcHighSpeed | BusMode::Ddr52 => 52,
        BusMode::Sdr50 => 100,
        BusMode::Sdr104 => 208,
        BusMode::Hs200 | BusMode::Hs400 => 200,
        BusMode::Other(_) => return None,
    };
    Some(mhz * 1_000_000)
}

fn usb(link_bits_per_s: u64) -> Option<Ceiling> {
    let bytes_per_s = match link_bits_per_s {
        12_000_000 => USB_1_BYTES_PER_S,
        480_000_000 => USB_2_BYTES_PER_S,
        USB_3_GEN_1_BITS_PER_S => link_bits_per_s as f64 * EIGHT_OF_TEN / 8.0,
        faster if faster > USB_3_GEN_1_BITS_PER_S => faster as f64 * USB_GEN_2 / 8.0,
        _ => return None,
    };
    let of = format!("USB at {} Mbit/s", link_bits_per_s / 1_000_000);
    Some(Ceiling { bytes_per_s, of })
}

fn pcie(link: &PcieLink) -> Option<Ceiling> {
    let (rate, lanes) = (link.megatransfers_per_s?, link.lanes_count?);
    let coding = if rate <= PCIE_EIGHT_OF_TEN {
        EIGHT_OF_TEN
    } else {
        PCIE_GEN_3
    };
    Some(Ceiling {
        bytes_per_s: rate as f64 * 1e6 * lanes as f64 * coding / 8.0,
        of: format!("{lanes} lanes of PCI Express at {rate} MT/s"),
    })
}

fn too_fast(record: &Record, ceiling: &Ceiling) -> Option<String> {
    let trials = record
        .trials
        .iter()
        .filter(|trial| reaches_device(record, trial));
    trials.into_iter().find_map(|trial| {
        let whole = (trial.bytes(), trial.span_ns);
        let slices = trial
            .slices
            .iter()
            .map(|slice| (slice.0, trial.slice_span_ns));
        let (bytes, span_ns) = std::iter::once(whole)
            .chain(slices)
            .find(|&(bytes, span_ns)| bytes as f64 > most_bytes(trial, ceiling, span_ns))?;
        let rate = bytes as f64 / span_ns.max(1) as f64 * NS_PER_S / 1e6;
        Some(format!(
            "{}: {bytes} bytes in {span_ns} ns are {rate:.1} MB/s; the limit of {} is {:.1} MB/s",
            trial.workload.id,
            ceiling.of,
            ceiling.bytes_per_s / 1e6
        ))
    })
}

/// Operations that began before a span may end within it: as many as are under way at a time.
fn most_bytes(trial: &Trial, ceiling: &Ceiling, span_ns: u64) -> f64 {
    let workload = &trial.workload;
    let under_way =
        u64::from(workload.queue_depth).max(1) * u64::from(workload.manner.streams_count.max(1));
    let earlier = under_way.saturating_mul(workload.block_bytes) as f64;
    ceiling.bytes_per_s * TOLERANCE * span_ns as f64 / NS_PER_S + earlier
}

/// Figures through the page cache, and those that are marked as not the device's, are not bound by the bus.
fn reaches_device(record: &Record, trial: &Trial) -> bool {
    let is_voided = record.findings.iter().any(|finding| {
        let is_about =
            finding.workloads.is_empty() || finding.workloads.contains(&trial.workload.id);
        FindingKind::VOIDING.contains(&finding.kind) && is_about
    });
    let is_plain = trial.workload.procedure.is_none();
    trial.workload.manner.access == Access::Direct && is_plain && !is_voided
}
