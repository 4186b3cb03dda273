//! Lists: search, products, rankings, comparisons.

use axum::http::StatusCode;
use cardmark_core::{Board, Record};
use cardmark_judge::compare_sides;
use cardmark_report::comparison_json;
use serde_json::Value;

use crate::rig::{Rig, another, measured, text_of};

fn ids(page: &Value) -> Vec<String> {
    let records = page["records"].as_array().unwrap().iter();
    records
        .map(|record| record["id"].as_str().unwrap().to_owned())
        .collect()
}

async fn with_runs(count: u8) -> Rig {
    let rig = Rig::new().await;
    for number in 1..=count {
        let answer = rig
            .submit(number, &text_of(&another(u128::from(number))))
            .await;
        assert_eq!(answer.json()["state"], "shared", "{}", answer.text());
    }
    rig
}

#[tokio::test]
async fn pages_of_a_search_go_through_all_runs_once() {
    let rig = with_runs(7).await;
    // The last page has the rest, or is full.
    for (limit, sizes) in [(3, vec![3, 3, 1]), (7, vec![7])] {
        let first = format!("/api/v1/records?limit={limit}");
        let (mut seen, mut pages, mut path) = (Vec::new(), Vec::new(), first.clone());
        loop {
            let page = rig.get(&path).await.json();
            pages.push(ids(&page).len());
            seen.extend(ids(&page));
            match page["next"].as_str() {
                Some(next) => path = format!("{first}&cursor={next}"),
                None => break,
            }
        }
        let distinct: std::collections::BTreeSet<&String> = seen.iter().collect();
        assert_eq!((pages, distinct.len()), (sizes, 7));
    }
}

#[tokio::test]
async fn a_full_last_page_leads_to_no_other() {
    let rig = Rig::new().await;
    let mut run = another(1);
    run.board = Some(Board {
        model: Some("Board A".to_owned()),
        ..Board::default()
    });
    rig.submit(1, &text_of(&run)).await;
    for list in ["records", "products", "boards"] {
        let page = rig.get(&format!("/api/v1/{list}?limit=1")).await.json();
        assert_eq!(page[list].as_array().map(Vec::len), Some(1), "{page}");
        assert_eq!(page["next"], Value::Null, "{page}");
    }
}

#[tokio::test]
async fn conditions_of_a_search_have_to_be_met() {
    let rig = with_runs(2).await;
    let suite = {
        let record = measured();
        let suite = record.suite.unwrap();
        format!("{}%20{}", suite.name, suite.version)
    };
    let figure = another(1).metric("rand_read_4k").unwrap().value;
    for (query, expected) in [
        ("product=SanDisk%20Ultra%2032%20GB".to_owned(), 2),
        ("product=sandisk%20ultra%2064%20GB".to_owned(), 0),
        (format!("suite={suite}"), 2),
        ("suite=none%201".to_owned(), 0),
        ("board=none".to_owned(), 0),
        (
            format!(
                "metric=rand_read_4k&least={}&most={}",
                figure * 0.9,
                figure * 1.1
            ),
            2,
        ),
        (format!("metric=rand_read_4k&least={}", figure * 1.1), 0),
        ("from=1990-01-01&to=1990-12-31".to_owned(), 0),
        ("from=1990-01-01".to_owned(), 2),
    ] {
        let page = rig.get(&format!("/api/v1/records?{query}")).await;
        assert_eq!(page.status, StatusCode::OK, "{query}: {}", page.text());
        assert_eq!(ids(&page.json()).len(), expected, "{query}");
    }
}

#[tokio::test]
async fn parameters_that_mean_nothing_are_errors() {
    let rig = Rig::new().await;
    for path in [
        "/api/v1/records?prodcut=x",
        "/api/v1/records?limit=0",
        "/api/v1/records?limit=101",
        "/api/v1/records?limit=-1",
        "/api/v1/records?cursor=1",
        "/api/v1/records?least=1",
        "/api/v1/records?metric=a&least=NaN",
        "/api/v1/records?metric=a&most=inf",
        "/api/v1/records?from=yesterday",
        "/api/v1/records?board=%00",
        "/api/v1/changes?cursor=x",
        "/api/v1/rankings?metric=a",
        "/api/v1/rankings?metric=a&context=b",
        "/api/v1/compare?base=1&other=2",
        "/api/v1/products/%00",
        "/api/v1/products/%ff",
        "/schema/%ff",
        "/problems/%ff",
        "/api/v1/contexts?metric=%00",
        "/api/v1/records?to=",
        "/api/v1/records?board=Pi&cursor",
    ] {
        let answer = rig.get(path).await;
        assert_eq!(
            answer.status,
            StatusCode::BAD_REQUEST,
            "{path}: {}",
            answer.text()
        );
        assert_eq!(answer.headers["content-type"], "application/problem+json");
    }
    for path in [
        "/api/v1/records/none",
        "/api/v1/none",
        "/none",
        "/api/v1/products/none",
        "/schema/none",
        "/api/v1/acts/%ff",
        "/api/v1/acts/none",
    ] {
        let answer = rig.get(path).await;
        assert_eq!(
            (answer.status, &answer.json()["status"]),
            (StatusCode::NOT_FOUND, &404.into()),
            "{path}"
        );
    }
    let answer = rig.ask("PATCH", "/api/v1/records", &[], "").await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(answer.headers["content-type"], "application/problem+json");
}

