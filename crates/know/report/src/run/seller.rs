//! Evidence for a seller: one page on a card that is not what it was sold as, without advice to its owner.

use cardmark_catalog::manufacturer;
use cardmark_core::{
    BlockState, CAPACITY_RULE, CLAIMS_LABEL, DeviceInfo, IntegrityTest, OriginKind, Record,
    StorageKind, TargetKind, VerdictOutcome, evidence_digest, is_sold_as,
};
use cardmark_judge::{Promise, faults, upheld};

use crate::document::{Block, Column, Document, Row, Table};
use crate::run::answer::sentences;
use crate::run::integrity;
use crate::run::shading::BLOCK_BYTES;
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
    let promises = promises(record, sold_as);
    let mut rows = vec![
        ("Sold as", sold(record, &promises)),
        ("Found", found(record, &promises)),
    ];
    rows.extend(kept(record, &promises).map(|text| ("Promises", text)));
    rows.push(("Tested", tested(record)));
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
    let conclusion = conclusion(record, sold_as).map(str::to_owned);
    let texts = method(record).into_iter().chain(conclusion);
    blocks.extend(texts.map(Block::Text));
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

/// Promises of the label and of the seller, each once.
fn promises(record: &Record, sold_as: &[String]) -> Vec<String> {
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
    promises
}

/// Product and promises; a line to fill in without any.
fn sold(record: &Record, promises: &[String]) -> String {
    let product = record.labels.get("product").map(|name| clean(name));
    let promises = promises.iter().cloned();
    let parts: Vec<String> = product.into_iter().chain(promises).collect();
    match parts.is_empty() {
        true => BLANK.to_owned(),
        false => parts.join(", "),
    }
}

/// `A1: not tested; U3: met`; none without a promise that can be tested.
fn kept(record: &Record, promises: &[String]) -> Option<String> {
    let states = promises.iter().filter_map(|text| {
        let promise = Promise::parse(text)?;
        Some(format!("{text}: {}", state(record, &promise)))
    });
    let states: Vec<String> = states.collect();
    (!states.is_empty()).then(|| states.join("; "))
}

const NOT_TESTED: &str = "not tested";
const NOT_MET: &str = "not met";

fn state(record: &Record, promise: &Promise) -> &'static str {
    let derived = upheld(record);
    let mut verdicts = derived.iter().flat_map(|derived| &derived.verdicts);
    let rule = match promise {
        Promise::Capacity(bytes) => match record.devices.first().and_then(|one| one.size_bytes) {
            Some(size) if size < *bytes && !is_sold_as(size, *bytes) => {
                return NOT_MET;
            }
            _ => CAPACITY_RULE.to_owned(),
        },
        Promise::Class(_) | Promise::Rate(_) => promise.to_string(),
    };
    let verdict = verdicts.rfind(|verdict| verdict.rule == rule);
    match verdict.map(|verdict| verdict.outcome) {
        Some(VerdictOutcome::Pass) => "met",
        Some(VerdictOutcome::LikelyPass) => "met in this test",
        Some(VerdictOutcome::Borderline) => "borderline",
        Some(VerdictOutcome::Fail) => NOT_MET,
        _ => NOT_TESTED,
    }
}

/// Returns the promises, of the label or of the seller, that a run does not test.
#[must_use]
pub fn untested_promises(record: &Record, sold_as: &[String]) -> Vec<Promise> {
    let promises = promises(record, sold_as);
    let promises = promises.iter().filter_map(|text| Promise::parse(text));
    promises
        .filter(|promise| state(record, promise) == NOT_TESTED)
        .collect()
}

