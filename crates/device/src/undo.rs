//! What blocks held before they were written, in a file.
//!
//! It begins with a mark and the seed of what was written over it. Each piece is a head of 32 bytes (a
//! mark, the first block, the number of blocks, a checksum of both and of the bytes) and the bytes. Only
//! what was settled was followed by a write to the storage, so that a torn piece at the end needs no
//! bringing back.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use cardmark_core::mix;
use cardmark_integrity::{BLOCK_BYTES, Span, Trouble, UndoLog};
use rustix::fs::OFlags;

use crate::blocks::BlocksPiece;

const MARK: u64 = 0x646e_755f_6b72_6d63;
const HEAD_BYTES: usize = 32;
/// The mark of the file, and the bytes of mark and seed.
const FILE_MARK: u64 = 0x316f_646e_755f_6d63;
const FILE_HEAD_BYTES: u64 = 16;

/// A log in a file.
#[derive(Debug)]
pub struct FileLog {
    file: File,
    path: PathBuf,
    seed: u64,
    /// Whether its name is durable.
    has_name: bool,
    /// Where each piece begins, bytes, and its blocks.
    pieces: Vec<(u64, Span)>,
    end_bytes: u64,
}

impl FileLog {
    /// The log in that file, with what it has; a new one, of a test with that seed, where there is none.
    ///
    /// # Errors
    /// When it cannot be read or made.
    pub fn open(path: &Path, seed: u64) -> io::Result<Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            // What it holds is somebody's data.
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)?;
        let mut log = Self {
            file,
            path: path.to_owned(),
            seed,
            has_name: false,
            pieces: Vec::new(),
            end_bytes: FILE_HEAD_BYTES,
        };
        log.read_all()?;
        Ok(log)
    }

    /// The seed of the test that it belongs to: where something is kept, of the one that kept it.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Takes the file away, if nothing is kept in it.
    ///
    /// # Errors
    /// When that cannot be done.
    pub fn remove_if_empty(self) -> io::Result<()> {
        if self.pieces.is_empty() {
            std::fs::remove_file(&self.path)?;
        }
        Ok(())
    }

    /// Makes the file's name durable, once.
    fn sync_name(&mut self) -> io::Result<()> {
        if !self.has_name {
            let folder = self.path.parent().unwrap_or(Path::new("."));
            File::open(folder)?.sync_all()?;
            self.has_name = true;
        }
        Ok(())
    }

    fn read_all(&mut self) -> io::Result<()> {
        let size_bytes = self.file.metadata()?.len();
        if size_bytes < FILE_HEAD_BYTES {
            return Ok(());
        }
        let mut head = [0; 16];
        self.file.read_exact_at(&mut head, 0)?;
        let words = head.as_chunks::<8>().0;
        if u64::from_le_bytes(words[0]) != FILE_MARK {
            return Err(io::Error::other("it is no undo log of this version"));
        }
        let seed = u64::from_le_bytes(words[1]);
        while self.end_bytes + HEAD_BYTES as u64 <= size_bytes {
            let Some(piece) = self.read_at(self.end_bytes, size_bytes)? else {
                break;
            };
            self.pieces.push((self.end_bytes, piece.span));
            self.end_bytes += (HEAD_BYTES + piece.bytes.len()) as u64;
        }
        if !self.pieces.is_empty() {
            self.seed = seed;
        }
        Ok(())
    }

    /// The piece that begins there, if it is whole.
    fn read_at(&self, at: u64, size_bytes: u64) -> io::Result<Option<BlocksPiece>> {
        let mut head = [0; HEAD_BYTES];
        self.file.read_exact_at(&mut head, at)?;
        let word = |index: usize| {
            let bytes = head[index * 8..].first_chunk::<8>();
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let span = Span::new(word(1), word(2));
        let left = size_bytes - at - HEAD_BYTES as u64;
        let bytes_count = span.count.checked_mul(BLOCK_BYTES as u64);
        let Some(bytes_count) = bytes_count.filter(|&count| word(0) == MARK && count <= left)
        else {
            return Ok(None);
        };
        let mut bytes = vec![0; usize::try_from(bytes_count).unwrap_or(0)];
        self.file
            .read_exact_at(&mut bytes, at + HEAD_BYTES as u64)?;
        let piece = BlocksPiece { span, bytes };
        Ok((checksum(&piece) == word(3)).then_some(piece))
    }
}

