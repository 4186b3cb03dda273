//! Building: cargo-zigbuild, with the standard library from its sources.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::target::Target;
use super::tools::{Tools, output};
use crate::project::{self, Error};

/// Folder of the builds, below the project: not the usual one, whose builds have other flags.
const FOLDER: &str = "target/dist-build";

/// Features of the standard library: no backtraces, which a program without symbols does not have anyway.
pub(super) const STD_FEATURES: &str = "optimize_for_size";

/// One build of all targets.
pub(super) struct Build {
    root: PathBuf,
    folder: PathBuf,
    zigbuild: PathBuf,
    zig: PathBuf,
    path: OsString,
    /// Folders of this machine and the names that replace them.
    pub renamed: Vec<(PathBuf, &'static str)>,
    pub version: String,
    /// Time of the commit, seconds since 1970.
    pub time: u64,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
}

impl Build {
    pub(super) fn new(root: &Path, tools: &Tools) -> Result<Self, Error> {
        let metadata = ["metadata", "--no-deps", "--format-version", "1", "--locked"];
        let metadata: Metadata = serde_json::from_slice(&project::cargo(root, &metadata)?)?;
        let package = metadata
            .packages
            .into_iter()
            .find(|package| package.name == "cardmark-cli")
            .ok_or("no package cardmark-cli")?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders =
            std::iter::once(tools.environment.clone()).chain(std::env::split_paths(&path));
        Ok(Self {
            root: root.to_owned(),
            folder: root.join(FOLDER),
            zigbuild: tools.environment.join("cargo-zigbuild"),
            zig: tools.zig.join("zig"),
            path: std::env::join_paths(folders)?,
            // The last one that fits is used.
            renamed: vec![
                (root.to_owned(), "/cardmark"),
                (tools.cargo_home.clone(), "/cargo"),
                (tools.sysroot.clone(), "/toolchain"),
                (tools.library.clone(), "/rust"),
            ],
            version: package.version,
            time: time(root)?,
        })
    }

    /// Builds the program for all targets, with symbols.
    pub(super) fn run(&self, targets: &[&Target]) -> Result<(), Error> {
        let mut command = Command::new(&self.zigbuild);
        command
            .current_dir(&self.root)
            .args([
                "zigbuild",
                "--locked",
                "--profile",
                "dist",
                "-p",
                "cardmark-cli",
            ])
            .arg("-Zbuild-std=std,panic_abort")
            .arg(format!("-Zbuild-std-features={STD_FEATURES}"))
            .arg("--target-dir")
            .arg(&self.folder)
            .env("PATH", &self.path)
            // Not by way of Python, whose folder must not have been moved.
            .env("CARGO_ZIGBUILD_ZIG_PATH", &self.zig)
            .env("SOURCE_DATE_EPOCH", self.time.to_string())
            // For `-Zbuild-std`.
            .env("RUSTC_BOOTSTRAP", "1")
            // The gate needs symbols.
            .env("CARGO_PROFILE_DIST_STRIP", "none")
            .env("CARGO_ENCODED_RUSTFLAGS", self.rust_flags());
        for target in targets {
            let name = target.triple.replace('-', "_");
            command
                .args(["--target", target.triple])
                .env(format!("CFLAGS_{name}"), self.c_flags());
        }
        let status = command.status()?;
        if !status.success() {
            return Err(format!("cargo zigbuild ended with {status}").into());
        }
        Ok(())
    }

    /// The program of a target, with symbols.
    pub(super) fn program(&self, target: &Target) -> PathBuf {
        self.folder.join(target.triple).join("dist/cardmark")
    }

    /// Name of the files for a target, without their ending.
    pub(super) fn name(&self, target: &Target) -> String {
        format!("cardmark-{}-{}", self.version, target.triple)
    }

    fn rust_flags(&self) -> String {
        let mut flags = vec![
            // Not Rust's copy of musl, which only the prebuilt libraries have.
            "-Clink-self-contained=no".to_owned(),
            // Nothing unwinds: a panic aborts, and without symbols no backtrace is readable.
            "-Cforce-unwind-tables=no".to_owned(),
        ];
        flags.extend(self.renamed("--remap-path-prefix"));
        flags.join("\u{1f}")
    }

    fn c_flags(&self) -> String {
        let flags: Vec<String> = self.renamed("-ffile-prefix-map").collect();
        flags.join(" ")
    }

    fn renamed(&self, option: &str) -> impl Iterator<Item = String> {
        self.renamed
            .iter()
            .map(move |(folder, name)| format!("{option}={}={name}", folder.display()))
    }
}

/// Time of the commit, or `SOURCE_DATE_EPOCH`.
fn time(root: &Path) -> Result<u64, Error> {
    if let Ok(given) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(given.parse()?);
    }
    let root = root.display().to_string();
    let words = [
        "-c",
        "safe.directory=*",
        "-C",
        &root,
        "log",
        "-1",
        "--format=%ct",
    ];
    Ok(output("git", words)?.trim().parse()?)
}
