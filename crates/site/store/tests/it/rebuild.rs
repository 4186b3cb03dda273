//! Rows that follow from records do not depend on the order in which these came, and can be computed again.

use cardmark_core::StorageKind;
use cardmark_share::{Check, CheckName, CheckOutcome, Extract};
use cardmark_site_store::{Amended, Found, Incoming, Rederived, SiteStore};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sqlx::Executor as _;
use uuid::Uuid;

use crate::samples::{DAY_MS, amendment, by_itself, incoming, token};
use crate::site::Site;

/// Writes of one record, in this order.
#[derive(Clone, Debug)]
struct Life {
    product: u8,
    submitter: u8,
    card: u8,
    board: u8,
    day: i64,
    is_bad: bool,
    is_fake: bool,
    without_figure: bool,
    /// Kept from being counted, or from being counted under its product.
    kept_back: Option<CheckName>,
    is_uneven: bool,
    amended: Option<u8>,
    is_withdrawn: bool,
}

const PRODUCTS: [&str; 4] = ["Card A", "CARD A", "Card B", "Card C"];

fn a_life() -> impl Strategy<Value = Life> {
    let numbers = (0..4_u8, 0..3_u8, 0..8_u8, 0..2_u8, 0..3_i64);
    let flags = (
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.2),
        any::<bool>(),
    );
    let kept_back = prop::sample::select(vec![
        None,
        None,
        None,
        Some(CheckName::Identified),
        Some(CheckName::ProductFits),
    ]);
    let kept_back = (kept_back, prop::bool::weighted(0.2));
    let later = (prop::option::of(0..4_u8), prop::bool::weighted(0.3));
    (numbers, flags, kept_back, later).prop_map(|(numbers, flags, kept_back, later)| {
        let (product, submitter, card, board, day) = numbers;
        let (is_bad, is_fake, without_figure) = flags;
        let (kept_back, is_uneven) = kept_back;
        let (amended, is_withdrawn) = later;
        Life {
            product,
            submitter,
            card,
            board,
            day,
            is_bad,
            is_fake,
            without_figure,
            kept_back,
            is_uneven,
            amended,
            is_withdrawn,
        }
    })
}

impl Life {
    fn changed(&self, mut extract: Extract) -> Extract {
        let board = format!("Board {}", self.board);
        extract.context = [("board".to_owned(), board.clone())].into();
        extract.board = Some(board);
        extract.storage = self.is_fake.then_some(StorageKind::Wraparound);
        if self.without_figure {
            extract.figures.pop();
        }
        extract.figures[0].is_uneven = self.is_uneven;
        extract
    }

    fn incoming(&self, run: u128) -> Incoming {
        let product = PRODUCTS[usize::from(self.product)];
        let mut one = incoming(run, product, self.submitter, self.card);
        // Several arrive at the same time.
        one.received_ms = self.day * DAY_MS;
        one.extract = self.changed(one.extract);
        if self.is_bad {
            one.checks = by_itself(CheckOutcome::Failed);
        }
        one.checks.extend(self.kept_back.map(|name| Check {
            name,
            outcome: CheckOutcome::NotCounted,
            reason: String::new(),
        }));
        one
    }

    async fn pass(&self, store: &SiteStore, run: u128, step: usize) {
        let id = Uuid::from_u128(run);
        match (step, self.amended, self.is_withdrawn) {
            (0, ..) => {
                store.put(self.incoming(run)).await.unwrap();
            }
            (1, Some(product), _) => {
                let mut amendment = amendment(run, PRODUCTS[usize::from(product)], 1);
                amendment.extract = self.changed(amendment.extract);
                amendment.checks = self.incoming(run).checks;
                store.amend(id, token(run), amendment).await.unwrap();
            }
            (2, _, true) => {
                store.withdraw(id, token(run)).await.unwrap();
            }
            _ => {}
        }
    }

    fn product_now(&self) -> &'static str {
        PRODUCTS[usize::from(self.amended.unwrap_or(self.product))]
    }
}

