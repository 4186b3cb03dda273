//! Evidence for a seller: one page on a card that is not what it was sold as, without advice to its owner.

use cardmark_catalog::manufacturer;
use cardmark_core::{
    BlockState, CLAIMS_LABEL, DeviceInfo, IntegrityTest, OriginKind, Record, StorageKind,
    SurfacePart, VerdictOutcome, evidence_digest,
};
use cardmark_judge::upheld;

use crate::document::{Block, Column, Document, Row, Table};
use crate::run::answer::sentences;
use crate::run::integrity;
use crate::run::summary::minute;
use crate::text::names::capitalised;
use crate::text::style::clean;
use crate::text::{MISSING, amount, capacity, count_of};

/// Parts of the map in the table.
const MOST_PARTS: usize = 6;
/// A line to write on.
const BLANK: &str = "………………………………………………";

/// Returns a page on a run for the seller of its card. `sold_as` are promises of the seller beyond those that are labels of the
/// run.
#[must_use]
pub fn seller_report(record: &Record, sold_as: &[String]) -> Document {
    let mut rows = vec![
        ("Sold as", sold(record, sold_as)),
        ("Found", found(record)),
        ("Tested", tested(record)),
    ];
    rows.extend(
        record
            .devices
            .first()
            .map(|device| ("The card reports", reported(device))),
    );
    rows.extend(
        record
            .devices
            .first()
            .and_then(registers)
            .map(|text| ("Registers", text)),
    );
    rows.extend(written(record).map(|text| ("Written", text)));
    rows.push(("Program", program(record)));
    rows.push(("Record", record.id.to_string()));
    rows.extend(evidence_digest(record).map(|digest| ("Digest of the measurements", digest)));
    rows.push(("Order number", BLANK.to_owned()));
    rows.push(("Name and date", BLANK.to_owned()));
    let mut blocks = vec![pairs(["", ""], String::new(), rows)];
    blocks.extend(method(record).map(|text| Block::Text(text.to_owned())));
    blocks.extend(map(record));
    Document {
        title: "Test report on a memory card".to_owned(),
        blocks,
    }
}

fn pairs(titles: [&str; 2], caption: String, rows: Vec<(&str, String)>) -> Block {
    let rows = rows
        .into_iter()
        .map(|(name, text)| Row::new(vec![name.to_owned(), text]));
    Block::Table {
        caption,
        table: Table {
            columns: titles.map(Column::left).to_vec(),
            rows: rows.collect(),
        },
    }
}

/// Product and promises, by the seller's words or the label; a line to fill in without any.
fn sold(record: &Record, sold_as: &[String]) -> String {
    let product = record.labels.get("product").map(|name| clean(name));
    let labelled = record.labels.get(CLAIMS_LABEL);
    let labelled = labelled
        .into_iter()
        .flat_map(|said| said.split_whitespace());
    let mut promises: Vec<String> = Vec::new();
    for promise in labelled
        .map(clean)
        .chain(sold_as.iter().map(|text| clean(text)))
    {
        if !promises.contains(&promise) {
            promises.push(promise);
        }
    }
    let parts: Vec<String> = product.into_iter().chain(promises).collect();
    match parts.is_empty() {
        true => BLANK.to_owned(),
        false => parts.join(", "),
    }
}

/// The result: of a test of the storage, else the classes that are missed, else the answer of the run.
fn found(record: &Record) -> String {
    if let Some(found) = &record.integrity {
        let verdict = integrity::verdict(record, found);
        // Advice to the owner is none of the seller's.
        let is_advice = |sentence: &&str| sentence.starts_with("Copy ") || sentence.contains('`');
        let sentences = verdict
            .split_inclusive(". ")
            .filter(|text| !is_advice(text));
        return sentences.collect::<String>().trim_end().to_owned();
    }
    let derived = upheld(record);
    let verdicts = derived.iter().flat_map(|derived| &derived.verdicts);
    let missed = verdicts.filter(|verdict| verdict.outcome == VerdictOutcome::Fail);
    let missed: Vec<String> = missed
        .map(|verdict| {
            format!(
                "{}: not met. {}",
                verdict.rule,
                capitalised(&verdict.reasons.join("; "))
            )
        })
        .collect();
    match missed.is_empty() {
        true => {
            let answer = sentences(record, None, &[]).into_iter().next();
            answer.unwrap_or_else(|| "No verdict".to_owned())
        }
        false => clean(&missed.join(". ")),
    }
}

fn tested(record: &Record) -> String {
    let by = match (&record.integrity, &record.suite) {
        (Some(found), _) => format!("test {}", integrity::test_name(&found.test)),
        (None, Some(suite)) => format!("suite {}, version {}", suite.name, suite.version),
        (None, None) => "another tool".to_owned(),
    };
    let at = record.started_at.as_deref();
    let at = match (at, record.origin.kind) {
        (Some(at), _) => format!("{} UTC", minute(at).unwrap_or_else(|| clean(at))),
        (None, OriginKind::Simulated) => "simulated, without a date".to_owned(),
        (None, _) => "date unknown".to_owned(),
    };
    let board = record
        .board
        .as_ref()
        .and_then(|board| board.model.as_deref());
    let board = board.map(|model| format!(", on {}", clean(model)));
    format!("{at}, {by}{}", board.unwrap_or_default())
}

