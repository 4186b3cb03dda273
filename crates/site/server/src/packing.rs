//! The job that packs older documents: it writes packs, reads them back, and only then frees the rows; replaces packs that hold
//! documents that were withdrawn or amended; and deletes packs that no place names, and what killed processes left of packs.
//!
//! It can end at any point. A pack is announced before it is stored, and deleted by a later run if no place names it; a document has its
//! row until its place counts.

use std::collections::BTreeSet;
use std::time::Duration;

use cardmark_share::{
    PackEntry, PackError, Packed, from_hexadecimal, read_pack, to_hexadecimal, write_pack,
};
use cardmark_site_data::unpacked;
use cardmark_site_packs::{PackName, PackStorage, Packs, PacksError};
use cardmark_site_store::{
    KeptBody, Lease, MOST_PACKED_TOGETHER, Place, Placed, Placing, ReadPacked, Reading, SiteStore,
    SiteStoreError,
};
use prometheus_client::metrics::counter::Counter;
use sha2::{Digest, Sha256};
use thiserror::Error;
use uuid::Uuid;

/// Name of the lease.
const JOB: &str = "packs";
/// Time after which another instance takes over from one that is gone.
const LEASE_MS: i64 = 120_000;
/// Time between two renewals of the lease.
const RENEW_EVERY: Duration = Duration::from_secs(30);
/// Time in which the storage has to answer with a document that somebody asked for.
const READ_TIME: Duration = Duration::from_secs(10);
/// Documents that are read from the database at once.
const READ_TOGETHER: u32 = 16;
/// Size from which a pack is full, bytes.
const FULL_BYTES: usize = 16 << 20;
/// Fewest documents of a pack, unless the job was started by hand.
const FEWEST_DOCUMENTS: usize = 100;
/// Age of a withdrawal or an amendment from which a pack is replaced, unless the job was started by hand: all of half a day cost one
/// new pack.
const GAP_AGE_MS: i64 = 43_200_000;
/// Time for which readers who know an old place find the pack.
const GRACE_MS: i64 = 600_000;
/// Time after which a deleted pack is forgotten: a deletion that hung is over by then.
const FORGET_MS: i64 = 86_400_000;
/// Age from which an unfinished file of a pack was left by a killed process: writing one takes seconds.
const LEFT_AGE: Duration = Duration::from_secs(3_600);
const MS_PER_DAY: i64 = 86_400_000;

/// Settings of a run of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Age of a document from which it is packed.
    pub after_ms: i64,
    /// Size from which a pack is full, bytes.
    pub full_bytes: usize,
    /// Fewest documents of a pack.
    pub fewest_documents: usize,
    /// Age of a withdrawal or an amendment from which its pack is replaced.
    pub gap_age_ms: i64,
}

impl Packing {
    /// Settings of the job that a site runs each hour.
    #[must_use]
    pub fn hourly(after_days: u32) -> Self {
        Self {
            after_ms: i64::from(after_days) * MS_PER_DAY,
            full_bytes: FULL_BYTES,
            fewest_documents: FEWEST_DOCUMENTS,
            gap_age_ms: GAP_AGE_MS,
        }
    }

    /// Settings of the job that was started by hand: nothing waits.
    #[must_use]
    pub fn by_hand(after_days: u32) -> Self {
        Self {
            fewest_documents: 1,
            gap_age_ms: 0,
            ..Self::hourly(after_days)
        }
    }
}

/// Result of a run of the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackingDone {
    /// New packs.
    pub packs: u64,
    /// Documents in the new packs.
    pub documents: u64,
    /// Size of the new packs, bytes.
    pub bytes: u64,
    /// Packs that were replaced by others without what was withdrawn or amended, or that held nothing else.
    pub replaced: u64,
    /// Packs that were deleted.
    pub deleted: u64,
    /// Documents whose rows differ from their digests: they stay in their rows.
    pub damaged: u64,
    /// Packs that should be replaced and cannot be read.
    pub unreadable: u64,
    /// Packs at the address that this database never stored: another one uses it too, or did.
    pub foreign: u64,
    /// Unfinished files of packs, left by killed processes, that were deleted.
    pub left: u64,
}

