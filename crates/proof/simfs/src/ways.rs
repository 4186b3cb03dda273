//! Measures the transit from an asker to the card and back: through a loop device and FUSE.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use cardmark_engine::OpKind;
use rustix::fs::OFlags;

use crate::card::Card;
use crate::transit::{LARGE_BYTES, Line, SMALL_BYTES, Ways};

/// Span after which small requests are answered while the transit times are measured: as on cards.
const SMALL_SPAN_NS: u64 = 300_000;
/// Span after which large requests are answered then: their content takes time.
const LARGE_SPAN_NS: u64 = 3_000_000;
/// Number of requests for a median.
const SMALL_COUNT: usize = 60;
const LARGE_COUNT: usize = 16;
/// Number of medians; the least counts, because other programs may have needed the processors during the rest.
const MEDIANS: usize = 6;
const ALIGNMENT: usize = 4096;

/// Layers that the requests passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Through {
    Loop,
    FileAlone,
}

/// Measures the transit times through a loop device on the file, if one is available, and else to the file
/// itself.
pub(crate) fn measure(card: &Card, file: &Path) -> io::Result<(Ways, Through)> {
    match Loop::attach(file) {
        Some(device) => Ok((measure_at(card, &device.path)?, Through::Loop)),
        None => Ok((measure_at(card, file)?, Through::FileAlone)),
    }
}

fn measure_at(card: &Card, path: &Path) -> io::Result<Ways> {
    let direct = i32::try_from(OFlags::DIRECT.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .custom_flags(direct)
        .open(path)?;
    let line = |kind| -> io::Result<Line> {
        card.measure(SMALL_SPAN_NS);
        let small_ns = least_median(SMALL_COUNT, asker(&file, kind, SMALL_BYTES))?;
        card.measure(LARGE_SPAN_NS);
        let large_ns = least_median(LARGE_COUNT, asker(&file, kind, LARGE_BYTES))?;
        Ok(Line {
            small_ns: small_ns.saturating_sub(SMALL_SPAN_NS),
            large_ns: large_ns.saturating_sub(LARGE_SPAN_NS),
        })
    };
    let ways = Ways {
        read: line(OpKind::Read)?,
        write: line(OpKind::Write)?,
        flush_ns: {
            card.measure(SMALL_SPAN_NS);
            let flush_ns = least_median(SMALL_COUNT, || file.sync_data())?;
            flush_ns.saturating_sub(SMALL_SPAN_NS)
        },
    };
    Ok(ways)
}

/// Returns a function that repeats a request of that size.
fn asker(file: &File, kind: OpKind, bytes: usize) -> impl FnMut() -> io::Result<()> + '_ {
    let mut room = vec![0; bytes + ALIGNMENT];
    let start = room.as_ptr().align_offset(ALIGNMENT);
    move || {
        let buffer = &mut room[start..start + bytes];
        match kind {
            OpKind::Read => file.read_exact_at(buffer, 0),
            OpKind::Write | OpKind::WriteSync | OpKind::Sync => file.write_all_at(buffer, 0),
        }
    }
}

/// Returns the least of several medians, each of `count` spans.
fn least_median(count: usize, mut ask: impl FnMut() -> io::Result<()>) -> io::Result<u64> {
    (0..MEDIANS).try_fold(u64::MAX, |least, _| {
        let spans_ns: io::Result<Vec<u128>> = (0..count)
            .map(|_| {
                let begin = Instant::now();
                ask()?;
                Ok(begin.elapsed().as_nanos())
            })
            .collect();
        let mut spans_ns = spans_ns?;
        let (_, middle_ns, _) = spans_ns.select_nth_unstable(count / 2);
        Ok(least.min(u64::try_from(*middle_ns).unwrap_or(u64::MAX)))
    })
}

/// A loop device on the file; detached on drop.
struct Loop {
    path: PathBuf,
}

impl Loop {
    /// Returns `None` if the user has no permission, or no device is left.
    fn attach(file: &Path) -> Option<Self> {
        let mut losetup = Command::new("losetup");
        losetup.args(["--find", "--show", "--direct-io=on"]);
        let output = losetup.arg(file).stdin(Stdio::null()).output().ok()?;
        let told = String::from_utf8(output.stdout).ok()?;
        let is_attached = output.status.success() && !told.trim().is_empty();
        is_attached.then(|| Self {
            path: told.trim().into(),
        })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let mut losetup = Command::new("losetup");
        let _ = losetup.arg("--detach").arg(&self.path).output();
    }
}