/// The result: of a test of the storage, else the promises that are missed, else the answer of the run.
fn found(record: &Record, promises: &[String]) -> String {
    if let Some(found) = &record.integrity {
        let verdict = integrity::verdict(record, found);
        // Advice to the owner is none of the seller's.
        let is_advice = |sentence: &&str| {
            let is_for_owner = |begin: &&str| sentence.starts_with(begin);
            ["Copy ", "Do not use "].iter().any(is_for_owner) || sentence.contains('`')
        };
        let verdict = KINDS_OF_FAKES
            .iter()
            .fold(verdict, |text, kind| text.replace(kind, ""));
        let sentences = verdict
            .split_inclusive(". ")
            .filter(|text| !is_advice(text))
            .map(as_evidence);
        return sentences.collect::<String>().trim_end().to_owned();
    }
    let derived = upheld(record);
    let verdicts = derived.iter().flat_map(|derived| &derived.verdicts);
    let is_promised = |rule: &str| {
        let same = |text: &String| Promise::parse(text).is_some_and(|one| one.to_string() == rule);
        rule == CAPACITY_RULE || promises.iter().any(same)
    };
    let missed = verdicts
        .filter(|verdict| verdict.outcome == VerdictOutcome::Fail && is_promised(&verdict.rule));
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
            let warnings = record.findings.iter().map(|finding| finding.kind.name());
            let answer = sentences(record, None, &warnings.collect::<Vec<_>>());
            let answer = answer.into_iter().next();
            answer.map_or_else(|| "No verdict".to_owned(), |text| as_evidence(&text))
        }
        false => clean(&missed.join(". ")),
    }
}

/// Words for the construction of a fake, which a seller need not know.
const KINDS_OF_FAKES: [&str; 3] = [" (limbo)", " (wraparound)", " (chain)"];