/// Reason for which the job ended early. Nothing is lost; the next run goes on.
#[derive(Debug, Error)]
pub enum PackingError {
    /// Another instance packs.
    #[error("another instance packs now")]
    Elsewhere,
    /// The storage failed.
    #[error("the storage of packs cannot be used")]
    Packs(#[from] PacksError),
    /// The database failed.
    #[error("the database cannot be used")]
    Store(#[from] SiteStoreError),
    /// A pack cannot be read.
    #[error("pack {0} cannot be read")]
    Unreadable(String, #[source] PackError),
    /// A pack does not hold what its index promises.
    #[error("pack {0} holds a document that is not the one of its digest; restore it from a copy")]
    Differs(String),
    /// A thread ended early.
    #[error("a thread ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl PackingError {
    /// Returns whether one pack is the reason, and not the storage as a whole.
    fn is_of_pack(&self) -> bool {
        matches!(
            self,
            Self::Packs(PacksError::Missing(_) | PacksError::Damaged(_))
                | Self::Unreadable(..)
                | Self::Differs(_)
        )
    }
}

/// Packs documents, replaces packs and deletes those that are not needed. `now` returns milliseconds since 1970.
///
/// # Errors
/// If another instance packs, the storage or the database fails, or a pack is damaged.
pub async fn pack(
    store: &SiteStore,
    packs: &impl Packs,
    packing: Packing,
    now: impl Fn() -> i64,
) -> Result<PackingDone, PackingError> {
    let job = Job {
        store,
        packs,
        packing,
        holder: Uuid::new_v4().to_string(),
        now,
    };
    if !store.take_lease(job.lease(), (job.now)()).await? {
        return Err(PackingError::Elsewhere);
    }
    let mut work = Box::pin(job.run());
    let done = loop {
        tokio::select! {
            done = &mut work => break done,
            () = tokio::time::sleep(RENEW_EVERY) => {
                store.take_lease(job.lease(), (job.now)()).await?;
            }
        }
    };
    drop(work);
    let ended = store.end_lease(job.lease()).await;
    let done = done?;
    ended?;
    Ok(done)
}

struct Job<'a, P, N> {
    store: &'a SiteStore,
    packs: &'a P,
    packing: Packing,
    holder: String,
    now: N,
}

impl<P: Packs, N: Fn() -> i64> Job<'_, P, N> {
    fn lease(&self) -> Lease {
        Lease {
            name: JOB.to_owned(),
            holder: self.holder.clone(),
            until_ms: (self.now)().saturating_add(LEASE_MS),
        }
    }

    /// New packs first: a pack that an earlier run stored before it ended is written again, and used.
    async fn run(&self) -> Result<PackingDone, PackingError> {
        let mut done = PackingDone::default();
        self.pack_rows(&mut done).await?;
        let replaced = self.replace(&mut done).await;
        self.delete(&mut done).await?;
        replaced?;
        Ok(done)
    }

    async fn pack_rows(&self, done: &mut PackingDone) -> Result<(), PackingError> {
        let before_ms = (self.now)().saturating_sub(self.packing.after_ms);
        let mut after = (i64::MIN, Uuid::nil());
        let mut next = Vec::new();
        loop {
            let bodies = self
                .store
                .oldest_bodies(before_ms, after, READ_TOGETHER)
                .await?;
            let is_last = bodies.is_empty();
            for body in bodies {
                after = (body.arrived_ms, body.id);
                if self.is_full(&next, &body) {
                    self.write(std::mem::take(&mut next), done).await?;
                }
                match checked(body).await? {
                    Some(document) => next.push(document),
                    None => done.damaged += 1,
                }
            }
            if is_last {
                break;
            }
        }
        if next.len() >= self.packing.fewest_documents.max(1) {
            self.write(next, done).await?;
        }
        Ok(())
    }

    fn is_full(&self, documents: &[Packed], next: &KeptBody) -> bool {
        let bytes: usize = documents.iter().map(|document| document.bytes.len()).sum();
        let is_larger = bytes + next.document.packed.len() > self.packing.full_bytes;
        !documents.is_empty() && (is_larger || documents.len() >= MOST_PACKED_TOGETHER)
    }

    async fn write(
        &self,
        documents: Vec<Packed>,
        done: &mut PackingDone,
    ) -> Result<(), PackingError> {
        let packed = tokio::task::spawn_blocking(move || {
            let written = write_pack(&documents).0;
            (PackName::from(Sha256::digest(&written)), written)
        });
        let (pack, written) = packed.await?;
        let bytes = written.len() as u64;
        match self.store_pack(pack, written).await? {
            Placed::Done { documents } => {
                done.packs += 1;
                done.bytes += bytes;
                done.documents += documents;
                Ok(())
            }
            Placed::BeingDeleted => {
                tracing::warn!(
                    pack = to_hexadecimal(&pack),
                    "an equal pack is being deleted; its documents stay in their rows for a day"
                );
                Ok(())
            }
            Placed::NotHeld => Err(PackingError::Elsewhere),
        }
    }

    /// Announces a pack, stores it, reads it back as a whole, compares each document with its digest, and places all.
    async fn store_pack(&self, pack: PackName, written: Vec<u8>) -> Result<Placed, PackingError> {
        let announced = self.store.announce(self.lease(), pack).await?;
        if !matches!(announced, Placed::Done { .. }) {
            return Ok(announced);
        }
        let bytes = written.len() as u64;
        self.packs.put(written).await?;
        let places = places_of(pack, self.packs.get(pack).await?).await?;
        let placing = Placing {
            lease: self.lease(),
            pack,
            bytes,
            places,
            at_ms: (self.now)(),
        };
        Ok(self.store.place(placing).await?)
    }

    /// Replaces packs with documents that were withdrawn or amended.
    async fn replace(&self, done: &mut PackingDone) -> Result<(), PackingError> {
        let before_ms = (self.now)()
            .saturating_sub(self.packing.gap_age_ms)
            .saturating_add(1);
        let mut away = None;
        for old in self.store.packs_with_gaps(before_ms).await? {
            match self.replace_one(old, done).await {
                Err(error) if error.is_of_pack() => {
                    tracing::error!(?error, "a pack cannot be replaced; restore it from a copy");
                    done.unreadable += 1;
                }
                // The storage may refuse one pack and have all others.
                Err(error @ PackingError::Packs(_)) => away = away.or(Some(error)),
                replaced => replaced?,
            }
        }
        away.map_or(Ok(()), Err)
    }

    async fn replace_one(&self, old: PackName, done: &mut PackingDone) -> Result<(), PackingError> {
        let places = self.store.places(old).await?;
        if !places.is_empty() {
            let kept = kept_of(old, self.packs.get(old).await?, places).await?;
            self.write(kept, done).await?;
        }
        // Places are left if the new pack could not be used.
        if self
            .store
            .drop_pack(self.lease(), old, (self.now)())
            .await?
        {
            done.replaced += 1;
        }
        Ok(())
    }

    /// Deletes packs that no place names, after a time for readers, and files that killed processes left. Those that were announced and hold nothing were left by a run that
    /// ended early. Those that are not known are of another database, and stay.
    async fn delete(&self, done: &mut PackingDone) -> Result<(), PackingError> {
        let stored: BTreeSet<PackName> = self.packs.list().await?.into_iter().collect();
        let known = self.store.known_packs().await?;
        let now_ms = (self.now)();
        for pack in known.announced.iter().copied() {
            self.store.drop_pack(self.lease(), pack, now_ms).await?;
        }
        let dropped = known.dropped.iter().map(|(pack, _)| pack);
        let own: BTreeSet<&PackName> = known
            .used
            .iter()
            .chain(&known.announced)
            .chain(dropped)
            .collect();
        done.foreign = stored.iter().filter(|pack| !own.contains(pack)).count() as u64;
        if done.foreign > 0 {
            let packs = done.foreign;
            tracing::warn!(
                packs,
                "packs of another database are at this address; they stay"
            );
        }
        for (pack, dropped_ms) in known.dropped {
            let age_ms = now_ms.saturating_sub(dropped_ms);
            if stored.contains(&pack) && age_ms >= GRACE_MS {
                self.packs.delete(pack).await?;
                done.deleted += 1;
            } else if !stored.contains(&pack) && age_ms >= FORGET_MS {
                self.store.forget_pack(self.lease(), pack).await?;
            }
        }
        done.left = self.packs.delete_left(LEFT_AGE).await?;
        Ok(())
    }
}

/// The document for a pack; `None` if it is not the one of its digest.
async fn checked(body: KeptBody) -> Result<Option<Packed>, PackingError> {
    let (id, digest) = (body.id, body.document.digest);
    let document = Packed {
        id,
        bytes: body.document.packed,
        digest: to_hexadecimal(&digest),
        received_ms: body.received_ms,
        submitter: body.tag.map(|tag| to_hexadecimal(&tag)),
    };
    let checked = move || Some(document).filter(|document| is_of(&document.bytes, &digest));
    let document = tokio::task::spawn_blocking(checked).await?;
    if document.is_none() {
        tracing::error!(%id, "a document differs from its digest, and stays in its row");
    }
    Ok(document)
}

/// Returns whether packed bytes are those of the document with a digest.
fn is_of(packed: &[u8], digest: &[u8; 32]) -> bool {
    unpacked(packed).is_some_and(|document| Sha256::digest(document)[..] == digest[..])
}

/// Bytes of an entry, if they are those of its digest.
fn bytes_of<'a>(pack: &'a [u8], entry: &PackEntry) -> Option<(&'a [u8], [u8; 32])> {
    let begin = usize::try_from(entry.offset).ok()?;
    let end = begin.checked_add(usize::try_from(entry.length).ok()?)?;
    let (bytes, digest) = (pack.get(begin..end)?, from_hexadecimal(&entry.digest)?);
    is_of(bytes, &digest).then_some((bytes, digest))
}

