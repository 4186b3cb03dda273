//! Contradictions between the card's registers and its label, and between registers.

use cardmark_core::{Finding, FindingKind, Severity};

use super::situation::Situation;
use cardmark_core::CLAIMS_LABEL;

pub(super) fn findings(situation: &Situation<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = mismatches(situation);
    findings.extend(crate::registers::findings(
        situation.record,
        situation.device,
    ));
    findings
}

/// Returns findings for claims that the registers do not confirm. A register class above the label is no
/// problem.
fn mismatches(situation: &Situation<'_>) -> Vec<Finding> {
    let Some(facts) = situation.facts().filter(|facts| !facts.classes.is_empty()) else {
        return Vec::new();
    };
    let claims = situation.record.labels.get(CLAIMS_LABEL);
    let claimed = claims.map(String::as_str).unwrap_or_default();
    let classes = claimed.split(' ').filter_map(cardmark_catalog::class);
    classes
        .filter_map(|class| {
            let said = facts
                .classes
                .iter()
                .filter_map(|name| cardmark_catalog::class(name));
            let family: Vec<_> = said.filter(|said| said.family == class.family).collect();
            let holds = family
                .iter()
                .any(|said| said.id == class.id || said.implies.contains(&class.id));
            let say = match family.first() {
                Some(said) => said.id.as_str(),
                None => "no such class",
            };
            (!holds).then(|| mismatch(&class.id, say))
        })
        .collect()
}

fn mismatch(claimed: &str, said: &str) -> Finding {
    let detail = format!("the label claims {claimed}, the registers claim {said}");
    Finding::new(FindingKind::LabelMismatch, Severity::Warning, detail).advise(
        "either the label promises too much or the registers contain mistakes; both occur \
         in genuine cards: measure, and check the capacity by writing and reading it back",
    )
}
