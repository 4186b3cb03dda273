use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use cardmark_device::FileLog;
use cardmark_store::{JobKind, Journal, JournalHead, Places, Store};
use cardmark_testkit::{LoopDevice, needs, run_as_nobody};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use crate::error::Exit;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

/// Each function that writes, or that looks before: the causes of their refusals, all with status 2.
fn refusals(path: &Path) -> Vec<Option<String>> {
    let cause = |error: CommandError| {
        assert_eq!(error.exit, Exit::Usage, "{path:?}: {error:?}");
        error.causes.join("; ")
    };
    // As if it had been a place for a file before.
    let place = Place::unchecked(path);
    vec![
        Destination::named(path).err().map(cause),
        write(path, b"new").err().map(cause),
        place.write(b"new").err().map(cause),
        place.write_new_private(b"new").err().map(cause),
        place.append().err().map(cause),
    ]
}

#[track_caller]
fn assert_refused(path: &Path, why: &str) {
    for (number, cause) in refusals(path).into_iter().enumerate() {
        let cause = cause.unwrap_or_else(|| panic!("{path:?} was written by {number}"));
        assert!(cause.contains(why), "{path:?}, {number}: {cause}");
    }
}

/// Files that are no regular ones, each with its cause.
fn odd_files(folder: &Path) -> Vec<(PathBuf, &'static str)> {
    let fifo = folder.join("fifo");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let socket = folder.join("socket");
    drop(UnixListener::bind(&socket).unwrap());
    let directory = folder.join("directory");
    fs::create_dir(&directory).unwrap();
    vec![
        (fifo, "a FIFO"),
        (socket, "a socket"),
        (directory, "a directory"),
        ("/dev/zero".into(), "a character device"),
        ("/dev/full".into(), "a character device"),
        ("/dev/tty".into(), "a character device"),
        ("/".into(), "a directory"),
        (folder.join("directory/"), "a directory"),
        (folder.join("directory/.."), "a directory"),
    ]
}

#[test]
fn what_is_no_regular_file_is_neither_opened_nor_replaced() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let odd = odd_files(folder);
    for (index, (path, why)) in odd.iter().enumerate() {
        let before = fs::symlink_metadata(path).unwrap();
        let (link, second) = (
            folder.join(format!("{index}-a")),
            folder.join(format!("{index}-b")),
        );
        symlink(path, &link).unwrap();
        symlink(link.file_name().unwrap(), &second).unwrap();
        for path in [path, &link, &second] {
            assert_refused(path, why);
        }
        let after = fs::symlink_metadata(path).unwrap();
        assert_eq!(before.ino(), after.ino());
        assert_eq!(before.file_type(), after.file_type());
        assert!(link.is_symlink() && second.is_symlink());
    }
    assert_eq!(names(&folder.join("directory")), <[&str; 0]>::default());
    assert!(!names(folder).iter().any(|name| name.starts_with('.')));
}

#[test]
fn block_devices_keep_their_content() {
    needs!(Root, LoopDevice);
    let scratch = tempfile::tempdir_in("/var/tmp").unwrap();
    let image = scratch.path().join("image");
    let content = vec![7; 1 << 20];
    fs::write(&image, &content).unwrap();
    let device = LoopDevice::attach(&image, false);
    let (link, node) = (scratch.path().join("link"), scratch.path().join("node"));
    symlink(device.path(), &link).unwrap();
    let number = fs::metadata(device.path()).unwrap().rdev();
    mknodat(CWD, &node, FileType::BlockDevice, Mode::RWXU, number).unwrap();
    for path in [device.path(), &link, &node] {
        assert_refused(path, "a block device");
    }
    rustix::fs::sync();
    assert!(
        fs::read(&image).unwrap() == content,
        "the device was written"
    );
    assert!(fs::metadata(&node).unwrap().file_type().is_block_device());
}

#[test]
fn folders_of_the_kernel_hold_no_results() {
    for name in ["/dev/sdzz", "/dev/disk/by-id/x", "/sys/x", "/dev/fd/77"] {
        let cause = Destination::named(Path::new(name)).unwrap_err().causes;
        assert!(!cause.is_empty() && !Path::new(name).exists(), "{name}");
    }
    for name in [
        "/proc/self/comm",
        "/proc/sysrq-trigger",
        "/sys/kernel/uevent_seqnum",
    ] {
        assert_refused(Path::new(name), "");
    }
    assert!(Destination::named(Path::new("/dev/shm/cardmark-none")).is_ok());
    assert!(folder(Path::new("/dev")).is_err() && folder(Path::new("/proc/self")).is_err());
}

