//! Dumps that the site makes by itself, and their files.

use axum::http::StatusCode;
use cardmark_share::to_hexadecimal;
use cardmark_site::{Config, dump_if_due, dump_name};
use cardmark_site_data::{Manifest, verify};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::rig::{Rig, another, bearer, config, id_of, secrets, server, text_in, text_of};

const HOUR_MS: i64 = 3_600_000;

/// A time behind all arrivals of the test.
fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond() + HOUR_MS
}

async fn rig(folder: &TempDir) -> Rig {
    let config = Config {
        dumps: Some(folder.path().join("dumps")),
        origin: "https://cards.example".parse().ok(),
        ..config()
    };
    Rig::with(config).await
}

/// Shares a run and writes the first dump; returns its time.
async fn dumped(rig: &Rig) -> i64 {
    let shared = rig.submit(1, &text_of(&another(1))).await;
    assert_eq!(shared.status, StatusCode::CREATED);
    let begin = now_ms();
    dump_if_due(&rig.site, begin).await.unwrap().unwrap();
    begin
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path().join("dumps")).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_withdrawn_run_is_gone_from_all_that_is_served_after_the_next_dump() {
    let folder = TempDir::new().unwrap();
    let rig = rig(&folder).await;
    let mut record = another(1);
    record
        .labels
        .insert("product".to_owned(), "quokkaproduct".to_owned());
    let text = text_of(&record);
    assert_eq!(rig.submit(1, &text).await.status, StatusCode::CREATED);
    let stays = another(2);
    assert_eq!(
        rig.submit(2, &text_of(&stays)).await.status,
        StatusCode::CREATED
    );
    let begin = now_ms();
    let first = dump_if_due(&rig.site, begin).await.unwrap().unwrap();
    assert_eq!(first.manifest.records, 2);
    assert_eq!(first.manifest.site, "https://cards.example");
    assert!(
        dump_if_due(&rig.site, begin + 19 * HOUR_MS)
            .await
            .unwrap()
            .is_none()
    );
    let old = format!("/data/dumps/{}", dump_name(begin));
    let sample = rig.get(&format!("{old}/sample.jsonl")).await;
    assert!(sample.text().contains("quokkaproduct"), "{}", sample.text());

    let id = id_of(&text);
    let headers = [("authorization", &*bearer(1, id))];
    let path = format!("/api/v1/records/{id}");
    let withdrawn = rig.ask("DELETE", &path, &headers, "").await;
    assert_eq!(withdrawn.status, StatusCode::OK, "{}", withdrawn.text());
    // Within a day: 20 hours, and an hour in caches.
    let later = begin + 20 * HOUR_MS;
    assert!(dump_if_due(&rig.site, later).await.unwrap().is_some());
    assert_eq!(names(&folder), [dump_name(later)]);
    let gone = rig.get(&format!("{old}/sample.jsonl")).await;
    assert_eq!(gone.status, StatusCode::GONE, "{}", gone.text());
    assert_eq!(gone.headers["cache-control"], "no-store");
    let manifest = verify(&folder.path().join("dumps").join(dump_name(later))).unwrap();
    assert_eq!((manifest.records, manifest.tombstones), (1, 1));
    for file in &manifest.files {
        let path = format!("/data/dumps/{}/{}", dump_name(later), file.path);
        let answer = rig.get(&path).await;
        assert_eq!(answer.headers["cache-control"], "public, max-age=3600");
        let text = text_in(&file.path, answer.body);
        let is_of_runs = file.path.contains('/') || file.path == "sample.jsonl";
        assert_eq!(text.contains(&stays.id.to_string()), is_of_runs, "{path}");
        assert!(!text.contains("quokkaproduct"), "{path}");
        if file.path.ends_with(".parquet") {
            // All rows are read, not what the table shows without unpacking.
            let count = text.matches(&stays.id.to_string()).count();
            assert_eq!(count as u64, file.rows, "{path}");
        }
        let is_named = text.contains(&id.to_string());
        assert_eq!(is_named, file.path == "tombstones.jsonl", "{path}");
    }
}

#[tokio::test]
async fn what_killed_processes_left_is_removed() {
    let folder = TempDir::new().unwrap();
    let rig = rig(&folder).await;
    let begin = dumped(&rig).await;
    let dumps = folder.path().join("dumps");
    let left = [
        format!(".{}.unfinished", dump_name(begin - HOUR_MS)),
        dump_name(begin - 2 * HOUR_MS),
        // Of another version.
        dump_name(begin + HOUR_MS),
    ];
    for name in &left {
        std::fs::create_dir(dumps.join(name)).unwrap();
        std::fs::write(dumps.join(name).join("manifest.json"), "{}").unwrap();
    }
    std::fs::write(dumps.join("notes.txt"), "of the operator").unwrap();
    let again = dump_if_due(&rig.site, begin + HOUR_MS).await.unwrap();
    assert!(again.is_none(), "{again:?}");
    assert_eq!(names(&folder), [dump_name(begin), "notes.txt".to_owned()]);
    // The clock was set back: the newest is of the future.
    let earlier = begin - 100 * HOUR_MS;
    assert!(dump_if_due(&rig.site, earlier).await.unwrap().is_some());
    assert_eq!(names(&folder), [dump_name(earlier), "notes.txt".to_owned()]);
}

