//! Users of a block device that the usual lists do not show.

use std::cell::Cell;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use cardmark_host::{LoopBacking, usage};
use cardmark_testkit::trees::Tree;
use cardmark_testkit::{needs, run_as_nobody};

use super::{assert_idle, assert_used, attach, idle_stick, told};

const UNSEEN: &str = "cannot determine who uses it: ";
const OPENED: &str = "process 78 (qemu-system-arm) has /home/pi/image open for writing";

/// A loop device with 1 MiB in a file on the card.
fn image() -> Tree {
    let mut tree = idle_stick();
    attach(&mut tree, 3, "/home/pi/image");
    tree.stat("file 179:2 1048576#77 /home/pi/image");
    tree
}

/// Another loop device, whose file has another size in all of `other_size`.
fn two_images(other_size: bool) -> Tree {
    let mut tree = image();
    attach(&mut tree, 4, "/gone/image");
    if other_size {
        tree.file("/sys/devices/virtual/block/loop4/size", "4096\n");
    }
    tree
}

/// Uses of loop3 if loop4 has this answer.
fn with_other(tree: &Tree, other: &dyn Fn() -> Option<LoopBacking>) -> Vec<String> {
    let own = LoopBacking {
        device_id: (179, 2),
        inode: 77,
        block_id: None,
    };
    let ask = |name: &str| if name == "loop3" { Some(own) } else { other() };
    let uses = usage(&tree.root(), "loop3", &ask);
    uses.iter().map(ToString::to_string).collect()
}

#[test]
fn a_file_on_a_filesystem_that_is_not_visible_may_be_any_of_its_size() {
    let said = format!(
        "{UNSEEN}loop4 may have the same backing file as loop3: overlay filesystems, and those of \
         other containers, change inode numbers"
    );
    // An overlay of another mount namespace; a disk that is mounted only there; one that is mounted here.
    for (device_id, inode, is_unclear) in [
        ((0, 70), 77, true),
        ((0, 70), 12, true),
        ((8, 1), 77, false),
        ((179, 2), 12, false),
    ] {
        for other_size in [false, true] {
            let other = LoopBacking {
                device_id,
                inode,
                block_id: None,
            };
            let told = with_other(&two_images(other_size), &|| Some(other));
            let expected = (is_unclear && !other_size).then(|| said.clone());
            assert_eq!(told, Vec::from_iter(expected), "{other:?} {other_size}");
        }
    }
    // Visible, with its numbers: an overlay, and a filesystem that keeps its files.
    for (kind, is_unclear) in [("overlay", true), ("tmpfs", false), ("btrfs", false)] {
        let mut tree = two_images(false);
        tree.mounts(&format!(
            "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
             30 22 0:70 / /gone rw - {kind} none rw\n"
        ))
        .stat("file 0:70 1048576#9 /gone/image");
        let other = LoopBacking {
            device_id: (0, 70),
            inode: 9,
            block_id: None,
        };
        let told = with_other(&tree, &|| Some(other));
        assert_eq!(!told.is_empty(), is_unclear, "{kind}: {told:?}");
    }
}

#[test]
fn a_dead_loop_device_counts_only_if_its_size_agrees() {
    let said = format!(
        "{UNSEEN}loop4 may have the same backing file as loop3: its backing file does not answer"
    );
    assert_eq!(with_other(&two_images(false), &|| None), [said]);
    assert_eq!(with_other(&two_images(true), &|| None), [""; 0]);
    // A part of the file alone, and a whole file that is longer.
    let mut tree = two_images(true);
    let folder = "/sys/devices/virtual/block/loop4";
    tree.file(&format!("{folder}/size"), "1024\n")
        .file(&format!("{folder}/loop/offset"), "524288\n");
    assert_eq!(with_other(&tree, &|| None).len(), 1);
    tree.file(&format!("{folder}/loop/offset"), "0\n");
    assert_eq!(with_other(&tree, &|| None), [""; 0]);
}

#[test]
fn a_loop_device_that_is_being_attached_is_asked_again() {
    let asked = Cell::new(0);
    let answer = || {
        asked.set(asked.get() + 1);
        (asked.get() > 1).then_some(LoopBacking {
            device_id: (179, 2),
            inode: 12,
            block_id: None,
        })
    };
    assert_eq!(with_other(&two_images(false), &answer), [""; 0]);
    assert_eq!(asked.get(), 2);
}

