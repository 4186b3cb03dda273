//! Names of packs.

use cardmark_share::from_hexadecimal;

/// End of the name of a pack's object.
pub(crate) const SUFFIX: &str = ".pack";

/// Name of a pack: the SHA-256 of its bytes.
pub type PackName = [u8; 32];

/// The name of a pack from that of its object; `None` for objects of others.
pub(crate) fn name_of(file: &str) -> Option<PackName> {
    let digits = file.strip_suffix(SUFFIX)?;
    from_hexadecimal(digits)
}
