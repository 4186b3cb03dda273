//! A device that is given back as it was.

use std::path::Path;

use cardmark_device::{Blocks, FileLog, free_bytes};
use cardmark_host::{Resolution, Root, resolve};
use cardmark_integrity::{BLOCK_BYTES, Restoring, Trouble};
use cardmark_report::text;

use crate::error::{CommandError, Exit};
use crate::print;

/// Room left on the filesystem of the log, bytes: a full root filesystem harms a board.
const RESERVE_BYTES: u64 = 64 << 20;
/// What a log takes besides the content: heads, and single blocks.
const BESIDES_BYTES: u64 = 16 << 20;

/// A device of which what is overwritten is kept elsewhere.
pub(crate) type Borrowed = Restoring<Blocks, FileLog>;

/// Whether what is overwritten can be kept in that folder: it lies on another device, which has room
/// for so much.
pub(crate) fn room_for_undo(
    folder: &Path,
    device: &Resolution,
    bytes: u64,
) -> Result<(), CommandError> {
    let refuse = |why: String| {
        CommandError::new(Exit::Refused, "what is overwritten cannot be kept")
            .because(why)
            .hint("`--save-to DIR` names another folder, on another device")
            .hint("`--destroy` keeps nothing: what is on the device is lost")
            .hint("nothing was written")
    };
    let below = resolve(&Root::system(), folder).map_err(|error| refuse(error.to_string()))?;
    let is_same = |disk: &cardmark_core::DeviceInfo| {
        device.disks.iter().any(|tested| tested.name == disk.name)
    };
    let of_device = |layer: &cardmark_core::Layer| layer.device.clone();
    let names: Vec<String> = device
        .layers
        .first()
        .and_then(of_device)
        .into_iter()
        .collect();
    let is_on_it = below.disks.iter().any(is_same)
        && below
            .layers
            .iter()
            .filter_map(of_device)
            .any(|name| names.contains(&name));
    if is_on_it {
        let shown = folder.display();
        return Err(refuse(format!("`{shown}` lies on the device itself")));
    }
    let free = free_bytes(folder).map_err(|error| refuse(error.to_string()))?;
    let needed = bytes + BESIDES_BYTES + RESERVE_BYTES;
    if free < needed {
        let (free, needed) = (text::amount(free), text::amount(needed));
        let shown = folder.display();
        return Err(refuse(format!(
            "`{shown}` has {free} free, {needed} are needed"
        )));
    }
    if below.memory_backed {
        let shown = folder.display();
        print::notice(&format!(
            "warning: `{shown}` is in memory: a loss of power takes away what is kept there"
        ));
    }
    Ok(())
}

/// Opens the log in that file, of a test with that seed unless it holds an earlier one's.
pub(crate) fn open_log(path: &Path, seed: u64) -> Result<FileLog, CommandError> {
    FileLog::open(path, seed).map_err(|error| {
        let what = format!("cannot open `{}`", path.display());
        CommandError::new(Exit::Trouble, what).because(error.to_string())
    })
}

/// Refuses a card that is not the one whose blocks are kept.
pub(crate) fn recognise(borrowed: &mut Borrowed, log: &Path) -> Result<(), CommandError> {
    let is_known = borrowed
        .knows_storage()
        .map_err(|trouble| not_put_back(why(trouble), log))?;
    if is_known {
        return Ok(());
    }
    let what = "this is not the card that the interrupted test overwrote";
    Err(CommandError::new(Exit::Refused, what)
        .because("it holds neither what that test wrote nor what was there before")
        .because(format!("what was there is kept in `{}`", log.display()))
        .hint("put in the card that was tested then: the same command puts it back first")
        .hint("`--save-to DIR`, another folder, tests this card and leaves that file alone")
        .hint("if that card is gone, or was written anew, remove that file; nothing was written"))
}

/// Brings back what was overwritten, and says so.
pub(crate) fn put_back(borrowed: &mut Borrowed, log: &Path) -> Result<(), CommandError> {
    let kept_bytes = borrowed.kept_blocks() * BLOCK_BYTES as u64;
    if kept_bytes > 0 {
        let amount = text::amount(kept_bytes);
        print::notice(&format!(
            "putting back what was there: {amount}; do not interrupt"
        ));
    }
    let mut told = 0;
    let restored = borrowed.restore(&mut |done, all| {
        let percent = done * 100 / all.max(1);
        if all > 200 && percent >= told + 25 && percent < 100 {
            told = percent;
            print::notice(&format!("puts back what was there: {percent} %"));
        }
    });
    match restored {
        Ok(0) => Ok(()),
        Ok(blocks) => {
            let why = format!("the device does not take {blocks} blocks of 512 bytes");
            Err(not_put_back(why, log))
        }
        Err(trouble) => Err(not_put_back(why(trouble), log)),
    }
}

fn why(trouble: Trouble) -> String {
    match trouble {
        Trouble::Gone { errno }
        | Trouble::OnlyErrors { errno }
        | Trouble::Filesystem { errno }
        | Trouble::NotKept { errno } => std::io::Error::from_raw_os_error(errno).to_string(),
        Trouble::Stopped => "it was stopped".to_owned(),
    }
}

fn not_put_back(why: String, log: &Path) -> CommandError {
    let what = "not all that was overwritten could be put back";
    CommandError::new(Exit::Trouble, what)
        .because(why)
        .hint(format!("it is kept in `{}`", log.display()))
        .hint("the same command puts it back first")
}
