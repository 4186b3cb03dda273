//! A line that cannot be read costs its own figure, and no other.

use cardmark_core::{FindingKind, Metric};

use crate::{M, close, fixture, import, kinds, one, value};

#[test]
fn a_part_that_cannot_be_read_does_not_void_the_rest() {
    let text = format!(
        "{}Timing buffered disk reads: read() failed: Input/output error\n",
        fixture!("f3-7.2-write.txt")
    );
    let one = one(&text);
    assert!(close(value(&one, "f3_write"), 8.09 * M));
    // The error itself is kept too.
    let found = [FindingKind::IoError, FindingKind::DoubtfulFigure];
    assert_eq!(kinds(&one), found);
    assert!(
        one.findings[1].detail.contains("line 14"),
        "{:?}",
        one.findings
    );
}

/// Output of dd, once with a span that cannot be read.
const THREE_COPIES: &str = "51200+0 records in\n51200+0 records out\n\
    419430400 bytes (419 MB, 400 MiB) copied, 40.4 s, 10.4 MB/s\n\
    51200+0 records in\n51200+0 records out\n\
    419430400 bytes (419 MB, 400 MiB) copied, 4O.4 s, 10.4 MB/s\n\
    51200+0 records in\n51200+0 records out\n\
    419430400 bytes (419 MB, 400 MiB) copied, 20.2 s, 20.8 MB/s\n";

#[test]
fn a_bad_line_costs_its_own_figure_and_is_told() {
    let copies = import(THREE_COPIES);
    assert_eq!(copies.len(), 2);
    assert!(close(value(&copies[0], "dd_write"), 419_430_400.0 / 40.4));
    // The span is rounded more than the rate.
    assert!(close(value(&copies[1], "dd_write"), 20.8e6));
    let told = &copies[0].findings[0].detail;
    assert!(told.starts_with("line 6 is not as dd prints it"), "{told}");
    assert!(told.ends_with("; it is left out"), "{told}");
    assert_eq!(copies[1].findings, []);
    // A line that is left out casts no doubt on those that are there.
    assert!(copies[0].metrics[0].warnings.is_empty());

    let timing = fixture!("hdparm-9.65-t.txt");
    let timings = [
        timing,
        &timing.replace("3.10 seconds", "3.1O seconds"),
        timing,
    ]
    .concat();
    assert_ne!(timings, timing.repeat(3));
    let timings = import(&timings);
    assert_eq!(timings.len(), 2);
    assert_eq!(timings[0].metrics, timings[1].metrics);
    assert_eq!(kinds(&timings[0]), [FindingKind::DoubtfulFigure]);
}

#[test]
fn a_bad_part_of_other_tools_costs_no_other() {
    let terse = fixture!("fio-3.33-terse-read.txt");
    let bad = "3;fio-3.33;bad;0;0;16384;12440\n";
    let reads = import(&[terse, bad, terse].concat());
    let ids: Vec<&str> = reads.iter().map(|one| one.metrics[0].id.as_str()).collect();
    assert_eq!(ids, ["fio_test_read", "fio_test_2_read"]);

    let run = fixture!("fio-3.33-randrw-run.json");
    let cut = &run[..run.len() / 2];
    let runs = import(&format!("{cut}\n{run}"));
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].metrics, one(run).metrics);
    assert_eq!(kinds(&runs[0]), [FindingKind::DoubtfulFigure]);

    let jobs = fixture!("fio-3.33-agnostics.txt");
    let whole = one(jobs);
    let bad = jobs.replacen("rand-4k-write: (groupid=", "rand-4k-write (groupid=", 1);
    assert_ne!(bad, jobs);
    let left: Vec<Metric> = import(&bad)
        .into_iter()
        .flat_map(|one| one.metrics)
        .collect();
    assert!(!left.is_empty() && left.len() < whole.metrics.len());
    assert!(
        left.iter().all(|metric| whole.metrics.contains(metric)),
        "{left:?}"
    );

    let runs = format!(
        "{}\nGNU ddrescue 1.27\naverage rate: 15 M/s\n",
        fixture!("ddrescue-1.27-read.txt")
    );
    assert!(close(value(&one(&runs), "ddrescue"), 15_000e3));

    let files = fixture!("f3-10.0-write-read.txt");
    let bad = files.replacen("Data OK:", "Data OK: about", 1);
    assert_ne!(bad, files);
    assert!(close(value(&one(&bad), "f3_write"), 18.2 * M));
}

