//! The public form of a record: what may leave the computer on which it was made.

use std::collections::BTreeMap;

use crate::{
    Board, Context, DeviceInfo, Finding, Firmware, FirmwareKind, Host, Layer, Metric, Origin,
    PcieLink, Preparation, Printed, Queue, Reader, Record, SensorSample, Target, UsbBridge,
    UsbController,
};

/// Labels that describe a product or its use, not a person.
const PUBLIC_LABELS: [&str; 4] = ["product", "product_id", "claims", "setting"];
/// Maximum length of a text that hardware or the kernel reports, characters.
const MOST_CHARACTERS: usize = 64;
/// Parts of a kernel's version that name its makers' variants; others may name a person or company.
const KERNEL_VARIANTS: &[&str] = &[
    "64k",
    "686",
    "aarch64",
    "amd64",
    "arch1",
    "arch2",
    "arm64",
    "armmp",
    "armhf",
    "aws",
    "azure",
    "bcm2711",
    "bcm2712",
    "bpo",
    "cloud",
    "current",
    "edge",
    "gcp",
    "generic",
    "kali",
    "legacy",
    "lowlatency",
    "lpae",
    "lts",
    "meson64",
    "pae",
    "pi",
    "raspi",
    "rockchip",
    "rockchip64",
    "rpi",
    "rpt",
    "rt",
    "standard",
    "sunxi",
    "sunxi64",
    "v6",
    "v7",
    "v7l",
    "v8",
    "virt",
];
/// Names with which the names of systems begin.
const SYSTEMS: &[&str] = &[
    "Alpine Linux",
    "Arch Linux ARM",
    "Arch Linux",
    "Armbian",
    "Batocera.linux",
    "Buildroot",
    "CentOS Stream",
    "DietPi",
    "Debian GNU/Linux",
    "Fedora Linux",
    "Gentoo Linux",
    "Kali GNU/Linux",
    "LibreELEC",
    "Linux Mint",
    "Manjaro ARM",
    "NixOS",
    "OpenWrt",
    "OSMC",
    "Raspbian GNU/Linux",
    "RetroPie",
    "Ubuntu",
    "Void",
    "openSUSE Leap",
    "openSUSE Tumbleweed",
];

/// Filesystems of Linux that a board may have.
const FILESYSTEMS: &[&str] = &[
    "bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "fuse", "fuseblk", "jfs", "nfs",
    "nfs4", "nilfs2", "ntfs", "ntfs3", "overlay", "ramfs", "squashfs", "tmpfs", "ubifs", "vfat",
    "xfs", "zfs",
];
/// Schedulers of the block layer.
const SCHEDULERS: &[&str] = &[
    "bfq",
    "cfq",
    "deadline",
    "kyber",
    "mq-deadline",
    "none",
    "noop",
];
/// Modes of a write cache.
const CACHES: &[&str] = &["write back", "write through"];
/// Policies for saving power on PCI Express links.
const ASPM_POLICIES: &[&str] = &["default", "performance", "powersave", "powersupersave"];
/// Frequency governors.
const GOVERNORS: &[&str] = &[
    "conservative",
    "ondemand",
    "performance",
    "powersave",
    "schedutil",
    "userspace",
];

/// A record without what could identify a person, and the names of what was withheld.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicForm {
    /// The public record.
    pub record: Record,
    /// Fields that were emptied or shortened, such as `labels.note`; sorted, each once.
    pub withheld: Vec<String>,
}

/// Returns the public form of a record. `keep` names fields to keep all the same, in the words of
/// [`PublicForm::withheld`].
///
/// Everything that is not listed here as public is left out. Withheld are: free labels; kernel messages (their
/// number stays in findings); the time of day; parts of the kernel's version that only its builder knows; names of
/// devices, layers, and files; texts of findings, which follow from the rest. Names that hardware reports of itself
/// (models, firmware, board) are public. The form of a form is itself.
#[must_use]
pub fn public_form(record: &Record, keep: &[&str]) -> PublicForm {
    let mut form = Form {
        keep,
        withheld: Vec::new(),
    };
    let mut public = form.record(record);
    // Of the public values only.
    public.context = record.context.as_ref().map(|_| Context::of(&public));
    form.withheld.sort();
    form.withheld.dedup();
    PublicForm {
        record: public,
        withheld: form.withheld,
    }
}

struct Form<'a> {
    keep: &'a [&'a str],
    withheld: Vec<String>,
}

