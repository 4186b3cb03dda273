//! The thread that reads the sensors.

use std::thread::sleep;
use std::time::{Duration, Instant};

use cardmark_core::SensorSample;
use cardmark_engine::Sensors;
use cardmark_host::{HostSensors, Root};

use cardmark_testkit::trees::{Tree, pi4};

const THROTTLED: &str = "/sys/devices/platform/soc/soc:firmware/get_throttled";

/// The first reading, or none within a short while.
fn first(root: &Root, patience: Duration) -> Option<SensorSample> {
    let mut sensors = HostSensors::start(root, &[], Box::new(|| 7));
    let started = Instant::now();
    while started.elapsed() < patience {
        if let Some(sample) = sensors.take().first() {
            return Some(sample.clone());
        }
        sleep(Duration::from_millis(2));
    }
    None
}

fn first_of(tree: &Tree) -> SensorSample {
    first(&tree.root(), Duration::from_secs(10)).unwrap()
}

#[test]
fn a_pi_tells_temperature_frequency_and_flags() {
    let tree = pi4();
    let expected = SensorSample {
        at_ns: 7,
        temperature_mc: Some(48_200),
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
    assert_eq!(first_of(&tree).temperature_mc, Some(61_000));
    tree.file("/sys/class/thermal/thermal_zone10/temp", "broken\n");
    assert_eq!(first_of(&tree).temperature_mc, Some(27_800));
}

#[test]
fn a_board_without_sensors_yields_nothing() {
    assert_eq!(first(&Tree::new().root(), Duration::from_millis(50)), None);
}
