//! Advice for the problems of a run, depending on board and device.

use cardmark_core::{
    Board, DeviceInfo, Finding, FindingKind, Origin, OriginKind, Record, SensorSample, Severity,
    Target, TargetKind, run_id_from_bytes,
};
use cardmark_judge::advise;
use serde_json::{Value, json};

/// Returns a record of a device in this reader, with this finding.
fn record(reader: &Value, kind: FindingKind) -> Record {
    let device = json!({ "name": "sda", "reader": reader });
    let id = run_id_from_bytes([0; 16]);
    let mut record = Record::new(id, Origin::of(OriginKind::Measured));
    record.devices = vec![serde_json::from_value::<DeviceInfo>(device).unwrap()];
    record.board = Some(Board::default());
    record.findings = vec![Finding::new(kind, Severity::Warning, "found")];
    record
}

fn advice(mut record: Record) -> String {
    advise(&mut record);
    record.findings[0].advice.clone().unwrap_or_default()
}

fn slot(overclock_hz: Option<u64>) -> Value {
    json!({ "kind": "slot", "bus": { "overclock_hz": overclock_hz } })
}

fn usb(driver: &str) -> Value {
    let usb = json!({ "vendor": "152d", "product": "0578" });
    json!({ "kind": "usb", "driver": driver, "usb": usb })
}

#[test]
fn errors_on_the_bus_of_an_overclocked_slot_come_from_its_clock() {
    let told = advice(record(&slot(Some(83_333_333)), FindingKind::BusErrors));
    assert!(told.contains("from 83 to 50 MHz"), "{told}");
    let told = advice(record(&slot(None), FindingKind::BusErrors));
    assert!(told.contains("clean its contacts"), "{told}");
}

#[test]
fn messages_about_a_bridge_under_uas_name_the_way_without() {
    let told = advice(record(&usb("uas"), FindingKind::KernelMessages));
    assert!(told.contains("usb-storage.quirks=152d:0578:u"), "{told}");
    for reader in [usb("usb-storage"), slot(None)] {
        let told = advice(record(&reader, FindingKind::KernelMessages));
        assert!(told.starts_with("copy its data"), "{told}");
    }
}

#[test]
fn messages_about_the_way_to_the_device_do_not_ask_to_copy_its_data() {
    let with = |messages: &[&str]| {
        let mut record = record(&slot(None), FindingKind::KernelMessages);
        record.sensors = vec![SensorSample {
            messages: messages.iter().map(|&line| line.to_owned()).collect(),
            ..SensorSample::default()
        }];
        advice(record)
    };
    let reset = "usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd";
    let lost = "I/O error, dev sda, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2";
    assert!(with(&[reset]).starts_with("check contacts"));
    assert!(with(&[reset, lost]).starts_with("copy its data"));
}

#[test]
fn what_slows_a_board_down_is_heat_or_power() {
    let told = |temperature_millicelsius: i32, warnings: &[&str]| {
        let mut record = record(&slot(None), FindingKind::Throttled);
        record.board.as_mut().unwrap().power_warnings =
            warnings.iter().map(|name| (*name).to_owned()).collect();
        let sample = |temperature_millicelsius| SensorSample {
            temperature_millicelsius: Some(temperature_millicelsius),
            ..SensorSample::default()
        };
        record.sensors = vec![sample(temperature_millicelsius), sample(20_000)];
        advice(record)
    };
    let (power, heat) = ("power supply made for", "heat sink");
    let both = told(80_000, &["under_voltage"]);
    assert!(both.contains(power) && both.contains(heat), "{both}");
    let hot = told(80_000, &["throttled"]);
    assert!(!hot.contains(power) && hot.contains(heat), "{hot}");
    let weak = told(79_999, &["under_voltage"]);
    assert!(weak.contains(power) && !weak.contains(heat), "{weak}");
    let neither = told(79_999, &[]);
    assert!(neither.contains("power supply and cooling"), "{neither}");
}

#[test]
fn on_btrfs_the_filesystem_itself_may_write_twice() {
    let told = |filesystem: &str| {
        let mut record = record(&slot(None), FindingKind::SharedDevice);
        record.target = Some(Target {
            filesystem: Some(filesystem.to_owned()),
            ..Target::of(TargetKind::Directory)
        });
        advice(record)
    };
    assert!(told("btrfs").contains("two copies"));
    assert!(!told("ext4").contains("two copies"));
}

#[test]
fn advice_that_is_there_stays() {
    let mut record = record(&slot(None), FindingKind::BusErrors);
    let known = record.findings[0].clone().advise("known");
    record.findings = vec![known.clone()];
    advise(&mut record);
    assert_eq!(record.findings, [known]);
    let again = record.clone();
    advise(&mut record);
    assert_eq!(record, again);
}

#[test]
fn what_nothing_can_be_done_about_has_no_advice() {
    assert_eq!(advice(record(&slot(None), FindingKind::Unverified)), "");
}
