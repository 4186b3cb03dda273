//! When readings come, with periods that a test can wait for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Instant;

use super::*;

/// Long enough on any machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// A board that reports its frequency.
fn board() -> (tempfile::TempDir, Root) {
    let directory = tempfile::tempdir().unwrap();
    let processor = directory.path().join("sys/devices/system/cpu/cpu0/cpufreq");
    std::fs::create_dir_all(&processor).unwrap();
    std::fs::write(processor.join("scaling_cur_freq"), "1500000\n").unwrap();
    let root = Root::at(directory.path());
    (directory, root)
}

/// Sensors with a clock that counts the readings.
fn start(root: &Root, period: Duration) -> HostSensors {
    let count = AtomicU64::new(0);
    let now = Box::new(move || count.fetch_add(1, Ordering::Relaxed));
    HostSensors::start_with_period(root, &[], now, period)
}

/// Collects readings until their number reaches `count`.
fn take(sensors: &mut HostSensors, count: usize) -> Vec<SensorSample> {
    let started = Instant::now();
    let mut samples = Vec::new();
    while samples.len() < count && started.elapsed() < PATIENCE {
        sleep(Duration::from_millis(1));
        samples.extend(sensors.take());
    }
    samples
}

#[test]
fn readings_go_on_in_the_order_of_time() {
    let (_directory, root) = board();
    let mut sensors = start(&root, Duration::from_millis(1));
    let samples = take(&mut sensors, 5);
    assert!(samples.len() >= 5, "{samples:?}");
    let times: Vec<u64> = samples.iter().map(|sample| sample.at_ns).collect();
    let expected: Vec<u64> = (0..).take(times.len()).collect();
    assert_eq!(times, expected);
}

#[test]
fn between_the_periods_each_taking_reads_once() {
    let (_directory, root) = board();
    let mut sensors = start(&root, Duration::from_secs(3600));
    // The thread reads once, now or soon.
    let first = take(&mut sensors, 2);
    assert!(first.len() >= 2, "{first:?}");
    let before = first.last().unwrap().at_ns;
    for more in 1..=3 {
        let taken = sensors.take();
        let times: Vec<u64> = taken.iter().map(|sample| sample.at_ns).collect();
        assert_eq!(times, [before + more]);
    }
    let ending = Instant::now();
    drop(sensors);
    assert!(ending.elapsed() < PATIENCE, "{:?}", ending.elapsed());
}

#[test]
fn a_reading_that_hangs_holds_nobody_up() {
    let (_directory, root) = board();
    let mut sensors = start(&root, Duration::from_secs(3600));
    take(&mut sensors, 2);
    let shared = Arc::clone(sensors.shared.as_ref().unwrap());
    let hangs = shared.sources.lock().unwrap();
    assert_eq!(sensors.take(), []);
    drop(sensors);
    drop(hangs);
}
