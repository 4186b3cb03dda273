//! Situations in which a raw device must not be written, and is not; and those in which it is.
//!
//! Each row of the table is a test of its own. In all of them the device is named on the command
//! line and, but for the rows about consent, agreed to by flags, so that nothing else stands
//! between the program and the device. That nothing is written is proved by the kernel's counters
//! of the device. Whatever is no loop device of the test's own is watched, too: it must not even be
//! opened for writing.
//!
//! Holders that this machine cannot make (LVM, RAID, encryption, eMMC …) are in fixture trees:
//! `crates/measure/host/tests/host/usage.rs`.

mod bench;

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use cardmark_core::{Finding, FindingKind, TargetKind};
use cardmark_session::{CommandError, Consent, Exit, Tested, VerifyTarget, WholeDevice, to_endure};
use cardmark_testkit::{
    LoopDevice, Need, Undo, WriterWatch, are_met, make_ext4, needs, root_disk, run_tool,
};

use crate::world::{Ended, MIB, Person, consent, consent_of, text};
use bench::{Bench, Partitions, exclusively, expected, mountinfo};

/// Situations that the issue asks for at least.
const LEAST_COUNT: usize = 25;
/// Size of the devices; large enough for the suite.
const SIZE_BYTES: u64 = 320 * MIB;
/// Sizes of files on overlays. Any file of the same size could be identical for the program, so no other test uses these.
const ON_OVERLAY_BYTES: [u64; 5] = [
    SIZE_BYTES + 2 * MIB,
    SIZE_BYTES + 3 * MIB,
    SIZE_BYTES + 4 * MIB,
    SIZE_BYTES + 5 * MIB,
    SIZE_BYTES + 6 * MIB,
];
/// Size of each of two partitions, and of the device that has them.
const PART_BYTES: u64 = 300 * MIB;
const PARTED_BYTES: u64 = MIB + 2 * PART_BYTES;
/// Text before the words of consent.
const TO_TYPE: &str = "type exactly: ";
/// Part that the suite overwrites.
const SPAN_BYTES: u64 = 256 * MIB;
/// End of the question.
const ASKED: &str = "Anything else ends here";

/// Name of the test, exit, what is said, what it needs beside loop devices, how it comes to be.
macro_rules! refusals {
    ($($name:ident: $exit:expr, $said:expr, [$($need:ident),*], $attempt:expr;)+) => {
        const REFUSED: &[(&str, Exit)] = &[$((stringify!($name), $exit)),+];
        $(
            #[test]
            fn $name() {
                if are_met(&[Need::Root, Need::LoopDevice, $(Need::$need),*]) {
                    assert_refused($exit, &$said, $attempt);
                }
            }
        )+
    };
}

