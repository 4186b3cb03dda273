//! One look at a target: facts, the state between looks, and what happened since the last one. Nothing is written to the target.

use std::path::{Path, PathBuf};

use cardmark_core::{Look, mix};
use cardmark_host::{Resolution, Root, boot_id, read_look, resolve};
use cardmark_judge::{EventKind, KEPT_VERSION, Kept, LastLook, Seen, acknowledge, last_look, seen};

use crate::build;
use crate::data::state::{State, States};
use crate::error::{CommandError, Exit};
use crate::target::choose::{Chosen, choose};
use crate::target::describe::with_health;

/// Places of the storage that a system runs from, in the order in which they are tried. With a read-only root in memory, as
/// `raspi-config` makes it, only the partition for starting shows the card.
const SYSTEM: [&str; 4] = ["/", "/media/root-ro", "/boot/firmware", "/boot"];
/// Longest name of a state.
const MOST_NAME_BYTES: usize = 200;

/// A request for a look.
#[derive(Clone, Debug, Default)]
pub struct LookRequest {
    /// A directory or a block device; `None`: the storage that the system runs from.
    pub target: Option<String>,
    /// Events that their owner knows of: those of a kind, or all.
    pub acknowledged: Option<Option<EventKind>>,
    /// Product that the card is, as its owner calls it.
    pub product: Option<String>,
}

/// A look and its result.
#[derive(Debug)]
pub struct Looked {
    /// The target.
    pub target: PathBuf,
    /// What was there.
    pub look: Look,
    /// What that means after the looks before.
    pub seen: Seen,
    /// Number of events that were acknowledged.
    pub acknowledged_count: usize,
    /// Messages about the state, such as why it could not be kept.
    pub notes: Vec<String>,
}

/// Looks at a target, and keeps the state if it changed.
///
/// # Errors
/// If the target cannot be found, or an acknowledgement cannot be kept. A look whose state cannot be kept is no error.
pub fn watch(states: &States, request: &LookRequest) -> Result<Looked, CommandError> {
    let root = Root::system();
    let (target, resolution) = storage(&root, request.target.as_deref())?;
    let mut state = states.open(&name_of(&target));
    let mut notes = Vec::new();
    let kept = load(&mut state, &mut notes);
    let look = take(&root, resolution, kept.as_ref());
    let mut seen = seen(kept.as_ref(), &look);
    if let Some(product) = &request.product {
        for disk in &mut seen.kept.disks {
            seen.is_changed |= disk.product.as_ref() != Some(product);
            disk.product = Some(product.clone());
        }
    }
    let acknowledged_count = request
        .acknowledged
        .map_or(0, |kind| acknowledge(&mut seen.kept, kind, look.at_s));
    let is_asked = request.acknowledged.is_some() || request.product.is_some();
    if (seen.is_changed || acknowledged_count > 0)
        && let Err(error) = keep(&mut state, &seen.kept)
    {
        if is_asked {
            return Err(CommandError::new(Exit::Trouble, "cannot keep the state")
                .because(error.to_string())
                .hint("the state of root's looks belongs to root: use sudo"));
        }
        notes.push(format!(
            "the state could not be kept: {error}; the next look begins where the last kept one ended"
        ));
    }
    Ok(Looked {
        target,
        look,
        seen,
        acknowledged_count,
        notes,
    })
}

/// The storage that a person named, or the system runs from.
pub(super) fn storage(
    root: &Root,
    named: Option<&str>,
) -> Result<(PathBuf, Resolution), CommandError> {
    let Some(name) = named else {
        return system(root);
    };
    match choose(name)? {
        Chosen::Real { path, resolution } => Ok((path, *resolution)),
        Chosen::Simulated(_) => Err(CommandError::new(
            Exit::Usage,
            "simulated cards cannot be watched",
        )
        .hint("name a directory or a device, or nothing: the storage of the system")),
    }
}

