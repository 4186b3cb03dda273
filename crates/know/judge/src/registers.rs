//! Plausibility of a card's registers: conformance with the specification, and similarity to most genuine
//! cards. Hints, never proof.

use cardmark_cards::{CapacityClass, Registers, SdVersion};
use cardmark_catalog::{Sign, SignInput, Weight, signs};
use cardmark_core::{
    Card, CardKind, DeviceInfo, Finding, FindingKind, Record, SerialKind, Severity, Verdict,
    VerdictOutcome,
};

/// Name of the verdict.
const RULE: &str = "registers";

/// A broken rule of the SD specification.
struct Contradiction {
    /// The rule's name.
    rule: &'static str,
    /// Description of the problem, in a sentence without full stop.
    detail: String,
}

/// Returns the findings about the registers of a device's card.
pub(crate) fn findings(record: &Record, device: &DeviceInfo) -> Vec<Finding> {
    let Some(card) = &device.card else {
        return Vec::new();
    };
    let broken = contradictions(card).into_iter().map(|contradiction| {
        Finding::new(
            FindingKind::ContradictingRegisters,
            Severity::Warning,
            contradiction.detail,
        )
        .advise(
            "write the whole card and read it back before you trust it; registers alone prove \
             nothing",
        )
    });
    let unusual = signs_of(record, device, card).into_iter().map(|sign| {
        let detail = format!("{}{}", sign.detail, seen(sign));
        Finding::new(FindingKind::UnusualRegisters, Severity::Note, detail).advise(
            "unusual is not counterfeit: only writing the whole card and reading it back proves its \
             capacity",
        )
    });
    broken.chain(unusual).collect()
}

/// Returns the verdict on a device's card; `None` if it shows no registers that are known well enough.
pub(crate) fn verdict(record: &Record, device: &DeviceInfo) -> Option<Verdict> {
    let card = device
        .card
        .as_ref()
        .filter(|card| card.kind == CardKind::Sd && card.registers.contains_key("cid"))?;
    let signs = signs_of(record, device, card);
    let mut reasons: Vec<String> = contradictions(card)
        .iter()
        .map(|broken| {
            format!(
                "{} (strong; SD specification: {})",
                broken.detail, broken.rule
            )
        })
        .collect();
    reasons.extend(signs.iter().map(|sign| {
        let (weight, seen) = (weight(sign), seen(sign));
        format!("{} ({weight}; {}{seen})", sign.detail, sign.source)
    }));
    let outcome = if reasons.is_empty() {
        reasons.push("that proves nothing: registers can be rewritten".to_owned());
        VerdictOutcome::Usual
    } else {
        VerdictOutcome::Unusual
    };
    Some(Verdict {
        rule: RULE.to_owned(),
        outcome,
        score: None,
        reasons,
        metrics: Vec::new(),
    })
}

/// Returns the genuine cards with this sign, as an addition to a sentence.
fn seen(sign: &Sign) -> String {
    match sign.seen_in_retail.as_slice() {
        [] => String::new(),
        seen => format!("; seen in genuine retail cards: {}", seen.join(", ")),
    }
}

fn weight(sign: &Sign) -> &'static str {
    match sign.weight {
        Weight::Weak => "weak",
        Weight::Medium => "medium",
        Weight::Strong => "strong",
    }
}

fn signs_of(record: &Record, device: &DeviceInfo, card: &Card) -> Vec<&'static Sign> {
    let mut facts = card.decoded.clone();
    facts.capacity_bytes = facts.capacity_bytes.or(device.size_bytes);
    // One number of each kind is enough: signs distinguish only zero, low and other numbers.
    let serial = card.decoded.serial.and_then(|kind| match kind {
        SerialKind::Zero => Some(0),
        SerialKind::Low => Some(1),
        SerialKind::Usual => Some(u32::MAX),
        SerialKind::Other(_) => None,
    });
    signs(&SignInput {
        kind: card.kind,
        facts: &facts,
        serial,
        today: record.started_at.as_deref().and_then(|at| at.get(..7)),
    })
}

