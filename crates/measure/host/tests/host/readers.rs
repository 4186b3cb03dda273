//! Readers, their buses, queues and registers on boards that report everything.

use cardmark_core::{
    AspmState, Bus, BusMode, BusSource, CardKind, PcieLink, Queue, Reader, ReaderKind, UsbBridge,
    UsbController,
};
use cardmark_host::{device_info, log_names, mmc_host, register_texts};
use cardmark_testkit::trees::{
    PC_NVME, PC_READER, PI3_CARD, PI4_CARD, PI5_CARD, PI5_NVME, RK3399_CARD, Tree, VIRTUAL_DISK,
    emmc_board, pc_crypt, pc_uas, pc_usb_storage, pi_zero, pi3_overclocked, pi3_stick, pi4,
    pi4_ddr50, pi5_nvme, pi5_queue_off, pi5_queue_on, virtual_machine,
};

#[track_caller]
fn reader(tree: &Tree, name: &str) -> Reader {
    device_info(&tree.root(), name).reader.unwrap()
}

fn queue(tree: &Tree, name: &str) -> Queue {
    device_info(&tree.root(), name).queue.unwrap()
}

/// A slot with a driver of that name and a bus.
fn slot(driver: &str, bus: Bus) -> Reader {
    Reader {
        kind: ReaderKind::Slot,
        driver: Some(driver.to_owned()),
        bus: Some(bus),
        usb: None,
        pcie: None,
        sata_bits_per_s: None,
    }
}

fn bus(mode: BusMode, mhz: u64, mv: u32) -> Bus {
    Bus {
        mode: Some(mode),
        lines_count: Some(4),
        clock_hz: Some(mhz * 1_000_000),
        actual_clock_hz: Some(mhz * 1_000_000),
        signal_mv: Some(mv),
        overclock_hz: None,
        source: Some(BusSource::Debugfs),
    }
}

#[test]
fn each_pi_tells_the_bus_of_its_slot() {
    let high_speed = bus(BusMode::HighSpeed, 50, 3300);
    let zero = slot("sdhost-bcm2835", high_speed.clone());
    assert_eq!(reader(&pi_zero(), "mmcblk0"), zero);
    let overclocked = Bus {
        actual_clock_hz: Some(100_000_000),
        overclock_hz: Some(100_000_000),
        ..high_speed
    };
    let pi3 = slot("sdhost-bcm2835", overclocked);
    assert_eq!(reader(&pi3_overclocked(), "mmcblk0p2"), pi3);
    let pi4 = slot("sdhci-iproc", bus(BusMode::Ddr50, 50, 1800));
    assert_eq!(reader(&pi4_ddr50(), "mmcblk0"), pi4);
    let pi5 = slot("sdhci-brcmstb", bus(BusMode::Sdr104, 200, 1800));
    assert_eq!(reader(&pi5_queue_on(), "mmcblk0"), pi5);
    assert_eq!(reader(&pi5_queue_off(), "mmcblk0"), pi5);
}

#[test]
fn without_root_the_log_tells_the_mode() {
    let by_log = |mut tree: Tree, name: &str| {
        tree.remove("/sys/kernel/debug");
        reader(&tree, name).bus
    };
    let mode = |mode: BusMode| Bus {
        mode: Some(mode),
        source: Some(BusSource::KernelLog),
        ..Bus::default()
    };
    assert_eq!(by_log(pi4_ddr50(), "mmcblk0"), Some(mode(BusMode::Ddr50)));
    assert_eq!(by_log(emmc_board(), "mmcblk1"), Some(mode(BusMode::Hs400)));
    let overclocked = Bus {
        overclock_hz: Some(100_000_000),
        ..mode(BusMode::HighSpeed)
    };
    assert_eq!(by_log(pi3_overclocked(), "mmcblk0"), Some(overclocked));
    let mut tree = pi4_ddr50();
    tree.remove("/dev/kmsg");
    assert_eq!(by_log(tree, "mmcblk0"), None);
}

#[test]
fn an_overclocked_slot_is_told_by_its_clock_or_by_the_device_tree() {
    let node = "/sys/firmware/devicetree/base/soc/mmc@7e202000/brcm,overclock-50";
    let overclock = |tree: &Tree| reader(tree, "mmcblk0").bus.unwrap().overclock_hz;
    let mut tree = pi3_overclocked();
    tree.remove(node);
    assert_eq!(overclock(&tree), Some(100_000_000), "by its clock");
    tree.bytes(node, &84_u32.to_be_bytes());
    assert_eq!(overclock(&tree), Some(84_000_000), "as was asked");
    let state = "/sys/kernel/debug/mmc0/ios";
    let legacy = "clock:\t\t25000000 Hz\ntiming spec:\t0 (legacy)\n";
    assert_eq!(overclock(tree.file(state, legacy)), None, "not in use");
    let fast =
        "clock:\t\t200000000 Hz\nactual clock:\t200000000 Hz\ntiming spec:\t6 (sd uhs SDR104)\n";
    assert_eq!(overclock(tree.file(state, fast)), None, "as it should be");
}

