//! Errors of models.

use thiserror::Error;

/// Reason why a model is not available.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ModelError {
    /// No model has this name.
    #[error("no model `{name}`{perhaps}")]
    Unknown {
        /// Requested name.
        name: String,
        /// Similar names, after `; perhaps `; empty if there are none.
        perhaps: String,
    },
    /// No board has this name.
    #[error("no simulated board `{name}`; available: {known}")]
    UnknownBoard {
        /// Requested name.
        name: String,
        /// Known names.
        known: String,
    },
    /// The text is not a model.
    #[error("model cannot be read: {0}")]
    Text(String),
    /// A number is out of range.
    #[error("model `{name}`: {what}")]
    Invalid {
        /// The model.
        name: String,
        /// The fault.
        what: &'static str,
    },
}
