//! Reading of an upload, in a process of its own: what was understood and what leaves.

use std::io::{Read, Write};

use axum::http::StatusCode;
use cardmark_core::{documents_of, parse_record, parse_statement};
use cardmark_import::{NotUnderstood, import};
use cardmark_pages::frame::{Field, FieldKind, Form, Frame, Page};
use cardmark_report::document::Block;
use cardmark_report::text::count_of;
use cardmark_report::{run_title, survey, workload_name};
use cardmark_share::{
    ImportedFrom, imported_record, known_metrics, read_submission, write_submission,
};

use crate::http::body::unpacked;
use crate::http::problem::Refusal;
use crate::uploads::queue::{ReadUpload, Upload};

/// Most bytes of what a tool printed. Honest texts have up to 31 kB, the log of a whole night 68 kB.
const MOST_TEXT: usize = 256 << 10;
/// Lines that were not understood and are listed.
const MOST_LINES: usize = 50;

/// A record to be sent, and what was left out.
struct Understood {
    document: String,
    withheld: Vec<String>,
    missed: Vec<NotUnderstood>,
    /// Further records of the text, which are left out.
    others_count: usize,
}

/// Reads an upload, a description in the first line and then its bytes, and writes the answer.
pub(crate) fn read_upload(mut input: impl Read, output: impl Write) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let head = bytes.drain(..=end.ok_or(std::io::ErrorKind::UnexpectedEof)?);
    let upload: Upload = serde_json::from_slice(&head.collect::<Vec<_>>())?;
    let answer = match page(upload, bytes) {
        Ok(page) => ReadUpload::Page(page.html(Frame::Site)),
        Err(refusal) => ReadUpload::Refused(refusal.problem().clone()),
    };
    Ok(serde_json::to_writer(output, &answer)?)
}

fn page(upload: Upload, bytes: Vec<u8>) -> Result<Page, Refusal> {
    let text = unpacked(bytes)?;
    shown(&match is_record(&text) {
        true => of_record(&text, upload.product)?,
        false => {
            check_size(text.len())?;
            of_tool(&text, upload.product, upload.board.as_deref())?
        }
    })
}

/// Returns whether a text is to be a record: JSON with the names that each record has. Tools print JSON too.
pub(crate) fn is_record(text: &str) -> bool {
    let has = |name: &str| text.contains(name);
    text.trim_start().starts_with('{') && has("\"format\"") && has("\"origin\"")
}

/// Refuses what a tool printed if it is too large.
pub(crate) fn check_size(bytes: usize) -> Result<(), Refusal> {
    match bytes > MOST_TEXT {
        true => Err(Refusal::too_large(MOST_TEXT, "the output of a tool")),
        false => Ok(()),
    }
}

pub(crate) fn unprocessable(detail: impl Into<String>) -> Refusal {
    Refusal::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "not-understood",
        "It cannot be understood",
        detail,
    )
}

/// The public form of a record file.
fn of_record(text: &str, product: Option<String>) -> Result<Understood, Refusal> {
    let (record, statement) = documents_of(text);
    let mut record = parse_record(record).map_err(|error| unprocessable(error.to_string()))?;
    let mut revision = 0;
    if let Some(statement) = statement.filter(|text| !text.trim().is_empty()) {
        let statement =
            parse_statement(statement).map_err(|error| unprocessable(error.to_string()))?;
        revision = statement.revision;
        record.labels = statement.as_labels();
    }
    if let Some(product) = product {
        record.labels.insert("product".to_owned(), product);
        revision += 1;
    }
    let written = write_submission(&record, revision, &[]);
    let (document, withheld) = written.map_err(|error| unprocessable(error.to_string()))?;
    Ok(Understood {
        document,
        withheld,
        missed: Vec::new(),
        others_count: 0,
    })
}

/// The record of what a tool printed.
fn of_tool(
    text: &str,
    product: Option<String>,
    board: Option<&str>,
) -> Result<Understood, Refusal> {
    let found = import(text, &known_metrics(workload_name));
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let plain = lines.join("\n");
    let labels: Vec<(String, String)> = product
        .map(|product| ("product".to_owned(), product))
        .into_iter()
        .collect();
    let others_count = found.records.len().saturating_sub(1);
    let Some(first) = found.records.into_iter().next() else {
        let missed = count_of(found.not_understood.len(), "line", "lines");
        let detail = format!(
            "no output of a known tool was found; {missed} with numbers were not understood"
        );
        return Err(unprocessable(detail));
    };
    let from = ImportedFrom {
        source: plain.trim(),
        which: &["0".to_owned()],
        board,
        labels: &labels,
    };
    let record = imported_record(first, &from).map_err(|_| Refusal::failed())?;
    let written = write_submission(&record, 1, &[]);
    let (document, withheld) = written.map_err(|error| unprocessable(error.to_string()))?;
    Ok(Understood {
        document,
        withheld,
        missed: found.not_understood,
        others_count,
    })
}

fn shown(understood: &Understood) -> Result<Page, Refusal> {
    let document = &understood.document;
    let submission =
        read_submission(document).map_err(|error| Refusal::not_a_submission(&error, document))?;
    let mut record = submission.record;
    let _ = cardmark_judge::derive_again(&mut record);
    let mut blocks = vec![Block::Text(
        "Nothing is kept yet: the button is at the end.".to_owned(),
    )];
    blocks.extend(survey("", std::slice::from_ref(&record)).blocks);
    if understood.others_count > 0 {
        let others = count_of(understood.others_count, "record", "records");
        blocks.push(Block::Text(format!(
            "The text holds {others} more: upload each by itself."
        )));
    }
    blocks.extend(missed(&understood.missed));
    if !understood.withheld.is_empty() {
        blocks.push(Block::Text(format!(
            "Withheld or shortened: {}.",
            understood.withheld.join(", ")
        )));
    }
    blocks.push(Block::Details {
        title: "Everything that leaves".to_owned(),
        blocks: document
            .lines()
            .map(|line| Block::Command(line.to_owned()))
            .collect(),
    });
    blocks.push(Block::Text(
        "The data become public domain (CC0 1.0), which cannot be revoked. You can withdraw the run with the phrase below; copies that others made \
         by then remain."
            .to_owned(),
    ));
    let title = format!("Understood: {}", run_title(&record));
    Ok(
        Page::new(title, "A record as it would be sent.", blocks).last(Form::sending(
            "/upload/send",
            "Send",
            vec![
                Field::hidden("document", document),
                Field::of(
                    FieldKind::Secret,
                    "phrase",
                    "A phrase of 12 characters or more, the only way to withdraw the run later",
                ),
            ],
        )),
    )
}

/// Lines that no reader understood; of a line, only the numbers are shown.
fn missed(missed: &[NotUnderstood]) -> Option<Block> {
    let line = |one: &NotUnderstood| {
        let reason = one.reason.as_ref().map(|reason| format!(" ({reason})"));
        let numbers = one.numbers.join(", ");
        format!("line {}: {numbers}{}", one.line, reason.unwrap_or_default())
    };
    (!missed.is_empty()).then(|| Block::Details {
        title: format!(
            "Not understood: {}",
            count_of(missed.len(), "line", "lines")
        ),
        blocks: vec![Block::List(
            missed.iter().take(MOST_LINES).map(line).collect(),
        )],
    })
}
