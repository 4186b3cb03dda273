//! Boards with all that the readers look at: registers, bus, log, power. Paths and texts are as the
//! kernels named there give them; serial numbers are invented, checksums fit them.

use super::{PI3_CARD, PI4_CARD, Tree, pi4};

/// The card of the Pi Zero, below `/sys/devices`.
pub const ZERO_CARD: &str = "platform/soc/20202000.mmc/mmc_host/mmc0/mmc0:0007/block/mmcblk0";
/// The card of the Pi 5.
pub const PI5_CARD: &str = "platform/axi/1000fff000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0";
/// The NVMe disk of the Pi 5.
pub const PI5_NVME: &str = "platform/axi/1000110000.pcie/pci0000:00/0000:00:00.0/0000:01:00.0/\
    nvme/nvme0/nvme0n1";
/// The disk behind the USB bridge of the PC.
pub const PC_READER: &str = "pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/\
    6:0:0:0/block/sdb";
/// The eMMC.
pub const EMMC_CARD: &str = "platform/fe330000.mmc/mmc_host/mmc1/mmc1:0001/block/mmcblk1";
/// The disk of the virtual machine.
pub const VIRTUAL_DISK: &str = "pci0000:00/0000:00:02.0/virtio1/block/vda";

/// Status registers: an A2 card with a queue of 32 and a cache, a plain U3 card, one of class 4.
const SSR_A2: &str = "8000000000000000040090000108391e000800000002fc000200000000000000\
    0000000000000000000000000000000000000000000000000000000000000000\n";
const SSR_U3: &str = "8000000000000000040090000108390000000000000000000000000000000000\
    0000000000000000000000000000000000000000000000000000000000000000\n";
const SSR_C4: &str = "8000000000000000020090000108000000000000000000000000000000000000\
    0000000000000000000000000000000000000000000000000000000000000000\n";

/// Every tree whose files tell all, by name.
#[must_use]
pub fn whole() -> Vec<(&'static str, Tree)> {
    vec![
        ("pi_zero", pi_zero()),
        ("pi3_overclocked", pi3_overclocked()),
        ("pi4_ddr50", pi4_ddr50()),
        ("pi5_queue_on", pi5_queue_on()),
        ("pi5_queue_off", pi5_queue_off()),
        ("pi5_nvme", pi5_nvme()),
        ("pc_uas", pc_uas()),
        ("pc_usb_storage", pc_usb_storage()),
        ("emmc_board", emmc_board()),
        ("virtual_machine", virtual_machine()),
    ]
}

/// What the controller of a card slot says in debugfs.
struct Slot {
    clock_hz: u64,
    actual_hz: u64,
    /// Power of two of the lines.
    width: u32,
    timing: &'static str,
    voltage: &'static str,
}

impl Slot {
    fn state(&self) -> String {
        let lines = 1 << self.width;
        format!(
            "clock:\t\t{} Hz\nactual clock:\t{} Hz\nvdd:\t\t21 (3.3 ~ 3.4 V)\n\
             bus mode:\t2 (push-pull)\nchip select:\t0 (don't care)\npower mode:\t2 (on)\n\
             bus width:\t{} ({lines} bits)\ntiming spec:\t{}\nsignal voltage:\t{}\n\
             driver type:\t0 (driver type B)\n",
            self.clock_hz, self.actual_hz, self.width, self.timing, self.voltage,
        )
    }
}

/// What a host has counted of errors: none.
const NO_ERRORS: &str = "# Command Timeout Occurred:\t 0\n# Command CRC Errors Occurred:\t 0\n\
    # Data Timeout Occurred:\t 0\n# Data CRC Errors Occurred:\t 0\n\
    # Auto-Cmd Error Occurred:\t 0\n# ADMA Error Occurred:\t 0\n# Tuning Error Occurred:\t 0\n\
    # CMDQ RED Errors:\t 0\n# CMDQ GCE Errors:\t 0\n# CMDQ ICCE Errors:\t 0\n\
    # Request Timedout:\t 0\n# CMDQ Request Timedout:\t 0\n# ICE Config Errors:\t 0\n\
    # Controller Timedout errors:\t 0\n# Unexpected IRQ errors:\t 0\n";