/// The sentence without advice to the owner.
fn as_evidence(text: &str) -> String {
    let advice = ["Do not rely on this device: ", "Do not store data here: "];
    let plain = advice.iter().find_map(|begin| text.strip_prefix(begin));
    let plain = plain.unwrap_or(text);
    match plain.strip_prefix("it ") {
        Some(rest) => format!("The card {rest}"),
        None => capitalised(plain),
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
        let bad_count = sampling.bad_samples_count;
        format!("; {bad_count} of {samples} not as written")
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

/// The method of the test in two sentences, which hold however far the test came.
fn method(record: &Record) -> Option<String> {
    let found = record.integrity.as_ref()?;
    let place = match found.from_bytes {
        _ if is_in_files(record) => "files on the card",
        Some(_) => "every place of a part of the card",
        None => "every place of the size that the card reports",
    };
    Some(match found.test {
        IntegrityTest::Probe => "The test writes data that occurs nowhere else at places spread over the whole size that the \
             card reports, and then reads it back. A sound card returns all of it."
            .to_owned(),
        IntegrityTest::Verify | IntegrityTest::Endure => format!(
            "The test writes data that occurs nowhere else to {place}, and then reads it back. A sound card returns all of it."
        ),
        IntegrityTest::PowerCut => {
            "The test writes data, waits until the card has confirmed it as stored, and cuts the power. A sound card still \
             has all that it had confirmed."
                .to_owned()
        }
        IntegrityTest::Retention | IntegrityTest::Read | IntegrityTest::Other(_) => return None,
    })
}

/// Returns whether files were tested, whose places are none of the card.
fn is_in_files(record: &Record) -> bool {
    let target = record.target.as_ref();
    target.is_some_and(|target| target.kind == TargetKind::Directory)
}

/// What the result shows, and what it does not.
fn conclusion(record: &Record, sold_as: &[String]) -> Option<&'static str> {
    if is_fake(record) {
        return Some(
            "Places of this card return nothing of what was written to them, or what was written to another place: it has \
             less memory than it reports.",
        );
    }
    if is_without_fault(record, sold_as) {
        return Some("This test found no fault: it is no evidence against the card or its seller.");
    }
    match record.integrity.as_ref()? {
        found if found.kind == StorageKind::Unfinished => Some(
            "The reader, its contacts or the power supply can cause this, too: it is no evidence of a fake.",
        ),
        found if found.is_irregular || found.from_bytes.is_some() => {
            Some("The test cannot tell a fake from a genuine card with a defect.")
        }
        _ => Some(
            "A genuine card can fail so, from a defect or wear: this is evidence of a fault, not of a fake.",
        ),
    }
}

/// Returns whether a test of the whole card found less storage than it reports.
fn is_fake(record: &Record) -> bool {
    let found = record.integrity.as_ref();
    found.is_some_and(|found| {
        let is_false = matches!(
            found.kind,
            StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain
        );
        is_false && found.from_bytes.is_none()
    })
}

/// Returns whether a run found no fault, and no promise of the label or of the seller that is missed.
#[must_use]
pub fn is_without_fault(record: &Record, sold_as: &[String]) -> bool {
    let promises = promises(record, sold_as);
    let mut promises = promises.iter().filter_map(|text| Promise::parse(text));
    faults(record).is_empty() && promises.all(|promise| state(record, &promise) != NOT_MET)
}

/// The parts of a fake, else those of the map, the first ones.
fn map(record: &Record) -> Option<Block> {
    let parts = real_and_beyond(record).unwrap_or_else(|| merged(record));
    let row = |(start_bytes, end_bytes, words): &MapPart| {
        let [start, end] = [start_bytes, end_bytes].map(|bytes| amount(*bytes));
        let place = match start == end {
            true => format!("{} at {start}", amount(end_bytes - start_bytes)),
            false => format!("{start} to {end}"),
        };
        Row::new(vec![place, (*words).to_owned()])
    };
    let mut rows: Vec<Row> = parts.iter().take(MOST_PARTS).map(row).collect();
    let more = parts.len().saturating_sub(MOST_PARTS);
    if more > 0 {
        let words = count_of(more, "more part", "more parts");
        rows.push(Row::new(vec![words, "in the record".to_owned()]));
    }
    (!rows.is_empty()).then(|| Block::Table {
        caption: match is_in_files(record) {
            true => "Map of the files".to_owned(),
            false => "Map of the card".to_owned(),
        },
        table: Table {
            columns: ["Place", "State"].map(Column::left).to_vec(),
            rows,
        },
    })
}

/// Start and end in bytes, and the state in words.
type MapPart = (u64, u64, &'static str);

/// The map with neighbours of one state as one part. Empty for a coarse map: one bad block marks a whole cell there.
fn merged(record: &Record) -> Vec<MapPart> {
    let mut parts: Vec<MapPart> = Vec::new();
    let Some(found) = record.integrity.as_ref() else {
        return parts;
    };
    let cell_bytes = found.map_cell_bytes.unwrap_or_default();
    let exact = record.surface.iter().filter(|_| cell_bytes <= BLOCK_BYTES);
    for part in exact {
        let start_bytes = found
            .from_bytes
            .unwrap_or_default()
            .saturating_add(part.start_bytes);
        let end_bytes = start_bytes.saturating_add(part.size_bytes);
        let words = state_words(part.state);
        match parts.last_mut() {
            Some((_, end, before)) if *end == start_bytes && *before == words => {
                *end = end_bytes;
            }
            _ => parts.push((start_bytes, end_bytes, words)),
        }
    }
    parts
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

/// The two parts of a fake with a boundary, the same whichever test found it; `None` of other cards.
fn real_and_beyond(record: &Record) -> Option<Vec<MapPart>> {
    let found = record.integrity.as_ref().filter(|found| {
        is_fake(record) && !found.is_irregular && found.real_bytes < found.size_bytes
    })?;
    let beyond = match found.kind {
        StorageKind::Wraparound => "does not exist: its data overwrites that of the first part",
        StorageKind::Chain => {
            "does not exist: its data is lost, or overwrites that of the first part"
        }
        _ => "does not exist: its data is lost",
    };
    Some(vec![
        (0, found.real_bytes, state_words(BlockState::Good)),
        (found.real_bytes, found.size_bytes, beyond),
    ])
}
