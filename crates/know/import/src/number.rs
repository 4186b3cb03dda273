//! Numbers in the tools' texts.

use cardmark_core::SECOND_NS;

/// Larger than any number of the tools, and far from where floats end.
pub(crate) const LARGEST: f64 = 1e20;

/// A printed number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    /// Half of a step of its last digit: how far the true value may be away.
    pub(crate) half_step: f64,
}

impl Number {
    /// A number without sign: digits, at most one decimal point or comma, perhaps a power of ten.
    /// None of the tools groups digits, so a comma is a decimal one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = match mantissa.find(['.', ',']) {
            Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
            None => (mantissa, ""),
        };
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let value: f64 = format!("{whole}.{fraction}0e{exponent}").parse().ok()?;
        let places = i32::try_from(fraction.len()).ok()?;
        let half_step = 0.5 * 10f64.powi(exponent.checked_sub(places)?);
        (value < LARGEST).then_some(Self { value, half_step })
    }

    /// Half a step relative to the value.
    pub(crate) fn relative(self) -> f64 {
        self.half_step / self.value
    }

    /// Returns whether `other` may be equal, allowing for half steps and a little rounding.
    pub(crate) fn agrees(self, other: f64, half_step: f64) -> bool {
        let allowed = 1.01 * (self.half_step + half_step) + 1e-9 * self.value;
        (self.value - other).abs() <= allowed
    }

    /// Seconds as nanoseconds; none where that is nothing or does not fit.
    pub(crate) fn seconds_as_ns(self) -> Option<u64> {
        whole(self.value * SECOND_NS as f64).filter(|&ns| ns > 0)
    }
}

/// The number at the start of a text and the unit behind it, with or without a space between.
pub(crate) fn number_and_unit(text: &str) -> Option<(Number, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')
        .unwrap_or(text.len());
    let end = end + exponent_length(&text[end..]);
    Some((Number::parse(&text[..end])?, text[end..].trim_start()))
}

/// The same, but no powers of ten: most tools print none, so an `e` there is damage.
pub(crate) fn plain_number_and_unit(text: &str) -> Option<(Number, &str)> {
    let (number, unit) = number_and_unit(text)?;
    let digits = text.trim().strip_suffix(unit)?;
    (!digits.contains(['e', 'E'])).then_some((number, unit))
}

/// Length of `e-05` and the like at the start of a text.
fn exponent_length(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(['e', 'E']) else {
        return 0;
    };
    let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let digits_count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if digits_count == 0 {
        return 0;
    }
    text.len() - digits.len() + digits_count
}

/// `base` to the power of the unit's place in a list.
pub(crate) fn power(base: f64, units: &[&str], unit: &str) -> Option<f64> {
    let place = units.iter().position(|known| *known == unit)?;
    Some(base.powi(i32::try_from(place).ok()?))
}

/// Bytes of a unit: `kB` and `MB` are decimal, `KiB` and `MiB` binary.
pub(crate) fn unit_bytes(unit: &str) -> Option<f64> {
    let decimal = power(1000.0, &["B", "kB", "MB", "GB", "TB"], unit);
    decimal.or_else(|| power(1024.0, &["B", "KiB", "MiB", "GiB", "TiB"], unit))
}

/// The decimal sign of a printed number, where the number itself shows it: three digits behind its only
/// sign could be a group of thousands.
pub(crate) fn decimal_sign(number: &str) -> Option<char> {
    let at = number.rfind(['.', ','])?;
    let (whole, sign) = (&number[..at], number[at..].chars().next()?);
    let other = if sign == '.' { ',' } else { '.' };
    if whole.contains(sign) {
        return Some(other);
    }
    let is_group =
        number.len() - at == 4 && !whole.starts_with('0') && (1..4).contains(&whole.len());
    (whole.contains(other) || !is_group).then_some(sign)
}

