//! Turns on the processors.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::http::problem::Refusal;

/// A queue of work, with one turn at a time for each processor.
#[derive(Debug)]
pub(crate) struct Processors(Arc<Semaphore>);

impl Default for Processors {
    fn default() -> Self {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Semaphore::new(count)))
    }
}

impl Processors {
    /// Runs work that takes more than a moment on a thread of its own, once it is its turn. Started work runs to its end and keeps
    /// its turn, even if the caller is dropped. Fails if the work panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let turn = Arc::clone(&self.0).acquire_owned().await;
        let turn = turn.map_err(|_| Refusal::failed())?;
        let done = spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        done.await.map_err(|_| Refusal::failed())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use axum::body::Body;
    use axum::http::{Request, StatusCode};
    use cardmark_core::parse_record;
    use cardmark_share::write_submission;
    use cardmark_site_store::{Put, SiteStore};
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;
    use tower::ServiceExt;
    use uuid::Uuid;

    use super::*;
    use crate::app::router;
    use crate::config::Config;
    use crate::moderation::sign_in::{Typed, is_allowed};
    use crate::state::{MOST_CHECKING_OF_BLOCK, Site};
    use crate::submissions::incoming::{Sender, incoming_of, place};

    /// Only a page that waits in the wrong queue takes as long.
    const LONGEST: Duration = Duration::from_mins(2);

    /// Takes all turns of a queue, until the senders are dropped.
    async fn fill(processors: &Processors) -> (Vec<mpsc::Sender<()>>, Vec<JoinHandle<()>>) {
        let (mut ends, mut waiting) = (Vec::new(), Vec::new());
        for _ in 0..processors.0.available_permits() {
            let (end, ended) = mpsc::channel::<()>();
            let (begun, begins) = oneshot::channel();
            let work = move || {
                begun.send(()).unwrap();
                let _ = ended.recv();
            };
            let processors = Processors(Arc::clone(&processors.0));
            waiting.push(tokio::spawn(async move {
                processors.run(work).await.unwrap();
            }));
            begins.await.unwrap();
            ends.push(end);
        }
        (ends, waiting)
    }

    /// A site with one run, and its id. The database goes with the folder.
    async fn site_with_run() -> (tempfile::TempDir, Arc<Site>, Uuid) {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("sqlite:{}", folder.path().join("site.sqlite").display());
        let store = SiteStore::open(&address).await.unwrap();
        let packed = include_bytes!("../../fixtures/run-quick.json.zst");
        let text = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
        let record = parse_record(&text).unwrap();
        let (document, _) = write_submission(&record, 1, &[]).unwrap();
        let incoming = incoming_of(&document, Sender::default(), Vec::new()).unwrap();
        assert!(matches!(store.put(incoming).await.unwrap(), Put::New(_)));
        let config = Config::from_names(|name| (name == "HOME").then(|| "/".to_owned()));
        let site = Site::new(store, config.unwrap());
        (folder, Arc::new(site), record.id)
    }

    #[tokio::test]
    async fn pages_wait_for_no_submission() {
        let (_folder, site, id) = site_with_run().await;
        let (ends, _) = fill(&site.writers).await;
        for address in [
            format!("/runs/{id}"),
            format!("/runs/{id}/badge.svg"),
            format!("/api/v1/records/{id}"),
            format!("/api/v1/records/{id}/document"),
            format!("/api/v1/records/{id}/rank"),
            format!("/runs/{id}/preview.png"),
        ] {
            let request = Request::get(&address).body(Body::empty()).unwrap();
            let answer = router(Arc::clone(&site)).oneshot(request);
            let answer = tokio::time::timeout(LONGEST, answer).await;
            let answer = answer.unwrap_or_else(|_| panic!("{address} waits"));
            assert_eq!(answer.unwrap().status(), StatusCode::OK, "{address}");
        }
        drop(ends);
    }

    #[tokio::test]
    async fn signing_in_waits_for_no_submission() {
        let (_folder, site, _) = site_with_run().await;
        let (ends, _) = fill(&site.writers).await;
        let typed = Typed {
            name: "nobody".to_owned(),
            password: "a password without an owner".to_owned(),
            code: "000000".to_owned(),
        };
        let allowed = tokio::time::timeout(LONGEST, is_allowed(&site, [1; 16], typed)).await;
        assert!(!allowed.unwrap().unwrap());
        drop(ends);
    }

    #[tokio::test]
    async fn one_address_block_leaves_places_for_others() {
        let (_folder, site, _) = site_with_run().await;
        let mut places = Vec::new();
        while let Ok(place) = place(&site, [1; 16]) {
            places.push(place);
        }
        assert_eq!(places.len(), MOST_CHECKING_OF_BLOCK);
        let other = place(&site, [2; 16]);
        assert!(other.is_ok());
        drop(places);
        assert!(place(&site, [1; 16]).is_ok());
    }

    #[tokio::test]
    async fn started_work_keeps_its_turn_without_its_caller() {
        let processors = Processors::default();
        let (ends, waiting) = fill(&processors).await;
        for task in waiting {
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
        assert_eq!(processors.0.available_permits(), 0);
        drop(ends);
        assert_eq!(processors.run(|| 2).await.unwrap(), 2);
    }
}
