//! Behaviour of SQLite alone.

use cardmark_site_store::{Amended, Put, SiteStore, SiteStoreError, Withdrawn};
use uuid::Uuid;

use crate::samples::{amendment, incoming, token};
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

/// The only writer executes all that wait in one transaction: changes of new records find their rows.
#[tokio::test]
async fn writes_of_a_transaction_see_those_before() {
    with_sqlite(async |site| {
        let store = site.open().await;
        let (first, second) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let (new, other, amended, withdrawn, last) = tokio::join!(
            store.put(incoming(1, "Card A", 1, 1)),
            store.put(incoming(2, "Card A", 2, 1)),
            store.amend(first, token(1), amendment(1, "Card B", 2)),
            store.withdraw(second, token(2)),
            store.put(incoming(3, "Card A", 3, 1)),
        );
        for put in [new, other, last] {
            assert!(matches!(put, Ok(Put::New(_))), "{put:?}");
        }
        assert!(matches!(amended, Ok(Amended::Now(_))), "{amended:?}");
        assert_eq!(withdrawn.unwrap(), Withdrawn::Now);
        let document = store.document(first).await.unwrap().unwrap();
        assert_eq!(document.digest, amendment(1, "Card B", 2).digest);
        assert_eq!(store.document(second).await.unwrap(), None);
        for (product, runs) in [("~card a", 3), ("~card b", 1)] {
            let search = cardmark_site_store::Search {
                product: Some(product.to_owned()),
                limit: 10,
                ..Default::default()
            };
            let found = store.search(&search).await.unwrap().heads;
            let found: Vec<u128> = found.iter().map(|head| head.id.as_u128()).collect();
            assert_eq!(found, [runs], "{product}");
            let (row, _) = store.product(product, None, 200).await.unwrap().unwrap();
            assert_eq!((row.runs_count, row.cards_count), (1, 1), "{product}");
        }
        assert_eq!(
            store.boards(None, 9).await.unwrap(),
            [("Board 5".to_owned(), 2)]
        );
    })
    .await;
}

#[tokio::test]
async fn withdrawn_bytes_are_not_in_the_file() {
    with_sqlite(async |site| {
        let store = site.open().await;
        let mut secret = incoming(1, "Card A", 1, 1);
        secret.packed = b"many secret bytes ".repeat(10_000);
        store.put(secret).await.unwrap();
        store.put(incoming(2, "Card A", 2, 1)).await.unwrap();
        store.close().await;
        let path = site.address.trim_start_matches("sqlite:");
        let holds = |bytes: &[u8]| {
            let file = std::fs::read(path).unwrap();
            file.windows(bytes.len()).any(|some| some == bytes)
        };
        assert!(holds(b"secret") && holds(b"packed 2"));
        let store = site.open().await;
        let withdrawn = store.withdraw(Uuid::from_u128(1), token(1)).await;
        assert_eq!(withdrawn.unwrap(), Withdrawn::Now);
        store.close().await;
        assert!(!holds(b"secret") && holds(b"packed 2"));
    })
    .await;
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
        is_send(store.product("", None, 200));
        is_send(store.boards(None, 1));
        is_send(store.ranking("", 0, None, 1));
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
