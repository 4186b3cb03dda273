use super::*;

fn number(text: &str) -> DeviceNumber {
    text.parse().unwrap()
}

fn visible(text: &str, path: &str) -> Option<u32> {
    visible_mount(&parse_mounts(text.as_bytes()), Path::new(path)).map(|mount| mount.id)
}

const PLAIN: &str = "\
22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw
23 22 0:5 / /dev rw,nosuid shared:2 - devtmpfs udev rw,mode=755
24 22 179:1 / /boot rw,relatime shared:30 - vfat /dev/mmcblk0p1 rw,errors=remount-ro
";

#[test]
fn a_line_with_optional_fields_is_read() {
    let mounts = parse_mounts(
        b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 propagate_from:2 - ext3 /dev/sdz rw,commit=30\n",
    );
    let [mount] = &mounts[..] else {
        panic!("one mount")
    };
    assert_eq!(
        (mount.id, mount.parent, mount.device),
        (36, 35, number("98:0"))
    );
    assert_eq!(
        (mount.root.to_str(), mount.point.to_str()),
        (Some("/mnt1"), Some("/mnt2"))
    );
    assert_eq!(
        (&*mount.filesystem, mount.source.to_str()),
        ("ext3", Some("/dev/sdz"))
    );
    assert_eq!(mount.speed_options(), ["rw", "noatime", "commit=30"]);
    assert!(!mount.is_read_only());
}

#[test]
fn lines_that_are_not_understood_are_left_out() {
    let text = "\n36 35 98:0 / /mnt rw - ext3\nx 35 98:0 / /mnt rw - ext3 a rw\n36 35 98:0\n";
    assert_eq!(parse_mounts(text.as_bytes()), []);
    assert_eq!(parse_mounts(b"\xff\xfe - - - - - -"), []);
}

#[test]
fn an_empty_source_does_not_shift_the_options() {
    let mounts = parse_mounts(b"36 35 0:40 / /mnt rw - tmpfs  ro,size=4k\n");
    assert!(mounts[0].source.as_os_str().is_empty());
    assert!(mounts[0].is_read_only());
}

#[test]
fn escapes_are_undone_after_options_are_split() {
    let text = br"36 35 0:40 / /a\040b\134c\011d\377 rw - overlay o rw,upperdir=/x\054y,workdir=/w";
    let mounts = parse_mounts(text);
    assert_eq!(mounts[0].point.as_os_str().as_bytes(), b"/a b\\c\td\xff");
    assert_eq!(mounts[0].option("upperdir"), Some(Path::new("/x,y")));
    assert_eq!(mounts[0].option("workdir"), Some(Path::new("/w")));
}

#[test]
fn what_is_no_octal_escape_stays() {
    for text in [r"\", r"\0", r"\09a", r"\400", r"a\x41", r"\777"] {
        assert_eq!(unescape(text.as_bytes()).to_str(), Some(text));
    }
}

#[test]
fn names_and_paths_in_options_are_not_shown() {
    let mounts =
        parse_mounts(b"36 35 0:40 / /mnt rw - cifs //nas/x rw,username=anna,addr=10.0.0.1,sync\n");
    assert_eq!(mounts[0].speed_options(), ["rw", "sync"]);
}

#[test]
fn the_longest_mount_point_on_the_way_is_visible() {
    assert_eq!(visible(PLAIN, "/home/pi"), Some(22));
    assert_eq!(visible(PLAIN, "/boot/firmware"), Some(24));
    assert_eq!(visible(PLAIN, "/boot2"), Some(22));
    assert_eq!(visible("", "/"), None);
}

#[test]
fn a_later_mount_shadows_those_below_and_at_its_point() {
    let below = format!("{PLAIN}30 22 8:1 / /a/b rw - ext4 /dev/sda1 rw\n");
    let above = format!("{below}31 22 8:2 / /a rw - ext4 /dev/sda2 rw\n");
    assert_eq!(visible(&below, "/a/b/c"), Some(30));
    assert_eq!(visible(&above, "/a/b/c"), Some(31));
    let stacked = format!("{above}32 31 8:3 / /a rw - ext4 /dev/sda3 rw\n");
    assert_eq!(visible(&stacked, "/a/b/c"), Some(32));
    let inside = format!("{stacked}33 32 8:4 / /a/b rw - ext4 /dev/sda4 rw\n");
    assert_eq!(visible(&inside, "/a/b/c"), Some(33));
}

#[test]
fn order_in_the_text_does_not_matter_where_parents_tell() {
    let text = "\
33 32 8:4 / /a/b rw - ext4 d rw
32 31 8:3 / /a rw - ext4 c rw
31 22 8:2 / /a rw - ext4 b rw
22 1 179:2 / / rw - ext4 a rw
";
    assert_eq!(visible(text, "/a/b/c"), Some(33));
}

#[test]
fn mounts_that_name_each_other_as_parent_do_not_trap_the_walk() {
    let text = "\
1 1 8:1 / / rw - ext4 a rw
2 3 8:2 / / rw - ext4 b rw
3 2 8:3 / / rw - ext4 c rw
";
    assert_eq!(visible(text, "/x"), Some(1));
}

#[test]
fn the_device_number_overrules_the_path() {
    let mounts = parse_mounts(PLAIN.as_bytes());
    let holding = |path: &str, device: &str| {
        holding_mount(&mounts, Path::new(path), number(device)).map(|mount| mount.id)
    };
    assert_eq!(holding("/home", "179:2"), Some(22));
    // A directory entered before something was mounted over it.
    assert_eq!(holding("/boot", "179:2"), Some(22));
    // A bind mount seen from elsewhere.
    assert_eq!(holding("/home", "179:1"), Some(24));
    assert_eq!(holding("/home", "8:1"), None);
    assert_eq!(holding("/home", "0:99"), None);
}

#[test]
fn btrfs_subvolumes_have_numbers_that_no_mount_shows() {
    let text = "22 1 0:30 /@ / rw - btrfs /dev/sda2 rw,subvol=/@\n";
    let mounts = parse_mounts(text.as_bytes());
    let holding = |device: &str| holding_mount(&mounts, Path::new("/srv"), number(device));
    assert_eq!(holding("0:57").map(|mount| mount.id), Some(22));
    assert_eq!(holding("8:9"), None);
}

#[test]
fn of_two_mounts_at_one_point_the_later_wins() {
    let twice = format!("{PLAIN}40 22 8:1 / /a rw - ext4 a rw\n41 22 8:2 / /a rw - ext4 b rw\n");
    assert_eq!(visible(&twice, "/a/b"), Some(41));
    let roots = "9 1 8:1 / / rw - ext4 a rw\n8 1 8:2 / / rw - ext4 b rw\n";
    assert_eq!(visible(roots, "/a"), Some(8));
}