impl Form<'_> {
    /// The public text in place of `text`, unless the field is to be kept; notes what was withheld.
    fn text(&mut self, field: &str, text: &str, public: impl FnOnce(&str) -> String) -> String {
        if self.keep.contains(&field) {
            return text.to_owned();
        }
        let public = public(text);
        if public != text {
            self.withheld.push(field.to_owned());
        }
        public
    }

    fn optional(
        &mut self,
        field: &str,
        text: Option<&String>,
        public: impl FnOnce(&str) -> String,
    ) -> Option<String> {
        let public = self.text(field, text?, public);
        (!public.is_empty()).then_some(public)
    }

    /// All fields by name: a new one has to be decided on here.
    fn record(&mut self, record: &Record) -> Record {
        Record {
            format: record.format,
            method: record.method,
            id: record.id,
            origin: self.origin(&record.origin),
            started_at: self.optional("started_at", record.started_at.as_ref(), day),
            tool: record.tool.clone(),
            suite: record.suite.clone(),
            seed: record.seed.clone(),
            target: record.target.as_ref().map(|target| self.target(target)),
            devices: self.devices(&record.devices),
            board: record.board.as_ref().map(|board| self.board(board)),
            host: record.host.as_ref().map(|host| self.host(host)),
            labels: self.labels(&record.labels),
            context: None,
            workloads: record.workloads.clone(),
            trials: record.trials.clone(),
            integrity: record.integrity.clone(),
            read_back: record.read_back,
            anatomy: record.anatomy.clone(),
            surface: record.surface.clone(),
            metrics: record
                .metrics
                .iter()
                .map(|metric| self.metric(metric))
                .collect(),
            derived: record.derived.clone(),
            sensors: record
                .sensors
                .iter()
                .map(|sample| self.sample(sample))
                .collect(),
            findings: record
                .findings
                .iter()
                .map(|finding| self.finding(finding))
                .collect(),
            bytes_written: record.bytes_written,
        }
    }

    fn origin(&mut self, origin: &Origin) -> Origin {
        Origin {
            kind: origin.kind,
            source: self.optional("origin.source", origin.source.as_ref(), nothing),
            tool: self.optional("origin.tool", origin.tool.as_ref(), hardware),
            printed_text: self.optional(
                "origin.printed_text",
                origin.printed_text.as_ref(),
                nothing,
            ),
        }
    }

    fn target(&mut self, target: &Target) -> Target {
        let layers = target.layers.iter().map(|layer| Layer {
            kind: layer.kind,
            device: self.optional("target.layers.device", layer.device.as_ref(), nothing),
            start_bytes: layer.start_bytes,
        });
        Target {
            kind: target.kind,
            layers: layers.collect(),
            filesystem: self.optional(
                "target.filesystem",
                target.filesystem.as_ref(),
                one_of(FILESYSTEMS),
            ),
            span_bytes: target.span_bytes,
            free_bytes: target.free_bytes,
            filesystem_bytes: target.filesystem_bytes,
            direct: target.direct,
            mount_options: target.mount_options.clone(),
            nocow: target.nocow,
            named_file: target.named_file,
            payload_rate_bytes_per_s: target.payload_rate_bytes_per_s,
        }
    }

    fn devices(&mut self, devices: &[DeviceInfo]) -> Vec<DeviceInfo> {
        let numbered = (0..).zip(devices);
        numbered
            .map(|(number, device)| self.device(number, device))
            .collect()
    }

    fn device(&mut self, number: u32, device: &DeviceInfo) -> DeviceInfo {
        DeviceInfo {
            name: self.text("devices.name", &device.name, |_| format!("disk{number}")),
            size_bytes: device.size_bytes,
            model: self.optional("devices.model", device.model.as_ref(), hardware),
            firmware: self.optional("devices.firmware", device.firmware.as_ref(), hardware),
            removable: device.removable,
            queue: device.queue.as_ref().map(|queue| self.queue(queue)),
            card: device.card.clone(),
            reader: device.reader.as_ref().map(|reader| self.reader(reader)),
            health: device.health.clone(),
            sample: device.sample.clone(),
            no_sample: device.no_sample,
            prepared: device
                .prepared
                .as_ref()
                .map(|prepared| self.prepared(prepared)),
        }
    }

    fn queue(&mut self, queue: &Queue) -> Queue {
        Queue {
            scheduler: self.optional(
                "devices.queue.scheduler",
                queue.scheduler.as_ref(),
                one_of(SCHEDULERS),
            ),
            write_cache: self.optional(
                "devices.queue.write_cache",
                queue.write_cache.as_ref(),
                one_of(CACHES),
            ),
            ..queue.clone()
        }
    }

    fn reader(&mut self, reader: &Reader) -> Reader {
        Reader {
            driver: self.optional("devices.reader.driver", reader.driver.as_ref(), word),
            usb: reader.usb.as_ref().map(|usb| UsbBridge {
                vendor: self.text("devices.reader.usb.vendor", &usb.vendor, hexadecimal),
                product: self.text("devices.reader.usb.product", &usb.product, hexadecimal),
                revision: self.optional(
                    "devices.reader.usb.revision",
                    usb.revision.as_ref(),
                    hardware,
                ),
                name: self.optional("devices.reader.usb.name", usb.name.as_ref(), hardware),
                usb_version: self.optional(
                    "devices.reader.usb.usb_version",
                    usb.usb_version.as_ref(),
                    hardware,
                ),
                controller: usb
                    .controller
                    .as_ref()
                    .map(|controller| self.controller(controller)),
                ..usb.clone()
            }),
            pcie: reader.pcie.as_ref().map(|link| self.pcie(link)),
            ..reader.clone()
        }
    }

    fn controller(&mut self, controller: &UsbController) -> UsbController {
        let field = "devices.reader.usb.controller";
        UsbController {
            driver: self.optional(field, controller.driver.as_ref(), word),
            vendor: self.optional(field, controller.vendor.as_ref(), hexadecimal),
            product: self.optional(field, controller.product.as_ref(), hexadecimal),
            revision: self.optional(field, controller.revision.as_ref(), hexadecimal),
            firmware: self.optional(field, controller.firmware.as_ref(), hexadecimal),
            pcie: controller.pcie.as_ref().map(|link| self.pcie(link)),
        }
    }

    fn pcie(&mut self, link: &PcieLink) -> PcieLink {
        PcieLink {
            aspm_policy: self.optional(
                "devices.reader.pcie.aspm_policy",
                link.aspm_policy.as_ref(),
                one_of(ASPM_POLICIES),
            ),
            ..link.clone()
        }
    }

    fn prepared(&mut self, prepared: &Preparation) -> Preparation {
        let field = "devices.prepared";
        Preparation {
            started_at: self.text(field, &prepared.started_at, day),
            finished_at: self.optional(field, prepared.finished_at.as_ref(), day),
            ..prepared.clone()
        }
    }

    fn board(&mut self, board: &Board) -> Board {
        Board {
            model: self.optional("board.model", board.model.as_ref(), hardware),
            revision: self.optional("board.revision", board.revision.as_ref(), hexadecimal),
            memory_bytes: board.memory_bytes,
            cpu_count: board.cpu_count,
            most_frequency_hz: board.most_frequency_hz,
            power_warnings: board.power_warnings.clone(),
            firmware: board
                .firmware
                .iter()
                .map(|one| self.firmware(one))
                .collect(),
        }
    }

    fn firmware(&mut self, firmware: &Firmware) -> Firmware {
        let version = match firmware.kind {
            FirmwareKind::BootLoader | FirmwareKind::VideoCore => commit,
            FirmwareKind::UBoot => kernel,
            FirmwareKind::Bios => hardware,
            FirmwareKind::Other(_) => nothing,
        };
        let field = "board.firmware.version";
        Firmware {
            kind: firmware.kind,
            version: self.optional(field, firmware.version.as_ref(), version),
            built_at: self.optional(
                "board.firmware.built_at",
                firmware.built_at.as_ref(),
                moment,
            ),
        }
    }

    fn host(&mut self, host: &Host) -> Host {
        Host {
            system: self.optional("host.system", host.system.as_ref(), system),
            kernel: self.optional("host.kernel", host.kernel.as_ref(), kernel),
            architecture: self.optional("host.architecture", host.architecture.as_ref(), word),
            governor: self.optional("host.governor", host.governor.as_ref(), one_of(GOVERNORS)),
            is_virtual: host.is_virtual,
            load: host.load.clone(),
        }
    }

    fn labels(&mut self, labels: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let (public, private) = labels.iter().partition::<Vec<_>, _>(|(name, _)| {
            let field = format!("labels.{name}");
            PUBLIC_LABELS.contains(&name.as_str()) || self.keep.contains(&field.as_str())
        });
        let withheld = private
            .into_iter()
            .map(|(name, _)| format!("labels.{name}"));
        self.withheld.extend(withheld);
        let kept = public.into_iter();
        kept.map(|(name, text)| (name.clone(), text.clone()))
            .collect()
    }

    fn metric(&mut self, metric: &Metric) -> Metric {
        Metric {
            printed: metric.printed.as_ref().map(|printed| Printed {
                tool: self.text("metrics.printed.tool", &printed.tool, hardware),
                text: self.text("metrics.printed.text", &printed.text, hardware),
                ..printed.clone()
            }),
            ..metric.clone()
        }
    }

    fn sample(&mut self, sample: &SensorSample) -> SensorSample {
        let field = "sensors.messages";
        let messages = sample.messages.iter();
        SensorSample {
            messages: messages
                .map(|text| self.text(field, text, nothing))
                .collect(),
            ..sample.clone()
        }
    }

    fn finding(&mut self, finding: &Finding) -> Finding {
        let field = "findings.detail";
        Finding {
            detail: self.text(field, &finding.detail, nothing),
            advice: self.optional(field, finding.advice.as_ref(), nothing),
            ..finding.clone()
        }
    }
}

