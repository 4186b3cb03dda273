//! Acts of moderators: what follows from them, and that undoing them brings everything back.

use cardmark_share::{Check, CheckName, CheckOutcome};
use cardmark_site_store::{
    Account, Answered, Bucket, Deed, Found, Head, Moderated, NewAct, Objection, OwnersAnswer,
    PasswordHash, Put, QueueSearch, Scope, SiteStore, State, Switch, Withdrawn,
};
use sqlx::{AnyConnection, Row as _};
use uuid::Uuid;

use crate::samples::{DAY_MS, NOW_MS, amendment, by_itself, extract, incoming, token};
use crate::site::Site;

const HOUR_MS: i64 = 3_600_000;

fn act(deed: Deed) -> NewAct {
    NewAct {
        account: "anna".to_owned(),
        deed,
        reason: "a reason".to_owned(),
        at_ms: NOW_MS,
    }
}

/// Records an act and applies it; returns its number.
async fn done(store: &SiteStore, deed: Deed) -> i64 {
    let number = recorded(store, deed).await;
    store.apply(number).await.unwrap();
    number
}

async fn recorded(store: &SiteStore, deed: Deed) -> i64 {
    match store.moderate(act(deed)).await.unwrap() {
        Moderated::Done(number) => number,
        Moderated::Refused(objection) => panic!("{objection:?}"),
    }
}

async fn refused(store: &SiteStore, deed: Deed) -> Objection {
    match store.moderate(act(deed)).await.unwrap() {
        Moderated::Refused(objection) => objection,
        Moderated::Done(number) => panic!("act {number}"),
    }
}

fn hold(run: u128) -> Deed {
    Deed::Hold(Scope::Record(Uuid::from_u128(run)))
}

fn release(run: u128) -> Deed {
    Deed::Release(Scope::Record(Uuid::from_u128(run)))
}

fn hold_tag(submitter: u8) -> Deed {
    Deed::Hold(Scope::Tag([submitter; 16]))
}

fn merge(product: &str, into: &str) -> Deed {
    Deed::Merge {
        product: key(product),
        into: key(into),
        into_name: into.to_owned(),
    }
}

fn split(product: &str, model: &str, into: &str) -> Deed {
    Deed::Split {
        product: key(product),
        model: model.to_owned(),
        into: key(into),
        into_name: into.to_owned(),
    }
}

fn key(name: &str) -> String {
    format!("~{}", name.to_lowercase())
}

fn on(switch: Switch) -> Deed {
    Deed::SwitchOn { switch }
}

async fn head(store: &SiteStore, run: u128) -> Head {
    match store.find(Uuid::from_u128(run)).await.unwrap() {
        Found::Here(head) => *head,
        other => panic!("{run}: {other:?}"),
    }
}

async fn runs_of(store: &SiteStore, product: &str) -> u64 {
    let found = store.product(&key(product), None, 200).await.unwrap();
    found.map_or(0, |(product, _)| product.runs_count)
}

fn failed(run: u128, product: &str, submitter: u8) -> cardmark_site_store::Incoming {
    let mut failed = incoming(run, product, submitter, 1);
    failed.checks = by_itself(CheckOutcome::Failed);
    failed
}

/// Runs of three submitters and two products; one run failed a check, and one has another model.
async fn filled(site: &Site) -> SiteStore {
    let store = site.open().await;
    for run in 1..=24 {
        let product = if run % 3 == 0 { "Card B" } else { "Card A" };
        let submitter = u8::try_from(run % 4).unwrap();
        let mut one = incoming(run, product, submitter, u8::try_from(run % 5).unwrap());
        if run % 8 == 0 {
            one.extract.model = Some("OTHER".to_owned());
        }
        store.put(one).await.unwrap();
    }
    store.put(failed(25, "Card A", 1)).await.unwrap();
    store
}

