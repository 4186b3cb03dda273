//! Decisions of moderators, and answers of owners.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use cardmark_core::Record;
use cardmark_share::{submitter_of, to_hexadecimal};
use uuid::Uuid;

use crate::desk::Desk;
use crate::pages::has_own_script_only;
use crate::rig::{another, bearer, corpus, measured, secrets, server, text_of};

/// A run whose times contradict each other.
fn forged() -> Record {
    let mut forged = measured();
    forged.trials[0].span_ns /= 2;
    forged
}

#[tokio::test]
async fn a_run_is_held_and_released_and_everybody_sees_why() {
    let desk = Desk::new().await;
    let browser = desk.sign_in().await;
    let (good, bad) = (another(1), forged());
    desk.rig.submit(1, &text_of(&good)).await;
    desk.rig.submit(2, &text_of(&bad)).await;
    let queue = desk.get("/moderation", &browser.cookie).await.text();
    let (good_id, bad_id) = (good.id.to_string(), bad.id.to_string());
    assert!(
        queue.contains(&bad_id) && !queue.contains(&good_id),
        "{queue}"
    );
    assert!(queue.contains("failed: "), "{queue}");
    desk.decide(
        &browser,
        &[("kind", "release_record"), ("record", &*bad_id)],
    )
    .await;
    assert_eq!(desk.state(bad.id).await, ("shared".to_owned(), Some(1)));
    desk.decide(&browser, &[("kind", "hold_record"), ("record", &*good_id)])
        .await;
    assert_eq!(
        desk.state(good.id).await,
        ("quarantined".to_owned(), Some(2))
    );
    let page = desk.rig.get(&format!("/runs/{good_id}")).await.text();
    assert!(
        page.contains("quarantined by act 2 of a moderator"),
        "{page}"
    );
    assert!(page.contains("href=\"/audit/2\""), "{page}");
    let page = desk.rig.get(&format!("/runs/{bad_id}")).await.text();
    assert!(page.contains("shared by act 1 of a moderator"), "{page}");
    assert!(page.contains("failed"), "the checks stay: {page}");
    let audit = desk.rig.get("/audit").await.text();
    for part in [
        "anna",
        "a reason",
        &*format!("hold run {good_id}"),
        "/audit/1",
    ] {
        assert!(audit.contains(part), "{part}: {audit}");
    }
    let one = desk.rig.get("/audit/2").await.text();
    assert!(one.contains(&format!("/runs/{good_id}")), "{one}");
    assert_eq!(desk.rig.get("/audit/3").await.status, StatusCode::NOT_FOUND);
    assert_eq!(desk.rig.get("/audit/x").await.status, StatusCode::NOT_FOUND);
    desk.decide(&browser, &[("kind", "undo"), ("act", "2")])
        .await;
    assert_eq!(desk.state(good.id).await, ("shared".to_owned(), None));
    let act = desk.rig.get("/api/v1/acts/2").await.json();
    assert_eq!(act["undone_by"], 3);
    assert_eq!(act["target"]["record"], good_id);
    let acts = desk.rig.get("/api/v1/acts?limit=2").await.json();
    assert_eq!(
        (&acts["acts"][0]["number"], &acts["next"]),
        (&3.into(), &"2".into())
    );
    let rest = desk.rig.get("/api/v1/acts?cursor=2").await.json();
    assert_eq!(rest["acts"][0]["number"], 1);
    let again = [("kind", "undo"), ("act", "2"), ("reason", "again")];
    let again = desk.send(&browser, "/moderation/act", &again).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(again.text().contains("Act 3 undid it"), "{}", again.text());
    let reasonless = [("kind", "undo"), ("act", "3"), ("reason", " ")];
    let reasonless = desk.send(&browser, "/moderation/act", &reasonless).await;
    assert_eq!(reasonless.status, StatusCode::BAD_REQUEST);
    let away = [
        ("kind", "undo"),
        ("act", "3"),
        ("reason", "r"),
        ("back", "//evil.example"),
    ];
    let away = desk.send(&browser, "/moderation/act", &away).await;
    assert_eq!(away.headers["location"], "/moderation");
}

