//! Products that suit each use, found once a minute.

use std::sync::Arc;

use cardmark_pages::views::suited::ByUse;
use tokio::sync::Mutex;

use crate::clock::this_minute;

/// The answers of a minute, for the pages that show them.
#[derive(Debug, Default)]
pub(crate) struct SuitedCache(Mutex<Option<(i64, Arc<ByUse>)>>);

impl SuitedCache {
    /// Returns the products that suit each use. They are found once a minute, by one of those who ask.
    pub(crate) async fn get<E>(
        &self,
        find: impl Future<Output = Result<ByUse, E>>,
    ) -> Result<Arc<ByUse>, E> {
        let now = this_minute();
        let mut kept = self.0.lock().await;
        if let Some((_, found)) = kept.as_ref().filter(|(at, _)| *at == now) {
            return Ok(Arc::clone(found));
        }
        let found = Arc::new(find.await?);
        *kept = Some((now, Arc::clone(&found)));
        Ok(found)
    }
}
