//! Style, script and icon.

use std::sync::LazyLock;

use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use cardmark_pages::assets::{Asset, ICON, SCRIPT, STYLE};

use crate::http::reply::{A_MINUTE, FOR_LONG, Reply};

/// An asset with its packed forms.
struct Served(&'static Asset, Reply);

impl Served {
    fn new(asset: &'static Asset) -> Self {
        Self(asset, Reply::new(asset.media_type, asset.text.as_str()))
    }

    /// Another instance may have another text: under the address of that, this one is not kept for long.
    fn answer(&self, asked: &Uri, headers: &HeaderMap) -> Response {
        let Self(asset, reply) = self;
        let is_own = asked
            .path_and_query()
            .is_some_and(|asked| *asked == *asset.address);
        reply.answer_for(headers, if is_own { FOR_LONG } else { A_MINUTE })
    }
}

pub(super) async fn style(asked: Uri, headers: HeaderMap) -> Response {
    static SERVED: LazyLock<Served> = LazyLock::new(|| Served::new(&STYLE));
    SERVED.answer(&asked, &headers)
}

pub(super) async fn icon(asked: Uri, headers: HeaderMap) -> Response {
    static SERVED: LazyLock<Served> = LazyLock::new(|| Served::new(&ICON));
    SERVED.answer(&asked, &headers)
}

pub(super) async fn script(asked: Uri, headers: HeaderMap) -> Response {
    static SERVED: LazyLock<Served> = LazyLock::new(|| Served::new(&SCRIPT));
    SERVED.answer(&asked, &headers)
}
