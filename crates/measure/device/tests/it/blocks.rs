//! A directory as storage of blocks.

use cardmark_core::Errno;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use cardmark_device::Blocks;
use cardmark_engine::Pulse;
use cardmark_integrity::{Content, Extent, Held, Medium, Span, Trouble};
use cardmark_testkit::{FuseDir, Mount, needs};

const MIB: u64 = 1 << 20;
const OURS: Content = Content { seed: 7, round: 0 };
/// 8 MiB.
const ALL: Span = Span {
    start: 0,
    count: 8 << 11,
};

fn blocks_in(directory: &Path) -> Blocks {
    Blocks::in_folder(directory, ALL.count, Arc::new(Pulse::new())).unwrap()
}

fn scratch() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// Another process has filled the filesystem: the card took all that it was given.
#[test]
fn a_filesystem_that_is_full_says_nothing_about_the_card() {
    needs!(Root);
    let mount = Mount::tmpfs(scratch(), 6 * MIB);
    let full = Trouble::Filesystem {
        errno: Errno::NOSPC,
    };
    assert_eq!(blocks_in(mount.folder()).write(ALL, OURS), Err(full));
}

#[test]
fn only_what_the_storage_itself_says_is_an_answer() {
    needs!(Fuse);
    for (errno, is_answer) in [
        (Errno::NOSPC, false),
        (Errno::DQUOT, false),
        (Errno::ROFS, false),
        (Errno::IO, true),
    ] {
        let directory = FuseDir::mount(scratch());
        let mut blocks = blocks_in(directory.path());
        directory.fail_writes_beyond(4 * MIB, errno);
        let refused = Extent::new(
            Span::between(ALL.count / 2, ALL.count),
            Held::Refused { errno },
        );
        let written = blocks.write(ALL, OURS).map(|answer| answer.runs);
        let expected = match is_answer {
            true => Ok(vec![refused]),
            false => Err(Trouble::Filesystem { errno }),
        };
        assert_eq!(written, expected);
        directory.fail_syncs(errno);
        let flushed = blocks.flush().map(drop);
        assert_eq!(flushed, expected.map(drop));
    }
}

/// The kernel's report that it is gone is therefore noticed.
#[test]
fn the_device_below_a_directory_is_known() {
    needs!(LoopDevice, Ext4);
    let mount = Mount::ext4_in_memory(scratch(), 32 * MIB);
    let blocks = blocks_in(mount.folder());
    let number = mount.device().number();
    let debug = format!("{blocks:?}");
    assert!(
        debug.contains(&format!("/sys/dev/block/{number}\"")),
        "{debug}"
    );
    drop(blocks);
    let nowhere = Mount::tmpfs(scratch(), 32 * MIB);
    let device = std::fs::metadata(nowhere.folder()).unwrap().dev();
    assert_eq!(device >> 8, 0, "no block device");
    let debug = format!("{:?}", blocks_in(nowhere.folder()));
    assert!(debug.contains("shown: None"), "{debug}");
}
