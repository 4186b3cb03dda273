//! Seeds that the site issued.

use cardmark_share::{Check, CheckName, CheckOutcome, Level, SEED_DAYS};
use cardmark_site_store::{Put, SiteStore};
use uuid::Uuid;

use crate::samples::{DAY_MS, NOW_MS, incoming, token};
use crate::site::Site;

async fn put(
    store: &SiteStore,
    run: u128,
    seed: &str,
    at_ms: i64,
) -> (CheckOutcome, Level, String) {
    let mut one = incoming(run, "Card A", 1, 1);
    one.received_ms = at_ms;
    one.extract.seed = Some(seed.to_owned());
    one.checks.push(Check {
        name: CheckName::Seed,
        outcome: CheckOutcome::Passed,
        reason: String::new(),
    });
    let Put::New(head) = store.put(one).await.unwrap() else {
        panic!("not new");
    };
    let check = head
        .checks
        .into_iter()
        .find(|check| check.name == CheckName::FreshSeed);
    let check = check.unwrap();
    (check.outcome, head.level, check.reason)
}

pub(crate) async fn seeds_fresh_used_expired_foreign(site: Site) {
    let store = site.open().await;
    assert!(store.issue_seed("one", NOW_MS).await.unwrap());
    assert!(!store.issue_seed("one", NOW_MS + DAY_MS).await.unwrap());
    let last = NOW_MS + SEED_DAYS * DAY_MS;
    let (outcome, level, reason) = put(&store, 1, "one", last + 1).await;
    assert_eq!(
        (outcome, level),
        (CheckOutcome::CannotTell, Level::Measured)
    );
    assert!(reason.contains("too long ago"), "{reason}");
    let (outcome, level, _) = put(&store, 2, "one", last).await;
    assert_eq!(
        (outcome, level),
        (CheckOutcome::Passed, Level::MeasuredWithFreshSeed)
    );
    let (outcome, level, _) = put(&store, 3, "one", last).await;
    assert_eq!((outcome, level), (CheckOutcome::Marked, Level::Measured));
    store.withdraw(Uuid::from_u128(2), token(2)).await.unwrap();
    let (outcome, ..) = put(&store, 4, "one", last).await;
    assert_eq!(outcome, CheckOutcome::Passed);
    let (outcome, _, reason) = put(&store, 5, "other", last).await;
    assert_eq!(outcome, CheckOutcome::CannotTell);
    assert!(reason.contains("not from this site"), "{reason}");
}
