//! Tools that are run for a test and undone after it, and whether somebody writes to a device meanwhile.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::inotify;

use crate::command::tool;
use crate::loop_device::LoopDevice;
use crate::starts::spawn;

/// Runs a tool of the system, which must succeed.
///
/// # Panics
/// If it fails, with what it printed.
#[track_caller]
pub fn run_tool<A: AsRef<OsStr>>(name: &str, arguments: &[A]) {
    tool(name, arguments).unwrap();
}

/// Makes a filesystem that writes nothing by itself later.
#[track_caller]
pub fn make_ext4(device: &Path) {
    let options = ["-q", "-F", "-O", "^has_journal", "-E", "lazy_itable_init=0"];
    let mut arguments: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
    arguments.push(device.as_os_str());
    run_tool("mkfs.ext4", &arguments);
}

/// The disk below `/`; its plain name in `/dev`.
pub fn root_disk() -> PathBuf {
    let system = cardmark_host::Root::system();
    let resolution = cardmark_host::resolve(&system, Path::new("/")).unwrap();
    let disk = resolution.disks.first().expect("the disk below / is known");
    Path::new("/dev").join(&disk.name)
}

/// Ends a mount for certain.
const UNMOUNT: &str = "{ umount \"$0\" 2>/dev/null || umount --lazy \"$0\"; }";

/// A tool that is run when the test is over, also after a panic.
#[derive(Debug)]
pub struct Undo(Option<(String, Vec<String>)>);

impl Undo {
    /// Runs this tool at the end.
    #[must_use]
    pub fn new(name: &str, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned());
        Self(Some((name.to_owned(), arguments.collect())))
    }

    /// Unmounts what is mounted here. A device that is detached a moment later, because somebody looks at it, keeps a
    /// mount busy: it goes once the device does.
    #[must_use]
    pub fn mount(point: &Path) -> Self {
        Self::new("sh", &["-c", UNMOUNT, point.to_str().unwrap()])
    }

    /// Unmounts what is mounted here, and removes the mount point.
    #[must_use]
    pub fn mount_and_point(point: &Path) -> Self {
        let undo = format!("{UNMOUNT} && rmdir \"$0\"");
        Self::new("sh", &["-c", &undo, point.to_str().unwrap()])
    }

    /// Leaves it undone.
    pub fn forget(mut self) {
        self.0 = None;
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        if let Some((name, arguments)) = self.0.take() {
            let ended = spawn(Command::new(&name).args(&arguments));
            let ended = ended.and_then(|mut child| child.wait());
            if !ended.is_ok_and(|status| status.success()) {
                eprintln!("rig: {name} {arguments:?} failed");
            }
        }
    }
}

/// Notices when somebody who could write to a file closes it.
#[derive(Debug)]
pub struct WriterWatch(rustix::fd::OwnedFd);

impl WriterWatch {
    /// Begins to watch.
    #[must_use]
    pub fn on(path: &Path) -> Self {
        let flags = inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC;
        let fd = inotify::init(flags).unwrap();
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        inotify::add_watch(&fd, path, inotify::WatchFlags::CLOSE_WRITE).unwrap();
        Self(fd)
    }

    /// Returns whether there was one.
    pub fn saw_writer(&self) -> bool {
        let mut buffer = [0; 1024];
        rustix::io::read(&self.0, &mut buffer).is_ok_and(|count| count > 0)
    }
}

impl LoopDevice {
    /// Operations and sectors that the kernel has counted as written to the device.
    #[must_use]
    pub fn written(&self) -> (u64, u64) {
        let counts = self.counts();
        (counts[4], counts[6])
    }

    /// Number of bytes that the kernel has counted as discarded on the device.
    #[must_use]
    pub fn discarded_bytes(&self) -> u64 {
        512 * self.counts()[13]
    }

    /// The fields of the device's `stat` in sysfs.
    fn counts(&self) -> Vec<u64> {
        let name = self.path().file_name().unwrap();
        let stat = Path::new("/sys/block").join(name).join("stat");
        let stat = std::fs::read_to_string(stat).unwrap();
        let fields = stat.split_whitespace();
        fields.map(|field| field.parse().unwrap()).collect()
    }

    /// Does this, and returns what it returns if nothing was written to the device meanwhile.
    ///
    /// # Panics
    /// If something was.
    #[track_caller]
    pub fn unwritten<T: std::fmt::Debug>(&self, act: impl FnOnce(&Self) -> T) -> T {
        run_tool("blockdev", &["--flushbufs".as_ref(), self.path()]);
        let before = self.written();
        let ended = act(self);
        assert_eq!(self.written(), before, "{ended:?}");
        ended
    }
}
