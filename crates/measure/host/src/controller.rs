//! Host controllers of USB buses.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use cardmark_core::UsbController;

use crate::Root;
use crate::block::{driver_of, is_numbered, name_of};
use crate::pcie::pcie_link;
use crate::root::{open_file, text_of};

/// PCI ids of the VL805, the controller on the Raspberry Pi 4.
const VL805: [&str; 2] = ["1106", "3483"];
/// Position of its firmware's version in its configuration space. Programs of others read it there, too; the space
/// has no such field in general.
const VL805_VERSION_AT: u64 = 0x50;

/// Returns the directory of the controller on the way up from a disk.
pub(crate) fn controller_directory(above: &[PathBuf]) -> Option<&Path> {
    let mut hubs = above.iter();
    hubs.find(|path| is_numbered(name_of(path), "usb"))?
        .parent()
}

/// Returns the controller on the way up from a disk; `None` if nothing is known of it.
pub(crate) fn usb_controller(root: &Root, above: &[PathBuf]) -> Option<UsbController> {
    let directory = controller_directory(above)?;
    let digits = |attribute: &str, count: usize| {
        let text = text_of(directory.join(attribute))?;
        let digits = text.strip_prefix("0x")?;
        let is_id = digits.len() == count && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| digits.to_ascii_lowercase())
    };
    let (vendor, product) = (digits("vendor", 4), digits("device", 4));
    let is_vl805 = [vendor.as_deref(), product.as_deref()] == VL805.map(Some);
    let controller = UsbController {
        driver: driver_of(directory),
        revision: digits("revision", 2),
        firmware: is_vl805.then(|| vl805_version(directory)).flatten(),
        // Its own: a controller in a chip may hang on a device that has a link.
        pcie: pcie_link(root, &[directory.to_owned()]),
        vendor,
        product,
    };
    (controller != UsbController::default()).then_some(controller)
}

/// Reads only these four bytes. Users who are not root see none beyond the first 64; a controller that sleeps returns ones.
fn vl805_version(directory: &Path) -> Option<String> {
    let file = open_file(directory.join("config")).ok()?;
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, VL805_VERSION_AT).ok()?;
    let version = u32::from_le_bytes(bytes);
    (![0, u32::MAX].contains(&version)).then(|| format!("{version:08x}"))
}
