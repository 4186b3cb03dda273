//! Documents in packs, on both databases.

#[allow(dead_code, reason = "tests of the store use the rest")]
#[path = "../../../store/tests/it/site.rs"]
pub(crate) mod database;
#[allow(dead_code, reason = "tests of the store use the rest")]
#[path = "../../../store/tests/it/samples.rs"]
pub(crate) mod samples;

use std::future::{Future, poll_fn};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use cardmark_site::{PackReader, Packing, PackingDone, PackingError, pack};
use cardmark_site_packs::{PackStorage, Packs, PacksError};
use cardmark_site_store::{Place, ReadPacked, Reading, Rederived, SiteStore, SiteStoreError};
use sqlx::Row as _;
use uuid::Uuid;

use crate::packs::database::Site;
use crate::packs::samples::DAY_MS;
use crate::packs_rig::{
    Eventful, FAR_MS, Failing, HOUR_MS, Rig, amend, amendment, contract, files, small_packs,
    submission, withdraw,
};
use crate::rig;

contract! {
    documents_move_into_packs,
    few_documents_wait_for_more,
    packs_of_another_database_stay,
    a_rebuild_reads_packs,
    amended_and_withdrawn_documents_leave_packs,
    they_leave_packs_of_a_server,
    gaps_of_half_a_day_are_closed_together,
    changes_while_a_pack_is_written_count,
    one_instance_packs_at_a_time,
    an_instance_that_was_replaced_places_nothing,
    a_pack_is_replaced_while_it_is_read,
    a_failure_of_any_operation_loses_nothing,
    an_end_at_any_moment_loses_nothing,
    damage_is_noticed,
    files_of_killed_processes_are_deleted,
}

async fn count(site: &Site, from: &str) -> i64 {
    let text = format!("select cast(count(*) as bigint) from {from}");
    let mut connection = site.connect().await;
    let row = sqlx::query(sqlx::AssertSqlSafe(text)).fetch_one(&mut connection);
    row.await.unwrap().get(0)
}

async fn documents_move_into_packs(site: Site) {
    let rig = Rig::new(&site).await;
    rig.put(1..40).await;
    assert_eq!(
        count(&site, "compatibility where oldest_migration = 1").await,
        1
    );
    let done = rig.pack(small_packs()).await;
    assert_eq!((done.documents, done.replaced, done.deleted), (39, 0, 0));
    assert!(done.packs > 3, "{done:?}");
    assert_eq!(count(&site, "bodies").await, 0);
    assert_eq!(count(&site, "packed_bodies").await, 39);
    // A program that would not find them does not start any more.
    assert_eq!(
        count(&site, "compatibility where oldest_migration = 14").await,
        1
    );
    rig.assert_kept(1..40).await;
    rig.assert_tidy().await;
    let counts = rig.store.counts().await.unwrap();
    assert_eq!((counts.packs, counts.packed_documents), (done.packs, 39));
    assert_eq!(counts.packed_bytes, done.bytes);
    assert_eq!(rig.pack(small_packs()).await, PackingDone::default());
    // Packs are in the order of arrival.
    let known = rig.store.known_packs().await.unwrap();
    for pack in known.used {
        let runs = rig.store.places(pack).await.unwrap();
        let runs: Vec<u128> = runs.iter().map(|place| place.id.as_u128()).collect();
        assert!(
            runs.windows(2).all(|pair| pair[1] == pair[0] + 1),
            "{runs:?}"
        );
    }
    let again = rig.store.put(submission(1)).await.unwrap();
    assert!(
        matches!(again, cardmark_site_store::Put::Same(_)),
        "{again:?}"
    );
    assert_eq!(count(&site, "bodies").await, 0);
}

async fn packs_of_another_database_stay(site: Site) {
    let rig = Rig::new(&site).await;
    let foreign = rig.storage.put(b"another database".to_vec()).await.unwrap();
    rig.put(1..40).await;
    for _ in 0..3 {
        let done = rig.pack(small_packs()).await;
        assert_eq!((done.foreign, done.deleted), (1, 0));
        rig.pass(48 * HOUR_MS);
    }
    assert!(rig.storage.list().await.unwrap().contains(&foreign));
    rig.assert_kept(1..40).await;
}

