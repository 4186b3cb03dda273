//! The store of records. Records never change; labels are added and removed. The data about cards is in
//! `preparations`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cardmark_core::{FindingKind, OriginKind, Record, Severity, parse_record, record_to_json};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, query_as, query_scalar};
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::database::{self, explain};
use crate::listing::{self, Summary};
use crate::rows;
use crate::{DocumentError, StoreError};

/// Maximum number of ids that an error about an ambiguous prefix names.
const AMBIGUOUS_MOST: i64 = 8;

/// Options of opening a store.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Maximum time to wait for another process to release the store.
    pub busy_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
        }
    }
}

/// Effect of an insertion on the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The record is new.
    New,
    /// The same record was already stored.
    Known,
    /// It took the place of the record of a simulated run that had ended early.
    Replaced,
}

/// A record with its current labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The record as it was stored.
    pub record: Record,
    /// Current labels, those of the record included unless removed.
    pub labels: BTreeMap<String, String>,
}

/// The local store: one SQLite file. Every call blocks.
pub struct Store {
    pub(crate) runtime: Runtime,
    pub(crate) connection: SqliteConnection,
    pub(crate) path: PathBuf,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Store")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store in that file; creates it, readable by its owner only, if it is missing.
    ///
    /// # Errors
    /// If the file cannot be created or read, is damaged, locked, another program's, or newer.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, Options::default())
    }

    /// Opens the store with other options.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_with(path: &Path, options: Options) -> Result<Self, StoreError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(|source| StoreError::Io {
                path: path.into(),
                source,
            })?;
        let connection = runtime.block_on(database::open(path, options.busy_timeout))?;
        Ok(Self {
            runtime,
            connection,
            path: path.into(),
        })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores a record and its labels; a record that is already stored stays unchanged.
    ///
    /// A simulated run that is repeated has the same id. So that an interrupted run can be repeated, the record
    /// of a simulated run that got further replaces the stored one: a complete one replaces an interrupted one,
    /// and one without an error replaces one that an error ended. A record of another version of the program
    /// also replaces the stored one. Labels stay unchanged. A measured record is never replaced.
    ///
    /// # Errors
    /// If a different record has the same id, a figure is not finite, or the store fails.
    pub fn insert(&mut self, record: &Record) -> Result<Inserted, StoreError> {
        let document = document_of(record)?;
        let explain = explain(&self.path);
        let connection = &mut self.connection;
        let inserting = async {
            let mut writing = connection.begin_with("BEGIN IMMEDIATE").await?;
            let stored: Option<String> = query_scalar("SELECT document FROM records WHERE id = ?")
                .bind(record.id.to_string())
                .fetch_optional(&mut *writing)
                .await?;
            let inserted = match stored {
                None => {
                    rows::insert(&mut writing, record, &document, now()).await?;
                    Some(Inserted::New)
                }
                Some(stored) => match (stored == document, parse_record(&stored)) {
                    (true, _) => Some(Inserted::Known),
                    // Another version may have written the same otherwise.
                    (_, Ok(stored)) if stored == *record => Some(Inserted::Known),
                    (_, Ok(stored))
                        if gives_way(&stored, record) || is_of_other_version(&stored, record) =>
                    {
                        rows::replace(&mut writing, record, &document, now()).await?;
                        Some(Inserted::Replaced)
                    }
                    _ => None,
                },
            };
            writing.commit().await?;
            Ok(inserted)
        };
        let inserted = self.runtime.block_on(inserting).map_err(explain)?;
        inserted.ok_or(StoreError::Conflict { id: record.id })
    }

    /// Returns whether a record of that id is stored.
    ///
    /// # Errors
    /// If the store fails.
    pub fn contains(&mut self, id: Uuid) -> Result<bool, StoreError> {
        let counting = query_scalar("SELECT count(*) FROM records WHERE id = ?")
            .bind(id.to_string())
            .fetch_one(&mut self.connection);
        let count: i64 = self
            .runtime
            .block_on(counting)
            .map_err(explain(&self.path))?;
        Ok(count > 0)
    }

    /// Returns the record with this id, with a unique prefix of it (four or more hexadecimal digits), or for
    /// `last` the one stored last.
    ///
    /// # Errors
    /// If there is none, or more than one, or its document cannot be read.
    pub fn find(&mut self, prefix: &str) -> Result<Found, StoreError> {
        let id = match prefix {
            "last" => self.last_id()?,
            _ => self.unique_id(prefix)?,
        };
        let reading = query_scalar("SELECT CAST(document AS BLOB) FROM records WHERE id = ?")
            .bind(&id)
            .fetch_one(&mut self.connection);
        let document: Vec<u8> = self
            .runtime
            .block_on(reading)
            .map_err(explain(&self.path))?;
        let record = parse_bytes(&id, &document)?;
        let labels = self.labels(record.id)?;
        Ok(Found { record, labels })
    }

    fn last_id(&mut self) -> Result<String, StoreError> {
        let reading = query_scalar("SELECT id FROM records ORDER BY sequence DESC LIMIT 1")
            .fetch_optional(&mut self.connection);
        let id: Option<String> = self
            .runtime
            .block_on(reading)
            .map_err(explain(&self.path))?;
        id.ok_or_else(|| StoreError::NotFound {
            prefix: "last".to_owned(),
        })
    }

    fn unique_id(&mut self, prefix: &str) -> Result<String, StoreError> {
        let first = id_prefix(prefix)?;
        // `g` follows the last hexadecimal digit and the hyphen.
        let reading = query_scalar(
            "SELECT id FROM records WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY sequence LIMIT ?2",
        )
        .bind(&first)
        .bind(AMBIGUOUS_MOST)
        .fetch_all(&mut self.connection);
        let mut ids: Vec<String> = self
            .runtime
            .block_on(reading)
            .map_err(explain(&self.path))?;
        match ids.len() {
            0 => Err(StoreError::NotFound {
                prefix: prefix.to_owned(),
            }),
            1 => Ok(ids.remove(0)),
            _ => Err(StoreError::Ambiguous {
                prefix: prefix.to_owned(),
                ids,
            }),
        }
    }

    /// The records stored last, newest first, without their documents.
    ///
    /// # Errors
    /// If the store fails.
    pub fn list(&mut self, limit: u32) -> Result<Vec<Summary>, StoreError> {
        let connection = &mut self.connection;
        let listing = async {
            let mut reading = connection.begin().await?;
            let summaries = listing::summaries(&mut reading, limit).await?;
            reading.rollback().await?;
            Ok(summaries)
        };
        self.runtime.block_on(listing).map_err(explain(&self.path))
    }

    /// Sets a label of a record, or removes it. The record itself does not change.
    ///
    /// # Errors
    /// If the record does not exist, or the store fails.
    pub fn label(&mut self, id: Uuid, key: &str, value: Option<&str>) -> Result<(), StoreError> {
        if !self.contains(id)? {
            return Err(StoreError::NotFound {
                prefix: id.to_string(),
            });
        }
        let id = id.to_string();
        let connection = &mut self.connection;
        let changing = async {
            match value {
                Some(value) => rows::set_label(connection, &id, key, value, now()).await,
                None => rows::remove_label(connection, &id, key).await,
            }
        };
        self.runtime.block_on(changing).map_err(explain(&self.path))
    }

    /// Returns the current labels of a record; none for an id that is not stored.
    ///
    /// # Errors
    /// If the store fails.
    pub fn labels(&mut self, id: Uuid) -> Result<BTreeMap<String, String>, StoreError> {
        self.check_labels(&id.to_string())?;
        let reading = query_as("SELECT key, value FROM labels WHERE record_id = ?")
            .bind(id.to_string())
            .fetch_all(&mut self.connection);
        let labels: Vec<(String, String)> = self
            .runtime
            .block_on(reading)
            .map_err(explain(&self.path))?;
        Ok(labels.into_iter().collect())
    }

    /// Passes every record stored so far to `each`, in the order of storing, one at a time and without a lock
    /// in between. Unreadable documents are skipped, and the first of them is the error at the end.
    ///
    /// # Errors
    /// The first error of `each`, which ends the export; a failure of the store; an unreadable document.
    pub fn export<E: From<StoreError>>(
        &mut self,
        mut each: impl FnMut(&Record) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut unreadable = None;
        let mut place = 0;
        while let Some((sequence, id, document)) = self.document_after(place)? {
            place = sequence;
            match parse_bytes(&String::from_utf8_lossy(&id), &document) {
                Ok(record) => each(&record)?,
                Err(error) => unreadable = unreadable.or(Some(error)),
            }
        }
        unreadable.map_or(Ok(()), |error| Err(error.into()))
    }

    fn document_after(&mut self, place: i64) -> Result<Option<Row>, StoreError> {
        let reading = query_as(
            "SELECT sequence, CAST(id AS BLOB), CAST(document AS BLOB) FROM records \
             WHERE sequence > ? ORDER BY sequence LIMIT 1",
        )
        .bind(place)
        .fetch_optional(&mut self.connection);
        self.runtime.block_on(reading).map_err(explain(&self.path))
    }
}

