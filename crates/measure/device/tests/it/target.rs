//! Files of our own.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use cardmark_device::{OpenError, TestFile, free_bytes, open_device_readonly};
use cardmark_testkit::{Mount, needs};

fn number(raw: u64) -> (u32, u32) {
    (rustix::fs::major(raw), rustix::fs::minor(raw))
}

#[test]
fn no_name_is_left_in_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let file = TestFile::create(directory.path(), 1 << 20).unwrap();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    assert_eq!(file.size_bytes, 1 << 20);
    assert!(file.alignment_bytes.is_power_of_two());
    assert!(file.memory_alignment_bytes.is_power_of_two());
    assert!(!file.nocow || file.direct);
}

#[test]
fn a_file_tells_the_device_of_its_directory() {
    let directory = tempfile::tempdir().unwrap();
    let id = |directory: &Path| TestFile::create(directory, 1).unwrap().device_id;
    let stat = |directory: &Path| number(std::fs::metadata(directory).unwrap().dev());
    assert_eq!(id(directory.path()), stat(directory.path()));
    needs!(Root);
    let mount = Mount::tmpfs(directory.path(), 1 << 20);
    assert_eq!(id(mount.folder()), stat(mount.folder()));
    assert_ne!(id(mount.folder()), id(directory.path()));
}

#[test]
fn a_place_for_the_file_must_be_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    assert!(matches!(
        TestFile::create(&missing, 1),
        Err(OpenError::Missing { .. })
    ));
    let plain = directory.path().join("plain");
    std::fs::write(&plain, "x").unwrap();
    let error = TestFile::create(&plain, 1).unwrap_err();
    assert!(
        matches!(&error, OpenError::NotDirectory { .. }),
        "{error:?}"
    );
    assert_eq!(error.path(), plain);
    assert!(free_bytes(directory.path()).unwrap() > 0);
    assert!(matches!(
        free_bytes(&missing),
        Err(OpenError::Missing { .. })
    ));
}

#[test]
fn a_directory_without_the_right_to_write_says_so() {
    if rustix::process::geteuid().is_root() {
        // Root writes anywhere, so that another user has to try.
        return cardmark_testkit::run_as_nobody("a_directory_without_the_right_to_write_says_so");
    }
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), Permissions::from_mode(0o500)).unwrap();
    let result = TestFile::create(directory.path(), 1);
    assert!(
        matches!(result, Err(OpenError::NotWritable { .. })),
        "{result:?}"
    );
}

#[test]
fn only_block_devices_are_devices() {
    for path in ["/dev/null", "/", "/proc/self/exe"] {
        let error = open_device_readonly(Path::new(path)).unwrap_err();
        assert!(
            matches!(error, OpenError::NotBlockDevice { .. }),
            "{error:?}"
        );
    }
    let error = open_device_readonly(Path::new("/dev/no-such-device")).unwrap_err();
    assert!(matches!(error, OpenError::Missing { .. }), "{error:?}");
}
