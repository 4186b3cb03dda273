//! Text about a target that is inspected and not measured.

use cardmark_catalog::manufacturer;
use cardmark_core::{
    AspmState, BusSource, Card, CardKind, DeviceInfo, Firmware, FirmwareKind, Health, HostLoad,
    Layer, LayerKind, PcieLink, Reader, ReaderKind, Record, Sample, SampleOf, UsbBridge,
    UsbController,
};

use crate::run::findings;
use crate::run::summary::verdict_lines;
use crate::text::layout::{joined, painted, wrap};
use crate::text::style::{Style, Tone, clean, columns};
use crate::text::{amount, capacity, count_of, size};

/// Columns of the names on the left.
const NAMES_WIDTH: usize = 9;
/// Narrowest width that is kept to.
const LEAST_WIDTH: usize = 30;

/// Card, reader, board, way down to the disk, and what is to be known about them, as a text of
/// lines at most `width` columns wide. `hidden` is what this user may not see.
pub fn identity(record: &Record, hidden: &[&str], width: usize, style: Style) -> String {
    let width = width.max(LEAST_WIDTH);
    let mut rows = Vec::new();
    for device in &record.devices {
        rows.extend(device_rows(device));
    }
    rows.extend(host_rows(record));
    rows.extend(way(record).map(|way| ("way", way)));
    let rows = rows.iter();
    let hidden = match hidden {
        [] => Vec::new(),
        hidden => vec![format!("root would also see: {}", hidden.join(", "))],
    };
    joined(&[
        rows.flat_map(|(name, text)| row(name, text, width, style))
            .collect(),
        verdict_lines(record, width, style),
        findings::lines(&findings::all(&record.findings).findings, &[], width, style),
        painted(&hidden, width, style, Tone::Dim),
    ])
}

/// A device in one line: model, capacity, reader, the directories on it.
pub fn device_line(device: &DeviceInfo, directories: &[String]) -> String {
    let parts = [
        device.model.clone(),
        device.size_bytes.map(capacity),
        device.reader.as_ref().and_then(reader),
        (!directories.is_empty()).then(|| format!("mounted at {}", directories.join(", "))),
    ];
    clean(&join(parts).unwrap_or_default())
}

/// A name on the left, its text beside it.
fn row(name: &str, text: &str, width: usize, style: Style) -> Vec<String> {
    let lines = wrap(&clean(text), width.saturating_sub(NAMES_WIDTH), 0);
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    lines
        .iter()
        .zip(names)
        .map(|(line, name)| {
            let space = " ".repeat(NAMES_WIDTH.saturating_sub(columns(name)));
            format!("{}{space}{line}", style.paint(Tone::Dim, name))
        })
        .collect()
}

fn join(parts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

fn device_rows(device: &DeviceInfo) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let card = device.card.as_ref();
    let name = match card.map(|card| card.kind) {
        Some(CardKind::Sd | CardKind::Other(_)) => "card",
        Some(CardKind::Mmc) => "eMMC",
        None => "disk",
    };
    let model = device.model.clone().unwrap_or_else(|| device.name.clone());
    rows.extend(
        join([
            Some(model),
            device.size_bytes.map(capacity),
            device.firmware.as_ref().map(|f| format!("firmware {f}")),
            device.sample.as_ref().map(sample),
        ])
        .map(|text| (name, text)),
    );
    if let Some(card) = card {
        rows.extend(made(card).map(|text| ("made by", text)));
        rows.extend(claims(card).map(|text| ("says", text)));
    }
    rows.extend(storage(device).map(|text| ("", text)));
    let is_emmc = device
        .card
        .as_ref()
        .is_some_and(|card| card.kind == CardKind::Mmc);
    rows.extend(
        device
            .health
            .as_ref()
            .and_then(|it| health(it, is_emmc))
            .map(|t| ("health", t)),
    );
    rows.extend(
        device
            .reader
            .as_ref()
            .and_then(reader)
            .map(|t| ("reader", t)),
    );
    let usb = device
        .reader
        .as_ref()
        .and_then(|reader| reader.usb.as_ref());
    let controller = usb.and_then(|usb| usb.controller.as_ref());
    rows.extend(controller.and_then(self::controller).map(|t| ("", t)));
    rows
}

