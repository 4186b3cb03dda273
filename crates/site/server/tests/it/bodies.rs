//! Bodies: packed, too large, broken, and no records.

use std::io::Write;

use axum::http::StatusCode;
use serde_json::Value;

use crate::rig::{Rig, another, measured, text_of};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

async fn post(rig: &Rig, encoding: &str, body: Vec<u8>) -> (StatusCode, Value) {
    let answer = rig
        .ask(
            "POST",
            "/api/v1/records",
            &[("content-encoding", encoding)],
            body,
        )
        .await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn packed_bodies_are_as_good_as_plain_ones() {
    let (rig, text) = (Rig::new().await, text_of(&measured()));
    let zstd = zstd::bulk::compress(text.as_bytes(), 19).unwrap();
    assert_eq!(
        post(&rig, "gzip", gzip(text.as_bytes())).await.0,
        StatusCode::CREATED
    );
    assert_eq!(post(&rig, "zstd", zstd.clone()).await.0, StatusCode::OK);
    assert_eq!(
        post(&rig, "identity", text.clone().into_bytes()).await.0,
        StatusCode::OK
    );
    let path = format!("/api/v1/records/{}/document", measured().id);
    let packed = rig
        .ask("GET", &path, &[("accept-encoding", "gzip, zstd")], "")
        .await;
    assert_eq!(packed.headers["content-encoding"], "zstd");
    assert_eq!(
        zstd::bulk::decompress(&packed.body, 16 << 20).unwrap(),
        text.as_bytes()
    );
    let plain = rig
        .ask("GET", &path, &[("accept-encoding", "zstd;q=0")], "")
        .await;
    assert_eq!(plain.text(), text);
}

#[tokio::test]
async fn bombs_and_broken_bodies_are_refused() {
    let rig = Rig::new().await;
    let zeros = vec![b' '; 64 << 20];
    let whole = gzip(&zeros);
    assert!(whole.len() < 1 << 20);
    assert_eq!(
        post(&rig, "gzip", whole.clone()).await.0,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    let bomb = zstd::bulk::compress(&zeros, 3).unwrap();
    assert_eq!(
        post(&rig, "zstd", bomb).await.0,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    assert_eq!(
        post(&rig, "identity", vec![b' '; (8 << 20) + 1]).await.0,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    for broken in [whole[..whole.len() / 2].to_vec(), b"neither".to_vec()] {
        let status = post(&rig, "gzip", broken.clone()).await.0;
        assert!(
            status == StatusCode::BAD_REQUEST || status == StatusCode::PAYLOAD_TOO_LARGE,
            "{status}"
        );
        assert_eq!(post(&rig, "zstd", broken).await.0, StatusCode::BAD_REQUEST);
    }
    for unknown in ["br", "gzip, gzip", "deflate"] {
        assert_eq!(
            post(&rig, unknown, b"x".to_vec()).await.0,
            StatusCode::UNSUPPORTED_MEDIA_TYPE
        );
    }
}

#[tokio::test]
async fn what_is_no_record_is_refused_with_the_place() {
    let rig = Rig::new().await;
    let record = serde_json::to_value(measured()).unwrap();
    let id = measured().id;
    let head = format!(r#""format":1,"id":"{id}","origin":{{"kind":"measured"}}"#);
    let changed = |pointer: &str, value: Value| {
        let text = text_of(&measured());
        let mut record: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        *record
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("{pointer}")) = value;
        record.to_string()
    };
    assert!(record.is_object());
    for (body, pointer) in [
        (String::new(), ""),
        ("{".to_owned(), ""),
        ("[]".to_owned(), ""),
        ("{\"format\":1}".to_owned(), ""),
        (
            format!("{{{head},\"deep\":{}1{}}}", "[".repeat(40), "]".repeat(40)),
            "",
        ),
        (format!("{{{head},\"n\":18446744073709551616}}"), ""),
        (
            format!("{{{}}}", head.replace("\"format\":1", "\"format\":9")),
            "",
        ),
        (
            changed("/devices/0/size_bytes", "much".into()),
            "/devices/0/size_bytes",
        ),
        (changed("/metrics/2/value", Value::Null), "/metrics/2/value"),
    ] {
        let (status, problem) = post(&rig, "identity", body.clone().into_bytes()).await;
        let shown: String = body.chars().take(60).collect();
        assert_eq!(
            status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{shown}: {problem:#}"
        );
        assert_eq!(problem["type"], "/problems/not-a-record", "{shown}");
        if !pointer.is_empty() {
            assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem:#}");
        }
    }
    let (status, problem) = post(&rig, "identity", b"\xff\xfe".to_vec()).await;
    assert_eq!(
        (status, &problem["type"]),
        (
            StatusCode::UNPROCESSABLE_ENTITY,
            &"/problems/not-text".into()
        )
    );
}

#[tokio::test]
async fn numbers_beyond_all_measure_are_no_failure_of_the_site() {
    let rig = Rig::new().await;
    let text = text_of(&another(1));
    let mut record: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    for pointer in ["/metrics/0/value", "/metrics/0/low"] {
        if let Some(place) = record.pointer_mut(pointer) {
            *place = 1e308.into();
        }
    }
    let columns = record["trials"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect::<Vec<_>>();
    for column in columns {
        let mut huge = record.clone();
        if let Some(first) = huge["trials"][&column]
            .as_array_mut()
            .and_then(|list| list.first_mut())
            && first.is_u64()
        {
            *first = ((1_u64 << 53) - 1).into();
        }
        let (status, answer) = post(&rig, "identity", huge.to_string().into_bytes()).await;
        assert!(status.as_u16() < 500, "{column}: {answer:#}");
    }
}

#[tokio::test]
async fn headers_of_the_owner_are_hexadecimal_or_refused() {
    let rig = Rig::new().await;
    for (name, value) in [
        ("cardmark-tag", "zz"),
        ("cardmark-token-hash", "00"),
        ("cardmark-tag", "AB"),
    ] {
        let answer = rig
            .ask(
                "POST",
                "/api/v1/records",
                &[(name, value)],
                text_of(&measured()),
            )
            .await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        assert!(answer.json()["detail"].as_str().unwrap().contains(name));
    }
}
