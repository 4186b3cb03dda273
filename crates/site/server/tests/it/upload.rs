//! Upload in a browser: what was understood, the submission, its withdrawal.

use std::path::Path;

use axum::http::StatusCode;
use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::rig::{Answer, Rig, config, measured, shell, statement, text_of};

const BOUNDARY: &str = "----of-this-test";

/// Name and bytes of a part of a form.
type Part<'a> = (&'a str, &'a [u8]);

/// Sends a form in parts, as browsers do.
async fn send(rig: &Rig, path: &str, parts: &[Part<'_>]) -> Answer {
    let mut body = Vec::new();
    for (name, bytes) in parts {
        let file = if *name == "file" {
            "; filename=\"run\""
        } else {
            ""
        };
        let head = format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"{file}\r\n\r\n"
        );
        body.extend(head.as_bytes());
        body.extend(*bytes);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{BOUNDARY}--\r\n").as_bytes());
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    rig.ask("POST", path, &[("content-type", &kind)], body)
        .await
}

/// The document in the hidden field of the page.
fn document(page: &str) -> String {
    let begin = "name=\"document\" value=\"";
    let (_, rest) = page.split_once(begin).unwrap_or_else(|| panic!("{page}"));
    let (text, _) = rest.split_once('"').unwrap();
    let text = text.replace("&#34;", "\"").replace("&quot;", "\"");
    let text = text
        .replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#39;", "'");
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#38;", "&")
        .replace("&amp;", "&")
}

async fn records_count(rig: &Rig) -> usize {
    let page = rig.get("/api/v1/records").await.json();
    page["records"].as_array().unwrap().len()
}

/// The run at the end of a submission.
fn run_of(answer: &Answer) -> String {
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
    answer.headers["location"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_record_file_is_shown_sent_and_withdrawn() {
    let rig = Rig::new().await;
    let mut record = measured();
    record
        .labels
        .insert("product".to_owned(), "Card & <Co>".to_owned());
    record
        .labels
        .insert("note".to_owned(), "secret place".to_owned());
    let labels = record.labels.iter();
    let labels: Vec<(&str, &str)> = labels.map(|(name, value)| (&**name, &**value)).collect();
    let stated = statement(record.id, 1, &labels);
    let text = format!(
        "{}\n{stated}\n",
        cardmark_core::record_to_json(&record).unwrap()
    );
    let packed = zstd::bulk::compress(text.as_bytes(), 3).unwrap();
    let page = send(
        &rig,
        "/upload",
        &[("file", &packed), ("product", b"Mine 32")],
    )
    .await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.text());
    let shown = page.text();
    for part in [
        "random read 4 KiB",
        "Nothing is kept yet",
        "Withheld",
        "labels.note",
        "Mine 32",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("secret place"), "{shown}");
    assert_eq!(records_count(&rig).await, 0);

    let document = document(&shown);
    let phrase = b"a phrase of mine".as_slice();
    let parts = [("document", document.as_bytes()), ("phrase", phrase)];
    let run = run_of(&send(&rig, "/upload/send", &parts).await);
    assert_eq!(run, format!("/runs/{}", record.id));
    // Sent twice, it is there once.
    assert_eq!(run_of(&send(&rig, "/upload/send", &parts).await), run);
    assert_eq!(records_count(&rig).await, 1);
    assert!(rig.get(&run).await.text().contains("Mine 32"));
    let level = rig.get("/api/v1/records").await.json()["records"][0]["level"].clone();
    assert_eq!(level, "measured");

    let id = record.id.to_string();
    for (phrase, status) in [
        (b"another phrase".as_slice(), StatusCode::FORBIDDEN),
        (phrase, StatusCode::OK),
        (phrase, StatusCode::OK),
    ] {
        let parts = [("id", id.as_bytes()), ("phrase", phrase)];
        let answer = send(&rig, "/submission", &parts).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    assert_eq!(rig.get(&run).await.status, StatusCode::GONE);
}

#[tokio::test]
async fn output_of_a_tool_is_understood() {
    let rig = Rig::new().await;
    let printed = include_str!("../../../../know/import/fixtures/hdparm-9.65-t.txt");
    let text = format!("{printed}\nodd 17 MB/s <b>line\n");
    let parts = [
        ("text", text.as_bytes()),
        ("product", b"Pasted 16"),
        ("board", b"Raspberry Pi 3"),
    ];
    let page = send(&rig, "/upload", &parts).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.text());
    let shown = page.text();
    for part in ["hdparm", "Not understood: 1 line", "17 MB/s", "Pasted 16"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("<b>line"), "{shown}");
    let document = document(&shown);
    let run = run_of(&send(&rig, "/upload/send", &[("document", document.as_bytes())]).await);
    let listed = rig.get("/api/v1/records").await.json();
    assert_eq!(listed["records"][0]["level"], "imported");
    assert_eq!(listed["records"][0]["board"], "Raspberry Pi 3");
    // Without a phrase it cannot be withdrawn.
    let id = run.trim_start_matches("/runs/").as_bytes();
    let answer = send(
        &rig,
        "/submission",
        &[("id", id), ("phrase", b"a phrase of mine")],
    )
    .await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn what_cannot_be_taken_is_refused_with_a_reason() {
    let rig = Rig::new().await;
    let large = vec![b'x'; 9 << 20];
    let lines = "odd 17 MB/s\n".repeat((256 << 10) / 12 + 1);
    let packed = zstd::bulk::compress(lines.as_bytes(), 3).unwrap();
    let many = vec![("", b"".as_slice()); 17];
    let cases: [(&str, &[Part<'_>], StatusCode, &str); 10] = [
        (
            "/upload",
            &[("text", lines.as_bytes())],
            StatusCode::PAYLOAD_TOO_LARGE,
            "larger than 256 KiB",
        ),
        (
            "/upload",
            &[("file", &packed)],
            StatusCode::PAYLOAD_TOO_LARGE,
            "larger than 256 KiB",
        ),
        ("/upload", &many, StatusCode::BAD_REQUEST, "too many parts"),
        (
            "/upload",
            &[("product", b"x")],
            StatusCode::BAD_REQUEST,
            "neither a file nor a text",
        ),
        (
            "/upload",
            &[("text", b"hello 5 worlds")],
            StatusCode::UNPROCESSABLE_ENTITY,
            "no output of a known tool",
        ),
        (
            "/upload",
            &[("file", b"{\"id\": 1}")],
            StatusCode::UNPROCESSABLE_ENTITY,
            "cannot be understood",
        ),
        (
            "/upload",
            &[("file", b"\xc3\x28 5 worlds")],
            StatusCode::UNPROCESSABLE_ENTITY,
            "no output of a known tool",
        ),
        (
            "/upload",
            &[("text", &large)],
            StatusCode::PAYLOAD_TOO_LARGE,
            "larger than",
        ),
        (
            "/upload/send",
            &[("phrase", b"a phrase of mine")],
            StatusCode::BAD_REQUEST,
            "no document",
        ),
        (
            "/upload/send",
            &[("document", b"{}"), ("phrase", b"short")],
            StatusCode::BAD_REQUEST,
            "fewer than 12",
        ),
    ];
    for (path, parts, status, part) in cases {
        let answer = send(&rig, path, parts).await;
        assert_eq!(answer.status, status, "{part}: {}", answer.text());
        let text = answer.text().to_lowercase();
        assert!(text.contains(&part.to_lowercase()), "{part}: {text}");
        assert!(text.starts_with("<!doctype html>"), "{text}");
    }
    assert_eq!(records_count(&rig).await, 0);
}

#[tokio::test]
async fn uploads_are_limited_like_reading() {
    let config = cardmark_site::Config {
        reads_at_once: 2,
        reads_per_s: 1,
        ..config()
    };
    let rig = Rig::with(config).await;
    // Empty forms: the limit comes first, and they cost next to nothing.
    let mut statuses = Vec::new();
    for _ in 0..50 {
        statuses.push(send(&rig, "/upload", &[]).await.status);
    }
    assert_eq!(statuses[0], StatusCode::BAD_REQUEST);
    assert!(
        statuses.contains(&StatusCode::TOO_MANY_REQUESTS),
        "{statuses:?}"
    );
}

/// Whatever a reader does with a text.
#[tokio::test]
async fn a_reader_that_never_ends_is_stopped() {
    let endless = "while :; do :; done";
    let crash = "kill -ABRT $$";
    let panic = "exit 101";
    for (script, status, part) in [
        (
            endless,
            StatusCode::PAYLOAD_TOO_LARGE,
            "1 s of processor time",
        ),
        (crash, StatusCode::PAYLOAD_TOO_LARGE, "512 MiB of memory"),
        (panic, StatusCode::INTERNAL_SERVER_ERROR, "site failed"),
    ] {
        let rig = Rig::reading(config(), shell(script, Path::new("/"), 1)).await;
        // More than a pipe holds: it is not read.
        let text = "odd 17 MB/s\n".repeat(20_000);
        let answer = send(&rig, "/upload", &[("text", text.as_bytes())]).await;
        assert_eq!(answer.status, status, "{script}: {}", answer.text());
        assert!(answer.text().contains(part), "{script}: {}", answer.text());
    }
}

#[tokio::test]
async fn uploads_wait_in_a_queue_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let script = r#"until [ -e "$0" ]; do sleep 0.1; done; printf '{"Page":"read"}'"#;
    let rig = Rig::reading(config(), shell(script, &go, 60)).await;
    let parts: [Part<'_>; 1] = [("text", b"x")];
    let mut uploads: FuturesUnordered<_> = (0..3).map(|_| send(&rig, "/upload", &parts)).collect();
    // One address block may have two.
    let first = uploads.next().await.unwrap();
    assert_eq!(first.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(first.headers["retry-after"], "5");
    assert!(first.text().contains("busy"), "{}", first.text());
    // The others hold up neither submissions nor pages.
    let text = text_of(&measured());
    tokio::select! {
        answer = rig.submit(1, &text) => assert_eq!(answer.status, StatusCode::CREATED),
        Some(answer) = uploads.next() => panic!("{}", answer.text()),
    }
    assert_eq!(rig.get("/runs").await.status, StatusCode::OK);
    std::fs::write(&go, "").unwrap();
    while let Some(answer) = uploads.next().await {
        assert_eq!(
            (answer.status, answer.text()),
            (StatusCode::OK, "read".to_owned())
        );
    }
    let metrics = rig.get("/metrics").await.text();
    for (outcome, count) in [("understood", 2), ("busy", 1)] {
        let line = format!("cardmark_site_uploads_total{{outcome=\"{outcome}\"}} {count}");
        assert!(metrics.contains(&line), "{metrics}");
    }
}
