//! Retention: what an `endure` wrote is read again after a rest.

use super::*;

#[test]
fn what_a_card_forgets_in_a_rest_is_told() {
    let scratch = scratch();
    let program = program(&scratch);
    let message = [
        "endure",
        "sim:fading-1gb",
        "--cycles",
        "1",
        "--after",
        "120",
        "--json",
    ];
    let output = program.run(&message);
    assert_eq!(output.code, 1, "{output}");
    let found = record(&output).integrity.unwrap();
    assert_eq!(found.test, IntegrityTest::Retention);
    assert_eq!(found.rested_ms, Some(120 * 86_400 * 1_000));
    let faded = found.faded_count.unwrap();
    assert!(faded > 0 && faded == found.blocks.unwrap().changed_count);
    let shown = program.run(&["show", "last"]);
    assert!(shown.stdout.contains("lost during the rest"), "{shown}");
    assert_eq!(
        program.runs_count(),
        2,
        "the cycles have a record of their own"
    );
}

#[test]
fn a_device_is_read_again_after_its_rest_and_not_before() {
    needs!(Root, LoopDevice, WallClock);
    let mut rig = Rig::new();
    let clock = wall_clock(rig.scratch.path());
    clock.set("+0s");
    rig.program = rig.program.clock(&clock);
    let command = ["endure", "--cycles", "1", "--after", "30", "--json"];
    let written = rig.run(&command);
    assert_eq!(written.code, 0, "{written}");
    for message in ["leave it alone", " UTC or later"] {
        assert!(written.stderr.contains(message), "{written}");
    }
    clock.set("+29d");
    assert_error(&rig.run(&command), 3, &["is to rest until", "--restart"]);
    // What it forgets meanwhile.
    let image = File::options().write(true).open(rig.device.file()).unwrap();
    image.write_all_at(&[0x55; 4096], 5 * MIB).unwrap();
    image.sync_all().unwrap();
    clock.set("+31d");
    // Another card in the reader has forgotten nothing.
    let first = rig.scratch.path().join("first");
    std::fs::copy(rig.device.file(), &first).unwrap();
    rig.change_card();
    assert_error(&rig.run(&command), 3, &["is not the card", "--restart"]);
    std::fs::copy(&first, rig.device.file()).unwrap();
    let read = rig.run(&command);
    assert_eq!(read.code, 1, "{read}");
    let record = record(&read);
    assert_eq!(record.written_bytes, 0);
    let found = record.integrity.unwrap();
    assert_eq!(
        (found.test, found.faded_count),
        (IntegrityTest::Retention, Some(8))
    );
    let days = found.rested_ms.unwrap() as f64 / 86_400e3;
    assert!((30.9..31.1).contains(&days), "{days}");
    assert_eq!(rig.remembered(), <[&str; 0]>::default());
}