/// Places of all documents of a pack, each compared with its digest.
async fn places_of(pack: PackName, read: Vec<u8>) -> Result<Vec<Place>, PackingError> {
    let name = to_hexadecimal(&pack);
    let places = move || -> Result<Vec<Place>, PackingError> {
        let entries =
            read_pack(&read).map_err(|error| PackingError::Unreadable(name.clone(), error))?;
        let place = |entry: PackEntry| {
            let (_, digest) =
                bytes_of(&read, &entry).ok_or_else(|| PackingError::Differs(name.clone()))?;
            Ok(Place {
                id: entry.id,
                pack,
                first_byte: entry.offset,
                length: entry.length,
                digest,
            })
        };
        entries.into_iter().map(place).collect()
    };
    tokio::task::spawn_blocking(places).await?
}

/// Documents of a pack that have places there.
async fn kept_of(
    pack: PackName,
    read: Vec<u8>,
    places: Vec<Place>,
) -> Result<Vec<Packed>, PackingError> {
    let name = to_hexadecimal(&pack);
    let kept = move || -> Result<Vec<Packed>, PackingError> {
        let entries =
            read_pack(&read).map_err(|error| PackingError::Unreadable(name.clone(), error))?;
        let placed: BTreeSet<(Uuid, u64)> = places
            .iter()
            .map(|place| (place.id, place.first_byte))
            .collect();
        let entries = entries
            .into_iter()
            .filter(|entry| placed.contains(&(entry.id, entry.offset)));
        let document = |entry: PackEntry| {
            let (bytes, _) =
                bytes_of(&read, &entry).ok_or_else(|| PackingError::Differs(name.clone()))?;
            Ok(Packed {
                id: entry.id,
                bytes: bytes.to_vec(),
                digest: entry.digest,
                received_ms: entry.received_ms,
                submitter: entry.submitter,
            })
        };
        entries.map(document).collect()
    };
    tokio::task::spawn_blocking(kept).await?
}

