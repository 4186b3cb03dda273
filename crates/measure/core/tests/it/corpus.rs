//! Records of every released method, which stay readable.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cardmark_core::OriginKind;
use cardmark_samples::{corpus, folder};
use cardmark_testkit::{Need, are_met};
use sha2::{Digest, Sha256};

/// Entries of a folder by name; it has some.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{}", folder.display());
    paths
}

/// A file of a corpus never changes.
#[test]
fn the_records_of_a_method_are_those_of_its_list() {
    for method in entries(&folder()) {
        let list = fs::read_to_string(method.join("SHA256SUMS")).unwrap();
        let found: String = entries(&method)
            .iter()
            .filter(|path| path.extension().is_some_and(|end| end == "zst"))
            .map(|path| {
                let digest = Sha256::digest(fs::read(path).unwrap());
                let name = path.file_name().unwrap().to_str().unwrap();
                format!("{digest:x}  {name}\n")
            })
            .collect();
        assert_eq!(found, list, "{}", method.display());
    }
}

/// Each record has the shape of the schema and an id of its own.
#[test]
fn the_records_are_of_the_published_shape() {
    let scratch = tempfile::tempdir().unwrap();
    let mut ids = BTreeSet::new();
    let mut check = Command::new("python3");
    check.args(["-W", "ignore", "-m", "jsonschema"]);
    for kept in corpus() {
        let record = kept.record();
        assert!(ids.insert(record.id), "{} has the id of another", kept.name);
        let is_measured = kept.name.contains("measured");
        let kind = if is_measured {
            OriginKind::Measured
        } else {
            OriginKind::Simulated
        };
        assert_eq!(record.origin.kind, kind, "{}", kept.name);
        let file = scratch.path().join(format!("{}.json", ids.len()));
        fs::write(&file, kept.document).unwrap();
        check.arg("-i").arg(file);
    }
    if !are_met(&[Need::JsonSchema]) {
        return;
    }
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../schema/record-1.json");
    let output = check.arg(schema).output().unwrap();
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problems}");
}
