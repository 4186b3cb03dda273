//! Contract of every back end.

use std::collections::BTreeSet;
use std::os::unix::fs::FileExt;
use std::path::Path;

use cardmark_core::{Errno, Flush, Workload, stamp_payload};
use cardmark_device::{MonotonicClock, NullBackend, RealBackend};
use cardmark_engine::{Backend, Clock, Done, Op, OpKind, Pulse, TrialContext, run_trial};

use crate::support::{BLOCK, backend_in, has, workload};

const BLOCKS: u64 = 256;

/// Runs `ops` with `depth` in flight; outcomes in the order of submission.
fn run_all(
    backend: &mut impl Backend,
    depth: u32,
    kind: OpKind,
    offsets: &[u64],
) -> Vec<Result<u32, Errno>> {
    let mut outcomes = vec![Err(Errno(-1)); offsets.len()];
    let mut owner = vec![None; depth as usize];
    let mut free: Vec<u32> = (0..depth).collect();
    let mut next = 0;
    loop {
        while let (Some(&slot), true) = (free.last(), next < offsets.len()) {
            free.pop();
            owner[slot as usize] = Some(next);
            backend.submit(Op {
                kind,
                offset: offsets[next],
                bytes: BLOCK,
                slot,
                stream: 0,
            });
            next += 1;
        }
        if free.len() == depth as usize {
            return outcomes;
        }
        let Done { slot, outcome } = backend.reap();
        let index = owner[slot as usize]
            .take()
            .expect("completed slot was in flight");
        outcomes[index] = outcome;
        free.push(slot);
    }
}

fn contract(directory: &Path, depth: u32, threads: bool) {
    let (backend, look) = backend_in(directory, 5);
    let mut backend = if threads {
        backend.force_threads()
    } else {
        backend
    };
    let offsets: Vec<u64> = (0..BLOCKS)
        .map(|n| (n * 37 % BLOCKS) * u64::from(BLOCK))
        .collect();

    let mut generation = 0;
    for kind in [OpKind::Write, OpKind::WriteSync] {
        let mut writing = workload(0, depth);
        if kind == OpKind::WriteSync {
            writing.flush = Flush::EachOperation;
        }
        backend.prepare(&writing).unwrap();
        let outcomes = run_all(&mut backend, depth, kind, &offsets);
        assert!(
            outcomes.iter().all(|&outcome| outcome == Ok(BLOCK)),
            "{outcomes:?}"
        );
        backend.flush().unwrap();

        let mut bodies = BTreeSet::new();
        for &offset in &offsets {
            let mut found = vec![0; BLOCK as usize];
            look.read_exact_at(&mut found, offset).unwrap();
            let mut expected = found.clone();
            stamp_payload(&mut expected, offset, generation);
            assert_eq!(found[..16], expected[..16], "stamp at {offset}");
            generation += 1;
            bodies.insert(found[16..].to_vec());
        }
        // They differ within a walk of the pool. A worker that is quick while others wait for a
        // processor walks through its part more than once: a part of 32 has 64 blocks.
        assert!(bodies.len() >= 64, "{} bodies", bodies.len());
    }

    backend.prepare(&workload(100, depth)).unwrap();
    let outcomes = run_all(&mut backend, depth, OpKind::Read, &offsets);
    assert!(
        outcomes.iter().all(|&outcome| outcome == Ok(BLOCK)),
        "{outcomes:?}"
    );
    let end = BLOCKS * u64::from(BLOCK);
    assert_eq!(run_all(&mut backend, depth, OpKind::Read, &[end]), [Ok(0)]);
    look.set_len(end - 1000).unwrap();
    let last = end - u64::from(BLOCK);
    assert_eq!(
        run_all(&mut backend, depth, OpKind::Read, &[last]),
        [Ok(BLOCK - 1000)]
    );
    assert_eq!(backend.used_threads(), threads);
}

fn every_way(directory: &Path) {
    contract(directory, 1, false);
    contract(directory, 32, true);
    let (mut probe, _) = backend_in(directory, 1);
    probe.prepare(&workload(100, 2)).unwrap();
    if has("io_uring", !probe.used_threads()) {
        contract(directory, 2, false);
        contract(directory, 32, false);
    }
}

#[test]
fn every_way_keeps_the_contract_on_a_file() {
    every_way(tempfile::tempdir().unwrap().path());
}

#[test]
fn every_way_keeps_the_contract_on_tmpfs() {
    let shm = Path::new("/dev/shm");
    if has("/dev/shm", shm.is_dir()) {
        every_way(tempfile::tempdir_in(shm).unwrap().path());
    }
}

#[test]
fn one_back_end_serves_workloads_of_any_shape_in_turn() {
    let directory = tempfile::tempdir().unwrap();
    for threads in [false, true] {
        let (backend, _) = backend_in(directory.path(), 1);
        let mut backend = if threads {
            backend.force_threads()
        } else {
            backend
        };
        for (share, depth, block) in [
            (0, 1, 1 << 20),
            (100, 32, 4096),
            (20, 32, 4096),
            (50, 16, 1 << 20),
            (100, 1, 4096),
        ] {
            let mut shape = workload(share, depth);
            shape.block_bytes = block;
            shape.span_bytes = 32 << 20;
            if share == 0 {
                shape.stop.most_bytes = Some(shape.span_bytes);
            }
            assert_trial(&mut backend, &shape);
        }
    }
}

fn assert_trial(backend: &mut RealBackend, workload: &Workload) {
    let mut clock = MonotonicClock::new();
    let context = TrialContext {
        limit_ns: 60_000_000_000,
        seed: 1,
        ..TrialContext::default()
    };
    let end = run_trial(backend, &mut clock, &Pulse::new(), workload, context);
    assert_eq!(end.failure, None, "{workload:?}");
    assert!(end.trial.streams[0].operations_count > 0);
}

