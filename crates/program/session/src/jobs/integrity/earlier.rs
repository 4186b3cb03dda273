//! Restoration after interrupted tests: which of the undo logs belongs to the card that is here.
//!
//! Cards of one size behind one USB reader report one identity, and so do copies of one image everywhere else. A log at
//! the expected path may therefore belong to another card. Only content of its session identifies that card. A log
//! without its card is set aside and tried again at each later test of a card with that identity.

use std::io::ErrorKind;
use std::path::Path;

use cardmark_device::{BlocksPiece, FileLog};
use cardmark_integrity::{Content, Raw, Restoring};

use super::undo::{Borrowed, announce_reading, in_use, not_put_back, put_back, why};
use crate::error::{CommandError, Exit};
use crate::target::describe::minute;
use crate::voice::Voice;

/// The device, with the log of what is overwritten.
pub(super) fn borrow<M: Raw<Piece = BlocksPiece>>(medium: M, log: FileLog) -> Borrowed<M> {
    let content = Content {
        seed: log.seed(),
        round: 0,
    };
    Restoring::new(medium, log, content)
}

/// Restores what interrupted tests of this card overwrote, by `log`, which was found at `path`, and by the logs that were
/// set aside. `identity` describes what the device reports. Fails if any block is not restored, or if `log` belongs to
/// another card; it is then set aside.
pub(super) fn restore_earlier<M: Raw<Piece = BlocksPiece>>(
    voice: &dyn Voice,
    mut medium: M,
    log: Option<FileLog>,
    (path, identity): (&Path, &str),
) -> Result<M, CommandError> {
    let asides = FileLog::missing_at(path);
    let asides = asides.map_err(|error| not_put_back(error.to_string(), path))?;
    let mut foreign = None;
    if let Some(log) = log {
        voice.notice("an earlier test was interrupted: what it overwrote goes back first");
        let mut borrowed = borrow(medium, log);
        if knows_storage(&mut borrowed, path)? {
            medium = restore(voice, borrowed, path)?;
        } else {
            let unreadable = |trouble| not_put_back(why(trouble), path);
            let is_whole = borrowed.holds_kept().map_err(unreadable)?;
            let log;
            (medium, log) = borrowed.into_parts();
            foreign = Some((log, is_whole));
        }
    }
    let mut asides = asides.iter();
    let restored = asides.try_fold(medium, |medium, aside| {
        restore_by_aside(voice, medium, aside, path)
    });
    // Last, so that a session that is killed before it has named the missing card leaves that to the next one.
    let missing = foreign.map(|(log, is_whole)| set_aside(&log, is_whole, path, identity));
    match (restored, missing.transpose()?) {
        (restored, None) => restored,
        (Ok(_), Some(missing)) => Err(missing),
        (Err(error), Some(missing)) => {
            voice.error(&missing);
            Err(error)
        }
    }
}

/// Restores the card by a log that was set aside, if it belongs to it.
fn restore_by_aside<M: Raw<Piece = BlocksPiece>>(
    voice: &dyn Voice,
    medium: M,
    aside: &Path,
    path: &Path,
) -> Result<M, CommandError> {
    let shown = aside.display();
    let log = match FileLog::open(aside) {
        Ok(Some(log)) => log,
        Ok(None) => return Ok(medium),
        Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(in_use(aside)),
        Err(error) => {
            voice.notice(&format!(
                "warning: cannot use the undo log `{shown}`: {error}"
            ));
            return Ok(medium);
        }
    };
    let mut borrowed = borrow(medium, log);
    if !knows_storage(&mut borrowed, aside)? {
        voice.notice(&format!(
            "another card with this identity is not restored: insert it and run the same command; its undo \
             log is `{shown}`"
        ));
        return Ok(borrowed.into_parts().0);
    }
    let (medium, mut log) = borrowed.into_parts();
    // After an interruption it is again the log of a test that was interrupted last.
    log.bring_back(path)
        .map_err(|error| not_put_back(error.to_string(), aside))?;
    voice.notice(&format!(
        "this card was tested before another one: it is restored from `{shown}`"
    ));
    restore(voice, borrow(medium, log), path)
}

fn knows_storage<M: Raw<Piece = BlocksPiece>>(
    borrowed: &mut Borrowed<M>,
    log: &Path,
) -> Result<bool, CommandError> {
    let known = borrowed.knows_storage();
    known.map_err(|trouble| not_put_back(why(trouble), log))
}

fn restore<M: Raw<Piece = BlocksPiece>>(
    voice: &dyn Voice,
    mut borrowed: Borrowed<M>,
    log: &Path,
) -> Result<M, CommandError> {
    announce_reading(voice, &borrowed, log);
    put_back(voice, &mut borrowed, log)?;
    Ok(borrowed.into_parts().0)
}

/// Sets a log aside whose card is not here. Returns the error that names that card.
fn set_aside(
    log: &FileLog,
    is_whole: bool,
    path: &Path,
    identity: &str,
) -> Result<CommandError, CommandError> {
    let what = "this is not the card that the interrupted test overwrote";
    let at = log.last_commit_at().and_then(|at| at.try_into().ok());
    let when = at.map_or_else(String::new, |at| format!(" on {}", minute(at)));
    let error = CommandError::new(Exit::Trouble, what)
        .because("it holds nothing that the test wrote; all else may be on any copy of that card")
        .because(format!(
            "missing: a card with the same identity ({identity}), whose test was interrupted{when}"
        ));
    let aside = match log.set_aside_as_missing() {
        Ok(aside) => aside,
        Err(cause) => {
            let kept = path.display();
            return Err(error
                .because(format!("its former content is kept in `{kept}`"))
                .because(format!("the log cannot be renamed: {cause}"))
                .hint("insert that card and run the same command: it is restored first")
                .hint("`--save-to DIR`, another folder, tests this card")
                .hint("nothing was written"));
        }
    };
    let kept = aside.display();
    let error = error
        .because(format!("its former content is kept in `{kept}`"))
        .hint(
            "insert that card and run the same command, with the same `--save-to` folder if any: it is \
             restored first",
        )
        .hint("to test this card, run the same command again");
    let error = match is_whole {
        true => error.hint(format!(
            "this card holds all that is kept: if it is the only card with this identity, nothing is missing, \
             and `{kept}` and `{kept}-map` can be removed"
        )),
        false => error,
    };
    Ok(error.hint("nothing was written by that log, and no new test was begun"))
}

#[cfg(test)]
mod tests;
