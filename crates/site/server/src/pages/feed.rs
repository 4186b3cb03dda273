//! New runs as an Atom feed (RFC 4287).

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_site_store::{Head, Search};
use jiff::Timestamp;

use super::frame::{PageRefusal, origin};
use crate::kept::Kept;
use crate::state::Site;

const ENTRIES: u32 = 30;

#[derive(Template)]
#[template(path = "feed.xml")]
struct Feed {
    /// Scheme and host.
    origin: String,
    entries: Vec<Head>,
}

impl Feed {
    fn updated(&self) -> String {
        self.entries
            .first()
            .map_or_else(|| "1970-01-01T00:00:00Z".to_owned(), time)
    }
}

fn time(head: &Head) -> String {
    let at = Timestamp::from_millisecond(head.received_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{at:.0}")
}

fn title(head: &Head) -> String {
    let name = head.product_name.as_ref().or(head.model.as_ref());
    let name = name.map_or("storage of unknown name", String::as_str);
    match &head.board {
        Some(board) => format!("{name} on {board}"),
        None => name.to_owned(),
    }
}

pub(super) async fn feed(
    State(site): State<Arc<Site>>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let search = Search {
        limit: ENTRIES,
        ..Search::default()
    };
    let feed = Feed {
        origin: origin(&site, &headers),
        entries: site.store.search(&search).await?.heads,
    };
    let kind = "application/atom+xml; charset=utf-8";
    Ok(Kept::new(kind, feed.to_string()).answer(&headers))
}