fn checksum(piece: &BlocksPiece) -> u64 {
    let begin = mix(piece.span.start) ^ mix(!piece.span.count);
    let words = piece.bytes.as_chunks::<8>().0;
    words
        .iter()
        .fold(begin, |sum, word| mix(sum ^ u64::from_le_bytes(*word)))
}

/// What an error of the log's own file means.
fn not_kept(error: &io::Error) -> Trouble {
    Trouble::NotKept {
        errno: error.raw_os_error().unwrap_or(0),
    }
}

impl UndoLog<BlocksPiece> for FileLog {
    fn keep(&mut self, piece: BlocksPiece) -> Result<(), Trouble> {
        if self.pieces.is_empty() {
            let head = [FILE_MARK, self.seed].map(u64::to_le_bytes);
            let written = self.file.write_all_at(head.as_flattened(), 0);
            written.map_err(|error| not_kept(&error))?;
        }
        let words = [MARK, piece.span.start, piece.span.count, checksum(&piece)];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(&piece.bytes);
        self.file
            .write_all_at(&bytes, self.end_bytes)
            .map_err(|error| not_kept(&error))?;
        self.pieces.push((self.end_bytes, piece.span));
        self.end_bytes += bytes.len() as u64;
        Ok(())
    }

    fn settle(&mut self) -> Result<(), Trouble> {
        let synced = self.file.sync_all().and_then(|()| self.sync_name());
        synced.map_err(|error| not_kept(&error))
    }

    fn count(&self) -> usize {
        self.pieces.len()
    }

    fn piece(&mut self, number: usize) -> Result<BlocksPiece, Trouble> {
        let missing = Trouble::NotKept { errno: 0 };
        let (at, _) = *self.pieces.get(number).ok_or(missing)?;
        let read = self.read_at(at, self.end_bytes);
        read.map_err(|error| not_kept(&error))?.ok_or(missing)
    }

    fn clear(&mut self) -> Result<(), Trouble> {
        self.pieces.clear();
        self.end_bytes = FILE_HEAD_BYTES;
        let emptied = self.file.set_len(0).and_then(|()| self.file.sync_data());
        emptied.map_err(|error| not_kept(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(start: u64, count: u64, byte: u8) -> BlocksPiece {
        BlocksPiece {
            span: Span::new(start, count),
            bytes: vec![byte; usize::try_from(count).unwrap() * BLOCK_BYTES],
        }
    }

    #[test]
    fn what_is_kept_is_there_when_it_is_opened_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut log = FileLog::open(&path, 7).unwrap();
        log.keep(piece(8, 2, 1)).unwrap();
        log.keep(piece(0, 1, 2)).unwrap();
        log.settle().unwrap();
        let mut log = FileLog::open(&path, 7).unwrap();
        assert_eq!(log.count(), 2);
        assert_eq!(
            FileLog::open(&path, 8).unwrap().seed(),
            7,
            "of the one that kept it"
        );
        assert_eq!(log.piece(0).unwrap(), piece(8, 2, 1));
        assert_eq!(log.piece(1).unwrap(), piece(0, 1, 2));
        log.remove_if_empty().unwrap();
        let mut log = FileLog::open(&path, 7).unwrap();
        log.clear().unwrap();
        // What is kept from now on must be found again, too.
        log.keep(piece(3, 1, 4)).unwrap();
        log.settle().unwrap();
        let mut log = FileLog::open(&path, 7).unwrap();
        assert_eq!(log.piece(0).unwrap(), piece(3, 1, 4));
        log.clear().unwrap();
        log.remove_if_empty().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_torn_piece_at_the_end_is_left_out_wherever_it_is_torn() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut log = FileLog::open(&path, 7).unwrap();
        log.keep(piece(8, 2, 1)).unwrap();
        let whole = log.end_bytes;
        log.keep(piece(0, 1, 2)).unwrap();
        let end = log.end_bytes;
        for size in (whole..end).step_by(37) {
            log.file.set_len(size).unwrap();
            assert_eq!(FileLog::open(&path, 7).unwrap().count(), 1, "{size}");
        }
        log.file.set_len(end).unwrap();
        log.file.write_all_at(&[9], end - 1).unwrap();
        assert_eq!(FileLog::open(&path, 7).unwrap().count(), 1);
    }
}
