use cardmark_catalog::{ProductLine, lines, products};
use cardmark_core::{CardFacts, UsbBridge};
use cardmark_samples::record;
use proptest::prelude::*;

use super::*;

fn bare() -> Record {
    let mut record = record("run-measured-quick");
    record.trials.clear();
    record.devices.truncate(1);
    record.host = None;
    record
}

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

fn card(kind: CardKind, decoded: CardFacts) -> Card {
    Card {
        kind,
        registers: std::collections::BTreeMap::new(),
        decoded,
    }
}

/// A device that a product of this kind may be.
fn honest_device(kind: ProductKind, in_reader: bool) -> DeviceInfo {
    let usb = UsbBridge {
        vendor: "ffff".to_owned(),
        product: "ffff".to_owned(),
        ..UsbBridge::default()
    };
    let in_usb = Reader {
        usb: Some(usb),
        ..reader(ReaderKind::Usb)
    };
    let (own, card) = match kind {
        ProductKind::Microsd | ProductKind::Sd => (
            reader(ReaderKind::Slot),
            Some(card(CardKind::Sd, CardFacts::default())),
        ),
        ProductKind::EmbeddedMmc => (
            reader(ReaderKind::Slot),
            Some(card(CardKind::Mmc, CardFacts::default())),
        ),
        ProductKind::SataSsd | ProductKind::HardDisk | ProductKind::Cf => {
            (reader(ReaderKind::Sata), None)
        }
        ProductKind::Nvme => (reader(ReaderKind::Nvme), None),
        ProductKind::UsbStick | ProductKind::UsbSsd => (in_usb.clone(), None),
    };
    DeviceInfo {
        reader: Some(if in_reader { in_usb } else { own }),
        card: card.filter(|_| !in_reader),
        ..DeviceInfo::default()
    }
}

fn of_product(product: &Product, device: DeviceInfo) -> Record {
    let mut record = bare();
    record
        .labels
        .insert("product_id".to_owned(), product.id.clone());
    record.labels.insert("product".to_owned(), product.name());
    record.devices = vec![device];
    record
}

fn of_kinds(kinds: &[ProductKind]) -> Vec<&'static Product> {
    products()
        .iter()
        .filter(|product| kinds.contains(&product.kind))
        .collect()
}

fn with_registers() -> Vec<&'static ProductLine> {
    lines()
        .iter()
        .filter(|line| !line.registers.is_empty())
        .collect()
}

proptest! {
    #[test]
    fn a_product_of_its_kind_and_size_fits(
        product in prop::sample::select(products()),
        in_reader in any::<bool>(),
        part in 0.86_f64..1.14,
    ) {
        let mut device = honest_device(product.kind, in_reader);
        device.size_bytes = product.capacity_bytes.map(|bytes| scaled(bytes, part));
        prop_assert_eq!(product_contradiction(&of_product(&product, device)), None);
    }

    #[test]
    fn another_size_contradicts_the_label(
        product in prop::sample::select(products()),
        part in prop_oneof![0.01_f64..0.84, 1.16_f64..100.0],
        is_known in any::<bool>(),
    ) {
        let capacity = product.capacity_bytes.unwrap_or(32_000_000_000);
        let mut device = honest_device(product.kind, false);
        device.size_bytes = Some(scaled(capacity, part));
        let mut record = of_product(&product, device);
        if product.capacity_bytes.is_none() || !is_known {
            record.labels.remove("product_id");
            let name = format!("Unknown {} GB", capacity / 1_000_000_000);
            record.labels.insert("product".to_owned(), name);
        }
        let found = product_contradiction(&record);
        prop_assert!(found.is_some_and(|reason| reason.starts_with("sold as")));
    }

    #[test]
    fn a_card_is_no_disk_and_a_disk_no_card(
        card in prop::sample::select(of_kinds(&[ProductKind::Microsd, ProductKind::Sd])),
        disk in prop::sample::select(of_kinds(&[ProductKind::SataSsd, ProductKind::UsbSsd, ProductKind::Nvme])),
    ) {
        let record = of_product(disk, honest_device(card.kind, false));
        prop_assert!(product_contradiction(&record).is_some());
        // A USB disk may be a reader, unless it shows that it is none.
        let mut device = honest_device(disk.kind, false);
        if disk.kind == ProductKind::UsbSsd {
            device.removable = Some(false);
            device.reader.as_mut().unwrap().driver = Some(UAS.to_owned());
        }
        prop_assert!(product_contradiction(&of_product(card, device)).is_some());
    }

    /// Registers of a line contradict no product of its brand.
    #[test]
    fn own_registers_fit(
        line in prop::sample::select(with_registers()),
        number in any::<prop::sample::Index>(),
    ) {
        let seen = number.get(&line.registers);
        let decoded = CardFacts {
            manufacturer_id: Some(seen.manufacturer_id),
            oem: Some(seen.oem.clone()),
            product: Some(seen.product.clone()),
            ..CardFacts::default()
        };
        for product in products().iter().filter(|product| product.brand == line.brand && product.kind == line.kind) {
            let kind = if product.kind == ProductKind::EmbeddedMmc { CardKind::Mmc } else { CardKind::Sd };
            let device = DeviceInfo {
                reader: Some(reader(ReaderKind::Slot)),
                card: Some(card(kind, decoded.clone())),
                ..DeviceInfo::default()
            };
            prop_assert_eq!(product_contradiction(&of_product(product, device)), None, "{}", product.id);
        }
    }
}

