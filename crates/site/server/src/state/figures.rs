//! Figures from which products are recommended, found once a minute.

use std::sync::Arc;

use cardmark_judge::Figure;
use tokio::sync::Mutex;

use crate::clock::this_minute;

/// The figures of a minute, for the pages that recommend products.
#[derive(Debug, Default)]
pub(crate) struct FigureCache(Mutex<Option<(i64, Arc<Vec<Figure>>)>>);

impl FigureCache {
    /// Returns the figures. They are found once a minute, by one of those who ask.
    pub(crate) async fn get<E>(
        &self,
        find: impl Future<Output = Result<Arc<Vec<Figure>>, E>>,
    ) -> Result<Arc<Vec<Figure>>, E> {
        let now = this_minute();
        let mut kept = self.0.lock().await;
        if let Some((_, found)) = kept.as_ref().filter(|(at, _)| *at == now) {
            return Ok(Arc::clone(found));
        }
        let found = find.await?;
        *kept = Some((now, Arc::clone(&found)));
        Ok(found)
    }
}
