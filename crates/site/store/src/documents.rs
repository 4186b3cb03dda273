//! Documents wherever they are, and what the job that packs them calls.

use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::leases::Lease;
use crate::packs::{KeptBody, KnownPacks, PackWork, Place, Placed, Placing};
use crate::sql::{Columns as _, Result, row, rows, values};
use crate::store::SiteStore;
use crate::types::{SiteStoreError, StoredDocument};
use crate::work::{Outcome, Work};

/// Times that a document is looked for. Its pack is replaced at most once while a reader is under way.
const LOOKS: usize = 3;

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
        self.placed(PackWork::Place(placing)).await
    }

    /// Notes a pack that is about to be stored.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn announce(&self, lease: Lease, pack: [u8; 32]) -> Result<Placed> {
        self.placed(PackWork::Announce { lease, pack }).await
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
        let text = "select pack, coalesce(dropped_ms, cast(-1 as bigint)), documents from packs order by pack";
        let mut known = KnownPacks::default();
        for row in rows(&mut *self.main().await?, text, vec![]).await? {
            match row.integer(1)? {
                -1 if row.integer(2)? == 0 => known.announced.push(row.fixed(0)?),
                -1 => known.used.push(row.fixed(0)?),
                dropped_ms => known.dropped.push((row.fixed(0)?, dropped_ms)),
            }
        }
        Ok(known)
    }

    async fn placed(&self, work: PackWork) -> Result<Placed> {
        match self.write_patiently(Work::Packs(work)).await? {
            Outcome::Placed(placed) => Ok(placed),
            _ => Err(SiteStoreError::Damaged(
                "a write had the outcome of another",
            )),
        }
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