/// All rows that acts may change, as texts.
async fn rows(site: &Site, store: &SiteStore) -> Vec<String> {
    let mut rows = store.summaries_dump().await.unwrap();
    let mut connection = site.connect().await;
    let kinds = [
        (
            "select id, cast(state as bigint), level, coalesce(product_key, '–'), coalesce(product_name, '–'), \
             coalesce(own_product, '–'), coalesce(own_product_name, '–'), coalesce(shared_product, '–'), \
             coalesce(decided_by, 0), coalesce(quarantined_by, 0), checks, counted_card from records order by id",
            "bittttttiitb",
        ),
        (
            "select facet, received_ms, id from facets order by facet, received_ms, id",
            "iib",
        ),
        (
            "select received_ms, quarter, metric, id from figures order by metric, received_ms, id",
            "iitb",
        ),
    ];
    for (text, columns) in kinds {
        rows.extend(texts(&mut connection, text, columns).await);
    }
    rows
}

async fn texts(connection: &mut AnyConnection, text: &'static str, columns: &str) -> Vec<String> {
    let found = sqlx::query(text).fetch_all(connection).await.unwrap();
    assert!(!found.is_empty(), "{text}");
    let found = found.iter().map(|row| {
        let cell = |(place, kind)| match kind {
            't' => row.get::<String, _>(place),
            'b' => format!("{:?}", row.get::<Option<Vec<u8>>, _>(place)),
            _ => row.get::<i64, _>(place).to_string(),
        };
        let cells: Vec<String> = columns.chars().enumerate().map(cell).collect();
        cells.join(" ")
    });
    found.collect()
}

fn differing(one: &[String], other: &[String]) -> Vec<String> {
    let missing = one.iter().filter(|line| !other.contains(line));
    let new = other.iter().filter(|line| !one.contains(line));
    let missing = missing.map(|line| format!("- {line}"));
    missing.chain(new.map(|line| format!("+ {line}"))).collect()
}

pub(crate) async fn every_act_undone_restores_exactly(site: Site) {
    let store = filled(&site).await;
    let counted = runs_of(&store, "Card A").await;
    let number = done(&store, release(25)).await;
    assert_eq!(runs_of(&store, "Card A").await, counted + 1);
    done(&store, Deed::Undo { act: number }).await;
    assert_eq!(runs_of(&store, "Card A").await, counted);
    let before = rows(&site, &store).await;
    for deed in [
        hold(1),
        release(25),
        hold_tag(1),
        Deed::Release(Scope::Tag([1; 16])),
        merge("Card A", "Card B"),
        merge("Card A", "New Name"),
        split("Card A", "OTHER", "Card C"),
    ] {
        let number = done(&store, deed.clone()).await;
        let during = rows(&site, &store).await;
        assert_ne!(before, during, "{deed:?} changes nothing");
        // A rebuild from the rows of records gives the same summaries.
        store.rebuild_summaries().await.unwrap();
        let rebuilt = rows(&site, &store).await;
        assert_eq!(differing(&during, &rebuilt), [""; 0], "{deed:?}");

        let undoing = done(&store, Deed::Undo { act: number }).await;
        let after = rows(&site, &store).await;
        assert_eq!(differing(&before, &after), [""; 0], "{deed:?}");

        let again = done(&store, Deed::Undo { act: undoing }).await;
        let decided_again = rows(&site, &store).await;
        assert_eq!(differing(&during, &decided_again), [""; 0], "{deed:?}");
        done(&store, Deed::Undo { act: again }).await;
        let after = rows(&site, &store).await;
        assert_eq!(differing(&before, &after), [""; 0], "{deed:?}");
    }
    for deed in [
        Deed::Accept {
            product: key("Card A"),
            name: "Card A".to_owned(),
        },
        on(Switch::ReadOnly),
    ] {
        let number = done(&store, deed).await;
        assert_eq!(rows(&site, &store).await, before);
        done(&store, Deed::Undo { act: number }).await;
        assert!(!store.is_read_only().await.unwrap());
    }
    store.close().await;
}

