//! The process: start, end, and everything derived again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cardmark_share::TAG_BYTES;
use cardmark_site_data::{
    DerivedPart, DumpAbout, Dumped, Imported, derive_part, import as import_dump, unpacked,
    write_dump,
};
use cardmark_site_store::{Rebuilt, Rederived, SiteStore};
use cardmark_store::Places;
use rustix::process::{
    Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tracing_subscriber::EnvFilter;
use uuid::Uuid;

use crate::answers::now_ms;
use crate::app::router;
use crate::config::Config;
use crate::dumps;
use crate::error::SiteError;
use crate::export::export_pages;
use crate::mine::{Library, check};
use crate::pages::frame::make_personal;
use crate::pages::understood;
use crate::server::{Served, listen};
use crate::state::{Personal, Site};

/// Time between two removals of what is too old.
const PURGE_EVERY: Duration = Duration::from_secs(3_600);
/// Time for jobs and the database at the end.
const CLOSE_TIME: Duration = Duration::from_millis(400);
/// Time between two looks for acts that are not applied.
const APPLY_EVERY: Duration = Duration::from_secs(60);

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
    jobs.spawn(purge(Arc::clone(&site)));
    jobs.spawn(apply(Arc::clone(&site)));
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

/// Reads an upload from standard input and writes the page to standard output, in a process that a site started.
///
/// # Errors
/// If the input cannot be read.
pub fn read_upload() -> Result<(), SiteError> {
    // Its answer would have no reader.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    understood::read_upload(input, output).map_err(SiteError::Input)
}

/// Shows the runs of local stores on this computer, without any other; by default those of the program's own store. Ends as [`serve`].
///
/// # Errors
/// If the address is not of this computer alone; if there is no store; as [`serve`].
pub async fn serve_mine(config: Config, stores: Vec<PathBuf>) -> Result<(), SiteError> {
    begin_log()?;
    if !config.listen.ip().is_loopback() {
        return Err(SiteError::NotLocal(config.listen));
    }
    let places = Places::from_environment()?;
    let (stores, journals) = match (places, stores.is_empty()) {
        (Some(places), true) => (vec![places.database], places.journals),
        (Some(places), false) => (stores, places.journals),
        (None, false) => (stores, PathBuf::new()),
        (None, true) => return Err(SiteError::NoPlace),
    };
    if let Some(missing) = stores.iter().find(|path| !path.exists()) {
        return Err(SiteError::NoStore(missing.clone()));
    }
    check(&stores)?;
    let served = listen(config.listen, config.connections, config.behind_proxy)?;
    let folder = tempfile::tempdir().map_err(SiteError::Folder)?;
    let database = folder.path().join("mine.sqlite");
    let store = SiteStore::open(&format!("sqlite:{}", database.display())).await?;
    make_personal();
    let library = Library::new(stores.clone());
    let mine = Personal {
        journals,
        stores,
        unshown: library.unshown(),
    };
    let site = Arc::new(Site::new(store, config).personal(mine));
    let mut jobs = JoinSet::new();
    jobs.spawn(library.follow(Arc::clone(&site)));
    answer(served, &site).await;
    close(&site, jobs).await;
    Ok(())
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

async fn purge(site: Arc<Site>) {
    loop {
        tokio::time::sleep(PURGE_EVERY).await;
        site.answers.clear();
        if let Err(error) = site.store.purge(now_ms()).await {
            tracing::warn!(?error, "what is too old could not be removed");
        }
    }
}

/// Writes a dump as a new folder.
///
/// # Errors
/// If the database cannot be used, or the dump cannot be written.
pub async fn dump(config: &Config, folder: &Path) -> Result<Dumped, SiteError> {
    let store = SiteStore::open(&config.database_url).await?;
    let about = DumpAbout {
        site: config.origin(),
        now_ms: now_ms(),
    };
    let dumped = write_dump(&store, folder, about).await;
    store.close().await;
    Ok(dumped?)
}

/// Fills an empty database from a dump.
///
/// # Errors
/// If the database is not empty or cannot be used, or the dump is damaged.
pub async fn import(config: &Config, folder: &Path) -> Result<Imported, SiteError> {
    let store = SiteStore::open(&config.database_url).await?;
    let imported = import_dump(&store, folder).await;
    store.close().await;
    Ok(imported?)
}

/// Writes all pages and a dump as a new folder, which needs no server; returns the number of pages.
///
/// # Errors
/// If the database cannot be used, or a file cannot be written.
pub async fn export(config: Config, folder: &Path) -> Result<u64, SiteError> {
    let store = SiteStore::open(&config.database_url).await?;
    let exported = export_pages(&store, config, folder).await;
    store.close().await;
    exported
}

/// Derives parts of a dump's documents again into tables; calls a function after each part. `-` among the parts stands for paths on
/// standard input, one a line.
///
/// # Errors
/// If a part cannot be read, or a table cannot be written.
pub fn derive(
    parts: &[PathBuf],
    to: &Path,
    mut done: impl FnMut(&DerivedPart),
) -> Result<(), SiteError> {
    for part in parts {
        if part.as_os_str() == "-" {
            for line in std::io::stdin().lines() {
                let line = line.map_err(SiteError::Input)?;
                done(&derive_part(Path::new(&line), to)?);
            }
        } else {
            done(&derive_part(part, to)?);
        }
    }
    Ok(())
}

/// Applies acts of moderators that another process began to apply, or recorded.
async fn apply(site: Arc<Site>) {
    loop {
        if let Err(error) = site.store.apply_all().await {
            tracing::warn!(?error, "acts could not be applied");
        }
        tokio::time::sleep(APPLY_EVERY).await;
    }
}

/// Derives everything again from the received bytes.
///
/// # Errors
/// If the database cannot be used.
pub async fn rebuild(config: &Config) -> Result<Rebuilt, SiteError> {
    let store = SiteStore::open(&config.database_url).await?;
    let rebuilt = store.rebuild(rederived).await;
    store.close().await;
    Ok(rebuilt?)
}

/// Results derived from kept bytes; `None` if they cannot be read.
pub(crate) fn rederived(
    _: Uuid,
    packed: &[u8],
    tag: Option<[u8; TAG_BYTES]>,
    received_ms: i64,
) -> Option<Rederived> {
    cardmark_site_data::rederived(&unpacked(packed)?, tag, received_ms)
}
