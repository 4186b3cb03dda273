//! Packs derived again have the rows of the dump.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use cardmark_share::{Packed, to_hexadecimal, write_pack};
use cardmark_site_data::{derive_pack, unpacked};
use cardmark_site_store::SiteStore;
use parquet::file::reader::{FileReader, SerializedFileReader};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use uuid::Uuid;

use crate::round_trip::dump;
use crate::samples::fill;
use crate::site::Site;

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

async fn pack(store: &SiteStore, ids: &[Uuid]) -> Vec<u8> {
    let mut documents = Vec::new();
    for id in ids {
        let head = match store.find(*id).await.unwrap() {
            cardmark_site_store::Found::Here(head) => head,
            other => panic!("{other:?}"),
        };
        let document = store.document(*id).await.unwrap().unwrap();
        documents.push(Packed {
            id: *id,
            digest: to_hexadecimal(&document.digest),
            bytes: document.packed,
            received_ms: head.received_ms,
            submitter: head.tag.map(|tag| to_hexadecimal(&tag)),
        });
    }
    // One whose bytes are not those of its digest.
    let text = unpacked(&documents[0].bytes).unwrap();
    let mut damaged = documents[0].clone();
    damaged.digest = to_hexadecimal(&Sha256::digest(text + "\n"));
    documents.push(damaged);
    write_pack(&documents).0
}

pub(crate) async fn a_pack_has_the_rows_of_the_dump(site: Site) {
    let store = site.open().await;
    let ids = fill(&store).await;
    let folder = TempDir::new().unwrap();
    let first = folder.path().join("first");
    dump(&store, &first).await;
    let derived = folder.path().join("derived");
    for (number, some) in ids.chunks(20).enumerate() {
        let path = folder.path().join(format!("{number}.pack"));
        std::fs::write(&path, pack(&store, some).await).unwrap();
        let result = derive_pack(&path, &derived).unwrap();
        assert_eq!(
            (result.records, result.unreadable),
            (some.len() as u64 + 1, 1)
        );
        assert_eq!(derive_pack(&path, &derived).unwrap(), result, "tried again");
    }
    let (of_site, of_packs) = (rows(&first, "records"), rows(&derived, "records"));
    assert_eq!(of_site.len(), ids.len());
    let differing: BTreeMap<&String, &String> = of_site
        .iter()
        .zip(&of_packs)
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
    let not_one = folder.path().join("not-one.pack");
    std::fs::write(&not_one, "text").unwrap();
    let error = derive_pack(&not_one, &derived).unwrap_err().to_string();
    assert!(error.contains("is no pack"), "{error}");
    store.close().await;
}
