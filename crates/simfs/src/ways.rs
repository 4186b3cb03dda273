//! The way from an asker to the card and back: through a loop device and FUSE. It is measured, so
//! that it can be taken off the card's own spans.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use cardmark_engine::OpKind;
use cardmark_sim::Way;
use rustix::fs::OFlags;

use crate::card::Card;

/// Span after which small requests are answered while the transit times are measured: as on cards.
const SMALL_SPAN_NS: u64 = 300_000;
/// Span after which large requests are answered then: their content takes time.
const LARGE_SPAN_NS: u64 = 3_000_000;
const SMALL_BYTES: usize = 4096;
const LARGE_BYTES: usize = 1 << 20;
/// Number of requests for a median.
const SMALL_COUNT: usize = 60;
const LARGE_COUNT: usize = 16;
/// Number of medians; the least counts, because other programs may have needed the processors during the rest.
const MEDIANS: usize = 6;
/// Margin by which a transit can be longer than the sum of two usual ones without a disturbance.
const SWAY_NS: u64 = 150_000;
const ALIGNMENT: usize = 4096;

/// Transit times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ways {
    pub(crate) read: Line,
    pub(crate) write: Line,
    /// That of a flush, which the kernel hands on more often.
    pub(crate) flush_ns: u64,
}

/// Transit time by the size of the request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) small_ns: u64,
    pub(crate) large_ns: u64,
}

impl Line {
    /// A straight line between the sizes measured, and further.
    fn at(self, bytes: u32) -> u64 {
        let range_ns = u128::from(self.large_ns.saturating_sub(self.small_ns));
        let more_bytes = (bytes as usize).saturating_sub(SMALL_BYTES) as u128;
        let more_ns = range_ns * more_bytes / (LARGE_BYTES - SMALL_BYTES) as u128;
        self.small_ns + u64::try_from(more_ns).unwrap_or(0)
    }
}

impl Ways {
    /// The way of a request that comes after an answer that was so late.
    pub(crate) fn of(&self, kind: OpKind, bytes: u32, late_ns: u64) -> Way {
        let line = match kind {
            OpKind::Read => self.read,
            OpKind::Write | OpKind::WriteSync | OpKind::Sync => self.write,
        };
        self.with(line.at(bytes), late_ns)
    }

    /// Returns the transit time of a request without content.
    pub(crate) fn of_flush(&self, late_ns: u64) -> Way {
        self.with(self.flush_ns, late_ns)
    }

    fn with(&self, usual_ns: u64, late_ns: u64) -> Way {
        // It may come after a flush.
        let longer_ns = usual_ns.max(self.flush_ns);
        Way {
            usual_ns,
            most_ns: 2 * longer_ns + SWAY_NS + late_ns,
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_grows_with_what_is_carried() {
        let line = Line {
            small_ns: 40_000,
            large_ns: 440_000,
        };
        assert_eq!(line.at(0), 40_000);
        assert_eq!(line.at(4096), 40_000);
        assert_eq!(line.at(1 << 20), 440_000);
        assert!(line.at(512 << 10).abs_diff(239_000) < 1_000);
        let ways = Ways {
            read: line,
            write: line,
            flush_ns: 50_000,
        };
        let way = ways.of(OpKind::Read, 4096, 7);
        assert_eq!((way.usual_ns, way.most_ns), (40_000, 250_007));
        let way = ways.of(OpKind::Write, 1 << 20, 0);
        assert_eq!((way.usual_ns, way.most_ns), (440_000, 1_030_000));
        assert_eq!(ways.of_flush(0).usual_ns, 50_000);
    }
}
