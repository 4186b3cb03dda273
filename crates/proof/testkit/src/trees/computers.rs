//! Other computers with all files that the readers use, as the named kernels show them; serial numbers are
//! invented.

use super::Tree;
use super::parts::Slot;

/// The disk behind the USB bridge of the PC.
pub const PC_READER: &str = "pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/\
    6:0:0:0/block/sdb";
/// The eMMC.
pub const RK3399_CARD: &str = "platform/fe330000.mmc/mmc_host/mmc1/mmc1:0001/block/mmcblk1";
/// The disk of the virtual machine.
pub const VIRTUAL_DISK: &str = "pci0000:00/0000:00:02.0/virtio1/block/vda";

/// A PC, Debian 12, kernel 6.1.0-18-amd64: a USB 3 bridge in a port of USB 3, through `uas`.
#[must_use]
pub fn pc_uas() -> Tree {
    pc_reader("uas", "62")
}

/// The same bridge, with a quirk of the kernel that forbids `uas`.
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
        .files(
            &format!("/sys/devices/{controller}"),
            &[
                ("vendor", "0x8086\n"),
                ("device", "0xa36d\n"),
                ("revision", "0x10\n"),
            ],
        )
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
    tree.disk(RK3399_CARD, "179:0", 61_071_360)
        .queue(RK3399_CARD, 31, "write back")
        .two_parts(RK3399_CARD, "mmcblk1p", ["179:1", "179:2"])
        .files(
            &format!("/sys/devices/{RK3399_CARD}/device"),
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
        .disk(&format!("{RK3399_CARD}/mmcblk1boot0"), "179:32", 8192)
        .disk(&format!("{RK3399_CARD}/mmcblk1boot1"), "179:64", 8192)
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
