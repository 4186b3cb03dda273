//! Failures of the program itself.

use cardmark_site_store::SiteStoreError;
use thiserror::Error;

/// Reason for which the site ends.
#[derive(Debug, Error)]
pub enum SiteError {
    /// The address is taken, or may not be used.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The database cannot be used.
    #[error("cannot use the database")]
    Store(#[from] SiteStoreError),
    /// Signals cannot be received.
    #[error("cannot receive signals")]
    Signals(#[source] std::io::Error),
}
