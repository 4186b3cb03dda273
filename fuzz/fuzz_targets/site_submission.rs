//! No body makes the site panic, and what it accepts can be read, compared and derived again. The first byte selects the encoding.
#![no_main]

use cardmark_site::fuzzing::submission;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((first, body)) = data.split_first() else {
        return;
    };
    let encoding = ["identity", "gzip", "zstd"][usize::from(*first) % 3];
    if let Some(incoming) = submission(encoding, body.to_vec()) {
        assert!(!incoming.packed.is_empty());
        let figures = &incoming.extract.figures;
        assert!(figures.iter().all(|figure| figure.value.is_finite()));
    }
});
