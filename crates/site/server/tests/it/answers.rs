//! Derived answers that are kept in memory, their packed forms, and pictures for other pages.

use std::io::Read;

use axum::http::StatusCode;

use crate::rig::{Answer, Rig, another, bearer, measured, statement, text_of};

const PRODUCT: &str = "/products/%7Esandisk%20ultra%2032%20gb";

async fn with_run() -> Rig {
    let rig = Rig::new().await;
    let answer = rig.submit(1, &text_of(&another(1))).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    rig
}

#[tokio::test]
async fn a_kept_answer_follows_amendment_and_withdrawal() {
    let rig = with_run().await;
    let id = another(1).id;
    let token = bearer(1, id);
    let paths = [
        format!("/runs/{id}"),
        format!("/runs/{id}/badge.svg"),
        format!("/api/v1/records/{id}"),
    ];
    for path in &paths {
        let first = rig.get(path).await;
        assert_eq!(first.status, StatusCode::OK, "{path}");
        assert!(first.text().contains("SanDisk Ultra 32 GB"), "{path}");
        assert_eq!(rig.get(path).await.body, first.body, "{path}");
    }
    let new = statement(id, 2, &[("product", "Samsung EVO Plus 32 GB")]);
    let headers = [("authorization", token.as_str())];
    let path = format!("/api/v1/records/{id}/statement");
    let amended = rig.ask("PUT", &path, &headers, new).await;
    assert_eq!(amended.status, StatusCode::OK, "{}", amended.text());
    for path in &paths {
        let text = rig.get(path).await.text();
        assert!(text.contains("Samsung Evo Plus 32 GB"), "{path}: {text}");
        assert!(!text.contains("SanDisk"), "{path}: {text}");
    }
    let path = format!("/api/v1/records/{id}");
    let withdrawn = rig.ask("DELETE", &path, &headers, "").await;
    assert_eq!(withdrawn.status, StatusCode::OK, "{}", withdrawn.text());
    for path in &paths {
        assert_eq!(rig.get(path).await.status, StatusCode::GONE, "{path}");
    }
}

#[tokio::test]
async fn a_comparison_follows_its_runs() {
    let rig = with_run().await;
    rig.submit(2, &text_of(&another(2))).await;
    let (one, other) = (another(1).id, another(2).id);
    let path = format!("/compare?base={one}&other={other}");
    assert_eq!(rig.get(&path).await.status, StatusCode::OK);
    let turned = rig.get(&format!("/compare?base={other}&other={one}")).await;
    assert_ne!(turned.body, rig.get(&path).await.body);
    let token = bearer(2, other);
    let headers = [("authorization", token.as_str())];
    let record = format!("/api/v1/records/{other}");
    rig.ask("DELETE", &record, &headers, "").await;
    assert_eq!(rig.get(&path).await.status, StatusCode::GONE);
}

fn unpacked(answer: &Answer) -> String {
    let body = &answer.body[..];
    let mut text = String::new();
    match answer
        .headers
        .get("content-encoding")
        .map(|name| name.to_str().unwrap())
    {
        Some("gzip") => flate2::read::GzDecoder::new(body)
            .read_to_string(&mut text)
            .unwrap(),
        Some("zstd") => zstd::stream::read::Decoder::new(body)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap(),
        _ => return answer.text(),
    };
    text
}

