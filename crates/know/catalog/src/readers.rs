//! USB bridges: card readers, adapters for disks, manufacturers of sticks.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::facts::{Packed, embedded, most_specific, unpacked};

static TEXT: LazyLock<&str> = LazyLock::new(|| unpacked(Packed::Readers));

static ROWS: LazyLock<Vec<Bridge>> = LazyLock::new(|| embedded(&TEXT, "readers"));

/// Kind of device behind a USB bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BridgeKind {
    /// Cards.
    CardReader,
    /// A SATA disk.
    Sata,
    /// An NVMe disk.
    Nvme,
    /// A disk with its bridge in one case.
    Disk,
    /// A stick.
    Stick,
}

/// Facts about a USB bridge.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bridge {
    /// Id of the row.
    pub id: String,
    /// Vendor id, 4 hexadecimal digits.
    pub vendor: String,
    /// Product id, 4 hexadecimal digits; absent: any other of this vendor.
    pub product: Option<String>,
    /// The manufacturer.
    pub maker: String,
    /// The chip or product.
    pub chip: Option<String>,
    /// Kind of device behind it.
    pub kind: Option<BridgeKind>,
    /// True if the kernel itself does not use UAS with it.
    #[serde(default)]
    pub kernel_avoids_uas: bool,
    /// Known problems, mostly with UAS.
    pub trouble: Option<String>,
    /// Source of the problems.
    pub trouble_source: Option<String>,
    /// Its fastest link, bits per second.
    pub link_bits_per_s: Option<u64>,
    /// Source of the row.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
    /// Ids as displayed by `lsusb`, used by a test.
    pub vectors: Vec<String>,
}

/// Returns the bridge with these ids, 4 hexadecimal digits each; a row with the product takes precedence over
/// one with the vendor only.
pub fn usb_bridge(vendor: &str, product: &str) -> Option<&'static Bridge> {
    let known = ROWS
        .iter()
        .filter(|row| row.vendor.eq_ignore_ascii_case(vendor));
    most_specific(known, |row| row.product.as_ref(), product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::checking::check_file;

    #[test]
    fn every_bridge_is_cited_and_found() {
        check_file::<Bridge>(&TEXT, "readers");
        for row in ROWS.iter() {
            let ids = [Some(&row.vendor), row.product.as_ref()];
            for id in ids.into_iter().flatten() {
                assert!(
                    id.len() == 4 && u16::from_str_radix(id, 16).is_ok(),
                    "{}: {id}",
                    row.id
                );
            }
            assert_eq!(row.trouble.is_some(), row.trouble_source.is_some());
            assert!(row.trouble.is_some() || !row.kernel_avoids_uas);
            for vector in &row.vectors {
                let (vendor, product) = vector.split_once(':').unwrap();
                let found = usb_bridge(vendor, product);
                assert_eq!(found.map(|bridge| &bridge.id), Some(&row.id), "{vector}");
            }
        }
    }

    #[test]
    fn a_product_goes_before_its_vendor() {
        assert_eq!(usb_bridge("152D", "0578").unwrap().id, "152d-0578");
        assert_eq!(usb_bridge("152d", "ffff").unwrap().id, "152d");
        assert!(usb_bridge("ffff", "0578").is_none());
    }
}
