//! `verify` under load: random order, several requests in flight, discards.

use cardmark_core::WritePattern;

use super::*;

/// Fields of a device's `stat` in sysfs: sectors discarded.
const DISCARDED: usize = 13;
const LOADED: [&str; 6] = [
    "verify",
    "--pattern",
    "random",
    "--queue",
    "32",
    "--discard",
];

#[test]
fn each_card_that_breaks_under_load_passes_without_it() {
    let scratch = scratch();
    let program = program(&scratch);
    for (model, options) in [
        ("crossing-32gb", &["--queue", "32"][..]),
        ("forgetting-32gb", &["--pattern", "random"]),
        ("spilling-32gb", &["--discard"]),
    ] {
        let target = format!("sim:{model}");
        let plain = program.run(&["verify", &target, "--to", "10", "--json"]);
        assert_eq!(plain.code, 0, "{plain}");
        let found = record(&plain).integrity.unwrap();
        let load = (found.pattern, found.queue_depth, found.discarded_bytes);
        assert_eq!(load, (None, None, None));
        let words = [&["verify", &target, "--to", "10"][..], options].concat();
        let loaded = program.run(&words);
        assert_eq!(loaded.code, 1, "{loaded}");
        assert!(
            loaded.stdout.contains("DATA LOST in the part tested"),
            "{loaded}"
        );
        assert!(
            loaded.stdout.contains("requests in flight, at most"),
            "{loaded}"
        );
    }
    let both = ["verify", "sim:a1-32gb", "--read-only", "--queue", "2"];
    assert_eq!(program.run(&both).code, 2);
    let too_many = ["verify", "sim:a1-32gb", "--queue", "33"];
    assert_eq!(program.run(&too_many).code, 2);
}

#[test]
fn an_honest_device_passes_under_load_and_its_discards_reach_it() {
    needs!(Root, LoopDevice);
    let rig = Rig::new();
    let before = rig.moved_bytes(DISCARDED);
    let output = rig.run(&[&LOADED[..], &["--json"]].concat());
    assert_eq!(output.code, 0, "{output}");
    let record = record(&output);
    let found = record.integrity.unwrap();
    assert_eq!(found.kind, StorageKind::Confirmed);
    assert_eq!(found.pattern, Some(WritePattern::Random));
    assert_eq!(found.queue_depth, Some(32));
    let discarded = found.discarded_bytes.unwrap();
    assert_eq!(rig.moved_bytes(DISCARDED) - before, discarded);
    assert!(
        (SIZE * 2 / 5..SIZE * 3 / 5).contains(&discarded),
        "{discarded}"
    );
    assert_eq!(record.written_bytes, SIZE + discarded);
    assert_eq!(rig.remembered(), <[&str; 0]>::default());
}

#[test]
fn a_device_without_discard_is_told_before_anything_is_written() {
    needs!(Root, LoopDevice, Unshare);
    let rig = Rig::new();
    let name = rig.device.path().file_name().unwrap();
    let limit = Path::new("/sys/block")
        .join(name)
        .join("queue/discard_max_bytes");
    let zero = rig.scratch.path().join("zero");
    std::fs::write(&zero, "0\n").unwrap();
    // The kernel would keep a zero for the next file behind this device, and a test that is killed
    // would leave a mount that others see.
    let mount = "mount --bind \"$0\" \"$1\" && shift && exec \"$@\"";
    let (zero, limit) = (text(&zero), text(&limit));
    let wrapper = ["unshare", "--mount", "sh", "-c", mount, zero, limit];
    let output = rig.start_under(&wrapper, &["verify", "--discard"]).wait();
    assert_error(
        &output,
        3,
        &["does not support discard", "nothing was written"],
    );
    assert!(rig.is_untouched());
    let folder = folder(&rig.scratch);
    let output = rig.program.run(&["verify", text(&folder), "--discard"]);
    assert_error(&output, 2, &["is a directory", "a whole device"]);
    assert_empty(&folder);
}

#[test]
fn an_interrupted_test_goes_on_only_under_the_same_load() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new();
    let loaded = ["verify", "--pattern", "random", "--queue", "4"];
    rig.stop_when_moved(&loaded, WRITTEN);
    let other = rig.run(&["verify"]);
    assert_eq!(other.code, 0, "{other}");
    let message = "begins again: the interrupted test is with another `--pattern`";
    assert!(other.stderr.contains(message), "{other}");
    rig.stop_in_reading(&loaded);
    let output = rig.run(&[&loaded[..], &["--json"]].concat());
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stderr.contains("continues the test"), "{output}");
    let found = record(&output).integrity.unwrap();
    assert_eq!(found.kind, StorageKind::Confirmed);
    assert_eq!(found.queue_depth, Some(4));
    rig.stop_in_reading(&loaded);
    // Another card of that size, in the same reader.
    rig.change_card();
    let restarted = rig.run(&loaded);
    assert_eq!(restarted.code, 0, "{restarted}");
    assert!(
        restarted.stderr.contains("holds something else now"),
        "{restarted}"
    );
}

#[test]
fn a_part_that_a_cache_may_hold_is_told() {
    let scratch = scratch();
    let program = program(&scratch);
    let warning = "A cache of up to 1.07 GB (1 GiB) could hide losses in so small a part.";
    for (to, is_small) in [("3", true), ("4", false)] {
        let output = program.run(&["verify", "sim:a1-32gb", "--to", to]);
        assert_eq!(output.code, 0, "{output}");
        let message = output.stdout.replace("\n  ", " ");
        assert_eq!(message.contains(warning), is_small, "{output}");
    }
    // The truth: losses of a fake behind a cache, beyond its real capacity.
    let fake = program.run(&[
        "verify",
        "sim:huge-cache-64gb",
        "--from",
        "50",
        "--to",
        "51",
    ]);
    assert_eq!(fake.code, 0, "{fake}");
    assert!(fake.stdout.replace("\n  ", " ").contains(warning), "{fake}");
}
