//! All pages as files, opened by following their links from the first one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use cardmark_report::workload_name;
use cardmark_site::export_pages;
use cardmark_site_data::verify;
use tempfile::TempDir;

use crate::many::{load, ranked};
use crate::pages::{filled, links};
use crate::rig::{Rig, another, bearer, config};

/// Every file that links lead to, with the file that names it first; and pages by path.
fn followed(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut pages = BTreeMap::new();
    let mut waiting = vec![folder.join("index.html")];
    while let Some(path) = waiting.pop() {
        if pages.contains_key(&path) {
            continue;
        }
        let bytes =
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let is_page = path
            .extension()
            .is_some_and(|end| end == "html" || end == "atom");
        let text = match is_page {
            true => String::from_utf8(bytes).unwrap(),
            false => String::new(),
        };
        for name in ["href=\"", "src=\""] {
            for link in text.split(name).skip(1) {
                let link = link.split('"').next().unwrap();
                let link = link.split('#').next().unwrap();
                if link.is_empty() || link.starts_with("https://") {
                    continue;
                }
                assert!(!link.starts_with('/'), "{}: {link}", path.display());
                assert!(
                    !link.contains(['?', '%', ':']),
                    "{}: {link}",
                    path.display()
                );
                let to = path.parent().unwrap().join(link);
                let to = to
                    .canonicalize()
                    .unwrap_or_else(|error| panic!("{}: {link}: {error}", path.display()));
                assert!(to.starts_with(folder), "{}: {link}", path.display());
                waiting.push(to);
            }
        }
        pages.insert(path, text);
    }
    pages
}

#[tokio::test]
async fn every_link_of_an_export_leads_to_a_file() {
    let rig = filled().await;
    let withdrawn = another(3).id;
    let headers = [("authorization", &*bearer(3, withdrawn))];
    let path = format!("/api/v1/records/{withdrawn}");
    assert_eq!(
        rig.ask("DELETE", &path, &headers, "").await.status,
        StatusCode::OK
    );
    let folder = TempDir::new().unwrap();
    let place = folder.path().canonicalize().unwrap().join("static");
    let count = export_pages(&rig.store, config(), &place).await.unwrap();
    let pages = followed(&place);
    let html = pages
        .keys()
        .filter(|path| path.extension().is_some_and(|end| end == "html"));
    assert!(html.count() > 30, "{count} pages");
    for (path, text) in &pages {
        assert!(!text.contains("<form"), "{}", path.display());
        assert!(!text.contains(&withdrawn.to_string()), "{}", path.display());
    }
    let names = pages.keys().map(|path| path.strip_prefix(&place).unwrap());
    let names: Vec<&str> = names.map(|path| path.to_str().unwrap()).collect();
    let run = format!("runs/{}.html", another(1).id);
    for name in [
        "index.html",
        "feed.atom",
        "data.html",
        "checks.html",
        "products.html",
        &run,
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let [dump] = &std::fs::read_dir(place.join("data/dumps"))
        .unwrap()
        .collect::<Vec<_>>()[..]
    else {
        panic!("more than a dump");
    };
    let manifest = verify(&dump.as_ref().unwrap().path()).unwrap();
    assert_eq!(manifest.tombstones, 1);
    for file in &manifest.files {
        assert!(
            names.iter().any(|name| name.ends_with(&file.path)),
            "{}",
            file.path
        );
    }
    // Whatever was written can be reached.
    let written = walk(&place);
    assert_eq!(written.len(), pages.len(), "{written:?}");
    let again = export_pages(&rig.store, config(), &place)
        .await
        .unwrap_err();
    assert!(again.to_string().contains("is there already"), "{again}");
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let (folders, mut files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| walk(folder)));
    files
}

/// Boards with rankings: more than the form and the first page of circumstances have.
const BOARDS: usize = 33;

/// Metric and circumstances of every ranking that the API lists.
async fn rankings(rig: &Rig, metrics: &[String]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for metric in metrics {
        let mut cursor = String::new();
        loop {
            let path = format!("/api/v1/contexts?metric={metric}&limit=20{cursor}");
            let page = rig.get(&path).await.json();
            for context in page["contexts"].as_array().unwrap() {
                let key = context["key"].as_str().unwrap();
                let path = format!("/api/v1/rankings?metric={metric}&context={key}");
                let places = rig.get(&path).await.json();
                assert!(!places["places"].as_array().unwrap().is_empty(), "{path}");
                let board = context["context"]["board"].as_str().unwrap();
                found.push((metric.clone(), board.to_owned()));
            }
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
    }
    found
}

async fn with_rankings() -> Rig {
    let rig = Rig::new().await;
    let board = |number| format!("Board {number}");
    let runs = (0..BOARDS).flat_map(|number| ranked("Card 32", &board(number)));
    load(&rig, runs.chain(ranked("Other 64", "Board 0"))).await;
    rig
}

/// Returns whether a page is the ranking in a metric on a board.
fn is_ranking(page: &str, (metric, board): &(String, String)) -> bool {
    let title = format!("<h1>Ranking: {}</h1>", workload_name(metric));
    let places = ["1. Card 32", "1–2. Card 32"];
    let has_places = places.iter().any(|place| page.contains(place));
    page.contains(&title) && page.contains(&format!("<p>{board}, ")) && has_places
}

#[tokio::test]
async fn rankings_lead_to_all_others_without_a_form() {
    let rig = with_rankings().await;
    let (mut pages, mut waiting) = (BTreeMap::new(), vec!["/rankings".to_owned()]);
    while let Some(path) = waiting.pop() {
        if pages.contains_key(&path) {
            continue;
        }
        let page = rig.get(&path).await.text();
        let found = links(&page).into_iter();
        waiting.extend(found.filter(|link| link.starts_with("/rankings")));
        pages.insert(path, page);
    }
    let metrics = ["rand_read_4k", "seq_write_1m"].map(str::to_owned);
    for ranking in rankings(&rig, &metrics).await {
        assert!(
            pages.values().any(|page| is_ranking(page, &ranking)),
            "{ranking:?}"
        );
    }
}

#[tokio::test]
async fn every_ranking_of_the_api_is_exported() {
    let rig = with_rankings().await;
    let product = rig.get("/api/v1/products/~card%2032").await.json();
    let summaries = product["summaries"].as_array().unwrap().iter();
    let metrics = summaries.map(|one| one["metric"].as_str().unwrap().to_owned());
    let mut metrics: Vec<String> = metrics.collect();
    metrics.sort();
    metrics.dedup();
    let rankings = rankings(&rig, &metrics).await;
    assert!(!metrics.is_empty(), "{product}");
    assert_eq!(rankings.len(), metrics.len() * BOARDS);
    let folder = TempDir::new().unwrap();
    let place = folder.path().canonicalize().unwrap().join("static");
    export_pages(&rig.store, config(), &place).await.unwrap();
    let pages = followed(&place);
    for ranking in rankings {
        assert!(
            pages.values().any(|page| is_ranking(page, &ranking)),
            "{ranking:?}"
        );
    }
}
