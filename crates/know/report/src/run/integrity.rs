//! Result of an integrity test, as text.

use cardmark_core::{
    ASSUMED_CACHE_BYTES, BlockCounts, FindingKind, Integrity, IntegrityTest, PlaceSpeed, Quantity,
    Record, Sampling, StorageKind, WritePattern,
};

use cardmark_judge::{faults, storage_kind, unknown_storage};

use crate::answer::Weight;
use crate::run::claims;
use crate::run::power_cut;
use crate::run::reading;
use crate::run::shading::{BLOCK_BYTES, map};
use crate::run::unknown;
use crate::run::usable::{UsablePart, usable_part};
use crate::text::layout::{painted, wrap};
use crate::text::style::{Style, Tone};
use crate::text::table::{Column, Row, Table};
use crate::text::{SHORT_ID, amount, capacity, figure, in_unit, percent, rate, size, span};

/// Advice for a card that no longer stores anything new.
const COPY: &str = "Copy your data from it, and replace it.";

/// Findings on the end of a test that did not reach its own, those that say most about the device first.
const FAILURES: [FindingKind; 5] = [
    FindingKind::Vanished,
    FindingKind::NoAnswer,
    FindingKind::DataLost,
    FindingKind::NoSpace,
    FindingKind::RemountedReadOnly,
];

/// The name of a test.
pub(crate) fn test_name(test: &IntegrityTest) -> &str {
    match test {
        IntegrityTest::Probe => "probe",
        IntegrityTest::Verify => "verify",
        IntegrityTest::Endure => "endure",
        IntegrityTest::Retention => "retention",
        IntegrityTest::Read => "read-only verify",
        IntegrityTest::PowerCut => "power cut",
        IntegrityTest::Other(word) => word,
    }
}

/// Verdict, figures and map.
pub(crate) fn blocks(record: &Record, width: usize, style: Style) -> Vec<Vec<String>> {
    let Some(found) = &record.integrity else {
        return Vec::new();
    };
    let tone = match weight(record) {
        Weight::Plain => Tone::Plain,
        Weight::Warning => Tone::Warning,
        Weight::Error => Tone::Error,
    };
    let mut verdict = painted(&[verdict(record, found)], width, style, tone);
    let usable = usable_part(record).map(UsablePart::sentence);
    if found.test == IntegrityTest::Read {
        let places = reading::places(record, found);
        verdict.extend(places.iter().flat_map(|text| wrap(text, width, 2)));
    }
    verdict.extend(usable.iter().flat_map(|text| wrap(text, width, 2)));
    let next = next_step(record, found);
    verdict.extend(next.iter().flat_map(|text| wrap(text, width, 2)));
    let figures = table(found).lines(width, style);
    vec![verdict, figures, map(record, width)]
}

/// Advice on what to do with a card that does not keep its data, with the command that makes a page for its seller.
fn next_step(record: &Record, found: &Integrity) -> Option<String> {
    let page = || {
        let id: String = record.id.to_string().chars().take(SHORT_ID).collect();
        format!("`cardmark report {id} --for seller` makes a page for the seller")
    };
    // Not of one that wore the card out.
    let is_by_writing = matches!(found.test, IntegrityTest::Probe | IntegrityTest::Verify);
    match found.kind {
        StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain
            if found.from_bytes.is_none() =>
        {
            Some(format!("Return it: {}.", page()))
        }
        StorageKind::Damaged if is_by_writing && !found.is_irregular => {
            Some(format!("{COPY} If it is under warranty: {}.", page()))
        }
        StorageKind::Damaged if is_by_writing => {
            Some(format!("Replace it. If it is under warranty: {}.", page()))
        }
        StorageKind::ReadOnly | StorageKind::IgnoresWrites if is_by_writing => {
            Some(format!("If it is under warranty: {}.", page()))
        }
        StorageKind::LosesAcknowledged => Some(
            "Try another reader; if that happens there too, do not use it where the power can fail.".to_owned(),
        ),
        StorageKind::Damaged | StorageKind::Dead
            if found.test == IntegrityTest::Retention && found.faded_count > Some(0) =>
        {
            Some("Keep nothing on it for that long: write it again earlier, or keep it elsewhere.".to_owned())
        }
        StorageKind::Dead if is_by_writing => Some(format!(
            "Try another reader; if it keeps no data there, replace it. If it is under warranty: {}.",
            page()
        )),
        _ => None,
    }
}

