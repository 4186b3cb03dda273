//! The project: its folder, its files, and cargo.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) type Error = Box<dyn std::error::Error>;

/// Problems that a check found.
pub(crate) type Checked = Result<Vec<String>, Error>;

/// The workspace's folder.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// Paths of all files that are tracked or would be, relative to `root`, sorted. Without git (a
/// source archive) everything but build folders.
pub(crate) fn project_files(root: &Path) -> Result<Vec<String>, Error> {
    let listing = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "-z"])
        .args(["--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output();
    let mut paths = match listing {
        Ok(listing) if listing.status.success() => String::from_utf8(listing.stdout)?
            .split_terminator('\0')
            .map(str::to_owned)
            .filter(|path| root.join(path).is_file())
            .collect(),
        _ => {
            let mut found = Vec::new();
            walk(root, "", &mut found)?;
            found
        }
    };
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            if !["target", ".git", "corpus", "artifacts"].contains(&name.as_str()) {
                walk(&entry.path(), &format!("{prefix}{name}/"), found)?;
            }
        } else {
            found.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

/// The text of a file, or `None` where it is not text.
pub(crate) fn text(root: &Path, path: &str) -> std::io::Result<Option<String>> {
    let bytes = fs::read(root.join(path))?;
    Ok(String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0')))
}

/// Returns what cargo prints.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Result<Vec<u8>, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_sources_are_listed_with_and_without_git() {
        let by_git = project_files(&root()).unwrap();
        assert!(by_git.iter().any(|path| path == "xtask/src/project.rs"));
        let mut by_walk = Vec::new();
        walk(&root(), "", &mut by_walk).unwrap();
        assert!(by_walk.iter().any(|path| path == "xtask/src/project.rs"));
        assert!(!by_walk.iter().any(|path| path.starts_with("target/")));
    }
}
