//! Findings about card, reader, board and system: each one appears in its own situation only.

use cardmark_core::CLAIMS_LABEL;
use cardmark_core::{
    Board, Bus, BusMode, Card, CardFacts, CardKind, DeviceInfo, Finding, FindingKind, Health, Host,
    Layer, LayerKind, Origin, OriginKind, PcieLink, Queue, Reader, ReaderKind, Record, Severity,
    Target, TargetKind, UsbBridge, run_id_from_bytes,
};
use cardmark_judge::notice;

const PI3: &str = "Raspberry Pi 3 Model B Rev 1.2";
const PI4: &str = "Raspberry Pi 4 Model B Rev 1.4";
const PI5: &str = "Raspberry Pi 5 Model B Rev 1.0";

fn reader(kind: ReaderKind) -> Reader {
    Reader {
        kind,
        driver: None,
        bus: None,
        usb: None,
        pcie: None,
        sata_bits_per_s: None,
    }
}

/// Returns an A2 card in a native slot, in this bus mode.
fn slot(mode: BusMode) -> DeviceInfo {
    let facts = CardFacts {
        classes: ["C10", "U3", "V30", "A2"].map(str::to_owned).to_vec(),
        has_cache: Some(true),
        command_queue_count: Some(32),
        ..CardFacts::default()
    };
    DeviceInfo {
        name: "mmcblk0".to_owned(),
        card: Some(Card {
            kind: CardKind::Sd,
            registers: Default::default(),
            decoded: facts,
        }),
        queue: Some(Queue {
            write_cache: Some("write back".to_owned()),
            command_queue: Some(true),
            ..Queue::default()
        }),
        reader: Some(Reader {
            bus: Some(Bus {
                mode: Some(mode),
                ..Bus::default()
            }),
            ..reader(ReaderKind::Slot)
        }),
        ..DeviceInfo::default()
    }
}

fn record(board: &str, device: DeviceInfo) -> Record {
    let mut record = Record::new(run_id_from_bytes([0; 16]), Origin::of(OriginKind::Measured));
    record.target = Some(Target::of(TargetKind::Device));
    record.board = Some(Board {
        model: Some(board.to_owned()),
        ..Board::default()
    });
    record.host = Some(Host::default());
    record.devices = vec![device];
    record
}

fn noticed(mut record: Record) -> Vec<Finding> {
    notice(&mut record);
    let again = {
        let mut record = record.clone();
        notice(&mut record);
        record
    };
    assert_eq!(again, record, "a second call changes nothing");
    record.findings
}

fn kinds(record: Record) -> Vec<(FindingKind, Severity)> {
    let findings = noticed(record);
    assert!(findings.iter().all(|f| f.advice.is_some()), "{findings:?}");
    findings.iter().map(|f| (f.kind, f.severity)).collect()
}

/// Returns the advice of the finding of this kind.
fn advice(record: Record, kind: FindingKind) -> String {
    let found = noticed(record);
    let finding = found.iter().find(|finding| finding.kind == kind).unwrap();
    finding.advice.clone().unwrap()
}

#[test]
fn a_card_at_its_best_is_not_remarked_on() {
    assert_eq!(kinds(record(PI5, slot(BusMode::Sdr104))), []);
    assert_eq!(kinds(record(PI4, slot(BusMode::Ddr50))), []);
}

#[test]
fn a_slow_bus_is_a_limit_of_the_board_or_trouble() {
    use FindingKind::SlowBus;
    use Severity::{Note, Warning};
    for (board, mode, severity) in [
        (PI3, BusMode::HighSpeed, Note),
        (PI4, BusMode::HighSpeed, Warning),
        (PI5, BusMode::Sdr25, Warning),
        ("An unknown board", BusMode::HighSpeed, Note),
    ] {
        assert_eq!(
            kinds(record(board, slot(mode))),
            [(SlowBus, severity)],
            "{board}"
        );
    }
    let mut plain = slot(BusMode::HighSpeed);
    plain.card.as_mut().unwrap().decoded.classes = vec!["C10".to_owned()];
    assert_eq!(kinds(record(PI4, plain)), [], "not a UHS card");
}

#[test]
fn an_overclocked_slot_is_told() {
    let clocked = |hertz| {
        let mut device = slot(BusMode::HighSpeed);
        device
            .reader
            .as_mut()
            .unwrap()
            .bus
            .as_mut()
            .unwrap()
            .overclock_hz = hertz;
        kinds(record(PI3, device)).contains(&(FindingKind::Overclocked, Severity::Note))
    };
    assert!(clocked(Some(83_333_333)));
    assert!(!clocked(None));
    let mut fast = slot(BusMode::Sdr104);
    fast.reader
        .as_mut()
        .unwrap()
        .bus
        .as_mut()
        .unwrap()
        .actual_clock_hz = Some(200_000_000);
    assert_eq!(kinds(record(PI5, fast)), []);
}

