//! USB bridges: card readers, adapters for disks, makers of sticks.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::facts::{embedded, most_specific};

const TEXT: &str = include_str!("../facts/readers.toml");

static ROWS: LazyLock<Vec<Bridge>> = LazyLock::new(|| embedded(TEXT, "readers"));

/// What a USB bridge is between.
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

/// What is known of a USB bridge.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bridge {
    /// Name of the row.
    pub id: String,
    /// Id of the vendor, 4 hexadecimal digits.
    pub vendor: String,
    /// Id of the product, 4 hexadecimal digits; absent: any other of this vendor.
    #[serde(default)]
    pub product: Option<String>,
    /// Who it is.
    pub maker: String,
    /// The chip or product.
    #[serde(default)]
    pub chip: Option<String>,
    /// What it is between.
    #[serde(default)]
    pub kind: Option<BridgeKind>,
    /// Whether the kernel itself keeps UAS from it.
    #[serde(default)]
    pub kernel_avoids_uas: bool,
    /// Known trouble, with UAS above all.
    #[serde(default)]
    pub trouble: Option<String>,
    /// Where the trouble is told.
    #[serde(default)]
    pub trouble_source: Option<String>,
    /// Its fastest link, bits per second.
    #[serde(default)]
    pub link_bits_per_s: Option<u64>,
    /// Where it is from.
    pub source: String,
    /// The day it was read there.
    pub checked_on: String,
    /// Ids as `lsusb` shows them, which a test looks up.
    pub vectors: Vec<String>,
}

/// The bridge with these ids, 4 hexadecimal digits each; a row about the product goes before one
/// about the vendor alone.
#[must_use]
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
        check_file::<Bridge>(TEXT, "readers");
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
