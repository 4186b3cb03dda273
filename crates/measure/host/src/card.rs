//! Identity of a card: to find it again in the history, and to distinguish it from others of its product.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;

use cardmark_cards::sample_id;
use cardmark_core::{NoSample, ReaderKind, Sample, SampleFrom, SampleOf};

use crate::Root;
use crate::block::BlockDevice;
use crate::identity::disk_identity;
use crate::reader::reader_of;
use crate::root::path_of;

/// Bytes of a card's CID register.
const CID_BYTES: usize = 16;
/// Letters and digits of a serial number that distinguishes devices.
const LEAST_CHARACTERS: usize = 8;
/// Smaller numbers could soon be found by trying.
const LEAST_NUMBER: u128 = 1 << 16;

/// Distinguishes a card from all others.
///
/// For a card in a USB reader it may be the reader's serial number: then cards of one size in that reader
/// cannot be distinguished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardIdentity {
    /// Identifying data, including the size. May contain the serial number: hash it with a secret before you
    /// store it.
    pub history: Vec<u8>,
    /// The id that records may hold, or the reason why there is none.
    pub sample: Result<Sample, NoSample>,
}

/// Returns the identity of the disk of that name; for a partition, that of its disk. `None` if it has neither a
/// CID nor a serial number.
#[must_use]
pub fn card_identity(root: &Root, name: &str) -> Option<CardIdentity> {
    let disk = BlockDevice::by_name(root, name)?.disk()?;
    let (kind, identity, sample) = if let Some(cid) = cid(&disk) {
        ("cid", cid.to_vec(), Ok((SampleOf::Card, SampleFrom::Cid)))
    } else if disk.path("loop").exists() {
        ("file", file(root, &disk)?.into_bytes(), Err(NoSample::File))
    } else {
        let (identity, number) = serial(root, &disk.name)?;
        let weak = weakness(&number);
        let sample = weak.map_or_else(|| Ok((owner(root, &disk), SampleFrom::Serial)), Err);
        ("serial", identity.into_bytes(), sample)
    };
    let mut history = format!("{kind} {} ", disk.size_bytes()?).into_bytes();
    history.extend(&identity);
    let sample = sample.map(|(of, from)| Sample {
        id: sample_id(&identity),
        of,
        from,
    });
    Some(CardIdentity { history, sample })
}

/// The device that a serial number belongs to.
fn owner(root: &Root, disk: &BlockDevice) -> SampleOf {
    let kind = reader_of(root, disk).map(|reader| reader.kind);
    match (kind, disk.flag("removable")) {
        (Some(ReaderKind::Slot), _) => SampleOf::Card,
        (Some(ReaderKind::Usb), Some(true)) => SampleOf::Reader,
        (Some(ReaderKind::Usb), _) => SampleOf::Bridge,
        _ => SampleOf::Disk,
    }
}

/// Reason why a serial number distinguishes nothing, or could soon be found by trying.
fn weakness(serial: &str) -> Option<NoSample> {
    let characters: Vec<u8> = serial
        .trim_start_matches("0x")
        .bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| byte.to_ascii_lowercase())
        .collect();
    if characters.len() < LEAST_CHARACTERS {
        return Some(NoSample::Short);
    }
    let digits: String = characters.iter().map(|byte| char::from(*byte)).collect();
    let number = u128::from_str_radix(digits.trim_start_matches('0'), 16);
    if number.is_ok_and(|number| number < LEAST_NUMBER) {
        return Some(NoSample::Low);
    }
    let different: BTreeSet<u8> = characters.iter().copied().collect();
    let is_row = |pair: &[u8]| {
        pair[1] == pair[0] + 1 || matches!(pair, [b'9', b'0' | b'a'] | [b'f' | b'z', b'0'])
    };
    let is_repetitive = different.len() <= 2 || characters.windows(2).all(is_row);
    is_repetitive.then_some(NoSample::Repetitive)
}

/// The CID of an SD card or eMMC, without its checksum.
fn cid(disk: &BlockDevice) -> Option<[u8; CID_BYTES]> {
    let text = disk.text("device/cid")?;
    let digits = text.as_bytes();
    if digits.len() != 2 * CID_BYTES || !text.is_ascii() {
        return None;
    }
    let mut cid = [0; CID_BYTES];
    for (index, byte) in cid.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    cid[CID_BYTES - 1] = 0;
    Some(cid)
}

/// The file of a loop device: the device that holds it and its number there.
fn file(root: &Root, disk: &BlockDevice) -> Option<String> {
    let path = path_of(disk.path("loop/backing_file"))?;
    let metadata = std::fs::metadata(root.path(path)).ok()?;
    let is_believed = metadata.is_file() && disk.fits_file(metadata.len());
    is_believed.then(|| format!("{}:{}", metadata.dev(), metadata.ino()))
}

/// Model, line feed and serial number, and the serial number alone.
fn serial(root: &Root, name: &str) -> Option<(String, String)> {
    let identity = disk_identity(root, name);
    let model = identity.model.unwrap_or_default();
    let serial = identity.serial?;
    Some((format!("{model}\n{serial}"), serial))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_serial_numbers_are_named() {
        for (serial, expected) in [
            // A microSD card, a USB SSD, an NVMe disk, a stick.
            ("0xa1b2c3d4", None),
            ("2021BR443901", None),
            ("S4EWNX0N123456T", None),
            ("AA00000000012345", None),
            ("0x0000ffff", Some(NoSample::Low)),
            ("000000000123", Some(NoSample::Low)),
            ("", Some(NoSample::Short)),
            ("QM00001", Some(NoSample::Short)),
            ("--- --- ---", Some(NoSample::Short)),
            ("000000000000", Some(NoSample::Repetitive)),
            ("0101010101", Some(NoSample::Repetitive)),
            ("0123456789ABCDEF", Some(NoSample::Repetitive)),
            ("1234567890", Some(NoSample::Repetitive)),
        ] {
            assert_eq!(weakness(serial), expected, "{serial}");
        }
    }
}
