//! Looks as monitoring reads them, with the real `promtool`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cardmark_core::{DiskLook, FilesystemLook, Health, Look, PowerLook};
use cardmark_judge::seen;
use cardmark_report::{ShownLook, look_prometheus};
use cardmark_testkit::{needs, run_tool};

use crate::common::{folder, program, scratch, text};

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../packaging")
}

/// The metrics of a look that sees everything, with a product.
fn all_metrics() -> String {
    let look = Look {
        at_s: Some(1_777_816_920),
        disks: vec![DiskLook {
            name: "mmcblk0".to_owned(),
            model: Some("SN64G \"x\"".to_owned()),
            size_bytes: Some(64_000_000_000),
            counted_bytes: Some(1),
            health: Some(Health {
                used_percent: Some(110),
                media_errors_count: Some(3),
                ..Health::default()
            }),
            ..DiskLook::default()
        }],
        filesystems: vec![FilesystemLook {
            device: "mmcblk0p2".to_owned(),
            kind: "ext4".to_owned(),
            point: "/".to_owned(),
            errors_count: Some(2),
            ..FilesystemLook::default()
        }],
        power: PowerLook {
            is_low: Some(false),
            was_low: Some(true),
        },
        ..Look::default()
    };
    let mut result = seen(None, &look);
    result.kept.disks[0].product = Some("Samsung PRO Endurance".to_owned());
    let shown = ShownLook {
        target: "/",
        look: &look,
        seen: &result,
    };
    look_prometheus(
        &[
            shown,
            ShownLook {
                target: "/boot",
                ..shown
            },
        ],
        "1.2.3",
    )
}

/// Names of metrics in a text.
fn metrics_in(text: &str) -> BTreeSet<&str> {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let words = text.split(|c| !is_of_name(c));
    words.filter(|word| word.starts_with("cardmark_")).collect()
}

fn check_metrics(file: &Path) {
    run_tool(
        "sh",
        &["-c", "promtool check metrics <\"$1\"", "sh", text(file)],
    );
}

#[test]
fn promtool_finds_no_fault_in_the_metrics() {
    needs!(Promtool);
    let scratch = scratch();
    let folder = folder(&scratch);
    let program = program(&scratch);
    let file = program.file("cardmark.prom");
    std::fs::write(&file, all_metrics()).unwrap();
    check_metrics(&file);
    let arguments = ["--format", "prometheus", "--output", text(&file)];
    let output = program.run(
        &[
            &["watch", text(&folder), text(scratch.path())],
            &arguments[..],
        ]
        .concat(),
    );
    assert_eq!((output.code, output.stdout.as_str()), (0, ""), "{output}");
    check_metrics(&file);
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains("cardmark_open_events{"), "{written}");
}

#[test]
fn alert_rules_fire_and_clear() {
    needs!(Promtool);
    let rules = packaging().join("prometheus");
    let test = rules.join("cardmark.rules.test.yml");
    run_tool(
        "promtool",
        &["check", "rules", text(&rules.join("cardmark.rules.yml"))],
    );
    run_tool("promtool", &["test", "rules", text(&test)]);
}

#[test]
fn dashboard_and_rules_use_metrics_that_there_are() {
    let metrics = all_metrics();
    let known = metrics_in(&metrics);
    for file in ["grafana/cardmark.json", "prometheus/cardmark.rules.yml"] {
        let content = std::fs::read_to_string(packaging().join(file)).unwrap();
        let used = metrics_in(&content);
        assert!(
            !used.is_empty() && used.is_subset(&known),
            "{file}: {used:?}"
        );
    }
    let dashboard = std::fs::read(packaging().join("grafana/cardmark.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_slice(&dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<u64> = panels
        .iter()
        .filter_map(|panel| panel["id"].as_u64())
        .collect();
    assert_eq!(ids.len(), panels.len(), "each panel has an id of its own");
}

#[test]
fn a_plugin_that_cannot_look_is_unknown() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["watch", "/nothing/here", "--format", "nagios"]);
    assert_eq!(output.code, 3, "{output}");
    assert!(output.stdout.starts_with("CARDMARK UNKNOWN: "), "{output}");
    assert_eq!(output.stdout.lines().count(), 1, "{output}");
}

#[test]
fn the_login_prints_at_most_one_line() {
    let scratch = scratch();
    let folder = folder(&scratch);
    let output = program(&scratch).run(&["watch", text(&folder), "--login"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output}");
    assert!(output.stdout.lines().count() <= 1, "{output}");
}