#[test]
fn queues_of_cards_are_told_from_the_kernels() {
    let told = |tree: &Tree, name: &str| {
        let queue = queue(tree, name);
        (queue.tags_count, queue.command_queue)
    };
    assert_eq!(told(&pi5_queue_on(), "mmcblk0"), (Some(32), Some(true)));
    assert_eq!(told(&pi5_queue_off(), "mmcblk0"), (Some(64), Some(false)));
    assert_eq!(told(&pi4_ddr50(), "mmcblk0"), (Some(64), Some(false)));
    assert_eq!(told(&pi4(), "mmcblk0"), (None, None));
    assert_eq!(told(&emmc_board(), "mmcblk1"), (Some(31), Some(true)));
    let mut off = emmc_board();
    off.file(&format!("/sys/devices/{RK3399_CARD}/device/cmdq_en"), "0\n");
    assert_eq!(told(&off, "mmcblk1").1, Some(false));
    let mut tree = pi5_queue_on();
    tree.remove(&format!("/sys/devices/{PI5_CARD}/mq"));
    assert_eq!(told(&tree, "mmcblk0"), (None, Some(true)), "by the log");
    tree.remove("/dev/kmsg");
    assert_eq!(told(&tree, "mmcblk0"), (None, None));
    assert_eq!(told(&pc_uas(), "sdb"), (Some(30), None));
    assert_eq!(queue(&pc_uas(), "sdb").largest_request_bytes, Some(524_288));
}

#[test]
fn a_usb_bridge_tells_who_it_is_and_how_it_is_reached() {
    let bridge = UsbBridge {
        vendor: "0bda".to_owned(),
        product: "9210".to_owned(),
        revision: Some("2001".to_owned()),
        name: Some("Invented Card Reader".to_owned()),
        link_bits_per_s: Some(5_000_000_000),
        usb_version: Some("3.20".to_owned()),
        port_bits_per_s: Some(10_000_000_000),
        offers_uas: Some(true),
        controller: Some(UsbController {
            driver: Some("xhci_hcd".to_owned()),
            vendor: Some("8086".to_owned()),
            product: Some("a36d".to_owned()),
            revision: Some("10".to_owned()),
            ..UsbController::default()
        }),
    };
    let mut expected = Reader {
        kind: ReaderKind::Usb,
        driver: Some("uas".to_owned()),
        bus: None,
        usb: Some(bridge),
        pcie: None,
        sata_bits_per_s: None,
    };
    assert_eq!(reader(&pc_uas(), "sdb"), expected);
    expected.driver = Some("usb-storage".to_owned());
    assert_eq!(reader(&pc_usb_storage(), "sdb"), expected);
    let info = device_info(&pc_uas().root(), "sdb");
    assert_eq!(info.firmware.as_deref(), Some("0117"));
    assert!(!format!("{info:?}").contains("INV0123456789"));
}

#[test]
fn a_bridge_at_a_slower_link_knows_the_faster_port() {
    let mut tree = Tree::new();
    let controller = "pci0000:00/0000:00:14.0";
    let disk = format!("{controller}/usb1/1-4/1-4:1.0/host2/target2:0:0/2:0:0:0/block/sda");
    let bridge = format!("/sys/devices/{controller}/usb1/1-4");
    tree.disk(&disk, "8:0", 1000)
        .driver(&format!("{controller}/usb1/1-4/1-4:1.0"), "usb-storage")
        .file(&format!("{bridge}/idVendor"), "05E3\n")
        .file(&format!("{bridge}/idProduct"), "0749\n")
        .file(&format!("{bridge}/speed"), "480\n")
        .file(&format!("{bridge}/manufacturer"), "Generic\n")
        .file(&format!("{bridge}/product"), "Generic STORAGE \u{1b}[1m\n")
        .file(&format!("/sys/devices/{controller}/usb1/speed"), "480\n")
        .file(&format!("/sys/devices/{controller}/usb2/speed"), "5000\n");
    let bridge_of = |tree: &Tree| reader(tree, "sda").usb.unwrap();
    let usb = bridge_of(&tree);
    assert_eq!((usb.vendor.as_str(), usb.offers_uas), ("05e3", None));
    assert_eq!(usb.name.as_deref(), Some("Generic STORAGE ?[1m"));
    assert_eq!(usb.link_bits_per_s, Some(480_000_000));
    assert_eq!(usb.port_bits_per_s, Some(5_000_000_000));
    tree.file(&format!("{bridge}/serial"), "STORAGE\n");
    assert_eq!(bridge_of(&tree).name, None, "its name holds its number");
    tree.file(&format!("{bridge}/idVendor"), "what\n");
    let reader = reader(&tree, "sda");
    assert_eq!((reader.kind, reader.usb), (ReaderKind::Usb, None));
}

