//! Searches, products, boards, rankings, changes.

use std::collections::BTreeSet;

use cardmark_core::{Quantity, StorageKind};
use cardmark_share::{Area, CheckOutcome, context_key};
use cardmark_site_store::{
    ChangeKind, Head, MetricRange, RankedContext, Search, SiteStore, SummaryPlace, SummaryRow,
};
use uuid::Uuid;

use crate::samples::{METRICS, NOW_MS, amendment, by_itself, incoming, token};
use crate::site::Site;

/// Records of two products, boards, buses, and months; some arrive at the same time.
async fn fill(store: &SiteStore, count: u128) {
    for run in 1..=count {
        let mut one = incoming(
            run,
            ["Card A", "Card B"][run as usize % 2],
            (run % 5) as u8,
            (run % 7) as u8,
        );
        one.received_ms = NOW_MS + (run / 3) as i64;
        one.extract.board = Some(format!("Board {}", run % 3));
        one.extract.bus = (run % 4 != 0).then(|| format!("Bus {}", run % 4));
        one.extract.day = Some(format!("2026-{:02}-{:02}", 1 + run % 12, 1 + run % 28));
        one.extract.command_queue = None;
        store.put(one).await.unwrap();
    }
}

/// All pages of a search.
async fn pages(store: &SiteStore, mut search: Search) -> Vec<Head> {
    let mut all: Vec<Head> = Vec::new();
    loop {
        let page = store.search(&search).await.unwrap();
        assert!(page.heads.len() <= search.limit as usize);
        all.extend(page.heads);
        if page.next.is_none() {
            return all;
        }
        assert_ne!(page.next, search.after);
        search.after = page.next;
    }
}

/// More records than a page tests.
const MANY: u128 = 1010;

pub(crate) async fn a_page_tests_a_limited_number_of_records(site: Site) {
    let store = site.open().await;
    let many = (1..MANY).map(|run| {
        let mut one = incoming(run, "Card A", (run % 7) as u8, 1);
        one.extract.bus = match run {
            1 => Some("first".to_owned()),
            _ if run % 41 == 0 => Some("rare".to_owned()),
            _ => None,
        };
        one
    });
    store.load(many.collect()).await.unwrap();
    let first = Search {
        bus: Some("first".to_owned()),
        ..of_limit(20)
    };
    let page = store.search(&first).await.unwrap();
    assert!(page.heads.is_empty() && page.next.is_some());
    // Of several streams each is left at another place.
    let rare = Search {
        bus: Some("rare".to_owned()),
        metric: Some(MetricRange {
            metric: METRICS[0].to_owned(),
            least: 1.0,
            most: 1e12,
        }),
        ..of_limit(20)
    };
    let narrow = Search {
        metric: Some(MetricRange {
            metric: METRICS[0].to_owned(),
            least: 90e6,
            most: 180e6,
        }),
        ..rare.clone()
    };
    let all = pages(&store, of_limit(100)).await;
    let of_bus = |bus: &str| -> Vec<Head> {
        let of = all.iter().filter(|head| head.bus.as_deref() == Some(bus));
        of.cloned().collect()
    };
    assert_eq!(pages(&store, first).await, of_bus("first"));
    assert_eq!(of_bus("rare").len(), 24);
    assert_eq!(pages(&store, rare).await, of_bus("rare"));
    assert_eq!(pages(&store, narrow).await, of_bus("rare"));
}

fn of_limit(limit: u32) -> Search {
    Search {
        limit,
        ..Search::default()
    }
}

pub(crate) async fn pages_show_each_record_once(site: Site) {
    let store = site.open().await;
    fill(&store, 60).await;
    let mut simulated = incoming(1000, "Card A", 1, 1);
    simulated.extract.area = Area::Simulated;
    simulated.extract.origin = "simulated".to_owned();
    store.put(simulated).await.unwrap();
    let all = pages(&store, of_limit(7)).await;
    let keys: Vec<_> = all
        .iter()
        .map(|head| (head.received_ms, *head.id.as_bytes()))
        .collect();
    assert!(keys.is_sorted_by(|one, next| one > next));
    assert_eq!(all.len(), 60);
    let simulated = Search {
        is_simulated: true,
        ..of_limit(7)
    };
    assert_eq!(pages(&store, simulated).await.len(), 1);
}

