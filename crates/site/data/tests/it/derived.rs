//! Documents of a dump derived again have the rows of the site.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use cardmark_site_data::derive_part;
use parquet::file::reader::{FileReader, SerializedFileReader};
use tempfile::TempDir;

use crate::round_trip::dump;
use crate::samples::fill;
use crate::site::Site;

const PARTS: [(&str, u64); 2] = [("2026-11.0001", 23), ("2026-12.0001", 21)];

/// Rows of the tables of a kind, as texts.
pub(crate) fn rows(folder: &Path, kind: &str) -> Vec<String> {
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(folder.join(kind)).unwrap() {
        let file = File::open(entry.unwrap().path()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let found = reader.get_row_iter(None).unwrap();
        rows.extend(found.map(|row| row.unwrap().to_string()));
    }
    rows.sort();
    rows
}

pub(crate) async fn documents_derived_again_have_the_rows_of_the_site(site: Site) {
    let store = site.open().await;
    let ids = fill(&store).await;
    let folder = TempDir::new().unwrap();
    let first = folder.path().join("first");
    dump(&store, &first).await;
    store.close().await;
    let derived = folder.path().join("derived");
    for (name, count) in PARTS {
        let path = first.join(format!("documents/{name}.jsonl.zst"));
        let result = derive_part(&path, &derived).unwrap();
        assert_eq!(
            (result.part.as_str(), result.records, result.unreadable),
            (name, count, 0)
        );
        assert_eq!(derive_part(&path, &derived).unwrap(), result, "tried again");
    }
    let (of_site, again) = (rows(&first, "records"), rows(&derived, "records"));
    assert_eq!(of_site.len(), ids.len());
    let differing: BTreeMap<&String, &String> = of_site
        .iter()
        .zip(&again)
        .filter(|(one, other)| one != other)
        .collect();
    // The repeated run is quarantined beside others only.
    assert_eq!(differing.len(), 1, "{differing:?}");
    for (one, other) in differing {
        assert_eq!(&one.replace("quarantined", "shared"), other);
    }
    let figures = rows(&first, "figures");
    assert_eq!(figures.len(), 4 * 9, "{figures:?}");
    assert!(figures.iter().any(|row| row.contains("B/s")), "{figures:?}");
    assert_eq!(figures, rows(&derived, "figures"));
}

#[tokio::test]
async fn a_damaged_line_has_no_row_and_another_file_is_refused() {
    let folder = TempDir::new().unwrap();
    let address = format!("sqlite:{}", folder.path().join("site.sqlite").display());
    let store = cardmark_site_store::SiteStore::open(&address)
        .await
        .unwrap();
    fill(&store).await;
    let first = folder.path().join("first");
    dump(&store, &first).await;
    store.close().await;
    let (name, count) = PARTS[1];
    let packed = std::fs::read(first.join(format!("documents/{name}.jsonl.zst"))).unwrap();
    let text = String::from_utf8(zstd::decode_all(packed.as_slice()).unwrap()).unwrap();
    let digest = text.replacen("\"digest\":\"", "\"digest\":\"00", 1);
    let json = text.replacen('{', "", 1);
    for (number, changed) in [digest, json].into_iter().enumerate() {
        assert_ne!(changed, text);
        let path = folder.path().join(format!("{number}.jsonl.zst"));
        std::fs::write(&path, zstd::encode_all(changed.as_bytes(), 1).unwrap()).unwrap();
        let derived = folder.path().join(format!("derived-{number}"));
        let result = derive_part(&path, &derived).unwrap();
        assert_eq!((result.records, result.unreadable), (count, 1));
        assert_eq!(rows(&derived, "records").len() as u64, count - 1);
    }
    for (name, why) in [
        ("notes.txt", "has to end with .jsonl.zst"),
        ("notes.jsonl.zst", "cannot use"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, "text").unwrap();
        let derived = folder.path().join("nothing");
        let error = derive_part(&path, &derived).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(!derived.join("records/notes.parquet").exists(), "{name}");
    }
}