impl Tree {
    /// The state of a card host in debugfs.
    fn host(&mut self, host: &str, slot: &Slot) -> &mut Self {
        let folder = format!("/sys/kernel/debug/{host}");
        self.file(&format!("{folder}/ios"), &slot.state())
            .file(&format!("{folder}/err_stats"), NO_ERRORS)
    }

    /// What a Raspberry Pi tells of itself: the device tree, then the system.
    fn pi(&mut self, model: &str, revision: u32, kernel: &str, cpus: &str) -> &mut Self {
        let node = "/sys/firmware/devicetree/base";
        self.file(&format!("{node}/model"), &format!("{model}\0"))
            .bytes(
                &format!("{node}/system/linux,revision"),
                &revision.to_be_bytes(),
            )
            .link("/proc/device-tree", node)
            .file(
                "/proc/cpuinfo",
                &format!("processor\t: 0\nFeatures\t: half thumb\n\nRevision\t: {revision:x}\n"),
            )
            .system(kernel, cpus)
    }

    fn system(&mut self, kernel: &str, cpus: &str) -> &mut Self {
        self.file("/proc/sys/kernel/osrelease", &format!("{kernel}\n"))
            .file("/sys/devices/system/cpu/online", &format!("{cpus}\n"))
            .file(
                "/etc/os-release",
                "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
            )
            .file(
                "/proc/meminfo",
                "MemTotal:         930000 kB\nMemFree:  1 kB\n",
            )
            .file("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n")
    }

    fn processor(&mut self, most_khz: u64) -> &mut Self {
        let processor = "/sys/devices/system/cpu/cpu0/cpufreq";
        self.file(
            &format!("{processor}/cpuinfo_max_freq"),
            &format!("{most_khz}\n"),
        )
        .file(
            &format!("{processor}/scaling_cur_freq"),
            &format!("{most_khz}\n"),
        )
        .file(&format!("{processor}/scaling_governor"), "ondemand\n")
    }

    fn throttled(&mut self, word: &str) -> &mut Self {
        let firmware = "/sys/devices/platform/soc/soc:firmware";
        self.file(&format!("{firmware}/get_throttled"), &format!("{word}\n"))
    }

    /// The queue of a disk as this many tags and that cache.
    fn queue(&mut self, disk: &str, tags: u64, cache: &str) -> &mut Self {
        let folder = format!("/sys/devices/{disk}");
        self.file(&format!("{folder}/mq/0/nr_tags"), &format!("{tags}\n"))
            .files(
                &format!("{folder}/queue"),
                &[
                    ("rotational", "0\n"),
                    ("write_cache", &format!("{cache}\n")),
                    ("read_ahead_kb", "128\n"),
                    ("logical_block_size", "512\n"),
                    ("physical_block_size", "512\n"),
                    ("nr_requests", &format!("{tags}\n")),
                    ("max_sectors_kb", "512\n"),
                ],
            )
    }

    /// The root filesystem on the second partition, the first one being that of the firmware.
    fn two_parts(&mut self, disk: &str, name: &str, numbers: [&str; 2]) -> &mut Self {
        let [boot, system] = numbers;
        let parts = [format!("{disk}/{name}1"), format!("{disk}/{name}2")];
        self.partition(&parts[0], boot, 1_048_576)
            .partition(&parts[1], system, 20_000_000)
            .file(&format!("/sys/devices/{}/start", parts[0]), "8192\n")
            .file(&format!("/sys/devices/{}/start", parts[1]), "1056768\n")
            .mounts(&format!(
                "22 1 {system} / / rw,noatime shared:1 - ext4 /dev/root rw\n\
                 66 22 {boot} / /boot/firmware rw,relatime shared:34 - vfat /dev/{name}1 rw\n"
            ))
            .stat(&format!("directory {system} - /"))
            .stat(&format!("directory {boot} - /boot/firmware"))
    }

