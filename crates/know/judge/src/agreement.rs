//! Agreement of a record's board, memory, processors, kernel, page size and reader.
//!
//! Each rule follows from facts with a source. Whatever the catalogue does not know contradicts nothing.

use cardmark_catalog::{BoardFacts, Processor, RevisionCode, board, boards};
use cardmark_core::{BusMode, CardKind, DeviceInfo, Host, ReaderKind, Record};

/// Page size of processors that have no other, bytes.
const PAGE_BYTES: u64 = 4_096;
const PAGE_16_KIB: u64 = 16_384;
/// Architectures, as Rust names them, whose kernels have pages of 4 KiB only (`PAGE_SHIFT` in Linux).
const SMALL_PAGES: [&str; 3] = ["x86_64", "x86", "arm"];
/// Beginnings of the targets that a program is built for, with their architecture.
const TARGETS: [(&str, &str); 6] = [
    ("x86_64-", "x86_64"),
    ("i686-", "x86"),
    ("i586-", "x86"),
    ("aarch64-", "aarch64"),
    ("arm", "arm"),
    ("riscv64", "riscv64"),
];
/// Part of the release of kernels for BCM2712, which have pages of 16 KiB (`bcm2712_defconfig` of Raspberry Pi's Linux).
const KERNEL_2712: &str = "2712";

/// Returns the contradictions between board, system and reader of a record, as clauses; `None` if nothing of them is known.
pub fn disagreements(record: &Record) -> Option<Vec<String>> {
    let model = record
        .board
        .as_ref()
        .and_then(|board| board.model.as_deref());
    let known = model.and_then(board);
    let host = record.host.as_ref();
    let architecture = host.and_then(|host| host.architecture.as_deref());
    let mut found = Vec::new();
    found.extend(other_target(record, architecture));
    found.extend(host.and_then(other_pages));
    if let Some(known) = known {
        found.extend(virtual_disk(record, known));
        if known.is_raspberry_pi() {
            found.extend(other_raspberry_pi(record, known));
        }
    }
    (known.is_some() || !found.is_empty()).then_some(found)
}

/// The program reports the architecture that it was built for.
fn other_target(record: &Record, architecture: Option<&str>) -> Option<String> {
    let target = record.tool.as_ref()?.target.as_deref()?;
    let mut known = TARGETS.iter();
    let (_, built) = known.find(|(begin, _)| target.starts_with(begin))?;
    let architecture = architecture?;
    (*built != architecture).then(|| format!("a program for {target} cannot run on {architecture}"))
}

fn other_pages(host: &Host) -> Option<String> {
    let (pages, architecture) = (host.page_bytes?, host.architecture.as_deref()?);
    let has_small = SMALL_PAGES.contains(&architecture);
    // Programs of 32 bits run on kernels of 64 bits, whose pages may be larger.
    let is_other = has_small && architecture != "arm" && pages != PAGE_BYTES;
    if is_other {
        return Some(format!("{architecture} has no pages of {pages} bytes"));
    }
    let is_2712 = kernel_parts(host).any(|part| part == KERNEL_2712);
    (is_2712 && pages != PAGE_16_KIB).then(|| {
        format!("the kernel for BCM2712 has pages of {PAGE_16_KIB} bytes, the record has {pages}")
    })
}

fn kernel_parts(host: &Host) -> impl Iterator<Item = &str> {
    let kernel = host.kernel.as_deref().unwrap_or_default();
    kernel.split(['-', '+', '~', '_'])
}

fn virtual_disk(record: &Record, known: &BoardFacts) -> Option<String> {
    let mut kinds = record.devices.iter().filter_map(reader_kind);
    kinds.any(|kind| *kind == ReaderKind::Virtual).then(|| {
        format!(
            "the disk is one of a virtual machine, and {} is none",
            known.name
        )
    })
}

fn reader_kind(device: &DeviceInfo) -> Option<&ReaderKind> {
    device.reader.as_ref().map(|reader| &reader.kind)
}

