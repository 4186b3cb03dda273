//! Contests: the command line of an original, our workloads, and the figures of both.

use std::path::Path;
use std::time::Duration;

use cardmark_core::{KIB, MIB};
use cardmark_import::{Imported, import};

use crate::commands::{
    FioJob, FioPattern, HdparmTest, Invocation, dd, ddrescue_read, ddrescue_write, fio, hdparm,
    iozone_single, iozone_threads,
};
use crate::original::ToolTarget;

// The sizes are those of the workloads in the suite `crosscheck`; a test compares them.
const DD_BLOCK_BYTES: u64 = 8 * KIB;
const DD_BLOCKS_COUNT: u64 = 12_800;
const SMALL_BYTES: u64 = 16 * MIB;
const SMALL_RECORD_BYTES: u64 = 4 * KIB;
const LARGE_BYTES: u64 = 96 * MIB;
const LARGE_RECORD_BYTES: u64 = 16 * MIB;
const THREADS_COUNT: u32 = 4;
const THREAD_BYTES: u64 = 8 * MIB;
const FIO_BYTES: u64 = 64 * MIB;
const FIO_SECONDS: u64 = 10;

/// Figures by the name of our metric: bytes or operations a second.
pub(crate) type Figures = Vec<(String, f64)>;

/// One original beside some of our workloads.
pub(crate) struct Contest {
    /// Name.
    pub(crate) name: &'static str,
    /// The original.
    pub(crate) invocation: Invocation,
    /// Our workloads.
    pub(crate) workloads: Vec<String>,
    /// A file that must be there, written, before the original starts.
    pub(crate) written: Option<(String, u64)>,
    /// A disk whose page cache both sides find empty. hdparm empties it after its own test, and
    /// reads at the speed of memory what others left there.
    pub(crate) cold_disk: Option<String>,
    /// True if a raw device would be written.
    pub(crate) writes: bool,
    reader: Reader,
}

/// Parser of the original's figures.
#[derive(Clone, Copy)]
enum Reader {
    /// The bytes per second that it printed.
    Bytes,
    /// The operations per second that it printed.
    Operations,
    /// The table of iozone, for records of this size.
    Iozone(&'static str),
    /// The ids of the import are ours.
    IozoneThreads,
    /// Bytes over the time the process took.
    WallTime(u64),
}

impl Contest {
    /// Returns the original's figures from its output and its run time; none if the output could
    /// not be read.
    pub(crate) fn read(&self, text: &str, wall: Duration) -> Option<Figures> {
        let single = |value: f64| vec![(self.workloads[0].clone(), value)];
        if let Reader::WallTime(bytes) = self.reader {
            return Some(single(bytes as f64 / wall.as_secs_f64()));
        }
        let [one]: [Imported; 1] = import(text, &[]).records.try_into().ok()?;
        let first = one.metrics.first()?;
        Some(match self.reader {
            Reader::Operations => single(first.operations_per_s?),
            Reader::Bytes | Reader::WallTime(_) => single(first.rate_bytes_per_s?),
            Reader::Iozone(ending) => table(&one, ending),
            Reader::IozoneThreads => one
                .metrics
                .iter()
                .map(|it| (it.id.clone(), it.value))
                .collect(),
        })
    }
}

/// iozone's tests by the names of our metrics. The import leaves 4 KiB out of an id.
fn table(one: &Imported, ending: &str) -> Figures {
    let of_test = |test: &&str| {
        let id = format!("iozone_{test}_{ending}");
        let mut metrics = one.metrics.iter();
        let metric = metrics.find(|it| it.id == id || it.id == format!("iozone_{test}"))?;
        Some((id, metric.value))
    };
    TESTS.iter().filter_map(of_test).collect()
}

/// iozone's tests as our metrics name them.
const TESTS: [&str; 6] = [
    "write",
    "rewrite",
    "read",
    "reread",
    "random_read",
    "random_write",
];

/// All contests that are possible on this place.
pub(crate) fn contests(place: &ToolTarget) -> Vec<Contest> {
    let mut list = Vec::new();
    if let Some(disk) = &place.disk {
        list.push(of_hdparm("hdparm -t", HdparmTest::Disk, "hdparm_t", disk));
        list.push(of_hdparm("hdparm -T", HdparmTest::Cached, "hdparm_T", disk));
    }
    match &place.device {
        Some((device, size_bytes)) => {
            list.extend(of_iozone(device));
            list.extend(of_ddrescue(device, *size_bytes, &place.workshop));
        }
        None => {
            let file = |name: &str| path_text(&place.workshop.join(name));
            list.push(of_dd(&file("dd")));
            list.extend(of_iozone(&file("iozone")));
            list.push(of_iozone_threads(&path_text(&place.workshop)));
            list.extend(of_fio(&file("fio")));
        }
    }
    list
}

fn of_hdparm(name: &'static str, test: HdparmTest, id: &str, disk: &str) -> Contest {
    Contest {
        name,
        invocation: hdparm(test, disk),
        workloads: vec![id.to_owned()],
        written: None,
        cold_disk: Some(disk.to_owned()),
        writes: false,
        reader: Reader::Bytes,
    }
}

fn of_dd(path: &str) -> Contest {
    Contest {
        name: "dd",
        invocation: dd(path, DD_BLOCK_BYTES, DD_BLOCKS_COUNT),
        workloads: vec!["dd_write".to_owned()],
        written: None,
        cold_disk: None,
        writes: true,
        reader: Reader::Bytes,
    }
}

fn of_iozone(path: &str) -> [Contest; 2] {
    let contest = |name, ending: &'static str, size, record| Contest {
        name,
        invocation: iozone_single(path, size, &[record]),
        workloads: TESTS
            .iter()
            .map(|test| format!("iozone_{test}_{ending}"))
            .collect(),
        written: None,
        cold_disk: None,
        writes: true,
        reader: Reader::Iozone(ending),
    };
    [
        contest("iozone 4k", "4k", SMALL_BYTES, SMALL_RECORD_BYTES),
        contest("iozone 16M", "16m", LARGE_BYTES, LARGE_RECORD_BYTES),
    ]
}

