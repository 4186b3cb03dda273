//! What single tools printed.

use cardmark_core::{DeviceInfo, Finding, FindingKind, KIB, MIB, Metric, Quantity, Severity};

use super::fio;
use super::item::{Item, byte_rate, doubtful, printed, size, unread};
use crate::read::{Parts, dd_parts, ddrescue_parts, f3_parts, hdparm_parts, iozone_parts};
use crate::{
    DdReading, F3Output, F3Probe, F3Read, F3Verdict, HdparmReading, HdparmTest, IozoneOutput,
    IozoneRow, IozoneTest, IozoneThreads, Rate, ReadError,
};

const HDPARM: &str = "hdparm";
const DD: &str = "dd";
const IOZONE: &str = "iozone";
const F3: &str = "f3";

/// Record size of the well-known script.
pub(super) const USUAL_RECORD_BYTES: u64 = 4 * KIB;
/// What its dd copies: 50k blocks of 8k.
const USUAL_COPY_BYTES: u64 = 400 * MIB;
/// Lines of a block of iozone's threads, and of what f3read and f3probe found.
const BLOCK_LINES: usize = 6;

/// What the tools printed. Beside a table of PiBenchmarks, hdparm and dd are part of its report.
pub(super) fn items(text: &str, lines: &[&str], has_table: bool) -> Vec<Item> {
    let mut items = Vec::new();
    if !has_table {
        items.extend(all(hdparm_parts(text), |reading| vec![hdparm(&reading)]));
        items.extend(copies(dd_parts(text), lines));
    }
    let (output, errors) = iozone_parts(text);
    items.extend(iozone(&output, lines));
    items.extend(unread(&errors));
    items.extend(fio::items(text));
    items.extend(all(ddrescue_parts(text), |reading| {
        let rate = rate("ddrescue", "ddrescue", &reading.average_rate, None);
        vec![Item::of("ddrescue", reading.line, vec![rate])]
    }));
    let (output, errors) = f3_parts(text);
    items.extend(f3(output));
    items.extend(unread(&errors));
    items
}

/// The items of readings, and those of what could not be read.
pub(super) fn all<T>(
    (readings, errors): Parts<Vec<T>>,
    items: impl FnMut(T) -> Vec<Item>,
) -> Vec<Item> {
    let items = readings.into_iter().flat_map(items);
    items.chain(unread(&errors)).collect()
}

fn rate(tool: &str, id: impl Into<String>, rate: &Rate, right_unit: Option<&str>) -> Metric {
    byte_rate(
        id,
        rate.bytes_per_s,
        printed(tool, &rate.printed, right_unit),
    )
}

/// hdparm's megabytes and kilobytes are binary.
pub(super) fn hdparm_unit(printed: &str) -> Option<&'static str> {
    if printed.contains("MB") {
        Some("MiB/s")
    } else {
        Some("KiB/s")
    }
}

fn hdparm(reading: &HdparmReading) -> Item {
    let mut id = match reading.test {
        HdparmTest::Disk => "hdparm_t".to_owned(),
        HdparmTest::Cached => "hdparm_T".to_owned(),
    };
    if reading.direct {
        id += "_direct";
    }
    if let Some(offset) = reading.offset_bytes.filter(|offset| *offset > 0) {
        id += &format!("_from_{}", size(offset));
    }
    let unit = hdparm_unit(&reading.rate.printed);
    Item::of(
        HDPARM,
        reading.line,
        vec![rate(HDPARM, id, &reading.rate, unit)],
    )
}

fn copies(copies: Parts<Vec<DdReading>>, lines: &[&str]) -> Vec<Item> {
    // A command belongs to the first copy below it, also where that cannot be read.
    let read = copies.0.iter().map(|reading| reading.line);
    let lost = copies.1.iter().filter_map(ReadError::line);
    let mut ends: Vec<usize> = read.chain(lost).collect();
    ends.sort_unstable();
    all(copies, |reading| {
        let end = reading.line.saturating_sub(1).min(lines.len());
        let (before, _) = ends.split_at(ends.partition_point(|line| *line <= end));
        let begin = before.last().copied().unwrap_or(0);
        let told = lines.get(begin..end).unwrap_or_default();
        let id = copy_id(&reading, told);
        // Where nothing parts unit and number, the units are busybox's binary ones.
        let is_binary = !reading.rate.printed.trim().contains(' ');
        let right = is_binary.then(|| match reading.rate.printed.as_str() {
            text if text.contains('G') => "GiB/s",
            text if text.contains('M') => "MiB/s",
            text if text.contains(['k', 'K']) => "KiB/s",
            _ => "B/s",
        });
        vec![Item::of(
            DD,
            reading.line,
            vec![rate(DD, id, &reading.rate, right)],
        )]
    })
}

