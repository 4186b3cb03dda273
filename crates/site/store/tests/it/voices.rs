//! Counted runs, and the weights of their submitters.

use cardmark_share::{Check, CheckName, CheckOutcome, Summary};
use cardmark_site_store::{Amended, Bucket, Head, Incoming, Put, SiteStore, State};
use uuid::Uuid;

use crate::samples::{DAY_MS, METRICS, NOW_MS, amendment, incoming, token};
use crate::site::Site;

const PRODUCT: &str = "~card a";

async fn put(store: &SiteStore, one: Incoming) -> Head {
    match store.put(one).await.unwrap() {
        Put::New(head) => head,
        other => panic!("{other:?}"),
    }
}

async fn summary(store: &SiteStore, metric: &str) -> Option<Summary> {
    let (_, rows) = store.product(PRODUCT, None, 200).await.unwrap()?;
    let row = rows.into_iter().find(|row| row.metric == metric)?;
    Some(row.submitters)
}

/// A run of a submitter, some days before now.
fn run(number: u128, submitter: u8, days_before: i64) -> Incoming {
    let mut one = incoming(number, "Card A", submitter, 1);
    one.received_ms = NOW_MS - days_before * DAY_MS;
    one
}

pub(crate) async fn a_flood_of_new_submitters_moves_no_median_out_of_the_middle(site: Site) {
    let store = site.open().await;
    for submitter in 1..=8_u8 {
        put(&store, run(submitter.into(), submitter, 60)).await;
    }
    assert_eq!(store.reweigh(NOW_MS).await.unwrap(), 8);
    let before = summary(&store, METRICS[1]).await.unwrap();
    assert_eq!((before.older().count, before.count()), (8, 8));
    for submitter in 9..=200_u8 {
        let mut forged = run(submitter.into(), submitter, 0);
        forged.extract.figures[1].value *= 100.0;
        put(&store, forged).await;
    }
    let after = summary(&store, METRICS[1]).await.unwrap();
    assert_eq!(after.count(), 200);
    let (median, _) = after.median().unwrap();
    let most = before.quantile(0.9).unwrap();
    assert!(median <= most, "{median} {most}");
    let dump = store.summaries_dump().await.unwrap();
    store.rebuild_summaries().await.unwrap();
    assert_eq!(store.summaries_dump().await.unwrap(), dump);
}

pub(crate) async fn few_new_submitters_of_a_network_count_each_day(site: Site) {
    let store = site.open().await;
    let from = |number: u128, submitter: u8, at_ms: i64, network: u8| {
        let mut one = incoming(number, "Card A", submitter, 1);
        one.received_ms = at_ms;
        one.newcomers = Some(Bucket {
            key: [network; 16],
            most: 3.0,
            per_hour: 3.0 / 24.0,
        });
        one
    };
    let outcome = |head: &Head| {
        let found = head
            .checks
            .iter()
            .find(|check| check.name == CheckName::NewSubmitters);
        found.unwrap().outcome
    };
    let mut counted = 0;
    for submitter in 1..=10_u8 {
        let head = put(&store, from(submitter.into(), submitter, NOW_MS, 1)).await;
        assert_eq!(head.state, State::Shared);
        counted += u32::from(outcome(&head) == CheckOutcome::Passed);
    }
    assert_eq!(counted, 3);
    assert_eq!(summary(&store, METRICS[0]).await.unwrap().count(), 3);
    // Another network, a submitter that counts already, and the next day.
    for (number, submitter, at_ms, network, expected) in [
        (11, 11, NOW_MS, 2, CheckOutcome::Passed),
        (12, 1, NOW_MS, 1, CheckOutcome::Passed),
        (13, 10, NOW_MS + 1, 1, CheckOutcome::NotCounted),
        (14, 10, NOW_MS + DAY_MS, 1, CheckOutcome::Passed),
    ] {
        let head = put(&store, from(number, submitter, at_ms, network)).await;
        assert_eq!(outcome(&head), expected, "{number}");
    }
    assert_eq!(summary(&store, METRICS[0]).await.unwrap().count(), 5);
    // A run without a product takes no place; a statement that names one later does.
    let mut unnamed = from(20, 20, NOW_MS + DAY_MS, 3);
    unnamed.extract.product_name = None;
    put(&store, unnamed).await;
    let mut none_left = amendment(20, "Card A", 1);
    none_left.newcomers = Some(Bucket {
        key: [3; 16],
        most: 0.0,
        per_hour: 0.1,
    });
    let id = Uuid::from_u128(20);
    let Amended::Now(head) = store.amend(id, token(20), none_left).await.unwrap() else {
        panic!("not amended");
    };
    assert_eq!(outcome(&head), CheckOutcome::NotCounted);
    assert_eq!(summary(&store, METRICS[0]).await.unwrap().count(), 5);
}

