//! The process of a site: start, jobs, end.

use std::sync::Arc;
use std::time::Duration;

use cardmark_site_store::SiteStore;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tracing_subscriber::EnvFilter;

use crate::app::router;
use crate::config::Config;
use crate::error::SiteError;
use crate::http::server::{Served, listen};
use crate::jobs::{dumps, upkeep};
use crate::state::Site;

/// Time for jobs and the database at the end.
const CLOSE_TIME: Duration = Duration::from_millis(400);

/// Answers requests until the process receives SIGTERM or SIGINT.
///
/// # Errors
/// If the database or the port cannot be used.
pub async fn serve(config: Config) -> Result<(), SiteError> {
    begin_log()?;
    if config.secret.is_none() {
        tracing::warn!(
            "CARDMARK_SITE_SECRET is not set: several instances would count addresses apart"
        );
    }
    allow_files();
    let served = listen(config.listen, config.connections, config.behind_proxy)?;
    let store =
        SiteStore::open_with_replica(&config.database_url, config.replica_url.as_deref()).await?;
    let site = Arc::new(Site::new(store, config));
    let mut jobs = JoinSet::new();
    jobs.spawn(upkeep::purge(Arc::clone(&site)));
    jobs.spawn(upkeep::reweigh(Arc::clone(&site)));
    jobs.spawn(upkeep::apply(Arc::clone(&site)));
    jobs.spawn(dumps::keep_up(Arc::clone(&site)));
    answer(served, &site).await;
    close(&site, jobs).await;
    Ok(())
}

/// Ends jobs and closes the database. Work that does not end is cut off: answered changes are durable, and an unfinished
/// transaction is rolled back by the next start.
async fn close(site: &Site, mut jobs: JoinSet<()>) {
    let all = async {
        jobs.shutdown().await;
        site.store.close().await;
    };
    if tokio::time::timeout(CLOSE_TIME, all).await.is_err() {
        tracing::warn!("work under way was cut off");
    }
}

/// Raises the limit of open files as far as possible: each connection is one, and shells often allow 1,024.
fn allow_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "the limit of open files stays");
    }
}

fn begin_log() -> Result<(), SiteError> {
    let filter = match std::env::var("CARDMARK_LOG") {
        Ok(text) => EnvFilter::try_new(&text).map_err(|source| SiteError::Log { text, source })?,
        Err(_) => EnvFilter::new("info,sqlx=warn"),
    };
    tracing_subscriber::fmt()
        .json()
        .with_writer(std::io::stderr)
        .with_env_filter(filter)
        .init();
    Ok(())
}

async fn answer(served: Served, site: &Arc<Site>) {
    let mut ends = [SignalKind::terminate(), SignalKind::interrupt()]
        .map(|kind| signal(kind).map_err(SiteError::Signals));
    let address = served.address().map_or_else(
        |_| site.config.listen.to_string(),
        |address| address.to_string(),
    );
    tracing::info!(address, "http://{address} answers");
    served
        .run(router(Arc::clone(site)), async move {
            let [terminate, interrupt] = &mut ends;
            tokio::select! {
                () = received(terminate) => {},
                () = received(interrupt) => {},
            }
            tracing::info!("ends");
            site.uploads.close();
        })
        .await;
}

async fn received(signal: &mut Result<tokio::signal::unix::Signal, SiteError>) {
    match signal {
        Ok(signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}
