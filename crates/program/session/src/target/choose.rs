//! The target that the user named, and its layers on this host.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use cardmark_core::TargetKind;
use cardmark_host::{Resolution, Root, resolve};
use cardmark_sim::{Model, ModelError};

use crate::error::{CommandError, Exit};

/// A target on which something can be measured.
pub enum Chosen {
    /// A simulated card.
    Simulated(Box<Model>),
    /// A directory or a block device of this host.
    Real {
        /// Its path without symbolic links.
        path: PathBuf,
        /// Layers below.
        resolution: Box<Resolution>,
    },
}

impl Chosen {
    /// Kind of target.
    pub fn kind(&self) -> TargetKind {
        match self {
            Self::Simulated(_) => TargetKind::Sim,
            Self::Real { resolution, .. } => resolution.kind,
        }
    }
}

/// Makes sense of the target's name.
pub fn choose(name: &str) -> Result<Chosen, CommandError> {
    if let Some(name) = name.strip_prefix("sim:") {
        return simulated(name)
            .map(|model| Chosen::Simulated(Box::new(model)))
            .map_err(|error| {
                CommandError::from_error(Exit::Usage, &error)
                    .hint("`cardmark list models` describes them")
            });
    }
    let path = existing(Path::new(name))?;
    let resolution = resolve(&Root::system(), &path).map_err(|error| {
        CommandError::from_error(Exit::Trouble, &error)
            .hint("nothing was written: a target is used only when it is clear what lies below it")
    })?;
    // Of a device it depends on whether it is to be written.
    if resolution.kind == TargetKind::Directory {
        refuse_memory(&path, &resolution)?;
    }
    Ok(Chosen::Real {
        path,
        resolution: Box::new(resolution),
    })
}

/// `MODEL` or `MODEL@BOARD`.
fn simulated(name: &str) -> Result<Model, ModelError> {
    match name.split_once('@') {
        Some((model, board)) => Model::named(model)?.on_board(board),
        None => Model::named(name),
    }
}

/// Refuses to measure what is in memory.
pub(crate) fn refuse_memory(path: &Path, resolution: &Resolution) -> Result<(), CommandError> {
    match resolution.memory_backed {
        true => Err(memory_error(path)),
        false => Ok(()),
    }
}

/// Error for a target in memory.
pub(crate) fn memory_error(path: &Path) -> CommandError {
    let what = format!("`{}` is in memory, not on storage", path.display());
    CommandError::new(Exit::Trouble, what)
        .because("what is written there fills memory, and direct I/O moves nothing")
        .hint("name a directory on the card, such as your home directory")
        .hint(
            "with a read-only root, as `raspi-config` makes it, all but /boot/firmware is in memory: name that, or \
             turn off the overlay filesystem and restart",
        )
}

fn existing(path: &Path) -> Result<PathBuf, CommandError> {
    let shown = path.display();
    let real = path.canonicalize().map_err(|error| {
        let made = CommandError::new(Exit::Trouble, format!("cannot find target `{shown}`"))
            .because(error.to_string());
        if path.components().count() == 1 && Model::named(&shown.to_string()).is_ok() {
            return made.hint(format!("the simulated card is called `sim:{shown}`"));
        }
        made.hint("a target is a directory, a block device, or sim:MODEL")
            .hint("`cardmark list devices` shows the disks and cards that are here")
    })?;
    let metadata = real.metadata().map_err(|error| {
        CommandError::new(Exit::Trouble, format!("cannot read target `{shown}`"))
            .because(error.to_string())
    })?;
    if metadata.is_dir() || metadata.file_type().is_block_device() {
        return Ok(real);
    }
    let made = CommandError::new(
        Exit::Usage,
        format!("target `{shown}` is neither a directory nor a block device"),
    );
    Err(match real.parent() {
        Some(parent) => made.hint(format!(
            "to test what it lies on: cardmark run {}",
            parent.display()
        )),
        None => made,
    })
}
