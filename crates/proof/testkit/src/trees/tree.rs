//! Builds fixture trees: the files of a board that the readers use, in a temporary directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use cardmark_host::Root;
use tempfile::TempDir;

use super::damage::{Damage, Spoilt};

/// The files of a board; see [`Root`] for their format. They are removed when it is dropped.
#[derive(Debug)]
pub struct Tree {
    directory: TempDir,
    stat: String,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// An empty tree.
    #[must_use]
    pub fn new() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
            stat: String::new(),
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path.trim_start_matches('/'))
    }

    /// A file with this text.
    pub fn file(&mut self, path: &str, text: &str) -> &mut Self {
        self.bytes(path, text.as_bytes())
    }

    /// A file with these bytes.
    pub fn bytes(&mut self, path: &str, text: &[u8]) -> &mut Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Files of one directory: names and texts.
    pub fn files(&mut self, directory: &str, files: &[(&str, &str)]) -> &mut Self {
        for (name, text) in files {
            self.file(&format!("{directory}/{name}"), text);
        }
        self
    }

    /// The driver of the device in that directory below `/sys/devices`.
    pub fn driver(&mut self, directory: &str, name: &str) -> &mut Self {
        let driver = format!("/sys/bus/any/drivers/{name}");
        self.directory(&driver)
            .link(&format!("/sys/devices/{directory}/driver"), &driver)
    }

    /// An empty directory.
    pub fn directory(&mut self, path: &str) -> &mut Self {
        fs::create_dir_all(self.path(path)).unwrap();
        self
    }

    /// Adds a link that is valid on any path of the tree.
    pub fn link(&mut self, path: &str, to: &str) -> &mut Self {
        let up = "../".repeat(path.trim_start_matches('/').split('/').count() - 1);
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(format!("{up}{}", to.trim_start_matches('/')), path).unwrap();
        self
    }

    /// Adds the file that process `id` has open under number 3, with these flags.
    pub fn opened(&mut self, id: u32, device: &str, flags: &str) -> &mut Self {
        self.file(&format!("/proc/{id}/comm"), "qemu-system-arm\n")
            .file(
                &format!("/proc/{id}/fdinfo/3"),
                &format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t22\n"),
            )
            .directory(&format!("/proc/{id}/fd"));
        symlink(device, self.path(&format!("/proc/{id}/fd/3"))).unwrap();
        self
    }

    /// The device below is held by the one above, as the kernel shows both.
    pub fn holder(&mut self, below: &str, above: &str) -> &mut Self {
        self.holder_only(below, above).slave(above, below)
    }

    /// Adds a holder that is visible from below alone.
    pub fn holder_only(&mut self, below: &str, above: &str) -> &mut Self {
        let name = Path::new(above).file_name().unwrap().to_str().unwrap();
        let link = format!("/sys/devices/{below}/holders/{name}");
        self.link(&link, &format!("/sys/devices/{above}"))
    }

    /// A whole block device: its directory below `/sys/devices`, number, sectors.
    pub fn disk(&mut self, directory: &str, number: &str, sectors: u64) -> &mut Self {
        self.block(directory, number, sectors);
        if let Some(holder) = holder_of(directory) {
            let device = format!("/sys/devices/{directory}/device");
            self.link(&device, &format!("/sys/devices/{holder}"));
        }
        self.file(&format!("/sys/devices/{directory}/queue/iostats"), "1\n")
            .file(
                &format!("/sys/devices/{directory}/queue/scheduler"),
                "none [mq-deadline]\n",
            )
            .file(&format!("/sys/devices/{directory}/removable"), "0\n")
    }

    /// A partition; its directory is in that of its disk.
    pub fn partition(&mut self, directory: &str, number: &str, sectors: u64) -> &mut Self {
        self.block(directory, number, sectors);
        self.file(&format!("/sys/devices/{directory}/partition"), "1\n")
    }

    fn block(&mut self, directory: &str, number: &str, sectors: u64) {
        let sys = format!("/sys/devices/{directory}");
        let name = Path::new(directory).file_name().unwrap().to_str().unwrap();
        self.file(&format!("{sys}/dev"), &format!("{number}\n"))
            .file(&format!("{sys}/size"), &format!("{sectors}\n"))
            .file(&format!("{sys}/ro"), "0\n")
            .file(
                &format!("{sys}/stat"),
                " 10 0 80 5 20 0 160 9 0 7 14 0 0 0 0 3 2\n",
            );
        self.link(&format!("/sys/class/block/{name}"), &sys);
        self.link(&format!("/sys/dev/block/{number}"), &sys);
        self.stat(&format!("block 0:6 {number} /dev/{name}"));
    }

    /// The device above is made from the one below.
    pub fn slave(&mut self, above: &str, below: &str) -> &mut Self {
        let name = Path::new(below).file_name().unwrap().to_str().unwrap();
        let link = format!("/sys/devices/{above}/slaves/{name}");
        self.link(&link, &format!("/sys/devices/{below}"));
        self
    }

    /// Adds a line with a result of `stat(2)`; see `Root`.
    pub fn stat(&mut self, line: &str) -> &mut Self {
        self.stat.push_str(line);
        self.stat.push('\n');
        self
    }

    /// `/proc/self/mountinfo`.
    pub fn mounts(&mut self, text: &str) -> &mut Self {
        self.file("/proc/self/mountinfo", text)
    }

    /// The finished tree.
    #[must_use]
    pub fn root(&self) -> Root {
        Root::at(self.finish())
    }

    /// Returns the location of the finished tree.
    pub fn finish(&self) -> &Path {
        fs::write(self.path("/stat"), &self.stat).unwrap();
        self.directory.path()
    }

    /// Returns all files that the readers could use, as paths of the host.
    pub fn all_files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut waiting = vec![self.directory.path().to_owned()];
        while let Some(directory) = waiting.pop() {
            for entry in fs::read_dir(directory).unwrap().flatten() {
                let kind = entry.file_type().unwrap();
                let path = entry.path();
                if kind.is_dir() {
                    waiting.push(path);
                } else if kind.is_file() {
                    let inside = path.strip_prefix(self.directory.path()).unwrap();
                    files.push(format!("/{}", inside.to_str().unwrap()));
                }
            }
        }
        files.retain(|file| file != "/stat");
        files.sort();
        files
    }

    /// Damages a file, and returns the data to restore it with [`Tree::mend`].
    pub fn spoil(&mut self, path: &str, damage: Damage) -> Spoilt {
        let at = self.path(path);
        let bytes = fs::read(&at).unwrap();
        fs::remove_file(&at).unwrap();
        damage.put(&at, &bytes);
        Spoilt { at, bytes }
    }

    /// Puts back the file that was spoilt.
    pub fn mend(&mut self, spoilt: Spoilt) {
        let Spoilt { at, bytes } = spoilt;
        if at.is_dir() {
            fs::remove_dir(&at).unwrap();
        } else if at.symlink_metadata().is_ok() {
            fs::remove_file(&at).unwrap();
        }
        fs::write(at, bytes).unwrap();
    }

    /// Takes a file or directory away.
    pub fn remove(&mut self, path: &str) -> &mut Self {
        let path = self.path(path);
        if path.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        }
        .unwrap();
        self
    }
}

/// Returns the directory that a disk's `device` leads to.
fn holder_of(directory: &str) -> Option<&str> {
    let (above, _) = directory.rsplit_once('/')?;
    let (holder, last) = above.rsplit_once('/')?;
    match last {
        "block" => Some(holder).filter(|holder| *holder != "virtual"),
        _ => Some(above).filter(|_| last.starts_with("nvme")),
    }
}
