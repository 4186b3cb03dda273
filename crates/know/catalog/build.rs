//! Packs the large files of facts, and the publications: the program has to fit on small boards.

use std::io::{Error, Write};
use std::path::Path;

use flate2::write::DeflateEncoder;

/// The files of facts that are read together, in the order of `src/facts.rs`.
const FACTS: [&str; 5] = ["boards", "endurance", "lines", "quirks", "readers"];
/// The publications, in their order: the description of each, and its figures.
const PUBLICATIONS: [&str; 18] = [
    "geerling-dramble",
    "geerling-2019",
    "geerling-2019-comments",
    "geerling-a2",
    "geerling-turing-pi",
    "kulesz",
    "admin-76",
    "pitt-pladdy",
    "command-queue",
    "kaiser-a1-a2",
    "pibenchmarks-2019",
    "speed-camera-58",
    "rpi-cryptodrm",
    "nuclearhazard",
    "gecompat",
    "mongonta",
    "nwgat",
    "foundobjects",
];

fn main() -> Result<(), Error> {
    pack("facts", FACTS.map(|name| format!("facts/{name}.toml")))?;
    pack("explanations", ["facts/explanations.toml".to_owned()])?;
    let files = |name: &str| ["toml", "csv"].map(|end| format!("published/{name}.{end}"));
    pack(
        "published",
        PUBLICATIONS.iter().flat_map(|name| files(name)),
    )
}

/// Packs these files into one, each with a zero behind it.
fn pack(name: &str, files: impl IntoIterator<Item = String>) -> Result<(), Error> {
    let mut packed = DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    for path in files {
        println!("cargo::rerun-if-changed={path}");
        let is_table = path.ends_with(".csv");
        let text = std::fs::read_to_string(&path)?;
        for line in text
            .lines()
            .filter(|line| is_table || !is_for_readers(line))
        {
            writeln!(packed, "{line}")?;
        }
        packed.write_all(b"\0")?;
    }
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    std::fs::write(Path::new(&out).join(name), packed.finish()?)
}

/// A comment or an empty line; these files have no texts of several lines.
fn is_for_readers(line: &str) -> bool {
    line.starts_with('#') || line.is_empty()
}
