//! Opens the database for reading only: neither the file nor anything beside it changes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::StoreError;
use crate::database::{CACHE, Step, bring_up, check_head, connect, newest, version};
use crate::failure::Failure;

/// Number of attempts to copy files while others change them, with a pause between them.
const COPY_TRIES: u32 = 20;
const COPY_PAUSE: Duration = Duration::from_millis(50);
/// Place of the journal's kind in the header, and its value for a write-ahead log (SQLite's file format, 1.3).
const KIND_OF_JOURNAL: usize = 18;
const WRITE_AHEAD: u8 = 2;

/// Opens the database. One of an earlier version, and one that SQLite cannot read without changing it, is copied into the folder
/// `scratch`, and the copy is opened. Errors name the file itself.
pub(crate) fn open(
    path: &Path,
    scratch: &Path,
    busy_timeout: Duration,
    steps: &[Step],
) -> Result<Connection, StoreError> {
    // SQLite looks for journals beside the file that a link leads to.
    let file = path.canonicalize().map_err(failed(path))?;
    check_head(&file)?;
    let copy = scratch.join("copy.sqlite");
    if !needs_copy(&file).map_err(failed(path))? {
        match in_place(path, &file, busy_timeout, steps) {
            Err(Failure::Sqlite(error)) if is_refused(&error) => {}
            Err(failure) => return Err(failure.at(path)),
            Ok((connection, true)) => return Ok(connection),
            Ok((connection, false)) => {
                back_up(&connection, path, &copy).map_err(|failure| failure.at(path))?;
                return open_copy(path, &copy, busy_timeout, steps);
            }
        }
    }
    copy_files(&file, &copy).map_err(failed(path))?;
    open_copy(path, &copy, busy_timeout, steps)
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.into();
    move |source| StoreError::Io { path, source }
}

/// Opens a database where it is; returns whether its tables are the current ones.
fn in_place(
    path: &Path,
    file: &Path,
    busy_timeout: Duration,
    steps: &[Step],
) -> Result<(Connection, bool), Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let mut connection = Connection::open_with_flags(address(file), flags)?;
    connection.busy_timeout(busy_timeout)?;
    connection.execute_batch(CACHE)?;
    let found = version(&mut connection, path, steps)?;
    Ok((connection, found == newest(steps)))
}

/// Copies one state of a database.
fn back_up(connection: &Connection, path: &Path, copy: &Path) -> Result<(), Failure> {
    let mut to = Connection::open(copy)?;
    match Backup::new(connection, &mut to)?.step(-1)? {
        StepResult::Done => Ok(()),
        _ => Err(StoreError::Locked { path: path.into() }.into()),
    }
}

/// The address of a file that is only read, as is the index of its write-ahead log.
fn address(file: &Path) -> String {
    let mut address = "file://".to_owned();
    for &byte in file.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_') {
            address.push(char::from(byte));
        } else {
            address += &format!("%{byte:02X}");
        }
    }
    address + "?mode=ro&readonly_shm=1"
}

/// Returns whether SQLite would have to change something before it could read.
fn is_refused(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen)
    )
}

/// Opens a copy, and brings its tables up to date.
fn open_copy(
    path: &Path,
    copy: &Path,
    busy_timeout: Duration,
    steps: &[Step],
) -> Result<Connection, StoreError> {
    let connection = connect(copy, busy_timeout).map_err(|failure| failure.at(path))?;
    bring_up(connection, path, steps)
}

/// Returns whether the database has a write-ahead log without an index, which SQLite would make. No process uses it then.
fn needs_copy(file: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    let most = KIND_OF_JOURNAL as u64 + 1;
    File::open(file)?.take(most).read_to_end(&mut head)?;
    let is_write_ahead = head.get(KIND_OF_JOURNAL) == Some(&WRITE_AHEAD);
    Ok(is_write_ahead && !beside(file, "-shm").exists())
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Copies the database and its journals, at a time when none of them changes.
fn copy_files(file: &Path, copy: &Path) -> io::Result<()> {
    let ends = ["", "-journal", "-wal"];
    let state = || ends.map(|end| changed(&beside(file, end)));
    for _ in 0..COPY_TRIES {
        let before = state();
        for end in ends {
            let (from, to) = (beside(file, end), beside(copy, end));
            match copy_bytes(&from, &to) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && !end.is_empty() => {
                    let _ = fs::remove_file(&to);
                }
                copied => drop(copied?),
            }
        }
        if state() == before {
            return Ok(());
        }
        std::thread::sleep(COPY_PAUSE);
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Copies the content only: a file that may just be read would have a copy that may just be read.
fn copy_bytes(from: &Path, to: &Path) -> io::Result<u64> {
    io::copy(&mut File::open(from)?, &mut File::create(to)?)
}

/// Size and time of the last change of a file.
fn changed(path: &Path) -> Option<(u64, SystemTime)> {
    let found = path.metadata().ok()?;
    Some((found.len(), found.modified().ok()?))
}
