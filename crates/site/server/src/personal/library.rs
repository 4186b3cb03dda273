//! Local stores, whose runs the personal instance shows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use cardmark_core::{keepable_fields, parse_record, parse_statement, record_id};
use cardmark_share::write_submission;
use cardmark_site_store::{Found, Put};
use cardmark_store::{Store, StoreError};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::error::{SiteError, chain};
use crate::http::problem::Refusal;
use crate::queries::runs::stored;
use crate::state::Site;
use crate::state::unreadable::Unreadable;
use crate::submissions::amendment::amendment;
use crate::submissions::incoming::{Sender, incoming_of};

/// Time between two looks at the stores.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// Sender of all local runs. Nothing can be sent to this site, so that neither is a secret.
const SENDER: Sender = Sender {
    submitter: Some([1; 16]),
    token_hash: Some([1; 32]),
};

/// Stores whose runs are shown.
#[derive(Debug)]
pub(crate) struct Library {
    stores: Vec<Watched>,
    /// Digests of the documents of each run.
    known: BTreeMap<Uuid, [u8; 32]>,
    unreadable: Unreadable,
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
            unreadable: Unreadable::default(),
        }
    }

    pub(crate) fn unreadable(&self) -> Unreadable {
        self.unreadable.clone()
    }

    /// Takes in new runs and labels of the stores, until it is aborted.
    pub(crate) async fn follow(mut self, site: Arc<Site>) {
        loop {
            for changed in tokio::task::block_in_place(|| self.changed()) {
                let (id, digest) = (changed.id, changed.digest);
                let reason = |refusal: Refusal| format!("run {id}: {}", refusal.problem().detail);
                let taken = take_in(&site, changed).await.map_err(reason);
                self.unreadable.note(id.to_string(), taken);
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
            self.unreadable.note(path, result);
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
