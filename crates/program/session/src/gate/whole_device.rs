//! A block device as a whole, for what is done to all of it.

use std::path::{Path, PathBuf};

use cardmark_core::{DeviceInfo, LayerKind};
use cardmark_host::{Resolution, Root, device_info};
use cardmark_sim::Model;

use crate::error::{CommandError, Exit};
use crate::gate::consent::refuse_used;
use crate::target::choose::{Chosen, choose};

/// A block device as a whole.
pub struct WholeDevice {
    /// Its path without symbolic links.
    pub path: PathBuf,
    /// Layers below.
    pub resolution: Box<Resolution>,
    /// Card or disk.
    pub info: DeviceInfo,
}

/// Target of a test of a whole device.
pub enum Tested {
    /// A simulated card.
    Simulated(Box<Model>),
    /// A device.
    Device(Box<WholeDevice>),
}

impl Tested {
    /// Resolves the name of a target that will be written. Refuses a device in use before any other
    /// check. `why` is the reason for which it must be a whole device.
    pub fn to_write(name: &str, why: &str) -> Result<Self, CommandError> {
        Self::checked(name, why, refuse_used)
    }

    /// The same of a target that will only be read: it may be in use.
    pub fn to_read(name: &str, why: &str) -> Result<Self, CommandError> {
        Self::checked(name, why, |_, _| Ok(()))
    }

    /// The same with a check of its own.
    pub fn checked(
        name: &str,
        why: &str,
        check: impl FnOnce(&Path, &Resolution) -> Result<(), CommandError>,
    ) -> Result<Self, CommandError> {
        Ok(match choose(name)? {
            Chosen::Simulated(model) => Self::Simulated(model),
            Chosen::Real { path, resolution } => {
                check(&path, &resolution)?;
                Self::Device(Box::new(WholeDevice::of(name, path, resolution, why)?))
            }
        })
    }
}

impl WholeDevice {
    /// Resolves the name of a device that will be written, as [`Tested::to_write`].
    pub fn to_write(name: &str, why: &str) -> Result<Self, CommandError> {
        match Tested::to_write(name, why)? {
            Tested::Device(device) => Ok(*device),
            Tested::Simulated(_) => {
                let what = format!("`{name}` is a simulated card, which is new in every run");
                Err(CommandError::new(Exit::Usage, what)
                    .hint("name a block device, such as /dev/mmcblk0"))
            }
        }
    }

    /// The same of a target that is known already.
    pub fn of(
        name: &str,
        path: PathBuf,
        resolution: Box<Resolution>,
        why: &str,
    ) -> Result<Self, CommandError> {
        let refuse = |what: String| CommandError::new(Exit::Usage, what);
        if path.is_dir() {
            return Err(refuse(format!("`{name}` is a directory"))
                .because(why)
                .hint("name the block device, such as /dev/mmcblk0"));
        }
        let layer = resolution.layers.first();
        let kind = layer.map(|layer| &layer.kind);
        let kernel_name = layer.and_then(|layer| layer.device.clone());
        match (kind, kernel_name) {
            (Some(LayerKind::Disk | LayerKind::Loop), Some(kernel_name)) => Ok(Self {
                info: device_info(&Root::system(), &kernel_name),
                path,
                resolution,
            }),
            (Some(LayerKind::Partition), _) => Err(refuse(format!("`{name}` is a partition"))
                .because("its cells are not its own: the device moves data among all of them")
                .hint("name the device as a whole, such as /dev/mmcblk0")),
            _ => Err(refuse(format!("`{name}` is made from other devices"))
                .hint("name one of the devices below, such as /dev/mmcblk0")),
        }
    }
}
