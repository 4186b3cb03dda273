//! Upload of a record, or of what another tool printed, in a browser: first what was understood and what leaves, then the submission.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use cardmark_core::{documents_of, parse_record, parse_statement};
use cardmark_import::{NotUnderstood, import};
use cardmark_report::document::Block;
use cardmark_report::text::count_of;
use cardmark_report::{run_title, survey, workload_name};
use cardmark_share::{
    ImportedFrom, Secrets, imported_record, known_metrics, read_submission, write_submission,
};
use cardmark_site_store::Put;

use super::addresses;
use super::frame::{Field, FieldKind, Form, Page, PageRefusal, sentence};
use super::parts::Parts;
use crate::body::{discard, unpacked};
use crate::peer::Block as AddressBlock;
use crate::problem::Refusal;
use crate::state::Site;
use crate::submit::{Sender, incoming_of, limits, place};

/// Fewest characters of a phrase.
const LEAST_PHRASE: usize = 12;
/// Lines that were not understood and are listed.
const MOST_LINES: usize = 50;

pub(super) async fn form(headers: HeaderMap) -> Response {
    let blocks = vec![
        Block::Text(
            "A record file of cardmark, made by cardmark export, or what another tool printed, as it is: hdparm, dd, iozone, fio, ddrescue, f3, H2testw, \
             PiBenchmarks, Raspberry Pi Diagnostics, CrystalDiskMark, KDiskMark. The next page shows what was understood and what would leave; \
             nothing is kept before you send it there."
                .to_owned(),
        ),
        Block::Text("A measured run sent by cardmark submit counts in the summaries of its product; what is uploaded here does not.".to_owned()),
    ];
    let page = Page::new("Upload", "Share a measurement of a memory card.", blocks);
    page.last(Form::sending(
        "/upload",
        "Show what is understood",
        vec![
            Field::of(
                FieldKind::File,
                "file",
                "Record file, plain or packed with gzip or zstd",
            ),
            Field::of(FieldKind::Lines, "text", "Or the output of a tool"),
            Field::text("product", "Product, such as SanDisk Ultra 32 GB", None),
            Field::text("board", "Board, such as Raspberry Pi 4", None),
        ],
    ))
    .answer(&headers)
}

/// A record to be sent, and what was left out.
struct Understood {
    document: String,
    withheld: Vec<String>,
    missed: Vec<NotUnderstood>,
    /// Further records of the text, which are left out.
    others_count: usize,
}

pub(super) async fn understood(
    State(site): State<Arc<Site>>,
    AddressBlock(block): AddressBlock,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, PageRefusal> {
    let mut parts = Parts::receive(&site, block, &headers, body).await?;
    let file = parts.bytes("file");
    let text = parts.text("text")?;
    let (product, board) = (parts.line("product")?, parts.line("board")?);
    let text = match (file, text) {
        (Some(file), _) => unpacked(file)?,
        (None, Some(text)) => text,
        (None, None) => {
            return Err(Refusal::bad_request("neither a file nor a text was given").into());
        }
    };
    let _place = place(&site, block)?;
    let page = site.writers.run(move || {
        let understood = match text.trim_start().starts_with('{') {
            true => of_record(&text, product)?,
            false => of_tool(&text, product, board.as_deref())?,
        };
        shown(&understood)
    });
    Ok(page.await??.answer_once(StatusCode::OK))
}

fn unprocessable(detail: impl Into<String>) -> Refusal {
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

pub(super) async fn send(
    State(site): State<Arc<Site>>,
    AddressBlock(block): AddressBlock,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, PageRefusal> {
    if site.store.is_read_only().await? {
        discard(&headers, body).await;
        return Err(Refusal::read_only().into());
    }
    let mut parts = Parts::receive(&site, block, &headers, body).await?;
    let document = parts.text("document")?;
    let document = document.ok_or_else(|| Refusal::bad_request("there is no document"))?;
    // Browsers send line ends of their own.
    let document = document.replace("\r\n", "\n");
    let phrase = parts.text("phrase")?;
    if phrase
        .as_ref()
        .is_some_and(|phrase| phrase.chars().count() < LEAST_PHRASE)
    {
        let detail = format!("the phrase has fewer than {LEAST_PHRASE} characters");
        return Err(Refusal::bad_request(detail).into());
    }
    let limits = limits(&site, block, None);
    let _place = place(&site, block)?;
    let incoming = site.writers.run(move || {
        let (record, _) = documents_of(&document);
        let id = cardmark_core::record_id(record).unwrap_or_default();
        let token = phrase.map(|phrase| Secrets::of_phrase(&phrase).phrase_token(id).hash());
        let sender = Sender {
            submitter: None,
            token_hash: token,
        };
        incoming_of(&document, sender, limits)
    });
    let put = site.store.put(incoming.await??).await?;
    let outcome = if matches!(put, Put::New(_)) {
        "stored"
    } else {
        "same"
    };
    match put {
        Put::New(head) | Put::Same(head) => {
            site.metrics.submitted(outcome);
            Ok(Redirect::to(&addresses::run(head.id)).into_response())
        }
        Put::Conflict => Err(unprocessable(sentence("another record has this id").as_str()).into()),
        Put::Gone => Err(Refusal::withdrawn().into()),
        Put::Limited(limit) => Err(Refusal::limited(limit).into()),
        Put::ReadOnly => Err(Refusal::read_only().into()),
    }
}
