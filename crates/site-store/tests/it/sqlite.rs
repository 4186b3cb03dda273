//! Behaviour of SQLite alone.

use cardmark_site_store::{Put, SiteStore, SiteStoreError};

use crate::samples::incoming;
use crate::site::with_sqlite;

#[tokio::test]
async fn a_second_store_on_the_file_is_refused() {
    with_sqlite(async |site| {
        let store = site.open().await;
        let second = SiteStore::open(&site.address).await;
        assert!(
            matches!(second, Err(SiteStoreError::InUse(_))),
            "{second:?}"
        );
        let path = site.address.trim_start_matches("sqlite:");
        let locked = std::process::Command::new("flock")
            .args(["--nonblock", &format!("{path}.lock"), "true"])
            .status();
        assert!(!locked.unwrap().success());
        store.put(incoming(1, "Card A", 1, 1)).await.unwrap();
        store.close().await;
        let again = site.open().await;
        assert!(matches!(
            again.put(incoming(1, "Card A", 1, 1)).await,
            Ok(Put::Same(_))
        ));
    })
    .await;
}

#[tokio::test]
async fn addresses_of_other_kinds_are_refused() {
    for address in [
        "",
        "mysql://a/b",
        "sqlite:",
        "sqlite::memory:",
        "/tmp/file.sqlite",
    ] {
        let store = SiteStore::open(address).await;
        assert!(
            matches!(store, Err(SiteStoreError::Address(_))),
            "{address}"
        );
    }
}

/// A server that spawns tasks can call everything.
#[test]
fn calls_can_move_between_threads() {
    fn is_send<T: Send>(_: T) {}
    fn all(store: &SiteStore) {
        is_send(store.find(uuid::Uuid::nil()));
        is_send(store.document(uuid::Uuid::nil()));
        is_send(store.search(&cardmark_site_store::Search::default()));
        is_send(store.products("", None, 1));
        is_send(store.product(""));
        is_send(store.boards(None, 1));
        is_send(store.ranking("", 0, 1));
        is_send(store.contexts("", None, 1));
        is_send(store.changes(0, 1));
        is_send(store.purge(0));
        is_send(store.counts());
        is_send(store.is_ready());
        is_send(store.issue_seed("", 0));
        is_send(store.withdraw(uuid::Uuid::nil(), [0; 32]));
        is_send(store.rebuild(|_, _, _, _| None));
        is_send(store.summaries_dump());
        is_send(store.close());
        is_send(SiteStore::open_with_replica("", None));
    }
    let _ = all;
}
