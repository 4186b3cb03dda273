//! The queue of writes and the tasks that execute them.

mod execute;
pub(crate) mod work;

use std::fs::File;
use std::sync::Arc;

use sqlx::AnyPool;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::database::address::{Kind, Opened};
use crate::database::sql::Result;
use crate::decisions::Cache;
use crate::queue::execute::execute;
use crate::queue::work::{Outcome, Work};
use crate::types::SiteStoreError;

/// Most writes that wait.
const MOST_WAITING: usize = 256;
/// Most writes of one transaction.
const MOST_TOGETHER: usize = 64;

type Answer = oneshot::Sender<Result<Outcome>>;

#[derive(Debug)]
enum Job {
    Write(Work, Answer),
    /// Ends one writer.
    Stop,
}

/// Sends writes to the writers.
#[derive(Debug)]
pub(crate) struct Queue {
    jobs: mpsc::Sender<Job>,
    writers: Mutex<Vec<JoinHandle<()>>>,
}

impl Queue {
    /// Starts the writers. The last of them releases the lock of the file.
    pub(crate) fn start(opened: &mut Opened, decisions: &Cache) -> Self {
        let writers_count = match opened.kind {
            Kind::Sqlite => 1,
            Kind::Postgres => 2,
        };
        let (jobs, receiver) = mpsc::channel(MOST_WAITING);
        let receiver = Arc::new(Mutex::new(receiver));
        let lock = opened.lock.take().map(Arc::new);
        let writers = (0..writers_count).map(|_| {
            let writer = Writer {
                pool: opened.pool.clone(),
                kind: opened.kind,
                jobs: Arc::clone(&receiver),
                decisions: decisions.clone(),
                _lock: lock.clone(),
            };
            tokio::spawn(writer.run())
        });
        Self {
            jobs,
            writers: Mutex::new(writers.collect()),
        }
    }

    /// Executes a write; fails at once if too many wait.
    pub(crate) async fn write(&self, work: Work) -> Result<Outcome> {
        let (answer, outcome) = oneshot::channel();
        self.jobs
            .try_send(Job::Write(work, answer))
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => SiteStoreError::Busy,
                mpsc::error::TrySendError::Closed(_) => closed(),
            })?;
        outcome.await.map_err(|_| closed())?
    }

    /// Executes a write as soon as there is room for it.
    pub(crate) async fn write_patiently(&self, work: Work) -> Result<Outcome> {
        let (answer, outcome) = oneshot::channel();
        let job = Job::Write(work, answer);
        self.jobs.send(job).await.map_err(|_| closed())?;
        outcome.await.map_err(|_| closed())?
    }

    pub(crate) fn waiting_count(&self) -> usize {
        self.jobs.max_capacity() - self.jobs.capacity()
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.jobs.is_closed()
    }

    /// Executes the writes that wait, and ends.
    pub(crate) async fn close(&self) {
        let mut writers = self.writers.lock().await;
        for _ in writers.iter() {
            // A writer that has ended needs no message.
            let _ = self.jobs.send(Job::Stop).await;
        }
        for writer in writers.drain(..) {
            let _ = writer.await;
        }
    }
}

fn closed() -> SiteStoreError {
    sqlx::Error::PoolClosed.into()
}

struct Writer {
    pool: AnyPool,
    kind: Kind,
    jobs: Arc<Mutex<mpsc::Receiver<Job>>>,
    decisions: Cache,
    _lock: Option<Arc<File>>,
}

impl Writer {
    async fn run(self) {
        loop {
            let (works, answers, is_last) = self.next().await;
            if !works.is_empty() {
                self.write(works, answers).await;
            }
            if is_last {
                return;
            }
        }
    }

    /// Waits for a write, and takes all that wait by then.
    async fn next(&self) -> (Vec<Work>, Vec<Answer>, bool) {
        let mut jobs = self.jobs.lock().await;
        let (mut works, mut answers) = (Vec::new(), Vec::new());
        let mut next = jobs.recv().await;
        loop {
            match next {
                Some(Job::Write(work, answer)) => {
                    works.push(work);
                    answers.push(answer);
                }
                Some(Job::Stop) | None => return (works, answers, true),
            }
            if works.len() >= MOST_TOGETHER {
                return (works, answers, false);
            }
            next = match jobs.try_recv() {
                Ok(job) => Some(job),
                Err(_) => return (works, answers, false),
            };
        }
    }

    /// Answers when the writes are durable. One whose submitter is gone is executed all the same.
    async fn write(&self, works: Vec<Work>, answers: Vec<Answer>) {
        let mut answers = answers.into_iter();
        for group in groups(works) {
            let answers: Vec<Answer> = answers.by_ref().take(group.len()).collect();
            match self.commit(group).await {
                Ok(outcomes) => {
                    for (answer, outcome) in answers.into_iter().zip(outcomes) {
                        let _ = answer.send(outcome);
                    }
                }
                Err(error) => fail(answers, &error),
            }
        }
    }

    async fn commit(&self, works: Vec<Work>) -> Result<Vec<Result<Outcome>>> {
        let mut connection = self.pool.acquire().await?;
        let outcomes = execute(&mut connection, self.kind, &self.decisions, works).await;
        if outcomes.is_err() {
            // Its transaction may still be open.
            let _ = connection.close().await;
        }
        outcomes
    }
}

/// Writes of one transaction each.
fn groups(works: Vec<Work>) -> Vec<Vec<Work>> {
    let mut groups: Vec<Vec<Work>> = Vec::new();
    for work in works {
        let is_alone = work.is_alone();
        match groups.last_mut() {
            Some(group) if !is_alone && !group.iter().any(Work::is_alone) => group.push(work),
            _ => groups.push(vec![work]),
        }
    }
    groups
}

/// Tells all who wait for a transaction that it failed.
fn fail(answers: Vec<Answer>, error: &SiteStoreError) {
    let kind = match error {
        SiteStoreError::Unavailable(_) => SiteStoreError::Unavailable,
        _ => SiteStoreError::Database,
    };
    let text = describe(error);
    for answer in answers {
        let _ = answer.send(Err(kind(sqlx::Error::Protocol(text.clone()))));
    }
}

/// The error with its causes, for several who wait for the same transaction.
fn describe(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}
