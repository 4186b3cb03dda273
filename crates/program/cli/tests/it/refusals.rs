//! Refusals of raw devices as the program prints them, and consent given to it: by flags, and on a terminal. All situations are in
//! `crates/program/session/tests/it/refusals.rs`.

mod bench;
mod system_disk;

use std::fs::File;
use std::os::unix::fs::PermissionsExt;

use cardmark_testkit::{Need, Output, Program, are_met, make_ext4, needs};

use crate::common::{BINARY, MIB, NOBODY, assert_error, assert_nothing_kept, text};
use bench::Bench;

/// Size of the devices; large enough for the suite.
const SIZE_BYTES: u64 = 320 * MIB;
/// Text before the words of consent.
const TO_TYPE: &str = "type exactly: ";
/// Part that the suite overwrites.
const SPAN_BYTES: u64 = 256 * MIB;
/// End of the question.
const ASKED: &str = "Anything else ends here";

/// Name of the test, exit code, what is said, what it needs beside loop devices, how it comes to be.
macro_rules! refusals {
    ($($name:ident: $code:literal, $said:expr, [$($need:ident),*], $attempt:expr;)+) => {
        $(
            #[test]
            fn $name() {
                if are_met(&[Need::Root, Need::LoopDevice, $(Need::$need),*]) {
                    assert_refused($code, &$said, $attempt);
                }
            }
        )+
    };
}

refusals! {
    mounted: 4, ["is mounted at ", "hint: unmount it: umount "], [Ext4], |bench| {
        let device = bench.device("card");
        make_ext4(device.path());
        let _mount = bench.mount(device.path());
        bench.attempt(&device)
    };
    open_outside_of_the_pid_namespace: 4, ["processes outside of this container"],
    [Unshare], |bench| {
        let device = bench.device("card");
        let _open = File::options().write(true).open(device.file()).unwrap();
        bench.attempt_in("unshare --pid --fork --kill-child --mount-proc", &device)
    };
    open_in_a_process_that_a_mount_hides: 4, ["a mount hides part of /proc/"], [Unshare], |bench| {
        let device = bench.device("card");
        let _open = File::options().write(true).open(device.file()).unwrap();
        let hide = format!("mount --bind {} /proc/{} && exec \"$@\"",
            bench.folder().display(), std::process::id());
        let wrapper = format!("unshare --mount --propagation private sh -c '{hide}' sh");
        bench.attempt_in(&wrapper, &device)
    };
    nobody_to_ask: 4,
    ["there is no terminal to confirm", "--yes --device-serial SERIAL", "its serial number is in /sys/"],
    [], |bench| {
        let device = bench.device("card");
        let output = bench.with_flags(&device, &[]);
        assert!(!output.stderr.contains(text(device.file())), "no serial to copy: {output}");
        output
    };
    yes_without_serial: 2, ["--device-serial <SERIAL>"], [], |bench| {
        bench.with_flags(&bench.device("card"), &["--yes"])
    };
    serial_without_yes: 2, ["--yes"], [], |bench| {
        let device = bench.device("card");
        let serial = format!("--device-serial={}", text(device.file()));
        bench.with_flags(&device, &[&serial])
    };
    end_of_input: 4, ["was not confirmed"], [Script], |bench| {
        let device = bench.device("card");
        device.unwritten(|device| {
            let mut running = bench.asked(device.path());
            running.write("\u{4}");
            running.wait()
        })
    };
}

#[test]
fn an_idle_device_is_written_when_flags_name_it() {
    needs!(Root, LoopDevice);
    let bench = Bench::new();
    let device = bench.device("card");
    let serial = format!("--device-serial={}", text(device.file()));
    let words = [
        "run",
        text(device.path()),
        "--only=rand_write_4k",
        "--yes",
        &serial,
    ];
    let output = bench.program.run(&words);
    assert_eq!(output.code, 0, "{output}");
    assert!(!output.stderr.contains(ASKED), "{output}");
    assert!(bench.program.last().written_bytes > SPAN_BYTES);
    // The serial number stays here.
    let json = bench.program.run(&["show", "last", "--json"]).stdout;
    assert!(!json.contains(text(bench.scratch.path())));
}

#[test]
fn an_idle_device_is_written_when_model_and_size_are_typed() {
    needs!(Root, LoopDevice, Script);
    let bench = Bench::new();
    let device = bench.device("card");
    let mut running = bench.asked(device.path());
    let question = running.heard().replace("\r\n", "\n");
    assert!(question.contains("will be LOST"), "{question}");
    let (_, typed) = question.split_once(TO_TYPE).unwrap();
    running.write(typed.lines().next().unwrap());
    running.write("\n");
    let output = running.wait();
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(bench.program.last().written_bytes, SPAN_BYTES);
}

#[test]
fn a_user_without_the_right_to_write_is_told_so() {
    needs!(Root, LoopDevice);
    // In a place that everybody may enter.
    let scratch = tempfile::tempdir_in("/var/tmp").unwrap();
    let everybody = PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(scratch.path(), everybody).unwrap();
    let program = Program::new(&BINARY, scratch.path()).as_user(NOBODY);
    let bench = Bench { scratch, program };
    let output = bench.attempt(&bench.device("card"));
    assert_error(
        &output,
        3,
        &["no permission to read `/dev/loop", "use sudo"],
    );
    assert_nothing_kept(&bench.program, &output);
}

fn assert_refused(code: i32, said: &[&str], attempt: impl FnOnce(&Bench) -> Output) {
    let bench = Bench::new();
    let output = attempt(&bench);
    assert_eq!(output.code, code, "{output}");
    let plain = output.stderr.replace("\r\n", "\n");
    for part in said {
        assert!(plain.contains(part), "no `{part}` in {output}");
    }
    assert!(plain.contains("error: "), "{output}");
    assert!(
        code != 4 || plain.contains("nothing was written"),
        "{output}"
    );
    assert_nothing_kept(&bench.program, &output);
}
