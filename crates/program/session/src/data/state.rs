//! A small state that outlives kills and power cuts, and costs the storage little.
//!
//! The file has two halves that are written in turn, in place: while one is written, the other holds the state before. A new file under
//! another name would be as safe, but each costs a filesystem with a journal some 60 kB; a half costs its own bytes. No file is made
//! when the disk is full.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cardmark_core::mix;
use rustix::fs::OFlags;

/// Bytes of a half.
const HALF_BYTES: usize = 8192;
/// Bytes that filesystems write at least.
const PIECE_BYTES: usize = 4096;
/// First word of a half.
const MARK: &str = "cardmark-state";
/// Ending of a file that is no state, and was set aside.
const ASIDE: &str = "set-aside";

/// Folder of states, which only their owner may read.
#[derive(Clone, Debug)]
pub struct States {
    folder: PathBuf,
}

impl States {
    /// States in this folder, which may be missing.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The folder as the environment names it: `STATE_DIRECTORY` (of a unit of systemd), or for root `/var/lib/cardmark`, or
    /// `$XDG_STATE_HOME/cardmark`, or `~/.local/state/cardmark`; in it `watch`. `None` if none of them is set.
    #[must_use]
    pub fn from_environment() -> Option<Self> {
        let variable = |name: &str| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let of_root = || {
            let is_root = rustix::process::geteuid().is_root();
            is_root.then(|| PathBuf::from("/var/lib/cardmark"))
        };
        let of_user = || {
            let state = variable("XDG_STATE_HOME");
            let state = state.or_else(|| Some(variable("HOME")?.join(".local/state")));
            Some(state?.join("cardmark"))
        };
        let folder = variable("STATE_DIRECTORY")
            .or_else(of_root)
            .or_else(of_user)?;
        Some(Self::at(folder.join("watch")))
    }

    /// Returns names and texts of all states, by name, without locking them. None if the folder cannot be read.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let text = |path: &Path| State::of(path, options().open(path).ok()).text;
        let mut all: Vec<(String, String)> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_none_or(|end| end != ASIDE))
            .filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), text(&path)?)))
            .collect();
        all.sort();
        all
    }

    /// Opens the state of that name and locks it against other processes.
    pub(crate) fn open(&self, name: &str) -> State {
        let path = self.folder.join(name);
        let opened = writable(&path).and_then(|()| options().write(true).open(&path));
        match opened.map(|file| file.try_lock().map(|()| file)) {
            Ok(Ok(file)) => State::of(&path, Some(file)),
            Ok(Err(_)) => State::read_only(&path, "another look is under way"),
            Err(error) => State::read_only(&path, &error.to_string()),
        }
    }
}

/// A state, locked as long as it is open.
#[derive(Debug)]
pub(crate) struct State {
    path: PathBuf,
    /// Open for writing, and locked.
    file: Option<File>,
    /// Text that was stored last.
    pub(crate) text: Option<String>,
    /// Number of that text.
    number: u64,
    /// True if the file has content that is no state.
    pub(crate) is_foreign: bool,
    /// Reason why nothing can be stored.
    pub(crate) problem: Option<String>,
}

impl State {
    fn read_only(path: &Path, problem: &str) -> Self {
        Self {
            file: None,
            problem: Some(problem.to_owned()),
            ..Self::of(path, options().open(path).ok())
        }
    }

    fn of(path: &Path, file: Option<File>) -> Self {
        let mut bytes = Vec::new();
        let read = file.as_ref().map_or(Ok(0), |mut file| {
            file.by_ref()
                .take(2 * HALF_BYTES as u64)
                .read_to_end(&mut bytes)
        });
        let halves = bytes.chunks(HALF_BYTES).filter_map(parse);
        let last = halves.max_by_key(|(number, _)| *number);
        let (number, text) = last.map_or((0, None), |(number, text)| (number, Some(text)));
        let is_blank = bytes.iter().all(|byte| *byte == 0);
        Self {
            path: path.to_owned(),
            is_foreign: text.is_none() && !is_blank,
            file: file.filter(|_| read.is_ok()),
            number,
            problem: read.err().map(|error| error.to_string()),
            text,
        }
    }

    /// Sets the file aside under another name, and begins with an empty one. Returns the name.
    pub(crate) fn set_aside(&mut self) -> io::Result<PathBuf> {
        let mut name = self.path.clone().into_os_string();
        name.push(".");
        name.push(ASIDE);
        let aside = PathBuf::from(name);
        fs::rename(&self.path, &aside)?;
        *self = Self::of(&self.path, None);
        writable(&self.path)?;
        let file = options().write(true).open(&self.path)?;
        file.try_lock().map_err(io::Error::other)?;
        self.file = Some(file);
        Ok(aside)
    }

    /// Stores a text in the half that does not hold the last one.
    ///
    /// # Errors
    /// If it is too long, or the file cannot be written. Then the last text stays.
    pub(crate) fn store(&mut self, text: &str) -> io::Result<()> {
        let file = self.file.as_ref().ok_or_else(|| {
            let problem = self.problem.clone();
            io::Error::other(problem.unwrap_or_else(|| "it cannot be written".to_owned()))
        })?;
        let number = self.number + 1;
        let half = half(number, text).ok_or(ErrorKind::FileTooLarge)?;
        let at = HALF_BYTES as u64 * (number % 2);
        file.write_all_at(&half, at)?;
        file.sync_data()?;
        self.number = number;
        self.text = Some(text.to_owned());
        Ok(())
    }
}