    /// The registers of an SD card: CID, CSD, SCR, SSR, name.
    fn sd_card(&mut self, disk: &str, registers: [&str; 5]) -> &mut Self {
        let [cid, csd, scr, ssr, name] = registers;
        self.files(
            &format!("/sys/devices/{disk}/device"),
            &[
                ("type", "SD\n"),
                ("cid", &format!("{cid}\n")),
                ("csd", &format!("{csd}\n")),
                ("scr", &format!("{scr}\n")),
                ("ssr", ssr),
                ("name", &format!("{name}\n")),
                ("serial", "0x01c0ffee\n"),
                ("fwrev", "0x0\n"),
                ("hwrev", "0x8\n"),
                ("erase_size", "512\n"),
                ("preferred_erase_size", "4194304\n"),
            ],
        )
    }
}

/// Raspberry Pi Zero W, Raspberry Pi OS 12 (32 bit), kernel 6.1.21+: an old card at high speed.
#[must_use]
pub fn pi_zero() -> Tree {
    let mut tree = Tree::new();
    let slot = Slot {
        clock_hz: 50_000_000,
        actual_hz: 50_000_000,
        width: 2,
        timing: "2 (sd high-speed)",
        voltage: "0 (3.30 V)",
    };
    let registers = [
        "27504853443136473001c0ffee0128f7",
        "400e00325b59000074277f800a40000f",
        "0235800001000000",
        SSR_C4,
        "SD16G",
    ];
    tree.disk(ZERO_CARD, "179:0", 30_449_664)
        .sd_card(ZERO_CARD, registers)
        .queue(ZERO_CARD, 64, "write through")
        .two_parts(ZERO_CARD, "mmcblk0p", ["179:1", "179:2"])
        .driver("platform/soc/20202000.mmc", "sdhost-bcm2835")
        .bytes(
            "/sys/firmware/devicetree/base/soc/mmc@7e202000/brcm,overclock-50",
            &[0; 4],
        )
        .link(
            "/sys/devices/platform/soc/20202000.mmc/of_node",
            "/sys/firmware/devicetree/base/soc/mmc@7e202000",
        )
        .host("mmc0", &slot)
        .pi("Raspberry Pi Zero W Rev 1.1", 0x0090_00c1, "6.1.21+", "0")
        .processor(1_000_000)
        .throttled("0")
        .file(
            "/dev/kmsg",
            "6,210,2103456,-;sdhost-bcm2835 20202000.mmc: loaded - DMA enabled (>1)\n\
             6,214,2303456,-;mmc0: host does not support reading read-only switch, assuming \
             write-enable\n\
             6,215,2310456,-;mmc0: new high speed SDHC card at address 0007\n\
             6,216,2320456,-;mmcblk0: mmc0:0007 SD16G 14.5 GiB\n\
             6,217,2330456,-; mmcblk0: p1 p2\n",
        );
    tree
}

