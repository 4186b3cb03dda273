//! Fills, on a file in place of a device.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;

use cardmark_core::{Fill, MIB, fill_content};
use cardmark_device::{FillContent, FillError, Filled, Filler, OpenTarget, TestFile};
use cardmark_engine::Pulse;

/// Two stretches and a part that ends inside a block.
const SIZE: u64 = 130 * MIB + 4096 + 512;
const RANDOM: FillContent = FillContent {
    fill: Fill::Random,
    seed: 7,
};

/// Returns a device of that size, full of the byte 0x55, and a second handle to it.
fn device(size_bytes: u64) -> (OpenTarget, File) {
    let target: OpenTarget = TestFile::create(&std::env::temp_dir(), size_bytes)
        .unwrap()
        .into();
    let path = format!("/proc/self/fd/{}", target.as_fd().as_raw_fd());
    let look = File::options().read(true).write(true).open(path).unwrap();
    look.write_all_at(&vec![0x55; usize::try_from(size_bytes).unwrap()], 0)
        .unwrap();
    (target, look)
}

fn read(look: &File) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(look.metadata().unwrap().len()).unwrap()];
    look.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// The first sector that is not as this content has it, from `from` on.
fn first_wrong(bytes: &[u8], from: u64, content: FillContent) -> Option<u64> {
    let sectors = &bytes[usize::try_from(from).unwrap()..];
    let mut expected = vec![0; sectors.len()];
    fill_content(content.fill, content.seed, from, &mut expected);
    let mut pairs = sectors.chunks(512).zip(expected.chunks(512));
    let wrong = pairs.position(|(found, expected)| found != expected);
    wrong.map(|at| from + at as u64 * 512)
}

fn is_untouched(bytes: &[u8]) -> bool {
    bytes
        .chunks(4096)
        .all(|chunk| *chunk == [0x55; 4096][..chunk.len()])
}

fn fill_silently(filler: &mut Filler, content: FillContent, from_bytes: u64) -> Filled {
    let mut filled = Filled {
        durable_bytes: from_bytes,
        error: None,
    };
    while filled.durable_bytes < filler.size_bytes() && filled.error.is_none() {
        filled = filler.fill_stretch(content, filled.durable_bytes, &Pulse::new());
    }
    filled
}

#[test]
fn every_byte_is_as_the_rule_says() {
    for direct in [true, false] {
        for fill in [Fill::Ff, Fill::Zero, Fill::Random] {
            let (mut target, look) = device(SIZE);
            target.direct &= direct;
            let content = FillContent { fill, seed: 7 };
            let mut filler = Filler::new(target).unwrap();
            let filled = fill_silently(&mut filler, content, 0);
            assert!(filled.error.is_none(), "{:?}", filled.error);
            assert_eq!(filled.durable_bytes, SIZE);
            let bytes = read(&look);
            assert_eq!(bytes.len() as u64, SIZE, "nothing beyond the end");
            assert_eq!(first_wrong(&bytes, 0, content), None, "{fill:?}");
        }
    }
}

#[test]
fn what_lies_before_the_place_to_go_on_is_left_alone() {
    let (target, look) = device(SIZE);
    let mut filler = Filler::new(target).unwrap();
    // Inside a block: the block is written as a whole.
    let filled = fill_silently(&mut filler, RANDOM, 70 * MIB + 5);
    assert_eq!(filled.durable_bytes, SIZE);
    let bytes = read(&look);
    let from = usize::try_from(70 * MIB).unwrap();
    assert!(is_untouched(&bytes[..from]));
    assert_eq!(first_wrong(&bytes, 70 * MIB, RANDOM), None);
    let filled = fill_silently(&mut filler, RANDOM, SIZE);
    assert_eq!(filled.durable_bytes, SIZE);
}

#[test]
fn a_stretch_ends_at_a_multiple_of_its_length() {
    for (direct, stretch) in [(true, 64 * MIB), (false, 8 * MIB)] {
        let (mut target, look) = device(SIZE);
        target.direct = direct;
        let mut filler = Filler::new(target).unwrap();
        let pulse = Pulse::new();
        let filled = filler.fill_stretch(RANDOM, 5 * MIB, &pulse);
        assert!(filled.error.is_none());
        assert_eq!(filled.durable_bytes, stretch);
        assert!(!pulse.reading().1, "it waits no more");
        let bytes = read(&look);
        let end = usize::try_from(stretch).unwrap();
        assert!(is_untouched(&bytes[end..]));
    }
}