async fn few_documents_wait_for_more(site: Site) {
    let rig = Rig::new(&site).await;
    rig.put(1..100).await;
    assert_eq!(rig.pack(Packing::hourly(7)).await, PackingDone::default());
    rig.put(100..101).await;
    assert_eq!(
        rig.pack(Packing::hourly(30_000)).await,
        PackingDone::default()
    );
    let done = rig.pack(Packing::hourly(7)).await;
    assert_eq!((done.documents, done.packs), (100, 1));
    rig.assert_kept(1..101).await;
}

async fn a_rebuild_reads_packs(site: Site) {
    let rig = Rig::new(&site).await;
    rig.put(1..40).await;
    let before = rig.store.summaries_dump().await.unwrap();
    rig.pack(small_packs()).await;
    rig.put(40..50).await;
    withdraw(&rig, 49).await;
    let seen = Mutex::new(0);
    let derive = |id: Uuid, packed: &[u8], tag: Option<[u8; 16]>, received_ms: i64| {
        let one = submission(id.as_u128());
        assert_eq!(
            (packed, tag, received_ms),
            (&*one.packed, one.tag, one.received_ms)
        );
        *seen.lock().unwrap() += 1;
        Some(Rederived {
            extract: one.extract,
            checks: one.checks,
            card: one.card,
        })
    };
    let rebuilt = rig.store.rebuild(derive).await.unwrap();
    assert_eq!((rebuilt.records_count, rebuilt.changed_count), (48, 0));
    assert_eq!(*seen.lock().unwrap(), 48);
    for run in 40..49 {
        withdraw(&rig, run).await;
    }
    let after = rig.store.summaries_dump().await.unwrap();
    let without_withdrawn = |line: &&String| !line.contains("withdrawn");
    assert!(
        before.iter().eq(after.iter().filter(without_withdrawn)),
        "{after:?}"
    );
    // Without the storage it ends, and takes no document for unreadable.
    let bare = rig.store.clone().with_packs(Arc::new(Away));
    let rebuilt = bare.rebuild(|_, _, _, _| None).await;
    assert!(
        matches!(rebuilt, Err(SiteStoreError::PacksAway(_))),
        "{rebuilt:?}"
    );
}

/// A storage that does not answer.
#[derive(Debug)]
struct Away;

impl ReadPacked for Away {
    fn read(&self, _: Place) -> Reading<'_> {
        Box::pin(async { Err(SiteStoreError::PacksAway("away".into())) })
    }
}

pub(crate) fn contains(all: &[u8], part: &[u8]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}

async fn amended_and_withdrawn_documents_leave_packs(site: Site) {
    leave_packs(Rig::new(&site).await, &site).await;
}

async fn they_leave_packs_of_a_server(site: Site) {
    if let Some(rig) = Rig::with_server(&site).await {
        leave_packs(rig, &site).await;
    }
}

