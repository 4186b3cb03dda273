//! A look at a board and its storage, in words.

pub(crate) mod monitor;
pub(crate) mod writers;

use cardmark_catalog::endurance_promises;
use cardmark_core::{DiskLook, KernelFault, Look};
use cardmark_judge::{
    Event, EventKind, Gravity, KeptDisk, Moment, Seen, bytes_per_day, stated_volume,
};
use serde_json::{Value, json};

use crate::answer::{AnswerBlock, KeyFigure, Weight};
use crate::run::identity::life;
use crate::text::names::{capitalised, listed};
use crate::text::style::clean;
use crate::text::{amount, count_of, figure, grouped};

/// Further events that are shown.
const MOST_MORE: usize = 2;
/// Times that lie closer together are one, seconds.
const SAME_S: u64 = 60;

/// Returns what is wrong, the gravest first, each with its time and the next step; then facts about card and board.
#[must_use]
pub fn answer_of_look(look: &Look, seen: &Seen) -> AnswerBlock {
    let events = &seen.kept.events;
    let open: Vec<&Event> = events.iter().filter(|event| event.is_open()).collect();
    let weight = match open.first().map(|event| event.kind.gravity()) {
        Some(Gravity::Alarm) => Weight::Error,
        Some(_) => Weight::Warning,
        None => Weight::Plain,
    };
    let mut sentences = open.iter().map(|event| sentence(event));
    let first = sentences.next();
    let shown = match open.len() > 1 + MOST_MORE {
        true => MOST_MORE - 1,
        false => MOST_MORE,
    };
    let left = open.len().saturating_sub(1 + shown);
    let mut more: Vec<String> = sentences.take(shown).collect();
    more.extend((left > 0).then(|| format!("{left} more: `--format json` lists them")));
    let notes = events
        .iter()
        .filter(|event| event.kind.gravity() == Gravity::Note);
    let mut limits: Vec<String> = notes.map(sentence).collect();
    limits.extend(not_seen(look, seen));
    let mut disks = look.disks.iter();
    let is_empty = !look.disks.is_empty() && disks.all(|disk| disk.size_bytes.is_none());
    let quiet = || match seen.kept.clear_since_s {
        _ if is_empty => "No medium: nothing can be said about a card".to_owned(),
        Some(at_s) => format!("Nothing wrong since {}", day(at_s)),
        None => "Nothing wrong".to_owned(),
    };
    AnswerBlock {
        weight,
        sentence: first.unwrap_or_else(quiet),
        more,
        sides: vec![String::new()],
        figures: figures(look, seen),
        open: limits,
        next: (!open.is_empty()).then(|| "cardmark watch --acknowledge".to_owned()),
    }
}

/// Returns the look and its result for programs.
#[must_use]
pub fn look_json(target: &str, look: &Look, seen: &Seen) -> Value {
    let disk = |disk: &KeptDisk| {
        let size_bytes = disk.identity.size_bytes;
        json!({
            "name": disk.name,
            "model": disk.identity.model,
            "id": disk.identity.id,
            "product": disk.product,
            "size_bytes": size_bytes,
            "since_s": disk.since_s,
            "written_bytes": disk.written_bytes,
            "is_at_least": disk.has_gaps,
            "written_bytes_per_day": bytes_per_day(&disk.days),
            "stated_volume_bytes": stated_bytes(disk),
        })
    };
    let event = |event: &Event| {
        let mut value = json!(event);
        value["gravity"] = json!(event.kind.gravity());
        value["is_open"] = json!(event.is_open());
        value["sentence"] = json!(sentence(event));
        value
    };
    let events = |events: &[Event]| events.iter().map(event).collect::<Vec<Value>>();
    let answer = answer_of_look(look, seen);
    let state = match answer.weight {
        Weight::Plain => "ok",
        Weight::Warning => "warning",
        Weight::Error => "alarm",
    };
    json!({
        "target": target,
        "state": state,
        "answer": answer.json(),
        "events": events(&seen.kept.events),
        "found": events(&seen.found),
        "disks": seen.kept.disks.iter().map(disk).collect::<Vec<_>>(),
        "begun_s": seen.kept.begun_s,
        "clear_since_s": seen.kept.clear_since_s,
        "lost_lines_count": seen.lost_lines_count,
        "look": look,
    })
}

/// What happened, when, and the next step.
fn sentence(event: &Event) -> String {
    let mut text = capitalised(&what(event));
    if let Some(when) = when(&event.since) {
        text = format!("{text} {when}");
    }
    if let Some(end) = event.until.and_then(|until| until.by_s) {
        text = format!("{text} until {}", minute(end));
    }
    match advice(event.kind, event.until.is_some()) {
        Some(advice) => format!("{text}: {advice}"),
        None => text,
    }
}

