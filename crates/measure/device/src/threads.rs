//! Queue depths above 1 where `io_uring` is missing: one thread for each place in flight.

use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use cardmark_engine::{Done, Op};
use rustix::io::Errno;

use crate::object::{IoResult, execute, number, number_of};
use crate::slot::Idle;

/// Stack of a worker; it calls a few functions deep.
const STACK_BYTES: usize = 128 << 10;

type Job = (Op, Box<Idle>);
type Completion = (Done, Box<Idle>);

/// The workers, one for each slot.
pub(crate) struct Threads {
    jobs: Vec<SyncSender<Job>>,
    completed: Receiver<Completion>,
    workers: Vec<JoinHandle<()>>,
}

impl Threads {
    /// Starts a worker for each of these files; a file is listed once for each operation that may be in flight
    /// on it.
    pub(crate) fn new(files: &[Arc<File>]) -> IoResult<Self> {
        let (sender, completed) = sync_channel(files.len());
        let mut threads = Self {
            jobs: Vec::new(),
            completed,
            workers: Vec::new(),
        };
        for file in files {
            let (file, completed) = (Arc::clone(file), sender.clone());
            let (job, jobs) = sync_channel(1);
            let started = Builder::new()
                .stack_size(STACK_BYTES)
                .spawn(move || work(&file, &jobs, &completed));
            // On failure the drop of `threads` ends those that were started.
            let handle = started.map_err(|error| number_of(&error, Errno::AGAIN))?;
            threads.jobs.push(job);
            threads.workers.push(handle);
        }
        Ok(threads)
    }

    /// Hands an operation to the worker of its slot.
    pub(crate) fn submit(&mut self, op: Op, idle: Box<Idle>) {
        if let Some(jobs) = self.jobs.get(idle.number as usize) {
            // Only a worker that panicked takes no job.
            let _ = jobs.send((op, idle));
        }
    }

    /// Waits for the next completion.
    pub(crate) fn reap(&mut self) -> (Done, Option<Box<Idle>>) {
        // All workers have panicked.
        let lost = Done {
            slot: 0,
            outcome: Err(number(Errno::IO)),
        };
        let completion = self.completed.recv();
        completion.map_or((lost, None), |(done, idle)| (done, Some(idle)))
    }
}

impl Drop for Threads {
    /// Each worker finishes its current job, so that the buffers are free afterwards.
    fn drop(&mut self) {
        self.jobs.clear();
        for worker in self.workers.drain(..) {
            // A worker that panicked is over as well.
            let _ = worker.join();
        }
    }
}

fn work(file: &File, jobs: &Receiver<Job>, completed: &SyncSender<Completion>) {
    while let Ok((op, mut idle)) = jobs.recv() {
        let outcome = execute(file, op.kind, idle.buffer(&op), op.offset);
        let slot = op.slot;
        if completed.send((Done { slot, outcome }, idle)).is_err() {
            return;
        }
    }
}
