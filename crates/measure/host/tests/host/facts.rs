//! Devices, counters, board and host.

use cardmark_core::{
    Board, DeviceCounters, DeviceInfo, FirmwareKind, Queue, Reader, ReaderKind, Sample, SampleFrom,
};
use cardmark_host::{CounterReader, block_devices, device_info, read_board, read_host};

use cardmark_testkit::trees::{
    PI4_CARD, Tree, btrfs_two, emmc_board, pc_crypt, pc_uas, pi_zero, pi3_overclocked, pi3_stick,
    pi4, pi4_ddr50, pi4_loop, virtual_machine,
};

#[test]
fn a_card_says_name_size_and_queue() {
    let tree = pi4();
    let queue = Queue {
        scheduler: Some("mq-deadline".to_owned()),
        rotational: Some(false),
        write_cache: Some("write through".to_owned()),
        read_ahead_bytes: Some(131_072),
        logical_block_bytes: Some(512),
        physical_block_bytes: Some(512),
        requests_count: Some(64),
        ..Queue::default()
    };
    let reader = Reader {
        kind: ReaderKind::Slot,
        driver: None,
        bus: None,
        usb: None,
        pcie: None,
        sata_bits_per_s: None,
    };
    let expected = DeviceInfo {
        name: "mmcblk0".to_owned(),
        size_bytes: Some(62_333_952 * 512),
        model: Some("SD32G".to_owned()),
        removable: Some(false),
        queue: Some(queue),
        // Of "SD32G", line feed, the serial number.
        sample: Some(Sample {
            from: SampleFrom::Serial,
            ..Sample::of_card("cb7897")
        }),
        reader: Some(reader),
        ..DeviceInfo::default()
    };
    assert_eq!(device_info(&tree.root(), "mmcblk0"), expected);
    let part = device_info(&tree.root(), "mmcblk0p2");
    assert_eq!(part.size_bytes, Some(61_801_472 * 512));
    assert_eq!((part.model, part.queue), (expected.model, expected.queue));
}

#[test]
fn of_a_device_that_is_not_there_only_the_name_is_known() {
    let tree = pi4();
    for name in ["sdq", "", "../block/mmcblk0", "."] {
        let expected = DeviceInfo {
            name: name.to_owned(),
            ..DeviceInfo::default()
        };
        assert_eq!(device_info(&tree.root(), name), expected);
    }
}

#[test]
fn ids_are_not_taken_for_makers() {
    let mut tree = Tree::new();
    tree.disk("pci0/virtio1/block/vda", "254:0", 100)
        .file(
            "/sys/devices/pci0/virtio1/block/vda/device/vendor",
            "0x1af4\n",
        )
        .disk("pci0/ata1/block/sda", "8:0", 100)
        .file(
            "/sys/devices/pci0/ata1/block/sda/device/vendor",
            "ATA     \n",
        )
        .file(
            "/sys/devices/pci0/ata1/block/sda/device/model",
            "Invented SSD\n",
        );
    assert_eq!(device_info(&tree.root(), "vda").model, None);
    assert_eq!(
        device_info(&tree.root(), "sda").model.as_deref(),
        Some("Invented SSD")
    );
}

#[test]
fn only_disks_are_listed() {
    let names = |tree: &Tree| -> Vec<String> {
        block_devices(&tree.root())
            .into_iter()
            .map(|device| device.name)
            .collect()
    };
    let mut tree = pi4_loop();
    tree.disk("virtual/block/zram0", "253:0", 8000)
        .disk("virtual/block/ram0", "1:0", 8000)
        .disk("platform/usb1/block/sdb", "8:16", 0)
        .disk("platform/ata/block/sr0", "11:0", 2000)
        .disk(&format!("{PI4_CARD}/mmcblk0boot0"), "179:32", 8192)
        .disk("pci/nvme0/nvme0c0n1", "259:9", 8192)
        .file("/sys/devices/pci/nvme0/nvme0c0n1/hidden", "1\n");
    assert_eq!(names(&tree), ["mmcblk0"]);
    assert_eq!(names(&pi3_stick()), ["mmcblk0", "sda"]);
    assert_eq!(names(&pc_crypt()), ["nvme0n1"]);
    assert_eq!(names(&Tree::new()), [""; 0]);
}

