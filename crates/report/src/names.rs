//! Workloads and origins in plain words, and what operations are.

use cardmark_core::OriginKind;

/// Workloads that have a row in the table even without a figure, in its order: id, name.
pub(crate) const ALWAYS_LISTED: [(&str, &str); 10] = [
    ("seq_write_1m", "sequential write 1 MiB"),
    ("seq_read_1m", "sequential read 1 MiB"),
    ("rand_read_4k", "random read 4 KiB"),
    ("rand_write_4k", "random write 4 KiB"),
    ("rand_write_4k_long", "random write 4 KiB, 15 s"),
    ("sync_write_4k", "synced write 4 KiB"),
    ("mixed_4k", "mixed 4 KiB, 20 % reads"),
    ("rand_read_4k_device", "random read 4 KiB, whole device"),
    ("rand_read_4k_q32", "random read 4 KiB, 32 at once"),
    ("rand_write_4k_q32", "random write 4 KiB, 32 at once"),
];

/// Workloads of `application`: id, name.
const APPLICATION: [(&str, &str); 4] = [
    ("sqlite_tps", "SQLite transactions"),
    ("sqlite_wal_tps", "SQLite transactions, WAL"),
    ("files_per_s", "files of packages installed"),
    ("append_sync_per_s", "log lines, synced"),
];
/// Counted events per second. The operations of all other rates are reads and writes of blocks.
const COUNTED: [(&str, &str); 4] = [
    ("sqlite_tps", "transactions/s"),
    ("sqlite_wal_tps", "transactions/s"),
    ("files_per_s", "files/s"),
    ("append_sync_per_s", "lines/s"),
];
/// Figures of the suites of classes: id, name.
const CLASSES: [(&str, &str); 13] = [
    ("app_fill", "filling before random access"),
    ("app_region", "writing the region of 256 MiB"),
    ("app_rand_write", "class A: random write 4 KiB"),
    ("app_rand_read", "class A: random read 4 KiB"),
    ("app_rand_write_q32", "class A: random write, 32 at once"),
    ("app_rand_read_q32", "class A: random read, 32 at once"),
    ("app_seq_fill", "filling before sequential write"),
    ("app_seq_write", "class A: sequential write"),
    ("class_worst_window", "slowest window of writing"),
    ("class_worst_video_window", "slowest video unit of writing"),
    ("class_write", "writing in units of 512 KiB"),
    ("class_rand_read", "random read 512 KiB"),
    ("class_worst_video_read", "slowest video unit of reading"),
];
/// Metrics of other suites of ours: id, name.
const BEHAVIOUR: [(&str, &str); 16] = [
    ("sustained_write", "sustained sequential write 1 MiB"),
    ("burst_write", "write before the cliff"),
    ("settled_write", "write once settled"),
    ("rate_at_end", "write in the last minute"),
    ("slowest_10s_write", "slowest 10 s of writing"),
    ("slowest_60s_write", "slowest minute of writing"),
    ("write_period", "period of the rate"),
    ("refill_30s_bytes", "fast again after 30 s of rest"),
    ("refill_120s_bytes", "fast again after 2 min of rest"),
    ("cache_bytes", "written until the cliff"),
    ("longest_pause", "longest pause"),
    ("pauses_100ms_per_gib", "pauses over 100 ms for each GiB"),
    ("pauses_500ms_per_gib", "pauses over 500 ms for each GiB"),
    ("pauses_1s_per_gib", "pauses over 1 s for each GiB"),
    ("position_read", "sequential read at 64 places"),
    ("position_read_min", "the slowest of these places"),
];

/// The workload in plain words; its id where there are none.
#[must_use]
pub fn workload_name(id: &str) -> &str {
    ALWAYS_LISTED
        .iter()
        .chain(&APPLICATION)
        .chain(&CLASSES)
        .chain(&BEHAVIOUR)
        .find(|(known, _)| *known == id)
        .map_or(id, |(_, name)| name)
}

/// Events that a rate of operations counts.
pub(crate) fn counted(id: &str) -> &'static str {
    let found = COUNTED.iter().find(|(known, _)| *known == id);
    found.map_or("IOPS", |(_, unit)| unit)
}

/// Origin of a record in one word.
pub(crate) fn origin_word(kind: &OriginKind) -> &str {
    match kind {
        OriginKind::Measured => "measured",
        OriginKind::Simulated => "simulated",
        OriginKind::Imported => "imported",
        OriginKind::Published => "published",
        OriginKind::Other(word) => word,
    }
}