/// What happened, and since which day.
pub(crate) fn event_clause(event: &Event) -> String {
    match event.since.by_s.or(event.since.after_s) {
        Some(at_s) => format!("{} since {}", what(event), day(at_s)),
        None => what(event),
    }
}

fn what(event: &Event) -> String {
    let of = clean(&event.of);
    let detail = event.detail.as_deref().map(clean);
    match event.kind {
        EventKind::ReadOnly if event.until.is_some() => format!("`{of}` was read-only"),
        EventKind::ReadOnly => format!("`{of}` is read-only"),
        EventKind::FailedOperations => format!("{} of `{of}`", failed(event)),
        EventKind::FilesystemErrors => {
            let errors = count_of(event.count, "filesystem error", "filesystem errors");
            format!("{errors} on `{of}`")
        }
        EventKind::MediaErrors => {
            let errors = count_of(event.count, "error", "errors");
            format!("{errors} of the medium of `{of}`")
        }
        EventKind::DiskWarning => format!("`{of}` warns: {}", detail.unwrap_or_default()),
        EventKind::LifeOver => format!("`{of}` has used more than its rated life"),
        EventKind::UnderVoltage => "too little voltage".to_owned(),
        EventKind::AnotherCard => format!("another card than before{}", former(detail)),
        EventKind::PerhapsAnother => format!("perhaps another card than before{}", former(detail)),
        EventKind::LinkTrouble => {
            let lines = count_of(event.count, "message", "messages");
            format!("{lines} of resets, timeouts or retries of `{of}`, as healthy disks have too")
        }
    }
}

fn former(detail: Option<String>) -> String {
    detail.map_or_else(String::new, |model| format!(" (it was {model})"))
}

/// `2 failed writes and 1 failed read`.
fn failed(event: &Event) -> String {
    let names = [
        (KernelFault::Write, "failed write", "failed writes"),
        (KernelFault::Read, "failed read", "failed reads"),
        (KernelFault::Flush, "failed flush", "failed flushes"),
    ];
    let parts = names.iter().filter_map(|(fault, one, many)| {
        let count = event.faults.get(fault)?;
        Some(count_of(*count, one, many))
    });
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => count_of(event.count, "failed operation", "failed operations"),
        false => listed(&parts, "and"),
    }
}

fn advice(kind: EventKind, is_over: bool) -> Option<&'static str> {
    Some(match kind {
        EventKind::ReadOnly if is_over => "keep a backup; the kernel's log may hold the reason",
        EventKind::ReadOnly => "back up now; replace the card unless somebody set it so",
        EventKind::FailedOperations => {
            "back up now; `sudo cardmark verify DEVICE --read-only` shows if all can still be read"
        }
        EventKind::FilesystemErrors => "back up now, then check the filesystem (fsck)",
        EventKind::MediaErrors | EventKind::DiskWarning => "back up now, and plan a replacement",
        EventKind::LifeOver => "keep a backup, and order a replacement",
        EventKind::UnderVoltage => "use the power supply made for this board, and a short cable",
        EventKind::AnotherCard | EventKind::PerhapsAnother | EventKind::LinkTrouble => return None,
    })
}

/// Time of an event; `None` if nothing is known of it.
fn when(moment: &Moment) -> Option<String> {
    match (moment.after_s, moment.by_s) {
        (Some(after), Some(by)) if by.abs_diff(after) <= SAME_S => {
            Some(format!("since {}", minute(by)))
        }
        (Some(after), _) => Some(format!("since {} at the earliest", minute(after))),
        (None, Some(by)) => Some(format!("since {} or earlier", minute(by))),
        (None, None) => None,
    }
}

fn time(at_s: u64, format: &str) -> String {
    let seconds = i64::try_from(at_s).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_second(seconds);
    time.map_or_else(
        |_| "an unknown time".to_owned(),
        |time| time.strftime(format).to_string(),
    )
}

fn minute(at_s: u64) -> String {
    time(at_s, "%Y-%m-%d %H:%M UTC")
}

pub(crate) fn day(at_s: u64) -> String {
    time(at_s, "%Y-%m-%d")
}