#[tokio::test]
async fn a_product_is_ranked_from_three_submitters_on() {
    let rig = Rig::new().await;
    let places = async || {
        let contexts = rig.get("/api/v1/contexts?metric=rand_read_4k").await.json();
        let Some(key) = contexts["contexts"][0]["key"].as_str() else {
            return 0;
        };
        let ranking = rig
            .get(&format!(
                "/api/v1/rankings?metric=rand_read_4k&context={key}"
            ))
            .await
            .json();
        ranking["places"].as_array().unwrap().len()
    };
    for (owner, number, expected) in [(1, 1, 0), (1, 2, 0), (2, 3, 0), (3, 4, 1)] {
        rig.submit(owner, &text_of(&another(number))).await;
        assert_eq!(places().await, expected, "{owner} submitters");
    }
    let product = rig
        .get("/api/v1/products/SanDisk%20Ultra%2032%20GB")
        .await
        .json();
    let summaries = product["summaries"].as_array().unwrap();
    let summary = summaries
        .iter()
        .find(|one| one["metric"] == "rand_read_4k")
        .unwrap();
    assert_eq!(
        (&summary["cards_count"], &summary["submitters_count"]),
        (&3.into(), &3.into())
    );
    let value = another(1).metric("rand_read_4k").unwrap().value;
    let median = summary["median"].as_f64().unwrap();
    assert!((median / value - 1.0).abs() < 0.01, "{median} {value}");
}

#[tokio::test]
async fn comparisons_and_places_are_those_of_the_program() {
    let rig = with_runs(2).await;
    let read = |number: u128| -> Record {
        let text = text_of(&another(number));
        cardmark_share::read_submission(&text).unwrap().record
    };
    let (one, other) = (read(1), read(2));
    let query = format!("base={}&other={}", one.id, other.id);
    let answer = rig.get(&format!("/api/v1/compare?{query}")).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    let sides = [vec![&one], vec![&other]];
    let names = [one.id.to_string(), other.id.to_string()];
    let expected = compare_sides(&sides, &[], &[]).unwrap();
    assert_eq!(
        answer.json(),
        comparison_json([&names[0], &names[1]], &sides, &expected, &[])
    );
    let both = rig
        .get(&format!("/api/v1/compare?base={}&other={}", one.id, one.id))
        .await;
    assert_eq!(both.status, StatusCode::UNPROCESSABLE_ENTITY);
    let places = rig
        .get(&format!("/api/v1/records/{}/rank", one.id))
        .await
        .json();
    let rankings = places.as_array().unwrap();
    assert!(!rankings.is_empty());
    for ranking in rankings {
        let metric = ranking["metric"].as_str().unwrap();
        let rows = ranking["places"].as_array().unwrap();
        let values: Vec<f64> = rows
            .iter()
            .filter_map(|row| row["value"].as_f64())
            .collect();
        let is_lowest_first = ranking["order"] == "lowest_first";
        let is_in_order = |one: &f64, next: &f64| (one <= next) == is_lowest_first || one == next;
        assert!(values.is_sorted_by(is_in_order), "{metric}: {values:?}");
        let own = rows.iter().find(|row| row["is_asked"] == true).unwrap();
        let figure = one.metric(metric).unwrap().value;
        let value = own["value"].as_f64().unwrap();
        assert!((value / figure - 1.0).abs() < 1e-9, "{metric}: {value}");
    }
    assert!(
        rankings
            .iter()
            .any(|ranking| ranking["places"].as_array().unwrap().len() > 5),
        "{places:#}"
    );
}

#[tokio::test]
async fn published_figures_stand_beside_shared_ones() {
    let rig = Rig::new().await;
    let all = rig.get("/api/v1/published").await.json();
    let figures = all["figures"].as_array().unwrap();
    assert!(figures.len() > 500, "{}", figures.len());
    let key = figures[0]["product"].as_str().unwrap();
    let product = rig.get(&format!("/api/v1/products/{key}")).await.json();
    assert!(!product["published"].as_array().unwrap().is_empty());
    assert_eq!(product["runs_count"], 0);
}

#[tokio::test]
async fn every_check_is_explained() {
    let rig = Rig::new().await;
    let checks = rig.get("/api/v1/checks").await.json();
    assert_eq!(
        checks.as_array().unwrap().len(),
        cardmark_share::CheckName::ALL.len()
    );
}