/// A process whose second thread, and it alone, has something in its folder.
fn with_thread(tree: &mut Tree) -> &mut Tree {
    tree.file("/proc/78/comm", "qemu-system-arm\n")
        .directory("/proc/78/fd")
        .file("/proc/78/maps", "")
        .directory("/proc/78/task/78")
        .directory("/proc/78/task/80/fd")
}

#[test]
fn a_thread_with_its_own_descriptors_counts() {
    for (flags, path) in [("0100002", "/home/pi/image"), ("0100002", "/dev/sda")] {
        let mut tree = image();
        with_thread(&mut tree).file(
            "/proc/78/task/80/fdinfo/3",
            &format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t22\n"),
        );
        let link = tree.root().path("/proc/78/task/80/fd/3");
        symlink(path, link).unwrap();
        tree.stat(match path {
            "/dev/sda" => "block 0:6 8:0 /proc/78/task/80/fd/3",
            _ => "file 179:2 1048576#77 /proc/78/task/80/fd/3",
        });
        match path {
            "/dev/sda" => {
                let said = "process 78 (qemu-system-arm) has sda open for writing";
                assert_used(&tree, "sda1", &[said]);
            }
            _ => assert_used(&tree, "loop3", &[OPENED]),
        }
    }
}

#[test]
fn a_mapping_counts_after_the_first_thread_has_ended() {
    let mut tree = image();
    with_thread(&mut tree).file(
        "/proc/78/task/80/maps",
        "7f00-7f10 rw-s 00000000 b3:02 77 /home/pi/image\n",
    );
    let said = "process 78 (qemu-system-arm) has /home/pi/image mapped into memory for writing";
    assert_used(&tree, "loop3", &[said]);
}

#[test]
fn a_mapping_through_an_overlay_may_be_of_the_file() {
    for (size, is_unclear) in [(1_048_576, true), (1_048_577, false)] {
        let mut tree = image();
        tree.mounts(
            "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
             30 22 0:50 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w\n",
        )
        .file("/proc/78/comm", "qemu\n")
        .file(
            "/proc/78/maps",
            "7f00-7f10 rw-s 00000000 00:32 9 /merged/image\n",
        )
        .stat(&format!("file 0:50 {size}#9 /proc/78/map_files/7f00-7f10"));
        let told = told(&tree, "loop3");
        assert_eq!(!told.is_empty(), is_unclear, "{told:?}");
    }
}

#[test]
fn another_pid_namespace_shows_too_few_processes() {
    let said =
        format!("{UNSEEN}processes outside of this container (PID namespace) are not visible");
    for (link, is_used) in [("pid:[4026531836]", false), ("pid:[4026532177]", true)] {
        let mut tree = image();
        tree.directory("/proc/self/ns");
        symlink(link, tree.root().path("/proc/self/ns/pid")).unwrap();
        for name in ["sda", "loop3"] {
            match is_used {
                true => assert_used(&tree, name, &[&said]),
                false => assert_idle(&tree, name),
            }
        }
    }
}

#[test]
fn a_descriptor_in_flight_may_be_any() {
    for (info, is_used) in [
        ("flags:\t02\nscm_fds: 0\n", false),
        ("flags:\t02\n", false),
        ("flags:\t02\nscm_fds: 2\n", true),
    ] {
        let mut tree = image();
        tree.opened(78, "socket:[4711]", "02")
            .file("/proc/78/fdinfo/3", info);
        let said = format!(
            "{UNSEEN}a socket of process 78 (qemu-system-arm) contains open files that are not visible"
        );
        for name in ["sda", "loop3"] {
            match is_used {
                true => assert_used(&tree, name, &[&said]),
                false => assert_idle(&tree, name),
            }
        }
    }
}

#[test]
fn the_kernel_shows_a_descriptor_in_flight() {
    needs!(Python);
    // For a moment: other tests on this machine wait that long.
    let script = "import array, socket\n\
         one, other = socket.socketpair()\n\
         rights = array.array('i', [0])\n\
         one.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])\n\
         print(open(f'/proc/self/fdinfo/{other.fileno()}').read())\n";
    let output = Command::new("python3").args(["-c", script]).output();
    let info = String::from_utf8(output.unwrap().stdout).unwrap();
    let mut tree = image();
    tree.opened(78, "socket:[4711]", "02")
        .file("/proc/78/fdinfo/3", &info);
    let told = told(&tree, "sda");
    assert_eq!(told.len(), 1, "{info}");
}

