//! Limits of requests that store nothing of value: token buckets in memory.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cardmark_site_store::Limit;

/// Address blocks that are remembered: about 4 MiB.
const MOST_BLOCKS: usize = 65_536;

/// Token buckets by address block.
#[derive(Debug)]
pub(crate) struct ReadLimits {
    most: f64,
    per_s: f64,
    blocks: Mutex<HashMap<[u8; 16], Tokens>>,
}

#[derive(Clone, Copy, Debug)]
struct Tokens {
    left: f64,
    at: Instant,
}

impl ReadLimits {
    /// Up to `most` tokens, at least one, and `per_s` come back each second.
    pub(crate) fn new(most: u32, per_s: f64) -> Self {
        Self {
            most: f64::from(most.max(1)),
            per_s,
            blocks: Mutex::default(),
        }
    }

    /// Takes a token of the block at this moment.
    pub(crate) fn take(&self, block: [u8; 16], now: Instant) -> Result<(), Limit> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if blocks.len() >= MOST_BLOCKS && !blocks.contains_key(&block) {
            let full_after = Duration::from_secs_f64(self.most / self.per_s);
            blocks.retain(|_, tokens| now.duration_since(tokens.at) < full_after);
            // More blocks at a time than any person has: the site is being flooded, and forgets.
            if blocks.len() >= MOST_BLOCKS {
                blocks.clear();
            }
        }
        let tokens = blocks.entry(block).or_insert(Tokens {
            left: self.most,
            at: now,
        });
        let since = now.saturating_duration_since(tokens.at).as_secs_f64();
        tokens.left = (tokens.left + since * self.per_s).min(self.most);
        tokens.at = now;
        if tokens.left < 1.0 {
            let wait_s = (1.0 - tokens.left) / self.per_s;
            return Err(Limit {
                retry_after_s: Duration::from_secs_f64(wait_s).as_secs() + 1,
            });
        }
        tokens.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_run_out_and_come_back() {
        let limits = ReadLimits::new(2, 1.0);
        let now = Instant::now();
        let (one, other) = ([1; 16], [2; 16]);
        assert!(limits.take(one, now).is_ok() && limits.take(one, now).is_ok());
        assert_eq!(limits.take(one, now), Err(Limit { retry_after_s: 2 }));
        assert!(limits.take(other, now).is_ok());
        assert!(limits.take(one, now + Duration::from_secs(1)).is_ok());
        assert!(limits.take(one, now + Duration::from_secs(1)).is_err());
    }

    #[test]
    fn a_flood_of_blocks_is_bounded() {
        let limits = ReadLimits::new(2, 1.0);
        let now = Instant::now();
        for index in 0..3 * MOST_BLOCKS as u128 {
            let _ = limits.take(index.to_le_bytes(), now);
        }
        assert!(limits.blocks.lock().unwrap().len() <= MOST_BLOCKS);
    }
}
