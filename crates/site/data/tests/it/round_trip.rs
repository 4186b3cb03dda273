//! A dump, and the site that is made from it.

use std::collections::BTreeMap;
use std::path::Path;

use cardmark_core::Statement;
use cardmark_site_data::{DumpAbout, Manifest, import, manifest_of, unpacked, verify, write_dump};
use cardmark_site_store::{
    Amended, Amendment, ChangeKind, Deed, Found, Moderated, NewAct, Scope, SiteStore, State,
    Switch, Withdrawn,
};
use tempfile::TempDir;
use uuid::Uuid;

use crate::samples::{LATE_MS, TOKEN, fill, incoming, measured, put, small, text_of};
use crate::site::{Site, with_sqlite};

const DAY_MS: i64 = 86_400_000;

pub(crate) async fn dump(store: &SiteStore, folder: &Path) -> Manifest {
    let about = DumpAbout {
        site: "https://cards.example".to_owned(),
        now_ms: LATE_MS + DAY_MS,
    };
    write_dump(store, folder, about).await.unwrap().manifest
}

/// Files of a folder by path.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
                all.insert(name.to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    all
}

async fn amend(store: &SiteStore, number: u64) {
    let record = measured(number);
    let labels = [("product".to_owned(), "Kingston Canvas".to_owned())].into();
    let statement = serde_json::to_string(&Statement::of(record.id, 2, &labels)).unwrap();
    let text = text_of(&record);
    let text = format!("{}\n{statement}\n", text.lines().next().unwrap());
    let amended = incoming(&text, None, LATE_MS);
    let amendment = Amendment {
        packed: amended.packed,
        digest: amended.digest,
        revision: 2,
        extract: amended.extract,
        checks: amended.checks,
        at_ms: LATE_MS + 1_000,
        limits: Vec::new(),
        newcomers: None,
    };
    let amended = store.amend(record.id, TOKEN, amendment).await.unwrap();
    assert!(matches!(amended, Amended::Now(_)), "{amended:?}");
}

async fn texts(store: &SiteStore, ids: &[Uuid]) -> Vec<Option<String>> {
    let mut texts = Vec::new();
    for id in ids {
        let document = store.document(*id).await.unwrap();
        texts.push(document.map(|document| unpacked(&document.packed).unwrap()));
    }
    texts
}

/// A run and a submitter are held, a quarantine ends, a product goes into another, an act is undone, and what arrives later waits. Returns
/// the id of the run that does.
async fn moderate(store: &SiteStore, ids: &[Uuid]) -> Uuid {
    let Found::Here(head) = store.find(ids[0]).await.unwrap() else {
        panic!("the first run is not there");
    };
    let deeds = [
        Deed::Hold(Scope::Record(ids[10])),
        Deed::Hold(Scope::Tag([2; 16])),
        Deed::Undo { act: 1 },
        Deed::Release(Scope::Record(ids[3])),
        Deed::Merge {
            product: head.product.unwrap(),
            into: "~other".to_owned(),
            into_name: "Other".to_owned(),
        },
        Deed::SwitchOn {
            switch: Switch::QuarantineNew,
        },
    ];
    for (at_ms, deed) in (LATE_MS..).zip(deeds) {
        let act = NewAct {
            account: "mo".to_owned(),
            deed,
            reason: "a reason".to_owned(),
            at_ms,
        };
        let done = store.moderate(act).await.unwrap();
        assert!(matches!(done, Moderated::Done(_)), "{done:?}");
    }
    store.apply_all().await.unwrap();
    let late = incoming(&text_of(&small(60)), None, LATE_MS + DAY_MS / 2);
    let id = late.extract.id;
    assert_eq!(put(store, late).await, State::Quarantined);
    id
}