fn of_iozone_threads(directory: &str) -> Contest {
    Contest {
        name: "iozone -T",
        invocation: iozone_threads(directory, THREADS_COUNT, THREAD_BYTES, SMALL_RECORD_BYTES),
        workloads: TESTS
            .iter()
            .map(|test| format!("iozone_t4_{test}"))
            .collect(),
        written: None,
        cold_disk: None,
        writes: true,
        reader: Reader::IozoneThreads,
    }
}

fn of_fio(path: &str) -> [Contest; 4] {
    let contest = |name, id: &str, pattern, queue_depth| Contest {
        name,
        invocation: fio(&FioJob {
            path,
            pattern,
            block_bytes: SMALL_RECORD_BYTES,
            queue_depth,
            runtime_s: FIO_SECONDS,
            size_bytes: FIO_BYTES,
        }),
        workloads: vec![id.to_owned()],
        written: Some((path.to_owned(), FIO_BYTES)),
        cold_disk: None,
        writes: true,
        reader: Reader::Operations,
    };
    let (read, write) = (FioPattern::RandomRead, FioPattern::RandomWrite);
    [
        contest("fio randread QD1", "fio_rand_read_q1", read, 1),
        contest("fio randread QD32", "fio_rand_read_q32", read, 32),
        contest("fio randwrite QD1", "fio_rand_write_q1", write, 1),
        contest("fio randwrite QD32", "fio_rand_write_q32", write, 32),
    ]
}

/// By the time of the whole process: ddrescue itself counts whole seconds.
fn of_ddrescue(device: &str, size_bytes: u64, workshop: &Path) -> [Contest; 2] {
    let map = path_text(&workshop.join("map"));
    let contest = |name, id: &str, invocation, writes| Contest {
        name,
        invocation,
        workloads: vec![id.to_owned()],
        written: None,
        cold_disk: None,
        writes,
        reader: Reader::WallTime(size_bytes),
    };
    let write = ddrescue_write(device, size_bytes, &map);
    let read = ddrescue_read(device, size_bytes, "/dev/null", &map);
    [
        contest("ddrescue write", "ddrescue_write", write, true),
        contest("ddrescue read", "ddrescue_read", read, false),
    ]
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardmark_core::{StopRule, Suite};

    fn place(device: Option<(String, u64)>) -> ToolTarget {
        ToolTarget {
            disk: Some("/dev/sda".to_owned()),
            device,
            workshop: "/mnt/card/work".into(),
        }
    }

    fn suite() -> Suite {
        cardmark_catalog::crosscheck_suite().unwrap()
    }

    #[test]
    fn every_workload_of_the_suite_has_its_contest() {
        let mut ids: Vec<String> = [None, Some(("/dev/sda".to_owned(), 1 << 30))]
            .into_iter()
            .flat_map(|device| contests(&place(device)))
            .flat_map(|contest| contest.workloads)
            .collect();
        ids.sort();
        ids.dedup();
        let mut known: Vec<String> = suite().workloads.iter().map(|w| w.id.clone()).collect();
        known.sort();
        assert_eq!(ids, known);
    }

    #[test]
    fn the_originals_are_told_the_sizes_of_the_suite() {
        let suite = suite();
        let of = |id: &str| suite.workload(id).unwrap().clone();
        assert_eq!(of("dd_write").block_bytes, DD_BLOCK_BYTES);
        assert_eq!(of("dd_write").span_bytes, DD_BLOCK_BYTES * DD_BLOCKS_COUNT);
        for test in TESTS {
            let small = of(&format!("iozone_{test}_4k"));
            assert_eq!(
                (small.span_bytes, small.block_bytes),
                (SMALL_BYTES, SMALL_RECORD_BYTES)
            );
            let large = of(&format!("iozone_{test}_16m"));
            assert_eq!(
                (large.span_bytes, large.block_bytes),
                (LARGE_BYTES, LARGE_RECORD_BYTES)
            );
            let threads = of(&format!("iozone_t4_{test}"));
            assert_eq!(threads.span_bytes, THREAD_BYTES);
            assert_eq!(threads.manner.streams_count, THREADS_COUNT);
        }
        for (id, depth) in [("fio_rand_read_q1", 1), ("fio_rand_write_q32", 32)] {
            let workload = of(id);
            assert_eq!(
                (workload.span_bytes, workload.queue_depth),
                (FIO_BYTES, depth)
            );
            let stop = StopRule {
                least_span_ns: FIO_SECONDS * 1_000_000_000,
                least_operations_count: 1,
                most_bytes: None,
                longest_span_ns: None,
                ..StopRule::default()
            };
            assert_eq!(workload.stop, stop);
        }
    }

    #[test]
    fn figures_bear_the_names_of_our_metrics() {
        let text = include_str!("../../../know/import/fixtures/iozone-3.489-threads.txt");
        let known: Vec<String> = suite().figures.iter().map(|f| f.id.clone()).collect();
        let list = contests(&place(None));
        let threads = list
            .iter()
            .find(|contest| contest.name == "iozone -T")
            .unwrap();
        let figures = threads.read(text, Duration::ZERO).unwrap();
        assert_eq!(figures.len(), 30);
        assert!(figures.iter().all(|(id, _)| known.contains(id)));
    }
}