/// Raspberry Pi 3 B, Raspberry Pi OS 11 (32 bit), kernel 5.15.84-v7+, with
/// `dtparam=sd_overclock=100`: a new card at high speed and twice its clock.
#[must_use]
pub fn pi3_overclocked() -> Tree {
    let mut tree = Tree::new();
    let slot = Slot {
        clock_hz: 50_000_000,
        actual_hz: 100_000_000,
        width: 2,
        timing: "2 (sd high-speed)",
        voltage: "0 (3.30 V)",
    };
    let registers = [
        "1b534d474434515430c0ffee0101256b",
        "400e00325b590003b9ff7f800a4040ab",
        "02c5800300000000",
        SSR_U3,
        "GD4QT",
    ];
    tree.disk(PI3_CARD, "179:0", 250_085_376)
        .sd_card(PI3_CARD, registers)
        .queue(PI3_CARD, 64, "write through")
        .two_parts(PI3_CARD, "mmcblk0p", ["179:1", "179:2"])
        .driver("platform/soc/3f202000.mmc", "sdhost-bcm2835")
        .bytes(
            "/sys/firmware/devicetree/base/soc/mmc@7e202000/brcm,overclock-50",
            &100_u32.to_be_bytes(),
        )
        .link(
            "/sys/devices/platform/soc/3f202000.mmc/of_node",
            "/sys/firmware/devicetree/base/soc/mmc@7e202000",
        )
        .host("mmc0", &slot)
        .pi(
            "Raspberry Pi 3 Model B Rev 1.2",
            0x00a0_2082,
            "5.15.84-v7+",
            "0-3",
        )
        .processor(1_200_000)
        .throttled("50000")
        .file(
            "/dev/kmsg",
            "6,315,2310456,-;mmc0: new high speed SDXC card at address e624\n\
             6,316,2320456,-;mmcblk0: mmc0:e624 GD4QT 119 GiB\n\
             4,701,93320456,-;hwmon hwmon1: Undervoltage detected!\n\
             6,702,95320456,-;hwmon hwmon1: Voltage normalised\n",
        );
    tree
}

/// The Pi 4 with all it tells: an A2 card at DDR50, without a queue.
#[must_use]
pub fn pi4_ddr50() -> Tree {
    let mut tree = pi4();
    let slot = Slot {
        clock_hz: 50_000_000,
        actual_hz: 50_000_000,
        width: 2,
        timing: "7 (sd uhs DDR50)",
        voltage: "1 (1.80 V)",
    };
    tree.sd_card(PI4_CARD, A2_CARD)
        .queue(PI4_CARD, 64, "write back")
        .file(
            &format!("/sys/devices/{PI4_CARD}/mmcblk0p1/start"),
            "8192\n",
        )
        .file(
            &format!("/sys/devices/{PI4_CARD}/mmcblk0p2/start"),
            "532480\n",
        )
        .driver("platform/emmc2bus/fe340000.mmc", "sdhci-iproc")
        .host("mmc0", &slot)
        .bytes(
            "/proc/device-tree/system/linux,revision",
            &0x00c0_3114_u32.to_be_bytes(),
        )
        .processor(1_500_000)
        .file(
            "/dev/kmsg",
            "6,415,1910456,-;mmc0: new ultra high speed DDR50 SDXC card at address aaaa\n\
             6,416,1920456,-;mmcblk0: mmc0:aaaa SN64G 59.5 GiB\n",
        );
    tree
}

/// An A2 card as hosts show it that leave out the checksum.
const A2_CARD: [&str; 5] = [
    "035344534e3634478601c0ffee016b00",
    "400e0032db790001dbd37f800a404000",
    "0245848700000000",
    SSR_A2,
    "SN64G",
];

/// Raspberry Pi 5, Raspberry Pi OS 12, kernel 6.6.51+rpt-rpi-2712, `dtparam=sd_cqe=1`: an A2 card
/// at SDR104 with its queue and its cache in use.
#[must_use]
pub fn pi5_queue_on() -> Tree {
    let mut tree = pi5(32);
    tree.file(
        "/dev/kmsg",
        "6,515,810456,-;mmc0: CQHCI version 5.10\n\
         6,516,820456,-;mmc0: SDHCI controller on 1000fff000.mmc [1000fff000.mmc] using ADMA \
         64-bit\n\
         6,517,910456,-;mmc0: Command Queue Engine enabled\n\
         6,518,920456,-;mmc0: new ultra high speed SDR104 SDXC card at address aaaa\n\
         6,519,930456,-;mmcblk0: mmc0:aaaa SN64G 59.5 GiB\n",
    );
    tree
}