async fn leave_packs(rig: Rig, site: &Site) {
    rig.put(1..30).await;
    rig.pack(small_packs()).await;
    amend(&rig, 3, 1).await;
    withdraw(&rig, 4).await;
    // All of one pack.
    let place = rig.store.known_packs().await.unwrap().used[0];
    let whole = rig.store.places(place).await.unwrap();
    for place in &whole {
        if !matches!(place.id.as_u128(), 3 | 4) {
            withdraw(&rig, place.id.as_u128()).await;
        }
    }
    let gone: Vec<u128> = whole
        .iter()
        .map(|place| place.id.as_u128())
        .chain([3, 4])
        .collect();
    for &run in &gone {
        assert!(
            contains(&rig.packed_bytes().await, &submission(run).packed),
            "{run}"
        );
    }
    let amended = amendment(3, 1, 0);
    let is_amended = async || {
        let document = rig
            .store
            .document(Uuid::from_u128(3))
            .await
            .unwrap()
            .unwrap();
        document.packed == amended.packed && document.digest == amended.digest
    };
    assert!(is_amended().await);
    assert_eq!(rig.store.document(Uuid::from_u128(4)).await.unwrap(), None);
    assert_eq!(count(site, "bodies").await, 1);
    let done = rig.pack(small_packs()).await;
    assert!(done.replaced >= 2, "{done:?}");
    // Readers who know an old place still find it.
    assert_eq!(done.deleted, 0);
    rig.pass(HOUR_MS);
    let later = rig.pack(small_packs()).await;
    assert_eq!((later.deleted, later.packs), (done.replaced, 0));
    rig.assert_tidy().await;
    assert_eq!(count(site, "pack_gaps").await, 0);
    let all = rig.packed_bytes().await;
    for run in gone.iter().copied() {
        assert!(!contains(&all, &submission(run).packed), "{run}");
        assert!(
            !contains(&all, Uuid::from_u128(run).to_string().as_bytes()),
            "{run}"
        );
    }
    for run in (1..30).filter(|run| !gone.contains(run)) {
        rig.assert_kept(run..run + 1).await;
    }
    // The new statement is packed when it is old enough.
    assert!(is_amended().await);
    rig.pass(8 * DAY_MS);
    assert_eq!(rig.pack(small_packs()).await.documents, 1);
    assert!(is_amended().await);
    amend(&rig, 3, 2).await;
    withdraw(&rig, 3).await;
    rig.pack(small_packs()).await;
    rig.pass(HOUR_MS);
    rig.pack(small_packs()).await;
    assert!(!contains(&rig.packed_bytes().await, &amended.packed));
    rig.assert_tidy().await;
    rig.pass(2 * DAY_MS);
    rig.pack(small_packs()).await;
    assert!(rig.store.known_packs().await.unwrap().dropped.is_empty());
}

async fn gaps_of_half_a_day_are_closed_together(site: Site) {
    let rig = Rig::new(&site).await;
    rig.put(1..101).await;
    rig.pack(Packing::hourly(7)).await;
    let gap = |rig: &Rig, run| amendment(run, 1, rig.now());
    for run in [1, 2] {
        let amended = rig
            .store
            .amend(Uuid::from_u128(run), samples::token(run), gap(&rig, run));
        amended.await.unwrap();
        rig.pass(6 * HOUR_MS - 1);
        assert_eq!(rig.pack(Packing::hourly(7)).await, PackingDone::default());
    }
    rig.pass(2);
    let done = rig.pack(Packing::hourly(7)).await;
    assert_eq!((done.packs, done.replaced), (1, 1));
    rig.pass(HOUR_MS);
    assert_eq!(rig.pack(Packing::hourly(7)).await.deleted, 1);
    let all = rig.packed_bytes().await;
    assert!(
        [1, 2]
            .iter()
            .all(|run| !contains(&all, &submission(*run).packed))
    );
    rig.assert_kept(3..101).await;
}

async fn changes_while_a_pack_is_written_count(site: Site) {
    let rig = Arc::new(Rig::new(&site).await);
    rig.put(1..10).await;
    let changing = Arc::clone(&rig);
    let eventful = Eventful::new(&rig.storage, async move {
        amend(&changing, 2, 1).await;
        withdraw(&changing, 3).await;
    });
    let done = rig.pack_to(&eventful, Packing::by_hand(7)).await.unwrap();
    // The pack that was written, and then the one without them.
    assert_eq!((done.packs, done.replaced, done.documents), (2, 1, 7 + 7));
    let document = rig
        .store
        .document(Uuid::from_u128(2))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(document.packed, amendment(2, 1, 0).packed);
    assert_eq!(rig.store.document(Uuid::from_u128(3)).await.unwrap(), None);
    rig.assert_kept(1..2).await;
    rig.assert_kept(4..10).await;
    // While a pack is replaced, too.
    amend(&rig, 5, 1).await;
    let changing = Arc::clone(&rig);
    let eventful = Eventful::new(&rig.storage, async move {
        amend(&changing, 6, 1).await;
        withdraw(&changing, 7).await;
    });
    rig.pack_to(&eventful, Packing::by_hand(7)).await.unwrap();
    for _ in 0..2 {
        rig.pass(HOUR_MS);
        rig.pack(Packing::by_hand(7)).await;
    }
    rig.assert_tidy().await;
    let all = rig.packed_bytes().await;
    for run in [2, 3, 5, 6, 7] {
        assert!(!contains(&all, &submission(run).packed), "{run}");
    }
    rig.assert_kept(8..10).await;
    let document = rig
        .store
        .document(Uuid::from_u128(6))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(document.packed, amendment(6, 1, 0).packed);
}

