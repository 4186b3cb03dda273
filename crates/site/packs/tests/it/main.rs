//! One contract for a folder and for S3-compatible storage.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

use std::time::Duration;

use cardmark_share::to_hexadecimal;
use cardmark_site_packs::{PackStorage, Packs, PacksError};
use tempfile::TempDir;
use uuid::Uuid;

/// Address of a bucket of a test server, whose endpoint and keys are in the environment.
const SERVER: &str = "CARDMARK_TEST_S3";

fn folder() -> (TempDir, PackStorage) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("file://{}", folder.path().join("new/folder").display());
    (folder, PackStorage::open(&url).unwrap())
}

/// A new prefix of the bucket, if there is a server.
fn bucket() -> Option<PackStorage> {
    let Ok(bucket) = std::env::var(SERVER) else {
        let is_required = std::env::var("CARDMARK_REQUIRE").as_deref() == Ok("all");
        assert!(
            !is_required,
            "{SERVER} is not set: run scripts/s3 cargo test …"
        );
        println!("skipped: {SERVER} is not set");
        return None;
    };
    Some(PackStorage::open(&format!("{bucket}/{}", Uuid::new_v4())).unwrap())
}

async fn packs_are_kept(storage: PackStorage) {
    assert!(storage.list().await.unwrap().is_empty());
    let (one, other) = (vec![1; 100_000], vec![2; 10]);
    let name = storage.put(one.clone()).await.unwrap();
    assert_eq!(storage.put(one.clone()).await.unwrap(), name);
    let second = storage.put(other.clone()).await.unwrap();
    assert_eq!(storage.get(name).await.unwrap(), one);
    assert_eq!(
        storage.get_range(name, 99_990..100_000).await.unwrap(),
        one[99_990..]
    );
    assert_eq!(storage.get_range(second, 3..4).await.unwrap(), [2]);
    assert_eq!(storage.delete_left(Duration::ZERO).await.unwrap(), 0);
    let mut names = storage.list().await.unwrap();
    names.sort_unstable();
    let mut expected = [name, second];
    expected.sort_unstable();
    assert_eq!(names, expected);
    for _ in 0..2 {
        storage.delete(second).await.unwrap();
    }
    assert_eq!(storage.list().await.unwrap(), [name]);
    let is_missing =
        |error| matches!(error, PacksError::Missing(digits) if digits == to_hexadecimal(&second));
    assert!(is_missing(storage.get(second).await.unwrap_err()));
    assert!(is_missing(
        storage.get_range(second, 0..1).await.unwrap_err()
    ));
    storage.delete(name).await.unwrap();
}

#[tokio::test]
async fn packs_are_kept_in_a_folder() {
    let (_folder, storage) = folder();
    packs_are_kept(storage).await;
}

#[tokio::test]
async fn packs_are_kept_by_a_server() {
    if let Some(storage) = bucket() {
        packs_are_kept(storage).await;
    }
}

/// More names than one answer of a server holds.
#[tokio::test]
async fn long_lists_are_whole() {
    let Some(storage) = bucket() else {
        return;
    };
    let mut expected = Vec::new();
    for number in 0..1_010_u32 {
        expected.push(storage.put(number.to_le_bytes().to_vec()).await.unwrap());
    }
    let mut names = storage.list().await.unwrap();
    names.sort_unstable();
    expected.sort_unstable();
    assert!(names == expected, "{} of {}", names.len(), expected.len());
}

#[tokio::test]
async fn a_changed_pack_is_noticed_and_can_be_written_again() {
    let (folder, storage) = folder();
    let name = storage.put(vec![7; 100]).await.unwrap();
    let digits = to_hexadecimal(&name);
    let file = folder
        .path()
        .join(format!("new/folder/packs/{}/{digits}.pack", &digits[..4]));
    assert_eq!(std::fs::read(&file).unwrap(), [7; 100]);
    std::fs::write(&file, [8; 100]).unwrap();
    let read = storage.get(name).await;
    assert!(matches!(read, Err(PacksError::Damaged(_))), "{read:?}");
    assert_eq!(storage.put(vec![7; 100]).await.unwrap(), name);
    assert_eq!(storage.get(name).await.unwrap(), [7; 100]);
}

#[tokio::test]
async fn files_of_others_are_no_packs() {
    let (folder, storage) = folder();
    let name = storage.put(vec![1]).await.unwrap();
    let packs = folder.path().join("new/folder/packs");
    for file in [
        "notes.txt",
        "abcd.pack",
        &format!("{}.pack", "G".repeat(64)),
    ] {
        std::fs::write(packs.join(file), "x").unwrap();
    }
    assert_eq!(storage.list().await.unwrap(), [name]);
}

#[test]
fn addresses_that_cannot_be_used_are_refused() {
    for (url, why) in [
        ("", "neither"),
        ("/srv/packs", "neither"),
        ("http://localhost/packs", "neither"),
        ("file://packs", "begin with /"),
        ("s3://", "name a bucket"),
        ("file:///dev/null/packs", "Not a directory"),
    ] {
        let error = PackStorage::open(url).unwrap_err();
        assert!(matches!(error, PacksError::Address { .. }), "{url}");
        assert!(error.to_string().contains(why), "{error}");
    }
}
