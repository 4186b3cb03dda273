//! Commands on all data: dump, import, export, and everything derived again.

use std::path::{Path, PathBuf};

use cardmark_share::TAG_BYTES;
use cardmark_site_data::{
    DumpAbout, Dumped, Imported, derive_part, import as import_dump, unpacked, write_dump,
};
use cardmark_site_store::{Rebuilt, Rederived, SiteStore};
use rustix::process::{Signal, set_parent_process_death_signal};
use uuid::Uuid;

use crate::admin::export::export_pages;
use crate::clock::now_ms;
use crate::config::Config;
use crate::error::SiteError;
use crate::uploads::understood;

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
    // All submitters are new ones until they are weighed.
    let weighed = match imported {
        Ok(_) => store.reweigh(now_ms()).await,
        Err(_) => Ok(0),
    };
    store.close().await;
    weighed?;
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

/// Derives parts of a dump's documents again into tables; calls a function after each part with a line of JSON. `-` among the parts stands for paths on
/// standard input, one a line.
///
/// # Errors
/// If a part cannot be read, or a table cannot be written.
pub fn derive(parts: &[PathBuf], to: &Path, mut done: impl FnMut(&str)) -> Result<(), SiteError> {
    let mut derive = |part: &Path| -> Result<(), SiteError> {
        done(&serde_json::to_string(&derive_part(part, to)?)?);
        Ok(())
    };
    for part in parts {
        if part.as_os_str() == "-" {
            for line in std::io::stdin().lines() {
                derive(Path::new(&line.map_err(SiteError::Input)?))?;
            }
        } else {
            derive(part)?;
        }
    }
    Ok(())
}

/// Derives everything again from the received bytes.
///
/// # Errors
/// If the database cannot be used.
pub async fn rebuild(config: &Config) -> Result<Rebuilt, SiteError> {
    let store = SiteStore::open(&config.database_url).await?;
    let rebuilt = store.rebuild(rederived).await;
    let weighed = match rebuilt {
        Ok(_) => store.reweigh(now_ms()).await,
        Err(_) => Ok(0),
    };
    store.close().await;
    weighed?;
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
