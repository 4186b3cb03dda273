//! Signing in as a moderator, and what others can do to that.

use axum::http::StatusCode;
use cardmark_share::{to_hexadecimal, token_hash};
use cardmark_site::{Config, add_account, code_at};

use crate::desk::{Desk, ORIGIN, PASSWORD, cookie, now_s};
use crate::rig::config;

#[tokio::test]
async fn a_moderator_signs_in_and_out_and_nobody_else_gets_a_cookie() {
    let desk = Desk::new().await;
    for path in [
        "/",
        "/sign-in",
        "/audit",
        "/moderation",
        "/runs",
        "/submission",
    ] {
        let answer = desk.rig.get(path).await;
        assert!(!answer.headers.contains_key("set-cookie"), "{path}");
    }
    let answer = desk.sign_in_as(&desk.account, 0, &[]).await;
    let set = answer.headers["set-cookie"].to_str().unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains("Secure"), "{set}");
    let browser = desk.browser(&answer).await;
    for path in [
        "/moderation",
        "/moderation?decided=true",
        "/moderation?check=physics",
        "/moderation/products",
        "/moderation/switches",
        "/moderation/acts",
    ] {
        let page = desk.get(path, &browser.cookie).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.text());
        assert_eq!(page.headers["cache-control"], "no-store", "{path}");
        assert!(!page.headers.contains_key("etag"), "{path}");
        let without = desk.get(path, "").await;
        assert_eq!(without.status, StatusCode::SEE_OTHER, "{path}");
        assert_eq!(without.headers["location"], "/sign-in", "{path}");
    }
    let left = desk.send(&browser, "/sign-out", &[]).await;
    assert_eq!(left.status, StatusCode::SEE_OTHER, "{}", left.text());
    assert!(
        left.headers["set-cookie"]
            .to_str()
            .unwrap()
            .contains("Max-Age=0")
    );
    let after = desk.get("/moderation", &browser.cookie).await;
    assert_eq!(after.status, StatusCode::SEE_OTHER);
    let acts = desk
        .send(&browser, "/moderation/act", &[("kind", "undo")])
        .await;
    assert_eq!(acts.status, StatusCode::FORBIDDEN);
    assert!(acts.text().contains("session has ended"), "{}", acts.text());
}

#[tokio::test]
async fn behind_a_proxy_cookies_are_of_the_host_alone() {
    let behind = Config {
        behind_proxy: true,
        ..config()
    };
    let desk = Desk::with(behind).await;
    let plain = desk.sign_in_as(&desk.account, 0, &[]).await;
    assert_eq!(
        plain.status,
        StatusCode::FORBIDDEN,
        "the origin is not https"
    );
    let code = code_at(&desk.account.secret, now_s());
    let fields = [("name", "anna"), ("password", PASSWORD), ("code", &*code)];
    let origin = [("origin", "https://cards.example")];
    let answer = desk.post("/sign-in", &origin, &fields).await;
    let set = answer.headers["set-cookie"].to_str().unwrap();
    assert!(set.starts_with("__Host-session="), "{set}");
    assert!(set.ends_with("; Secure"), "{set}");
    // The same token under the other name is none.
    let other = cookie(&answer).replace("__Host-", "");
    let page = desk.get("/moderation", &other).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_code_is_accepted_once_and_errors_do_not_tell_what_is_wrong() {
    let desk = Desk::new().await;
    let attempt = async |name: &str, password: &str, code: &str| {
        let fields = [("name", name), ("password", password), ("code", code)];
        desk.post("/sign-in", &[("origin", ORIGIN)], &fields).await
    };
    let code = code_at(&desk.account.secret, now_s());
    let wrong = if code == "000000" { "000001" } else { "000000" };
    let refused = [
        attempt("anna", PASSWORD, wrong).await,
        attempt("anna", "another pass phrase", &code).await,
        attempt("bert", PASSWORD, &code).await,
        attempt("", "", "").await,
        attempt("anna", PASSWORD, "").await,
        attempt("anna", &"x".repeat(5_000), &code).await,
    ];
    for answer in &refused {
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert_eq!(answer.text(), refused[0].text());
        assert!(!answer.headers.contains_key("set-cookie"));
    }
    // Wrong attempts use up no code.
    let first = attempt("anna", PASSWORD, &code).await;
    assert_eq!(first.status, StatusCode::SEE_OTHER, "{}", first.text());
    let replayed = attempt("anna", PASSWORD, &code).await;
    assert_eq!(replayed.status, StatusCode::FORBIDDEN, "replayed");
    let earlier = code_at(&desk.account.secret, now_s() - 30);
    let earlier = attempt("anna", PASSWORD, &earlier).await;
    assert_eq!(earlier.status, StatusCode::FORBIDDEN, "a step before");
}

#[tokio::test]
async fn guessing_ends_at_a_limit_of_the_account_and_of_the_address() {
    let behind = Config {
        behind_proxy: true,
        ..config()
    };
    let desk = Desk::with(behind).await;
    let other = add_account(&desk.rig.store, "bert", PASSWORD)
        .await
        .unwrap();
    let attempt = async |name: &str, password: &str, code: &str, address: &str| {
        let fields = [("name", name), ("password", password), ("code", code)];
        let headers = [
            ("origin", "https://cards.example"),
            ("x-forwarded-for", address),
        ];
        desk.post("/sign-in", &headers, &fields).await
    };
    let mut statuses = Vec::new();
    for place in 0..11 {
        let address = format!("192.0.{place}.1");
        statuses.push(attempt("anna", "guess", "123456", &address).await.status);
    }
    assert!(
        statuses[..10]
            .iter()
            .all(|status| *status == StatusCode::FORBIDDEN)
    );
    assert_eq!(
        statuses[10],
        StatusCode::TOO_MANY_REQUESTS,
        "of the account"
    );
    // Even with the right password, from elsewhere.
    let code = code_at(&desk.account.secret, now_s());
    let right = attempt("anna", PASSWORD, &code, "198.51.100.1").await;
    assert_eq!(right.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(right.headers.contains_key("retry-after"));
    let code = code_at(&other.secret, now_s());
    let right = attempt("bert", PASSWORD, &code, "198.51.100.1").await;
    assert_eq!(
        right.status,
        StatusCode::SEE_OTHER,
        "another account: {}",
        right.text()
    );
    let mut statuses = Vec::new();
    for number in 0..21 {
        let name = format!("nobody{number}");
        statuses.push(
            attempt(&name, "guess", "123456", "203.0.113.7")
                .await
                .status,
        );
    }
    assert!(
        statuses[..20]
            .iter()
            .all(|status| *status == StatusCode::FORBIDDEN)
    );
    assert_eq!(
        statuses[20],
        StatusCode::TOO_MANY_REQUESTS,
        "of the address"
    );
}

#[tokio::test]
async fn a_session_that_somebody_planted_is_of_no_use() {
    let desk = Desk::new().await;
    let planted = format!("session={}", "ab".repeat(32));
    let answer = desk
        .sign_in_as(&desk.account, 0, &[("cookie", &*planted)])
        .await;
    let browser = desk.browser(&answer).await;
    assert_ne!(browser.cookie, planted);
    let page = desk.get("/moderation", &planted).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "the planted token");
    // A session that was there before ends with the next sign-in, in the next step.
    let answer = desk
        .sign_in_as(&desk.account, 1, &[("cookie", &*browser.cookie)])
        .await;
    let next = desk.browser(&answer).await;
    assert_ne!(next.cookie, browser.cookie);
    let page = desk.get("/moderation", &browser.cookie).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "the token before");
}