#[test]
fn the_controller_of_a_usb_bus_names_itself_and_its_firmware() {
    let mut tree = Tree::new();
    let controller = "platform/scb/fd500000.pcie/pci0000:00/0000:00:00.0/0000:01:00.0";
    let disk = format!("{controller}/usb2/2-1/2-1:1.0/host0/target0:0:0/0:0:0:0/block/sda");
    let folder = format!("/sys/devices/{controller}");
    let bridge = format!("{folder}/usb2/2-1");
    let mut space = vec![0; 256];
    space[0x50..0x54].copy_from_slice(&[0xC0, 0x38, 0x01, 0x00]);
    tree.disk(&disk, "8:0", 1000)
        .file(&format!("{bridge}/idVendor"), "0bda\n")
        .file(&format!("{bridge}/idProduct"), "9210\n")
        .driver(controller, "xhci_hcd")
        .files(
            &folder,
            &[
                ("vendor", "0x1106\n"),
                ("device", "0x3483\n"),
                ("revision", "0x01\n"),
                ("current_link_speed", "5.0 GT/s PCIe\n"),
                ("current_link_width", "1\n"),
                ("link/l1_aspm", "1\n"),
            ],
        )
        .bytes(&format!("{folder}/config"), &space);
    let controller_of = |tree: &Tree| reader(tree, "sda").usb.unwrap().controller;
    let text = |text: &str| Some(text.to_owned());
    let mut expected = UsbController {
        driver: text("xhci_hcd"),
        vendor: text("1106"),
        product: text("3483"),
        revision: text("01"),
        firmware: text("000138c0"),
        pcie: Some(PcieLink {
            megatransfers_per_s: Some(5000),
            lanes_count: Some(1),
            aspm: Some(vec![AspmState::L1]),
            ..PcieLink::default()
        }),
    };
    assert_eq!(controller_of(&tree), Some(expected.clone()));
    expected.firmware = None;
    for hidden in [&space[..64], &space[..0x52], &[0xFF; 256], &[0; 256]] {
        tree.bytes(&format!("{folder}/config"), hidden);
        assert_eq!(
            controller_of(&tree),
            Some(expected.clone()),
            "{}",
            hidden.len()
        );
    }
    tree.bytes(&format!("{folder}/config"), &space)
        .file(&format!("{folder}/device"), "0x3432\n");
    expected.product = text("3432");
    assert_eq!(controller_of(&tree), Some(expected), "another model");
    for name in [
        "vendor",
        "device",
        "revision",
        "driver",
        "current_link_speed",
    ] {
        tree.remove(&format!("{folder}/{name}"));
    }
    assert_eq!(controller_of(&tree), None);
}

#[test]
fn a_slot_behind_usb_is_a_slot() {
    let mut tree = Tree::new();
    let bridge = "pci0000:00/0000:00:14.0/usb1/1-3";
    let controller = format!("{bridge}/1-3:1.0/rtsx_usb_sdmmc.0");
    let card = format!("{controller}/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0");
    tree.disk(&card, "179:0", 1000)
        .driver(&controller, "rtsx_usb_sdmmc")
        .file(&format!("/sys/devices/{bridge}/idVendor"), "0bda\n")
        .file(&format!("/sys/devices/{bridge}/idProduct"), "0129\n");
    let reader = reader(&tree, "mmcblk0");
    assert_eq!(reader.kind, ReaderKind::Slot);
    assert_eq!(reader.driver.as_deref(), Some("rtsx_usb_sdmmc"));
    assert_eq!(reader.usb.unwrap().product, "0129");
}