/// Acts upon each other, undone in another order than made.
pub(crate) async fn acts_are_undone_in_any_order(site: Site) {
    let store = filled(&site).await;
    let before = rows(&site, &store).await;
    let deeds = [
        merge("Card A", "Card B"),
        split("Card A", "OTHER", "Card C"),
        merge("Card B", "Card D"),
        hold_tag(2),
        release(2),
        merge("Card A", "Card E"),
        release(25),
    ];
    let mut numbers = Vec::new();
    for deed in deeds {
        // Several wait to be applied at once.
        numbers.push(recorded(&store, deed).await);
    }
    store.apply_all().await.unwrap();
    assert_eq!(head(&store, 1).await.product.as_deref(), Some("~card e"));
    assert_eq!(head(&store, 3).await.product.as_deref(), Some("~card d"));
    assert_eq!(head(&store, 8).await.product.as_deref(), Some("~card c"));
    assert_eq!(head(&store, 2).await.state, State::Shared);
    assert_eq!(head(&store, 6).await.state, State::Quarantined);
    assert_eq!(head(&store, 25).await.state, State::Shared);
    assert_eq!(runs_of(&store, "Card A").await, 0);
    for place in [3, 0, 6, 5, 1, 4, 2] {
        let act = numbers[place];
        recorded(&store, Deed::Undo { act }).await;
    }
    store.apply_all().await.unwrap();
    let after = rows(&site, &store).await;
    assert_eq!(differing(&before, &after), [""; 0]);
    store.close().await;
}

pub(crate) async fn decisions_hold_for_future_records(site: Site) {
    let store = filled(&site).await;
    done(&store, merge("Card A", "Card B")).await;
    let (before_a, before_b) = (
        runs_of(&store, "Card A").await,
        runs_of(&store, "Card B").await,
    );
    assert_eq!(before_a, 0);
    let put = store.put(incoming(100, "Card A", 9, 1)).await.unwrap();
    let Put::New(new) = put else {
        panic!("{put:?}")
    };
    assert_eq!(new.product.as_deref(), Some("~card b"));
    assert_eq!(new.product_name.as_deref(), Some("Card B"));
    assert_eq!(runs_of(&store, "Card B").await, before_b + 1);
    // A statement that names the merged product again.
    let id = Uuid::from_u128(3);
    let amended = store.amend(id, token(3), amendment(3, "Card A", 1)).await;
    amended.unwrap();
    assert_eq!(head(&store, 3).await.product.as_deref(), Some("~card b"));

    let held = done(&store, hold_tag(9)).await;
    assert_eq!(head(&store, 100).await.decided_by, Some(held));
    let put = store.put(incoming(101, "Card A", 9, 2)).await.unwrap();
    let Put::New(new) = put else {
        panic!("{put:?}")
    };
    assert_eq!(
        (new.state, new.decided_by),
        (State::Quarantined, Some(held))
    );
    let other = store.put(incoming(102, "Card A", 10, 2)).await.unwrap();
    assert!(matches!(other, Put::New(head) if head.state == State::Shared));
    // The last act decides: one run of the submitter is released.
    done(&store, release(101)).await;
    assert_eq!(head(&store, 101).await.state, State::Shared);
    assert_eq!(head(&store, 100).await.state, State::Quarantined);

    // A record that a moderator released stays so if its owner's statement makes a check fail.
    let mut worse = amendment(101, "Card A", 1);
    worse.checks = by_itself(CheckOutcome::Failed);
    store
        .amend(Uuid::from_u128(101), token(101), worse)
        .await
        .unwrap();
    assert_eq!(head(&store, 101).await.state, State::Shared);
    store.close().await;

    // Another process reads the same acts, and a rebuild keeps to them.
    let store = site.open().await;
    let before = rows(&site, &store).await;
    let derive = |id: Uuid, _: &[u8], tag: Option<[u8; 16]>, _: i64| {
        let (run, submitter) = (id.as_u128(), tag.unwrap()[0]);
        let product = match run {
            3 => "Card A",
            _ if run % 3 == 0 && run < 25 => "Card B",
            _ => "Card A",
        };
        let one = incoming(run, product, submitter, u8::try_from(run % 5).unwrap());
        let mut extract = extract(run, product);
        if run % 8 == 0 && run < 25 {
            extract.model = Some("OTHER".to_owned());
        }
        let card = match run {
            25 | 100 => incoming(run, product, submitter, 1).card,
            101 | 102 => incoming(run, product, submitter, 2).card,
            _ => one.card,
        };
        let is_bad = run == 25 || run == 101;
        let outcome = if is_bad {
            CheckOutcome::Failed
        } else {
            CheckOutcome::Passed
        };
        Some(cardmark_site_store::Rederived {
            extract,
            checks: by_itself(outcome),
            card,
        })
    };
    let rebuilt = store.rebuild(derive).await.unwrap();
    assert_eq!(rebuilt.records_count, 28);
    let after = rows(&site, &store).await;
    assert_eq!(differing(&before, &after), [""; 0]);
    store.close().await;
}

