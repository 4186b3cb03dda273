//! Answers at the moment they are due: a heap of them, and one thread that waits for the first.

use std::cmp::Ordering as Rank;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};

/// So long before an answer is due the thread stops sleeping: being woken takes up to that.
const SPIN_NS: u64 = 60_000;
/// Answers that are later than this are made up for.
const LATE_NS: u64 = 20_000;
/// Time in which a late answer is made up for, and the limit of the amount.
const MADE_UP_NS: u64 = 100_000_000;
/// `first_ns` if nothing waits.
const NEVER: u64 = u64::MAX;

/// An answer and its receiver.
#[derive(Debug)]
pub(crate) enum Answer {
    Read(ReplyData, Result<Vec<u8>, Errno>),
    Written(ReplyWrite, Result<u32, Errno>),
    Done(ReplyEmpty, Result<(), Errno>),
}

impl Answer {
    /// Sends it. Returns the buffer, for another answer.
    fn say(self) -> Option<Vec<u8>> {
        match self {
            Self::Read(reply, Ok(bytes)) => {
                reply.data(&bytes);
                return Some(bytes);
            }
            Self::Read(reply, Err(errno)) => reply.error(errno),
            Self::Written(reply, Ok(count)) => reply.written(count),
            Self::Written(reply, Err(errno)) => reply.error(errno),
            Self::Done(reply, Ok(())) => reply.ok(),
            Self::Done(reply, Err(errno)) => reply.error(errno),
        }
        None
    }
}

/// An answer that waits. The greatest is the one due first; of two due at once, the older.
struct Waiting {
    due_ns: u64,
    number: u64,
    answer: Answer,
}

impl Waiting {
    fn rank(&self) -> (u64, u64) {
        (self.due_ns, self.number)
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Rank {
        other.rank().cmp(&self.rank())
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Rank> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Waiting {}

#[derive(Default)]
struct Queue {
    waiting: BinaryHeap<Waiting>,
    last_number: u64,
    /// Times and delays of late answers, until they are made up for.
    late: VecDeque<(u64, u64)>,
    lateness: Lateness,
    buffers: Vec<Vec<u8>>,
}

/// Delay of answers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lateness {
    /// By the number of binary digits of the nanoseconds; the last entry includes all larger ones.
    counts: [u64; 32],
    most_ns: u64,
}

impl Lateness {
    fn add(&mut self, late_ns: u64) {
        let digits = (u64::BITS - late_ns.leading_zeros()) as usize;
        self.counts[digits.min(self.counts.len() - 1)] += 1;
        self.most_ns = self.most_ns.max(late_ns);
    }

    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(crate) fn most_ns(&self) -> u64 {
        self.most_ns
    }

    /// Returns a power of two that `of_thousand` of a thousand delays stay below.
    pub(crate) fn bound_ns(&self, of_thousand: u64) -> u64 {
        let wanted = self.count() * of_thousand / 1_000;
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        found.map_or(0, |digits| 1 << digits)
    }
}

/// Answers that wait until they are due. Time is that since they were made.
pub(crate) struct Answers {
    origin: Instant,
    queue: Mutex<Queue>,
    changed: Condvar,
    /// When the first of them is due.
    first_ns: AtomicU64,
}

impl Answers {
    /// None yet, and the thread that is to give them. It ends with the process.
    pub(crate) fn start() -> std::io::Result<Arc<Self>> {
        let answers = Arc::new(Self {
            origin: Instant::now(),
            queue: Mutex::default(),
            changed: Condvar::new(),
            first_ns: AtomicU64::new(NEVER),
        });
        let of_thread = Arc::clone(&answers);
        std::thread::Builder::new()
            .name("answers".into())
            .spawn(move || of_thread.give())?;
        Ok(answers)
    }

    /// Now.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(NEVER)
    }

    /// A buffer of that size with anything in it.
    pub(crate) fn buffer(&self, size: usize) -> Vec<u8> {
        let mut buffer = self.lock().buffers.pop().unwrap_or_default();
        buffer.resize(size, 0);
        buffer
    }

    /// Takes an answer on.
    pub(crate) fn add(&self, due_ns: u64, answer: Answer) {
        let mut queue = self.lock();
        queue.last_number += 1;
        let number = queue.last_number;
        queue.waiting.push(Waiting {
            due_ns,
            number,
            answer,
        });
        if due_ns < self.first_ns.load(Ordering::Relaxed) {
            self.first_ns.store(due_ns, Ordering::Relaxed);
            drop(queue);
            self.changed.notify_one();
        }
    }

    /// Returns the delay of the answer that is now followed by a request, if it is not yet made up for.
    pub(crate) fn take_late_ns(&self, now_ns: u64) -> u64 {
        let mut queue = self.lock();
        while let Some((said_ns, late_ns)) = queue.late.pop_front() {
            if now_ns < said_ns + MADE_UP_NS {
                return late_ns.min(MADE_UP_NS);
            }
        }
        0
    }

    /// Returns the delay of answers since the last call.
    pub(crate) fn take_lateness(&self) -> Lateness {
        std::mem::take(&mut self.lock().lateness)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give(&self) {
        // By default the kernel may be 50 µs late to spare itself a timer.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut queue = self.lock();
        loop {
            let first_ns = queue.waiting.peek().map_or(NEVER, |first| first.due_ns);
            self.first_ns.store(first_ns, Ordering::Relaxed);
            let left_ns = first_ns.saturating_sub(self.now_ns());
            queue = if left_ns == 0 {
                self.say_first(queue)
            } else if left_ns <= SPIN_NS {
                drop(queue);
                while self.now_ns() < self.first_ns.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                self.lock()
            } else {
                let sleep = Duration::from_nanos(left_ns - SPIN_NS);
                let woken = self.changed.wait_timeout(queue, sleep);
                woken.unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }

    fn say_first<'a>(&'a self, mut queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        let Some(first) = queue.waiting.pop() else {
            return queue;
        };
        // Known before the answer is out and the next request comes.
        let now_ns = self.now_ns();
        let late_ns = now_ns.saturating_sub(first.due_ns);
        queue.lateness.add(late_ns);
        if late_ns > LATE_NS {
            queue.late.push_back((now_ns, late_ns));
        }
        drop(queue);
        let buffer = first.answer.say();
        let mut queue = self.lock();
        queue.buffers.extend(buffer);
        queue
    }
}
