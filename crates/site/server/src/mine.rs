//! The personal instance: the runs of local stores in the same pages, on this computer only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cardmark_core::{keepable_fields, parse_record, parse_statement, record_id};
use cardmark_share::write_submission;
use cardmark_site_store::{Found, Put};
use cardmark_store::{Store, StoreError};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::error::{SiteError, chain};
use crate::host::name_of;
use crate::pages::frame::{PageRefusal, no_page};
use crate::problem::Refusal;
use crate::records::{amendment, stored};
use crate::state::Site;
use crate::submit::{Sender, incoming_of};
use crate::unshown::Unshown;

/// Time between two looks at the stores.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// Sender of all local runs. Nothing can be sent to this site, so that neither is a secret.
const SENDER: Sender = Sender {
    submitter: Some([1; 16]),
    token_hash: Some([1; 32]),
};

/// Beginnings of the paths of pages about sharing.
const ABOUT_SHARING: [&str; 7] = [
    "/audit",
    "/data",
    "/feed",
    "/moderation",
    "/sign-",
    "/submission",
    "/upload",
];

/// Stores whose runs are shown.
#[derive(Debug)]
pub(crate) struct Library {
    stores: Vec<Watched>,
    /// Digests of the documents of each run.
    known: BTreeMap<Uuid, [u8; 32]>,
    unshown: Unshown,
}

#[derive(Debug)]
struct Watched {
    path: PathBuf,
    /// Times of the last change of the file and its log when it was read.
    seen: Option<[Option<SystemTime>; 2]>,
}

/// A run that is new, or whose labels are.
struct Changed {
    id: Uuid,
    digest: [u8; 32],
    document: String,
    statement: Option<String>,
}

impl Library {
    pub(crate) fn new(stores: Vec<PathBuf>) -> Self {
        let watched = |path| Watched { path, seen: None };
        Self {
            stores: stores.into_iter().map(watched).collect(),
            known: BTreeMap::new(),
            unshown: Unshown::default(),
        }
    }

    pub(crate) fn unshown(&self) -> Unshown {
        self.unshown.clone()
    }

