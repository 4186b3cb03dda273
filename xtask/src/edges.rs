//! Which crate may use which, and which crates stay pure. The rules are in `edges.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::project::{self, Checked, Error};
use crate::sources::{Source, sources};

const RULES: &str = "xtask/edges.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// Packages that do I/O; no pure crate uses them.
    io_packages: Vec<String>,
    /// Paths and words that no pure crate mentions.
    io_words: Vec<String>,
    crates: BTreeMap<String, CrateRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CrateRule {
    /// Whether the crate may do I/O.
    io: bool,
    /// Crates of the workspace it may use; `*` is any.
    may: BTreeSet<String>,
    /// Whether others may use it for their tests only.
    #[serde(default)]
    tests_only: bool,
    /// Whether it may contain `unsafe`.
    #[serde(default, rename = "unsafe")]
    may_be_unsafe: bool,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    #[serde(default)]
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    path: Option<String>,
}

pub(crate) fn check(root: &Path) -> Checked {
    let rules: Rules = toml::from_str(&std::fs::read_to_string(root.join(RULES))?)?;
    let metadata = ["metadata", "--no-deps", "--format-version", "1"];
    let metadata: Metadata = serde_json::from_slice(&project::cargo(root, &metadata)?)?;
    let mut problems = edges(&rules, &metadata);

    let folders = folders(root, &metadata);
    problems.extend(lints(root, &rules, &folders)?);
    problems.extend(impure_code(&rules, &folders, &sources(root)?));
    Ok(problems)
}

/// Name of a crate without the project's prefix.
fn short(name: &str) -> &str {
    name.strip_prefix("cardmark-").unwrap_or(name)
}

/// Folder of each crate, relative to the root.
fn folders(root: &Path, metadata: &Metadata) -> BTreeMap<String, String> {
    let folder = |package: &Package| {
        let manifest = Path::new(&package.manifest_path);
        let folder = manifest.strip_prefix(root).ok()?.parent()?;
        Some((
            short(&package.name).to_owned(),
            folder.display().to_string(),
        ))
    };
    metadata.packages.iter().filter_map(folder).collect()
}

fn edges(rules: &Rules, metadata: &Metadata) -> Vec<String> {
    let mut problems = Vec::new();
    for package in &metadata.packages {
        let from = short(&package.name);
        let Some(rule) = rules.crates.get(from) else {
            problems.push(format!("{RULES}: crate `{from}` has no rule"));
            continue;
        };
        for dependency in &package.dependencies {
            if dependency.kind.as_deref() == Some("dev") {
                continue;
            }
            let to = short(&dependency.name);
            if dependency.path.is_none() {
                if !rule.io && rules.io_packages.contains(&dependency.name) {
                    problems.push(format!("{from} → {to}: a pure crate uses a package of I/O"));
                }
                continue;
            }
            let tests_only = rules.crates.get(to).is_some_and(|rule| rule.tests_only);
            let any = rule.may.contains("*");
            if tests_only && !any {
                problems.push(format!(
                    "{from} → {to}: {to} is for tests (dev-dependencies) only"
                ));
            } else if !any && !rule.may.contains(to) {
                problems.push(format!(
                    "{from} → {to}: this edge is not allowed by {RULES}"
                ));
            }
        }
    }
    let known: BTreeSet<&str> = metadata.packages.iter().map(|p| short(&p.name)).collect();
    for name in rules
        .crates
        .keys()
        .filter(|name| !known.contains(name.as_str()))
    {
        problems.push(format!("{RULES}: there is no crate `{name}`"));
    }
    problems
}

/// Crates that do not take the workspace's lints, which forbid `unsafe`.
fn lints(
    root: &Path,
    rules: &Rules,
    folders: &BTreeMap<String, String>,
) -> Result<Vec<String>, Error> {
    let mut problems = Vec::new();
    for (name, folder) in folders {
        let text = std::fs::read_to_string(root.join(folder).join("Cargo.toml"))?;
        let manifest: toml::Table = toml::from_str(&text)?;
        let takes = |lints: &toml::Value| lints.get("workspace").and_then(toml::Value::as_bool);
        let is_checked = manifest.get("lints").and_then(takes) == Some(true);
        let may_be_unsafe = rules
            .crates
            .get(name)
            .is_some_and(|rule| rule.may_be_unsafe);
        if !is_checked && !may_be_unsafe {
            problems.push(format!(
                "{folder}/Cargo.toml: needs `lints.workspace = true`"
            ));
        }
    }
    Ok(problems)
}

fn impure_code(
    rules: &Rules,
    folders: &BTreeMap<String, String>,
    sources: &[Source],
) -> Vec<String> {
    let mut problems = Vec::new();
    let is_pure = |(_, rule): &(&String, &CrateRule)| !rule.io;
    let pure = rules.crates.iter().filter(is_pure);
    let pure: BTreeSet<&String> = pure.filter_map(|(name, _)| folders.get(name)).collect();
    for Source {
        folder,
        below,
        code,
    } in sources
        .iter()
        .filter(|source| pure.contains(&source.folder))
    {
        for named in &code.paths {
            if let Some(word) = io_word(&rules.io_words, &named.segments) {
                let line = named.line;
                problems.push(format!(
                    "{folder}/src/{below}:{line}: `{word}` in a pure crate"
                ));
            }
        }
    }
    problems
}

