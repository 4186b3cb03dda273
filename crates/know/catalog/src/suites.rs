//! The suites: methods as data.

use std::sync::OnceLock;

use cardmark_core::Suite;
use thiserror::Error;

use crate::facts::from_toml;
use crate::similar::meant;

/// A version of a suite.
struct SuiteText {
    name: &'static str,
    version: u32,
    text: &'static str,
    /// The suite, once it was needed.
    parsed: OnceLock<Suite>,
}

macro_rules! suite_text {
    ($name:literal, $version:literal) => {
        SuiteText {
            name: $name,
            version: $version,
            text: include_str!(concat!("../suites/", $name, "-", $version, ".toml")),
            parsed: OnceLock::new(),
        }
    };
}

impl SuiteText {
    fn suite(&self) -> Result<Suite, CatalogError> {
        if let Some(suite) = self.parsed.get() {
            return Ok(suite.clone());
        }
        let suite = Suite {
            digest: digest(self.name, self.version).map(str::to_owned),
            ..parse(self.text)?
        };
        Ok(self.parsed.get_or_init(|| suite).clone())
    }
}

/// The suites of the program; the first is the default, and of several versions the last one is run. Older
/// versions remain for the records that were made with them.
static SUITES: [SuiteText; 14] = [
    suite_text!("quick", 1),
    suite_text!("quick", 2),
    suite_text!("dramble", 1),
    suite_text!("raw-survey", 1),
    suite_text!("parallel4", 1),
    suite_text!("agnostics", 1),
    suite_text!("pibenchmarks", 1),
    suite_text!("application", 1),
    suite_text!("app-class", 1),
    suite_text!("speed-class", 1),
    suite_text!("sustained", 1),
    suite_text!("sustained", 2),
    suite_text!("position", 1),
    suite_text!("block-sizes", 1),
];

/// The suite for `cardmark-crosscheck`; not a method for results, and so not listed.
const CROSSCHECK: &str = include_str!("../suites/crosscheck.toml");

/// Reason why a suite is not available.
#[derive(Debug, Error)]
pub enum CatalogError {
    /// No suite has this name.
    #[error("no suite `{name}`; {known}")]
    UnknownSuite {
        /// The requested name.
        name: String,
        /// The suites that are meant, or else all.
        known: String,
    },
    /// The suite has no such version.
    #[error("no version {version} of suite `{name}`; the newest here is {newest}")]
    UnknownVersion {
        /// The suite.
        name: String,
        /// The requested version.
        version: u32,
        /// The newest version.
        newest: u32,
    },
    /// The text is not a suite.
    #[error("not a suite")]
    Shape(#[from] toml::de::Error),
}

/// Returns the names of the suites, the default first.
pub fn suite_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = SUITES.iter().map(|one| one.name).collect();
    names.dedup();
    names
}

/// Returns the suite with this name and version; without a version the newest.
///
/// # Errors
/// If there is none.
pub fn suite(name: &str, version: Option<u32>) -> Result<Suite, CatalogError> {
    let named = || SUITES.iter().filter(|one| one.name == name);
    let found = match version {
        None => named().next_back(),
        Some(version) => named().find(|one| one.version == version),
    };
    match (found, named().next_back(), version) {
        (Some(one), _, _) => one.suite(),
        (None, Some(newest), Some(version)) => Err(CatalogError::UnknownVersion {
            name: name.to_owned(),
            version,
            newest: newest.version,
        }),
        _ => Err(CatalogError::UnknownSuite {
            name: name.to_owned(),
            known: meant(name, &suite_names()),
        }),
    }
}

/// SHA-256 of the file of a suite; each version's file stays as it is for ever.
fn digest(name: &str, version: u32) -> Option<&'static str> {
    let file = format!("{name}-{version}.toml");
    let of_file = |line: &'static str| line.split_once("  ").filter(|(_, known)| *known == file);
    let (digest, _) = include_str!("../suites/SHA256SUMS")
        .lines()
        .find_map(of_file)?;
    Some(digest)
}

/// Returns the suite for the comparison with the original tools.
///
/// # Errors
/// Never with the data of the program, as a test verifies.
pub fn crosscheck_suite() -> Result<Suite, CatalogError> {
    parse(CROSSCHECK)
}

