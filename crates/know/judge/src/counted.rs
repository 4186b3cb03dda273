//! Runs whose figures are those of a card of a product, and the product that they count for.

use cardmark_catalog::{
    BridgeKind, Product, ProductKind, lines_of, lines_with_registers, manufacturer, product,
    split_capacity, usb_bridge,
};
use cardmark_core::{
    Card, CardKind, DeviceInfo, LayerKind, Metric, Reader, ReaderKind, Record, StorageKind,
};

use crate::answer::is_uneven;
use crate::unknown::{storage_kind, unknown_storage};

/// Sizes of a device that a label may mean, as parts of the capacity on it: makers count in GB, some in GiB, and reserve a part.
const FITTING_SIZES: std::ops::RangeInclusive<f64> = 0.85..=1.15;
/// Bytes of a GB.
const GB: f64 = 1e9;
/// The kernel's name of the faster protocol of USB disks.
const UAS: &str = "uas";

/// Returns the reason why the figures of a record are not those of one real device, as a clause; `None` if they are.
pub fn of_no_card(record: &Record) -> Option<String> {
    if record.host.as_ref().and_then(|host| host.is_virtual) == Some(true) {
        return Some("the run was made in a virtual machine".to_owned());
    }
    let is_virtual = |device: &DeviceInfo| reader_kind(device) == Some(&ReaderKind::Virtual);
    if record.devices.iter().any(is_virtual) {
        return Some("the disk is a virtual one".to_owned());
    }
    if let Some(unknown) = unknown_storage(record) {
        return Some(unknown.reason());
    }
    let layers = record
        .target
        .as_ref()
        .map_or(&[][..], |target| &target.layers);
    if layers.iter().any(|layer| layer.kind == LayerKind::Loop) {
        return Some("the run was made through a loop device".to_owned());
    }
    match record.devices.len() {
        0 => Some("the record names no device".to_owned()),
        1 => None,
        count => Some(format!("the figures are those of {count} devices together")),
    }
}

/// Returns what the record of a device lacks that the kernel always shows for its kind of reader, as a clause; `None` if nothing is missing.
pub fn unidentified(device: &DeviceInfo) -> Option<&'static str> {
    let Some(reader) = &device.reader else {
        return Some("the record does not show what the device is connected to");
    };
    let has_model = device.model.as_ref().is_some_and(|model| !model.is_empty());
    match &reader.kind {
        ReaderKind::Slot if !has_registers(device) => {
            Some("a slot shows the registers of every card, and the record has none")
        }
        ReaderKind::Usb if reader.usb.is_none() => Some("the ids of the USB device are missing"),
        ReaderKind::Sata | ReaderKind::Nvme if !has_model => {
            Some("the model of the disk is missing")
        }
        ReaderKind::Other(_) => Some("this site does not know the kind of reader"),
        _ => None,
    }
}

fn has_registers(device: &DeviceInfo) -> bool {
    let facts = device.card.as_ref().map(|card| &card.decoded);
    facts.is_some_and(|facts| facts.manufacturer_id.is_some() && facts.product.is_some())
}

fn reader_kind(device: &DeviceInfo) -> Option<&ReaderKind> {
    device.reader.as_ref().map(|reader| &reader.kind)
}

/// Returns whether a figure is too uneven to be compared with those of other cards.
pub fn is_too_uneven(metric: &Metric) -> bool {
    metric.half_width_ratio().is_some_and(is_uneven)
}

/// Returns the product of the catalogue that the labels of a record name.
pub fn stated_product(record: &Record) -> Option<&'static Product> {
    let label = |name: &str| record.labels.get(name);
    let by_id = label("product_id").and_then(|id| product(id));
    by_id.or_else(|| product(label("product")?))
}

/// Returns why the device of a record cannot be the product that its labels name, as a clause; `None` if nothing contradicts them.
///
/// Registers and kind of a device with a false capacity are no contradiction: that it is another one than the label promises is what
/// the test found.
pub fn product_contradiction(record: &Record) -> Option<String> {
    let device = record.devices.first()?;
    let known = stated_product(record);
    let label = || stated_capacity(record.labels.get("product")?);
    let capacity = known.and_then(|known| known.capacity_bytes).or_else(label);
    let size = capacity.zip(device.size_bytes);
    let by_size = size.and_then(|(capacity, size)| other_size(capacity, size));
    let is_fake = storage_kind(record).is_some_and(is_false_capacity);
    let known = known.filter(|_| !is_fake);
    by_size.or_else(|| {
        known.and_then(|known| other_kind(known, device).or_else(|| other_maker(known, device)))
    })
}

