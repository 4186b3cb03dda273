//! Documents in packs: their places, and packs that are to be replaced or deleted. The packs themselves are elsewhere.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use cardmark_share::TAG_BYTES;
use sqlx::AnyConnection;
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::batch::Batch;
use crate::leases::{self, Lease};
use crate::locks::Locks;
use crate::sql::{Columns as _, Result, insert, row, rows, rows_of, run, run_on, signed, values};
use crate::store::SiteStore;
use crate::types::{SiteStoreError, StoredDocument};
use crate::work::{Outcome, Work};

/// Most documents of a pack: each is locked while they are placed.
pub const MOST_PACKED_TOGETHER: usize = 1024;
/// The migration that a program has to know to read a database with places.
const MIGRATION_OF_PLACES: i64 = 14;
/// Times that a document is looked for. Its pack is replaced at most once while a reader is under way.
const LOOKS: usize = 3;

/// Place of a document in a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Id of the run.
    pub id: Uuid,
    /// SHA-256 of the pack.
    pub pack: [u8; 32],
    /// First byte in the pack.
    pub first_byte: u64,
    /// Number of bytes.
    pub length: u64,
    /// SHA-256 of the unpacked document.
    pub digest: [u8; 32],
}

/// A document that has a row, as a pack needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBody {
    /// Id of the run.
    pub id: Uuid,
    /// Time of its arrival, or of its last amendment, milliseconds since 1970.
    pub arrived_ms: i64,
    /// Time of the arrival of the run, milliseconds since 1970.
    pub received_ms: i64,
    /// Submitter's tag.
    pub tag: Option<[u8; TAG_BYTES]>,
    /// The document.
    pub document: StoredDocument,
}

/// Documents of a pack that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placing {
    /// The lease of the job.
    pub lease: Lease,
    /// SHA-256 of the pack.
    pub pack: [u8; 32],
    /// Size of the pack, bytes.
    pub bytes: u64,
    /// All documents of the pack, at most [`MOST_PACKED_TOGETHER`].
    pub places: Vec<Place>,
    /// Time, milliseconds since 1970.
    pub at_ms: i64,
}

/// Result of placing the documents of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// The places count.
    Done {
        /// Number of documents that are in the pack now; the others were amended or withdrawn meanwhile.
        documents: u64,
    },
    /// Nothing changed: another instance has the lease.
    NotHeld,
    /// Nothing changed: a pack of the same bytes is being deleted.
    BeingDeleted,
}

/// Packs that the database knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownPacks {
    /// Those that hold documents.
    pub used: Vec<[u8; 32]>,
    /// Those to be deleted, and the time since which no place names them, milliseconds since 1970.
    pub dropped: Vec<([u8; 32], i64)>,
}

/// A future on the heap.
pub type Reading<'a> = Pin<Box<dyn Future<Output = Result<Option<Vec<u8>>>> + Send + 'a>>;

/// Reads documents from packs.
pub trait ReadPacked: Debug + Send + Sync {
    /// Reads a document and compares it with its digest; `None` if the pack is not there.
    fn read(&self, place: Place) -> Reading<'_>;
}

/// A write about packs.
#[derive(Debug)]
pub(crate) enum PackWork {
    TakeLease {
        lease: Lease,
        now_ms: i64,
    },
    EndLease(Lease),
    Place(Placing),
    Drop {
        lease: Lease,
        pack: [u8; 32],
        now_ms: i64,
    },
    Forget {
        lease: Lease,
        pack: [u8; 32],
    },
}

impl PackWork {
    pub(crate) async fn execute(self, batch: &mut Batch<'_>) -> Result<Outcome> {
        let connection = &mut *batch.connection;
        match self {
            Self::TakeLease { lease, now_ms } => leases::take(connection, &lease, now_ms).await,
            Self::EndLease(lease) => leases::end(connection, &lease).await,
            Self::Place(placing) => {
                return place(connection, &placing).await.map(Outcome::Placed);
            }
            Self::Drop {
                lease,
                pack,
                now_ms,
            } => drop_pack(connection, &lease, &pack, now_ms).await,
            Self::Forget { lease, pack } => forget(connection, &lease, &pack).await,
        }
        .map(Outcome::Done)
    }