pub(crate) async fn a_dump_makes_the_same_site(site: Site) {
    let store = site.open().await;
    let mut ids = fill(&store).await;
    amend(&store, 2).await;
    ids.push(moderate(&store, &ids).await);
    let gone = small(7).id;
    assert_eq!(store.withdraw(gone, TOKEN).await.unwrap(), Withdrawn::Now);
    let folder = TempDir::new().unwrap();
    let (first, again) = (folder.path().join("first"), folder.path().join("again"));
    let manifest = dump(&store, &first).await;
    assert_eq!(
        (manifest.records, manifest.quarantined, manifest.tombstones),
        (44, 2, 1)
    );
    assert_eq!(manifest.acts, 6);
    let months: Vec<&str> = manifest
        .files
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(
        months,
        [
            "README.txt",
            "acts.jsonl",
            "documents/2026-11.0001.jsonl.zst",
            "documents/2026-12.0001.jsonl.zst",
            "figures/2026-11.parquet",
            "figures/2026-12.parquet",
            "records/2026-11.parquet",
            "records/2026-12.parquet",
            "sample.jsonl",
            "tombstones.jsonl",
        ]
    );
    assert_eq!(verify(&first).unwrap(), manifest);
    assert_eq!(manifest_of(&first).unwrap(), manifest);
    dump(&store, &again).await;
    assert_eq!(
        files(&first),
        files(&again),
        "the same site has the same dump"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);

    // Into a database of the other kind, too.
    same_site(&store, &first, &ids, &sibling(&site).await).await;
    let other = first.clone();
    with_sqlite(move |other_site| async move {
        same_site(&store, &other, &ids, &other_site.open().await).await;
        store.close().await;
    })
    .await;
}

async fn sibling(site: &Site) -> SiteStore {
    match site.is_postgres {
        true => site.sibling().await.open().await,
        false => {
            let folder = Path::new(site.address.trim_start_matches("sqlite:"));
            let path = folder.with_file_name("sibling.sqlite");
            SiteStore::open(&format!("sqlite:{}", path.display()))
                .await
                .unwrap()
        }
    }
}

async fn same_site(store: &SiteStore, first: &Path, ids: &[Uuid], copy: &SiteStore) {
    let imported = import(copy, first).await.unwrap();
    assert_eq!(imported.differing_count, 0);
    assert_eq!(
        copy.summaries_dump().await.unwrap(),
        store.summaries_dump().await.unwrap()
    );
    assert_eq!(texts(copy, ids).await, texts(store, ids).await);
    let gone = small(7).id;
    for id in ids {
        match (
            copy.find(*id).await.unwrap(),
            store.find(*id).await.unwrap(),
        ) {
            (Found::Here(one), Found::Here(other)) => assert_eq!(one, other),
            (Found::Withdrawn { .. }, Found::Withdrawn { .. }) => assert_eq!(*id, gone),
            others => panic!("{id}: {others:?}"),
        }
    }
    let changes = copy.changes(0, 1_000).await.unwrap();
    let arrived = changes.iter().take(ids.len() - 1);
    assert!(
        arrived
            .clone()
            .all(|change| change.kind == ChangeKind::Arrived)
    );
    let in_order: Vec<Uuid> = ids.iter().copied().filter(|id| *id != gone).collect();
    assert_eq!(
        arrived.map(|change| change.id).collect::<Vec<_>>(),
        in_order
    );
    let last: Vec<_> = changes
        .iter()
        .skip(ids.len() - 1)
        .map(|change| (change.id, change.kind))
        .collect();
    assert_eq!(last, [(gone, ChangeKind::Withdrawn)]);
    let acts = copy.acts(None, 10).await.unwrap();
    assert_eq!(acts, store.acts(None, 10).await.unwrap());
    // No token came along.
    assert_eq!(
        copy.withdraw(ids[0], TOKEN).await.unwrap(),
        Withdrawn::Forbidden
    );
    let refused = import(copy, first).await.unwrap_err();
    assert!(refused.to_string().contains("not empty"), "{refused}");

    let second = first.with_file_name(format!("second-{}", Uuid::new_v4()));
    dump(copy, &second).await;
    let (mut one, mut other) = (files(first), files(&second));
    let manifests = [one.remove("manifest.json"), other.remove("manifest.json")];
    assert_eq!(one, other, "a copy has the same dump");
    assert!(manifests.iter().all(Option::is_some));
    copy.close().await;
}

pub(crate) async fn an_empty_site_has_a_dump(site: Site) {
    let store = site.open().await;
    let folder = TempDir::new().unwrap();
    let first = folder.path().join("first");
    let manifest = dump(&store, &first).await;
    assert_eq!(manifest.records, 0);
    let imported = import(&store, &first).await.unwrap();
    assert_eq!(imported.products_count, 0);
    let about = DumpAbout {
        site: String::new(),
        now_ms: 0,
    };
    let refused = write_dump(&store, &first, about).await.unwrap_err();
    assert!(
        refused.to_string().contains("is there already"),
        "{refused}"
    );
    store.close().await;
}
