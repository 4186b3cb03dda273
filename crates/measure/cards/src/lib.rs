//! Registers of SD cards and eMMC: their bits and their meanings; also health logs of NVMe and SATA disks.
//!
//! Nothing here does I/O, and nothing fails: a value that the standard does not define has no meaning. Layouts are
//! those of the SD Physical Layer specification 9.10 (4.10.2, 5.2, 5.3, 5.6) and of JEDEC's eMMC standard 5.1 (7.2,
//! 7.3).
//!
//! [`Registers::from_hex`] parses the texts that Linux shows in the folder of a card, such as
//! `/sys/block/mmcblk0/device/cid`. [`Registers::card`] describes the card without its serial number;
//! [`Registers::fields`] lists every field.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use cardmark_cards::{CardKind, Registers};
//!
//! let texts = BTreeMap::from([
//!     ("cid".to_owned(), "035344534e363447867e650771016b8d".to_owned()),
//!     ("scr".to_owned(), "0245848700000000".to_owned()),
//! ]);
//! let card = Registers::from_hex(CardKind::Sd, &texts).card();
//! assert_eq!(card.decoded.product.as_deref(), Some("SN64G"));
//! assert_eq!(card.decoded.made.as_deref(), Some("2022-11"));
//! assert_eq!(card.decoded.sd_version.as_deref(), Some("6.xx"));
//! ```

mod card;
mod checksum;
mod cid;
mod csd;
mod csd_fields;
mod ext_csd;
mod field;
mod health;
mod kind;
mod life;
mod listing;
mod registers;
mod sample_id;
mod scr;
mod smart;
mod smartctl;
mod ssr;
mod word;
mod words;

pub use card::{Card, CardFacts, SerialKind};
pub use checksum::crc7;
pub use cid::{Cid, Month, SerialNumber};
pub use csd::{CapacityClass, Csd};
pub use ext_csd::{EXT_CSD_BYTES, ExtCsd};
pub use field::{Field, Register};
pub use health::Health;
pub use kind::CardKind;
pub use life::{EmmcLife, PreEol};
pub use listing::{RegisterField, register_tables};
pub use registers::Registers;
pub use sample_id::sample_id;
pub use scr::{Scr, SdVersion};
pub use smart::{SMART_LOG_BYTES, ata_health, is_health_warning, nvme_health};
pub use smartctl::smartctl_health;
pub use ssr::Ssr;
pub use word::Word;
