//! Files of our own.

use std::path::Path;

use cardmark_device::{OpenError, TestFile, free_bytes, open_device_readonly};

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
fn a_place_for_the_file_must_be_a_directory_with_room() {
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
    let error = TestFile::create(directory.path(), u64::MAX).unwrap_err();
    assert!(
        matches!(error, OpenError::NoSpace { needed_bytes: u64::MAX, free_bytes, .. }
            if free_bytes > 0),
        "{error:?}"
    );
    assert!(free_bytes(directory.path()).unwrap() > 0);
    assert!(matches!(
        free_bytes(&missing),
        Err(OpenError::Missing { .. })
    ));
}

#[test]
fn a_directory_without_the_right_to_write_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o500)).unwrap();
    let result = TestFile::create(directory.path(), 1);
    if rustix::process::geteuid().is_root() {
        // Root may write anywhere; `/proc` lets nobody make a file.
        assert!(TestFile::create(Path::new("/proc"), 0).is_err());
    } else {
        assert!(
            matches!(result, Err(OpenError::NotWritable { .. })),
            "{result:?}"
        );
    }
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