#[test]
fn nvme_tells_its_link_and_what_it_could() {
    let link = PcieLink {
        megatransfers_per_s: Some(5000),
        max_megatransfers_per_s: Some(16_000),
        lanes_count: Some(1),
        max_lanes_count: Some(4),
        aspm_policy: Some("default".to_owned()),
        aspm: Some(vec![AspmState::L1, AspmState::L1Sub1, AspmState::L1Sub2]),
    };
    let mut expected = Reader {
        kind: ReaderKind::Nvme,
        driver: Some("nvme".to_owned()),
        bus: None,
        usb: None,
        pcie: Some(link),
        sata_bits_per_s: None,
    };
    let mut tree = pi5_nvme();
    assert_eq!(reader(&tree, "nvme0n1"), expected);
    let info = device_info(&tree.root(), "nvme0n1p2");
    assert_eq!(info.firmware.as_deref(), Some("2B2QEXM7"));
    let device = PI5_NVME.strip_suffix("/nvme/nvme0/nvme0n1").unwrap();
    tree.file(
        &format!("/sys/devices/{device}/current_link_speed"),
        "Unknown\n",
    )
    .file(
        &format!("/sys/devices/{device}/current_link_width"),
        "255\n",
    )
    .file(&format!("/sys/devices/{device}/max_link_speed"), "8 GT/s\n")
    .remove("/sys/module/pcie_aspm");
    for state in ["l1_aspm", "l1_1_aspm", "l1_2_aspm"] {
        tree.file(&format!("/sys/devices/{device}/link/{state}"), "0\n");
    }
    expected.pcie = Some(PcieLink {
        megatransfers_per_s: None,
        max_megatransfers_per_s: Some(8000),
        lanes_count: None,
        max_lanes_count: Some(4),
        aspm_policy: None,
        aspm: Some(Vec::new()),
    });
    assert_eq!(reader(&tree, "nvme0n1"), expected);
    tree.remove(&format!("/sys/devices/{device}/link"));
    assert_eq!(reader(&tree, "nvme0n1").pcie.unwrap().aspm, None);
    assert_eq!(reader(&pc_crypt(), "nvme0n1").pcie, None);
}

#[test]
fn a_disk_that_could_have_several_controllers_is_followed_through_its_only_one() {
    let device = "pci0000:00/0000:00:1d.0/0000:02:00.0";
    let subsystem = "virtual/nvme-subsystem/nvme-subsys0";
    let mut tree = Tree::new();
    tree.disk(&format!("{subsystem}/nvme0n1"), "259:0", 1000)
        .file(
            &format!("/sys/devices/{device}/current_link_speed"),
            "8.0 GT/s PCIe\n",
        )
        .driver(device, "nvme")
        .directory(&format!("/sys/devices/{device}/nvme/nvme0"))
        .link(
            &format!("/sys/devices/{subsystem}/nvme0"),
            &format!("/sys/devices/{device}/nvme/nvme0"),
        );
    let one = reader(&tree, "nvme0n1");
    assert_eq!(one.pcie.unwrap().megatransfers_per_s, Some(8000));
    assert_eq!(one.driver.as_deref(), Some("nvme"));
    tree.directory(&format!("/sys/devices/{subsystem}/nvme1"));
    assert_eq!(reader(&tree, "nvme0n1").pcie, None, "which of two?");
}

#[test]
fn a_sata_port_tells_its_link() {
    let expected = Reader {
        kind: ReaderKind::Sata,
        driver: Some("ahci".to_owned()),
        bus: None,
        usb: None,
        pcie: None,
        sata_bits_per_s: Some(6_000_000_000),
    };
    let mut tree = pc_uas();
    assert_eq!(reader(&tree, "sda"), expected);
    assert_eq!(
        device_info(&tree.root(), "sda").firmware.as_deref(),
        Some("1.02")
    );
    let port = "pci0000:00/0000:00:17.0/ata1";
    let link = format!("/sys/devices/{port}/link1/ata_link/link1/sata_spd");
    tree.file(&link, "<unknown>\n");
    assert_eq!(reader(&tree, "sda").sata_bits_per_s, None);
    tree.remove("/sys/devices/pci0000:00/0000:00:17.0/driver")
        .driver("pci0000:00/0000:00:17.0", "pata_jmicron");
    assert_eq!(device_info(&tree.root(), "sda").reader, None);
}

