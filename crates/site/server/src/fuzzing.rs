//! For `fuzz/`: what the site does with bodies and queries, without its store.

use axum::extract::{FromRequestParts, Request};
use cardmark_core::Record;
use cardmark_pages::pages::compare::ids_of;
use cardmark_pages::views::search::SearchQuery;
use cardmark_share::read_submission;
use cardmark_site_store::{Incoming, Search};
use futures_util::FutureExt;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::admin::data::rederived;
use crate::api::compare::{CompareQuery, compared};
use crate::http::body::Received;
use crate::http::parameters::Parameters;
use crate::queries::{conditions, documents};
use crate::submissions::incoming::{Sender, incoming};

/// Reads, checks and packs the body of a submission; `None` if it is refused.
///
/// # Panics
/// If its kept form cannot be read again, or a rebuild derives something else.
pub fn submission(encoding: &str, body: Vec<u8>) -> Option<Incoming> {
    let received = Received::for_fuzzing(encoding, body)?;
    let incoming = incoming(received, Sender::default(), Vec::new()).ok()?;
    let text = documents::unpack(&incoming.packed).ok();
    assert!(text.is_some_and(|text| read_submission(&text).is_ok()));
    assert!(documents::record(&incoming.packed).is_ok());
    let again = rederived(
        incoming.extract.id,
        &incoming.packed,
        None,
        incoming.received_ms,
    );
    assert!(again.is_some_and(|again| {
        again.extract == incoming.extract
            && again.checks == incoming.checks
            && again.card == incoming.card
    }));
    Some(incoming)
}

/// Reads the query of a search; `None` if it is refused.
pub fn search(query: &str) -> Option<Search> {
    conditions(parameters::<SearchQuery>(query)?).ok()
}

/// Compares records as a query asks, whatever runs it names; `None` if it is refused.
pub fn compare(query: &str, base: &[Record], other: &[Record]) -> Option<Value> {
    let query = parameters::<CompareQuery>(query)?;
    let is_list = ids_of(&query.base).is_ok() && ids_of(&query.other).is_ok();
    is_list.then(|| compared(&query, base, other).ok())?
}

fn parameters<T: DeserializeOwned>(query: &str) -> Option<T> {
    let uri = format!("/?{query}");
    let (mut parts, ()) = Request::builder().uri(uri).body(()).ok()?.into_parts();
    let read = Parameters::<T>::from_request_parts(&mut parts, &()).now_or_never()?;
    read.ok().map(|read| read.0)
}
