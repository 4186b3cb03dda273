//! Dumps that are not what their manifest says.

use std::path::Path;

use cardmark_site_data::{Manifest, import};
use cardmark_site_store::SiteStore;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::round_trip::{dump, files};
use crate::samples::{incoming, put, small, text_of};
use crate::site::Site;

/// Writes a changed file, and a manifest that agrees with it.
fn replace(folder: &Path, path: &str, bytes: &[u8]) {
    std::fs::write(folder.join(path), bytes).unwrap();
    with_manifest(folder, |manifest| {
        let file = manifest.files.iter_mut().find(|file| file.path == path);
        let file = file.unwrap();
        file.bytes = bytes.len() as u64;
        file.sha256 = cardmark_share::to_hexadecimal(&Sha256::digest(bytes));
    });
}

fn with_manifest(folder: &Path, change: impl FnOnce(&mut Manifest)) {
    let path = folder.join("manifest.json");
    let mut manifest: Manifest = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    std::fs::write(&path, serde_json::to_vec(&manifest).unwrap()).unwrap();
}

async fn refused(store: &SiteStore, folder: &Path, part: &str) {
    let error = import(store, folder).await.unwrap_err().to_string();
    assert!(error.contains(part), "{part}: {error}");
    assert!(store.is_empty().await.unwrap(), "{part}");
}

pub(crate) async fn a_damaged_dump_changes_nothing(site: Site) {
    let store = site.open().await;
    let folder = TempDir::new().unwrap();
    let whole = folder.path().join("whole");
    let address = format!("sqlite:{}", folder.path().join("full.sqlite").display());
    let full = SiteStore::open(&address).await.unwrap();
    for number in 0..3 {
        let text = text_of(&small(number));
        put(
            &full,
            incoming(&text, Some(1), 1_000 + i64::try_from(number).unwrap()),
        )
        .await;
    }
    dump(&full, &whole).await;
    full.close().await;
    let documents = "documents/1970-01.0001.jsonl.zst";
    let packed = std::fs::read(whole.join(documents)).unwrap();
    let text = String::from_utf8(zstd::decode_all(packed.as_slice()).unwrap()).unwrap();
    let damaged = |name: &str| {
        let damaged = folder.path().join(name);
        for (path, bytes) in files(&whole) {
            let path = damaged.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        damaged
    };

    for path in files(&whole)
        .into_keys()
        .filter(|path| path != "manifest.json")
    {
        let one = damaged(&path.replace('/', "-"));
        let mut bytes = std::fs::read(one.join(&path)).unwrap();
        bytes.push(b'\n');
        std::fs::write(one.join(&path), bytes).unwrap();
        refused(&store, &one, "SHA-256").await;
    }
    let missing = damaged("missing");
    std::fs::remove_file(missing.join(documents)).unwrap();
    refused(&store, &missing, "cannot use").await;

    let lines: Vec<&str> = text.lines().collect();
    let id = small(0).id.to_string();
    for (name, changed, part) in [
        (
            "changed",
            text.replacen(
                "\"origin\":{\"kind\":\"simulated\"",
                "\"origin\":{\"kind\":\"measured\"",
                1,
            ),
            "does not have its digest",
        ),
        (
            "order",
            [lines[1], lines[0], lines[2]].join("\n"),
            "order of arrival",
        ),
        (
            "twice",
            [lines[0], lines[0], lines[1], lines[2]].join("\n"),
            "order of arrival",
        ),
        (
            "fewer",
            [lines[0], lines[1]].join("\n"),
            "counts other records",
        ),
        (
            "id",
            text.replacen(&id, &id.replace('2', "3"), 1),
            "another id",
        ),
        ("json", text.replacen('{', "", 1), "line 1"),
        (
            "submitter",
            text.replacen("\"submitter\":\"01", "\"submitter\":\"xx", 1),
            "submitter",
        ),
    ] {
        assert_ne!(changed, text, "{name}");
        let one = damaged(name);
        replace(
            &one,
            documents,
            &zstd::encode_all(changed.as_bytes(), 1).unwrap(),
        );
        refused(&store, &one, part).await;
    }
    let withdrawn = damaged("withdrawn");
    let tombstone = format!("{{\"id\":\"{id}\",\"day\":\"2026-11-26\"}}\n");
    replace(&withdrawn, "tombstones.jsonl", tombstone.as_bytes());
    refused(&store, &withdrawn, "was withdrawn").await;
    for (name, acts) in [("itself", [1, 1]), ("later", [2, 1])] {
        let undoing = damaged(name);
        let line = |(number, act): (usize, &i32)| {
            format!(
                "{{\"number\":{},\"at_ms\":0,\"account\":\"a\",\"kind\":\"undo\",\"target\":{{\"act\":{act}}},\"reason\":\"r\"}}\n",
                number + 1
            )
        };
        let lines: String = acts.iter().enumerate().map(line).collect();
        replace(&undoing, "acts.jsonl", lines.as_bytes());
        with_manifest(&undoing, |manifest| manifest.acts = 2);
        refused(&store, &undoing, "act 1 is not in its place").await;
    }
    let outside = damaged("outside");
    with_manifest(&outside, |manifest| {
        manifest.files[0].path = "../whole/README.txt".to_owned();
    });
    refused(&store, &outside, "names the file").await;
    let newer = damaged("newer");
    with_manifest(&newer, |manifest| manifest.format = 2);
    refused(&store, &newer, "version 2").await;

    assert_eq!(import(&store, &whole).await.unwrap().manifest.records, 3);
    store.close().await;
}