/// Sequence, id and document of a record. Bytes, so that one that is no text can be named.
type Row = (i64, Vec<u8>, Vec<u8>);

/// Returns the seconds since 1970; 0 if the clock is set before that.
fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

fn document_of(record: &Record) -> Result<String, StoreError> {
    let refuse = |source| StoreError::Document {
        id: record.id.to_string(),
        source,
    };
    if let Some(metric) = rows::not_finite(record) {
        return Err(refuse(DocumentError::NotFinite(metric.to_owned())));
    }
    record_to_json(record).map_err(|error| refuse(DocumentError::Encode(error)))
}

fn parse_bytes(id: &str, document: &[u8]) -> Result<Record, StoreError> {
    match str::from_utf8(document) {
        Ok(document) => parse(id, document),
        Err(error) => Err(StoreError::Document {
            id: id.to_owned(),
            source: DocumentError::NotText(error),
        }),
    }
}

pub(crate) fn parse(id: &str, document: &str) -> Result<Record, StoreError> {
    let refuse = |source| StoreError::Document {
        id: id.to_owned(),
        source,
    };
    let record = parse_record(document).map_err(|error| refuse(DocumentError::Parse(error)))?;
    if record.id.to_string() == id {
        Ok(record)
    } else {
        Err(refuse(DocumentError::OtherRun(record.id)))
    }
}