/// Gravity of the result.
pub(crate) fn weight(record: &Record) -> Weight {
    let found = record.integrity.as_ref();
    if claims::smaller(record).is_some() {
        return Weight::Error;
    }
    match storage_kind(record).or(found.map(|found| found.kind)) {
        None | Some(StorageKind::Confirmed | StorageKind::Readable | StorageKind::Durable) => {
            Weight::Plain
        }
        Some(StorageKind::Damaged | StorageKind::UnknownDevice | StorageKind::Other(_)) => {
            Weight::Warning
        }
        Some(StorageKind::Unfinished) if faults(record).is_empty() => Weight::Warning,
        _ => Weight::Error,
    }
}

/// Result in a sentence or two, behind a size that contradicts the label.
pub(crate) fn verdict(record: &Record, found: &Integrity) -> String {
    let result = result(record, found);
    match claims::smaller(record) {
        Some(smaller) => format!("{smaller}. {result}"),
        None => result,
    }
}

fn result(record: &Record, found: &Integrity) -> String {
    let size = capacity(found.size_bytes);
    let part = found
        .from_bytes
        .map(|from_bytes| part_words(record, found, from_bytes));
    if found.kind == StorageKind::Unfinished {
        let tested = part.map_or(size, |part| format!("the part {part}"));
        return unfinished(record, &tested);
    }
    if storage_kind(record) == Some(StorageKind::UnknownDevice) {
        return no_verdict(record, &size);
    }
    if found.test == IntegrityTest::PowerCut {
        return power_cut::verdict(record, found);
    }
    if found.test == IntegrityTest::Read {
        return match part {
            Some(part) => reading::verdict(&format!("the part {part}"), found),
            None => reading::verdict(&size, found),
        };
    }
    let verdict = match part {
        Some(part) => verdict_on_part(&part, found),
        None => verdict_on_all(record, found, &size),
    };
    match is_loaded(found) && found.kind != StorageKind::Confirmed {
        true => format!(
            "{verdict} `cardmark verify` without `--pattern`, `--queue` and `--discard` shows whether that \
             happens only under load."
        ),
        false => verdict,
    }
}

/// Result of a test without a fault of storage whose device is not known.
fn no_verdict(record: &Record, size: &str) -> String {
    let why = unknown_storage(record).map(|unknown| format!(" {}.", unknown::text(&unknown)));
    format!(
        "No verdict on any card: {size} held their data, but the device below is not known.{}",
        why.unwrap_or_default()
    )
}

/// Result of a test that its device or filesystem ended.
fn unfinished(record: &Record, tested: &str) -> String {
    let has = |kind: &FindingKind| record.findings.iter().any(|finding| finding.kind == *kind);
    let known = FAILURES.iter().find(|kind| has(kind));
    let no_verdict = |why: &str| format!("No verdict on the card: its filesystem {why}");
    let first = match known {
        Some(FindingKind::NoSpace) => no_verdict("became full"),
        Some(FindingKind::RemountedReadOnly) => no_verdict("became read-only"),
        Some(failure) => unreliable(*failure),
        None => unreliable(FindingKind::IoError),
    };
    format!("{first}. The test of {tested} did not reach its end, and confirms nothing.")
}

/// Returns whether all blocks held their data.
fn is_kept(kind: StorageKind) -> bool {
    matches!(kind, StorageKind::Confirmed | StorageKind::UnknownDevice)
}

/// Returns whether the test put the device under load.
fn is_loaded(found: &Integrity) -> bool {
    found.pattern.is_some() || found.queue_depth.is_some() || found.discarded_bytes.is_some()
}

