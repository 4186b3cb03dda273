//! The evidence digest against the definition in `docs/RECORD.md`, computed by jq.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use cardmark_core::{Origin, OriginKind, evidence_digest, record_to_json};
use cardmark_samples::corpus;
use cardmark_testkit::{Need, are_met};
use sha2::{Digest, Sha256};

/// The program of jq in `docs/RECORD.md`.
fn definition() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/RECORD.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, behind) = page.split_once("```jq\n").unwrap();
    behind.split_once("```").unwrap().0.to_owned()
}

/// The digest as jq and `sha2` compute it.
fn digest_by_jq(document: &str) -> String {
    let mut jq = Command::new("jq")
        .args(["-cSj", &definition()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = jq.stdin.take().unwrap();
    input.write_all(document.as_bytes()).unwrap();
    drop(input);
    let output = jq.wait_with_output().unwrap();
    assert!(output.status.success());
    let digest = Sha256::digest(&output.stdout);
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[test]
fn the_evidence_digest_is_that_of_the_page_and_of_all_copies() {
    if !are_met(&[Need::Jq]) {
        return;
    }
    let mut digests = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for kept in corpus().into_iter().filter(|kept| !is_probe(&kept.name)) {
        let name = &kept.name;
        kinds.insert(name.split('-').next().unwrap().to_owned());
        let record = kept.record();
        let digest = evidence_digest(&record).unwrap();
        assert_eq!(digest, digest_by_jq(&kept.document), "{name}");
        let mut copy = record;
        copy.id = uuid::Uuid::new_v4();
        copy.origin = Origin::of(OriginKind::Measured);
        copy.started_at = None;
        copy.labels.insert("note".to_owned(), "mine".to_owned());
        copy.metrics.clear();
        copy.findings.clear();
        assert_eq!(evidence_digest(&copy), Some(digest.clone()));
        if let Some(integrity) = &mut copy.integrity {
            let mut other = integrity.clone();
            other.from_bytes = Some(1 << 20);
            std::mem::swap(integrity, &mut other);
            assert_ne!(evidence_digest(&copy), Some(digest.clone()), "{name}");
            copy.integrity = Some(other);
        }
        if let Some(trial) = copy.trials.first_mut() {
            trial.span_ns += 1;
            let changed = evidence_digest(&copy).unwrap();
            assert_ne!(changed, digest, "{name}");
            assert_eq!(changed, digest_by_jq(&record_to_json(&copy).unwrap()));
        }
        assert!(digests.insert(digest), "{name} has the evidence of another");
    }
    assert_eq!(
        Vec::from_iter(kinds),
        ["anatomy", "endure", "run", "verify"]
    );
}

/// Two cards of one kind end a probe with the same numbers: that makes none the copy of the other.
#[test]
fn results_without_times_are_no_evidence() {
    let probes: Vec<_> = corpus()
        .into_iter()
        .filter(|kept| is_probe(&kept.name))
        .collect();
    assert_eq!(probes.len(), 2);
    for probe in probes {
        assert_eq!(evidence_digest(&probe.record()), None, "{}", probe.name);
    }
}

fn is_probe(name: &str) -> bool {
    name.starts_with("probe-")
}