/// dd prints neither direction nor block size; a command line above it does. A copy of the size
/// that the well-known script makes is taken for its copy, unless such a line says otherwise.
fn copy_id(reading: &DdReading, told: &[&str]) -> String {
    let is_command = |line: &&&str| line.contains("dd ") && line.contains("of=");
    let command = told.iter().rev().find(is_command);
    let has = |word: &str| command.is_some_and(|line| line.contains(word));
    let is_usual = reading.bytes == USUAL_COPY_BYTES;
    let is_script = has("if=/dev/zero") && has("bs=8k") && has("conv=fsync");
    let amount = size(reading.bytes);
    if has("of=/dev/null") {
        format!("dd_read_{amount}")
    } else if is_usual && (command.is_none() || is_script) {
        "dd_write".to_owned()
    } else if has("if=/dev/zero") || has("random") {
        format!("dd_write_{amount}")
    } else {
        format!("dd_{amount}")
    }
}

/// What iozone's tests are called in ids.
pub(super) fn test_name(test: IozoneTest) -> &'static str {
    match test {
        IozoneTest::Write => "write",
        IozoneTest::Rewrite => "rewrite",
        IozoneTest::Read => "read",
        IozoneTest::Reread => "reread",
        IozoneTest::RandomRead => "random_read",
        IozoneTest::RandomWrite => "random_write",
        IozoneTest::BackwardRead => "backward_read",
        IozoneTest::RecordRewrite => "record_rewrite",
        IozoneTest::StrideRead => "stride_read",
        IozoneTest::Fwrite => "fwrite",
        IozoneTest::Frewrite => "frewrite",
        IozoneTest::Fread => "fread",
        IozoneTest::Freread => "freread",
        IozoneTest::Mixed => "mixed",
        IozoneTest::Pwrite => "pwrite",
        IozoneTest::Pread => "pread",
    }
}

/// What an id has in the place of the record size where that is not told: such a figure is none of
/// our suites'.
pub(super) const UNSIZED: &str = "_unsized";

/// The record size in an id; none for 4 KiB where no other stands beside it.
pub(super) fn record_name(record_bytes: u64, is_alone: bool) -> String {
    if record_bytes == USUAL_RECORD_BYTES && is_alone {
        String::new()
    } else {
        format!("_{}", size(record_bytes))
    }
}

fn iozone(output: &IozoneOutput, lines: &[&str]) -> Vec<Item> {
    let first = output.rows.first().map(|row| row.record_bytes);
    let is_alone = output
        .rows
        .iter()
        .all(|row| Some(row.record_bytes) == first);
    let rows = output.rows.iter().map(|row| iozone_row(row, is_alone));
    let threads = output
        .threads
        .iter()
        .map(|block| iozone_threads(block, lines));
    rows.chain(threads).collect()
}

/// Its columns are whole KiB a second.
fn iozone_row(row: &IozoneRow, is_alone: bool) -> Item {
    let record = record_name(row.record_bytes, is_alone);
    let metrics = row.rates.iter().map(|figure| {
        let id = format!("iozone_{}{record}", test_name(figure.test));
        let text = match row.unit_stated {
            true => format!("{} kB/sec", figure.rate.printed),
            false => figure.rate.printed.clone(),
        };
        Metric {
            operations_per_s: operations(figure.rate.bytes_per_s, Some(row.record_bytes)),
            ..byte_rate(
                id,
                figure.rate.bytes_per_s,
                printed(IOZONE, &text, Some("KiB/s")),
            )
        }
    });
    let mut item = Item::of(IOZONE, row.line, metrics.collect());
    item.file_bytes = Some(row.size_bytes);
    if !row.unit_stated {
        let detail = "the text does not say the unit of iozone's table: taken for kB of 1,024 bytes \
                      a second, which iozone prints unless told otherwise";
        let finding = Finding::new(FindingKind::AmbiguousUnit, Severity::Note, detail);
        let ids = item.metrics.iter().map(|metric| metric.id.clone());
        item.findings = vec![ids.fold(finding, Finding::on)];
    }
    item
}

