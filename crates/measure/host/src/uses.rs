//! Reasons against writing to a block device, in words for people.

use std::fmt;
use std::path::PathBuf;

use crate::block::{Below, BlockDevice};
use cardmark_core::LayerKind;

/// A reason against writing to a block device. Devices go by the kernel's names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// The system runs from it.
    System {
        /// The device.
        device: String,
        /// Content of the device: `/`, `/boot` or `/usr`.
        directory: PathBuf,
    },
    /// A filesystem on it is mounted.
    Mounted {
        /// The device.
        device: String,
        /// Mount point.
        directory: PathBuf,
        /// A process that sees it there, if this one does not.
        process: Option<u32>,
    },
    /// The kernel keeps a filesystem on it open, whether or not it can be seen mounted.
    Filesystem {
        /// The device.
        device: String,
        /// Its type.
        filesystem: String,
    },
    /// It is swap space.
    Swap {
        /// The device, or the file of a loop device.
        device: String,
    },
    /// Another block device is made from it.
    Made {
        /// The device.
        device: String,
        /// The other one.
        holder: String,
        /// Kind of the device made from it.
        kind: MadeKind,
        /// Common name, such as the volume's name.
        title: Option<String>,
    },
    /// Another loop device has the same backing file, by device and inode.
    SameFile {
        /// The device.
        device: String,
        /// The other loop device.
        other: String,
    },
    /// Another loop device may have the same backing file: it cannot be compared.
    MaySameFile {
        /// The device.
        device: String,
        /// The other loop device.
        other: String,
        /// Reason for which it is unknown.
        reason: String,
    },
    /// A process has it open for writing.
    Opened {
        /// The device, or the file of a loop device.
        device: String,
        /// The process.
        process: u32,
        /// Its name.
        command: String,
    },
    /// A process has the file of a loop device mapped into memory for writing.
    Mapped {
        /// The file.
        file: String,
        /// The process.
        process: u32,
        /// Its name.
        command: String,
    },
    /// The kernel lets other computers write to it: as a USB stick, or through a network.
    Served {
        /// The device, or the file of a loop device.
        device: String,
        /// Setting of the kernel that names it.
        setting: PathBuf,
    },
    /// It is nothing that tests may write to.
    Unsuitable {
        /// The device.
        device: String,
        /// Reason.
        reason: &'static str,
    },
    /// It is write-protected.
    ReadOnly {
        /// The device.
        device: String,
    },
    /// It has no medium: its size is 0.
    NoMedium {
        /// The device.
        device: String,
    },
    /// Something that would have to be known cannot be.
    Unclear {
        /// Missing fact.
        detail: String,
    },
}

/// Kind of device made from a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MadeKind {
    /// A volume of LVM.
    Lvm,
    /// An encrypted device.
    Crypt,
    /// Something else of the device mapper.
    Mapper,
    /// An array of md.
    Raid,
    /// A device of bcache, or a member of it that waits for the others.
    Bcache,
    /// A loop device.
    Loop,
    /// Something else.
    Other,
}

impl Use {
    /// Returns whether it is no use that was seen, but one that cannot be excluded.
    #[must_use]
    pub fn is_unclear(&self) -> bool {
        matches!(self, Self::Unclear { .. } | Self::MaySameFile { .. })
    }
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { device, directory } => {
                let directory = directory.display();
                write!(f, "the system runs from it: {directory} lies on {device}")
            }
            Self::Mounted {
                device,
                directory,
                process,
            } => {
                write!(f, "{device} is mounted at {}", directory.display())?;
                process.map_or(Ok(()), |id| {
                    write!(f, ", visible to process {id} but not to this one")
                })
            }
            Self::Filesystem { device, filesystem } => {
                write!(
                    f,
                    "the kernel keeps a filesystem open on {device} ({filesystem})"
                )
            }
            Self::Swap { device } => write!(f, "{device} is in use as swap space"),
            Self::Made {
                device,
                holder,
                kind,
                title,
            } => {
                write!(f, "{device} is part of {holder}, {}", kind.name())?;
                title
                    .as_ref()
                    .map_or(Ok(()), |title| write!(f, " `{title}`"))
            }
            Self::SameFile { device, other } => {
                write!(f, "{device} and {other} have the same backing file")
            }
            Self::MaySameFile {
                device,
                other,
                reason,
            } => write!(
                f,
                "cannot determine who uses it: {other} may have the same backing file as {device}: {reason}"
            ),
            Self::Opened {
                device,
                process,
                command,
            } => write!(
                f,
                "process {process} ({command}) has {device} open for writing"
            ),
            Self::Mapped {
                file,
                process,
                command,
            } => write!(
                f,
                "process {process} ({command}) has {file} mapped into memory for writing"
            ),
            Self::Served { device, setting } => write!(
                f,
                "the kernel serves {device} to another computer: {}",
                setting.display()
            ),
            Self::Unsuitable { device, reason } => write!(f, "{device} is {reason}"),
            Self::ReadOnly { device } => write!(f, "{device} is write-protected"),
            Self::NoMedium { device } => write!(f, "{device} has no medium: its size is 0"),
            Self::Unclear { detail } => write!(f, "cannot determine who uses it: {detail}"),
        }
    }
}

impl MadeKind {
    pub(crate) fn of(device: &BlockDevice) -> Self {
        match device.below() {
            Some(Below::File) => Self::Loop,
            Some(Below::Members(LayerKind::Md, _)) => Self::Raid,
            Some(Below::Members(LayerKind::Bcache, _)) => Self::Bcache,
            Some(Below::Members(LayerKind::Dm, _)) => {
                let id = device.text("dm/uuid").unwrap_or_default();
                match id.split('-').next() {
                    Some("LVM") => Self::Lvm,
                    Some("CRYPT") => Self::Crypt,
                    _ => Self::Mapper,
                }
            }
            _ => Self::Other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Lvm => "an LVM volume",
            Self::Crypt => "an encrypted device",
            Self::Mapper => "a device of the device mapper",
            Self::Raid => "a RAID array",
            Self::Bcache => "a cache device (bcache)",
            Self::Loop => "a loop device",
            Self::Other => "another block device",
        }
    }
}
