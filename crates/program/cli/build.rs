//! Says which build this is: commit, platform, profile, and the time of the commit.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    let root = Path::new("../../..");
    for path in [
        "crates",
        "Cargo.toml",
        "Cargo.lock",
        ".git/HEAD",
        ".git/index",
        ".git/refs/heads",
    ] {
        let path = root.join(path);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    // Not the commit of a repository that this one only lies in, such as that of a distribution.
    let is_ours = root.join(".git").exists();
    let commit = is_ours
        .then(|| git(&["rev-parse", "--short=12", "HEAD"]))
        .flatten();
    let changes = commit
        .as_ref()
        .and_then(|_| git(&["status", "--porcelain", "--untracked-files=no"]));
    let modified = changes.is_some_and(|changes| !changes.is_empty());
    let given = env::var("SOURCE_DATE_EPOCH").ok();
    let time = given.or_else(|| git(&["log", "-1", "--format=%ct"]).filter(|_| is_ours));
    let (target, profile) = (variable("TARGET"), variable("PROFILE"));
    let mut words = vec![
        commit
            .clone()
            .unwrap_or_else(|| "unknown commit".to_owned()),
    ];
    words.extend(modified.then(|| "modified".to_owned()));
    words.extend([target.clone(), profile.clone()]);
    for (name, value) in [
        ("COMMIT", commit.unwrap_or_default()),
        ("MODIFIED", modified.to_string()),
        ("TARGET", target),
        ("PROFILE", profile),
        ("TIME", time.unwrap_or_else(|| LEAST_TIME.to_owned())),
        ("BUILD", words.join(", ")),
    ] {
        println!("cargo::rustc-env=CARDMARK_{name}={value}");
    }
}

/// Time of a build without a repository: 2026-01-01, before the first release.
const LEAST_TIME: &str = "1767225600";

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// What git prints; `None` if it is missing or refuses.
fn git(arguments: &[&str]) -> Option<String> {
    // Its locks would renew the index, and the next build would think that something changed.
    let output = Command::new("git")
        .arg("--no-optional-locks")
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
