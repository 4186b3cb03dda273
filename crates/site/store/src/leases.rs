//! Leases: a job of all instances is done by one of them at a time.

use sqlx::AnyConnection;

use crate::sql::{Result, Value, run, values};

/// A job, and the instance that does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Name of the job.
    pub name: String,
    /// The instance, by a text that no other has.
    pub holder: String,
    /// End of the lease, milliseconds since 1970, unless it is renewed.
    pub until_ms: i64,
}

impl Lease {
    fn values(&self) -> Vec<Value> {
        values![&self.name, &self.holder, self.until_ms]
    }
}

/// Takes or renews a lease; returns false if another holder has it now.
pub(crate) async fn take(
    connection: &mut AnyConnection,
    lease: &Lease,
    now_ms: i64,
) -> Result<bool> {
    let text = "insert into leases (name, holder, until_ms) values ($1, $2, $3) \
                on conflict (name) do update set holder = excluded.holder, until_ms = excluded.until_ms \
                where leases.holder = excluded.holder or leases.until_ms < $4";
    let mut values = lease.values();
    values.extend(values![now_ms]);
    Ok(run(connection, text, values).await? > 0)
}

/// Renews a lease; returns false if it is free or has another holder. No other holder can take it before the transaction ends.
pub(crate) async fn keep(connection: &mut AnyConnection, lease: &Lease) -> Result<bool> {
    let text = "update leases set until_ms = $3 where name = $1 and holder = $2";
    Ok(run(connection, text, lease.values()).await? > 0)
}

/// Ends a lease; returns false if its holder no longer had it.
pub(crate) async fn end(connection: &mut AnyConnection, lease: &Lease) -> Result<bool> {
    let text = "delete from leases where name = $1 and holder = $2";
    let values = values![&lease.name, &lease.holder];
    Ok(run(connection, text, values).await? > 0)
}

/// Ends all leases: those of a file whose lock this process has belong to processes that are gone.
pub(crate) async fn end_all(connection: &mut AnyConnection) -> Result<()> {
    run(connection, "delete from leases", vec![]).await?;
    Ok(())
}