fn scaled(bytes: u64, part: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and small"
    )]
    let scaled = (bytes as f64 * part) as u64;
    scaled
}

#[test]
fn a_virtual_disk_is_no_card_of_32_gb() {
    let mut record = record("run-measured-quick");
    record
        .labels
        .insert("product".to_owned(), "Samsung Evo+ 32 GB".to_owned());
    assert_eq!(
        product_contradiction(&record).as_deref(),
        Some("sold as 32 GB, the device has 274.9 GB")
    );
    assert_eq!(
        of_no_card(&record).as_deref(),
        Some("the run was made in a virtual machine")
    );
    record.host = None;
    assert_eq!(
        of_no_card(&record).as_deref(),
        Some("the disk is a virtual one")
    );
}

#[test]
fn a_year_or_a_number_is_no_capacity() {
    for name in ["Ultra 2023", "Evo 860", "Something"] {
        let mut record = bare();
        record.labels.insert("product".to_owned(), name.to_owned());
        record.devices[0].size_bytes = Some(32_000_000_000);
        assert_eq!(product_contradiction(&record), None, "{name}");
    }
}

fn registers(number: u8, oem: &str, product: &str) -> Option<Card> {
    let decoded = CardFacts {
        manufacturer_id: Some(number),
        oem: Some(oem.to_owned()),
        product: Some(product.to_owned()),
        ..CardFacts::default()
    };
    Some(card(CardKind::Sd, decoded))
}

/// A card with registers of another maker is no Samsung; with a false capacity it is the fake that was sold as one.
#[test]
fn registers_of_another_maker_contradict_and_a_fake_is_what_was_sold() {
    let is_sandisk = |line: &&ProductLine| {
        line.brand == "SanDisk" && line.registers.iter().any(|seen| seen.manufacturer_id == 3)
    };
    let line = lines().iter().find(is_sandisk).unwrap();
    let seen = line
        .registers
        .iter()
        .find(|seen| seen.manufacturer_id == 3)
        .unwrap();
    let samsung = products()
        .iter()
        .find(|one| one.brand == "Samsung" && one.kind == ProductKind::Microsd);
    let device = DeviceInfo {
        reader: Some(reader(ReaderKind::Slot)),
        card: registers(3, &seen.oem, &seen.product),
        ..DeviceInfo::default()
    };
    let mut sold = of_product(samsung.unwrap(), device);
    let found = product_contradiction(&sold).unwrap();
    assert!(found.contains("SanDisk"), "{found}");
    let fake = record("verify-sim-limbo-32gb");
    sold.integrity = fake.integrity;
    assert!(
        sold.integrity
            .as_ref()
            .is_some_and(|test| is_false_capacity(test.kind))
    );
    assert_eq!(product_contradiction(&sold), None);
}

#[test]
fn whatever_the_kernel_always_shows_may_not_be_missing() {
    let disk = |kind, model: Option<&str>| DeviceInfo {
        reader: Some(reader(kind)),
        model: model.map(str::to_owned),
        ..DeviceInfo::default()
    };
    let mut in_slot = disk(ReaderKind::Slot, None);
    assert!(unidentified(&DeviceInfo::default()).is_some());
    assert!(unidentified(&in_slot).is_some());
    in_slot.card = Some(card(CardKind::Sd, CardFacts::default()));
    assert!(unidentified(&in_slot).is_some());
    in_slot.card = registers(3, "5344", "SN64G");
    assert_eq!(unidentified(&in_slot), None);
    assert!(unidentified(&disk(ReaderKind::Usb, Some("Ultra"))).is_some());
    let usb = honest_device(ProductKind::UsbStick, true);
    assert_eq!(unidentified(&usb), None);
    for kind in [ReaderKind::Sata, ReaderKind::Nvme] {
        assert!(unidentified(&disk(kind, None)).is_some());
        assert_eq!(unidentified(&disk(kind, Some("A disk"))), None);
    }
}

#[test]
fn one_real_device_is_needed() {
    let real = || {
        let mut record = bare();
        record.devices[0].reader = Some(reader(ReaderKind::Slot));
        record
    };
    assert_eq!(of_no_card(&real()), None);
    let mut several = real();
    several.devices.push(several.devices[0].clone());
    assert!(of_no_card(&several).unwrap().contains("2 devices"));
    let mut none = real();
    none.devices.clear();
    assert!(of_no_card(&none).is_some());
    for kind in [
        LayerKind::Loop,
        LayerKind::Zram,
        LayerKind::Memory,
        LayerKind::Network,
    ] {
        let mut record = real();
        let layer = &mut record.target.as_mut().unwrap().layers[0];
        layer.kind = kind;
        assert!(of_no_card(&record).is_some(), "{kind:?}");
    }
}
