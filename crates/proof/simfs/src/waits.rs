//! Time that threads on the way to the card waited for a processor.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Threads that are remembered; the kernel's workers come and go.
const KEPT: usize = 64;

/// The kernel's data about the waits of threads.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    threads: HashMap<u32, Thread>,
}

#[derive(Debug)]
struct Thread {
    file: File,
    waited_ns: u64,
}

impl Waits {
    /// Returns the time a thread has waited since the previous call; 0 for the first call, and if it is not
    /// known.
    pub(crate) fn take_ns(&mut self, thread: u32) -> u64 {
        if let Some(known) = self.threads.get_mut(&thread)
            && let Some(waited_ns) = waited_ns(&known.file)
        {
            let before_ns = std::mem::replace(&mut known.waited_ns, waited_ns);
            return waited_ns.saturating_sub(before_ns);
        }
        if self.threads.len() >= KEPT {
            self.threads.clear();
        }
        self.threads.remove(&thread);
        if let Ok(file) = File::open(format!("/proc/{thread}/schedstat"))
            && let Some(waited_ns) = waited_ns(&file)
        {
            self.threads.insert(thread, Thread { file, waited_ns });
        }
        0
    }
}

/// The second of three numbers: at work, waiting, number of turns.
fn waited_ns(file: &File) -> Option<u64> {
    let mut text = [0; 80];
    let count = file.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(&text[..count]).ok()?;
    text.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use super::*;

    /// However long it takes on a busy machine: beside threads that never rest, a thread waits at last.
    #[test]
    fn a_thread_that_competes_is_seen_to_wait() {
        const LEAST_NS: u64 = 10_000_000;
        const PATIENCE: Duration = Duration::from_secs(120);
        let mut waits = Waits::default();
        let thread = rustix::thread::gettid()
            .as_raw_nonzero()
            .get()
            .unsigned_abs();
        let told = File::open(format!("/proc/{thread}/schedstat")).unwrap();
        let before_ns = waited_ns(&told).unwrap();
        assert_eq!(waits.take_ns(thread), 0);
        let processors = std::thread::available_parallelism().unwrap().get();
        let is_over = AtomicBool::new(false);
        let mut taken_ns = 0;
        std::thread::scope(|scope| {
            for _ in 0..2 * processors {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let begin = Instant::now();
            while taken_ns < LEAST_NS && begin.elapsed() < PATIENCE {
                taken_ns += waits.take_ns(thread);
            }
            is_over.store(true, Ordering::Relaxed);
        });
        assert!(taken_ns >= LEAST_NS);
        let after_ns = waited_ns(&told).unwrap();
        assert!(taken_ns <= after_ns - before_ns, "nothing counts twice");
        assert_eq!(waits.take_ns(u32::MAX), 0);
    }
}
