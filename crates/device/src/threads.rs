//! Queue depths above 1 where `io_uring` is missing: one thread for each place in flight.

use std::collections::VecDeque;
use std::fs::File;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use cardmark_engine::{Done, Op};

use crate::buffer::Stretch;
use crate::object::execute;

/// Stack of a worker; it calls a few functions deep.
const STACK_BYTES: usize = 128 << 10;

/// Content of a worker's mailbox.
enum Mail {
    Nothing,
    Job(Op, Stretch),
    End,
}

/// A value behind a lock, with a condition variable that signals changes.
struct Belled<T> {
    value: Mutex<T>,
    bell: Condvar,
}

impl<T> Belled<T> {
    fn new(value: T) -> Self {
        Self {
            value: Mutex::new(value),
            bell: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `take` finds something.
    fn wait<R>(&self, mut take: impl FnMut(&mut T) -> Option<R>) -> R {
        let mut guard = self.lock();
        loop {
            if let Some(found) = take(&mut guard) {
                return found;
            }
            guard = self
                .bell
                .wait(guard)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Changes the value and rings.
    fn change(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.lock());
        self.bell.notify_one();
    }
}

/// The workers, one for each slot.
pub(crate) struct Threads {
    boxes: Vec<Arc<Belled<Mail>>>,
    completed: Arc<Belled<VecDeque<Done>>>,
    workers: Vec<JoinHandle<()>>,
    in_flight: usize,
}

impl Threads {
    /// Starts a worker for each of these files; a file is listed once for each operation that may be in flight
    /// on it.
    pub(crate) fn new(files: &[Arc<File>]) -> Result<Self, i32> {
        let completed = Arc::new(Belled::new(VecDeque::with_capacity(files.len())));
        let mut threads = Self {
            boxes: Vec::new(),
            completed,
            workers: Vec::new(),
            in_flight: 0,
        };
        for file in files {
            let letter_box = Arc::new(Belled::new(Mail::Nothing));
            let worker = Worker {
                file: Arc::clone(file),
                letter_box: Arc::clone(&letter_box),
                completed: Arc::clone(&threads.completed),
            };
            let started = Builder::new()
                .stack_size(STACK_BYTES)
                .spawn(move || worker.run());
            // On failure the drop of `threads` ends those that were started.
            let again = rustix::io::Errno::AGAIN.raw_os_error();
            let handle = started.map_err(|error| error.raw_os_error().unwrap_or(again))?;
            threads.boxes.push(letter_box);
            threads.workers.push(handle);
        }
        Ok(threads)
    }

    /// Number of workers.
    pub(crate) fn queue_depth(&self) -> usize {
        self.workers.len()
    }

    /// Hands an operation to the worker of its slot.
    pub(crate) fn submit(&mut self, op: Op, stretch: Stretch) {
        if let Some(letter_box) = self.boxes.get(op.slot as usize) {
            self.in_flight += 1;
            letter_box.change(|mail| *mail = Mail::Job(op, stretch));
        }
    }

    /// Waits for the next completion.
    pub(crate) fn reap(&mut self) -> Done {
        let done = self.completed.wait(VecDeque::pop_front);
        self.in_flight = self.in_flight.saturating_sub(1);
        done
    }

    /// Waits for everything in flight.
    pub(crate) fn drain(&mut self) {
        while self.in_flight > 0 {
            self.reap();
        }
    }
}

impl Drop for Threads {
    /// Each worker finishes its current job, so that the buffers are free afterwards.
    fn drop(&mut self) {
        for letter_box in &self.boxes {
            // A job that no worker has started is dropped.
            letter_box.change(|mail| *mail = Mail::End);
        }
        for worker in self.workers.drain(..) {
            // A worker that panicked is over as well.
            let _ = worker.join();
        }
    }
}

struct Worker {
    file: Arc<File>,
    letter_box: Arc<Belled<Mail>>,
    completed: Arc<Belled<VecDeque<Done>>>,
}

impl Worker {
    fn run(&self) {
        while let Some((op, stretch)) = self.next() {
            // SAFETY: the back end keeps the buffer alive until this worker has ended, and gives
            // this part to no other operation before this one is reaped.
            let buffer = unsafe { stretch.as_mut_slice() };
            let outcome = execute(&self.file, op.kind, buffer, op.offset);
            self.completed.change(|queue| {
                queue.push_back(Done {
                    slot: op.slot,
                    outcome,
                })
            });
        }
    }

    fn next(&self) -> Option<(Op, Stretch)> {
        self.letter_box
            .wait(|mail| match std::mem::replace(mail, Mail::Nothing) {
                Mail::Nothing => None,
                Mail::Job(op, stretch) => Some(Some((op, stretch))),
                Mail::End => Some(None),
            })
    }
}
