//! The public form of a record: what may leave the computer on which it was made.

mod allowed;

use std::collections::BTreeMap;

use allowed::{
    ASPM_POLICIES, FILESYSTEMS, GOVERNORS, SCHEDULERS, cache, commit, day, hardware, hexadecimal,
    kernel, moment, nothing, one_of, option, system, warning, word,
};
use cardmark_cards::{Card, CardFacts, Health, Registers};

use crate::{
    Board, Context, Derived, DeviceInfo, Finding, Firmware, FirmwareKind, Host, Layer, Metric,
    Origin, OriginKind, PcieLink, Preparation, Printed, Procedure, Queue, Reader, Record, Rounds,
    Sample, SensorSample, SuiteRef, Target, Tool, Trial, UsbBridge, UsbController, Verdict,
    Workload,
};

/// Labels that describe a product or its use, not a person.
const PUBLIC_LABELS: [&str; 4] = ["product", "product_id", "claims", "setting"];
/// Fields of texts that the public form shortens or leaves out, and that their owner may keep.
const FIELDS: &[&str] = &[
    "board.firmware.built_at",
    "board.firmware.version",
    "board.model",
    "board.power_warnings",
    "board.revision",
    "derived.deviations",
    "derived.verdicts.metrics",
    "derived.verdicts.reasons",
    "derived.verdicts.rule",
    "devices.card.decoded.classes",
    "devices.card.decoded.made",
    "devices.card.decoded.oem",
    "devices.card.decoded.product",
    "devices.card.decoded.revision",
    "devices.card.decoded.sd_version",
    "devices.firmware",
    "devices.health.warnings",
    "devices.model",
    "devices.name",
    "devices.prepared",
    "devices.queue.scheduler",
    "devices.queue.write_cache",
    "devices.reader.driver",
    "devices.reader.pcie.aspm_policy",
    "devices.reader.usb.controller",
    "devices.reader.usb.name",
    "devices.reader.usb.product",
    "devices.reader.usb.revision",
    "devices.reader.usb.usb_version",
    "devices.reader.usb.vendor",
    "devices.sample.id",
    "findings.detail",
    "findings.workloads",
    "host.architecture",
    "host.governor",
    "host.kernel",
    "host.system",
    "metrics.id",
    "metrics.printed.meaning",
    "metrics.printed.text",
    "metrics.printed.tool",
    "metrics.warnings",
    "origin.printed_text",
    "origin.source",
    "origin.tool",
    "seed",
    "sensors.bus_errors",
    "sensors.messages",
    "started_at",
    "suite.digest",
    "suite.name",
    "suite.only",
    "suite.tier",
    "target.filesystem",
    "target.layers.device",
    "target.mount_options",
    "tool.commit",
    "tool.name",
    "tool.profile",
    "tool.target",
    "tool.version",
    "workloads.id",
    "workloads.rounds.unless_equal_to",
];

/// Fields that the public form can keep, but for labels.
pub fn keepable_fields() -> &'static [&'static str] {
    FIELDS
}

