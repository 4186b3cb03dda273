//! A device that is given back as it was.

use std::path::Path;

use cardmark_device::{BlocksPiece, FileLog, free_bytes};
use cardmark_host::{Resolution, Root, resolve};
use cardmark_integrity::{BLOCK_BYTES, Medium, Raw, Restoring, Span, Trouble, UndoLog};
use cardmark_report::text;

use crate::error::{CommandError, Exit};
use crate::voice::Voice;

/// Room left on the filesystem of the log, bytes: a full root filesystem harms a board.
const RESERVE_BYTES: u64 = 64 << 20;
/// Size of a log and its map without the content, bytes: heads, commits and single blocks.
const BESIDES_BYTES: u64 = 32 << 20;

/// Ranges of unrestored blocks that are shown.
const MOST_SHOWN: usize = 10;

/// A device whose overwritten blocks are kept elsewhere.
pub(super) type Borrowed<M> = Restoring<M, FileLog>;

/// Checks that overwritten blocks can be kept in that folder: it lies on another device, which has room
/// for `bytes`, if they are given.
pub(super) fn room_for_undo(
    voice: &dyn Voice,
    folder: &Path,
    device: &Resolution,
    bytes: Option<u64>,
) -> Result<(), CommandError> {
    let refuse = |why: String| {
        cannot_keep(why)
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
    if let Some(why) = bytes.and_then(|bytes| lacking_room(folder, bytes)) {
        return Err(refuse(why));
    }
    if below.memory_backed {
        let shown = folder.display();
        voice.notice(&format!(
            "warning: `{shown}` is in memory: a loss of power takes away what is kept there"
        ));
    }
    Ok(())
}

fn cannot_keep(why: String) -> CommandError {
    CommandError::new(Exit::Refused, "what is overwritten cannot be kept")
        .because(why)
        .hint("`--save-to DIR` names another folder, on another device")
}

/// Reason for which a log of `bytes` does not fit into that folder.
fn lacking_room(folder: &Path, bytes: u64) -> Option<String> {
    let free = match free_bytes(folder) {
        Ok(free) => free,
        Err(error) => return Some(error.to_string()),
    };
    let needed = bytes + BESIDES_BYTES + RESERVE_BYTES;
    (free < needed).then(|| {
        let (free, needed) = (text::amount(free), text::amount(needed));
        format!("`{}` has {free} free, needs {needed}", folder.display())
    })
}

/// Checks that a new log of `bytes` fits into the place of an earlier one.
pub(super) fn has_room(log: &Path, bytes: u64) -> Result<(), CommandError> {
    let lacking = log.parent().and_then(|folder| lacking_room(folder, bytes));
    lacking.map_or(Ok(()), |why| {
        Err(cannot_keep(why).hint("what could be restored was restored; no new test was begun"))
    })
}

/// Opens the log that an earlier session left at `path`, if any.
pub(super) fn find_log(path: &Path) -> Result<Option<FileLog>, CommandError> {
    FileLog::open(path).map_err(|error| {
        if error.kind() == std::io::ErrorKind::WouldBlock {
            return in_use(path);
        }
        let what = format!("cannot use the undo log `{}`", path.display());
        CommandError::new(Exit::Trouble, what)
            .because(error.to_string())
            .hint("nothing was written, and the log was kept")
            .hint(format!(
                "an earlier test may not be restored: move `{0}` and `{0}-map` away to begin without it",
                path.display()
            ))
    })
}

/// The error for a log that another process uses.
pub(super) fn in_use(path: &Path) -> CommandError {
    let what = format!("the undo log `{}` is in use", path.display());
    CommandError::new(Exit::Refused, what)
        .because(
            "another test overwrites a card with the same identity, and its undo log must not be shared",
        )
        .hint("wait until that test has ended")
        .hint("nothing was written")
}

/// Makes a log at `path`, of a session with that seed.
pub(super) fn create_log(path: &Path, seed: u64) -> Result<FileLog, CommandError> {
    FileLog::create(path, seed).map_err(|error| {
        let what = format!("cannot create the undo log `{}`", path.display());
        CommandError::new(Exit::Trouble, what)
            .because(error.to_string())
            .hint("nothing was written")
    })
}

/// Restores what was overwritten, and reports it. Fails if any block is not restored, or the log is damaged.
pub(super) fn put_back<M: Raw<Piece = BlocksPiece>>(
    voice: &dyn Voice,
    borrowed: &mut Borrowed<M>,
    log: &Path,
) -> Result<(), CommandError> {
    let kept_bytes = borrowed.kept_blocks() * BLOCK_BYTES as u64;
    if kept_bytes > 0 {
        let amount = text::amount(kept_bytes);
        voice.notice(&format!(
            "putting back what was there: {amount}, then reading it back; do not interrupt"
        ));
    }
    let mut told = 0;
    let restored = borrowed.restore(&mut |done, all| {
        let percent = done * 100 / all.max(1);
        if all > 200 && percent >= told + 25 && percent < 100 {
            told = percent;
            voice.notice(&format!("puts back what was there: {percent} %"));
        }
    });
    match restored {
        Ok(_) if !borrowed.unrestored().is_empty() => Err(unrestored(borrowed, log)),
        Ok(0) if borrowed.is_damaged() => Err(damaged(borrowed, log)),
        Ok(0) if !borrowed.changed().is_empty() => Err(changed(borrowed)),
        Ok(0) => Ok(()),
        Ok(blocks) => {
            let why = format!("the device does not take {blocks} blocks of 512 bytes");
            Err(not_put_back(why, log))
        }
        Err(trouble) => Err(not_put_back(why(trouble), log)),
    }
}

/// Announces what is read after the log of an interrupted test was restored.
pub(super) fn announce_reading<M: Raw<Piece = BlocksPiece>>(
    voice: &dyn Voice,
    borrowed: &Borrowed<M>,
    log: &Path,
) {
    if !borrowed.is_damaged() {
        let possible = borrowed.log().possible().iter();
        let read = text::amount(possible.map(|span| span.bytes()).sum());
        voice.notice(&format!(
            "then all blocks that it could have overwritten are read and checked: {read}"
        ));
        return;
    }
    let all = text::amount(borrowed.blocks_count() * BLOCK_BYTES as u64);
    voice.notice(&format!(
        "warning: the undo log `{}` is damaged: its intact pieces are restored, then the whole device \
         ({all}) is read to find blocks that are not",
        log.display()
    ));
}

/// The error for blocks that still hold content of the test.
fn unrestored<M: Raw<Piece = BlocksPiece>>(borrowed: &Borrowed<M>, log: &Path) -> CommandError {
    let spans = borrowed.unrestored();
    let blocks: u64 = spans.iter().map(|span| span.count).sum();
    let what = format!("{blocks} blocks of 512 bytes could not be restored");
    let why = match borrowed.is_damaged() {
        true => "the undo log is damaged: what these blocks held is lost",
        false => "the undo log does not have them, and they hold content of the interrupted test",
    };
    let mut error = CommandError::new(Exit::Trouble, what).because(why);
    for span in spans.iter().take(MOST_SHOWN) {
        error = error.because(format!(
            "bytes {} to {}",
            span.offset_bytes(),
            last_byte(*span)
        ));
    }
    if let Some(more) = spans.len().checked_sub(MOST_SHOWN + 1) {
        error = error.because(format!("and {} other ranges", more + 1));
    }
    let log = log.display();
    error
        .hint("all that the log still has was restored; no new test was begun")
        .hint(format!(
            "`{log}` and `{log}-map` were kept: copies that are intact can replace them"
        ))
        .hint("move both files away to give up what these blocks held, and use `--keep-residue`")
}

fn last_byte(span: Span) -> u64 {
    span.offset_bytes() + span.bytes().saturating_sub(1)
}

/// Error for a damaged log that was no longer needed.
fn damaged<M: Raw<Piece = BlocksPiece>>(borrowed: &Borrowed<M>, log: &Path) -> CommandError {
    let kept = borrowed.log().set_aside();
    let what = format!("the undo log `{}` was damaged", log.display());
    let error = CommandError::new(Exit::Trouble, what).because(
        "all that it still has was restored, and the device that is here holds nothing else of that test",
    );
    kept_aside(error, kept)
}

/// The error for blocks that somebody wrote since the interrupted test, or that were spoiled when it ended.
fn changed<M: Raw<Piece = BlocksPiece>>(borrowed: &Borrowed<M>) -> CommandError {
    let spans = borrowed.changed();
    let mut error = CommandError::new(
        Exit::Trouble,
        "some blocks hold neither test content nor what was there before the test",
    )
    .because("they were written since, or were spoiled when the test was interrupted")
    .because("they were left as they are; all other blocks are restored");
    for span in spans.iter().take(MOST_SHOWN) {
        let (first, last) = (span.offset_bytes(), last_byte(*span));
        error = error.because(format!("within bytes {first} to {last}"));
    }
    if let Some(more) = spans.len().checked_sub(MOST_SHOWN + 1) {
        error = error.because(format!("and {} other ranges", more + 1));
    }
    kept_aside(error, borrowed.log().set_aside())
}

fn kept_aside(error: CommandError, kept: std::io::Result<std::path::PathBuf>) -> CommandError {
    match kept {
        Ok(path) => error
            .hint(format!("the log was kept as `{}`", path.display()))
            .hint("the same command begins a new test"),
        Err(cause) => error.because(format!("it cannot be renamed: {cause}")),
    }
}

/// The error for a device with content of a test that no undo log here covers.
pub(super) fn residue(block: u64) -> CommandError {
    let what =
        "the device holds content of an earlier probe or anatomy, and its undo log is not here";
    let at = Span::new(block, 0).offset_bytes();
    CommandError::new(Exit::Trouble, what)
        .because(format!("found at byte {at}, before that was overwritten"))
        .because("the log may be in another home folder or `--save-to` folder, on another computer, or lost")
        .hint("run the same command where that test was run: it restores the device")
        .hint("`--keep-residue` begins nevertheless, and puts that content back like any other")
        .hint("`--destroy` begins without restoring anything")
}

pub(super) fn why(trouble: Trouble) -> String {
    match trouble {
        Trouble::Gone { errno }
        | Trouble::OnlyErrors { errno }
        | Trouble::Filesystem { errno }
        | Trouble::NotKept { errno } => std::io::Error::from_raw_os_error(errno.0).to_string(),
        Trouble::Residue { .. } => "it holds content of another test".to_owned(),
        Trouble::NoAnswer { .. } => "it does not answer".to_owned(),
        Trouble::Stopped => "it was stopped".to_owned(),
    }
}

pub(super) fn not_put_back(why: String, log: &Path) -> CommandError {
    let what = "not all that was overwritten could be put back";
    CommandError::new(Exit::Trouble, what)
        .because(why)
        .hint(format!("it is kept in `{}`", log.display()))
        .hint("the same command puts it back first")
}
