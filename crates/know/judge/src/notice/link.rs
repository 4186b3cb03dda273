//! The path between the board and a disk or reader: USB, PCI Express; and registers that readers hide.

use cardmark_catalog::{BridgeKind, usb_bridge};
use cardmark_core::{Finding, FindingKind, PcieLink, ReaderKind, Severity, UsbBridge};

use super::situation::Situation;

/// Rate of USB 3.0, bits per second.
pub(crate) const SUPER_SPEED_BITS_PER_S: u64 = 5_000_000_000;

pub(super) fn findings(situation: &Situation<'_>) -> Vec<Finding> {
    let Some(reader) = &situation.device.reader else {
        return Vec::new();
    };
    let usb = reader.usb.as_ref();
    let driver = reader.driver.as_deref().unwrap_or_default();
    [
        usb.and_then(|usb| slow_usb(situation, usb)),
        usb.and_then(|usb| no_uas(usb, driver)),
        reader
            .pcie
            .as_ref()
            .filter(|_| reader.kind == ReaderKind::Nvme)
            .and_then(|link| slow_pcie(situation, link)),
        usb.and_then(|usb| hidden_registers(situation, usb)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// On a slower link, bridges report fewer capabilities, so the known ones count too.
fn slow_usb(situation: &Situation<'_>, usb: &UsbBridge) -> Option<Finding> {
    let link = usb.link_bits_per_s?;
    if link >= SUPER_SPEED_BITS_PER_S {
        return None;
    }
    let speaks_usb3 = usb
        .usb_version
        .as_deref()
        .is_some_and(|version| version.trim_start().starts_with('3'));
    let known = usb_bridge(&usb.vendor, &usb.product).and_then(|bridge| bridge.link_bits_per_s);
    if !speaks_usb3 && known.is_none_or(|most| most <= link) {
        return None;
    }
    let board_can = situation.board.and_then(|board| board.usb_bits_per_s);
    let detail = format!(
        "the USB link runs at {} Mbit/s although the bridge supports more",
        link / 1_000_000
    );
    let (severity, advice) = match board_can {
        Some(most) if most <= link => (
            Severity::Note,
            format!(
                "{} has no faster USB port: the port limits the figures",
                situation.board_name()
            ),
        ),
        _ => (
            Severity::Warning,
            "plug it directly into a USB 3 port (blue), push the plug in all the way, or try \
             another cable"
                .to_owned(),
        ),
    };
    Some(Finding::new(FindingKind::SlowUsb, severity, detail).advise(advice))
}

fn no_uas(usb: &UsbBridge, driver: &str) -> Option<Finding> {
    if driver != "usb-storage" || usb.offers_uas != Some(true) {
        return None;
    }
    let detail = "the bridge supports UAS, but runs as plain mass storage: one request after the \
                  other";
    let known = usb_bridge(&usb.vendor, &usb.product);
    let trouble = known.and_then(|bridge| bridge.trouble.as_deref());
    let advice = match trouble {
        Some(trouble) => format!("leave it as it is: {trouble}"),
        None if known.is_some_and(|bridge| bridge.kernel_avoids_uas) => {
            "leave it as it is: the kernel knows that this bridge fails with it".to_owned()
        }
        None => "look for `usb-storage.quirks` in the kernel's command line, or in a list of \
                 exceptions"
            .to_owned(),
    };
    Some(Finding::new(FindingKind::NoUas, Severity::Note, detail).advise(advice))
}

fn slow_pcie(situation: &Situation<'_>, link: &PcieLink) -> Option<Finding> {
    let is_slower = link.megatransfers_per_s? < link.max_megatransfers_per_s?;
    let is_narrower = link.lanes_count? < link.max_lanes_count?;
    if !is_slower && !is_narrower {
        return None;
    }
    let speed = |megatransfers: u64| megatransfers as f64 / 1000.0;
    let detail = format!(
        "the PCI Express link runs at {} GT/s x{}; the disk supports {} GT/s x{}",
        speed(link.megatransfers_per_s?),
        link.lanes_count?,
        speed(link.max_megatransfers_per_s?),
        link.max_lanes_count?
    );
    let finding = Finding::new(FindingKind::SlowPcie, Severity::Note, detail);
    let note = situation
        .board
        .and_then(|board| board.pcie.as_ref())
        .and_then(|pcie| pcie.note.as_deref());
    Some(match note {
        Some(note) => finding.advise(note),
        None => finding,
    })
}

/// A stick or a disk has no registers to hide. The catalogue, or the bridge's own name, shows if a bridge is
/// a card reader.
fn hidden_registers(situation: &Situation<'_>, usb: &UsbBridge) -> Option<Finding> {
    if situation.device.card.is_some() {
        return None;
    }
    let is_reader = match usb_bridge(&usb.vendor, &usb.product) {
        Some(bridge) if bridge.kind.is_some() => bridge.kind == Some(BridgeKind::CardReader),
        _ => usb.name.as_deref().is_some_and(names_a_reader),
    };
    is_reader.then(|| {
        let detail = "the reader hides the card's registers: maker, age, class, cache and queue cannot \
                      be seen";
        Finding::new(FindingKind::HiddenRegisters, Severity::Note, detail).advise(
            "a built-in card slot shows them, such as that of a Raspberry Pi or of \
             many notebooks",
        )
    })
}

fn names_a_reader(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["reader", "card", "sd/mmc", "microsd"]
        .iter()
        .any(|word| name.contains(word))
}
