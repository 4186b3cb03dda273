//! Kinds of products.

use serde::{Deserialize, Serialize};

/// Kind of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProductKind {
    /// A microSD card.
    Microsd,
    /// A full-size SD card.
    Sd,
    /// A CompactFlash card.
    Cf,
    /// A USB stick.
    UsbStick,
    /// An SSD in a USB case.
    UsbSsd,
    /// An SSD for SATA.
    SataSsd,
    /// An SSD for NVMe.
    Nvme,
    /// A soldered or plugged eMMC.
    #[serde(rename = "emmc")]
    EmbeddedMmc,
    /// A hard disk.
    HardDisk,
}

impl ProductKind {
    /// Returns the common name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Microsd => "microSD",
            Self::Sd => "SD",
            Self::Cf => "CF",
            Self::UsbStick => "USB stick",
            Self::UsbSsd => "USB SSD",
            Self::SataSsd => "SATA SSD",
            Self::Nvme => "NVMe",
            Self::EmbeddedMmc => "eMMC",
            Self::HardDisk => "hard disk",
        }
    }
}