pub(crate) async fn switches_act_on_arrivals(site: Site) {
    let store = filled(&site).await;
    let before = rows(&site, &store).await;
    let number = done(&store, on(Switch::QuarantineNew)).await;
    assert_eq!(
        refused(&store, on(Switch::QuarantineNew)).await,
        Objection::NoChange
    );
    let put = store.put(incoming(100, "Card A", 9, 1)).await.unwrap();
    let Put::New(new) = put else {
        panic!("{put:?}")
    };
    assert_eq!(
        (new.state, new.decided_by),
        (State::Quarantined, Some(number))
    );
    store.put(incoming(101, "Card A", 8, 1)).await.unwrap();
    let off = Deed::SwitchOff {
        switch: Switch::QuarantineNew,
    };
    done(&store, off).await;
    store.put(incoming(102, "Card A", 7, 1)).await.unwrap();
    assert_eq!(head(&store, 102).await.state, State::Shared);
    // Both wait for a decision; switching off released nothing.
    let waiting = store.queue(&search()).await.unwrap().heads;
    let waiting: Vec<u128> = waiting.iter().map(|head| head.id.as_u128()).collect();
    assert_eq!(waiting, [101, 100, 25]);
    done(&store, release(100)).await;
    assert_eq!(head(&store, 100).await.state, State::Shared);
    // Undoing the quarantine lets the other one count too.
    done(&store, Deed::Undo { act: number }).await;
    assert_eq!(head(&store, 101).await.state, State::Shared);
    assert_eq!(head(&store, 101).await.decided_by, None);
    for run in [100, 101, 102] {
        store
            .withdraw(Uuid::from_u128(run), token(run))
            .await
            .unwrap();
    }
    let mut after = rows(&site, &store).await;
    after.retain(|line| !line.contains("withdrawn"));
    assert_eq!(differing(&before, &after), [""; 0]);

    let number = done(&store, on(Switch::ReadOnly)).await;
    let put = store.put(incoming(103, "Card A", 9, 1)).await.unwrap();
    assert_eq!(put, Put::ReadOnly);
    assert!(store.is_read_only().await.unwrap());
    let amended = store.amend(Uuid::from_u128(1), token(1), amendment(1, "Card A", 1));
    assert_eq!(
        amended.await.unwrap(),
        cardmark_site_store::Amended::ReadOnly
    );
    let withdrawn = store.withdraw(Uuid::from_u128(1), token(1)).await.unwrap();
    assert_eq!(withdrawn, Withdrawn::Now);
    done(&store, Deed::Undo { act: number }).await;
    let put = store.put(incoming(103, "Card A", 9, 1)).await.unwrap();
    assert!(matches!(put, Put::New(_)));
    store.close().await;
}

