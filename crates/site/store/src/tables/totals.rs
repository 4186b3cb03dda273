//! Numbers of boards and records.

use crate::database::sql::{Result, run};
use crate::tables::batch::Batch;
use crate::tables::submitters::forget_all;

/// Computes numbers of boards and records from all records.
pub(crate) async fn rebuild(batch: &mut Batch<'_>) -> Result<()> {
    batch.lock_totals().await?;
    let connection = &mut *batch.connection;
    run(connection, "delete from boards", vec![]).await?;
    let text = "insert into boards (board, records) select board, count(*) from records \
                where state = 0 and area = 0 and board is not null group by board";
    run(connection, text, vec![]).await?;
    forget_all(connection).await?;
    for (name, counted) in [
        ("records", "records"),
        ("quarantined", "records where state = 1"),
        ("withdrawn", "tombstones"),
    ] {
        let text =
            format!("insert into totals (name, count) select '{name}', count(*) from {counted}");
        run(
            connection,
            format!("delete from totals where name = '{name}'"),
            vec![],
        )
        .await?;
        run(connection, text, vec![]).await?;
    }
    Ok(())
}
