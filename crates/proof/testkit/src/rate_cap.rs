//! A cap of the kernel on a device's rate.
//!
//! Set on the root group of blkio: a child group would leak through writeback. The kernel releases
//! bytes in slices of about 100 ms.

use std::path::{Path, PathBuf};

use crate::LoopDevice;

const FOLDER: &str = "/sys/fs/cgroup/blkio";
const FILES: [&str; 2] = [
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
];

/// Reads and writes of a loop device capped; lifted on drop, which must come before the device's.
#[derive(Debug)]
pub struct RateCap {
    number: String,
}

impl RateCap {
    /// Caps reads and writes at this rate each.
    #[must_use]
    pub fn on(device: &LoopDevice, bytes_per_s: u64) -> Self {
        let cap = Self {
            number: device.number(),
        };
        for file in FILES {
            std::fs::write(path(file), format!("{} {bytes_per_s}", cap.number)).unwrap();
        }
        cap
    }
}

impl Drop for RateCap {
    fn drop(&mut self) {
        for file in FILES {
            if let Err(error) = std::fs::write(path(file), format!("{} 0", self.number)) {
                eprintln!("rig: the cap on {} stays: {error}", self.number);
            }
        }
    }
}

/// Returns whether the kernel supports it.
pub(crate) fn is_offered() -> bool {
    FILES.iter().all(|file| path(file).exists())
}

fn path(file: &str) -> PathBuf {
    Path::new(FOLDER).join(file)
}
