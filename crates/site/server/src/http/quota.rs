//! Quotas of address blocks: of memory for bodies, and of places among submissions and uploads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// At most `most` units.
#[derive(Debug)]
pub(crate) struct Quota {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_block: HashMap<[u8; 16], usize>,
}

/// Units that one body or request holds; free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    quota: Arc<Quota>,
    block: [u8; 16],
    count: usize,
}

impl Quota {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            taken: Mutex::default(),
        })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Charge {
    /// A charge without units yet.
    pub(crate) fn of(quota: &Arc<Quota>, block: [u8; 16]) -> Self {
        Self {
            quota: Arc::clone(quota),
            block,
            count: 0,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Takes more units; false, and nothing is taken, if there are not enough, or the block would have more than `most_of_block`.
    pub(crate) fn take(&mut self, more: usize, most_of_block: usize) -> bool {
        let mut taken = self.quota.taken();
        let of_block = taken.by_block.get(&self.block).copied().unwrap_or(0);
        if taken.all + more > self.quota.most || of_block + more > most_of_block {
            return false;
        }
        taken.all += more;
        taken.by_block.insert(self.block, of_block + more);
        self.count += more;
        true
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let mut taken = self.quota.taken();
        taken.all -= self.count;
        if let Some(of_block) = taken.by_block.get_mut(&self.block) {
            *of_block -= self.count;
            if *of_block == 0 {
                taken.by_block.remove(&self.block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_cannot_take_everything() {
        let quota = Quota::new(8);
        let of = |block: u8| Charge::of(&quota, [block; 16]);
        let mut first = of(1);
        assert!(first.take(1, 2) && first.take(1, 2));
        assert!(!first.take(1, 2) && !of(1).take(1, 2));
        let mut others = [of(2), of(3), of(4)];
        assert!(others.iter_mut().all(|other| other.take(2, 2)));
        assert!(!of(5).take(1, 2));
        drop(first);
        assert!(of(5).take(2, 2) && of(1).take(2, 2));
        drop(others);
        let taken = quota.taken();
        assert_eq!((taken.all, taken.by_block.len()), (0, 0));
    }
}
