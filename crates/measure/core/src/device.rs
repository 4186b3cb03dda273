//! Properties of a block device: card, reader, bus, queue, health.

use cardmark_cards::words;
use cardmark_cards::{Card, Health};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Preparation;

/// A block device below the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DeviceInfo {
    /// The kernel's name, such as `mmcblk0`.
    pub name: String,
    /// Size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Model reported by the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Firmware revision reported by the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// True if the kernel reports the device as removable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removable: Option<bool>,
    /// The kernel's queue settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// The SD card or eMMC, if its registers are readable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// Reader or bridge between the card or disk and the board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader: Option<Reader>,
    /// Wear and errors reported by the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Id of this device, if it reports a number of its own that cannot soon be guessed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// Reason why it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_sample: Option<NoSample>,
    /// The last known preparation of this card before the run. Writes between the two are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepared: Option<Preparation>,
}

impl DeviceInfo {
    /// Returns the id of the card or disk. A reader or bridge is neither: whatever is in it, its id stays the same.
    pub fn card_id(&self) -> Option<&str> {
        let sample = self.sample.as_ref()?;
        matches!(sample.of, SampleOf::Card | SampleOf::Disk).then_some(&sample.id)
    }
}

/// Distinguishes devices of one product without revealing their serial numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Sample {
    /// The first 24 bits of the SHA-256 of its number, as 6 hexadecimal digits. Unique only together with registers and
    /// size: among 5,000 cards of one product, two have the same id with a probability of one half. Not salted, so that
    /// everybody gets the same id for a card: who knows its number can check whether it fits.
    pub id: String,
    /// Device that the number belongs to.
    pub of: SampleOf,
    /// Where the number comes from.
    pub from: SampleFrom,
}

impl Sample {
    /// The id of a card, from its CID.
    pub fn of_card(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            of: SampleOf::Card,
            from: SampleFrom::Cid,
        }
    }
}

words! {
    /// Device that a number belongs to.
    pub enum SampleOf {
        /// An SD card or eMMC.
        Card,
        /// A disk on SATA, NVMe or a virtual bus.
        Disk,
        /// A reader for cards or a USB stick: its medium can be removed, or the kernel believes so.
        Reader,
        /// Another USB device, such as an enclosure: the number may be that of the bridge or of the disk behind it.
        Bridge,
    }

    /// Source of a number.
    pub enum SampleFrom {
        /// The 16 bytes of the register CID, the last byte, its checksum, being 0.
        Cid,
        /// Model, line feed, serial number.
        Serial,
    }

    /// Reason for the lack of an id.
    pub enum NoSample {
        /// The device reports neither a CID nor a serial number, or this user may not read it.
        Absent,
        /// The number is below 65,536: it could soon be found by trying.
        Low,
        /// The serial number has fewer than 8 letters and digits.
        Short,
        /// The serial number consists of at most 2 different characters, or of characters in a row, such as `0123456789`.
        Repetitive,
        /// The device is a file.
        File,
    }
}

/// The kernel's settings for a block device's queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Queue {
    /// Active scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// True if the kernel treats the device as a rotating disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// `write back` or `write through`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// Read-ahead, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
    /// Logical block size, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical_block_bytes: Option<u64>,
    /// Physical block size, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_block_bytes: Option<u64>,
    /// Maximum number of requests that the kernel queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_count: Option<u64>,
    /// Largest request, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_request_bytes: Option<u64>,
    /// Maximum number of requests that the driver has under way: the tags of the first hardware queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags_count: Option<u64>,
    /// For SD cards and eMMC: true if a hardware command queue is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_queue: Option<bool>,
}

/// Reader or bridge between the card or disk and the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Reader {
    /// Its kind.
    pub kind: ReaderKind,
    /// The kernel's driver, such as `sdhci-iproc`, `uas` or `nvme`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The bus between a native slot and the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<Bus>,
    /// The USB bridge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usb: Option<UsbBridge>,
    /// The PCI Express link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie: Option<PcieLink>,
    /// The SATA link, bits per second, as negotiated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sata_bits_per_s: Option<u64>,
}

words! {
    /// Kinds of readers.
    #[derive(PartialOrd, Ord)]
    pub enum ReaderKind {
        /// A slot or socket whose host controller shows the card's registers.
        Slot,
        /// A USB bridge: a card reader, a stick, a disk enclosure.
        Usb,
        /// A SATA port.
        Sata,
        /// NVMe.
        Nvme,
        /// A disk of a virtual machine.
        Virtual,
    }

    /// Timing of the bus between host and card, as the kernel names it.
    #[derive(PartialOrd, Ord)]
    pub enum BusMode {
        /// Default speed, up to 25 MHz (SD) or 26 MHz (eMMC).
        Legacy,
        /// High speed of SD, up to 50 MHz.
        HighSpeed,
        /// High speed of eMMC, up to 52 MHz.
        MmcHighSpeed,
        /// UHS-I, single data rate, up to 25 MHz.
        Sdr12,
        /// UHS-I, single data rate, up to 50 MHz.
        Sdr25,
        /// UHS-I, single data rate, up to 100 MHz.
        Sdr50,
        /// UHS-I, double data rate, up to 50 MHz.
        Ddr50,
        /// UHS-I, single data rate, up to 208 MHz.
        Sdr104,
        /// eMMC, double data rate, up to 52 MHz.
        Ddr52,
        /// eMMC, single data rate, up to 200 MHz.
        Hs200,
        /// eMMC, double data rate, up to 200 MHz.
        Hs400,
    }
}

