//! A site, and the requests that this store may send to it.

use cardmark_share::{Secrets, Server, TAG_HEADER, TOKEN_HASH_HEADER, to_hexadecimal};
use ureq::http::Method;
use uuid::Uuid;

use super::client::{Request, Site};

const RECORDS: &str = "/api/v1/records";

/// A site, with what this store may do there.
pub(super) struct There<'a> {
    pub(super) site: &'a dyn Site,
    pub(super) server: &'a Server,
    pub(super) secrets: Secrets,
    /// Whether the state of each run is shown as one line of JSON.
    pub(super) as_json: bool,
}

impl There<'_> {
    /// The request that sends a run.
    pub(super) fn submission(&self, run: Uuid, body: &[u8]) -> Request {
        let hash = self.secrets.edit_token(self.server, run).hash();
        let mut request = Request::new(Method::POST, RECORDS)
            .header("content-type", "application/x-ndjson")
            .header("content-encoding", "gzip")
            .header(TOKEN_HASH_HEADER, to_hexadecimal(&hash))
            .header(TAG_HEADER, to_hexadecimal(&self.secrets.tag(self.server)));
        body.clone_into(&mut request.body);
        request
    }

    /// The request for the state of a run.
    pub(super) fn state(run: Uuid) -> Request {
        Request::new(Method::GET, format!("{RECORDS}/{run}/state"))
    }

    /// The request that replaces the statement of a run.
    pub(super) fn amendment(&self, run: Uuid, statement: &str) -> Request {
        let path = format!("{RECORDS}/{run}/statement");
        let request = Request::new(Method::PUT, path).header("content-type", "application/json");
        let mut request = self.permitted(request, run);
        statement.as_bytes().clone_into(&mut request.body);
        request
    }

    /// The request that withdraws a run.
    pub(super) fn withdrawal(&self, run: Uuid) -> Request {
        self.permitted(
            Request::new(Method::DELETE, format!("{RECORDS}/{run}")),
            run,
        )
    }

    /// The request that answers to the quarantine of a run.
    pub(super) fn answer(&self, run: Uuid, text: &str) -> Request {
        let path = format!("{RECORDS}/{run}/answer");
        let request = Request::new(Method::PUT, path);
        let request = request.header("content-type", "text/plain; charset=utf-8");
        let mut request = self.permitted(request, run);
        text.as_bytes().clone_into(&mut request.body);
        request
    }

    fn permitted(&self, request: Request, run: Uuid) -> Request {
        let token = self.secrets.edit_token(self.server, run).to_text();
        request.header("authorization", format!("Bearer {token}"))
    }
}
