//! Open connections by address block. If there are too many, idle ones make room: of the block with the most connections, the one that
//! has been idle for the longest.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// At most `most` connections.
#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    count: usize,
    /// Number of the next connection that becomes idle.
    next: u64,
    by_block: HashMap<[u8; 16], OfBlock>,
}

/// Connections of an address block.
#[derive(Debug, Default)]
struct OfBlock {
    count: usize,
    /// Idle ones in the order in which they became idle, with the signal that closes each.
    idle: BTreeMap<u64, Arc<Notify>>,
}

/// Place of a connection; free again when it is dropped or dismissed. A connection is idle unless a request is under way.
#[derive(Debug)]
pub(crate) struct Seat {
    connections: Arc<Connections>,
    block: [u8; 16],
    dismissal: Arc<Notify>,
    used: Mutex<Used>,
}

#[derive(Debug)]
struct Used {
    /// Requests and writes under way.
    busy: usize,
    /// Number among the idle connections; the last one, if it is busy.
    idle: u64,
    is_dismissed: bool,
}

/// Keeps a connection from being idle.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Seat>);

impl Connections {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            open: Mutex::default(),
        })
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place; `None` if there is none, and no idle connection can make room.
    pub(crate) fn enter(
        self: &Arc<Self>,
        block: [u8; 16],
        most_of_block: usize,
    ) -> Option<Arc<Seat>> {
        let mut open = self.open();
        let count = open.by_block.get(&block).map_or(0, |found| found.count);
        let has_room = (count < most_of_block || open.dismiss_of(block))
            && (open.count < self.most || open.dismiss());
        if !has_room {
            return None;
        }
        open.count += 1;
        open.by_block.entry(block).or_default().count += 1;
        let dismissal = Arc::new(Notify::new());
        let idle = open.rest(block, Arc::clone(&dismissal));
        drop(open);
        Some(Arc::new(Seat {
            connections: Arc::clone(self),
            block,
            dismissal,
            used: Mutex::new(Used {
                busy: 0,
                idle,
                is_dismissed: false,
            }),
        }))
    }

    /// Closes up to `count` idle connections.
    pub(crate) fn make_room(&self, count: usize) {
        let mut open = self.open();
        for _ in 0..count {
            if !open.dismiss() {
                break;
            }
        }
    }

    /// Closes all idle connections.
    pub(crate) fn close_idle(&self) {
        let mut open = self.open();
        let blocks: Vec<[u8; 16]> = open.by_block.keys().copied().collect();
        for block in blocks {
            while open.dismiss_of(block) {}
        }
    }
}

impl Open {
    /// Adds a connection to the idle ones; returns its number among them.
    fn rest(&mut self, block: [u8; 16], dismissal: Arc<Notify>) -> u64 {
        let number = self.next;
        self.next += 1;
        let of_block = self.by_block.entry(block).or_default();
        of_block.idle.insert(number, dismissal);
        number
    }

    /// Removes a connection from the idle ones; false if it is not there, since it was dismissed.
    fn wake(&mut self, block: [u8; 16], number: u64) -> bool {
        let of_block = self.by_block.get_mut(&block);
        of_block.is_some_and(|of_block| of_block.idle.remove(&number).is_some())
    }

    /// Closes the connection that has been idle for the longest, of the block with the most among those that have one.
    fn dismiss(&mut self) -> bool {
        let idle = self.by_block.iter().filter_map(|(block, found)| {
            Some((found.count, Reverse(*found.idle.keys().next()?), *block))
        });
        let chosen = idle.max_by_key(|(count, oldest, _)| (*count, *oldest));
        chosen.is_some_and(|(_, _, block)| self.dismiss_of(block))
    }

    /// Closes the connection of a block that has been idle for the longest.
    fn dismiss_of(&mut self, block: [u8; 16]) -> bool {
        let of_block = self.by_block.get_mut(&block);
        let Some((_, dismissal)) = of_block.and_then(|found| found.idle.pop_first()) else {
            return false;
        };
        dismissal.notify_one();
        self.leave(block);
        true
    }

    fn leave(&mut self, block: [u8; 16]) {
        self.count -= 1;
        if let Some(of_block) = self.by_block.get_mut(&block) {
            of_block.count -= 1;
            if of_block.count == 0 {
                self.by_block.remove(&block);
            }
        }
    }
}

