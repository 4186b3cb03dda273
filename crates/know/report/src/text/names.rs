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
    ("settled_write", "steady part of writing"),
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

/// Workloads of `block-sizes`: id, name.
const BLOCK_SIZES: [(&str, &str); 14] = [
    ("block_write_4k", "sequential write 4 KiB"),
    ("block_write_16k", "sequential write 16 KiB"),
    ("block_write_64k", "sequential write 64 KiB"),
    ("block_write_256k", "sequential write 256 KiB"),
    ("block_write_1m", "sequential write 1 MiB"),
    ("block_write_4m", "sequential write 4 MiB"),
    ("block_write_16m", "sequential write 16 MiB"),
    ("block_read_4k", "sequential read 4 KiB"),
    ("block_read_16k", "sequential read 16 KiB"),
    ("block_read_64k", "sequential read 64 KiB"),
    ("block_read_256k", "sequential read 256 KiB"),
    ("block_read_1m", "sequential read 1 MiB"),
    ("block_read_4m", "sequential read 4 MiB"),
    ("block_read_16m", "sequential read 16 MiB"),
];

/// The workload in plain words; its id where there are none.
pub fn workload_name(id: &str) -> &str {
    ALWAYS_LISTED
        .iter()
        .chain(&APPLICATION)
        .chain(&CLASSES)
        .chain(&BEHAVIOUR)
        .chain(&BLOCK_SIZES)
        .find(|(known, _)| *known == id)
        .map_or(id, |(_, name)| name)
}

/// Tools whose metrics are named after them: beginning of the id, name.
const TOOLS: [(&str, &str); 6] = [
    ("pibenchmarks_", "PiBenchmarks"),
    ("agnostics_", "agnostics"),
    ("iozone_", "iozone"),
    ("hdparm_", "hdparm"),
    ("fio_", "fio"),
    ("dd_", "dd"),
];

/// Metrics of publications and of old tools that are no accesses: id, name.
const PRINTED: [(&str, &str); 9] = [
    ("hdparm_t", "sequential read (hdparm)"),
    ("hdparm_T", "read from memory (hdparm)"),
    ("boot_time_rc_local", "boot until rc.local"),
    ("boot_time_zram", "boot until zram0"),
    ("desktop_install_time_1st", "install a desktop"),
    ("desktop_removal_time", "remove packages"),
    ("desktop_install_time_2nd", "install them again"),
    ("lxde_install_time", "install LXDE"),
    ("pibenchmarks_score", "score of PiBenchmarks"),
];

/// Returns whether the metric is a figure of publications and old tools whose id says little.
pub(crate) fn is_printed(id: &str) -> bool {
    PRINTED.iter().any(|(known, _)| *known == id) && !id.starts_with("hdparm")
}

/// The metric in plain words with the tool that it is named after: `random read 4 KiB (iozone)`.
pub(crate) fn plain_name(id: &str) -> String {
    let known = workload_name(id);
    let printed = PRINTED.iter().find(|(known, _)| *known == id);
    if let Some(name) = printed
        .map(|(_, name)| *name)
        .or_else(|| (known != id).then_some(known))
    {
        return name.to_owned();
    }
    let found = TOOLS.iter().find(|(begin, _)| id.starts_with(begin));
    let Some((begin, tool)) = found else {
        return id.replace('_', " ");
    };
    let rest = id.strip_prefix(begin).unwrap_or(id);
    format!("{} ({tool})", access(rest))
}

/// Words for an id such as `rand_read_4k_q32`.
fn access(id: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for part in id.split('_') {
        let number = |end: char| part.strip_suffix(end)?.parse::<u32>().ok();
        let depth = part
            .strip_prefix('q')
            .and_then(|depth| depth.parse::<u32>().ok());
        let word = match (part, number('k'), number('m'), depth) {
            ("rand", ..) => "random".to_owned(),
            ("seq", ..) => "sequential".to_owned(),
            ("read" | "write" | "reread" | "rewrite", ..) if words.is_empty() => {
                format!("sequential {part}")
            }
            (_, Some(count), ..) => format!("{count} KiB"),
            (_, _, Some(count), _) => format!("{count} MiB"),
            (_, _, _, Some(count)) => format!("{count} at once"),
            _ => part.to_owned(),
        };
        // A comma belongs to the word before it.
        if let (Some(_), Some(last)) = (depth, words.last_mut()) {
            last.push(',');
        }
        words.push(word);
    }
    words.join(" ")
}

/// The name as a title: `Random read, 4 KiB`.
pub(crate) fn title_name(id: &str) -> String {
    let name = plain_name(id);
    let mut title = String::new();
    let mut words = name.split(' ').peekable();
    while let Some(word) = words.next() {
        let is_size = matches!(words.peek(), Some(&("KiB" | "MiB" | "KiB," | "MiB,")));
        if is_size && !title.is_empty() && !title.ends_with(',') {
            title.push(',');
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    capitalised(&title)
}

/// The text with a capital letter first.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.clone()).collect()
}

/// The name as a part of a file's name: `random-read-4k`.
pub(crate) fn file_name(text: &str) -> String {
    let text = text
        .replace(" KiB", "k")
        .replace(" MiB", "m")
        .to_lowercase();
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_plain_names_titles_and_files() {
        let cases = [
            ("rand_write_4k", "Random write, 4 KiB", "random-write-4k"),
            (
                "seq_read_1m",
                "Sequential read, 1 MiB",
                "sequential-read-1m",
            ),
            (
                "rand_read_4k_q32",
                "Random read, 4 KiB, 32 at once",
                "random-read-4k-32-at-once",
            ),
            (
                "slowest_10s_write",
                "Slowest 10 s of writing",
                "slowest-10-s-of-writing",
            ),
            (
                "hdparm_t",
                "Sequential read (hdparm)",
                "sequential-read-hdparm",
            ),
            ("dd_write", "Sequential write (dd)", "sequential-write-dd"),
            (
                "iozone_random_write",
                "Random write (iozone)",
                "random-write-iozone",
            ),
            (
                "iozone_read_16m",
                "Sequential read, 16 MiB (iozone)",
                "sequential-read-16m-iozone",
            ),
            (
                "fio_rand_read_4k_q64",
                "Random read, 4 KiB, 64 at once (fio)",
                "random-read-4k-64-at-once-fio",
            ),
            ("boot_time_zram", "Boot until zram0", "boot-until-zram0"),
            ("sqlite_tps", "SQLite transactions", "sqlite-transactions"),
        ];
        for (id, title, file) in cases {
            assert_eq!(title_name(id), title);
            assert_eq!(file_name(&plain_name(id)), file);
        }
    }
}
