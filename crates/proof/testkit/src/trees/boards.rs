//! Boards. Paths and numbers are as the kernels named there give them; serials are invented.

use super::Tree;

/// The card of the Pi 4, below `/sys/devices`.
pub const PI4_CARD: &str = "platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0";
/// The card of the Pi 3.
pub const PI3_CARD: &str = "platform/soc/3f202000.mmc/mmc_host/mmc0/mmc0:e624/block/mmcblk0";
/// The USB stick of the Pi 3.
pub const PI3_STICK: &str = "platform/soc/3f980000.usb/usb1/1-1/1-1.2/1-1.2:1.0/host0/\
    target0:0:0/0:0:0:0/block/sda";
/// The NVMe disk of the PC.
pub const PC_NVME: &str = "pci0000:00/0000:00:1d.0/0000:02:00.0/nvme/nvme0/nvme0n1";

/// Raspberry Pi 4 B, 4 GB, Raspberry Pi OS 12 (64 bit), kernel 6.1.21-v8+: root on the card.
#[must_use]
pub fn pi4() -> Tree {
    let mut tree = Tree::new();
    tree.disk(PI4_CARD, "179:0", 62_333_952)
        .file(&format!("/sys/devices/{PI4_CARD}/device/name"), "SD32G\n")
        .file(
            &format!("/sys/devices/{PI4_CARD}/device/serial"),
            "0x0badcafe\n",
        )
        .file(&format!("/sys/devices/{PI4_CARD}/queue/rotational"), "0\n")
        .file(
            &format!("/sys/devices/{PI4_CARD}/queue/write_cache"),
            "write through\n",
        )
        .file(
            &format!("/sys/devices/{PI4_CARD}/queue/read_ahead_kb"),
            "128\n",
        )
        .file(
            &format!("/sys/devices/{PI4_CARD}/queue/logical_block_size"),
            "512\n",
        )
        .file(
            &format!("/sys/devices/{PI4_CARD}/queue/physical_block_size"),
            "512\n",
        )
        .file(
            &format!("/sys/devices/{PI4_CARD}/queue/nr_requests"),
            "64\n",
        )
        .partition(&format!("{PI4_CARD}/mmcblk0p1"), "179:1", 524_288)
        .partition(&format!("{PI4_CARD}/mmcblk0p2"), "179:2", 61_801_472)
        .mounts(
            "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
             23 22 0:5 / /dev rw,relatime shared:2 - devtmpfs devtmpfs rw,size=1678440k\n\
             24 22 0:21 / /sys rw,nosuid shared:6 - sysfs sysfs rw\n\
             25 22 0:22 / /proc rw,relatime shared:12 - proc proc rw\n\
             26 22 0:23 / /tmp rw,nosuid shared:13 - tmpfs tmpfs rw,size=102400k\n\
             66 22 179:1 / /boot rw,relatime shared:34 - vfat /dev/mmcblk0p1 rw,flush\n",
        )
        .stat("directory 179:2 - /")
        .stat("directory 179:1 - /boot")
        .stat("directory 0:23 - /tmp")
        .file(
            "/proc/device-tree/model",
            "Raspberry Pi 4 Model B Rev 1.4\0",
        )
        .file(
            "/proc/meminfo",
            "MemTotal:        3884312 kB\nMemFree:  1 kB\n",
        )
        .file("/sys/devices/system/cpu/online", "0-3\n")
        .file(
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "ondemand\n",
        )
        .file(
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
            "1500000\n",
        )
        .file("/sys/class/thermal/thermal_zone0/type", "cpu-thermal\n")
        .file("/sys/class/thermal/thermal_zone0/temp", "48200\n")
        .file(
            "/sys/devices/platform/soc/soc:firmware/get_throttled",
            "50005\n",
        )
        .file("/proc/sys/kernel/osrelease", "6.1.21-v8+\n")
        .file(
            "/etc/os-release",
            "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
        );
    tree
}

/// Raspberry Pi 3 B+, Raspberry Pi OS 11 (32 bit), kernel 5.15.84-v7+: a USB stick as a desktop
/// mounts it, its label holding a space.
#[must_use]
pub fn pi3_stick() -> Tree {
    let mut tree = Tree::new();
    tree.disk(PI3_CARD, "179:0", 31_116_288)
        .partition(&format!("{PI3_CARD}/mmcblk0p2"), "179:2", 30_584_832)
        .disk(PI3_STICK, "8:0", 60_062_500)
        .file(&format!("/sys/devices/{PI3_STICK}/removable"), "1\n")
        .file(
            &format!("/sys/devices/{PI3_STICK}/device/vendor"),
            "SanDisk \n",
        )
        .file(
            &format!("/sys/devices/{PI3_STICK}/device/model"),
            "Ultra           \n",
        )
        .partition(&format!("{PI3_STICK}/sda1"), "8:1", 60_060_452)
        .mounts(
            "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
             80 22 8:1 / /media/pi/USB\\040STICK rw,nosuid shared:50 - vfat /dev/sda1 rw,flush\n\
             90 22 0:45 / /mnt/nas rw,relatime shared:60 - nfs4 nas:/export rw,addr=10.0.0.2\n\
             91 22 0:46 / /mnt/box rw,relatime shared:61 - fuse.sshfs anna@box:/ rw,user_id=0\n\
             92 22 0:47 / /mnt/pool rw,relatime shared:62 - fuse.mergerfs a:b rw,user_id=0\n\
             93 22 0:48 / /mnt/auto rw,relatime shared:63 - autofs systemd-1 rw,fd=29\n",
        )
        .stat("directory 179:2 - /")
        .stat("directory 8:1 - /media/pi/USB STICK")
        .stat("directory 0:45 - /mnt/nas")
        .stat("directory 0:46 - /mnt/box")
        .stat("directory 0:47 - /mnt/pool");
    tree
}