#[test]
fn outputs_are_streams_under_each_of_their_names() {
    let scratch = tempfile::tempdir().unwrap();
    let (link, null) = (scratch.path().join("link"), scratch.path().join("null"));
    symlink("/dev/stdout", &link).unwrap();
    symlink("/dev/null", &null).unwrap();
    let own = format!("/proc/{}/fd/2", std::process::id());
    for (name, expected) in [
        ("-", Destination::Output),
        ("/dev/stdout", Destination::Output),
        ("/dev/fd/1", Destination::Output),
        ("/proc/self/fd/1", Destination::Output),
        ("/proc/thread-self/fd/1", Destination::Output),
        ("/dev/../dev/stdout", Destination::Output),
        (link.to_str().unwrap(), Destination::Output),
        ("/dev/stderr", Destination::Error),
        (&own, Destination::Error),
        ("/dev/null", Destination::Nothing),
        (null.to_str().unwrap(), Destination::Nothing),
    ] {
        assert_eq!(
            Destination::named(Path::new(name)).unwrap(),
            expected,
            "{name}"
        );
    }
    write(Path::new("/dev/null"), b"gone").unwrap();
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
    assert!(write(Path::new("/dev/stdout"), b"x").is_err());
}

#[test]
fn open_files_of_a_program_are_no_names_of_files() {
    use std::os::fd::AsRawFd;
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("file");
    let file = fs::File::create(&path).unwrap();
    let (read, _write) = std::io::pipe().unwrap();
    for number in [file.as_raw_fd(), read.as_raw_fd()] {
        assert_refused(Path::new(&format!("/dev/fd/{number}")), "");
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

/// A store with all its files.
fn store() -> (TempDir, Places) {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap();
    let places = Places {
        database: folder.join("a b.sqlite"),
        journals: folder.join("journals"),
        tests: folder.join("tests"),
    };
    drop(Store::open(&places.database).unwrap());
    let head = JournalHead {
        job: JobKind::Run,
        target: "x".to_owned(),
        labels: std::collections::BTreeMap::new(),
    };
    Journal::create(&places.journals, "one", &head, None).unwrap();
    fs::create_dir(&places.tests).unwrap();
    drop(FileLog::create(&places.tests.join("card.undo"), 1).unwrap());
    (scratch, places)
}

#[test]
fn the_store_is_no_destination_by_any_name() {
    let (scratch, places) = store();
    let folder = scratch.path();
    for path in [
        places.database.clone(),
        folder.join("a b.sqlite-wal"),
        folder.join("a b.sqlite-journal"),
        places.journals.join("one.journal"),
        places.journals.join("new"),
        places.tests.join("card.undo"),
        places.tests.join("card.undo-map"),
    ] {
        let link = folder.join("link");
        symlink(&path, &link).unwrap();
        for path in [&path, &link] {
            let cause = Destination::beside(path, Some(&places)).unwrap_err();
            assert!(cause.contains("store"), "{path:?}: {cause}");
        }
        fs::remove_file(&link).unwrap();
        if path.exists() {
            // Of another user, or a copy.
            let (copy, hard) = (folder.join("copy"), folder.join("hard"));
            fs::copy(&path, &copy).unwrap();
            fs::hard_link(&path, &hard).unwrap();
            for path in [&copy, &hard] {
                assert_refused(path, "it is ");
                fs::remove_file(path).unwrap();
            }
        }
    }
    for name in ["a b.sqlite2", "a b", "page.html", "journals.json"] {
        let found = Destination::beside(&folder.join(name), Some(&places));
        assert!(matches!(found, Ok(Destination::File(_))), "{name}");
    }
}

#[test]
fn a_new_file_is_like_any_new_file_and_an_old_one_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, path) = (folder.path().join("plain"), folder.path().join("page.html"));
    fs::write(&plain, "").unwrap();
    write(&path, b"one").unwrap();
    assert_eq!(mode(&path), mode(&plain));
    fs::set_permissions(&path, Permissions::from_mode(0o604)).unwrap();
    write(&path, b"two").unwrap();
    assert_eq!(mode(&path), 0o604);
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(names(folder.path()), ["page.html", "plain"]);
}

#[test]
fn a_link_to_a_file_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("page.html"), folder.path().join("link"));
    symlink("page.html", &link).unwrap();
    // A link to a file that is not there yet, then to the file.
    for text in ["one", "two"] {
        write(&link, text.as_bytes()).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let circle = folder.path().join("circle");
    symlink("circle", &circle).unwrap();
    assert_refused(&circle, "too many links");
}