/// The same with `dtparam=sd_cqe=0`.
#[must_use]
pub fn pi5_queue_off() -> Tree {
    let mut tree = pi5(64);
    tree.file(
        "/dev/kmsg",
        "6,518,920456,-;mmc0: new ultra high speed SDR104 SDXC card at address aaaa\n\
         6,519,930456,-;mmcblk0: mmc0:aaaa SN64G 59.5 GiB\n",
    );
    tree
}

fn pi5(tags: u64) -> Tree {
    let mut tree = Tree::new();
    let slot = Slot {
        clock_hz: 200_000_000,
        actual_hz: 200_000_000,
        width: 2,
        timing: "6 (sd uhs SDR104)",
        voltage: "1 (1.80 V)",
    };
    tree.disk(PI5_CARD, "179:0", 124_735_488)
        .sd_card(PI5_CARD, A2_CARD)
        .queue(PI5_CARD, tags, "write back")
        .two_parts(PI5_CARD, "mmcblk0p", ["179:1", "179:2"])
        .driver("platform/axi/1000fff000.mmc", "sdhci-brcmstb")
        .host("mmc0", &slot)
        .pi(
            "Raspberry Pi 5 Model B Rev 1.0",
            0x00c0_4170,
            "6.6.51+rpt-rpi-2712",
            "0-3",
        )
        .processor(2_400_000)
        .throttled("0");
    tree
}

/// The Pi 5 that runs from an NVMe disk on its one lane; disk and driver could do more.
#[must_use]
pub fn pi5_nvme() -> Tree {
    let mut tree = Tree::new();
    let device = "platform/axi/1000110000.pcie/pci0000:00/0000:00:00.0/0000:01:00.0";
    tree.disk(PI5_NVME, "259:0", 1_000_215_216)
        .queue(PI5_NVME, 1023, "write back")
        .two_parts(PI5_NVME, "nvme0n1p", ["259:1", "259:2"])
        .files(
            &format!("/sys/devices/{device}/nvme/nvme0"),
            &[
                ("model", "INVENTED NVMe 512GB                     \n"),
                ("serial", "INV1234567890       \n"),
                ("firmware_rev", "2B2QEXM7\n"),
                ("transport", "pcie\n"),
                ("address", "0000:01:00.0\n"),
            ],
        )
        .files(
            &format!("/sys/devices/{device}"),
            &[
                ("current_link_speed", "5.0 GT/s PCIe\n"),
                ("current_link_width", "1\n"),
                ("max_link_speed", "16.0 GT/s PCIe\n"),
                ("max_link_width", "4\n"),
            ],
        )
        .files(
            "/sys/devices/platform/axi/1000110000.pcie/pci0000:00/0000:00:00.0",
            &[
                ("current_link_speed", "5.0 GT/s PCIe\n"),
                ("current_link_width", "1\n"),
            ],
        )
        .driver(device, "nvme")
        .pi(
            "Raspberry Pi 5 Model B Rev 1.0",
            0x00d0_4170,
            "6.6.51+rpt-rpi-2712",
            "0-3",
        )
        .processor(2_400_000)
        .throttled("0")
        .file(
            "/dev/kmsg",
            "6,400,510456,-;nvme nvme0: pci function 0000:01:00.0\n SUBSYSTEM=pci\n \
             DEVICE=+pci:0000:01:00.0\n\
             6,401,520456,-; nvme0n1: p1 p2\n",
        );
    tree
}

/// A PC, Debian 12, kernel 6.1.0-18-amd64: a USB 3 bridge in a port of USB 3, through `uas`.
#[must_use]
pub fn pc_uas() -> Tree {
    pc_reader("uas", "62")
}

/// The same bridge where a quirk of the kernel forbids `uas`.
#[must_use]
pub fn pc_usb_storage() -> Tree {
    pc_reader("usb-storage", "50")
}

