//! Single records.

use cardmark_share::{CheckName, CheckOutcome, Level};
use cardmark_site_store::{Amended, Found, Put, SiteStoreError, State, StoredDocument, Withdrawn};
use std::future::Future as _;

use sqlx::Row as _;
use uuid::Uuid;

use crate::samples::{amendment, by_itself, incoming, token};
use crate::site::Site;

pub(crate) async fn new_same_conflict_gone(site: Site) {
    let store = site.open().await;
    let one = incoming(1, "Card A", 1, 1);
    assert!(matches!(store.put(one.clone()).await, Ok(Put::New(_))));
    assert!(matches!(store.put(one.clone()).await, Ok(Put::Same(_))));
    let mut other = one.clone();
    other.record_digest = [3; 32];
    assert_eq!(store.put(other).await.unwrap(), Put::Conflict);
    let id = one.extract.id;
    let withdrawn = store.withdraw(id, token(2)).await.unwrap();
    assert_eq!(withdrawn, Withdrawn::Forbidden);
    for _ in 0..2 {
        assert_eq!(store.withdraw(id, token(1)).await.unwrap(), Withdrawn::Now);
    }
    assert_eq!(store.put(one).await.unwrap(), Put::Gone);
    assert!(matches!(store.find(id).await, Ok(Found::Withdrawn { .. })));
    let unknown = Uuid::from_u128(99);
    let withdrawn = store.withdraw(unknown, token(1)).await.unwrap();
    assert_eq!(withdrawn, Withdrawn::Unknown);
    assert_eq!(store.find(unknown).await.unwrap(), Found::Unknown);
    assert!(store.is_ready().await);
    let counts = store.counts().await.unwrap();
    assert_eq!(
        (counts.records, counts.quarantined, counts.withdrawn),
        (0, 0, 1)
    );
}