/// Makes folder and file if they are missing; the file has its whole size from the start.
fn writable(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    if !folder.is_dir() {
        fs::create_dir_all(folder)?;
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    let mut options = options();
    match options.write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) => {
            // Zeros, not a hole: a full disk has room for them later, too.
            file.write_all_at(&[0; 2 * HALF_BYTES], 0)?;
            file.sync_all()?;
            File::open(folder)?.sync_all()
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// For reading. A link or pipe with the name is neither followed nor waited for.
fn options() -> fs::OpenOptions {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = File::options();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

/// A header with number, length and sum, and the text, both lines; `None` if they are too long.
fn half(number: u64, text: &str) -> Option<Vec<u8>> {
    let sum = sum(number, text.as_bytes());
    let mut half = format!("{MARK} {number} {} {sum:016x}\n{text}\n", text.len()).into_bytes();
    (half.len() <= HALF_BYTES).then(|| {
        half.resize(half.len().next_multiple_of(PIECE_BYTES), b'\n');
        half
    })
}

fn parse(half: &[u8]) -> Option<(u64, String)> {
    let end = half.iter().position(|byte| *byte == b'\n')?;
    let header = std::str::from_utf8(half.get(..end)?).ok()?;
    let mut words = header.split(' ');
    words.next().filter(|word| *word == MARK)?;
    let number = words.next()?.parse().ok()?;
    let length: usize = words.next()?.parse().ok()?;
    let stated = u64::from_str_radix(words.next()?, 16).ok()?;
    let text = half.get(end + 1..)?.get(..length)?;
    (sum(number, text) == stated).then_some(())?;
    Some((number, String::from_utf8(text.to_vec()).ok()?))
}

fn sum(number: u64, bytes: &[u8]) -> u64 {
    let bytes = bytes.iter();
    bytes.fold(mix(number), |sum, byte| mix(sum ^ u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn text_in(states: &States) -> Option<String> {
        states.open("a").text.clone()
    }

    #[test]
    fn all_states_are_listed_but_those_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let states = States::at(folder.path().join("watch"));
        assert!(states.all().is_empty());
        for name in ["!b", "!a"] {
            states.open(name).store(name).unwrap();
        }
        states.open("!b").set_aside().unwrap();
        let listed = states.all();
        assert_eq!(listed, [("!a".to_owned(), "!a".to_owned())]);
    }

    #[test]
    fn the_last_text_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let states = States::at(folder.path().join("made"));
        for text in ["", "one", "two", "three"] {
            states.open("a").store(text).unwrap();
            assert_eq!(text_in(&states).as_deref(), Some(text));
        }
        let file = fs::metadata(folder.path().join("made/a")).unwrap();
        assert_eq!(file.len(), 2 * HALF_BYTES as u64);
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
    }

    /// Whatever part of a half was written when the power was cut, the state is the old or the new one.
    #[test]
    fn a_half_that_is_torn_leaves_the_text_before() {
        let folder = tempfile::tempdir().unwrap();
        let states = States::at(folder.path());
        states.open("a").store("one").unwrap();
        states.open("a").store("two").unwrap();
        let path = folder.path().join("a");
        let before = fs::read(&path).unwrap();
        states.open("a").store("three").unwrap();
        let after = fs::read(&path).unwrap();
        for at in 0..after.len() {
            let mut torn = after[..at].to_vec();
            torn.extend(&before[at..]);
            fs::write(&path, &torn).unwrap();
            let text = text_in(&states).unwrap();
            assert!(["two", "three"].contains(&text.as_str()), "{at}: {text}");
        }
    }

    #[test]
    fn a_second_look_at_the_same_time_cannot_store() {
        let folder = tempfile::tempdir().unwrap();
        let states = States::at(folder.path());
        let mut first = states.open("a");
        let mut second = states.open("a");
        assert!(second.store("two").is_err());
        first.store("one").unwrap();
        drop(first);
        assert_eq!(text_in(&states).as_deref(), Some("one"));
    }

    #[test]
    fn what_is_no_state_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let states = States::at(folder.path());
        let path = folder.path().join("a");
        File::create(&path).unwrap().write_all(b"{}").unwrap();
        let mut state = states.open("a");
        assert!(state.is_foreign);
        let aside = state.set_aside().unwrap();
        assert_eq!(fs::read(aside).unwrap(), b"{}");
        state.store("one").unwrap();
        drop(state);
        assert_eq!(text_in(&states).as_deref(), Some("one"));
        assert!(!states.open("b").is_foreign, "a new one is none");
    }

    #[test]
    fn what_is_too_long_is_refused_and_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let states = States::at(folder.path());
        states.open("a").store("one").unwrap();
        let long = "x".repeat(HALF_BYTES);
        assert!(states.open("a").store(&long).is_err());
        assert_eq!(text_in(&states).as_deref(), Some("one"));
    }
}
