//! The suites: methods as data.

use cardmark_core::{Suite, SuiteError};
use thiserror::Error;

use crate::facts::from_toml;

/// A version of a suite: its name, its version and its text.
type SuiteText = (&'static str, u32, &'static str);

macro_rules! suite_text {
    ($name:literal, $version:literal) => {
        (
            $name,
            $version,
            include_str!(concat!("../suites/", $name, "-", $version, ".toml")),
        )
    };
}

/// The suites of the program; the first is the default, and of several versions the last one is run. Older
/// versions remain for the records that were made with them.
const SUITES: [SuiteText; 13] = [
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
];

/// The suite for `cardmark crosscheck`; not a method for results, and so not listed.
const CROSSCHECK: &str = include_str!("../suites/crosscheck.toml");

/// Reason why a suite is not available.
#[derive(Debug, Error)]
pub enum CatalogError {
    /// No suite has this name.
    #[error("no suite `{name}`; there is {known}")]
    UnknownSuite {
        /// The requested name.
        name: String,
        /// Names of the suites.
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
    /// The suite breaks a rule.
    #[error("not a usable suite")]
    Rule(#[from] SuiteError),
}

/// Returns the names of the suites, the default first.
#[must_use]
pub fn suite_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = SUITES.iter().map(|(name, _, _)| *name).collect();
    names.dedup();
    names
}

/// Returns the suite with this name and version; without a version the newest.
///
/// # Errors
/// If there is none.
pub fn suite(name: &str, version: Option<u32>) -> Result<Suite, CatalogError> {
    let named = || SUITES.iter().filter(|(known, _, _)| *known == name);
    let found = match version {
        None => named().next_back(),
        Some(version) => named().find(|(_, known, _)| *known == version),
    };
    match (found, named().next_back(), version) {
        (Some((_, _, text)), _, _) => parse_suite(text),
        (None, Some((_, newest, _)), Some(version)) => Err(CatalogError::UnknownVersion {
            name: name.to_owned(),
            version,
            newest: *newest,
        }),
        _ => Err(CatalogError::UnknownSuite {
            name: name.to_owned(),
            known: suite_names().join(", "),
        }),
    }
}

/// Returns the suite for the comparison with the original tools.
///
/// # Errors
/// Never with the data of the program, as a test verifies.
pub fn crosscheck_suite() -> Result<Suite, CatalogError> {
    parse_suite(CROSSCHECK)
}

/// Parses a suite and checks its rules.
///
/// # Errors
/// If the text is not TOML in the form of a suite, or breaks a rule.
pub fn parse_suite(text: &str) -> Result<Suite, CatalogError> {
    let suite: Suite = from_toml(text)?;
    suite.check()?;
    Ok(suite)
}

#[cfg(test)]
mod tests {
    use cardmark_core::{Flush, Workload};
    use sha2::Digest as _;

    use super::*;

    #[test]
    fn every_suite_reads_and_holds_its_rules() {
        for (name, version, _) in SUITES {
            let suite = suite(name, Some(version)).unwrap();
            assert_eq!((suite.name.as_str(), suite.version), (name, version));
        }
        assert_eq!(crosscheck_suite().unwrap().name, "crosscheck");
    }