refusals! {
    // Mounted, one way or the other.
    mounted: Exit::Refused, ["is mounted at ", "hint: unmount it: umount "], [Ext4], |bench| {
        let device = bench.ext4();
        let (_mount, _) = bench.mount(device.path(), "noatime");
        bench.attempt(&device)
    };
    mounted_read_only: Exit::Refused, ["is mounted at "], [Ext4], |bench| {
        let device = bench.ext4();
        let (_mount, _) = bench.mount(device.path(), "ro");
        bench.attempt(&device)
    };
    mounted_in_another_namespace_only: Exit::Refused, ["is mounted at ", "visible to process ", "nsenter"],
    [Ext4, Unshare], |bench| {
        let device = bench.ext4();
        let point = bench.folder();
        let _other = bench.elsewhere(&format!("mount -o noatime {} {}",
            device.path().display(), point.display()));
        assert!(!mountinfo().contains(text(&point)));
        bench.attempt(&device)
    };
    mounted_by_binding_a_folder_of_it: Exit::Refused, ["is mounted at "], [Ext4], |bench| {
        let device = bench.ext4();
        let (mount, point) = bench.mount(device.path(), "noatime");
        std::fs::create_dir(point.join("deep")).unwrap();
        let other = bench.folder();
        run_tool("mount", &["--bind", text(&point.join("deep")), text(&other)]);
        let _bound = Undo::mount(&other);
        drop(mount);
        bench.attempt(&device)
    };
    mounted_as_second_device_of_btrfs: Exit::Refused, ["is mounted at "], [Btrfs], |bench| {
        let (first, second) = (bench.device("first"), bench.device("second"));
        run_tool("mkfs.btrfs", &["-q", "-f", text(first.path()), text(second.path())]);
        let (_mount, _) = bench.mount(first.path(), "noatime");
        bench.attempt(&second)
    };
    below_an_overlay: Exit::Refused, ["is mounted at "], [Ext4, Overlay], |bench| {
        let device = bench.ext4();
        let (_mount, lower) = bench.mount(device.path(), "noatime");
        let (_overlay, _) = bench.overlay(&lower);
        bench.attempt(&device)
    };
    below_an_overlay_that_alone_keeps_it: Exit::Refused,
    ["the kernel keeps a filesystem open on loop", "hint: unmount what is on loop"],
    [Ext4, Overlay], |bench| {
        let device = bench.ext4();
        let (mount, lower) = bench.mount(device.path(), "noatime");
        let (_overlay, _) = bench.overlay(&lower);
        drop(mount);
        assert!(!mountinfo().contains(text(device.path())));
        bench.attempt(&device)
    };
    unmounted_lazily_with_a_file_open: Exit::Refused, ["the kernel keeps a filesystem open on loop"],
    [Xfs], |bench| {
        let device = bench.device("card");
        run_tool("mkfs.xfs", &["-q", "-f", text(device.path())]);
        let (mount, point) = bench.mount(device.path(), "ro");
        let _open = File::open(&point).unwrap();
        run_tool("umount", &["--lazy", text(&point)]);
        mount.forget();
        bench.attempt(&device)
    };
    mounted_while_the_question_waits: Exit::Refused, ["is mounted at "], [Ext4], |bench| {
        let device = bench.ext4();
        bench.answered(&device, |_| bench.mount(device.path(), "ro").0)
    };

    // In use in another way.
    swap: Exit::Refused, ["is in use as swap space", "hint: end it: swapoff /dev/loop"], [Swap], |bench| {
        let device = bench.device("card");
        run_tool("mkswap", &[text(device.path())]);
        run_tool("swapon", &["--priority", "0", text(device.path())]);
        let _swap = Undo::new("swapoff", &[text(device.path())]);
        bench.attempt(&device)
    };
    swap_on_a_partition_of_it: Exit::Refused, ["p1 is in use as swap space"], [Swap, Partitions], |bench| {
        let parts = bench.partitions();
        let part = parts.path(1);
        run_tool("mkswap", &[text(&part)]);
        run_tool("swapon", &["--priority", "0", text(&part)]);
        let _swap = Undo::new("swapoff", &[text(&part)]);
        bench.attempt(&parts.device)
    };
    a_partition_of_it_is_mounted: Exit::Refused, ["p1 is mounted at "], [Ext4, Partitions], |bench| {
        let parts = bench.partitions();
        make_ext4(&parts.path(1));
        let (_mount, _) = bench.mount(&parts.path(1), "noatime");
        bench.attempt(&parts.device)
    };
    another_partition_of_its_disk_is_mounted: Exit::Refused, ["p1 is mounted at "], [Ext4, Partitions], |bench| {
        let parts = bench.partitions();
        make_ext4(&parts.path(1));
        let (_mount, _) = bench.mount(&parts.path(1), "noatime");
        bench.attempt_on(&parts.device, &parts.path(2))
    };
    another_partition_of_its_disk_is_held: Exit::Refused, ["or a part of it is in use"],
    [Partitions], |bench| {
        let parts = bench.partitions();
        let _held = exclusively(&parts.path(1));
        bench.attempt_on(&parts.device, &parts.path(2))
    };
    a_loop_device_stands_on_it: Exit::Refused, ["is part of loop", "a loop device", "losetup --detach"],
    [], |bench| {
        let device = bench.device("card");
        let _above = LoopDevice::attach(device.path(), false);
        bench.attempt(&device)
    };
    a_loop_device_stands_on_a_partition_of_it: Exit::Refused, ["p2 is part of loop"], [Partitions], |bench| {
        let parts = bench.partitions();
        let _above = LoopDevice::attach(&parts.path(2), false);
        bench.attempt(&parts.device)
    };
    it_is_a_loop_device_on_another_device: Exit::Refused, ["a loop device on another block device"],
    [], |bench| {
        let device = bench.device("card");
        let above = LoopDevice::attach(device.path(), false);
        bench.attempt(&above)
    };
    another_loop_device_has_the_same_file: Exit::Refused, ["have the same backing file"], [], |bench| {
        let device = bench.device("card");
        let _other = LoopDevice::attach(device.file(), false);
        bench.attempt(&device)
    };
    held_exclusively_by_a_process: Exit::Refused,
    ["or a part of it is in use", "hint: nothing was written; end the programs that use it"],
    [], |bench| {
        let device = bench.device("card");
        let _held = exclusively(device.path());
        bench.attempt(&device)
    };
    open_for_writing_by_a_process: Exit::Refused, ["has loop", "open for writing", "hint: end process "],
    [], |bench| {
        let device = bench.device("card");
        let _open = bench.open("<>", device.path());
        bench.attempt(&device)
    };
    the_disk_that_the_system_runs_from: Exit::Refused, ["the system runs from it: / lies on "], [], |bench| {
        let disk = root_disk();
        bench.unwatched(&disk, &consent_of(Path::new("none")))
    };

    // The backing file is in use under another name.
    mounted_through_a_hard_link: Exit::Refused, ["is mounted at ", "have the same backing file"],
    [Ext4], |bench| {
        let device = bench.ext4();
        let other = LoopDevice::attach(&bench.hard_link(&device), false);
        let (_mount, _) = bench.mount(other.path(), "noatime");
        bench.attempt(&device)
    };
    mounted_through_a_bind_mount: Exit::Refused, ["is mounted at ", "have the same backing file"],
    [Ext4], |bench| {
        let device = bench.ext4();
        let (_bound, bound) = bench.bind();
        let other = LoopDevice::attach(&bound.join("card"), false);
        let (_mount, _) = bench.mount(other.path(), "noatime");
        bench.attempt(&device)
    };
    mounted_by_the_loop_option_through_a_bind_mount: Exit::Refused, ["is mounted at "], [Ext4], |bench| {
        let file = bench.file("card");
        make_ext4(&file);
        let (_bound, bound) = bench.bind();
        // First: it takes a loop device that has the file already.
        let (_mount, _) = LoopDevice::in_turn(|| bench.mount(&bound.join("card"), "loop"));
        bench.attempt(&LoopDevice::attach(&file, false))
    };
    the_bind_mount_is_named_and_the_file_mounted: Exit::Refused, ["is mounted at "], [Ext4], |bench| {
        let below = bench.ext4();
        let (_bound, bound) = bench.bind();
        let device = LoopDevice::attach(&bound.join("card"), false);
        let (_mount, _) = bench.mount(below.path(), "noatime");
        bench.attempt(&device)
    };
    mounted_through_a_symbolic_link: Exit::Refused, ["is mounted at "], [Ext4], |bench| {
        let file = bench.file("card");
        make_ext4(&file);
        let link = bench.world.scratch.path().join("link");
        symlink(&file, &link).unwrap();
        let (_mount, _) = LoopDevice::in_turn(|| bench.mount(&link, "loop"));
        bench.attempt(&LoopDevice::attach(&file, false))
    };
    attached_twice_through_a_hard_link: Exit::Refused,
    ["have the same backing file", "hint: detach the other one: losetup --detach /dev/loop"],
    [], |bench| {
        let device = bench.device("card");
        let _other = LoopDevice::attach(&bench.hard_link(&device), false);
        bench.attempt(&device)
    };
    a_partition_is_mounted_through_a_hard_link: Exit::Refused, ["p1 is mounted at "],
    [Ext4, Partitions], |bench| {
        let parts = bench.partitions();
        make_ext4(&parts.path(1));
        let linked = LoopDevice::attach(&bench.hard_link(&parts.device), false);
        let other = Partitions { added: bench.add_partitions(&linked), device: linked };
        let (_mount, _) = bench.mount(&other.path(1), "noatime");
        bench.attempt_on(&parts.device, &parts.path(2))
    };
    mounted_after_its_file_was_renamed: Exit::Refused, ["is mounted at "], [Ext4], |bench| {
        let device = bench.ext4();
        let renamed = bench.world.scratch.path().join("renamed");
        std::fs::rename(device.file(), &renamed).unwrap();
        let other = LoopDevice::attach(&renamed, false);
        let (_mount, _) = bench.mount(other.path(), "noatime");
        bench.attempt_as(&device, &renamed)
    };
    mounted_after_its_name_was_deleted: Exit::Refused, ["cannot determine who uses it", "the backing file"],
    [Ext4], |bench| {
        let device = bench.ext4();
        let other = LoopDevice::attach(&bench.hard_link(&device), false);
        std::fs::remove_file(device.file()).unwrap();
        let (_mount, _) = bench.mount(other.path(), "noatime");
        bench.attempt(&device)
    };
    its_name_is_another_file_now: Exit::Refused, ["cannot determine who uses it", "the backing file"],
    [], |bench| {
        let device = bench.device("card");
        let other = bench.file("other");
        run_tool("mount", &["--bind", text(&other), text(device.file())]);
        let _bound = Undo::mount(device.file());
        bench.attempt(&device)
    };
    a_loop_device_stands_on_it_by_a_name_that_is_gone: Exit::Refused, ["is part of loop"], [], |bench| {
        let device = bench.device("card");
        let node = bench.node(&device);
        let _above = LoopDevice::attach(&node, false);
        std::fs::remove_file(&node).unwrap();
        bench.attempt(&device)
    };
    a_swap_file_by_a_hard_link: Exit::Refused, ["is in use as swap space"], [Swap], |bench| {
        let file = bench.full_file("card", MIB);
        let device = LoopDevice::attach(&file, false);
        let link = bench.hard_link(&device);
        run_tool("mkswap", &[text(&link)]);
        run_tool("swapon", &["--priority", "0", text(&link)]);
        let _swap = Undo::new("swapoff", &[text(&link)]);
        bench.attempt(&device)
    };
    its_file_is_open_for_writing: Exit::Refused, ["open for writing", "hint: end process "], [], |bench| {
        let device = bench.device("card");
        let _open = bench.open("<>", device.file());
        bench.attempt(&device)
    };
    its_file_is_open_for_writing_through_a_hard_link: Exit::Refused, ["open for writing"], [], |bench| {
        let device = bench.device("card");
        let _open = bench.open(">>", &bench.hard_link(&device));
        bench.attempt(&device)
    };
    its_file_is_open_for_writing_in_another_namespace: Exit::Refused, ["(sh) has ", "open for writing"],
    [Unshare], |bench| {
        let device = bench.device("card");
        let (_bound, bound) = bench.bind();
        let file = bound.join("card");
        let _other = bench.elsewhere(&format!("exec 3<>{}", file.display()));
        bench.attempt(&device)
    };
    its_node_elsewhere_is_open_for_writing: Exit::Refused, ["has loop", "open for writing"], [], |bench| {
        let device = bench.device("card");
        let _open = bench.open("<>", &bench.node(&device));
        bench.attempt(&device)
    };
    its_file_is_mapped_for_writing: Exit::Refused, ["mapped into memory for writing", "hint: end process "],
    [Python], |bench| {
        let device = bench.device("card");
        let _mapped = bench.mapped(device.file());
        bench.attempt(&device)
    };
    its_file_lies_on_an_overlay_below_which_it_is_used: Exit::Refused, ["cannot determine who uses it"],
    [Overlay], |bench| {
        let (_overlay, merged, upper) = bench.overlay_with_upper();
        let file = merged.join("card");
        File::create(&file).unwrap().set_len(ON_OVERLAY_BYTES[0]).unwrap();
        let device = LoopDevice::attach(&file, false);
        let _other = LoopDevice::attach(&upper.join("card"), false);
        bench.attempt(&device)
    };
    its_file_is_used_through_an_overlay: Exit::Refused, ["cannot determine who uses it"], [Overlay], |bench| {
        let (_overlay, merged, upper) = bench.overlay_with_upper();
        let file = merged.join("card");
        File::create(&file).unwrap().set_len(ON_OVERLAY_BYTES[1]).unwrap();
        let device = LoopDevice::attach(&upper.join("card"), false);
        let _open = bench.open("<>", &file);
        bench.attempt(&device)
    };

    // In use where the usual lists do not show it.
    its_file_lies_below_an_overlay_of_another_namespace: Exit::Refused,
    ["cannot determine who uses it: loop", "may have the same backing file", "losetup --detach /dev/loop"],
    [Overlay, Unshare], |bench| {
        let (_attached, _elsewhere, file) = bench.overlay_elsewhere(ON_OVERLAY_BYTES[2]);
        let device = LoopDevice::attach(&file, false);
        bench.attempt(&device)
    };
    its_file_lies_below_an_overlay_of_a_namespace_without_processes: Exit::Refused,
    ["may have the same backing file"], [Overlay, Unshare], |bench| {
        let (_attached, elsewhere, file) = bench.overlay_elsewhere(ON_OVERLAY_BYTES[3]);
        drop(elsewhere);
        let device = LoopDevice::attach(&file, false);
        bench.attempt(&device)
    };
    open_in_a_process_whose_first_thread_has_ended: Exit::Refused, ["open for writing"], [Python], |bench| {
        let device = bench.device("card");
        let _open = bench.hidden("first-thread-ended", device.file());
        bench.attempt(&device)
    };
    mapped_in_a_process_whose_first_thread_has_ended: Exit::Refused, ["mapped into memory for writing"],
    [Python], |bench| {
        let device = bench.device("card");
        let _open = bench.hidden("mapped-first-thread-ended", device.file());
        bench.attempt(&device)
    };
    open_in_a_thread_with_its_own_descriptors: Exit::Refused, ["open for writing"], [Python], |bench| {
        let device = bench.device("card");
        let _open = bench.hidden("own-table", device.file());
        bench.attempt(&device)
    };
    the_device_is_open_in_a_thread_with_its_own_descriptors: Exit::Refused, ["has loop", "open for writing"],
    [Python], |bench| {
        let device = bench.device("card");
        let _open = bench.hidden("own-table", device.path());
        bench.attempt(&device)
    };
    open_as_a_registered_file_of_io_uring: Exit::Refused, ["(python3) has ", "open for writing"],
    [Python, IoUring], |bench| {
        let device = bench.device("card");
        let _open = bench.hidden("registered", device.file());
        bench.attempt(&device)
    };
    its_size_is_that_of_a_dead_loop_device: Exit::Refused,
    ["may have the same backing file", "its backing file does not answer", "losetup --detach /dev/loop"],
    [Fuse], |bench| {
        let _dead = bench.dead(ON_OVERLAY_BYTES[4]);
        let device = LoopDevice::attach(&bench.file_of("card", ON_OVERLAY_BYTES[4]), false);
        bench.attempt(&device)
    };

    // Nothing to be written.
    write_protected: Exit::Refused, ["is write-protected", "check the lock switch"], [BlockDev], |bench| {
        let device = bench.device("card");
        run_tool("blockdev", &["--setro", text(device.path())]);
        let _writable = Undo::new("blockdev", &["--setrw", text(device.path())]);
        bench.attempt(&device)
    };
    memory: Exit::Refused, ["zram", "is memory, no storage"], [Zram], |bench| {
        let number = std::fs::read_to_string("/sys/class/zram-control/hot_add").unwrap();
        let number = number.trim();
        let remove = format!("echo {number} > /sys/class/zram-control/hot_remove");
        let _zram = Undo::new("sh", &["-c", &remove]);
        let size = format!("/sys/block/zram{number}/disksize");
        std::fs::write(size, SIZE_BYTES.to_string()).unwrap();
        let path = PathBuf::from(format!("/dev/zram{number}"));
        bench.unwatched(&path, &consent_of(Path::new("none")))
    };
    a_file_in_memory: Exit::Refused, ["is in memory, on no storage"], [], |bench| {
        let file = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
        file.as_file().set_len(SIZE_BYTES).unwrap();
        let device = LoopDevice::attach(file.path(), false);
        bench.attempt(&device)
    };
    no_medium: Exit::Refused, ["has no medium: its size is 0"], [], |bench| {
        let file = bench.world.scratch.path().join("empty");
        File::create(&file).unwrap();
        let device = LoopDevice::attach(&file, false);
        bench.attempt(&device)
    };
    its_file_is_covered: Exit::Refused, ["cannot determine who uses it", "the backing file"], [], |bench| {
        let device = bench.device("card");
        // What the name in sysfs stands for is not to be seen any more.
        let folder = text(bench.world.scratch.path());
        run_tool("mount", &["-t", "tmpfs", "cardmark-test", folder]);
        let _cover = Undo::mount(Path::new(folder));
        bench.attempt(&device)
    };

    // Without consent.
    nobody_to_ask: Exit::Refused,
    ["there is no terminal to confirm", "--yes --device-serial SERIAL", "its serial number is in /sys/"],
    [], |bench| {
        let device = bench.device("card");
        let ended = device.unwritten(|_| bench.unwatched(device.path(), &Consent::default()));
        let (_, error) = ended.heard.split_once("error: ").unwrap();
        assert!(!error.contains(text(device.file())), "no serial to copy: {ended:?}");
        ended
    };
    another_serial: Exit::Refused, ["has another serial number", "names another device"], [], |bench| {
        let device = bench.device("card");
        let other = consent_of(Path::new(&format!("{}x", text(device.file()))));
        device.unwritten(|_| bench.unwatched(device.path(), &other))
    };
    yes_typed: Exit::Refused, ["was not confirmed"], [], |bench| {
        let device = bench.device("card");
        bench.typed(&device, "yes\n")
    };
    model_typed_with_another_size: Exit::Refused, ["was not confirmed"], [], |bench| {
        let device = bench.device("card");
        bench.typed(&device, &format!("{}7 MB\n", bench.model(&device)))
    };
    size_typed_without_model: Exit::Refused, ["was not confirmed"], [], |bench| {
        let device = bench.device("card");
        bench.typed(&device, "336 MB\n")
    };
    enter_alone: Exit::Refused, ["was not confirmed"], [], |bench| {
        let device = bench.device("card");
        bench.typed(&device, "\n")
    };

    // Changed between the question and the answer.
    another_file_behind_it: Exit::Refused, ["changed while it was looked at"], [], |bench| {
        let mut device = bench.device("card");
        let other = bench.file("other");
        let path = device.path().to_owned();
        let mut before = (0, 0);
        let ended = bench.asked(&path, |dialog| {
            let question = dialog.question();
            device.change_file(&other);
            before = device.written();
            dialog.answer(&expected(&question));
        });
        assert_eq!(device.written(), before);
        ended
    };
    the_same_file_put_in_again: Exit::Refused, ["changed while it was looked at"], [], |bench| {
        let mut device = bench.device("card");
        let (path, file) = (device.path().to_owned(), device.file().to_owned());
        let mut before = (0, 0);
        let ended = bench.asked(&path, |dialog| {
            let question = dialog.question();
            device.change_file(&file);
            before = device.written();
            dialog.answer(&expected(&question));
        });
        assert_eq!(device.written(), before);
        ended
    };
    it_grew: Exit::Refused, ["changed while it was looked at"], [], |bench| {
        let device = bench.device("card");
        bench.answered(&device, |device| {
            let file = File::options().write(true).open(device.file()).unwrap();
            file.set_len(SIZE_BYTES + MIB).unwrap();
            device.notice_size();
        })
    };
    it_was_partitioned: Exit::Refused, ["changed while it was looked at"], [Partitions], |bench| {
        let file = bench.file_of("card", PARTED_BYTES);
        let device = LoopDevice::attach(&file, false);
        bench.answered(&device, |device| bench.partition(device))
    };
    it_vanished: Exit::Refused, ["changed while it was looked at"], [], |bench| {
        let device = bench.device("card");
        bench.answered(&device, LoopDevice::detach)
    };
    its_name_vanished: Exit::Refused, ["changed while it was looked at"], [], |bench| {
        let device = bench.device("card");
        let node = bench.node(&device);
        device.unwritten(|_| {
            bench.asked(&node, |dialog| {
                let question = dialog.question();
                std::fs::remove_file(&node).unwrap();
                dialog.answer(&expected(&question));
            })
        })
    };
    its_name_stands_for_another: Exit::Refused, ["changed while it was looked at"], [], |bench| {
        let (device, other) = (bench.device("card"), bench.device("other"));
        let node = bench.node(&device);
        other.unwritten(|_| {
            let mut watch = None;
            let ended = bench.asked(&node, |dialog| {
                let question = dialog.question();
                std::fs::rename(bench.node(&other), &node).unwrap();
                watch = Some(WriterWatch::on(&node));
                dialog.answer(&expected(&question));
            });
            assert!(!watch.unwrap().saw_writer(), "opened for writing: {ended:?}");
            ended
        })
    };

    // No block device at all.
    a_character_device: Exit::Usage, ["neither a directory nor a block device"], [], |bench| {
        // Everybody writes to this one: it cannot be watched.
        let consent = consent_of(Path::new("none"));
        bench.measure(Person::absent(), Path::new("/dev/null"), "rand_read_4k", &consent)
    };
    a_plain_file: Exit::Usage, ["neither a directory nor a block device"], [], |bench| {
        let file = bench.file("card");
        let ended = bench.unwatched(&file, &consent_of(Path::new("none")));
        assert_eq!(file.metadata().unwrap().len(), SIZE_BYTES);
        ended
    };
}

