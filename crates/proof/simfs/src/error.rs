//! Errors, and the exit code of each.

use std::io;

use cardmark_sim::ModelError;
use thiserror::Error;

/// Reason why no card is available.
#[derive(Debug, Error)]
pub enum SimfsError {
    /// The model does not exist.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The file of a model cannot be read.
    #[error("model cannot be read from {path}")]
    ModelFile {
        /// The file.
        path: String,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The requested size is impossible for such a card.
    #[error("a card of model `{model}` cannot have {size_bytes} bytes")]
    Size {
        /// The model.
        model: String,
        /// Requested size.
        size_bytes: u64,
        /// Capacity of the model.
        capacity_bytes: u64,
    },
    /// The card would be faster than the way to it.
    #[error(
        "model `{model}` is faster than this computer can play it: it answers within {} µs, the \
         way to it takes {} µs",
        fastest_ns / 1_000,
        way_ns / 1_000
    )]
    TooFast {
        /// The model.
        model: String,
        /// Its fastest answer.
        fastest_ns: u64,
        /// The way.
        way_ns: u64,
    },
    /// The system refused something.
    #[error("{what}")]
    System {
        /// Attempted action.
        what: &'static str,
        /// Cause.
        #[source]
        source: io::Error,
    },
}

impl SimfsError {
    /// Returns 2 for wrong arguments, 3 for requests that cannot be fulfilled here.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Model(_) | Self::ModelFile { .. } | Self::Size { .. } => 2,
            Self::TooFast { .. } | Self::System { .. } => 3,
        }
    }

    /// Returns a hint on how to fix it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Size { capacity_bytes, .. } => Some(format!(
                "--size takes a multiple of 512 up to {capacity_bytes}"
            )),
            Self::TooFast { .. } => {
                Some("use a slower model, or try when the computer has nothing else to do".into())
            }
            Self::System { .. } => {
                Some("mounting needs root, or FUSE for users, and /dev/fuse".into())
            }
            Self::Model(_) | Self::ModelFile { .. } => None,
        }
    }

    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
