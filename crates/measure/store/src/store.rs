//! The store of records. Records never change; labels are added and removed. The history of cards
//! is in `preparations`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cardmark_core::{FindingKind, OriginKind, Record, Severity, Statement};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use uuid::Uuid;

use crate::damage::collect;
use crate::database::{self, STEPS};
use crate::document::{DOCUMENT_DAMAGE, document_in_row, document_of, is_same, parse, record_of};
use crate::failure::Failure;
use crate::heads::labels_of;
use crate::listing::{self, Summary};
use crate::{Inserted, StoreError, reading, rows, statements};

/// Largest number of ids in the error for an ambiguous prefix.
const AMBIGUOUS_MOST: i64 = 8;
/// Time to wait for another process to release the store.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A document from elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// A record and its document.
    Record(Box<Record>, String),
    /// A statement on a record that is stored, or comes before it, and its document.
    Statement(Box<Statement>, String),
}

/// A record, its document and its present labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The record as its document has it.
    pub record: Record,
    /// The document that it was read from, with what this version does not know.
    pub document: String,
    /// Labels as they stand.
    pub labels: BTreeMap<String, String>,
}

/// The local store: one SQLite file. Every call blocks, and is one transaction unless documented
/// otherwise.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    pub(crate) path: PathBuf,
}

