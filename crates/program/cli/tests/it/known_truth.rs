//! A device whose rate is known, because the kernel caps it. Here with wide margins, as a run of
//! `quick` is short next to the kernel's slices of 100 ms; `benchmarks/known-truth` is strict.

use cardmark_core::FindingKind;
use cardmark_testkit::{LoopDevice, RateCap, needs};

use crate::common::{MIB, finding, program, scratch, text};

const CAP_BYTES_PER_S: u64 = 4_000_000;
/// How far from the cap the figure may be.
const MARGIN: f64 = 0.1;
/// Number of runs; one of them must reach the cap.
const ATTEMPTS_COUNT: usize = 8;

#[test]
fn a_capped_device_reads_at_its_cap() {
    needs!(Root, LoopDevice, Blkio);
    let scratch = scratch();
    let program = program(&scratch);
    let image = scratch.path().join("image");
    std::fs::File::create(&image)
        .unwrap()
        .set_len(320 * MIB)
        .unwrap();
    let device = LoopDevice::attach(&image, true);
    let _cap = RateCap::on(&device, CAP_BYTES_PER_S);
    // A busy machine can only make it slower, and not every time.
    let reaches_cap = (0..ATTEMPTS_COUNT).any(|_| {
        let only = "--only=rand_read_4k";
        let output = program.run(&["run", text(device.path()), "--read-only", only, "--json=-"]);
        assert_eq!(output.code, 0, "{output}");
        let record = output.record();
        let metric = record.metric("rand_read_4k").unwrap();
        let ratio = metric.rate_bytes_per_s.unwrap() / CAP_BYTES_PER_S as f64;
        assert!(
            ratio < 1.0 + MARGIN,
            "faster than the kernel allows: {ratio}"
        );
        assert!(finding(&record, FindingKind::NotReached).is_none());
        assert!(finding(&record, FindingKind::SharedDevice).is_none());
        ratio > 1.0 - MARGIN
    });
    assert!(reaches_cap, "slower than the cap in {ATTEMPTS_COUNT} runs");
}
