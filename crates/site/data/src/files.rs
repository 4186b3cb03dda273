//! Files of a dump: counted and hashed while they are written, and durable before the dump has its name.

use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use cardmark_share::to_hexadecimal;
use sha2::{Digest, Sha256};

use crate::error::{DataError, at};
use crate::manifest::FileEntry;

/// A file that is written.
pub(crate) struct Hashed {
    file: BufWriter<File>,
    path: PathBuf,
    name: String,
    bytes: u64,
    hash: Sha256,
}

impl Hashed {
    /// Creates a file of a folder, and its own folder.
    pub(crate) fn create(folder: &Path, name: &str) -> Result<Self, DataError> {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(at(parent))?;
        }
        // What a killed process left, or a link that somebody put there, is not written into.
        if let Err(error) = std::fs::remove_file(&path)
            && error.kind() != ErrorKind::NotFound
        {
            return Err(at(&path)(error));
        }
        let file = File::create_new(&path).map_err(at(&path))?;
        Ok(Self {
            file: BufWriter::new(file),
            name: name.to_owned(),
            path,
            bytes: 0,
            hash: Sha256::new(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Number of bytes that were written.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Makes the file durable.
    pub(crate) fn finish(mut self, rows: u64) -> Result<FileEntry, DataError> {
        self.file.flush().map_err(at(&self.path))?;
        self.file.get_ref().sync_all().map_err(at(&self.path))?;
        Ok(FileEntry {
            path: self.name,
            bytes: self.bytes,
            sha256: to_hexadecimal(&self.hash.finalize()),
            rows,
        })
    }
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Writes a text as a file.
pub(crate) fn write_text(folder: &Path, name: &str, text: &str) -> Result<FileEntry, DataError> {
    let mut file = Hashed::create(folder, name)?;
    let path = file.path().to_owned();
    file.write_all(text.as_bytes()).map_err(at(&path))?;
    file.finish(0)
}

/// Makes names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<(), DataError> {
    let folder = File::open(path).map_err(at(path))?;
    folder.sync_all().map_err(at(path))
}

/// Size and SHA-256 of a file.
pub(crate) fn digest_of(path: &Path) -> Result<(u64, String), DataError> {
    let mut file = BufReader::new(File::open(path).map_err(at(path))?);
    let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 64 << 10]);
    loop {
        let count = file.read(&mut buffer).map_err(at(path))?;
        if count == 0 {
            return Ok((bytes, to_hexadecimal(&hash.finalize())));
        }
        hash.update(&buffer[..count]);
        bytes += count as u64;
    }
}
