//! `cardmark-site account`: accounts of moderators, from the command line.

use std::io::{IsTerminal as _, Write as _};

use cardmark_site_data::day_of;
use cardmark_site_store::SiteStore;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::config::Config;
use crate::error::SiteError;
use crate::moderation::account::add_account;

/// Adds an account and returns what its owner needs to sign in. The password is read from standard input.
///
/// # Errors
/// If the name or the password cannot be used, or the database fails.
pub async fn account_add(config: &Config, name: &str) -> Result<String, SiteError> {
    let password = password()?;
    let store = SiteStore::open_beside(&config.database_url).await?;
    let made = add_account(&store, name, &password).await;
    store.close().await;
    let made = made?;
    Ok(format!(
        "Account {name} was added. Enter this secret into an authenticator app; it is not shown again:\n  {}\n  {}",
        made.url(),
        made.base32()
    ))
}

/// Returns a line for each account: its name and the day on which it was added.
///
/// # Errors
/// If the database fails.
pub async fn account_list(config: &Config) -> Result<String, SiteError> {
    let store = SiteStore::open_beside(&config.database_url).await?;
    let accounts = store.accounts().await;
    store.close().await;
    let accounts = accounts?;
    let lines = accounts
        .iter()
        .map(|account| format!("{}  since {}", account.name, day_of(account.created_ms)));
    let lines: Vec<String> = lines.collect();
    Ok(match lines.is_empty() {
        true => "No accounts. `cardmark-site account add NAME` adds one.".to_owned(),
        false => lines.join("\n"),
    })
}

/// Removes an account and ends its sessions. Its acts stay.
///
/// # Errors
/// If there is no such account, or the database fails.
pub async fn account_remove(config: &Config, name: &str) -> Result<String, SiteError> {
    let store = SiteStore::open_beside(&config.database_url).await?;
    let removed = store.remove_account(name).await;
    store.close().await;
    match removed? {
        true => Ok(format!(
            "Account {name} was removed, and its sessions ended. Its acts stay."
        )),
        false => Err(SiteError::NoAccount(name.to_owned())),
    }
}

/// Asks for a password twice without showing it; reads one line if standard input is no terminal.
fn password() -> Result<String, SiteError> {
    if !std::io::stdin().is_terminal() {
        return line().map_err(SiteError::PasswordInput);
    }
    let first = asked("Password, 12 characters or more: ").map_err(SiteError::PasswordInput)?;
    let second = asked("Repeat the password: ").map_err(SiteError::PasswordInput)?;
    match first == second {
        true => Ok(first),
        false => Err(SiteError::PasswordsDiffer),
    }
}

fn asked(question: &str) -> std::io::Result<String> {
    let mut error = std::io::stderr();
    error.write_all(question.as_bytes())?;
    error.flush()?;
    let terminal = std::io::stdin();
    let before = tcgetattr(&terminal)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&terminal, OptionalActions::Flush, &silent)?;
    let line = line();
    tcsetattr(&terminal, OptionalActions::Flush, &before)?;
    error.write_all(b"\n")?;
    line
}

fn line() -> std::io::Result<String> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}
