//! Findings about a record's device, reader, board and system, with advice for the situation. Pure: from the
//! record and the catalogue's facts.

mod bus;
mod card;
mod host;
mod link;
mod load;
mod situation;

use cardmark_core::{Finding, FindingKind, Record};

pub(crate) use link::SUPER_SPEED_BITS_PER_S;
use situation::situations;

/// Replaces these findings in the record.
pub fn notice(record: &mut Record) {
    let situations: Vec<Finding> = situations(record)
        .iter()
        .flat_map(|situation| {
            [
                bus::findings(situation),
                card::findings(situation),
                link::findings(situation),
            ]
        })
        .flatten()
        .chain(host::findings(record))
        .chain(load::findings(record))
        .collect();
    record.findings.retain(|finding| !is_noticed(finding.kind));
    for finding in situations {
        if !record.findings.contains(&finding) {
            record.findings.push(finding);
        }
    }
}

/// True if findings of this kind come from here and can be derived again from the record.
fn is_noticed(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::SlowBus
            | FindingKind::NoCommandQueue
            | FindingKind::NoCache
            | FindingKind::Overclocked
            | FindingKind::SlowUsb
            | FindingKind::NoUas
            | FindingKind::Misaligned
            | FindingKind::UnderVoltage
            | FindingKind::Powersave
            | FindingKind::BusyHost
            | FindingKind::Worn
            | FindingKind::SlowPcie
            | FindingKind::LabelMismatch
            | FindingKind::UnusualRegisters
            | FindingKind::ContradictingRegisters
            | FindingKind::HiddenRegisters
    )
}