#[test]
fn the_table_has_what_the_issue_asks_for() {
    let refused = REFUSED
        .iter()
        .filter(|(_, exit)| *exit == Exit::Refused)
        .count();
    assert!(refused >= LEAST_COUNT, "{refused}");
}

#[test]
fn an_idle_device_is_written_when_flags_name_it() {
    needs!(Root, LoopDevice);
    let bench = Bench::new();
    let device = bench.device("card");
    // As udev names devices, too.
    let link = bench.world.path("by-id");
    symlink(device.path(), &link).unwrap();
    let before = device.written();
    let consent = consent(&device);
    let ended = bench.measure(Person::absent(), &link, "rand_write_4k", &consent);
    ended.assert_exit(Exit::Done);
    assert!(!ended.heard.contains(ASKED), "{ended:?}");
    let bytes = (device.written().1 - before.1) * 512;
    assert!(bytes > SPAN_BYTES, "{bytes}");
    let record = ended.record();
    assert_eq!(record.target.as_ref().unwrap().kind, TargetKind::Device);
    assert!(record.written_bytes > SPAN_BYTES, "{ended:?}");
    assert!(record.metric("rand_write_4k").unwrap().value > 0.0);
    let unwritten = |finding: &Finding| finding.kind == FindingKind::UnwrittenSpan;
    assert!(!record.findings.iter().any(unwritten));
    // The serial number stays here.
    let json = serde_json::to_string(record).unwrap();
    assert!(!json.contains(text(bench.world.scratch.path())));
    assert_span_written(&device);
}