/// A process that ends between two transactions of a large act; the next one goes on, while records arrive.
pub(crate) async fn a_killed_process_leaves_nothing_half_done(site: Site) {
    let store = site.open().await;
    for run in 1..=60 {
        store.put(incoming(run, "Card A", 1, 1)).await.unwrap();
    }
    let before = rows(&site, &store).await;
    let held = recorded(&store, hold_tag(1)).await;
    let moved = recorded(&store, merge("Card A", "Card B")).await;
    assert!(store.apply_some(Some(held)).await.unwrap());
    assert!(store.apply_some(Some(moved)).await.unwrap());
    let acts = store.acts(None, 10).await.unwrap();
    assert!(acts.iter().all(|act| !act.is_applied), "{acts:?}");
    let states = async |store: &SiteStore| {
        let mut states = Vec::new();
        for run in 1..=60 {
            let head = head(store, run).await;
            states.push((head.state, head.product));
        }
        states.dedup();
        states
    };
    assert_eq!(states(&store).await.len(), 2, "neither all nor none");
    // Nothing is written at the end but what waits.
    store.close().await;
    drop(store);

    let store = site.open().await;
    store.put(incoming(61, "Card A", 1, 1)).await.unwrap();
    store.withdraw(Uuid::from_u128(7), token(7)).await.unwrap();
    store.apply_all().await.unwrap();
    let (state, product) = (State::Quarantined, Some("~card b".to_owned()));
    for run in (1..=61).filter(|run| *run != 7) {
        let head = head(&store, run).await;
        assert_eq!(
            (head.state, head.product),
            (state, product.clone()),
            "{run}"
        );
    }
    let acts = store.acts(None, 10).await.unwrap();
    assert!(acts.iter().all(|act| act.is_applied), "{acts:?}");
    // Undone before, and while, they are applied.
    recorded(&store, Deed::Undo { act: moved }).await;
    store.apply_some(None).await.unwrap();
    recorded(&store, Deed::Undo { act: held }).await;
    store.apply_all().await.unwrap();
    store
        .withdraw(Uuid::from_u128(61), token(61))
        .await
        .unwrap();
    let after = rows(&site, &store).await;
    let seven = format!("{:?}", Uuid::from_u128(7).as_bytes());
    let of_others = |rows: &[String]| {
        let lines = rows.iter().filter(|line| line.contains("Some(["));
        let lines = lines.filter(|line| !line.contains(&seven));
        lines.cloned().collect::<Vec<String>>()
    };
    assert_eq!(of_others(&after).len(), 59 * (1 + 2 + 8));
    assert_eq!(differing(&of_others(&before), &of_others(&after)), [""; 0]);
    store.rebuild_summaries().await.unwrap();
    let rebuilt = rows(&site, &store).await;
    assert_eq!(differing(&after, &rebuilt), [""; 0]);
    store.close().await;
}

/// Acts are applied while records arrive, and end as if they had been there before.
pub(crate) async fn acts_and_arrivals_at_once(site: Site) {
    let store = filled(&site).await;
    let put = |run: u128| {
        let store = store.clone();
        let one = incoming(run, "Card A", u8::try_from(run % 4).unwrap(), 1);
        async move { store.put(one).await }
    };
    let arriving = tokio::spawn({
        let puts: Vec<_> = (1_000..1_060).map(put).collect();
        async move {
            for put in puts {
                put.await.unwrap();
            }
        }
    });
    for deed in [
        merge("Card A", "Card B"),
        hold_tag(1),
        merge("Card B", "Card C"),
    ] {
        done(&store, deed).await;
    }
    arriving.await.unwrap();
    store.apply_all().await.unwrap();
    for run in (1..=25).chain(1_000..1_060) {
        let head = head(&store, run).await;
        assert_eq!(head.product.as_deref(), Some("~card c"), "{run}");
        let is_held = head.tag == Some([1; 16]);
        assert_eq!(head.state == State::Quarantined, is_held, "{run}");
    }
    let before = rows(&site, &store).await;
    store.rebuild_summaries().await.unwrap();
    assert_eq!(differing(&before, &rows(&site, &store).await), [""; 0]);
    store.close().await;
}

pub(crate) async fn impossible_acts_are_refused(site: Site) {
    let store = filled(&site).await;
    assert_eq!(refused(&store, hold(99)).await, Objection::UnknownRecord);
    assert_eq!(
        refused(&store, Deed::Undo { act: 1 }).await,
        Objection::UnknownAct
    );
    assert_eq!(
        refused(&store, merge("Card A", "Card A")).await,
        Objection::Circle
    );
    let first = done(&store, merge("Card A", "Card B")).await;
    done(&store, split("Card B", "OTHER", "Card C")).await;
    for circle in [merge("Card B", "Card A"), merge("Card C", "Card A")] {
        assert_eq!(refused(&store, circle).await, Objection::Circle);
    }
    // Undone, turned round, and brought back: a circle again.
    let undoing = done(&store, Deed::Undo { act: first }).await;
    done(&store, merge("Card B", "Card A")).await;
    assert_eq!(
        refused(&store, Deed::Undo { act: first }).await,
        Objection::UndoneBefore(undoing)
    );
    assert_eq!(
        refused(&store, Deed::Undo { act: undoing }).await,
        Objection::Circle
    );
    store.withdraw(Uuid::from_u128(1), token(1)).await.unwrap();
    assert_eq!(refused(&store, hold(1)).await, Objection::UnknownRecord);
    let acts = store.acts(None, 10).await.unwrap();
    let numbers: Vec<i64> = acts.iter().map(|act| act.number).collect();
    assert_eq!(numbers, [4, 3, 2, 1], "refused acts have no number");
    assert_eq!(store.acts(Some(3), 1).await.unwrap()[0].number, 2);
    assert_eq!(
        store.act(1).await.unwrap().unwrap().undone_by,
        Some(undoing)
    );
    let decisions = store.decisions().await.unwrap();
    assert!(!decisions.is_in_force(1) && decisions.is_in_force(2));
    store.close().await;
}

