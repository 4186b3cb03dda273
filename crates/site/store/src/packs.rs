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
use crate::sql::{Columns as _, Result, insert, row, rows_of, run, run_on, signed, values};
use crate::types::StoredDocument;

/// Most documents of a pack: each is locked while they are placed.
pub const MOST_PACKED_TOGETHER: usize = 1024;
/// The migration that a program has to know to read a database with places.
const MIGRATION_OF_PLACES: i64 = 14;

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

/// Result of announcing a pack, or of placing its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// The pack is known, and its places count.
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
    /// Those that were to be stored, and hold no documents: the job ended early, or goes on.
    pub announced: Vec<[u8; 32]>,
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
    Announce {
        lease: Lease,
        pack: [u8; 32],
    },
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

/// Result of a write about packs.
pub(crate) enum PackOutcome {
    Placed(Placed),
    /// True if it changed anything.
    Done(bool),
}

impl PackWork {
    pub(crate) async fn execute(self, batch: &mut Batch<'_>) -> Result<PackOutcome> {
        let connection = &mut *batch.connection;
        match self {
            Self::TakeLease { lease, now_ms } => leases::take(connection, &lease, now_ms).await,
            Self::EndLease(lease) => leases::end(connection, &lease).await,
            Self::Announce { lease, pack } => {
                let announced = announce(connection, &lease, &pack).await;
                return announced.map(PackOutcome::Placed);
            }
            Self::Place(placing) => {
                return place(connection, &placing).await.map(PackOutcome::Placed);
            }
            Self::Drop {
                lease,
                pack,
                now_ms,
            } => drop_pack(connection, &lease, &pack, now_ms).await,
            Self::Forget { lease, pack } => forget(connection, &lease, &pack).await,
        }
        .map(PackOutcome::Done)
    }

    pub(crate) fn lock(&self, ids: &mut Locks, others: &mut Locks) {
        let lease = match self {
            Self::TakeLease { lease, .. }
            | Self::EndLease(lease)
            | Self::Announce { lease, .. }
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
    let text = "insert into packs (pack, documents, bytes) values ($1, $2, $3) on conflict (pack) do update \
                set documents = excluded.documents, bytes = excluded.bytes where packs.dropped_ms is null";
    let values = values![&placing.pack, count, signed(placing.bytes)];
    Ok(run(connection, text, values).await? > 0)
}

/// Notes a pack that is about to be stored: whatever happens then, the database knows it. A pack that it does not know is of another.
async fn announce(
    connection: &mut AnyConnection,
    lease: &Lease,
    pack: &[u8; 32],
) -> Result<Placed> {
    if !leases::keep(connection, lease).await? {
        return Ok(Placed::NotHeld);
    }
    let text =
        "insert into packs (pack, documents, bytes) values ($1, 0, 0) on conflict do nothing";
    run(connection, text, values![pack]).await?;
    let text = "select 1 from packs where pack = $1 and dropped_ms is null";
    Ok(match row(connection, text, values![pack]).await? {
        Some(_) => Placed::Done { documents: 0 },
        None => Placed::BeingDeleted,
    })
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

/// Digest of a document, wherever it is.
pub(crate) async fn digest_of(
    connection: &mut AnyConnection,
    id: Uuid,
) -> Result<Option<[u8; 32]>> {
    let text = "select digest from bodies where id = $1 union all select digest from packed_bodies where id = $1";
    let row = row(connection, text, values![id]).await?;
    row.map(|row| row.fixed(0)).transpose()
}