#[test]
fn an_idle_device_is_written_when_model_and_size_are_typed() {
    needs!(Root, LoopDevice);
    let bench = Bench::new();
    let device = bench.device("card");
    let before = device.written();
    let ended = bench.asked(device.path(), |dialog| {
        let question = dialog.question();
        let model = bench.model(&device);
        for told in [
            "write over the first 256 MiB of a raw device, once",
            "will be LOST",
            &format!("  device      {}\n", device.path().display()),
            &format!("  model       {}\n", model.trim_end()),
            "  size        336 MB (320 MiB)\n",
            "  partitions  none\n",
            "  writes      268 MB (256 MiB)\n",
            "with them its partition table",
            &format!(
                "type exactly: {} 336 MB\n",
                device.path().file_name().unwrap().display()
            ),
        ] {
            assert!(question.contains(told), "no `{told}` in {question}");
        }
        assert_eq!(device.written(), before);
        dialog.answer(&expected(&question));
    });
    ended.assert_exit(Exit::Done);
    assert_eq!((device.written().1 - before.1) * 512, SPAN_BYTES);
    assert_eq!(ended.record().written_bytes, SPAN_BYTES);
    assert_span_written(&device);
}

#[test]
fn an_idle_partition_is_written_and_nothing_around_it() {
    needs!(Root, LoopDevice, Partitions);
    let bench = Bench::new();
    let parts = bench.partitions();
    let before = std::fs::read(parts.device.file()).unwrap();
    let consent = consent(&parts.device);
    let ended = bench.measure(Person::absent(), &parts.path(2), "rand_read_4k", &consent);
    ended.assert_exit(Exit::Done);
    let after = std::fs::read(parts.device.file()).unwrap();
    let start = usize::try_from(MIB + PART_BYTES).unwrap();
    let end = start + usize::try_from(SPAN_BYTES).unwrap();
    assert!(before[..start] == after[..start]);
    assert!(before[end..] == after[end..]);
    let mut blocks = after[start..end].chunks(4096);
    assert!(blocks.all(|block| block != [0; 4096]));
}