/// Returns the last kept look at each target. If none can be kept, such as on a card that has become read-only, it looks now.
#[must_use]
pub fn last_looks(states: &States) -> Vec<LastLook> {
    let look = |(name, text): (String, String)| {
        let kept: Kept = serde_json::from_str(&text).ok()?;
        let kept = Some(kept).filter(|kept| kept.version == KEPT_VERSION)?;
        let target = target_of(&name);
        let is_kept = states.open(&name).problem.is_none();
        let now = (!is_kept).then(|| look_after(&target, &kept)).flatten();
        Some(last_look(&target, &now.unwrap_or(kept)))
    };
    states.all().into_iter().filter_map(look).collect()
}

/// The state after a look now; `None` if the target cannot be found.
fn look_after(target: &str, kept: &Kept) -> Option<Kept> {
    let root = Root::system();
    let (_, resolution) = storage(&root, Some(target)).ok()?;
    Some(seen(Some(kept), &take(&root, resolution, Some(kept))).kept)
}

/// The storage that the system runs from.
fn system(root: &Root) -> Result<(PathBuf, Resolution), CommandError> {
    let mut places = SYSTEM.iter().filter_map(|path| {
        let resolution = resolve(root, Path::new(path)).ok()?;
        let is_storage = !resolution.disks.is_empty() && !resolution.memory_backed;
        is_storage.then(|| (PathBuf::from(path), resolution))
    });
    places.next().ok_or_else(|| {
        CommandError::new(
            Exit::Trouble,
            "cannot find the storage that the system runs from",
        )
        .hint("name a directory on the card, or its device: `cardmark list devices`")
    })
}

/// Name of the state of a target.
fn name_of(target: &Path) -> String {
    let name = target.to_string_lossy().replace('%', "%25");
    let name = name.replace('!', "%21").replace('/', "!");
    match name.len() <= MOST_NAME_BYTES {
        true => name,
        false => {
            let bytes = name.bytes();
            let digest = bytes.fold(0, |sum, byte| mix(sum ^ u64::from(byte)));
            format!("{digest:016x}")
        }
    }
}

/// The target of a state, by its name.
fn target_of(name: &str) -> String {
    let target = name.replace('!', "/").replace("%21", "!");
    target.replace("%25", "%")
}

fn load(state: &mut State, notes: &mut Vec<String>) -> Option<Kept> {
    let kept = state.text.as_deref().map(serde_json::from_str::<Kept>);
    let problem = match kept {
        Some(Ok(kept)) if kept.version == KEPT_VERSION => return Some(kept),
        Some(Ok(_)) => "it is of another version of cardmark",
        Some(Err(_)) => "it cannot be read",
        None if state.is_foreign => "it is damaged",
        None => return None,
    };
    if state.problem.is_none() {
        notes.push(match state.set_aside() {
            Ok(aside) => format!(
                "the state was set aside as `{}` and a new one begun: {problem}",
                aside.display()
            ),
            Err(error) => format!("the state cannot be used: {problem}; {error}"),
        });
    }
    None
}

/// The facts of this moment.
fn take(root: &Root, mut resolution: Resolution, kept: Option<&Kept>) -> Look {
    let disks = resolution.disks.into_iter();
    resolution.disks = disks.map(|disk| with_health(root, disk)).collect();
    let boot_id = boot_id(root);
    let log_from = kept.and_then(|kept| kept.log_from(boot_id.as_deref()));
    let now_s = jiff::Timestamp::now().as_second();
    let at_s = u64::try_from(now_s).ok();
    Look {
        at_s: at_s.filter(|_| build::is_clock_set(now_s)),
        ..read_look(root, &resolution, log_from)
    }
}

/// Keeps a state. The oldest days go if there is no room.
fn keep(state: &mut State, kept: &Kept) -> std::io::Result<()> {
    let mut kept = kept.clone();
    loop {
        let text = serde_json::to_string(&kept)?;
        let Err(error) = state.store(&text) else {
            return Ok(());
        };
        let longest = kept.disks.iter_mut().max_by_key(|disk| disk.days.len());
        match longest.filter(|disk| !disk.days.is_empty()) {
            Some(disk) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                disk.days.drain(..disk.days.len().div_ceil(4));
            }
            _ => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_has_a_state_of_its_own() {
        for target in ["/", "/mnt/a!b", "/mnt/a/b", "/mnt/%21", "/mnt/%2521"] {
            assert_eq!(target_of(&name_of(Path::new(target))), target);
        }
    }
}
