use super::*;

/// A generator of numbers below `most`.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }

    fn size(&mut self) -> u64 {
        LEAST_BYTES + self.below((MOST_BYTES - LEAST_BYTES) / PAGE_BYTES) * PAGE_BYTES
    }
}

/// Other users of memory: the amount that they hold at each look, given the look's number and a draw.
type Others = fn(u64, u64, &mut Draw) -> u64;

/// None; one in step with our rounds; at every look another amount; a slow climb; now and then.
const OTHERS: [Others; 6] = [
    |_, held, _| held,
    |look, _, draw| if look % 3 == 1 { draw.size() } else { 0 },
    |_, _, draw| draw.size(),
    |_, held, draw| held + draw.below(4 * MIB),
    |_, held, draw| {
        if draw.below(3) == 0 {
            draw.size()
        } else {
            held
        }
    },
    |look, _, draw| {
        if look % 6 < 3 {
            draw.size()
        } else {
            2 * MOST_BYTES
        }
    },
];

/// Takes rounds until there is an answer; returns it with their number.
fn ask(others: Others, is_memory: bool, draw: &mut Draw) -> (bool, usize) {
    let (mut rounds, mut held, mut look) = (Vec::new(), 0, 0);
    loop {
        let size = draw.size();
        let ours = if is_memory { size } else { 0 };
        let mut see = |ours: u64| {
            held = others(look, held, draw);
            look += 1;
            // A processor holds back up to 125 pages.
            64 * MIB + held + ours + draw.below(125) * PAGE_BYTES
        };
        let [before, with, after] = [see(0), see(ours), see(0)];
        rounds.push(Round {
            size,
            before,
            with,
            after,
        });
        if let Some(answer) = decision(&rounds) {
            return (answer, rounds.len());
        }
    }
}

#[test]
fn whatever_others_do_storage_is_not_taken_for_memory() {
    let mut draw = Draw(39);
    for others in OTHERS {
        for _ in 0..2000 {
            let (is_memory, rounds) = ask(others, false, &mut draw);
            assert!(!is_memory, "after {rounds} rounds");
            assert!(rounds < DISTURBED_COUNT * MATCHES_COUNT);
        }
    }
}

#[test]
fn memory_is_proven_unless_others_disturb_it() {
    let mut draw = Draw(7);
    for _ in 0..1000 {
        assert_eq!(ask(OTHERS[0], true, &mut draw), (true, MATCHES_COUNT));
    }
    // Storage without other users costs one file.
    assert_eq!(ask(OTHERS[0], false, &mut draw), (false, 1));
}

#[test]
fn one_disturbed_round_begins_the_count_again() {
    let round = |with: u64, after: u64| Round {
        size: 10 * MIB,
        before: 5 * MIB,
        with,
        after,
    };
    let (matching, disturbed) = (round(15 * MIB, 5 * MIB), round(15 * MIB, 9 * MIB));
    let mut rounds = vec![matching; MATCHES_COUNT - 1];
    rounds.push(disturbed);
    rounds.extend([matching; MATCHES_COUNT - 1]);
    assert_eq!(decision(&rounds), None);
    rounds.push(matching);
    assert_eq!(decision(&rounds), Some(true));
    assert_eq!(decision(&[disturbed; DISTURBED_COUNT]), Some(false));
    assert_eq!(decision(&[round(5 * MIB, 5 * MIB)]), Some(false));
}

#[test]
fn counts_are_read_from_the_kernels_table() {
    let text = "MemFree:  1 kB\nUnevictable:    12 kB\nShmem:  8872 kB\nShmemHugePages: 5 kB\n";
    assert_eq!(count(text, "Shmem:"), Some(8872 * 1024));
    assert_eq!(count(text, "Unevictable:"), Some(12 * 1024));
    assert_eq!(count("Shmem: kB", "Shmem:"), None);
    assert_eq!(count("", "Shmem:"), None);
}

/// Needs a tmpfs; most systems have one there.
#[test]
fn a_real_file_in_memory_is_found_and_one_on_storage_is_not() {
    let memory = Path::new("/dev/shm");
    let is_tmpfs = std::fs::read_to_string("/proc/self/mounts")
        .is_ok_and(|text| text.contains(" /dev/shm tmpfs "));
    if is_tmpfs && free_bytes(memory).is_ok_and(|free| free > 2 * MOST_BYTES) {
        // Another test may disturb it.
        let mut tries = 0..20;
        assert!(tries.any(|_| measured(memory).unwrap()));
    }
}
