//! Edges between crates by their houses and between folders of a crate by their floors, purity of crates (the rules are in
//! `edges.toml`), and existence of the paths in documents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::floors::{self, Floors};
use crate::project::{self, Checked, Error};
use crate::sources::{Source, sources};

const RULES: &str = "xtask/edges.toml";

/// Documents that show where things are.
const DOCUMENTS: [&str; 3] = [
    "ARCHITECTURE.md",
    "docs/COOKBOOK.md",
    "docs/WALK-THROUGHS.md",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// For each house the other houses whose crates it may use.
    houses: BTreeMap<String, BTreeSet<String>>,
    pure: Pure,
    #[serde(rename = "unsafe")]
    may_be_unsafe: Named,
    /// Floors by crate.
    #[serde(default)]
    floors: BTreeMap<String, Floors>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pure {
    crates: BTreeSet<String>,
    /// Packages that do I/O; no pure crate uses them.
    io_packages: Vec<String>,
    /// Paths and words that no pure crate mentions.
    io_words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    crates: BTreeSet<String>,
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
    let folders = folders(root, &metadata);
    let mut problems = edges(&rules, &metadata, &folders);
    problems.extend(lints(root, &rules, &folders)?);
    let sources = sources(root)?;
    problems.extend(impure_code(&rules, &folders, &sources));
    for (name, floors) in &rules.floors {
        if let Some(folder) = folders.get(name) {
            problems.extend(floors::problems(folder, floors, &sources));
        }
    }
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root.join(document))?;
        let missing = missing_paths(&text, |path| root.join(path).exists());
        problems.extend(missing.map(|path| format!("{document}: there is no `{path}`")));
    }
    Ok(problems)
}

/// Paths in backquotes that begin with `crates/` and do not exist. Of one with a placeholder (`*`, `NAME`, `<name>`), the folder
/// above the placeholder is looked for.
fn missing_paths<'a>(
    text: &'a str,
    exists: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = &'a str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let paths = quoted.filter(|path| path.starts_with("crates/") && !path.contains(' '));
    paths.filter(move |path| {
        let placeholder = ["*", "NAME", "<"]
            .iter()
            .filter_map(|word| path.find(word))
            .min();
        let fixed = match placeholder {
            Some(at) => path[..at].rsplit_once('/').map_or("", |(folder, _)| folder),
            None => path,
        };
        !exists(fixed)
    })
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

/// The house of a crate, from its folder `crates/HOUSE/NAME`; `None` for crates outside `crates/`.
fn house(folder: &str) -> Option<&str> {
    Some(folder.strip_prefix("crates/")?.split_once('/')?.0)
}

fn edges(rules: &Rules, metadata: &Metadata, folders: &BTreeMap<String, String>) -> Vec<String> {
    let mut problems = unknown_names(rules, folders);
    for package in &metadata.packages {
        let from = short(&package.name);
        let own_house = folders.get(from).and_then(|folder| house(folder));
        let is_pure = rules.pure.crates.contains(from);
        for dependency in &package.dependencies {
            if dependency.kind.as_deref() == Some("dev") {
                continue;
            }
            let to = short(&dependency.name);
            let reason = if dependency.path.is_some() {
                let to_house = folders.get(to).and_then(|folder| house(folder));
                crossed(rules, own_house, to_house).or((is_pure && !rules.pure.crates.contains(to))
                    .then(|| "a pure crate uses one with I/O".into()))
            } else {
                let is_io = rules.pure.io_packages.contains(&dependency.name);
                (is_pure && is_io).then(|| "a pure crate uses a package of I/O".into())
            };
            problems.extend(reason.map(|reason| format!("{from} → {to}: {reason}")));
        }
    }
    problems
}

/// The reason against an edge from a crate of the house `from` to one of the house `to`.
fn crossed(rules: &Rules, from: Option<&str>, to: Option<&str>) -> Option<String> {
    let from = from?;
    let to = to.unwrap_or("the tools");
    let may = from == to
        || rules
            .houses
            .get(from)
            .is_some_and(|others| others.contains(to));
    (!may).then(|| format!("{from} may not use {to}, see {RULES}"))
}