#[tokio::test]
async fn products_merge_split_and_are_confirmed() {
    let desk = Desk::new().await;
    let browser = desk.sign_in().await;
    let named = |number: u128, name: &str| {
        let mut record = another(number);
        record.labels.insert("product".to_owned(), name.to_owned());
        record.devices[0].model = Some("SC32G".to_owned());
        record
    };
    desk.rig.submit(1, &text_of(&named(1, "Cheap Card"))).await;
    desk.rig.submit(2, &text_of(&named(2, "Cheep Card"))).await;
    let names = desk
        .get("/moderation/products", &browser.cookie)
        .await
        .text();
    assert!(
        names.contains("Cheap Card") && names.contains("Cheep Card"),
        "{names}"
    );
    let merge = [
        ("kind", "merge"),
        ("product", "Cheep Card"),
        ("into", "Cheap Card"),
    ];
    desk.decide(&browser, &merge).await;
    let old = desk.rig.get("/products/~cheep%20card").await;
    assert_eq!(old.status, StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(old.headers["location"], "/products/%7Echeap%20card");
    let old = desk.rig.get("/api/v1/products/Cheep%20Card").await;
    assert_eq!(old.headers["location"], "/api/v1/products/%7Echeap%20card");
    // Pictures under the old name stand in other people's pages.
    let badge = desk.rig.get("/products/~cheep%20card/badge.svg").await;
    assert!(badge.text().contains("Cheap Card"), "{}", badge.text());
    // Future runs, and searches under the old name.
    desk.rig.submit(3, &text_of(&named(3, "cheep card"))).await;
    // Acts move no simulated run.
    let mut simulated = corpus("run-sim-v30-64gb-quick");
    let label = ("product".to_owned(), "Cheep Card".to_owned());
    simulated.labels.extend([label]);
    desk.rig.submit(4, &text_of(&simulated)).await;
    let found = "/api/v1/records?simulated=true&product=Cheep%20Card";
    let found = desk.rig.get(found).await.json();
    assert_eq!(found["records"][0]["id"], simulated.id.to_string());
    let new = desk.rig.get("/products/~cheap%20card").await.text();
    assert!(new.contains("3 runs of 3 cards"), "{new}");
    let found = desk
        .rig
        .get("/api/v1/records?product=Cheep%20Card")
        .await
        .json();
    assert_eq!(found["records"].as_array().unwrap().len(), 3);
    let page = desk.rig.get("/runs?product=Cheep%20Card").await.text();
    assert!(page.contains("Cheap Card"), "{page}");

    let accept = [("kind", "accept"), ("product", "Cheap Card")];
    desk.decide(&browser, &accept).await;
    let new = desk.rig.get("/products/~cheap%20card").await.text();
    assert!(
        new.contains("confirmed the name") && new.contains("/audit/2"),
        "{new}"
    );
    let names = desk
        .get("/moderation/products", &browser.cookie)
        .await
        .text();
    assert!(!names.contains("<td>Cheap Card"), "{names}");
    let circle = [
        ("kind", "merge"),
        ("product", "Cheap Card"),
        ("into", "Cheep Card"),
        ("reason", "r"),
    ];
    let circle = desk.send(&browser, "/moderation/act", &circle).await;
    assert_eq!(circle.status, StatusCode::CONFLICT);
    assert!(circle.text().contains("in a circle"), "{}", circle.text());
    let split = [
        ("kind", "split"),
        ("product", "Cheap Card"),
        ("model", "SC32G"),
        ("into", "Cheap Card 2"),
    ];
    desk.decide(&browser, &split).await;
    let other = desk
        .rig
        .get("/api/v1/products/~cheap%20card%202")
        .await
        .json();
    assert_eq!(other["runs_count"], 3, "{other}");
    desk.decide(&browser, &[("kind", "undo"), ("act", "3")])
        .await;
    desk.decide(&browser, &[("kind", "undo"), ("act", "1")])
        .await;
    let old = desk.rig.get("/api/v1/products/~cheep%20card").await.json();
    assert_eq!(old["runs_count"], 2, "{old}");
}

#[tokio::test]
async fn read_only_takes_nothing_in_and_still_withdraws() {
    let desk = Desk::new().await;
    let browser = desk.sign_in().await;
    let (one, two, bad) = (another(1), another(2), forged());
    desk.rig.submit(1, &text_of(&one)).await;
    desk.rig.submit(1, &text_of(&bad)).await;
    desk.decide(&browser, &[("kind", "switch_on"), ("switch", "read_only")])
        .await;
    let token = bearer(1, one.id);
    let statement = crate::rig::statement(one.id, 2, &[("product", "Other")]);
    let statement_path = format!("/api/v1/records/{}/statement", one.id);
    let answer_path = format!("/api/v1/records/{}/answer", bad.id);
    let document = text_of(&two);
    let answers = [
        desk.rig.submit(2, &document).await,
        desk.rig
            .ask(
                "PUT",
                &statement_path,
                &[("authorization", &*token)],
                statement,
            )
            .await,
        desk.rig
            .ask(
                "PUT",
                &answer_path,
                &[("authorization", &*bearer(1, bad.id))],
                "why",
            )
            .await,
        desk.post("/upload/send", &[], &[("document", &*document)])
            .await,
    ];
    for (place, answer) in answers.iter().enumerate() {
        assert_eq!(
            answer.status,
            StatusCode::SERVICE_UNAVAILABLE,
            "{place}: {}",
            answer.text()
        );
        assert_eq!(answer.headers["retry-after"], "600", "{place}");
    }
    assert_eq!(answers[0].json()["type"], "/problems/read-only");
    let path = format!("/api/v1/records/{}", one.id);
    let withdrawn = desk
        .rig
        .ask("DELETE", &path, &[("authorization", &*token)], "")
        .await;
    assert_eq!(withdrawn.status, StatusCode::OK, "{}", withdrawn.text());
    desk.decide(&browser, &[("kind", "switch_off"), ("switch", "read_only")])
        .await;
    assert_eq!(
        desk.rig.submit(2, &document).await.status,
        StatusCode::CREATED
    );
    desk.decide(
        &browser,
        &[("kind", "switch_on"), ("switch", "quarantine_new")],
    )
    .await;
    let held = desk.rig.submit(3, &text_of(&another(3))).await.json();
    let badge = format!("/runs/{}/badge.svg", another(3).id);
    let badge = desk.rig.get(&badge).await.text();
    assert!(badge.contains("quarantined by a moderator"), "{badge}");
    assert_eq!(
        (&held["state"], &held["decided_by"]),
        (&"quarantined".into(), &3.into())
    );
    let queue = desk.get("/moderation", &browser.cookie).await.text();
    assert!(queue.contains(&another(3).id.to_string()), "{queue}");
}

#[tokio::test]
async fn a_submitter_is_held_with_all_future_runs() {
    let desk = Desk::new().await;
    let browser = desk.sign_in().await;
    desk.rig.submit(1, &text_of(&another(1))).await;
    desk.rig.submit(2, &text_of(&another(2))).await;
    let tag = to_hexadecimal(&submitter_of(&secrets(1).tag(&server())));
    desk.decide(&browser, &[("kind", "hold_tag"), ("tag", &*tag)])
        .await;
    assert_eq!(desk.state(another(1).id).await.0, "quarantined");
    assert_eq!(desk.state(another(2).id).await.0, "shared");
    let next = desk.rig.submit(1, &text_of(&another(3))).await.json();
    assert_eq!(
        (&next["state"], &next["decided_by"]),
        (&"quarantined".into(), &1.into())
    );
    let decided = format!("/moderation?decided=true&tag={tag}");
    let page = desk.get(&decided, &browser.cookie).await.text();
    assert!(page.contains(&another(3).id.to_string()), "{page}");
    let audit = desk.rig.get("/audit/1").await.text();
    assert!(audit.contains(&tag), "{audit}");
}

#[tokio::test]
async fn owners_answer_to_moderators_alone() {
    let desk = Desk::new().await;
    let browser = desk.sign_in().await;
    let (bad, good) = (forged(), another(1));
    desk.rig.submit(1, &text_of(&bad)).await;
    desk.rig.submit(1, &text_of(&good)).await;
    let put = async |id: Uuid, owner: u8, text: String| {
        let path = format!("/api/v1/records/{id}/answer");
        let token = bearer(owner, id);
        desk.rig
            .ask("PUT", &path, &[("authorization", &*token)], text)
            .await
    };
    let stranger = put(bad.id, 2, "hello".to_owned()).await;
    assert_eq!(stranger.status, StatusCode::FORBIDDEN);
    for (text, status) in [
        (String::new(), StatusCode::UNPROCESSABLE_ENTITY),
        ("ä".repeat(2_001), StatusCode::UNPROCESSABLE_ENTITY),
        ("x".repeat(1 << 20), StatusCode::PAYLOAD_TOO_LARGE),
        ("ä".repeat(2_000), StatusCode::OK),
        ("the clock was wrong".to_owned(), StatusCode::OK),
    ] {
        let answer = put(bad.id, 1, text).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    let refused = put(good.id, 1, "hello".to_owned()).await;
    assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.text());
    let queue = desk.get("/moderation", &browser.cookie).await.text();
    assert!(queue.contains("the clock was wrong"), "{queue}");
    assert!(!queue.contains("ääää"), "the earlier one");
    for path in ["/runs/", "/api/v1/records/"] {
        let public = desk.rig.get(&format!("{path}{}", bad.id)).await.text();
        assert!(!public.contains("the clock was wrong"), "{path}");
    }
}

#[tokio::test]
async fn hostile_texts_stay_texts() {
    let desk = Desk::new().await;
    let browser = desk.sign_in().await;
    let hostile = "<script>alert(1)</script>\"' onload=x \u{202e}";
    let (bad, mut named) = (forged(), another(1));
    named
        .labels
        .insert("product".to_owned(), hostile.to_owned());
    desk.rig.submit(1, &text_of(&bad)).await;
    desk.rig.submit(2, &text_of(&named)).await;
    let path = format!("/api/v1/records/{}/answer", bad.id);
    let token = bearer(1, bad.id);
    let answer = format!("{hostile}\u{0}\nsecond line");
    let answered = desk
        .rig
        .ask("PUT", &path, &[("authorization", &*token)], answer)
        .await;
    assert_eq!(answered.status, StatusCode::OK, "{}", answered.text());
    let (bad_id, named_id) = (bad.id.to_string(), named.id.to_string());
    let acts: [&[(&str, &str)]; 4] = [
        &[("kind", "hold_record"), ("record", &named_id)],
        &[
            ("kind", "merge"),
            ("product", hostile),
            ("into", "<b>Other</b>"),
        ],
        &[
            ("kind", "split"),
            ("product", "a"),
            ("model", hostile),
            ("into", hostile),
        ],
        &[("kind", "release_record"), ("record", &bad_id)],
    ];
    for act in acts {
        let fields = [act, &[("reason", hostile)]].concat();
        let answer = desk.send(&browser, "/moderation/act", &fields).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
    }
    desk.rig.store.apply_all().await.unwrap();
    let mut pages = BTreeMap::new();
    for path in ["/audit", "/audit/1", "/audit/2", "/audit/3", "/audit/4"] {
        pages.insert(path.to_owned(), desk.rig.get(path).await.text());
    }
    for path in [
        "/moderation",
        "/moderation?decided=true",
        "/moderation/products",
        "/moderation/acts",
        &*format!("/moderation/runs/{bad_id}"),
        &*format!("/moderation/runs/{named_id}"),
        "/moderation?tag=%22%3E%3Cscript%3E",
        "/moderation?check=%22%3E%3Cscript%3E",
    ] {
        pages.insert(
            path.to_owned(),
            desk.get(path, &browser.cookie).await.text(),
        );
    }
    for (path, page) in &pages {
        assert!(has_own_script_only(page), "{path}");
        for part in ["\" onload", "\u{202e}", "<b>", "\u{0}"] {
            assert!(!page.contains(part), "{path}: {part:?}");
        }
    }
    assert!(
        pages["/audit/1"].contains("alert(1)"),
        "the reason is shown"
    );
    let run = &pages[&format!("/moderation/runs/{bad_id}")];
    assert!(run.contains("second line"), "{run}");
}

#[tokio::test]
async fn an_uploaded_run_is_answered_for_with_its_phrase() {
    let desk = Desk::new().await;
    let browser = desk.sign_in().await;
    let bad = forged();
    let (document, id) = (text_of(&bad), bad.id.to_string());
    let phrase = ("phrase", "what only I know");
    let sent = [("document", &*document), phrase];
    let sent = desk.post("/upload/send", &[], &sent).await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.text());
    let form = desk.rig.get(&format!("/submission?id={id}")).await.text();
    let field = format!("value=\"{id}\"");
    assert_eq!(form.matches(&field).count(), 2, "{form}");
    for (phrase, answer, status) in [
        ("what nobody knows", "why", StatusCode::FORBIDDEN),
        (phrase.1, "", StatusCode::UNPROCESSABLE_ENTITY),
        (phrase.1, "it was the reader", StatusCode::OK),
    ] {
        let fields = [("id", &*id), ("phrase", phrase), ("answer", answer)];
        let answered = desk.post("/submission/answer", &[], &fields).await;
        assert_eq!(answered.status, status, "{}", answered.text());
    }
    let queue = desk.get("/moderation", &browser.cookie).await.text();
    assert!(queue.contains("it was the reader"), "{queue}");
}
