//! Instances of two versions on one database.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cardmark_site_store::{Found, Put, SiteStore, SiteStoreError};
use sqlx::migrate::Migrator;
use sqlx::{AnyConnection, Row as _};
use tempfile::TempDir;
use tokio::sync::watch;
use uuid::Uuid;

use crate::samples::incoming;
use crate::site::Site;

/// Puts records, one after the other, until its end.
struct Traffic {
    /// Records that were acknowledged.
    count: watch::Receiver<u128>,
    end: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<()>,
}

impl Traffic {
    fn begin(store: SiteStore) -> Self {
        let end = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&end);
        let (counted, count) = watch::channel(0);
        let task = tokio::spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                let run = *counted.borrow() + 1;
                let put = store.put(incoming(run, "Card A", 1, 1)).await;
                assert!(matches!(put, Ok(Put::New(_))), "{put:?}");
                counted.send_replace(run);
            }
        });
        Self { count, end, task }
    }

    /// Waits until three more records were acknowledged.
    async fn goes_on(&mut self) {
        let before = *self.count.borrow();
        let more = self.count.wait_for(|count| *count >= before + 3).await;
        more.unwrap();
    }

    async fn end(self) -> u128 {
        self.end.store(true, Ordering::Relaxed);
        self.task.await.unwrap();
        *self.count.borrow()
    }
}

async fn tables(site: &Site, connection: &mut AnyConnection) -> Vec<String> {
    let text = match site.is_postgres {
        true => {
            "select c.relname::text from pg_class c where c.relkind in ('r', 'p') and not c.relispartition \
             and c.relnamespace = 'public'::regnamespace"
        }
        false => "select name from sqlite_schema where type = 'table' and name not like 'sqlite%'",
    };
    let rows = sqlx::query(text).fetch_all(connection).await.unwrap();
    let names = rows.iter().map(|row| row.get::<String, _>(0));
    names.filter(|name| !name.starts_with('_')).collect()
}

/// The migrations of this version, and those of the next: a column more in each table.
fn next_version(site: &Site, tables: &[String]) -> TempDir {
    let kind = if site.is_postgres {
        "postgres"
    } else {
        "sqlite"
    };
    let folder = TempDir::new().unwrap();
    let present = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("migrations")
        .join(kind);
    for file in std::fs::read_dir(present).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    for (index, table) in tables.iter().enumerate() {
        let add = format!(
            "alter table {table} add column of_the_next text;\n\
             create table beside_{table} (id integer not null);\n"
        );
        let name = format!("{}_{table}.sql", 9000 + index);
        std::fs::write(folder.path().join(name), add).unwrap();
    }
    folder
}

async fn migrate(folder: &Path, connection: &mut AnyConnection) {
    let migrator = Migrator::new(folder).await.unwrap();
    migrator.run(connection).await.unwrap();
}

pub(crate) async fn the_next_version_changes_tables_under_traffic(site: Site) {
    let store = site.open().await;
    let mut traffic = Traffic::begin(store.clone());
    traffic.goes_on().await;
    let mut connection = site.connect().await;
    let tables = tables(&site, &mut connection).await;
    assert!(tables.len() > 8, "{tables:?}");
    let next = next_version(&site, &tables);
    migrate(next.path(), &mut connection).await;
    traffic.goes_on().await;
    // The instance of this version goes on; another one, rolled back, starts.
    let other = match site.is_postgres {
        true => Some(site.open().await),
        false => None,
    };
    store.put(incoming(1 << 40, "Card A", 2, 1)).await.unwrap();
    let count = traffic.end().await;
    let last = match other {
        Some(other) => other,
        None => {
            store.close().await;
            site.open().await
        }
    };
    last.put(incoming(1 << 41, "Card A", 2, 1)).await.unwrap();
    for run in (1..=count).chain([1 << 40, 1 << 41]) {
        let found = last.find(Uuid::from_u128(run)).await.unwrap();
        assert!(matches!(found, Found::Here(_)), "{run}");
    }
    let (product, _) = last.product("~card a", None, 200).await.unwrap().unwrap();
    assert_eq!(u128::from(product.runs_count), count + 2);
    last.close().await;

    // A change after which this version would read or write wrongly.
    let text = "update compatibility set oldest_migration = 9900;";
    std::fs::write(next.path().join("9900_remove.sql"), text).unwrap();
    migrate(next.path(), &mut connection).await;
    let opened = SiteStore::open(&site.address).await;
    assert!(matches!(opened, Err(SiteStoreError::Newer)), "{opened:?}");
}