/// Another instance where the database permits one.
async fn other_instance(site: &Site, rig: &Rig) -> SiteStore {
    match site.is_postgres {
        true => site.open().await,
        false => rig.store.clone(),
    }
}

async fn one_instance_packs_at_a_time(site: Site) {
    let rig = Rig::new(&site).await;
    rig.put(1..20).await;
    let other = other_instance(&site, &rig).await;
    let (storage, now_ms) = (rig.storage.clone(), rig.now());
    let eventful = Eventful::new(&rig.storage, async move {
        let second = pack(&other, &storage, Packing::by_hand(7), move || now_ms).await;
        assert!(matches!(second, Err(PackingError::Elsewhere)), "{second:?}");
    });
    let done = rig.pack_to(&eventful, Packing::by_hand(7)).await.unwrap();
    assert_eq!(done.documents, 19);
    // The lease has ended.
    let other = other_instance(&site, &rig).await;
    let done = pack(&other, &rig.storage, Packing::by_hand(7), || rig.now()).await;
    assert_eq!(done.unwrap(), PackingDone::default());
}

async fn an_instance_that_was_replaced_places_nothing(site: Site) {
    let rig = Rig::new(&site).await;
    // It hangs until its lease is over. Meanwhile another one packs the same documents; later its pack is deleted, and forgotten.
    for (round, hours) in [vec![1], vec![1, 1], vec![1, 1, 48]]
        .into_iter()
        .enumerate()
    {
        let first = 1 + 20 * round as u128;
        rig.put(first..first + 20).await;
        let other = other_instance(&site, &rig).await;
        let (storage, clock) = (rig.storage.clone(), Arc::clone(&rig.clock));
        let is_deleted = hours.len() > 1;
        let eventful = Eventful::new(&rig.storage, async move {
            for hours in hours {
                let now_ms = clock.fetch_add(hours * HOUR_MS, Ordering::SeqCst) + hours * HOUR_MS;
                pack(&other, &storage, small_packs(), move || now_ms)
                    .await
                    .unwrap();
            }
        });
        let late = rig.pack_to(&eventful, Packing::by_hand(7)).await;
        let is_missing = matches!(late, Err(PackingError::Packs(PacksError::Missing(_))));
        let is_refused = matches!(late, Err(PackingError::Elsewhere));
        assert!(if is_deleted { is_missing } else { is_refused }, "{late:?}");
        rig.assert_kept(1..first + 20).await;
    }
    for _ in 0..2 {
        rig.pass(HOUR_MS);
        rig.pack(small_packs()).await;
    }
    rig.assert_tidy().await;
}

/// Replaces the pack that is asked for before it reads it.
#[derive(Debug)]
struct Late {
    inner: PackReader,
    replace: Mutex<Option<Replacing>>,
}

type Job = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
struct Replacing(Job);

impl std::fmt::Debug for Replacing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Replacing")
    }
}

impl ReadPacked for Late {
    fn read(&self, place: Place) -> Reading<'_> {
        Box::pin(async move {
            let replace = self.replace.lock().unwrap().take();
            if let Some(Replacing(replace)) = replace {
                replace.await;
                assert_eq!(self.inner.read(place.clone()).await.unwrap(), None);
            }
            self.inner.read(place).await
        })
    }
}

async fn a_pack_is_replaced_while_it_is_read(site: Site) {
    let rig = Arc::new(Rig::new(&site).await);
    rig.put(1..10).await;
    rig.pack(Packing::by_hand(7)).await;
    withdraw(&rig, 2).await;
    let replacing = Arc::clone(&rig);
    let replace = Box::pin(async move {
        assert_eq!(replacing.pack(Packing::by_hand(7)).await.replaced, 1);
        replacing.pass(HOUR_MS);
        assert_eq!(replacing.pack(Packing::by_hand(7)).await.deleted, 1);
    });
    let late = Late {
        inner: PackReader::new(rig.storage.clone()),
        replace: Mutex::new(Some(Replacing(replace))),
    };
    let reading = rig.store.clone().with_packs(Arc::new(late));
    let document = reading.document(Uuid::from_u128(5)).await.unwrap().unwrap();
    assert_eq!(document.packed, submission(5).packed);
}

