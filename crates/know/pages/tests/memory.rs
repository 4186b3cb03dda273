//! The pages over records in memory, without a server or a database.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use cardmark_catalog::publications;
use cardmark_core::{Integrity, IntegrityTest, Record, StorageKind};
use cardmark_judge::{Figure, derive_again};
use cardmark_pages::frame::{Frame, Page};
use cardmark_pages::pages::choice::ChoicePageQuery;
use cardmark_pages::pages::compare::{ComparePageQuery, compared_sides};
use cardmark_pages::pages::ranking::{RankingPage, RankingPageQuery};
use cardmark_pages::pages::{boards, choice, compare, home, product, ranking, run, runs};
use cardmark_pages::shared::all_figures;
use cardmark_pages::views::board::{BoardEntry, BoardsPage};
use cardmark_pages::views::product::{
    ProductEntry, ProductView, ProductsPage, ProductsQuery, SummaryView,
};
use cardmark_pages::views::ranking::{ContextEntry, Contexts, RankedEntry, RankingView};
use cardmark_pages::views::run::{ListedRun, Run, RunState};
use cardmark_pages::views::search::{SearchPage, SearchQuery};
use cardmark_pages::{Queries, not_found};
use cardmark_share::{
    Check, CheckName, CheckOutcome, Extract, Level, Problem, Summary, Voice, context_key,
    product_key,
};
use uuid::Uuid;

#[path = "memory/published.rs"]
mod published;

/// Records, each as if three people had sent it, and their figures.
struct Memory(Vec<Record>, OnceLock<Figures>);

/// Figures by metric, context and product.
type Figures = BTreeMap<Place, (BTreeMap<String, String>, Summary, u64)>;
type Place = (String, i64, String);

impl Memory {
    fn of(records: Vec<Record>) -> Self {
        Self(records, OnceLock::new())
    }

    fn published() -> Self {
        let all = publications().iter().flat_map(|one| one.records());
        let mut records: Vec<Record> = all.collect();
        for record in &mut records {
            let _ = derive_again(record);
        }
        Self::of(records)
    }

    fn extracts(&self) -> impl Iterator<Item = Extract> {
        self.0.iter().map(Extract::of)
    }

    fn figures(&self) -> Figures {
        self.1.get_or_init(|| self.of_extracts()).clone()
    }

    fn of_extracts(&self) -> Figures {
        let mut figures = Figures::new();
        for extract in self.extracts() {
            let Some(product) = extract.product_key() else {
                continue;
            };
            for figure in &extract.figures {
                let key = context_key(&extract.context);
                let place = (figure.metric.clone(), key, product.clone());
                let (context, summary, cards) = figures.entry(place).or_default();
                *context = extract.context.clone();
                *cards += 3;
                (0..3).for_each(|_| summary.add(figure.value, Voice::NEW));
            }
        }
        figures
    }

    /// The metric that most products have under the same circumstances.
    fn most_ranked(&self) -> Option<String> {
        let mut counts = BTreeMap::<(String, i64), usize>::new();
        for (metric, context, _) in self.figures().into_keys() {
            *counts.entry((metric, context)).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        most.map(|((metric, _), _)| metric)
    }

    fn listed(record: &Record) -> ListedRun {
        let extract = Extract::of(record);
        ListedRun {
            id: record.id,
            state: RunState::Shared,
            level: Level::Published,
            received_on: "2026-11-28".to_owned(),
            received_ms: 0,
            day: extract.day.clone(),
            product: extract.product_key(),
            product_name: extract.product_name,
            model: extract.model,
            board: extract.board,
            suite: extract.suite,
            bus: extract.bus,
            size_bytes: extract.size_bytes,
            storage: None,
            result: extract.result,
            decided_by: None,
        }
    }

    fn find(&self, id: Uuid) -> Result<&Record, Problem> {
        let found = self.0.iter().find(|record| record.id == id);
        found.ok_or_else(|| not_found("No such run", "it is not in memory"))
    }
}

impl Queries for Memory {
    type Error = Problem;

    fn today(&self) -> cardmark_judge::Day {
        cardmark_judge::Day::parse("2026-11-28").unwrap_or_default()
    }

    async fn runs_count(&self) -> Result<u64, Problem> {
        Ok(self.0.len() as u64)
    }

