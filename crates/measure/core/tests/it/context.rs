//! Context derived from a record.

use cardmark_core::{
    Context, ContextRow, DeviceInfo, Origin, OriginKind, Record, context_rows, run_id_from_bytes,
};
use serde_json::{Value, json};

/// A record of these devices, written as records write them.
fn record(kind: OriginKind, devices: Value) -> Record {
    let id = run_id_from_bytes([7; 16]);
    Record {
        devices: serde_json::from_value::<Vec<DeviceInfo>>(devices).unwrap(),
        ..Record::new(id, Origin::of(kind))
    }
}

/// Reader, bus, command queue and cache of measured devices.
fn way(devices: Value) -> [String; 4] {
    let must = Context::of(&record(OriginKind::Measured, devices)).must;
    ["reader", "bus", "command_queue", "cache"].map(|name| must[name].clone())
}

fn slot() -> Value {
    json!({
        "name": "mmcblk0",
        "queue": { "command_queue": true, "write_cache": "write back" },
        "reader": { "kind": "slot", "driver": "sdhci-brcmstb", "bus": { "mode": "sdr104" } },
    })
}

fn usb(driver: &str) -> Value {
    json!({
        "name": "sda",
        "queue": { "write_cache": "write through" },
        "reader": {
            "kind": "usb",
            "driver": driver,
            "usb": { "vendor": "05e3", "product": "0749", "link_bits_per_s": 480_000_000 },
        },
    })
}

#[test]
fn a_slot_is_told_by_its_bus_and_command_queue() {
    assert_eq!(way(json!([slot()])), ["slot", "sdr104", "on", "write back"]);
    let mut changed = slot();
    changed["queue"]["command_queue"] = json!(false);
    changed["reader"]["bus"] = json!({ "mode": "high_speed", "overclock_hz": 83_333_333 });
    assert_eq!(
        way(json!([changed])),
        ["slot", "high_speed at 83 MHz", "off", "write back"]
    );
}

#[test]
fn what_hangs_on_usb_is_told_by_driver_and_link() {
    let [reader, bus, queue, cache] = way(json!([usb("uas")]));
    assert_eq!(
        [&reader, &bus, &queue, &cache],
        ["usb uas", "480 Mbit/s", "none", "write through"]
    );
    assert_eq!(way(json!([usb("usb-storage")]))[0], "usb usb-storage");
}

#[test]
fn disks_are_told_by_their_links() {
    let nvme = json!({ "name": "nvme0n1", "reader": { "kind": "nvme", "pcie":
        { "megatransfers_per_s": 8000, "lanes_count": 1 } } });
    assert_eq!(
        way(json!([nvme])),
        ["nvme", "8000 MT/s x1", "none", "unknown"]
    );
    let sata = json!({ "name": "sda", "reader": { "kind": "sata",
        "sata_bits_per_s": 6_000_000_000_u64 } });
    assert_eq!(
        way(json!([sata])),
        ["sata", "6000 Mbit/s", "none", "unknown"]
    );
}

#[test]
fn an_overclocked_slot_is_told_without_its_mode_too() {
    let mut changed = slot();
    changed["reader"]["bus"] = json!({ "overclock_hz": 100_000_000 });
    let [_, bus, ..] = way(json!([changed]));
    assert_eq!(bus, "overclocked to 100 MHz");
}

#[test]
fn what_is_not_known_is_said_to_be_so() {
    assert_eq!(way(json!([])), ["unknown"; 4]);
    assert_eq!(way(json!([{ "name": "vda" }])), ["unknown"; 4]);
    let mut silent = slot();
    silent["queue"] = json!({});
    silent["reader"]["bus"] = json!({});
    assert_eq!(
        way(json!([silent])),
        ["slot", "unknown", "unknown", "unknown"]
    );
}

#[test]
fn several_devices_say_each_answer_once() {
    assert_eq!(way(json!([slot(), slot()])), way(json!([slot()])));
    let both = way(json!([usb("uas"), slot()]));
    assert_eq!(
        both,
        [
            "slot + usb uas",
            "480 Mbit/s + sdr104",
            "none + on",
            "write back + write through"
        ]
    );
    let one_silent = way(json!([slot(), { "name": "vda" }]));
    assert_eq!(one_silent, ["unknown"; 4]);
}

#[test]
fn a_simulated_card_has_no_way_to_it_but_a_simulated_slot() {
    let of = |device| Context::of(&record(OriginKind::Simulated, json!([device]))).must;
    let (bare, in_slot) = (of(json!({ "name": "sim" })), of(slot()));
    for name in ["reader", "bus", "command_queue", "cache"] {
        assert_eq!(bare[name], "simulated", "{name}");
    }
    assert_eq!(
        (in_slot["reader"].as_str(), in_slot["bus"].as_str()),
        ("slot", "sdr104")
    );
}

#[test]
fn the_highest_temperature_counts() {
    let mut record = record(OriginKind::Measured, json!([slot()]));
    assert_eq!(Context::of(&record).shown["temperature"], "unknown");
    record.sensors = serde_json::from_value(json!([
        { "at_ns": 0, "temperature_millicelsius": 41_900 },
        { "at_ns": 1, "temperature_millicelsius": 63_499 },
        { "at_ns": 2 },
    ]))
    .unwrap();
    assert_eq!(Context::of(&record).shown["temperature"], "63");
}

#[test]
fn sides_that_differ_are_told_name_by_name() {
    let of = |devices: Value| record(OriginKind::Measured, devices);
    let (slots, usbs) = (
        [of(json!([slot()]))],
        [of(json!([usb("uas")])), of(json!([]))],
    );
    let sides = [slots.iter().collect(), usbs.iter().collect()];
    let rows = context_rows(&sides);
    let row = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
    let reader = ContextRow {
        name: "reader".to_owned(),
        must_match: true,
        sides: vec![
            vec!["slot".to_owned()],
            vec!["unknown".to_owned(), "usb uas".to_owned()],
        ],
    };
    assert_eq!(*row("reader"), reader);
    assert!(reader.differs() && reader.is_unknown());
    let origin = row("origin");
    assert!(!origin.differs() && !origin.is_unknown());
    let board = row("board");
    assert!(!board.must_match && !board.differs() && board.is_unknown());
}

#[test]
fn without_records_there_is_no_context() {
    assert_eq!(context_rows(&[Vec::new(), Vec::new()]), []);
}
