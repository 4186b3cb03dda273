//! Names of the two sides of a comparison.

use std::collections::BTreeSet;

use cardmark_catalog::product_name;
use cardmark_core::{Context, OriginKind, ReaderKind, Record, told};

use crate::run::summary::{minute, short_id};
use crate::text::style::clean;

/// Longest name of a sample that means nothing without the word.
const SHORT: usize = 2;
/// Conditions whose value is a name of its own.
const NAMING: [&str; 3] = ["product", "sample", "model"];

/// Names of rows in a published table: ids of the catalogue that mean nothing to a person.
const OF_PUBLICATIONS: [&str; 2] = ["publication", "setting"];

/// Returns names of two sides: the conditions that distinguish them in a command, else the first of product, sample, model,
/// board, reader, command queue, clock, time and id in which they differ, else the command's words (`given`).
pub fn side_names(given: [&str; 2], sides: [&[&Record]; 2]) -> [String; 2] {
    let conditions = given.map(conditions);
    let is_published = sides.iter().copied().flatten().all(|run| is_published(run));
    let mut with_meaning = conditions.clone();
    if is_published {
        let has_meaning = |(key, _): &(&str, &str)| !OF_PUBLICATIONS.contains(key);
        with_meaning
            .iter_mut()
            .for_each(|side| side.retain(has_meaning));
    }
    if let Some(names) = by_conditions(&with_meaning) {
        return names;
    }
    let candidates: [fn(&Record) -> Option<String>; 9] = [
        product, sample, model, board, reader, queue, clock, start, id,
    ];
    let by_property = candidates.into_iter().find_map(|of| {
        let [base, other] = sides.map(|side| shared(side, of));
        let (base, other) = (base?, other?);
        (base != other).then_some([base, other])
    });
    by_property
        .or_else(|| by_conditions(&conditions))
        .unwrap_or_else(|| given.map(clean))
}

fn by_conditions([base, other]: &[Vec<(&str, &str)>; 2]) -> Option<[String; 2]> {
    Some([of_conditions(base, other)?, of_conditions(other, base)?])
}

fn is_published(record: &Record) -> bool {
    record.origin.kind == OriginKind::Published
}

/// The answer that all records of a side share.
fn shared(side: &[&Record], of: fn(&Record) -> Option<String>) -> Option<String> {
    let answers: BTreeSet<Option<String>> = side.iter().map(|record| of(record)).collect();
    let first = answers.first().cloned().flatten();
    first
        .filter(|_| answers.len() == 1)
        .map(|name| clean(&name))
}

/// Names and values of `KEY=VALUE,KEY=VALUE`.
fn conditions(side: &str) -> Vec<(&str, &str)> {
    let parts = side.split(',').filter_map(|part| part.split_once('='));
    let parts = parts.map(|(key, value)| (key.trim(), value.trim()));
    parts.collect()
}