/// Returns whether the public form can keep a field of this name: one of [`PublicForm::withheld`] that is a text.
pub fn is_keepable(field: &str) -> bool {
    let label = field.strip_prefix("labels.");
    FIELDS.contains(&field) || label.is_some_and(|name| !name.is_empty())
}

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
pub fn public_form(record: &Record, keep: &[&str]) -> PublicForm {
    let mut form = Form {
        keep,
        withheld: Vec::new(),
    };
    let mut public = form.record(record);
    public.share_workloads();
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
        debug_assert!(is_keepable(field), "{field}");
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

    /// Public texts of a list; those without anything public are left out.
    fn list(&mut self, field: &str, texts: &[String], public: fn(&str) -> String) -> Vec<String> {
        let all = texts.iter().map(|text| self.text(field, text, public));
        all.filter(|text| !text.is_empty()).collect()
    }

    /// All fields by name: a new one has to be decided on here.
    fn record(&mut self, record: &Record) -> Record {
        Record {
            format: record.format,
            method: record.method,
            id: record.id,
            origin: self.origin(&record.origin),
            started_at: self.optional("started_at", record.started_at.as_ref(), day),
            tool: record.tool.as_ref().map(|tool| self.tool(tool)),
            suite: record.suite.as_ref().map(|suite| self.suite(suite)),
            seed: self.optional("seed", record.seed.as_ref(), hexadecimal),
            target: record.target.as_ref().map(|target| self.target(target)),
            devices: self.devices(&record.devices),
            board: record.board.as_ref().map(|board| self.board(board)),
            host: record.host.as_ref().map(|host| self.host(host)),
            labels: self.labels(&record.labels),
            context: None,
            workloads: Vec::new(),
            trials: self.trials(&record.trials),
            integrity: record.integrity.clone(),
            read_back: record.read_back,
            anatomy: record.anatomy.clone(),
            surface: record.surface.clone(),
            metrics: record
                .metrics
                .iter()
                .map(|metric| self.metric(metric))
                .collect(),
            derived: record.derived.as_ref().map(|derived| self.derived(derived)),
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
            written_bytes: record.written_bytes,
        }
    }

    fn origin(&mut self, origin: &Origin) -> Origin {
        // The model of a simulated card.
        let source: fn(&str) -> String = match origin.kind {
            OriginKind::Simulated => word,
            _ => nothing,
        };
        Origin {
            kind: origin.kind,
            source: self.optional("origin.source", origin.source.as_ref(), source),
            tool: self.optional("origin.tool", origin.tool.as_ref(), hardware),
            printed_text: self.optional(
                "origin.printed_text",
                origin.printed_text.as_ref(),
                nothing,
            ),
        }
    }

    fn tool(&mut self, tool: &Tool) -> Tool {
        Tool {
            name: self.text("tool.name", &tool.name, word),
            version: self.text("tool.version", &tool.version, word),
            commit: self.optional("tool.commit", tool.commit.as_ref(), commit),
            modified: tool.modified,
            target: self.optional("tool.target", tool.target.as_ref(), word),
            profile: self.optional("tool.profile", tool.profile.as_ref(), word),
        }
    }

    fn suite(&mut self, suite: &SuiteRef) -> SuiteRef {
        SuiteRef {
            name: self.text("suite.name", &suite.name, word),
            version: suite.version,
            digest: self.optional("suite.digest", suite.digest.as_ref(), commit),
            only: self.list("suite.only", &suite.only, word),
            tier: self.optional("suite.tier", suite.tier.as_ref(), word),
        }
    }

    /// Trials whose workloads have public names, each with its own workload.
    fn trials(&mut self, trials: &[Trial]) -> Vec<Trial> {
        let mut public = trials.to_vec();
        for trial in &mut public {
            let workload = self.workload(&trial.workload);
            if workload != *trial.workload {
                trial.workload = workload.into();
            }
        }
        public
    }

    fn workload(&mut self, workload: &Workload) -> Workload {
        let (rounds, field) = (&workload.rounds, "workloads.rounds.unless_equal_to");
        // All fields of a procedure of a later version.
        let is_known = |procedure: &&Procedure| !matches!(procedure, Procedure::Other(_));
        let procedure = workload.procedure.as_ref().filter(is_known);
        if procedure.is_none() && workload.procedure.is_some() {
            self.withheld.push("workloads.procedure".to_owned());
        }
        Workload {
            id: self.text("workloads.id", &workload.id, word),
            procedure: procedure.cloned(),
            rounds: Rounds {
                unless_equal_to: self.optional(field, rounds.unless_equal_to.as_ref(), word),
                ..rounds.clone()
            },
            ..workload.clone()
        }
    }

    fn derived(&mut self, derived: &Derived) -> Derived {
        let verdicts = derived.verdicts.iter();
        let verdicts = verdicts.map(|verdict| Verdict {
            rule: self.text("derived.verdicts.rule", &verdict.rule, word),
            outcome: verdict.outcome,
            score: verdict.score,
            reasons: self.list("derived.verdicts.reasons", &verdict.reasons, nothing),
            metrics: self.list("derived.verdicts.metrics", &verdict.metrics, word),
        });
        Derived {
            judge_version: derived.judge_version,
            verdicts: verdicts.collect(),
            deviations: self.list("derived.deviations", &derived.deviations, nothing),
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
            mount_options: self.list("target.mount_options", &target.mount_options, option),
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
            card: device.card.as_ref().map(|card| self.card(card)),
            reader: device.reader.as_ref().map(|reader| self.reader(reader)),
            health: device.health.as_ref().map(|health| Health {
                warnings: self.list("devices.health.warnings", &health.warnings, warning),
                ..health.clone()
            }),
            sample: device
                .sample
                .as_ref()
                .and_then(|sample| self.device_sample(sample)),
            no_sample: device.no_sample,
            prepared: device
                .prepared
                .as_ref()
                .map(|prepared| self.prepared(prepared)),
        }
    }

    fn device_sample(&mut self, sample: &Sample) -> Option<Sample> {
        let id = self.optional("devices.sample.id", Some(&sample.id), hexadecimal)?;
        Some(Sample {
            id,
            ..sample.clone()
        })
    }

    /// Registers as this program writes them: those that it knows, without serial number and checksums.
    fn card(&mut self, card: &Card) -> Card {
        let registers = Registers::from_hex(card.kind, &card.registers)
            .card()
            .registers;
        if registers != card.registers {
            self.withheld.push("devices.card.registers".to_owned());
        }
        let facts = &card.decoded;
        let mut fact = |name, text: &Option<String>, public: fn(&str) -> String| {
            self.optional(
                &format!("devices.card.decoded.{name}"),
                text.as_ref(),
                public,
            )
        };
        let decoded = CardFacts {
            oem: fact("oem", &facts.oem, hexadecimal),
            product: fact("product", &facts.product, hardware),
            revision: fact("revision", &facts.revision, word),
            made: fact("made", &facts.made, word),
            sd_version: fact("sd_version", &facts.sd_version, word),
            classes: self.list("devices.card.decoded.classes", &facts.classes, word),
            ..facts.clone()
        };
        Card {
            kind: card.kind,
            registers,
            decoded,
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
                cache,
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
                revision: self.optional("devices.reader.usb.revision", usb.revision.as_ref(), word),
                name: self.optional("devices.reader.usb.name", usb.name.as_ref(), hardware),
                usb_version: self.optional(
                    "devices.reader.usb.usb_version",
                    usb.usb_version.as_ref(),
                    word,
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
            seed: self.optional(field, prepared.seed.as_ref(), hexadecimal),
            ..prepared.clone()
        }
    }

    fn board(&mut self, board: &Board) -> Board {
        Board {
            model: self.optional("board.model", board.model.as_ref(), hardware),
            revision: self.optional("board.revision", board.revision.as_ref(), hexadecimal),
            memory_bytes: board.memory_bytes,
            cpu_count: board.cpu_count,
            max_frequency_hz: board.max_frequency_hz,
            power_warnings: self.list("board.power_warnings", &board.power_warnings, word),
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
            page_bytes: host.page_bytes,
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
            id: self.text("metrics.id", &metric.id, word),
            warnings: self.list("metrics.warnings", &metric.warnings, word),
            printed: metric.printed.as_ref().map(|printed| Printed {
                tool: self.text("metrics.printed.tool", &printed.tool, hardware),
                text: self.text("metrics.printed.text", &printed.text, hardware),
                meaning: self.optional(
                    "metrics.printed.meaning",
                    printed.meaning.as_ref(),
                    hardware,
                ),
                ..printed.clone()
            }),
            ..metric.clone()
        }
    }

    fn sample(&mut self, sample: &SensorSample) -> SensorSample {
        let field = "sensors.messages";
        let messages = sample.messages.iter();
        let bus_errors = sample.bus_errors.iter();
        let bus_errors =
            bus_errors.map(|(name, count)| (self.text("sensors.bus_errors", name, word), *count));
        let bus_errors = bus_errors.filter(|(name, _)| !name.is_empty()).collect();
        SensorSample {
            bus_errors,
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
            workloads: self.list("findings.workloads", &finding.workloads, word),
            ..finding.clone()
        }
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
            "sensors": { "at_ms": [1], "messages": [[0, "ada"]] },
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
}
