//! Workloads in plain words.

/// Workloads of `quick` in the order of the suite: id, name.
pub(crate) const QUICK: [(&str, &str); 8] = [
    ("seq_write_1m", "sequential write 1 MiB"),
    ("seq_read_1m", "sequential read 1 MiB"),
    ("rand_read_4k", "random read 4 KiB"),
    ("rand_write_4k", "random write 4 KiB"),
    ("rand_read_4k_q32", "random read 4 KiB, 32 at once"),
    ("rand_write_4k_q32", "random write 4 KiB, 32 at once"),
    ("mixed_4k", "mixed 4 KiB, 20 % reads"),
    ("sync_write_4k", "synced write 4 KiB"),
];

/// Workloads of `application`: id, name.
const APPLICATION: [(&str, &str); 4] = [
    ("sqlite_tps", "SQLite transactions"),
    ("sqlite_wal_tps", "SQLite transactions, WAL"),
    ("files_per_s", "files of packages installed"),
    ("append_sync_per_s", "log lines, synced"),
];

/// The workload in plain words; its id where there are none.
#[must_use]
pub fn workload_name(id: &str) -> &str {
    QUICK
        .iter()
        .chain(&APPLICATION)
        .find(|(known, _)| *known == id)
        .map_or(id, |(_, name)| name)
}