/// The id, and whose it is if it is not the card's.
fn sample(sample: &Sample) -> String {
    let id = &sample.id;
    match sample.of {
        SampleOf::Card | SampleOf::Disk => format!("sample {id}"),
        SampleOf::Reader => format!("sample {id} of the reader"),
        SampleOf::Bridge => format!("sample {id} of the USB bridge"),
        SampleOf::Other(word) => format!("sample {id} ({word})"),
    }
}

fn made(card: &Card) -> Option<String> {
    let facts = &card.decoded;
    let id = facts.manufacturer_id?;
    let oem = facts.oem.as_deref().unwrap_or_default();
    let maker = manufacturer(card.kind, id, oem).map_or("unknown", |maker| &maker.name);
    join([
        Some(format!("{maker} (0x{id:02x}/{oem})")),
        facts.made.clone(),
        facts.revision.as_ref().map(|r| format!("revision {r}")),
    ])
}

fn claims(card: &Card) -> Option<String> {
    let facts = &card.decoded;
    let unit = facts.allocation_unit_bytes.map(size);
    let unit = match (unit, facts.uhs_allocation_unit_bytes.map(size)) {
        (Some(plain), Some(uhs)) if plain != uhs => Some(format!("{plain}, at UHS {uhs}")),
        (plain, uhs) => uhs.or(plain),
    };
    join([
        (!facts.classes.is_empty()).then(|| facts.classes.join(" ")),
        facts.sd_version.as_ref().map(|v| format!("SD {v}")),
        unit.map(|unit| format!("allocation units of {unit}")),
    ])
}

/// Cache and queue: what the card has, and what is in use.
fn storage(device: &DeviceInfo) -> Option<String> {
    let queue = device.queue.as_ref()?;
    let facts = device.card.as_ref().map(|card| &card.decoded);
    let cache = queue.write_cache.as_deref().map(|mode| {
        let is_on = mode == "write back";
        let has_one = facts.and_then(|facts| facts.has_cache);
        let state = if is_on { "on" } else { "off" };
        match has_one {
            Some(false) if !is_on => "no cache".to_owned(),
            _ => format!("cache {state}"),
        }
    });
    let depth = facts.and_then(|facts| facts.command_queue_count);
    let command_queue = match (depth, queue.command_queue) {
        (Some(0), _) => Some("no command queue".to_owned()),
        (Some(depth), Some(true)) => Some(format!("command queue on, {depth} deep")),
        (Some(depth), Some(false)) => Some(format!("command queue off (it has one, {depth} deep)")),
        (Some(depth), None) => Some(format!("command queue {depth} deep; in use: unknown")),
        (None, Some(true)) => Some("command queue on".to_owned()),
        (None, Some(false) | None) => None,
    };
    join([
        cache,
        command_queue,
        queue.scheduler.as_ref().map(|s| format!("scheduler {s}")),
        queue
            .read_ahead_bytes
            .map(|bytes| format!("read-ahead {}", size(bytes))),
    ])
}

/// Used part of the life. eMMC reports it in steps of 10 %, as their upper ends; the last step has none.
pub(crate) fn life(percent: u32, is_emmc: bool) -> String {
    match (is_emmc, percent) {
        (true, 101..) => "over 100 % of its life used".to_owned(),
        (true, _) => format!("at most {percent} % of its life used"),
        (false, _) => format!("{percent} % of its life used"),
    }
}

fn health(health: &Health, is_emmc: bool) -> Option<String> {
    join([
        health.used_percent.map(|percent| life(percent, is_emmc)),
        health.spare_percent.map(|p| format!("{p} % spare")),
        health
            .written_bytes
            .map(|bytes| format!("{} written", amount(bytes))),
        health
            .powered_hours_count
            .map(|hours| format!("{hours} h under power")),
        health
            .media_errors_count
            .map(|count| format!("{count} media errors")),
        health.temperature_millicelsius.map(degrees),
        (!health.warnings.is_empty()).then(|| health.warnings.join(", ")),
    ])
}

fn degrees(temperature_millicelsius: i32) -> String {
    format!(
        "{} °C",
        (f64::from(temperature_millicelsius) / 1000.0).round()
    )
}