/// Parses a suite. A test of the engine checks the rules that all suites hold.
fn parse(text: &str) -> Result<Suite, CatalogError> {
    Ok(from_toml(text)?)
}

#[cfg(test)]
mod tests {
    use cardmark_core::{Flush, Workload};
    use sha2::Digest as _;

    use super::*;

    #[test]
    fn every_suite_is_readable() {
        for &SuiteText { name, version, .. } in &SUITES {
            let suite = suite(name, Some(version)).unwrap();
            assert_eq!((suite.name.as_str(), suite.version), (name, version));
            assert!(suite.workloads.iter().all(Workload::is_known), "{name}");
        }
        assert_eq!(crosscheck_suite().unwrap().name, "crosscheck");
    }

    /// Records may have fields that this version does not know; suites may not.
    #[test]
    fn every_field_of_a_suite_is_known() {
        for &SuiteText {
            name,
            version,
            text,
            ..
        } in &SUITES
        {
            let value: serde_json::Value = toml::from_str(text).unwrap();
            let mut unknown = Vec::new();
            let _: Suite =
                serde_ignored::deserialize(value, |path| unknown.push(path.to_string())).unwrap();
            assert!(unknown.is_empty(), "{name} {version}: {unknown:?}");
        }
    }

    /// A published suite is never changed: every record made with it relies on its content.
    #[test]
    fn a_change_needs_a_new_version() {
        let mut found = String::new();
        for &SuiteText {
            name,
            version,
            text,
            ..
        } in &SUITES
        {
            let digest = sha2::Sha256::digest(text.as_bytes());
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            found += &format!("{hex}  {name}-{version}.toml\n");
        }
        assert_eq!(
            include_str!("../suites/SHA256SUMS"),
            found,
            "make a file of a new version, or, for a new suite, add its line to suites/SHA256SUMS"
        );
    }

    #[test]
    fn quick_measures_what_the_design_names() {
        let suite = suite("quick", None).unwrap();
        let ids: Vec<&str> = suite.workloads.iter().map(|w| w.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "seq_write_1m",
                "seq_read_1m",
                "rand_read_4k",
                "rand_write_4k",
                "sync_write_4k",
                "mixed_4k",
                "rand_read_4k_q32",
                "rand_write_4k_q32",
                "rand_read_4k_device",
                "rand_write_4k_long",
                "reference_read"
            ]
        );
        let least_rounds = u64::from(suite.looks[0]);
        let in_rounds = |w: &&Workload| !w.rounds.once && w.rounds.every_ns == 0;
        for workload in suite.workloads.iter().filter(in_rounds) {
            // Over all rounds at least 3 s and 200 operations (METHODOLOGY, "Rounds").
            assert!(workload.stop.least_span_ns * least_rounds >= 3_000_000_000);
            assert!(workload.stop.least_operations_count * least_rounds >= 200);
        }
        assert_eq!(suite.workload("mixed_4k").unwrap().read_share_percent, 20);
        // The flush is the only difference between synced writes and others.
        let synced = suite.workload("sync_write_4k").unwrap();
        let like_unsynced = Workload {
            id: "rand_write_4k".to_owned(),
            flush: Flush::AfterTrial,
            ..synced.clone()
        };
        assert_eq!(suite.workload("rand_write_4k"), Some(&like_unsynced));
    }

    #[test]
    fn quick_writes_4_gib_at_most() {
        let suite = suite("quick", None).unwrap();
        let writing = suite.workloads.iter().filter(|w| w.writes());
        let most = |w: &Workload| w.rounds.budget_bytes.or(w.exact_bytes());
        let all: Option<Vec<u64>> = writing.map(most).collect();
        assert_eq!(all.unwrap().iter().sum::<u64>(), 4 << 30);
    }

    #[test]
    fn unknown_suites_and_other_texts_are_refused() {
        assert!(matches!(parse("name = 3"), Err(CatalogError::Shape(_))));
        let said = suite("quik", None).unwrap_err().to_string();
        assert_eq!(said, "no suite `quik`; perhaps quick");
        assert!(matches!(
            suite("fast", None),
            Err(CatalogError::UnknownSuite { .. })
        ));
    }
}
