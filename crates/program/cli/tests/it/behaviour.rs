//! The suites `sustained` and `position` from the command line.

use cardmark_core::{FindingKind, Order};
use cardmark_testkit::{LoopDevice, needs};

use crate::common::{MIB, assert_error, finding, program, scratch, text};

#[test]
fn a_cliff_is_shown_with_its_rates_and_drawn() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["run", "sim:v30-64gb", "--suite", "sustained"]);
    assert_eq!(output.code, 0, "{output}");
    for line in [
        "write before the cliff",
        "steady part of writing",
        "written until the cliff: 16",
    ] {
        assert!(output.stdout.contains(line), "no `{line}`: {output}");
    }
    let page = program.file("page.html");
    let output = program.run(&["report", "last", "--format=html", "-o", text(&page)]);
    assert_eq!(output.code, 0, "{output}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Sustained sequential write 1 MiB over time (higher is better)"));
}

#[test]
fn without_a_cliff_it_says_so_and_names_no_cache() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["run", "sim:worn-32gb", "--suite", "sustained"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("no cliff within"), "{output}");
    assert!(
        !output.stdout.contains("written until the cliff"),
        "{output}"
    );
    assert!(finding(&program.last(), FindingKind::NoCliff).is_some());
}

#[test]
fn a_device_is_read_at_64_places_without_asking() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let program = program(&scratch);
    let path = scratch.path().join("image");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(1100 * MIB).unwrap();
    let device = LoopDevice::attach(&path, true);
    let output = program.run(&[
        "run",
        text(device.path()),
        "--suite",
        "position",
        "--json=-",
    ]);
    assert_eq!(output.code, 0, "{output}");
    let record = output.record();
    assert_eq!((record.trials.len(), record.written_bytes), (64, 0));
    assert!(
        record
            .trials
            .iter()
            .all(|t| t.workload.order == Order::Spread && t.bytes() == 16 * MIB)
    );
    let counted: u64 = record
        .trials
        .iter()
        .filter_map(|trial| trial.device_counters)
        .map(|counters| counters.read_bytes)
        .sum();
    assert!(counted >= 1024 * MIB, "{counted}");
    let page = program.file("page.html");
    let output = program.run(&["report", "last", "--format=html", "-o", text(&page)]);
    assert_eq!(output.code, 0, "{output}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Sequential read over the place"));
}

#[test]
fn a_device_that_would_be_written_is_not_without_consent() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let program = program(&scratch);
    let path = scratch.path().join("image");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(4200 * MIB).unwrap();
    drop(file);
    let device = LoopDevice::attach(&path, true);
    let output = program.run(&["run", text(device.path()), "--suite", "sustained"]);
    assert_error(
        &output,
        4,
        &["there is no terminal to confirm", "nothing was written"],
    );
}
