//! The thread that reads the sensors.

use std::fs::OpenOptions;
use std::io::Write;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cardmark_core::SensorSample;
use cardmark_engine::Sensors;
use cardmark_host::HostSensors;

use cardmark_testkit::trees::{PI5_NVME, Tree, pi4, pi4_ddr50, pi5_nvme};

const PATIENCE: Duration = Duration::from_secs(10);
const THROTTLED: &str = "/sys/devices/platform/soc/soc:firmware/get_throttled";

fn first_of(tree: &Tree) -> SensorSample {
    let mut sensors = HostSensors::start(&tree.root(), &[], Box::new(|| 7));
    next(&mut sensors, |_| true)
}

#[test]
fn a_pi_tells_temperature_frequency_and_flags() {
    let tree = pi4();
    let expected = SensorSample {
        at_ns: 7,
        temperature_millicelsius: Some(48_200),
        frequency_hz: Some(1_500_000_000),
        throttled: Some(true),
        ..SensorSample::default()
    };
    assert_eq!(first_of(&tree), expected);
}

#[test]
fn only_what_is_so_now_counts_as_throttled() {
    let mut tree = pi4();
    for (text, throttled) in [
        ("50000\n", Some(false)),
        ("0\n", Some(false)),
        ("0x8\n", Some(true)),
        ("what\n", None),
    ] {
        tree.file(THROTTLED, text);
        assert_eq!(first_of(&tree).throttled, throttled, "{text}");
    }
}

#[test]
fn the_flags_are_found_where_another_board_has_them() {
    let mut tree = pi4();
    tree.remove(THROTTLED).file(
        "/sys/devices/platform/axi/axi:firmware/get_throttled",
        "4\n",
    );
    assert_eq!(first_of(&tree).throttled, Some(true));
}

#[test]
fn the_voltage_alarm_can_say_yes_only() {
    let mut tree = pi4();
    tree.remove(THROTTLED)
        .file("/sys/class/hwmon/hwmon1/name", "rpi_volt\n")
        .file("/sys/class/hwmon/hwmon1/in0_lcrit_alarm", "0\n");
    assert_eq!(first_of(&tree).throttled, None);
    tree.file("/sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1\n");
    assert_eq!(first_of(&tree).throttled, Some(true));
}

#[test]
fn the_processors_zone_is_chosen_among_many() {
    let mut tree = Tree::new();
    tree.file("/sys/class/thermal/thermal_zone0/type", "acpitz\n")
        .file("/sys/class/thermal/thermal_zone0/temp", "27800\n")
        .file("/sys/class/thermal/thermal_zone10/type", "x86_pkg_temp\n")
        .file("/sys/class/thermal/thermal_zone10/temp", "61000\n")
        .file("/sys/class/thermal/cooling_device0/type", "cpu\n")
        .file("/sys/class/thermal/cooling_device0/temp", "1\n");
    assert_eq!(first_of(&tree).temperature_millicelsius, Some(61_000));
    tree.file("/sys/class/thermal/thermal_zone10/temp", "broken\n");
    assert_eq!(first_of(&tree).temperature_millicelsius, Some(27_800));
}

#[test]
fn a_board_without_sensors_yields_nothing() {
    // Nothing reads in a thread, and each request reads by itself.
    let mut sensors = HostSensors::start(&Tree::new().root(), &[], Box::new(|| 7));
    assert!(sensors.take().is_empty());
}

/// Sensors for this disk that have already returned their first readings.
fn sensors(tree: &Tree, disk: &str) -> HostSensors {
    let mut sensors = HostSensors::start(&tree.root(), &[disk.to_owned()], Box::new(|| 7));
    let first = next(&mut sensors, |_| true);
    assert!(first.bus_errors.is_empty() && first.messages.is_empty());
    sensors
}

/// The next reading of that kind.
fn next(sensors: &mut HostSensors, is_it: impl Fn(&SensorSample) -> bool) -> SensorSample {
    let started = Instant::now();
    let mut found = None;
    while found.is_none() && started.elapsed() < PATIENCE {
        sleep(Duration::from_millis(2));
        found = sensors.take().into_iter().find(|sample| is_it(sample));
    }
    found.unwrap()
}

