//! Style, script and icon of all pages.

use std::sync::LazyLock;

use cardmark_report::document::style_sheet;
use cardmark_share::to_hexadecimal;
use sha2::{Digest, Sha256};

/// A file that pages load. Its address changes with its text.
#[derive(Debug)]
pub struct Asset {
    /// Media type.
    pub media_type: &'static str,
    /// Content.
    pub text: String,
    /// Path and digest, such as `/style.css?0123456789ab`.
    pub address: String,
}

impl Asset {
    fn new(path: &str, media_type: &'static str, text: String) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        Self {
            media_type,
            address: format!("{path}?{}", to_hexadecimal(&digest[..6])),
            text,
        }
    }
}

/// Style of pages, with that of documents.
pub static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let text = style_sheet() + include_str!("../assets/style.css");
    Asset::new("/style.css", "text/css; charset=utf-8", text)
});

/// Sorting and tooltips; all pages are complete without it.
pub static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../assets/script.js").to_owned();
    Asset::new("/script.js", "text/javascript; charset=utf-8", text)
});

/// Icon: a card with bars.
pub static ICON: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../assets/icon.svg").to_owned();
    Asset::new("/icon.svg", "image/svg+xml", text)
});
