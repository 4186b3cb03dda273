//! The engine against a scripted back end with known behaviour, in virtual time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests: they may panic, and their numbers are small"
)]

mod apart;
mod failures;
mod manners;
mod offsets;
mod oracle;
mod passes;
mod plans;
mod procedure_rules;
mod random;
mod recording;
mod rounds;
mod streams;
mod suite_rules;
mod support;
mod tiers;
mod timing;

/// A file that is not a module would be a test that never runs.
#[test]
fn every_file_here_is_a_module() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let stem = name.trim_end_matches(".rs");
        let declared = include_str!("main.rs").contains(&format!("\nmod {stem};\n"));
        assert!(
            stem == "main" || declared,
            "{name} is not a module of main.rs"
        );
    }
}
