//! A wall clock for one program, which a test can set: libfaketime, preloaded. The monotonic clock
//! is left as it is.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Location of the library on Debian, below the folder of the architecture.
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// A wall clock that a test can set.
#[derive(Clone, Debug)]
pub struct WallClock {
    library: PathBuf,
    offset: PathBuf,
}

/// Returns a clock whose setting is kept in `folder`.
///
/// # Panics
/// If libfaketime is missing; check `Need::WallClock` before.
#[must_use]
pub fn wall_clock(folder: &Path) -> WallClock {
    WallClock {
        library: library().expect("libfaketime"),
        offset: folder.join("wall-clock"),
    }
}

impl WallClock {
    /// Sets it apart from the true one by `offset`, such as `-3h`.
    ///
    /// # Panics
    /// When the setting cannot be written.
    pub fn set(&self, offset: &str) {
        // By renaming, so that the program never reads half of it.
        let draft = self.offset.with_extension("new");
        std::fs::write(&draft, offset).unwrap();
        std::fs::rename(draft, &self.offset).unwrap();
    }

    pub(crate) fn give_to(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", &self.offset)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    }
}

/// Returns the library, wherever the system has it.
pub(crate) fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?;
    let candidates = folders.flatten().map(|entry| entry.path().join(LIBRARY));
    candidates.into_iter().find(|path| path.is_file())
}
