//! New runs as an Atom feed (RFC 4287).

use askama::Template;
use jiff::Timestamp;

use crate::queries::Queries;
use crate::views::run::ListedRun;
use crate::views::search::SearchQuery;

const ENTRIES: u32 = 30;

#[derive(Template)]
#[template(path = "feed.xml")]
struct Feed {
    /// Scheme and host.
    origin: String,
    entries: Vec<ListedRun>,
}

impl Feed {
    fn updated(&self) -> String {
        self.entries
            .first()
            .map_or_else(|| "1970-01-01T00:00:00Z".to_owned(), time)
    }
}

fn time(run: &ListedRun) -> String {
    let at = Timestamp::from_millisecond(run.received_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{at:.0}")
}

fn title(run: &ListedRun) -> String {
    let name = run.storage_name();
    let name = match &run.board {
        Some(board) => format!("{name} on {board}"),
        None => name.to_owned(),
    };
    match run.result.as_str() {
        "" => name,
        result => format!("{name}: {result}"),
    }
}

/// The feed, as Atom. `origin` is the scheme and host of the site.
///
/// # Errors
/// If a query has no answer.
pub async fn feed<Q: Queries>(queries: &Q, origin: String) -> Result<String, Q::Error> {
    let entries = queries.search(SearchQuery::last(ENTRIES)).await?.records;
    Ok(Feed { origin, entries }.to_string())
}