    async fn search(&self, query: SearchQuery) -> Result<SearchPage, Problem> {
        let listed = self.0.iter().map(Self::listed);
        let is_on = |run: &ListedRun| query.board.is_none() || run.board == query.board;
        let records = listed
            .filter(is_on)
            .take(query.limit.unwrap_or(20) as usize);
        Ok(SearchPage {
            records: records.collect(),
            next: None,
        })
    }

    async fn record(&self, id: Uuid) -> Result<Record, Problem> {
        self.find(id).cloned()
    }

    async fn products(&self, _: ProductsQuery) -> Result<ProductsPage, Problem> {
        let mut products = BTreeMap::<String, ProductEntry>::new();
        for extract in self.extracts() {
            if let (Some(key), Some(name)) = (extract.product_key(), &extract.product_name) {
                let entry = products.entry(key.clone()).or_default();
                (entry.key, entry.name) = (key, name.clone());
                entry.runs_count += 1;
                entry.cards_count += 1;
                entry.fakes_count += u64::from(extract.storage == Some(StorageKind::Limbo));
            }
        }
        Ok(ProductsPage {
            products: products.into_values().collect(),
            next: None,
        })
    }

    async fn products_of(&self, keys: Vec<String>) -> Result<Vec<ProductEntry>, Problem> {
        let mut all = self.products(ProductsQuery::default()).await?.products;
        all.retain(|entry| keys.contains(&entry.key));
        Ok(all)
    }

    async fn product(&self, name: &str, _: Option<&str>) -> Result<ProductView, Problem> {
        let key = product_key(name);
        let all = self.products(ProductsQuery::default()).await?.products;
        let entry = all.into_iter().find(|entry| entry.key == key);
        let mut known = cardmark_catalog::products().iter();
        let known = known.find(|one| one.id == key);
        let of_catalogue = known.map(|one| ProductEntry {
            key: key.clone(),
            name: one.name(),
            ..ProductEntry::default()
        });
        let entry = entry.or(of_catalogue);
        let entry = entry.ok_or_else(|| not_found("No such product", "it is not in memory"))?;
        let own = self.figures().into_iter();
        let own = own.filter(|((.., product), _)| *product == key);
        Ok(ProductView {
            entry,
            accepted_by: None,
            claims: known.map(|one| one.claims.clone()).unwrap_or_default(),
            summaries: own
                .filter_map(|((metric, ..), (context, summary, cards))| {
                    SummaryView::of(metric, context, summary, cards)
                })
                .collect(),
            next: None,
            published: Vec::new(),
        })
    }

    async fn boards(&self, _: Option<String>, _: u32) -> Result<BoardsPage, Problem> {
        let mut counts = BTreeMap::<String, u64>::new();
        for board in self.extracts().filter_map(|extract| extract.board) {
            *counts.entry(board).or_default() += 1;
        }
        let board = |(model, runs_count)| BoardEntry { model, runs_count };
        Ok(BoardsPage {
            boards: counts.into_iter().map(board).collect(),
            next: None,
        })
    }

    async fn contexts(
        &self,
        metric: &str,
        _: Option<&str>,
        limit: u32,
    ) -> Result<Contexts, Problem> {
        let mut found = BTreeMap::<i64, ContextEntry>::new();
        for ((of, key, _), (context, ..)) in self.figures() {
            if of == metric {
                let new = ContextEntry {
                    key,
                    context,
                    products_count: 0,
                };
                found.entry(key).or_insert(new).products_count += 1;
            }
        }
        let mut contexts: Vec<ContextEntry> = found.into_values().collect();
        contexts.sort_by_key(|one| std::cmp::Reverse(one.products_count));
        contexts.truncate(limit as usize);
        Ok(Contexts {
            contexts,
            next: None,
        })
    }

    async fn ranking(
        &self,
        metric: &str,
        context: i64,
        _: Option<&str>,
        limit: u32,
    ) -> Result<RankingView, Problem> {
        let figures = self.figures().into_iter();
        let figures = figures.filter(|((of, key, _), _)| of == metric && *key == context);
        let entry = |((metric, _, product), (context, summary, cards)): (Place, _)| {
            let summary = SummaryView::of(metric, context, summary, cards)?;
            Some(RankedEntry {
                name: product_name(&product),
                key: product,
                place: -summary.median,
                summary,
            })
        };
        let mut places: Vec<RankedEntry> = figures.filter_map(entry).collect();
        places.sort_by(|one, next| one.place.total_cmp(&next.place));
        places.truncate(limit as usize);
        Ok(RankingView { places, next: None })
    }

