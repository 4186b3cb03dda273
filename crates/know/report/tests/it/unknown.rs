//! Storage that is not known: no text gives a verdict on it.

use cardmark_catalog::publications;
use cardmark_core::{
    Derived, Finding, FindingKind, Integrity, IntegrityTest, Layer, LayerKind, Metric, Origin,
    OriginKind, Quantity, Record, Severity, StorageKind, Target, TargetKind, Verdict,
    VerdictOutcome, run_id_from_bytes,
};
use cardmark_judge::{Figure, standing_among};
use cardmark_report::document::markdown;
use cardmark_report::{Beside, Style, place_line, result_of, survey, terminal_with};

/// Words of verdicts, in small letters.
const VERDICTS: [&str; 20] = [
    "confirmed",
    ": pass",
    "likely pass",
    "borderline",
    "score 1",
    "fast for",
    "good for",
    "slow for",
    "about fast enough",
    "fine for",
    "usable",
    "faster than",
    "fastest",
    "suitable",
    "readable",
    "kept all",
    "intact",
    "data read back",
    "comfortable",
    "no bad block",
];

/// A fast record of an earlier version, with verdicts, through an overlay or FUSE.
fn record(filesystem: &str, layer: LayerKind) -> Record {
    let origin = Origin::of(OriginKind::Measured);
    let mut record = Record::new(run_id_from_bytes([3; 16]), origin);
    let mut target = Target::of(TargetKind::Directory);
    target.filesystem = Some(filesystem.to_owned());
    target.layers = [LayerKind::Mount, layer]
        .map(|kind| Layer {
            kind,
            device: None,
            start_bytes: None,
        })
        .to_vec();
    record.target = Some(target);
    let kind = FindingKind::UnknownDevice;
    record.findings = vec![Finding::new(
        kind,
        Severity::Warning,
        "the device is hidden",
    )];
    record
        .labels
        .insert("product".to_owned(), "Samsung Evo+ 32 GB".to_owned());
    for (id, quantity, value) in [
        ("rand_read_4k", Quantity::OperationRate, 94_530.0),
        ("rand_write_4k", Quantity::OperationRate, 80_000.0),
        ("seq_read_1m", Quantity::ByteRate, 2e9),
        ("seq_write_1m", Quantity::ByteRate, 1e9),
        ("sync_write_4k", Quantity::OperationRate, 20_000.0),
        ("mixed_4k", Quantity::OperationRate, 50_000.0),
    ] {
        record.metrics.push(Metric::new(id, quantity, value));
    }
    let verdict = |rule: &str, outcome, score| Verdict {
        rule: rule.to_owned(),
        outcome,
        score,
        reasons: Vec::new(),
        metrics: Vec::new(),
    };
    record.derived = Some(Derived {
        judge_version: 3,
        verdicts: vec![
            verdict("agnostics", VerdictOutcome::Pass, None),
            verdict("A2", VerdictOutcome::LikelyPass, None),
            verdict("V30", VerdictOutcome::Borderline, None),
            verdict("pibenchmarks", VerdictOutcome::Score, Some(1234.0)),
        ],
        deviations: Vec::new(),
    });
    record
}

/// The record, and one of each test that found no fault.
fn records() -> Vec<Record> {
    let plain = [
        record("overlay", LayerKind::Overlay),
        record("fuse.bindfs", LayerKind::Mount),
        record("fuse.sshfs", LayerKind::Network),
        record("tmpfs", LayerKind::Memory),
    ];
    let tests = [
        (IntegrityTest::Verify, StorageKind::Confirmed),
        (IntegrityTest::Verify, StorageKind::UnknownDevice),
        (IntegrityTest::Probe, StorageKind::Confirmed),
        (IntegrityTest::Endure, StorageKind::Confirmed),
        (IntegrityTest::Retention, StorageKind::Confirmed),
        (IntegrityTest::Read, StorageKind::Readable),
        (IntegrityTest::PowerCut, StorageKind::Durable),
    ];
    let mut all = plain.to_vec();
    for (record, (test, kind)) in plain.iter().flat_map(|one| tests.map(|test| (one, test))) {
        let mut record = record.clone();
        record.metrics.clear();
        record.integrity = Some(Integrity::new(test, kind, 64 << 20, 64 << 20));
        all.push(record);
    }
    all
}

fn assert_no_verdict(text: &str) {
    let small = text.to_lowercase();
    for word in VERDICTS {
        assert!(!small.contains(word), "{word}:\n{text}");
    }
}

#[test]
fn no_text_gives_a_verdict_on_storage_that_is_not_known() {
    let published: Vec<Record> = publications()
        .iter()
        .flat_map(|publication| publication.records())
        .collect();
    for record in records() {
        for all in [false, true] {
            let among = standing_among(&record, &published);
            let beside = Beside {
                all,
                place: among.as_ref().map(place_line),
                next: Some("cardmark verify .".to_owned()),
                ..Beside::default()
            };
            let text = terminal_with(&record, &beside, 300, Style::Plain);
            assert_no_verdict(&text);
            assert!(!text.contains("cardmark verify ."), "{text}");
            if record.integrity.is_none() && !text.contains("in memory") {
                assert!(
                    text.contains("the device below is not known. Name a"),
                    "{text}"
                );
            }
        }
        assert_no_verdict(&result_of(&record));
        let document = survey("Run", std::slice::from_ref(&record));
        assert_no_verdict(&markdown(&document));
        assert!(Figure::of(&record).is_empty());
    }
    let two = [record("overlay", LayerKind::Overlay), {
        let mut other = record("overlay", LayerKind::Overlay);
        other.id = run_id_from_bytes([4; 16]);
        other
            .labels
            .insert("product".to_owned(), "SanDisk Extreme 16 GB".to_owned());
        other
    }];
    assert_no_verdict(&markdown(&survey("Runs", &two)));
}

#[test]
fn the_words_would_be_found_on_a_device_that_is_known() {
    let mut known = record("ext4", LayerKind::Disk);
    known.findings.clear();
    let text = terminal_with(&known, &Beside::default(), 300, Style::Plain).to_lowercase();
    for word in [
        "fast for",
        "fine for",
        ": pass",
        "likely pass",
        "borderline",
        "score 1",
        "comfortable",
    ] {
        assert!(text.contains(word), "{word}:\n{text}");
    }
}

#[test]
fn an_overlay_names_the_remedy() {
    let record = record("overlay", LayerKind::Overlay);
    let text = terminal_with(&record, &Beside::default(), 300, Style::Plain);
    let expected = "Measured through an overlay; the device below is not known. Name a directory on the card, such as \
                    /boot/firmware, or the device; or turn off the overlay filesystem (`sudo raspi-config`, Performance \
                    Options) and restart";
    assert!(text.contains(expected), "{text}");
}
