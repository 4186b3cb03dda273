//! An undo log in a file: the former content of blocks that a test overwrites.
//!
//! `NAME.undo` holds the pieces. After each group of pieces, a commit record lists the blocks that may be
//! written from then on; it is durable before they are written. Data after the last commit may be torn, and is
//! not needed. Any other missing or changed data is damage.
//!
//! A log that ends early, at a commit, looks whole. `NAME.undo-map` therefore names the same blocks again, and
//! those that the test plans to write. It is synced for blocks that are not planned, and every few commits. If
//! both files agree, and the map is at most that many commits behind, the log is undamaged.
//!
//! Both files begin with a head that is durable before they get their names: an empty file is damage as well.
//! They are removed once everything is restored, which the map records first.
//!
//! A log whose card is not here is set aside as `NAME-missing-1.undo`, with its map, until that card is found again.
//!
//! A log belongs to one process: it holds a lock on the map, or on the log if the map is missing. Two cards that report
//! the same identity would otherwise write into one log.

mod records;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cardmark_core::Errno;
use cardmark_integrity::{BLOCK_BYTES, Piece, Span, Trouble, UndoLog};
use rustix::fs::{FlockOperation, OFlags, flock};

use crate::blocks::BlocksPiece;
use records::{Head, Kind, Scan, UNIT_BYTES, payload_of, read_payload};

/// Commits that the map may be behind the log after a loss of power.
const MOST_BEHIND: u64 = 16;
/// In the name of a log whose card is not here.
const MISSING_WORD: &str = "-missing-";

/// An undo log and its map.
#[derive(Debug)]
pub struct FileLog {
    path: PathBuf,
    seed: u64,
    /// None if the file is missing or cannot be read.
    log: Option<Appended>,
    map: Option<Appended>,
    /// Pieces that are intact, in the order of keeping.
    pieces: Vec<(u64, Head)>,
    /// Number of the last commit.
    commits_count: u64,
    /// Number of the last commit that the map surely has.
    synced_count: u64,
    /// Blocks that an earlier session may have written.
    possible: Vec<Span>,
    /// Blocks that this session plans to write, by rising address.
    planned: Vec<Span>,
    is_damaged: bool,
}

/// A file that records are appended to.
#[derive(Debug)]
struct Appended {
    file: File,
    next_number: u64,
    end_bytes: u64,
}

impl Appended {
    fn append(&mut self, kind: Kind, seed: u64, span: Span, payload: &[u8]) -> io::Result<u64> {
        let at = self.end_bytes;
        let bytes = Head::record(kind, seed, self.next_number, span, payload);
        self.file.write_all_at(&bytes, at)?;
        self.next_number += 1;
        self.end_bytes += bytes.len() as u64;
        Ok(at)
    }
}