    pub(crate) fn lock(&self, ids: &mut Locks, others: &mut Locks) {
        let lease = match self {
            Self::TakeLease { lease, .. }
            | Self::EndLease(lease)
            | Self::Drop { lease, .. }
            | Self::Forget { lease, .. } => lease,
            Self::Place(placing) => {
                for place in &placing.places {
                    ids.add_id(place.id.as_bytes());
                }
                &placing.lease
            }
        };
        others.add("lease", &lease.name);
    }
}

/// Replaces rows, and places in other packs, by places in a pack.
async fn place(connection: &mut AnyConnection, placing: &Placing) -> Result<Placed> {
    if !leases::keep(connection, &placing.lease).await? {
        return Ok(Placed::NotHeld);
    }
    if !register(connection, placing).await? {
        return Ok(Placed::BeingDeleted);
    }
    let ids: Vec<Uuid> = placing.places.iter().map(|place| place.id).collect();
    let in_rows = digests(connection, "bodies", &ids).await?;
    let in_packs = digests(connection, "packed_bodies", &ids).await?;
    let is_same = |place: &&Place| {
        let now = in_rows.get(&place.id).or_else(|| in_packs.get(&place.id));
        now == Some(&place.digest)
    };
    let (same, others): (Vec<&Place>, Vec<&Place>) = placing.places.iter().partition(is_same);
    let places = same.iter().map(|place| {
        let (first_byte, length) = (signed(place.first_byte), signed(place.length));
        values![place.id, &placing.pack, first_byte, length, &place.digest]
    });
    let into = "packed_bodies (id, pack, first_byte, length, digest)";
    let change = "on conflict (id) do update set pack = excluded.pack, \
                  first_byte = excluded.first_byte, length = excluded.length";
    insert(connection, into, change, places.collect()).await?;
    let freed: Vec<Uuid> = same.iter().map(|place| place.id).collect();
    run_on(connection, "delete from bodies where id in", &freed).await?;
    for other in others {
        add_gap(connection, other.id, &placing.pack, placing.at_ms).await?;
    }
    Ok(Placed::Done {
        documents: freed.len() as u64,
    })
}

/// Adds a pack to those that are known; returns false if it is being deleted.
async fn register(connection: &mut AnyConnection, placing: &Placing) -> Result<bool> {
    let text = "update compatibility set oldest_migration = $1 where oldest_migration < $1";
    run(connection, text, values![MIGRATION_OF_PLACES]).await?;
    let count = signed(placing.places.len() as u64);
    let text =
        "insert into packs (pack, documents, bytes) values ($1, $2, $3) on conflict do nothing";
    run(
        connection,
        text,
        values![&placing.pack, count, signed(placing.bytes)],
    )
    .await?;
    let text = "select 1 from packs where pack = $1 and dropped_ms is null";
    Ok(row(connection, text, values![&placing.pack])
        .await?
        .is_some())
}

async fn digests(
    connection: &mut AnyConnection,
    table: &str,
    ids: &[Uuid],
) -> Result<BTreeMap<Uuid, [u8; 32]>> {
    let text = format!("select id, digest from {table} where id in");
    let found = rows_of(connection, &text, ids).await?;
    let entry = |row: &AnyRow| Ok((row.uuid(0)?, row.fixed(1)?));
    found.iter().map(entry).collect()
}

/// Notes that a pack holds a document that is no longer its own.
async fn add_gap(
    connection: &mut AnyConnection,
    id: Uuid,
    pack: &[u8; 32],
    at_ms: i64,
) -> Result<()> {
    let text = "insert into pack_gaps (id, pack, at_ms) values ($1, $2, $3) on conflict do nothing";
    run(connection, text, values![id, pack, at_ms]).await?;
    Ok(())
}

