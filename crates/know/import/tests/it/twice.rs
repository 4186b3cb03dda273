//! Several runs in one text: each has its figures in a record, or its lines are listed.

use std::collections::BTreeMap;

use cardmark_import::{Import, import};

use crate::known::known;
use crate::{K, M, close, fixture, fixture_texts};

/// How often each value stands in the records. Ids may differ: a second job of one name in a run has a number.
fn values(import: &Import) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    let metrics = import.records.iter().flat_map(|record| &record.metrics);
    for metric in metrics {
        *counts.entry(metric.value.to_bits()).or_default() += 1;
    }
    counts
}

#[test]
fn a_text_twice_has_twice_the_figures() {
    let mut wrong = Vec::new();
    for (name, text) in fixture_texts() {
        let once = import(&text, &[]);
        let twice = import(&format!("{text}\n{text}"), &[]);
        let mut expected = values(&once);
        expected.values_mut().for_each(|count| *count *= 2);
        let are_listed = twice.not_understood.len() == 2 * once.not_understood.len();
        if values(&twice) != expected || !are_listed {
            wrong.push(name);
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Figures of other texts are kept, or lines of this text are listed beside its own.
#[test]
fn a_text_beside_another_loses_nothing_in_silence() {
    const MOST_BYTES: usize = 1500;
    let mut texts = fixture_texts();
    texts.retain(|(_, text)| text.len() <= MOST_BYTES);
    let texts = texts.into_iter().map(|(name, text)| {
        let alone = import(&text, &[]);
        (name, text, values(&alone), alone.not_understood.len())
    });
    let texts: Vec<_> = texts.collect();
    let mut hidden = Vec::new();
    for (first, above, of_above, above_listed) in &texts {
        for (second, below, of_below, below_listed) in &texts {
            let both = import(&format!("{above}\n{below}"), &[]);
            let mut expected = of_above.clone();
            for (value, count) in of_below {
                *expected.entry(*value).or_default() += count;
            }
            let found = values(&both);
            let has = |value: &u64, count: usize| found.get(value).is_some_and(|it| *it >= count);
            let is_whole = expected.iter().all(|(value, count)| has(value, *count));
            // The rows of PiBenchmarks' table repeat what hdparm and dd print around it.
            let has_table = [first, second].iter().any(|name| name.contains("pibench"));
            let is_once = has_table && expected.keys().all(|value| has(value, 1));
            let are_listed = both.not_understood.len() > above_listed + below_listed;
            if !is_whole && !is_once && !are_listed {
                hidden.push(format!("{first} + {second}"));
            }
        }
    }
    assert_eq!(hidden, Vec::<String>::new());
}

/// A tool's output, and its figures in bytes or operations.
type Output = (String, Vec<f64>);
type Tool = fn(u64) -> Output;

/// Outputs of one run each, by a number that decides the figures. Several of one tool are what a loop prints.
const TOOLS: [(&str, Tool); 15] = [
    ("hdparm", hdparm),
    ("dd", dd),
    ("ddrescue", ddrescue),
    ("iozone", iozone),
    ("iozone threads", iozone_threads),
    ("iozone without sizes", iozone_sizeless),
    ("fio", fio),
    ("fio terse", fio_terse),
    ("fio json", fio_json),
    ("f3write", f3write),
    ("f3read", f3read),
    ("h2testw", h2testw),
    ("gnome disks", gnome_disks),
    ("yabs", yabs),
    ("pibenchmarks", pibenchmarks),
];

fn hdparm(number: u64) -> Output {
    let line = |name: &str, megabytes: u64| {
        let rate = format!("{:.2}", megabytes as f64 / 2.0);
        let text = format!(" Timing {name}: {megabytes} MB in  2.00 seconds = {rate} MB/sec\n");
        (text, rate.parse::<f64>().unwrap() * M)
    };
    let (cached, memory) = line("cached reads", 1200 + 2 * number);
    let (buffered, disk) = line("buffered disk reads", 40 + 2 * number);
    (
        format!("\n/dev/mmcblk0:\n{cached}{buffered}"),
        vec![memory, disk],
    )
}

fn dd(number: u64) -> Output {
    let bytes = 104_857_600.0;
    let seconds = 4.0 + number as f64 / 8.0;
    let rate = bytes / seconds / 1e6;
    let text = format!(
        "100+0 records in\n100+0 records out\n104857600 bytes (105 MB, 100 MiB) copied, {seconds:.5} s, {rate:.1} MB/s\n"
    );
    (text, vec![bytes / seconds])
}

/// The last state of the screen, as people copy it. The time goes back.
fn ddrescue(number: u64) -> Output {
    let rate = 14_000 + 10 * number;
    let seconds = 30 - number;
    let text = format!(
        "     opos:    14221 kB, non-scraped:        0 B,  average rate: {rate:>7} kB/s\n  \
         rescued:    14221 kB,   bad areas:        0,        run time:         {seconds}s\n"
    );
    (text, vec![rate as f64 * 1e3])
}

fn six(number: u64) -> ([u64; 6], Vec<f64>) {
    let kib = [1, 2, 3, 4, 5, 6].map(|place| 1000 * place + number);
    (kib, kib.map(|it| it as f64 * K).to_vec())
}

const IOZONE: &str = "\tOutput is in kBytes/sec\n\
    \x20                                                             random    random\n\
    \x20             kB  reclen    write  rewrite    read    reread    read     write\n";

fn iozone(number: u64) -> Output {
    let (kib, values) = six(number);
    let figures: String = kib.iter().map(|it| format!(" {it:>8}")).collect();
    let is_first = number.is_multiple_of(2);
    let heading = if is_first { IOZONE } else { "" };
    (
        format!("{heading}          102400       4{figures}\n"),
        values,
    )
}

fn iozone_sizeless(number: u64) -> Output {
    let (kib, values) = six(number);
    let figures: String = kib.iter().map(|it| format!(" {it}")).collect();
    (
        format!("write rewrite read reread read write\n{figures}\n"),
        values,
    )
}

fn iozone_threads(number: u64) -> Output {
    let children = 4000.25 + number as f64;
    let parent = 3900.5 + number as f64;
    let text = format!(
        "\tEach thread writes a 4096 kByte file in 4 kByte records\n\
         \tChildren see throughput for  4 readers \t= {children} kB/sec\n\
         \tParent sees throughput for  4 readers \t= {parent} kB/sec\n"
    );
    (text, vec![children * K, parent * K])
}

fn fio(number: u64) -> Output {
    let mib = 10 + number;
    let text = format!(
        "test: (groupid=0, jobs=1): err= 0: pid=7: Fri Jul 19 11:38:14 2024\n  \
         read: IOPS={}, BW={mib}.0MiB/s ({:.1}MB/s)({}MiB/10000msec)\n",
        256 * mib,
        mib as f64 * 1.048_576,
        10 * mib
    );
    (text, vec![(256 * mib) as f64])
}

fn fio_terse(number: u64) -> Output {
    let iops = 2500 + number;
    let figures = format!("{};{};{iops};10000", iops * 40, iops * 4);
    let text = format!("3;fio-3.33;test;0;0;{figures};{}0;0;0;0\n", "0;".repeat(37));
    (text, vec![iops as f64])
}

fn fio_json(number: u64) -> Output {
    let iops = 2500 + number;
    let text = format!(
        "{{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [\n    {{\n      \"jobname\" : \"test\",\n      \"error\" : 0,\n      \
         \"read\" : {{ \"io_bytes\" : {}, \"bw_bytes\" : {}, \"iops\" : {iops}.5, \"runtime\" : 10000 }},\n      \
         \"write\" : {{ \"io_bytes\" : 0, \"bw_bytes\" : 0, \"iops\" : 0, \"runtime\" : 0 }}\n    }}\n  ]\n}}\n",
        iops * 40_960,
        iops * 4096
    );
    (text, vec![iops as f64 + 0.5])
}

fn f3write(number: u64) -> Output {
    let rate = 8.25 + number as f64;
    (
        format!("Free space: 0.00 Byte\nAverage writing speed: {rate} MB/s\n"),
        vec![rate * M],
    )
}

fn f3read(number: u64) -> Output {
    let rate = 14.75 + number as f64;
    let sectors = 2_131_424 + number;
    let size = (sectors * 512) as f64 / M / K;
    let none = "0.00 Byte (0 sectors)";
    let text = format!(
        "  Data OK: {size:.2} GB ({sectors} sectors)\nData LOST: {none}\n\t       Corrupted: {none}\n\
         \tSlightly changed: {none}\n\t     Overwritten: {none}\nAverage reading speed: {rate} MB/s\n"
    );
    (text, vec![rate * M, (sectors * 512) as f64, 0.0])
}

fn h2testw(number: u64) -> Output {
    let (write, read) = (10.5 + number as f64, 60.25 + number as f64);
    let text = format!(
        "Test finished without errors.\nYou can now delete the test files *.h2w or verify them again.\n\
         Writing speed: {write} MByte/s\nReading speed: {read} MByte/s\nH2testw v1.4\n"
    );
    (text, vec![write * M, read * M])
}

fn gnome_disks(number: u64) -> Output {
    let read = 80.5 + number as f64;
    let access = 0.5 + number as f64 / 100.0;
    let text = format!(
        "Average Read Rate\t{read} MB/s (100 samples)\nAverage Access Time\t{access:.2} msec (1000 samples)\n"
    );
    (text, vec![read * 1e6, access * 1e6])
}

fn yabs(number: u64) -> Output {
    let iops = 900 + 25 * number;
    let shown = format!("{:.2} MB/s      ({iops})", iops as f64 * 4.0 / 1000.0);
    let text = format!(
        "fio Disk Speed Tests (Mixed R/W 50/50):\n---------------------------------\n\
         Block Size | 4k            (IOPS)\n  ------   | ---            ----\n\
         Read       | {shown}\nWrite      | {shown}\n"
    );
    (text, vec![iops as f64; 2])
}

fn pibenchmarks(number: u64) -> Output {
    let iops = 3084 + number;
    let table = fixture!("pibenchmarks-2024-terminal.txt");
    let text = table
        .replace("3084 IOPS", &format!("{iops} IOPS"))
        .replace("12337 KB/s", &format!("{} KB/s", 4 * iops + 1));
    (text, vec![iops as f64])
}

/// Runs of a loop, and a line between them.
const BETWEEN: [&str; 4] = ["", "\n", "Run again:\n", "$ ./test.sh\n"];

#[test]
fn every_run_of_a_loop_is_imported() {
    let mut missing = Vec::new();
    for (name, tool) in TOOLS {
        for (between, count) in BETWEEN.iter().flat_map(|it| [(it, 2), (it, 5)]) {
            let runs: Vec<Output> = (4..4 + count).map(tool).collect();
            let texts: Vec<&str> = runs.iter().map(|(text, _)| text.as_str()).collect();
            let imported = import(&texts.join(between), &[]);
            let metrics = imported.records.iter().flat_map(|one| &one.metrics);
            let mut found: Vec<f64> = metrics.map(|metric| metric.value).collect();
            for value in runs.iter().flat_map(|(_, values)| values) {
                match found.iter().position(|it| close(*it, *value)) {
                    Some(at) => {
                        found.swap_remove(at);
                    }
                    None => missing.push(format!("{name} × {count} {between:?}: {value}")),
                }
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

/// The verdict of f3probe has its sizes: a second card of another size is another record.
#[test]
fn cards_probed_one_after_the_other_are_records() {
    let names = [
        "f3-8.0-probe-limbo.txt",
        "f3-8.0-probe-real.txt",
        "f3-8.0-probe-damaged.txt",
    ];
    let known = known();
    let of = |name: &str| known.iter().find(|it| it.name == name).unwrap();
    let text: String = names.iter().map(|name| of(name).text.as_str()).collect();
    let records = import(&text, &[]).records;
    let found = records
        .iter()
        .map(|one| one.metrics.iter().map(|it| it.value).collect::<Vec<_>>());
    let expected = names.iter().map(|name| {
        of(name).records[0]
            .iter()
            .map(|(_, value)| *value)
            .collect()
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        expected.collect::<Vec<Vec<f64>>>()
    );
}

/// The human output beside the JSON of its run is the same once more; that of another run is not.
#[test]
fn human_output_of_fio_is_another_run_if_its_figures_differ() {
    let (json, _) = fio_json(60);
    for number in 4..7 {
        let (human, values) = fio(number);
        let records = import(&format!("{json}{human}"), &[]).records;
        let found = records.iter().map(|one| one.metrics[0].value);
        assert_eq!(found.collect::<Vec<_>>(), [2560.5, values[0]]);
    }
    // 2560 operations of 4 KiB are 10 MiB.
    let (human, _) = fio(0);
    let both = import(&format!("{json}{human}"), &[]);
    assert_eq!(
        (both.records.len(), both.not_understood.len()),
        (1, 0),
        "{both:?}"
    );
}

/// A state of the screen below other text is that of another run, even if it could follow the one above.
#[test]
fn states_of_ddrescue_below_other_text_are_runs() {
    let (first, rates) = ddrescue(9);
    let (second, others) = ddrescue(4);
    for (between, count) in [
        ("Card 2\n", 2),
        ("Finished\n", 2),
        ("Trimming failed blocks...\n", 1),
    ] {
        let records = import(&format!("{first}{between}{second}"), &[]).records;
        let found = records.iter().map(|one| one.metrics[0].value);
        let expected = [&rates[..], &others[..]].concat().split_off(2 - count);
        assert_eq!(found.collect::<Vec<_>>(), expected, "{between}");
    }
}

/// No reader knows these tools: each run is listed.
#[test]
fn runs_of_other_tools_are_listed() {
    for line in [
        "    reads/s:                      2014.71",
        "Pass completed, 17 bad blocks found. (0/0/17 errors)",
    ] {
        let text = format!("{line}\n{line}\n");
        assert_eq!(import(&text, &[]).not_understood.len(), 2, "{line}");
    }
}
