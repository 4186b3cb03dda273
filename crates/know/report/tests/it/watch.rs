//! Looks at a board in words.

use cardmark_core::{
    DiskLook, FilesystemLook, Health, KernelFault, LogCount, LogLook, Look, PowerLook,
};
use cardmark_judge::{Gravity, Kept, ProgramWrites, Seen, Writing, acknowledge, seen};
use cardmark_report::{
    ShownLook, Style, answer_of_look, answer_of_writers, gravity_of_looks, login_line, look_json,
    look_nagios, look_prometheus,
};
use insta::assert_snapshot;

const GB: u64 = 1_000_000_000;
const DAY_S: u64 = 86_400;
/// 2026-05-03 14:02 UTC.
const BEGIN_S: u64 = 1_777_816_920;

fn look(days: u64) -> Look {
    Look {
        at_s: Some(BEGIN_S + days * DAY_S),
        uptime_s: Some(1000 + days * DAY_S),
        boot_id: Some("one".to_owned()),
        disks: vec![DiskLook {
            name: "mmcblk0".to_owned(),
            model: Some("SN64G".to_owned()),
            size_bytes: Some(64 * GB),
            id: Some("a1b2c3".to_owned()),
            is_own_id: true,
            counted_bytes: Some(days * 3 * GB / 2),
            ..DiskLook::default()
        }],
        filesystems: vec![filesystem()],
        log: LogLook {
            oldest: Some(0),
            next: Some(900),
            counts: Vec::new(),
        },
        power: PowerLook {
            is_low: Some(false),
            was_low: Some(false),
        },
    }
}

fn filesystem() -> FilesystemLook {
    FilesystemLook {
        device: "mmcblk0p2".to_owned(),
        kind: "ext4".to_owned(),
        point: "/".to_owned(),
        stated_writable: Some(true),
        ..FilesystemLook::default()
    }
}

fn lines(look: &Look, seen: &Seen, width: usize) -> Vec<String> {
    answer_of_look(look, seen).lines(width, Style::Plain)
}

/// Looks each day from the first on.
fn looks(days: u64) -> Kept {
    let kept = (0..days).fold(None, |kept: Option<Kept>, day| {
        Some(seen(kept.as_ref(), &look(day)).kept)
    });
    kept.unwrap()
}

