//! A measured run as one of a card: the kept ones were made on the disk of a virtual machine, and count on no site.

use cardmark_core::{DeviceInfo, LayerKind, Reader, ReaderKind, Record, UsbBridge};
use cardmark_judge::derive_again;

/// Size of the card, bytes: one of 32 GB.
const SIZE_BYTES: u64 = 31_914_983_424;
/// Size of its filesystem, bytes.
const FILESYSTEM_BYTES: u64 = 31_000_000_000;

/// Returns the run as one of a card of 32 GB in a USB reader, whose link is not known, on a computer that is not virtual.
#[must_use]
pub fn in_a_reader(record: &Record) -> Record {
    let mut record = record.clone();
    let usb = UsbBridge {
        vendor: "ffff".to_owned(),
        product: "ffff".to_owned(),
        ..UsbBridge::default()
    };
    record.devices = vec![DeviceInfo {
        name: "disk0".to_owned(),
        size_bytes: Some(SIZE_BYTES),
        removable: Some(true),
        reader: Some(Reader {
            kind: ReaderKind::Usb,
            driver: Some("usb-storage".to_owned()),
            bus: None,
            usb: Some(usb),
            pcie: None,
            sata_bits_per_s: None,
        }),
        ..DeviceInfo::default()
    }];
    if let Some(host) = &mut record.host {
        host.is_virtual = Some(false);
    }
    if let Some(target) = &mut record.target {
        target.layers.retain(|layer| layer.kind != LayerKind::Loop);
        target.filesystem_bytes = Some(FILESYSTEM_BYTES);
        target.free_bytes = Some(FILESYSTEM_BYTES / 2);
    }
    let _ = derive_again(&mut record);
    record
}
