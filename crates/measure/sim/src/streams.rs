//! Detection of consecutive requests: a card is not informed that its requests are sequential, nor that two
//! requests were one before they were cut.

use std::collections::VecDeque;

use cardmark_core::Order;

/// Streams that are remembered: files read and written at once, and a filesystem's own.
const KEPT: usize = 8;
/// Distance from a stream's end, in requests, at which its pieces may come when several are under way.
const REACH_COUNT: u64 = 16;
/// Minimum size of the part in front of a cut that the kernel makes in a request that is too large.
const LEAST_CUT_BYTES: u64 = 512 << 10;
/// The rest of a request comes within this span.
const REST_NS: u64 = 500_000;

/// Relation of a request to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// At the end of an earlier one of its kind.
    Sequential,
    /// Anywhere else.
    Random,
    /// It is the rest of the one before it.
    Rest,
}

impl Continuation {
    pub(crate) fn order(self) -> Order {
        match self {
            Self::Sequential | Self::Rest => Order::Sequential,
            Self::Random => Order::Random,
        }
    }
}

/// The streams of one kind of operation, the last one used first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    recent: VecDeque<Stream>,
    last: Option<Last>,
}

/// The request placed last.
#[derive(Clone, Copy, Debug)]
struct Last {
    at_ns: u64,
    end: u64,
    is_cut: bool,
}

/// Requests that each began at the end of an earlier one.
#[derive(Clone, Copy, Debug)]
struct Stream {
    start: u64,
    end: u64,
    /// Until then one of them is under way.
    busy_ns: u64,
    was_continued: bool,
}

impl Streams {
    /// Returns the relation of a request to earlier ones. [`Self::keep_busy`] is to follow.
    pub(crate) fn place(&mut self, now_ns: u64, offset: u64, bytes: u64) -> Continuation {
        let end = offset.saturating_add(bytes);
        let is_rest = self
            .last
            .is_some_and(|last| last.is_cut && last.end == offset && now_ns < last.at_ns + REST_NS);
        let found = self
            .recent
            .iter()
            .position(|stream| stream.goes_on_with(now_ns, offset, end));
        let (stream, place) = match found.and_then(|index| self.recent.remove(index)) {
            Some(stream) if is_rest && now_ns < stream.busy_ns => {
                (stream.with(offset, end), Continuation::Rest)
            }
            Some(stream) => (stream.with(offset, end), Continuation::Sequential),
            None => (Stream::new(offset, end), Continuation::Random),
        };
        self.recent.truncate(KEPT - 1);
        self.recent.push_front(stream);
        self.last = Some(Last {
            at_ns: now_ns,
            end,
            // A rest may have one of its own.
            is_cut: bytes >= LEAST_CUT_BYTES || place == Continuation::Rest,
        });
        place
    }

    /// The request placed last is under way until then.
    pub(crate) fn keep_busy(&mut self, until_ns: u64) {
        if let Some(stream) = self.recent.front_mut() {
            stream.busy_ns = stream.busy_ns.max(until_ns);
        }
    }
}

impl Stream {
    fn new(start: u64, end: u64) -> Self {
        Self {
            start,
            end,
            busy_ns: 0,
            was_continued: false,
        }
    }

    fn goes_on_with(&self, now_ns: u64, offset: u64, end: u64) -> bool {
        if offset == self.end {
            return true;
        }
        // Pieces of one request, or requests of several threads, overtake one another only while under way
        // together. Otherwise a request nearby is there by chance.
        if now_ns >= self.busy_ns {
            return false;
        }
        let reach = (end - offset).saturating_mul(REACH_COUNT);
        end == self.start || self.was_continued && offset.abs_diff(self.end) <= reach
    }

