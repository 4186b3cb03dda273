//! Slots and sockets whose host controller shows the card: which one, its bus, its queue.

use std::path::Path;

use cardmark_core::{Bus, BusMode, BusSource};

use crate::Root;
use crate::block::{BlockDevice, name_of};
use crate::boot::boot_lines;
use crate::root::{attribute_of, text_of};

/// The clock of the high speed mode of SD.
const HIGH_SPEED_HZ: u64 = 50_000_000;
/// Requests that the kernel has under way on cards without a hardware queue, which hold 32 at most.
const SOFTWARE_TAGS_COUNT: u64 = 64;

/// A slot with the card in it, by the kernel's names.
pub(crate) struct Slot<'a> {
    /// The host, such as `mmc0`: its folder in debugfs, its name in the log.
    pub(crate) host: &'a str,
    /// Address of the card, 4 hexadecimal digits.
    address: &'a str,
    /// The directory of the host controller.
    pub(crate) controller: &'a Path,
}

/// The kernel's name of the card host, such as `mmc0`, that this block device hangs on: its folder
/// in debugfs, and its name in the kernel's log. None for disks of other kinds.
#[must_use]
pub fn mmc_host(root: &Root, name: &str) -> Option<String> {
    let device = BlockDevice::by_name(root, name)?;
    slot_of(&device).map(|slot| slot.host.to_owned())
}

/// The slot that a disk is in.
pub(crate) fn slot_of(device: &BlockDevice) -> Option<Slot<'_>> {
    let above: Vec<&Path> = device.above().collect();
    let parts = above.windows(4).find_map(|directories| match directories {
        [card, host, hosts, controller] if name_of(hosts) == "mmc_host" => {
            Some((name_of(card), name_of(host), *controller))
        }
        _ => None,
    });
    let (card, host, controller) = parts?;
    let address = card.strip_prefix(host)?.strip_prefix(':')?;
    Some(Slot {
        host,
        address,
        controller,
    })
}

/// The bus of a slot: from the controller's state, or else from the kernel's log.
pub(crate) fn bus_of(root: &Root, slot: &Slot<'_>) -> Option<Bus> {
    let state = root.text(format!("/sys/kernel/debug/{}/ios", slot.host));
    let state = state.and_then(|text| parse_state(&text));
    let logged = || {
        let mode = CardLog::of(boot_lines(root), slot).mode?;
        Some(Bus {
            mode: Some(mode),
            source: Some(BusSource::KernelLog),
            ..Bus::default()
        })
    };
    let mut bus = state.or_else(logged).unwrap_or_default();
    if bus.mode.is_none_or(|mode| mode == BusMode::HighSpeed) {
        let measured = bus.actual_clock_hz.filter(|_| bus.mode.is_some());
        let clocks = [overclock_hz(slot.controller), measured];
        bus.overclock_hz = clocks.into_iter().flatten().find(|hz| *hz > HIGH_SPEED_HZ);
    }
    (bus != Bus::default()).then_some(bus)
}

/// The property `brcm,overclock-50` of the controller's node: megahertz instead of 50.
fn overclock_hz(controller: &Path) -> Option<u64> {
    let bytes = attribute_of(controller.join("of_node/brcm,overclock-50"))?;
    let mhz = u32::from_be_bytes(bytes.try_into().ok()?);
    Some(u64::from(mhz) * 1_000_000)
}

/// Returns whether the card's hardware queue is in use. Without one the kernel has 64 requests under way; if
/// their number is unknown, only the kernel's log can confirm it.
pub(crate) fn command_queue(root: &Root, disk: &BlockDevice, tags: Option<u64>) -> Option<bool> {
    let slot = slot_of(disk)?;
    let is_on = match text_of(disk.path("device/cmdq_en")).as_deref() {
        Some("0") => Some(false),
        Some("1") => Some(true),
        _ => None,
    };
    let by_tags = || tags.map(|tags| tags < SOFTWARE_TAGS_COUNT);
    let by_log = || {
        CardLog::of(boot_lines(root), &slot)
            .has_queue
            .then_some(true)
    };
    is_on.or_else(by_tags).or_else(by_log)
}