/// Operations a second of records of that size.
pub(super) fn operations(bytes_per_s: f64, record_bytes: Option<u64>) -> Option<f64> {
    let record_bytes = record_bytes.filter(|&bytes| bytes > 0)?;
    Some(bytes_per_s / record_bytes as f64)
}

fn iozone_threads(block: &IozoneThreads, lines: &[&str]) -> Item {
    let sizes = thread_sizes(lines, block.line);
    let record_bytes = sizes.map(|(_, record)| record);
    let record = record_bytes.map_or(UNSIZED.to_owned(), |bytes| record_name(bytes, true));
    let (count, name) = (block.threads_count, test_name(block.test));
    let parts = [
        ("children", Some(&block.children)),
        ("parent", block.parent.as_ref()),
        ("min", block.min.as_ref()),
        ("max", block.max.as_ref()),
        ("avg", block.avg.as_ref()),
    ];
    let metrics = parts.into_iter().filter_map(|(part, figure)| {
        let id = format!("iozone_t{count}_{name}{record}_{part}");
        let metric = rate(IOZONE, id, figure?, Some("KiB/s"));
        Some(Metric {
            operations_per_s: operations(metric.value, record_bytes),
            ..metric
        })
    });
    let mut item = Item::of(IOZONE, block.line, metrics.collect());
    item.lines = block.line..=block.line + BLOCK_LINES - 1;
    item.file_bytes = sizes.map(|(file, _)| file);
    if sizes.is_none() {
        let detail = "the size of iozone's records is not told: the line `Each thread writes a …` is \
                      missing above";
        let ids = item.metrics.iter().map(|metric| metric.id.clone());
        item.findings = vec![ids.fold(doubtful(detail), Finding::on)];
    }
    item
}

/// Sizes of file and record of the threads whose block begins at that line: `Each thread writes a
/// 4096 kByte file in 4 kByte records`.
fn thread_sizes(lines: &[&str], block: usize) -> Option<(u64, u64)> {
    let before = lines.get(..block.saturating_sub(1))?;
    let told = before
        .iter()
        .rev()
        .find_map(|line| line.split_once(" writes a "));
    let (file, rest) = told?.1.trim().split_once(" kByte file in ")?;
    let (record, _) = rest.split_once(" kByte records")?;
    let bytes = |kib: &str| kib.trim().parse::<u64>().ok()?.checked_mul(KIB);
    Some((bytes(file)?, bytes(record)?))
}

fn f3(output: F3Output) -> Vec<Item> {
    let mut items = Vec::new();
    for write in output.writes {
        let metric = write.average_rate.map(|it| f3_rate("f3_write", &it));
        items.push(Item::of(F3, write.line, metric.into_iter().collect()));
    }
    items.extend(output.reads.iter().map(f3_read));
    items.extend(output.probes.iter().map(f3_probe));
    items
}

/// f3's units are binary.
fn f3_rate(id: &str, figure: &Rate) -> Metric {
    let units = [
        ("KB", "KiB/s"),
        ("MB", "MiB/s"),
        ("GB", "GiB/s"),
        ("TB", "TiB/s"),
    ];
    let right = units
        .iter()
        .find(|(wrong, _)| figure.printed.contains(*wrong));
    rate(F3, id, figure, right.map(|(_, right)| *right))
}

fn amount(id: &str, bytes: u64) -> Metric {
    Metric::new(id, Quantity::Size, bytes as f64)
}