/// Result of a test of a whole device or directory.
fn verdict_on_all(record: &Record, found: &Integrity, size: &str) -> String {
    let there = there(found);
    match found.kind {
        StorageKind::Damaged | StorageKind::Dead if found.test == IntegrityTest::Retention => {
            faded(found, size)
        }
        StorageKind::Confirmed => confirmed(found, size),
        StorageKind::Damaged => damaged(found, size),
        StorageKind::Limbo => {
            format!("FALSE CAPACITY (limbo): {there}. Data written beyond is lost.")
        }
        StorageKind::Wraparound => format!(
            "FALSE CAPACITY (wraparound): {there}. Data written beyond overwrites data below."
        ),
        StorageKind::Chain => format!(
            "FALSE CAPACITY (chain): {there}. Of data written beyond, part is lost and part overwrites \
             data below."
        ),
        StorageKind::ReadOnly => format!(
            "READ-ONLY: {}. Copy what you need from it, and replace it.",
            refusal(record, found)
        ),
        StorageKind::IgnoresWrites => format!(
            "WORN OUT: the device ignores writes, and what was written before comes back. {COPY} This is no \
             false capacity."
        ),
        StorageKind::Readable => format!("READABLE: every block of {size} could be read."),
        StorageKind::Durable | StorageKind::LosesAcknowledged => power_cut::verdict(record, found),
        StorageKind::Dead => format!("DEAD: no block of {size} keeps its data{}.", until(found)),
        StorageKind::UnknownDevice => no_verdict(record, size),
        StorageKind::Unfinished => unfinished(record, size),
        StorageKind::Other(word) => format!("Result `{word}`, which this version does not know."),
    }
}

/// How the device refuses writes. A test of every block writes in an order that shows when it began to.
fn refusal(record: &Record, found: &Integrity) -> String {
    match record.written_bytes {
        0 => "the device accepts no writes".to_owned(),
        written if found.blocks.is_some() => {
            format!(
                "the device accepted no more writes after {}",
                amount(written)
            )
        }
        _ => "the device no longer accepts writes".to_owned(),
    }
}

/// How long data could be read on a device that keeps none, if a cache returned them for a while.
fn until(found: &Integrity) -> String {
    let cache = found.hidden_cache_bytes;
    cache.map_or_else(String::new, |bytes| {
        format!(
            ": it could be read only until other data, at most {}, was written",
            amount(bytes)
        )
    })
}

/// Result of reading again after a rest, if blocks are bad.
fn faded(found: &Integrity, size: &str) -> String {
    let rested = span(
        found
            .rested_ms
            .unwrap_or_default()
            .saturating_mul(1_000_000),
    );
    match found.faded_count.unwrap_or_default() {
        0 => format!("Nothing was lost during {rested} of rest: what is bad was bad before."),
        count => format!(
            "FADED: of {size}, {} was lost during {rested} of rest.",
            amount(count.saturating_mul(BLOCK_BYTES))
        ),
    }
}

/// Result of a test of a part of a device.
fn verdict_on_part(part: &str, found: &Integrity) -> String {
    match found.kind {
        StorageKind::Confirmed => format!(
            "No bad block: {part}, every block kept its data. The rest was not tested, so that the capacity is \
             not confirmed: `cardmark probe` checks it.{}",
            cache_warning(found)
        ),
        StorageKind::ReadOnly => format!("READ-ONLY: {part}, the device no longer accepts writes."),
        StorageKind::IgnoresWrites => format!(
            "WORN OUT: {part}, the device ignores writes, and what was written before comes back. {COPY}"
        ),
        StorageKind::Other(word) => {
            format!("Result `{word}` {part}, which this version does not know.")
        }
        _ => format!(
            "DATA LOST in the part tested, {part}: {}. The rest was not tested; `cardmark probe` shows whether the \
             capacity is false.",
            not_kept(found)
        ),
    }
}

