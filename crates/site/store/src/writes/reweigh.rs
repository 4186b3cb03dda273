//! Bringing the voice of a submitter up to date.

use std::collections::BTreeSet;

use cardmark_share::TAG_BYTES;

use crate::database::sql::Result;
use crate::tables::batch::Batch;
use crate::tables::submitters;
use crate::tables::summaries;

/// A submitter whose voice may have changed.
#[derive(Clone, Debug)]
pub(crate) struct Reweigh {
    pub(crate) tag: [u8; TAG_BYTES],
    /// Its products, which are locked.
    pub(crate) products: BTreeSet<String>,
    pub(crate) now_ms: i64,
}

/// Gives all figures of a submitter its present voice; returns false if it has other products by now.
pub(crate) async fn reweigh(batch: &mut Batch<'_>, work: &Reweigh) -> Result<bool> {
    let (tag, connection) = (&work.tag, &mut *batch.connection);
    let Some(before) = submitters::stored(connection, tag).await? else {
        return Ok(true);
    };
    let places = submitters::places(connection, tag).await?;
    if places
        .iter()
        .any(|(product, _)| !work.products.contains(product))
    {
        return Ok(false);
    }
    let Some((after, due_ms)) = submitters::voice_now(connection, tag, work.now_ms).await? else {
        submitters::forget(connection, tag).await?;
        return Ok(true);
    };
    if after != before {
        for place in &places {
            summaries::reweigh(
                &mut batch.summaries,
                connection,
                place,
                tag,
                (before, after),
            )
            .await?;
        }
    }
    submitters::store(connection, tag, after, due_ms).await?;
    Ok(true)
}
