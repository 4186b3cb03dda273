//! Accounts of moderators, from the command line.

use cardmark_site_store::{Account, SiteStore};

use super::{password, random, totp};
use crate::clock::now_ms;
use crate::error::SiteError;

/// Fewest characters of a password.
const LEAST_PASSWORD: usize = 12;
/// Most characters of a name.
const MOST_NAME: usize = 40;
/// Bytes of a secret of one-time codes: those of SHA-1 (RFC 4226, section 4).
const SECRET_BYTES: usize = 20;

/// A new account.
#[derive(Clone, PartialEq, Eq)]
pub struct NewAccount {
    /// Its name.
    pub name: String,
    /// Secret of its one-time codes.
    pub secret: Vec<u8>,
}

impl NewAccount {
    /// The secret in Base32, to be typed into an authenticator app.
    pub fn base32(&self) -> String {
        totp::base32(&self.secret)
    }

    /// The address that authenticator apps read, often from a QR code.
    pub fn url(&self) -> String {
        let secret = self.base32();
        format!(
            "otpauth://totp/cardmark:{}?secret={secret}&issuer=cardmark",
            self.name
        )
    }
}

/// Never prints the secret.
impl std::fmt::Debug for NewAccount {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "NewAccount({})", self.name)
    }
}

/// Adds an account of a moderator.
///
/// # Errors
/// If the name or the password cannot be used, or the database fails.
pub async fn add_account(
    store: &SiteStore,
    name: &str,
    password: &str,
) -> Result<NewAccount, SiteError> {
    let is_usable = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if name.is_empty() || name.len() > MOST_NAME || !name.chars().all(is_usable) {
        return Err(SiteError::AccountName(name.to_owned()));
    }
    if password.chars().count() < LEAST_PASSWORD {
        return Err(SiteError::ShortPassword(LEAST_PASSWORD));
    }
    let secret = random()[..SECRET_BYTES].to_vec();
    let account = Account {
        name: name.to_owned(),
        password: password::hashed(password).ok_or(SiteError::Hash)?,
        totp: secret.clone(),
        created_ms: now_ms(),
    };
    match store.add_account(account).await? {
        true => Ok(NewAccount {
            name: name.to_owned(),
            secret,
        }),
        false => Err(SiteError::AccountExists(name.to_owned())),
    }
}
