//! Texts that may leave the computer: lists of known words, and forms that leave no room for a name.

use cardmark_cards::is_health_warning;

/// Maximum length of a text that hardware or the kernel reports, characters.
const MOST_CHARACTERS: usize = 64;
/// Parts of a kernel's version that name its makers' variants; others may name a person or company.
const KERNEL_VARIANTS: &str = "64k 686 aarch64 amd64 arch1 arch2 arm64 armmp armhf aws azure bcm2711 bcm2712 bpo cloud \
    current edge gcp generic kali legacy lowlatency lpae lts meson64 pae pi raspi rockchip \
    rockchip64 rpi rpt rt standard sunxi sunxi64 v6 v7 v7l v8 virt";
/// Names with which the names of systems begin.
const SYSTEMS: &[&str] = &[
    "Alpine Linux",
    "Arch Linux ARM",
    "Arch Linux",
    "Armbian",
    "Batocera.linux",
    "Buildroot",
    "CentOS Stream",
    "DietPi",
    "Debian GNU/Linux",
    "Fedora Linux",
    "Gentoo Linux",
    "Kali GNU/Linux",
    "LibreELEC",
    "Linux Mint",
    "Manjaro ARM",
    "NixOS",
    "OpenWrt",
    "OSMC",
    "Raspbian GNU/Linux",
    "RetroPie",
    "Ubuntu",
    "Void",
    "openSUSE Leap",
    "openSUSE Tumbleweed",
];

/// Filesystems of Linux that a board may have.
pub(super) const FILESYSTEMS: &str = "bcachefs btrfs exfat ext2 ext3 ext4 f2fs fuse fuseblk jfs nfs nfs4 nilfs2 ntfs ntfs3 overlay \
    ramfs squashfs tmpfs ubifs vfat xfs zfs";
/// Schedulers of the block layer.
pub(super) const SCHEDULERS: &str = "bfq cfq deadline kyber mq-deadline none noop";
/// Policies for saving power on PCI Express links.
pub(super) const ASPM_POLICIES: &str = "default performance powersave powersupersave";
/// Frequency governors.
pub(super) const GOVERNORS: &str =
    "conservative ondemand performance powersave schedutil userspace";

pub(super) fn nothing(_: &str) -> String {
    String::new()
}

/// The day of a time such as `2026-11-22T10:11:12Z`, at midnight.
pub(super) fn day(time: &str) -> String {
    let day = time.get(..10).filter(|day| has_form(day, "0000-00-00"));
    day.map_or_else(String::new, |day| format!("{day}T00:00:00Z"))
}

/// A time such as `2026-11-22T10:11:12Z`.
pub(super) fn moment(time: &str) -> String {
    match has_form(time, "0000-00-00T00:00:00Z") {
        true => time.to_owned(),
        false => String::new(),
    }
}

/// Returns whether the text has a digit for each zero of the form, and its other characters.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(letter, form): (u8, u8)| match form {
        b'0' => letter.is_ascii_digit(),
        other => letter == other,
    };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
}

/// A name that hardware reports: its visible ASCII characters, if it is short.
pub(super) fn hardware(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_graphic() || letter == ' ';
    match text.len() <= MOST_CHARACTERS && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => String::new(),
    }
}

/// The text if it is one of these words.
pub(super) fn one_of(words: &'static str) -> impl Fn(&str) -> String {
    |text| match is_in(words, text) {
        true => text.to_owned(),
        false => String::new(),
    }
}

fn is_in(words: &str, text: &str) -> bool {
    words.split(' ').any(|word| word == text)
}

/// The mode of a write cache.
pub(super) fn cache(text: &str) -> String {
    match ["write back", "write through"].contains(&text) {
        true => text.to_owned(),
        false => String::new(),
    }
}

/// A number in hexadecimal digits.
pub(super) fn hexadecimal(text: &str) -> String {
    digits(text, 16)
}

/// The name of a Git commit.
pub(super) fn commit(text: &str) -> String {
    digits(text, MOST_CHARACTERS)
}

fn digits(text: &str, most_characters: usize) -> String {
    let is_number =
        text.len() <= most_characters && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    match is_number {
        true => text.to_owned(),
        false => String::new(),
    }
}

/// A name from the source of the kernel or of a suite, such as that of a driver or workload.
pub(super) fn word(text: &str) -> String {
    word_with("_-.", text)
}

fn word_with(marks: &str, text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || marks.contains(letter);
    match text.len() <= MOST_CHARACTERS && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => String::new(),
    }
}

/// An option of a mount, such as `compress=zstd:3`.
pub(super) fn option(text: &str) -> String {
    word_with("_-.=:", text)
}

/// A warning of a device about its health.
pub(super) fn warning(text: &str) -> String {
    match is_health_warning(text) {
        true => text.to_owned(),
        false => String::new(),
    }
}

/// The version of a kernel up to the first part that is neither a number nor a known variant.
pub(super) fn kernel(version: &str) -> String {
    let is_number = |part: &str| {
        let digits = part.trim_start_matches("rc").trim_start_matches("deb");
        let mut numbers = digits.split('.');
        numbers
            .all(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let mut end = 0;
    let mut rest = version;
    loop {
        let length = rest.find(['-', '+', '~', '_']).unwrap_or(rest.len());
        let part = &rest[..length];
        if !(is_number(part) || is_in(KERNEL_VARIANTS, part)) {
            return version[..end].to_owned();
        }
        end = version.len() - rest.len() + length;
        match rest.get(length + 1..) {
            Some(next) => rest = next,
            None => return version[..end].to_owned(),
        }
    }
}

/// The name of a known system, with the number of its version.
pub(super) fn system(name: &str) -> String {
    let Some(known) = SYSTEMS.iter().find(|known| name.starts_with(**known)) else {
        return String::new();
    };
    let version = name[known.len()..].strip_prefix(' ').unwrap_or_default();
    let is_numeric = |letter: char| letter.is_ascii_digit() || letter == '.';
    let digits = version
        .find(|letter| !is_numeric(letter))
        .unwrap_or(version.len());
    match &version[..digits] {
        "" => (*known).to_owned(),
        number => format!("{known} {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_and_systems_are_cut_behind_what_is_known() {
        for (text, public) in [
            ("6.6.31+rpt-rpi-v8", "6.6.31+rpt-rpi-v8"),
            ("6.6.31-rpi-v8", "6.6.31-rpi-v8"),
            ("6.1.0-18-arm64", "6.1.0-18-arm64"),
            ("6.9.0-rc1-ada", "6.9.0-rc1"),
            ("ada", ""),
            ("", ""),
        ] {
            assert_eq!(kernel(text), public, "{text}");
            assert_eq!(kernel(public), public);
        }
        for (text, public) in [
            ("Ubuntu 24.04.1 LTS", "Ubuntu 24.04.1"),
            ("Arch Linux", "Arch Linux"),
            ("Arch Linux ARM", "Arch Linux ARM"),
            ("Ada OS 3", ""),
        ] {
            assert_eq!(system(text), public, "{text}");
            assert_eq!(system(public), public);
        }
        for (time, public) in [
            ("2026-11-22T10:11:12Z", "2026-11-22T00:00:00Z"),
            ("today", ""),
        ] {
            assert_eq!(day(time), public);
        }
    }
}
