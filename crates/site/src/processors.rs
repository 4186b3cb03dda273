//! Turns on the processors.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::problem::Refusal;

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
    use std::sync::mpsc::{Sender, channel};

    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;

    use super::*;

    /// Takes all turns of a queue, until the senders are dropped.
    async fn fill(processors: &Processors) -> (Vec<Sender<()>>, Vec<JoinHandle<()>>) {
        let (mut ends, mut waiting) = (Vec::new(), Vec::new());
        while processors.0.available_permits() > 0 {
            let (end, ended) = channel::<()>();
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

    #[tokio::test]
    async fn a_full_queue_keeps_no_other_waiting() {
        let (full, other) = (Processors::default(), Processors::default());
        let (ends, _) = fill(&full).await;
        assert_eq!(other.run(|| 1).await.unwrap(), 1);
        drop(ends);
        assert_eq!(full.run(|| 2).await.unwrap(), 2);
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
