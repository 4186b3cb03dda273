//! Counters of the block layer.

use std::fs::File;
use std::os::unix::fs::FileExt;

use cardmark_core::DeviceCounters;

use crate::Root;
use crate::block::SECTOR_BYTES;
use crate::root::open_file;

/// Reads the counters of a few block devices again and again, cheaply: the files stay open.
#[derive(Debug)]
pub struct CounterReader {
    files: Option<Vec<File>>,
}

impl CounterReader {
    /// Opens the counters of these devices, by the kernel's names.
    #[must_use]
    pub fn new(root: &Root, names: &[String]) -> Self {
        let open =
            |name: &String| open_file(root.path("/sys/class/block").join(name).join("stat")).ok();
        let files: Option<Vec<File>> = names.iter().map(open).collect();
        Self {
            files: files.filter(|files| !files.is_empty()),
        }
    }

    /// Returns the sum over all devices; `None` if there are none, or if one of them cannot be read.
    pub fn read(&mut self) -> Option<DeviceCounters> {
        let mut sum = DeviceCounters::default();
        for file in self.files.as_ref()? {
            let mut text = [0_u8; 512];
            let length = file.read_at(&mut text, 0).ok()?;
            let one = parse_counters(std::str::from_utf8(text.get(..length)?).ok()?)?;
            sum.read_operations_count += one.read_operations_count;
            sum.read_bytes += one.read_bytes;
            sum.write_operations_count += one.write_operations_count;
            sum.write_bytes += one.write_bytes;
        }
        Some(sum)
    }
}

/// Fields 1, 3, 5 and 7 of `stat`; the sectors there are of 512 bytes on every device.
fn parse_counters(text: &str) -> Option<DeviceCounters> {
    let fields: Vec<u64> = text
        .split_ascii_whitespace()
        .take(7)
        .map_while(|field| field.parse().ok())
        .collect();
    let [reads, _, read_sectors, _, writes, _, written_sectors] = fields[..] else {
        return None;
    };
    Some(DeviceCounters {
        read_operations_count: reads,
        read_bytes: read_sectors.checked_mul(SECTOR_BYTES)?,
        write_operations_count: writes,
        write_bytes: written_sectors.checked_mul(SECTOR_BYTES)?,
    })
}
