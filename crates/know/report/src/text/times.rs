//! Ratios of rates, and ranges of numbers, in words.

use crate::text::{figure, percent};

/// Ratio from which a difference is given as a factor; smaller differences are given in percent.
const LEAST_TIMES: f64 = 1.95;
/// Factor between the ends of a range from which it has one digit.
const ROUGH: f64 = 3.0;
/// Factor between the ends of a range above which only the upper end is worth a number.
const VERY_ROUGH: f64 = 10.0;

/// Returns how much faster a rate is, from its ratio of 1 or more: `18 times` or `12 %`.
pub(crate) fn times(ratio: f64) -> String {
    match ratio >= LEAST_TIMES {
        true => format!("{} times", two_digits(ratio)),
        false => more(ratio),
    }
}

/// Returns the range of a ratio in the form of [`times`], such as `17–19`, `8–16 %` or `10 % slower to 60 % faster`.
pub(crate) fn times_range(ratio: f64, [low, high]: [f64; 2]) -> String {
    if ratio >= LEAST_TIMES {
        return ends(&two_digits(low), &two_digits(high));
    }
    let most = more(high);
    if low < 1.0 {
        return format!("{} slower to {most} faster", more(2.0 - low));
    }
    let least = more(low);
    ends(least.strip_suffix(" %").unwrap_or(&least), &most)
}

/// `8–16 %`, or one of both if they are alike.
fn ends(low: &str, high: &str) -> String {
    let is_alike = high.strip_suffix(" %").unwrap_or(high) == low;
    match is_alike {
        true => high.to_owned(),
        false => format!("{low}–{high}"),
    }
}

/// The part above 1 in percent: whole from 2 % on.
fn more(ratio: f64) -> String {
    let percents = 100.0 * (ratio - 1.0);
    match percents >= 1.95 {
        true => format!("{percents:.0} %"),
        false => percent(ratio - 1.0),
    }
}

/// Two digits: `2.4`, `18`, `120`.
fn two_digits(value: f64) -> String {
    digits(value, 2)
}

/// Returns a positive number rounded to significant digits.
fn digits(value: f64, count: i32) -> String {
    if !value.is_finite() || value <= 0.0 {
        return figure(value);
    }
    let exponent = |value: f64| libm::floor(libm::log10(value));
    let unit = |value: f64| libm::pow(10.0, exponent(value) - f64::from(count - 1));
    // Rounding can carry into the next decade, such as from 9.96 to 10.
    let rounded = libm::round(value / unit(value)) * unit(value);
    let unit = unit(rounded * (1.0 + 1e-9));
    let rounded = libm::round(rounded / unit) * unit;
    let decimals = (0..7).find(|decimals| unit * libm::pow(10.0, f64::from(*decimals)) >= 0.99);
    let decimals = usize::try_from(decimals.unwrap_or(6)).unwrap_or(0);
    format!("{rounded:.decimals$}")
}

/// Returns a range with no more digits than its width is worth: two for ends within a factor of 3, one for wider ones, and
/// beyond a factor of 10 only its upper end. Ends that are not positive give only the upper one, too.
pub(crate) fn roughly(low: f64, high: f64) -> String {
    if low <= 0.0 || high / low > VERY_ROUGH {
        return format!("up to about {}", digits(high, 1));
    }
    let count = if high / low > ROUGH { 1 } else { 2 };
    let [low, high] = [low, high].map(|end| digits(end, count));
    match low == high {
        true => format!("about {low}"),
        false => format!("{low} to {high}"),
    }
}

/// Returns how often something happens, from the ends of its range per minute: `up to about once a second`.
pub(crate) fn often(low: f64, high: f64) -> String {
    const LEAST: f64 = 0.75;
    let units = [
        ("a second", 1.0 / 60.0),
        ("a minute", 1.0),
        ("an hour", 60.0),
    ];
    let is_used = |(_, factor): &&(&str, f64)| high * factor >= LEAST;
    let (unit, factor) = units.iter().find(is_used).unwrap_or(&units[2]);
    let range = roughly(low * factor, high * factor);
    match range.strip_suffix(" 1") {
        Some(begin) if begin.ends_with("about") => format!("{begin} once {unit}"),
        _ => format!("{range} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_ratio_is_a_factor_or_a_percentage() {
        for (ratio, range, expected) in [
            (17.6, [16.5, 18.8], ("18 times", "17–19")),
            (2.43, [2.31, 2.56], ("2.4 times", "2.3–2.6")),
            (1.96, [1.2, 3.1], ("2.0 times", "1.2–3.1")),
            (123.0, [99.6, 151.0], ("120 times", "100–150")),
            (18.0, [17.9, 18.1], ("18 times", "18")),
            (1.94, [1.9, 1.94], ("94 %", "90–94 %")),
            (1.12, [1.08, 1.16], ("12 %", "8–16 %")),
            (1.12, [1.12, 1.12], ("12 %", "12 %")),
            (1.015, [1.008, 1.03], ("1.5 %", "0.8–3 %")),
            (1.7, [1.2, 2.4], ("70 %", "20–140 %")),
            (1.2, [0.9, 1.6], ("20 %", "10 % slower to 60 % faster")),
        ] {
            let found = (times(ratio), times_range(ratio, range));
            assert_eq!((found.0.as_str(), found.1.as_str()), expected);
        }
    }

    #[test]
    fn a_wide_range_has_few_digits() {
        for (low, high, expected) in [
            (0.3, 66.1, "up to about 70"),
            (0.71, 21.2, "up to about 20"),
            (0.0, 1.23, "up to about 1"),
            (12.3, 15.6, "12 to 16"),
            (12.3, 45.6, "10 to 50"),
            (0.96, 0.961, "about 0.96"),
            (9.96, 10.4, "about 10"),
        ] {
            assert_eq!(roughly(low, high), expected);
        }
    }

    #[test]
    fn a_frequency_has_the_unit_that_suits_it() {
        for (low, high, expected) in [
            (0.3, 66.1, "up to about once a second"),
            (0.71, 21.2, "up to about 20 a minute"),
            (12.0, 15.0, "12 to 15 a minute"),
            (0.0, 0.2, "up to about 10 an hour"),
            (100.0, 130.0, "1.7 to 2.2 a second"),
        ] {
            assert_eq!(often(low, high), expected);
        }
    }

    /// Significant digits of a number as it is written.
    fn digits_of(text: &str) -> usize {
        let number = text.trim_start_matches(['0', '.']);
        let digits = number.chars().filter(char::is_ascii_digit);
        match text.contains('.') {
            true => digits.count(),
            false => number.trim_end_matches('0').len().max(1),
        }
    }

    proptest! {
        #[test]
        fn no_digit_is_beyond_the_worth_of_a_range(low in 1e-3_f64..1e6, factor in 1.0_f64..1e4) {
            let high = low * factor;
            let text = roughly(low, high);
            let most = if factor > ROUGH { 1 } else { 2 };
            for number in text.split(' ').filter(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
                prop_assert!(digits_of(number) <= most, "{low} {high}: {text}");
            }
            let last: f64 = text.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
            prop_assert!(last / high < 1.5 && high / last < 1.5, "{low} {high}: {text}");
        }

        #[test]
        fn the_number_is_the_ratio(ratio in 1.0_f64..1e4) {
            let text = times(ratio);
            let number: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
            let shown = if text.ends_with('%') { 1.0 + number / 100.0 } else { number };
            prop_assert!((shown / ratio - 1.0).abs() < 0.051, "{ratio}: {text}");
        }
    }
}