fn other_raspberry_pi(record: &Record, known: &BoardFacts) -> Vec<String> {
    let name = &known.name;
    let mut found = Vec::new();
    let stated = record.board.as_ref();
    let code = stated.and_then(|board| board.revision.as_deref());
    if code.is_some_and(is_of_newer_board) {
        return found;
    }
    if let Some(code) =
        code.filter(|code| !known.revision_codes.is_empty() && !known.may_have_code(code))
    {
        found.push(format!("the revision code {code} is not one of {name}"));
    }
    let code = code.and_then(RevisionCode::parse);
    let most_bytes = code
        .map(RevisionCode::memory_bytes)
        .or_else(|| known.most_memory_bytes());
    let memory_bytes = stated.and_then(|board| board.memory_bytes);
    if let Some((memory, most)) = memory_bytes
        .zip(most_bytes)
        .filter(|(memory, most)| memory > most)
    {
        found.push(format!(
            "{memory} bytes of memory are more than the {most} of {name}"
        ));
    }
    let processor = code
        .and_then(RevisionCode::processor)
        .or_else(|| known.newest_processor());
    if let Some(processor) = processor {
        found.extend(other_processor(record, name, processor));
        found.extend(no_such_port(record, known, processor));
    }
    found.extend(faster_bus(record, known));
    found
}

/// True if the catalogue knows no board of this type: the model of a newer one may begin with the name of an older one, as `Compute
/// Module Zero` does.
fn is_of_newer_board(code: &str) -> bool {
    RevisionCode::parse(code).is_some() && !boards().iter().any(|row| row.may_have_code(code))
}

fn other_processor(record: &Record, name: &str, processor: Processor) -> Vec<String> {
    let mut found = Vec::new();
    let cores = processor.cores_count();
    let stated = record.board.as_ref().and_then(|board| board.cpu_count);
    if let Some(count) = stated.filter(|count| *count > cores) {
        found.push(format!(
            "{count} processors are more than the {cores} of {name}"
        ));
    }
    let Some(host) = &record.host else {
        return found;
    };
    let is_possible = match host.architecture.as_deref() {
        Some("arm") | None => true,
        Some("aarch64") => processor.has_64_bits(),
        Some(_) => false,
    };
    if !is_possible {
        let architecture = host.architecture.as_deref().unwrap_or_default();
        found.push(format!("{name} cannot run programs for {architecture}"));
    }
    if host.page_bytes == Some(PAGE_16_KIB) && !processor.has_16_kib_pages() {
        found.push(format!("{name} has no pages of {PAGE_16_KIB} bytes"));
    }
    let is_for_2712 = kernel_parts(host).any(|part| part == KERNEL_2712);
    if is_for_2712 && processor != Processor::Bcm2712 {
        found.push(format!("the kernel for BCM2712 does not run on {name}"));
    }
    found
}

/// Boards before BCM2712 without a connector for PCI Express have no port for disks but USB.
fn no_such_port(record: &Record, known: &BoardFacts, processor: Processor) -> Option<String> {
    if known.pcie.is_some() || processor == Processor::Bcm2712 {
        return None;
    }
    let mut kinds = record.devices.iter().filter_map(reader_kind);
    let other = kinds.find(|kind| matches!(kind, ReaderKind::Sata | ReaderKind::Nvme))?;
    let port = if *other == ReaderKind::Sata {
        "SATA"
    } else {
        "NVMe"
    };
    Some(format!("{} has no port for {port}", known.name))
}

/// A mode that the card slot of the board does not have.
fn faster_bus(record: &Record, known: &BoardFacts) -> Option<String> {
    let most = known.bus_modes.iter().map(rate).max()?;
    let cards = record.devices.iter().filter(|device| {
        let kind = device.card.as_ref().map(|card| card.kind);
        kind == Some(CardKind::Sd) && reader_kind(device) == Some(&ReaderKind::Slot)
    });
    let mut modes = cards.filter_map(|device| device.reader.as_ref()?.bus.as_ref()?.mode);
    let mode = modes.find(|mode| rate(mode) > most)?;
    Some(format!(
        "the card slot of {} has no {}",
        known.name,
        mode.name()
    ))
}

fn rate(mode: &BusMode) -> u32 {
    mode.most_mb_per_s().unwrap_or(0)
}

#[cfg(test)]
mod tests;
