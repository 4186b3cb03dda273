//! The computer and the system on it.

use cardmark_core::{Board, Host};

use crate::Root;
use crate::firmware::read_firmware;
use crate::machine::is_virtual;
use crate::power::power_warnings;
use crate::root::{attribute_of, number_of, shown, word_of};

const PROCESSOR: &str = "/sys/devices/system/cpu/cpu0/cpufreq";

/// Reads the board from device tree or firmware, memory and processor lists.
#[must_use]
pub fn read_board(root: &Root) -> Board {
    Board {
        model: read_model(root),
        revision: read_revision(root),
        memory_bytes: root
            .text("/proc/meminfo")
            .and_then(|text| parse_memory(&text)),
        cpu_count: read_cpu_count(root),
        max_frequency_hz: number_of(root.path(PROCESSOR).join("cpuinfo_max_freq"))
            .and_then(|khz| khz.checked_mul(1000)),
        power_warnings: power_warnings(root),
        firmware: read_firmware(root),
    }
}

/// The system: release, kernel, this program's architecture, governor of the first processor.
#[must_use]
pub fn read_host(root: &Root) -> Host {
    let releases = ["/etc/os-release", "/usr/lib/os-release"];
    Host {
        system: releases
            .iter()
            .find_map(|path| root.text(path))
            .and_then(|text| parse_pretty_name(&text))
            .and_then(|name| shown(&name)),
        kernel: word_of(root.path("/proc/sys/kernel/osrelease")),
        architecture: Some(std::env::consts::ARCH.to_owned()),
        governor: word_of(root.path(PROCESSOR).join("scaling_governor")),
        is_virtual: is_virtual(root),
        page_bytes: page_bytes(root),
        load: None,
    }
}

/// Size of a page, from the first mapping of this process (`proc_pid_smaps(5)`): `KernelPageSize:        4 kB`.
fn page_bytes(root: &Root) -> Option<u64> {
    let maps = root.list("/proc/self/smaps").ok()?;
    let maps = String::from_utf8_lossy(&maps);
    let sizes = maps
        .lines()
        .find_map(|line| line.strip_prefix("KernelPageSize:"))?;
    let kib: u64 = sizes.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1024)
}

fn read_model(root: &Root) -> Option<String> {
    let paths = [
        "/proc/device-tree/model",
        "/sys/firmware/devicetree/base/model",
        "/sys/class/dmi/id/product_name",
        "/sys/class/dmi/id/board_name",
    ];
    // Placeholders that firmware makers leave in.
    let is_filler = |model: &String| {
        let model = model.to_ascii_lowercase();
        [
            "to be filled by o.e.m.",
            "system product name",
            "default string",
            "not specified",
        ]
        .contains(&model.as_str())
    };
    paths
        .iter()
        .filter_map(|path| root.line(path))
        .find(|model| !is_filler(model))
}

/// The code of a Raspberry Pi, from the device tree or the list of processors. Other boards have
/// nothing there, or a zero.
fn read_revision(root: &Root) -> Option<String> {
    let bytes = attribute_of(root.path("/proc/device-tree/system/linux,revision"));
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
    let listed = || {
        let bytes = root.list("/proc/cpuinfo").ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        let (_, digits) = lines.find(|(name, _)| name.trim_end() == "Revision")?;
        u32::from_str_radix(digits.trim(), 16).ok()
    };
    let code = bytes.map(u32::from_be_bytes).or_else(listed)?;
    (code != 0).then(|| format!("{code:04x}"))
}

fn read_cpu_count(root: &Root) -> Option<u64> {
    let listed = root
        .text("/sys/devices/system/cpu/online")
        .and_then(|text| parse_list(&text));
    listed.or_else(|| {
        let bytes = root.list("/proc/cpuinfo").ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let count = text
            .lines()
            .filter(|line| line.starts_with("processor"))
            .count();
        u64::try_from(count).ok().filter(|count| *count > 0)
    })
}

fn parse_memory(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

/// Returns the number of members in a list such as `0-3,6`.
fn parse_list(text: &str) -> Option<u64> {
    text.split(',').try_fold(0_u64, |count, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
        count.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

fn parse_pretty_name(text: &str) -> Option<String> {
    let value = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("PRETTY_NAME="))?;
    let value = value.trim();
    let quoted = ['"', '\''].iter().find_map(|quote| {
        value
            .strip_prefix(*quote)
            .and_then(|rest| rest.strip_suffix(*quote))
    });
    let name = quoted.unwrap_or(value).replace("\\\"", "\"");
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_counted() {
        assert_eq!(parse_list("0-3"), Some(4));
        assert_eq!(parse_list("0"), Some(1));
        assert_eq!(parse_list("0-1,4,6-7"), Some(5));
        assert_eq!(parse_list("3-1"), None);
        assert_eq!(parse_list(""), None);
    }

    #[test]
    fn pretty_names_lose_their_quotes() {
        let text = "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(
            parse_pretty_name(text).as_deref(),
            Some("Debian GNU/Linux 12 (bookworm)")
        );
        assert_eq!(
            parse_pretty_name("PRETTY_NAME=Alpine").as_deref(),
            Some("Alpine")
        );
        assert_eq!(parse_pretty_name("NAME=x"), None);
    }

    #[test]
    fn memory_is_in_bytes() {
        assert_eq!(
            parse_memory("MemTotal:        3884312 kB\n"),
            Some(3_884_312 * 1024)
        );
        assert_eq!(parse_memory("MemFree: 1 kB"), None);
    }
}
