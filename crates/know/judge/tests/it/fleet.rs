//! Boards with runs and looks: their order, and what is known of each.

use cardmark_core::{
    DeviceInfo, Integrity, IntegrityTest, Origin, OriginKind, Record, Sample, StorageKind,
    run_id_from_bytes,
};
use cardmark_judge::{
    Event, EventKind, FleetGroup, Identity, LastDisk, LastLook, Moment, Need, SILENT_DAYS,
    attention, cards_of, fleet,
};

const DAY_S: u64 = 86_400;
const NOW_S: u64 = 20_786 * DAY_S;
const SIZE: u64 = 32 << 30;

/// A test of a card in a board.
fn run(host: &str, card: &str, kind: StorageKind, number: u8) -> Record {
    let mut run = Record::new(
        run_id_from_bytes([number; 16]),
        Origin::of(OriginKind::Measured),
    );
    run.started_at = Some(format!("2026-11-{number:02}T10:00:00Z"));
    run.labels.insert("host".to_owned(), host.to_owned());
    run.devices = vec![DeviceInfo {
        size_bytes: Some(SIZE),
        model: Some("SC32G".to_owned()),
        sample: Some(Sample::of_card(card)),
        ..DeviceInfo::default()
    }];
    let real = if kind == StorageKind::Limbo {
        SIZE / 4
    } else {
        SIZE
    };
    run.integrity = Some(Integrity::new(IntegrityTest::Verify, kind, SIZE, real));
    run
}

fn look(host: &str, card: &str, days_ago: u64, events: &[EventKind]) -> (String, LastLook) {
    let event = |kind: &EventKind| Event {
        kind: *kind,
        of: "mmcblk0".to_owned(),
        since: Moment::at(Some(NOW_S - DAY_S)),
        last: Moment::at(Some(NOW_S - DAY_S)),
        count: 1,
        faults: Default::default(),
        detail: None,
        until: None,
        is_acknowledged: false,
    };
    let disk = LastDisk {
        identity: Identity {
            id: Some(card.to_owned()),
            is_own_id: true,
            model: Some("SC32G".to_owned()),
            size_bytes: Some(SIZE),
        },
        ..LastDisk::default()
    };
    let look = LastLook {
        at_s: Some(NOW_S - days_ago * DAY_S),
        disks: vec![disk],
        events: events.iter().map(event).collect(),
        ..LastLook::default()
    };
    (host.to_owned(), look)
}

#[test]
fn boards_are_in_the_order_of_attention_with_alarms_and_silence() {
    let runs = [
        run("pi-9", "aaaaaa", StorageKind::Damaged, 1),
        run("pi-8", "bbbbbb", StorageKind::Limbo, 2),
        run("pi-7", "cccccc", StorageKind::Confirmed, 3),
    ];
    let looks = [
        look("pi-10", "dddddd", 0, &[EventKind::UnderVoltage]),
        look("pi-7", "cccccc", SILENT_DAYS, &[]),
        look("pi-6", "eeeeee", 0, &[EventKind::LinkTrouble]),
        look("pi-5", "ffffff", 0, &[EventKind::MediaErrors]),
        look(
            "pi-4",
            "111111",
            0,
            &[EventKind::UnderVoltage, EventKind::ReadOnly],
        ),
    ];
    let cards = cards_of(&runs);
    let all = fleet(&cards, &looks, NOW_S, SILENT_DAYS);
    let rows: Vec<(&str, Option<Need>)> = all
        .boards
        .iter()
        .map(|board| (board.host, board.need))
        .collect();
    assert_eq!(
        rows,
        [
            ("pi-8", Some(Need::Replace)),
            ("pi-9", Some(Need::Replace)),
            ("pi-4", Some(Need::BackUp)),
            ("pi-5", Some(Need::BackUp)),
            ("pi-10", Some(Need::Watch)),
            ("pi-7", Some(Need::Silent)),
            ("pi-6", None),
        ]
    );
    let by_list: Vec<String> = attention(&cards)
        .into_iter()
        .map(|row| row.card.board)
        .collect();
    let with_row = all
        .boards
        .iter()
        .filter(|board| !board.attention.is_empty());
    let by_fleet: Vec<&str> = with_row.map(|board| board.host).collect();
    assert_eq!(by_fleet, by_list);
    let silent = all.boards.iter().filter_map(|board| board.silent_days);
    assert_eq!(silent.collect::<Vec<_>>(), [SILENT_DAYS]);
    assert!(all.moved.is_empty());
}

#[test]
fn a_card_in_two_boards_is_named_with_its_last_days() {
    let runs = [run("pi-1", "abcdef", StorageKind::Confirmed, 1)];
    let looks = [
        look("pi-2", "abcdef", 0, &[]),
        look("pi-3", "fedcba", 0, &[]),
    ];
    let cards = cards_of(&runs);
    let all = fleet(&cards, &looks, NOW_S, SILENT_DAYS);
    let [moved] = all.moved.as_slice() else {
        panic!("{:?}", all.moved);
    };
    let hosts: Vec<&str> = moved.boards.iter().map(|(host, _)| *host).collect();
    assert_eq!((moved.id, hosts), ("abcdef", vec!["pi-1", "pi-2"]));
}

#[test]
fn a_clock_that_is_not_set_is_not_silent() {
    let (host, mut nameless) = look("pi-1", "abcdef", 0, &[]);
    nameless.at_s = None;
    let looks = [(host, nameless)];
    let all = fleet(&[], &looks, NOW_S, SILENT_DAYS);
    assert_eq!(all.boards[0].need, None);
    assert_eq!(all.boards[0].looked_s(), None);
}

#[test]
fn small_groups_are_never_ranked() {
    let products = [("A", 5, 2), ("B", 5, 2), ("C", 10, 5), ("D", 4, 4)];
    let looks: Vec<(String, LastLook)> = products
        .iter()
        .flat_map(|(product, count, bad)| {
            (0..*count).map(move |number| {
                let events: &[EventKind] = match number < *bad {
                    true => &[EventKind::ReadOnly],
                    false => &[],
                };
                let host = format!("{product}{number}");
                let (host, mut look) = look(&host, &host, 0, events);
                look.disks[0].product = Some((*product).to_owned());
                (host, look)
            })
        })
        .collect();
    let all = fleet(&[], &looks, NOW_S, SILENT_DAYS);
    let groups = FleetGroup::by(&all.boards, "product");
    let places: Vec<(Option<&str>, Option<usize>)> = groups
        .iter()
        .map(|group| (group.name.as_deref(), group.place))
        .collect();
    let expected = [("C", Some(1)), ("A", Some(2)), ("B", Some(2)), ("D", None)];
    assert_eq!(places, expected.map(|(name, place)| (Some(name), place)));
    let unknown = FleetGroup::by(&all.boards, "site");
    assert_eq!((unknown[0].boards_count, unknown[0].place), (24, None));
}
