//! Runs of what applications do, on files in a directory.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use cardmark_application::{Applications, UnsafeDirectory, WorkFolder, clear_leftovers};
use cardmark_core::{Finding, FindingKind, Severity, TargetKind};
use cardmark_device::OpenError;
use cardmark_engine::TargetRoom;
use cardmark_host::Resolution;
use cardmark_judge::advise;
use cardmark_stats::refresh;
use rustix::io::Errno;

use super::describing::target;
use super::execution::{Measured, on_host, real_header, same_device};
use super::opening::{counters, directory, has_room, open_error, plan};
use super::request::Measurement;
use crate::error::{CommandError, Exit};
use crate::voice::Voice;

/// Measures a directory of a real filesystem.
pub(super) fn real(
    job: &Measurement<'_>,
    path: &Path,
    resolution: &Resolution,
) -> Result<Measured, CommandError> {
    let place = match resolution.kind {
        TargetKind::Directory => directory(resolution),
        kind => TargetRoom::disk(kind, u64::MAX),
    };
    let plan = plan(job, place)?;
    clear(path, job.session.voice)?;
    let folder = WorkFolder::create(path).map_err(|error| cannot_open(path, &error))?;
    let room = has_room(path, job.suite.file_bytes)?;
    same_device(path, resolution, folder.device_id())?;
    let mut described = target(resolution.kind, &plan);
    described.free_bytes = Some(room.free_bytes);
    described.filesystem_bytes = Some(room.size_bytes);
    let header = real_header(job, &plan, resolution, described, Vec::new())?;
    let mut applications = Applications::new(
        folder.path(),
        plan.seed,
        counters(&resolution.counted),
        Arc::clone(&job.session.pulse),
    );
    let mut measured = on_host(job, &plan, header, resolution, &mut applications)?;
    note_damages(job, &mut measured, &applications);
    measured.folder = Some(folder);
    Ok(measured)
}

/// Removes what runs that were killed left here.
fn clear(path: &Path, voice: &dyn Voice) -> Result<(), CommandError> {
    let leftovers = clear_leftovers(path).map_err(|error| cannot_open(path, &error))?;
    for gone in &leftovers.removed {
        voice.notice(&format!(
            "removed what an interrupted run left: {}",
            gone.display()
        ));
    }
    for kept in &leftovers.kept {
        voice.notice(&format!(
            "warning: `{}` is named like the files of an interrupted run but cannot be removed, or \
             holds something else; it is left alone",
            kept.display()
        ));
    }
    Ok(())
}

fn cannot_open(path: &Path, error: &std::io::Error) -> CommandError {
    let inner = error.get_ref();
    if let Some(refused) = inner.and_then(|inner| inner.downcast_ref::<UnsafeDirectory>()) {
        return CommandError::from_error(Exit::Refused, refused).hint(refused.hint());
    }
    // `tempfile` reports only the kind.
    let errno = match error.kind() {
        ErrorKind::PermissionDenied => Errno::ACCESS,
        ErrorKind::ReadOnlyFilesystem => Errno::ROFS,
        ErrorKind::StorageFull => Errno::NOSPC,
        ErrorKind::QuotaExceeded => Errno::DQUOT,
        _ => return CommandError::from_error(Exit::Trouble, error),
    };
    open_error(&OpenError::of_directory(path, errno))
}

/// Reports files that changed since they were written as damaged.
fn note_damages(job: &Measurement<'_>, measured: &mut Measured, applications: &Applications) {
    // Of a run that failed it is known already, and the device may not answer any more.
    if measured.exit != Exit::Done {
        return;
    }
    let damages = applications.damages();
    if damages.is_empty() {
        return;
    }
    for damage in damages {
        let finding = Finding::new(FindingKind::IoError, Severity::Error, damage.detail);
        measured
            .record
            .findings
            .push(finding.on(damage.workload).by_run());
    }
    measured.exit = measured.exit.or_worse(Exit::Trouble);
    refresh(&mut measured.record, job.suite);
    advise(&mut measured.record);
}