#[test]
fn nothing_wrong_is_the_first_thing_that_is_said() {
    let now = look(20);
    let lines = lines(&now, &seen(Some(&looks(20)), &now), 80);
    let shown: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn the_gravest_event_comes_first_with_its_time_and_the_next_step() {
    let mut now = look(20);
    now.filesystems[0].is_read_only = true;
    now.log.counts = vec![
        LogCount {
            of: "mmcblk0".to_owned(),
            fault: KernelFault::Write,
            is_before: false,
            count: 2,
            first_us: (1000 + 19 * DAY_S) * 1_000_000,
            last_us: (1060 + 19 * DAY_S) * 1_000_000,
        },
        LogCount {
            of: "mmcblk0".to_owned(),
            fault: KernelFault::Read,
            is_before: false,
            count: 1,
            first_us: (1000 + 19 * DAY_S) * 1_000_000,
            last_us: (1000 + 19 * DAY_S) * 1_000_000,
        },
    ];
    let result = seen(Some(&looks(20)), &now);
    let answer = answer_of_look(&now, &result);
    assert_eq!(
        answer.sentence,
        "`/` is read-only since 2026-05-22 14:02 UTC at the earliest: back up now; replace the card unless \
         somebody set it so"
    );
    let failed =
        "2 failed writes and 1 failed read of `mmcblk0` since 2026-05-22 14:02 UTC: back up now; ";
    assert!(answer.more[0].starts_with(failed), "{answer:?}");
    assert_eq!(answer.next.as_deref(), Some("cardmark watch --acknowledge"));
    let json = look_json("/", &now, &result);
    assert_eq!(json["events"][0]["kind"], "read_only");
    assert_eq!(json["events"][0]["gravity"], "alarm");
    let mut kept = result.kept.clone();
    assert_eq!(acknowledge(&mut kept, None, now.at_s), 2);
    let quiet = answer_of_look(&now, &Seen { kept, ..result });
    assert_eq!(quiet.sentence, "Nothing wrong since 2026-05-23");
}

#[test]
fn endurance_is_told_of_a_product_that_is_named() {
    let mut kept = looks(20);
    kept.disks[0].product = Some("Samsung PRO Endurance".to_owned());
    kept.disks[0].written_bytes = 4_000 * GB;
    let mut now = look(20);
    now.disks[0].health = Some(Health {
        used_percent: Some(110),
        ..Health::default()
    });
    now.disks[0].is_emmc = true;
    let result = seen(Some(&kept), &now);
    let text = lines(&now, &result, 100).join("\n");
    for part in [
        "4 TB of 410 TB",
        "over 100 % of its life used",
        "order a replacement",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn every_look_is_short_and_fits() {
    let mut now = look(20);
    now.filesystems[0].is_stopped = true;
    now.filesystems[0].is_read_only = true;
    now.filesystems[0].errors_count = Some(12);
    now.at_s = None;
    now.log = LogLook::default();
    now.power.was_low = Some(true);
    let result = seen(Some(&looks(20)), &now);
    for width in 30..=120 {
        let lines = lines(&now, &result, width);
        let widest = lines.iter().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{width}: {lines:?}");
    }
    assert!(lines(&now, &result, 120).len() <= 12);
}

fn shown<'a>(target: &'a str, look: &'a Look, seen: &'a Seen) -> ShownLook<'a> {
    ShownLook { target, look, seen }
}

/// A look at a filesystem that became read-only.
fn stopped() -> Look {
    let mut now = look(20);
    now.filesystems[0].is_stopped = true;
    now.filesystems[0].is_read_only = true;
    now
}

#[test]
fn the_login_is_silent_if_nothing_is_wrong() {
    let (good, bad) = (look(20), stopped());
    let (calm, result) = (seen(Some(&looks(20)), &good), seen(Some(&looks(20)), &bad));
    assert_eq!(login_line(&[shown("/", &good, &calm)]), None);
    let both = [shown("/boot", &good, &calm), shown("/", &bad, &result)];
    let line = login_line(&both).unwrap();
    assert!(
        line.starts_with("cardmark: `/` is read-only since "),
        "{line}"
    );
    assert!(!line.contains('\n') && !line.contains("more"), "{line}");
    let twice = [both[1], both[1]];
    assert!(
        login_line(&twice)
            .unwrap()
            .ends_with("(1 more: cardmark watch)")
    );
}

#[test]
fn a_reader_without_a_card_is_not_called_good() {
    let mut empty = look(20);
    empty.disks[0].size_bytes = None;
    empty.filesystems.clear();
    let result = seen(Some(&looks(20)), &empty);
    let text = look_nagios(&[shown("/dev/sda", &empty, &result)]);
    assert!(text.starts_with("CARDMARK OK: No medium"), "{text}");
}

#[test]
fn a_plugin_shows_the_gravest_target_first_and_its_figures() {
    let (good, bad) = (look(20), stopped());
    let (calm, result) = (seen(Some(&looks(20)), &good), seen(Some(&looks(20)), &bad));
    let alone = [shown("/", &good, &calm)];
    assert_eq!(gravity_of_looks(&alone), None);
    assert_eq!(
        look_nagios(&alone),
        "CARDMARK OK: Nothing wrong since 2026-05-03 | 'mmcblk0 written'=30000000000B\n"
    );
    let both = [shown("/a|b", &good, &calm), shown("/", &bad, &result)];
    assert_eq!(gravity_of_looks(&both), Some(Gravity::Alarm));
    let text = look_nagios(&both);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("CARDMARK CRITICAL: /: `/` is read-only"),
        "{text}"
    );
    assert!(lines[1].starts_with("/a b: Nothing wrong"), "{text}");
    assert_eq!(text.matches('|').count(), 1, "{text}");
    assert!(lines[0].contains("'/a b mmcblk0 written'="), "{text}");
    assert!(lines[0].contains("'/ mmcblk0 written'="), "{text}");
}

