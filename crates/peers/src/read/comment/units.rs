//! Bytes a second that a figure of a comment can mean.

use cardmark_core::{KIB, MIB};

use super::super::number::Number;
use super::labels::Printed;
use super::tokens::{Kind, Token};
use super::{CommentDoubt, CommentFigure, CommentRate};

/// Words that are units of sizes; people write them for rates too.
const SIZES: [&str; 9] = ["k", "m", "g", "kb", "mb", "gb", "kib", "mib", "gib"];

/// What units of rates end in.
const RATE_ENDS: [&str; 4] = ["/s", "/sec", "bps", "iops"];

/// Whether a word is meant for a unit, known or not.
pub(super) fn is_like_unit(token: &Token) -> bool {
    is_like_rate(token) || token.is_any(&SIZES)
}

/// Whether a word is meant for a unit of rates.
pub(super) fn is_like_rate(token: &Token) -> bool {
    let text = token.text.to_ascii_lowercase();
    token.kind == Kind::Word && RATE_ENDS.iter().any(|end| text.ends_with(*end))
}

/// The bytes a second, or why they cannot be told.
pub(super) fn rate(
    figure: CommentFigure,
    record_bytes: Option<u64>,
    printed: &Printed,
) -> Result<CommentRate, CommentDoubt> {
    let unit = printed.unit.ok_or(CommentDoubt::NoUnit)?;
    let factors = if unit.eq_ignore_ascii_case("iops") {
        record_bytes.map(|bytes| (bytes as f64, bytes as f64))
    } else {
        unit_bytes(figure, unit, printed.is_unit_close)
    };
    let (least, most) = factors.ok_or(CommentDoubt::UnknownUnit)?;
    let number = Number::parse(printed.number).ok_or(CommentDoubt::Digits)?;
    if may_be_grouped(printed.number, most) {
        return Err(CommentDoubt::Digits);
    }
    Ok(CommentRate {
        least_bytes_per_s: number.value * least,
        most_bytes_per_s: number.value * most,
    })
}

/// Least and most bytes of a unit of that tool.
fn unit_bytes(figure: CommentFigure, unit: &str, is_close: bool) -> Option<(f64, f64)> {
    let (kib, mib) = (KIB as f64, MIB as f64);
    let prefix = ["/sec", "/s", "ps"]
        .iter()
        .find_map(|end| unit.strip_suffix(*end))?;
    let prefix = prefix
        .strip_suffix("Bytes")
        .or_else(|| prefix.strip_suffix('B'))?;
    match (figure, prefix) {
        (_, "Ki") => Some((kib, kib)),
        (_, "Mi") => Some((mib, mib)),
        (CommentFigure::Hdparm, "k" | "K") => Some((kib, kib)),
        (CommentFigure::Hdparm, "M") => Some((mib, mib)),
        (CommentFigure::Dd, _) => {
            let power = match prefix {
                "k" | "K" => 1,
                "M" => 2,
                "G" => 3,
                _ => return None,
            };
            // Where nothing parts unit and number, it may be busybox, whose units are binary.
            let largest: f64 = if is_close { 1024.0 } else { 1000.0 };
            Some((1000f64.powi(power), largest.powi(power)))
        }
        (CommentFigure::Iozone(_), "k" | "K") => Some((kib, kib)),
        // Iozone prints KiB; somebody divided them by 1000 or by 1024.
        (CommentFigure::Iozone(_), "M") => Some((1000.0 * kib, mib)),
        _ => None,
    }
}

/// Whether what looks like decimals may be thousands: three digits behind a comma, or behind a
/// point where the unit is so small that its figures are whole.
fn may_be_grouped(number: &str, unit_bytes: f64) -> bool {
    let Some((whole, thousands)) = number.split_once(['.', ',']) else {
        return false;
    };
    let is_comma = number[whole.len()..].starts_with(',');
    let could_be = thousands.len() == 3 && whole.len() <= 3 && whole != "0";
    could_be && (is_comma || unit_bytes < 1e6)
}
