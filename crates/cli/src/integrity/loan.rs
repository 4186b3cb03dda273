//! Tests that overwrite little of a device, and give it back as it was.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cardmark_device::{Blocks, OpenTarget};
use cardmark_engine::Pulse;
use cardmark_integrity::{BLOCK_BYTES, Content, Medium, Restoring, Trouble, UndoLog};

use super::undo::{Borrowed, open_log, put_back, room_for_undo};
use super::{card_name, ended_early, tests_folder, watched};
use crate::args::{Consent, LoanArguments};
use crate::data::Data;
use crate::error::{CommandError, Exit};
use crate::gate::{Intent, permit_writing};
use crate::print;
use crate::whole_device::WholeDevice;

/// A test of a device.
pub(crate) struct Loan {
    /// Seed of what it writes.
    pub(crate) seed: u64,
    /// Span after which the device counts as not answering, nanoseconds.
    pub(crate) limit_ns: u64,
    /// Others can ask it to end.
    pub(crate) pulse: Arc<Pulse>,
    /// Where what is overwritten is kept; none where nothing is to be put back.
    pub(crate) log: Option<PathBuf>,
}

/// What came of a test.
pub(crate) struct Worked<T> {
    /// What was found.
    pub(crate) found: Result<T, Trouble>,
    /// The signal that ended it.
    pub(crate) signal: Option<Exit>,
    /// How much was written to put back what was there, bytes; or why that failed.
    pub(crate) put_back: Result<u64, CommandError>,
}

impl Loan {
    /// Tests the device, and puts back what was there. What an interrupted test left is put back first.
    pub(crate) fn work<T>(
        &self,
        mut blocks: Blocks,
        look: impl Fn(&mut dyn Medium) -> Result<T, Trouble>,
    ) -> Result<Worked<T>, CommandError> {
        let Some(path) = &self.log else {
            let hint = "when the device answers again, the same command begins anew".to_owned();
            let (found, signal) = watched(&self.pulse, self.limit_ns, hint, || look(&mut blocks))?;
            return Ok(Worked {
                found,
                signal,
                put_back: Ok(0),
            });
        };
        let mut borrowed = self.borrow(blocks, path)?;
        let hint = format!(
            "what was overwritten is kept in `{}`; when the device answers again, the same command puts \
             it back",
            path.display()
        );
        let (worked, signal) = watched(&self.pulse, self.limit_ns, hint, || {
            if borrowed.has_earlier() {
                print::notice("an earlier test was interrupted: first puts back what was there");
                put_back(&mut borrowed, path)?;
                borrowed = self.borrow(borrowed.into_parts().0, path)?;
            }
            let found = look(&mut borrowed);
            let back = match found {
                // There is nothing to put it back to.
                Err(Trouble::Gone { .. }) => Ok(()),
                _ => put_back(&mut borrowed, path),
            };
            let bytes = borrowed.put_blocks() * BLOCK_BYTES as u64;
            Ok::<_, CommandError>((found, back.map(|()| bytes), borrowed.into_parts().1))
        })?;
        let (found, put_back, log) = worked?;
        if log.count() > 0 {
            print::notice(&format!(
                "what was overwritten is kept in `{}`; the same command puts it back",
                path.display()
            ));
        } else if let Err(error) = log.remove_if_empty() {
            print::notice(&format!(
                "warning: cannot remove `{}`: {error}",
                path.display()
            ));
        }
        Ok(Worked {
            found,
            signal,
            put_back,
        })
    }

    /// The device, with the log of what is overwritten, perhaps an earlier test's.
    fn borrow(&self, blocks: Blocks, path: &Path) -> Result<Borrowed, CommandError> {
        let log = open_log(path, self.seed)?;
        let seed = log.seed();
        Restoring::new(blocks, log, Content { seed, round: 0 })
            .map_err(|trouble| ended_early(trouble, None, "the log of an earlier test is damaged"))
    }
}

/// Opens a device for a test that writes so much at most, once all has agreed; and where what is
/// overwritten is kept.
pub(crate) fn lend(
    arguments: &LoanArguments,
    consent: &Consent,
    device: &WholeDevice,
    data: &Data,
    wanted_bytes: u64,
) -> Result<(OpenTarget, Option<PathBuf>), CommandError> {
    let log = log_path(arguments, device, data, wanted_bytes)?;
    let what = match &log {
        Some(_) => {
            "write to small parts of a raw device, and to put back afterwards what was there"
        }
        None => "write to small parts of a raw device, and to leave them so",
    };
    let intent = Intent {
        what,
        // All of it is written twice where it is put back.
        bytes_to_write: Some(match log.is_some() {
            true => 2 * wanted_bytes,
            false => wanted_bytes,
        }),
        puts_back: log.is_some(),
    };
    let target = permit_writing(&device.path, &device.resolution, consent, &intent)?;
    Ok((target, log))
}

/// Where what is overwritten is kept, if it can be; none where nothing is to be put back.
fn log_path(
    arguments: &LoanArguments,
    device: &WholeDevice,
    data: &Data,
    wanted_bytes: u64,
) -> Result<Option<PathBuf>, CommandError> {
    if arguments.destroy {
        return Ok(None);
    }
    let folder = match &arguments.save_to {
        Some(folder) => folder.clone(),
        None => tests_folder(data)?,
    };
    let Some(name) = card_name(data, &device.info.name)? else {
        return Err(CommandError::new(
            Exit::Refused,
            "what is overwritten could not be put back after an interruption",
        )
        .because("the device says neither a CID nor a serial number: it could not be found again")
        .hint("`--destroy` keeps nothing: what is on the device is lost")
        .hint("nothing was written"));
    };
    room_for_undo(&folder, &device.resolution, wanted_bytes)?;
    Ok(Some(folder.join(format!("{name}.undo"))))
}
