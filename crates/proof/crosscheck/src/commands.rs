//! Command lines of the originals.

use cardmark_core::KIB;

/// One of hdparm's two timings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HdparmTest {
    /// `-T`: the first 2 MiB over and over, from memory.
    Cached,
    /// `-t`: the device from its start.
    Disk,
}

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// The program.
    pub(crate) program: &'static str,
    /// Debian's package that has it.
    pub(crate) package: &'static str,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// The directory it must be started in.
    pub(crate) directory: Option<String>,
}

impl Invocation {
    fn new(program: &'static str, package: &'static str, arguments: &[&str]) -> Self {
        Self {
            program,
            package,
            arguments: arguments
                .iter()
                .map(|&argument| argument.to_owned())
                .collect(),
            directory: None,
        }
    }
}

/// One timing of hdparm. It reads only.
pub(crate) fn hdparm(test: HdparmTest, device: &str) -> Invocation {
    let option = match test {
        HdparmTest::Cached => "-T",
        HdparmTest::Disk => "-t",
    };
    Invocation::new("hdparm", "hdparm", &[option, device])
}

/// Zeros into a file, and a flush inside the clock.
pub(crate) fn dd(path: &str, block_bytes: u64, blocks_count: u64) -> Invocation {
    let (output, block) = (format!("of={path}"), format!("bs={block_bytes}"));
    let count = format!("count={blocks_count}");
    let arguments = ["if=/dev/zero", &output, &block, &count, "conv=fsync"];
    Invocation::new("dd", "coreutils", &arguments)
}

/// Tests of both kinds of iozone runs: write, read, random read and write.
const IOZONE_TESTS: [&str; 6] = ["-i", "0", "-i", "1", "-i", "2"];

/// iozone by one process: flush inside the clock, direct, one file.
pub(crate) fn iozone_single(path: &str, size_bytes: u64, records_bytes: &[u64]) -> Invocation {
    let size = kib(size_bytes);
    let records: Vec<String> = records_bytes.iter().map(|&bytes| kib(bytes)).collect();
    let mut arguments = vec!["-e", "-I", "-a", "-s", &size];
    for record in &records {
        arguments.extend(["-r", record]);
    }
    arguments.extend(IOZONE_TESTS);
    arguments.extend(["-f", path]);
    Invocation::new("iozone", "iozone3", &arguments)
}

/// iozone by several threads, direct; its files `iozone.DUMMY.N` lie in `directory`.
pub(crate) fn iozone_threads(
    directory: &str,
    threads_count: u32,
    size_bytes: u64,
    record_bytes: u64,
) -> Invocation {
    let (threads, size) = (threads_count.to_string(), kib(size_bytes));
    let record = kib(record_bytes);
    let mut arguments = vec!["-T", "-t", &threads, "-s", &size, "-r", &record, "-I"];
    arguments.extend(IOZONE_TESTS);
    Invocation {
        directory: Some(directory.to_owned()),
        ..Invocation::new("iozone", "iozone3", &arguments)
    }
}

/// iozone's `k` is 1,024 bytes.
fn kib(bytes: u64) -> String {
    format!("{}k", bytes / KIB)
}

/// Order and direction of fio's operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FioPattern {
    /// Random reads.
    RandomRead,
    /// Random writes.
    RandomWrite,
}

/// A job of fio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FioJob<'a> {
    /// File or device.
    pub(crate) path: &'a str,
    /// Order and direction.
    pub(crate) pattern: FioPattern,
    /// Size of an operation, bytes.
    pub(crate) block_bytes: u64,
    /// Operations in flight.
    pub(crate) queue_depth: u32,
    /// Duration, whole seconds.
    pub(crate) runtime_s: u64,
    /// Bytes from the start in which it works.
    pub(crate) size_bytes: u64,
}

/// fio as our own workloads are: direct, for a given time, and random offsets drawn with
/// replacement. What it prints is JSON.
pub(crate) fn fio(job: &FioJob) -> Invocation {
    let pattern = match job.pattern {
        FioPattern::RandomRead => "randread",
        FioPattern::RandomWrite => "randwrite",
    };
    // A colon would part two names.
    let path = job.path.replace(':', "\\:");
    let arguments = [
        "--name=cardmark",
        &format!("--filename={path}"),
        &format!("--rw={pattern}"),
        &format!("--bs={}", job.block_bytes),
        &format!("--iodepth={}", job.queue_depth),
        &format!("--size={}", job.size_bytes),
        &format!("--runtime={}", job.runtime_s),
        "--time_based",
        "--ioengine=libaio",
        "--direct=1",
        "--norandommap",
        "--output-format=json",
    ];
    Invocation::new("fio", "fio", &arguments)
}