#[test]
fn an_owner_is_kept() {
    needs!(Root);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    chown(&path, Some(65_534), Some(65_534)).unwrap();
    write(&path, b"new").unwrap();
    let kept = fs::metadata(&path).unwrap();
    assert_eq!(
        (kept.uid(), kept.gid(), mode(&path)),
        (65_534, 65_534, 0o640)
    );
}

#[test]
fn what_another_user_put_into_a_shared_folder_is_refused() {
    needs!(Root);
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    let aim = folder.path().join("aim");
    fs::write(&file, "old").unwrap();
    symlink(&aim, &link).unwrap();
    for path in [&file, &link] {
        std::os::unix::fs::lchown(path, Some(65_534), Some(65_534)).unwrap();
        assert_refused(path, "another user");
    }
    assert!(!aim.exists());
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
}

#[test]
fn nothing_is_written_in_place() {
    if rustix::process::geteuid().is_root() {
        return run_as_nobody("file::tests::nothing_is_written_in_place");
    }
    let scratch = tempfile::tempdir().unwrap();
    let shut = scratch.path().join("shut");
    fs::create_dir(&shut).unwrap();
    let (file, locked) = (shut.join("file"), scratch.path().join("locked"));
    fs::write(&file, "old").unwrap();
    fs::write(&locked, "old").unwrap();
    fs::set_permissions(&locked, Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(&shut, Permissions::from_mode(0o500)).unwrap();
    let cause = |path: &Path| Destination::named(path).unwrap_err().causes.join("");
    let (writable, new) = (cause(&file), cause(&shut.join("new")));
    let readable = cause(&locked);
    let closed = folder(&shut).unwrap_err();
    fs::set_permissions(&shut, Permissions::from_mode(0o700)).unwrap();
    assert!(
        writable.contains("no file can be made beside it"),
        "{writable}"
    );
    assert!(new.contains("no file can be made beside it"), "{new}");
    assert!(readable.contains("write-protected"), "{readable}");
    assert_eq!(closed.exit, Exit::Usage);
    for path in [&file, &locked] {
        assert_eq!(fs::read_to_string(path).unwrap(), "old");
    }
    assert_eq!(names(&shut), ["file"]);
}

#[test]
fn missing_folders_and_empty_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [
        folder.path().join("no/such/page.html"),
        file.join("page.html"),
        PathBuf::new(),
        folder.path().join("new/"),
    ] {
        assert_eq!(
            Destination::named(&path).unwrap_err().exit,
            Exit::Usage,
            "{path:?}"
        );
    }
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn a_private_file_is_new_and_only_its_owner_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    let place = Place::unchecked(&path);
    place.write_new_private(b"one").unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(
        place.write_new_private(b"two").unwrap_err().exit,
        Exit::Usage
    );
    assert_eq!(fs::read(&path).unwrap(), b"one");
}

#[test]
fn a_log_is_appended_to() {
    use std::io::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    for line in ["one\n", "two\n"] {
        let place = Place::unchecked(&path);
        place.append().unwrap().write_all(line.as_bytes()).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
}

#[test]
fn folders_are_folders() {
    let scratch = tempfile::tempdir().unwrap();
    let odd = odd_files(scratch.path());
    let file = scratch.path().join("file");
    fs::write(&file, "").unwrap();
    for (index, (path, why)) in odd.iter().enumerate() {
        let link = scratch.path().join(format!("{index}"));
        symlink(path, &link).unwrap();
        let is_folder = path.is_dir() && path != Path::new("/");
        for path in [path, &link] {
            match folder(path) {
                Ok(()) => assert!(path.is_dir()),
                Err(error) => {
                    assert!(!is_folder, "{path:?}: {error:?}");
                    assert_eq!(error.exit, Exit::Usage);
                    let cause = error.causes.join("");
                    assert!(path.is_dir() || cause.contains(why), "{path:?}: {cause}");
                }
            }
        }
    }
    assert!(folder(&file).is_err() && folder(&file.join("in")).is_err());
    assert!(folder(&scratch.path().join("missing")).is_ok());
    assert_eq!(
        names(&scratch.path().join("directory")),
        <[&str; 0]>::default()
    );
}

#[test]
fn an_undo_log_is_a_regular_file() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("card.undo");
    mknodat(CWD, &log, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let error = FileLog::open(&log).unwrap_err();
    assert!(error.to_string().contains("regular file"), "{error}");
    fs::remove_file(&log).unwrap();
    symlink("/dev/zero", &log).unwrap();
    assert!(FileLog::open(&log).is_err());
}
