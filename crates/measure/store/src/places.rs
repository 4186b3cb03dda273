//! Places of the store and the journals.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

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
        let base = base.map(|base| {
            let user = variable("SUDO_UID").and_then(|id| id.to_str()?.parse().ok());
            match user.is_some_and(|user| geteuid().is_root() && is_in_home_of(user, &base)) {
                true => home_of_root().join(".local/share"),
                false => base,
            }
        });
        Self::at(url.as_deref(), base.as_deref())
    }

    /// Returns whether the database belongs to the user with that id.
    pub fn is_of(&self, user: u32) -> bool {
        std::fs::metadata(&self.database).is_ok_and(|found| found.uid() == user)
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

/// Returns whether a folder lies in a folder of that ordinary user, which root would make its own: `sudo` may keep the
/// variable HOME of the user.
fn is_in_home_of(user: u32, folder: &Path) -> bool {
    let mut existing = folder.ancestors().filter_map(|path| path.metadata().ok());
    user != 0 && existing.next().is_some_and(|found| found.uid() == user)
}

fn home_of_root() -> PathBuf {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    home_in(&users).unwrap_or_else(|| PathBuf::from("/root"))
}

/// Returns the home of root in a list of users.
fn home_in(users: &str) -> Option<PathBuf> {
    let mut fields = users
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>());
    let home = fields.find_map(|fields| match fields.as_slice() {
        [_, _, "0", _, _, home, ..] => Some(PathBuf::from(home)),
        _ => None,
    });
    home.filter(|home| home.is_absolute())
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

    #[test]
    fn root_makes_nothing_its_own_in_the_home_of_a_user() {
        let home = tempfile::tempdir().unwrap();
        let owner = home.path().metadata().unwrap().uid();
        let folder = home.path().join(".local/share");
        // Whoever runs this test owns it; root's own home is no other user's.
        assert_eq!(is_in_home_of(owner, &folder), owner != 0);
        assert!(!is_in_home_of(owner + 1, &folder));
        if owner == 0 {
            std::os::unix::fs::chown(home.path(), Some(1234), None).unwrap();
            assert!(is_in_home_of(1234, &folder));
        }
        let users = "daemon:x:1:1::/usr/sbin:/x\nroot:x:0:0:root:/var/roothome:/bin/sh\n";
        assert_eq!(home_in(users), Some(PathBuf::from("/var/roothome")));
        assert_eq!(home_in("root:x:0:0\n"), None);
    }
}
