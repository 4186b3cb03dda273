//! Builds fixture trees: the files of a board that the readers look at, in a temporary directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use cardmark_host::Root;
use tempfile::TempDir;

pub(crate) struct Tree {
    directory: TempDir,
    stat: String,
}

impl Tree {
    pub(crate) fn new() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
            stat: String::new(),
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path.trim_start_matches('/'))
    }

    /// A file with this text.
    pub(crate) fn file(&mut self, path: &str, text: &str) -> &mut Self {
        self.bytes(path, text.as_bytes())
    }

    /// A file with these bytes.
    pub(crate) fn bytes(&mut self, path: &str, text: &[u8]) -> &mut Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// An empty directory.
    pub(crate) fn directory(&mut self, path: &str) -> &mut Self {
        fs::create_dir_all(self.path(path)).unwrap();
        self
    }

    /// A link that holds on whatever path the tree lies.
    pub(crate) fn link(&mut self, path: &str, to: &str) -> &mut Self {
        let up = "../".repeat(path.trim_start_matches('/').split('/').count() - 1);
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(format!("{up}{}", to.trim_start_matches('/')), path).unwrap();
        self
    }

    /// What process `id` has open under number 3, with these flags.
    pub(crate) fn opened(&mut self, id: u32, device: &str, flags: &str) -> &mut Self {
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
    pub(crate) fn holder(&mut self, below: &str, above: &str) -> &mut Self {
        self.holder_only(below, above).slave(above, below)
    }

    /// The same, seen from below alone.
    pub(crate) fn holder_only(&mut self, below: &str, above: &str) -> &mut Self {
        let name = Path::new(above).file_name().unwrap().to_str().unwrap();
        let link = format!("/sys/devices/{below}/holders/{name}");
        self.link(&link, &format!("/sys/devices/{above}"))
    }

    /// A whole block device: its directory below `/sys/devices`, number, sectors.
    pub(crate) fn disk(&mut self, directory: &str, number: &str, sectors: u64) -> &mut Self {
        self.block(directory, number, sectors);
        self.file(&format!("/sys/devices/{directory}/queue/iostats"), "1\n")
            .file(
                &format!("/sys/devices/{directory}/queue/scheduler"),
                "none [mq-deadline]\n",
            )
            .file(&format!("/sys/devices/{directory}/removable"), "0\n")
    }

    /// A partition; its directory is in that of its disk.
    pub(crate) fn partition(&mut self, directory: &str, number: &str, sectors: u64) -> &mut Self {
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
    pub(crate) fn slave(&mut self, above: &str, below: &str) -> &mut Self {
        let name = Path::new(below).file_name().unwrap().to_str().unwrap();
        let link = format!("/sys/devices/{above}/slaves/{name}");
        self.link(&link, &format!("/sys/devices/{below}"));
        self
    }

    /// A line of what `stat(2)` says; see `Root`.
    pub(crate) fn stat(&mut self, line: &str) -> &mut Self {
        self.stat.push_str(line);
        self.stat.push('\n');
        self
    }

    /// `/proc/self/mountinfo`.
    pub(crate) fn mounts(&mut self, text: &str) -> &mut Self {
        self.file("/proc/self/mountinfo", text)
    }

    /// The finished tree.
    pub(crate) fn root(&self) -> Root {
        fs::write(self.path("/stat"), &self.stat).unwrap();
        Root::at(self.directory.path())
    }

    /// Takes a file or directory away.
    pub(crate) fn remove(&mut self, path: &str) -> &mut Self {
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