/// Reads documents from packs for the store.
#[derive(Clone, Debug)]
pub struct PackReader {
    storage: PackStorage,
    failures: Counter,
}

impl PackReader {
    /// A reader whose failures are counted nowhere.
    #[must_use]
    pub fn new(storage: PackStorage) -> Self {
        Self::counted(storage, Counter::default())
    }

    pub(crate) fn counted(storage: PackStorage, failures: Counter) -> Self {
        Self { storage, failures }
    }

    async fn packed(&self, place: &Place) -> Result<Option<Vec<u8>>, SiteStoreError> {
        let end = place.first_byte.saturating_add(place.length);
        let reading = self.storage.get_range(place.pack, place.first_byte..end);
        let packed = match tokio::time::timeout(READ_TIME, reading).await {
            Ok(Ok(packed)) => packed,
            Ok(Err(PacksError::Missing(_))) => return Ok(None),
            Ok(Err(error)) => return Err(SiteStoreError::PacksAway(error.into())),
            Err(late) => return Err(SiteStoreError::PacksAway(late.into())),
        };
        let (id, digest) = (place.id, place.digest);
        let checked = move || Some(packed).filter(|packed| is_of(packed, &digest));
        let checked = tokio::task::spawn_blocking(checked).await;
        let checked = checked.map_err(|error| SiteStoreError::PacksAway(error.into()))?;
        checked.map(Some).ok_or(SiteStoreError::PackDamaged(id))
    }
}

impl ReadPacked for PackReader {
    fn read(&self, place: Place) -> Reading<'_> {
        Box::pin(async move {
            let read = self.packed(&place).await;
            if !matches!(read, Ok(Some(_))) {
                self.failures.inc();
            }
            read
        })
    }
}