#[test]
fn a_file_that_is_registered_with_io_uring_counts() {
    let ring = |path: &str, stated: &str| {
        let mut tree = image();
        tree.opened(78, "anon_inode:[io_uring]", "02")
            .file(
                "/proc/78/fdinfo/3",
                &format!("pos:\t0\nSqMask:\t0x3\nUserFiles:\t2\n    0: <none>\n    1: {path}\nUserBufs:\t1\n    0: 0x7/4096\n"),
            )
            .stat(stated);
        tree
    };
    let own = ring(
        "/srv/my\\040image",
        "file 179:2 1048576#77 /proc/78/root/srv/my image",
    );
    assert_used(&own, "loop3", &[OPENED]);
    let other = ring("/srv/x", "file 179:2 1048576#78 /proc/78/root/srv/x");
    assert_idle(&other, "loop3");
    let disk = ring("/dev/sda", "block 0:6 8:0 /proc/78/root/dev/sda");
    let said = "process 78 (qemu-system-arm) has sda open for writing";
    assert_used(&disk, "sda1", &[said]);
    let mut gone = ring("/srv/x (deleted)", "");
    let said = format!(
        "{UNSEEN}process 78 (qemu-system-arm) uses a file that is not visible through io_uring"
    );
    assert_used(&gone, "loop3", &[&said]);
    // One that is open under a number as well was compared by that.
    symlink("/srv/x (deleted)", gone.root().path("/proc/78/fd/4")).unwrap();
    gone.file("/proc/78/fdinfo/4", "flags:\t0100002\nmnt_id:\t22\n");
    assert_idle(&gone, "loop3");
}

#[test]
fn a_file_of_no_visible_mount_may_be_any_of_its_size() {
    let opened = |path: &str, device: &str, size: u64| {
        let mut tree = image();
        tree.opened(78, path, "0100002")
            .file("/proc/78/fdinfo/3", "flags:\t0100002\nmnt_id:\t99\n")
            .stat(&format!("file {device} {size}#5 /proc/78/fd/3"));
        told(&tree, "loop3")
    };
    // An overlay that was unmounted lazily.
    assert_eq!(opened("/image", "0:70", 1_048_576).len(), 1);
    assert_eq!(opened("/image", "0:70", 1_048_577), [""; 0]);
    assert_eq!(opened("/image", "8:1", 1_048_576), [""; 0]);
    assert_eq!(opened("/memfd:a (deleted)", "0:1", 1_048_576), [""; 0]);
}

#[test]
fn what_the_kernel_serves_to_other_computers_counts() {
    for setting in [
        "/sys/class/udc/20980000.usb/device/gadget.0/lun0/file",
        "/sys/kernel/config/usb_gadget/g1/functions/mass_storage.usb0/lun.0/file",
        "/sys/kernel/config/target/core/fileio_0/disk/udev_path",
        "/sys/kernel/config/nvmet/subsystems/n/namespaces/1/device_path",
    ] {
        let served = |path: &str, name: &str| {
            let mut tree = image();
            tree.file(setting, &format!("{path}\n"))
                .stat("file 179:2 1048576#77 /srv/other name")
                .stat("file 179:2 1048576#78 /srv/another")
                .stat("block 0:6 8:0 /dev/sda");
            told(&tree, name)
        };
        let said = |what: &str| format!("the kernel serves {what} to another computer: {setting}");
        assert_eq!(served("/srv/other name", "loop3"), [said("/home/pi/image")]);
        assert_eq!(served("/dev/sda", "sda1"), [said("sda")]);
        for (path, name) in [
            ("/srv/another", "loop3"),
            ("/dev/sda", "loop3"),
            ("", "sda"),
        ] {
            assert_eq!(served(path, name), [""; 0], "{path}");
        }
        let said =
            format!("{UNSEEN}/gone/image is served to another computer, but not visible here");
        assert_eq!(served("/gone/image", "sda"), [said]);
    }
}

