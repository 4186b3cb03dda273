//! `cardmark-site withdraw`, beside a site that runs, on both databases.

use std::path::Path;
use std::process::{Command, Output};

use axum::http::StatusCode;
use cardmark_site::Site as Served;
use cardmark_site_data::{DumpAbout, withdrawn_in, write_dump};
use cardmark_site_store::{Found, Removed, SiteStore, Withdrawn};
use tempfile::TempDir;
use uuid::Uuid;

use crate::database::{Site, with_postgres, with_sqlite};
use crate::rig::{Rig, another, bearer, config, text_of};

use crate::samples::{incoming, token};

const HOUR_MS: i64 = 3_600_000;

/// Makes each of these a test on both databases.
macro_rules! contract {
    ($($name:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::with_sqlite(super::$name).await;
            })+
        }

        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::with_postgres(super::$name).await;
            })+
        }
    };
}

contract! {
    a_restored_copy_follows_the_withdrawals_of_a_dump,
    runs_without_a_token_are_withdrawn_by_their_ids,
}

fn program(site: &Site, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cardmark-site"))
        .arg("withdraw")
        .args(arguments)
        .env_clear()
        .env("CARDMARK_DATABASE_URL", &site.address)
        .output()
        .unwrap()
}

/// Standard output of a command that succeeded.
fn printed(output: Output) -> String {
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    String::from_utf8(output.stdout).unwrap()
}

/// Another empty database of the same kind.
async fn other(site: &Site) -> Site {
    match site.is_postgres {
        true => site.sibling().await,
        false => Site {
            address: site.address.replace("site.sqlite", "restored.sqlite"),
            is_postgres: false,
        },
    }
}

async fn served(site: &Site) -> Rig {
    let store = site.open().await;
    Rig::over(
        TempDir::new().unwrap(),
        store.clone(),
        Served::new(store, config()),
    )
}

async fn dump(store: &SiteStore, folder: &Path) {
    let about = DumpAbout {
        site: "https://cards.example".to_owned(),
        now_ms: jiff::Timestamp::now().as_millisecond() + HOUR_MS,
    };
    write_dump(store, folder, about).await.unwrap();
}

async fn withdraw_as_owner(rig: &Rig, number: u8) {
    let id = another(u128::from(number)).id;
    let token = bearer(number, id);
    let path = format!("/api/v1/records/{id}");
    let headers = [("authorization", &*token)];
    let withdrawn = rig.ask("DELETE", &path, &headers, "").await;
    assert_eq!(withdrawn.status, StatusCode::OK, "{}", withdrawn.text());
}

/// All rows that follow from records, but for the number of withdrawals.
async fn summaries(rig: &Rig) -> Vec<String> {
    let mut rows = rig.store.summaries_dump().await.unwrap();
    rows.retain(|row| !row.contains("withdrawn"));
    rows
}

async fn a_restored_copy_follows_the_withdrawals_of_a_dump(site: Site) {
    let restored = other(&site).await;
    let (first, copy) = (served(&site).await, served(&restored).await);
    for number in 1..=5 {
        let text = text_of(&another(u128::from(number)));
        // The last one arrived after the backup.
        let rigs = [Some(&first), (number < 5).then_some(&copy)];
        for rig in rigs.into_iter().flatten() {
            let shared = rig.submit(number, &text).await;
            assert_eq!(shared.status, StatusCode::CREATED, "{}", shared.text());
        }
    }
    for number in [1, 2, 5] {
        withdraw_as_owner(&first, number).await;
    }
    withdraw_as_owner(&copy, 1).await;
    assert_ne!(summaries(&copy).await, summaries(&first).await);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("dump");
    dump(&first.store, &path).await;
    // The two files that an operator keeps beside the backups.
    let kept = folder.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    for name in ["manifest.json", "tombstones.jsonl"] {
        std::fs::copy(path.join(name), kept.join(name)).unwrap();
    }
    let as_in = ["--as-in", kept.to_str().unwrap()];
    let gone = another(2).id;

    let list = kept.join("tombstones.jsonl");
    let whole = std::fs::read(&list).unwrap();
    std::fs::write(&list, &whole[1..]).unwrap();
    let refused = program(&restored, &as_in);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("tombstones.jsonl is damaged"), "{text}");
    assert!(matches!(copy.store.find(gone).await, Ok(Found::Here(_))));
    std::fs::write(&list, &whole).unwrap();

    let text = printed(program(&restored, &as_in));
    let expected = format!("{gone}: withdrawn\n1 withdrawn, 1 gone already, 1 unknown\n");
    assert_eq!(text, expected);
    assert_eq!(summaries(&copy).await, summaries(&first).await);
    let answer = copy.get(&format!("/api/v1/records/{gone}")).await;
    assert_eq!(answer.status, StatusCode::GONE, "{}", answer.text());
    let changes = copy.get("/api/v1/changes").await.text();
    assert!(changes.contains(&gone.to_string()), "{changes}");
    let again = copy.submit(2, &text_of(&another(2))).await;
    assert_eq!(again.status, StatusCode::GONE, "{}", again.text());
    let text = printed(program(&restored, &as_in));
    assert_eq!(text, "0 withdrawn, 2 gone already, 1 unknown\n");

    let path = folder.path().join("next");
    dump(&copy.store, &path).await;
    let mut listed = withdrawn_in(&path).unwrap();
    listed.sort();
    assert_eq!(listed, [another(1).id, gone]);
    first.store.close().await;
    copy.store.close().await;
    if restored.is_postgres {
        restored.remove().await;
    }
}

async fn runs_without_a_token_are_withdrawn_by_their_ids(site: Site) {
    let store = site.open().await;
    for run in [3, 4] {
        store.put(incoming(run, "Card A", 1, 1)).await.unwrap();
    }
    let mut bare = incoming(10, "Card A", 1, 1);
    bare.token_hash = None;
    let id = bare.extract.id;
    store.put(bare).await.unwrap();
    let refused = store.withdraw(id, token(10)).await.unwrap();
    assert_eq!(refused, Withdrawn::Forbidden);

    let [owned, unknown] = [3, 99].map(Uuid::from_u128);
    let names = [owned, id, owned, unknown].map(|id| id.to_string());
    let output = program(&site, &names.each_ref().map(String::as_str));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = format!(
        "{owned}: withdrawn\n{id}: withdrawn\n{owned}: gone already\n{unknown}: unknown\n\
         2 withdrawn, 1 gone already, 1 unknown\n"
    );
    assert_eq!(text, expected);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("not in this database: 1;"), "{text}");
    let text = printed(program(&site, &[&names[0]]));
    assert!(text.contains("0 withdrawn, 1 gone already"), "{text}");
    for (run, is_here) in [(owned, false), (id, false), (Uuid::from_u128(4), true)] {
        let document = store.document(run).await.unwrap();
        assert_eq!(document.is_some(), is_here, "{run}");
    }
    assert_eq!(store.remove(unknown).await.unwrap(), Removed::Unknown);
    store.close().await;
}

#[test]
fn what_to_withdraw_has_to_be_named_once() {
    let site = Site {
        address: "sqlite:/nowhere".to_owned(),
        is_postgres: false,
    };
    let id = Uuid::from_u128(1).to_string();
    for arguments in [&[][..], &["last"], &["--as-in", "dump", &id]] {
        let output = program(&site, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    }
}
