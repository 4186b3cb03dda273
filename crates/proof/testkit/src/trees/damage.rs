//! Kinds of damage to a file.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};

/// More than any reader may take in.
const HUGE_BYTES: u64 = 64 << 20;
/// Neither text nor a number, with a command to the terminal.
const GARBLED: &[u8] = b"\xFF\xFE\0\x1B[31m\xC3(\x80;,:=-9\n\x07 \xED\xA0\x80";

/// Kind of damage to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It is missing.
    Missing,
    /// It is empty.
    Empty,
    /// Its bytes mean nothing.
    Garbled,
    /// It ends in the middle.
    CutOff,
    /// It is far larger than the output of any kernel: zeros that take no disk space.
    Huge,
    /// A directory replaces it: it cannot be read, not even by root.
    Directory,
    /// A link to itself replaces it.
    Circle,
    /// A pipe without a writer replaces it.
    Pipe,
}

impl Damage {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Missing,
        Self::Empty,
        Self::Garbled,
        Self::CutOff,
        Self::Huge,
        Self::Directory,
        Self::Circle,
        Self::Pipe,
    ];

    /// Puts the damaged file in its place.
    pub(crate) fn put(self, at: &Path, bytes: &[u8]) {
        match self {
            Self::Missing => {}
            Self::Empty => fs::write(at, "").unwrap(),
            Self::Garbled => fs::write(at, GARBLED).unwrap(),
            Self::CutOff => fs::write(at, &bytes[..bytes.len() / 2]).unwrap(),
            Self::Huge => File::create(at).unwrap().set_len(HUGE_BYTES).unwrap(),
            Self::Directory => fs::create_dir(at).unwrap(),
            Self::Circle => symlink(at.file_name().unwrap(), at).unwrap(),
            Self::Pipe => mknodat(CWD, at, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap(),
        }
    }
}

/// A file that was spoilt.
#[derive(Debug)]
pub struct Spoilt {
    pub(crate) at: PathBuf,
    pub(crate) bytes: Vec<u8>,
}
