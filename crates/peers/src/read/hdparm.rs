//! The timings of hdparm, versions 5 to 9.

use cardmark_core::{KIB, MIB};

use super::number::{self, Number, number_and_unit};
use super::{Line, Parts, Rate, ReadError, lines, sift, whole};

const TOOL: &str = "hdparm";
const EXPECTED: &str = "`66 MB in 3.06 seconds = 21.57 MB/sec`";

/// Which of its two timings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HdparmTest {
    /// `-T`: the first 2 MiB over and over, from memory.
    Cached,
    /// `-t`: the device from its start.
    Disk,
}

/// One timing.
#[derive(Clone, Debug, PartialEq)]
pub struct HdparmReading {
    /// Number of its line, from 1.
    pub line: usize,
    /// Which of the two.
    pub test: HdparmTest,
    /// Whether with `--direct`.
    pub direct: bool,
    /// Where it began, bytes, if it was told to begin elsewhere than at the start.
    pub offset_bytes: Option<u64>,
    /// Bytes read.
    pub bytes: u64,
    /// The span, nanoseconds, as good as printed.
    pub span_ns: u64,
    /// The rate as printed.
    pub rate: Rate,
}

/// Reads the timings in a text, in order.
///
/// # Errors
/// When there is none, or one is not whole.
pub fn read_hdparm(text: &str) -> Result<Vec<HdparmReading>, ReadError> {
    whole(hdparm_parts(text), TOOL, "a line `Timing … reads: …`")
}

/// The timings that are whole, and those that are not.
pub(crate) fn hdparm_parts(text: &str) -> Parts<Vec<HdparmReading>> {
    sift(lines(text).filter_map(|line| timing(line).transpose()))
}

fn timing(line: Line) -> Result<Option<HdparmReading>, ReadError> {
    let Some((_, rest)) = line.text.split_once("Timing ") else {
        return Ok(None);
    };
    let Some((name, figures)) = rest.split_once(':') else {
        return Ok(None);
    };
    let test = if name.contains("disk reads") {
        HdparmTest::Disk
    } else if name.contains("cached reads") || name.contains("buffer-cache reads") {
        HdparmTest::Cached
    } else {
        return Ok(None);
    };
    let error = || line.error(TOOL, EXPECTED);
    let (megabytes, rest) = figures.split_once(" MB in").ok_or_else(error)?;
    let (seconds, rest) = rest.split_once("seconds").ok_or_else(error)?;
    let printed = rest
        .trim_start()
        .strip_prefix('=')
        .ok_or_else(error)?
        .trim();
    let megabytes: u64 = megabytes.trim().parse().map_err(|_| error())?;
    let seconds = Number::parse(seconds.trim()).ok_or_else(error)?;
    let (number, unit) = number_and_unit(printed).ok_or_else(error)?;
    let unit = unit_bytes(unit).ok_or_else(|| line.error(TOOL, "MB/sec or kB/sec"))?;
    let bytes = megabytes.checked_mul(MIB).ok_or_else(error)?;

    let rate = bytes as f64 / seconds.value / unit;
    if !number.agrees(rate, rate * seconds.relative()) {
        return Err(line.error(TOOL, "figures that agree with each other"));
    }
    Ok(Some(HdparmReading {
        line: line.number,
        test,
        direct: name.contains("O_DIRECT"),
        offset_bytes: offset_bytes(name).map_err(|()| line.error(TOOL, "`(offset 4 GB)`"))?,
        bytes,
        span_ns: seconds.seconds_as_ns().ok_or_else(error)?,
        rate: Rate {
            bytes_per_s: number.value * unit,
            printed: printed.to_owned(),
        },
    }))
}

/// Its megabytes and kilobytes are binary.
fn unit_bytes(unit: &str) -> Option<f64> {
    match unit {
        "MB/sec" => Some(MIB as f64),
        "kB/sec" | "KB/sec" => Some(KIB as f64),
        _ => None,
    }
}

/// `(offset 4 GB)`: binary too.
fn offset_bytes(name: &str) -> Result<Option<u64>, ()> {
    let Some((_, offset)) = name.split_once("(offset ") else {
        return Ok(None);
    };
    let (gigabytes, _) = offset.split_once(" GB)").ok_or(())?;
    let gigabytes = Number::parse(gigabytes.trim()).ok_or(())?;
    number::whole(gigabytes.value * 1024.0 * MIB as f64)
        .map(Some)
        .ok_or(())
}