/// Removes the place of a document; its pack is to be replaced.
pub(crate) async fn unplace(connection: &mut AnyConnection, id: Uuid, at_ms: i64) -> Result<()> {
    let text = "delete from packed_bodies where id = $1 returning pack";
    match row(connection, text, values![id]).await? {
        Some(row) => add_gap(connection, id, &row.fixed(0)?, at_ms).await,
        None => Ok(()),
    }
}

/// Lets no place name a pack from now on; returns false if one does, or the lease is lost.
async fn drop_pack(
    connection: &mut AnyConnection,
    lease: &Lease,
    pack: &[u8; 32],
    now_ms: i64,
) -> Result<bool> {
    let text = "select 1 from packed_bodies where pack = $1 limit 1";
    if !leases::keep(connection, lease).await?
        || row(connection, text, values![pack]).await?.is_some()
    {
        return Ok(false);
    }
    let text = "insert into packs (pack, documents, bytes, dropped_ms) values ($1, 0, 0, $2) \
                on conflict (pack) do update set dropped_ms = coalesce(packs.dropped_ms, excluded.dropped_ms)";
    run(connection, text, values![pack, now_ms]).await?;
    run(
        connection,
        "delete from pack_gaps where pack = $1",
        values![pack],
    )
    .await?;
    Ok(true)
}

async fn forget(connection: &mut AnyConnection, lease: &Lease, pack: &[u8; 32]) -> Result<bool> {
    let text = "delete from packs where pack = $1 and dropped_ms is not null";
    Ok(leases::keep(connection, lease).await? && run(connection, text, values![pack]).await? > 0)
}

/// Row or place of a document.
enum Kept {
    Row(StoredDocument),
    Packed(Place),
}

/// One statement, so that a document is found while it moves.
const KEPT: &str = "select packed, digest, cast(0 as bigint), cast(-1 as bigint) from bodies where id = $1 \
                    union all select pack, digest, first_byte, length from packed_bodies where id = $1";

fn kept(id: Uuid, row: &AnyRow) -> Result<Kept> {
    if row.integer(3)? < 0 {
        return Ok(Kept::Row(StoredDocument {
            packed: row.bytes(0)?,
            digest: row.fixed(1)?,
        }));
    }
    Ok(Kept::Packed(Place {
        id,
        pack: row.fixed(0)?,
        first_byte: row.count(2)?,
        length: row.count(3)?,
        digest: row.fixed(1)?,
    }))
}

/// Digest of a document, wherever it is.
pub(crate) async fn digest_of(
    connection: &mut AnyConnection,
    id: Uuid,
) -> Result<Option<[u8; 32]>> {
    let text = "select digest from bodies where id = $1 union all select digest from packed_bodies where id = $1";
    let row = row(connection, text, values![id]).await?;
    row.map(|row| row.fixed(0)).transpose()
}

impl SiteStore {
    /// Reads the bytes of a record, from its row or from a pack.
    ///
    /// # Errors
    /// If the database fails, or the document is in a pack that cannot be read now.
    pub async fn document(&self, id: Uuid) -> Result<Option<StoredDocument>> {
        for _ in 0..LOOKS {
            let row = row(&mut *self.main().await?, KEPT, values![id]).await?;
            let place = match row.map(|row| kept(id, &row)).transpose()? {
                None => return Ok(None),
                Some(Kept::Row(document)) => return Ok(Some(document)),
                Some(Kept::Packed(place)) => place,
            };
            let digest = place.digest;
            // Without its pack it is in another by now.
            if let Some(packed) = self.packs()?.read(place).await? {
                return Ok(Some(StoredDocument { packed, digest }));
            }
        }
        Err(SiteStoreError::PacksAway("its pack is not there".into()))
    }