#[tokio::test]
async fn pages_data_and_badges_are_packed() {
    let rig = with_run().await;
    let id = another(1).id;
    for path in [
        format!("/runs/{id}"),
        format!("/runs/{id}/badge.svg"),
        format!("/api/v1/records/{id}"),
        "/".to_owned(),
        "/published".to_owned(),
        "/api/v1/published".to_owned(),
        "/api/v1/openapi.json".to_owned(),
        "/style.css".to_owned(),
        "/script.js".to_owned(),
    ] {
        let plain = rig.get(&path).await;
        assert!(!plain.headers.contains_key("content-encoding"), "{path}");
        let mut tags = vec![plain.headers["etag"].clone()];
        for encoding in ["gzip", "zstd"] {
            let accepts = ("accept-encoding", encoding);
            let packed = rig.ask("GET", &path, &[accepts], "").await;
            assert_eq!(unpacked(&packed), plain.text(), "{path}");
            assert_eq!(packed.headers["vary"], "accept-encoding", "{path}");
            if plain.body.len() >= 1_024 {
                assert_eq!(packed.headers["content-encoding"], encoding, "{path}");
                assert!(packed.body.len() < plain.body.len() * 2 / 3, "{path}");
                let tag = packed.headers["etag"].clone();
                assert!(!tags.contains(&tag), "{path}: {tag:?}");
                tags.push(tag);
            }
            let known = ("if-none-match", packed.headers["etag"].to_str().unwrap());
            let again = rig.ask("GET", &path, &[accepts, known], "").await;
            assert_eq!(again.status, StatusCode::NOT_MODIFIED, "{path}");
            assert!(again.body.is_empty(), "{path}");
        }
    }
}

#[tokio::test]
async fn products_and_runs_have_pictures() {
    let rig = with_run().await;
    let hostile = "</title><script>alert(1)</script>\"' \u{202e}".to_owned() + &"long ".repeat(60);
    let mut record = another(2);
    record.labels.insert("product".to_owned(), hostile);
    let answer = rig.submit(2, &text_of(&record)).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    let key = answer.json()["path"].as_str().unwrap().to_owned();
    let page = rig.get(&key).await.text();
    let product = page.split("href=\"/products/").nth(1).unwrap();
    let product = format!("/products/{}", product.split('"').next().unwrap());
    for of in [
        PRODUCT.to_owned(),
        format!("/runs/{}", another(1).id),
        key,
        product,
    ] {
        let badge = rig.get(&format!("{of}/badge.svg")).await;
        assert_eq!(badge.status, StatusCode::OK, "{of}: {}", badge.text());
        assert_eq!(badge.headers["content-type"], "image/svg+xml");
        let text = badge.text();
        assert!(
            text.starts_with("<svg") && text.contains("random read 4 KiB"),
            "{text}"
        );
        assert!(!text.contains("<script"), "{text}");
        assert_eq!(text.matches("<title>").count(), 1, "{text}");
        let policy = badge.headers["content-security-policy"].to_str().unwrap();
        assert_eq!(policy, "default-src 'none'; style-src 'unsafe-inline'");

        let preview = rig.get(&format!("{of}/preview.png")).await;
        assert_eq!(preview.headers["content-type"], "image/png", "{of}");
        // Width and height are the first two numbers behind the head of the file.
        assert_eq!(preview.body[16..24], [0, 0, 4, 0xb0, 0, 0, 2, 0x76], "{of}");
        let headers = [("host", "cards.example")];
        let page = rig.ask("GET", &of, &headers, "").await.text();
        let tag = format!(
            "<meta property=\"og:image\" content=\"http://cards.example{of}/preview.png\">"
        );
        assert!(page.contains(&tag), "{tag}: {page}");
    }
    for path in ["/products/none/badge.svg", "/runs/none/preview.png"] {
        assert_eq!(rig.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let quarantined = {
        let mut forged = measured();
        forged.trials[0].span_ns /= 2;
        rig.submit(5, &text_of(&forged)).await;
        rig.get(&format!("/runs/{}/badge.svg", forged.id)).await
    };
    assert!(
        quarantined.text().contains("quarantined"),
        "{}",
        quarantined.text()
    );
}

#[tokio::test]
async fn only_the_own_address_of_the_style_is_kept_for_long() {
    let rig = Rig::new().await;
    let page = rig.get("/").await.text();
    for name in ["style.css", "script.js", "icon.svg"] {
        let (_, after) = page.split_once(&format!("\"/{name}?")).unwrap();
        let (digest, _) = after.split_once('"').unwrap();
        let own = rig.get(&format!("/{name}?{digest}")).await;
        assert!(
            own.headers["cache-control"]
                .to_str()
                .unwrap()
                .contains("immutable")
        );
        for other in [format!("/{name}?0{digest}"), format!("/{name}")] {
            let other = rig.get(&other).await;
            assert_eq!(
                other.headers["cache-control"],
                "public, max-age=0, s-maxage=60"
            );
        }
    }
}