fn pc_reader(driver: &str, protocol: &str) -> Tree {
    let mut tree = Tree::new();
    let (controller, disk) = ("pci0000:00/0000:00:14.0", "pci0000:00/0000:00:17.0/ata1");
    let bridge = format!("/sys/devices/{controller}/usb2/2-1");
    let system = format!("{disk}/host0/target0:0:0/0:0:0:0/block/sda");
    tree.disk(&system, "8:0", 468_862_128)
        .queue(&system, 32, "write back")
        .two_parts(&system, "sda", ["8:1", "8:2"])
        .files(
            &format!("/sys/devices/{system}/device"),
            &[
                ("vendor", "ATA     \n"),
                ("model", "INVENTED SSD 240\n"),
                ("rev", "1.02\n"),
            ],
        )
        .driver("pci0000:00/0000:00:17.0", "ahci")
        .file(
            &format!("/sys/devices/{disk}/link1/ata_link/link1/sata_spd"),
            concat!("6.0 G", "bps\n"),
        )
        .disk(PC_READER, "8:16", 124_735_488)
        .queue(
            PC_READER,
            if driver == "uas" { 30 } else { 1 },
            "write through",
        )
        .driver(&format!("{controller}/usb2/2-1/2-1:1.0"), driver)
        .driver(&format!("{controller}/usb2/2-1"), "usb")
        .driver(
            &format!("{controller}/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0"),
            "sd",
        )
        .driver(controller, "xhci_hcd")
        .file(&format!("/sys/devices/{PC_READER}/removable"), "1\n")
        .files(
            &format!("/sys/devices/{PC_READER}/device"),
            &[
                ("vendor", "Invented\n"),
                ("model", "Card Reader     \n"),
                ("rev", "0117\n"),
            ],
        )
        .files(
            &bridge,
            &[
                ("idVendor", "0bda\n"),
                ("idProduct", "9210\n"),
                ("bcdDevice", "2001\n"),
                ("manufacturer", "Invented\n"),
                ("product", "Card Reader\n"),
                ("serial", "INV0123456789\n"),
                ("speed", "5000\n"),
                ("version", " 3.20\n"),
                ("2-1:1.0/bInterfaceProtocol", &format!("{protocol}\n")),
            ],
        )
        .bytes(&format!("{bridge}/descriptors"), &DESCRIPTORS.concat())
        .file(&format!("/sys/devices/{controller}/usb1/speed"), "480\n")
        .file(&format!("/sys/devices/{controller}/usb2/speed"), "10000\n")
        .pc("INVENTED X1", "fpu vme de pse tsc")
        .file(
            "/dev/kmsg",
            "6,900,99010456,-;usb 2-1: new SuperSpeed USB device number 2 using xhci_hcd\n \
             SUBSYSTEM=usb\n DEVICE=c189:129\n\
             6,901,99020456,-;sd 6:0:0:0: [sdb] 124735488 512-byte logical blocks: (63.9 GB/59.5 \
             GiB)\n",
        );
    tree
}

/// Device, configuration, one interface in two settings: bulk-only, then UAS, with their endpoints.
const DESCRIPTORS: [&[u8]; 6] = [
    &[
        18, 1, 0x20, 3, 0, 0, 0, 9, 0xDA, 0x0B, 0x10, 0x92, 1, 0x20, 1, 2, 3, 1,
    ],
    &[9, 2, 50, 0, 1, 1, 0, 0x80, 112],
    &[9, 4, 0, 0, 1, 8, 6, 0x50, 0],
    &[7, 5, 0x81, 2, 0, 4, 0],
    &[9, 4, 0, 1, 1, 8, 6, 0x62, 0],
    &[7, 5, 0x81, 2, 0, 4, 0],
];