#[test]
fn metrics_have_a_value_only_if_it_is_known_and_no_serial_number() {
    let now = stopped();
    let result = seen(Some(&looks(20)), &now);
    let text = look_prometheus(&[shown("/", &now, &result)], "1.2.3");
    for line in [
        "cardmark_build_info{version=\"1.2.3\"} 1",
        "cardmark_last_look_timestamp_seconds{target=\"/\"} 1779544920",
        "cardmark_open_events{target=\"/\",kind=\"read_only\",gravity=\"alarm\"} 1",
        "cardmark_open_events{target=\"/\",kind=\"under_voltage\",gravity=\"warning\"} 0",
        "# TYPE cardmark_disk_written_bytes_total counter",
        "cardmark_disk_written_bytes_total{target=\"/\",device=\"mmcblk0\"} 30000000000",
        "cardmark_disk_info{target=\"/\",device=\"mmcblk0\",model=\"SN64G\"} 1",
        "cardmark_under_voltage 0",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}: {text}");
    }
    for absent in [
        "a1b2c3",
        "life_used",
        "endurance",
        "errors_total",
        "link_trouble",
    ] {
        assert!(!text.contains(absent), "{absent}: {text}");
    }
    let mut odd = now.clone();
    odd.at_s = None;
    odd.filesystems[0].point = "/a \"b\"\\\n".to_owned();
    let text = look_prometheus(&[shown("/", &odd, &result)], "1.2.3");
    assert!(
        text.contains("mountpoint=\"/a \\\"b\\\"\\\\\\n\""),
        "{text}"
    );
    assert!(!text.contains("last_look"), "{text}");
}

fn program(name: &str, bytes: u64, file: &str) -> ProgramWrites {
    ProgramWrites {
        program: name.to_owned(),
        bytes,
        files: vec![file.to_owned(), "/another".to_owned()],
    }
}

#[test]
fn writers_are_shown_with_amounts_of_a_day_and_the_end_of_a_path() {
    let long = "/var/lib/application/with/a/long/path/database.sqlite-wal";
    let mut writing = Writing {
        disks: vec!["mmcblk0".to_owned()],
        span_s: 60,
        disk_bytes: Some(2_000_000),
        programs: vec![
            program("python3", 1_500_000, long),
            program(
                "systemd-journal",
                300_000,
                "/var/log/journal/system.journal",
            ),
        ],
        has_files: true,
        sees_all: true,
    };
    let text = answer_of_writers(&writing)
        .lines(80, Style::Plain)
        .join("\n");
    for part in [
        "`mmcblk0` is written 2.88 GB a day if it goes on as in these 60 s",
        "2.16 GB a day",
        "…ith/a/long/path/database.sqlite-wal",
        "/var/log/journal/system.journal",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        !text.contains("/var/lib") && !text.contains("Not seen"),
        "{text}"
    );
    writing.programs = vec![program("a", 1, long); 20];
    (writing.has_files, writing.sees_all) = (false, false);
    for width in 30..=120 {
        let lines = answer_of_writers(&writing).lines(width, Style::Plain);
        let widest = lines.iter().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{width}: {lines:?}");
    }
    let lines = answer_of_writers(&writing).lines(80, Style::Plain);
    assert!(lines.len() <= 10, "{lines:?}");
    writing.disk_bytes = Some(0);
    assert_eq!(
        answer_of_writers(&writing).sentence,
        "Nothing was written to `mmcblk0` in 60 s"
    );
}
