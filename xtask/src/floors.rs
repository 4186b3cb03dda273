//! Floors: the order of the folders of a crate. A folder may use those that come after it, and none beside or before it.
//!
//! Paths are followed: in code, `use`, re-exports and macros' arguments, and a path that is the whole text of a literal. Not seen
//! are methods of a type whose `impl` stands on a higher floor, templates, `include!`, and `#[path]`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::modules::Modules;
use crate::sources::Source;

/// The floors of a crate from top to bottom. Folders and files directly in `src/` have a floor; the root may use all.
pub(crate) type Floors = Vec<Floor>;

/// One folder, or several that do not use each other.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Floor {
    One(String),
    Several(Vec<String>),
}

impl Floor {
    fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

/// Returns a problem for each use of a folder that is not below, and for each folder without a floor or floor without a folder.
/// `folder` is that of the crate, such as `crates/site/server`.
pub(crate) fn problems(folder: &str, floors: &Floors, sources: &[Source]) -> Vec<String> {
    let files = sources.iter().filter(|source| source.folder == folder);
    let modules = Modules::of(files);
    let places: BTreeMap<&str, usize> = floors
        .iter()
        .enumerate()
        .flat_map(|(place, floor)| floor.names().iter().map(move |name| (&**name, place)))
        .collect();
    let tops: BTreeSet<&str> = modules.0.keys().filter_map(|module| top(module)).collect();
    let without_floor = tops.iter().filter(|name| !places.contains_key(**name));
    let without_floor = without_floor
        .map(|name| format!("{folder}/src: `{name}` is on no floor of xtask/edges.toml"));
    let gone = places.keys().filter(|name| !tops.contains(**name));
    let gone = gone
        .map(|name| format!("{folder}/src: there is no `{name}`, which xtask/edges.toml names"));
    let mut problems: Vec<String> = without_floor.chain(gone).collect();
    for (from, line, to) in modules.uses(|_| true) {
        let Some(above) = top(&from) else { continue };
        let is_down = match top(&to) {
            Some(below) => above == below || places.get(above) < places.get(below),
            None => false,
        };
        if !is_down {
            let to = top(&to).unwrap_or("the root");
            problems.push(format!(
                "{folder}/src/{}.rs:{line}: `{above}` may not use `{to}`, which is not below it",
                from.join("/")
            ));
        }
    }
    problems
}

fn top(module: &[String]) -> Option<&str> {
    module.first().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        #[derive(Deserialize)]
        struct Rules {
            floors: Floors,
        }
        let rules: Rules = toml::from_str(r#"floors = ["app", ["pages", "api"], "http"]"#).unwrap();
        let all = [
            (
                "lib.rs",
                "mod app; mod pages; mod api; mod http; pub use app::A; pub struct Root;",
            ),
            ("app.rs", "use crate::pages::home; pub struct A;"),
            ("pages.rs", "pub mod home; use self::home::Home;"),
            ("pages/home.rs", "use super::Frame; use crate::http::body;"),
            ("api.rs", "use crate::http::problem::Refusal;"),
            ("http.rs", "mod body; mod problem;"),
            ("http/body.rs", "use crate::http::problem;"),
            (
                "http/problem.rs",
                "#[cfg(test)]\nmod tests { use crate::app::A; }",
            ),
        ];
        let kept = all
            .iter()
            .filter(|(path, _)| files.iter().all(|(other, _)| other != path));
        let sources: Vec<Source> = kept
            .chain(files)
            .map(|(path, text)| {
                Source::parse(&format!("c/src/{path}"), text)
                    .unwrap()
                    .unwrap()
            })
            .collect();
        problems("c", &rules.floors, &sources)
    }

    #[test]
    fn uses_of_floors_below_and_by_tests_pass() {
        assert_eq!(found(&[]), [""; 0]);
    }

    #[test]
    fn a_use_upwards_sideways_or_of_the_root_is_caught() {
        for (text, used) in [
            ("use crate::app::A;", "app"),
            ("use crate::{http::body, pages};", "pages"),
            ("fn f() { crate::pages::home::g() }", "pages"),
            ("use crate::A;", "app"),
            ("use crate::Root;", "the root"),
            ("use super::app;", "app"),
            ("pub(crate) use crate::app::A;", "app"),
            ("pub(self) use super::app::A as B;", "app"),
            ("pub use crate::pages::*;", "pages"),
            ("use crate::*;", "the root"),
            ("use super::*;", "the root"),
            ("use crate as site;", "the root"),
            ("use super as above;", "the root"),
            ("use crate::{self as site};", "the root"),
            ("extern crate self as site;", "the root"),
            ("mod inside { use super::super::app; }", "app"),
            ("#[serde(with = \"crate::app::text\")] struct B;", "app"),
            ("fn f() { macro_call!(crate::app::A) }", "app"),
            ("macro_rules! m { () => { $crate::app::A } }", "app"),
        ] {
            let expected =
                format!("c/src/api.rs:1: `api` may not use `{used}`, which is not below it");
            assert_eq!(found(&[("api.rs", text)]), [expected], "{text}");
        }
        let below = found(&[("http/body.rs", "\nuse crate::api;")]);
        assert_eq!(
            below,
            ["c/src/http/body.rs:2: `http` may not use `api`, which is not below it"]
        );
    }

    #[test]
    fn folders_and_floors_belong_together() {
        let new = found(&[("jobs.rs", "")]);
        assert_eq!(new, ["c/src: `jobs` is on no floor of xtask/edges.toml"]);
        let mut sources = vec![Source::parse("c/src/app.rs", "").unwrap().unwrap()];
        sources.extend(Source::parse("c/src/lib.rs", "mod app;").unwrap());
        let floors = vec![Floor::One("app".into()), Floor::One("lost".into())];
        let gone = problems("c", &floors, &sources);
        assert_eq!(
            gone,
            ["c/src: there is no `lost`, which xtask/edges.toml names"]
        );
    }
}