#[tokio::test]
async fn a_dump_is_deleted_after_its_time_also_if_none_can_be_written() {
    let folder = TempDir::new().unwrap();
    let rig = rig(&folder).await;
    let begin = dumped(&rig).await;
    let dumps = folder.path().join("dumps");
    let served = begin + 23 * HOUR_MS;
    // One of another version, and one that a process was killed in.
    let others = [
        dump_name(begin - 1_000),
        format!(".{}.unfinished", dump_name(begin - 2_000)),
    ];
    rig.store.close().await;
    assert!(dump_if_due(&rig.site, begin + 20 * HOUR_MS).await.is_err());
    assert_eq!(names(&folder), [dump_name(begin)]);
    for name in &others {
        std::fs::create_dir(dumps.join(name)).unwrap();
        std::fs::write(dumps.join(name).join("sample.jsonl"), "withdrawn").unwrap();
    }
    std::fs::write(dumps.join("notes.txt"), "of the operator").unwrap();
    assert!(dump_if_due(&rig.site, served).await.is_err());
    assert_eq!(names(&folder), ["notes.txt"]);

    // Without one that this version can read, younger ones stay.
    let young = dump_name(served - HOUR_MS);
    std::fs::create_dir(dumps.join(&young)).unwrap();
    assert!(dump_if_due(&rig.site, served).await.is_err());
    assert_eq!(names(&folder), [young, "notes.txt".to_owned()]);
}

#[tokio::test]
async fn files_are_served_whole_and_in_parts() {
    let folder = TempDir::new().unwrap();
    let rig = rig(&folder).await;
    let begin = dumped(&rig).await;
    let at = format!("/data/dumps/{}", dump_name(begin));
    let page = rig.get("/data").await.text();
    let manifest = rig.get(&format!("{at}/manifest.json")).await;
    let manifest: Manifest = serde_json::from_slice(&manifest.body).unwrap();
    for file in &manifest.files {
        let path = format!("{at}/{}", file.path);
        assert!(page.contains(&format!("href=\"{path}\"")), "{path}: {page}");
        let whole = rig.get(&path).await;
        assert_eq!(whole.status, StatusCode::OK, "{}", whole.text());
        assert_eq!(to_hexadecimal(&Sha256::digest(&whole.body)), file.sha256);
        assert_eq!(whole.headers["content-length"], file.bytes.to_string());
    }
    let path = format!("{at}/README.txt");
    let whole = rig.get(&path).await;
    let length = whole.body.len();
    let tag = whole.headers["etag"].to_str().unwrap().to_owned();
    let part = rig.ask("GET", &path, &[("range", "bytes=5-9")], "").await;
    assert_eq!(part.status, StatusCode::PARTIAL_CONTENT);
    assert_eq!(part.body, whole.body[5..10]);
    assert_eq!(part.headers["content-range"], format!("bytes 5-9/{length}"));
    let rest = format!("bytes={}-", length - 3);
    let rest = rig
        .ask("GET", &path, &[("range", &*rest), ("if-range", &*tag)], "")
        .await;
    assert_eq!(rest.body, whole.body[length - 3..]);
    let changed = [("range", "bytes=5-9"), ("if-range", "\"other\"")];
    assert_eq!(rig.ask("GET", &path, &changed, "").await.body, whole.body);
    let behind = format!("bytes={length}-");
    let behind = rig.ask("GET", &path, &[("range", &*behind)], "").await;
    assert_eq!(behind.status, StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(behind.headers["content-range"], format!("bytes */{length}"));
    let same = rig.ask("GET", &path, &[("if-none-match", &*tag)], "").await;
    assert_eq!(
        (same.status, same.body.len()),
        (StatusCode::NOT_MODIFIED, 0)
    );
    let head = rig.ask("HEAD", &path, &[], "").await;
    assert_eq!(head.headers["content-length"], length.to_string());
    for outside in [
        "../site.sqlite",
        "..%2f..%2fsite.sqlite",
        "records",
        "none",
        "%2e%2e/manifest.json",
    ] {
        let answer = rig.get(&format!("{at}/{outside}")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{outside}");
    }
    let never = rig
        .get("/data/dumps/2020-01-01T000000Z/manifest.json")
        .await;
    assert_eq!(never.status, StatusCode::GONE, "{}", never.text());
    let other = rig.get("/data/dumps/none/manifest.json").await;
    assert_eq!(other.status, StatusCode::NOT_FOUND, "{}", other.text());
}

#[tokio::test]
async fn a_tag_is_neither_kept_nor_published() {
    let folder = TempDir::new().unwrap();
    let rig = rig(&folder).await;
    let begin = dumped(&rig).await;
    let tag = secrets(1).tag(&server());
    let submitter = cardmark_share::submitter_of(&tag);
    let sample = rig
        .get(&format!("/data/dumps/{}/sample.jsonl", dump_name(begin)))
        .await;
    let text = sample.text();
    assert!(text.contains(&to_hexadecimal(&submitter)), "{text}");
    assert!(!text.contains(&to_hexadecimal(&tag)), "{text}");
    let rows = rig.store.summaries_dump().await.unwrap().join("\n");
    assert!(rows.contains(&to_hexadecimal(&submitter)), "{rows}");
    assert!(!rows.contains(&to_hexadecimal(&tag)), "{rows}");
}
