//! Places of the store and the journals.

use std::path::{Path, PathBuf};

use cardmark_store::{
    DATABASE_FILE, JOURNALS_DIRECTORY, Store, StoreError, TESTS_DIRECTORY, sqlite_path,
};

use crate::error::{CommandError, Exit};

/// The places of the local store.
#[derive(Clone, Debug)]
pub struct Data {
    /// The database file.
    pub database: PathBuf,
    /// Directory of the journals of unfinished work.
    pub journals: PathBuf,
    /// Directory of undo logs.
    pub tests: PathBuf,
}

impl Data {
    /// The places as the environment names them: `CARDMARK_DATABASE_URL`, else
    /// `$XDG_DATA_HOME/cardmark`, else `~/.local/share/cardmark`.
    ///
    /// # Errors
    /// If none of them is set, or the address is not one of SQLite.
    pub fn from_environment() -> Result<Self, CommandError> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let url = variable("CARDMARK_DATABASE_URL").map(|url| url.to_string_lossy().into_owned());
        let base = variable("XDG_DATA_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".local/share")));
        Self::at(url.as_deref(), base)
    }

    fn at(url: Option<&str>, base: Option<PathBuf>) -> Result<Self, CommandError> {
        if let Some(url) = url {
            let database = sqlite_path(url)?;
            let beside = |extension: &str| database.with_extension(extension);
            return Ok(Self {
                journals: beside("journals"),
                tests: beside("tests"),
                database,
            });
        }
        let Some(base) = base else {
            return Err(
                CommandError::new(Exit::Trouble, "there is no place for the results")
                    .because("neither XDG_DATA_HOME nor HOME is set")
                    .hint("set HOME, or CARDMARK_DATABASE_URL=sqlite:///path/to/cardmark.db"),
            );
        };
        let folder = base.join("cardmark");
        Ok(Self {
            database: folder.join(DATABASE_FILE),
            journals: folder.join(JOURNALS_DIRECTORY),
            tests: folder.join(TESTS_DIRECTORY),
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
        StoreError::NotMigrated { path, .. } => made.hint(format!(
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
        StoreError::Address { .. } | StoreError::Unsupported { .. } => CommandError {
            exit: Exit::Usage,
            ..made
        }
        .hint("CARDMARK_DATABASE_URL is of the form sqlite:///path/to/file"),
        _ => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_wins_over_the_folder() {
        let base = Some(PathBuf::from("/home/a/.local/share"));
        let data = Data::at(Some("sqlite:///x/y.db"), base.clone()).unwrap();
        assert_eq!(data.database, Path::new("/x/y.db"));
        assert_eq!(data.journals, Path::new("/x/y.journals"));
        let data = Data::at(None, base).unwrap();
        assert_eq!(
            data.database,
            Path::new("/home/a/.local/share/cardmark/records.sqlite")
        );
    }

    #[test]
    fn other_databases_and_no_home_are_errors() {
        assert_eq!(
            Data::at(Some("postgres://x"), None).unwrap_err().exit,
            Exit::Usage
        );
        assert_eq!(Data::at(None, None).unwrap_err().exit, Exit::Trouble);
    }
}
