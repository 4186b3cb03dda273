//! Failures of the program itself.

use cardmark_site_data::DataError;
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
    /// `CARDMARK_LOG` cannot be read.
    #[error("CARDMARK_LOG is {text:?}; it has to be levels, such as info or info,sqlx=warn")]
    Log {
        /// Its value.
        text: String,
        /// The reason.
        source: tracing_subscriber::filter::ParseError,
    },
    /// The database cannot be used.
    #[error("cannot use the database")]
    Store(#[from] SiteStoreError),
    /// Open data cannot be written or read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Standard input cannot be read.
    #[error("cannot read standard input")]
    Input(#[source] std::io::Error),
    /// A file of an export cannot be written.
    #[error("cannot write {path}: {source}")]
    Export {
        /// The file.
        path: std::path::PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The site failed to answer for a page.
    #[error("the page {0} could not be made; the log has the reason")]
    Page(String),
    /// Runs were withdrawn whenever an export was nearly complete.
    #[error("runs were withdrawn while the pages were written, several times; try again")]
    Withdrawals,
    /// A folder cannot be made.
    #[error("cannot make a folder")]
    Folder(#[source] std::io::Error),
    /// A name that an account cannot have.
    #[error(
        "{0:?} cannot be the name of an account: use up to 40 letters of ASCII, digits, full stops, `_` and `-`"
    )]
    AccountName(String),
    /// A password that is too short; the fewest characters.
    #[error("the password has fewer than {0} characters")]
    ShortPassword(usize),
    /// There is an account of this name.
    #[error("the account {0} exists: remove it first, or choose another name")]
    AccountExists(String),
    /// There is no account of this name.
    #[error("there is no account {0}: `cardmark-site account list` shows all")]
    NoAccount(String),
    /// A password cannot be hashed.
    #[error("the password cannot be hashed: is there enough memory?")]
    Hash,
    /// A password cannot be read.
    #[error("cannot read the password")]
    PasswordInput(#[source] std::io::Error),
    /// A password was typed otherwise the second time.
    #[error("the passwords differ")]
    PasswordsDiffer,
    /// Runs that an operator named are not in the database.
    #[error("runs that are not in this database: {0}; the others are withdrawn")]
    UnknownRuns(u64),
    /// A text cannot be written as JSON.
    #[error("cannot write JSON")]
    Json(#[from] serde_json::Error),
    /// Signals cannot be received.
    #[error("cannot receive signals")]
    Signals(#[source] std::io::Error),
}

/// An error and its causes in one line, the first cause after the error.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    text
}
