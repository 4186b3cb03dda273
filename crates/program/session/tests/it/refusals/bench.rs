//! How the situations come to be, and go again.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cardmark_session::Consent;
use cardmark_testkit::{FuseDir, LoopDevice, Undo, WriterWatch, make_ext4, run_tool, spawn};
use rustix::fs::{FileType, Mode, OFlags, makedev, minor, mknodat};

use super::{PART_BYTES, PARTED_BYTES, SIZE_BYTES, TO_TYPE};
use crate::run::Run;
use crate::world::{Dialog, Ended, Person, World, consent_of, text};

/// Everything one row needs.
pub(super) struct Bench {
    pub(super) world: World,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self {
            world: World::new(),
        }
    }

    /// A file that a device can stand on.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.file_of(name, SIZE_BYTES)
    }

    pub(super) fn file_of(&self, name: &str, size_bytes: u64) -> PathBuf {
        let path = self.world.scratch.path().join(name);
        File::create(&path).unwrap().set_len(size_bytes).unwrap();
        path
    }

    pub(super) fn device(&self, name: &str) -> LoopDevice {
        LoopDevice::attach(&self.file(name), false)
    }

    /// A file without holes, as swap space needs it.
    pub(super) fn full_file(&self, name: &str, size_bytes: u64) -> PathBuf {
        let path = self.world.scratch.path().join(name);
        let content = vec![1; usize::try_from(size_bytes).unwrap()];
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Another name for the backing file of the device.
    pub(super) fn hard_link(&self, device: &LoopDevice) -> PathBuf {
        let link = self.world.scratch.path().join("linked");
        std::fs::hard_link(device.file(), &link).unwrap();
        link
    }

    /// Another path to everything in `scratch`.
    pub(super) fn bind(&self) -> (Undo, PathBuf) {
        let point = tempfile::tempdir_in(self.world.scratch.path().parent().unwrap());
        let point = point.unwrap().keep();
        run_tool(
            "mount",
            &["--bind", text(self.world.scratch.path()), text(&point)],
        );
        (Undo::mount_and_point(&point), point)
    }

    /// A process that has mapped the first page of the file, and closed the file.
    pub(super) fn mapped(&self, file: &Path) -> Elsewhere {
        let script = "import mmap, sys\n\
             file = open(sys.argv[1], 'r+b')\n\
             mapped = mmap.mmap(file.fileno(), 4096, trackfd=False) \\\n\
                 if sys.version_info >= (3, 13) else mmap.mmap(file.fileno(), 4096)\n\
             file.close()\n\
             print('ready', flush=True)\n\
             sys.stdin.readline()\n";
        Elsewhere::start(Command::new("python3").args(["-c", script, text(file)]))
    }

    /// A process that has the file open in a way that its list of descriptors does not show.
    pub(super) fn hidden(&self, trick: &str, file: &Path) -> Elsewhere {
        let script = include_str!("holder.py");
        Elsewhere::start(Command::new("python3").args(["-c", script, trick, text(file)]))
    }

    /// A loop device on a file of that size on an overlay of another tree of mounts, the process that lives there, and
    /// the file below the overlay.
    pub(super) fn overlay_elsewhere(&self, size_bytes: u64) -> (Undo, Elsewhere, PathBuf) {
        let (upper, work, point) = (self.folder(), self.folder(), self.folder());
        let name = self.world.scratch.path().join("name");
        let script = format!(
            "mount -t overlay -o lowerdir={work},upperdir={upper},workdir={work}/work overlay {point} && \
             truncate -s {size_bytes} {point}/card && \
             losetup --find --show {point}/card >{name}",
            work = work.display(),
            upper = upper.display(),
            point = point.display(),
            name = name.display()
        );
        std::fs::create_dir(work.join("work")).unwrap();
        let elsewhere = LoopDevice::in_turn(|| self.elsewhere(&script));
        let name = std::fs::read_to_string(name).unwrap();
        let undo = Undo::new("losetup", &["--detach", name.trim()]);
        (undo, elsewhere, upper.join("card"))
    }

    /// A loop device on a file of that size, whose filesystem has lost its server.
    pub(super) fn dead(&self, size_bytes: u64) -> (Undo, FuseDir) {
        let fuse = FuseDir::mount(self.world.scratch.path());
        let file = fuse.path().join("dead");
        File::create(&file).unwrap().set_len(size_bytes).unwrap();
        let device = LoopDevice::attach(&file, false);
        let undo = Undo::new("losetup", &["--detach", text(device.path())]);
        let connection = minor(fuse.path().metadata().unwrap().dev());
        let control = self.folder();
        run_tool("mount", &["-t", "fusectl", "none", text(&control)]);
        let _control = Undo::mount(&control);
        std::fs::write(control.join(format!("{connection}/abort")), "1").unwrap();
        assert!(file.metadata().is_err());
        // It cannot detach what it does not recognise.
        std::mem::forget(device);
        (undo, fuse)
    }

    /// A process that has the file open for writing, `<>` or `>>`.
    pub(super) fn open(&self, redirection: &str, file: &Path) -> Elsewhere {
        let script = format!("exec 3{redirection}\"$0\" && echo ready && read -r end");
        Elsewhere::start(Command::new("sh").args(["-c", &script, text(file)]))
    }

    /// A device with a filesystem that writes nothing by itself later.
    pub(super) fn ext4(&self) -> LoopDevice {
        let device = self.device("card");
        make_ext4(device.path());
        device
    }

    pub(super) fn folder(&self) -> PathBuf {
        tempfile::tempdir_in(self.world.scratch.path())
            .unwrap()
            .keep()
    }

    pub(super) fn mount(&self, device: &Path, options: &str) -> (Undo, PathBuf) {
        let point = self.folder();
        run_tool("mount", &["-o", options, text(device), text(&point)]);
        (Undo::mount(&point), point)
    }

    pub(super) fn overlay(&self, lower: &Path) -> (Undo, PathBuf) {
        let (undo, point, _) = self.overlay_on(lower);
        (undo, point)
    }

    /// An overlay, where it is mounted, and the directory below that takes what is written to it.
    pub(super) fn overlay_with_upper(&self) -> (Undo, PathBuf, PathBuf) {
        self.overlay_on(&self.folder())
    }

    fn overlay_on(&self, lower: &Path) -> (Undo, PathBuf, PathBuf) {
        let (upper, work, point) = (self.folder(), self.folder(), self.folder());
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            lower.display(),
            upper.display(),
            work.display()
        );
        run_tool(
            "mount",
            &["-t", "overlay", "-o", &options, "overlay", text(&point)],
        );
        (Undo::mount(&point), point, upper)
    }

    /// A process in another tree of mounts, where it has run this.
    pub(super) fn elsewhere(&self, command: &str) -> Elsewhere {
        let script = format!("{command} && echo ready && read -r end");
        let arguments = ["--mount", "--propagation", "private", "sh", "-c", &script];
        Elsewhere::start(Command::new("unshare").args(arguments))
    }

    /// A device with two partitions.
    pub(super) fn partitions(&self) -> Partitions {
        let file = self.file_of("card", PARTED_BYTES);
        let device = LoopDevice::attach(&file, false);
        let added = self.partition(&device);
        Partitions { added, device }
    }

    /// Writes a partition table into its file and informs the kernel.
    pub(super) fn partition(&self, device: &LoopDevice) -> Undo {
        let half = u32::try_from(PART_BYTES / 512).unwrap();
        let mut sector = [0; 512];
        for (index, start) in [2048, 2048 + half].into_iter().enumerate() {
            let entry = &mut sector[446 + 16 * index..][..16];
            entry[4] = 0x83;
            entry[8..12].copy_from_slice(&start.to_le_bytes());
            entry[12..].copy_from_slice(&half.to_le_bytes());
        }
        sector[510..].copy_from_slice(&[0x55, 0xaa]);
        let mut file = File::options().write(true).open(device.file()).unwrap();
        file.write_all(&sector).unwrap();
        file.sync_all().unwrap();
        drop(file);
        run_tool("blockdev", &["--flushbufs", text(device.path())]);
        self.add_partitions(device)
    }

    /// Informs the kernel of the two partitions in the table of the device.
    pub(super) fn add_partitions(&self, device: &LoopDevice) -> Undo {
        let undo = Undo::new("sh", &["-c", FORGET, text(device.path())]);
        run_tool("partx", &["--add", text(device.path())]);
        undo
    }

    /// Another name for the device.
    pub(super) fn node(&self, device: &LoopDevice) -> PathBuf {
        let number = device.number();
        let (major, minor) = number.split_once(':').unwrap();
        let node = self.world.scratch.path().join(format!("node{minor}"));
        let number = makedev(major.parse().unwrap(), minor.parse().unwrap());
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(rustix::fs::CWD, &node, FileType::BlockDevice, mode, number).unwrap();
        node
    }

    /// What the device is called, up to its size.
    pub(super) fn model(&self, device: &LoopDevice) -> String {
        format!("loop device on {} ", device.file().display())
    }

    /// Measures the device, agreed to by flags.
    pub(super) fn attempt(&self, device: &LoopDevice) -> Ended {
        self.attempt_on(device, device.path())
    }

    /// The same on a partition of the device.
    pub(super) fn attempt_on(&self, device: &LoopDevice, path: &Path) -> Ended {
        let consent = consent_of(device.file());
        device.unwritten(|_| self.unwatched(path, &consent))
    }

    /// The same where the file of the device has this path now.
    pub(super) fn attempt_as(&self, device: &LoopDevice, file: &Path) -> Ended {
        let consent = consent_of(file);
        device.unwritten(|_| self.unwatched(device.path(), &consent))
    }

    /// Measures something whose counters say nothing; it must not be opened for writing.
    pub(super) fn unwatched(&self, path: &Path, consent: &Consent) -> Ended {
        let watch = WriterWatch::on(path);
        let ended = self.measure(Person::absent(), path, "rand_read_4k", consent);
        assert!(!watch.saw_writer(), "opened for writing: {ended:?}");
        ended
    }

    /// Measures one workload of suite `quick`.
    pub(super) fn measure(
        &self,
        person: &'static Person,
        path: &Path,
        workload: &str,
        consent: &Consent,
    ) -> Ended {
        let run = Run {
            consent: consent.clone(),
            ..Run::of(text(path)).only(&[workload])
        };
        run.attended(&self.world, person)
    }

    /// Measures while a person types what `act` returns, given the question.
    pub(super) fn asked(&self, path: &Path, act: impl FnOnce(Dialog)) -> Ended {
        let (person, dialog) = Person::with_dialog();
        std::thread::scope(|scope| {
            let job =
                scope.spawn(|| self.measure(person, path, "rand_read_4k", &Consent::default()));
            act(dialog);
            job.join().unwrap()
        })
    }

    /// Types something else than what is asked for.
    pub(super) fn typed(&self, device: &LoopDevice, typed: &str) -> Ended {
        let person = Person::who_types(typed);
        device.unwritten(|device| {
            self.measure(person, device.path(), "rand_read_4k", &Consent::default())
        })
    }

    /// Does something while the question waits, then types what was asked for.
    pub(super) fn answered<R>(
        &self,
        device: &LoopDevice,
        act: impl FnOnce(&LoopDevice) -> R,
    ) -> Ended {
        let mut held = None;
        let mut before = None;
        let ended = self.asked(device.path(), |dialog| {
            let question = dialog.question();
            held = Some(act(device));
            run_tool("blockdev", &["--flushbufs", text(device.path())]);
            before = Some(device.written());
            dialog.answer(&expected(&question));
        });
        assert_eq!(Some(device.written()), before, "{ended:?}");
        drop(held);
        ended
    }
}

