//! Pages for people, opened by following their links.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use axum::http::StatusCode;
use cardmark_core::{Board, Record};

use crate::many::{Many, load, ranked};
use crate::rig::{Answer, Rig, another, bearer, corpus, id_of, measured, text_of};

/// Addresses that a page leads to, without those of other sites.
pub(crate) fn links(page: &str) -> Vec<String> {
    let parts = page.split("href=\"").skip(1);
    let links = parts.filter_map(|part| part.split('"').next());
    links
        .map(|link| link.replace("&amp;", "&").replace("&#38;", "&"))
        .filter(|link| link.starts_with('/'))
        .collect()
}

/// True if the page has only the site's own script, from an address of its own.
pub(crate) fn has_own_script_only(page: &str) -> bool {
    page.matches("<script").count() == 1 && page.contains("<script src=\"/script.js?")
}

/// A site with three cards of three submitters of one product, records of every kind, and a quarantined run.
pub(crate) async fn filled() -> Rig {
    let rig = Rig::new().await;
    for number in 1..=3 {
        let answer = rig
            .submit(number, &text_of(&another(u128::from(number))))
            .await;
        assert_eq!(answer.json()["state"], "shared", "{}", answer.text());
    }
    for name in [
        "run-measured-application",
        "run-sim-a1-32gb-quick",
        "run-sim-border-a1-32gb-app-class",
        "run-sim-v30-64gb-sustained",
        "verify-sim-limbo-32gb",
        "probe-sim-limbo-32gb",
        "anatomy-sim-units-16gb",
        "endure-sim-wearing-1gb-cycles-3",
    ] {
        let answer = rig.submit(4, &text_of(&corpus(name))).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    }
    let mut forged = measured();
    forged.trials[0].span_ns /= 2;
    // Products without a page: of a run that counts nowhere, and of a simulated card.
    let product = |record: &mut Record, name: &str| {
        record.labels.insert("product".to_owned(), name.to_owned());
    };
    product(&mut forged, "Forged");
    forged.board = Some(Board {
        model: Some("Board of a forged run".to_owned()),
        ..Board::default()
    });
    let answer = rig.submit(5, &text_of(&forged)).await;
    assert_eq!(answer.json()["state"], "quarantined", "{}", answer.text());
    let mut simulated = corpus("run-sim-v30-64gb-quick");
    product(&mut simulated, "Simulated 64 GB");
    let answer = rig.submit(6, &text_of(&simulated)).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    rig
}

/// Opens every page that can be reached; the answers by path.
async fn all(rig: &Rig) -> BTreeMap<String, Answer> {
    let mut seen = BTreeMap::new();
    let mut waiting = VecDeque::from(["/".to_owned(), "/runs?simulated=true".to_owned()]);
    while let Some(path) = waiting.pop_front() {
        if seen.contains_key(&path) {
            continue;
        }
        let answer = rig.get(&path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text());
        let kind = answer.headers["content-type"].to_str().unwrap();
        if kind.starts_with("text/html") {
            waiting.extend(links(&answer.text()));
        }
        seen.insert(path, answer);
    }
    seen
}

#[tokio::test]
async fn every_link_leads_to_a_page() {
    let rig = filled().await;
    let all = all(&rig).await;
    let pages = all.iter().filter(|(_, answer)| {
        let kind = answer.headers["content-type"].to_str().unwrap();
        kind.starts_with("text/html")
    });
    let mut count = 0;
    for (path, answer) in pages {
        count += 1;
        let text = answer.text();
        assert_eq!(text.matches("<h1>").count(), 1, "{path}");
        assert!(has_own_script_only(&text), "{path}");
        for foreign in ["src=\"http", "url(http", "@import"] {
            assert!(!text.contains(foreign), "{path}: {foreign}");
        }
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        assert!(answer.headers.contains_key("etag"), "{path}");
    }
    assert!(count > 30, "{count} pages");
    for path in [
        "/products/%7Esandisk%20ultra%2032%20gb",
        "/rankings",
        "/checks",
        "/boards",
        "/data",
        "/feed.atom",
    ] {
        let found = all.keys().any(|seen| **seen == *path);
        assert!(found, "{path} is not reached");
    }
}