pub(crate) async fn conditions_are_met(site: Site) {
    let store = site.open().await;
    fill(&store, 60).await;
    let all = pages(&store, of_limit(100)).await;
    let product = Some("~card a".to_owned());
    let is_of = |head: &Head| head.product.as_deref() == Some("~card a");
    let days = Some(("2026-03-05".to_owned(), "2026-06-20".to_owned()));
    let in_days =
        |head: &Head| ("2026-03-05"..="2026-06-20").contains(&head.day.as_deref().unwrap());
    let cases: Vec<(Search, Expected<'_>)> = vec![
        (
            Search {
                product: product.clone(),
                ..of_limit(3)
            },
            Box::new(is_of),
        ),
        (
            Search {
                bus: Some("Bus 1".to_owned()),
                board: Some("Board 2".to_owned()),
                ..of_limit(3)
            },
            Box::new(|head| {
                head.bus.as_deref() == Some("Bus 1") && head.board.as_deref() == Some("Board 2")
            }),
        ),
        (
            Search {
                suite: Some("quick 1".to_owned()),
                ..of_limit(50)
            },
            Box::new(|_| true),
        ),
        (
            Search {
                command_queue: Some("on".to_owned()),
                ..of_limit(5)
            },
            Box::new(|_| false),
        ),
        (
            Search {
                days: days.clone(),
                ..of_limit(4)
            },
            Box::new(in_days),
        ),
        (
            Search {
                days,
                product,
                ..of_limit(4)
            },
            Box::new(|head| in_days(head) && is_of(head)),
        ),
    ];
    assert_found(&store, &all, cases).await;
}

pub(crate) async fn ranges_are_met(site: Site) {
    let store = site.open().await;
    fill(&store, 60).await;
    let all = pages(&store, of_limit(100)).await;
    let product = Some("~card a".to_owned());
    let metric = |least, most| {
        let metric = METRICS[0].to_owned();
        Some(MetricRange {
            metric,
            least,
            most,
        })
    };
    // Figures of `samples::extract`.
    let value = |head: &Head| 90e6 * (1.0 + (head.id.as_u128() % 97) as f64 / 100.0);
    let is_of = |head: &Head| head.product.as_deref() == Some("~card a");
    let cases: Vec<(Search, Expected<'_>)> = vec![
        (
            Search {
                metric: metric(100e6, 120e6),
                ..of_limit(4)
            },
            Box::new(|head| (100e6..=120e6).contains(&value(head))),
        ),
        (
            Search {
                metric: metric(f64::MIN_POSITIVE, f64::MAX),
                product: product.clone(),
                ..of_limit(4)
            },
            Box::new(is_of),
        ),
        (
            Search {
                metric: metric(f64::NEG_INFINITY, 110e6),
                product,
                ..of_limit(4)
            },
            Box::new(|head| value(head) <= 110e6 && is_of(head)),
        ),
        (
            Search {
                metric: metric(f64::NAN, 110e6),
                ..of_limit(4)
            },
            Box::new(|_| false),
        ),
        (
            Search {
                metric: metric(120e6, 110e6),
                ..of_limit(4)
            },
            Box::new(|_| false),
        ),
        (
            Search {
                metric: metric(-1.0, 1.0),
                ..of_limit(4)
            },
            Box::new(|_| false),
        ),
    ];
    assert_found(&store, &all, cases).await;
    // A range from below zero holds small figures.
    let mut small = incoming(1000, "Card A", 1, 1);
    small.extract.figures[0].value = 1e-3;
    store.put(small).await.unwrap();
    let search = Search {
        metric: metric(-1.0, 1.0),
        ..of_limit(4)
    };
    assert_eq!(pages(&store, search).await.len(), 1);
}

type Expected<'a> = Box<dyn Fn(&Head) -> bool + 'a>;

