//! A site's database with documents of some size, and a storage of packs that can be disturbed.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cardmark_share::to_hexadecimal;
use cardmark_site::{PackReader, Packing, PackingDone, PackingError, pack};
use cardmark_site_packs::{PackName, PackStorage, Packs, PacksError};
use cardmark_site_store::{Amendment, Incoming, SiteStore};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use uuid::Uuid;

use crate::packs::database::Site;
use crate::packs::samples::{self, token};

/// Makes each of these a test on both databases.
macro_rules! contract {
    ($($name:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::packs::database::with_sqlite(super::$name).await;
            })+
        }

        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::packs::database::with_postgres(super::$name).await;
            })+
        }
    };
}
pub(crate) use contract;

pub(crate) const HOUR_MS: i64 = 3_600_000;
/// Longest time for a thread to end after its caller has left.
const PATIENCE: Duration = Duration::from_secs(60);
/// A time at which everything is old, in 2096: withdrawals have the time of the computer.
pub(crate) const FAR_MS: i64 = 4_000_000_000_000;
/// Address of a bucket of a test server, whose endpoint and keys are in the environment.
const SERVER: &str = "CARDMARK_TEST_S3";

/// A database, a storage, and a clock.
pub(crate) struct Rig {
    pub(crate) store: SiteStore,
    pub(crate) storage: PackStorage,
    pub(crate) clock: Arc<AtomicI64>,
    pub(crate) folder: Arc<TempDir>,
    /// The folder of packs, if they are in one.
    pub(crate) packs: Option<PathBuf>,
}

impl Rig {
    /// With packs in a folder.
    pub(crate) async fn new(site: &Site) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let packs = folder.path().join("packs of cards");
        let url = format!("file://{}", packs.display());
        Self {
            packs: Some(packs),
            ..Self::over(site, &url, folder).await
        }
    }

    /// With packs on an S3-compatible server, if there is one.
    pub(crate) async fn with_server(site: &Site) -> Option<Self> {
        let Ok(bucket) = std::env::var(SERVER) else {
            let is_required = std::env::var("CARDMARK_REQUIRE").as_deref() == Ok("all");
            assert!(
                !is_required,
                "{SERVER} is not set: run scripts/s3 cargo test …"
            );
            println!("skipped: {SERVER} is not set");
            return None;
        };
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let url = format!("{bucket}/{}", Uuid::new_v4());
        Some(Self::over(site, &url, folder).await)
    }

    async fn over(site: &Site, url: &str, folder: Arc<TempDir>) -> Self {
        let storage = PackStorage::open(url).unwrap();
        let reader = Arc::new(PackReader::new(storage.clone()));
        Self {
            store: site.open().await.with_packs(reader),
            storage,
            clock: Arc::new(AtomicI64::new(FAR_MS)),
            folder,
            packs: None,
        }
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    pub(crate) fn pass(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::SeqCst);
    }

    pub(crate) async fn put(&self, runs: std::ops::Range<u128>) {
        for run in runs {
            self.store.put(submission(run)).await.unwrap();
        }
    }

    /// Runs the job.
    pub(crate) async fn pack(&self, packing: Packing) -> PackingDone {
        self.pack_to(&self.storage, packing).await.unwrap()
    }

    pub(crate) async fn pack_to(
        &self,
        packs: &impl Packs,
        packing: Packing,
    ) -> Result<PackingDone, PackingError> {
        pack(&self.store, packs, packing, || self.now()).await
    }

    /// Bytes of all packs together; of a folder, those of all its files.
    pub(crate) async fn packed_bytes(&self) -> Vec<u8> {
        let mut all = Vec::new();
        if let Some(folder) = &self.packs {
            for file in files(folder) {
                all.extend(std::fs::read(file).unwrap());
            }
            return all;
        }
        for name in self.storage.list().await.unwrap() {
            all.extend(self.storage.get(name).await.unwrap());
        }
        all
    }

    /// Compares the documents of runs with those that were sent.
    pub(crate) async fn assert_kept(&self, runs: std::ops::Range<u128>) {
        for run in runs {
            let document = self.store.document(Uuid::from_u128(run)).await.unwrap();
            let document = document.unwrap_or_else(|| panic!("{run} is not there"));
            assert_eq!(document.packed, submission(run).packed, "{run}");
            assert_eq!(document.digest, submission(run).digest, "{run}");
        }
    }

    /// Compares the stored packs with those that documents are in, and the files of a folder with its packs.
    pub(crate) async fn assert_tidy(&self) {
        if let Some(folder) = &self.packs {
            let begin = Instant::now();
            // A job that was dropped leaves its thread, which ends by itself.
            while files(folder).iter().any(|file| is_unfinished(file)) && begin.elapsed() < PATIENCE
            {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        self.assert_only_known().await;
    }

    async fn assert_only_known(&self) {
        let mut stored = self.storage.list().await.unwrap();
        stored.sort_unstable();
        assert_eq!(stored, self.store.known_packs().await.unwrap().used);
        if let Some(folder) = &self.packs {
            let names = stored.iter().map(|name| to_hexadecimal(name) + ".pack");
            let names: Vec<String> = names.collect();
            let found = files(folder).into_iter().map(|path| {
                let name = path.file_name().unwrap();
                name.to_str().unwrap().to_owned()
            });
            assert_eq!(found.collect::<Vec<_>>(), names);
        }
    }
}

/// All files in a folder and its folders, by name.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        for entry in std::fs::read_dir(path).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => waiting.push(path),
                false => found.push(path),
            }
        }
    }
    found.sort();
    found
}