/// Progress of a run; later is further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// It was cut short from outside.
    Cut,
    /// An error ended it, or a part of it.
    Failed,
    /// To its end.
    Whole,
}

impl End {
    fn of(record: &Record) -> Self {
        let errors = record
            .findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error);
        let ends = errors.map(|finding| match finding.kind {
            FindingKind::Interrupted => Self::Cut,
            FindingKind::Vanished
            | FindingKind::NoAnswer
            | FindingKind::IoError
            | FindingKind::NoSpace => Self::Failed,
            _ => Self::Whole,
        });
        ends.min().unwrap_or(Self::Whole)
    }
}

/// Returns whether two records are of one simulated run, made by different versions of the program, whose
/// wording may differ. The id guarantees that the simulation is the same.
fn is_of_other_version(stored: &Record, record: &Record) -> bool {
    let are_simulated = [stored, record]
        .iter()
        .all(|record| record.origin.kind == OriginKind::Simulated);
    are_simulated && stored.tool != record.tool && End::of(stored) <= End::of(record)
}

/// Returns whether the stored record is replaced by another one of the same id.
fn gives_way(stored: &Record, record: &Record) -> bool {
    [stored, record]
        .iter()
        .all(|record| record.origin.kind == OriginKind::Simulated)
        && End::of(stored) < End::of(record)
}

/// The beginning of an id as the store spells it: small letters, hyphens in their places.
fn id_prefix(text: &str) -> Result<String, StoreError> {
    let digits = text.replace('-', "").to_ascii_lowercase();
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hexadecimal || !(4..=32).contains(&digits.len()) {
        return Err(StoreError::NotAnId {
            text: text.to_owned(),
        });
    }
    let mut spelled = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if matches!(index, 8 | 12 | 16 | 20) {
            spelled.push('-');
        }
        spelled.push(digit);
    }
    Ok(spelled)
}

/// The file that an address of the form `sqlite:///path/to/file` or `sqlite:file` names.
///
/// # Errors
/// For databases other than SQLite, an address of another form, and one with parameters.
pub fn sqlite_path(address: &str) -> Result<PathBuf, StoreError> {
    let refuse = |why| Err(StoreError::Address { why });
    let Some(rest) = address.strip_prefix("sqlite:") else {
        return match address.split_once("://") {
            Some((scheme, _)) => Err(StoreError::Unsupported {
                scheme: scheme.to_owned(),
            }),
            None => refuse("it is not of the form sqlite:///path/to/file"),
        };
    };
    let path = rest.strip_prefix("//").unwrap_or(rest);
    match path {
        "" => refuse("it names no file"),
        _ if path.contains('?') => refuse("parameters, from `?` on, are not supported"),
        _ => Ok(path.into()),
    }
}