/// A fake may return from its cache what it has lost, if no more than the cache holds was written.
fn cache_warning(found: &Integrity) -> String {
    match found.size_bytes < ASSUMED_CACHE_BYTES {
        true => format!(
            " A cache of up to {} could hide losses in so small a part.",
            capacity(ASSUMED_CACHE_BYTES)
        ),
        false => String::new(),
    }
}

/// `from 10 % to 20 % of 64 GB (59.6 GiB)`; in bytes if the size of the device is unknown.
fn part_words(record: &Record, found: &Integrity, from_bytes: u64) -> String {
    let to_bytes = from_bytes.saturating_add(found.size_bytes);
    let device = match record.devices.as_slice() {
        [device] => device.size_bytes.filter(|size| *size >= to_bytes),
        _ => None,
    };
    match device {
        Some(device_bytes) => {
            let share = |bytes: u64| hundredths(bytes as f64 / device_bytes as f64 * 100.0);
            let (from, to) = (share(from_bytes), share(to_bytes));
            format!("from {from} % to {to} % of {}", capacity(device_bytes))
        }
        None => format!("from {} to {}", amount(from_bytes), amount(to_bytes)),
    }
}

/// A number with at most two decimals.
fn hundredths(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Share of the whole; if that rounds to everything, the missing part.
fn there(found: &Integrity) -> String {
    let all = capacity(found.size_bytes);
    let share = found.real_bytes as f64 / found.size_bytes.max(1) as f64;
    if percent(share) == percent(1.0) {
        let missing = found.size_bytes.saturating_sub(found.real_bytes);
        return format!("all but {} of {all} exist", size(missing));
    }
    let real = capacity(found.real_bytes);
    let share = match percent(share) == percent(0.0) {
        true => format!("less than {}", percent(0.001)),
        false => percent(share),
    };
    format!("only {real} of {all} exist, {share}")
}

fn confirmed(found: &Integrity, size: &str) -> String {
    match found.test {
        IntegrityTest::Probe => {
            let samples = found.sampling.map_or(0, |sampling| sampling.samples_count);
            format!(
                "Capacity confirmed{}: {samples} samples across {size} kept their data{}. `cardmark verify` \
                 checks every block.",
                unless_hidden(found),
                read_when(found)
                    .map_or_else(String::new, |when| format!(", read back {when} writing"))
            )
        }
        IntegrityTest::Verify => {
            let how = read_when(found).map_or_else(String::new, |when| {
                format!(", written in {} and read {when} writing", pieces(found))
            });
            format!("Capacity confirmed: every block of {size} kept its data{how}.")
        }
        IntegrityTest::Endure => {
            format!("Intact: every block of {size} kept its data in the last cycle.")
        }
        IntegrityTest::Retention => {
            format!("Intact: every block of {size} still holds the data written before the rest.")
        }
        IntegrityTest::Read => format!("Every block of {size} could be read."),
        IntegrityTest::PowerCut => {
            format!("Intact: every block of {size} was there after the power cut.")
        }
        IntegrityTest::Other(word) => format!("Capacity confirmed by the test `{word}`."),
    }
}

/// The largest cache that the test excluded: behind a larger one, a card could hide that it is too small.
fn unless_hidden(found: &Integrity) -> String {
    let excluded = found.excluded_cache_bytes;
    let excluded = excluded.filter(|bytes| *bytes < found.size_bytes);
    excluded.map_or_else(String::new, |bytes| {
        format!(
            " unless a cache of more than {} hides a loss",
            self::size(bytes)
        )
    })
}

/// Time between writing and reading, in words that `writing` follows; `None` if the record does not contain it.
fn read_when(found: &Integrity) -> Option<String> {
    let words = |ms: u64| span(ms.saturating_mul(1_000_000));
    let within = found.read_within_ms.map(words);
    match found.waited_ms.map(words) {
        Some(waited) => Some(format!("{waited} or more after")),
        None => within.map(|within| format!("within {within} of")),
    }
}

/// Order and size of the writes.
fn pieces(found: &Integrity) -> &'static str {
    match (found.pattern, is_loaded(found)) {
        (Some(WritePattern::Random), _) => "random order in 64-KiB pieces",
        (_, true) => "order in 64-KiB pieces",
        (_, false) => "order in 1-MiB pieces",
    }
}