impl BusMode {
    /// Returns the usual name.
    pub fn name(&self) -> &str {
        match self {
            Self::Legacy => "default speed",
            Self::HighSpeed | Self::MmcHighSpeed => "high speed",
            Self::Sdr12 => "SDR12",
            Self::Sdr25 => "SDR25",
            Self::Sdr50 => "SDR50",
            Self::Ddr50 => "DDR50",
            Self::Sdr104 => "SDR104",
            Self::Ddr52 => "DDR52",
            Self::Hs200 => "HS200",
            Self::Hs400 => "HS400",
            Self::Other(word) => word,
        }
    }

    /// Returns the capacity of its usual number of lines in MB/s (SD Physical Layer, 3.9; JESD84-B51, 5.3.2).
    pub fn most_mb_per_s(self) -> Option<u32> {
        Some(match self {
            Self::Legacy | Self::Sdr12 => 12,
            Self::HighSpeed | Self::MmcHighSpeed | Self::Sdr25 => 25,
            Self::Sdr50 | Self::Ddr50 => 50,
            Self::Sdr104 | Self::Ddr52 => 104,
            Self::Hs200 => 200,
            Self::Hs400 => 400,
            Self::Other(_) => return None,
        })
    }
}

/// The bus between a native slot and the card.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Bus {
    /// Timing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<BusMode>,
    /// Data lines in use: 1, 4 or 8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines_count: Option<u32>,
    /// Clock requested by the kernel, hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_hz: Option<u64>,
    /// Clock that the controller generates, hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual_clock_hz: Option<u64>,
    /// Signal voltage, millivolts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal_mv: Option<u32>,
    /// Clock requested instead of 50 MHz, hertz: an overclocked slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overclock_hz: Option<u64>,
    /// Source of mode and clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<BusSource>,
}

words! {
    /// Source of a bus's mode and clock.
    pub enum BusSource {
        /// The controller's state in debugfs, which only root may read.
        Debugfs,
        /// The line that the kernel logged when it found the card.
        KernelLog,
    }
}

/// A USB bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UsbBridge {
    /// Id of the vendor, 4 hexadecimal digits.
    pub vendor: String,
    /// Id of the product, 4 hexadecimal digits.
    pub product: String,
    /// Revision, 4 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Names reported by the bridge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Negotiated speed, bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bits_per_s: Option<u64>,
    /// USB version reported by the bridge, such as `3.20`. On a slower link, bridges report less than they
    /// support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usb_version: Option<String>,
    /// Speed of the fastest root port it could have been plugged into on its way, bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_bits_per_s: Option<u64>,
    /// True if the bridge also offers UAS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offers_uas: Option<bool>,
    /// The host controller of its bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<UsbController>,
}

/// The host controller of a USB bus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UsbController {
    /// The kernel's driver, such as `xhci_hcd` or `dwc2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// PCI id of its vendor, 4 hexadecimal digits; absent if it is not on PCI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// PCI id of the product, 4 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// PCI revision, 2 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Firmware of a VL805 (1106:3483), 8 hexadecimal digits such as `000138c0`: bytes 0x50 to 0x53 of its
    /// configuration space, which only root may read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Its PCI Express link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie: Option<PcieLink>,
}

/// A PCI Express link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PcieLink {
    /// Negotiated transfer rate of a lane, million transfers a second: 2500, 5000, 8000, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub megatransfers_per_s: Option<u64>,
    /// Maximum transfer rate of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_megatransfers_per_s: Option<u64>,
    /// Negotiated number of lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes_count: Option<u64>,
    /// Maximum number of lanes of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lanes_count: Option<u64>,
    /// The kernel's policy for saving power on links (ASPM): `default`, `performance`, `powersave` or
    /// `powersupersave`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aspm_policy: Option<String>,
    /// Power-saving states that are enabled on this link; empty if all are off, absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aspm: Option<Vec<AspmState>>,
}

words! {
    /// Power-saving states of an idle PCI Express link (PCI Express Base Specification, 5.4 and 5.5). A deeper state takes
    /// longer to leave.
    pub enum AspmState {
        /// L0s: a short rest, each direction by itself.
        L0s,
        /// L1: both directions rest.
        L1,
        /// L1.1: L1 without its reference clock.
        #[serde(rename = "l1_1")]
        L1Sub1,
        /// L1.2: L1.1 without the lanes' bias voltage.
        #[serde(rename = "l1_2")]
        L1Sub2,
    }
}

/// The sizes, bytes, from least to most, of devices that are sold with that capacity: a card of 64 GB has
/// 59 to 65 GB.
fn sizes_sold_as(capacity_bytes: u64) -> (u64, u64) {
    let twentieth = capacity_bytes / 20;
    (capacity_bytes - 2 * twentieth, capacity_bytes + twentieth)
}

/// Returns whether a device of that size is sold with that capacity.
pub fn is_sold_as(size_bytes: u64, capacity_bytes: u64) -> bool {
    let (least, most) = sizes_sold_as(capacity_bytes);
    (least..=most).contains(&size_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_and_bridges_are_no_cards() {
        for (of, is_card) in [
            (SampleOf::Card, true),
            (SampleOf::Disk, true),
            (SampleOf::Reader, false),
            (SampleOf::Bridge, false),
        ] {
            let device = DeviceInfo {
                sample: Some(Sample {
                    of,
                    ..Sample::of_card("a1b2c3")
                }),
                ..DeviceInfo::default()
            };
            assert_eq!(device.card_id().is_some(), is_card, "{of:?}");
        }
    }
}