#[test]
fn a_mount_over_the_lists_of_the_kernel_counts() {
    let mounted = |point: &str, options: &str| {
        let mut tree = image();
        tree.mounts(&format!(
            "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
             23 22 0:20 / /proc rw - proc proc rw{options}\n\
             30 23 0:50 / {point} rw - tmpfs none rw\n"
        ));
        told(&tree, "loop3")
    };
    let other = "/proc/sys/fs/binfmt_misc";
    assert_eq!(mounted(other, ""), [""; 0]);
    assert_eq!(mounted("/sys/fs/cgroup", ""), [""; 0]);
    for point in [
        "/proc/812",
        "/proc/812/fd",
        "/proc/swaps",
        "/sys/class/block",
        "/sys/dev/block",
    ] {
        let said = format!("{UNSEEN}a mount hides part of {point}");
        assert_eq!(mounted(point, ""), [said]);
    }
    let said = format!("{UNSEEN}a mount hides part of /proc");
    assert_eq!(mounted(other, ",subset=pid"), [said]);
    // Root sees all processes: this fixture has no capabilities.
    let said = format!("{UNSEEN}open files of other users' processes are not visible");
    for hidden in [",hidepid=2", ",hidepid=invisible"] {
        assert_eq!(mounted(other, hidden), [said.as_str()], "{hidden}");
    }
    for shown in [",hidepid=0", ",hidepid=off"] {
        assert_eq!(mounted(other, shown), [""; 0], "{shown}");
    }
}

#[test]
fn hidden_open_files_of_other_users_count() {
    if rustix::process::geteuid().is_root() {
        // Root may list any directory, so that another user has to try.
        return run_as_nobody("hidden_open_files_of_other_users_count");
    }
    const THREADS: &str = "0 0 0 0 0 0 0 0 20 0";
    let said = "cannot determine who uses it: open files of other users' processes are not visible";
    let hidden = |name: &str, part: &str, stat: Option<&str>, rights: Option<(&str, &str)>| {
        let mut tree = idle_stick();
        attach(&mut tree, 3, "/home/pi/image");
        tree.stat("file 179:2 1048576#77 /home/pi/image");
        for process in [1, 2] {
            let path = format!("/proc/{process}/{part}");
            match part {
                "fd" => tree.directory(&path),
                _ => tree.file(&path, ""),
            };
            fs::set_permissions(tree.root().path(&path), Permissions::from_mode(0o000)).unwrap();
            if let Some(stat) = stat {
                tree.file(
                    &format!("/proc/{process}/stat"),
                    &format!("{process} (a) b) {stat}\n"),
                );
            }
        }
        if let Some((capabilities, users)) = rights {
            tree.file(
                "/proc/self/status",
                &format!("Name:\ta\nCapEff:\t{capabilities}\n"),
            )
            .file("/proc/self/uid_map", users);
        }
        told(&tree, name)
    };
    let live = format!("S 0 1 1 0 -1 4194560 {THREADS} 1 0");
    let all_users = "         0          0 4294967295\n";
    let none = [""; 0];
    for rights in [
        None,
        Some(("0000000000000000", all_users)),
        Some(("00000000a80425fb", all_users)),
        Some(("000001ffffffffff", "0 100000 65536\n")),
    ] {
        assert_eq!(
            hidden("sda", "fd", Some(&live), rights),
            [said],
            "{rights:?}"
        );
        assert_eq!(hidden("loop3", "maps", Some(&live), rights), [said]);
    }
    // Only the file of a loop device is searched in mappings.
    assert_eq!(hidden("sda", "maps", Some(&live), None), none);
    let root = Some(("000001ffffffffff", all_users));
    assert_eq!(hidden("sda", "fd", Some(&live), root), none);
    // A process whose first thread has ended, and one that cannot be understood.
    let first_ended = format!("Z 0 1 1 0 -1 4194560 {THREADS} 3 0");
    for stat in [&first_ended, "nonsense"] {
        assert_eq!(hidden("sda", "fd", Some(stat), None), [said], "{stat}");
    }
    let kernel = format!("S 0 0 0 0 -1 2129984 {THREADS} 1 0");
    let ended = format!("Z 1 1 1 0 -1 4194560 {THREADS} 1 0");
    for stat in [None, Some(kernel.as_str()), Some(&ended)] {
        assert_eq!(hidden("sda", "fd", stat, None), none, "{stat:?}");
        assert_eq!(hidden("loop3", "maps", stat, None), none, "{stat:?}");
    }
}
