//! Looks for monitoring: metrics of Prometheus, a plugin of Nagios, a line at the login. None of them has a serial number.

use std::cmp::Reverse;

use cardmark_core::{DiskLook, FilesystemLook, Look};
use cardmark_judge::{Event, EventKind, Gravity, KeptDisk, Seen};
use serde_json::json;

use super::{answer_of_look, sentence, stated_bytes};

/// A look at a target, and its result.
#[derive(Clone, Copy, Debug)]
pub struct ShownLook<'a> {
    /// Name of the target.
    pub target: &'a str,
    /// The look.
    pub look: &'a Look,
    /// Its result.
    pub seen: &'a Seen,
}

impl<'a> ShownLook<'a> {
    fn open_events(self) -> impl Iterator<Item = &'a Event> {
        let events = self.seen.kept.events.iter();
        events.filter(|event| event.is_open())
    }

    fn disks(self) -> impl Iterator<Item = (&'a DiskLook, &'a KeptDisk)> {
        self.look.disks.iter().filter_map(move |disk| {
            let mut kept = self.seen.kept.disks.iter();
            Some((disk, kept.find(|kept| kept.name == disk.name)?))
        })
    }
}

fn gravest<'a>(looks: &[ShownLook<'a>]) -> Option<&'a Event> {
    let events = looks.iter().flat_map(|look| look.open_events());
    events.min_by_key(|event| event.kind)
}