/// Closing the file is not enough: a child process shares the lock until it executes its program.
impl Drop for Appended {
    fn drop(&mut self) {
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

impl FileLog {
    /// Opens the log that an earlier session left at `path`; `None` if there is none. A log whose content is restored
    /// already is removed.
    ///
    /// # Errors
    /// If a file cannot be opened, or neither of the two has a record that can be read. [`ErrorKind::WouldBlock`]: another
    /// process, or another log of this one, uses it.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let folder = lock_folder(path)?;
        complete_renaming(path)?;
        let (log, map) = (open_file(path)?, open_file(&map_path(path))?);
        let Some(locked) = map.as_ref().or(log.as_ref()) else {
            return Ok(None);
        };
        flock(locked, FlockOperation::NonBlockingLockExclusive)?;
        drop(folder);
        let scan =
            |file: &Option<File>| file.as_ref().map_or_else(|| Ok(Scan::default()), Scan::of);
        let (log_scan, map_scan) = (scan(&log)?, scan(&map)?);
        let is_restored = map_scan.count_to_last(|kind| kind == Kind::Restored) > 0;
        if is_restored && [None, map_scan.seed()].contains(&log_scan.seed()) {
            remove(path)?;
            return Ok(None);
        }
        // The map gets its name first. A session plans before it keeps anything.
        let map_bytes = map
            .as_ref()
            .map_or(Ok(0), |map| map.metadata().map(|data| data.len()))?;
        let has_only_head = map_bytes == UNIT_BYTES as u64 && map_scan.is_whole_to(1);
        if log.is_none() && has_only_head {
            remove(path)?;
            return Ok(None);
        }
        let Some(seed) = log_scan.seed().or(map_scan.seed()) else {
            return Err(io::Error::other(
                "it holds no record that can be read: it is damaged, or of another version of cardmark",
            ));
        };
        let appended = |file: Option<File>, scan: &Scan| {
            let last = scan.records.last();
            file.map(|file| Appended {
                file,
                next_number: last.map_or(0, |found| found.head.number + 1),
                end_bytes: scan.end_bytes,
            })
        };
        Ok(Some(Self {
            path: path.to_owned(),
            seed,
            is_damaged: !agree(&log_scan, &map_scan),
            pieces: pieces_of(&log_scan),
            commits_count: last_commit(&log_scan),
            synced_count: 0,
            possible: possible_of(&log_scan, &map_scan, seed),
            planned: Vec::new(),
            log: appended(log, &log_scan),
            map: appended(map, &map_scan),
        }))
    }

    /// Returns whether an earlier session left either file of a log at `path`.
    #[must_use]
    pub fn is_at(path: &Path) -> bool {
        let is_there = |file: &Path| fs::symlink_metadata(file).is_ok();
        is_there(path) || is_there(&map_path(path))
    }

    /// Makes a new log at `path`, of a session with this seed.
    ///
    /// # Errors
    /// If one of its files is there already, or cannot be made.
    pub fn create(path: &Path, seed: u64) -> io::Result<Self> {
        let _folder = lock_folder(path)?;
        let map = map_path(path);
        if Self::is_at(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let log = Self {
            path: path.to_owned(),
            seed,
            map: Some(create_file(&map, seed)?),
            log: Some(create_file(path, seed)?),
            pieces: Vec::new(),
            commits_count: 0,
            synced_count: 0,
            possible: Vec::new(),
            planned: Vec::new(),
            is_damaged: false,
        };
        sync_folder(path)?;
        Ok(log)
    }

    /// Seed of the session's content.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns whether it holds no pieces.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Removes a log that keeps nothing.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn remove_if_empty(mut self) -> io::Result<()> {
        match self.is_empty() && !self.is_damaged {
            true => self.remove_restored(),
            false => Ok(()),
        }
    }

    /// Notes in the map that nothing is left to restore, and removes both files.
    fn remove_restored(&mut self) -> io::Result<()> {
        if self.map.is_none() && self.log.is_none() {
            // Removed before; files of that name are those of another session.
            return Ok(());
        }
        if let Some(map) = &mut self.map {
            let noted = map
                .append(Kind::Restored, self.seed, Span::new(0, 0), &[])
                .and_then(|_| map.file.sync_data());
            // On a full filesystem the files go without the note: all is restored.
            if let Err(error) = noted
                && error.kind() != ErrorKind::StorageFull
            {
                return Err(error);
            }
        }
        remove(&self.path)
    }

    /// Renames a damaged log, so that a new session can begin; returns the new path of the log, or of the map if there
    /// is no log.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn set_aside(&self) -> io::Result<PathBuf> {
        self.rename(|number| with_suffix(&self.path, &format!("-damaged-{number}")))
    }

    /// Renames a log whose card is not here, so that a session with another card can begin. [`Self::missing_at`] finds
    /// it again. Returns as [`Self::set_aside`].
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn set_aside_as_missing(&self) -> io::Result<PathBuf> {
        let newest = missing(&self.path)?
            .first()
            .map_or(0, |(number, _)| *number);
        self.rename(|number| missing_path(&self.path, newest + number))
    }

    /// Gives the files the first free name.
    fn rename(&self, named: impl Fn(u32) -> PathBuf) -> io::Result<PathBuf> {
        let _folder = lock_folder(&self.path)?;
        let mut numbers = (1..).map(named);
        let aside = numbers.find(|aside| !Self::is_at(aside));
        let aside = aside.ok_or(ErrorKind::AlreadyExists)?;
        let renamed = rename_both(&self.path, &aside)?;
        Ok(renamed.into_iter().next().unwrap_or(aside))
    }

    /// Moves a log that was set aside back to `path`, because its card is here.
    ///
    /// # Errors
    /// If another log is at that path, or it cannot be moved.
    pub fn bring_back(&mut self, path: &Path) -> io::Result<()> {
        let _folder = lock_folder(path)?;
        if Self::is_at(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        rename_both(&self.path, path)?;
        path.clone_into(&mut self.path);
        Ok(())
    }

    /// Paths of the logs at `path` that were set aside because their card was not here, the newest first.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn missing_at(path: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(missing(path)?.into_iter().map(|(_, aside)| aside).collect())
    }

    /// Time of the last commit, as far as the files show it.
    #[must_use]
    pub fn last_commit_at(&self) -> Option<SystemTime> {
        let file = self.log.as_ref().or(self.map.as_ref())?;
        file.file.metadata().ok()?.modified().ok()
    }

    fn commit(&mut self, spans: &[Span]) -> io::Result<()> {
        let number = Span::new(self.commits_count + 1, 0);
        let payload = payload_of(spans);
        let (Some(log), Some(map)) = (&mut self.log, &mut self.map) else {
            return Err(ErrorKind::NotFound.into());
        };
        log.append(Kind::Commit, self.seed, number, &payload)?;
        log.file.sync_data()?;
        map.append(Kind::Commit, self.seed, number, &payload)?;
        self.commits_count += 1;
        let are_planned = spans.iter().all(|&span| contains(&self.planned, span));
        if !are_planned || self.commits_count - self.synced_count >= MOST_BEHIND {
            map.file.sync_data()?;
            self.synced_count = self.commits_count;
        }
        Ok(())
    }
}