/// Model and size, without any serial number.
fn reported(device: &DeviceInfo) -> String {
    let model = device.model.as_deref().map(clean);
    let size = device.size_bytes.map(capacity);
    let parts: Vec<String> = model.into_iter().chain(size).collect();
    match parts.is_empty() {
        true => MISSING.to_owned(),
        false => parts.join(", "),
    }
}

/// Maker and product in the registers; the serial number is not part of it.
fn registers(device: &DeviceInfo) -> Option<String> {
    let card = device.card.as_ref()?;
    let facts = &card.decoded;
    let maker = facts.manufacturer_id.map(|id| {
        let oem = facts.oem.as_deref().unwrap_or_default();
        let name = manufacturer(card.kind, id, oem).map(|known| format!(" ({})", known.name));
        format!("manufacturer 0x{id:02x}{}", name.unwrap_or_default())
    });
    let parts = [
        maker,
        facts
            .oem
            .as_ref()
            .map(|oem| format!("OEM 0x{}", clean(oem))),
        facts
            .product
            .as_ref()
            .map(|name| format!("product {}", clean(name))),
        facts
            .revision
            .as_ref()
            .map(|text| format!("revision {}", clean(text))),
        facts
            .made
            .as_ref()
            .map(|month| format!("made {}", clean(month))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn written(record: &Record) -> Option<String> {
    let found = record.integrity.as_ref();
    let samples = found.and_then(|found| found.sampling).map(|sampling| {
        let samples = count_of(sampling.samples_count, "sample", "samples");
        format!(" in {samples}, {} of them lost", sampling.bad_samples_count)
    });
    (record.written_bytes > 0).then(|| {
        format!(
            "{}{}",
            amount(record.written_bytes),
            samples.unwrap_or_default()
        )
    })
}

fn program(record: &Record) -> String {
    let tool = record.tool.as_ref();
    tool.map_or(MISSING.to_owned(), |tool| {
        clean(&format!("{} {}", tool.name, tool.version))
    })
}

/// The test in two sentences.
fn method(record: &Record) -> Option<&'static str> {
    Some(match record.integrity.as_ref()?.test {
        IntegrityTest::Probe => {
            "The test wrote data that occurs nowhere else at places spread over the whole size that the card reports, and \
             then read it back. A genuine card returns all of it; where data is lost or that of another place comes back, \
             the card has no memory."
        }
        IntegrityTest::Verify | IntegrityTest::Endure => {
            "The test wrote data that occurs nowhere else to every place of the size that the card reports, and then read it \
             back. A sound card returns all of it; where data is lost or that of another place comes back, the card has no \
             memory, or is damaged."
        }
        IntegrityTest::PowerCut => {
            "The test wrote data, waited until the card had confirmed it as stored, and cut the power. A sound card still \
             has all that it had confirmed."
        }
        IntegrityTest::Retention | IntegrityTest::Read | IntegrityTest::Other(_) => return None,
    })
}

/// Good and lost parts, the first ones: as tested, or up to the real capacity and beyond.
fn map(record: &Record) -> Option<Block> {
    let parts = match record.surface.is_empty() {
        true => real_and_beyond(record),
        false => record.surface.clone(),
    };
    let row = |part: &SurfacePart| {
        let end = part.start_bytes.saturating_add(part.size_bytes);
        let place = format!("{} to {}", amount(part.start_bytes), amount(end));
        Row::new(vec![place, state_words(part.state).to_owned()])
    };
    let mut rows: Vec<Row> = parts.iter().take(MOST_PARTS).map(row).collect();
    let more = parts.len().saturating_sub(MOST_PARTS);
    if more > 0 {
        let words = count_of(more, "more part", "more parts");
        rows.push(Row::new(vec![words, "in the record".to_owned()]));
    }
    (!rows.is_empty()).then(|| Block::Table {
        caption: "Map of the card".to_owned(),
        table: Table {
            columns: ["Place", "State"].map(Column::left).to_vec(),
            rows,
        },
    })
}

fn state_words(state: BlockState) -> &'static str {
    match state {
        BlockState::Good => "keeps its data",
        BlockState::Changed => "data changed",
        BlockState::Overwritten => "holds data of another place",
        BlockState::Lost => "data lost",
        BlockState::Unreadable => "cannot be read",
        BlockState::Refused => "cannot be written",
        BlockState::Other(_) => "other",
    }
}

/// The two parts of a fake whose samples show a boundary.
fn real_and_beyond(record: &Record) -> Vec<SurfacePart> {
    let fakes = [
        StorageKind::Limbo,
        StorageKind::Wraparound,
        StorageKind::Chain,
    ];
    let found = record.integrity.as_ref().filter(|found| {
        let is_whole = found.from_bytes.is_none() && !found.is_irregular;
        fakes.contains(&found.kind) && is_whole && found.real_bytes < found.size_bytes
    });
    let Some(found) = found else {
        return Vec::new();
    };
    let part = |start_bytes, end_bytes, state| SurfacePart {
        start_bytes,
        size_bytes: end_bytes - start_bytes,
        state,
        written_to_bytes: None,
    };
    vec![
        part(0, found.real_bytes, BlockState::Good),
        part(found.real_bytes, found.size_bytes, BlockState::Lost),
    ]
}