#[test]
fn counters_are_summed_in_bytes() {
    let tree = btrfs_two();
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let one = DeviceCounters {
        read_operations_count: 10,
        read_bytes: 80 * 512,
        write_operations_count: 20,
        write_bytes: 160 * 512,
    };
    let root = tree.root();
    let read = |devices: &[&str]| CounterReader::new(&root, &names(devices)).read();
    assert_eq!(read(&["sda2"]), Some(one));
    let two = read(&["sda2", "sdb"]).unwrap();
    assert_eq!(
        (two.read_bytes, two.write_operations_count),
        (2 * one.read_bytes, 40)
    );
    assert_eq!(read(&["sda2", "gone"]), None);
    assert_eq!(read(&[]), None);
}

#[test]
fn a_reader_sees_counters_move() {
    let mut tree = pi4();
    let stat = format!("/sys/devices/{PI4_CARD}/stat");
    let mut reader = CounterReader::new(&tree.root(), &["mmcblk0".to_owned()]);
    let before = reader.read().unwrap();
    tree.file(&stat, "11 0 88 5 20 0 160 9 0 7 14\n");
    let moved = reader.read().unwrap().since(before);
    assert_eq!(
        (
            moved.read_operations_count,
            moved.read_bytes,
            moved.write_bytes
        ),
        (1, 4096, 0)
    );
    tree.file(&stat, "11 0 88\n");
    assert_eq!(reader.read(), None);
}

#[test]
fn a_board_names_itself_by_its_device_tree() {
    let tree = pi4();
    let expected = Board {
        model: Some("Raspberry Pi 4 Model B Rev 1.4".to_owned()),
        memory_bytes: Some(3_884_312 * 1024),
        cpu_count: Some(4),
        power_warnings: vec!["under_voltage".to_owned(), "throttled".to_owned()],
        ..Board::default()
    };
    assert_eq!(read_board(&tree.root()), expected);
    let host = read_host(&tree.root());
    assert_eq!(
        host.system.as_deref(),
        Some("Debian GNU/Linux 12 (bookworm)")
    );
    assert_eq!(host.kernel.as_deref(), Some("6.1.21-v8+"));
    assert_eq!(host.governor.as_deref(), Some("ondemand"));
}

#[test]
fn a_pi_says_its_revision_and_what_went_wrong_with_its_power() {
    let board = |tree: &Tree| read_board(&tree.root());
    let before = board(&pi3_overclocked());
    assert_eq!(before.revision.as_deref(), Some("a02082"));
    assert_eq!(before.max_frequency_hz, Some(1_200_000_000));
    assert_eq!(before.power_warnings, ["under_voltage", "throttled"]);
    let mut tree = pi3_overclocked();
    tree.remove("/sys/devices/platform/soc");
    assert_eq!(board(&tree).power_warnings, ["under_voltage"], "by the log");
    tree.file("/dev/kmsg", "4,701,1,-;CPU0: Core temperature is above threshold, cpu clock throttled (total events = 1)\n");
    assert_eq!(board(&tree).power_warnings, ["throttled"]);
    tree.remove("/dev/kmsg")
        .file("/sys/class/hwmon/hwmon1/name", "rpi_volt\n")
        .file("/sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1\n");
    assert_eq!(board(&tree).power_warnings, ["under_voltage"]);
    tree.file("/sys/class/hwmon/hwmon1/in0_lcrit_alarm", "0\n");
    assert_eq!(board(&tree).power_warnings, [""; 0]);
    let mut listed = pi_zero();
    listed.remove("/sys/firmware/devicetree/base/system");
    assert_eq!(board(&listed).revision.as_deref(), Some("9000c1"));
    listed.file("/proc/cpuinfo", "processor\t: 0\nRevision\t: 000e\n");
    assert_eq!(board(&listed).revision.as_deref(), Some("000e"));
    listed.file("/proc/cpuinfo", "processor\t: 0\nRevision\t: 0000\n");
    assert_eq!(board(&listed).revision, None);
}