/// Parses the state of a controller in debugfs: lines of a name, a colon, a tab and a value, often with the
/// meaning of a number in brackets. A controller without power reports nothing.
#[must_use]
pub fn parse_state(text: &str) -> Option<Bus> {
    let value = |name: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let mut values = lines.filter(|(key, _)| key.trim() == name);
        values.next().map(|(_, value)| value.trim())
    };
    let hertz = |name: &str| value(name)?.strip_suffix("Hz")?.trim().parse().ok();
    let meaning = |name: &str| value(name)?.split_once('(')?.1.strip_suffix(')');
    let clock_hz = hertz("clock").filter(|hz| *hz > 0)?;
    Some(Bus {
        mode: meaning("timing spec").and_then(mode_named),
        lines_count: meaning("bus width").and_then(|text| match text {
            "1 bits" => Some(1),
            "4 bits" => Some(4),
            "8 bits" => Some(8),
            _ => None,
        }),
        clock_hz: Some(clock_hz),
        actual_clock_hz: hertz("actual clock").filter(|hz| *hz > 0),
        signal_mv: meaning("signal voltage").and_then(|text| match text {
            "3.30 V" => Some(3300),
            "1.80 V" => Some(1800),
            "1.20 V" => Some(1200),
            _ => None,
        }),
        overclock_hz: None,
        source: Some(BusSource::Debugfs),
    })
}

fn mode_named(name: &str) -> Option<BusMode> {
    Some(match name {
        "legacy" => BusMode::Legacy,
        "sd high-speed" => BusMode::HighSpeed,
        "mmc high-speed" => BusMode::MmcHighSpeed,
        "sd uhs SDR12" => BusMode::Sdr12,
        "sd uhs SDR25" => BusMode::Sdr25,
        "sd uhs SDR50" => BusMode::Sdr50,
        "sd uhs DDR50" => BusMode::Ddr50,
        "sd uhs SDR104" => BusMode::Sdr104,
        "mmc DDR52" => BusMode::Ddr52,
        "mmc HS200" => BusMode::Hs200,
        "mmc HS400" | "mmc HS400 enhanced strobe" => BusMode::Hs400,
        _ => return None,
    })
}

/// The last message of the log about the card in a slot.
#[derive(Debug, Default, PartialEq, Eq)]
struct CardLog {
    mode: Option<BusMode>,
    has_queue: bool,
}

impl CardLog {
    fn of(lines: &[String], slot: &Slot<'_>) -> Self {
        let mut log = Self::default();
        for line in lines {
            let of_host = line.strip_prefix(slot.host);
            let Some(text) = of_host.and_then(|rest| rest.strip_prefix(": ")) else {
                continue;
            };
            if text.starts_with("card ") && text.ends_with(" removed") {
                log = Self::default();
            } else if text == "Command Queue Engine enabled" {
                log.has_queue = true;
            } else if text.ends_with(&format!(" at address {}", slot.address)) {
                log.mode = parse_new_card(text).or(log.mode);
            }
        }
        log
    }
}

/// The mode in the line that the kernel writes when it has found a card, without the host's name:
/// `new ultra high speed SDR104 SDXC card at address aaaa`. A word that is not known may mean a
/// mode that is not known.
#[must_use]
pub fn parse_new_card(text: &str) -> Option<BusMode> {
    let said = text.strip_prefix("new ")?.split_once(" card at ")?.0;
    let (said, family) = said.rsplit_once(' ').unwrap_or(("", said));
    let is_mmc = family == "MMC";
    if !is_mmc && !["SD", "SDHC", "SDXC", "SDUC"].contains(&family) {
        return None;
    }
    Some(match said {
        "" => BusMode::Legacy,
        "high speed" if is_mmc => BusMode::MmcHighSpeed,
        "high speed" => BusMode::HighSpeed,
        "ultra high speed SDR12" => BusMode::Sdr12,
        "ultra high speed SDR25" => BusMode::Sdr25,
        "ultra high speed SDR50" => BusMode::Sdr50,
        "ultra high speed DDR50" => BusMode::Ddr50,
        "ultra high speed SDR104" => BusMode::Sdr104,
        "DDR" | "high speed DDR" if is_mmc => BusMode::Ddr52,
        "HS200" if is_mmc => BusMode::Hs200,
        "HS400" | "HS400 Enhanced strobe" if is_mmc => BusMode::Hs400,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