/// Capacity at the end of a name, with its unit: `Ultra 2023` names none.
fn stated_capacity(name: &str) -> Option<u64> {
    let lower = name.trim_end().to_ascii_lowercase();
    split_capacity(name)
        .1
        .filter(|_| lower.ends_with("gb") || lower.ends_with("tb"))
}

fn is_false_capacity(kind: StorageKind) -> bool {
    matches!(
        kind,
        StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain
    )
}

fn other_size(capacity_bytes: u64, size_bytes: u64) -> Option<String> {
    let ratio = size_bytes as f64 / capacity_bytes.max(1) as f64;
    (!FITTING_SIZES.contains(&ratio)).then(|| {
        format!(
            "sold as {:.0} GB, the device has {:.1} GB",
            capacity_bytes as f64 / GB,
            size_bytes as f64 / GB
        )
    })
}

fn other_kind(known: &Product, device: &DeviceInfo) -> Option<String> {
    let found = found_kind(device)?;
    let is_possible = match known.kind {
        ProductKind::Microsd | ProductKind::Sd => matches!(found, Kind::Sd | Kind::Reader),
        ProductKind::EmbeddedMmc => matches!(found, Kind::Mmc | Kind::Reader),
        ProductKind::Cf => !matches!(found, Kind::Sd | Kind::Mmc | Kind::Nvme),
        ProductKind::UsbStick => matches!(found, Kind::Reader | Kind::Usb),
        ProductKind::UsbSsd => matches!(found, Kind::Usb | Kind::Reader),
        ProductKind::SataSsd | ProductKind::HardDisk => {
            matches!(found, Kind::Sata | Kind::Usb | Kind::Reader)
        }
        ProductKind::Nvme => matches!(found, Kind::Nvme | Kind::Usb | Kind::Reader),
    };
    (!is_possible).then(|| {
        format!(
            "{} is sold as {}, the device is {}",
            known.name(),
            known.kind.name(),
            found.name()
        )
    })
}

/// Kind of a device, as its reader shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sd,
    Mmc,
    /// A reader, or a USB device that may be one.
    Reader,
    /// A USB device that is no reader.
    Usb,
    Sata,
    Nvme,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Sd => "an SD card",
            Self::Mmc => "an eMMC",
            Self::Reader => "in a USB reader",
            Self::Usb => "a USB disk",
            Self::Sata => "a SATA disk",
            Self::Nvme => "an NVMe disk",
        }
    }
}

fn found_kind(device: &DeviceInfo) -> Option<Kind> {
    let reader = device.reader.as_ref()?;
    Some(match reader.kind {
        ReaderKind::Slot => match device.card.as_ref()?.kind {
            CardKind::Sd => Kind::Sd,
            CardKind::Mmc => Kind::Mmc,
            CardKind::Other(_) => return None,
        },
        ReaderKind::Usb if is_usb_disk(device, reader) => Kind::Usb,
        ReaderKind::Usb => Kind::Reader,
        ReaderKind::Sata => Kind::Sata,
        ReaderKind::Nvme => Kind::Nvme,
        ReaderKind::Virtual | ReaderKind::Other(_) => return None,
    })
}

/// True if the medium cannot be taken out, and the bridge is one for disks: by the catalogue, or because it uses UAS.
fn is_usb_disk(device: &DeviceInfo, reader: &Reader) -> bool {
    let bridge = reader.usb.as_ref();
    let bridge = bridge.and_then(|usb| usb_bridge(&usb.vendor, &usb.product));
    let is_for_disks = match bridge.and_then(|bridge| bridge.kind) {
        Some(kind) => !matches!(kind, BridgeKind::CardReader | BridgeKind::Stick),
        None => reader.driver.as_deref() == Some(UAS),
    };
    device.removable == Some(false) && is_for_disks
}

/// Registers that a line of another brand is known by, and a number of another maker who does not make cards for this brand.
fn other_maker(known: &Product, device: &DeviceInfo) -> Option<String> {
    let Card { kind, decoded, .. } = device.card.as_ref()?;
    let seen = lines_with_registers(decoded);
    let other = seen.first()?;
    let own = lines_of(known);
    let is_own = seen
        .iter()
        .any(|line| line.brand == known.brand || own.contains(line));
    let number = decoded.manufacturer_id?;
    let maker = manufacturer(*kind, number, decoded.oem.as_deref().unwrap_or_default())?;
    let mut makers = maker.shared_by.iter().chain([&maker.name]);
    let is_maker = makers.any(|name| name.to_lowercase().contains(&known.brand.to_lowercase()));
    (!is_own && !is_maker).then(|| {
        format!(
            "sold as {}, the registers are those of {}",
            known.name(),
            other.name()
        )
    })
}

#[cfg(test)]
mod tests;