async fn assert_found(store: &SiteStore, all: &[Head], cases: Vec<(Search, Expected<'_>)>) {
    for (search, expected) in cases {
        let found = pages(store, search.clone()).await;
        let expected: Vec<_> = all.iter().filter(|head| expected(head)).cloned().collect();
        assert_eq!(found, expected, "{search:?}");
    }
}

pub(crate) async fn products_boards_rankings(site: Site) {
    let store = site.open().await;
    let mut run = 0;
    for (product, submitters, cards) in [
        ("Fast", 3, 4),
        ("Slow", 3, 3),
        ("Lonely", 1, 5),
        ("Rare", 2, 5),
    ] {
        for card in 0..cards {
            run += 1;
            let mut one = incoming(run, product, card % submitters, card);
            let factor = if product == "Fast" { 10.0 } else { 1.0 };
            for figure in &mut one.extract.figures {
                figure.value *= factor;
            }
            let mut time = one.extract.figures[0].clone();
            time.metric = "boot".to_owned();
            time.quantity = Quantity::Span;
            one.extract.figures.push(time);
            store.put(one).await.unwrap();
        }
    }
    let key = context_key(&incoming(1, "", 0, 0).extract.context);
    let names = async |metric: &str| -> Vec<String> {
        let ranked = store.ranking(metric, key, None, 10).await.unwrap();
        ranked.into_iter().map(|ranked| ranked.name).collect()
    };
    assert_eq!(names(METRICS[0]).await, ["Fast", "Slow"]);
    assert_eq!(names("boot").await, ["Slow", "Fast"]);
    assert_eq!(
        store.ranking(METRICS[0], key, None, 1).await.unwrap().len(),
        1
    );
    let ranked = store.ranking(METRICS[0], key, None, 2).await.unwrap();
    assert_eq!(
        (ranked[0].row.submitters.count(), ranked[0].row.cards_count),
        (3, 4)
    );
    // Read one by one, the places are the same.
    let mut one_by_one = Vec::new();
    let mut after: Option<(f64, String)> = None;
    loop {
        let place = after.as_ref().map(|(place, key)| (*place, key.as_str()));
        let found = store.ranking(METRICS[0], key, place, 1).await.unwrap();
        let Some(last) = found.last() else { break };
        after = Some((last.place, last.key.clone()));
        one_by_one.extend(found);
    }
    assert_eq!(one_by_one, ranked);
    let expected = RankedContext {
        key,
        context: incoming(1, "", 0, 0).extract.context,
        products_count: 2,
    };
    for (after, is_there) in [
        (None, true),
        (Some((3, key)), true),
        (Some((2, key - 1)), true),
        (Some((2, key)), false),
        (Some((1, key - 1)), false),
    ] {
        let contexts = store.contexts(METRICS[0], after, 10).await.unwrap();
        assert_eq!(contexts.first(), is_there.then_some(&expected), "{after:?}");
    }
    assert_eq!(store.contexts(METRICS[0], None, 0).await.unwrap(), []);
    assert_eq!(store.contexts("other", None, 10).await.unwrap(), []);

    let page = store.products("", None, 3).await.unwrap();
    let keys: Vec<_> = page.iter().map(|row| row.key.as_str()).collect();
    assert_eq!(keys, ["~fast", "~lonely", "~rare"]);
    let next = store.products("", Some("~rare"), 3).await.unwrap();
    assert_eq!(next.len(), 1);
    for (text, expected) in [
        ("SL", vec!["Slow"]),
        ("lo", vec!["Lonely", "Slow"]),
        ("s o", vec!["Slow"]),
        ("o s", vec![]),
        ("%", vec![]),
        ("_", vec![]),
        ("\\", vec![]),
    ] {
        let found = store.products(text, None, 3).await.unwrap();
        let names: Vec<_> = found.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, expected, "{text}");
    }
    let keys = ["~slow", "~fast", "~none"];
    let found = store.products_of(&keys).await.unwrap();
    let mut names: Vec<_> = found.iter().map(|row| row.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["Fast", "Slow"]);
    assert_eq!(store.products_of(&[]).await.unwrap(), []);
    assert_eq!(
        store.boards(None, 5).await.unwrap(),
        [("Board 5".to_owned(), 17)]
    );
    assert_eq!(store.boards(Some("Board 5"), 5).await.unwrap(), []);
}

pub(crate) async fn cards_of_a_submitter_are_capped(site: Site) {
    let store = site.open().await;
    // The last to arrive have the smallest keys.
    for run in 1..=20_u8 {
        store
            .put(incoming(run.into(), "Card A", 1, 100 - run))
            .await
            .unwrap();
    }
    store.put(incoming(21, "Card A", 2, 1)).await.unwrap();
    let (product, summaries) = store.product("~card a", None, 200).await.unwrap().unwrap();
    assert_eq!((product.runs_count, product.cards_count), (21, 6));
    for row in &summaries {
        assert_eq!((row.submitters.count(), row.cards_count), (2, 6));
    }
    // The median of the five cards, and the only card of the other.
    let expected: BTreeSet<i32> = [18, 21]
        .map(|run| incoming(run, "Card A", 1, 1).extract.figures[0].value)
        .map(cardmark_share::bucket_of_value)
        .into();
    let row = summaries
        .iter()
        .find(|row| row.metric == METRICS[0])
        .unwrap();
    let found: BTreeSet<i32> = row.submitters.newer().map(|(bucket, _)| bucket).collect();
    assert_eq!(found, expected);
}