#[test]
fn a_drop_with_operations_in_flight_ends() {
    let directory = tempfile::tempdir().unwrap();
    for threads in [false, true] {
        for depth in [1, 16] {
            let (backend, _) = backend_in(directory.path(), 1);
            let mut backend = if threads {
                backend.force_threads()
            } else {
                backend
            };
            for round in 0..2 {
                // The second `prepare` finds operations in flight as well.
                backend.prepare(&workload(0, depth)).unwrap();
                for slot in 0..depth {
                    let offset = u64::from(slot + round) * u64::from(BLOCK);
                    backend.submit(Op {
                        kind: OpKind::Write,
                        offset,
                        bytes: BLOCK,
                        slot,
                        stream: 0,
                    });
                }
            }
        }
    }
}

#[test]
fn blocks_that_direct_access_cannot_move_are_refused_before_the_clock() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, _) = backend_in(directory.path(), 1);
    let mut odd = workload(100, 1);
    odd.block_bytes = 1000;
    if backend.is_direct() {
        assert_eq!(backend.prepare(&odd), Err(Errno::INVAL));
    }
}

#[test]
fn the_null_back_end_completes_in_order() {
    let mut backend = NullBackend::new();
    backend.prepare(&workload(50, 4)).unwrap();
    let outcomes = run_all(&mut backend, 4, OpKind::Read, &[0, 4096, 8192, 0, 0]);
    assert_eq!(outcomes, [Ok(BLOCK); 5]);
    for slot in [2, 0, 1] {
        backend.submit(Op {
            kind: OpKind::Write,
            offset: 0,
            bytes: BLOCK,
            slot,
            stream: 0,
        });
    }
    assert_eq!(
        [
            backend.reap().slot,
            backend.reap().slot,
            backend.reap().slot
        ],
        [2, 0, 1]
    );
    assert_eq!((backend.flush(), backend.counters()), (Ok(()), None));
}

#[test]
fn payload_is_made_faster_than_any_card_writes() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, _) = backend_in(directory.path(), 1);
    let rate = backend.payload_rate_bytes_per_s().unwrap();
    assert!(rate > 100e6, "{rate}");
    assert_eq!(
        backend.payload_rate_bytes_per_s(),
        Some(rate),
        "measured once"
    );
}

#[test]
fn the_clock_starts_at_zero_goes_forward_and_is_shared_by_copies() {
    let mut clock = MonotonicClock::new();
    let mut copy = clock;
    let first = clock.now_ns();
    let second = copy.now_ns();
    assert!(
        first <= second && second < 1_000_000_000,
        "{first} {second}"
    );
}

/// Either of two writes in flight to one block may be the last.
#[test]
fn blocks_written_twice_at_once_are_not_judged() {
    let directory = tempfile::tempdir().unwrap();
    let (backend, look) = backend_in(directory.path(), 5);
    let size = 4 * u64::from(BLOCK);
    look.set_len(size).unwrap();
    let mut backend = backend.keep_in_mind(size);
    let offsets = [0, 1, 1, 2].map(|block| block * u64::from(BLOCK));
    for (depth, known_blocks) in [(1, 3), (4, 2)] {
        backend.prepare(&workload(0, depth)).unwrap();
        run_all(&mut backend, depth, OpKind::Write, &offsets);
        backend.flush().unwrap();
        let found = backend.read_back(0, size).unwrap().unwrap();
        assert_eq!(found.read_bytes, known_blocks * u64::from(BLOCK));
        assert_eq!(found.lost_bytes, 0);
    }
}

#[test]
fn what_was_written_is_known_again_and_what_was_not_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    for depth in [1, 32] {
        let (backend, look) = backend_in(directory.path(), 5);
        let size = BLOCKS * u64::from(BLOCK);
        look.set_len(size).unwrap();
        let mut backend = backend.keep_in_mind(size);
        assert_eq!(
            backend
                .read_back(0, size)
                .unwrap()
                .map(|found| found.read_bytes),
            Some(0),
            "nothing was written yet"
        );
        let mut writing = workload(0, depth);
        let offsets: Vec<u64> = (0..BLOCKS)
            .map(|n| n * 77 % BLOCKS * u64::from(BLOCK))
            .collect();
        for pass in [&offsets[..], &offsets[..100]] {
            backend.prepare(&writing).unwrap();
            run_all(&mut backend, depth, OpKind::Write, pass);
            backend.flush().unwrap();
        }
        writing.flush = Flush::EachOperation;
        backend.prepare(&writing).unwrap();
        run_all(&mut backend, depth, OpKind::WriteSync, &offsets[50..60]);
        let found = backend.read_back(0, size).unwrap().unwrap();
        assert_eq!(
            (found.read_bytes, found.lost_bytes, found.first_lost_bytes),
            (size, 0, None)
        );

        // A block changes place, another one loses a bit, a third one is zeros.
        let mut moved = vec![0; BLOCK as usize];
        look.read_exact_at(&mut moved, offsets[3]).unwrap();
        look.write_all_at(&moved, offsets[4]).unwrap();
        let mut byte = [0];
        look.read_exact_at(&mut byte, offsets[9] + 4095).unwrap();
        look.write_all_at(&[byte[0] ^ 1], offsets[9] + 4095)
            .unwrap();
        look.write_all_at(&vec![0; BLOCK as usize], offsets[200])
            .unwrap();
        look.sync_all().unwrap();
        let found = backend.read_back(0, size).unwrap().unwrap();
        let first = [offsets[4], offsets[9], offsets[200]].into_iter().min();
        assert_eq!(found.lost_bytes, 3 * u64::from(BLOCK));
        assert_eq!(found.first_lost_bytes, first);
    }
}
