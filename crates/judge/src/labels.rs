//! Labels of records that verdicts and findings depend on.

/// Record label for claimed classes: their names, separated by spaces.
pub const CLAIMS_LABEL: &str = "claims";

/// Record label for classes that were requested with `--require`; they need not be claimed.
pub const REQUIRED_LABEL: &str = "required";