pub(crate) async fn summaries_are_read_in_parts(site: Site) {
    let store = site.open().await;
    for run in 1..=30_u8 {
        let mut one = incoming(run.into(), "Card A", run, 1);
        // One context with half of the submitters, and many with one.
        let context = if run % 2 == 0 { 0 } else { run };
        one.extract.context = [("board".to_owned(), context.to_string())].into();
        store.put(one).await.unwrap();
    }
    let of = async |after: Option<&SummaryPlace>, limit| {
        store
            .product("~card a", after, limit)
            .await
            .unwrap()
            .unwrap()
            .1
    };
    let all = of(None, 200).await;
    assert_eq!(all.len(), 16 * METRICS.len());
    let counts: Vec<u64> = all.iter().map(|row| row.submitters.count()).collect();
    assert!(counts.is_sorted_by(|one, next| one >= next), "{counts:?}");
    assert_eq!((counts[0], counts[METRICS.len()]), (15, 1));
    let mut in_parts = Vec::new();
    loop {
        let after = in_parts.last().map(SummaryRow::place);
        let found = of(after.as_ref(), 5).await;
        assert!(found.len() <= 5);
        if found.is_empty() {
            break;
        }
        in_parts.extend(found);
    }
    assert_eq!(in_parts, all);
}

pub(crate) async fn fakes_are_counted(site: Site) {
    let store = site.open().await;
    for run in 1..=4_u8 {
        let mut one = incoming(run.into(), "Card A", run, 1);
        one.extract.storage = (run < 3).then_some(StorageKind::Limbo);
        store.put(one).await.unwrap();
    }
    // Neither quarantined nor imported ones count.
    let mut bad = incoming(5, "Card A", 5, 1);
    bad.extract.storage = Some(StorageKind::Chain);
    bad.checks = by_itself(CheckOutcome::Failed);
    store.put(bad).await.unwrap();
    let mut imported = incoming(6, "Card A", 6, 1);
    imported.extract.origin = "imported".to_owned();
    store.put(imported).await.unwrap();
    let (product, _) = store.product("~card a", None, 200).await.unwrap().unwrap();
    assert_eq!(
        (product.runs_count, product.cards_count, product.fakes_count),
        (4, 4, 2)
    );
    store.withdraw(Uuid::from_u128(1), token(1)).await.unwrap();
    let (product, _) = store.product("~card a", None, 200).await.unwrap().unwrap();
    assert_eq!((product.cards_count, product.fakes_count), (3, 1));
}

/// Many write and withdraw; a reader that continues where it ended sees the last change of each record.
pub(crate) async fn changes_are_followed(site: Site) {
    let store = site.open().await;
    let other = if site.is_postgres {
        site.open().await
    } else {
        store.clone()
    };
    let writers = (0..8_u128).map(|writer| {
        let store = [&store, &other][writer as usize % 2].clone();
        tokio::spawn(async move {
            for number in 0..12 {
                let run = 1 + writer * 100 + number;
                store
                    .put(incoming(run, "Card A", writer as u8, number as u8))
                    .await
                    .unwrap();
                if number % 3 == 0 {
                    let id = Uuid::from_u128(run);
                    store
                        .amend(id, token(run), amendment(run, "Card B", 1))
                        .await
                        .unwrap();
                }
                if number % 4 == 0 {
                    store
                        .withdraw(Uuid::from_u128(run), token(run))
                        .await
                        .unwrap();
                }
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let (mut after, mut followed) = (0, Vec::new());
    let mut is_over = false;
    loop {
        let was_over = is_over;
        is_over = writers.iter().all(tokio::task::JoinHandle::is_finished);
        let page = store.changes(after, 5).await.unwrap();
        if page.is_empty() && was_over {
            break;
        }
        after = page.last().map_or(after, |change| change.sequence);
        followed.extend(page);
        tokio::task::yield_now().await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert!(followed.is_sorted_by_key(|change| change.sequence));
    for run in (0..8_u128).flat_map(|writer| (0..12).map(move |number| 1 + writer * 100 + number)) {
        let number = (run - 1) % 100;
        let expected = match (number % 4, number % 3) {
            (0, _) => ChangeKind::Withdrawn,
            (_, 0) => ChangeKind::Amended,
            _ => ChangeKind::Arrived,
        };
        let id = Uuid::from_u128(run);
        let last = followed
            .iter()
            .rfind(|change| change.id == id)
            .map(|change| change.kind);
        assert_eq!(last, Some(expected), "{run}");
    }
    let from_start = store.changes(0, 10_000).await.unwrap();
    let is_withdrawn = |id: Uuid| {
        from_start
            .iter()
            .any(|change| change.id == id && change.kind == ChangeKind::Withdrawn)
    };
    let left = from_start
        .iter()
        .filter(|change| change.kind != ChangeKind::Withdrawn);
    assert!(left.into_iter().all(|change| !is_withdrawn(change.id)));
}
