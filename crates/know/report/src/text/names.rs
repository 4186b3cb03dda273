//! Workloads and origins in plain words, and what operations are.

use cardmark_core::OriginKind;
use cardmark_judge::{Role, at_once};

use crate::text::style::clean;

/// Workloads and figures of our suites, one a line: id and name. Those of the first paragraph have a row in the table even
/// without a figure.
const NAMES: &str = include_str!("names.txt");

/// Counted events per second. The operations of all other rates are reads and writes of blocks.
const COUNTED: [(&str, &str); 4] = [
    ("sqlite_tps", "transactions/s"),
    ("sqlite_wal_tps", "transactions/s"),
    ("files_per_s", "files/s"),
    ("append_sync_per_s", "lines/s"),
];

/// Ids of the workloads that have a row in the table even without a figure, in its order.
pub(crate) fn always_listed<'a>() -> impl Iterator<Item = &'a str> {
    let listed = NAMES.lines().take_while(|line| !line.is_empty());
    listed.filter_map(|line| Some(line.split_once(' ')?.0))
}

/// The workload in plain words; its id where there are none.
pub fn workload_name(id: &str) -> &str {
    let mut names = NAMES.lines().filter_map(|line| line.split_once(' '));
    names
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
pub fn plain_name(id: &str) -> String {
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
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.clone()).collect()
}

/// `a, b and c`, with this word before the last one.
pub(crate) fn listed(words: &[String], joint: &str) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {joint} {last}", first.join(", ")),
    }
}

/// The role of a metric with the number of operations in flight if that is more than one; without a role the metric in plain words.
pub(crate) fn role_name(role: Option<&Role>, metric: &str) -> String {
    match (role, at_once(metric)) {
        (None, _) => clean(&plain_name(metric)),
        (Some(role), Some(depth)) => format!("{}, {depth} at once", role.name),
        (Some(role), None) => role.name.to_owned(),
    }
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