fn damaged(found: &Integrity, size: &str) -> String {
    let how_much = not_kept(found);
    if found.is_irregular {
        let most = capacity(found.real_bytes);
        return format!(
            "DAMAGED, irregular: at most {most} of {size} exist; {how_much}. Do not use this device."
        );
    }
    let missing_bytes = found.size_bytes.saturating_sub(found.real_bytes);
    if missing_bytes > 0 {
        let missing = amount(missing_bytes);
        let is_counted = found.blocks.is_some() || found.sampling.is_some();
        let how_much = is_counted.then(|| format!(": {how_much}"));
        let how_much = how_much.unwrap_or_default();
        return format!("DAMAGED: the last {missing} of {size} cannot be relied on{how_much}.");
    }
    format!("DAMAGED: of {size}, {how_much}.")
}

/// Amount of data that was not kept, in words.
fn not_kept(found: &Integrity) -> String {
    let bad = |counts: &BlockCounts| amount(counts.bad_count() * BLOCK_BYTES);
    match (&found.blocks, &found.sampling) {
        (Some(counts), _) => format!("{} did not keep their data", bad(counts)),
        (None, Some(sampling)) if sampling.bad_samples_count > 0 => format!(
            "{} of {} samples have blocks that did not keep their data",
            sampling.bad_samples_count, sampling.samples_count
        ),
        (None, _) => "some blocks did not keep their data".to_owned(),
    }
}

/// Name of the result.
pub(crate) fn figures(found: &Integrity) -> Vec<(&'static str, String)> {
    let mut rows: Vec<(&str, String)> = Vec::new();
    match found.test {
        IntegrityTest::Read => rows.extend(reading::rows(found)),
        IntegrityTest::PowerCut => rows.extend(power_cut::rows(found)),
        _ => rows.extend(found.blocks.iter().flat_map(count_rows)),
    }
    let known = [
        ("addresses repeat after", found.wrap_bytes),
        ("hidden by a cache of at most", found.hidden_cache_bytes),
        (
            "a fake not hidden by caches up to",
            found.excluded_cache_bytes,
        ),
    ];
    rows.extend(
        known
            .into_iter()
            .filter_map(|(name, bytes)| Some((name, capacity(bytes?)))),
    );
    rows.extend(found.sampling.iter().flat_map(sampling_rows));
    rows.extend(
        found
            .cycles_count
            .map(|count| ("whole cycles", count.to_string())),
    );
    rows.extend(found.milestones.iter().map(|milestone| {
        let name = if milestone.bad_ratio > 0.0 {
            "reached"
        } else {
            "first bad block"
        };
        let share = match milestone.bad_ratio {
            share if share > 0.0 => format!("{} bad ", percent(share)),
            _ => String::new(),
        };
        let written = amount(milestone.written_bytes);
        let cycles = milestone.cycles_count;
        (
            name,
            format!("{share}in cycle {cycles}, after {written} written"),
        )
    }));
    rows.extend(load_rows(found));
    rows.extend(
        found
            .rested_ms
            .map(|rest| ("rested for", span(rest.saturating_mul(1_000_000)))),
    );
    let faded = found.faded_count;
    rows.extend(faded.map(|count| {
        (
            "lost during the rest",
            amount(count.saturating_mul(BLOCK_BYTES)),
        )
    }));
    rows.extend(speed_row("write rate", &found.written));
    rows.extend(speed_row("read rate", &found.read));
    rows
}

fn table(found: &Integrity) -> Table {
    let row = |(name, value): (&str, String)| {
        let stacked = format!("{name}: {value}");
        Row::new(vec![name.to_owned(), value]).stacked(vec![stacked])
    };
    Table {
        columns: vec![Column::left(""), Column::left("")],
        rows: figures(found).into_iter().map(row).collect(),
    }
}