pub(crate) async fn undoing_closes_no_circle(site: Site) {
    let store = filled(&site).await;
    done(&store, merge("Card A", "Card B")).await;
    let later = done(&store, merge("Card A", "Card C")).await;
    // Possible because of the later act, which hides the first.
    let back = done(&store, merge("Card B", "Card A")).await;
    let undo = |act| Deed::Undo { act };
    assert_eq!(refused(&store, undo(later)).await, Objection::Circle);
    done(&store, undo(back)).await;
    done(&store, undo(later)).await;
    store.close().await;
}

fn search() -> QueueSearch {
    QueueSearch {
        limit: 100,
        ..QueueSearch::default()
    }
}

pub(crate) async fn the_queue_has_what_waits(site: Site) {
    let store = filled(&site).await;
    let mut marked = incoming(30, "Card A", 2, 1);
    marked.checks[1].outcome = CheckOutcome::Marked;
    store.put(marked).await.unwrap();
    // A reason is no outcome.
    let mut quoting = incoming(31, "Card A", 2, 1);
    quoting.checks[1].reason = "\"marked\"".to_owned();
    store.put(quoting).await.unwrap();
    for run in 40..=45 {
        store.put(failed(run, "Card A", 3)).await.unwrap();
    }
    let ids = async |search: QueueSearch| {
        let page = store.queue(&search).await.unwrap();
        let ids = page.heads.iter().map(|head| head.id.as_u128());
        (ids.collect::<Vec<u128>>(), page.next)
    };
    assert_eq!(ids(search()).await.0, [45, 44, 43, 42, 41, 40, 30, 25]);
    let (first, next) = ids(QueueSearch {
        limit: 3,
        ..search()
    })
    .await;
    assert_eq!(first, [45, 44, 43]);
    let rest = QueueSearch {
        after: next,
        ..search()
    };
    assert_eq!(ids(rest).await.0, [42, 41, 40, 30, 25]);
    let full = QueueSearch {
        limit: 8,
        ..search()
    };
    let (all, next) = ids(full).await;
    assert_eq!((all.len(), next), (8, None));
    let of_tag = QueueSearch {
        tag: Some([2; 16]),
        ..search()
    };
    assert_eq!(ids(of_tag).await.0, [30]);
    let of_check = |check| QueueSearch {
        check: Some(check),
        ..search()
    };
    assert_eq!(ids(of_check(CheckName::Recomputed)).await.0.len(), 7);
    assert_eq!(ids(of_check(CheckName::Physics)).await.0, [0; 0]);
    done(&store, release(30)).await;
    done(&store, hold_tag(3)).await;
    assert_eq!(ids(search()).await.0, [25]);
    let decided = QueueSearch {
        is_decided: true,
        ..search()
    };
    let decided = ids(decided).await.0;
    assert_eq!(decided[..7], [45, 44, 43, 42, 41, 40, 30]);
    assert!(decided[7..].iter().all(|run| run % 4 == 3), "{decided:?}");
    let plain = Check {
        name: CheckName::Dates,
        outcome: CheckOutcome::Marked,
        reason: String::new(),
    };
    assert!(
        head(&store, 30).await.checks.contains(&plain),
        "checks stay"
    );
    store.close().await;
}

