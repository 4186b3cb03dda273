//! Loop devices.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FlockOperation;

use crate::command::tool;

/// Times that a device still in use is let go of, and the pause between.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// Waits until no child of this process has the file open. A child that was forked while the file was open
/// has it until it runs its program, and the gate refuses a file that another process can write.
fn wait_for_children(file: &Path) {
    let own = std::fs::read_link("/proc/self/exe").unwrap();
    let has_open = |process: PathBuf| {
        let is_child = std::fs::read_link(process.join("exe")).is_ok_and(|exe| exe == own);
        let is_self = process.file_name() == Some(std::process::id().to_string().as_ref());
        let open = std::fs::read_dir(process.join("fd")).into_iter().flatten();
        let mut links = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        is_child && !is_self && links.any(|link| link == file)
    };
    for _ in 0..TRIES {
        let processes = std::fs::read_dir("/proc").unwrap();
        if !processes
            .filter_map(|entry| Some(entry.ok()?.path()))
            .any(has_open)
        {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// A loop device on a file; detached on drop. The file is the caller's.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
    file: PathBuf,
    /// Device and inode of the file.
    backing: Option<String>,
}

impl LoopDevice {
    /// Attaches a free loop device to `file`.
    #[must_use]
    pub fn attach(file: &Path, direct_io: bool) -> Self {
        let file = file.canonicalize().unwrap();
        wait_for_children(&file);
        let direct = if direct_io { "on" } else { "off" };
        let direct = format!("--direct-io={direct}");
        let arguments = [
            "--find".as_ref(),
            "--show".as_ref(),
            direct.as_ref(),
            file.as_os_str(),
        ];
        let turn = take_turn();
        let path = PathBuf::from(tool("losetup", &arguments).unwrap());
        let backing = backing(&path);
        drop(turn);
        Self {
            path,
            file,
            backing,
        }
    }

    /// Runs something that attaches a loop device by itself, such as `mount -o loop`.
    pub fn in_turn<T>(act: impl FnOnce() -> T) -> T {
        let _turn = take_turn();
        act()
    }

    /// Puts another file behind the same device, as when a card is changed in its reader. While a program holds the
    /// device, this waits for it to let go: the kernel detaches at the last close.
    pub fn change_file(&mut self, file: &Path) {
        let _turn = self.detach();
        self.file = file.canonicalize().unwrap();
        let attach = || tool("losetup", &[&self.path, &self.file]).is_ok();
        let is_attached = (0..TRIES).any(|_| {
            attach() || {
                std::thread::sleep(PAUSE);
                false
            }
        });
        assert!(is_attached, "{} is still in use", self.path.display());
        self.backing = backing(&self.path);
    }

    /// Informs the device of a changed size of its file.
    pub fn notice_size(&self) {
        tool(
            "losetup",
            &["--set-capacity".as_ref(), self.path.as_os_str()],
        )
        .unwrap();
    }

    /// Detaches the file. No other rig gets the device before the returned value is dropped.
    #[must_use]
    pub fn detach(&self) -> impl Sized + use<> {
        let turn = take_turn();
        tool("losetup", &["--detach".as_ref(), self.path.as_os_str()]).unwrap();
        turn
    }

    /// Makes the file behind the device longer, so that it is not known as the one any more: the loop device then is the
    /// lowest that is known, and so the disk.
    pub fn disguise(&self) {
        let file = File::options().write(true).open(self.file()).unwrap();
        let bytes = file.metadata().unwrap().len();
        file.set_len(bytes + (1 << 20)).unwrap();
    }

    /// The device, such as `/dev/loop3`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file behind it.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Major and minor number, as `7:3`.
    pub fn number(&self) -> String {
        let number = std::fs::metadata(&self.path).unwrap().rdev();
        format!(
            "{}:{}",
            rustix::fs::major(number),
            rustix::fs::minor(number)
        )
    }

    /// Returns whether the device still has our backing file, by device and inode, and no other.
    fn is_ours(&self) -> bool {
        backing(&self.path) == self.backing
    }
}

/// Returns device and inode of the file behind the loop device, as `losetup` prints them; `None` if it has no
/// file.
fn backing(device: &Path) -> Option<String> {
    let columns = "BACK-MAJ:MIN,BACK-INO".as_ref();
    let arguments = [
        "--list".as_ref(),
        "--noheadings".as_ref(),
        "--output".as_ref(),
        columns,
        device.as_os_str(),
    ];
    let printed = tool("losetup", &arguments).ok()?;
    let fields: Vec<&str> = printed.split_whitespace().collect();
    (fields.len() == 2).then(|| fields.join(" "))
}

/// Tests on one machine take turns in looking for a free device: whoever loses a race for one has
/// it open for a moment, and the program takes that for another user of it.
fn take_turn() -> File {
    let control = File::open("/dev/loop-control").unwrap();
    rustix::fs::flock(&control, FlockOperation::LockExclusive).unwrap();
    control
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        for _ in 0..TRIES {
            if self.backing.is_none() || !self.is_ours() {
                return;
            }
            // Detached lazily if it is in use: checked again.
            let _ = tool("losetup", &["--detach".as_ref(), self.path.as_os_str()]);
            if !self.is_ours() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
        eprintln!("rig: {} is still attached", self.path.display());
    }
}
