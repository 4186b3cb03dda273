//! Records of every released method: what they derive stays, whatever the program learns.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use cardmark_testkit::{Need, Program, are_met};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::common::{program, scratch};

/// What a record derives from its measurements.
const DERIVED: [&str; 3] = ["metrics", "findings", "derived"];

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/records")
}

/// Returns the entries of a folder by name; it has some.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{}", folder.display());
    paths
}

fn records() -> Vec<PathBuf> {
    let methods = entries(&corpus());
    let files = methods.iter().flat_map(|method| entries(method));
    files
        .filter(|path| path.extension().is_some_and(|end| end == "zst"))
        .collect()
}

/// Returns the document of a packed record.
fn unpacked(path: &Path) -> String {
    let file = fs::File::open(path).unwrap();
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(file).unwrap();
    let mut document = String::new();
    decoder.read_to_string(&mut document).unwrap();
    document
}

/// Returns a document as `show` has it, and its warnings.
fn shown(program: &Program, document: &str) -> (Value, String) {
    let file = program.file("record.json");
    fs::write(&file, document).unwrap();
    let output = program.run(&["show", "--json", file.to_str().unwrap()]);
    assert_eq!(output.code, 0, "{output}");
    let line = output.stdout.lines().next().unwrap();
    (serde_json::from_str(line).unwrap(), output.stderr)
}

/// Removes the texts that the public form of a record withholds.
fn forget_withheld(derived: &mut Value, original: &Value) {
    let is_public = |finding: &Value| finding["detail"] == json!("");
    let (Value::Array(derived), Value::Array(original)) = (derived, original) else {
        return;
    };
    if original.iter().all(is_public) {
        for finding in derived {
            finding["detail"] = json!("");
            finding.as_object_mut().unwrap().remove("advice");
        }
    }
}

/// A file of a corpus never changes.
#[test]
fn the_records_of_a_method_are_those_of_its_list() {
    for method in entries(&corpus()) {
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
    let scratch = scratch();
    let program = program(&scratch);
    let mut ids = BTreeSet::new();
    let mut files = Vec::new();
    for path in records() {
        let document: Value = serde_json::from_str(&unpacked(&path)).unwrap();
        let id = document["id"].as_str().unwrap().to_owned();
        assert!(ids.insert(id), "{} has the id of another", path.display());
        let is_measured = path.to_str().unwrap().contains("measured");
        let kind = if is_measured { "measured" } else { "simulated" };
        assert_eq!(
            document["origin"]["kind"],
            json!(kind),
            "{}",
            path.display()
        );
        let file = program.file(&format!("{}.json", ids.len()));
        fs::write(&file, document.to_string()).unwrap();
        files.push(file);
    }
    if !are_met(&[Need::JsonSchema]) {
        return;
    }
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../schema/record-1.json");
    let mut check = Command::new("python3");
    check.args(["-W", "ignore", "-m", "jsonschema"]);
    for file in &files {
        check.arg("-i").arg(file);
    }
    let output = check.arg(schema).output().unwrap();
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problems}");
}

/// Without them, a record gets the same figures, findings and verdicts.
#[test]
fn records_of_every_method_derive_what_they_did() {
    let scratch = scratch();
    let program = program(&scratch);
    for path in records() {
        let document = unpacked(&path);
        let original: Value = serde_json::from_str(&document).unwrap();
        let (same, warnings) = shown(&program, &document);
        assert_eq!(warnings, "", "{}", path.display());
        assert_eq!(same, original, "{}", path.display());
        let mut bare = original.clone();
        let fields = bare.as_object_mut().unwrap();
        fields.remove("metrics");
        fields.remove("derived");
        if let Some(Value::Array(findings)) = fields.get_mut("findings") {
            findings.retain(|finding| finding.get("noticed_by").is_some());
        }
        let is_exact = bare["integrity"]["map_cell_bytes"] == json!(512);
        if is_exact {
            bare["integrity"]["kind"] = json!("dead");
        }
        let (mut derived, _) = shown(&program, &bare.to_string());
        forget_withheld(&mut derived["findings"], &original["findings"]);
        // The version of the judge is that of the program; its verdicts are compared.
        let mut original = original;
        for one in [&mut derived, &mut original] {
            let derived = one.get_mut("derived").and_then(Value::as_object_mut);
            derived.map(|fields| fields.remove("judge_version"));
        }
        for part in DERIVED {
            assert_eq!(derived[part], original[part], "{}", path.display());
        }
        assert_eq!(derived["integrity"], original["integrity"]);
    }
}
