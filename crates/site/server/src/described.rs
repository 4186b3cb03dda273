//! Answers that several paths share, for the description of the API.
#![expect(
    dead_code,
    reason = "names statuses in the description, and is never built"
)]

use cardmark_share::Problem;
use utoipa::IntoResponses;

/// Answers to all requests for reading that can be kept.
#[derive(IntoResponses)]
pub(crate) enum Read {
    /// As the client has it
    #[response(status = 304)]
    Known,
    /// Too many requests
    #[response(status = 429, content_type = "application/problem+json")]
    Limited(Problem),
}

/// Answer to parameters that mean nothing.
#[derive(IntoResponses)]
pub(crate) enum Asked {
    /// A parameter cannot be understood
    #[response(status = 400, content_type = "application/problem+json")]
    Wrong(Problem),
}

/// Answers about one run.
#[derive(IntoResponses)]
pub(crate) enum OfRun {
    /// Unknown
    #[response(status = 404, content_type = "application/problem+json")]
    Unknown(Problem),
    /// Withdrawn
    #[response(status = 410, content_type = "application/problem+json")]
    Withdrawn(Problem),
}