/// Steps of all lives, in an order that keeps that of each.
fn shuffled(lives: usize, order: &[u16]) -> Vec<(usize, usize)> {
    let mut steps: Vec<(u16, usize)> = (0..lives * 3)
        .map(|place| {
            (
                order[place % order.len()].rotate_left(u32::try_from(place % 16).unwrap()),
                place / 3,
            )
        })
        .collect();
    steps.sort_unstable();
    let mut done = vec![0; lives];
    steps
        .into_iter()
        .map(|(_, life)| {
            done[life] += 1;
            (life, done[life] - 1)
        })
        .collect()
}

async fn empty(site: &Site) {
    let mut connection = site.connect().await;
    for table in [
        "records",
        "bodies",
        "tombstones",
        "figures",
        "facets",
        "changes",
        "tag_cards",
        "submitters",
        "summaries",
        "product_contexts",
        "product_cards",
        "products",
        "boards",
        "seeds",
        "limits",
        "totals",
    ] {
        let text = format!("delete from {table}");
        connection.execute(sqlx::AssertSqlSafe(text)).await.unwrap();
    }
}

async fn rebuild(store: &SiteStore, lives: &[Life]) -> cardmark_site_store::Rebuilt {
    let rebuilt = store.rebuild(|id, _, _, _| {
        let run = id.as_u128();
        let life = &lives[usize::try_from(run - 1).ok()?];
        let one = life.incoming(run);
        let mut extract = one.extract;
        extract.product_name = Some(life.product_now().to_owned());
        Some(Rederived {
            extract,
            checks: one.checks,
            card: one.card,
        })
    });
    rebuilt.await.unwrap()
}

/// Fails with the rows that only one of them has.
fn assert_same(one: &[String], other: &[String]) {
    let without = |one: &[String], other: &[String]| -> Vec<String> {
        one.iter()
            .filter(|row| !other.contains(row))
            .cloned()
            .collect()
    };
    let differences = (without(one, other), without(other, one));
    assert!(one == other, "{differences:#?}");
}

async fn check(site: &Site, store: &SiteStore, lives: &[Life], orders: &[Vec<u16>]) {
    let mut expected = None;
    for order in orders {
        empty(site).await;
        for (life, step) in shuffled(lives.len(), order) {
            lives[life].pass(store, life as u128 + 1, step).await;
            // Submitters become older at any time.
            let at = usize::from(order[life % order.len()]) % 40;
            store.reweigh(at as i64 * DAY_MS).await.unwrap();
        }
        store.reweigh(40 * DAY_MS).await.unwrap();
        let dump = store.summaries_dump().await.unwrap();
        let rebuilt = rebuild(store, lives).await;
        assert_eq!((rebuilt.changed_count, rebuilt.unreadable_count), (0, 0));
        assert_same(&store.summaries_dump().await.unwrap(), &dump);
        assert_same(expected.get_or_insert(dump.clone()), &dump);
    }
}

pub(crate) async fn any_order_ends_in_the_same_rows(site: Site) {
    let store = site.open().await;
    let cases = if site.is_postgres { 3 } else { 12 };
    let lives = prop::collection::vec(a_life(), 1..40);
    let orders = prop::collection::vec(prop::collection::vec(any::<u16>(), 40), 2);
    let handle = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        let config = Config {
            cases,
            failure_persistence: None,
            ..Config::default()
        };
        let mut runner = TestRunner::new(config);
        runner
            .run(&(lives, orders), |(lives, orders)| {
                handle.block_on(check(&site, &store, &lives, &orders));
                Ok(())
            })
            .unwrap();
    })
    .await
    .unwrap();
}

