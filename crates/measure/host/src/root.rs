//! The root under which all readers look: the running system, or a fixture tree.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use rustix::fs::{Access, OFlags, access, major, minor};

/// Bytes of a file that is one attribute or a short list; the kernel's are a page at most.
const MOST_TEXT_BYTES: u64 = 65_536;
/// Bytes of a list that grows with the machine: its mounts, its processors.
pub(crate) const MOST_LIST_BYTES: u64 = 4_194_304;
/// Characters of a name that is shown.
const MOST_NAME_CHARS: usize = 128;

/// Root under which `/proc`, `/sys`, `/etc` and `/dev` are read.
///
/// A fixture tree cannot hold device nodes or mounts, so its file `stat` contains the results of `stat(2)`, one
/// path a line, the path last because it may hold spaces:
///
/// ```text
/// directory 179:2 - /home/pi
/// file 179:2 1048576 /home/pi/disk.img
/// file 179:2 1048576#77 /home/pi/link.img
/// block 0:6 179:0 /dev/mmcblk0
/// character 0:6 226:0 /dev/dri/card0
/// ```
///
/// The second column is the device that holds the path, the third the size of a file or the number of a device.
/// A file may have its inode number after `#`; without one, it has an inode of its own. Everything below a
/// directory listed there is a directory, too, except in `/proc`.
#[derive(Clone, Debug)]
pub struct Root {
    base: PathBuf,
    stated: Option<Vec<(PathBuf, Stat)>>,
    /// Lines of the kernel's log about cards, power and firmware, once they were read.
    pub(crate) boot_lines: Arc<OnceLock<Vec<String>>>,
}

/// The kernel's number of a device. Major 0 is given to filesystems without a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DeviceNumber {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

impl From<(u32, u32)> for DeviceNumber {
    fn from((major, minor): (u32, u32)) -> Self {
        Self { major, minor }
    }
}

impl DeviceNumber {
    fn from_raw(raw: u64) -> Self {
        Self {
            major: major(raw),
            minor: minor(raw),
        }
    }

    /// Returns whether it belongs to no block device.
    pub(crate) fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

impl FromStr for DeviceNumber {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (major, minor) = text.split_once(':').ok_or(())?;
        Ok(Self {
            major: major.parse().map_err(drop)?,
            minor: minor.parse().map_err(drop)?,
        })
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Kind of object at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Directory,
    File { size_bytes: u64 },
    Block(DeviceNumber),
    Other,
}

/// The kernel's data about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// The device that holds the path.
    pub(crate) device: DeviceNumber,
    /// The inode number there.
    pub(crate) inode: u64,
    pub(crate) kind: FileKind,
}

impl Root {
    /// The running system.
    #[must_use]
    pub fn system() -> Self {
        Self {
            base: PathBuf::from("/"),
            stated: None,
            boot_lines: Arc::default(),
        }
    }

    /// A fixture tree; `/` is the running system.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let base = path.into();
        if base == Path::new("/") {
            return Self::system();
        }
        let table = fs::read_to_string(base.join("stat")).unwrap_or_default();
        Self {
            base,
            stated: Some((1..).zip(table.lines()).filter_map(parse_stated).collect()),
            boot_lines: Arc::default(),
        }
    }

    /// Returns the location of an absolute path of the host on this machine.
    #[must_use]
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.base.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Returns the text of a file without surrounding white space and NUL; `None` if it is missing or empty.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        text_of(self.path(path))
    }

    /// The one line in a file, as text that may be shown.
    pub(crate) fn line(&self, path: impl AsRef<Path>) -> Option<String> {
        line_of(self.path(path))
    }

    /// The bytes of a list such as that of the mounts.
    pub(crate) fn list(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        bytes_of(self.path(path), MOST_LIST_BYTES)
    }

    /// Returns the names in a directory, sorted; none if it is missing.
    pub(crate) fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        names_in(self.path(path))
    }

    /// The path without links, as the host sees it.
    pub(crate) fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        if self.stated.is_none() {
            return fs::canonicalize(path);
        }
        let mut plain = PathBuf::from("/");
        for component in path.components() {
            match component {
                Component::Normal(name) => plain.push(name),
                Component::ParentDir => drop(plain.pop()),
                _ => {}
            }
        }
        Ok(plain)
    }

    /// Returns the data of the kernel, or of the fixture's table, about a path.
    pub(crate) fn stat(&self, path: &Path) -> io::Result<Stat> {
        let Some(stated) = &self.stated else {
            return fs::metadata(path).map(|metadata| Stat::from_metadata(&metadata));
        };
        let path = self.canonical(path)?;
        let exact = stated.iter().find(|(listed, _)| *listed == path);
        let above = || {
            stated
                .iter()
                .filter(|(listed, stat)| {
                    stat.kind == FileKind::Directory
                        && path.starts_with(listed)
                        && !path.starts_with("/proc")
                })
                .max_by_key(|(listed, _)| listed.components().count())
        };
        exact
            .or_else(above)
            .map(|(_, stat)| *stat)
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// Returns whether this user may write here; for a fixture always true.
    pub(crate) fn may_write(&self, path: &Path) -> bool {
        self.stated.is_some() || access(path, Access::WRITE_OK).is_ok()
    }
}