#[test]
fn no_test_takes_a_partition_for_a_card() {
    needs!(Root, LoopDevice, Partitions);
    let bench = Bench::new();
    let parts = bench.partitions();
    let part = parts.path(2);
    let name = text(&part);
    type Attempt = fn(&str) -> Result<Exit, CommandError>;
    let attempts: [Attempt; 5] = [
        |name| Tested::to_read(name, "why").map(|_| Exit::Done),
        |name| Tested::to_write(name, "why").map(|_| Exit::Done),
        |name| WholeDevice::to_write(name, "why").map(|_| Exit::Done),
        |name| to_endure(name, false, None).map(|_| Exit::Done),
        |name| VerifyTarget::named(name).map(|_| Exit::Done),
    ];
    for attempt in attempts {
        let ended = bench.world.job(|_| attempt(name));
        ended.assert_error(
            Exit::Usage,
            &["is a partition", "name the device as a whole"],
        );
    }
}

#[test]
fn a_dead_loop_device_of_another_size_stops_no_other() {
    needs!(Root, LoopDevice, Fuse);
    let bench = Bench::new();
    let _dead = bench.dead(7 * MIB);
    let device = bench.device("card");
    let consent = consent(&device);
    let ended = bench.measure(Person::absent(), device.path(), "rand_read_4k", &consent);
    ended.assert_exit(Exit::Done);
}