#[tokio::test]
async fn an_empty_site_answers_by_published_figures_in_small_pages() {
    let rig = Rig::new().await;
    for (path, part) in [
        ("/", "Boot and desktop on any board: "),
        ("/", "cardmark submit --new --server http://localhost"),
        ("/products?q=Samsng%20evo", "Samsung Evo+ 32 GB"),
        (
            "/products/Samsung%20Evo+%2032%20GB",
            "suits boot and desktop",
        ),
        ("/boards", "Raspberry Pi Zero 2 W"),
        (
            "/boards/Raspberry%20Pi%205",
            "Boot and desktop on a Raspberry Pi 5: ",
        ),
        ("/rankings?metric=rand_write_4k", "By published figures"),
        (
            "/compare?base=raspberry+pi+64&other=sandisk+extreme+64",
            "writes randomly",
        ),
        ("/data", "cardmark submit last --server http://localhost"),
    ] {
        let page = rig.get(path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.text());
        assert!(page.text().contains(part), "{path}: {}", page.text());
        let packed = rig
            .ask("GET", path, &[("accept-encoding", "gzip")], "")
            .await;
        assert_eq!(packed.headers["content-encoding"], "gzip", "{path}");
        assert!(packed.body.len() < 60_000, "{path}: {}", packed.body.len());
    }
    let asked = rig.get("/for?board=Raspberry%20Pi%205&use=database").await;
    assert_eq!(asked.status, StatusCode::TEMPORARY_REDIRECT);
    let address = "/for/database?board=Raspberry%20Pi%205";
    assert_eq!(asked.headers["location"], address);
    assert_eq!(rig.get(address).await.status, StatusCode::OK);
    let unknown = rig.get("/for?use=none").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_list_of_runs_has_the_result_of_each() {
    let rig = filled().await;
    let list = rig.get("/runs").await.text();
    for id in [another(1).id, corpus("run-measured-application").id] {
        let row = list.split(&format!("/runs/{id}")).nth(1).unwrap();
        let row = row.split("</tr>").next().unwrap();
        assert!(row.contains("MB/s") || row.contains("/s"), "{row}");
    }
    let simulated = rig.get("/runs?simulated=true").await.text();
    assert!(simulated.contains("FALSE CAPACITY: "), "{simulated}");
    let run = corpus("verify-sim-limbo-32gb").id;
    let page = rig.get(&format!("/runs/{run}")).await.text();
    let description = "<meta property=\"og:description\" content=\"FALSE CAPACITY";
    assert!(page.contains(description), "{page}");
}

#[tokio::test]
async fn runs_that_count_nowhere_lead_to_the_runs_of_their_product() {
    let rig = filled().await;
    for id in [measured().id, corpus("run-sim-v30-64gb-quick").id] {
        let run = format!("/runs/{id}");
        let page = rig.get(&run).await.text();
        let of_product = links(&page)
            .into_iter()
            .find(|link| link.starts_with("/runs?product="));
        let of_product = of_product.unwrap_or_else(|| panic!("{page}"));
        let found = rig.get(&of_product).await.text();
        let listed: Vec<String> = links(&found)
            .into_iter()
            .filter(|link| link.starts_with("/runs/"))
            .collect();
        assert_eq!(listed, [run], "{page}");
    }
}

#[tokio::test]
async fn a_product_has_its_cards_and_its_place() {
    let rig = filled().await;
    let page = rig
        .get("/products/%7Esandisk%20ultra%2032%20gb")
        .await
        .text();
    assert!(page.contains("3 runs of 3 cards."), "{page}");
    let ranking = rig
        .get("/rankings?metric=seq_read_1m&context=")
        .await
        .text();
    assert!(ranking.contains("1. SanDisk Ultra 32 GB"), "{ranking}");
    assert!(ranking.contains("<svg"), "{ranking}");
}

#[tokio::test]
async fn a_run_has_its_checks_and_its_report() {
    let rig = filled().await;
    let page = rig.get(&format!("/runs/{}", another(1).id)).await.text();
    for part in ["no contradiction in this file", "random read 4 KiB", "<svg"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let page = rig.get(&format!("/runs/{}", measured().id)).await.text();
    assert!(page.contains("quarantined: it counts nowhere"), "{page}");
    assert!(page.contains("failed"), "{page}");
}

#[tokio::test]
async fn runs_are_compared() {
    let rig = filled().await;
    let (one, other) = (another(1).id, another(2).id);
    let page = rig
        .get(&format!("/compare?base={one}&other={other}&across="))
        .await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.text());
    assert!(page.text().contains("random read 4 KiB"), "{}", page.text());
    let same = rig.get(&format!("/compare?base={one}&other={one}")).await;
    assert_eq!(same.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(same.text().contains("is on both sides"), "{}", same.text());
    let form = rig.get(&format!("/compare?base={one}")).await;
    assert!(form.text().contains(&one.to_string()), "{}", form.text());
}

#[tokio::test]
async fn empty_fields_of_a_form_are_no_conditions() {
    let rig = filled().await;
    let path = "/runs?product=&board=&suite=&from=&to=&simulated=";
    let page = rig.get(path).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.text());
    let rows = page.text().matches("SanDisk Ultra 32 GB").count();
    assert_eq!(rows, 3, "{}", page.text());
}

#[tokio::test]
async fn errors_are_pages_too() {
    let rig = filled().await;
    let id = another(1).id;
    let headers = [("authorization", &*bearer(1, id_of(&text_of(&another(1)))))];
    let path = format!("/api/v1/records/{id}");
    let withdrawn = rig.ask("DELETE", &path, &headers, "").await;
    assert_eq!(withdrawn.status, StatusCode::OK, "{}", withdrawn.text());
    let gone = format!("/runs/{id}");
    for (path, status, part) in [
        (&*gone, StatusCode::GONE, "its owner withdrew"),
        ("/runs/no-id", StatusCode::NOT_FOUND, "No such run"),
        ("/products/none", StatusCode::NOT_FOUND, "No such product"),
        ("/for/none", StatusCode::NOT_FOUND, "there is"),
        ("/for/%ff", StatusCode::BAD_REQUEST, "utf-8"),
        ("/published/%ff", StatusCode::BAD_REQUEST, "utf-8"),
        ("/audit/%ff", StatusCode::NOT_FOUND, "No such act"),
        (
            "/published/none",
            StatusCode::NOT_FOUND,
            "No such publication",
        ),
        ("/runs?form=2026", StatusCode::BAD_REQUEST, "unknown field"),
        (
            "/runs?from=yesterday",
            StatusCode::BAD_REQUEST,
            "has to be a day",
        ),
    ] {
        let answer = rig.get(path).await;
        assert_eq!(answer.status, status, "{path}");
        let kind = answer.headers["content-type"].to_str().unwrap();
        assert!(kind.starts_with("text/html"), "{path}: {kind}");
        let text = answer.text();
        let lower = text.to_lowercase();
        assert!(lower.contains(&part.to_lowercase()), "{path}: {text}");
    }
}

#[tokio::test]
async fn foreign_text_is_text() {
    let rig = Rig::new().await;
    let hostile = "<script>alert(1)</script>\"' onload=x";
    let mut record = another(1);
    record
        .labels
        .insert("product".to_owned(), hostile.to_owned());
    let answer = rig.submit(1, &text_of(&record)).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    for (path, answer) in all(&rig).await {
        let kind = answer.headers["content-type"].to_str().unwrap().to_owned();
        if kind.starts_with("text/html") || kind.starts_with("application/atom") {
            let text = answer.text();
            let is_page = kind.starts_with("text/html");
            assert!(!is_page || has_own_script_only(&text), "{path}");
            assert!(is_page || !text.contains("<script"), "{path}");
            assert!(!text.contains("\" onload"), "{path}");
        }
    }
    let query = rig.get("/runs?product=%22%3E%3Cscript%3E").await.text();
    assert!(has_own_script_only(&query), "{query}");
}

#[tokio::test]
async fn a_ranking_states_that_it_has_more_places_and_leads_to_other_circumstances() {
    let rig = Rig::new().await;
    let products = (1..=51).flat_map(|number| ranked(&format!("Card {number:02}"), "Board A"));
    load(&rig, products.chain(ranked("Card 01", "Board B"))).await;
    let page = rig.get("/rankings?metric=rand_read_4k").await.text();
    assert!(
        page.contains("The best 50 of 51 ranked products."),
        "{page}"
    );
    assert_eq!(page.matches("href=\"/products/").count(), 50);
    let others = links(&page);
    let is_other = |link: &&String| link.starts_with("/rankings?") && link.contains("context=");
    let other = others.iter().find(is_other);
    let other = rig.get(other.unwrap()).await.text();
    assert!(other.contains("<p>Board B, "), "{other}");
    assert!(!other.contains("The best 50"), "{other}");
    assert!(
        others
            .iter()
            .any(|link| link == "/rankings?metric=seq%5Fwrite%5F1m"),
        "{others:?}"
    );
}

#[tokio::test]
async fn a_board_has_its_products_and_its_best_figures() {
    let rig = Rig::new().await;
    for number in 1..=4 {
        let mut record = another(u128::from(number));
        record.board = Some(Board {
            model: Some("Board A".to_owned()),
            ..Board::default()
        });
        if number == 4 {
            record.trials[0].span_ns /= 2;
        }
        rig.submit(number, &text_of(&record)).await;
    }
    let simulated = corpus("run-sim-a1-32gb-quick");
    rig.submit(5, &text_of(&simulated)).await;
    let run = format!("/runs/{}", another(1).id);
    let links_of_run = links(&rig.get(&run).await.text());
    let board = links_of_run
        .iter()
        .find(|link| link.starts_with("/boards/"));
    let board = board.unwrap();
    let boards = links(&rig.get("/boards").await.text());
    assert!(boards.contains(board), "{boards:?}");
    let page = rig.get(board).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.text());
    let (page, links) = (page.text(), links(&page.text()));
    // Of the three runs that count; the quarantined one is listed only.
    for part in [
        "random read 4 KiB",
        "<td class=\"figure\">3</td>",
        "Products among the 3 that count of 4 runs",
        "quarantined",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for start in [&*run, "/products/", "/rankings?metric=", "/runs?board="] {
        assert!(
            links.iter().any(|link| link.starts_with(start)),
            "{start}: {links:?}"
        );
    }
    let unknown = rig.get("/boards/none").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    let simulated = format!("/runs/{}", simulated.id);
    assert!(!rig.get(&simulated).await.text().contains("/boards/"));
}

#[tokio::test]
async fn a_ranking_goes_on_until_its_last_place() {
    let rig = Rig::new().await;
    let runs = (0..100).flat_map(|number| ranked(&format!("Card {number}"), "Board A"));
    load(&rig, runs).await;
    let mut address = "/rankings?metric=rand_read_4k".to_owned();
    let mut products = BTreeSet::new();
    // Equal figures have no order.
    for places in ["1–50. ", "51–100. "] {
        let page = rig.get(&address).await.text();
        assert!(page.contains(places), "{page}");
        let found = links(&page);
        products.extend(
            found
                .iter()
                .filter(|link| link.starts_with("/products/"))
                .cloned(),
        );
        let next = found.iter().find(|link| link.contains("after="));
        assert_eq!(next.is_some(), places == "1–50. ", "{found:?}");
        address = next.cloned().unwrap_or(address);
    }
    assert_eq!(products.len(), 100);
    // Behind the last place: products left since.
    let contexts = rig.get("/api/v1/contexts?metric=rand_read_4k").await.json();
    let key = contexts["contexts"][0]["key"].as_str().unwrap();
    let ranking = format!("/rankings?metric=rand_read_4k&context={key}");
    let last = "100.7fefffffffffffff.~z";
    let answer = rig.get(&format!("{ranking}&after={last}")).await;
    assert_eq!(answer.status, StatusCode::TEMPORARY_REDIRECT);
    let first = answer.headers["location"].to_str().unwrap();
    assert_eq!(rig.get(first).await.status, StatusCode::OK);
}

#[tokio::test]
async fn the_page_of_a_board_with_many_runs_states_what_it_counts() {
    let rig = Rig::new().await;
    let run = |number: u32| Many {
        product: format!("Card {}", number % 25),
        board: "Board/A ß".to_owned(),
        submitter: 1,
    };
    load(&rig, (0..103).map(run)).await;
    let page = rig.get("/boards/Board%2FA%20%C3%9F").await.text();
    for part in [
        "<h1>Board/A ß</h1>",
        "20 of 25 products among the last 100 runs",
        "The last 20 runs",
        "No ranking on this board",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(page.matches("href=\"/runs/").count(), 20);
    let spelt = |product: &str| Many {
        product: product.to_owned(),
        board: "Two spellings".to_owned(),
        submitter: 2,
    };
    let other = Rig::new().await;
    load(&other, ["Card A", "card a", "Card A"].map(spelt)).await;
    let page = other.get("/boards/Two%20spellings").await.text();
    assert!(page.contains("<td class=\"figure\">3</td>"), "{page}");
    assert_eq!(page.matches("href=\"/products/").count(), 1, "{page}");
    assert!(page.matches("href=\"/products/").count() <= 20);
}