/// The name under which the log at `path` is set aside if its card is not here.
fn missing_path(path: &Path, number: u32) -> PathBuf {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}{MISSING_WORD}{number}.undo"))
}

/// Numbers and paths of the logs at `path` whose cards are not here, the newest first.
fn missing(path: &Path) -> io::Result<Vec<(u32, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder_of(path))? {
        let name = entry?.file_name();
        let name = name.to_str().unwrap_or_default();
        let name = name.strip_suffix("-map").unwrap_or(name);
        let number = name.strip_suffix(".undo");
        let number = number.and_then(|name| name.rsplit_once(MISSING_WORD)?.1.parse().ok());
        let aside = number.map(|number| (number, missing_path(path, number)));
        found.extend(aside.filter(|(_, aside)| aside.file_name() == Some(OsStr::new(name))));
    }
    found.sort_unstable_by(|first, second| second.cmp(first));
    found.dedup();
    Ok(found)
}

/// The map that belongs to a log.
fn map_path(path: &Path) -> PathBuf {
    with_suffix(path, "-map")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(suffix);
    PathBuf::from(name)
}

fn open_file(path: &Path) -> io::Result<Option<File>> {
    // Nothing but a regular file is opened, and a FIFO is not waited for.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut options = File::options();
    let opened = options
        .read(true)
        .write(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    match opened {
        Ok(file) if !file.metadata()?.is_file() => {
            Err(io::Error::other("it is not a regular file"))
        }
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes a file that has a head before it has its name.
fn create_file(path: &Path, seed: u64) -> io::Result<Appended> {
    let draft = with_suffix(path, "-new");
    let left = fs::remove_file(&draft);
    if let Err(error) = left
        && error.kind() != ErrorKind::NotFound
    {
        return Err(error);
    }
    // It holds somebody's data.
    let mut options = File::options();
    options.read(true).write(true).create_new(true).mode(0o600);
    let mut made = Appended {
        file: options.open(&draft)?,
        next_number: 0,
        end_bytes: 0,
    };
    flock(&made.file, FlockOperation::NonBlockingLockExclusive)?;
    made.append(Kind::Head, seed, Span::new(0, 0), &[])?;
    made.file.sync_all()?;
    fs::rename(&draft, path)?;
    Ok(made)
}

/// Renames log and map; returns the new names of those that exist.
fn rename_both(from: &Path, to: &Path) -> io::Result<Vec<PathBuf>> {
    let mut renamed = Vec::new();
    for (from, to) in [
        (from.to_owned(), to.to_owned()),
        (map_path(from), map_path(to)),
    ] {
        match fs::rename(&from, &to) {
            Ok(()) => renamed.push(to),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    sync_folder(to)?;
    Ok(renamed)
}

/// Completes a renaming between `path` and a name of a log that was set aside, if it was interrupted after the log.
fn complete_renaming(path: &Path) -> io::Result<()> {
    let is_there = |file: &Path| fs::symlink_metadata(file).is_ok();
    let seed_of = |file: &Path| match open_file(file)? {
        Some(file) => Ok::<_, io::Error>(Scan::of(&file)?.seed()),
        None => Ok(None),
    };
    if is_there(path) == is_there(&map_path(path)) {
        return Ok(());
    }
    for (_, aside) in missing(path)? {
        let (log, map) = match is_there(path) {
            true => (path, map_path(&aside)),
            false => (aside.as_path(), map_path(path)),
        };
        let is_apart = is_there(log) && !is_there(&map_path(log)) && is_there(&map);
        if is_apart
            && seed_of(log)?.is_some_and(|seed| seed_of(&map).is_ok_and(|map| map == Some(seed)))
        {
            fs::rename(&map, map_path(log))?;
            return sync_folder(path);
        }
    }
    Ok(())
}

/// Removes the log, and then its map.
fn remove(path: &Path) -> io::Result<()> {
    for file in [path.to_owned(), map_path(path)] {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => sync_folder(path)?,
        }
    }
    Ok(())
}

/// Makes names in the folder of `path` durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    open_folder(path)?.sync_all()
}

fn open_folder(path: &Path) -> io::Result<File> {
    File::open(folder_of(path))
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent();
    let named = folder.filter(|folder| !folder.as_os_str().is_empty());
    named.unwrap_or(Path::new("."))
}

/// Waits until no other log of that folder is being opened or made. Between the two steps, looking for files and locking
/// them, another process could make or remove them.
fn lock_folder(path: &Path) -> io::Result<File> {
    let folder = open_folder(path)?;
    flock(&folder, FlockOperation::LockExclusive)?;
    Ok(folder)
}

/// Returns whether log and map contain everything that was durable. A session plans before it writes.
fn agree(log: &Scan, map: &Scan) -> bool {
    let is_log_whole = log.is_whole_to(log.count_to_last(|kind| kind == Kind::Commit).max(1));
    let is_map_whole = map.is_whole_to(map.count_to_last(|_| true).max(1));
    let behind = last_commit(log).checked_sub(last_commit(map));
    let has_plan = map.count_to_last(|kind| kind == Kind::Plan) > 0;
    is_log_whole
        && (has_plan || last_commit(log) == 0)
        && is_map_whole
        && log.seed() == map.seed()
        && behind.is_some_and(|behind| behind <= MOST_BEHIND)
}

fn last_commit(scan: &Scan) -> u64 {
    let commits = scan
        .records
        .iter()
        .filter(|found| found.head.kind == Kind::Commit);
    let intact = commits.filter(|found| found.is_intact);
    intact.map(|found| found.head.span.start).max().unwrap_or(0)
}

fn pieces_of(log: &Scan) -> Vec<(u64, Head)> {
    let pieces = log
        .records
        .iter()
        .filter(|found| found.head.kind == Kind::Piece);
    let intact = pieces.filter(|found| found.is_intact);
    intact.map(|found| (found.at, found.head)).collect()
}

/// All blocks that any record names.
fn possible_of(log: &Scan, map: &Scan, seed: u64) -> Vec<Span> {
    let map = map.records.iter().filter(|found| found.head.seed == seed);
    let mut spans = Vec::new();
    for found in log.records.iter().chain(map) {
        if found.head.kind == Kind::Piece {
            spans.push(found.head.span);
        }
        spans.extend(&found.named);
    }
    joined(spans)
}

/// These spans by rising address, apart from each other.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| span.start);
    let mut joined: Vec<Span> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start <= last.end() => {
                *last = Span::between(last.start, last.end().max(span.end()));
            }
            _ => joined.push(span),
        }
    }
    joined
}