#[test]
fn an_a2_card_without_its_queue_gets_advice_for_its_board() {
    let without = |board| {
        let mut device = slot(BusMode::Ddr50);
        device.queue.as_mut().unwrap().command_queue = Some(false);
        record(board, device)
    };
    let kind = FindingKind::NoCommandQueue;
    assert!(kinds(without(PI5)).contains(&(kind, Severity::Note)));
    assert!(advice(without(PI5), kind).contains("dtparam=sd_cqe=N"));
    let on_pi4 = advice(without(PI4), kind);
    assert!(on_pi4.contains("judge the card as A1"), "{on_pi4}");
    // A card on the kernel's list.
    let mut trusted = without(PI5);
    let facts = &mut trusted.devices[0].card.as_mut().unwrap().decoded;
    facts.manufacturer_id = Some(0xad);
    facts.oem = Some("4c53".to_owned());
    facts.revision = Some("2.0".to_owned());
    facts.made = Some("2025-01".to_owned());
    let text = advice(trusted, kind);
    assert!(text.contains("known to be good"), "{text}");
    let mut unseen = without(PI5);
    unseen.devices[0].queue.as_mut().unwrap().command_queue = None;
    let found = noticed(unseen);
    assert!(found[0].detail.contains("it is unknown"), "{found:?}");
    let mut a1 = without(PI5);
    a1.devices[0].card.as_mut().unwrap().decoded.classes = vec!["U3".into(), "A1".into()];
    assert_eq!(kinds(a1), [], "only A2 requires it");
}

#[test]
fn a_cache_that_is_off_is_told_with_its_reason() {
    let off = |facts: fn(&mut CardFacts)| {
        let mut device = slot(BusMode::Ddr50);
        device.queue.as_mut().unwrap().write_cache = Some("write through".to_owned());
        facts(&mut device.card.as_mut().unwrap().decoded);
        record(PI4, device)
    };
    let kind = FindingKind::NoCache;
    assert!(advice(off(|_| {}), kind).contains("Linux 5.14"));
    assert_eq!(kinds(off(|facts| facts.has_cache = Some(false))), []);
    // Kingston Canvas Go! Plus of November 2019.
    let quirky = off(|facts| {
        facts.manufacturer_id = Some(0x9f);
        facts.oem = Some("5449".to_owned());
        facts.product = Some("SD64G".to_owned());
        facts.made = Some("2019-11".to_owned());
    });
    let text = advice(quirky, kind);
    assert!(text.starts_with("leave it as it is: "), "{text}");
}

fn usb(link: u64, version: &str, driver: &str, offers_uas: Option<bool>) -> DeviceInfo {
    DeviceInfo {
        name: "sda".to_owned(),
        reader: Some(Reader {
            driver: Some(driver.to_owned()),
            usb: Some(UsbBridge {
                vendor: "ffff".to_owned(),
                product: "ffff".to_owned(),
                name: Some("Invented Disk".to_owned()),
                link_bits_per_s: Some(link),
                usb_version: Some(version.to_owned()),
                offers_uas,
                ..UsbBridge::default()
            }),
            ..reader(ReaderKind::Usb)
        }),
        ..DeviceInfo::default()
    }
}

#[test]
fn a_slow_usb_link_is_trouble_unless_the_board_has_no_faster_one() {
    let slow = || usb(480_000_000, "3.20", "uas", Some(true));
    let kind = FindingKind::SlowUsb;
    assert_eq!(kinds(record(PI4, slow())), [(kind, Severity::Warning)]);
    assert_eq!(kinds(record(PI3, slow())), [(kind, Severity::Note)]);
    let fast = usb(5_000_000_000, "3.20", "uas", Some(true));
    assert_eq!(kinds(record(PI4, fast)), []);
    let old = usb(480_000_000, "2.00", "usb-storage", Some(false));
    assert_eq!(kinds(record(PI4, old)), []);
}

#[test]
fn a_bridge_that_could_use_uas_is_told() {
    let plain = usb(5_000_000_000, "3.20", "usb-storage", Some(true));
    assert_eq!(
        kinds(record(PI4, plain)),
        [(FindingKind::NoUas, Severity::Note)]
    );
    let unknown = usb(5_000_000_000, "3.20", "usb-storage", None);
    assert_eq!(kinds(record(PI4, unknown)), []);
}

#[test]
fn a_card_reader_hides_registers_and_a_disk_has_none() {
    let mut card_reader = usb(5_000_000_000, "3.20", "usb-storage", None);
    let bridge = card_reader.reader.as_mut().unwrap().usb.as_mut().unwrap();
    bridge.name = Some("Invented Card Reader".to_owned());
    assert_eq!(
        kinds(record(PI4, card_reader)),
        [(FindingKind::HiddenRegisters, Severity::Note)]
    );
}

