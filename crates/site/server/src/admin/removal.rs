//! `cardmark-site withdraw`: the operator withdraws runs, as their owners would.

use std::path::{Path, PathBuf};

use cardmark_site_data::{DataError, withdrawn_in};
use cardmark_site_store::{Removed, SiteStore};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::config::Config;
use crate::error::SiteError;

/// The runs that an operator withdraws.
#[derive(Clone, Debug)]
pub enum Removal {
    /// Runs by their ids.
    Runs(Vec<Uuid>),
    /// Those that a dump lists as withdrawn. It may have runs that never were in this database.
    AsIn(PathBuf),
}

/// Number of runs by the result of their removal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removals {
    /// Withdrawn now.
    pub now: u64,
    /// Withdrawn before.
    pub before: u64,
    /// Runs that never were here.
    pub unknown: u64,
}

/// Withdraws runs beside a site that may be running, and calls a function after each.
///
/// # Errors
/// If the dump cannot be read, or the database fails.
pub async fn withdraw(
    config: &Config,
    removal: Removal,
    each: impl FnMut(Uuid, Removed),
) -> Result<Removals, SiteError> {
    let runs = match removal {
        Removal::Runs(runs) => runs,
        Removal::AsIn(dump) => read(&dump).await?,
    };
    let store = SiteStore::open_beside(&config.database_url).await?;
    let removals = remove(&store, &runs, each).await;
    store.close().await;
    removals
}

async fn read(dump: &Path) -> Result<Vec<Uuid>, SiteError> {
    let dump = dump.to_owned();
    let runs = spawn_blocking(move || withdrawn_in(&dump)).await;
    Ok(runs.map_err(DataError::from)??)
}

async fn remove(
    store: &SiteStore,
    runs: &[Uuid],
    mut each: impl FnMut(Uuid, Removed),
) -> Result<Removals, SiteError> {
    let mut removals = Removals::default();
    for &run in runs {
        let removed = store.remove(run).await?;
        match removed {
            Removed::Now => removals.now += 1,
            Removed::Before => removals.before += 1,
            Removed::Unknown => removals.unknown += 1,
        }
        each(run, removed);
    }
    Ok(removals)
}
