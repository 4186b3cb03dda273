//! Raspberry Pis with all files that the readers use: registers, bus, log, power. Paths and texts are those of
//! the named kernels; serial numbers are invented, checksums match them.

use super::parts::Slot;
use super::{PI3_CARD, PI4_CARD, Tree, pi4};

/// The card of the Pi Zero, below `/sys/devices`.
pub const ZERO_CARD: &str = "platform/soc/20202000.mmc/mmc_host/mmc0/mmc0:0007/block/mmcblk0";
/// The card of the Pi 5.
pub const PI5_CARD: &str = "platform/axi/1000fff000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0";
/// The NVMe disk of the Pi 5.
pub const PI5_NVME: &str = "platform/axi/1000110000.pcie/pci0000:00/0000:00:00.0/0000:01:00.0/\
    nvme/nvme0/nvme0n1";

/// Status registers: an A2 card with a queue of 32 and a cache, a plain U3 card, one of class 4.
const SSR_A2: &str = "8000000000000000040090000108391e000800000002fc000200000000000000\
    0000000000000000000000000000000000000000000000000000000000000000\n";
const SSR_U3: &str = "8000000000000000040090000108390000000000000000000000000000000000\
    0000000000000000000000000000000000000000000000000000000000000000\n";
const SSR_C4: &str = "8000000000000000020090000108000000000000000000000000000000000000\
    0000000000000000000000000000000000000000000000000000000000000000\n";

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

/// Returns the Pi 4 with complete files: an A2 card at DDR50, without a queue.
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
        .file(&format!("/sys/devices/{PI4_CARD}/size"), "124735488\n")
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
        .bytes(
            "/proc/device-tree/chosen/bootloader/build-timestamp",
            &1_713_187_183_u32.to_be_bytes(),
        )
        .file(
            "/proc/device-tree/chosen/bootloader/version",
            "b7a6cafe0123456789abcdef0123456789abcdef\0",
        )
        .processor(1_500_000)
        .file(
            "/dev/kmsg",
            "6,81,93698,-;raspberrypi-firmware soc:firmware: Attached to firmware from \
             2024-04-17T17:29:44, variant start\n\
             6,82,94698,-;raspberrypi-firmware soc:firmware: Firmware hash is \
             86ccc427f35fdc604edc511881cdf579df945fb4\n\
             6,415,1910456,-;mmc0: new ultra high speed DDR50 SDXC card at address aaaa\n\
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

/// Returns the Pi 5 with `dtparam=sd_cqe=0`.
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
                ("link/l0s_aspm", "0\n"),
                ("link/l1_aspm", "1\n"),
                ("link/l1_1_aspm", "1\n"),
                ("link/l1_2_aspm", "1\n"),
            ],
        )
        .file(
            "/sys/module/pcie_aspm/parameters/policy",
            "[default] performance powersave powersupersave \n",
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