/// ddrescue of zeros onto a device, output direct. The size must be a multiple of the sector, and
/// `map` must not exist yet, or ddrescue would continue from it.
pub(crate) fn ddrescue_write(device: &str, size_bytes: u64, map: &str) -> Invocation {
    let size = format!("--size={size_bytes}");
    let arguments = ["--force", "--odirect", &size, "/dev/zero", device, map];
    Invocation::new("ddrescue", "gddrescue", &arguments)
}

/// ddrescue from the start of a device, input through the page cache. `map` must not exist yet.
pub(crate) fn ddrescue_read(device: &str, size_bytes: u64, output: &str, map: &str) -> Invocation {
    let size = format!("--size={size_bytes}");
    // Without it ddrescue refuses whatever is not a regular file. A real device is never meant.
    let force: &[&str] = if output == "/dev/null" {
        &["--force"]
    } else {
        &[]
    };
    let arguments = [force, &[&size, device, output, map]].concat();
    Invocation::new("ddrescue", "gddrescue", &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(invocation: &Invocation) -> String {
        format!("{} {}", invocation.program, invocation.arguments.join(" "))
    }

    /// The command line in a fixture of iozone.
    fn used(fixture: &str) -> &str {
        let (_, rest) = fixture
            .split_once("Command line used: ")
            .expect("a command line");
        rest.lines().next().expect("a line")
    }

    #[test]
    fn iozone_is_called_as_for_the_fixtures() {
        let single = include_str!("../../../know/import/fixtures/iozone-3.489-4k-1m.txt")
            .replace("8M", "8192k");
        let invocation = iozone_single("/mnt/card/iozone", 8192 * KIB, &[4 * KIB, 1024 * KIB]);
        assert_eq!(line(&invocation), used(&single));
        let threads = include_str!("../../../know/import/fixtures/iozone-3.489-threads.txt")
            .replace("4m", "4096k");
        let invocation = iozone_threads("/mnt/card", 4, 4096 * KIB, 4 * KIB);
        assert_eq!(line(&invocation), used(&threads));
        assert_eq!(invocation.directory.as_deref(), Some("/mnt/card"));
    }

    #[test]
    fn the_others_are_called_as_documented() {
        let hdparm = [HdparmTest::Disk, HdparmTest::Cached].map(|test| hdparm(test, "/dev/sda"));
        assert_eq!(
            hdparm.map(|hdparm| line(&hdparm)),
            ["hdparm -t /dev/sda", "hdparm -T /dev/sda"]
        );
        assert_eq!(
            line(&dd("/mnt/card/test", 8192, 51_200)),
            "dd if=/dev/zero of=/mnt/card/test bs=8192 count=51200 conv=fsync"
        );
        assert_eq!(
            line(&ddrescue_write("/dev/sda", 65_536, "map")),
            "ddrescue --force --odirect --size=65536 /dev/zero /dev/sda map"
        );
        assert_eq!(
            line(&ddrescue_read(
                "/dev/sda",
                50_000_000_000,
                "/dev/null",
                "map"
            )),
            "ddrescue --force --size=50000000000 /dev/sda /dev/null map"
        );
        assert_eq!(
            line(&ddrescue_read("/dev/sda", 4096, "/mnt/card/image", "map")),
            "ddrescue --size=4096 /dev/sda /mnt/card/image map"
        );
    }

    #[test]
    fn a_colon_in_a_path_does_not_part_it() {
        let invocation = fio(&FioJob {
            path: "/mnt/a:b",
            pattern: FioPattern::RandomWrite,
            block_bytes: 4096,
            queue_depth: 32,
            runtime_s: 3,
            size_bytes: 1 << 28,
        });
        assert!(
            invocation
                .arguments
                .contains(&"--filename=/mnt/a\\:b".to_owned())
        );
        assert!(invocation.arguments.contains(&"--rw=randwrite".to_owned()));
        assert!(invocation.arguments.contains(&"--iodepth=32".to_owned()));
    }
}
