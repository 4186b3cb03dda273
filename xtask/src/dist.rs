//! Release files: one static program per platform, built, checked and packed. The same commit gives the same bytes in any folder
//! and for any user (ADR 0015).

mod bill;
mod build;
mod gate;
mod licences;
mod pack;
mod parts;
mod target;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use crate::project::{Checked, Error};
use build::Build;
use target::{TARGETS, Target};
use tools::Tools;

/// Largest program and largest archive, bytes.
const MOST_BYTES: u64 = 9_500_000;
const MOST_PACKED_BYTES: u64 = 3_450_000;

/// What to make, and where.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    targets: Vec<&'static Target>,
    out: PathBuf,
}

/// Parses `[--target NAME]… [--out FOLDER]`.
fn parse(root: &Path, arguments: &[&str]) -> Result<Request, Error> {
    let mut request = Request {
        targets: Vec::new(),
        out: root.join("target/dist"),
    };
    let mut words = arguments.iter();
    while let Some(option) = words.next() {
        let value = words
            .next()
            .ok_or_else(|| format!("`{option}` needs a value"))?;
        match *option {
            "--target" => request.targets.push(Target::named(value)?),
            "--out" => request.out = std::path::absolute(value)?,
            _ => return Err(format!("unknown option `{option}`").into()),
        }
    }
    if request.targets.is_empty() {
        request.targets = TARGETS.iter().collect();
    }
    Ok(request)
}

/// Makes the release files and prints their sizes; returns what is wrong with them.
pub(crate) fn make(root: &Path, arguments: &[&str]) -> Checked {
    let request = parse(root, arguments)?;
    let tools = Tools::find(root)?;
    let build = Build::new(root, &tools)?;
    fs::create_dir_all(&request.out)?;
    build.run(&request.targets)?;

    pack::forget(&request.out)?;
    let (mut problems, mut names) = (Vec::new(), Vec::new());
    println!("{:32} {:>9} {:>9}  std", "target", "bytes", "packed");
    for target in &request.targets {
        problems.extend(one(root, &tools, &build, target, &request.out)?);
        let bill = bill::text(root, &tools, &build, target)?;
        let name = build.name(target);
        let (archive, bill_name) = (format!("{name}.tar.xz"), format!("{name}.cdx.json"));
        fs::write(request.out.join(&bill_name), bill)?;
        names.extend([archive, bill_name]);
    }
    if problems.is_empty() {
        pack::sums(&request.out, &names)?;
    }
    Ok(problems)
}

/// Signs the checksums of the last build in the folder, if its files still have them.
pub(crate) fn sign(root: &Path, key: &str, arguments: &[&str]) -> Checked {
    let request = parse(root, arguments)?;
    let sums = pack::checked_sums(&request.out)?;
    pack::sign(&sums, Path::new(key))?;
    Ok(Vec::new())
}

/// Checks and packs the program for one target.
fn one(root: &Path, tools: &Tools, build: &Build, target: &Target, out: &Path) -> Checked {
    let folder = out.join(target.triple);
    fs::create_dir_all(&folder)?;
    let program = folder.join("cardmark");
    let unstripped = build.program(target);
    tools.strip(&unstripped, &program)?;
    let mut problems = gate::check(tools, build, target, &unstripped, &program)?;

    let name = build.name(target);
    let content = out.join(&name);
    pack::collect(root, target, &program, &content)?;
    fs::write(
        content.join("LICENCES.txt"),
        licences::text(root, tools, target)?,
    )?;
    let archive = pack::archive(out, &name, build.time, target)?;

    let (bytes, packed) = (fs::metadata(&program)?.len(), fs::metadata(&archive)?.len());
    let triple = target.triple;
    println!(
        "{triple:32} {bytes:9} {packed:9}  rust-src {}",
        tools.version
    );
    for (what, bytes, most) in [
        ("program", bytes, MOST_BYTES),
        ("archive", packed, MOST_PACKED_BYTES),
    ] {
        if bytes > most {
            problems.push(format!(
                "{triple}: {what} has {bytes} bytes, more than {most}"
            ));
        }
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_targets_are_the_default() {
        let request = parse(Path::new("/p"), &[]).unwrap();
        assert_eq!(request.targets.len(), 4);
        assert_eq!(request.out, Path::new("/p/target/dist"));
    }

    #[test]
    fn targets_are_named_by_name_or_triple() {
        let words = ["--target", "arm", "--target", "aarch64-unknown-linux-musl"];
        let request = parse(Path::new("/p"), &words).unwrap();
        let names: Vec<&str> = request.targets.iter().map(|target| target.name).collect();
        assert_eq!(names, ["arm", "aarch64"]);
    }

    #[test]
    fn wrong_arguments_are_named() {
        let error = |words: &[&str]| parse(Path::new("/p"), words).unwrap_err().to_string();
        assert_eq!(
            error(&["--target", "armv7"]),
            "no target `armv7`; targets: x86_64, aarch64, arm, riscv64"
        );
        assert_eq!(error(&["--out"]), "`--out` needs a value");
        assert_eq!(error(&["--fast", "1"]), "unknown option `--fast`");
    }
}
