//! The program as its users meet it: good and bad targets, faults, signals, crashes, its store.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

mod beginner;
mod clock;
mod common;
mod crosscheck;
mod devices;
mod faults;
mod kills;
mod known_truth;
mod old_tools;
mod prepare;
mod refusals;
mod signals;
mod simulated;
mod store;
mod strace;
mod targets;
mod traces;
mod usage;

/// A file that is no module would be no test.
#[test]
fn every_file_here_is_a_module() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let main = std::fs::read_to_string(format!("{folder}/main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.starts_with('.') {
            continue;
        }
        let module = name.strip_suffix(".rs").expect("only Rust files");
        assert!(
            module == "main" || main.contains(&format!("\nmod {module};\n")),
            "{name} is not compiled"
        );
    }
}