/// The values of the conditions that the other side does not have.
fn of_conditions(own: &[(&str, &str)], other: &[(&str, &str)]) -> Option<String> {
    let is_own = |condition: &&(&str, &str)| !other.contains(condition);
    let words = own.iter().filter(is_own).map(|&(key, value)| match key {
        "product" => product_name(value),
        key if NAMING.contains(&key) && value.chars().count() > SHORT => value.to_owned(),
        key => format!("{} {value}", key.replace('_', " ")),
    });
    let words: Vec<String> = words.map(|word| clean(&word)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn product(record: &Record) -> Option<String> {
    record
        .labels
        .get("product")
        .map(|label| product_name(label))
}

fn sample(record: &Record) -> Option<String> {
    let sample = record.labels.get("sample")?;
    Some(match sample.chars().count() > SHORT {
        true => sample.clone(),
        false => format!("sample {sample}"),
    })
}

fn model(record: &Record) -> Option<String> {
    let source = || match record.origin.kind {
        OriginKind::Simulated => record.origin.source.clone(),
        _ => None,
    };
    let device = record.devices.first();
    device
        .and_then(|device| device.model.clone())
        .or_else(source)
}

fn board(record: &Record) -> Option<String> {
    record.board.as_ref()?.model.clone()
}

fn reader(record: &Record) -> Option<String> {
    let kind = record.devices.first()?.reader.as_ref()?.kind;
    let name = match kind {
        ReaderKind::Slot => "the card slot",
        ReaderKind::Usb => "the USB reader",
        _ => return None,
    };
    Some(name.to_owned())
}

fn queue(record: &Record) -> Option<String> {
    told(&Context::of(record).must, "command_queue")
}

fn clock(record: &Record) -> Option<String> {
    let reader = record.devices.first()?.reader.as_ref()?;
    let overclock_hz = reader.bus.as_ref().and_then(|bus| bus.overclock_hz);
    Some(match overclock_hz {
        Some(hertz) => format!("the slot at {} MHz", hertz / 1_000_000),
        None => "the slot at its usual clock".to_owned(),
    })
}

fn start(record: &Record) -> Option<String> {
    let minute = record.started_at.as_deref().and_then(minute)?;
    Some(format!("the run of {minute}"))
}

fn id(record: &Record) -> Option<String> {
    (!is_published(record)).then(|| format!("run {}", short_id(record)))
}

#[cfg(test)]
mod tests {
    use cardmark_catalog::publications;
    use cardmark_core::{Origin, simulated_run_id};

    use super::*;

    fn run(labels: &[(&str, &str)], started_at: &str) -> Record {
        let id = simulated_run_id(&[started_at]);
        let mut record = Record::new(id, Origin::of(OriginKind::Measured));
        record.started_at = Some(started_at.to_owned());
        let labels = labels
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()));
        record.labels.extend(labels);
        record
    }

    #[test]
    fn sides_are_called_by_what_distinguishes_them() {
        let at = ["2026-11-01T10:00:00Z", "2026-11-02T10:00:00Z"];
        let red = run(&[("product", "Red 32"), ("sample", "1")], at[0]);
        let more = run(&[("product", "Red 32"), ("sample", "2")], at[1]);
        let blue = run(&[("product", "Blue 16"), ("sample", "one")], at[1]);
        let names =
            |given: [&str; 2], one: &Record, other: &Record| side_names(given, [&[one], &[other]]);
        let ids = ["0192aaaa", "0192bbbb"];
        assert_eq!(names(ids, &red, &blue), ["Red 32", "Blue 16"]);
        assert_eq!(names(ids, &red, &more), ["sample 1", "sample 2"]);
        let mut later = red.clone();
        later.started_at = Some(at[1].to_owned());
        let expected = ["the run of 2026-11-01 10:00", "the run of 2026-11-02 10:00"];
        assert_eq!(names(ids, &red, &later), expected);
        // Simulated runs have no time.
        let [first, second] = [0x12, 0xab].map(|byte| {
            let mut run = red.clone();
            run.id = cardmark_core::run_id_from_bytes([byte; 16]);
            run.started_at = None;
            run
        });
        assert_eq!(
            names(ids, &first, &second),
            ["run 12121212", "run abababab"]
        );
        assert_eq!(names(ids, &red, &red), ids);
        let given = ["product=Red 32,reader=old", "product=Red 32,reader=new"];
        assert_eq!(names(given, &red, &later), ["reader old", "reader new"]);
        let given = ["sample=good", "sample=B"];
        assert_eq!(names(given, &red, &blue), ["good", "sample B"]);
        // A side that all conditions of the other one hold for.
        let given = ["board=Pi 4", "board=Pi 4,product=Blue 16"];
        assert_eq!(names(given, &red, &blue), ["Red 32", "Blue 16"]);
        // A label of the user is a name, unlike the id of a published table.
        let given = ["setting=cold", "setting=warm"];
        assert_eq!(names(given, &red, &later), ["setting cold", "setting warm"]);
    }

    #[test]
    fn published_runs_are_named_by_their_circumstances() {
        for (publication, settings, expected) in [
            (
                "geerling-dramble",
                ["pi3", "pi3-oc100"],
                ["the slot at its usual clock", "the slot at 100 MHz"],
            ),
            (
                "geerling-2019-comments",
                ["c42-pi-3", "c42-pi-4"],
                ["Raspberry Pi 3 Model B", "Raspberry Pi 4 Model B"],
            ),
            (
                "command-queue",
                ["queue-on", "queue-off"],
                ["command queue on", "command queue off"],
            ),
            // The note alone distinguishes them.
            (
                "geerling-turing-pi",
                ["pi4-usb-uasp", "pi4-usb-bot"],
                ["setting pi4-usb-uasp", "setting pi4-usb-bot"],
            ),
        ] {
            let runs = settings.map(|setting| {
                let mut all = publications().iter();
                let of = all.find(|one| one.id == publication).unwrap().records();
                of.into_iter()
                    .filter(|run| run.labels["setting"] == setting)
                    .collect::<Vec<_>>()
            });
            let sides = runs.each_ref().map(|runs| runs.iter().collect::<Vec<_>>());
            let given =
                settings.map(|setting| format!("publication={publication},setting={setting}"));
            let given = given.each_ref().map(String::as_str);
            assert_eq!(side_names(given, [&sides[0], &sides[1]]), expected);
        }
    }
}
