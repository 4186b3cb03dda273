//! What jobs are told to do, and the lines that name them.

use super::{FioDirection, Line, ReadError, TOOL};
use crate::read::number::{plain_number_and_unit, whole};

/// What a job was told to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioSetup {
    /// Kind and order: `read`, `randwrite`, `randrw` and so on.
    pub mode: String,
    /// Block size of the direction, bytes; none where blocks were of several sizes or the size was
    /// printed rounded.
    pub block_bytes: Option<u64>,
    /// Operations under way at once, as asked for.
    pub queue_depth: u32,
    /// The way to the system: `psync`, `libaio` and so on.
    pub engine: String,
}

/// The lines about jobs at the beginning of a run.
#[derive(Default)]
pub(super) struct Setups<'a> {
    setups: Vec<Setup<'a>>,
    /// Whether the last line was one of them.
    is_last: bool,
}

/// One of them.
struct Setup<'a> {
    name: &'a str,
    group: u32,
    told: Told<'a>,
    /// Whether several jobs are alike, of which one is shown.
    is_repeated: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Told<'a> {
    mode: &'a str,
    /// Of reads and writes.
    blocks: [Option<u64>; 2],
    queue_depth: u32,
    engine: &'a str,
}

impl<'a> Setups<'a> {
    /// Reads a line; whether it is one about jobs.
    pub(super) fn read(&mut self, line: Line<'a>, text: &'a str) -> Result<bool, ReadError> {
        let was_last = std::mem::take(&mut self.is_last);
        if text.starts_with("Run status group") {
            // The names of the run mean nothing in the next.
            self.setups.clear();
        } else if let Some((name, rest)) = text.split_once(": (g=") {
            let expected = "`NAME: (g=0): rw=…, bs=…, ioengine=…, iodepth=…`";
            let setup = Setup::parse(name, rest).ok_or_else(|| line.error(TOOL, expected))?;
            self.setups.push(setup);
            self.is_last = true;
            return Ok(true);
        } else if let Some(setup) = self.setups.last_mut().filter(|_| was_last && text == "...") {
            setup.is_repeated = true;
            return Ok(true);
        }
        Ok(false)
    }

    /// What a job was told for a direction. Where several are summed, all of the group must have
    /// been told the same, and all must be there.
    pub(super) fn of(&self, job: Option<&Job>, direction: FioDirection) -> Option<FioSetup> {
        let job = job?;
        let is_sum = job.jobs_count > 1;
        let of_group = self.setups.iter().filter(|setup| setup.group == job.group);
        let setups: Vec<_> = of_group
            .filter(|setup| is_sum || setup.name == job.name)
            .collect();
        let told = setups.first()?.told;
        let is_whole = !is_sum
            || setups.iter().any(|setup| setup.is_repeated)
            || u32::try_from(setups.len()) == Ok(job.jobs_count);
        let are_alike = setups.iter().all(|setup| setup.told == told);
        let [reads, writes] = told.blocks;
        (is_whole && are_alike).then(|| FioSetup {
            mode: told.mode.to_owned(),
            block_bytes: match direction {
                FioDirection::Read => reads,
                FioDirection::Write => writes,
            },
            queue_depth: told.queue_depth,
            engine: told.engine.to_owned(),
        })
    }
}

impl<'a> Setup<'a> {
    /// What stands behind `NAME: (g=`.
    fn parse(name: &'a str, text: &'a str) -> Option<Self> {
        let (group, rest) = text.split_once("): rw=")?;
        let (mode, rest) = rest.split_once(", bs=")?;
        let (blocks, rest) = rest.split_once(", ioengine=")?;
        let (engine, queue_depth) = rest.split_once(", iodepth=")?;
        Some(Self {
            name,
            group: group.parse().ok()?,
            told: Told {
                mode,
                blocks: block_bytes(blocks),
                queue_depth: queue_depth.trim().parse().ok()?,
                engine,
            },
            is_repeated: false,
        })
    }
}

/// Sizes of reads and writes: `(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B`, the same without
/// letters, or by version 2 `4K-4K/4K-4K/4K-4K`.
fn block_bytes(text: &str) -> [Option<u64>; 2] {
    // The sizes are then those in order and at random.
    if text.contains("bs_is_seq_rand") {
        return [None, None];
    }
    let mut sizes = text.split([',', '/']).map(|range| {
        let range = range.trim();
        let range = ["(R) ", "(W) "]
            .iter()
            .find_map(|letter| range.strip_prefix(*letter))
            .unwrap_or(range);
        let (least, most) = range.split_once('-')?;
        size(least).filter(|_| least == most)
    });
    let mut next = || sizes.next().flatten();
    [next(), next()]
}

/// A size in binary units; decimal ones are rounded.
fn size(text: &str) -> Option<u64> {
    let (number, unit) = plain_number_and_unit(text)?;
    let power = match unit {
        "" | "B" => 0,
        "K" | "KiB" => 1,
        "M" | "MiB" => 2,
        "G" | "GiB" => 3,
        _ => return None,
    };
    whole(number.value * 1024f64.powi(power)).filter(|&bytes| bytes > 0)
}

/// The line that names a job.
pub(super) struct Job<'a> {
    pub(super) name: &'a str,
    pub(super) group: u32,
    pub(super) jobs_count: u32,
    pub(super) errno: i64,
}

impl<'a> Job<'a> {
    /// `NAME: (groupid=0, jobs=1): err= 0: pid=…`.
    pub(super) fn parse(line: Line, text: &'a str) -> Result<Option<Self>, ReadError> {
        let Some((name, rest)) = text.split_once(": (groupid=") else {
            return Ok(None);
        };
        let expected = "`NAME: (groupid=0, jobs=1): err= 0: …`";
        let job = Self::of(name, rest).ok_or_else(|| line.error(TOOL, expected))?;
        Ok(Some(job))
    }

    fn of(name: &'a str, text: &str) -> Option<Self> {
        let (group, rest) = text.split_once(", jobs=")?;
        let (jobs_count, rest) = rest.split_once("): err=")?;
        let (errno, _) = rest.split_once([':', '('])?;
        Some(Self {
            name,
            group: group.parse().ok()?,
            jobs_count: jobs_count.parse::<u32>().ok().filter(|&count| count > 0)?,
            errno: errno.trim().parse().ok()?,
        })
    }
}