fn count_rows(counts: &BlockCounts) -> Vec<(&'static str, String)> {
    let all = [
        ("intact", counts.good_count),
        ("corrupted", counts.changed_count),
        ("overwritten, addresses repeat", counts.wrapped_count),
        ("hold data of other blocks", counts.overwritten_count),
        ("lost", counts.lost_count),
        ("unreadable", counts.unreadable_count),
        ("not writable", counts.refused_count),
    ];
    let of_any = all.into_iter().filter(|(_, count)| *count > 0);
    of_any
        .map(|(name, count)| (name, amount(count.saturating_mul(BLOCK_BYTES))))
        .collect()
}

fn load_rows(found: &Integrity) -> Vec<(&'static str, String)> {
    let pattern = found.pattern.as_ref().map(|pattern| match pattern {
        WritePattern::Sequential => "by rising address".to_owned(),
        WritePattern::Random => "random".to_owned(),
        WritePattern::Other(word) => word.to_string(),
    });
    let discarded = found.discarded_bytes.map(|bytes| match bytes {
        0 if is_kept(found.kind) => "nothing, the device rejected it".to_owned(),
        0 => "nothing, blocks were bad before".to_owned(),
        bytes => amount(bytes),
    });
    let depth = found.queue_depth.map(|depth| depth.to_string());
    let rows = [
        ("order of writes", pattern),
        ("requests in flight, at most", depth),
        ("discarded and written again", discarded),
    ];
    let known = |(name, value): (&'static str, Option<String>)| Some((name, value?));
    rows.into_iter().filter_map(known).collect()
}

fn sampling_rows(sampling: &Sampling) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("samples of 1 MiB", sampling.samples_count.to_string()),
        (
            "scattered damage caught from",
            format!(
                "{} of the card (99.9 % sure)",
                percent(sampling.caught_ratio)
            ),
        ),
    ];
    rows.extend(
        sampling
            .excluded_cache_bytes
            .filter(|bytes| *bytes > 0)
            .map(|bytes| ("damage not hidden by caches up to", capacity(bytes))),
    );
    rows.extend(sampling.caught_region_ratio.map(|ratio| {
        let text = format!("{} of the card, wherever it lies", percent(ratio));
        ("one bad region caught from", text)
    }));
    if sampling.bad_samples_count > 0 {
        rows.push(("bad samples", sampling.bad_samples_count.to_string()));
        rows.extend(count_rows(&sampling.blocks));
    }
    rows
}

/// The rate over all, and its range over the places.
fn speed_row(name: &'static str, speeds: &[PlaceSpeed]) -> Option<(&'static str, String)> {
    let known = || speeds.iter().filter(|speed| speed.span_ns > 0);
    let rate_of = |speed: &PlaceSpeed| speed.size_bytes as f64 / speed.span_ns as f64 * 1e9;
    let bytes: u64 = known().map(|speed| speed.size_bytes).sum();
    let span_ns: u64 = known().map(|speed| speed.span_ns).sum();
    if span_ns == 0 {
        return None;
    }
    let least = known().map(rate_of).fold(f64::INFINITY, f64::min);
    let most = known().map(rate_of).fold(0.0, f64::max);
    let mean = bytes as f64 / span_ns as f64 * 1e9;
    let [least, most] = [least, most].map(|rate| figure(in_unit(Quantity::ByteRate, rate)));
    let range = format!("{least}–{most}");
    Some((name, format!("{} ({range})", rate(mean))))
}

/// The sentence on a device that failed during a run.
pub(crate) fn unreliable(failure: FindingKind) -> String {
    let how = match failure {
        FindingKind::Vanished => "it disappeared during the test",
        FindingKind::NoAnswer => "it stopped answering",
        FindingKind::DataLost => "it did not keep its data",
        _ => "reads or writes failed",
    };
    format!("Do not rely on this device: {how}")
}
