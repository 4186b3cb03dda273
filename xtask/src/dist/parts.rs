//! What is linked into a program: packages of Cargo.lock, those of the standard library, SQLite, musl.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::build::STD_FEATURES;
use super::target::Target;
use super::tools::{Tools, run};
use crate::project::Error;

/// Where libsqlite3-sys keeps its copy of SQLite.
const SQLITE_HEADER: &str = "sqlite3/sqlite3.h";

/// A part of a program that others wrote.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub name: String,
    pub version: String,
    /// SPDX expression.
    pub licence: String,
    /// Folder with its licence files.
    pub folder: PathBuf,
    /// Package URL.
    pub url: String,
    /// SHA-256 of the package, from the lock file.
    pub checksum: Option<String>,
    /// Address of its sources.
    pub repository: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    manifest_path: PathBuf,
    repository: Option<String>,
    source: Option<String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// Returns the parts of the program for one target, sorted.
pub(super) fn of(root: &Path, tools: &Tools, target: &Target) -> Result<BTreeSet<Part>, Error> {
    let mut parts = packages(root, "cardmark-cli", &[], target)?;
    let library = tools.library.join("library");
    let features = ["--no-default-features", "--features", STD_FEATURES];
    for mut part in packages(&library, "std", &features, target)? {
        if part.name.starts_with("rustc-std-workspace") {
            continue;
        }
        if part.version == "0.0.0" {
            part.version.clone_from(&tools.version);
            part.url = format!("pkg:generic/{}@{}", part.name, part.version);
        }
        if part.name == "compiler_builtins" {
            // Its text lies above it.
            part.folder.pop();
        }
        parts.insert(part);
    }
    let sqlite = parts.iter().find(|part| part.name == "libsqlite3-sys");
    let sqlite = sqlite.ok_or("no package libsqlite3-sys")?;
    let sqlite = foreign(
        "sqlite",
        "blessing",
        sqlite.folder.join("sqlite3"),
        &sqlite.folder.join(SQLITE_HEADER),
        "#define SQLITE_VERSION",
    )?;
    parts.insert(sqlite);
    let musl = tools.zig_library().join("libc/musl");
    let header = musl.join("src/internal/version.h");
    parts.insert(foreign("musl", "MIT", musl, &header, "#define VERSION")?);
    Ok(parts)
}

/// A part that is no package; its version is in a header.
fn foreign(
    name: &str,
    licence: &str,
    folder: PathBuf,
    header: &Path,
    definition: &str,
) -> Result<Part, Error> {
    let text = fs::read_to_string(header)?;
    let value = text.lines().find_map(|line| {
        let value = line.strip_prefix(definition)?.trim();
        value.strip_prefix('"')?.strip_suffix('"')
    });
    let version = value.ok_or_else(|| format!("{}: no {definition}", header.display()))?;
    Ok(Part {
        name: name.to_owned(),
        version: version.to_owned(),
        licence: licence.to_owned(),
        folder,
        url: format!("pkg:generic/{name}@{version}"),
        checksum: None,
        repository: None,
    })
}

/// Packages from elsewhere that are linked with `package` of the workspace in `folder`; of the standard library also its own.
fn packages(
    folder: &Path,
    package: &str,
    features: &[&str],
    target: &Target,
) -> Result<BTreeSet<Part>, Error> {
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new("cargo");
        command
            .current_dir(folder)
            .args(arguments)
            // The workspace of the standard library uses unstable features.
            .env("RUSTC_BOOTSTRAP", "1");
        run(&mut command)
    };
    let metadata = ["metadata", "--format-version=1", "--locked"];
    let filter = ["--filter-platform", target.triple];
    let metadata: Metadata = serde_json::from_str(&cargo(&[&metadata[..], &filter].concat())?)?;
    let tree = [
        "tree",
        "--locked",
        "--prefix=none",
        "--format={p}",
        "--no-dedupe",
    ];
    let edges = [
        "--edges=normal,no-proc-macro",
        "-p",
        package,
        "--target",
        target.triple,
    ];
    let tree = cargo(&[&tree[..], &edges, features].concat())?;
    let linked: BTreeSet<(&str, &str)> = tree.lines().filter_map(name_and_version).collect();

    let lock: Lock = toml::from_str(&fs::read_to_string(folder.join("Cargo.lock"))?)?;
    let locked = lock.package.into_iter();
    let checksums: BTreeMap<(String, String), String> = locked
        .filter_map(|it| Some(((it.name, it.version), it.checksum?)))
        .collect();
    let is_own = |it: &Package| it.source.is_none() && it.name.starts_with("cardmark-");
    let parts = metadata
        .packages
        .into_iter()
        .filter(|it| linked.contains(&(it.name.as_str(), it.version.as_str())) && !is_own(it));
    parts.map(|it| part(it, &checksums)).collect()
}

fn part(package: Package, checksums: &BTreeMap<(String, String), String>) -> Result<Part, Error> {
    let Package { name, version, .. } = package;
    let licence = package
        .license
        .ok_or_else(|| format!("{name} names no licence"))?;
    let folder = package.manifest_path.parent();
    Ok(Part {
        // An old way to write it.
        licence: licence.replace('/', " OR "),
        folder: folder.unwrap_or(&package.manifest_path).to_owned(),
        url: format!("pkg:cargo/{name}@{version}"),
        checksum: checksums.get(&(name.clone(), version.clone())).cloned(),
        repository: package.repository,
        name,
        version,
    })
}

/// Reads a line such as `serde v1.0.228`.
fn name_and_version(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(" v")?;
    Some((name, rest.split(' ').next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_tree_are_read() {
        assert_eq!(
            name_and_version("serde v1.0.228"),
            Some(("serde", "1.0.228"))
        );
        assert_eq!(
            name_and_version("cardmark-cli v0.1.0 (/p/crates/program/cli)"),
            Some(("cardmark-cli", "0.1.0"))
        );
        assert_eq!(name_and_version(""), None);
    }
}