fn reader(reader: &Reader) -> Option<String> {
    let kind: &str = match &reader.kind {
        ReaderKind::Slot => "card slot",
        ReaderKind::Usb => "USB",
        ReaderKind::Sata => "SATA",
        ReaderKind::Nvme => "NVMe",
        ReaderKind::Virtual => "virtual disk",
        ReaderKind::Other(word) => word,
    };
    let mut parts = vec![Some(match &reader.driver {
        Some(driver) => format!("{kind}, {driver}"),
        None => kind.to_owned(),
    })];
    parts.extend(reader.usb.as_ref().map(usb).unwrap_or_default());
    parts.push(reader.pcie.as_ref().and_then(pcie));
    parts.push(reader.sata_bits_per_s.map(link));
    parts.extend(slot(reader));
    join(parts)
}

fn usb(usb: &UsbBridge) -> Vec<Option<String>> {
    vec![
        usb.name.clone(),
        Some(format!("{}:{}", usb.vendor, usb.product)),
        usb.link_bits_per_s.map(|bits| match usb.port_bits_per_s {
            Some(port) if port > bits => format!("{} (its port: {})", link(bits), link(port)),
            _ => link(bits),
        }),
    ]
}

/// `host xhci_hcd, 1106:3483, revision 01, firmware 000138c0 · PCIe 5 GT/s x1, ASPM off`.
fn controller(controller: &UsbController) -> Option<String> {
    let ids = controller.vendor.as_ref().zip(controller.product.as_ref());
    let parts = [
        controller.driver.clone(),
        ids.map(|(vendor, product)| format!("{vendor}:{product}")),
        controller
            .revision
            .as_ref()
            .map(|r| format!("revision {r}")),
        controller
            .firmware
            .as_ref()
            .map(|f| format!("firmware {f}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    join([
        (!parts.is_empty()).then(|| format!("host {}", parts.join(", "))),
        controller.pcie.as_ref().and_then(pcie),
    ])
}

/// `480 Mbit/s`, `5 Gbit/s`, `1.5 Gbit/s`.
fn link(bits_per_s: u64) -> String {
    let mega = bits_per_s / 1_000_000;
    if mega < 1000 {
        format!("{mega} Mbit/s")
    } else {
        format!("{} Gbit/s", mega as f64 / 1000.0)
    }
}

fn pcie(link: &PcieLink) -> Option<String> {
    let speed = |megatransfers: u64| format!("{} GT/s", megatransfers as f64 / 1000.0);
    let now = format!(
        "PCIe {} x{}",
        speed(link.megatransfers_per_s?),
        link.lanes_count?
    );
    let is_less = link.max_megatransfers_per_s > link.megatransfers_per_s
        || link.max_lanes_count > link.lanes_count;
    let now = match (link.max_megatransfers_per_s, link.max_lanes_count) {
        (Some(most), Some(lanes)) if is_less => {
            format!("{now} (it could do {} x{lanes})", speed(most))
        }
        _ => now,
    };
    let policy = link
        .aspm_policy
        .as_ref()
        .map(|name| format!("policy {name}"));
    let aspm = link.aspm.as_deref().map(aspm);
    // Without states there may be nothing to save.
    let policy = policy.filter(|_| aspm.is_some());
    Some(
        [Some(now), aspm, policy]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", "),
    )
}

/// `ASPM off`, `ASPM L1 L1.2`.
fn aspm(enabled: &[AspmState]) -> String {
    let name = |state: &AspmState| match state {
        AspmState::L0s => "L0s".to_owned(),
        AspmState::L1 => "L1".to_owned(),
        AspmState::L1Sub1 => "L1.1".to_owned(),
        AspmState::L1Sub2 => "L1.2".to_owned(),
        AspmState::Other(word) => word.to_string(),
    };
    let names: Vec<String> = enabled.iter().map(name).collect();
    match names.is_empty() {
        true => "ASPM off".to_owned(),
        false => format!("ASPM {}", names.join(" ")),
    }
}

fn slot(reader: &Reader) -> Vec<Option<String>> {
    let Some(bus) = &reader.bus else {
        return Vec::new();
    };
    let clock = bus.actual_clock_hz.or(bus.clock_hz).map(|hertz| {
        let clock = megahertz(hertz);
        match (bus.overclock_hz, bus.clock_hz) {
            (Some(asked), _) => format!("{clock} (overclocked: {} asked for)", megahertz(asked)),
            (None, Some(asked)) if asked != hertz => format!("{clock} of {}", megahertz(asked)),
            _ => clock,
        }
    });
    vec![
        bus.mode.map(|mode| mode.name().to_owned()),
        bus.lines_count
            .map(|count| count_of(count, "line", "lines")),
        clock,
        bus.signal_mv
            .map(|mv| format!("{:.1} V", f64::from(mv) / 1000.0)),
        (bus.source == Some(BusSource::KernelLog)).then(|| "(from the kernel log)".to_owned()),
    ]
}

