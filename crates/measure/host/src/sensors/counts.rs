//! Counters since the start of the system, reported as differences from the previous reading.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::Root;
use crate::root::text_of;

/// Length of one tick of `/proc/stat`: the kernel reports a hundred a second to user space on every platform,
/// whatever its own rate.
pub(crate) const TICK_NS: u64 = 10_000_000;
/// Column of `/proc/stat` that counts time given to others, after the name.
const STEAL_COLUMN: usize = 7;

/// Processor time that others on the same physical machine took.
#[derive(Debug)]
pub(super) struct Steal {
    path: PathBuf,
    before_ns: u64,
}

impl Steal {
    /// None on a machine that has never lost any: it is no virtual one, or has no neighbours.
    pub(super) fn find(root: &Root) -> Option<Self> {
        let path = root.path("/proc/stat");
        let before_ns = parse_steal(&text_of(&path)?)?;
        (before_ns > 0).then_some(Self { path, before_ns })
    }

    /// Returns the increase, nanoseconds.
    pub(super) fn added_ns(&mut self) -> Option<u64> {
        let now_ns = parse_steal(&text_of(&self.path)?)?;
        let added_ns = now_ns.saturating_sub(self.before_ns);
        self.before_ns = now_ns;
        Some(added_ns)
    }
}

fn parse_steal(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: u64 = line
        .split_ascii_whitespace()
        .nth(STEAL_COLUMN)?
        .parse()
        .ok()?;
    ticks.checked_mul(TICK_NS)
}

/// Errors that a card's host controller has counted: `err_stats` in debugfs, for root only.
#[derive(Debug)]
pub(super) struct BusErrors {
    path: PathBuf,
    before: BTreeMap<String, u64>,
}

impl BusErrors {
    /// Those of the controller of that name, such as `mmc0`.
    pub(super) fn find(root: &Root, host: &str) -> Option<Self> {
        let path = root.path(format!("/sys/kernel/debug/{host}/err_stats"));
        let before = parse_errors(&text_of(&path)?);
        (!before.is_empty()).then_some(Self { path, before })
    }

    /// Those that were added, by name.
    pub(super) fn added(&mut self) -> BTreeMap<String, u64> {
        let Some(text) = text_of(&self.path) else {
            return BTreeMap::new();
        };
        let now = parse_errors(&text);
        let added = now
            .iter()
            .map(|(name, count)| {
                // Written to, the file begins at zero again.
                let before = self.before.get(name).filter(|before| *before <= count);
                (name.clone(), count - before.unwrap_or(&0))
            })
            .filter(|(_, count)| *count > 0)
            .collect();
        self.before = now;
        added
    }
}

/// Parses lines such as `# Command CRC Errors Occurred:\t 0`, returned as `command_crc`.
fn parse_errors(text: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let (words, count) = line.split_once(':')?;
        Some((name(words), count.trim().parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn name(words: &str) -> String {
    let noise = ["#", "errors", "error", "occurred"];
    let kept: Vec<String> = words
        .split_ascii_whitespace()
        .map(str::to_ascii_lowercase)
        .filter(|word| !noise.contains(&word.as_str()))
        .collect();
    kept.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_the_eighth_number() {
        let text = "cpu  10 20 30 40 50 60 70 123 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(parse_steal(text), Some(1_230_000_000));
        assert_eq!(parse_steal("cpu  1 2 3\n"), None);
        assert_eq!(parse_steal("intr 1\n"), None);
    }

    #[test]
    fn errors_are_named_by_what_is_their_own() {
        // As drivers/mmc/core/debugfs.c of Linux 6.12 prints them.
        let text = "# Command Timeout Occurred:\t 2\n# Command CRC Errors Occurred:\t 0\n\
            # Data Timeout Occurred:\t 1\n# Data CRC Errors Occurred:\t 12\n\
            # CMDQ RED Errors: \t 3\nnonsense\n# Other: many\n";
        let expected = [
            ("cmdq_red", 3),
            ("command_crc", 0),
            ("command_timeout", 2),
            ("data_crc", 12),
            ("data_timeout", 1),
        ];
        let expected: BTreeMap<String, u64> = expected
            .into_iter()
            .map(|(name, count)| (name.to_owned(), count))
            .collect();
        assert_eq!(parse_errors(text), expected);
    }
}
