//! Commands of cargo: packages, targets and profiles exist.

use cardmark_documents::{Command, commands, root};
use serde_json::Value;

/// Subcommands of cargo, of its extensions that `scripts/test prepare` installs, and of `.cargo/config.toml`.
const SUBCOMMANDS: [&str; 9] = [
    "build", "fuzz", "install", "metadata", "run", "test", "xtask", "deny", "fetch",
];
const OPTIONS: [&str; 8] = [
    "--release",
    "--locked",
    "--workspace",
    "--quiet",
    "-q",
    "--lib",
    "--timings",
    "--no-run",
];

/// Packages of the workspace: name, and kind and name of each target.
struct Packages(Vec<(String, Vec<(String, String)>)>);

impl Packages {
    fn read() -> Self {
        let output = std::process::Command::new(env!("CARGO"))
            .args([
                "metadata",
                "--no-deps",
                "--offline",
                "--format-version",
                "1",
            ])
            .current_dir(root())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let target = |target: &Value| (text(&target["kind"][0]), text(&target["name"]));
        let package = |package: &Value| {
            let targets = package["targets"].as_array().unwrap();
            (text(&package["name"]), targets.iter().map(target).collect())
        };
        Self(
            metadata["packages"]
                .as_array()
                .unwrap()
                .iter()
                .map(package)
                .collect(),
        )
    }

    fn has(&self, package: &str) -> bool {
        self.0.iter().any(|(name, _)| name == package)
    }

    /// Whether the package, or without one any package, has this target.
    fn has_target(&self, package: Option<&str>, kind: &str, target: &str) -> bool {
        let packages = self
            .0
            .iter()
            .filter(|(name, _)| package.is_none_or(|it| it == name));
        let mut targets = packages.flat_map(|(_, targets)| targets);
        targets.any(|(its_kind, name)| its_kind == kind && name == target)
    }
}

/// What is wrong with the options of a command before `--`.
fn problem(words: &[String], packages: &Packages) -> Option<String> {
    let subcommand = words[1].as_str();
    if !SUBCOMMANDS.contains(&subcommand) {
        return Some(format!("unknown subcommand `{subcommand}`"));
    }
    if matches!(subcommand, "xtask" | "fuzz" | "deny") {
        return None;
    }
    let words: Vec<&str> = words[2..]
        .iter()
        .map(String::as_str)
        .take_while(|it| *it != "--")
        .collect();
    let value_of = |names: &[&str]| {
        let at = words.iter().position(|word| names.contains(word))?;
        words.get(at + 1).copied()
    };
    let package = value_of(&["-p", "--package"]);
    for (at, word) in words.iter().enumerate() {
        let value = words.get(at + 1).copied().unwrap_or_default();
        let is_right = match *word {
            "-p" | "--package" => packages.has(value),
            "--test" | "--bin" | "--example" => {
                packages.has_target(package, word.trim_start_matches('-'), value)
            }
            "--profile" => {
                let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
                manifest.contains(&format!("\n[profile.{value}]\n"))
            }
            "--path" => root().join(value).join("Cargo.toml").exists(),
            "--manifest-path" => root().join(value).exists(),
            other => !other.starts_with('-') || OPTIONS.contains(&other),
        };
        if !is_right {
            return Some(format!("`{word} {value}`"));
        }
    }
    None
}

#[test]
fn packages_targets_and_options_exist() {
    let packages = Packages::read();
    let commands: Vec<Command> = commands()
        .into_iter()
        .filter(|it| it.words[0] == "cargo")
        .collect();
    assert!(!commands.is_empty());
    let problems = commands
        .iter()
        .filter_map(|it| Some(format!("{it}: {}", problem(&it.words, &packages)?)));
    let problems: Vec<String> = problems.collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn wrong_commands_are_found() {
    let packages = Packages::read();
    let is_wrong = |line: &str| {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        problem(&words, &packages).is_some()
    };
    assert!(!is_wrong("cargo test -p cardmark-documents --test it -- x"));
    for line in [
        "cargo tests",
        "cargo test -p cardmark-none",
        "cargo test -p cardmark-documents --test none",
        "cargo build --profile none",
        "cargo install --path crates/none",
        "cargo run --fast",
    ] {
        assert!(is_wrong(line), "{line}");
    }
}
