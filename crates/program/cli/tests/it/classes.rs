//! Classes: requests, announcements, records, and exits.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use cardmark_core::{Fill, FindingKind, Record, Start, VerdictOutcome};
use cardmark_testkit::{LoopDevice, killing_at_sync, needs};

use crate::common::{MIB, assert_error, assert_nothing_kept, finding, program, scratch, text};

fn outcome(record: &Record, class: &str) -> Option<VerdictOutcome> {
    let verdicts = &record.derived.as_ref()?.verdicts;
    let found = verdicts.iter().find(|verdict| verdict.rule == class)?;
    Some(found.outcome)
}

#[test]
fn what_is_required_decides_how_it_ends() {
    let scratch = scratch();
    let program = program(&scratch);
    let class = |model: &str, suite: &str, require: &str| {
        let require = format!("--require={require}");
        program.run(&["run", model, "--suite", suite, &require])
    };
    let met = class("sim:a1-32gb", "app-class", "A1");
    assert_eq!(met.code, 0, "{met}");
    assert!(met.stdout.contains("A1: likely pass (short test)"), "{met}");
    let tier = "not the whole procedure of the SD Association (tier raw-short):";
    assert!(met.stdout.contains(tier), "{met}");
    assert!(met.stdout.contains("required by `--require`"), "{met}");
    assert!(!met.stdout.contains("claimed by the label"), "{met}");
    let failed = class("sim:a1-32gb", "app-class", "A2");
    assert_error(&failed, 1, &["cause: A2 is not met"]);
    assert!(failed.stdout.contains("A2: fail"), "{failed}");
    let border = class("sim:border-a1-32gb", "app-class", "A1");
    assert_eq!(border.code, 0, "{border}");
    assert!(border.stdout.contains("A1: borderline"), "{border}");
    let broken = class("sim:vanishing-32gb", "app-class", "A1");
    assert_error(&broken, 3, &["cause: A1 could not be tested here"]);
    let hot = class("sim:hot-32gb", "app-class", "A2");
    assert_error(&hot, 3, &["cause: A2 could not be tested here"]);
    let why = "no fail, as it may be too low under throttled";
    assert!(hot.stdout.replace("\n    ", " ").contains(why), "{hot}");
    let slot = class("sim:a1-32gb@pi3", "app-class", "A1");
    assert_error(&slot, 3, &["cause: A1 could not be tested here"]);
    let why = "A1 is not defined for the bus mode high speed at 50 MHz";
    assert!(slot.stdout.contains(why), "{slot}");
    let video = class("sim:border-v30-64gb", "speed-class", "V30");
    assert!(video.stdout.contains("V30: borderline"), "{video}");
    let shown = video.stdout.replace("\n    ", " ");
    assert!(shown.contains("if MB means MiB"), "{video}");
}

#[test]
fn wrong_wishes_are_refused_before_anything_is_written() {
    for (said, cause) in [
        (&["--require=A1"][..], "suite `quick` does not judge A1"),
        (
            &["--suite=app-class", "--require=V30"],
            "does not judge V30",
        ),
        (
            &["--suite=app-class", "--tier=best"],
            "no tier `best`; it has raw-short, raw-full, file",
        ),
        (
            &["--tier=file"],
            "suite `quick` has no tier `file`; it has none",
        ),
        (
            &["--suite=speed-class", "--read-only"],
            "writes before it reads",
        ),
    ] {
        let scratch = scratch();
        let program = program(&scratch);
        let output = program.run(&[&["run", "sim:a1-32gb"][..], said].concat());
        assert_error(&output, 2, &[cause]);
        assert_nothing_kept(&program, &output);
    }
}

#[test]
fn reports_show_verdicts_and_deviations() {
    let scratch = scratch();
    let program = program(&scratch);
    let run = program.run(&["run", "sim:a2-64gb", "--suite=speed-class", "--claim=V30"]);
    assert_eq!(run.code, 0, "{run}");
    let report = program.run(&["report", "last", "--format=md"]);
    assert_eq!(report.code, 0, "{report}");
    for part in [
        "Verdicts",
        "V30: likely pass (short test)",
        "CMD20",
        "tier raw-short",
    ] {
        assert!(report.stdout.contains(part), "no `{part}` in {report}");
    }
    let record = program.last();
    assert_eq!(record.suite.unwrap().tier.as_deref(), Some("raw-short"));
}