impl Tree {
    fn pc(&mut self, product: &str, flags: &str) -> &mut Self {
        self.file("/sys/class/dmi/id/product_name", &format!("{product}\n"))
            .file(
                "/proc/cpuinfo",
                &format!("processor\t: 0\nvendor_id\t: Invented\nflags\t\t: {flags}\n"),
            )
            .system("6.1.0-18-amd64", "0-7")
            .processor(4_200_000)
    }
}

/// A board with RK3399, Armbian, kernel 6.1.63: eMMC at HS400 with its queue, and a free slot.
#[must_use]
pub fn emmc_board() -> Tree {
    let mut tree = Tree::new();
    let slot = Slot {
        clock_hz: 200_000_000,
        actual_hz: 149_999_999,
        width: 3,
        timing: "10 (mmc HS400 enhanced strobe)",
        voltage: "1 (1.80 V)",
    };
    tree.disk(EMMC_CARD, "179:0", 61_071_360)
        .queue(EMMC_CARD, 31, "write back")
        .two_parts(EMMC_CARD, "mmcblk1p", ["179:1", "179:2"])
        .files(
            &format!("/sys/devices/{EMMC_CARD}/device"),
            &[
                ("type", "MMC\n"),
                ("cid", "150100424a5444345205c0ffee1b8a00\n"),
                ("csd", "d02701320f5903fff6dbffef8e40400d\n"),
                ("name", "BJTD4R\n"),
                ("serial", "0x05c0ffee\n"),
                ("fwrev", "0x0500000000000000\n"),
                ("hwrev", "0x0\n"),
                ("prv", "0x52\n"),
                ("rev", "0x8\n"),
                ("life_time", "0x02 0x01\n"),
                ("pre_eol_info", "0x01\n"),
                ("cmdq_en", "1\n"),
                ("erase_size", "524288\n"),
                ("preferred_erase_size", "4194304\n"),
            ],
        )
        .disk(&format!("{EMMC_CARD}/mmcblk1boot0"), "179:32", 8192)
        .disk(&format!("{EMMC_CARD}/mmcblk1boot1"), "179:64", 8192)
        .driver("platform/fe330000.mmc", "sdhci-arasan")
        .host("mmc1", &slot)
        .file("/proc/device-tree/model", "Invented RK3399 Board\0")
        .file(
            "/proc/device-tree/compatible",
            "invented,board\0rockchip,rk3399\0",
        )
        .file("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n")
        .system("6.1.63-current-rockchip64", "0-5")
        .processor(1_416_000)
        .file(
            "/dev/kmsg",
            "6,300,1810456,-;mmc1: Command Queue Engine enabled\n\
             6,301,1820456,-;mmc1: new HS400 Enhanced strobe MMC card at address 0001\n\
             6,302,1830456,-;mmcblk1: mmc1:0001 BJTD4R 29.1 GiB\n",
        );
    tree
}

/// A virtual machine with a virtio disk, kernel 6.1.0-18-amd64, no device tree and no DMI.
#[must_use]
pub fn virtual_machine() -> Tree {
    let mut tree = Tree::new();
    tree.disk(VIRTUAL_DISK, "254:0", 20_971_520)
        .queue(VIRTUAL_DISK, 256, "write back")
        .file(
            &format!("/sys/devices/{VIRTUAL_DISK}/device/vendor"),
            "0x1af4\n",
        )
        .file(
            &format!("/sys/devices/{VIRTUAL_DISK}/serial"),
            "invented-disk\n",
        )
        .driver("pci0000:00/0000:00:02.0/virtio1", "virtio_blk")
        .driver("pci0000:00/0000:00:02.0", "virtio-pci")
        .file(
            "/proc/cpuinfo",
            "processor\t: 0\nflags\t\t: fpu vme hypervisor lahf_lm\n",
        )
        .system("6.1.0-18-amd64", "0-1")
        .mounts("22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n")
        .stat("directory 254:0 - /")
        .file(
            "/dev/kmsg",
            "6,100,110456,-;virtio_blk virtio1: [vda] 20971520 512-byte logical blocks\n",
        );
    tree
}