/// Returns whether one of these disjoint spans contains all of `span`.
fn contains(spans: &[Span], span: Span) -> bool {
    let behind = spans.partition_point(|known| known.start <= span.start);
    behind > 0 && spans[behind - 1].end() >= span.end()
}

/// Something that should have been kept is not there.
const MISSING: Trouble = Trouble::NotKept { errno: Errno::NONE };

/// The trouble that an error of the log's own files is.
fn not_kept(error: &io::Error) -> Trouble {
    Trouble::NotKept {
        errno: Errno::of(error),
    }
}

impl UndoLog<BlocksPiece> for FileLog {
    fn plan(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        let plan = |map: &mut Appended| {
            map.append(Kind::Plan, self.seed, Span::new(0, 0), &payload_of(spans))?;
            map.file.sync_data()
        };
        let map = self.map.as_mut().ok_or(MISSING)?;
        plan(map).map_err(|error| not_kept(&error))?;
        self.planned.extend(spans);
        self.planned = joined(std::mem::take(&mut self.planned));
        Ok(())
    }

    fn keep(&mut self, piece: BlocksPiece) -> Result<(), Trouble> {
        let log = self.log.as_mut().ok_or(MISSING)?;
        let span = piece.span();
        let number = log.next_number;
        let at = log
            .append(Kind::Piece, self.seed, span, &piece.bytes)
            .map_err(|error| not_kept(&error))?;
        let head = Head::of_piece(self.seed, number, span, &piece.bytes);
        self.pieces.push((at, head));
        Ok(())
    }

    fn settle(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        self.commit(spans).map_err(|error| not_kept(&error))
    }

    fn spans(&self) -> Vec<Span> {
        self.pieces.iter().map(|(_, head)| head.span).collect()
    }

    fn piece(&mut self, number: usize) -> Result<BlocksPiece, Trouble> {
        let (at, head) = *self.pieces.get(number).ok_or(MISSING)?;
        let log = self.log.as_ref().ok_or(MISSING)?;
        let end_bytes = at + UNIT_BYTES as u64 + head.payload_bytes;
        let bytes = read_payload(&log.file, at, &head, end_bytes).ok_or(MISSING)?;
        debug_assert_eq!(bytes.len() as u64, head.span.count * BLOCK_BYTES as u64);
        let span = head.span;
        Ok(BlocksPiece { span, bytes })
    }

    fn possible(&self) -> &[Span] {
        &self.possible
    }

    fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    fn clear(&mut self) -> Result<(), Trouble> {
        self.remove_restored().map_err(|error| not_kept(&error))?;
        self.pieces.clear();
        (self.log, self.map) = (None, None);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
