//! Contexts in which most products are ranked.

use std::sync::Arc;

use cardmark_site_store::{RankedContext, SiteStore, SiteStoreError};
use quick_cache::sync::Cache;

use crate::clock::this_minute;

/// Reading contexts takes as long as products are ranked in them: with fewer, they are read each time.
const FEW_PRODUCTS: u64 = 1_000;
/// Pages of contexts that are kept.
const PAGES: usize = 256;

/// Contexts of a minute, by metric and page.
#[derive(Debug)]
pub(crate) struct ContextCache(Cache<String, (i64, Arc<[RankedContext]>)>);

impl Default for ContextCache {
    fn default() -> Self {
        Self(Cache::new(PAGES))
    }
}

impl ContextCache {
    /// Returns a page of the contexts in which most products are ranked by a metric, those with the most first. `after` is the number of products and the key of the last one that was read.
    pub(crate) async fn page(
        &self,
        store: &SiteStore,
        metric: &str,
        after: Option<(u64, i64)>,
        limit: u32,
    ) -> Result<Arc<[RankedContext]>, SiteStoreError> {
        let read = store.contexts(metric, after, limit);
        let page = format!("{after:?} {limit} {metric}");
        // The number of those before is not known.
        let least = if after.is_some() { 0 } else { FEW_PRODUCTS };
        self.get(&page, this_minute(), least, read).await
    }

    /// Keeps a page with at least `least` products.
    async fn get<E>(
        &self,
        page: &str,
        minute: i64,
        least: u64,
        read: impl Future<Output = Result<Vec<RankedContext>, E>>,
    ) -> Result<Arc<[RankedContext]>, E> {
        let kept = self.0.get(page);
        if let Some((_, contexts)) = kept.filter(|(at, _)| *at == minute) {
            return Ok(contexts);
        }
        let contexts: Arc<[RankedContext]> = read.await?.into();
        let products: u64 = contexts.iter().map(|one| one.products_count).sum();
        if products >= least {
            let kept = (minute, Arc::clone(&contexts));
            self.0.insert(page.to_owned(), kept);
        }
        Ok(contexts)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use super::*;

    async fn products(kept: &ContextCache, metric: &str, minute: i64, products_count: u64) -> u64 {
        let read = async {
            Ok::<_, Infallible>(vec![RankedContext {
                key: 1,
                context: BTreeMap::new(),
                products_count,
            }])
        };
        kept.get(metric, minute, FEW_PRODUCTS, read).await.unwrap()[0].products_count
    }

    #[tokio::test]
    async fn those_of_many_products_are_read_once_a_minute() {
        let kept = ContextCache::default();
        assert_eq!(products(&kept, "a", 1, FEW_PRODUCTS).await, FEW_PRODUCTS);
        assert_eq!(products(&kept, "a", 1, 5).await, FEW_PRODUCTS);
        assert_eq!(products(&kept, "b", 1, 5).await, 5);
        assert_eq!(products(&kept, "a", 2, 5).await, 5);
    }

    #[tokio::test]
    async fn those_of_few_products_are_read_each_time() {
        let kept = ContextCache::default();
        assert_eq!(products(&kept, "a", 1, 3).await, 3);
        assert_eq!(products(&kept, "a", 1, 4).await, 4);
    }
}