fn nothing(_: &str) -> String {
    String::new()
}

/// The day of a time such as `2026-11-22T10:11:12Z`, at midnight.
fn day(time: &str) -> String {
    let day = time.get(..10).filter(|day| has_form(day, "0000-00-00"));
    day.map_or_else(String::new, |day| format!("{day}T00:00:00Z"))
}

/// A time such as `2026-11-22T10:11:12Z`.
fn moment(time: &str) -> String {
    match has_form(time, "0000-00-00T00:00:00Z") {
        true => time.to_owned(),
        false => String::new(),
    }
}

/// Returns whether the text has a digit for each zero of the form, and its other characters.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(letter, form): (u8, u8)| match form {
        b'0' => letter.is_ascii_digit(),
        other => letter == other,
    };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
}

/// A name that hardware reports: its visible ASCII characters, if it is short.
fn hardware(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_graphic() || letter == ' ';
    match text.len() <= MOST_CHARACTERS && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => String::new(),
    }
}

/// The text if it is one of these.
fn one_of(known: &'static [&'static str]) -> impl Fn(&str) -> String {
    |text| match known.contains(&text) {
        true => text.to_owned(),
        false => String::new(),
    }
}

/// A number in hexadecimal digits.
fn hexadecimal(text: &str) -> String {
    digits(text, 16)
}

