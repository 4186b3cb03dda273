//! Messages of firmware and kernel about power and heat since the board was started.

use std::collections::BTreeSet;

use cardmark_core::PowerLook;

use crate::Root;
use crate::boot::{boot_lines, warning};
use crate::root::{number_of, text_of};
use crate::sensors::{find_throttled, find_under_voltage};

/// The firmware's flags, by number of the bit: now, and 16 bits higher whether ever.
const FLAGS: [&str; 4] = [
    "under_voltage",
    "frequency_capped",
    "throttled",
    "soft_temperature_limit",
];

/// Returns the names of the warnings, in the order of the firmware's flags.
pub(crate) fn power_warnings(root: &Root) -> Vec<String> {
    let flags = find_throttled(root).and_then(text_of);
    let mut said = flags.map_or_else(BTreeSet::new, |text| parse_flags(&text));
    if find_under_voltage(root).and_then(number_of) == Some(1) {
        said.insert("under_voltage");
    }
    said.extend(boot_lines(root).iter().filter_map(|line| warning(line)));
    let known = FLAGS.into_iter().filter(|name| said.contains(name));
    known.map(str::to_owned).collect()
}

/// Returns whether the voltage is or was too low, from the firmware's flags, the voltage monitor and the kernel's log. The log
/// can report it, but not that it never was.
pub(crate) fn power_look(root: &Root) -> PowerLook {
    let word = find_throttled(root).and_then(text_of);
    let word = word.and_then(|text| parse_word(&text));
    let bit = |number: u32| word.map(|word| word >> number & 1 == 1);
    let alarm = find_under_voltage(root).and_then(number_of);
    let alarm = alarm.map(|alarm| alarm == 1);
    let is_low = bit(0).or(alarm);
    let mut lines = boot_lines(root).iter();
    let is_logged = lines.any(|line| warning(line) == Some(FLAGS[0]));
    let was_low = bit(0).zip(bit(16)).map(|(now, ever)| now || ever);
    PowerLook {
        is_low,
        was_low: match is_logged || is_low == Some(true) {
            true => Some(true),
            false => was_low,
        },
    }
}

/// The firmware's word, hexadecimal digits.
fn parse_word(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u32::from_str_radix(digits, 16).ok()
}

fn parse_flags(text: &str) -> BTreeSet<&'static str> {
    let word = parse_word(text).unwrap_or(0);
    let is_set = |bit: usize| (word >> bit | word >> (bit + 16)) & 1 == 1;
    let set = FLAGS.iter().enumerate().filter(|(bit, _)| is_set(*bit));
    set.map(|(_, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_now_and_of_before_are_told() {
        let told = |text| parse_flags(text).into_iter().collect::<Vec<_>>();
        assert_eq!(told("50005"), ["throttled", "under_voltage"]);
        assert_eq!(told("0x80000"), ["soft_temperature_limit"]);
        assert_eq!(told("2"), ["frequency_capped"]);
        for text in ["0", "", "what", "fff0fff0", "-1", "100000000"] {
            assert_eq!(told(text), [""; 0], "{text}");
        }
    }
}
