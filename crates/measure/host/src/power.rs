//! Messages of firmware and kernel about power and heat since the board was started.

use std::collections::BTreeSet;

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

/// The firmware's word, hexadecimal digits.
fn parse_flags(text: &str) -> BTreeSet<&'static str> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let word = u32::from_str_radix(digits, 16).unwrap_or(0);
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