/// The name of a Git commit.
fn commit(text: &str) -> String {
    digits(text, MOST_CHARACTERS)
}

fn digits(text: &str, most_characters: usize) -> String {
    let is_number =
        text.len() <= most_characters && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    match is_number {
        true => text.to_owned(),
        false => String::new(),
    }
}

/// A name from the source of the kernel, such as that of a driver.
fn word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    match text.len() <= MOST_CHARACTERS && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => String::new(),
    }
}

/// The version of a kernel up to the first part that is neither a number nor a known variant.
fn kernel(version: &str) -> String {
    let is_number = |part: &str| {
        let digits = part.trim_start_matches("rc").trim_start_matches("deb");
        let mut numbers = digits.split('.');
        numbers
            .all(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let mut end = 0;
    let mut rest = version;
    loop {
        let length = rest.find(['-', '+', '~', '_']).unwrap_or(rest.len());
        let part = &rest[..length];
        if !(is_number(part) || KERNEL_VARIANTS.contains(&part)) {
            return version[..end].to_owned();
        }
        end = version.len() - rest.len() + length;
        match rest.get(length + 1..) {
            Some(next) => rest = next,
            None => return version[..end].to_owned(),
        }
    }
}

/// The name of a known system, with the number of its version.
fn system(name: &str) -> String {
    let Some(known) = SYSTEMS.iter().find(|known| name.starts_with(**known)) else {
        return String::new();
    };
    let version = name[known.len()..].strip_prefix(' ').unwrap_or_default();
    let is_numeric = |letter: char| letter.is_ascii_digit() || letter == '.';
    let digits = version
        .find(|letter| !is_numeric(letter))
        .unwrap_or(version.len());
    match &version[..digits] {
        "" => (*known).to_owned(),
        number => format!("{known} {number}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{AspmState, parse_record};

    fn record() -> Record {
        let text = json!({
            "format": 1, "id": "67e55044-10b1-426f-9247-bb680e5fe0c8",
            "origin": { "kind": "measured", "source": "/home/ada/runs" },
            "started_at": "2026-11-22T10:11:12Z",
            "board": { "firmware": [
                { "kind": "boot_loader", "version": "086b83e3cafe", "built_at": "2026-05-26T10:11:12Z" },
                { "kind": "u_boot", "version": "2024.01-armbian-ada", "built_at": "ada's day" },
                { "kind": "unheard_of", "version": "ada" },
            ] },
            "host": { "system": "Debian GNU/Linux 12 (ada)", "kernel": "6.1.0-18-rpi-v8-ada", "governor": "ada's" },
            "target": {
                "kind": "directory", "span_bytes": 1, "filesystem": "ext4",
                "layers": [{ "kind": "dm", "device": "ada-home" }],
            },
            "devices": [{
                "name": "sda", "model": "Storage Device",
                "reader": { "kind": "usb", "usb": { "vendor": "0bda", "product": "9210", "controller": {
                    "driver": "xhci_hcd", "vendor": "1106", "product": "3483", "firmware": "000138c0",
                    "pcie": { "aspm_policy": "ada's", "aspm": ["l1", "l1_2"] },
                } } },
                "prepared": { "fill": "zero", "started_at": "2026-11-22T01:00:00Z", "size_bytes": 1, "done_bytes": 1 },
            }],
            "labels": { "product": "Evo Plus", "note": "ada's card" },
            "sensors": [{ "at_ns": 1, "messages": ["ada"] }],
            "findings": [{ "kind": "kernel_messages", "severity": "warning", "detail": "ada" }],
            "unheard_of": "ada",
        });
        parse_record(&text.to_string()).unwrap()
    }

    #[test]
    fn what_is_withheld_is_named_and_the_form_of_a_form_is_itself() {
        let form = public_form(&record(), &[]);
        let text = crate::record_to_json(&form.record).unwrap();
        assert!(!text.contains("ada"), "{text}");
        assert_eq!(
            form.withheld,
            [
                "board.firmware.built_at",
                "board.firmware.version",
                "devices.name",
                "devices.prepared",
                "devices.reader.pcie.aspm_policy",
                "findings.detail",
                "host.governor",
                "host.kernel",
                "host.system",
                "labels.note",
                "origin.source",
                "sensors.messages",
                "started_at",
                "target.layers.device",
            ]
        );
        let usb = form.record.devices[0]
            .reader
            .as_ref()
            .and_then(|reader| reader.usb.as_ref());
        let controller = usb.and_then(|usb| usb.controller.as_ref()).unwrap();
        assert_eq!(controller.firmware.as_deref(), Some("000138c0"));
        let link = controller.pcie.as_ref().unwrap();
        assert_eq!(link.aspm_policy, None);
        assert_eq!(link.aspm, Some(vec![AspmState::L1, AspmState::L1Sub2]));
        let versions: Vec<Option<&str>> = form
            .record
            .board
            .iter()
            .flat_map(|board| &board.firmware)
            .map(|firmware| firmware.version.as_deref())
            .collect();
        assert_eq!(versions, [Some("086b83e3cafe"), Some("2024.01"), None]);
        let host = form.record.host.as_ref().unwrap();
        assert_eq!(host.system.as_deref(), Some("Debian GNU/Linux 12"));
        assert_eq!(host.kernel.as_deref(), Some("6.1.0-18-rpi-v8"));
        assert_eq!(
            form.record.started_at.as_deref(),
            Some("2026-11-22T00:00:00Z")
        );
        assert_eq!(form.record.sensors[0].messages, [""], "their number stays");
        let again = public_form(&form.record, &[]);
        assert_eq!(again.record, form.record);
        assert_eq!(again.withheld, Vec::<String>::new());
    }

    #[test]
    fn a_field_stays_if_its_owner_keeps_it() {
        let keep = ["labels.note", "host.kernel", "started_at"];
        let form = public_form(&record(), &keep);
        assert_eq!(form.record.labels["note"], "ada's card");
        assert_eq!(form.record.started_at, record().started_at);
        let kept = form
            .withheld
            .iter()
            .filter(|field| keep.contains(&field.as_str()));
        assert_eq!(kept.count(), 0);
    }

    #[test]
    fn kernels_and_systems_are_cut_behind_what_is_known() {
        for (text, public) in [
            ("6.6.31+rpt-rpi-v8", "6.6.31+rpt-rpi-v8"),
            ("6.6.31-rpi-v8", "6.6.31-rpi-v8"),
            ("6.1.0-18-arm64", "6.1.0-18-arm64"),
            ("6.9.0-rc1-ada", "6.9.0-rc1"),
            ("ada", ""),
            ("", ""),
        ] {
            assert_eq!(kernel(text), public, "{text}");
            assert_eq!(kernel(public), public);
        }
        for (text, public) in [
            ("Ubuntu 24.04.1 LTS", "Ubuntu 24.04.1"),
            ("Arch Linux", "Arch Linux"),
            ("Arch Linux ARM", "Arch Linux ARM"),
            ("Ada OS 3", ""),
        ] {
            assert_eq!(system(text), public, "{text}");
            assert_eq!(system(public), public);
        }
        for (time, public) in [
            ("2026-11-22T10:11:12Z", "2026-11-22T00:00:00Z"),
            ("today", ""),
        ] {
            assert_eq!(day(time), public);
        }
    }
}