/// Returns whether a file is not under the name of its pack yet.
fn is_unfinished(file: &Path) -> bool {
    file.extension().is_none_or(|end| end != "pack")
}

/// By hand, with packs of a few documents.
pub(crate) fn small_packs() -> Packing {
    Packing {
        full_bytes: 3_000,
        ..Packing::by_hand(7)
    }
}

/// Packed bytes and digest of a document.
fn document(text: &str) -> (Vec<u8>, [u8; 32]) {
    // Text that does not shrink: the digests of a chain.
    let mut all = format!("{{\"document\":\"{text}\"}}\n");
    for part in 0..12 {
        all += &to_hexadecimal(&Sha256::digest(format!("{text} {part}")));
    }
    let packed = zstd::bulk::compress(all.as_bytes(), 3).unwrap();
    (packed, Sha256::digest(all.as_bytes()).into())
}

pub(crate) fn submission(run: u128) -> Incoming {
    let (packed, digest) = document(&format!("run {run}"));
    Incoming {
        packed,
        digest,
        ..samples::incoming(run, "Card A", (run % 3) as u8, (run % 7) as u8)
    }
}

/// Another statement, at a time.
pub(crate) fn amendment(run: u128, revision: u64, at_ms: i64) -> Amendment {
    let (packed, digest) = document(&format!("run {run} amended {revision}"));
    Amendment {
        packed,
        digest,
        at_ms,
        ..samples::amendment(run, "Card B", revision)
    }
}

pub(crate) async fn amend(rig: &Rig, run: u128, revision: u64) {
    let amendment = amendment(run, revision, rig.now());
    let amended = rig.store.amend(Uuid::from_u128(run), token(run), amendment);
    let amended = amended.await.unwrap();
    assert!(
        matches!(amended, cardmark_site_store::Amended::Now(_)),
        "{amended:?}"
    );
}

pub(crate) async fn withdraw(rig: &Rig, run: u128) {
    let withdrawn = rig.store.withdraw(Uuid::from_u128(run), token(run)).await;
    assert_eq!(withdrawn.unwrap(), cardmark_site_store::Withdrawn::Now);
}

/// A storage that fails in one operation, before or after it is done.
pub(crate) struct Failing {
    inner: PackStorage,
    left: AtomicI64,
    is_after: bool,
}

impl Failing {
    pub(crate) fn new(inner: &PackStorage, operations: i64, is_after: bool) -> Self {
        Self {
            inner: inner.clone(),
            left: AtomicI64::new(operations),
            is_after,
        }
    }

    async fn one<T>(
        &self,
        operation: impl Future<Output = Result<T, PacksError>>,
    ) -> Result<T, PacksError> {
        let is_failing = self.left.fetch_sub(1, Ordering::SeqCst) == 0;
        if !is_failing || self.is_after {
            let done = operation.await?;
            if !is_failing {
                return Ok(done);
            }
        }
        Err(PacksError::Address {
            url: "this operation".to_owned(),
            why: "the test lets it fail".to_owned(),
        })
    }
}

impl Packs for Failing {
    async fn put(&self, pack: Vec<u8>) -> Result<PackName, PacksError> {
        self.one(self.inner.put(pack)).await
    }

    async fn get(&self, name: PackName) -> Result<Vec<u8>, PacksError> {
        self.one(self.inner.get(name)).await
    }

    async fn delete(&self, name: PackName) -> Result<(), PacksError> {
        self.one(self.inner.delete(name)).await
    }

    async fn list(&self) -> Result<Vec<PackName>, PacksError> {
        self.one(self.inner.list()).await
    }

    async fn delete_left(&self, age: Duration) -> Result<u64, PacksError> {
        self.one(self.inner.delete_left(age)).await
    }
}

type Event = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A storage in which something happens once a pack is written, before it is read back.
pub(crate) struct Eventful {
    inner: PackStorage,
    event: Mutex<Option<Event>>,
}

impl Eventful {
    pub(crate) fn new(
        inner: &PackStorage,
        event: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self {
            inner: inner.clone(),
            event: Mutex::new(Some(Box::pin(event))),
        }
    }
}

impl Packs for Eventful {
    async fn put(&self, pack: Vec<u8>) -> Result<PackName, PacksError> {
        let name = self.inner.put(pack).await?;
        let event = self.event.lock().unwrap().take();
        if let Some(event) = event {
            event.await;
        }
        Ok(name)
    }

    async fn get(&self, name: PackName) -> Result<Vec<u8>, PacksError> {
        self.inner.get(name).await
    }

    async fn delete(&self, name: PackName) -> Result<(), PacksError> {
        self.inner.delete(name).await
    }

    async fn list(&self) -> Result<Vec<PackName>, PacksError> {
        self.inner.list().await
    }

    async fn delete_left(&self, age: Duration) -> Result<u64, PacksError> {
        self.inner.delete_left(age).await
    }
}