fn f3_read(read: &F3Read) -> Item {
    let mut item = Item::new(F3, read.line);
    item.lines = read.line.saturating_sub(BLOCK_LINES).max(1)..=read.line;
    item.metrics = read
        .average_rate
        .iter()
        .map(|it| f3_rate("f3_read", it))
        .collect();
    if let Some(found) = read.sectors {
        let (ok, lost) = (found.ok.bytes, found.lost.bytes);
        item.metrics
            .extend([amount("f3_ok", ok), amount("f3_lost", lost)]);
        if lost > 0 {
            let detail = format!(
                "f3read found {} sectors of 512 bytes lost of {} read: {} corrupted, {} changed, {} \
                 overwritten by others",
                found.lost.sectors_count,
                found
                    .ok
                    .sectors_count
                    .saturating_add(found.lost.sectors_count),
                found.corrupted.sectors_count,
                found.changed.sectors_count,
                found.overwritten.sectors_count,
            );
            item.findings.push(data_lost(detail));
        }
    }
    if read.is_partial {
        let detail = "f3read could not read all of its files: some were missing or ended in errors";
        let finding = Finding::new(FindingKind::IoError, Severity::Warning, detail);
        let ids = item.metrics.iter().map(|metric| metric.id.clone());
        item.findings.push(ids.fold(finding, Finding::on));
    }
    item
}

fn data_lost(detail: impl Into<String>) -> Finding {
    Finding::new(FindingKind::DataLost, Severity::Warning, detail)
}

fn f3_probe(probe: &F3Probe) -> Item {
    let mut item = Item::new(F3, probe.line);
    item.lines = probe.line..=probe.line;
    item.metrics = vec![
        amount("f3_usable", probe.usable_bytes),
        amount("f3_announced", probe.announced_bytes),
    ];
    item.device = Some(DeviceInfo {
        size_bytes: Some(probe.announced_bytes),
        ..DeviceInfo::default()
    });
    let (usable, announced) = (probe.usable_bytes, probe.announced_bytes);
    let kind = match probe.verdict {
        F3Verdict::Real => return item,
        F3Verdict::Damaged => {
            let detail = format!("f3probe found no block of {announced} bytes that keeps data");
            item.findings.push(data_lost(detail));
            return item;
        }
        F3Verdict::Limbo => "what is written beyond is lost",
        F3Verdict::Wraparound => "what is written beyond overwrites what is below",
        F3Verdict::Chain => "what is written beyond is lost or overwrites what is below",
    };
    let detail =
        format!("f3probe found that {usable} of the {announced} bytes announced keep data; {kind}");
    item.findings.push(Finding::new(
        FindingKind::FalseCapacity,
        Severity::Warning,
        detail,
    ));
    item
}

/// The six tests of `-i 0 -i 1 -i 2`.
const SIX: [IozoneTest; 6] = [
    IozoneTest::Write,
    IozoneTest::Rewrite,
    IozoneTest::Read,
    IozoneTest::Reread,
    IozoneTest::RandomRead,
    IozoneTest::RandomWrite,
];
const PARTS: [&str; 5] = ["children", "parent", "min", "max", "avg"];

/// Our suite whose figures these are. The well-known script may lack `hdparm -T`; ddrescue, which
/// belongs to `raw-survey`, does not say whether it read or wrote.
pub(super) fn suite(items: &[Item]) -> Option<&'static str> {
    let mut ids: Vec<&str> = items
        .iter()
        .flat_map(|item| &item.metrics)
        .map(|metric| metric.id.as_str())
        .filter(|id| !["hdparm_T", "ddrescue"].contains(id))
        .collect();
    ids.sort_unstable();
    let mut files = items.iter().filter_map(|item| item.file_bytes);
    let file_bytes = files.next()?;
    let is_one = files.all(|bytes| bytes == file_bytes);
    let is = |wanted: Vec<String>, wanted_bytes: u64| {
        let mut wanted = wanted;
        wanted.sort_unstable();
        is_one && file_bytes == wanted_bytes && wanted == ids
    };
    let six = |end: &'static str| SIX.map(|test| format!("iozone_{}{end}", test_name(test)));
    let dramble = ["hdparm_t", "dd_write"].map(str::to_owned).into_iter();
    let threads = SIX
        .iter()
        .flat_map(|test| PARTS.map(|part| format!("iozone_t4_{}_{part}", test_name(*test))));
    if is(dramble.chain(six("")).collect(), 100 * MIB) {
        Some("dramble")
    } else if is([six("_4k"), six("_16m")].concat(), 100 * MIB) {
        Some("raw-survey")
    } else if is(threads.collect(), 256 * MIB) {
        Some("parallel4")
    } else {
        None
    }
}
