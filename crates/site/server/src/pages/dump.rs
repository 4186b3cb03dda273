//! Files of dumps.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cardmark_share::to_hexadecimal;
use sha2::{Digest, Sha256};
use tokio::fs::File;

use crate::http::file::part_of;
use crate::http::page::{PageRefusal, no_page};
use crate::http::problem::Refusal;
use crate::jobs::dumps::{is_dump_name, newest};
use crate::state::Site;

/// A file of the newest dump, or a part of it.
pub(crate) async fn file(
    State(site): State<Arc<Site>>,
    parts: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Path((name, path)) = parts.map_err(|_| no_page())?;
    let (newest, manifest) = newest(&site).await?.ok_or_else(no_page)?;
    if name != newest {
        return Err(match is_dump_name(&name) {
            true => replaced().into(),
            false => no_page().into(),
        });
    }
    let folder = site.config.dumps.clone().ok_or_else(no_page)?.join(&name);
    let tag = match manifest.files.iter().find(|file| file.path == path) {
        Some(file) => file.sha256.clone(),
        None if path == "manifest.json" => {
            let text = serde_json::to_vec(&manifest).map_err(|_| Refusal::failed())?;
            to_hexadecimal(&Sha256::digest(text))
        }
        None => return Err(no_page().into()),
    };
    let file = File::open(folder.join(&path)).await;
    // Another dump may just have taken its place.
    let file = file.map_err(|_| replaced())?;
    let length = file.metadata().await.map_err(|_| Refusal::failed())?.len();
    let tag = format!("\"{}\"", tag.get(..24).unwrap_or(&tag));
    Ok(part_of(file, length, &tag, kind_of(&path), &headers).await?)
}

fn replaced() -> Refusal {
    let detail = "a newer dump took its place, so that withdrawn runs are gone; /data leads to it";
    Refusal::new(
        StatusCode::GONE,
        "older-dump",
        "There is a newer dump",
        detail,
    )
}

fn kind_of(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, end)| end) {
        Some("json") => "application/json",
        Some("jsonl") => "application/x-ndjson",
        Some("parquet") => "application/vnd.apache.parquet",
        Some("zst") => "application/zstd",
        _ => "text/plain; charset=utf-8",
    }
}
