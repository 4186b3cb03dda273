//! Firmware of the board: programs that ran before the system.

use cardmark_core::{Firmware, FirmwareKind};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::Root;
use crate::boot::{VIDEO_CORE, boot_lines};
use crate::root::{attribute_of, shown};

/// Node of the boot loader of a Raspberry Pi.
const BOOT_LOADER: &str = "/proc/device-tree/chosen/bootloader";
/// Names of its build time, seconds since 1970, big-endian: that of the documentation, and that of boards.
const BUILD_TIMES: [&str; 2] = ["build-timestamp", "build_timestamp"];
const SMBIOS: &str = "/sys/class/dmi/id";

/// Returns what is known of each, in the order of their kinds.
pub(crate) fn read_firmware(root: &Root) -> Vec<Firmware> {
    let found = [
        boot_loader(root),
        video_core(boot_lines(root)),
        u_boot(root),
        bios(root),
    ];
    found.into_iter().flatten().collect()
}

fn boot_loader(root: &Root) -> Option<Firmware> {
    let seconds = |name: &&str| {
        let bytes = attribute_of(root.path(format!("{BOOT_LOADER}/{name}")))?;
        bytes.try_into().ok().map(u32::from_be_bytes)
    };
    let built = BUILD_TIMES.iter().find_map(seconds);
    let built = built.filter(|seconds| *seconds > 0);
    firmware(
        FirmwareKind::BootLoader,
        root.line(format!("{BOOT_LOADER}/version")),
        built.and_then(|seconds| Timestamp::from_second(seconds.into()).ok()),
    )
}

/// Returns the firmware that the kernel's driver has found. Its time is in UTC; kernels before 5.3 print it
/// without seconds.
fn video_core(lines: &[String]) -> Option<Firmware> {
    let mut built = None;
    let mut version = None;
    let messages = lines.iter().filter_map(|line| {
        let (_, message) = line.strip_prefix(VIDEO_CORE)?.split_once(": ")?;
        Some(message)
    });
    for message in messages {
        if let Some(time) = message.strip_prefix("Attached to firmware from ") {
            let time = time.split(',').next().unwrap_or(time);
            built = time.trim().parse::<DateTime>().ok();
        } else if let Some(hash) = message.strip_prefix("Firmware hash is ") {
            version = shown(hash);
        }
    }
    let built = built.and_then(|time| time.to_zoned(TimeZone::UTC).ok());
    firmware(
        FirmwareKind::VideoCore,
        version,
        built.map(|time| time.timestamp()),
    )
}

fn u_boot(root: &Root) -> Option<Firmware> {
    let release = root.line("/proc/device-tree/chosen/u-boot,version");
    let release = release.or_else(|| {
        let version = root.line(format!("{SMBIOS}/bios_version"));
        version.filter(|_| is_u_boot(root))
    });
    firmware(FirmwareKind::UBoot, release, None)
}

fn bios(root: &Root) -> Option<Firmware> {
    let version = root.line(format!("{SMBIOS}/bios_version"));
    let version = version.filter(|_| !is_u_boot(root));
    firmware(FirmwareKind::Bios, version, None)
}

/// Returns whether U-Boot wrote the tables of SMBIOS.
fn is_u_boot(root: &Root) -> bool {
    root.text(format!("{SMBIOS}/bios_vendor")).as_deref() == Some("U-Boot")
}

fn firmware(
    kind: FirmwareKind,
    version: Option<String>,
    built: Option<Timestamp>,
) -> Option<Firmware> {
    (version.is_some() || built.is_some()).then(|| Firmware {
        kind,
        version,
        built_at: built.map(|time| time.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lines: &[&str]) -> Option<(Option<String>, Option<String>)> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        video_core(&lines).map(|found| (found.version, found.built_at))
    }

    #[test]
    fn the_kernel_logs_the_firmware_of_the_video_core() {
        let node = "raspberrypi-firmware soc:firmware:";
        let hash = "b8a114e5a9877e91ca8f26d1a5ce904b2ad3cf13";
        let built = |text: &str| Some(text.to_owned());
        let attached =
            format!("{node} Attached to firmware from 2021-10-29T10:49:08, variant start");
        let hashed = format!("{node} Firmware hash is {hash}");
        assert_eq!(
            found(&[&attached, &hashed]),
            Some((built(hash), built("2021-10-29T10:49:08Z")))
        );
        let old = format!("{node} Attached to firmware from 2018-07-03 14:15");
        assert_eq!(found(&[&old]), Some((None, built("2018-07-03T14:15:00Z"))));
        let broken =
            format!("{node} Attached to firmware from 18446744073709048425-02-19T15:52:16");
        assert_eq!(found(&[&broken]), None, "kernel 5.8-rc1 on 32 bits");
        assert_eq!(found(&["mmc0: Firmware hash is 1"]), None);
        assert_eq!(found(&[]), None);
    }
}
