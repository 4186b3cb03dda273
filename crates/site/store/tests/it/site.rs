//! Databases for tests: a file, and a database of a PostgreSQL server.

use std::future::Future;

use cardmark_site_store::SiteStore;
use sqlx::{AnyConnection, Connection as _, Executor as _};
use tempfile::TempDir;
use uuid::Uuid;

const SERVER: &str = "CARDMARK_TEST_POSTGRES";

/// An empty database.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) address: String,
    pub(crate) is_postgres: bool,
}

impl Site {
    pub(crate) async fn open(&self) -> SiteStore {
        SiteStore::open(&self.address).await.unwrap()
    }

    /// A connection beside the store.
    pub(crate) async fn connect(&self) -> AnyConnection {
        sqlx::any::install_default_drivers();
        AnyConnection::connect(&self.address).await.unwrap()
    }
}

impl Site {
    /// Another empty database of the same server.
    pub(crate) async fn sibling(&self) -> Self {
        create(&server().unwrap()).await
    }

    /// Deletes a database of a server.
    pub(crate) async fn remove(self) {
        let mut connection = AnyConnection::connect(&server().unwrap()).await.unwrap();
        let name = self
            .address
            .split(['/', '?'])
            .find(|part| part.starts_with("cardmark_"));
        let drop = format!("drop database {} with (force)", name.unwrap());
        connection.execute(sqlx::AssertSqlSafe(drop)).await.unwrap();
    }
}

/// The server: its address ends with `/postgres`, or has parameters behind that.
fn server() -> Option<String> {
    let server = std::env::var(SERVER).ok()?;
    Some(match server.contains('?') {
        true => server,
        false => server + "?",
    })
}

/// Runs a test with a database in a file.
pub(crate) async fn with_sqlite<F: Future<Output = ()>>(test: impl FnOnce(Site) -> F) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("folder/site.sqlite");
    test(Site {
        address: format!("sqlite:{}", path.display()),
        is_postgres: false,
    })
    .await;
}

/// Runs a test with a new database of the server, if there is one.
pub(crate) async fn with_postgres<F>(test: impl FnOnce(Site) -> F)
where
    F: Future<Output = ()> + 'static,
{
    let Some(server) = server() else {
        assert_ne!(
            std::env::var("CARDMARK_REQUIRE").as_deref(),
            Ok("all"),
            "{SERVER} is not set: run scripts/postgres cargo test …"
        );
        println!("skipped: {SERVER} is not set");
        return;
    };
    let site = create(&server).await;
    let tasks = tokio::task::LocalSet::new();
    let result = tasks.spawn_local(test(site.clone()));
    let result = tasks.run_until(result).await;
    site.remove().await;
    if let Err(error) = result {
        std::panic::resume_unwind(error.into_panic());
    }
}

async fn create(server: &str) -> Site {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(server).await.unwrap();
    let name = format!("cardmark_{}", Uuid::new_v4().simple());
    let create = format!("create database {name}");
    connection
        .execute(sqlx::AssertSqlSafe(create))
        .await
        .unwrap();
    let (before, after) = server.split_once("/postgres?").unwrap();
    Site {
        address: format!("{before}/{name}?{after}"),
        is_postgres: true,
    }
}