pub(crate) async fn a_rebuild_repairs_rows(site: Site) {
    let store = site.open().await;
    for run in 1..=30 {
        let one = incoming(
            run,
            PRODUCTS[run as usize % 4],
            (run % 3) as u8,
            (run % 11) as u8,
        );
        store.put(one).await.unwrap();
    }
    let before = store.summaries_dump().await.unwrap();
    let mut connection = site.connect().await;
    for text in [
        "delete from summaries where metric = 'seq_read'",
        "update tag_cards set runs = 77",
        "update products set cards = 500, name = 'x'",
        "insert into products (key, name, name_small, members, runs, cards, fakes) values ('none', '', '', 1, 1, 1, 1)",
        "update records set shared_product = null where product_key = '~card b'",
        "update tag_cards set figures = null",
        "delete from product_cards",
        "update boards set records = 9",
        "update totals set count = 9 where name <> 'changes'",
    ] {
        connection.execute(text).await.unwrap();
    }
    assert_ne!(store.summaries_dump().await.unwrap(), before);
    let again = |id: Uuid| {
        let run = id.as_u128();
        let one = incoming(
            run,
            PRODUCTS[run as usize % 4],
            (run % 3) as u8,
            (run % 11) as u8,
        );
        Rederived {
            extract: one.extract,
            checks: one.checks,
            card: one.card,
        }
    };
    let rebuilt = store.rebuild(|id, _, _, _| Some(again(id))).await.unwrap();
    assert_eq!(rebuilt.records_count, 30);
    assert_same(&store.summaries_dump().await.unwrap(), &before);
    let unreadable = store
        .rebuild(|id, _, _, _| (id.as_u128() > 5).then(|| again(id)))
        .await
        .unwrap();
    assert_eq!(
        (unreadable.unreadable_count, unreadable.changed_count),
        (5, 0)
    );
    assert_same(&store.summaries_dump().await.unwrap(), &before);

    // Another version finds that a record contradicts itself.
    let stricter = store.rebuild(|id, _, _, _| {
        let checks = if id.as_u128() == 4 {
            by_itself(CheckOutcome::Failed)
        } else {
            again(id).checks
        };
        Some(Rederived {
            checks,
            ..again(id)
        })
    });
    assert_eq!(stricter.await.unwrap().changed_count, 1);
    let Found::Here(head) = store.find(Uuid::from_u128(4)).await.unwrap() else {
        panic!("not there");
    };
    assert_eq!(head.state, cardmark_site_store::State::Quarantined);
    assert_eq!(store.counts().await.unwrap().quarantined, 1);
}

pub(crate) async fn a_rebuild_takes_no_amendment_back(site: Site) {
    let store = site.open().await;
    let one = incoming(1, "Card A", 1, 1);
    store.put(one.clone()).await.unwrap();
    let handle = tokio::runtime::Handle::current();
    let rebuilt = store.rebuild(|id, _, _, _| {
        // The owner is faster than what is derived from the document before.
        let amended = std::thread::scope(|scope| {
            let amend = store.amend(id, token(1), amendment(1, "Card B", 1));
            scope.spawn(|| handle.block_on(amend)).join().unwrap()
        });
        assert!(matches!(amended, Ok(Amended::Now(_))), "{amended:?}");
        Some(Rederived {
            extract: one.extract.clone(),
            checks: one.checks.clone(),
            card: one.card,
        })
    });
    assert_eq!(rebuilt.await.unwrap().changed_count, 0);
    let Found::Here(head) = store.find(Uuid::from_u128(1)).await.unwrap() else {
        panic!("not there");
    };
    assert_eq!(head.product.as_deref(), Some("~card b"));
}

pub(crate) async fn loaded_records_count_like_others(site: Site) {
    let store = site.open().await;
    let submission = |run: u128| {
        let product = ["Card A", "Card B"][run as usize % 2];
        let mut one = incoming(run, product, (run % 250) as u8, (run % 9) as u8);
        if run == 7 {
            one.checks = by_itself(CheckOutcome::Failed);
        }
        one
    };
    // More cards of a product than are read together; the page ends among those of a submitter.
    for run in 1..700 {
        store.put(submission(run)).await.unwrap();
    }
    let dump = store.summaries_dump().await.unwrap();
    empty(&site).await;
    store
        .load((1..700).map(submission).collect())
        .await
        .unwrap();
    assert_eq!(store.rebuild_summaries().await.unwrap(), 2);
    assert_eq!(store.summaries_dump().await.unwrap(), dump);
    assert_eq!(store.changes(0, 1_000).await.unwrap().len(), 699);
}
