//! Replies that are expensive to derive, kept in memory as long as what they follow from stays the same.

use std::fmt::Debug;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};

use crate::http::reply::Reply;

/// Most memory of all replies, bytes.
const MOST_BYTES: u64 = 32 << 20;
/// Expected memory of one.
const USUAL_BYTES: u64 = 128 << 10;

/// Address of an answer, and the digest of everything that it follows from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    path: String,
    digest: [u8; 32],
}

#[derive(Clone, Debug)]
struct ByBytes;

impl Weighter<Key, Arc<Reply>> for ByBytes {
    fn weight(&self, key: &Key, reply: &Arc<Reply>) -> u64 {
        reply.most_bytes() + key.path.len() as u64
    }
}

/// Derived replies of this process, those that were not asked for in a while gone first.
#[derive(Debug)]
pub(crate) struct ReplyCache(Cache<Key, Arc<Reply>, ByBytes>);

impl Default for ReplyCache {
    fn default() -> Self {
        let expected = usize::try_from(MOST_BYTES / USUAL_BYTES).unwrap_or(usize::MAX);
        Self(Cache::with_weighter(expected, MOST_BYTES, ByBytes))
    }
}

impl ReplyCache {
    /// Returns the answer at an address that follows from `sources`, such as heads of runs. It is made if it is not there, by one of those who
    /// wait for it. An error is not kept.
    pub(crate) async fn get<E>(
        &self,
        path: &str,
        sources: &impl Debug,
        make: impl Future<Output = Result<Reply, E>>,
    ) -> Result<Arc<Reply>, E> {
        let key = Key {
            path: path.to_owned(),
            digest: Sha256::digest(format!("{sources:?}")).into(),
        };
        let made = async { make.await.map(Arc::new) };
        self.0.get_or_insert_async(&key, made).await
    }

    /// Drops all replies: withdrawn content stays in no memory for long, even if no request comes.
    pub(crate) fn clear(&self) {
        self.0.clear();
    }

    /// Drops all replies whose address holds a text, such as the id of a run.
    pub(crate) fn forget(&self, part: &str) {
        self.0.retain(|key, _| !key.path.contains(part));
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::body::to_bytes;
    use axum::http::HeaderMap;

    use super::*;

    async fn text(kept: &Reply) -> String {
        let body = kept.answer(&HeaderMap::new()).into_body();
        String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap()
    }

    async fn made(replies: &ReplyCache, path: &str, source: u32, body: String) -> Arc<Reply> {
        let make = async { Ok::<_, Infallible>(Reply::new("text/plain", body)) };
        replies.get(path, &source, make).await.unwrap()
    }

    #[tokio::test]
    async fn an_answer_stays_while_its_sources_do() {
        let replies = ReplyCache::default();
        made(&replies, "/runs/1", 1, "first".to_owned()).await;
        let same = made(&replies, "/runs/1", 1, "never made".to_owned()).await;
        assert_eq!(text(&same).await, "first");
        let changed = made(&replies, "/runs/1", 2, "second".to_owned()).await;
        assert_eq!(text(&changed).await, "second");
        let other = made(&replies, "/runs/2", 1, "third".to_owned()).await;
        assert_eq!(text(&other).await, "third");
        replies.forget("/1");
        let again = made(&replies, "/runs/1", 1, "again".to_owned()).await;
        assert_eq!(text(&again).await, "again");
    }

    #[tokio::test]
    async fn an_error_is_not_kept() {
        let replies = ReplyCache::default();
        let failed = replies.get("/runs/1", &1, async { Err("broken") }).await;
        assert_eq!(failed.unwrap_err(), "broken");
        let same = made(&replies, "/runs/1", 1, "whole".to_owned()).await;
        assert_eq!(text(&same).await, "whole");
    }

    #[tokio::test]
    async fn one_of_many_makes_it() {
        let replies = ReplyCache::default();
        let count = AtomicUsize::new(0);
        let (go, gone) = tokio::sync::watch::channel(false);
        let one = || {
            let mut gone = gone.clone();
            let count = &count;
            replies.get("/runs/1", &1, async move {
                count.fetch_add(1, Ordering::Relaxed);
                gone.wait_for(|gone| *gone).await.unwrap();
                Ok::<_, Infallible>(Reply::new("text/plain", "made"))
            })
        };
        let all = futures_util::future::join_all((0..8).map(|_| one()));
        let (all, _) = tokio::join!(all, async { go.send(true) });
        assert_eq!(all.len(), 8);
        assert_eq!(count.into_inner(), 1);
    }

    #[tokio::test]
    async fn memory_is_bounded() {
        let replies = ReplyCache::default();
        for number in 0..100 {
            made(&replies, &number.to_string(), 1, "x".repeat(1 << 20)).await;
        }
        let kept = replies.0.weight();
        assert!(kept <= MOST_BYTES, "{kept} bytes");
        assert!(kept > MOST_BYTES / 2, "{kept} bytes");
    }
}
