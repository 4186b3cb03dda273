//! Upload of a record, or of what another tool printed, in a browser: first what was understood and what leaves, then the submission.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use cardmark_core::documents_of;
use cardmark_pages::addresses;
use cardmark_pages::frame::{Field, FieldKind, Form, Page, sentence};
use cardmark_report::document::Block;
use cardmark_share::Secrets;
use cardmark_site_store::Put;

use crate::http::body::discard;
use crate::http::page::{PageRefusal, html_once, shown};
use crate::http::peer::Block as AddressBlock;
use crate::http::problem::Refusal;
use crate::pages::parts::Parts;
use crate::state::Site;
use crate::submissions::incoming::{Sender, incoming_of, limits, place};
use crate::uploads::queue::Upload;
use crate::uploads::understood::{check_size, is_record, unprocessable};

/// Fewest characters of a phrase.
const LEAST_PHRASE: usize = 12;

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
    let page = page.last(Form::sending(
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
    ));
    shown(&page, &headers)
}

pub(super) async fn understood(
    State(site): State<Arc<Site>>,
    AddressBlock(block): AddressBlock,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, PageRefusal> {
    let mut parts = Parts::receive(&site, block, &headers, body).await?;
    let (file, text) = (parts.bytes("file"), parts.text("text")?);
    let upload = Upload {
        product: parts.line("product")?,
        board: parts.line("board")?,
    };
    let bytes = match (file, text) {
        (Some(file), _) => file,
        (None, Some(text)) => {
            // Before a process is started for it.
            if !is_record(&text) {
                check_size(text.len())?;
            }
            text.into_bytes()
        }
        (None, None) => {
            return Err(Refusal::bad_request("neither a file nor a text was given").into());
        }
    };
    let page = site.uploads.read(block, &upload, &bytes).await;
    site.requests.metrics.read(page.as_ref().err());
    Ok(html_once(page?))
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
            site.requests.metrics.submitted(outcome);
            Ok(Redirect::to(&addresses::run(head.id)).into_response())
        }
        Put::Conflict => Err(unprocessable(sentence("another record has this id").as_str()).into()),
        Put::Gone => Err(Refusal::withdrawn().into()),
        Put::Limited(limit) => Err(Refusal::limited(limit).into()),
        Put::ReadOnly => Err(Refusal::read_only().into()),
    }
}