#[tokio::test]
async fn a_session_ends_in_time_and_with_its_account() {
    let desk = Desk::new().await;
    let hours = |hours: i64| jiff::Timestamp::now().as_millisecond() - hours * 3_600_000;
    for (token, began_ms, is_open) in [
        ([1; 32], hours(0), true),
        ([2; 32], hours(2), false),
        ([3; 32], hours(13), false),
    ] {
        let store = &desk.rig.store;
        let begun = store
            .begin_session(token_hash(&token), "anna", began_ms)
            .await;
        assert!(begun.unwrap());
        let cookie = format!("session={}", to_hexadecimal(&token));
        let page = desk.get("/moderation", &cookie).await;
        assert_eq!(page.status == StatusCode::OK, is_open, "{token:?}");
    }
    desk.rig.store.remove_account("anna").await.unwrap();
    let cookie = format!("session={}", to_hexadecimal(&[1; 32]));
    let page = desk.get("/moderation", &cookie).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn forms_of_other_sites_and_sessions_are_refused() {
    let desk = Desk::new().await;
    let browser = desk.sign_in().await;
    let other = add_account(&desk.rig.store, "bert", PASSWORD)
        .await
        .unwrap();
    let other = desk.sign_in_as(&other, 0, &[]).await;
    let other = desk.browser(&other).await;
    let cookie = ("cookie", &*browser.cookie);
    let own = [
        ("kind", "switch_on"),
        ("switch", "read_only"),
        ("reason", "a reason"),
    ];
    let with = |token: &'static str| [&own[..], &[("token", token)]].concat();
    let zeros = "0".repeat(64);
    let right = [&own[..], &[("token", &*browser.token)]].concat();
    let of_other = [&own[..], &[("token", &*other.token)]].concat();
    let of_nobody = [&own[..], &[("token", &*zeros)]].concat();
    let from = |origin| [("origin", origin), cookie];
    let cases = [
        ("no token", &from(ORIGIN)[..], own.to_vec()),
        ("no text", &from(ORIGIN)[..], with("x")),
        ("token of another session", &from(ORIGIN)[..], of_other),
        ("guessed token", &from(ORIGIN)[..], of_nobody),
        (
            "foreign origin",
            &from("http://evil.example")[..],
            right.clone(),
        ),
        (
            "other scheme",
            &from("https://cards.example")[..],
            right.clone(),
        ),
        ("hidden origin", &from("null")[..], right.clone()),
        ("no origin", &[cookie][..], right.clone()),
        ("no session", &[("origin", ORIGIN)][..], right.clone()),
    ];
    for (case, headers, fields) in cases {
        let answer = desk.post("/moderation/act", headers, &fields).await;
        assert_eq!(
            answer.status,
            StatusCode::FORBIDDEN,
            "{case}: {}",
            answer.text()
        );
        let out = desk.post("/sign-out", headers, &fields).await;
        assert_eq!(out.status, StatusCode::FORBIDDEN, "{case}");
    }
    assert_eq!(
        desk.rig.get("/api/v1/acts").await.json()["acts"],
        serde_json::json!([])
    );
    let signed_in = desk
        .sign_in_as(&desk.account, 1, &[("origin", "http://evil.example")])
        .await;
    assert_eq!(
        signed_in.status,
        StatusCode::SEE_OTHER,
        "the first origin counts"
    );
    let answer = desk.post("/moderation/act", &from(ORIGIN), &right).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
    assert_eq!(
        desk.rig.get("/api/v1/acts/1").await.json()["kind"],
        "switch_on"
    );
}