/// A PC, Debian 12, kernel 6.1.0-18-amd64: root on LVM on dm-crypt on a partition of an NVMe disk.
#[must_use]
pub fn pc_crypt() -> Tree {
    let mut tree = Tree::new();
    let part = format!("{PC_NVME}/nvme0n1p3");
    tree.disk(PC_NVME, "259:0", 1_000_215_216)
        .file(
            &format!("/sys/devices/{PC_NVME}/device/model"),
            "INVENTED NVMe 512GB\n",
        )
        .partition(&part, "259:3", 997_212_160)
        .disk("virtual/block/dm-0", "254:0", 997_179_392)
        .file(
            "/sys/devices/virtual/block/dm-0/dm/name",
            "nvme0n1p3_crypt\n",
        )
        .slave("virtual/block/dm-0", &part)
        .disk("virtual/block/dm-1", "254:1", 995_000_000)
        .file("/sys/devices/virtual/block/dm-1/dm/name", "vg-root\n")
        .slave("virtual/block/dm-1", "virtual/block/dm-0")
        .mounts("26 1 254:1 / / rw,relatime shared:1 - ext4 /dev/mapper/vg-root rw\n")
        .stat("directory 254:1 - /")
        .file("/sys/class/dmi/id/product_name", "System Product Name\n")
        .file("/sys/class/dmi/id/board_name", "INVENTED X1\n")
        .file(
            "/proc/cpuinfo",
            "processor\t: 0\nmodel name\t: x\nprocessor\t: 1\n",
        )
        .file("/usr/lib/os-release", "PRETTY_NAME='Arch Linux'\n");
    tree
}

/// A NAS, Fedora 39, kernel 6.5.6: btrfs over one partition and one whole disk, and a second
/// btrfs elsewhere.
#[must_use]
pub fn btrfs_two() -> Tree {
    let (one, two, three) = (
        "pci0/ata1/block/sda",
        "pci0/ata2/block/sdb",
        "pci0/ata3/block/sdc",
    );
    let mut tree = Tree::new();
    let pool = "/sys/fs/btrfs/00000000-1111-2222-3333-444444444444/devices";
    let other = "/sys/fs/btrfs/55555555-6666-7777-8888-999999999999/devices";
    tree.disk(one, "8:0", 2_000_000)
        .partition(&format!("{one}/sda2"), "8:2", 1_900_000)
        .disk(two, "8:16", 1_900_000)
        .disk(three, "8:32", 1_900_000)
        .directory(&format!("{pool}/sda2"))
        .directory(&format!("{pool}/sdb"))
        .directory(&format!("{other}/sdc"))
        .file("/sys/fs/btrfs/features/raid56", "0\n")
        .mounts(
            "30 1 0:33 /@ / rw,relatime - btrfs /dev/sda2 rw,compress=zstd:1,ssd,subvol=/@\n\
             31 30 0:41 / /srv rw,relatime - btrfs /dev/sdc rw,space_cache=v2,subvol=/\n",
        )
        .stat("directory 0:33 - /")
        .stat("directory 0:41 - /srv")
        .stat("directory 0:57 - /var/lib/machines");
    tree
}

/// The Pi 4 with `/` made an overlay as `overlayroot` does: upper directory on the card.
#[must_use]
pub fn pi4_overlay() -> Tree {
    let mut tree = pi4();
    tree.mounts(
        "22 1 0:60 / / rw,relatime - overlay overlayroot rw,lowerdir=/media/root-ro,\
         upperdir=/media/root-rw/overlay,workdir=/media/root-rw/overlay-workdir/_\n\
         23 22 179:2 / /media/root-rw rw,noatime - ext4 /dev/mmcblk0p2 rw\n",
    )
    .stat("directory 0:60 - /etc")
    .stat("directory 179:2 - /media/root-rw/overlay")
    .stat("directory 179:2 - /media/root-rw/overlay-workdir/_");
    tree
}

/// The Pi 4 with an image file set up as a loop device and mounted.
#[must_use]
pub fn pi4_loop() -> Tree {
    let mut tree = pi4();
    tree.disk("virtual/block/loop0", "7:0", 2048)
        .file(
            "/sys/devices/virtual/block/loop0/loop/backing_file",
            "/home/pi/my image.img\n",
        )
        .file("/sys/devices/virtual/block/loop0/loop/offset", "0\n")
        .file("/sys/devices/virtual/block/loop0/loop/sizelimit", "0\n")
        .file("/sys/devices/virtual/block/loop0/loop/dio", "1\n")
        .disk("virtual/block/loop1", "7:1", 0)
        .mounts(
            "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
             70 22 7:0 / /mnt rw,relatime shared:40 - ext4 /dev/loop0 rw\n",
        )
        .stat("directory 7:0 - /mnt")
        .stat("file 179:2 1049000 /home/pi/my image.img");
    tree
}