/// Runs that are there, one of them amended, and one withdrawn, since the last time.
struct Growing {
    rig: Rig,
    runs: u128,
    first: u128,
}

impl Growing {
    async fn new(site: &Site) -> Self {
        Self {
            rig: Rig::new(site).await,
            runs: 1,
            first: 1,
        }
    }

    /// Some runs arrive, and the oldest two change. Leases and times of grace pass.
    async fn grow(&mut self) {
        self.rig.put(self.runs..self.runs + 5).await;
        self.runs += 5;
        if self.runs > 12 {
            withdraw(&self.rig, self.first).await;
            amend(&self.rig, self.first + 1, 1).await;
            withdraw(&self.rig, self.first + 1).await;
            self.first += 2;
        }
        self.rig.pass(HOUR_MS);
    }

    async fn assert_kept(&self) {
        self.rig.assert_kept(self.first..self.runs).await;
        let gone = self.rig.store.document(Uuid::from_u128(1)).await.unwrap();
        assert!(gone.is_none() || self.first == 1);
    }

    async fn assert_tidy_in_the_end(&self) {
        for _ in 0..3 {
            self.rig.pass(HOUR_MS);
            self.rig.pack(small_packs()).await;
        }
        self.assert_kept().await;
        self.rig.assert_tidy().await;
        let all = self.rig.packed_bytes().await;
        for run in 1..self.first {
            assert!(!contains(&all, &submission(run).packed), "{run}");
        }
    }
}

async fn a_failure_of_any_operation_loses_nothing(site: Site) {
    let mut growing = Growing::new(&site).await;
    for is_after in [false, true] {
        let mut is_done = false;
        for operation in 0..100 {
            growing.grow().await;
            let failing = Failing::new(&growing.rig.storage, operation, is_after);
            let done = growing.rig.pack_to(&failing, small_packs()).await;
            growing.assert_kept().await;
            if done.is_ok() {
                is_done = true;
                break;
            }
        }
        assert!(is_done, "the job has no end");
    }
    growing.assert_tidy_in_the_end().await;
}

async fn an_end_at_any_moment_loses_nothing(site: Site) {
    let mut growing = Growing::new(&site).await;
    let mut moment = 0;
    loop {
        growing.grow().await;
        let rig = &growing.rig;
        let mut job = Box::pin(rig.pack_to(&rig.storage, small_packs()));
        let mut polls = 0;
        let ended = poll_fn(|context| {
            polls += 1;
            match polls > moment {
                true => Poll::Ready(None),
                false => job.as_mut().poll(context).map(Some),
            }
        });
        let ended = ended.await;
        drop(job);
        growing.assert_kept().await;
        if let Some(done) = ended {
            done.unwrap();
            break;
        }
        moment += 1 + moment / 8;
    }
    growing.assert_tidy_in_the_end().await;
}

async fn files_of_killed_processes_are_deleted(site: Site) {
    let rig = Rig::new(&site).await;
    rig.put(1..10).await;
    rig.pack(Packing::by_hand(7)).await;
    let whole = files(rig.packs.as_deref().unwrap()).remove(0);
    let beside = |end: &str| PathBuf::from(format!("{}{end}", whole.display()));
    let elsewhere = rig.folder.path().join("packs of cards/packs/zzzz");
    std::fs::create_dir(&elsewhere).unwrap();
    let left = [beside("#1"), beside("#23")];
    let stays = [
        beside("#4"),
        beside("#"),
        beside("#5x"),
        whole.with_file_name("notes#1"),
        elsewhere.join(beside("#1").file_name().unwrap()),
    ];
    let now = SystemTime::now();
    for file in left.iter().chain(&stays) {
        std::fs::copy(&whole, file).unwrap();
        let is_young = file == &stays[0];
        let age = Duration::from_secs(if is_young { 0 } else { 7_200 });
        let file = std::fs::File::options().write(true).open(file).unwrap();
        file.set_modified(now - age).unwrap();
    }
    withdraw(&rig, 2).await;
    let done = rig.pack(Packing::hourly(7)).await;
    assert_eq!((done.left, done.deleted), (2, 0));
    for (file, is_there) in left
        .iter()
        .map(|file| (file, false))
        .chain(stays.iter().map(|file| (file, true)))
    {
        assert_eq!(file.exists(), is_there, "{}", file.display());
    }
    rig.assert_kept(3..10).await;
}

