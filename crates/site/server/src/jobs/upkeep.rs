//! Removal of what is too old, and acts of moderators that are not applied yet.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::now_ms;
use crate::state::Site;

/// Time between two removals of what is too old, and between two looks at the weights of submitters.
const PURGE_EVERY: Duration = Duration::from_secs(3_600);
/// Time between two looks for acts that are not applied.
const APPLY_EVERY: Duration = Duration::from_secs(60);

/// Removes what is too old.
pub(crate) async fn purge(site: Arc<Site>) {
    loop {
        tokio::time::sleep(PURGE_EVERY).await;
        site.replies.clear();
        if let Err(error) = site.store.purge(now_ms()).await {
            tracing::warn!(?error, "what is too old could not be removed");
        }
    }
}

/// Brings the weights of submitters up to date.
pub(crate) async fn reweigh(site: Arc<Site>) {
    loop {
        if let Err(error) = site.store.reweigh(now_ms()).await {
            tracing::warn!(?error, "submitters could not be weighed");
        }
        tokio::time::sleep(PURGE_EVERY).await;
    }
}

/// Applies acts of moderators that another process began to apply, or recorded.
pub(crate) async fn apply(site: Arc<Site>) {
    loop {
        if let Err(error) = site.store.apply_all().await {
            tracing::warn!(?error, "acts could not be applied");
        }
        tokio::time::sleep(APPLY_EVERY).await;
    }
}