/// Houses without rule, and names of the rules that no crate or house has.
fn unknown_names(rules: &Rules, folders: &BTreeMap<String, String>) -> Vec<String> {
    let houses: BTreeSet<&str> = folders
        .values()
        .filter_map(|folder| house(folder))
        .collect();
    let ruled = rules
        .houses
        .iter()
        .flat_map(|(name, others)| others.iter().chain([name]));
    let ruled: BTreeSet<&str> = ruled.map(String::as_str).collect();
    let without_rule = houses
        .iter()
        .filter(|house| !rules.houses.contains_key(**house))
        .map(|house| format!("{RULES}: house `{house}` has no rule"));
    let gone = ruled
        .difference(&houses)
        .map(|house| format!("{RULES}: there is no house `{house}`"));
    let named = rules.pure.crates.iter().chain(&rules.may_be_unsafe.crates);
    let unknown = named
        .chain(rules.floors.keys())
        .filter(|name| !folders.contains_key(*name))
        .map(|name| format!("{RULES}: there is no crate `{name}`"));
    without_rule.chain(gone).chain(unknown).collect()
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
        if !is_checked && !rules.may_be_unsafe.crates.contains(name) {
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
    let pure = rules.pure.crates.iter();
    let pure: BTreeSet<&String> = pure.filter_map(|name| folders.get(name)).collect();
    for Source {
        folder,
        below,
        code,
    } in sources
        .iter()
        .filter(|source| pure.contains(&source.folder))
    {
        for named in &code.paths {
            if let Some(word) = io_word(&rules.pure.io_words, &named.segments) {
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

    /// Folders of the crates of the tests.
    const FOLDERS: [(&str, &str); 7] = [
        ("core", "crates/measure/core"),
        ("engine", "crates/measure/engine"),
        ("device", "crates/measure/device"),
        ("judge", "crates/know/judge"),
        ("cli", "crates/program/cli"),
        ("kit", "crates/proof/kit"),
        ("benchmarks", "benchmarks"),
    ];

    fn rules() -> Rules {
        toml::from_str(
            r#"
            [houses]
            measure = []
            know = ["measure"]
            program = ["measure", "know"]
            proof = ["measure", "know", "program"]
            [pure]
            crates = ["core", "engine", "judge"]
            io_packages = ["rustix"]
            io_words = ["std::fs", "std::env", "Instant"]
            [unsafe]
            crates = ["device"]
            "#,
        )
        .unwrap()
    }

    fn metadata(from: &str, dependencies: &str) -> Metadata {
        let packages = FOLDERS.map(|(name, folder)| {
            let dependencies = if name == from { dependencies } else { "" };
            format!(
                r#"{{"name":"cardmark-{name}","manifest_path":"/r/{folder}/Cargo.toml",
                "dependencies":[{dependencies}]}}"#
            )
        });
        serde_json::from_str(&format!(r#"{{"packages":[{}]}}"#, packages.join(","))).unwrap()
    }

    fn on(name: &str, kind: &str) -> String {
        format!(r#"{{"name":"cardmark-{name}","kind":{kind},"path":"/r/{name}"}}"#)
    }

    fn problems(from: &str, dependencies: &str) -> Vec<String> {
        let metadata = metadata(from, dependencies);
        edges(&rules(), &metadata, &folders(Path::new("/r"), &metadata))
    }

    #[test]
    fn edges_within_a_house_down_and_of_tests_pass() {
        for (from, to, kind) in [
            ("engine", "core", "null"),
            ("judge", "core", "null"),
            ("cli", "judge", "null"),
            ("cli", "device", r#""build""#),
            ("kit", "cli", "null"),
            ("benchmarks", "kit", "null"),
            ("engine", "kit", r#""dev""#),
            ("engine", "cli", r#""dev""#),
        ] {
            assert_eq!(problems(from, &on(to, kind)), [""; 0], "{from} → {to}");
        }
    }

    #[test]
    fn an_edge_to_another_house_against_the_rule_is_caught() {
        for (from, to) in [
            ("core", "judge"),
            ("judge", "cli"),
            ("device", "kit"),
            ("cli", "kit"),
            ("cli", "benchmarks"),
        ] {
            for kind in ["null", r#""build""#] {
                let problems = problems(from, &on(to, kind));
                assert!(
                    problems[0].contains(" may not use "),
                    "{from} → {to}: {problems:?}"
                );
            }
        }
    }

    #[test]
    fn a_pure_crate_with_a_package_or_a_crate_of_io_is_caught() {
        let rustix = r#"{"name":"rustix","kind":null,"path":null}"#;
        assert_eq!(problems("engine", rustix).len(), 1);
        assert_eq!(problems("device", rustix), [""; 0]);
        assert_eq!(
            problems("engine", &on("device", "null")),
            ["engine → device: a pure crate uses one with I/O"]
        );
    }

    #[test]
    fn a_house_without_rule_and_a_rule_without_house_or_crate_are_caught() {
        let metadata = metadata("", "");
        let folders = folders(Path::new("/r"), &metadata);
        let mut rules = rules();
        rules.houses.remove("proof");
        rules.houses.insert("gone".into(), BTreeSet::new());
        rules.pure.crates.insert("lost".into());
        rules.floors.insert("nowhere".into(), Vec::new());
        let problems = edges(&rules, &metadata, &folders);
        for named in [
            "house `proof` has no rule",
            "no house `gone`",
            "no crate `lost`",
            "no crate `nowhere`",
        ] {
            assert!(
                problems.iter().any(|problem| problem.contains(named)),
                "{problems:?}"
            );
        }
    }

    #[test]
    fn a_named_path_that_does_not_exist_is_caught() {
        let text = "`crates/know/judge/src/lib.rs`, `crates/gone/a.rs`, `cargo test`, `crates/lost/NAME.toml`,\n\
                    `crates/know/*.toml`, `crates/<house>/<name>`, `src/b.rs`";
        let there = ["crates", "crates/know", "crates/know/judge/src/lib.rs"];
        let missing: Vec<&str> = missing_paths(text, |path| there.contains(&path)).collect();
        assert_eq!(missing, ["crates/gone/a.rs", "crates/lost/NAME.toml"]);
    }

    fn look_at(path: &str, text: &str) -> Vec<String> {
        let folders = folders(Path::new("/r"), &metadata("", ""));
        let declares_tests = "#[cfg(test)]\nmod checks;\nmod other;";
        let sources = [
            (path, text),
            ("crates/measure/core/src/lib.rs", declares_tests),
        ]
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
                !look_at("crates/measure/engine/src/a.rs", text).is_empty(),
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
            assert_eq!(
                look_at("crates/measure/engine/src/a.rs", text),
                [""; 0],
                "{text}"
            );
        }
    }

    #[test]
    fn io_is_free_in_other_crates_and_in_test_modules_of_their_own_file() {
        assert_eq!(
            look_at("crates/measure/device/src/a.rs", "use std::fs;"),
            [""; 0]
        );
        assert_eq!(
            look_at("crates/measure/core/src/checks.rs", "use std::fs;"),
            [""; 0]
        );
        assert_eq!(
            look_at("crates/measure/core/src/checks/more.rs", "use std::fs;"),
            [""; 0]
        );
        assert_eq!(
            look_at("crates/measure/core/src/other.rs", "use std::fs;").len(),
            1
        );
    }
}