fn megahertz(hertz: u64) -> String {
    let tenths = (hertz + 50_000) / 100_000;
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} MHz"),
        (whole, tenth) => format!("{whole}.{tenth} MHz"),
    }
}

fn host_rows(record: &Record) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(board) = &record.board {
        let text = join([
            board.model.clone(),
            board
                .memory_bytes
                .map(|bytes| format!("{} memory", size(bytes))),
            board
                .cpu_count
                .map(|count| count_of(count, "processor", "processors")),
            board
                .max_frequency_hz
                .map(|hertz| format!("up to {}", megahertz(hertz))),
        ]);
        rows.extend(text.map(|text| ("board", text)));
        let firmware = join(board.firmware.iter().map(firmware));
        rows.extend(firmware.map(|text| ("firmware", text)));
    }
    if let Some(host) = &record.host {
        let text = join([
            host.system.clone(),
            host.kernel.as_ref().map(|kernel| format!("Linux {kernel}")),
            host.architecture.clone(),
            host.governor.as_ref().map(|g| format!("governor {g}")),
        ]);
        rows.extend(text.map(|text| ("system", text)));
        let load = host.load.as_ref().and_then(load);
        rows.extend(load.map(|text| ("others", text)));
    }
    rows
}

/// `boot loader 086b83e3, 2026-05-26`.
fn firmware(firmware: &Firmware) -> Option<String> {
    let version = firmware.version.as_deref();
    let (kind, version): (&str, _) = match &firmware.kind {
        FirmwareKind::BootLoader => ("boot loader", version.map(short_commit)),
        FirmwareKind::VideoCore => ("VideoCore", version.map(short_commit)),
        FirmwareKind::UBoot => ("U-Boot", version),
        FirmwareKind::Bios => ("BIOS", version),
        FirmwareKind::Other(word) => (word, version),
    };
    let built = firmware
        .built_at
        .as_deref()
        .map(|time| time.get(..10).unwrap_or(time));
    let parts: Vec<&str> = [version, built].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{kind} {}", parts.join(", ")))
}

/// `3 % of the processors · 0.1 MB/s, 4 operations/s on the disk`.
fn load(load: &HostLoad) -> Option<String> {
    let share = load.others_cpu_ns.zip(load.cpu_ns);
    let share = share.filter(|(_, all)| *all > 0).map(|(others, all)| {
        let percent = 100.0 * others as f64 / all as f64;
        format!("{percent:.0} % of the processors")
    });
    let seconds = load.span_ns as f64 / 1e9;
    let counters = load.device_counters.filter(|_| load.span_ns > 0);
    let traffic = counters.map(|counters| {
        let bytes = counters.read_bytes as f64 + counters.write_bytes as f64;
        let operations =
            counters.read_operations_count as f64 + counters.write_operations_count as f64;
        format!(
            "{:.1} MB/s, {:.0} operations/s on the disk",
            bytes / 1e6 / seconds,
            operations / seconds
        )
    });
    join([share, traffic])
}

/// The first eight digits.
fn short_commit(version: &str) -> &str {
    version.get(..8).unwrap_or(version)
}

/// `ext4 (noatime) on mmcblk0p2, from 260 MiB on, on mmcblk0`.
fn way(record: &Record) -> Option<String> {
    let target = record.target.as_ref()?;
    let mut parts = Vec::new();
    if let Some(filesystem) = &target.filesystem {
        parts.push(match target.mount_options.as_slice() {
            [] => filesystem.clone(),
            options => format!("{filesystem} ({})", options.join(", ")),
        });
    }
    let layers = target
        .layers
        .iter()
        .filter(|layer| layer.kind != LayerKind::Mount);
    parts.extend(layers.map(layer));
    parts.dedup();
    (!parts.is_empty()).then(|| parts.join(" on "))
}

fn layer(layer: &Layer) -> String {
    let name = layer.name();
    match layer.start_bytes {
        Some(start) => format!("{name} (from {} on)", size(start)),
        None => name,
    }
}