    /// Reads the oldest documents that have rows, in the order of their arrival, up to `limit` of them after a time and an id.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn oldest_bodies(
        &self,
        before_ms: i64,
        after: (i64, Uuid),
        limit: u32,
    ) -> Result<Vec<KeptBody>> {
        let text = "select b.id, b.arrived_ms, r.received_ms, r.tag, b.packed, b.digest \
                    from bodies b join records r on r.id = b.id \
                    where b.arrived_ms < $1 and (b.arrived_ms, b.id) > ($2, $3) \
                    order by b.arrived_ms, b.id limit $4";
        let values = values![before_ms, after.0, after.1, i64::from(limit)];
        let found = rows(&mut *self.main().await?, text, values).await?;
        let body = |row: &AnyRow| {
            Ok(KeptBody {
                id: row.uuid(0)?,
                arrived_ms: row.integer(1)?,
                received_ms: row.integer(2)?,
                tag: row.fixed_or_none(3)?,
                document: StoredDocument {
                    packed: row.bytes(4)?,
                    digest: row.fixed(5)?,
                },
            })
        };
        found.iter().map(body).collect()
    }

    /// Takes or renews a lease; returns false if another instance has it now.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn take_lease(&self, lease: Lease, now_ms: i64) -> Result<bool> {
        self.done(PackWork::TakeLease { lease, now_ms }).await
    }

    /// Ends a lease; returns false if its holder no longer had it.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn end_lease(&self, lease: Lease) -> Result<bool> {
        self.done(PackWork::EndLease(lease)).await
    }

    /// Replaces rows, and places in other packs, by places in a pack that is stored, in one transaction. Documents that were amended
    /// or withdrawn since they were read stay as they are.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn place(&self, placing: Placing) -> Result<Placed> {
        match self
            .write_patiently(Work::Packs(PackWork::Place(placing)))
            .await?
        {
            Outcome::Placed(placed) => Ok(placed),
            _ => Err(SiteStoreError::Damaged(
                "a write had the outcome of another",
            )),
        }
    }

    /// Lets no place name a pack from now on; returns false if one does, or the lease is lost.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn drop_pack(&self, lease: Lease, pack: [u8; 32], now_ms: i64) -> Result<bool> {
        self.done(PackWork::Drop {
            lease,
            pack,
            now_ms,
        })
        .await
    }

    /// Removes a pack from those to be deleted; returns false if it is not among them, or the lease is lost.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn forget_pack(&self, lease: Lease, pack: [u8; 32]) -> Result<bool> {
        self.done(PackWork::Forget { lease, pack }).await
    }

    /// Packs with documents that were withdrawn or amended before a time.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn packs_with_gaps(&self, before_ms: i64) -> Result<Vec<[u8; 32]>> {
        let text = "select pack from pack_gaps group by pack having min(at_ms) < $1 order by pack";
        let found = rows(&mut *self.main().await?, text, values![before_ms]).await?;
        found.iter().map(|row| row.fixed(0)).collect()
    }

    /// Places of documents in a pack, in their order.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn places(&self, pack: [u8; 32]) -> Result<Vec<Place>> {
        let text = "select id, first_byte, length, digest from packed_bodies where pack = $1 order by first_byte";
        let found = rows(&mut *self.main().await?, text, values![&pack]).await?;
        let place = |row: &AnyRow| {
            Ok(Place {
                id: row.uuid(0)?,
                pack,
                first_byte: row.count(1)?,
                length: row.count(2)?,
                digest: row.fixed(3)?,
            })
        };
        found.iter().map(place).collect()
    }

    /// All packs that the database knows.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn known_packs(&self) -> Result<KnownPacks> {
        let text = "select pack, coalesce(dropped_ms, cast(-1 as bigint)) from packs order by pack";
        let mut known = KnownPacks::default();
        for row in rows(&mut *self.main().await?, text, vec![]).await? {
            match row.integer(1)? {
                -1 => known.used.push(row.fixed(0)?),
                dropped_ms => known.dropped.push((row.fixed(0)?, dropped_ms)),
            }
        }
        Ok(known)
    }

    async fn done(&self, work: PackWork) -> Result<bool> {
        match self.write_patiently(Work::Packs(work)).await? {
            Outcome::Done(is_done) => Ok(is_done),
            _ => Err(SiteStoreError::Damaged(
                "a write had the outcome of another",
            )),
        }
    }
}
