//! What a block device says about itself.

use cardmark_core::{DeviceInfo, Queue};

use crate::Root;
use crate::block::{Below, BlockDevice, is_numbered};
use crate::card::card_identity;

/// What the kernel says about the block device of that name. A partition has its own size and
/// its disk's model and queue. Of a device that is not there only the name is given back.
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
    DeviceInfo {
        name: device.name.clone(),
        size_bytes: device.size_bytes(),
        model: model_of(disk),
        removable: disk.flag("removable"),
        queue: queue_of(disk),
        sample_id: card_identity(root, name).and_then(|card| card.sample_id),
        prepared: None,
    }
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

/// Cards say `name`; SCSI and USB say `vendor` and `model`; NVMe says `model`.
pub(crate) fn model_of(disk: &BlockDevice) -> Option<String> {
    let text = |attribute| disk.text(attribute);
    match (text("device/vendor"), text("device/model")) {
        // What is not text, such as virtio's "0x1af4", is an id.
        (Some(vendor), Some(model)) if !vendor.starts_with("0x") && vendor != "ATA" => {
            Some(format!("{vendor} {model}"))
        }
        (_, Some(model)) => Some(model),
        (_, None) => disk
            .name
            .starts_with("mmcblk")
            .then(|| text("device/name"))?,
    }
}

fn queue_of(disk: &BlockDevice) -> Option<Queue> {
    let queue = Queue {
        scheduler: disk
            .text("queue/scheduler")
            .map(|text| active_scheduler(&text)),
        rotational: disk.flag("queue/rotational"),
        write_cache: disk.text("queue/write_cache"),
        read_ahead_bytes: disk
            .number("queue/read_ahead_kb")
            .map(|kib| kib.saturating_mul(1024)),
        logical_block_bytes: disk.number("queue/logical_block_size"),
        physical_block_bytes: disk.number("queue/physical_block_size"),
        requests_count: disk.number("queue/nr_requests"),
    };
    (queue != Queue::default()).then_some(queue)
}

/// The one in brackets of `none [mq-deadline] kyber`.
fn active_scheduler(text: &str) -> String {
    let inside = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(text, |(name, _)| name).to_owned()
}