/// The word of I/O that a path begins with, or that is one of its segments.
fn io_word<'a>(words: &'a [String], segments: &[String]) -> Option<&'a str> {
    let path = segments.join("::");
    let is_in = |word: &&String| {
        segments.contains(word)
            || path
                .strip_prefix(word.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    words.iter().find(is_in).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::without_tests;

    fn rules() -> Rules {
        toml::from_str(
            r#"
            io_packages = ["rustix"]
            io_words = ["std::fs", "std::env", "Instant"]
            [crates]
            core = { io = false, may = [] }
            engine = { io = false, may = ["core"] }
            device = { io = true, may = ["core", "engine"], unsafe = true }
            kit = { io = true, may = ["*"], tests_only = true }
            "#,
        )
        .unwrap()
    }

    fn metadata(from: &str, dependencies: &str) -> Metadata {
        let packages = ["core", "engine", "device", "kit"].map(|name| {
            let dependencies = if name == from { dependencies } else { "" };
            format!(
                r#"{{"name":"cardmark-{name}","manifest_path":"/r/crates/{name}/Cargo.toml",
                "dependencies":[{dependencies}]}}"#
            )
        });
        serde_json::from_str(&format!(r#"{{"packages":[{}]}}"#, packages.join(","))).unwrap()
    }

    fn on(name: &str, kind: &str) -> String {
        format!(r#"{{"name":"cardmark-{name}","kind":{kind},"path":"/r/crates/{name}"}}"#)
    }

    #[test]
    fn an_allowed_edge_passes_and_tests_may_use_the_kit() {
        let list = format!("{},{}", on("core", "null"), on("kit", r#""dev""#));
        assert_eq!(edges(&rules(), &metadata("engine", &list)), [""; 0]);
    }

    #[test]
    fn an_edge_against_the_direction_is_caught() {
        for kind in ["null", r#""build""#] {
            let problems = edges(&rules(), &metadata("core", &on("engine", kind)));
            assert_eq!(
                problems,
                ["core → engine: this edge is not allowed by xtask/edges.toml"]
            );
        }
    }

    #[test]
    fn the_kit_as_a_normal_dependency_is_caught() {
        let problems = edges(&rules(), &metadata("device", &on("kit", "null")));
        assert!(problems[0].contains("for tests"), "{problems:?}");
    }

    #[test]
    fn a_pure_crate_with_a_package_of_io_is_caught() {
        let rustix = r#"{"name":"rustix","kind":null,"path":null}"#;
        assert_eq!(edges(&rules(), &metadata("engine", rustix)).len(), 1);
        assert_eq!(edges(&rules(), &metadata("device", rustix)), [""; 0]);
    }

    #[test]
    fn a_crate_without_rule_and_a_rule_without_crate_are_caught() {
        let mut rules = rules();
        let rule = rules.crates.remove("kit").unwrap();
        rules.crates.insert("gone".into(), rule);
        assert_eq!(edges(&rules, &metadata("", "")).len(), 2);
    }

    fn look_at(path: &str, text: &str) -> Vec<String> {
        let folders = folders(Path::new("/r"), &metadata("", ""));
        let declares_tests = "#[cfg(test)]\nmod checks;\nmod other;";
        let sources = [(path, text), ("crates/core/src/lib.rs", declares_tests)]
            .map(|(path, text)| Source::parse(path, text).unwrap().unwrap());
        let sources = without_tests(sources.into());
        impure_code(&rules(), &folders, &sources)
    }

    #[test]
    fn io_in_a_pure_crate_is_caught_however_it_is_written() {
        let bad = [
            "use std::fs;",
            "use std::fs::File;",
            "use std::{collections::BTreeMap, fs::File};",
            "use std::{collections::{BTreeMap, BTreeSet}, env as e};",
            "fn f() -> Instant { Instant::now() }",
        ];
        for text in bad {
            assert!(
                !look_at("crates/engine/src/a.rs", text).is_empty(),
                "{text}"
            );
        }
        let good = [
            "// std::fs\nuse std::sync::atomic::AtomicBool;",
            "use std::{collections::{BTreeMap}, fmt};",
            "/// `Instant`\nfn f() -> &'static str { \"println!\" }",
            "#[cfg(test)]\nmod tests {\n use std::fs;\n}",
        ];
        for text in good {
            assert_eq!(look_at("crates/engine/src/a.rs", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn io_is_free_in_other_crates_and_in_test_modules_of_their_own_file() {
        assert_eq!(look_at("crates/device/src/a.rs", "use std::fs;"), [""; 0]);
        assert_eq!(
            look_at("crates/core/src/checks.rs", "use std::fs;"),
            [""; 0]
        );
        assert_eq!(
            look_at("crates/core/src/checks/more.rs", "use std::fs;"),
            [""; 0]
        );
        assert_eq!(look_at("crates/core/src/other.rs", "use std::fs;").len(), 1);
    }
}
