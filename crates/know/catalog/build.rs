//! Packs files of facts: the program has to fit on small boards. Packed text that packs less well is left to the archive.

use std::io::Write;
use std::path::Path;

const FILES: [&str; 6] = [
    "boards",
    "endurance",
    "lines",
    "products",
    "quirks",
    "readers",
];

fn main() -> std::io::Result<()> {
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    for name in FILES {
        let path = format!("facts/{name}.toml");
        println!("cargo::rerun-if-changed={path}");
        let text = std::fs::read_to_string(&path)?;
        let mut packed =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        for line in text.lines().filter(|line| !is_for_readers(line)) {
            writeln!(packed, "{line}")?;
        }
        std::fs::write(Path::new(&out).join(name), packed.finish()?)?;
    }
    Ok(())
}

/// A comment or an empty line; these files have no texts of several lines.
fn is_for_readers(line: &str) -> bool {
    line.starts_with('#') || line.is_empty()
}