/// Asserts that some more readings are not of that kind.
fn never(sensors: &mut HostSensors, is_it: impl Fn(&SensorSample) -> bool) {
    for _ in 0..5 {
        let sample = next(sensors, |_| true);
        assert!(!is_it(&sample), "{sample:?}");
    }
}

#[test]
fn errors_of_the_cards_host_are_told_once() {
    const ERRORS: &str = "/sys/kernel/debug/mmc0/err_stats";
    let has_errors = |sample: &SensorSample| !sample.bus_errors.is_empty();
    let counted = |crc: u64, timeouts: u64| {
        format!("# Data CRC Errors Occurred:\t {crc}\n# Data Timeout Occurred:\t {timeouts}\n")
    };
    let mut tree = pi4_ddr50();
    tree.file(ERRORS, &counted(5, 0));
    let mut sensors = sensors(&tree, "mmcblk0p2");
    never(&mut sensors, has_errors);
    tree.file(ERRORS, &counted(7, 1));
    let told = next(&mut sensors, has_errors).bus_errors;
    let told: Vec<(&str, u64)> = told.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    assert_eq!(told, [("data_crc", 2), ("data_timeout", 1)]);
    never(&mut sensors, has_errors);
    // Somebody wrote to the file, which sets it back.
    tree.file(ERRORS, &counted(1, 0));
    let told = next(&mut sensors, has_errors).bus_errors;
    assert_eq!(
        told.into_iter().collect::<Vec<_>>(),
        [("data_crc".to_owned(), 1)]
    );
}

#[test]
fn what_the_kernel_says_about_the_disk_is_told_once() {
    let has_messages = |sample: &SensorSample| !sample.messages.is_empty();
    let tree = pi4_ddr50();
    let log = tree.finish().join("dev/kmsg");
    let mut log = OpenOptions::new().append(true).open(log).unwrap();
    log.write_all(b"4,800,4000000,-;mmc0: cannot verify signal voltage switch: error -110\n")
        .unwrap();
    let mut sensors = sensors(&tree, "mmcblk0");
    log.write_all(
        b"4,900,5000000,-;usb 1-1: reset high-speed USB device number 2\n\
          4,901,5000001,-;mmc0: Timeout waiting for hardware interrupt.\n\
          6,902,5000002,-;mmcblk0: p1 p2\n",
    )
    .unwrap();
    let told = next(&mut sensors, has_messages).messages;
    assert_eq!(told, ["mmc0: Timeout waiting for hardware interrupt."]);
    never(&mut sensors, has_messages);
}

#[test]
fn time_that_others_took_is_told_where_there_are_others() {
    let stat = |steal: u64| format!("cpu  1 2 3 4 5 6 7 {steal} 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
    let mut tree = pi4_ddr50();
    tree.file("/proc/stat", &stat(100));
    let mut shared = sensors(&tree, "mmcblk0");
    tree.file("/proc/stat", &stat(150));
    let took = |sample: &SensorSample| sample.stolen_ns.is_some_and(|ns| ns > 0);
    assert_eq!(next(&mut shared, took).stolen_ns, Some(500_000_000));
    never(&mut shared, took);

    tree.file("/proc/stat", &stat(0));
    let mut alone = sensors(&tree, "mmcblk0");
    assert_eq!(next(&mut alone, |_| true).stolen_ns, None);
}

#[test]
fn a_disks_temperature_is_that_of_its_own_monitor() {
    let controller = PI5_NVME.rsplit_once('/').unwrap().0;
    let mut tree = pi5_nvme();
    tree.file(
        &format!("/sys/devices/{controller}/hwmon1/temp1_input"),
        "41850\n",
    )
    .file("/sys/class/hwmon/hwmon0/temp1_input", "99000\n");
    let mut sensors = sensors(&tree, "nvme0n1p2");
    let told = next(&mut sensors, |_| true).device_temperature_millicelsius;
    assert_eq!(told, Some(41_850));
}
