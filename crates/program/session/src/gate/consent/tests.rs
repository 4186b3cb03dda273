//! Questions, consent, and advice.

use super::*;

fn card() -> DiskIdentity {
    DiskIdentity {
        name: "mmcblk1".to_owned(),
        device_id: Some((179, 32)),
        disk: "mmcblk1".to_owned(),
        disk_id: Some((179, 32)),
        model: Some("SD64G".to_owned()),
        size_bytes: 63_864_569_856,
        serial: Some("0x0badcafe".to_owned()),
        serial_path: Some("/sys/class/block/mmcblk1/device/serial".into()),
        diskseq: Some(3),
        partitions: Vec::new(),
    }
}

#[test]
fn only_model_and_size_as_shown_confirm() {
    let expected = to_type(&card());
    assert_eq!(expected, "SD64G 63.9 GB");
    let is_confirmed = |typed: &str| is_confirmed(typed, &expected);
    for typed in ["SD64G 63.9 GB\n", "  SD64G   63.9 GB \r\n", "SD64G 63.9 GB"] {
        assert!(is_confirmed(typed), "{typed}");
    }
    for typed in [
        "",
        "\n",
        "y\n",
        "SD64G\n",
        "63.9 GB\n",
        "sd64g 63.9 gb\n",
        "SD64G 63.9\n",
        "SD64G 63.8 GB\n",
        "SD64G 63.9 GB!\n",
    ] {
        assert!(!is_confirmed(typed), "{typed}");
    }
}

#[test]
fn a_serial_number_fits_only_itself() {
    let path = Path::new("/dev/mmcblk1");
    assert!(serial_fits(path, &card(), "0x0badcafe").is_ok());
    for given in ["", "0x0badcaf", "0x0BADCAFE", "0badcafe", "none"] {
        let error = serial_fits(path, &card(), given).unwrap_err();
        assert_eq!(error.exit, Exit::Refused);
        let told = format!("{error:?}");
        assert!(!told.contains("0x0badcafe"), "{told}");
    }
    let mut silent = card();
    silent.serial = None;
    for given in ["", "none"] {
        assert!(serial_fits(path, &silent, given).is_err());
    }
}

#[test]
fn the_question_tells_all_that_will_be_lost() {
    let mut card = card();
    card.partitions = vec![cardmark_host::Partition {
        name: "mmcblk1p1".to_owned(),
        start_bytes: 4_194_304,
        size_bytes: 63_860_375_552,
    }];
    let path = Path::new("/dev/mmcblk1");
    let mut intent = Intent {
        what: "do something",
        bytes_to_write: Some(268_435_456),
        puts_back: false,
    };
    let lost = question(path, &card, &intent);
    for told in [
        "cardmark is going to do something.",
        "  size        63.9 GB (59.5 GiB)\n",
        "  partitions  mmcblk1p1 63.9 GB: all are lost\n",
        "  writes      268 MB (256 MiB)\n",
        "type exactly: SD64G 63.9 GB\n",
    ] {
        assert!(lost.contains(told), "no `{told}` in {lost}");
    }
    intent.puts_back = true;
    let kept = question(path, &card, &intent);
    assert!(kept.contains("copy first what must not be lost"), "{kept}");
    assert!(
        !kept.contains("LOST") && !kept.contains("all are lost"),
        "{kept}"
    );
}

#[test]
fn every_use_is_refused_with_what_to_do() {
    let device = || "sda1".to_owned();
    let made = |kind| Use::Made {
        device: device(),
        holder: "dm-0".to_owned(),
        kind,
        title: Some("backup".to_owned()),
    };
    let mounted = |process| Use::Mounted {
        device: device(),
        directory: "/media/my card".into(),
        process,
    };
    let swap = |device: &str| Use::Swap {
        device: device.to_owned(),
    };
    for (one, advice) in [
        (mounted(None), "umount '/media/my card'"),
        (
            mounted(Some(7)),
            "nsenter --target 7 --mount umount '/media/my card'",
        ),
        (swap("sda1"), "swapoff /dev/sda1"),
        (swap("cciss!c0d0"), "swapoff /dev/cciss/c0d0"),
        (swap("/home/a!b"), "swapoff '/home/a!b'"),
        (made(MadeKind::Lvm), "lvchange --activate n /dev/dm-0"),
        (made(MadeKind::Crypt), "cryptsetup close backup"),
        (made(MadeKind::Mapper), "dmsetup remove backup"),
        (made(MadeKind::Raid), "mdadm --stop /dev/dm-0"),
        (made(MadeKind::Loop), "losetup --detach /dev/dm-0"),
        (
            Use::SameFile {
                device: device(),
                other: "loop7".to_owned(),
            },
            "losetup --detach /dev/loop7",
        ),
        (
            Use::MaySameFile {
                device: device(),
                other: "loop7".to_owned(),
                reason: "unknown".to_owned(),
            },
            "losetup --detach /dev/loop7",
        ),
        (
            Use::Served {
                device: device(),
                setting: "/sys/kernel/config/usb_gadget/g".into(),
            },
            "/sys/kernel/config/usb_gadget/g",
        ),
        (
            Use::Mapped {
                file: "/card.img".to_owned(),
                process: 7,
                command: "qemu".to_owned(),
            },
            "end process 7",
        ),
        (Use::ReadOnly { device: device() }, "lock switch"),
        (Use::NoMedium { device: device() }, "put a card into it"),
        (Use::Unclear { detail: device() }, "as root"),
    ] {
        let error = refused_use(Path::new("/dev/sda"), std::slice::from_ref(&one));
        assert_eq!(error.exit, Exit::Refused);
        assert_eq!(error.causes, [one.to_string()]);
        assert!(error.hints[0].contains(advice), "{error:?}");
        assert_eq!(error.hints[1..], [NOTHING_WRITTEN]);
    }
    let system = Use::System {
        device: device(),
        directory: "/".into(),
    };
    let error = refused_use(Path::new("/dev/sda"), &[system, mounted(None)]);
    assert_eq!((error.causes.len(), error.hints.len()), (2, 2));
    assert!(
        error.hints[0].starts_with("name another device"),
        "{error:?}"
    );
}