impl Seat {
    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the connection busy, until the result is dropped.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        let mut used = self.used();
        used.busy += 1;
        if used.busy == 1 && !used.is_dismissed {
            used.is_dismissed = !self.connections.open().wake(self.block, used.idle);
        }
        drop(used);
        Busy(Arc::clone(self))
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.used().busy > 0
    }

    /// Returns whether the place was given to another connection: this one ends after the request under way.
    pub(crate) fn is_dismissed(&self) -> bool {
        self.used().is_dismissed
    }

    /// Waits until the connection has to close.
    pub(crate) async fn dismissed(&self) {
        self.dismissal.notified().await;
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut used = self.0.used();
        used.busy -= 1;
        if used.busy == 0 && !used.is_dismissed {
            let dismissal = Arc::clone(&self.0.dismissal);
            used.idle = self.0.connections.open().rest(self.0.block, dismissal);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let used = self.used.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut open = self.connections.open();
        // Nothing keeps it busy any more: it is among the idle ones, or was dismissed.
        if !used.is_dismissed && open.wake(self.block, used.idle) {
            open.leave(self.block);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn is_closed(seat: &Seat) -> bool {
        seat.dismissed().now_or_never().is_some()
    }

    #[test]
    fn the_longest_idle_of_the_largest_block_makes_room() {
        let connections = Connections::new(5);
        let enter = |block: u8| connections.enter([block; 16], 4).unwrap();
        let honest = enter(1);
        let idle = [enter(2), enter(2), enter(2)];
        // The first one becomes the one that was idle last.
        drop(idle[0].busy());
        let last = enter(3);
        let newcomer = enter(4);
        assert!(is_closed(&idle[1]) && !is_closed(&idle[2]) && !is_closed(&idle[0]));
        let busy: Vec<_> = idle.iter().map(Seat::busy).collect();
        // One of each other block is idle: the oldest.
        let _next = enter(5);
        assert!(is_closed(&honest) && !is_closed(&last) && !is_closed(&newcomer));
        drop(busy);
    }

    #[test]
    fn a_block_beyond_its_share_closes_its_own() {
        let connections = Connections::new(8);
        let other = connections.enter([1; 16], 2).unwrap();
        let one = connections.enter([2; 16], 2).unwrap();
        let two = connections.enter([2; 16], 2).unwrap();
        let three = connections.enter([2; 16], 2).unwrap();
        assert!(is_closed(&one) && !is_closed(&two) && !is_closed(&other));
        let busy = [two.busy(), three.busy()];
        assert!(connections.enter([2; 16], 2).is_none());
        drop(busy);
        assert!(connections.enter([2; 16], 2).is_some());
    }

    #[test]
    fn busy_connections_stay_and_all_places_become_free() {
        let connections = Connections::new(2);
        let seats = [1, 2].map(|block| connections.enter([block; 16], 2).unwrap());
        let busy: Vec<_> = seats.iter().map(Seat::busy).collect();
        assert!(connections.enter([3; 16], 2).is_none());
        connections.make_room(9);
        assert!(!seats.iter().any(|seat| is_closed(seat)));
        // Busy twice, as with an answer that waits to be written.
        let again = seats[0].busy();
        drop(busy);
        assert!(seats[0].is_busy());
        let third = connections.enter([3; 16], 2).unwrap();
        assert!(is_closed(&seats[1]) && !is_closed(&seats[0]));
        // A request that arrives at that moment is the last one.
        let late = seats[1].busy();
        assert!(seats[1].is_dismissed() && seats[1].is_busy() && !seats[0].is_dismissed());
        drop((late, again, seats, third));
        let open = connections.open();
        assert_eq!((open.count, open.by_block.len()), (0, 0));
    }

    /// Against a plain list of all connections, over random sequences.
    #[test]
    fn counts_hold_in_any_order() {
        let mut random = 1_u64;
        let mut next = |most: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % most
        };
        let connections = Connections::new(10);
        let (mut seats, mut busy): (Vec<Arc<Seat>>, Vec<Busy>) = (Vec::new(), Vec::new());
        for _ in 0..20_000 {
            match next(4) {
                0 | 1 => {
                    let block = [u8::try_from(next(5)).unwrap(); 16];
                    seats.extend(connections.enter(block, 4));
                }
                2 if !seats.is_empty() => {
                    let index = usize::try_from(next(seats.len() as u64)).unwrap();
                    match next(2) {
                        0 => drop(seats.swap_remove(index)),
                        _ => busy.push(seats[index].busy()),
                    }
                }
                _ if !busy.is_empty() => {
                    let index = usize::try_from(next(busy.len() as u64)).unwrap();
                    busy.swap_remove(index);
                }
                _ => {}
            }
            seats.retain(|seat| seat.is_busy() || !is_closed(seat));
            let open = connections.open();
            let of_blocks: usize = open.by_block.values().map(|found| found.count).sum();
            assert_eq!(open.count, of_blocks);
            assert!(open.count <= 10);
            assert!(
                open.by_block
                    .values()
                    .all(|found| found.count <= 4 && found.count >= found.idle.len())
            );
        }
        drop((seats, busy));
        assert_eq!(connections.open().count, 0);
    }
}
