//! Boards of a fleet: what they export, what the desk keeps, and their table.

use std::path::Path;

use cardmark_testkit::Program;
use serde_json::{Value, json};

use crate::common::{assert_error, folder, program, scratch, text};

const DAY_S: u64 = 86_400;

fn now_s() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A look at a board, some days ago, as it exports it.
fn look(id: &str, days_ago: u64, events: &Value) -> Value {
    json!({
        "format": "cardmark look 1",
        "target": "/",
        "at_s": now_s() - days_ago * DAY_S,
        "disks": [{
            "name": "mmcblk0",
            "identity": { "id": id, "is_own_id": true, "model": "SN32G", "size_bytes": 32_000_000_000_u64 },
            "product": "Red 32 GB",
            "since_s": 0,
            "used_percent": 10,
            "is_emmc": true,
            "written_bytes": 5,
            "written_bytes_per_day": 1_500_000_000,
        }],
        "events": events,
    })
}

fn read_only() -> Value {
    json!([{
        "kind": "read_only", "of": "/", "count": 1,
        "since": { "after_s": 1_777_816_800, "by_s": 1_777_816_860 },
        "last": { "after_s": 1_777_816_800, "by_s": 1_777_816_860 },
    }])
}

fn import(desk: &Program, file: &Path, host: &str, lines: &[Value]) -> String {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let written = std::fs::write(file, lines.join("\n") + "\n");
    assert!(written.is_ok(), "{written:?}");
    let output = desk.run(&["import", "--host", host, text(file)]);
    assert_eq!(output.code, 0, "{output}");
    output.stderr
}

fn fleet(desk: &Program, arguments: &[&str]) -> Value {
    let output = desk.run(&[&["fleet", "--json"], arguments].concat());
    assert_eq!(output.code, 0, "{output}");
    serde_json::from_str(&output.stdout).unwrap_or_default()
}

fn hosts(fleet: &Value) -> Vec<&str> {
    let boards = fleet["boards"].as_array().into_iter().flatten();
    boards.filter_map(|board| board["host"].as_str()).collect()
}

#[test]
fn without_boards_it_states_how_to_begin() {
    let scratch = scratch();
    let desk = program(&scratch);
    let output = desk.run(&["fleet"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.starts_with("No board yet\n"), "{output}");
    assert!(output.stdout.contains("import --host"), "{output}");
    assert_eq!(hosts(&fleet(&desk, &[])), [""; 0]);
}

#[test]
fn a_board_exports_its_last_look_and_the_desk_keeps_it_once() {
    let scratch = scratch();
    let folder = folder(&scratch);
    let board = program(&scratch);
    let run = ["run", "sim:a1-32gb", "--only=rand_read_4k"];
    assert_eq!(board.run(&run).code, 0);
    assert_eq!(board.run(&["watch", text(&folder)]).code, 0);
    let exported = board.run(&["export", "--since", "1d"]);
    assert_eq!(exported.code, 0, "{exported}");
    let lines: Vec<&str> = exported.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{exported}");
    assert!(lines[0].contains("cardmark look 1"), "{exported}");
    assert_eq!(board.run(&["export"]).stdout.trim_end(), lines[1]);
    let later = board.run(&["export", "--since", "2999-01-01"]);
    assert_eq!(later.stdout.trim_end(), lines[0], "{later}");
    let public = board.run(&["export", "--since=1d", "--public"]).stdout;
    assert!(!public.contains("cardmark look"), "{public}");

    let desk = Program::new(&crate::common::BINARY, scratch.path());
    let file = scratch.path().join("pi-1.jsonl");
    std::fs::write(&file, &exported.stdout).unwrap();
    let nameless = desk.run(&["import", text(&file)]);
    assert!(nameless.stderr.contains("left out: 1 look"), "{nameless}");
    let named = ["import", "--host", "pi-1", text(&file)];
    let first = desk.run(&named);
    assert_eq!(
        first.stderr.trim(),
        "imported 0 runs; 1 run already kept; 1 look",
        "{first}"
    );
    let once = std::fs::read(desk.database()).unwrap();
    let again = desk.run(&named);
    assert!(again.stderr.contains("1 look already kept"), "{again}");
    assert_eq!(std::fs::read(desk.database()).unwrap(), once);
    let all = fleet(&desk, &[]);
    assert_eq!(hosts(&all), ["pi-1"]);
    assert_eq!(all["boards"][0]["runs_count"], 1, "{all}");
    assert_eq!(all["boards"][0]["silent_days"], Value::Null);
}

#[test]
fn boards_are_listed_the_worst_first() {
    let scratch = scratch();
    let desk = program(&scratch);
    let file = scratch.path().join("board.jsonl");
    for number in 1..=6 {
        let id = format!("00000{number}");
        import(
            &desk,
            &file,
            &format!("pi-{number}"),
            &[look(&id, 1, &json!([]))],
        );
    }
    import(&desk, &file, "pi-12", &[look("000012", 30, &json!([]))]);
    import(&desk, &file, "pi-10", &[look("000010", 0, &read_only())]);
    let said = import(&desk, &file, "desk", &[look("000001", 2, &json!([]))]);
    assert_eq!(said.trim(), "imported 0 runs; 1 look");

    let output = desk.columns(100).run(&["fleet"]);
    assert_eq!(output.code, 0, "{output}");
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(
        lines[0],
        "2 of 9 boards need attention: 1 to back up, 1 silent"
    );
    for part in [
        "pi-10",
        "back up",
        "`/` is read-only since 2026-05-03",
        "≤ 10 %",
        "1.50",
    ] {
        assert!(lines[2].contains(part), "{part}: {output}");
    }
    assert!(lines[3].contains("No look for 30 days"), "{output}");
    assert!(
        output
            .stdout
            .contains("Card 000001 (SN32G) was seen in desk"),
        "{output}"
    );
}

#[test]
fn boards_are_chosen_and_small_groups_have_no_place() {
    let scratch = scratch();
    let desk = program(&scratch);
    let file = scratch.path().join("board.jsonl");
    for number in 1..=7 {
        let mut look = look(&format!("00000{number}"), 0, &read_only());
        if number > 5 {
            look["disks"][0]["product"] = json!("Blue 32 GB");
        }
        import(&desk, &file, &format!("pi-{number}"), &[look]);
    }
    let chosen = |conditions: &[&str]| {
        let all = fleet(&desk, conditions);
        hosts(&all).join(" ")
    };
    assert_eq!(chosen(&["host=pi-1"]), "pi-1");
    assert_eq!(chosen(&["product=blue"]), "pi-6 pi-7");
    assert_eq!(chosen(&["host=pi-*", "model=SN32G"]).split(' ').count(), 7);
    let none = desk.run(&["fleet", "host=pi-9"]);
    assert_eq!(none.stdout, "None of 7 boards has host=pi-9\n", "{none}");
    let groups = fleet(&desk, &["--by", "product"]);
    let groups = groups["groups"]["groups"].clone();
    assert_eq!(groups[0]["name"], "Red 32 GB", "{groups}");
    assert_eq!(
        (&groups[0]["place"], &groups[1]["place"]),
        (&json!(1), &Value::Null)
    );
    let limited = desk.run(&["fleet", "--limit", "2"]);
    assert!(limited.stdout.contains("5 more: `--limit 7`"), "{limited}");
    assert_error(&desk.run(&["fleet", "pi-1"]), 2, &["expected KEY=VALUE"]);
}