/// The number with a decimal point and without groups; none if `decimal` is needed and unknown, or if
/// it contradicts the number.
pub(crate) fn ungrouped(number: &str, decimal: Option<char>) -> Option<String> {
    if !number.contains(['.', ',']) {
        return Some(number.to_owned());
    }
    let own = decimal_sign(number);
    let sign = own.or(decimal)?;
    if decimal.is_some_and(|decimal| decimal != sign) {
        return None;
    }
    let (whole, decimals) = number.rsplit_once(sign).unwrap_or((number, ""));
    let mut groups = whole.split(['.', ',']);
    let first = groups.next()?;
    let is_grouped = groups.all(|group| group.len() == 3) && (first == whole || first.len() < 4);
    let whole = whole.replace(['.', ','], "");
    let is_plain = decimals.is_empty() || !decimals.contains(['.', ',']);
    (is_grouped && is_plain).then(|| match decimals {
        "" => whole,
        decimals => format!("{whole}.{decimals}"),
    })
}

/// A whole number of digits alone.
pub(crate) fn digits(text: &str) -> Option<u64> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// The nearest whole number, where it is one of ours.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is looked at"
)]
pub(crate) fn whole(value: f64) -> Option<u64> {
    let rounded = value.round();
    (0.0..1.8e19).contains(&rounded).then_some(rounded as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_value_and_a_step() {
        let value = |text| Number::parse(text).map(|number| (number.value, number.half_step));
        assert_eq!(value("21.57"), Some((21.57, 0.005)));
        assert_eq!(value("21,57"), Some((21.57, 0.005)));
        assert_eq!(value("66"), Some((66.0, 0.5)));
        assert_eq!(value("3."), Some((3.0, 0.5)));
        assert_eq!(value("1.5e-05").map(|(value, _)| value), Some(1.5e-5));
        for wrong in [
            "", ".", ".5", "-1", "+1", "1.2.3", "1,234.5", "1e", "1e999", "inf", "٣",
        ] {
            assert_eq!(value(wrong), None, "{wrong}");
        }
        assert_eq!(value("1.5e-2147483648"), None);
    }

    #[test]
    fn a_sign_may_group_thousands() {
        for (number, sign) in [
            ("21.57", Some('.')),
            ("21,5", Some(',')),
            ("0.652", Some('.')),
            ("1107.500", Some('.')),
            ("1,107.5", Some('.')),
            ("1.107.500", Some(',')),
            ("2.652", None),
            ("2,652", None),
            ("66", None),
        ] {
            assert_eq!(decimal_sign(number), sign, "{number}");
        }
        for (number, decimal, plain) in [
            ("2.652", Some(','), Some("2652")),
            ("2.652", Some('.'), Some("2.652")),
            ("2,652", Some('.'), Some("2652")),
            ("1.107.500,25", None, Some("1107500.25")),
            ("66", None, Some("66")),
            ("2.652", None, None),
            ("21,57", Some('.'), None),
            ("1,10,5.2", None, None),
        ] {
            assert_eq!(ungrouped(number, decimal).as_deref(), plain, "{number}");
        }
    }

    #[test]
    fn a_plain_number_has_no_power_of_ten() {
        let unit = |text| plain_number_and_unit(text).map(|(number, unit)| (number.value, unit));
        assert_eq!(unit(" 10.4 EB/s "), Some((10.4, "EB/s")));
        assert_eq!(unit("10.4EB"), Some((10.4, "EB")));
        assert_eq!(unit("13840.05"), Some((13_840.05, "")));
        for wrong in ["8e09 MB/s", "8E9", "1e-5s", "e", ""] {
            assert_eq!(unit(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn decimal_and_binary_units_differ_by_their_names() {
        let units = [
            ("B", 1.0),
            ("kB", 1e3),
            ("TB", 1e12),
            ("KiB", 1024.0),
            ("GiB", 1_073_741_824.0),
        ];
        for (unit, bytes) in units {
            assert_eq!(unit_bytes(unit), Some(bytes), "{unit}");
        }
        for wrong in ["", "KB", "kiB", "iB", "mB", "b", "PB"] {
            assert_eq!(unit_bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_unit_may_stand_close() {
        let unit = |text| number_and_unit(text).map(|(number, unit)| (number.value, unit));
        assert_eq!(unit(" 10.4 MB/s"), Some((10.4, "MB/s")));
        assert_eq!(unit("9.9MB/s"), Some((9.9, "MB/s")));
        assert_eq!(unit("1.5e-05 s"), Some((1.5e-5, "s")));
        assert_eq!(unit("10 EB/s"), Some((10.0, "EB/s")));
        assert_eq!(unit("10EB/s"), Some((10.0, "EB/s")));
        assert_eq!(unit("MB/s"), None);
    }
}
