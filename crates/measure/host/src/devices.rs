//! Properties that a block device reports about itself.

use cardmark_cards::{EmmcLife, Registers};
use cardmark_core::{Card, DeviceInfo, Health, NoSample, Queue, Sample, SerialKind};

use crate::Root;
use crate::block::{Below, BlockDevice, is_numbered};
use crate::card::card_identity;
use crate::reader::reader_of;
use crate::registers::register_texts;
use crate::root::{chosen, line_of};
use crate::slot::{command_queue, slot_of};

/// Returns the kernel's data about the block device of that name. A partition has its own size and its disk's
/// model and queue. For a missing device, only the name is returned.
#[must_use]
pub fn device_info(root: &Root, name: &str) -> DeviceInfo {
    let Some(device) = BlockDevice::by_name(root, name) else {
        return DeviceInfo {
            name: name.to_owned(),
            ..DeviceInfo::default()
        };
    };
    let disk = device.disk();
    let disk = disk.as_ref().unwrap_or(&device);
    let (card, health) = card_of(root, name);
    let sample = sample_of(root, name, card.as_ref());
    DeviceInfo {
        name: device.name.clone(),
        size_bytes: device.size_bytes(),
        model: disk.model(),
        firmware: firmware_of(disk),
        removable: disk.flag("removable"),
        queue: queue_of(root, disk),
        reader: reader_of(root, disk),
        health,
        no_sample: sample.as_ref().err().copied(),
        sample: sample.ok(),
        card,
        prepared: None,
    }
}

/// Returns the id, or the reason why there is none. The serial number in a CID can be zero, which identifies nothing,
/// or low.
fn sample_of(root: &Root, name: &str, card: Option<&Card>) -> Result<Sample, NoSample> {
    let serial = card.and_then(|card| card.decoded.serial);
    if serial.is_some_and(|serial| serial != SerialKind::Usual) {
        return Err(NoSample::Low);
    }
    card_identity(root, name).map_or(Err(NoSample::Absent), |identity| identity.sample)
}

/// Returns the card of a device, as a record may hold it, and the health that an eMMC reports.
fn card_of(root: &Root, name: &str) -> (Option<Card>, Option<Health>) {
    let Some(found) = register_texts(root, name) else {
        return (None, None);
    };
    let text = |name: &str| found.texts.get(name).map_or("", String::as_str);
    let life = EmmcLife::from_texts(text("life_time"), text("pre_eol_info"));
    let registers = Registers::from_hex(found.kind, &found.texts);
    (Some(registers.card()), life.health())
}

/// The disks of this host: no partitions, no devices made from others, no memory, nothing that
/// is empty, and not the small hardware partitions of eMMC.
#[must_use]
pub fn block_devices(root: &Root) -> Vec<DeviceInfo> {
    let names = root.names("/sys/class/block");
    let devices = names
        .iter()
        .filter_map(|name| BlockDevice::by_name(root, name));
    devices
        .filter(is_disk)
        .filter(|device| device.size_bytes().is_some_and(|size| size > 0))
        .map(|device| device_info(root, &device.name))
        .collect()
}

fn is_disk(device: &BlockDevice) -> bool {
    let others = ["sr", "fd", "mtdblock"];
    device.below() == Some(Below::Nothing)
        && device.flag("hidden") != Some(true)
        && !device.is_hardware_part()
        && !others
            .iter()
            .any(|prefix| is_numbered(&device.name, prefix))
}

/// Returns the firmware revision. NVMe has `firmware_rev`, SCSI and USB have `rev`, eMMC has `fwrev`; in SD
/// cards that file is a part of their revision.
fn firmware_of(disk: &BlockDevice) -> Option<String> {
    let line = |attribute| line_of(disk.path(attribute));
    if slot_of(disk).is_some() {
        let is_emmc = disk.text("device/type").as_deref() == Some("MMC");
        return line("device/fwrev").filter(|_| is_emmc);
    }
    line("device/firmware_rev").or_else(|| line("device/rev"))
}

fn queue_of(root: &Root, disk: &BlockDevice) -> Option<Queue> {
    let tags = disk.number("mq/0/nr_tags").filter(|count| *count > 0);
    let bytes = |attribute| disk.number(attribute)?.checked_mul(1024);
    let queue = Queue {
        scheduler: disk.text("queue/scheduler").and_then(|text| chosen(&text)),
        rotational: disk.flag("queue/rotational"),
        write_cache: disk
            .text("queue/write_cache")
            .filter(|text| ["write back", "write through"].contains(&text.as_str())),
        read_ahead_bytes: bytes("queue/read_ahead_kb"),
        logical_block_bytes: disk.number("queue/logical_block_size"),
        physical_block_bytes: disk.number("queue/physical_block_size"),
        requests_count: disk.number("queue/nr_requests"),
        largest_request_bytes: bytes("queue/max_sectors_kb"),
        tags_count: tags,
        command_queue: command_queue(root, disk, tags),
    };
    (queue != Queue::default()).then_some(queue)
}
