//! Identity of a card: to find it again in the history, and to distinguish it from others of its product.

use std::os::unix::fs::MetadataExt;

use cardmark_cards::sample_id;

use crate::Root;
use crate::block::BlockDevice;
use crate::identity::disk_identity;
use crate::root::path_of;

/// Bytes of a card's CID register.
const CID_BYTES: usize = 16;

/// Distinguishes a card from all others.
///
/// For a card in a USB reader it may be the reader's serial number: then cards of one size in that reader
/// cannot be distinguished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardIdentity {
    /// Identifying data, including the size. May contain the serial number: hash it with a secret before you
    /// store it.
    pub history: Vec<u8>,
    /// The id that records may hold; none for loop devices, which are no cards.
    pub sample_id: Option<String>,
}

/// Returns the identity of the disk of that name; for a partition, that of its disk. `None` if it has neither a
/// CID nor a serial number.
///
/// The sample id is made from the 16 bytes of the CID, with the last byte, its checksum, set to zero: some
/// hosts do not show it. Without a CID, it is made from model, line feed, serial number.
#[must_use]
pub fn card_identity(root: &Root, name: &str) -> Option<CardIdentity> {
    let disk = BlockDevice::by_name(root, name)?.disk()?;
    let (kind, identity, is_card) = if let Some(cid) = cid(&disk) {
        ("cid", cid.to_vec(), true)
    } else if disk.path("loop").exists() {
        ("file", file(root, &disk)?.into_bytes(), false)
    } else {
        ("serial", serial(root, &disk.name)?.into_bytes(), true)
    };
    let mut history = format!("{kind} {} ", disk.size_bytes()?).into_bytes();
    history.extend(&identity);
    Some(CardIdentity {
        history,
        sample_id: is_card.then(|| sample_id(&identity)),
    })
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

fn serial(root: &Root, name: &str) -> Option<String> {
    let identity = disk_identity(root, name);
    let model = identity.model.unwrap_or_default();
    Some(format!("{model}\n{}", identity.serial?))
}