/// The essential conditions of the SD Physical Layer specification (9.10) that can be checked in registers.
fn contradictions(card: &Card) -> Vec<Contradiction> {
    if card.kind != CardKind::Sd {
        return Vec::new();
    }
    let registers = Registers::from_hex(card.kind, &card.registers);
    let mut found = Vec::new();
    let mut add = |rule, detail: String| found.push(Contradiction { rule, detail });
    if card.decoded.checksum_fits == Some(false) {
        add(
            "5.2, 5.3",
            "a checksum does not fit its register".to_owned(),
        );
    }
    if let Some(csd) = &registers.csd
        && let Some(fields) = csd.unfixed_fields().filter(|fields| !fields.is_empty())
    {
        let names = fields.join(", ");
        add(
            "5.3.3",
            format!("the CSD differs from all cards of its kind: {names}"),
        );
    }
    bus_and_security(&registers, &mut add);
    classes(&registers, &mut add);
    found
}

fn bus_and_security(registers: &Registers, add: &mut impl FnMut(&'static str, String)) {
    let Some(scr) = &registers.scr else {
        return;
    };
    // One line and four: 0101b.
    if scr.bus_widths() & 0b0101 != 0b0101 {
        add(
            "5.6",
            "the SCR denies buses of one and of four lines, which all cards have".to_owned(),
        );
    }
    let capacity = registers.csd.and_then(|csd| csd.capacity_class());
    if capacity == Some(CapacityClass::Sdxc) && ![0, 4].contains(&scr.security()) {
        let security = scr.security();
        add(
            "5.6",
            format!("an SDXC card with SD_SECURITY {security} instead of 4"),
        );
    }
}

fn classes(registers: &Registers, add: &mut impl FnMut(&'static str, String)) {
    let (Some(ssr), Some(scr)) = (&registers.ssr, &registers.scr) else {
        return;
    };
    let version = scr.sd_version();
    let is_older = |than: SdVersion| version.is_some_and(|version| version < than);
    let app = ssr.app_class().unwrap_or(0);
    let mut claims = vec![
        (app >= 1, "class A1", SdVersion::V5),
        (app >= 2, "class A2", SdVersion::V6),
        (
            ssr.video_class().unwrap_or(0) > 0,
            "a video class",
            SdVersion::V5,
        ),
        (ssr.has_discard(), "discard", SdVersion::V5),
        (
            ssr.uhs_grade().unwrap_or(0) > 0,
            "a UHS grade",
            SdVersion::V3,
        ),
    ];
    // Of several claims, keep only the one that needs the newest specification.
    claims.retain(|(claimed, _, since)| *claimed && is_older(*since));
    if let Some((_, what, since)) = claims.iter().max_by_key(|(_, _, since)| *since) {
        let detail =
            format!("the SSR claims {what}, which came with SD {since}, the SCR an older one");
        add("5.6, 4.10.2", detail);
    }
    if app >= 2 && (ssr.command_queue_count() == 0 || !ssr.has_cache()) {
        let detail = "class A2 without command queue or cache, which this class requires";
        add("4.16", detail.to_owned());
    }
    if app >= 2 && !scr.supports_command(48) {
        add(
            "4.16",
            "class A2 without the commands that turn its cache on".to_owned(),
        );
    }
    let capacity = registers.csd.and_then(|csd| csd.capacity_class());
    if capacity == Some(CapacityClass::Sdxc)
        && ssr.speed_class().unwrap_or(0) > 0
        && !scr.supports_command(20)
    {
        add(
            "4.13",
            "an SDXC card with a speed class but without CMD20".to_owned(),
        );
    }
    let unit = ssr.allocation_unit_bytes().unwrap_or(0);
    if capacity == Some(CapacityClass::Sdhc) && unit > 4 << 20 {
        add(
            "4.10.2",
            "an SDHC card with allocation units above 4 MiB".to_owned(),
        );
    }
}
