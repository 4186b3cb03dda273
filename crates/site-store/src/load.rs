//! Loading many records at once, such as those of another site.

use crate::batch::Batch;
use crate::put::written;
use crate::record::Rows;
use crate::sql::{Result, insert, values};
use crate::types::{ChangeKind, Incoming};

pub(crate) async fn load(batch: &mut Batch<'_>, records: &[Incoming]) -> Result<()> {
    let (mut rows, mut bodies) = (Rows::default(), Vec::new());
    for incoming in records {
        let id = incoming.extract.id;
        rows.add(&written(incoming, &incoming.checks))?;
        bodies.push(values![
            id,
            &incoming.packed,
            &incoming.digest,
            incoming.received_ms
        ]);
        batch.changed(id, ChangeKind::Arrived, incoming.received_ms);
    }
    let into = "bodies (id, packed, digest, arrived_ms)";
    insert(batch.connection, into, "", bodies).await?;
    rows.insert(batch.connection).await
}
