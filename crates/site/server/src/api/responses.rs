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

/// Answers to a body.
#[derive(IntoResponses)]
pub(crate) enum Sent {
    /// The request cannot be understood
    #[response(status = 400, content_type = "application/problem+json")]
    Wrong(Problem),
    /// The body did not arrive in time
    #[response(status = 408, content_type = "application/problem+json")]
    Slow(Problem),
    /// Too large
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(Problem),
    /// Unknown encoding
    #[response(status = 415, content_type = "application/problem+json")]
    Encoding(Problem),
}

/// Answers to an edit token.
#[derive(IntoResponses)]
pub(crate) enum Owned {
    /// No token
    #[response(status = 401, content_type = "application/problem+json")]
    Missing(Problem),
    /// Another token
    #[response(status = 403, content_type = "application/problem+json")]
    Other(Problem),
}

/// Answers to all requests that store something.
#[derive(IntoResponses)]
pub(crate) enum Written {
    /// Too many requests; see Retry-After
    #[response(status = 429, content_type = "application/problem+json")]
    Limited(Problem),
    /// The site is busy, or takes in nothing new; see Retry-After
    #[response(status = 503, content_type = "application/problem+json")]
    Busy(Problem),
}