#[test]
fn a_stop_leaves_whole_what_counts_as_durable() {
    let (target, look) = device(SIZE);
    let mut filler = Filler::new(target).unwrap();
    let pulse = Pulse::new();
    let filled = std::thread::scope(|scope| {
        scope.spawn(|| {
            while pulse.reading().0 < 3 {
                std::thread::yield_now();
            }
            pulse.stop();
        });
        filler.fill_stretch(RANDOM, 0, &pulse)
    });
    assert!(filled.error.is_none());
    let durable = filled.durable_bytes;
    assert!(durable > 0 && durable <= 64 * MIB, "{durable}");
    let bytes = read(&look);
    let kept = &bytes[..usize::try_from(durable).unwrap()];
    assert_eq!(first_wrong(kept, 0, RANDOM), None);
    // And nothing more was written: a block was taken only to be written.
    assert_eq!(first_wrong(&bytes, 0, RANDOM), Some(durable));
    let filled = fill_silently(&mut filler, RANDOM, durable);
    assert_eq!(filled.durable_bytes, SIZE);
    assert_eq!(first_wrong(&read(&look), 0, RANDOM), None);
}

#[test]
fn a_difference_in_the_blocks_that_are_looked_at_is_found() {
    let (target, look) = device(SIZE);
    let mut filler = Filler::new(target).unwrap();
    fill_silently(&mut filler, RANDOM, 0);
    let pulse = Pulse::new();
    let mut difference = |content, until| filler.first_difference(content, until, &pulse).unwrap();
    assert_eq!(difference(RANDOM, SIZE), None);
    assert_eq!(difference(RANDOM, 3 * MIB), None);
    assert_eq!(difference(RANDOM, 0), None);
    assert_eq!(difference(FillContent { seed: 8, ..RANDOM }, SIZE), Some(0));
    let zero = FillContent {
        fill: Fill::Zero,
        seed: 0,
    };
    assert_eq!(difference(zero, SIZE), Some(0));
    // The last byte of the first block, the last one of all.
    for at in [MIB - 1, SIZE - 1] {
        let mut byte = [0];
        look.read_exact_at(&mut byte, at).unwrap();
        look.write_all_at(&[!byte[0]], at).unwrap();
        assert_eq!(difference(RANDOM, SIZE), Some(at / MIB * MIB));
        look.write_all_at(&byte, at).unwrap();
    }
    assert_eq!(difference(RANDOM, SIZE), None);
    // The check leaves no trace in the data written next.
    fill_silently(&mut filler, zero, 0);
    assert_eq!(first_wrong(&read(&look), 0, zero), None);
}

#[test]
fn a_device_that_ends_early_is_told_with_the_place() {
    let (target, look) = device(4 * MIB);
    look.set_len(2 * MIB).unwrap();
    let mut filler = Filler::new(target).unwrap();
    let error = filler
        .first_difference(
            FillContent {
                fill: Fill::Discard,
                seed: 0,
            },
            4 * MIB,
            &Pulse::new(),
        )
        .unwrap_err();
    let FillError::Operation {
        action,
        offset_bytes,
        ..
    } = error
    else {
        panic!("{error:?}")
    };
    assert_eq!((action, offset_bytes), ("read", 2 * MIB));
}

#[test]
fn what_cannot_discard_says_so() {
    let (target, look) = device(MIB);
    let mut filler = Filler::new(target).unwrap();
    let discard = FillContent {
        fill: Fill::Discard,
        seed: 0,
    };
    let filled = fill_silently(&mut filler, discard, 0);
    assert!(matches!(filled.error, Some(FillError::NoDiscard)));
    assert_eq!(filled.durable_bytes, 0);
    assert!(is_untouched(&read(&look)));
}

/// Content that is the same in all blocks is on many devices.
#[test]
fn a_mark_distinguishes_the_device_that_is_being_filled() {
    const SHORT: u64 = 20 * MIB + 512;
    let copy_of = |bytes: &[u8]| {
        let (mut target, look) = device(SHORT);
        target.direct = false;
        look.write_all_at(bytes, 0).unwrap();
        Filler::new(target).unwrap()
    };
    let pulse = Pulse::new();
    for fill in [Fill::Ff, Fill::Zero] {
        let content = FillContent { fill, seed: 0 };
        let (mut target, look) = device(SHORT);
        target.direct = false;
        let mut filler = Filler::new(target).unwrap();
        let mut whole = vec![0; usize::try_from(SHORT).unwrap()];
        fill_content(fill, 0, 0, &mut whole);
        let mut known = vec![(0, read(&look))];
        let mut done = 0;
        while done < SHORT {
            filler.mark(7, fill, done).unwrap();
            // An interruption within the stretch: what was known before still finds the device.
            let is_marked = filler.is_marked((7, fill), done, &pulse).unwrap();
            assert!(is_marked, "{done}");
            let before = done;
            done = filler.fill_stretch(content, done, &pulse).durable_bytes;
            if done < SHORT {
                for known in [before, done] {
                    assert!(filler.is_marked((7, fill), known, &pulse).unwrap());
                    assert!(!filler.is_marked((8, fill), known, &pulse).unwrap());
                }
                let others = known.iter().map(|(_, bytes)| bytes).chain([&whole]);
                for other in others {
                    let mut other = copy_of(other);
                    assert!(!other.is_marked((7, fill), done, &pulse).unwrap(), "{done}");
                }
                known.push((done, read(&look)));
            }
        }
        assert_eq!(known.len(), 3);
        assert!(read(&look) == whole, "no mark is left");
    }
}