    async fn figures(&self) -> Result<Arc<Vec<Figure>>, Problem> {
        all_figures(self).await
    }
}

fn product_name(key: &str) -> String {
    let known = cardmark_catalog::products()
        .iter()
        .find(|one| one.id == key);
    known.map_or_else(|| key.to_owned(), cardmark_catalog::Product::name)
}

/// The result of a future that waits for nothing.
fn done<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => unreachable!("queries in memory wait for nothing"),
    }
}

/// Checks the page, and returns it as HTML.
#[track_caller]
fn html(page: &Page, parts: &[&str]) -> String {
    let html = page.html(Frame::Site);
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>"));
    for part in parts {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
    html
}

#[test]
fn the_first_page_has_the_newest_runs_and_a_product_for_a_use() {
    let memory = Memory::published();
    let count = memory.0.len();
    let page = done(home::home(&memory, "https://cards.example")).unwrap();
    let of_runs = format!("{count} runs of memory cards");
    let newest = format!("/runs/{}", memory.0[0].id);
    let page = html(
        &page,
        &[
            &of_runs,
            &newest,
            "<h2>What to buy</h2>",
            "cardmark submit --new --server https://cards.example",
            "action=\"/for\"",
            "action=\"/products\"",
            "action=\"/compare\"",
        ],
    );
    let answer = page.find("<p>Boot and desktop on any board: ");
    assert!(answer.is_some() && answer < page.find("<table"), "{page}");
    assert!(page.contains("<svg"), "a chart of well-known cards");
    let personal = done(home::personal(
        &memory,
        vec!["a.sqlite: locked".to_owned()],
        Some("1 of 2 cards needs attention: 1 to replace".to_owned()),
    ))
    .unwrap();
    let personal = personal.html(Frame::Computer);
    for part in [
        "Only your browser can open this page",
        "1 of 2 cards needs attention: 1 to replace.",
        "a.sqlite: locked",
        "/under-way",
    ] {
        assert!(personal.contains(part), "{part}");
    }
}

/// The page of a use on a board, as HTML.
fn choice_of(wanted: &str, board: &str) -> Result<String, Problem> {
    let asked = ChoicePageQuery {
        board: board.to_owned(),
        ..ChoicePageQuery::default()
    };
    let page = done(choice::recommended(&Memory::of(Vec::new()), wanted, &asked))?;
    Ok(page.html(Frame::Site))
}

#[test]
fn the_page_of_a_use_begins_with_the_answer() {
    let html = choice_of("boot", "").unwrap();
    let first = html.find("Boot and desktop on any board: Raspberry Pi 64 GB");
    assert!(first < html.find("<table"), "{html}");
    assert!(html.contains("suits any board"), "{html}");
    assert!(
        html.contains("≥\u{a0}1500/s"),
        "an estimate is a bound: {html}"
    );
    let is_share = html.contains("%</td>") || html.contains("of enough");
    assert!(!is_share, "what suits is enough: {html}");
    assert!(html.contains("The first 30 of "), "{html}");
    assert!(!html.contains("FriendlyELEC eMMC"), "microSD unless told");
    assert!(choice_of("gaming", "").is_err());
}

/// Shared runs and published figures are in one order.
#[test]
fn shared_runs_count_beside_published_figures() {
    let memory = Memory::published();
    let published = cardmark_judge::published_figures().len();
    let all = done(all_figures(&memory)).unwrap();
    let shared = &all[published..];
    assert!(shared.len() > 100, "{}", shared.len());
    for figure in shared {
        assert!(figure.cards_count >= 3, "three submitters: {figure:?}");
        assert!(figure.subject.product.is_some(), "{figure:?}");
    }
    assert!(shared.iter().any(|figure| figure.subject.board.is_some()));
    let asked = ChoicePageQuery {
        board: "Raspberry Pi 4 Model B".to_owned(),
        ..ChoicePageQuery::default()
    };
    let page = done(choice::recommended(&memory, "boot", &asked)).unwrap();
    html(
        &page,
        &["from shared runs of three submitters and more", "suits"],
    );
    let html = choice_of("boot", "").unwrap();
    assert!(html.contains("From published figures only"), "{html}");
}

/// A page has no options: what they show is on it, and its form asks for the capacity.
#[test]
fn pages_of_uses_name_no_options() {
    for wanted in cardmark_catalog::uses() {
        let of = |capacity: &str| {
            let asked = ChoicePageQuery {
                capacity: capacity.to_owned(),
                ..ChoicePageQuery::default()
            };
            done(choice::recommended(
                &Memory::of(Vec::new()),
                &wanted.id,
                &asked,
            ))
        };
        let html = of("32").unwrap().html(Frame::Site);
        for option in ["--all", "--capacity", "--use", "cardmark recommend"] {
            assert!(!html.contains(option), "{}: {option} in {html}", wanted.id);
        }
        assert!(html.contains("name=\"capacity\""), "{html}");
        assert!(of("33").is_err() && of("x").is_err());
    }
}

#[test]
fn the_page_of_a_use_answers_for_every_board() {
    for board in cardmark_catalog::boards() {
        let html = choice_of("boot", &board.name).unwrap();
        let part = "Boot and desktop on ";
        assert!(
            html.contains(part) && !html.contains("on any board:"),
            "{html}"
        );
    }
    assert!(choice_of("boot", "Amiga").is_err());
}

#[test]
fn the_page_of_a_use_by_endurance_has_volumes() {
    for wanted in cardmark_catalog::uses() {
        let html = choice_of(&wanted.id, "").unwrap();
        let is_by_endurance = wanted.needs.is_empty();
        assert_eq!(html.contains(" TB"), is_by_endurance, "{html}");
    }
}

#[test]
fn products_rankings_and_boards_lead_to_each_other() {
    let memory = Memory::published();
    let metric = &memory.most_ranked().unwrap();
    let asked = RankingPageQuery {
        metric: Some(metric.clone()),
        ..RankingPageQuery::default()
    };
    let RankingPage::Here(page) = done(ranking::ranking(&memory, &asked)).unwrap() else {
        panic!("it is the first page");
    };
    let contexts = done(memory.contexts(metric, None, 1)).unwrap().contexts;
    let places = done(memory.ranking(metric, contexts[0].key, None, 50))
        .unwrap()
        .places;
    assert!(places.len() > 1, "{places:?}");
    let addresses = places
        .iter()
        .map(|one| cardmark_pages::addresses::product(&one.key));
    let addresses: Vec<String> = addresses.collect();
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let page = html(&page, &addresses);
    assert!(page.contains("<svg"), "a chart of rates");
    let first = &places[0];
    let page = done(product::product(
        &memory,
        &first.key,
        None,
        "https://cards.example",
    ));
    let ranking = cardmark_pages::addresses::ranking(metric, &contexts[0].key.to_string());
    let ranking = ranking.replace('&', "&amp;");
    let preview = "https://cards.example/products/";
    html(&page.unwrap(), &[&ranking, preview]);
    let unknown = done(product::product(&memory, "no such card", None, "")).unwrap_err();
    assert_eq!(unknown.status, 404);
    let board = memory.extracts().find_map(|extract| extract.board).unwrap();
    let page = done(boards::board(&memory, board.clone())).unwrap();
    html(&page, &["<h2>Best known figures</h2>", "/runs?board="]);
    html(&done(boards::boards(&memory, None)).unwrap(), &["/boards/"]);
}

/// The page of a fake whose run has this state and a check of this result.
fn page_of_a_fake(state: RunState, outcome: CheckOutcome) -> Result<String, Problem> {
    let mut fake = Memory::published().0.swap_remove(0);
    let (size, real) = (64_000_000_000, 8_000_000_000);
    fake.integrity = Some(Integrity::new(
        IntegrityTest::Verify,
        StorageKind::Limbo,
        size,
        real,
    ));
    let shown = Run {
        listed: ListedRun {
            state,
            ..Memory::listed(&fake)
        },
        checks: vec![Check {
            name: CheckName::Dates,
            outcome,
            reason: "it is dated tomorrow".to_owned(),
        }],
    };
    let memory = Memory::of(vec![fake]);
    let page = done(run::run(&memory, shown, "https://cards.example".to_owned()))?;
    Ok(page.html(Frame::Site))
}

#[test]
fn a_run_that_counts_begins_with_its_answer() {
    for (state, outcome, is_first) in [
        (RunState::Shared, CheckOutcome::Passed, true),
        (RunState::Shared, CheckOutcome::CannotTell, true),
        (RunState::Shared, CheckOutcome::Marked, true),
        (RunState::Shared, CheckOutcome::NotCounted, false),
        (RunState::Quarantined, CheckOutcome::Failed, false),
        (RunState::Quarantined, CheckOutcome::Passed, false),
    ] {
        let html = page_of_a_fake(state, outcome).unwrap();
        let (_, content) = html.split_once("<main").unwrap();
        let answer = content.find("FALSE CAPACITY").unwrap();
        let standing = content.find("received on").unwrap();
        assert_eq!(answer < standing, is_first, "{state:?} {outcome:?}: {html}");
    }
}

#[test]
fn a_run_and_a_comparison_show_the_records() {
    let memory = Memory::published();
    let search = done(runs::runs(&memory, SearchQuery::last(3))).unwrap();
    html(&search, &[&format!("/runs/{}", memory.0[2].id)]);
    let id = memory.0[0].id;
    let shown = Run {
        listed: Memory::listed(&memory.0[0]),
        checks: Vec::new(),
    };
    let page = done(run::run(&memory, shown, "https://cards.example".to_owned()));
    html(
        &page.unwrap(),
        &[&format!("/api/v1/records/{id}"), "/badge.svg"],
    );
    let is_comparable = |one: &Record, other: &Record| {
        one.id != other.id && compared_sides(&[vec![one], vec![other]], &[], &[]).is_ok()
    };
    let pairs = memory
        .0
        .iter()
        .flat_map(|one| memory.0.iter().map(move |other| (one, other)));
    let (base, other) = pairs
        .into_iter()
        .find(|(one, other)| is_comparable(one, other))
        .unwrap();
    let asked = ComparePageQuery {
        base: base.id.to_string(),
        other: other.id.to_string(),
        across: String::new(),
    };
    let page = done(compare::compare(&memory, asked)).unwrap();
    html(
        &page,
        &["<h1>Compare</h1>", &other.id.to_string(), "<table"],
    );
    let same = ComparePageQuery {
        base: base.id.to_string(),
        other: base.id.to_string(),
        across: String::new(),
    };
    let refused = done(compare::compare(&memory, same)).unwrap_err();
    assert_eq!(
        (refused.status, &*refused.kind),
        (422, "/problems/not-comparable")
    );
}

#[test]
fn a_run_stands_beside_the_others_of_its_product() {
    let memory = Memory::published();
    let metric = &memory.most_ranked().unwrap();
    let contexts = done(memory.contexts(metric, None, 1)).unwrap().contexts;
    let places = done(memory.ranking(metric, contexts[0].key, None, 1)).unwrap();
    let key = places.places[0].key.clone();
    let is_of = |extract: &Extract| {
        let is_same = context_key(&extract.context) == contexts[0].key;
        is_same && extract.product_key().as_ref() == Some(&key)
    };
    let id = memory.extracts().find(is_of).unwrap().id;
    let record = memory.0.iter().find(|record| record.id == id).unwrap();
    let shown = |state| Run {
        listed: ListedRun {
            state,
            ..Memory::listed(record)
        },
        checks: Vec::new(),
    };
    let page = |state| done(run::run(&memory, shown(state), String::new())).unwrap();
    html(
        &page(RunState::Shared),
        &["Beside other cards of", "median of all"],
    );
    let waiting = page(RunState::Quarantined).html(Frame::Site);
    assert!(!waiting.contains("Beside other cards"), "{waiting}");
}

#[test]
fn a_list_of_runs_has_their_answers() {
    let mut memory = Memory::published();
    memory.0.truncate(3);
    let (size, real) = (64_000_000_000, 8_000_000_000);
    memory.0[1].integrity = Some(Integrity::new(
        IntegrityTest::Verify,
        StorageKind::Limbo,
        size,
        real,
    ));
    let page = done(runs::runs(&memory, SearchQuery::last(3))).unwrap();
    let results: Vec<String> = memory.extracts().map(|extract| extract.result).collect();
    assert!(results[0].contains("MB/s"), "{results:?}");
    html(&page, &["FALSE CAPACITY: 8 GB of 64 GB"]);
    let about = page_of_a_fake(RunState::Shared, CheckOutcome::Passed).unwrap();
    let description = about.split("og:description\" content=\"").nth(1).unwrap();
    assert!(description.starts_with("FALSE CAPACITY"), "{description}");
}
