//! Records keep numbers with their units, never lines of a text.

use crate::figures::session;
use crate::known::known;
use crate::{fixture, import, one};

#[test]
fn a_prompt_and_paths_are_in_no_record() {
    let text = format!(
        "pi@kitchen:~ $ sudo hdparm -I /dev/sda\n Serial Number: S4EVNX0R123456K\n{}",
        session()
    )
    .replace("Timing buffered", "pi@kitchen /home/pi/x Timing buffered");
    let one = one(&text);
    let all = format!("{one:?}");
    for word in ["kitchen", "S4EVNX", "/home", "/dev"] {
        assert!(!all.contains(word), "{word}: {all}");
    }
    assert_eq!(one.metrics.len(), 8);
}

#[test]
fn no_line_of_a_tool_takes_other_words_along() {
    for known in known() {
        let lines: Vec<&str> = known.text.lines().collect();
        if lines.len() > 100 {
            continue;
        }
        for at in 0..lines.len() {
            for changed in [
                format!("Zqx {}", lines[at]),
                format!("{} Zqx", lines[at]),
                lines[at].replacen(' ', " Zqx ", 1),
            ] {
                let mut lines = lines.clone();
                lines[at] = &changed;
                for one in import(&lines.join("\n")) {
                    let kept = (&one.metrics, &one.findings);
                    assert!(!format!("{kept:?}").contains("Zqx"), "{changed}: {kept:?}");
                }
            }
        }
    }
}

#[test]
fn of_a_report_only_facts_of_registers_and_system_are_kept() {
    let text = fixture!("pibenchmarks-2024-terminal.txt");
    let changed = text
        .replace("worn 16 GB card", "Bob Meyer's card")
        .replace("Model: SC16G", "Model: /home/bob");
    let all = format!("{:?}", one(&changed));
    for word in ["Bob", "bob", "home", "/dev"] {
        assert!(!all.contains(word), "{word}: {all}");
    }
}