fn figures(look: &Look, seen: &Seen) -> Vec<KeyFigure> {
    let mut figures = Vec::new();
    for disk in &look.disks {
        let mut kept = seen.kept.disks.iter();
        let Some(kept) = kept.find(|kept| kept.name == disk.name) else {
            continue;
        };
        figures.push(card(disk, kept));
        figures.extend(written(kept));
        figures.extend(stated(kept));
        figures.push(wear(disk));
    }
    figures.extend(power(look));
    figures
}

fn key_figure(id: &str, name: &str, cell: String, word: String) -> KeyFigure {
    KeyFigure {
        id: id.to_owned(),
        name: name.to_owned(),
        cells: vec![cell],
        word,
    }
}

fn card(disk: &DiskLook, kept: &KeptDisk) -> KeyFigure {
    let name = kept.product.as_ref().or(disk.model.as_ref());
    let size = disk.size_bytes.map(amount);
    let parts: Vec<String> = name
        .map(|name| clean(name))
        .into_iter()
        .chain(size)
        .collect();
    let cell = match parts.is_empty() {
        true => "no medium".to_owned(),
        false => parts.join(", "),
    };
    let since = kept.since_s.map(|at_s| format!("since {}", day(at_s)));
    key_figure("disk", &disk.name, cell, since.unwrap_or_default())
}

/// Bytes a day, or before the first whole day all bytes.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn written(kept: &KeptDisk) -> Option<KeyFigure> {
    kept.counted_bytes?;
    let figure_of = |cell, word| Some(key_figure("written", "written", cell, word));
    let Some(per_day) = bytes_per_day(&kept.days) else {
        let least = if kept.has_gaps { "at least " } else { "" };
        let word = "since the first look".to_owned();
        return figure_of(format!("{least}{}", amount(kept.written_bytes)), word);
    };
    let size_bytes = kept.identity.size_bytes.filter(|_| per_day > 0);
    let once = size_bytes.map(|size| once_in(size as f64 / per_day as f64));
    figure_of(
        format!("{} a day", amount(per_day)),
        once.unwrap_or_default(),
    )
}

/// How often the whole card is written, from the days that it takes.
fn once_in(days: f64) -> String {
    match days {
        ..0.95 => format!("the whole card {} times a day", figure(1.0 / days)),
        0.95..1.05 => "the whole card once a day".to_owned(),
        1.05..10.0 => format!("the whole card once in {days:.1} days"),
        10.0..1000.0 => format!("the whole card once in {days:.0} days"),
        _ => format!("the whole card once in {:.0} years", days / 365.25),
    }
}

fn stated_bytes(kept: &KeptDisk) -> Option<u64> {
    let (product, size) = kept.product.as_ref().zip(kept.identity.size_bytes)?;
    stated_volume(endurance_promises(), product, size)
}

/// Bytes written of those that the maker states.
fn stated(kept: &KeptDisk) -> Option<KeyFigure> {
    let all = stated_bytes(kept)?;
    let cell = format!("{} of {}", amount(kept.written_bytes), amount(all));
    let since = kept.since_s.map_or_else(
        || "since the first look".to_owned(),
        |at_s| format!("since {}", day(at_s)),
    );
    Some(key_figure(
        "endurance",
        "endurance",
        cell,
        format!("{since}, of what its maker states"),
    ))
}

fn wear(disk: &DiskLook) -> KeyFigure {
    let used = disk.health.as_ref().and_then(|health| health.used_percent);
    let (cell, word) = match used {
        Some(percent) => (life(percent, disk.is_emmc), String::new()),
        None => (
            "not known".to_owned(),
            "most SD cards do not report it".to_owned(),
        ),
    };
    key_figure("life", "life", cell, word)
}

fn power(look: &Look) -> Option<KeyFigure> {
    let cell = match (look.power.is_low?, look.power.was_low) {
        (true, _) => "too low now",
        (false, Some(true)) => "enough now, too low before",
        (false, Some(false)) => "always enough",
        (false, None) => "enough now",
    };
    let word = look.power.was_low.map(|_| "since the start of the system");
    Some(key_figure(
        "power",
        "power",
        cell.to_owned(),
        word.unwrap_or_default().to_owned(),
    ))
}

/// What the look could not see.
fn not_seen(look: &Look, seen: &Seen) -> Vec<String> {
    let mut limits = Vec::new();
    if look.log.next.is_none() {
        limits.push("Not seen: the kernel's messages, which only root may read".to_owned());
    }
    if seen.lost_lines_count > 0 {
        limits.push(format!(
            "Not seen: {} messages of the kernel that newer ones replaced",
            grouped(seen.lost_lines_count)
        ));
    }
    if look.at_s.is_none() {
        limits.push("The clock is not set: times are missing".to_owned());
    }
    limits
}
