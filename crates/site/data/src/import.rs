//! Importing a dump into an empty database.

use std::path::Path;
use std::thread;

use cardmark_core::documents_of;
use cardmark_share::read_submission;
use cardmark_site_store::{Decisions, Incoming, Loaded, SiteStore, is_of_record};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use crate::error::DataError;
use crate::kept::{packed, rederived};
use crate::line::DocumentLine;
use crate::manifest::Manifest;
use crate::verify::{acts, damaged, for_each, tombstones, verify};

/// Records of a transaction.
const TOGETHER: usize = 64;
/// Bytes of documents after which a transaction takes no more.
const MOST_BYTES: usize = 32 << 20;
/// Acts of a transaction.
const ACTS_TOGETHER: usize = 1_000;
/// Withdrawals of a transaction.
const TOMBSTONES_TOGETHER: usize = 1_000;

/// Result of an import.
#[derive(Clone, Debug)]
pub struct Imported {
    /// List of the dump's files.
    pub manifest: Manifest,
    /// Records whose state or level is another one than in the dump, since another version derived it.
    pub differing_count: u64,
    /// Number of products.
    pub products_count: u64,
}

/// Fills an empty database from a dump. The whole dump is verified before anything is written, then everything is derived again from
/// the documents; only the checks that look at other records are taken from it. Edit tokens are in no dump: imported records can be
/// neither amended nor withdrawn by their owners' tokens. Memory: a few times 64 documents or 32 MiB of them.
///
/// After a failure of the database a part is there: begin again with an empty one.
///
/// # Errors
/// If the database is not empty or fails, or the dump is damaged.
pub async fn import(store: &SiteStore, folder: &Path) -> Result<Imported, DataError> {
    if !store.is_empty().await? {
        return Err(DataError::NotEmpty);
    }
    let folder = folder.to_owned();
    let path = folder.clone();
    let manifest = spawn_blocking(move || verify(&path)).await??;
    for some in acts(&folder, &manifest)?.chunks(ACTS_TOGETHER) {
        store.load_acts(some.to_vec()).await?;
    }
    let differing_count = import_documents(store, &folder, &manifest).await?;
    for some in tombstones(&folder, &manifest)?.chunks(TOMBSTONES_TOGETHER) {
        store.load_tombstones(some.to_vec()).await?;
    }
    let products_count = store.rebuild_summaries().await?;
    Ok(Imported {
        manifest,
        differing_count,
        products_count,
    })
}

/// Returns the number of records whose state or level differs.
async fn import_documents(
    store: &SiteStore,
    folder: &Path,
    manifest: &Manifest,
) -> Result<u64, DataError> {
    let decisions = store.decisions().await?;
    let (sender, mut receiver) = mpsc::channel(1);
    let (folder, manifest) = (folder.to_owned(), manifest.clone());
    let reading = spawn_blocking(move || send_all(&folder, &manifest, &decisions, &sender));
    while let Some(some) = receiver.recv().await {
        store.load(some).await?;
    }
    reading.await?
}

fn send_all(
    folder: &Path,
    manifest: &Manifest,
    decisions: &Decisions,
    sender: &mpsc::Sender<Vec<Loaded>>,
) -> Result<u64, DataError> {
    let mut differing_count = 0;
    let mut send = |lines: &mut Vec<(String, DocumentLine)>| {
        let (loaded, differing) = loaded_of_all(&std::mem::take(lines), decisions)?;
        differing_count += differing;
        // Without a receiver the database has failed, which is reported there.
        let _ = sender.blocking_send(loaded);
        Ok::<_, DataError>(())
    };
    let (mut lines, mut bytes) = (Vec::new(), 0);
    for_each(folder, manifest, |place, line| {
        bytes += line.record.as_ref().map_or(0, |record| record.get().len());
        bytes += line.document.as_ref().map_or(0, String::len);
        lines.push((place.to_owned(), line));
        if lines.len() < TOGETHER && bytes < MOST_BYTES {
            return Ok(());
        }
        bytes = 0;
        send(&mut lines)
    })?;
    send(&mut lines)?;
    Ok(differing_count)
}

/// Derives on all processors.
fn loaded_of_all(
    lines: &[(String, DocumentLine)],
    decisions: &Decisions,
) -> Result<(Vec<Loaded>, u64), DataError> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let part = lines.len().div_ceil(processors).max(1);
    let derived: Vec<Result<(Loaded, bool), DataError>> = thread::scope(|scope| {
        let parts = lines.chunks(part).map(|some| {
            scope.spawn(move || {
                let one = |(place, line): &(String, DocumentLine)| {
                    let loaded = loaded_of(line, decisions);
                    loaded.ok_or_else(|| damaged(place, "it cannot be derived again".to_owned()))
                };
                some.iter().map(one).collect::<Vec<_>>()
            })
        });
        let parts: Vec<_> = parts.collect();
        let joined = parts.into_iter().flat_map(|part| match part.join() {
            Ok(derived) => derived,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    });
    let derived = derived.into_iter().collect::<Result<Vec<_>, _>>()?;
    let differing = derived.iter().filter(|(_, is_same)| !is_same).count();
    let loaded = derived.into_iter().map(|(loaded, _)| loaded).collect();
    Ok((loaded, differing as u64))
}

/// The record as it is stored, and whether state and level are those of the dump.
fn loaded_of(line: &DocumentLine, decisions: &Decisions) -> Option<(Loaded, bool)> {
    let (text, submitter) = (line.text()?, line.submitter()?);
    let submission = read_submission(&text).ok()?;
    let derived = rederived(&text, submitter, line.received_ms)?;
    let around = line.checks.iter().filter(|check| !is_of_record(check.name));
    let mut checks = derived.checks;
    checks.extend(around.cloned());
    checks.sort_by_key(|check| check.name);
    let decided = decisions.decided(line.id, submitter, line.quarantined_by);
    let is_held = decided.map_or_else(
        || cardmark_share::is_quarantined(&checks),
        |(_, is_held)| is_held,
    );
    let state = match is_held {
        true => cardmark_share::STATE_QUARANTINED,
        false => cardmark_share::STATE_SHARED,
    };
    let level = cardmark_share::level(&derived.extract.origin, &checks);
    let (record, _) = documents_of(&text);
    let incoming = Incoming {
        packed: packed(&text)?,
        digest: Sha256::digest(text.as_bytes()).into(),
        record_digest: Sha256::digest(record.as_bytes()).into(),
        extract: derived.extract,
        checks,
        card: derived.card,
        tag: submitter,
        token_hash: None,
        revision: submission
            .statement
            .map_or(0, |statement| statement.revision),
        received_ms: line.received_ms,
        limits: Vec::new(),
        newcomers: None,
    };
    let loaded = Loaded {
        incoming,
        quarantined_by: line.quarantined_by,
    };
    Some((loaded, state == line.state && level == line.level))
}