async fn damage_is_noticed(site: Site) {
    let rig = Rig::new(&site).await;
    rig.put(1..10).await;
    let mut connection = site.connect().await;
    let other = submission(2).digest;
    let text = "update bodies set digest = $1 where id = $2";
    let update = sqlx::query(text)
        .bind(other.to_vec())
        .bind(Uuid::from_u128(1).as_bytes().to_vec());
    update.execute(&mut connection).await.unwrap();
    let done = rig.pack(Packing::by_hand(7)).await;
    assert_eq!((done.documents, done.damaged), (8, 1));
    assert_eq!(count(&site, "bodies").await, 1);
    rig.assert_kept(2..10).await;

    // A pack whose bytes changed on the disk.
    let name = rig.storage.list().await.unwrap()[0];
    let digits = cardmark_share::to_hexadecimal(&name);
    let file = format!("packs of cards/packs/{}/{digits}.pack", &digits[..4]);
    let file = rig.folder.path().join(file);
    let whole = std::fs::read(&file).unwrap();
    let mut changed = whole.clone();
    let last = changed.len() - 1;
    changed[last] ^= 1;
    std::fs::write(&file, changed).unwrap();
    let read = rig.store.document(Uuid::from_u128(9)).await;
    assert!(
        matches!(read, Err(SiteStoreError::PackDamaged(id)) if id.as_u128() == 9),
        "{read:?}"
    );
    rig.assert_kept(2..9).await;
    withdraw(&rig, 3).await;
    let done = rig.pack(Packing::by_hand(7)).await;
    assert_eq!((done.unreadable, done.replaced), (1, 0));
    rig.assert_kept(4..9).await;
    // Restored from a copy.
    std::fs::write(&file, &whole).unwrap();
    assert_eq!(rig.pack(Packing::by_hand(7)).await.replaced, 1);
    rig.assert_kept(4..10).await;

    // All files are away, such as a disk that is not mounted.
    let (here, away) = (
        rig.folder.path().join("packs of cards"),
        rig.folder.path().join("away"),
    );
    std::fs::rename(&here, &away).unwrap();
    let read = rig.store.document(Uuid::from_u128(9)).await;
    assert!(
        matches!(read, Err(SiteStoreError::PacksAway(_))),
        "{read:?}"
    );
    std::fs::rename(&away, &here).unwrap();
    rig.assert_kept(4..10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_come_from_packs() {
    let folder = tempfile::tempdir().unwrap();
    let (here, away) = (folder.path().join("packs"), folder.path().join("away"));
    let address = format!("sqlite:{}", folder.path().join("site.sqlite").display());
    let store = SiteStore::open(&address).await.unwrap();
    let storage = PackStorage::open(&format!("file://{}", here.display())).unwrap();
    let site = cardmark_site::Site::new(store.clone(), rig::config()).with_packs(storage.clone());
    let rig = rig::Rig::over(folder, store.clone(), site);
    let record = rig::another(1);
    rig.submit(1, &rig::text_of(&record)).await;
    let path = format!("/api/v1/records/{}", record.id);
    let document = format!("{path}/document");
    let before = rig.get(&document).await;
    let pack_now = async |hours: i64| {
        let done = pack(&store, &storage, Packing::by_hand(7), || {
            FAR_MS + hours * HOUR_MS
        })
        .await;
        done.unwrap().documents
    };
    assert_eq!(pack_now(0).await, 1);
    let after = rig.get(&document).await;
    assert_eq!((after.status, after.body), (StatusCode::OK, before.body));
    assert_eq!(after.headers["etag"], before.headers["etag"]);
    let page = format!("/runs/{}", record.id);
    for path in [&page, &path] {
        assert_eq!(rig.get(path).await.status, StatusCode::OK, "{path}");
    }
    let bearer = rig::bearer(1, record.id);
    let amend = async |revision: u64| {
        let statement = rig::statement(
            record.id,
            revision,
            &[("product", "Samsung EVO Plus 64 GB")],
        );
        let path = format!("{path}/statement");
        rig.ask("PUT", &path, &[("authorization", &bearer)], statement)
            .await
    };
    assert_eq!(amend(2).await.status, StatusCode::OK);
    assert!(rig.get(&document).await.text().contains("EVO Plus"));
    assert_eq!(pack_now(1).await, 1);
    let metrics = rig.get("/metrics").await.text();
    assert!(
        metrics.contains("cardmark_site_packed_documents 1\n"),
        "{metrics}"
    );
    assert!(
        metrics.contains("cardmark_site_pack_failures_total 0\n"),
        "{metrics}"
    );

    // The storage cannot be reached; everything else goes on.
    std::fs::rename(&here, &away).unwrap();
    for answer in [
        rig.get(&document).await,
        rig.get(&path).await,
        amend(3).await,
    ] {
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.headers["retry-after"], "60");
        assert_eq!(answer.json()["type"], "/problems/pack-away");
    }
    assert_eq!(rig.get(&page).await.status, StatusCode::SERVICE_UNAVAILABLE);
    for path in ["/runs", "/api/v1/records", "/ready"] {
        assert_eq!(rig.get(path).await.status, StatusCode::OK, "{path}");
    }
    let metrics = rig.get("/metrics").await.text();
    assert!(
        !metrics.contains("cardmark_site_pack_failures_total 0\n"),
        "{metrics}"
    );
    std::fs::rename(&away, &here).unwrap();
    assert!(rig.get(&document).await.text().contains("EVO Plus"));
    std::fs::rename(&here, &away).unwrap();
    let withdrawn = rig
        .ask("DELETE", &path, &[("authorization", &bearer)], "")
        .await;
    assert_eq!(withdrawn.status, StatusCode::OK);
    assert_eq!(rig.get(&document).await.status, StatusCode::GONE);
}

/// The commands open the database themselves, after the site ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_read_packs() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = rig::config();
    config.database_url = format!("sqlite:{}", folder.path().join("site.sqlite").display());
    let url = format!("file://{}", folder.path().join("packs").display());
    config.packs.url = Some(url.clone());
    let (dumped, exported) = (folder.path().join("dump"), folder.path().join("pages"));
    let store = SiteStore::open(&config.database_url).await.unwrap();
    let storage = PackStorage::open(&url).unwrap();
    let site = cardmark_site::Site::new(store.clone(), rig::config());
    let rig = rig::Rig::over(folder, store.clone(), site);
    rig.submit(1, &rig::text_of(&rig::another(1))).await;
    let done = pack(&store, &storage, Packing::by_hand(7), || FAR_MS).await;
    assert_eq!(done.unwrap().documents, 1);
    store.close().await;

    let dump = cardmark_site::dump(&config, &dumped).await.unwrap();
    assert_eq!(dump.manifest.records, 1);
    let rebuilt = cardmark_site::rebuild(&config).await.unwrap();
    assert_eq!((rebuilt.records_count, rebuilt.unreadable_count), (1, 0));
    assert!(cardmark_site::export(config, &exported).await.unwrap() > 10);
    let page = exported.join(format!("runs/{}.html", rig::another(1).id));
    assert!(page.exists(), "{}", page.display());
}

/// The reader of a rebuild moves between threads.
#[test]
fn futures_can_move_between_threads() {
    fn is_send<T: Send>(_: T) {}
    let _ = |store: &SiteStore, storage: &cardmark_site_packs::PackStorage| {
        is_send(store.rebuild(|_, _, _, _| None));
        is_send(pack(store, storage, Packing::by_hand(7), || 0));
        is_send(storage.list());
    };
}