#[test]
fn a_bad_row_of_a_table_costs_no_other() {
    let table = fixture!("pibenchmarks-2024-terminal.txt");
    let whole = one(table);
    let rows = table
        .lines()
        .filter(|line| line.contains("4k random") && line.contains("KB/s"));
    for row in rows {
        let changed = table.replace(row, &row.replace("KB/s", "KX/s"));
        let one = one(&changed);
        assert_eq!(one.metrics.len(), whole.metrics.len() - 1, "{row}");
        assert!(
            one.metrics
                .iter()
                .all(|metric| whole.metrics.contains(metric)),
            "{row}"
        );
        assert_eq!(kinds(&one), [FindingKind::DoubtfulFigure], "{row}");
        assert_eq!(one.suite, None);
    }
    // The rows of hdparm show whether the script prints units; with a bad one, that of dd is unknown.
    let old = fixture!("pibenchmarks-2020-table.txt").replace("28.48 MB/s", "28.48 MX/s");
    let ids: Vec<String> = one(&old)
        .metrics
        .into_iter()
        .map(|metric| metric.id)
        .collect();
    assert!(
        !ids.is_empty() && !ids.iter().any(|id| id == "pibenchmarks_dd"),
        "{ids:?}"
    );
}

#[test]
fn lines_of_an_unreadable_block_of_iozone_belong_to_no_other() {
    let threads = fixture!("iozone-3.489-threads.txt");
    let whole = one(threads);
    for bad in [
        "Children see throughput for  4 rewr1ters",
        "Children se throughput for  4 rewriters",
    ] {
        let changed = threads.replacen("Children see throughput for  4 rewriters", bad, 1);
        let records = import(&changed);
        let left: Vec<&Metric> = records.iter().flat_map(|one| &one.metrics).collect();
        assert_eq!(left.len(), whole.metrics.len() - 5, "{bad}");
        assert!(
            left.iter().all(|metric| whole.metrics.contains(metric)),
            "{bad}"
        );
        let told: Vec<&str> = records
            .iter()
            .flat_map(|one| &one.findings)
            .map(|it| it.detail.as_str())
            .collect();
        assert_eq!(told.len(), 1, "{told:?}");
    }
}

#[test]
fn a_command_is_that_of_the_copy_below_it_only() {
    let copy = "419430400 bytes (419 MB, 400 MiB) copied, 40.4 s, 10.4 MB/s\n";
    let bad = copy.replace("40.4", "4O.4");
    let text = format!("$ dd if=test of=/dev/null bs=8k\n{bad}{copy}");
    assert_eq!(one(&text).metrics[0].id, "dd_write");
}

#[test]
fn no_record_gets_figures_of_two_cards_where_a_line_between_is_bad() {
    let timing = "Timing buffered disk reads:  66 MB in  3.02 seconds =  21.87 MB/sec\n";
    let copy = "419430400 bytes (419 MB, 400 MiB) copied, 40.4 s, 10.4 MB/s\n";
    let bad = [timing.replace("3.02", "3.O2"), copy.replace("40.4", "4O.4")];
    let cards = import(&[timing, &bad[1], &bad[0], copy].concat());
    let ids: Vec<Vec<&str>> = cards
        .iter()
        .map(|one| {
            one.metrics
                .iter()
                .map(|metric| metric.id.as_str())
                .collect()
        })
        .collect();
    assert_eq!(ids, [["hdparm_t"], ["dd_write"]]);
    assert_eq!(
        cards
            .iter()
            .map(|one| one.findings.len())
            .collect::<Vec<_>>(),
        [1, 1]
    );
}

#[test]
fn many_bad_lines_are_told_shortly() {
    let bad = "419430400 bytes (419 MB, 400 MiB) copied, 4O.4 s, 10.4 MB/s\n";
    let one = one(&format!(
        "{}{}",
        fixture!("hdparm-9.65-t.txt"),
        bad.repeat(1000)
    ));
    assert_eq!(one.findings.len(), 17);
    let last = &one.findings[16].detail;
    assert!(last.ends_with("and so are 983 further lines"), "{last}");
}

#[test]
fn a_report_that_is_not_whole_is_said_to_be_left_out() {
    let report = fixture!("kdiskmark-2.2.1-one-test.txt").replacen(" IOPS]", " IOPX]", 1);
    let text = format!("{report}\n{}", fixture!("hdparm-9.65-t.txt"));
    let told = &one(&text).findings[0].detail;
    assert!(told.ends_with("all of its report is left out"), "{told}");
}
