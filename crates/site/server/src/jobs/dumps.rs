//! Dumps that the site makes by itself.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use cardmark_site_data::{DumpAbout, Dumped, Manifest, manifest_of, write_dump};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use tokio::task::spawn_blocking;

use crate::clock::now_ms;
use crate::error::SiteError;
use crate::http::problem::Refusal;
use crate::state::Site;

/// Time between two looks if a dump is due.
const LOOK_EVERY: Duration = Duration::from_secs(900);
/// Age at which a dump is replaced. With the time to write the next one and that in caches it is less than a day, after which withdrawn
/// content has to be gone.
const REPLACED_AFTER_MS: i64 = 20 * 3_600_000;
/// Age from which a dump is not served, and is deleted: withdrawn content is gone from it within a day also when no dump can be written.
const SERVED_FOR_MS: i64 = 23 * 3_600_000;

/// Makes dumps when they are due, until it is aborted.
pub(crate) async fn keep_up(site: Arc<Site>) {
    loop {
        match dump_and_expire(&site).await {
            Ok(Some(dumped)) => {
                let (records, bytes) = (dumped.manifest.records, dumped.bytes);
                tracing::info!(records, bytes, "a dump was written");
                let damaged = &dumped.manifest.damaged;
                if !damaged.is_empty() {
                    tracing::warn!(?damaged, "runs are missing in the dump");
                }
            }
            Ok(None) => {}
            Err(error) => tracing::error!(?error, "the dump could not be written"),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Writes a dump if one is due; dumps that become too old while it is written are deleted.
async fn dump_and_expire(site: &Site) -> Result<Option<Dumped>, SiteError> {
    let mut writing = pin!(dump_if_due(site, now_ms()));
    loop {
        tokio::select! {
            dumped = &mut writing => return dumped,
            () = tokio::time::sleep(LOOK_EVERY) => {
                if let Some(folder) = site.config.dumps.clone()
                    && let Err(error) = expire(folder, now_ms()).await
                {
                    tracing::error!(?error, "a dump that is too old could not be deleted");
                }
            }
        }
    }
}

/// Writes a dump into the configured folder if there is none, or the newest is 20 hours old, and removes all others; those that are
/// too old to be served first. Returns `None` without a folder, or if none is due. Instances take no turns: the operator names the folder on one of them.
///
/// # Errors
/// If the database fails, or a file cannot be written or removed.
pub async fn dump_if_due(site: &Site, now_ms: i64) -> Result<Option<Dumped>, SiteError> {
    let Some(folder) = site.config.dumps.clone() else {
        return Ok(None);
    };
    expire(folder.clone(), now_ms).await?;
    let newest = newest_of(folder.clone()).await?;
    // Without any that can be read, the others stay until there is a new one.
    if let Some((name, _)) = &newest {
        keep_only(folder.clone(), name.clone()).await?;
    }
    if newest
        .is_some_and(|(_, manifest)| (0..REPLACED_AFTER_MS).contains(&age_ms(&manifest, now_ms)))
    {
        return Ok(None);
    }
    let about = DumpAbout {
        site: site.config.origin(),
        now_ms,
    };
    let name = dump_name(now_ms);
    let dumped = write_dump(&site.store, &folder.join(&name), about).await?;
    keep_only(folder, name).await?;
    Ok(Some(dumped))
}

/// Age of a dump; without end if its time cannot be read.
fn age_ms(manifest: &Manifest, now_ms: i64) -> i64 {
    let made: Result<Timestamp, _> = manifest.made_at.parse();
    made.map_or(i64::MAX, |made| {
        now_ms.saturating_sub(made.as_millisecond())
    })
}

/// The name of a dump, such as `2026-11-26T031500Z`: the order of names is that of time.
pub fn dump_name(now_ms: i64) -> String {
    let at = Timestamp::from_millisecond(now_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{at:.0}").replace(':', "")
}

/// Returns whether a folder is named as a dump.
pub(crate) fn is_dump_name(name: &str) -> bool {
    let is_digit = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        17 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    name.len() == 18 && name.bytes().enumerate().all(is_digit)
}

/// Removes all other dumps, and what killed processes left of unfinished ones.
async fn keep_only(folder: PathBuf, newest: String) -> Result<(), SiteError> {
    remove(folder, move |_, name| name != newest).await
}

/// Removes dumps that are too old to be served, also those that this version cannot read, and unfinished ones of that age.
async fn expire(folder: PathBuf, now_ms: i64) -> Result<(), SiteError> {
    let is_old = move |folder: &Path, name: &str| {
        let age_ms = match manifest_of(&folder.join(name)) {
            Ok(manifest) => age_ms(&manifest, now_ms),
            Err(_) => age_of_name_ms(name, now_ms),
        };
        age_ms >= SERVED_FOR_MS
    };
    remove(folder, is_old).await
}

/// Removes dumps and unfinished ones, of those that a function returns true for.
async fn remove(
    folder: PathBuf,
    is_removed: impl Fn(&Path, &str) -> bool + Send + 'static,
) -> Result<(), SiteError> {
    let remove = move || {
        for name in names(&folder, |name| {
            is_dump_name(name) || is_dump_name(finished(name))
        })? {
            if is_removed(&folder, &name) {
                let path = folder.join(name);
                std::fs::remove_dir_all(&path)
                    .map_err(|source| SiteError::Export { path, source })?;
            }
        }
        Ok(())
    };
    let removed = spawn_blocking(remove).await;
    removed.map_err(cardmark_site_data::DataError::from)?
}

/// Age of a dump, or of an unfinished one, by its name.
fn age_of_name_ms(name: &str, now_ms: i64) -> i64 {
    let name = if is_dump_name(name) {
        name
    } else {
        finished(name)
    };
    let at = DateTime::strptime("%Y-%m-%dT%H%M%SZ", name);
    let at = at.and_then(|at| at.to_zoned(TimeZone::UTC));
    at.map_or(i64::MAX, |at| {
        now_ms.saturating_sub(at.timestamp().as_millisecond())
    })
}

/// The name that an unfinished folder was to get.
fn finished(name: &str) -> &str {
    let name = name.strip_prefix('.').unwrap_or_default();
    name.strip_suffix(".unfinished").unwrap_or_default()
}

/// Names in a folder; none if it is not there.
fn names(folder: &Path, is_wanted: fn(&str) -> bool) -> Result<Vec<String>, SiteError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            let path = folder.to_owned();
            return Err(SiteError::Export { path, source });
        }
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter(|name| is_wanted(name)).collect())
}

/// The newest dump that this version can read.
async fn newest_of(folder: PathBuf) -> Result<Option<(String, Manifest)>, SiteError> {
    let read = spawn_blocking(move || {
        let mut names = names(&folder, is_dump_name)?;
        names.sort();
        let read = |name: String| match manifest_of(&folder.join(&name)) {
            Ok(manifest) => Some((name, manifest)),
            Err(error) => {
                tracing::warn!(?error, "a dump cannot be used");
                None
            }
        };
        Ok(names.into_iter().rev().find_map(read))
    });
    read.await.map_err(cardmark_site_data::DataError::from)?
}

/// The newest dump: its name and its list of files; `None` without any that may be served.
pub(crate) async fn newest(site: &Site) -> Result<Option<(String, Manifest)>, Refusal> {
    let Some(folder) = site.config.dumps.clone() else {
        return Ok(None);
    };
    let newest = newest_of(folder).await.map_err(|error| {
        tracing::error!(?error, "the newest dump cannot be read");
        Refusal::failed()
    })?;
    Ok(newest.filter(|(_, manifest)| age_ms(manifest, now_ms()) < SERVED_FOR_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time() {
        let name = dump_name(1_795_564_800_000);
        assert_eq!(name, "2026-11-25T000000Z");
        assert!(is_dump_name(&name));
        for other in [
            "2026-11-25",
            "..",
            "2026-11-25T00000Z/",
            ".2026-11-25T00000Z",
        ] {
            assert!(!is_dump_name(other), "{other}");
        }
        let later = 1_795_564_800_000 + 5_000;
        assert_eq!(age_of_name_ms(&name, later), 5_000);
        assert_eq!(age_of_name_ms(&format!(".{name}.unfinished"), later), 5_000);
        assert_eq!(age_of_name_ms("2026-13-25T000000Z", later), i64::MAX);
    }
}