pub(crate) async fn a_record_is_found_as_it_was_put(site: Site) {
    let store = site.open().await;
    let one = incoming(1, "Card A", 1, 1);
    let Put::New(head) = store.put(one.clone()).await.unwrap() else {
        panic!("not new");
    };
    assert_eq!(head.state, State::Shared);
    assert_eq!(head.level, Level::Measured);
    assert_eq!(head.product.as_deref(), Some("~card a"));
    let names: Vec<CheckName> = head.checks.iter().map(|check| check.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert!(names.contains(&CheckName::ProductRange));
    let found = store.find(head.id).await.unwrap();
    assert_eq!(found, Found::Here(Box::new(head.clone())));
    let document = store.document(head.id).await.unwrap();
    let expected = StoredDocument {
        packed: one.packed,
        digest: one.digest,
    };
    assert_eq!(document, Some(expected));

    let mut bare = incoming(2, "", 1, 1);
    bare.tag = None;
    bare.token_hash = None;
    let extract = &mut bare.extract;
    extract.product_name = None;
    extract.board = None;
    extract.day = None;
    extract.size_bytes = None;
    extract.evidence = None;
    extract.figures.clear();
    let Put::New(bare) = store.put(bare).await.unwrap() else {
        panic!("not new");
    };
    let found = store.find(bare.id).await.unwrap();
    assert_eq!(found, Found::Here(Box::new(bare.clone())));
    assert_eq!((bare.tag, bare.board, bare.size_bytes), (None, None, None));
    let withdrawn = store.withdraw(bare.id, token(2)).await.unwrap();
    assert_eq!(withdrawn, Withdrawn::Forbidden);
}

pub(crate) async fn one_of_equal_copies_wins(site: Site) {
    let store = site.open().await;
    let copies = (1..=8).map(|run| {
        let mut copy = incoming(run, "Card A", 1, 1);
        copy.extract.evidence = Some("the same".to_owned());
        let store = store.clone();
        tokio::spawn(async move { store.put(copy).await.unwrap() })
    });
    let copies: Vec<_> = copies.collect();
    let mut shared = 0;
    for copy in copies {
        let Put::New(head) = copy.await.unwrap() else {
            panic!("not new");
        };
        shared += u32::from(head.state == State::Shared);
    }
    assert_eq!(shared, 1);
    let (product, _) = store.product("~card a", None, 200).await.unwrap().unwrap();
    assert_eq!(product.runs_count, 1);
    assert_eq!(store.counts().await.unwrap().quarantined, 7);
}

pub(crate) async fn statements_replace_earlier_ones(site: Site) {
    let store = site.open().await;
    store.put(incoming(1, "Card A", 1, 1)).await.unwrap();
    let id = Uuid::from_u128(1);
    let second = amendment(1, "Card B", 2);
    let amend = |token, amendment| store.amend(id, token, amendment);
    assert_eq!(
        amend(token(2), second.clone()).await.unwrap(),
        Amended::Forbidden
    );
    for _ in 0..2 {
        let Amended::Now(head) = amend(token(1), second.clone()).await.unwrap() else {
            panic!("not amended");
        };
        assert_eq!(
            (head.revision, head.product.as_deref()),
            (2, Some("~card b"))
        );
        assert_eq!(head.checks.len(), 5);
    }
    let first = amendment(1, "Card C", 1);
    assert_eq!(amend(token(1), first).await.unwrap(), Amended::Older(2));
    let other = amendment(1, "Card C", 2);
    let other = cardmark_site_store::Amendment {
        digest: [1; 32],
        ..other
    };
    assert_eq!(amend(token(1), other).await.unwrap(), Amended::Older(2));
    assert_eq!(store.product("~card a", None, 200).await.unwrap(), None);
    let (product, summaries) = store.product("~card b", None, 200).await.unwrap().unwrap();
    assert_eq!((product.runs_count, product.cards_count), (1, 1));
    assert_eq!(summaries.len(), 2);
    let document = store.document(id).await.unwrap().unwrap();
    assert_eq!(document.digest, second.digest);
    let unknown = store
        .amend(Uuid::from_u128(5), token(5), amendment(5, "Card", 1))
        .await;
    assert_eq!(unknown.unwrap(), Amended::Unknown);
    store.withdraw(id, token(1)).await.unwrap();
    let gone = store.amend(id, token(1), amendment(1, "Card D", 3)).await;
    assert_eq!(gone.unwrap(), Amended::Gone);
}

pub(crate) async fn a_withdrawn_record_leaves_its_id(site: Site) {
    let store = site.open().await;
    let mut secret = incoming(0xabcd, "Secret Product", 0x5e, 0x5c);
    secret.digest = [0xdd; 32];
    secret.record_digest = [0xdd; 32];
    secret.extract.seed = Some("00000000feedface".to_owned());
    secret.extract.board = Some("Secret Board".to_owned());
    secret.extract.model = Some("Secret Model".to_owned());
    secret.extract.context = [("board".to_owned(), "Secret Board".to_owned())].into();
    let id = secret.extract.id;
    let first = store.summaries_dump().await.unwrap();
    store.put(secret).await.unwrap();
    let before = dump(&site).await;
    for word in ["secret", "5e5e5e5e", "dddddddd", "feedface", "evidence"] {
        assert!(before.contains(word), "{word} in {before}");
    }
    store
        .amend(id, token(0xabcd), amendment(0xabcd, "Secret Two", 1))
        .await
        .unwrap();
    store.withdraw(id, token(0xabcd)).await.unwrap();
    let after = dump(&site).await;
    for word in [
        "secret", "5e5e5e5e", "dddddddd", "feedface", "evidence", "07070707", "seq_read",
    ] {
        assert!(!after.contains(word), "{word} in {after}");
    }
    assert!(after.contains("abcd"), "{after}");
    let now = store.summaries_dump().await.unwrap();
    let without = |dump: Vec<String>| -> Vec<String> {
        dump.into_iter()
            .filter(|line| !line.starts_with("totals"))
            .collect()
    };
    assert_eq!(without(now), without(first));
}

/// All rows of all tables as one text in small letters; bytes are hexadecimal.
async fn dump(site: &Site) -> String {
    let mut connection = site.connect().await;
    let tables = match site.is_postgres {
        true => {
            "select table_name::text from information_schema.tables where table_schema = 'public' \
             and table_name not like '\\_sqlx%'"
        }
        false => {
            "select name from sqlite_master where type = 'table' and name not like '\\_sqlx%' escape '\\'"
        }
    };
    let tables = sqlx::query(tables)
        .fetch_all(&mut connection)
        .await
        .unwrap();
    let mut text = String::new();
    for table in tables {
        let table: String = table.get(0);
        let select = format!("select * from {table}");
        let rows = sqlx::query(sqlx::AssertSqlSafe(select))
            .fetch_all(&mut connection)
            .await;
        for row in rows.unwrap() {
            for column in 0..row.columns().len() {
                text += &value(&row, column);
                text.push(' ');
            }
            text.push('\n');
        }
    }
    text.to_lowercase()
}

fn value(row: &sqlx::any::AnyRow, column: usize) -> String {
    if let Ok(text) = row.try_get::<Option<String>, _>(column) {
        return text.unwrap_or_default();
    }
    if let Ok(bytes) = row.try_get::<Vec<u8>, _>(column) {
        return cardmark_share::to_hexadecimal(&bytes);
    }
    row.try_get::<i64, _>(column).map_or_else(
        |_| row.get::<f64, _>(column).to_string(),
        |number| number.to_string(),
    )
}

pub(crate) async fn strange_texts_are_kept_harmless(site: Site) {
    let store = site.open().await;
    let mut strange = incoming(1, "a\0b'; drop table records; -- \u{202e}", 1, 1);
    strange.extract.suite = Some("s".repeat(100_000));
    let twice = strange.extract.figures[0].clone();
    strange.extract.figures.push(twice);
    strange.extract.figures[1].value = f64::INFINITY;
    strange.checks = by_itself(CheckOutcome::Marked);
    strange.checks[0].reason = "nul \0".to_owned();
    let Put::New(head) = store.put(strange).await.unwrap() else {
        panic!("not new");
    };
    let key = head.product.unwrap();
    assert!(store.product(&key, None, 200).await.unwrap().is_some());
    assert_eq!(store.product("\0", None, 200).await.unwrap(), None);
    assert_eq!(store.products("\0", Some("\0"), 5).await.unwrap().len(), 1);
}

pub(crate) async fn a_full_queue_refuses(site: Site) {
    let store = site.open().await;
    // The queue holds a few hundred, and nothing runs between these calls but the writers.
    let all = (1..=4000).map(|run| store.put(incoming(run, "Card A", 1, 1)));
    let all: Vec<_> = all.collect();
    let mut pending: Vec<_> = all.into_iter().map(Box::pin).collect();
    let mut busy = 0;
    let polled = std::future::poll_fn(|context| {
        for one in &mut pending {
            if let std::task::Poll::Ready(Err(SiteStoreError::Busy)) = one.as_mut().poll(context) {
                busy += 1;
                break;
            }
        }
        std::task::Poll::Ready(())
    });
    polled.await;
    assert!(busy > 0);
}
