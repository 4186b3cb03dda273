//! Records of every released method, made by `scripts/corpus`: simulated ones, and two measured ones in their public form.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use cardmark_core::{Record, parse_record};

/// A record of the corpus.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Name of its file, without ending: the command that made it.
    pub name: String,
    /// Its document, in one line.
    pub document: String,
}

impl Kept {
    /// Returns the parsed document.
    #[must_use]
    pub fn record(&self) -> Record {
        parse_record(&self.document).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// Folder with a folder for each method.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("records")
}

/// Returns all records of the corpus in the order of their names.
#[must_use]
pub fn corpus() -> Vec<Kept> {
    let methods = entries(&folder());
    let files = methods.iter().flat_map(|method| entries(method));
    let packed = files.filter(|path| path.extension().is_some_and(|end| end == "zst"));
    let all: Vec<Kept> = packed.map(|path| unpacked(&path)).collect();
    assert!(all.len() >= 25, "{}", all.len());
    all
}

/// Returns the document of the record with this name of the latest method.
#[must_use]
pub fn document(name: &str) -> String {
    let methods = entries(&folder());
    let latest = methods.last().expect("a method");
    unpacked(&latest.join(format!("{name}.json.zst"))).document
}

/// Returns the record with this name of the latest method.
#[must_use]
pub fn record(name: &str) -> Record {
    parse_record(&document(name)).unwrap()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn unpacked(path: &Path) -> Kept {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(file).unwrap();
    let mut document = String::new();
    decoder.read_to_string(&mut document).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    Kept {
        name: name.trim_end_matches(".json.zst").to_owned(),
        document: document.trim_end().to_owned(),
    }
}