#[test]
fn a_narrow_pcie_link_is_told_with_the_boards_way_to_widen_it() {
    let link = |now, most| DeviceInfo {
        name: "nvme0n1".to_owned(),
        reader: Some(Reader {
            pcie: Some(PcieLink {
                megatransfers_per_s: Some(now),
                max_megatransfers_per_s: Some(most),
                lanes_count: Some(1),
                max_lanes_count: Some(1),
                ..PcieLink::default()
            }),
            ..reader(ReaderKind::Nvme)
        }),
        ..DeviceInfo::default()
    };
    let slow = || record(PI5, link(5000, 16_000));
    assert_eq!(kinds(slow()), [(FindingKind::SlowPcie, Severity::Note)]);
    assert!(advice(slow(), FindingKind::SlowPcie).contains("pciex1"));
    assert_eq!(kinds(record(PI5, link(8000, 8000))), []);
}

#[test]
fn partitions_begin_on_boundaries() {
    let at = |start, device: DeviceInfo| {
        let mut record = record(PI4, device);
        record.target.as_mut().unwrap().layers = vec![Layer {
            kind: LayerKind::Partition,
            device: Some("mmcblk0p2".to_owned()),
            start_bytes: Some(start),
        }];
        kinds(record)
    };
    let card = || slot(BusMode::Ddr50);
    let disk = || usb(5_000_000_000, "3.20", "uas", None);
    let misaligned = |severity| vec![(FindingKind::Misaligned, severity)];
    assert_eq!(at(4 << 20, card()), []);
    assert_eq!(at(1 << 20, card()), misaligned(Severity::Note));
    assert_eq!(at(1 << 20, disk()), [], "disks begin at 1 MiB");
    assert_eq!(at(63 * 512, card()), misaligned(Severity::Warning));
    assert_eq!(at(63 * 512, disk()), misaligned(Severity::Warning));
}

#[test]
fn power_governor_and_wear_are_told() {
    let mut all = record(PI4, slot(BusMode::Ddr50));
    all.board.as_mut().unwrap().power_warnings = vec!["under_voltage".to_owned()];
    let host = all.host.as_mut().unwrap();
    host.governor = Some("powersave".to_owned());
    host.architecture = Some("aarch64".to_owned());
    all.devices[0].health = Some(Health {
        used_percent: Some(80),
        spare_percent: Some(9),
        media_errors_count: Some(3),
        warnings: vec!["read-only".to_owned()],
        ..Health::default()
    });
    let warning = |kind| (kind, Severity::Warning);
    assert_eq!(
        kinds(all.clone()),
        [
            warning(FindingKind::UnderVoltage),
            warning(FindingKind::Powersave),
            warning(FindingKind::Worn)
        ]
    );
    let worn = noticed(all.clone())
        .into_iter()
        .find(|f| f.kind == FindingKind::Worn);
    assert_eq!(
        worn.unwrap().detail,
        "mmcblk0 reports: read-only, 80 % of its rated life is used, 9 % of its spare \
         blocks are left, 3 errors of its medium"
    );
    all.board.as_mut().unwrap().power_warnings = vec!["throttled".to_owned()];
    all.host.as_mut().unwrap().architecture = Some("x86_64".to_owned());
    all.devices[0].health = Some(Health {
        used_percent: Some(79),
        spare_percent: Some(10),
        media_errors_count: Some(0),
        ..Health::default()
    });
    assert_eq!(kinds(all), []);
}

#[test]
fn a_label_must_be_borne_out_by_the_registers() {
    let claimed = |claims: &str, classes: &[&str]| {
        let mut record = record(PI5, slot(BusMode::Sdr104));
        let facts = &mut record.devices[0].card.as_mut().unwrap().decoded;
        facts.classes = classes.iter().map(|name| (*name).to_owned()).collect();
        facts.command_queue_count = Some(0);
        record
            .labels
            .insert(CLAIMS_LABEL.to_owned(), claims.to_owned());
        let found = noticed(record).into_iter();
        found.map(|finding| finding.detail).collect::<Vec<_>>()
    };
    assert_eq!(
        claimed("U3", &["C10", "U1"]),
        ["the label claims U3, the registers claim U1"]
    );
    assert_eq!(claimed("U1", &["C10", "U3"]), [""; 0], "above its label");
    assert_eq!(
        claimed("A1 V30", &["C10", "U3", "V30"]),
        ["the label claims A1, the registers claim no such class"]
    );
    assert_eq!(claimed("A1", &[]), [""; 0], "registers without classes");
}

#[test]
fn findings_from_elsewhere_stay() {
    let mut with = record(PI4, slot(BusMode::Ddr50));
    let other = Finding::new(FindingKind::Buffered, Severity::Warning, "kept");
    let old = Finding::new(FindingKind::SlowBus, Severity::Warning, "no longer so");
    with.findings = vec![other.clone(), old];
    notice(&mut with);
    assert_eq!(with.findings, [other]);
}
