//! Label that verdicts depend on.

/// Record label for classes that were requested with `--require`; they need not be claimed.
pub const REQUIRED_LABEL: &str = "required";
