//! The description of the API.

use axum::http::StatusCode;
use serde_json::Value;

use crate::rig::Rig;

const COMMITTED: &str = include_str!("../../openapi.json");

/// `CARDMARK_WRITE=1 cargo test -p cardmark-site` writes it.
#[test]
fn the_committed_description_is_that_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    let current = cardmark_site::openapi_json().unwrap() + "\n";
    if std::env::var_os("CARDMARK_WRITE").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        current,
        "run with CARDMARK_WRITE=1"
    );
}

#[tokio::test]
async fn every_described_path_exists() {
    let rig = Rig::new().await;
    let description: Value = serde_json::from_str(COMMITTED).unwrap();
    let paths = description["paths"].as_object().unwrap();
    assert!(paths.len() >= 16, "{}", paths.len());
    for (path, methods) in paths {
        let filled = path
            .replace("{id}", &uuid::Uuid::nil().to_string())
            .replace("{key}", "none")
            .replace("{number}", "0");
        for method in methods.as_object().unwrap().keys() {
            let answer = rig.ask(&method.to_uppercase(), &filled, &[], "").await;
            let text = answer.text();
            assert_ne!(
                answer.status,
                StatusCode::METHOD_NOT_ALLOWED,
                "{method} {path}"
            );
            assert!(!text.contains("/problems/unknown-path"), "{method} {path}");
            let described = &methods[method]["responses"];
            let status = answer.status.as_str();
            assert!(
                described.get(status).is_some(),
                "{method} {path}: {status} is not described"
            );
        }
    }
    let served = rig.get("/api/v1/openapi.json").await.text();
    assert_eq!(served + "\n", COMMITTED);
}

/// Old clients, and people without a store of their own, send a record without them.
#[test]
fn headers_of_a_submission_may_be_absent() {
    let description: Value = serde_json::from_str(COMMITTED).unwrap();
    let parameters = description["paths"]["/api/v1/records"]["post"]["parameters"].as_array();
    let headers = parameters.unwrap();
    assert_eq!(headers.len(), 2);
    for header in headers {
        assert_eq!(
            (&header["in"], &header["required"]),
            (&"header".into(), &false.into())
        );
        assert_eq!(header["schema"]["type"], "string");
    }
}

/// Released paths, methods, statuses and fields of answers stay.
#[test]
fn nothing_that_was_released_is_missing() {
    let released: Value =
        serde_json::from_str(include_str!("../../openapi-released.json")).unwrap();
    let current: Value = serde_json::from_str(COMMITTED).unwrap();
    let mut missing = Vec::new();
    compare(&released, &current, "", &mut missing);
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Lists what the older one has and the newer one has not, or has otherwise. Texts for people may change; a list, such as
/// that of the required fields, may not.
fn compare(older: &Value, newer: &Value, path: &str, missing: &mut Vec<String>) {
    match (older, newer) {
        (Value::Object(older), Value::Object(newer)) => {
            for (name, value) in older {
                if matches!(
                    name.as_str(),
                    "description" | "summary" | "title" | "tags" | "operationId"
                ) && !value.is_object()
                {
                    continue;
                }
                match newer.get(name) {
                    Some(now) => compare(value, now, &format!("{path}/{name}"), missing),
                    None => missing.push(format!("{path}/{name}")),
                }
            }
        }
        (Value::Array(older), Value::Array(newer)) => {
            // Required fields of answers stay required; parameters stay, and clients of before send no new ones.
            if path.ends_with("/parameters") {
                let is_new = |now: &&Value| !older.iter().any(|value| value["name"] == now["name"]);
                let demanded = newer
                    .iter()
                    .filter(is_new)
                    .filter(|now| now["required"] == true);
                missing.extend(demanded.map(|now| format!("{path}: {} is required", now["name"])));
            }
            let covers = |value: &Value, now: &Value| {
                let mut gone = Vec::new();
                compare(value, now, "", &mut gone);
                gone.is_empty()
            };
            let gone = older
                .iter()
                .filter(|value| !newer.iter().any(|now| covers(value, now)));
            missing.extend(gone.map(|value| format!("{path}: {value}")));
        }
        (older, newer) if older != newer => missing.push(format!("{path}: {older} is {newer}")),
        _ => {}
    }
}

#[test]
fn a_change_of_what_was_released_is_seen() {
    let released: Value = serde_json::from_str(COMMITTED).unwrap();
    let mut changed = released.clone();
    changed["paths"]
        .as_object_mut()
        .unwrap()
        .remove("/api/v1/boards");
    let mut missing = Vec::new();
    compare(&released, &changed, "", &mut missing);
    assert_eq!(missing, ["/paths//api/v1/boards"]);
    let mut added = released.clone();
    added["paths"]["/api/v1/new"] = Value::Object(serde_json::Map::new());
    missing.clear();
    compare(&released, &added, "", &mut missing);
    assert!(missing.is_empty());
    let parameters = "/paths/~1api~1v1~1records/get/parameters";
    for (is_required, expected) in [(false, 0), (true, 1)] {
        let mut added = released.clone();
        let list = added
            .pointer_mut(parameters)
            .unwrap()
            .as_array_mut()
            .unwrap();
        list.push(serde_json::json!({ "name": "new", "in": "query", "required": is_required }));
        missing.clear();
        compare(&released, &added, "", &mut missing);
        assert_eq!(missing.len(), expected, "{missing:?}");
    }
}