/// Returns the gravity of the gravest open event of all looks; `None` if nothing is wrong.
#[must_use]
pub fn gravity_of_looks(looks: &[ShownLook<'_>]) -> Option<Gravity> {
    gravest(looks).map(|event| event.kind.gravity())
}

/// Returns one line for the login; `None` if nothing is wrong.
#[must_use]
pub fn login_line(looks: &[ShownLook<'_>]) -> Option<String> {
    let first = sentence(gravest(looks)?);
    let count = looks.iter().flat_map(|look| look.open_events()).count();
    Some(match count {
        1 => format!("cardmark: {first}"),
        _ => format!("cardmark: {first} ({} more: cardmark watch)", count - 1),
    })
}

/// Returns the output of a plugin for Nagios and its kin: a line for each target, the gravest first. All figures are behind the first
/// line: behind a `|` in a later one, all further lines would be figures.
#[must_use]
pub fn look_nagios(looks: &[ShownLook<'_>]) -> String {
    let word = match gravity_of_looks(looks) {
        Some(Gravity::Alarm) => "CRITICAL",
        Some(Gravity::Warning) => "WARNING",
        Some(Gravity::Note) | None => "OK",
    };
    let mut sorted = looks.to_vec();
    // None is less than any, so that it comes last.
    sorted.sort_by_key(|look| Reverse(gravest(&[*look]).map(|event| Reverse(event.kind))));
    let (mut lines, mut all) = (Vec::new(), Vec::new());
    for shown in sorted {
        let (target, place) = match looks.len() {
            1 => (String::new(), String::new()),
            _ => (format!("{}: ", shown.target), format!("{} ", shown.target)),
        };
        let sentence = answer_of_look(shown.look, shown.seen).sentence;
        lines.push(format!("{target}{sentence}").replace(['|', '\n'], " "));
        all.extend(shown.disks().flat_map(|one| figures(&place, one)));
    }
    if let Some(first) = lines.first_mut().filter(|_| !all.is_empty()) {
        *first += &format!(" | {}", all.join(" "));
    }
    format!("CARDMARK {word}: {}\n", lines.join("\n"))
}

fn figures(place: &str, (disk, kept): (&DiskLook, &KeptDisk)) -> Vec<String> {
    let name = format!("{place}{}", disk.name).replace(['\'', '=', '|', '\n'], " ");
    let written = kept.counted_bytes.map(|_| kept.written_bytes);
    let written = written.map(|bytes| format!("'{name} written'={bytes}B"));
    let used = used_percent(disk).map(|percent| format!("'{name} life used'={percent}%"));
    written.into_iter().chain(used).collect()
}

fn used_percent(disk: &DiskLook) -> Option<u32> {
    disk.health.as_ref()?.used_percent
}

/// Name and help text of a metric. A name that ends in `_total` is that of a counter.
type Metric = (&'static str, &'static str);
/// Labels in their form, and the value.
type Sample = (String, Option<f64>);

/// Adds a metric with all its samples in the exposition format; nothing without a value.
fn add(text: &mut String, (name, help): Metric, samples: Vec<Sample>) {
    if samples.iter().all(|(_, value)| value.is_none()) {
        return;
    }
    let kind = match name.ends_with("_total") {
        true => "counter",
        false => "gauge",
    };
    *text += &format!("# HELP cardmark_{name} {help}\n# TYPE cardmark_{name} {kind}\n");
    for (labels, value) in samples {
        if let Some(value) = value {
            *text += &format!("cardmark_{name}{labels} {value}\n");
        }
    }
}

/// The labels that have a value.
fn labels(all: &[(&str, Option<&str>)]) -> String {
    let labels = all.iter().filter_map(|(name, value)| {
        let value = (*value)?.replace('\\', "\\\\").replace('"', "\\\"");
        Some(format!("{name}=\"{}\"", value.replace('\n', "\\n")))
    });
    let labels: Vec<String> = labels.collect();
    format!("{{{}}}", labels.join(","))
}

#[expect(clippy::cast_precision_loss, reason = "the format has these numbers")]
fn number(value: Option<u64>) -> Option<f64> {
    value.map(|value| value as f64)
}

fn flag(value: Option<bool>) -> Option<f64> {
    value.map(|value| f64::from(u8::from(value)))
}

/// Returns the looks as a file for the textfile collector of Prometheus' node exporter.
#[must_use]
pub fn look_prometheus(looks: &[ShownLook<'_>], version: &str) -> String {
    let mut text = String::new();
    add(
        &mut text,
        ("build_info", "Version of cardmark."),
        vec![(labels(&[("version", Some(version))]), Some(1.0))],
    );
    let by_target = |shown: &ShownLook<'_>| {
        let labels = labels(&[("target", Some(shown.target))]);
        (labels, number(shown.look.at_s))
    };
    add(
        &mut text,
        ("last_look_timestamp_seconds", "Time of the look."),
        looks.iter().map(by_target).collect(),
    );
    add(
        &mut text,
        ("open_events", "Events that nobody has acknowledged."),
        looks.iter().flat_map(open_events).collect(),
    );
    let info = of_disks(looks, true, |_, _| Some(1.0));
    add(
        &mut text,
        ("disk_info", "Model, and product as its owner calls it."),
        info,
    );
    for (metric, value) in DISKS {
        add(&mut text, metric, of_disks(looks, false, value));
    }
    for (metric, value) in FILESYSTEMS {
        add(&mut text, metric, of_filesystems(looks, value));
    }
    for (metric, value) in BOARD {
        // All looks are at one board.
        let value = looks.iter().find_map(|shown| value(shown.look));
        add(&mut text, metric, vec![(String::new(), flag(value))]);
    }
    text
}

/// The number of each kind of trouble, also if there is none.
fn open_events(shown: &ShownLook<'_>) -> Vec<Sample> {
    let kinds = EventKind::NAMED.into_iter();
    let kinds = kinds.filter(|(_, kind)| kind.is_trouble());
    kinds
        .map(|(name, kind)| {
            let gravity = json!(kind.gravity());
            let labels = labels(&[
                ("target", Some(shown.target)),
                ("kind", Some(name)),
                ("gravity", gravity.as_str()),
            ]);
            let open = shown.open_events().filter(|event| event.kind == kind);
            (labels, number(Some(open.count() as u64)))
        })
        .collect()
}

type OfDisk = fn(&DiskLook, &KeptDisk) -> Option<f64>;

const DISKS: [(Metric, OfDisk); 5] = [
    (("disk_size_bytes", "Size."), |disk, _| {
        number(disk.size_bytes)
    }),
    (
        (
            "disk_written_bytes_total",
            "Written since the first look, at least.",
        ),
        |_, kept| number(kept.counted_bytes.map(|_| kept.written_bytes)),
    ),
    (
        (
            "disk_stated_endurance_bytes",
            "What it can be written, as the maker of the named product states.",
        ),
        |_, kept| number(stated_bytes(kept)),
    ),
    (
        (
            "disk_life_used_ratio",
            "Used part of its rated life, as it reports; of eMMC the upper end of a step.",
        ),
        |disk, _| used_percent(disk).map(|percent| f64::from(percent) / 100.0),
    ),
    (
        (
            "disk_media_errors_total",
            "Errors of its medium, as it reports.",
        ),
        |disk, _| number(disk.health.as_ref()?.media_errors_count),
    ),
];

/// Samples of all disks; model and product are labels of the information only.
fn of_disks(looks: &[ShownLook<'_>], is_info: bool, value: OfDisk) -> Vec<Sample> {
    let of_look = |shown: &ShownLook<'_>| {
        let target = shown.target;
        let samples = shown.disks().map(|(disk, kept)| {
            let labels = labels(&[
                ("target", Some(target)),
                ("device", Some(&disk.name)),
                ("model", disk.model.as_deref().filter(|_| is_info)),
                ("product", kept.product.as_deref().filter(|_| is_info)),
            ]);
            (labels, value(disk, kept))
        });
        samples.collect::<Vec<Sample>>()
    };
    looks.iter().flat_map(of_look).collect()
}

type OfFilesystem = fn(&FilesystemLook) -> Option<f64>;

const FILESYSTEMS: [(Metric, OfFilesystem); 2] = [
    (
        (
            "filesystem_readonly",
            "1 if the whole filesystem is read-only.",
        ),
        |filesystem| flag(Some(filesystem.is_read_only)),
    ),
    (
        (
            "filesystem_errors_total",
            "Errors since it was last checked, counted on the disk.",
        ),
        |filesystem| number(filesystem.errors_count),
    ),
];

fn of_filesystems(looks: &[ShownLook<'_>], value: OfFilesystem) -> Vec<Sample> {
    let of_look = |shown: &ShownLook<'_>| {
        let samples = shown.look.filesystems.iter().map(|filesystem| {
            let labels = labels(&[
                ("target", Some(shown.target)),
                ("device", Some(&filesystem.device)),
                ("mountpoint", Some(&filesystem.point)),
                ("fstype", Some(&filesystem.kind)),
            ]);
            (labels, value(filesystem))
        });
        samples.collect::<Vec<Sample>>()
    };
    looks.iter().flat_map(of_look).collect()
}

type OfBoard = fn(&Look) -> Option<bool>;

const BOARD: [(Metric, OfBoard); 2] = [
    (
        ("under_voltage", "1 if the voltage is too low now."),
        |look| look.power.is_low,
    ),
    (
        (
            "under_voltage_since_boot",
            "1 if the voltage was too low since the start of the system.",
        ),
        |look| look.power.was_low,
    ),
];
