//! Segments of the map in memory: the least recently used one makes room.

pub(super) struct MapCache {
    /// By segment: when it was used last, from 1; 0: not in memory.
    used: Vec<u64>,
    /// Segments in memory.
    held: Vec<u32>,
    most: usize,
    now: u64,
}

impl MapCache {
    pub(super) fn new(segments: usize, most: usize) -> Self {
        Self {
            used: vec![0; segments],
            held: Vec::with_capacity(most),
            most,
            now: 0,
        }
    }

    /// Uses a segment. Returns whether it was in memory.
    pub(super) fn touch(&mut self, segment: usize) -> bool {
        self.now += 1;
        let was_held = self.used[segment] > 0;
        self.used[segment] = self.now;
        if was_held {
            return true;
        }
        let number = u32::try_from(segment).unwrap_or(u32::MAX);
        if self.held.len() < self.most {
            self.held.push(number);
            return false;
        }
        let oldest = (0..self.held.len()).min_by_key(|&at| self.used[self.held[at] as usize]);
        if let Some(at) = oldest {
            self.used[self.held[at] as usize] = 0;
            self.held[at] = number;
        }
        false
    }
}