#[test]
fn disks_of_virtual_machines_are_virtual() {
    let tree = virtual_machine();
    let disk = reader(&tree, "vda");
    assert_eq!(disk.kind, ReaderKind::Virtual);
    assert_eq!(disk.driver.as_deref(), Some("virtio_blk"));
    let kind = |directory: &str, model: &str| {
        let mut tree = Tree::new();
        tree.disk(directory, "8:0", 1000)
            .file(&format!("/sys/devices/{directory}/device/model"), model);
        device_info(&tree.root(), directory.rsplit('/').next().unwrap())
            .reader
            .map(|reader| reader.kind)
    };
    let of_scsi = "pci0/virtio2/host0/target0:0:0/0:0:0:0/block/sda";
    assert_eq!(kind(of_scsi, "x"), Some(ReaderKind::Virtual));
    let of_port = "pci0/ata1/host0/target0:0:0/0:0:0:0/block/sda";
    assert_eq!(kind(of_port, "QEMU HARDDISK"), Some(ReaderKind::Virtual));
    assert_eq!(kind(of_port, "HARDDISK"), Some(ReaderKind::Sata));
    assert_eq!(kind("pci0/0000:00:01.0/host0/block/sda", "x"), None);
    let mut xen = Tree::new();
    xen.disk("vbd-51712/block/xvda", "202:0", 1000)
        .driver("vbd-51712", "vbd");
    assert_eq!(reader(&xen, "xvda").kind, ReaderKind::Virtual);
    assert!(VIRTUAL_DISK.contains("virtio"));
}

#[test]
fn registers_are_given_as_they_are_and_not_shown() {
    let tree = pi5_queue_on();
    let card = register_texts(&tree.root(), "mmcblk0p2").unwrap();
    assert_eq!(card.kind, CardKind::Sd);
    assert_eq!(card.texts["cid"], "035344534e3634478601c0ffee016b00");
    assert_eq!(card.texts["ssr"].len(), 128);
    let shown = format!("{card:?}");
    assert!(
        shown.contains("ssr") && !shown.contains("c0ffee"),
        "{shown}"
    );
    let emmc = register_texts(&emmc_board().root(), "mmcblk1").unwrap();
    assert_eq!(emmc.kind, CardKind::Mmc);
    let texts = ["life_time", "pre_eol_info", "cmdq_en", "rev"].map(|name| &emmc.texts[name]);
    assert_eq!(texts, ["0x02 0x01", "0x01", "1", "0x8"]);
    assert!(!emmc.texts.contains_key("scr"));
    assert_eq!(register_texts(&pc_uas().root(), "sdb"), None);
    assert_eq!(register_texts(&pi4().root(), "mmcblk0"), None, "no type");
    let mut wifi = pi4_ddr50();
    wifi.file(&format!("/sys/devices/{PI4_CARD}/device/type"), "SDIO\n");
    assert_eq!(register_texts(&wifi.root(), "mmcblk0"), None);
}

#[test]
fn only_emmc_says_firmware_of_its_own() {
    let firmware = |tree: &Tree, name: &str| device_info(&tree.root(), name).firmware;
    assert_eq!(
        firmware(&emmc_board(), "mmcblk1").as_deref(),
        Some("0x0500000000000000")
    );
    assert_eq!(firmware(&pi4_ddr50(), "mmcblk0"), None);
}

#[test]
fn the_log_calls_disks_by_these_names() {
    let told = |tree: &Tree, name: &str| log_names(&tree.root(), name);
    assert_eq!(
        told(&pi4_ddr50(), "mmcblk0p2"),
        ["mmcblk0", "mmcblk0p1", "mmcblk0p2", "mmc0"]
    );
    assert_eq!(
        told(&pc_uas(), "sdb"),
        ["sdb", "usb 2-1", "6:0:0:0", "scsi host6"]
    );
    assert_eq!(
        told(&pc_uas(), "sda"),
        ["sda", "sda1", "sda2", "0:0:0:0", "scsi host0", "ata1"]
    );
    assert_eq!(
        told(&pi5_nvme(), "nvme0n1"),
        ["nvme0n1", "nvme0n1p1", "nvme0n1p2", "nvme0"]
    );
    assert_eq!(told(&pi4(), "sdq"), [""; 0]);
}

#[test]
fn the_host_of_a_card_is_found_and_of_nothing_else() {
    let host = |tree: &Tree, name: &str| mmc_host(&tree.root(), name);
    assert_eq!(host(&pi4(), "mmcblk0p1").as_deref(), Some("mmc0"));
    assert_eq!(host(&emmc_board(), "mmcblk1boot0").as_deref(), Some("mmc1"));
    assert_eq!(host(&pi3_stick(), "mmcblk0").as_deref(), Some("mmc0"));
    assert_eq!(host(&pi3_stick(), "sda"), None);
    assert_eq!(host(&pc_crypt(), "nvme0n1"), None);
    assert_eq!(host(&pi4(), "nothing"), None);
    assert!(
        PI3_CARD.contains("mmc_host") && PC_NVME.contains("nvme") && PC_READER.contains("usb2")
    );
}
