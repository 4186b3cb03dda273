//! The programs that make release files. `scripts/test prepare-dist` installs them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::Error;

/// Folder of the Python environment with zig and cargo-zigbuild, below the project.
const ENVIRONMENT: &str = "target/tools";

/// Installed tools, and the folders whose names must not be in a file.
pub(super) struct Tools {
    /// Folder of cargo-zigbuild.
    pub environment: PathBuf,
    /// Folder of zig and its library.
    pub zig: PathBuf,
    /// Folder of the toolchain.
    pub sysroot: PathBuf,
    /// Sources of the standard library.
    pub library: PathBuf,
    /// Folder of cargo's registry.
    pub cargo_home: PathBuf,
    /// LLVM's tools of the toolchain.
    llvm: PathBuf,
    /// Release of the compiler and of the standard library, such as `1.95.0`.
    pub version: String,
}

impl Tools {
    /// Finds all tools.
    ///
    /// # Errors
    /// If one is missing.
    pub(super) fn find(root: &Path) -> Result<Self, Error> {
        let environment = root.join(ENVIRONMENT);
        let sysroot = PathBuf::from(output("rustc", ["--print", "sysroot"])?.trim());
        let verbose = output("rustc", ["-vV"])?;
        let field = |name: &str| {
            let line = verbose.lines().find_map(|line| line.strip_prefix(name));
            line.ok_or_else(|| format!("`rustc -vV` has no line `{name}`"))
        };
        let (host, release) = (field("host: ")?, field("release: ")?);
        let tools = Self {
            library: sysroot.join("lib/rustlib/src/rust"),
            llvm: sysroot.join("lib/rustlib").join(host).join("bin"),
            version: release.to_owned(),
            cargo_home: cargo_home()?,
            zig: zig(&environment)?,
            environment: environment.join("bin"),
            sysroot,
        };
        let needed = [
            tools.environment.join("cargo-zigbuild"),
            tools.library.join("library/Cargo.lock"),
            tools.llvm.join("llvm-objdump"),
        ];
        for path in needed {
            if !path.exists() {
                let path = path.display();
                return Err(format!("{path} is missing; run: scripts/test prepare-dist").into());
            }
        }
        Ok(tools)
    }

    /// Folder of zig's own library, with the sources of musl.
    pub(super) fn zig_library(&self) -> PathBuf {
        self.zig.join("lib")
    }

    /// Writes the program without symbols to `stripped`.
    pub(super) fn strip(&self, program: &Path, stripped: &Path) -> Result<(), Error> {
        let arguments = [OsStr::new("-o"), stripped.as_os_str(), program.as_os_str()];
        output(self.llvm.join("llvm-strip"), arguments).map(drop)
    }

    /// Returns the instructions of a program; those that this processor without these features lacks are `<unknown>`.
    pub(super) fn disassembly(
        &self,
        program: &Path,
        processor: &str,
        features: &str,
    ) -> Result<String, Error> {
        let processor = format!("--mcpu={processor}");
        let features = format!("--mattr={features}");
        let options = ["-d", &processor, &features].map(OsStr::new);
        let arguments = options.into_iter().chain([program.as_os_str()]);
        output(self.llvm.join("llvm-objdump"), arguments)
    }
}

/// Folder of the Python package `ziglang`.
fn zig(environment: &Path) -> Result<PathBuf, Error> {
    let library = environment.join("lib");
    let folders = std::fs::read_dir(&library).into_iter().flatten().flatten();
    let mut packages = folders.map(|folder| folder.path().join("site-packages/ziglang"));
    let missing = || {
        format!(
            "zig is missing in {}; run: scripts/test prepare-dist",
            library.display()
        )
    };
    Ok(packages
        .find(|package| package.join("zig").exists())
        .ok_or_else(missing)?)
}

fn cargo_home() -> Result<PathBuf, Error> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(home.into());
    }
    let home = std::env::home_dir().ok_or("no home directory")?;
    Ok(home.join(".cargo"))
}

/// Runs a program and returns what it prints.
///
/// # Errors
/// If it cannot be started or fails; with what it prints about that.
pub(super) fn output<A: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = A>,
) -> Result<String, Error> {
    let mut command = Command::new(program);
    command.args(arguments);
    run(&mut command)
}

/// See [`output`].
pub(super) fn run(command: &mut Command) -> Result<String, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{name}: {error}; run: scripts/test prepare-dist"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name} ended with {}: {said}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
