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
        let text = std::fs::read(&path)?;
        let mut packed =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&text)?;
        std::fs::write(Path::new(&out).join(name), packed.finish()?)?;
    }
    Ok(())
}