impl Store {
    /// Opens the store in a file. Creates it, readable by its owner only, if it is missing, and
    /// converts the tables of older versions.
    ///
    /// # Errors
    /// If the file cannot be created or read, is damaged, locked, another program's, newer, or of a development version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, BUSY_TIMEOUT)
    }

    /// Opens the store, with another time to wait for other processes to release it.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_with(path: &Path, busy_timeout: Duration) -> Result<Self, StoreError> {
        Ok(Self {
            connection: database::open(path, busy_timeout, STEPS)?,
            path: path.into(),
        })
    }

    /// Opens the store for reading only: the file, and the folder that it is in, stay as they are, also with tables of an older
    /// version and while another process writes. A copy is used where that needs one. It is made in the folder `scratch`, which has
    /// to be empty, stays private to this store, and is deleted by the caller.
    ///
    /// # Errors
    /// If the file cannot be read or copied, is damaged, locked, another program's, newer, or of a development version.
    pub fn open_to_read(path: &Path, scratch: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            connection: reading::open(path, scratch, BUSY_TIMEOUT, STEPS)?,
            path: path.into(),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` in a transaction that reads one state of the store.
    pub(crate) fn read<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.transact(TransactionBehavior::Deferred, work)
    }

    /// Runs `work` in a transaction that holds the write lock. An error undoes all of it.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.transact(TransactionBehavior::Immediate, work)
    }

    fn transact<T>(
        &mut self,
        begin: TransactionBehavior,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let connection = &mut self.connection;
        let run = || -> Result<T, Failure> {
            let transaction = Transaction::new(connection, begin)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        run().map_err(|failure| failure.at(&self.path))
    }

    /// Stores a record, and its labels as its statement. A record that is stored already stays.
    ///
    /// A repeated simulated run has the same id. Its record replaces the stored one if the run got
    /// further: interrupted, then ended by an error, then whole. It also replaces the record of
    /// another version of the program. Its labels are stated again; others stay. A measured record is
    /// never replaced.
    ///
    /// # Errors
    /// If a different record has the same id, a figure is not finite, or the store fails.
    pub fn insert(&mut self, record: &Record) -> Result<Inserted, StoreError> {
        let document = document_of(record)?;
        self.write(|connection| insert(connection, record, &document))
    }

    /// Stores documents that came from elsewhere, each record as the bytes that it has, in one transaction. Records
    /// that are stored already stay; of two statements that with the higher number counts. Returns what became of
    /// each.
    ///
    /// # Errors
    /// If the store fails; nothing is stored then. For each document: if a different one has the same id or number, or
    /// a statement is on a record that is not stored.
    pub fn take_in(
        &mut self,
        documents: &[Incoming],
    ) -> Result<Vec<Result<Inserted, StoreError>>, StoreError> {
        self.write(|connection| {
            let each = documents.iter().map(|incoming| {
                let taken = match incoming {
                    Incoming::Record(record, document) => take_in(connection, record, document),
                    Incoming::Statement(given, document) => {
                        statements::take_in(connection, given, document, now())
                    }
                };
                match taken {
                    Err(Failure::Refused(error)) => Ok(Err(error)),
                    other => other.map(Ok),
                }
            });
            each.collect()
        })
    }

    /// Checks for a record by id.
    ///
    /// # Errors
    /// If the store fails.
    pub fn contains(&mut self, id: Uuid) -> Result<bool, StoreError> {
        self.read(|connection| contains(connection, id))
    }

    /// Returns the record with this id, a unique beginning of it (four or more hexadecimal digits),
    /// or `last`: the one stored last.
    ///
    /// # Errors
    /// If there is none, or more than one, or its document cannot be read.
    pub fn find(&mut self, prefix: &str) -> Result<Found, StoreError> {
        self.read(|connection| {
            let id = match prefix {
                "last" => last_id(connection)?,
                _ => unique_id(connection, prefix)?,
            };
            let sql = "SELECT id, document FROM records WHERE id = ?1";
            let (record, document) =
                connection.query_row(sql, [&id], |row| Ok(record_of(row)))??;
            let labels = labels_of(connection, &id)?;
            Ok(Found {
                record,
                document,
                labels,
            })
        })
    }

    /// Returns the records stored last, newest first, without their documents.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn list(&mut self, limit: u32) -> Result<Vec<Summary>, StoreError> {
        self.read(|connection| listing::summaries(connection, limit))
    }

    /// Sets labels of a record; those without a value are removed. The record itself does not
    /// change.
    ///
    /// # Errors
    /// If there is no such record, or the store fails. No label is changed then.
    pub fn label<'a>(
        &mut self,
        id: Uuid,
        changes: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Result<(), StoreError> {
        self.write(|connection| {
            let prefix = id.to_string();
            if !contains(connection, id)? {
                return Err(StoreError::NotFound { prefix }.into());
            }
            statements::change(connection, id, changes, now())
        })
    }

    /// Returns the document of what is stated of a record; `None` if nothing ever was.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn statement(&mut self, id: Uuid) -> Result<Option<String>, StoreError> {
        self.read(|connection| statements::document(connection, id))
    }

    /// Returns the labels of a record as they stand; none if the record is not stored.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn labels(&mut self, id: Uuid) -> Result<BTreeMap<String, String>, StoreError> {
        self.read(|connection| labels_of(connection, &id.to_string()))
    }

    /// Passes every record stored so far, with its labels as they stand, its document and its statement to `each`, in
    /// the order of storing, with a transaction for each record. Skips documents that cannot be read and returns the first such error at
    /// the end.
    ///
    /// # Errors
    /// The first error of `each`, which ends the export; if the store fails; an unreadable
    /// document.
    pub fn export<E: From<StoreError>>(
        &mut self,
        each: impl FnMut(&Record, &str, Option<&str>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.export_stored(|_| true, each)
    }

    /// As [`Store::export`], for records whose time of storing, seconds since 1970, passes `is_wanted`.
    ///
    /// # Errors
    /// As [`Store::export`].
    pub fn export_stored<E: From<StoreError>>(
        &mut self,
        is_wanted: impl Fn(i64) -> bool,
        mut each: impl FnMut(&Record, &str, Option<&str>) -> Result<(), E>,
    ) -> Result<(), E> {
        let complete = |connection: &Connection, (mut record, document): (Record, String)| {
            record.labels = labels_of(connection, &record.id.to_string())?;
            let stated = statements::document(connection, record.id)?;
            Ok((record, document, stated))
        };
        self.in_order(is_wanted, record_of, complete, |whole| {
            let (record, document, stated) = whole;
            each(&record, &document, stated.as_deref())
        })
    }

    /// Calls `each` with the document of every record, oldest first, and with what is stated of it. Of a document only
    /// format and id are read.
    ///
    /// # Errors
    /// As [`Store::export`].
    pub fn documents<E: From<StoreError>>(
        &mut self,
        each: impl FnMut(&str, Option<&str>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.documents_stored(|_| true, each)
    }

    /// As [`Store::documents`], for records whose time of storing, seconds since 1970, passes `is_wanted`.
    ///
    /// # Errors
    /// As [`Store::export`].
    pub fn documents_stored<E: From<StoreError>>(
        &mut self,
        is_wanted: impl Fn(i64) -> bool,
        mut each: impl FnMut(&str, Option<&str>) -> Result<(), E>,
    ) -> Result<(), E> {
        let complete = |connection: &Connection, (id, document): (Uuid, String)| {
            Ok((document, statements::document(connection, id)?))
        };
        self.in_order(
            is_wanted,
            document_in_row,
            complete,
            |(document, stated)| each(&document, stated.as_deref()),
        )
    }

    /// Reads the rows of records one by one, oldest first. Those that `read` or `complete` cannot read are left out; the first of them
    /// is an error at the end.
    fn in_order<Read, Whole, E: From<StoreError>>(
        &mut self,
        is_wanted: impl Fn(i64) -> bool,
        read: fn(&Row<'_>) -> Result<Read, Failure>,
        complete: impl Fn(&Connection, Read) -> Result<Whole, Failure>,
        mut each: impl FnMut(Whole) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut unreadable = None;
        let mut place: i64 = 0;
        loop {
            let next = self.read(|connection| {
                let mut statement = connection.prepare_cached(
                    "SELECT id, document, sequence, stored_at FROM records WHERE sequence > ?1 \
                     ORDER BY sequence LIMIT 1",
                )?;
                let found = statement.query_row([place], |row| {
                    let is_wanted = row.get(3).map_or(true, &is_wanted);
                    Ok((row.get(2)?, is_wanted.then(|| read(row))))
                });
                let Some((sequence, found)) = found.optional()? else {
                    return Ok(None);
                };
                let found = found.map(|found| found.and_then(|found| complete(connection, found)));
                match found {
                    // The store fails, not one of its runs.
                    Some(Err(failure @ Failure::Sqlite(_))) => Err(failure),
                    found => Ok(Some((sequence, found))),
                }
            })?;
            let Some((sequence, found)) = next else {
                break;
            };
            place = sequence;
            match found {
                None => {}
                Some(Ok(whole)) => each(whole)?,
                Some(Err(failure)) => unreadable = unreadable.or(Some(failure.at(&self.path))),
            }
        }
        unreadable.map_or(Ok(()), |error| Err(error.into()))
    }
}

fn insert(connection: &Connection, record: &Record, document: &str) -> Result<Inserted, Failure> {
    let inserted = put_record(connection, record, document)?;
    statements::put(connection, record, now())?;
    Ok(inserted)
}

fn put_record(
    connection: &Connection,
    record: &Record,
    document: &str,
) -> Result<Inserted, Failure> {
    let Some(stored) = document_in(connection, record.id)? else {
        rows::put(connection, record, document.as_bytes(), now())?;
        return Ok(Inserted::New);
    };
    if stored == document.as_bytes() {
        return Ok(Inserted::Known);
    }
    let stored = str::from_utf8(&stored).unwrap_or_default();
    match parse(&record.id.to_string(), stored) {
        // Another version may have written the same record differently.
        Ok(stored) if is_equal(stored.clone(), record) => Ok(Inserted::Known),
        Ok(stored) if gives_way(&stored, record) => {
            rows::put(connection, record, document.as_bytes(), now())?;
            Ok(Inserted::Replaced)
        }
        _ => Err(StoreError::Conflict { id: record.id }.into()),
    }
}

fn document_in(connection: &Connection, id: Uuid) -> Result<Option<Vec<u8>>, Failure> {
    let stored = collect(
        connection,
        "SELECT id, document FROM records WHERE id = ?1",
        [id.to_string()],
        DOCUMENT_DAMAGE,
        |row| row.get(1),
    )?;
    Ok(stored.into_iter().next())
}

/// Returns whether two records are equal apart from labels, which are no part of a document.
fn is_equal(mut stored: Record, record: &Record) -> bool {
    stored.labels.clone_from(&record.labels);
    stored == *record
}

/// Stores a document that came from elsewhere.
fn take_in(connection: &Connection, record: &Record, document: &str) -> Result<Inserted, Failure> {
    let Some(stored) = document_in(connection, record.id)? else {
        let inserted = insert(connection, record, document)?;
        let sql = "UPDATE records SET is_imported = 1 WHERE id = ?1";
        connection.execute(sql, [record.id.to_string()])?;
        return Ok(inserted);
    };
    if is_same(&stored, document) {
        return Ok(Inserted::Known);
    }
    Err(StoreError::Conflict { id: record.id }.into())
}

fn contains(connection: &Connection, id: Uuid) -> Result<bool, Failure> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM records WHERE id = ?1")?;
    Ok(statement.exists([id.to_string()])?)
}

fn last_id(connection: &Connection) -> Result<String, Failure> {
    let sql = "SELECT id FROM records ORDER BY sequence DESC LIMIT 1";
    let id = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    id.ok_or_else(|| {
        let prefix = "last".to_owned();
        StoreError::NotFound { prefix }.into()
    })
}

fn unique_id(connection: &Connection, prefix: &str) -> Result<String, Failure> {
    let first = id_prefix(prefix)?;
    let mut ids: Vec<String> = collect(
        connection,
        // `g` sorts after hexadecimal digits and the hyphen.
        "SELECT id FROM records WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY sequence LIMIT ?2",
        params![first, AMBIGUOUS_MOST],
        "its id is not readable",
        |row| row.get(0),
    )?;
    let prefix = prefix.to_owned();
    match ids.len() {
        0 => Err(StoreError::NotFound { prefix }.into()),
        1 => Ok(ids.remove(0)),
        _ => Err(StoreError::Ambiguous { prefix, ids }.into()),
    }
}

/// Returns seconds since 1970; 0 if the clock is set before that.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
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
            | FindingKind::NoSpace
            | FindingKind::RemountedReadOnly => Self::Failed,
            _ => Self::Whole,
        });
        ends.min().unwrap_or(Self::Whole)
    }
}

/// Returns whether the stored record is replaced by another one of the same id: one of the same simulated run that
/// got further, or was made by another version of the program, whose wording may differ. The id guarantees that the
/// simulation is the same.
fn gives_way(stored: &Record, record: &Record) -> bool {
    let are_simulated = [stored, record]
        .iter()
        .all(|record| record.origin.kind == OriginKind::Simulated);
    let (before, now) = (End::of(stored), End::of(record));
    are_simulated && (before < now || before == now && stored.tool != record.tool)
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
