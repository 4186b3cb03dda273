//! Behaviour of PostgreSQL alone.

use cardmark_site_store::{Put, SiteStore};
use sqlx::Row as _;

use crate::samples::incoming;
use crate::site::{Site, with_postgres};

/// Tables with the id of the record.
const PARTITIONED: [&str; 7] = [
    "answers",
    "bodies",
    "changes",
    "facets",
    "figures",
    "records",
    "tombstones",
];

#[tokio::test]
async fn tables_of_records_can_be_distributed() {
    with_postgres(async |site: Site| {
        site.open().await.close().await;
        let mut connection = site.connect().await;
        let partitioned = "select c.relname::text, pg_get_partkeydef(c.oid), \
            (select count(*) from pg_inherits i where i.inhparent = c.oid) \
            from pg_class c where c.relkind = 'p' order by 1";
        let rows = sqlx::query(partitioned)
            .fetch_all(&mut connection)
            .await
            .unwrap();
        let found: Vec<(String, String, i64)> = rows
            .iter()
            .map(|row| (row.get(0), row.get(1), row.get(2)))
            .collect();
        let expected = PARTITIONED.map(|name| (name.to_owned(), "HASH (id)".to_owned(), 8));
        assert_eq!(found, expected);
        let with_id = "select count(*) from pg_attribute a join pg_class c on c.oid = a.attrelid \
            where a.attname = 'id' and c.relkind = 'r' and not c.relispartition \
            and c.relnamespace = 'public'::regnamespace";
        let rows = sqlx::query(with_id)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(
            rows.get::<i64, _>(0),
            0,
            "a table with a record id is not partitioned"
        );
        let without = "select i.indexrelid::regclass::text from pg_index i \
            join pg_class c on c.oid = i.indrelid where i.indisunique \
            and (c.relkind = 'p' or c.relispartition) and not exists (\
            select 1 from pg_attribute a where a.attrelid = i.indrelid and a.attname = 'id' \
            and a.attnum = any (i.indkey))";
        let rows = sqlx::query(without)
            .fetch_all(&mut connection)
            .await
            .unwrap();
        assert!(rows.is_empty(), "a unique key lacks the record id");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_start_at_once() {
    with_postgres(async |site: Site| {
        let openings = (0..6).map(|_| SiteStore::open(&site.address));
        let mut openings: Vec<_> = openings.map(Box::pin).collect();
        let mut stores = Vec::new();
        std::future::poll_fn(|context| {
            openings.retain_mut(|opening| match opening.as_mut().poll(context) {
                std::task::Poll::Ready(store) => {
                    stores.push(store.unwrap());
                    false
                }
                std::task::Poll::Pending => true,
            });
            match openings.is_empty() {
                true => std::task::Poll::Ready(()),
                false => std::task::Poll::Pending,
            }
        })
        .await;
        assert_eq!(stores.len(), 6);
        let one = incoming(1, "Card A", 1, 1);
        assert!(matches!(stores[0].put(one.clone()).await, Ok(Put::New(_))));
        for store in &stores {
            assert!(matches!(store.put(one.clone()).await, Ok(Put::Same(_))));
        }
    })
    .await;
}

#[tokio::test]
async fn lists_are_read_from_the_replica() {
    with_postgres(async |site: Site| {
        // An empty database stands for a replica that is far behind.
        let replica = site.sibling().await;
        SiteStore::open(&replica.address)
            .await
            .unwrap()
            .close()
            .await;
        let store = SiteStore::open_with_replica(&site.address, Some(&replica.address)).await;
        let store = store.unwrap();
        let one = incoming(1, "Card A", 1, 1);
        store.put(one.clone()).await.unwrap();
        assert!(matches!(
            store.find(one.extract.id).await.unwrap(),
            cardmark_site_store::Found::Here(_)
        ));
        assert!(store.changes(0, 5).await.unwrap().is_empty());
        assert!(store.products("", None, 5).await.unwrap().is_empty());
        assert!(
            SiteStore::open_with_replica(&site.address, Some("sqlite:x"))
                .await
                .is_err()
        );
        store.close().await;
        replica.remove().await;
    })
    .await;
}
