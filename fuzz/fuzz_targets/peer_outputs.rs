//! No text makes a reader of the old tools' outputs panic, and what one accepts can be used.
#![no_main]

use cardmark_peers::{Rate, read_dd, read_ddrescue, read_fio, read_hdparm, read_iozone};
use libfuzzer_sys::fuzz_target;

fn usable(rate: &Rate) {
    assert!(rate.bytes_per_s.is_finite() && rate.bytes_per_s >= 0.0);
    assert!(!rate.printed.is_empty());
}

fuzz_target!(|text: &str| {
    for reading in read_hdparm(text).into_iter().flatten() {
        usable(&reading.rate);
        assert!(reading.span_ns > 0);
    }
    for reading in read_dd(text).into_iter().flatten() {
        usable(&reading.rate);
        assert!(reading.span_ns > 0);
    }
    for reading in read_fio(text).into_iter().flatten() {
        usable(&reading.rate);
        assert!(reading.bytes > 0 && reading.operations_per_s.is_finite());
    }
    for reading in read_ddrescue(text).into_iter().flatten() {
        usable(&reading.average_rate);
    }
    let Ok(output) = read_iozone(text) else {
        return;
    };
    assert!(!output.rows.is_empty() || !output.threads.is_empty());
    for row in output.rows {
        assert!(!row.rates.is_empty());
        row.rates.iter().for_each(|figure| usable(&figure.rate));
    }
    for block in output.threads {
        usable(&block.children);
        let rates = [block.parent, block.min, block.max, block.avg];
        rates.iter().flatten().for_each(usable);
    }
});