    /// Takes in new runs and labels of the stores, until it is aborted.
    pub(crate) async fn follow(mut self, site: Arc<Site>) {
        loop {
            for changed in tokio::task::block_in_place(|| self.changed()) {
                let (id, digest) = (changed.id, changed.digest);
                let reason = |refusal: Refusal| format!("run {id}: {}", refusal.problem().detail);
                let taken = take_in(&site, changed).await.map_err(reason);
                self.unshown.note(id.to_string(), taken);
                self.known.insert(id, digest);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Reads the stores that changed since the last time.
    fn changed(&mut self) -> Vec<Changed> {
        let mut found = Vec::new();
        for watched in &mut self.stores {
            let now = Some(times(&watched.path));
            if watched.seen == now || !watched.path.exists() {
                continue;
            }
            let result = read(&watched.path, &self.known, &mut found);
            // Damage stays; a store that is locked can be read later.
            let is_read = matches!(
                result,
                Ok(())
                    | Err(SiteError::LocalStore(
                        StoreError::Corrupt { .. }
                            | StoreError::Damaged { .. }
                            | StoreError::Document { .. }
                    ))
            );
            if is_read {
                watched.seen = now;
            }
            let path = watched.path.display().to_string();
            let reason = |error| match error {
                SiteError::LocalStore(error) => format!("{path}: {}", chain(&error)),
                error => format!("{path}: {}", chain(&error)),
            };
            let result = result.map_err(reason);
            self.unshown.note(path, result);
        }
        found
    }
}

/// Checks that this program can read the stores. One that is locked now can be read later.
pub(crate) fn check(stores: &[PathBuf]) -> Result<(), SiteError> {
    for path in stores {
        let scratch = tempfile::tempdir().map_err(SiteError::Folder)?;
        match Store::open_to_read(path, scratch.path()) {
            Err(StoreError::Locked { .. }) | Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn times(path: &Path) -> [Option<SystemTime>; 2] {
    let log = PathBuf::from(format!("{}-wal", path.display()));
    [path, &log].map(|path| path.metadata().and_then(|found| found.modified()).ok())
}

/// Adds the runs of a store that are new or have other labels. The store does not change; documents that cannot be read are left out, and are
/// an error at the end.
fn read(
    path: &Path,
    known: &BTreeMap<Uuid, [u8; 32]>,
    changed: &mut Vec<Changed>,
) -> Result<(), SiteError> {
    let scratch = tempfile::tempdir().map_err(SiteError::Folder)?;
    let mut store = Store::open_to_read(path, scratch.path())?;
    store.documents(|document, statement| {
        let digest = Sha256::new()
            .chain_update(document)
            .chain_update(statement.unwrap_or_default())
            .finalize()
            .into();
        if let Some(id) = record_id(document)
            .ok()
            .filter(|id| known.get(id) != Some(&digest))
        {
            changed.push(Changed {
                id,
                digest,
                document: document.to_owned(),
                statement: statement.map(str::to_owned),
            });
        }
        Ok::<_, SiteError>(())
    })
}

async fn take_in(site: &Arc<Site>, changed: Changed) -> Result<(), Refusal> {
    let id = changed.id;
    if let (Found::Here(head), Some(statement)) = (site.store.find(id).await?, &changed.statement) {
        let stored = stored(site, id).await?;
        let amendment = amendment(id, &stored, statement, &head, Vec::new())?;
        site.store.amend(id, [1; 32], amendment).await?;
        return Ok(());
    }
    let incoming = site.writers.run(move || {
        let text = local_form(&changed)?;
        incoming_of(&text, SENDER, Vec::new())
    });
    match site.store.put(incoming.await??).await? {
        Put::New(_) | Put::Same(_) => Ok(()),
        Put::Conflict => Err(Refusal::bad_request(
            "its record was replaced since; start the personal instance again to see the new one",
        )),
        _ => Err(Refusal::failed()),
    }
}

/// The record in its public form, with all fields that this form can keep.
fn local_form(changed: &Changed) -> Result<String, Refusal> {
    let unreadable = |detail: String| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Refusal::new(status, "not-a-record", "The record cannot be read", detail)
    };
    let mut record =
        parse_record(&changed.document).map_err(|error| unreadable(error.to_string()))?;
    let mut revision = 0;
    if let Some(statement) = &changed.statement {
        let statement =
            parse_statement(statement).map_err(|error| unreadable(error.to_string()))?;
        revision = statement.revision;
        record.labels = statement.as_labels();
    }
    let labels: Vec<String> = record
        .labels
        .keys()
        .map(|name| format!("labels.{name}"))
        .collect();
    let mut keep: Vec<&str> = keepable_fields().to_vec();
    keep.extend(labels.iter().map(String::as_str));
    write_submission(&record, revision, &keep)
        .map(|(text, _)| text)
        .map_err(|error| unreadable(error.to_string()))
}

/// Lets nobody but this computer's browser read the personal instance: a page of another site could otherwise ask it under a name that
/// leads here (DNS rebinding). Nothing can be changed.
pub(crate) async fn guarded(
    State(site): State<Arc<Site>>,
    request: Request,
    next: Next,
) -> Response {
    if site.mine.is_none() {
        return next.run(request).await;
    }
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = name_of(host).map(str::to_ascii_lowercase);
    if !name.is_some_and(|name| ["localhost", "127.0.0.1", "[::1]"].contains(&name.as_str())) {
        let detail = "the personal instance answers under localhost only";
        return refused("other-host", detail).into_response();
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let detail =
            "the personal instance shows the runs of this computer; nothing can be sent to it";
        return refused("personal", detail).into_response();
    }
    let path = request.uri().path();
    let mut response = match ABOUT_SHARING.iter().any(|begin| path.starts_with(begin)) {
        true => PageRefusal::from(no_page()).into_response(),
        false => next.run(request).await,
    };
    let headers = response.headers_mut();
    // Pages of other sites must not read it, and the next run is to be seen at once.
    headers.remove(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn refused(kind: &str, detail: &str) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, kind, "Not here", detail)
}
