//! The text after a run.

use cardmark_core::{
    DeviceInfo, Fill, IntervalKind, Origin, OriginKind, Preparation, Quantity, Record,
};
use cardmark_report::{Beside, Style, terminal, terminal_with};
use insta::assert_snapshot;
use uuid::Uuid;

use crate::builder::{bare, empty, full, rate};

#[test]
fn a_full_record_at_80_columns() {
    assert_snapshot!(terminal(&full(), 80, Style::Plain), @r"
    quick 1 · run 67e55044 · 2025-03-04 12:00 UTC
    file in a directory · SD64G, 63.9 GB (59.5 GiB) · Raspberry Pi 4 Model B Rev 1.4
    ext4 on mmcblk0p2 on mmcblk0

    Do not rely on this device: reads or writes failed

                                     MB/s       ±  IOPS
    sequential write 1 MiB           23.4  ±1.2 %  22.4
    sequential read 1 MiB            43.7  ±0.2 %  41.7
    random read 4 KiB                9.22  ±2.1 %  2250
    random write 4 KiB !             2.87   ±11 %   701
    synced write 4 KiB              0.412  ±3.0 %   101
    mixed 4 KiB, 20 % reads          3.11  ±2.7 %   760
    random read 4 KiB, 32 at once    12.0  ±1.8 %  2937
    random write 4 KiB, 32 at once      –       –     –

    ! see the warnings below

    error: write at 12.3 MB failed: input/output error (EIO) (random write 4 KiB, 32
      at once)
    warning: the interval is ±11 % of the rate after 24 rounds; the goal is ±3 %
      (random write 4 KiB)

    written to the target: 1.61 GB
    labels: product=Example Ultra 64
    `cardmark show 67e55044 --all` shows all columns and 1 more finding
    ");
}

#[test]
fn a_full_record_with_all_columns_names_ids_too() {
    let all = Beside {
        all: true,
        ..Beside::default()
    };
    assert_snapshot!(terminal_with(&full(), &all, 120, Style::Plain), @r"
    quick 1 · run 67e55044 · 2025-03-04 12:00 UTC
    file in a directory · SD64G, 63.9 GB (59.5 GiB) · Raspberry Pi 4 Model B Rev 1.4
    ext4 on mmcblk0p2 on mmcblk0

    Do not rely on this device: reads or writes failed

                                    id                  MB/s       ±  95 % interval  IOPS  p99 ms
    sequential write 1 MiB          seq_write_1m        23.4  ±1.2 %      23.2–23.7  22.4       –
    sequential read 1 MiB           seq_read_1m         43.7  ±0.2 %      43.6–43.8  41.7       –
    random read 4 KiB               rand_read_4k        9.22  ±2.1 %      9.02–9.41  2250   0.445
    random write 4 KiB !            rand_write_4k       2.87   ±11 %      2.54–3.20   701    1.43
    synced write 4 KiB              sync_write_4k      0.412  ±3.0 %    0.400–0.425   101    9.95
    mixed 4 KiB, 20 % reads         mixed_4k            3.11  ±2.7 %      3.03–3.20   760    1.32
    random read 4 KiB, 32 at once   rand_read_4k_q32    12.0  ±1.8 %      11.8–12.2  2937   0.341
    random write 4 KiB, 32 at once  rand_write_4k_q32      –       –              –     –       –

    ! see the warnings below

    error: write at 12.3 MB failed: input/output error (EIO) (random write 4 KiB, 32 at once)
    warning: the interval is ±11 % of the rate after 24 rounds; the goal is ±3 % (random write 4 KiB)
    note: the model is what the reader says

    written to the target: 1.61 GB
    labels: product=Example Ultra 64
    ");
}

#[test]
fn a_full_record_at_40_columns_is_stacked() {
    assert_snapshot!(terminal(&full(), 40, Style::Plain), @r"
    quick 1 · run 67e55044 · 2025-03-04
      12:00 UTC
    file in a directory · SD64G, 63.9 GB
      (59.5 GiB) · Raspberry Pi 4 Model B
      Rev 1.4
    ext4 on mmcblk0p2 on mmcblk0

    Do not rely on this device: reads or
      writes failed

    sequential write 1 MiB
      23.4 MB/s ±1.2 %
      22.4 IOPS
    sequential read 1 MiB
      43.7 MB/s ±0.2 %
      41.7 IOPS
    random read 4 KiB
      9.22 MB/s ±2.1 %
      2250 IOPS
    random write 4 KiB !
      2.87 MB/s ±11 %
      701 IOPS
    synced write 4 KiB
      0.412 MB/s ±3.0 %
      101 IOPS
    mixed 4 KiB, 20 % reads
      3.11 MB/s ±2.7 %
      760 IOPS
    random read 4 KiB, 32 at once
      12.0 MB/s ±1.8 %
      2937 IOPS
    random write 4 KiB, 32 at once
      –

    ! see the warnings below

    error: write at 12.3 MB failed:
      input/output error (EIO) (random write
      4 KiB, 32 at once)
    warning: the interval is ±11 % of the
      rate after 24 rounds; the goal is ±3 %
      (random write 4 KiB)

    written to the target: 1.61 GB
    labels: product=Example Ultra 64
    `cardmark show 67e55044 --all` shows all
      columns and 1 more finding
    ");
}

#[test]
fn colours_mark_heading_and_warnings() {
    let mut record = empty();
    record.suite = None;
    record.metrics = vec![rate("seq_write_1m", 2e7, 1_048_576.0, 0.01)];
    record.metrics[0].warnings.push("not_settled".to_owned());
    record.findings = full().findings;
    let text = terminal(&record, 80, Style::Color).replace('\u{1b}', "^");
    assert_snapshot!(text, @r"
    ^[1mno suite · run 67e55044 · 2025-03-04 12:00 UTC^[0m
    file in a directory · SD64G, 63.9 GB (59.5 GiB) · Raspberry Pi 4 Model B Rev 1.4
    ext4 on mmcblk0p2 on mmcblk0

    ^[31mDo not rely on this device: reads or writes failed^[0m

    ^[2m                          MB/s       ±  IOPS^[0m
    ^[33msequential write 1 MiB !  20.0  ±1.0 %  19.1^[0m

    ^[2m! see the warnings below^[0m

    ^[31merror^[0m: write at 12.3 MB failed: input/output error (EIO) (random write 4 KiB, 32
      at once)
    ^[33mwarning^[0m: the interval is ±11 % of the rate after 24 rounds; the goal is ±3 %
      (random write 4 KiB)

    ^[2m`cardmark show 67e55044 --all` shows all columns and 1 more finding^[0m
    ");
}

#[test]
fn a_record_with_the_required_fields_only() {
    let id = Uuid::parse_str("67e55044-10b1-426f-9247-bb680e5fe0c8").unwrap();
    let mut origin = Origin::of(OriginKind::Published);
    origin.source = Some("https://example.org/cards".to_owned());
    assert_snapshot!(terminal(&Record::new(id, origin), 80, Style::Plain), @r"
    no suite · run 67e55044 · published (https://example.org/cards)

    no figures
    ");
}

#[test]
fn a_run_asked_for_one_workload_shows_no_others() {
    let mut record = empty();
    if let Some(suite) = &mut record.suite {
        suite.only = vec!["seq_read_1m".to_owned()];
    }
    record.metrics = vec![rate("seq_read_1m", 4.3e7, 1_048_576.0, 0.01)];
    record.metrics[0].interval_kind = IntervalKind::WithinTrial;
    assert_snapshot!(terminal(&record, 80, Style::Plain), @r"
    quick 1 · run 67e55044 · 2025-03-04 12:00 UTC
    file in a directory · SD64G, 63.9 GB (59.5 GiB) · Raspberry Pi 4 Model B Rev 1.4
    ext4 on mmcblk0p2 on mmcblk0

    Cannot tell whether it is fast enough for running an operating system: random
      reads and random writes were not measured
    Reading all of it takes about 25 min
    Not tested: capacity, and whether data is kept → cardmark verify DIRECTORY

                           MB/s       ±  IOPS
    sequential read 1 MiB  43.0  ±1.0 %  41.0

    `cardmark show 67e55044 --all` shows all columns
    ");
}

#[test]
fn figures_of_other_suites_stand_below_the_table() {
    let mut record = empty();
    record.suite = None;
    record.metrics = vec![
        bare("burst_write", Quantity::ByteRate, 8.1e7),
        bare("theirs_tps", Quantity::OperationRate, 123.4),
        bare("cache_bytes", Quantity::Size, 3.2e9),
        bare("reach", Quantity::Ratio, 0.987),
        bare("boot_p99_span", Quantity::Span, 2.5e6),
    ];
    assert_snapshot!(terminal(&record, 80, Style::Plain), @r"
    no suite · run 67e55044 · 2025-03-04 12:00 UTC
    file in a directory · SD64G, 63.9 GB (59.5 GiB) · Raspberry Pi 4 Model B Rev 1.4
    ext4 on mmcblk0p2 on mmcblk0

                            MB/s  ±  IOPS
    write before the cliff  81.0  –     –
    theirs_tps                 –  –   123

    written until the cliff: 3.2 GB
    reach: 0.987
    boot_p99_span: 2.50 ms

    `cardmark show 67e55044 --all` shows all columns
    ");
}

/// Transactions, files and lines are no I/O operations, and no two of them the same thing.
#[test]
fn what_applications_do_is_counted_as_what_it_is() {
    let mut record = empty();
    record.suite = None;
    record.metrics = vec![
        bare("sqlite_tps", Quantity::OperationRate, 61.4),
        bare("files_per_s", Quantity::OperationRate, 213.0),
    ];
    let text = |record: &Record, width| terminal(record, width, Style::Plain);
    assert_snapshot!(text(&record, 80), @r"
    no suite · run 67e55044 · 2025-03-04 12:00 UTC
    file in a directory · SD64G, 63.9 GB (59.5 GiB) · Raspberry Pi 4 Model B Rev 1.4
    ext4 on mmcblk0p2 on mmcblk0

                                 MB/s  ±    /s
    SQLite transactions             –  –  61.4
    files of packages installed     –  –   213

    `cardmark show 67e55044 --all` shows all columns
    ");
    assert_snapshot!(text(&record, 38), @r"
    no suite · run 67e55044 · 2025-03-04
      12:00 UTC
    file in a directory · SD64G, 63.9 GB
      (59.5 GiB) · Raspberry Pi 4 Model B
      Rev 1.4
    ext4 on mmcblk0p2 on mmcblk0

    SQLite transactions
      61.4 transactions/s
    files of packages installed
      213 files/s

    `cardmark show 67e55044 --all` shows
      all columns
    ");
    record.metrics.truncate(1);
    assert!(text(&record, 80).contains("transactions/s\n"));
}

#[test]
fn models_and_labels_cannot_steer_the_terminal() {
    let mut record = full();
    record.devices[0].model = Some("evil\u{1b}[2J\u{202e}card\n".to_owned());
    record
        .labels
        .insert("note".to_owned(), "a\u{7}b\r\nc".to_owned());
    record.findings[0].detail = "x\u{9b}31my".to_owned();
    record
        .metrics
        .push(bare("id\u{1b}]0;t", Quantity::ByteRate, 1e6));
    let text = terminal(&record, 80, Style::Plain);
    assert!(
        text.chars()
            .all(|letter| letter == '\n' || !letter.is_control()),
        "{text}"
    );
    assert!(text.contains("evil?[2J?card"), "{text}");
    assert!(text.contains("note=a?b??c"), "{text}");
}

fn prepared(fill: Fill, finished_at: Option<&str>, done_bytes: u64) -> Preparation {
    Preparation {
        fill,
        seed: None,
        started_at: "2026-11-20T23:59:59Z".to_owned(),
        finished_at: finished_at.map(str::to_owned),
        size_bytes: 63_864_569_856,
        done_bytes,
    }
}

#[test]
fn what_is_known_of_the_card_is_told_in_one_line() {
    let mut record = empty();
    let mut line = |preparation: Preparation| {
        record.devices[0].prepared = Some(preparation);
        let text = terminal(&record, 80, Style::Plain);
        let found = text.lines().find(|line| line.contains("prepared: "));
        found.unwrap().to_owned()
    };
    let whole = |fill| prepared(fill, Some("2026-11-21T01:00:00Z"), 63_864_569_856);
    assert_eq!(
        line(whole(Fill::Ff)),
        "prepared: filled with 0xFF on 2026-11-21"
    );
    assert_eq!(
        line(whole(Fill::Zero)),
        "prepared: filled with zeros on 2026-11-21"
    );
    assert_eq!(
        line(whole(Fill::Random)),
        "prepared: filled with random content on 2026-11-21"
    );
    assert_eq!(
        line(whole(Fill::Discard)),
        "prepared: discarded on 2026-11-21"
    );
    assert_eq!(
        line(prepared(Fill::Ff, None, 23_700_000_000)),
        "prepared: partly filled with 0xFF (37 %, 23.7 GB of 63.9 GB), begun on"
    );
    record.devices.push(DeviceInfo {
        name: "sda".to_owned(),
        ..DeviceInfo::default()
    });
    record.devices[0].prepared = Some(whole(Fill::Ff));
    let text = terminal(&record, 80, Style::Plain);
    assert!(
        text.contains("\nmmcblk0 prepared: filled with 0xFF on 2026-11-21\n"),
        "{text}"
    );
}

#[test]
fn the_place_and_the_command_for_this_target_belong_to_the_answer() {
    let mut record = full();
    record.findings.clear();
    let beside = Beside {
        place: Some("Faster than 12 of 63 published cards in random writes".to_owned()),
        next: Some("sudo cardmark probe /dev/sda".to_owned()),
        ..Beside::default()
    };
    let text = terminal_with(&record, &beside, 80, Style::Plain);
    let lines: Vec<&str> = text.lines().skip(4).take(7).collect();
    assert_snapshot!(lines.join("\n"), @"
    Meets A1, enough for running an operating system: 701 random writes/s (A1 asks
      for 500; see the warnings)
    Fine for: cameras up to 23 MB/s (short test), database and home automation,
      media, logging
    Reading all of it takes about 24 min
    Not tested: capacity, and whether data is kept → sudo cardmark probe /dev/sda
    Faster than 12 of 63 published cards in random writes
    ");
    assert!(
        text.contains("\n`cardmark show 67e55044 --all` shows all columns\n"),
        "{text}"
    );
}
