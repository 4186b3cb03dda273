//! Parts that boards share: files of slots, systems, queues and cards.

use super::Tree;

/// State of a card slot's controller in debugfs.
pub(super) struct Slot {
    pub(super) clock_hz: u64,
    pub(super) actual_hz: u64,
    /// Power of two of the lines.
    pub(super) width: u32,
    pub(super) timing: &'static str,
    pub(super) voltage: &'static str,
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

/// Error counts of a host: none.
const NO_ERRORS: &str = "# Command Timeout Occurred:\t 0\n# Command CRC Errors Occurred:\t 0\n\
    # Data Timeout Occurred:\t 0\n# Data CRC Errors Occurred:\t 0\n\
    # Auto-Cmd Error Occurred:\t 0\n# ADMA Error Occurred:\t 0\n# Tuning Error Occurred:\t 0\n\
    # CMDQ RED Errors:\t 0\n# CMDQ GCE Errors:\t 0\n# CMDQ ICCE Errors:\t 0\n\
    # Request Timedout:\t 0\n# CMDQ Request Timedout:\t 0\n# ICE Config Errors:\t 0\n\
    # Controller Timedout errors:\t 0\n# Unexpected IRQ errors:\t 0\n";

impl Tree {
    /// The state of a card host in debugfs.
    pub(super) fn host(&mut self, host: &str, slot: &Slot) -> &mut Self {
        let folder = format!("/sys/kernel/debug/{host}");
        self.file(&format!("{folder}/ios"), &slot.state())
            .file(&format!("{folder}/err_stats"), NO_ERRORS)
    }

    /// Adds the files of a Raspberry Pi: the device tree, then the system.
    pub(super) fn pi(&mut self, model: &str, revision: u32, kernel: &str, cpus: &str) -> &mut Self {
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

    pub(super) fn system(&mut self, kernel: &str, cpus: &str) -> &mut Self {
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

    pub(super) fn processor(&mut self, most_khz: u64) -> &mut Self {
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

    pub(super) fn throttled(&mut self, word: &str) -> &mut Self {
        let firmware = "/sys/devices/platform/soc/soc:firmware";
        self.file(&format!("{firmware}/get_throttled"), &format!("{word}\n"))
    }

    /// The queue of a disk as this many tags and that cache.
    pub(super) fn queue(&mut self, disk: &str, tags: u64, cache: &str) -> &mut Self {
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
    pub(super) fn two_parts(&mut self, disk: &str, name: &str, numbers: [&str; 2]) -> &mut Self {
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
    pub(super) fn sd_card(&mut self, disk: &str, registers: [&str; 5]) -> &mut Self {
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

    /// Adds the files of a PC.
    pub(super) fn pc(&mut self, product: &str, flags: &str) -> &mut Self {
        self.file("/sys/class/dmi/id/product_name", &format!("{product}\n"))
            .file(
                "/proc/cpuinfo",
                &format!("processor\t: 0\nvendor_id\t: Invented\nflags\t\t: {flags}\n"),
            )
            .system("6.1.0-18-amd64", "0-7")
            .processor(4_200_000)
    }
}
