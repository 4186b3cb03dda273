//! Signing in: name, password, one-time code.

use std::sync::Arc;

use cardmark_site_store::Bucket;

use super::{key, password, totp};
use crate::clock::now_ms;
use crate::http::problem::Refusal;
use crate::state::Site;

/// Attempts of an account in a row, and how many come back in an hour.
const OF_ACCOUNT: (f64, f64) = (10.0, 20.0);
/// Attempts of an address block in a row, and how many come back in an hour.
const OF_ADDRESS: (f64, f64) = (20.0, 60.0);
/// Longest name, password and code, bytes.
const MOST_BYTES: usize = 1_024;

/// The fields of the form for signing in.
pub(crate) struct Typed {
    pub(crate) name: String,
    pub(crate) password: String,
    pub(crate) code: String,
}

/// Returns whether name, password and code are those of an account. Each code is accepted once. All wrong answers take the same
/// time, whether there is such an account or not.
pub(crate) async fn is_allowed(
    site: &Arc<Site>,
    block: [u8; 16],
    typed: Typed,
) -> Result<bool, Refusal> {
    let Typed {
        name,
        password,
        code,
    } = typed;
    if name.len().max(password.len()).max(code.len()) > MOST_BYTES {
        return Ok(false);
    }
    let at_ms = now_ms();
    if let Some(limit) = site.store.charge(limits(site, block, &name), at_ms).await? {
        return Err(Refusal::limited(limit));
    }
    let account = site.store.account(&name).await?;
    let (known, secret) = match account {
        Some(account) => (account.password, account.totp),
        None => (password::nobody(), Vec::new()),
    };
    let checked = site.sign_ins.run(move || {
        let step = totp::accepted_step(&secret, &code, at_ms.div_euclid(1_000));
        let is_password = password::is_of(&password, &known);
        step.filter(|_| is_password)
    });
    match checked.await? {
        Some(step) => Ok(site.store.take_step(&name, step).await?),
        None => Ok(false),
    }
}

fn limits(site: &Site, block: [u8; 16], name: &str) -> Vec<Bucket> {
    let bucket = |purpose, text: &[u8], (most, per_hour)| Bucket {
        key: key(&site.secret, purpose, text),
        most,
        per_hour,
    };
    vec![
        bucket("sign-in account", name.as_bytes(), OF_ACCOUNT),
        bucket("sign-in address", &block, OF_ADDRESS),
    ]
}
