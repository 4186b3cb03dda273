//! Circular dependencies between the modules of a crate.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::{Code, Import, Named};
use crate::sources::{Module, Source, module_of};

/// The modules of one crate, each with the code of its file.
pub(crate) struct Modules<'a>(pub BTreeMap<Module, &'a Code>);

impl<'a> Modules<'a> {
    /// The modules of these files of a crate. Of a crate with a library, the file of its program is left out.
    pub(crate) fn of(files: impl Iterator<Item = &'a Source>) -> Self {
        let files: Vec<&Source> = files.collect();
        let has_library = files.iter().any(|file| file.below == "lib.rs");
        let files = files.into_iter();
        let files = files.filter(|file| !has_library || file.below != "main.rs");
        let module = |file: &'a Source| (module_of(&file.below), &file.code);
        Self(files.map(module).collect())
    }

    /// Returns each use of another module: the module, the line, and the module that is used. Those of an `import` kind
    /// that `counts` refuses are left out.
    pub(crate) fn uses(&self, counts: impl Fn(Import) -> bool) -> Vec<(Module, usize, Module)> {
        let mut uses = BTreeSet::new();
        for (module, code) in &self.0 {
            for path in code.paths.iter().filter(|path| counts(path.import)) {
                let all_of_root =
                    path.import != Import::No && Self::is_root(module, &path.segments);
                if all_of_root && !module.is_empty() {
                    uses.insert((module.clone(), path.line, Vec::new()));
                }
                let used = self.resolve(module, &path.segments, 0);
                let used = used.filter(|used| used != module);
                uses.extend(used.map(|used| (module.clone(), path.line, used)));
            }
        }
        uses.into_iter().collect()
    }

    /// Returns groups of modules that depend on each other in a circle.
    pub(crate) fn circles(&self) -> Vec<Vec<Module>> {
        let all = self.uses(|import| import != Import::Reexport);
        let used_by = |module: &Module| {
            let own = all.iter().filter(|(from, ..)| from == module);
            own.map(|(.., used)| used.clone()).collect()
        };
        let uses: BTreeMap<&Module, BTreeSet<Module>> = self
            .0
            .keys()
            .map(|module| (module, used_by(module)))
            .collect();
        let reach: BTreeMap<&Module, BTreeSet<&Module>> = self
            .0
            .keys()
            .map(|module| (module, reachable(&uses, module)))
            .collect();
        let mut circles = BTreeSet::new();
        for module in self.0.keys() {
            let mutual = |other: &&&Module| reach[**other].contains(module);
            let circle: Vec<Module> = reach[module]
                .iter()
                .filter(mutual)
                .map(|m| (*m).clone())
                .collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// Whether an imported path is the root itself, for all of its names (`*`) or as an alias.
    fn is_root(from: &Module, segments: &[String]) -> bool {
        match segments {
            [only] if only == "crate" => true,
            [only] if only == "super" => from.len() == 1,
            _ => false,
        }
    }

    /// The module in which a path ends, re-exports followed.
    fn resolve(&self, from: &Module, segments: &[String], depth: usize) -> Option<Module> {
        let full = self.absolute(from, segments)?;
        let known = (0..=full.len())
            .rev()
            .find(|&end| self.0.contains_key(&full[..end]))?;
        let module = full[..known].to_vec();
        let Some(name) = full.get(known) else {
            return (segments.len() > 1).then_some(module);
        };
        let is_it =
            |path: &&Named| path.import == Import::Reexport && path.segments.last() == Some(name);
        let reexport = self.0[&module].paths.iter().find(is_it);
        let follow = |path: &Named| self.resolve(&module, &path.segments, depth + 1);
        let followed = reexport.filter(|_| depth < 8).and_then(follow);
        Some(followed.unwrap_or(module))
    }

    /// The path below the crate's root; none outside the crate.
    fn absolute(&self, from: &Module, segments: &[String]) -> Option<Module> {
        let (first, rest) = segments.split_first()?;
        let mut full = match first.as_str() {
            "crate" => Vec::new(),
            "self" if !rest.is_empty() => from.clone(),
            "super" => from[..from.len().checked_sub(1)?].to_vec(),
            _ if rest.is_empty() => return None,
            child => {
                let mut full = from.clone();
                full.push(child.to_owned());
                self.0.contains_key(&full).then_some(())?;
                full
            }
        };
        let mut rest = rest;
        while let Some((first, further)) = rest.split_first()
            && first == "super"
        {
            // Nothing is left to pop in a module inside of a file, whose own name no file has.
            full.pop();
            rest = further;
        }
        full.extend(rest.iter().filter(|segment| *segment != "self").cloned());
        Some(full)
    }
}

fn reachable<'a>(
    uses: &'a BTreeMap<&'a Module, BTreeSet<Module>>,
    from: &'a Module,
) -> BTreeSet<&'a Module> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&Module> = uses[from].iter().collect();
    while let Some(module) = next.pop() {
        if found.insert(module)
            && let Some(further) = uses.get(module)
        {
            next.extend(further);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::parse;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let parsed: Vec<(Module, Code)> = files
            .iter()
            .map(|(path, text)| (module_of(path), parse(text).unwrap()))
            .collect();
        let modules = Modules(
            parsed
                .iter()
                .map(|(module, code)| (module.clone(), code))
                .collect(),
        );
        let text = |circle: &Vec<Module>| {
            let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
            names.join(" ")
        };
        modules.circles().iter().map(text).collect()
    }

    #[test]
    fn a_tree_has_no_circles() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
            ("a.rs", "use crate::B; use std::fs;"),
            ("b.rs", "mod c; use c::C; pub struct B;"),
            ("b/c.rs", "pub struct C;"),
        ];
        assert_eq!(circles(&files), [""; 0]);
    }

    #[test]
    fn circles_are_found_through_reexports_and_super() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
            ("a.rs", "use crate::b;"),
            ("b.rs", "mod c; fn f(_: crate::A) { c::g() }"),
            ("b/c.rs", "use super::B;"),
        ];
        assert_eq!(circles(&files), ["a b b::c"]);
    }
}
