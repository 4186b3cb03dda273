//! Changes by the owner of a run, and by others.

use axum::http::StatusCode;
use serde_json::Value;

use crate::rig::{Rig, another, bearer, measured, owner_headers, statement, text_of};

fn names(answer: &Value) -> Vec<&str> {
    answer["products"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect()
}

#[tokio::test]
async fn the_owner_amends_and_nobody_else() {
    let (rig, record) = (Rig::new().await, another(1));
    rig.submit(1, &text_of(&record)).await;
    let path = format!("/api/v1/records/{}/statement", record.id);
    let new = statement(record.id, 2, &[("product", "Samsung EVO Plus 32 GB")]);
    let put = async |token: Option<String>, body: &str| {
        let headers: Vec<(&str, &str)> = token
            .iter()
            .map(|token| ("authorization", token.as_str()))
            .collect();
        rig.ask("PUT", &path, &headers, body.to_owned()).await
    };
    assert_eq!(put(None, &new).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(
        put(Some("Basic eA==".to_owned()), &new).await.status,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(
        put(Some(bearer(2, record.id)), &new).await.status,
        StatusCode::FORBIDDEN
    );
    let mine = bearer(1, record.id);
    let amended = put(Some(mine.clone()), &new).await;
    assert_eq!(amended.status, StatusCode::OK, "{}", amended.text());
    assert_eq!(amended.json()["revision"], 2);
    let products = rig.get("/api/v1/products").await.json();
    assert_eq!(names(&products), ["Samsung Evo Plus 32 GB"]);
    let older = put(Some(mine.clone()), &statement(record.id, 1, &[])).await;
    assert_eq!(older.status, StatusCode::CONFLICT);
    assert_eq!(
        put(Some(mine.clone()), &new).await.status,
        StatusCode::OK,
        "repeated"
    );
    let wrong = put(Some(mine.clone()), &statement(another(2).id, 9, &[])).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        put(Some(mine), "{").await.status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    let document = rig
        .get(&format!("/api/v1/records/{}/document", record.id))
        .await
        .text();
    let first = text_of(&record);
    assert_eq!(
        document.lines().next(),
        first.lines().next(),
        "the record's bytes stay"
    );
    assert!(document.contains("Samsung EVO Plus"));
}

#[tokio::test]
async fn a_withdrawn_run_is_gone_and_stays_so() {
    let (rig, record) = (Rig::new().await, another(1));
    let text = text_of(&record);
    rig.submit(1, &text).await;
    let path = format!("/api/v1/records/{}", record.id);
    let delete = async |owner| {
        let token = bearer(owner, record.id);
        rig.ask("DELETE", &path, &[("authorization", &token)], "")
            .await
    };
    assert_eq!(delete(2).await.status, StatusCode::FORBIDDEN);
    assert_eq!(rig.get(&path).await.status, StatusCode::OK);
    for _ in 0..2 {
        let gone = delete(1).await;
        assert_eq!(
            (gone.status, &gone.json()["state"]),
            (StatusCode::OK, &"withdrawn".into())
        );
    }
    for rest in ["", "/document", "/rank"] {
        assert_eq!(
            rig.get(&format!("{path}{rest}")).await.status,
            StatusCode::GONE,
            "{rest}"
        );
    }
    assert_eq!(
        rig.get(&format!("{path}/state")).await.json()["state"],
        "withdrawn"
    );
    assert_eq!(rig.submit(1, &text).await.status, StatusCode::GONE);
    assert_eq!(
        names(&rig.get("/api/v1/products").await.json()),
        Vec::<&str>::new()
    );
    assert_eq!(
        rig.get("/api/v1/records").await.json()["records"],
        Value::Array(Vec::new())
    );
    let changes = rig.get("/api/v1/changes").await.json();
    let kinds: Vec<&str> = changes["changes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["kind"].as_str())
        .collect();
    assert_eq!(kinds.last(), Some(&"withdrawn"), "{changes:#}");
    // The measurements may be sent again, under another id.
    let mut again = record.clone();
    again.id = another(9).id;
    assert_eq!(
        rig.submit(1, &text_of(&again)).await.json()["state"],
        "shared"
    );
}

#[tokio::test]
async fn without_a_token_nobody_can_change_a_run() {
    let (rig, record) = (Rig::new().await, measured());
    let sent = rig
        .ask("POST", "/api/v1/records", &[], text_of(&record))
        .await;
    assert_eq!(sent.status, StatusCode::CREATED);
    let path = format!("/api/v1/records/{}", record.id);
    let token = bearer(1, record.id);
    let deleted = rig
        .ask("DELETE", &path, &[("authorization", &token)], "")
        .await;
    assert_eq!(deleted.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn no_answer_holds_a_secret_or_who_sent_it() {
    let (rig, record) = (Rig::new().await, another(1));
    rig.submit(1, &text_of(&record)).await;
    let mut secrets: Vec<String> = owner_headers(1, record.id)
        .into_iter()
        .map(|(_, value)| value)
        .collect();
    secrets.push(bearer(1, record.id).replace("Bearer ", ""));
    let id = record.id;
    for path in [
        format!("/api/v1/records/{id}"),
        format!("/api/v1/records/{id}/document"),
        format!("/api/v1/records/{id}/state"),
        format!("/api/v1/records/{id}/rank"),
        "/api/v1/records".to_owned(),
        "/api/v1/products".to_owned(),
        "/api/v1/products/SanDisk%20Ultra%2032%20GB".to_owned(),
        "/api/v1/boards".to_owned(),
        "/api/v1/changes".to_owned(),
        "/metrics".to_owned(),
    ] {
        let answer = rig.get(&path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text());
        let whole = format!("{:?}{}", answer.headers, answer.text());
        for secret in &secrets {
            assert!(!whole.contains(secret.as_str()), "{path}");
        }
    }
}