/// The words that the question asks for.
pub(super) fn expected(question: &str) -> String {
    let (_, rest) = question.split_once(TO_TYPE).unwrap();
    rest.lines().next().unwrap().to_owned()
}

/// Holds a device as a mount would.
pub(super) fn exclusively(path: &Path) -> File {
    let flags = i32::try_from(OFlags::EXCL.bits()).unwrap();
    File::options()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .unwrap()
}

pub(super) fn mountinfo() -> String {
    std::fs::read_to_string("/proc/self/mountinfo").unwrap()
}

/// Removes both partitions of a device. One that is still open, such as one that was unmounted lazily, goes a moment later; the kernel
/// would keep it for the next file behind the device.
const FORGET: &str = "name=${0##*/}\n\
    for try in $(seq 300); do\n\
        partx --delete --nr 1:2 \"$0\" 2>/dev/null\n\
        [ -e /sys/block/$name/${name}p1 ] || [ -e /sys/block/$name/${name}p2 ] || exit 0\n\
        sleep 0.1\n\
    done\n\
    exit 1";

/// A process that waits; gone, with its mounts, at the end.
pub(super) struct Elsewhere(Child);

impl Elsewhere {
    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = Self(spawn(command).unwrap());
        let mut line = String::new();
        let mut said = BufReader::new(child.0.stdout.as_mut().unwrap());
        said.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        child
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// The partitions go before their device.
pub(super) struct Partitions {
    #[expect(dead_code, reason = "held until the test is over")]
    pub(super) added: Undo,
    pub(super) device: LoopDevice,
}

impl Partitions {
    pub(super) fn path(&self, number: u32) -> PathBuf {
        PathBuf::from(format!("{}p{number}", self.device.path().display()))
    }
}
