//! Places of the store and the journals.

pub(crate) mod looks;
pub(crate) mod state;
pub(crate) mod unfinished;

use std::io::ErrorKind;
use std::ops::Deref;
use std::path::PathBuf;

use cardmark_store::{Places, Store, StoreError};

use crate::error::{CommandError, Exit};

/// The places of this user's data: the local store, opened with advice in its errors, and the file for turns.
#[derive(Clone, Debug)]
pub struct Data {
    /// The places of the store.
    pub places: Places,
    /// File that all jobs of the host lock in turns; by default the first of the usual places that can be used.
    pub lock_file: Option<PathBuf>,
}

impl Deref for Data {
    type Target = Places;

    fn deref(&self) -> &Places {
        &self.places
    }
}

impl Data {
    /// The places as the environment names them ([`Places::from_environment`]). `CARDMARK_LOCK_FILE` names another file
    /// for turns: for containers that share a machine, but none of the usual directories.
    ///
    /// # Errors
    /// If it names none, or the address is not one of SQLite.
    pub fn from_environment() -> Result<Self, CommandError> {
        let places = Places::from_environment()?.ok_or_else(|| {
            CommandError::new(Exit::Trouble, "there is no place for the results")
                .because("neither XDG_DATA_HOME nor HOME is set")
                .hint("set HOME, or CARDMARK_DATABASE_URL=sqlite:///path/to/cardmark.db")
        })?;
        let named = std::env::var_os("CARDMARK_LOCK_FILE").filter(|name| !name.is_empty());
        Ok(Self {
            places,
            lock_file: named.map(PathBuf::from),
        })
    }

    /// Opens the store, creating it if there is none.
    ///
    /// # Errors
    /// If it cannot be opened, with advice.
    pub fn open(&self) -> Result<Store, CommandError> {
        Store::open(&self.database).map_err(|error| store_error(&error))
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        store_error(&error)
    }
}

/// Converts an error of the store, with advice.
#[must_use]
pub fn store_error(error: &StoreError) -> CommandError {
    let made = CommandError::from_error(Exit::Trouble, error);
    match error {
        StoreError::Io { path, source } if source.kind() == ErrorKind::PermissionDenied => {
            made.hint(format!(
                "if a run with `sudo` made a folder above `{}` root's, `sudo chown -R \"$USER\" FOLDER` gives it back",
                path.display()
            ))
            .hint("XDG_DATA_HOME names another place")
        }
        StoreError::Corrupt { path, .. } => made.hint(format!(
            "nothing was changed; move `{}` away and a new one is made, or set \
             CARDMARK_DATABASE_URL",
            path.display()
        )),
        StoreError::Damaged { path, .. } => made.hint(format!(
            "`cardmark export` writes every run whose record is readable; then restore `{}` from a \
             backup, or move it away to begin a new one",
            path.display()
        )),
        StoreError::NotMigrated { path, .. } | StoreError::Outdated { path, .. } => made.hint(format!(
            "the cardmark that made it can still export its runs; then move `{}` away to begin a \
             new one",
            path.display()
        )),
        StoreError::DamagedPreparation { .. } => made.hint("`cardmark prepare` stores a new one"),
        StoreError::Locked { .. } => {
            made.hint("another program holds it; try again when that has ended")
        }
        StoreError::NotFound { prefix } if prefix == "last" => {
            CommandError::new(Exit::Usage, "there are no runs yet")
                .hint("`cardmark run` makes one, `cardmark run sim:a1-32gb` a simulated one")
                .hint("results of `sudo cardmark` are root's own")
        }
        StoreError::NotFound { .. } | StoreError::NotAnId { .. } => CommandError {
            exit: Exit::Usage,
            ..made
        }
        .hint(
            "`cardmark list runs` shows what there is; results of `sudo cardmark` are root's own",
        ),
        StoreError::Ambiguous { .. } => CommandError {
            exit: Exit::Usage,
            ..made
        }
        .hint("give more characters of the id"),
        StoreError::Address { .. }
        | StoreError::Unsupported { .. }
        | StoreError::NotAFile { .. } => CommandError {
            exit: Exit::Usage,
            ..made
        }
        .hint("CARDMARK_DATABASE_URL is of the form sqlite:///path/to/file"),
        _ => made,
    }
}