#[test]
fn a_device_that_is_too_small_is_told_before_the_question() {
    needs!(Root, LoopDevice);
    let bench = Bench::new();
    let device = LoopDevice::attach(&bench.file_of("small", 64 * MIB), false);
    let ended = bench.typed(&device, "");
    ended.assert_error(Exit::Trouble, &["needs 268435456"]);
    assert!(!ended.heard.contains(ASKED), "{ended:?}");
}

/// The first 256 MiB hold something in each block; what follows is as it was.
fn assert_span_written(device: &LoopDevice) {
    run_tool("blockdev", &["--flushbufs", text(device.path())]);
    let bytes = std::fs::read(device.file()).unwrap();
    let (span, rest) = bytes.split_at(usize::try_from(SPAN_BYTES).unwrap());
    assert!(span.chunks(4096).all(|block| block != [0; 4096]));
    assert!(rest.iter().all(|byte| *byte == 0));
}

fn assert_refused(exit: Exit, parts: &[&str], attempt: impl FnOnce(&Bench) -> Ended) {
    let bench = Bench::new();
    let ended = attempt(&bench);
    ended.assert_error(exit, parts);
    if exit == Exit::Refused {
        ended.assert_heard(&["nothing was written"]);
    }
    bench.world.assert_nothing_kept();
}
