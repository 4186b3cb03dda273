//! The card in real time behaves like the card in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cardmark_core::{Errno, Flush, Order, Rng, SECOND_NS, Workload};
use cardmark_engine::OpKind;
use cardmark_sim::{Model, OnlineCard, Request, SimulatedCard, TransitTime};

use crate::support::{synced, workload, workloads};

/// A closed loop on one card: each answer is followed by the next request at once.
struct Loop {
    card: OnlineCard,
    rng: Rng,
    place: u64,
    way: TransitTime,
    /// The way takes from half to one and a half times as long as usual.
    ways: Rng,
}

/// No way at all.
const NONE: TransitTime = TransitTime {
    usual_ns: 0,
    most_ns: 0,
};

impl Loop {
    fn new(model: &Model, seed: u64) -> Self {
        Self {
            card: OnlineCard::new(model, seed),
            rng: Rng::new(seed + 1),
            place: 0,
            way: NONE,
            ways: Rng::new(seed + 2),
        }
    }

    fn request(&mut self, workload: &Workload) -> Request {
        let block = match workload.order {
            Order::Random | Order::Permuted | Order::Other(_) => {
                self.rng.below(workload.blocks_count())
            }
            Order::Sequential | Order::Spread => self.place % workload.blocks_count(),
        };
        self.place += 1;
        let reads = self.rng.below(100) < u64::from(workload.read_share_percent);
        Request {
            kind: if reads { OpKind::Read } else { OpKind::Write },
            offset: block * workload.block_bytes,
            bytes: u32::try_from(workload.block_bytes).unwrap(),
        }
    }

    fn way_ns(&mut self) -> u64 {
        self.way.usual_ns / 2 + self.ways.below(self.way.usual_ns + 1)
    }

    /// Operations per second from `from_ns` on.
    fn rate(&mut self, workload: &Workload, from_ns: u64, count: u32) -> f64 {
        let mut due = BinaryHeap::new();
        let mut now_ns = from_ns;
        let mut last_ns = now_ns;
        let mut arrivals = BinaryHeap::from(vec![Reverse(now_ns); workload.queue_depth as usize]);
        for _ in 0..count + workload.queue_depth {
            // Answers that are out before the next arrival are followed by arrivals.
            while let Some(&Reverse(due_ns)) = due.peek()
                && arrivals.peek().is_none_or(|&Reverse(ns)| due_ns <= ns)
            {
                due.pop();
                last_ns = due_ns;
                arrivals.push(Reverse(due_ns + self.way_ns()));
            }
            let Reverse(next_ns) = arrivals.pop().unwrap();
            now_ns = next_ns;
            let request = self.request(workload);
            let (mut finish_ns, outcome) = self.card.arrive(now_ns, self.way, request);
            outcome.unwrap();
            if workload.flush == Flush::EachOperation {
                let back_ns = finish_ns.max(now_ns) + self.way_ns();
                now_ns = back_ns;
                finish_ns = self.card.flush(back_ns, self.way).0;
            }
            due.push(Reverse(finish_ns.max(now_ns)));
        }
        f64::from(count) / (last_ns - from_ns) as f64 * SECOND_NS as f64
    }
}

fn read(offset: u64, bytes: u32) -> Request {
    Request {
        kind: OpKind::Read,
        offset,
        bytes,
    }
}

fn write(offset: u64, bytes: u32) -> Request {
    Request {
        kind: OpKind::Write,
        ..read(offset, bytes)
    }
}

#[test]
fn closed_loops_agree_with_the_truth() {
    for (number, name) in ["a1-32gb", "a2-64gb", "c10-16gb", "usb2-32gb", "lying-32gb"]
        .into_iter()
        .enumerate()
    {
        let model = Model::named(name).unwrap();
        let mut workloads = workloads();
        workloads.push(("seq_write_4k", workload(0, Order::Sequential, 4096, 1)));
        workloads.push((
            "seq_read_1m_q32",
            workload(100, Order::Sequential, 1 << 20, 32),
        ));
        workloads.push((
            "seq_read_4k_q32",
            workload(100, Order::Sequential, 4096, 32),
        ));
        for (id, workload) in workloads {
            // A lie costs nothing if the write and its flush are one operation; a flush alone costs its
            // command.
            if name == "lying-32gb" && id == "sync_write_4k" {
                continue;
            }
            let seed = number as u64;
            let truth = SimulatedCard::new(&model, seed).truth(&workload).unwrap();
            let found = Loop::new(&model, seed).rate(&workload, 0, 20_000);
            let ratio = found / truth.operations_per_s;
            println!("{name:12} {id:18} {ratio:.4}");
            assert!((ratio - 1.0).abs() < 0.01, "{name} {id} {ratio}");
        }
    }
}

