//! The table of a fleet.

use cardmark_judge::{FleetGroup, Identity, LastDisk, LastLook, SILENT_DAYS, fleet};
use cardmark_report::{Style, fleet_blocks, fleet_groups, fleet_list, no_fleet};

const DAY_S: u64 = 86_400;
const NOW_S: u64 = 20_786 * DAY_S;

/// Looks at boards, each a day older than the one before.
fn looks(count: u64) -> Vec<(String, LastLook)> {
    let look = |number: u64| {
        let disk = LastDisk {
            identity: Identity {
                model: Some("SC32G".to_owned()),
                ..Identity::default()
            },
            product: Some("A product with a rather long name, 32 GB".to_owned()),
            used_percent: Some(10),
            is_emmc: true,
            written_bytes_per_day: Some(1_234_000_000),
            ..LastDisk::default()
        };
        let look = LastLook {
            at_s: Some(NOW_S - number * DAY_S),
            disks: vec![disk],
            ..LastLook::default()
        };
        (format!("a-board-with-a-name-{number}"), look)
    };
    (0..count).map(look).collect()
}

#[test]
fn every_line_fits_and_no_board_is_lost() {
    let looks = looks(9);
    let all = fleet(&[], &looks, NOW_S, SILENT_DAYS);
    for width in 40..130 {
        let text = fleet_list(&all, 50, width, Style::Plain);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{width}: {text}");
        for number in 0..9 {
            assert!(
                text.contains(&format!("a-board-with-a-name-{number}")),
                "{text}"
            );
        }
    }
    let wide = fleet_list(&all, 2, 120, Style::Plain);
    let lines: Vec<&str> = wide.lines().collect();
    assert_eq!(lines[0], "2 of 9 boards need attention: 2 silent");
    assert!(
        lines[2].contains("a-board-with-a-name-7  silent  No look for 7 days  2026-11-22"),
        "{wide}"
    );
    assert!(lines[2].contains("≤ 10 %    1.23  A product"), "{wide}");
    assert_eq!(lines[4], "7 more: `--limit 9`");
}

#[test]
fn groups_are_a_table_and_no_board_is_a_beginning() {
    let looks = looks(6);
    let all = fleet(&[], &looks, NOW_S, SILENT_DAYS);
    let groups = FleetGroup::by(&all.boards, "product");
    let text = fleet_groups(&groups, "product", 50, 80, Style::Plain);
    assert!(text.contains("0 of 6"), "{text}");
    let none = fleet(&[], &[], NOW_S, SILENT_DAYS);
    assert_eq!(fleet_blocks(&none, |_| None), no_fleet().blocks());
}