    fn with(self, offset: u64, end: u64) -> Self {
        Self {
            start: self.start.min(offset),
            end: self.end.max(end),
            busy_ns: self.busy_ns,
            was_continued: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use cardmark_core::Rng;

    use super::*;

    const PIECE: u64 = 128 << 10;

    /// Returns the share of these requests that count as sequential, each under way for 1 ms.
    fn sequential_share(requests: &[(u64, u64)], pause_ns: u64) -> f64 {
        let mut streams = Streams::default();
        let mut now_ns = 0;
        let mut count = 0;
        for &(offset, bytes) in requests {
            count += u32::from(streams.place(now_ns, offset, bytes) != Continuation::Random);
            streams.keep_busy(now_ns + 1_000_000);
            now_ns += pause_ns;
        }
        f64::from(count) / requests.len() as f64
    }

    fn shuffle(pieces: &mut [u64], rng: &mut Rng) {
        for last in (1..pieces.len()).rev() {
            let other = rng.below(last as u64 + 1);
            pieces.swap(last, usize::try_from(other).unwrap());
        }
    }

    #[test]
    fn files_written_at_once_are_sequential_each() {
        let requests: Vec<_> = (0..4_000u64)
            .map(|number| ((number % 4) * (1 << 30) + number / 4 * 4096, 4096))
            .collect();
        assert!(sequential_share(&requests, 1_000_000) >= 3_996.0 / 4_000.0);
    }

    #[test]
    fn pieces_that_overtake_one_another_are_sequential() {
        let mut rng = Rng::new(1);
        let mut requests = Vec::new();
        for request in 0..500u64 {
            let mut pieces: Vec<u64> = (0..8).map(|piece| request * 8 + piece).collect();
            shuffle(&mut pieces, &mut rng);
            requests.extend(pieces.iter().map(|piece| (piece * PIECE, PIECE)));
        }
        let share = sequential_share(&requests, 10_000);
        assert!(share > 0.99, "{share}");
    }

    #[test]
    fn pieces_of_a_random_request_follow_its_first() {
        let mut rng = Rng::new(2);
        let requests: Vec<_> = (0..500)
            .map(|_| rng.below(1_000) << 24)
            .flat_map(|offset| (0..8).map(move |piece| (offset + piece * PIECE, PIECE)))
            .collect();
        let share = sequential_share(&requests, 10_000);
        assert!((share - 7.0 / 8.0).abs() < 0.002, "{share}");
    }

    #[test]
    fn what_was_cut_off_is_the_rest_of_its_request() {
        let mut streams = Streams::default();
        let mut place = |now_ns, offset, bytes| {
            let place = streams.place(now_ns, offset, bytes);
            streams.keep_busy(now_ns + 10_000_000);
            place
        };
        assert_eq!(place(0, 0, 600 << 10), Continuation::Random);
        assert_eq!(place(100_000, 600 << 10, 424 << 10), Continuation::Rest);
        assert_eq!(place(200_000, 1 << 20, 1 << 20), Continuation::Rest);
        // Too late; then what came before it was too small to be cut.
        assert_eq!(
            place(5_000_000, 2 << 20, 256 << 10),
            Continuation::Sequential
        );
        assert_eq!(
            place(5_100_000, 2304 << 10, 768 << 10),
            Continuation::Sequential
        );
        // Requested only once the one before was answered.
        assert_eq!(
            place(16_000_000, 3 << 20, 1 << 20),
            Continuation::Sequential
        );
        assert_eq!(
            place(16_100_000, 5 << 20, 1 << 20),
            Continuation::Sequential
        );
    }

    #[test]
    fn random_requests_are_random_even_near_an_old_stream() {
        for pause_ns in [1_000, 1_000_000] {
            let mut rng = Rng::new(3);
            let mut requests: Vec<_> = (0..100u64).map(|block| (block * 4096, 4096)).collect();
            sequential_share(&requests, pause_ns);
            requests.extend((0..20_000).map(|_| (rng.below(4096) * 4096, 4096)));
            let share = sequential_share(&requests[100..], pause_ns);
            assert!(share < 0.008, "{share}");
        }
    }
}
