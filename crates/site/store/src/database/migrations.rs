//! Migrations of both databases. A new one is a file in each folder of `migrations` and an entry in each list.

use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// Number, name and text of a migration: those of its file.
type Entry = (i64, &'static str, &'static str);

const SQLITE: [Entry; 1] = [(
    1,
    "begin",
    include_str!("../../migrations/sqlite/0001_begin.sql"),
)];
const POSTGRES: [Entry; 1] = [(
    1,
    "begin",
    include_str!("../../migrations/postgres/0001_begin.sql"),
)];

pub(crate) fn of_sqlite() -> Migrator {
    migrator(&SQLITE)
}

pub(crate) fn of_postgres() -> Migrator {
    migrator(&POSTGRES)
}

fn migrator(entries: &[Entry]) -> Migrator {
    let migration = |&(number, name, text): &Entry| {
        let text = text.into_sql_str();
        Migration::new(number, name.into(), MigrationType::Simple, text, false)
    };
    Migrator::with_migrations(entries.iter().map(migration).collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[tokio::test]
    async fn all_files_are_listed() {
        for (kind, listed) in [("sqlite", of_sqlite()), ("postgres", of_postgres())] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
            let of_files = Migrator::new(folder.join(kind).as_path()).await.unwrap();
            let facts = |migrator: &Migrator| -> Vec<_> {
                let facts = migrator.iter().map(|migration| {
                    let name = migration.description.to_string();
                    (migration.version, name, migration.checksum.to_vec())
                });
                facts.collect()
            };
            assert_eq!(facts(&listed), facts(&of_files), "{kind}");
        }
    }
}
