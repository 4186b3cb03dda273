//! Use of the host by other programs.

use cardmark_core::{DeviceCounters, HostLoad};

use crate::Root;
use crate::counters::CounterReader;
use crate::sensors::TICK_NS;

/// Columns of `/proc/stat` that are not used time: idle, waiting for I/O, stolen. The two behind them, time of guests,
/// are part of the first two.
const UNUSED: [usize; 3] = [3, 4, 7];
const COLUMNS_COUNT: usize = 8;
/// Columns of `/proc/self/stat` behind the name with this process's time: user and system, its own and that of children.
const OWN: std::ops::Range<usize> = 11..15;

/// Observes what other programs use, from its creation on.
#[derive(Debug)]
pub struct LoadReader {
    root: Root,
    disks: CounterReader,
    before: Reading,
}

/// Counts since the start of the system; the program's own since its start.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    cpu: Option<CpuTime>,
    own_ns: Option<u64>,
    counters: Option<DeviceCounters>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CpuTime {
    all_ns: u64,
    used_ns: u64,
}

impl LoadReader {
    /// Begins to observe the host and these disks.
    #[must_use]
    pub fn start(root: &Root, disks: &[String]) -> Self {
        let mut reader = Self {
            root: root.clone(),
            disks: CounterReader::new(root, disks),
            before: Reading::default(),
        };
        reader.before = reader.read();
        reader
    }

    /// Returns the use since the start, which was `span_ns` ago; `None` if the host shows none.
    pub fn load(&mut self, span_ns: u64) -> Option<HostLoad> {
        let now = self.read();
        difference(&self.before, &now, span_ns)
    }

    fn read(&mut self) -> Reading {
        let text = |path: &str| {
            let bytes = self.root.list(path).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        Reading {
            cpu: text("/proc/stat").and_then(|text| parse_cpu(&text)),
            own_ns: text("/proc/self/stat").and_then(|text| parse_own(&text)),
            counters: self.disks.read(),
        }
    }
}

/// Ticks are counted when they end, so that the program's own may exceed the sum by one.
fn difference(before: &Reading, now: &Reading, span_ns: u64) -> Option<HostLoad> {
    let cpu = before.cpu.zip(now.cpu).map(|(before, now)| CpuTime {
        all_ns: now.all_ns.saturating_sub(before.all_ns),
        used_ns: now.used_ns.saturating_sub(before.used_ns),
    });
    let cpu = cpu.filter(|cpu| cpu.all_ns > 0);
    let own_ns = before.own_ns.zip(now.own_ns);
    let own_ns = own_ns.map(|(before, now)| now.saturating_sub(before));
    let others = cpu.zip(own_ns);
    let load = HostLoad {
        span_ns,
        cpu_ns: others.map(|(cpu, _)| cpu.all_ns),
        others_cpu_ns: others.map(|(cpu, own_ns)| cpu.used_ns.saturating_sub(own_ns)),
        device_counters: before
            .counters
            .zip(now.counters)
            .map(|(before, now)| now.since(before)),
    };
    (load.cpu_ns.is_some() || load.device_counters.is_some()).then_some(load)
}

fn parse_cpu(text: &str) -> Option<CpuTime> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks = numbers(line.split_ascii_whitespace().take(COLUMNS_COUNT))?;
    let columns = ticks.iter().enumerate();
    let used = columns.filter(|(column, _)| !UNUSED.contains(column));
    let used: Vec<u64> = used.map(|(_, ticks)| *ticks).collect();
    (ticks.len() == COLUMNS_COUNT).then_some(CpuTime {
        all_ns: sum_ns(&ticks)?,
        used_ns: sum_ns(&used)?,
    })
}

fn sum_ns(ticks: &[u64]) -> Option<u64> {
    let sum = ticks
        .iter()
        .try_fold(0, |sum: u64, ticks| sum.checked_add(*ticks))?;
    sum.checked_mul(TICK_NS)
}

/// The name of the program, in parentheses, may hold anything.
fn parse_own(text: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once(')')?;
    let columns: Vec<&str> = rest.split_ascii_whitespace().collect();
    sum_ns(&numbers(columns.get(OWN)?.iter().copied())?)
}

fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> Option<Vec<u64>> {
    words.map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn used_time_is_neither_idle_nor_waiting_nor_stolen() {
        let text = "cpu  10 20 30 400 500 60 70 800 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let expected = CpuTime {
            all_ns: 18_900 * MS,
            used_ns: 1_900 * MS,
        };
        assert_eq!(parse_cpu(text), Some(expected));
        for text in [
            "",
            "cpu  1 2 3\n",
            "cpu0 1 2 3 4 5 6 7 8\n",
            "cpu  1 2 3 4 x 6 7 8\n",
        ] {
            assert_eq!(parse_cpu(text), None, "{text}");
        }
        assert_eq!(
            parse_cpu(&format!("cpu  {0} {0} 1 1 1 1 1 1\n", u64::MAX)),
            None
        );
    }

    #[test]
    fn own_time_includes_children_that_ended() {
        let text = "77 (a) b) S 1 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0";
        assert_eq!(parse_own(text), Some(260 * MS));
        for text in [
            "",
            "77 (cardmark) S 1 1",
            "77 cardmark S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8",
        ] {
            assert_eq!(parse_own(text), None, "{text}");
        }
    }

    #[test]
    fn what_the_program_used_itself_is_not_of_others() {
        let reading = |all_ns, used_ns, own_ns, bytes| Reading {
            cpu: Some(CpuTime { all_ns, used_ns }),
            own_ns: Some(own_ns),
            counters: Some(DeviceCounters {
                read_bytes: bytes,
                ..DeviceCounters::default()
            }),
        };
        let before = reading(1000, 100, 40, 7);
        let load = difference(&before, &reading(3000, 700, 240, 507), 500).unwrap();
        assert_eq!(
            (load.span_ns, load.cpu_ns, load.others_cpu_ns),
            (500, Some(2000), Some(400))
        );
        assert_eq!(load.device_counters.unwrap().read_bytes, 500);
        let load = difference(&before, &reading(3000, 110, 240, 7), 500).unwrap();
        assert_eq!(load.others_cpu_ns, Some(0));
        let unknown = Reading {
            own_ns: None,
            counters: None,
            ..before
        };
        assert_eq!(difference(&before, &unknown, 500), None);
        assert_eq!(
            difference(&before, &before, 0).unwrap().cpu_ns,
            None,
            "no time passed"
        );
    }
}
