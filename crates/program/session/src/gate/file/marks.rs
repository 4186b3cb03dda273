//! Files of a store, which no output may replace: the database and its journals, journals of unfinished work, undo logs.

use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use cardmark_store::Places;
use rustix::fs::OFlags;

/// Beginnings of such files, wherever they are: offset, bytes, kind.
const MARKS: [(usize, &[u8], &str); 5] = [
    (0, b"SQLite format 3\0", "it is a database"),
    (
        0,
        b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",
        "it is the journal of a database",
    ),
    (
        0,
        b"\x37\x7f\x06",
        "it is the write-ahead log of a database",
    ),
    (0, b"cmundo\n", "it is an undo log"),
    (8, b" head {", "it is the journal of unfinished work"),
];
/// Bytes that hold all marks.
const HEAD_BYTES: u64 = 16;
const OF_STORE: &str = "it belongs to the store of the results";

/// Refuses a file of this store by its place, and one of any store by its beginning. The path is without links.
pub(super) fn refuse_store(
    path: &Path,
    known: Option<&Metadata>,
    places: Option<&Places>,
) -> Result<(), String> {
    if places.is_some_and(|places| is_within(path, places)) {
        return Err(OF_STORE.to_owned());
    }
    let head = match known {
        Some(_) => head_of(path).unwrap_or_default(),
        None => Vec::new(),
    };
    let is_marked = |(offset, mark, _): &&(usize, &[u8], &str)| {
        let rest = head.get(*offset..).unwrap_or_default();
        rest.starts_with(mark)
    };
    match MARKS.iter().find(is_marked) {
        Some((_, _, kind)) => Err((*kind).to_owned()),
        None => Ok(()),
    }
}

fn is_within(path: &Path, places: &Places) -> bool {
    let database = without_links(&places.database);
    let name = |path: &Path| path.file_name().map(|name| name.as_bytes().to_vec());
    // With its journals: NAME-journal, NAME-wal, NAME-shm.
    let is_database = path.parent() == database.parent()
        && name(path)
            .zip(name(&database))
            .is_some_and(|(own, database)| {
                own.strip_prefix(&database[..])
                    .is_some_and(|end| end.is_empty() || end.starts_with(b"-"))
            });
    let folders = [&places.journals, &places.tests].map(|folder| without_links(folder));
    is_database || folders.iter().any(|folder| path.starts_with(folder))
}

fn without_links(path: &Path) -> PathBuf {
    let beside = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    let found = path.canonicalize().ok().or_else(beside);
    found.unwrap_or_else(|| path.to_owned())
}

/// First bytes of a regular file. Fewer if it cannot be read: then it is not a file of this user's store.
fn head_of(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = std::fs::File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let mut head = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}
