//! Places of the store and the journals.

use std::path::{Path, PathBuf};

use crate::store::sqlite_path;
use crate::{DATABASE_FILE, JOURNALS_DIRECTORY, StoreError, TESTS_DIRECTORY};

/// The places of the local store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The database file.
    pub database: PathBuf,
    /// Directory of the journals of unfinished work.
    pub journals: PathBuf,
    /// Directory of undo logs.
    pub tests: PathBuf,
}

impl Places {
    /// The places as the environment names them: `CARDMARK_DATABASE_URL`, else
    /// `$XDG_DATA_HOME/cardmark`, else `~/.local/share/cardmark`; `None` if none of them is set.
    ///
    /// # Errors
    /// If the address is not one of SQLite.
    pub fn from_environment() -> Result<Option<Self>, StoreError> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let url = variable("CARDMARK_DATABASE_URL").map(|url| url.to_string_lossy().into_owned());
        let base = variable("XDG_DATA_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".local/share")));
        Self::at(url.as_deref(), base.as_deref())
    }

    fn at(url: Option<&str>, base: Option<&Path>) -> Result<Option<Self>, StoreError> {
        if let Some(url) = url {
            return sqlite_path(url).map(|database| Some(Self::beside(database)));
        }
        Ok(base.map(|base| {
            let folder = base.join("cardmark");
            Self {
                database: folder.join(DATABASE_FILE),
                journals: folder.join(JOURNALS_DIRECTORY),
                tests: folder.join(TESTS_DIRECTORY),
            }
        }))
    }

    fn beside(database: PathBuf) -> Self {
        Self {
            journals: database.with_extension("journals"),
            tests: database.with_extension("tests"),
            database,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_wins_over_the_folder() {
        let base = Some(Path::new("/home/a/.local/share"));
        let places = Places::at(Some("sqlite:///x/y.db"), base).unwrap().unwrap();
        assert_eq!(places.database, Path::new("/x/y.db"));
        assert_eq!(places.journals, Path::new("/x/y.journals"));
        let places = Places::at(None, base).unwrap().unwrap();
        assert_eq!(
            places.database,
            Path::new("/home/a/.local/share/cardmark/records.sqlite")
        );
    }

    #[test]
    fn other_databases_are_errors_and_no_home_is_no_place() {
        assert!(Places::at(Some("postgres://x"), None).is_err());
        assert_eq!(Places::at(None, None).unwrap(), None);
    }
}