#[test]
fn a_board_names_its_firmware() {
    let told = |tree: &Tree| {
        let firmware = read_board(&tree.root()).firmware.into_iter();
        let told = firmware.map(|one| (one.kind, one.version, one.built_at));
        told.collect::<Vec<_>>()
    };
    let text = |text: &str| Some(text.to_owned());
    let mut pi = pi4_ddr50();
    let commit = text("b7a6cafe0123456789abcdef0123456789abcdef");
    let built = text("2024-04-15T13:19:43Z");
    let video_core = (
        FirmwareKind::VideoCore,
        text("86ccc427f35fdc604edc511881cdf579df945fb4"),
        text("2024-04-17T17:29:44Z"),
    );
    let boot_loader = (FirmwareKind::BootLoader, commit.clone(), built.clone());
    assert_eq!(told(&pi), [boot_loader.clone(), video_core]);
    let node = "/proc/device-tree/chosen/bootloader";
    pi.remove("/dev/kmsg")
        .remove(&format!("{node}/build-timestamp"))
        .bytes(
            &format!("{node}/build_timestamp"),
            &1_713_187_183_u32.to_be_bytes(),
        );
    assert_eq!(told(&pi), [boot_loader], "the documented name");
    pi.bytes(&format!("{node}/build_timestamp"), &[0; 4]);
    assert_eq!(told(&pi), [(FirmwareKind::BootLoader, commit, None)]);
    pi.bytes(&format!("{node}/build_timestamp"), &[1; 3])
        .file(&format!("{node}/version"), "\0");
    assert_eq!(told(&pi), []);
    let mut other = emmc_board();
    other.file(
        "/proc/device-tree/chosen/u-boot,version",
        "2024.01-armbian\0",
    );
    assert_eq!(
        told(&other),
        [(FirmwareKind::UBoot, text("2024.01-armbian"), None)]
    );
    let mut computer = emmc_board();
    computer
        .file("/sys/class/dmi/id/bios_vendor", "U-Boot\n")
        .file("/sys/class/dmi/id/bios_version", "2023.07\n");
    assert_eq!(
        told(&computer),
        [(FirmwareKind::UBoot, text("2023.07"), None)]
    );
    computer.file("/sys/class/dmi/id/bios_vendor", "Invented\n");
    assert_eq!(
        told(&computer),
        [(FirmwareKind::Bios, text("2023.07"), None)]
    );
    computer.file("/sys/class/dmi/id/bios_version", &"long ".repeat(100));
    let long = read_board(&computer.root()).firmware.remove(0);
    assert_eq!(long.version.map(|version| version.len()), Some(128));
}

#[test]
fn the_page_size_is_that_of_the_first_mapping() {
    let page_bytes = |tree: &Tree| read_host(&tree.root()).page_bytes;
    assert_eq!(page_bytes(&emmc_board()), None);
    let mut board = emmc_board();
    let maps = "00400000-00500000 r-xp\nSize: 1024 kB\nKernelPageSize:       16 kB\nMMUPageSize:       16 kB\n";
    board.file("/proc/self/smaps", maps);
    assert_eq!(page_bytes(&board), Some(16_384));
    let mut odd = emmc_board();
    odd.file("/proc/self/smaps", "KernelPageSize: many kB\n");
    assert_eq!(page_bytes(&odd), None);
}

#[test]
fn a_machine_says_whether_it_is_virtual_where_it_can() {
    let is_virtual = |tree: &Tree| read_host(&tree.root()).is_virtual;
    assert_eq!(is_virtual(&virtual_machine()), Some(true));
    assert_eq!(is_virtual(&pc_uas()), Some(false));
    assert_eq!(is_virtual(&emmc_board()), None, "no sign is no proof");
    let with = |path: &str, text: &str| {
        let mut tree = emmc_board();
        tree.file(path, text);
        is_virtual(&tree)
    };
    let compatible = "/proc/device-tree/compatible";
    assert_eq!(with(compatible, "linux,dummy-virt\0"), Some(true));
    assert_eq!(with(compatible, "linux,dummy-virtual\0"), None);
    assert_eq!(with("/sys/hypervisor/type", "xen\n"), Some(true));
    assert_eq!(with("/sys/class/dmi/id/sys_vendor", "QEMU\n"), Some(true));
    assert_eq!(with("/sys/class/dmi/id/sys_vendor", "LENOVO\n"), None);
    let mut rented = emmc_board();
    rented
        .file("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n")
        .file("/sys/class/dmi/id/product_name", "c6g.metal\n");
    assert_eq!(is_virtual(&rented), None);
    let mut host = virtual_machine();
    host.file("/proc/xen/capabilities", "control_d\n");
    assert_eq!(is_virtual(&host), None, "it has the real devices");
}

#[test]
fn a_pc_names_itself_by_its_firmware_unless_nobody_filled_it_in() {
    let tree = pc_crypt();
    let board = read_board(&tree.root());
    assert_eq!(
        (board.model.as_deref(), board.cpu_count),
        (Some("INVENTED X1"), Some(2))
    );
    assert_eq!(
        read_host(&tree.root()).system.as_deref(),
        Some("Arch Linux")
    );
}

#[test]
fn an_empty_tree_is_no_error() {
    let tree = Tree::new();
    assert_eq!(read_board(&tree.root()), Board::default());
    assert_eq!(read_host(&tree.root()).system, None);
}