/// Killed at any sync, what its journal holds is never a pass unless all was measured; and the next
/// run begins with erasing.
#[test]
fn a_killed_procedure_is_no_pass() {
    needs!(Strace);
    let asked = ["run", "sim:a2-64gb", "--suite=app-class", "--tier=raw-full"];
    for number in [2, 4, 6, 8] {
        let scratch = scratch();
        let program = program(&scratch);
        let wrapper = killing_at_sync(number);
        let ended = program.start_under(&wrapper, &asked).wait();
        assert_eq!(ended.code, 137, "{ended}");
        let recovered = program.run(&["recover"]);
        assert_eq!(recovered.code, 0, "{recovered}");
        if program.runs_count() == 0 {
            continue;
        }
        let record = program.last();
        assert!(finding(&record, FindingKind::Interrupted).is_some());
        let is_whole = record.metric("app_seq_write").is_some();
        for class in ["A1", "A2"] {
            let found = outcome(&record, class);
            assert!(
                is_whole || found == Some(VerdictOutcome::NotTestable),
                "{found:?}"
            );
        }
    }
    let scratch = scratch();
    let again = program(&scratch);
    assert_eq!(
        again.run(&["run", "sim:a2-64gb", "--suite=app-class"]).code,
        0
    );
    let record = again.last();
    assert_eq!(record.trials[0].workload.manner.start, Start::Erased);
    assert_eq!(outcome(&record, "A1"), Some(VerdictOutcome::LikelyPass));
}

/// On a device: what it costs is told, all of it is erased, every window is timed, and it is in the
/// record.
#[test]
fn a_device_is_erased_and_its_wear_told() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let image = scratch.path().join("image");
    let size_bytes = 1088 * MIB;
    let file = File::create(&image).unwrap();
    file.set_len(size_bytes).unwrap();
    let old = [0x55; 4096];
    for at in [0, size_bytes - 4096] {
        file.write_all_at(&old, at).unwrap();
    }
    file.sync_all().unwrap();
    drop(file);
    let device = LoopDevice::attach(&image, true);
    let program = program(&scratch);
    let said = [
        "run",
        text(device.path()),
        "--suite=speed-class",
        "--claim=C10",
    ];
    let refused = program.run(&said);
    assert_error(&refused, 4, &["there is no terminal to confirm"]);
    let wear =
        "speed-class (raw-short): about 1.07 GB will be written, 94 % of its capacity, in about";
    assert!(refused.stderr.contains(wear), "{refused}");
    let begun = Instant::now();
    let consent = ["--yes", "--device-serial", text(device.file())];
    let output = program.run(&[&said[..], &consent].concat());
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stderr.contains(wear), "{output}");
    let record = program.last();
    assert_eq!(record.written_bytes, 1 << 30);
    let written = &record.trials[0];
    let windows: Vec<(u64, u64)> = written
        .windows
        .iter()
        .map(|windows| (windows.window_bytes, windows.windows_count))
        .collect();
    assert_eq!(windows, [(4 << 20, 256), (8 << 20, 128)]);
    let slowest: Vec<u64> = written.windows[0]
        .slowest
        .iter()
        .map(|w| w.span_ns)
        .collect();
    assert!(slowest.is_sorted_by(|a, b| a >= b));
    assert!(u128::from(slowest[0]) < begun.elapsed().as_nanos());
    assert!(u128::from(slowest[0]) * 256 >= u128::from(written.span_ns));
    // Later runs know of it: what the card was filled with before holds no longer.
    let later = program.run(&[
        "run",
        text(device.path()),
        "--read-only",
        "--only=rand_read_4k",
    ]);
    assert_eq!(later.code, 0, "{later}");
    let prepared = program.last().devices[0].prepared.clone().unwrap();
    assert_eq!(prepared.fill, Fill::Discard);
    assert!(prepared.finished_at.is_some());
    // What was not written holds nothing any more.
    let start_bytes = written.workload.manner.start_bytes;
    assert_eq!(start_bytes % (8 << 20), 0);
    let outside = if start_bytes > 0 {
        0
    } else {
        size_bytes - 4096
    };
    let mut found = [1; 4096];
    File::open(&image)
        .unwrap()
        .read_exact_at(&mut found, outside)
        .unwrap();
    assert_eq!(found, [0; 4096]);
    let deviations = &record.derived.as_ref().unwrap().deviations;
    assert!(deviations.iter().any(|text| text.contains("CMD20")));
    assert!(deviations.iter().any(|text| text.contains("bus mode")));
    assert!(outcome(&record, "C10").is_some());
}
