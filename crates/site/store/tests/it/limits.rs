//! Token buckets.

use cardmark_site_store::{Amended, Bucket, Limit, Put, SiteStore};
use uuid::Uuid;

use crate::samples::{DAY_MS, NOW_MS, amendment, incoming, token};
use crate::site::Site;

const HOUR_MS: i64 = 3_600_000;

fn bucket(key: u8, most: f64, per_hour: f64) -> Bucket {
    Bucket {
        key: [key; 16],
        most,
        per_hour,
    }
}

async fn put(store: &SiteStore, run: u128, at_ms: i64, limits: &[Bucket]) -> Put {
    let mut one = incoming(run, "Card A", 1, 1);
    one.received_ms = at_ms;
    one.limits = limits.to_vec();
    store.put(one).await.unwrap()
}

pub(crate) async fn a_bucket_empties_and_fills(site: Site) {
    let store = site.open().await;
    // PostgreSQL serves several instances, whose limits are the same.
    let other = if site.is_postgres {
        site.open().await
    } else {
        store.clone()
    };
    let limits = [bucket(1, 2.0, 2.0), bucket(2, 10.0, 1.0)];
    assert!(matches!(put(&store, 1, NOW_MS, &limits).await, Put::New(_)));
    assert!(matches!(put(&other, 2, NOW_MS, &limits).await, Put::New(_)));
    let limited = Put::Limited(Limit {
        retry_after_s: 1800,
    });
    assert_eq!(put(&store, 3, NOW_MS, &limits).await, limited);
    assert_eq!(put(&other, 3, NOW_MS, &limits).await, limited);
    // A clock that is behind does not fill it.
    assert_eq!(put(&other, 3, NOW_MS - HOUR_MS, &limits).await, limited);
    let later = NOW_MS + HOUR_MS / 2;
    assert!(matches!(put(&other, 3, later, &limits).await, Put::New(_)));
    assert!(matches!(
        put(&store, 4, later, &limits).await,
        Put::Limited(_)
    ));
    // Refusals took nothing from the second bucket: 10 − 3 + 0.5.
    for run in 5..12 {
        assert!(matches!(
            put(&store, run, later, &limits[1..]).await,
            Put::New(_)
        ));
    }
    assert!(matches!(
        put(&store, 12, later, &limits[1..]).await,
        Put::Limited(_)
    ));
}

pub(crate) async fn a_repeated_submission_costs_nothing(site: Site) {
    let store = site.open().await;
    let limits = [bucket(1, 1.0, 0.0)];
    assert!(matches!(put(&store, 1, NOW_MS, &limits).await, Put::New(_)));
    for _ in 0..3 {
        assert!(matches!(
            put(&store, 1, NOW_MS, &limits).await,
            Put::Same(_)
        ));
    }
    let limited = Put::Limited(Limit {
        retry_after_s: 86_400,
    });
    assert_eq!(put(&store, 2, NOW_MS, &limits).await, limited);
}

pub(crate) async fn amendments_take_from_the_same_buckets(site: Site) {
    let store = site.open().await;
    let limits = [bucket(1, 2.0, 0.0)];
    assert!(matches!(put(&store, 1, NOW_MS, &limits).await, Put::New(_)));
    let amend = async |token, revision| {
        let mut one = amendment(1, "Card B", revision);
        one.limits = limits.to_vec();
        store.amend(Uuid::from_u128(1), token, one).await.unwrap()
    };
    assert_eq!(amend(token(2), 1).await, Amended::Forbidden);
    // The second is a repetition.
    for _ in 0..2 {
        assert!(matches!(amend(token(1), 1).await, Amended::Now(_)));
    }
    let limited = Amended::Limited(Limit {
        retry_after_s: 86_400,
    });
    assert_eq!(amend(token(1), 2).await, limited);
    assert!(store.product("~card b", None, 200).await.unwrap().is_some());
}

pub(crate) async fn purging_keeps_what_is_in_use(site: Site) {
    let store = site.open().await;
    put(&store, 1, NOW_MS, &[bucket(1, 5.0, 1.0)]).await;
    put(&store, 2, NOW_MS + DAY_MS, &[bucket(2, 5.0, 1.0)]).await;
    store.issue_seed("used", NOW_MS).await.unwrap();
    store.issue_seed("unused", NOW_MS).await.unwrap();
    store
        .issue_seed("young", NOW_MS + 3 * DAY_MS)
        .await
        .unwrap();
    let mut user = incoming(3, "Card A", 1, 1);
    user.extract.seed = Some("used".to_owned());
    store.put(user).await.unwrap();
    assert_eq!(store.purge(NOW_MS + DAY_MS).await.unwrap(), 0);
    assert_eq!(store.purge(NOW_MS + DAY_MS + 1).await.unwrap(), 1);
    assert_eq!(store.purge(NOW_MS + 8 * DAY_MS).await.unwrap(), 2);
    assert!(!store.issue_seed("used", NOW_MS).await.unwrap());
    assert!(!store.issue_seed("young", NOW_MS).await.unwrap());
    assert!(store.issue_seed("unused", NOW_MS).await.unwrap());
}
