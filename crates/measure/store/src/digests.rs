//! Evidence digests of the records of a store that had none.

use cardmark_core::evidence_digest;
use rusqlite::Connection;

use crate::document::record_of;
use crate::failure::Failure;

/// Computes the digests of all records. Those that cannot be read have none.
pub(crate) fn fill(connection: &Connection) -> Result<(), Failure> {
    let mut records = connection.prepare("SELECT id, document FROM records ORDER BY sequence")?;
    let mut change = connection.prepare("UPDATE heads SET evidence = ?2 WHERE record_id = ?1")?;
    let mut rows = records.query([])?;
    while let Some(row) = rows.next()? {
        if let Ok((record, _)) = record_of(row)
            && let Some(digest) = evidence_digest(&record)
        {
            change.execute((record.id.to_string(), digest))?;
        }
    }
    Ok(())
}