    /// A published suite is never changed: every record made with it relies on its content.
    #[test]
    fn a_change_needs_a_new_version() {
        let mut found = String::new();
        for (name, version, text) in SUITES {
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
    fn broken_rules_are_named() {
        let good = SUITES[0].2;
        let cases = [
            (
                "layout = \"seq_write_1m\"",
                "layout = \"rand_read_4k\"",
                "layout `rand_read_4k`",
            ),
            ("looks = [6, 12, 24]", "looks = [6, 6]", "looks must rise"),
            (
                "layout_trials_count = 4",
                "layout_trials_count = 7",
                "cannot be laid out",
            ),
            (
                "queue_depth = 32",
                "queue_depth = 512",
                "queue depth must be",
            ),
            (
                "id = \"seq_read_1m\"",
                "id = \"seq_write_1m\"",
                "listed twice",
            ),
            ("block_bytes = 4096", "block_bytes = 5000", "power of two"),
        ];
        for (from, to, message) in cases {
            assert!(good.contains(from), "{from}");
            match parse_suite(&good.replacen(from, to, 1)) {
                Err(CatalogError::Rule(rule)) => {
                    assert!(rule.to_string().contains(message), "{rule}");
                }
                other => panic!("{from} → {to}: {other:?}"),
            }
        }
        assert!(matches!(
            parse_suite("name = 3"),
            Err(CatalogError::Shape(_))
        ));
        assert!(matches!(
            suite("fast", None),
            Err(CatalogError::UnknownSuite { .. })
        ));
    }

    /// Returns the first broken rule of a suite after replacing this text.
    fn broken(suite: &str, from: &str, to: &str) -> String {
        let (_, _, text) = SUITES.iter().find(|(name, _, _)| *name == suite).unwrap();
        assert!(text.contains(from), "{from}");
        match parse_suite(&text.replacen(from, to, 1)) {
            Err(CatalogError::Rule(rule)) => rule.to_string(),
            other => panic!("{from} → {to}: {other:?}"),
        }
    }

    #[test]
    fn a_list_has_neither_rounds_nor_a_layout_and_is_run_at_least_once() {
        let once = "passes = { count = 1 }";
        for to in [
            "passes = { count = 0 }",
            "passes = { until_good = 0 }",
            // No figure has a mark, so it would never be good.
            "passes = { until_good = 3 }",
            "passes = { count = 1 }\nlooks = [6]",
            "passes = { count = 1 }\nlayout = \"dd_write\"",
            "passes = { count = 1 }\nlayout_trials_count = 4",
        ] {
            let message = broken("dramble", once, to);
            assert!(
                message.starts_with("passes must be one or more"),
                "{message}"
            );
        }
        let message = broken("dramble", once, "");
        assert!(message.contains("is not a sequential write"), "{message}");
    }

    #[test]
    fn broken_workloads_of_the_old_tools_are_named() {
        let streams = "streams_count = 4";
        let exact = "stop = { most_bytes = 0 }";
        let span =
            "order = \"permuted\"\nblock_bytes = 4_096\nqueue_depth = 32\nspan_bytes = 268_435_456";
        let all = &span.replace("268_435_456", "0");
        for (suite, from, to, message) in [
            (
                "parallel4",
                streams,
                "streams_count = 257",
                "streams must be 1–256",
            ),
            (
                "parallel4",
                streams,
                "streams_count = 0",
                "streams must be 1–256",
            ),
            (
                "parallel4",
                streams,
                "streams_count = 5",
                "span larger than the file",
            ),
            (
                "parallel4",
                "queue_depth = 1",
                "queue_depth = 2",
                "each at queue depth 1",
            ),
            (
                "parallel4",
                exact,
                "stop = { least_span_ns = 1 }",
                "through their whole span",
            ),
            (
                "parallel4",
                exact,
                "stop = { most_bytes = 0, longest_span_ns = 1 }",
                "through their whole span",
            ),
            (
                "parallel4",
                "span_bytes = 268_435_456",
                "span_bytes = 268_437_504",
                "span larger than",
            ),
            (
                "dramble",
                "span_bytes = 419_430_400",
                "span_bytes = 419_438_592",
                "span larger than",
            ),
            (
                "dramble",
                "span_bytes = 104_857_600",
                "span_bytes = 104_857_601",
                "not a multiple",
            ),
            ("agnostics", span, all, "known number of blocks"),
        ] {
            let said = broken(suite, from, to);
            assert!(
                said.starts_with("workload `") && said.contains(message),
                "{said}"
            );
        }
    }

    #[test]
    fn broken_procedures_are_named() {
        let plain = "procedure = { kind = \"transaction\", journal = \"delete\", page_bytes = 4_096, \
                     cache_bytes = 2_048_000, rows_count = 10_000 }";
        let own = "block, span and order are not those of the procedure";
        for (from, to, message) in [
            (
                "needs = \"filesystem\"",
                "needs = \"directory\"",
                "not a sequential write",
            ),
            ("looks = [6, 12, 24]", "looks = [6, 6]", "looks must rise"),
            ("rows_count = 10_000", "rows_count = 9_999", own),
            ("journal = \"delete\"", "journal = \"wal\"", own),
            ("page_bytes = 4_096", "page_bytes = 256", own),
            ("packages_count = 8", "packages_count = 7", own),
            ("117, 226", "118, 226", own),
            ("order = \"sequential\"", "order = \"random\"", own),
            (
                "queue_depth = 1",
                "queue_depth = 2",
                "one durable write at a time",
            ),
            (
                "\"each_operation\"",
                "\"after_trial\"",
                "one durable write at a time",
            ),
            (plain, "", "has procedures only"),
        ] {
            let said = broken("application", from, to);
            assert!(said.contains(message), "{from} → {to}: {said}");
        }
        let file = "span_bytes = 419_430_400\n";
        let with = format!("{file}procedure = {{ kind = \"append\" }}\n");
        let said = broken("dramble", file, &with);
        assert!(said.contains("a procedure needs files"), "{said}");
    }

    #[test]
    fn broken_figures_are_named() {
        let one = "of = \"children\"";
        for (suite, from, to, message) in [
            (
                "dramble",
                "workload = \"dd_write\"",
                "workload = \"cp_write\"",
                "no such workload",
            ),
            (
                "dramble",
                "printed = \"dd\"",
                "of = \"children\"\nprinted = \"dd\"",
                "of several streams",
            ),
            ("parallel4", one, "of = \"rate\"", "of several streams"),
            (
                "parallel4",
                one,
                "of = \"operations\"",
                "of several streams",
            ),
            (
                "agnostics",
                "printed = \"agnostics\"\n",
                "",
                "of printed numbers",
            ),
            (
                "pibenchmarks",
                "printed = \"pibenchmarks_dd\"\n",
                "",
                "of printed numbers",
            ),
        ] {
            let said = broken(suite, from, to);
            assert!(
                said.starts_with("figure `") && said.contains(message),
                "{said}"
            );
        }
        let twice = "[[figures]]\nid = \"hdparm_T\"";
        let said = broken("dramble", twice, &twice.replace("hdparm_T", "hdparm_t"));
        assert_eq!(said, "`hdparm_t` is listed twice");
    }
}
