//! Packs files of facts into one: the program has to fit on small boards. Texts that pack less well than an archive packs them are left
//! to it.

use std::io::Write;
use std::path::Path;

/// The files, in the order of `src/facts.rs`.
const FILES: [&str; 5] = ["boards", "endurance", "lines", "quirks", "readers"];

fn main() -> std::io::Result<()> {
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    for name in FILES {
        let path = format!("facts/{name}.toml");
        println!("cargo::rerun-if-changed={path}");
        let text = std::fs::read_to_string(&path)?;
        for line in text.lines().filter(|line| !is_for_readers(line)) {
            writeln!(packed, "{line}")?;
        }
        packed.write_all(b"\0")?;
    }
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    std::fs::write(Path::new(&out).join("facts"), packed.finish()?)
}

/// A comment or an empty line; these files have no texts of several lines.
fn is_for_readers(line: &str) -> bool {
    line.starts_with('#') || line.is_empty()
}
