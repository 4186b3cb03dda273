//! Programs that write to a card, observed for some time. Nothing of it is kept.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cardmark_core::{DiskLook, Look};
use cardmark_device::ModifiedFiles;
use cardmark_host::{Root, process_writes, read_look};
use cardmark_judge::{WritersTally, Writing};

use super::watch::storage;
use crate::error::CommandError;
use crate::voice::Voice;

/// Interval at which the kernel's list of written files is emptied.
const STEP: Duration = Duration::from_millis(200);
/// Steps between two looks at all processes; those that end between two are missing.
const STEPS: u32 = 5;

/// Observes who writes to a target.
///
/// # Errors
/// If the target cannot be found.
pub fn writers(
    voice: &dyn Voice,
    target: Option<&str>,
    span: Duration,
) -> Result<Writing, CommandError> {
    let root = Root::system();
    let (_, resolution) = storage(&root, target)?;
    let look = || read_look(&root, &resolution, None);
    let before = look();
    let points = before.filesystems.iter().map(|one| Path::new(&one.point));
    let mut files = ModifiedFiles::observe(points)
        .ok()
        .filter(|_| !before.filesystems.is_empty());
    let disks: Vec<String> = before.disks.iter().map(|disk| disk.name.clone()).collect();
    voice.notice(&format!(
        "observing for {} s what writes to {}",
        span.as_secs(),
        disks.join(", ")
    ));
    let mut tally = WritersTally::default();
    tally.add(process_writes(&root));
    let began = Instant::now();
    for step in 1_u32.. {
        sleep(STEP.min(span.saturating_sub(began.elapsed())));
        for (process, file) in files.iter_mut().flat_map(ModifiedFiles::take) {
            tally.note(process, file.to_string_lossy().into_owned());
        }
        let is_over = began.elapsed() >= span;
        if is_over || step % STEPS == 0 {
            tally.add(process_writes(&root));
        }
        if is_over {
            break;
        }
    }
    Ok(Writing {
        disks,
        span_s: span.as_secs(),
        disk_bytes: written(&before, &look()),
        programs: tally.programs(files.is_some()),
        has_files: files.is_some(),
        sees_all: rustix::process::geteuid().is_root(),
    })
}

/// Bytes that the disks were written between two looks.
fn written(before: &Look, after: &Look) -> Option<u64> {
    let of_disk =
        |(one, other): (&DiskLook, &DiskLook)| other.counted_bytes?.checked_sub(one.counted_bytes?);
    let pairs = before.disks.iter().zip(&after.disks);
    pairs.map(of_disk).sum()
}
