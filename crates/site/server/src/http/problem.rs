//! Errors as answers (RFC 9457).

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cardmark_share::{PROBLEM_TYPE, Problem, ProblemAt, SubmissionError};
use cardmark_site_store::{Limit, SiteStoreError};

use crate::error::chain;

/// Seconds after which a busy site is asked again.
const BUSY_RETRY_S: u64 = 5;
/// Seconds after which a site that takes nothing in is asked again.
const READ_ONLY_RETRY_S: u64 = 600;

/// An error as an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    problem: Problem,
    retry_after_s: Option<u64>,
}

impl Refusal {
    pub(crate) fn problem(&self) -> &Problem {
        &self.problem
    }

    /// `kind` is the last part of the problem's path.
    pub(crate) fn new(
        status: StatusCode,
        kind: &str,
        title: &str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            problem: Problem {
                kind: format!("/problems/{kind}"),
                title: title.to_owned(),
                status: status.as_u16(),
                detail: detail.into(),
                errors: Vec::new(),
            },
            retry_after_s: None,
        }
    }

    fn at(mut self, pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        let (pointer, detail) = (pointer.into(), detail.into());
        self.problem.errors.push(ProblemAt { pointer, detail });
        self
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        cardmark_pages::bad_request(detail).into()
    }

    pub(crate) fn unknown_run() -> Self {
        let detail = "there is no run with this id here";
        Self::new(StatusCode::NOT_FOUND, "unknown-run", "No such run", detail)
    }

    pub(crate) fn withdrawn() -> Self {
        let detail =
            "its owner withdrew the run, or the operator removed it; its bytes are deleted";
        Self::new(
            StatusCode::GONE,
            "withdrawn",
            "The run was withdrawn",
            detail,
        )
    }

    pub(crate) fn forbidden() -> Self {
        let detail = "the edit token is not that of this run; it follows from the secret of the store that sent it";
        Self::new(
            StatusCode::FORBIDDEN,
            "wrong-token",
            "The token does not fit",
            detail,
        )
    }

    pub(crate) fn no_token() -> Self {
        let detail = "a change needs the header `Authorization: Bearer TOKEN` with the edit token of the run";
        Self::new(
            StatusCode::UNAUTHORIZED,
            "no-token",
            "The token is missing",
            detail,
        )
    }

    pub(crate) fn too_large(most: usize, of: &str) -> Self {
        let most = match most >> 20 {
            0 => format!("{} KiB", most >> 10),
            most => format!("{most} MiB"),
        };
        let detail = format!("{of} is larger than {most}");
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-large",
            "The document is too large",
            detail,
        )
    }

    /// A text that a reader does not finish.
    pub(crate) fn too_costly(processor_s: u64, memory_bytes: u64) -> Self {
        let detail = format!(
            "reading it took more than {processor_s} s of processor time or {} MiB of memory: upload a part of it, or import it with `cardmark import` and upload the record",
            memory_bytes >> 20
        );
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-costly",
            "It takes too much to read",
            detail,
        )
    }

    pub(crate) fn slow() -> Self {
        let detail = "the body did not arrive in time";
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "slow",
            "The request took too long",
            detail,
        )
    }

    /// A request that can succeed later.
    fn later(kind: &str, title: &str, detail: &str, retry_s: u64) -> Self {
        let refusal = Self::new(StatusCode::SERVICE_UNAVAILABLE, kind, title, detail);
        Self {
            retry_after_s: Some(retry_s),
            ..refusal
        }
    }

    pub(crate) fn busy() -> Self {
        let detail =
            "more arrives than can be checked and stored; nothing of this request was kept";
        Self::later("busy", "The site is busy", detail, BUSY_RETRY_S)
    }

    /// The database was lost, perhaps while it stored the request.
    fn unavailable() -> Self {
        let title = "The database does not answer";
        let detail = "the database does not answer now; it is not known whether a submission or a change of a run was kept, and each can be sent again unchanged";
        Self::later("unavailable", title, detail, BUSY_RETRY_S)
    }

    /// A moderator switched the site to reading only.
    pub(crate) fn read_only() -> Self {
        let title = "The site takes nothing in";
        let detail = "the site takes nothing in at present; what it has can be read and withdrawn";
        Self::later("read-only", title, detail, READ_ONLY_RETRY_S)
    }

    pub(crate) fn limited(limit: Limit) -> Self {
        let detail = format!(
            "too many requests; the next one is possible in {} s",
            limit.retry_after_s
        );
        let mut refusal = Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "limit",
            "Too many requests",
            detail,
        );
        refusal.retry_after_s = Some(limit.retry_after_s.max(1));
        refusal
    }

    pub(crate) fn failed() -> Self {
        let detail = "the site failed; the reason is in its log";
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "failed",
            "The site failed",
            detail,
        )
    }

    fn unprocessable(kind: &str, title: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, kind, title, detail)
    }

    /// The answer to a document that is no submission.
    pub(crate) fn not_a_submission(error: &SubmissionError, text: &str) -> Self {
        let chain = chain(error);
        match error {
            SubmissionError::NotPublic(field) => {
                let title = "The document holds what must stay private";
                let pointer = format!("/{}", field.replace('.', "/"));
                Self::unprocessable("not-public", title, chain)
                    .at(pointer, "no public form holds it")
            }
            SubmissionError::OtherRun => {
                let title = "The statement is on another run";
                Self::unprocessable("other-run", title, chain)
                    .at("/record_id", "not the id of the record")
            }
            SubmissionError::Record(_) => {
                let title = "The document is not a record";
                let (pointer, detail) =
                    place_of(text).unwrap_or_else(|| (String::new(), chain.clone()));
                Self::unprocessable("not-a-record", title, chain).at(pointer, detail)
            }
            SubmissionError::Statement(_) => {
                let title = "The second line is not a statement";
                Self::unprocessable("not-a-statement", title, chain.clone()).at("", chain)
            }
        }
    }
}

/// Place at which a record cannot be read, as a JSON pointer, and the reason.
fn place_of(text: &str) -> Option<(String, String)> {
    let (document, _) = cardmark_core::documents_of(text);
    let mut deserializer = serde_json::Deserializer::from_str(document);
    let error =
        serde_path_to_error::deserialize::<_, cardmark_core::Record>(&mut deserializer).err()?;
    let mut pointer = String::new();
    for segment in error.path() {
        use serde_path_to_error::Segment;
        match segment {
            Segment::Seq { index } => pointer += &format!("/{index}"),
            Segment::Map { key } => {
                pointer += &format!("/{}", key.replace('~', "~0").replace('/', "~1"));
            }
            _ => break,
        }
    }
    Some((pointer, error.inner().to_string()))
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self {
            problem,
            retry_after_s: None,
        }
    }
}

impl From<SiteStoreError> for Refusal {
    fn from(error: SiteStoreError) -> Self {
        match error {
            SiteStoreError::Busy => Self::busy(),
            SiteStoreError::Unavailable(error) => {
                tracing::error!(error = ?error, "the database cannot be reached");
                Self::unavailable()
            }
            other => {
                tracing::error!(error = ?other, "the database failed");
                Self::failed()
            }
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self.problem)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_TYPE));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after_s {
            headers.insert(
                HeaderName::from_static("retry-after"),
                HeaderValue::from(seconds),
            );
        }
        response
    }
}
