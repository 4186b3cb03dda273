//! Stores whose runs are shown: the program's own, or copies of those of other boards.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use cardmark_core::{Record, evidence_digest};
use cardmark_judge::LastLook;
use cardmark_pages::not_found;
use cardmark_session::{CommandError, Data, looks_of};
use cardmark_share::Problem;
use cardmark_store::{Condition, Found, Store, StoreError};
use tempfile::TempDir;
use uuid::Uuid;

use crate::own::runs::Runs;

/// Sizes and times of the last change of a database and its log.
type Seen = [Option<(u64, SystemTime)>; 2];

/// Stores whose runs are shown.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) data: Data,
    /// Files that are only read; none if the own store is shown.
    copies: Vec<PathBuf>,
    /// The runs, as the files were when they were read.
    read: Mutex<Option<(Vec<Seen>, Arc<Runs>)>>,
}

/// The last look at a target of a board, with its name.
type Look = (String, LastLook);

/// A store, and the folder of its copy if it needed one.
struct Opened(Store, Option<TempDir>);

impl Library {
    /// The own store, or else these files.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(crate) fn new(data: Data, copies: Vec<PathBuf>) -> Result<Self, CommandError> {
        let library = Self {
            data,
            copies,
            read: Mutex::default(),
        };
        for path in library.paths() {
            match library.open(path) {
                // It can be read later.
                Ok(_) | Err(StoreError::Locked { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(library)
    }

    fn paths(&self) -> Vec<&Path> {
        match self.copies.is_empty() {
            true => vec![&self.data.database],
            false => self.copies.iter().map(PathBuf::as_path).collect(),
        }
    }

    fn open(&self, path: &Path) -> Result<Opened, StoreError> {
        if self.copies.is_empty() {
            return Store::open(path).map(|store| Opened(store, None));
        }
        let scratch = tempfile::tempdir().map_err(|source| StoreError::Io {
            path: std::env::temp_dir(),
            source,
        })?;
        let store = Store::open_to_read(path, scratch.path())?;
        Ok(Opened(store, Some(scratch)))
    }

    /// The runs as they are now.
    pub(crate) fn runs(&self) -> Arc<Runs> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let now: Vec<Seen> = self.paths().into_iter().map(seen).collect();
        if let Some((before, runs)) = &*read
            && *before == now
        {
            return Arc::clone(runs);
        }
        let (records, failed) = self.records(&[]);
        // Another process holds the store for a moment.
        let is_for_now = failed
            .iter()
            .any(|(_, error)| matches!(error, StoreError::Locked { .. }));
        let reason = |(path, error): &(PathBuf, StoreError)| reason(path, error);
        let runs = Arc::new(Runs::of(&records, failed.iter().map(reason).collect()));
        *read = (!is_for_now).then(|| (now, Arc::clone(&runs)));
        runs
    }

    /// Records that meet the conditions, without trials, each once, in the order of storing; and why some are missing.
    fn records(&self, conditions: &[Condition]) -> (Vec<Record>, Vec<(PathBuf, StoreError)>) {
        let (mut records, mut failed, mut met) = (Vec::new(), Vec::new(), BTreeSet::new());
        for path in self.paths() {
            let read = self.open(path).and_then(|Opened(mut store, _scratch)| {
                select(&mut store, conditions, &mut records)
            });
            if let Err(error) = read {
                failed.push((path.to_owned(), error));
            }
        }
        records.retain(|record: &Record| met.insert(record.id));
        (records, failed)
    }

    /// Briefs of all records, in the order of storing, and the last looks of all boards.
    ///
    /// # Errors
    /// If no store can be read.
    pub(crate) fn boards(&self) -> Result<(Vec<Record>, Vec<Look>), Problem> {
        let (mut records, mut looks, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for path in self.paths() {
            let read = self.open(path).and_then(|Opened(mut store, _scratch)| {
                looks.extend(looks_of(&mut store)?);
                store.briefs()
            });
            match read {
                Ok(found) => records.extend(found),
                Err(error) => failed.push(reason(path, &error)),
            }
        }
        let mut met = BTreeSet::new();
        records.retain(|record: &Record| met.insert(record.id));
        match failed.pop() {
            Some(reason) if records.is_empty() && looks.is_empty() => Err(unreadable(reason)),
            _ => Ok((records, looks)),
        }
    }

    /// Records that meet the conditions, without trials.
    ///
    /// # Errors
    /// If a store cannot be read.
    pub(crate) fn select(&self, conditions: &[Condition]) -> Result<Vec<Record>, Problem> {
        let (records, failed) = self.records(conditions);
        match failed.first() {
            Some((path, error)) if records.is_empty() => Err(unreadable(reason(path, error))),
            _ => Ok(records),
        }
    }

    /// A run as it is stored.
    ///
    /// # Errors
    /// If there is none with this id, or it cannot be read.
    pub(crate) fn find(&self, id: Uuid) -> Result<Found, Problem> {
        for path in self.paths() {
            let found = self
                .open(path)
                .and_then(|Opened(mut store, _scratch)| store.find(&id.to_string()));
            match found {
                Ok(found) => return Ok(found),
                Err(StoreError::NotFound { .. }) => {}
                Err(error) => return Err(unreadable(reason(path, &error))),
            }
        }
        Err(not_found(
            "No such run",
            "the store has no run with this id",
        ))
    }
}

/// Adds the records that meet the conditions. If a row is damaged, all others that can be read are added, whatever the conditions.
fn select(
    store: &mut Store,
    conditions: &[Condition],
    records: &mut Vec<Record>,
) -> Result<(), StoreError> {
    match store.select_distinct(conditions) {
        Ok(found) => {
            records.extend(found);
            Ok(())
        }
        Err(StoreError::Damaged { .. } | StoreError::Document { .. }) if conditions.is_empty() => {
            let mut met = BTreeSet::new();
            store.export(|record, _, _| {
                let digest = evidence_digest(record);
                if digest.is_none_or(|digest| met.insert(digest)) {
                    let bare = Record {
                        trials: Vec::new(),
                        sensors: Vec::new(),
                        ..record.clone()
                    };
                    records.push(bare);
                }
                Ok(())
            })
        }
        Err(error) => Err(error),
    }
}

fn seen(path: &Path) -> Seen {
    let log = PathBuf::from(format!("{}-wal", path.display()));
    let of = |found: Metadata| Some((found.len(), found.modified().ok()?));
    [path, &log].map(|path| path.metadata().ok().and_then(of))
}

/// The file, the error and its causes.
fn reason(path: &Path, error: &StoreError) -> String {
    let made = CommandError::from_error(cardmark_session::Exit::Trouble, error);
    let parts = [vec![path.display().to_string(), made.what], made.causes];
    parts.concat().join(": ")
}

fn unreadable(detail: String) -> Problem {
    Problem {
        kind: "/problems/failed".to_owned(),
        title: "The runs cannot be read".to_owned(),
        status: 500,
        detail,
        errors: Vec::new(),
    }
}