#[test]
fn the_way_to_the_card_costs_nothing() {
    for (name, depth) in [
        ("a1-32gb", 1),
        ("a2-64gb", 1),
        ("a2-64gb", 2),
        ("a2-64gb", 5),
        ("a2-64gb", 32),
    ] {
        let model = Model::named(name).unwrap();
        for workload in [
            workload(100, Order::Random, 4096, depth),
            workload(0, Order::Sequential, 1 << 20, depth),
            Workload {
                queue_depth: 1,
                ..synced()
            },
        ] {
            let truth = SimulatedCard::new(&model, 1).truth(&workload).unwrap();
            let mut card = Loop::new(&model, 1);
            card.way = TransitTime {
                usual_ns: 100_000,
                most_ns: 200_000,
            };
            let ratio = card.rate(&workload, 0, 20_000) / truth.operations_per_s;
            println!("{name} {depth} {} {ratio:.4}", workload.block_bytes);
            // Large requests of a queue that come at about the same time pass for one that was cut.
            let most = if workload.block_bytes > 4096 {
                0.02
            } else {
                0.01
            };
            assert!((ratio - 1.0).abs() < most, "{name} {depth} {ratio}");
        }
    }
}

#[test]
fn a_lone_request_takes_its_time_and_no_way() {
    let model = Model::named("a1-32gb").unwrap();
    let mut card = OnlineCard::new(&model, 1);
    let way = TransitTime {
        usual_ns: 100_000,
        most_ns: 200_000,
    };
    let mut rng = Rng::new(1);
    let reads = workload(100, Order::Random, 4096, 1);
    let count = 5_000;
    let mut sum_ns = 0;
    for number in 1..=count {
        // The asker sees the way, too.
        let asked_ns = number * 10_000_000;
        let request = read(rng.below(reads.blocks_count()) * 4096, 4096);
        let (due_ns, _) = card.arrive(asked_ns + 50_000, way, request);
        sum_ns += due_ns + 50_000 - asked_ns;
    }
    let truth = SimulatedCard::new(&model, 1).truth(&reads).unwrap();
    let ratio = sum_ns as f64 / count as f64 * truth.operations_per_s / SECOND_NS as f64;
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn a_cut_request_costs_what_it_costs_whole() {
    for name in ["a1-32gb", "a2-64gb", "c10-16gb"] {
        let model = Model::named(name).unwrap();
        let writes = workload(0, Order::Sequential, 1280 << 10, 1);
        let truth = SimulatedCard::new(&model, 1).truth(&writes).unwrap();
        let mut card = OnlineCard::new(&model, 1);
        let (count, mut now_ns) = (2_000, 0);
        for number in 0..count {
            let offset = number * writes.block_bytes;
            let mut last_ns = 0;
            for (piece, start, bytes) in [(0, 0, 1 << 20), (1, 1 << 20, 256 << 10)] {
                let arrives_ns = now_ns + piece * 200_000;
                last_ns = card
                    .arrive(arrives_ns, NONE, write(offset + start, bytes))
                    .0;
            }
            now_ns = last_ns;
        }
        let ratio = count as f64 / now_ns as f64 * SECOND_NS as f64 / truth.operations_per_s;
        assert!((ratio - 1.0).abs() < 0.01, "{name} {ratio}");
    }
}

/// As the kernel's writeback asks: some pieces at once, the next ones when all are answered.
#[test]
fn bursts_move_no_more_than_the_bus_can() {
    let model = Model::named("a2-64gb").unwrap();
    let (piece, bursts) = (512u64 << 10, 500);
    let alone = workload(0, Order::Sequential, piece, 1);
    let truth = SimulatedCard::new(&model, 1).truth(&alone).unwrap();
    // Closer together they pass for pieces of one request, further apart for requests.
    for (pieces, gap_ns) in [(4, 100_000), (4, 550_000), (5, 20_000), (32, 100_000)] {
        for is_swapped in [false, true] {
            let mut card = OnlineCard::new(&model, 1);
            let (mut now_ns, mut offset) = (0, 0);
            for _ in 0..bursts {
                let mut last_ns = 0;
                for number in 0..pieces {
                    let arrives_ns = now_ns + number * gap_ns;
                    // The last two overtake one another.
                    let place = match number {
                        2 | 3 if is_swapped => 5 - number,
                        _ => number,
                    };
                    let bytes = u32::try_from(piece).unwrap();
                    let request = write(offset + place * piece, bytes);
                    last_ns = last_ns.max(card.arrive(arrives_ns, NONE, request).0);
                }
                offset += pieces * piece;
                now_ns = last_ns;
            }
            let rate = (bursts * pieces) as f64 / now_ns as f64 * SECOND_NS as f64;
            let ratio = rate / truth.operations_per_s;
            println!("{pieces} {gap_ns} {is_swapped} {ratio:.4}");
            assert!((0.97..1.06).contains(&ratio), "{pieces} {gap_ns} {ratio}");
        }
    }
}

#[test]
fn the_swaying_card_sways_around_its_truth() {
    let model = Model::named("swaying-32gb").unwrap();
    let reads = workload(100, Order::Random, 4096, 1);
    let truth = SimulatedCard::new(&model, 3).truth(&reads).unwrap();
    let ratio = Loop::new(&model, 3).rate(&reads, 0, 2_000_000) / truth.operations_per_s;
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn a_flush_waits_for_what_is_under_way_and_holds_up_what_comes() {
    let model = Model::named("a2-64gb").unwrap();
    let mut card = OnlineCard::new(&model, 1);
    let (first_ns, _) = card.arrive(0, NONE, write(0, 1 << 20));
    let (second_ns, _) = card.arrive(0, NONE, write(1 << 30, 1 << 20));
    let (flushed_ns, _) = card.flush(0, NONE);
    assert!(flushed_ns > first_ns.max(second_ns) + 4_000_000);
    let (third_ns, _) = card.arrive(10, NONE, write(2 << 30, 1 << 20));
    assert!(third_ns > flushed_ns);
    // Nothing is left to be flushed.
    let (third_flush_ns, _) = card.flush(third_ns, NONE);
    let (idle_ns, _) = card.flush(third_flush_ns, NONE);
    assert!(idle_ns - third_flush_ns < 100_000);
}

#[test]
fn one_synced_write_costs_less_than_a_whole_flush() {
    let model = Model::named("c10-16gb").unwrap();
    let rate = Loop::new(&model, 1).rate(&synced(), 0, 2_000);
    let truth = SimulatedCard::new(&model, 1).truth(&synced()).unwrap();
    let ratio = rate / truth.operations_per_s;
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

#[test]
fn the_cache_ends_where_it_does_in_virtual_time() {
    let model = Model::named("v30-64gb").unwrap();
    let layout = workload(0, Order::Sequential, 1 << 20, 1);
    let mut card = Loop::new(&model, 1);
    let fast = card.rate(&layout, 0, 150) * 1.048_576;
    assert!((84.0..96.0).contains(&fast), "{fast}");
    card.rate(&layout, 2 * SECOND_NS, 20);
    let settled = card.rate(&layout, 3 * SECOND_NS, 80) * 1.048_576;
    assert!((27.0..33.0).contains(&settled), "{settled}");
}

#[test]
fn the_hot_board_slows_down() {
    let model = Model::named("hot-32gb").unwrap();
    let reads = workload(100, Order::Random, 4096, 1);
    let mut card = Loop::new(&model, 1);
    let cool = card.rate(&reads, 0, 20_000);
    card.rate(&reads, 8 * SECOND_NS, 60_000);
    let hot = card.rate(&reads, 32 * SECOND_NS, 5_000);
    assert!(cool / hot > 1.5, "{cool} {hot}");
}

#[test]
fn faults_come_as_stated() {
    let card = |name| OnlineCard::new(&Model::named(name).unwrap(), 1);

    let mut failing = card("failing-32gb");
    assert_eq!(failing.arrive(0, NONE, write(153 << 20, 4096)).1, Ok(4096));
    assert_eq!(
        failing.arrive(0, NONE, write(154 << 20, 4096)).1,
        Err(Errno(5))
    );

    let mut vanishing = card("vanishing-32gb");
    assert_eq!(
        vanishing.arrive(19 * SECOND_NS, NONE, read(0, 4096)).1,
        Ok(4096)
    );
    let gone_ns = 20 * SECOND_NS;
    assert_eq!(
        vanishing.arrive(gone_ns, NONE, read(0, 4096)).1,
        Err(Errno(19))
    );
    assert_eq!(vanishing.flush(gone_ns, NONE).1, Err(Errno(19)));
    assert_eq!(vanishing.discard(gone_ns, NONE).1, Err(Errno(19)));

    let mut silent = card("silent-32gb");
    assert!(silent.arrive(14 * SECOND_NS, NONE, read(0, 4096)).0 < 15 * SECOND_NS);
    assert_eq!(
        silent.arrive(16 * SECOND_NS, NONE, read(0, 4096)).0,
        616 * SECOND_NS
    );

    let mut small = card("a1-32gb");
    assert_eq!(
        small.arrive(0, NONE, write(u64::MAX - 1, 4096)).1,
        Err(Errno(5))
    );
}

#[test]
fn the_fastest_request_is_faster_than_the_mean() {
    let card = OnlineCard::new(&Model::named("a2-64gb").unwrap(), 1);
    // Sequential reads: 110 µs and 44 µs for 4 KiB at 93 MB/s.
    let mean_ns = 154_000.0 / SimulatedCard::new(&Model::named("a2-64gb").unwrap(), 1).run_factor();
    let ratio = card.fastest_ns() as f64 / mean_ns;
    assert!((0.8..0.95).contains(&ratio), "{ratio}");
}
