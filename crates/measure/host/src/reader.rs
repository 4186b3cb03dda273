//! Connection between a disk and the board: slot, USB bridge, SATA port, PCI Express link.

use std::fs;
use std::path::{Path, PathBuf};

use cardmark_core::{Reader, ReaderKind};

use crate::Root;
use crate::block::{BlockDevice, driver_of, is_numbered, name_of};
use crate::pcie::pcie_link;
use crate::root::{decimal, names_in, text_of};
use crate::slot::{bus_of, slot_of};
use crate::usb::{usb_bridge, usb_driver};

/// Drivers of disks that only virtual machines have. virtio is recognised by its directory.
const VIRTUAL_DRIVERS: &[&str] = &["vbd", "xen-blkfront", "vmw_pvscsi", "hv_storvsc"];
/// Prefixes of the models of disks that hosts of virtual machines emulate.
const VIRTUAL_MODELS: &[&str] = &[
    "QEMU ",
    "VBOX ",
    "VMware ",
    "Msft Virtual ",
    "Google PersistentDisk",
    "Amazon Elastic Block Store",
];

/// Returns the reader of a disk; `None` if its kind is unknown.
pub(crate) fn reader_of(root: &Root, disk: &BlockDevice) -> Option<Reader> {
    let above = way_up(disk);
    let kind = kind_of(disk, &above)?;
    let slot = slot_of(disk);
    let port = sata_port(&above);
    let driver = match (kind, &slot, port) {
        (ReaderKind::Slot, Some(slot), _) => driver_of(slot.controller),
        (ReaderKind::Usb, ..) => usb_driver(&above),
        (ReaderKind::Sata, _, Some(port)) => port.parent().and_then(driver_of),
        _ => first_driver(&above),
    };
    Some(Reader {
        kind,
        driver,
        bus: slot.and_then(|slot| bus_of(root, &slot)),
        usb: usb_bridge(root, &above),
        pcie: pcie_link(root, &above).filter(|_| kind == ReaderKind::Nvme),
        sata_bits_per_s: port.and_then(sata_bits_per_s),
    })
}

/// Returns the directories of the devices above a disk, the nearest first. If NVMe gives a separate place to a
/// disk that could have several controllers, the path leads through its controller, provided that it has only
/// one.
fn way_up(disk: &BlockDevice) -> Vec<PathBuf> {
    let above: Vec<PathBuf> = disk.above().map(Path::to_owned).collect();
    let subsystem = above.first();
    let Some(subsystem) = subsystem.filter(|path| name_of(path).starts_with("nvme-subsys")) else {
        return above;
    };
    let mut controllers = names_in(subsystem);
    controllers.retain(|name| is_numbered(name, "nvme"));
    let [controller] = controllers.as_slice() else {
        return above;
    };
    match fs::canonicalize(subsystem.join(controller)) {
        Ok(path) => path
            .ancestors()
            .take_while(is_device)
            .map(Path::to_owned)
            .collect(),
        Err(_) => above,
    }
}

fn is_device(path: &&Path) -> bool {
    !["", "devices"].contains(&name_of(path))
}

fn kind_of(disk: &BlockDevice, above: &[PathBuf]) -> Option<ReaderKind> {
    if slot_of(disk).is_some() {
        Some(ReaderKind::Slot)
    } else if is_virtual(disk, above) {
        Some(ReaderKind::Virtual)
    } else if disk.is_usb() {
        Some(ReaderKind::Usb)
    } else if disk.name.starts_with("nvme") {
        Some(ReaderKind::Nvme)
    } else {
        sata_port(above).map(|_| ReaderKind::Sata)
    }
}

fn is_virtual(disk: &BlockDevice, above: &[PathBuf]) -> bool {
    let is_driver = |driver: &String| VIRTUAL_DRIVERS.contains(&driver.as_str());
    above
        .iter()
        .any(|path| is_numbered(name_of(path), "virtio"))
        || first_driver(above).as_ref().is_some_and(is_driver)
        || disk.model().is_some_and(|model| {
            let mut beginnings = VIRTUAL_MODELS.iter();
            beginnings.any(|beginning| model.starts_with(beginning))
        })
}

/// The first driver on the way, other than that of the disk itself.
fn first_driver(above: &[PathBuf]) -> Option<String> {
    let mut drivers = above.iter().filter_map(|path| driver_of(path));
    drivers.find(|driver| driver != "sd")
}

/// The directory of the SATA port. The old parallel ports look the same but have no SATA link.
fn sata_port(above: &[PathBuf]) -> Option<&Path> {
    let port = above
        .iter()
        .find(|path| is_numbered(name_of(path), "ata"))?;
    let is_parallel = port
        .parent()
        .and_then(driver_of)
        .is_some_and(|driver| driver.starts_with("pata_") || driver == "ata_piix");
    (!is_parallel).then_some(port)
}

/// `6.0` and a unit, or `<unknown>`.
fn sata_bits_per_s(port: &Path) -> Option<u64> {
    let link = name_of(port).replace("ata", "link");
    let text = text_of(
        port.join(&link)
            .join("ata_link")
            .join(&link)
            .join("sata_spd"),
    )?;
    decimal(text.split_once(" G")?.0, 1_000_000_000)
}