impl Stat {
    fn from_metadata(metadata: &Metadata) -> Self {
        let file_type = metadata.file_type();
        let kind = if file_type.is_dir() {
            FileKind::Directory
        } else if file_type.is_file() {
            FileKind::File {
                size_bytes: metadata.len(),
            }
        } else if file_type.is_block_device() {
            FileKind::Block(DeviceNumber::from_raw(metadata.rdev()))
        } else {
            FileKind::Other
        };
        Self {
            device: DeviceNumber::from_raw(metadata.dev()),
            inode: metadata.ino(),
            kind,
        }
    }
}

fn parse_stated((number, line): (u64, &str)) -> Option<(PathBuf, Stat)> {
    let mut fields = line.splitn(4, ' ');
    let (kind, device) = (fields.next()?, fields.next()?.parse().ok()?);
    let (value, path) = (fields.next()?, fields.next()?);
    let (value, inode) = match value.split_once('#') {
        Some((value, inode)) => (value, inode.parse().ok()?),
        None => (value, number),
    };
    let kind = match kind {
        "directory" => FileKind::Directory,
        "file" => FileKind::File {
            size_bytes: value.parse().ok()?,
        },
        "block" => FileKind::Block(value.parse().ok()?),
        "character" => FileKind::Other,
        _ => return None,
    };
    let stat = Stat {
        device,
        inode,
        kind,
    };
    Some((PathBuf::from(path), stat))
}

/// Opens a regular file. Anything else is rejected, because opening it could block, as with a pipe.
pub(crate) fn open_file(path: impl AsRef<Path>) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::from(io::ErrorKind::InvalidInput))
    }
}

/// Returns the bytes of a regular file; an error if it is larger than `most_bytes`.
pub(crate) fn bytes_of(path: impl AsRef<Path>, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = open_file(path)?.take(most_bytes + 1);
    let length = file.read_to_end(&mut bytes)?;
    if u64::try_from(length).is_ok_and(|length| length <= most_bytes) {
        Ok(bytes)
    } else {
        Err(io::Error::from(io::ErrorKind::FileTooLarge))
    }
}

/// The bytes of an attribute.
pub(crate) fn attribute_of(path: impl AsRef<Path>) -> Option<Vec<u8>> {
    bytes_of(path, MOST_TEXT_BYTES).ok()
}

/// Returns the text of a file without surrounding white space and NUL; `None` if it is missing or empty, or
/// longer than any attribute.
pub(crate) fn text_of(path: impl AsRef<Path>) -> Option<String> {
    let bytes = attribute_of(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// The one line in a file, as text that may be shown.
pub(crate) fn line_of(path: impl AsRef<Path>) -> Option<String> {
    shown(&text_of(path)?)
}

/// Returns the name that a device reports, as printable text: a terminal must not take it for commands, and a
/// value that is not text is no name.
pub(crate) fn shown(text: &str) -> Option<String> {
    let plain = |c: char| {
        let is_text = !c.is_control() && c != char::REPLACEMENT_CHARACTER;
        if is_text { c } else { '?' }
    };
    let cut = text.trim().chars().take(MOST_NAME_CHARS);
    let text: String = cut.map(plain).collect();
    text.contains(char::is_alphanumeric).then_some(text)
}

/// A name that the kernel gives: one word.
pub(crate) fn word_of(path: impl AsRef<Path>) -> Option<String> {
    let text = text_of(path)?;
    let is_word = text.len() <= MOST_NAME_CHARS && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_word.then_some(text)
}

/// The number in a file.
pub(crate) fn number_of(path: impl AsRef<Path>) -> Option<u64> {
    text_of(path)?.parse().ok()
}

/// Parses a number such as `2.5` into parts; `unit` parts make one.
pub(crate) fn decimal(text: &str, unit: u64) -> Option<u64> {
    let (whole, tenths) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(tenths) || tenths.len() != 1 {
        return None;
    }
    let tenths = tenths.parse::<u64>().ok()? * unit / 10;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(unit)?
        .checked_add(tenths)
}

/// The one in brackets of `none [mq-deadline] kyber`.
pub(crate) fn chosen(text: &str) -> Option<String> {
    let inside = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    let name = inside.map_or(text, |(name, _)| name);
    let is_part = |byte: u8| byte == b'-' || byte == b'_' || byte.is_ascii_alphanumeric();
    let is_name = (1..=MOST_NAME_CHARS).contains(&name.len()) && name.bytes().all(is_part);
    is_name.then(|| name.to_owned())
}

/// The path in a file, byte for byte, without the line's end.
pub(crate) fn path_of(path: impl AsRef<Path>) -> Option<PathBuf> {
    let mut bytes = attribute_of(path)?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    (!bytes.is_empty()).then(|| PathBuf::from(OsString::from_vec(bytes)))
}

/// Returns the names in a directory, sorted; none if it is missing.
pub(crate) fn names_in(path: impl AsRef<Path>) -> Vec<String> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(decimal("1.5", 1_000_000), Some(1_500_000));
        assert_eq!(decimal("8.0", 1000), Some(8000));
        assert_eq!(decimal("480", 1_000_000), Some(480_000_000));
        for text in [
            "",
            ".",
            "1.",
            ".5",
            "-1",
            "1.55",
            "1e3",
            "99999999999999999999",
        ] {
            assert_eq!(decimal(text, 1000), None, "{text}");
        }
        assert_eq!(decimal(&u64::MAX.to_string(), 1000), None);
    }
}