pub(crate) async fn owners_answer_and_withdraw(site: Site) {
    let store = filled(&site).await;
    let id = Uuid::from_u128(25);
    let answer = |text: &str| OwnersAnswer {
        text: text.to_owned(),
        at_ms: NOW_MS,
    };
    let none = Vec::new();
    let stranger = store.answer(id, [9; 32], answer("no"), none.clone()).await;
    assert_eq!(stranger.unwrap(), Answered::Forbidden);
    let one = Bucket {
        key: [5; 16],
        most: 1.0,
        per_hour: 1.0,
    };
    let first = store.answer(id, token(25), answer("one"), vec![one.clone()]);
    assert!(matches!(first.await.unwrap(), Answered::Now(_)));
    let limited = store.answer(id, token(25), answer("two"), vec![one]);
    assert!(matches!(limited.await.unwrap(), Answered::Limited(_)));
    let second = store.answer(id, token(25), answer("three"), none.clone());
    assert!(matches!(second.await.unwrap(), Answered::Now(_)));
    assert_eq!(store.answer_of(id).await.unwrap(), Some(answer("three")));
    let shared = Uuid::from_u128(1);
    let shared = store
        .answer(shared, token(1), answer("no"), none.clone())
        .await;
    assert_eq!(shared.unwrap(), Answered::NotQuarantined);
    store.withdraw(id, token(25)).await.unwrap();
    assert_eq!(store.answer_of(id).await.unwrap(), None);
    let gone = store
        .answer(id, token(25), answer("no"), none.clone())
        .await;
    assert_eq!(gone.unwrap(), Answered::Gone);
    let unknown = store.answer(Uuid::from_u128(999), token(1), answer("no"), none);
    assert_eq!(unknown.await.unwrap(), Answered::Unknown);
    store.close().await;
}

fn account(name: &str) -> Account {
    Account {
        name: name.to_owned(),
        password: PasswordHash {
            hash: [1; 32],
            salt: [2; 16],
            memory_kib: 64,
            passes: 1,
        },
        totp: vec![3; 20],
        created_ms: NOW_MS,
    }
}

pub(crate) async fn accounts_and_sessions(site: Site) {
    let store = site.open().await;
    assert!(store.add_account(account("anna")).await.unwrap());
    assert!(!store.add_account(account("anna")).await.unwrap());
    store.add_account(account("bert")).await.unwrap();
    assert_eq!(store.account("anna").await.unwrap(), Some(account("anna")));
    assert_eq!(store.account("carl").await.unwrap(), None);
    assert_eq!(store.accounts().await.unwrap().len(), 2);
    // Each step once, and none before it.
    for (step, is_taken) in [(100, true), (100, false), (99, false), (101, true)] {
        assert_eq!(
            store.take_step("anna", step).await.unwrap(),
            is_taken,
            "{step}"
        );
    }
    assert!(store.take_step("bert", 100).await.unwrap());

    let begin =
        async |hash: u8, name: &str| store.begin_session([hash; 32], name, NOW_MS).await.unwrap();
    assert!(begin(1, "anna").await && begin(2, "anna").await && begin(3, "bert").await);
    assert!(!begin(4, "carl").await);
    let at = async |hash: u8, after_ms: i64| {
        let found = store.session([hash; 32], NOW_MS + after_ms).await;
        found.unwrap()
    };
    assert_eq!(at(9, 0).await, None);
    // An hour without use ends the one; the other is used each half hour, and ends after twelve hours.
    for half in 1..24 {
        assert_eq!(
            at(1, half * HOUR_MS / 2).await.as_deref(),
            Some("anna"),
            "{half}"
        );
    }
    assert_eq!(at(1, 12 * HOUR_MS).await, None);
    assert_eq!(at(2, HOUR_MS - 1).await.as_deref(), Some("anna"));
    assert_eq!(at(3, HOUR_MS).await, None);
    assert!(store.end_session([2; 32]).await.unwrap());
    assert_eq!(at(2, 0).await, None);
    begin(5, "anna").await;
    assert!(store.remove_account("anna").await.unwrap());
    assert_eq!(at(5, 0).await, None);
    assert!(!store.remove_account("anna").await.unwrap());
    store.purge(NOW_MS + 2 * DAY_MS).await.unwrap();
    let mut connection = site.connect().await;
    let left = sqlx::query("select count(*) from sessions");
    let left: i64 = left.fetch_one(&mut connection).await.unwrap().get(0);
    assert_eq!(left, 0);
    store.close().await;
}

/// Another process adds an account while the site has its database open.
pub(crate) async fn accounts_are_added_beside_the_site(site: Site) {
    let store = site.open().await;
    let beside = SiteStore::open_beside(&site.address).await.unwrap();
    beside.add_account(account("anna")).await.unwrap();
    beside.close().await;
    assert!(store.account("anna").await.unwrap().is_some());
    store.close().await;
}
