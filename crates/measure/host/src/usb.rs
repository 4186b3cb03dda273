//! USB bridges: readers, sticks, enclosures.

use std::path::{Path, PathBuf};

use cardmark_core::UsbBridge;

use crate::Root;
use crate::block::{driver_of, is_numbered};
use crate::controller::{controller_directory, usb_controller};
use crate::root::{attribute_of, decimal, line_of, names_in, text_of};

/// Kinds of descriptors.
const DEVICE: u8 = 1;
const INTERFACE: u8 = 4;
/// Class, subclass and protocol of an interface for storage that offers UAS.
const UAS: [u8; 3] = [8, 6, 0x62];

/// Returns the bridge on the way up from a disk; `None` if there is none, or if its ids are not visible.
pub(crate) fn usb_bridge(root: &Root, above: &[PathBuf]) -> Option<UsbBridge> {
    let device = bridge_directory(above)?;
    let digits = |attribute: &str| {
        let text = text_of(device.join(attribute))?;
        let is_id = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| text.to_ascii_lowercase())
    };
    Some(UsbBridge {
        vendor: digits("idVendor")?,
        product: digits("idProduct")?,
        revision: digits("bcdDevice"),
        name: bridge_name(device),
        link_bits_per_s: bits_per_s(device),
        usb_version: usb_version(device),
        port_bits_per_s: port_bits_per_s(above),
        offers_uas: attribute_of(device.join("descriptors")).and_then(|bytes| offers_uas(&bytes)),
        controller: usb_controller(root, above),
    })
}

/// The driver of the interface through which the disk is reached.
pub(crate) fn usb_driver(above: &[PathBuf]) -> Option<String> {
    let device = bridge_directory(above)?;
    let interface = above.iter().find(|path| path.parent() == Some(device))?;
    driver_of(interface)
}

fn bridge_directory(above: &[PathBuf]) -> Option<&Path> {
    let mut directories = above.iter();
    let found = directories.find(|path| path.join("idVendor").exists())?;
    Some(found)
}

/// Maker and product. Some write their serial number into their name.
fn bridge_name(device: &Path) -> Option<String> {
    let maker = line_of(device.join("manufacturer"));
    let product = line_of(device.join("product"));
    let name = match (maker, product) {
        (Some(maker), Some(product)) if !product.starts_with(&maker) => {
            format!("{maker} {product}")
        }
        (maker, product) => product.or(maker)?,
    };
    let holds_serial = text_of(device.join("serial"))
        .is_some_and(|serial| serial.len() >= 4 && name.contains(&serial));
    (!holds_serial).then_some(name)
}

fn bits_per_s(device: &Path) -> Option<u64> {
    decimal(&text_of(device.join("speed"))?, 1_000_000)
}

/// Such as `3.20`.
fn usb_version(device: &Path) -> Option<String> {
    let text = text_of(device.join("version"))?;
    let is_plain = |byte: u8| byte == b'.' || byte.is_ascii_digit();
    (text.len() <= 5 && text.bytes().all(is_plain)).then_some(text)
}

/// The fastest of the root hubs of the host controller: it has one for USB 2 and one for USB 3.
fn port_bits_per_s(above: &[PathBuf]) -> Option<u64> {
    let controller = controller_directory(above)?;
    let hubs = names_in(controller).into_iter();
    hubs.filter(|name| is_numbered(name, "usb"))
        .filter_map(|name| bits_per_s(&controller.join(name)))
        .max()
}

/// Returns whether any interface of the device's descriptors, in any setting, is one for UAS. The attributes of
/// an interface show only the setting in use; the descriptors show all. `None` if they cannot be parsed.
#[must_use]
pub fn offers_uas(descriptors: &[u8]) -> Option<bool> {
    let mut rest = descriptors;
    let mut offers = false;
    let mut is_first = true;
    while let [length, kind, ..] = rest {
        let length = usize::from(*length);
        let body = rest.get(2..length)?;
        if is_first && *kind != DEVICE {
            return None;
        }
        if *kind == INTERFACE {
            offers |= body.get(3..6)? == UAS;
        }
        rest = rest.get(length..)?;
        is_first = false;
    }
    (rest.is_empty() && !is_first).then_some(offers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE_BYTES: [u8; 18] = [
        18, 1, 0x20, 3, 0, 0, 0, 9, 0xE3, 5, 0x49, 7, 0, 1, 1, 2, 3, 1,
    ];
    const CONFIGURATION: [u8; 9] = [9, 2, 121, 0, 1, 1, 0, 0x80, 112];
    const BULK_ONLY: [u8; 9] = [9, 4, 0, 0, 2, 8, 6, 0x50, 0];
    const WITH_UAS: [u8; 9] = [9, 4, 0, 1, 4, 8, 6, 0x62, 0];
    const ENDPOINT: [u8; 7] = [7, 5, 0x81, 2, 0, 4, 0];

    fn told(parts: &[&[u8]]) -> Option<bool> {
        offers_uas(&parts.concat())
    }

    #[test]
    fn any_setting_may_offer_uas() {
        let device: &[u8] = &DEVICE_BYTES;
        let alone = [device, &CONFIGURATION, &BULK_ONLY, &ENDPOINT];
        assert_eq!(told(&alone), Some(false));
        let both = [device, &CONFIGURATION, &BULK_ONLY, &ENDPOINT, &WITH_UAS];
        assert_eq!(told(&both), Some(true));
    }

    #[test]
    fn what_is_cut_off_or_no_descriptor_says_nothing() {
        let whole = [&DEVICE_BYTES[..], &CONFIGURATION, &BULK_ONLY, &WITH_UAS].concat();
        let ends = [18, 27, 36, 45];
        for length in 0..=whole.len() {
            let told = offers_uas(&whole[..length]);
            assert_eq!(told.is_some(), ends.contains(&length), "{length}");
        }
        assert_eq!(offers_uas(&[0, 1]), None);
        assert_eq!(offers_uas(&[1, 1]), None);
        assert_eq!(offers_uas(&WITH_UAS), None);
        assert_eq!(
            told(&[&DEVICE_BYTES, &[8, 4, 0, 1, 4, 8, 6, 0x62]]),
            Some(true)
        );
        assert_eq!(told(&[&DEVICE_BYTES, &[7, 4, 0, 1, 4, 8, 6]]), None);
    }
}
