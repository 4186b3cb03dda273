//! Timings of hdparm, versions 5 to 9, and of busybox.

use cardmark_core::{KIB, MIB};

use crate::number::{self, Number, number_and_unit};
use crate::reading::{Found, Reading, byte_rate, number_bits, printed, size};
use crate::text::{Damage, Line};

const TOOL: &str = "hdparm";
const KINDS: &str =
    "`buffered disk reads`, `O_DIRECT disk reads`, `cached reads` or `O_DIRECT cached reads`";
/// Forms of its lines. People retype `O_DIRECT` with a zero.
const FORMS: [&str; 1] = ["{-}Timing {*}: {n} MB in {n} seconds = {}"];
const EXPECTED: &str = "`66 MB in 3.06 seconds = 21.57 MB/sec`";

/// One timing.
pub(crate) struct Timing {
    /// `-T`, from memory; otherwise `-t`, from the device.
    pub(crate) is_cached: bool,
    is_direct: bool,
    offset_bytes: Option<u64>,
    pub(crate) bytes_per_s: f64,
    /// Number and unit as printed.
    pub(crate) printed: String,
}

/// Reads the timings. Next to a table of PiBenchmarks they are part of its report.
pub(crate) fn read(lines: &[Line], is_of_report: bool, found: &mut Found) {
    let printed = found.report_numbers();
    for line in lines {
        match timing(*line) {
            Ok(Some(timing)) if !is_of_report => {
                found.understand(*line, &FORMS);
                found.add(timing.reading(*line));
            }
            Ok(Some(timing)) if printed.contains(&number_bits(&timing.printed)) => {
                found.understand(*line, &FORMS);
            }
            Err(damage) if !is_of_report => found.damaged(damage),
            Ok(_) | Err(_) => {}
        }
    }
}

/// Parses `Timing buffered disk reads:  66 MB in  3.06 seconds =  21.57 MB/sec`.
pub(crate) fn timing(line: Line) -> Result<Option<Timing>, Damage> {
    let Some((_, rest)) = line.text.split_once("Timing ") else {
        return Ok(None);
    };
    let Some((name, figures)) = rest.split_once(':') else {
        return Ok(None);
    };
    let is_cached = name.contains("cached reads") || name.contains("buffer-cache reads");
    if !is_cached && !name.contains("disk reads") {
        return Ok(None);
    }
    let is_direct = is_direct(name, is_cached).ok_or_else(|| line.damage(TOOL, KINDS))?;
    let error = || line.damage(TOOL, EXPECTED);
    let (megabytes, rest) = figures.split_once(" MB in").ok_or_else(error)?;
    let (seconds, rest) = rest.split_once("seconds").ok_or_else(error)?;
    let printed = rest.trim_start().strip_prefix('=').ok_or_else(error)?;
    let printed = printed.trim();
    let megabytes: u64 = megabytes.trim().parse().map_err(|_| error())?;
    let seconds = Number::parse(seconds.trim()).ok_or_else(error)?;
    seconds.seconds_as_ns().ok_or_else(error)?;
    let (number, unit) = number_and_unit(printed).ok_or_else(error)?;
    let unit = unit_bytes(unit).ok_or_else(|| line.damage(TOOL, "MB/sec or kB/sec"))?;
    let bytes = megabytes.checked_mul(MIB).ok_or_else(error)?;
    let rate = bytes as f64 / seconds.value / unit;
    // busybox rounds both down.
    let half_steps = if printed.ends_with("/s") { 3.0 } else { 1.0 };
    let half_step = rate * seconds.relative() + number.half_step;
    if !number.agrees(rate, half_steps * half_step - number.half_step) {
        return Err(line.damage(TOOL, "figures that agree with each other"));
    }
    let offset_bytes = offset_bytes(name).map_err(|()| line.damage(TOOL, "`(offset 4 GB)`"))?;
    Ok(Some(Timing {
        is_cached,
        is_direct,
        offset_bytes,
        bytes_per_s: number.value * unit,
        printed: printed.to_owned(),
    }))
}

impl Timing {
    fn reading(&self, line: Line) -> Reading {
        let mut id = if self.is_cached {
            "hdparm_T"
        } else {
            "hdparm_t"
        }
        .to_owned();
        if self.is_direct {
            id += "_direct";
        }
        if let Some(offset) = self.offset_bytes.filter(|offset| *offset > 0) {
            id += &format!("_from_{}", size(offset));
        }
        let printed = printed(TOOL, &self.printed, Some(right_unit(&self.printed)));
        let metric = byte_rate(id, self.bytes_per_s, printed);
        Reading::new(TOOL, line.number, vec![metric])
    }
}

/// Returns whether a timing bypassed the page cache; none if its words do not show it. People who type
/// `O_DIRECT` write a zero, small letters or another sign.
fn is_direct(name: &str, is_cached: bool) -> Option<bool> {
    let name = name.split('(').next().unwrap_or(name);
    let mut is_direct = false;
    let mut is_buffered = is_cached;
    for word in name.split_whitespace() {
        let folded = word
            .to_uppercase()
            .replace('0', "O")
            .replace(['-', ' '], "_");
        match (word, folded.trim_matches(['"', '`', '*'])) {
            (_, "O_DIRECT" | "ODIRECT" | "DIRECT") => is_direct = true,
            ("buffered" | "buffer-cache" | "cached", _) => is_buffered = true,
            ("disk" | "reads", _) => {}
            _ => return None,
        }
    }
    (is_direct || is_buffered).then_some(is_direct)
}

/// The unit of a figure of hdparm, whose megabytes and kilobytes are binary.
pub(crate) fn right_unit(printed: &str) -> &'static str {
    if printed.contains("MB") {
        "MiB/s"
    } else {
        "KiB/s"
    }
}

fn unit_bytes(unit: &str) -> Option<f64> {
    match unit {
        "MB/sec" => Some(MIB as f64),
        "kB/sec" | "KB/sec" | "kB/s" => Some(KIB as f64),
        _ => None,
    }
}

/// Parses `(offset 4 GB)`, which is binary too.
fn offset_bytes(name: &str) -> Result<Option<u64>, ()> {
    let Some((_, offset)) = name.split_once("(offset ") else {
        return Ok(None);
    };
    let (gigabytes, _) = offset.split_once(" GB)").ok_or(())?;
    let gigabytes = Number::parse(gigabytes.trim()).ok_or(())?;
    let bytes = number::whole(gigabytes.value * 1024.0 * MIB as f64);
    bytes.map(Some).ok_or(())
}