pub(crate) async fn what_does_not_count_is_shared(site: Site) {
    let store = site.open().await;
    let kept_back = |number: u128, name| {
        let mut one = run(number, 1, 0);
        one.checks.push(Check {
            name,
            outcome: CheckOutcome::NotCounted,
            reason: "made on a virtual disk".to_owned(),
        });
        one
    };
    let head = put(&store, kept_back(1, CheckName::Circumstances)).await;
    assert_eq!(
        (head.state, head.product.as_deref()),
        (State::Shared, Some(PRODUCT))
    );
    let (product, rows) = store.product(PRODUCT, None, 200).await.unwrap().unwrap();
    assert_eq!(
        (product.runs_count, product.cards_count, rows.len()),
        (0, 0, 0)
    );
    // Of another product: not even listed there.
    put(&store, kept_back(2, CheckName::ProductFits)).await;
    store.withdraw(Uuid::from_u128(1), token(1)).await.unwrap();
    assert_eq!(store.product(PRODUCT, None, 200).await.unwrap(), None);
    // A single figure that is too uneven.
    let mut uneven = run(3, 1, 0);
    uneven.extract.figures[0].is_uneven = true;
    put(&store, uneven).await;
    assert!(summary(&store, METRICS[0]).await.is_none());
    assert_eq!(summary(&store, METRICS[1]).await.unwrap().count(), 1);
    assert_eq!(store.counts().await.unwrap().records, 2);
}

pub(crate) async fn a_submitter_leaves_nothing(site: Site) {
    let store = site.open().await;
    let first = store.summaries_dump().await.unwrap();
    for number in 1..=3 {
        put(&store, run(number, 1, 60)).await;
    }
    store.reweigh(NOW_MS).await.unwrap();
    for number in 1..=3 {
        store
            .withdraw(Uuid::from_u128(number), token(number))
            .await
            .unwrap();
        store.reweigh(NOW_MS).await.unwrap();
    }
    let mut last = store.summaries_dump().await.unwrap();
    last.retain(|line| !line.starts_with("totals"));
    assert_eq!(last, first);
}

pub(crate) async fn weights_follow_age_and_activity(site: Site) {
    let store = site.open().await;
    put(&store, run(1, 1, 0)).await;
    let weight = async |store: &SiteStore, days: i64| {
        store.reweigh(NOW_MS + days * DAY_MS).await.unwrap();
        let summary = summary(store, METRICS[0]).await.unwrap();
        let older: u64 = summary.older().weights.values().sum();
        (summary.count(), older)
    };
    assert_eq!(weight(&store, 6).await, (1, 0));
    assert_eq!(weight(&store, 8).await, (1, 2));
    assert_eq!(weight(&store, 31).await, (1, 3));
    // Another product on another day; the first product's figure weighs more too.
    let mut other = incoming(2, "Card B", 1, 2);
    other.received_ms = NOW_MS + 32 * DAY_MS;
    put(&store, other).await;
    assert_eq!(weight(&store, 32).await, (1, 4));
    store.withdraw(Uuid::from_u128(2), token(2)).await.unwrap();
    assert_eq!(weight(&store, 33).await, (1, 3));
}
