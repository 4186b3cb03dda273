//! Damaged and fake storage: the map, and what can still be used.

use cardmark_core::{
    BlockCounts, BlockState, Finding, FindingKind, Integrity, IntegrityTest, Record, Severity,
    StorageKind, SurfacePart, Target, TargetKind,
};
use cardmark_report::document::markdown;
use cardmark_report::{
    Style, UsablePart, Weight, answer_of_run, result_of, survey, terminal, usable_part,
};

use crate::builder::empty;

const BLOCK: u64 = 512;
const MIB: u64 = 1 << 20;
const GOOD: BlockState = BlockState::Good;
const LOST: BlockState = BlockState::Lost;

/// A test of a device that found this.
fn tested(kind: StorageKind, size_bytes: u64, real_bytes: u64) -> Record {
    let mut record = empty();
    record.suite = None;
    record.target = Some(Target::of(TargetKind::Device));
    record.integrity = Some(Integrity::new(
        IntegrityTest::Verify,
        kind,
        size_bytes,
        real_bytes,
    ));
    record
}

/// Adds the map of these parts, each with a state and a size in bytes.
fn with_map(mut record: Record, parts: &[(BlockState, u64)], cell_bytes: u64) -> Record {
    let mut start_bytes = 0;
    for &(state, size_bytes) in parts {
        record.surface.push(SurfacePart {
            start_bytes,
            size_bytes,
            state,
            written_to_bytes: None,
        });
        start_bytes += size_bytes;
    }
    if let Some(found) = &mut record.integrity {
        found.map_cell_bytes = Some(cell_bytes);
    }
    record
}

/// The lines of the map, behind its legend, and the legend.
fn picture(record: &Record, width: usize) -> (String, String) {
    let text = terminal(record, width, Style::Plain);
    let map = text.split("\n\n").find(|block| block.starts_with("map"));
    let lines: Vec<&str> = map.unwrap_or_default().lines().collect();
    let is_sign = |c: char| ".:+*coxlw?".contains(c);
    let first = lines
        .iter()
        .position(|line| line.len() > 7 && line.chars().all(is_sign))
        .unwrap_or(lines.len());
    (lines[first..].concat(), lines[..first].join(" "))
}

#[test]
fn the_shade_of_a_cell_is_its_share_of_bad_bytes() {
    // 256 cells of 1 MiB.
    let size = 256 * MIB;
    let mut parts = Vec::new();
    for (state, bad_bytes) in [
        (GOOD, 0),
        (LOST, BLOCK),
        (LOST, MIB / 50),
        (BlockState::Changed, MIB / 5),
        (BlockState::Changed, MIB * 3 / 5),
        (LOST, MIB),
        (BlockState::Overwritten, MIB),
        (BlockState::Unreadable, MIB),
        (BlockState::Refused, MIB),
    ] {
        let bad_bytes = bad_bytes / BLOCK * BLOCK;
        parts.extend([(state, bad_bytes), (GOOD, MIB - bad_bytes)]);
    }
    parts.push((GOOD, size - 9 * MIB));
    parts.retain(|part| part.1 > 0);
    let record = with_map(tested(StorageKind::Damaged, size, size), &parts, BLOCK);
    let (signs, legend) = picture(&record, 80);
    assert_eq!(signs.len(), 256);
    assert_eq!(signs.trim_end_matches('.'), ".:+*cloxw", "{signs}");
    assert!(legend.contains(": less than 1 % bad, +"), "{legend}");
    assert!(!legend.contains("estimated"), "{legend}");
}

#[test]
fn a_cell_with_two_kinds_of_damage_has_the_letter_of_the_larger() {
    let parts = [
        (BlockState::Unreadable, MIB / 4),
        (LOST, MIB / 2),
        (GOOD, 255 * MIB + MIB / 4),
    ];
    let record = with_map(
        tested(StorageKind::Damaged, 256 * MIB, 256 * MIB),
        &parts,
        BLOCK,
    );
    assert!(picture(&record, 80).0.starts_with("l."));
}

/// In a coarse map, each part has the worst state of its blocks: alone it would make all of it bad.
#[test]
fn a_coarse_map_is_shaded_by_the_counts() {
    let size = 256 * MIB;
    let mut record = with_map(
        tested(StorageKind::Damaged, size, size),
        &[(BlockState::Changed, size)],
        64 * BLOCK,
    );
    let bad = size / BLOCK / 50;
    if let Some(found) = &mut record.integrity {
        found.blocks = Some(BlockCounts {
            good_count: size / BLOCK - bad,
            changed_count: bad,
            ..BlockCounts::default()
        });
    }
    let (signs, legend) = picture(&record, 80);
    assert_eq!(signs, "+".repeat(256));
    assert!(legend.contains("estimated"), "{legend}");
}

#[test]
fn a_map_fits_a_narrow_terminal() {
    let size = 64 * MIB;
    let parts = [(GOOD, size / 2), (LOST, size / 2)];
    let record = with_map(tested(StorageKind::Limbo, size, size / 2), &parts, BLOCK);
    let (signs, _) = picture(&record, 40);
    assert_eq!(signs.len(), 38 * 4);
    assert_eq!(signs.matches('l').count(), 38 * 2);
}

#[test]
fn the_real_part_of_a_fake_is_usable_but_for_a_margin() {
    let real = 2_000_000_000;
    for kind in [
        StorageKind::Limbo,
        StorageKind::Wraparound,
        StorageKind::Chain,
    ] {
        let usable = usable_part(&tested(kind, 32_000_000_000, real)).unwrap();
        assert_eq!(usable.last_sector, real / 512 - 1);
        let end = 4 * MIB + usable.partition_mib.unwrap() * MIB;
        assert!(end <= real / 100 * 99 && end + MIB > real / 100 * 99);
    }
    for kind in [
        StorageKind::Confirmed,
        StorageKind::Dead,
        StorageKind::ReadOnly,
    ] {
        assert_eq!(usable_part(&tested(kind, 32_000_000_000, real)), None);
    }
    let whole = tested(StorageKind::Damaged, 32_000_000_000, 32_000_000_000);
    assert_eq!(usable_part(&whole), None);
}

#[test]
fn files_in_a_directory_have_no_sectors_of_the_device() {
    let mut record = tested(StorageKind::Limbo, 32_000_000_000, 2_000_000_000);
    record.target = Some(Target::of(TargetKind::Directory));
    assert_eq!(usable_part(&record), None);
}

#[test]
fn no_partition_is_offered_that_is_tiny_or_has_bad_blocks() {
    let tiny = tested(StorageKind::Limbo, 1 << 40, MIB);
    let usable = usable_part(&tiny).unwrap();
    assert_eq!((usable.last_sector, usable.partition_mib), (2047, None));
    let size = 256 * MIB;
    for (state, is_offered) in [
        (BlockState::Overwritten, true),
        (BlockState::Changed, false),
    ] {
        let parts = [
            (GOOD, 10 * MIB),
            (state, MIB),
            (GOOD, 117 * MIB),
            (LOST, 128 * MIB),
        ];
        let record = with_map(tested(StorageKind::Limbo, size, 128 * MIB), &parts, BLOCK);
        let usable = usable_part(&record).unwrap();
        assert_eq!(usable.partition_mib.is_some(), is_offered, "{state:?}");
    }
}

/// Its end is bad because it wears out, whichever test found that, with a map or without.
#[test]
fn no_partition_of_a_damaged_card_is_offered() {
    let size = 256 * MIB;
    for state in [BlockState::Unreadable, BlockState::Refused, LOST] {
        let parts = [(GOOD, 128 * MIB), (state, 128 * MIB)];
        for parts in [&parts[..], &[]] {
            let damaged = tested(StorageKind::Damaged, size, 128 * MIB);
            let usable = usable_part(&with_map(damaged, parts, BLOCK)).unwrap();
            assert_eq!(usable.partition_mib, None, "{state:?}");
            assert_eq!(usable.last_sector, 128 * MIB / BLOCK - 1);
        }
    }
}

#[test]
fn the_command_is_one_line_at_any_width() {
    let usable = UsablePart {
        last_sector: 3_906_249,
        partition_mib: Some(1884),
    };
    let command = "echo 4MiB,1884MiB,c | sudo sfdisk --wipe always --label dos /dev/sda";
    for width in [40, 80, 120] {
        let advice = usable.advice("/dev/sda", width).unwrap();
        assert!(advice.contains(&format!("\n  {command}\n")), "{advice}");
        let others = advice.lines().filter(|line| !line.contains(command));
        assert!(others.into_iter().all(|line| line.chars().count() <= width));
        let words: Vec<&str> = advice.split_whitespace().collect();
        let warning = "This command ERASES the partition table, and with it all files on /dev/sda.";
        assert!(words.join(" ").contains(warning), "{advice}");
    }
    let large = UsablePart {
        last_sector: 1 << 27,
        partition_mib: Some(40_000),
    };
    let advice = large.advice("/dev/sda", 80).unwrap();
    assert!(advice.contains("4MiB,40000MiB,7 |"), "{advice}");
}

#[test]
fn a_report_on_a_fake_begins_with_its_verdict_and_the_command() {
    let text = markdown(&survey(
        "Fake",
        &[tested(StorageKind::Limbo, 32 << 30, 8 << 30)],
    ));
    let parts = [
        "FALSE CAPACITY (limbo)",
        "Last good sector: 16777215",
        "\n    echo 4MiB,",
        "| sudo sfdisk --wipe always --label dos /dev/DEVICE\n",
        "One run",
    ];
    let places = parts.map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")));
    assert!(places.is_sorted(), "{places:?}: {text}");
    assert!(!text.contains("| what |"), "no empty table: {text}");
}

#[test]
fn a_part_of_a_fake_shows_nothing_of_the_rest() {
    let mut part = tested(StorageKind::Limbo, 4 << 30, 1 << 30);
    if let Some(found) = &mut part.integrity {
        found.from_bytes = Some(16 << 30);
    }
    let text = terminal(&part, 400, Style::Plain);
    assert!(
        text.contains("DATA LOST in the part tested, from 26.9 % to 33.63 %"),
        "{text}"
    );
    assert!(text.contains("The rest was not tested"), "{text}");
    assert_eq!(usable_part(&part), None);
    assert_eq!(result_of(&part), "DATA LOST in the part tested");
    let mut good = part;
    good.integrity.as_mut().unwrap().kind = StorageKind::Confirmed;
    assert_eq!(result_of(&good), "no bad block in the part tested");
}

#[test]
fn cards_with_faults_come_first_and_are_marked() {
    let named = |mut record: Record, product: &str| {
        record
            .labels
            .insert("product".to_owned(), product.to_owned());
        record
    };
    let good = || named(tested(StorageKind::Confirmed, 32 << 30, 32 << 30), "Good");
    let fake = named(tested(StorageKind::Limbo, 32 << 30, 8 << 30), "Fake");
    let text = markdown(&survey("Several", &[good(), fake]));
    let begin = text
        .find("1 of 2 cards needs attention: 1 to replace.")
        .unwrap();
    let row = "replace | Fake: 8.59 GB of 34.4 GB keep data | Fake |";
    let row = text.find(row).unwrap_or_else(|| panic!("{text}"));
    let summary = text.find("2 runs of 2 cards").unwrap();
    assert!(begin < row && row < summary, "{text}");
    assert!(!markdown(&survey("Good", &[good(), good()])).contains("attention"));
}

/// A fake goes back to its seller; a worn card is replaced, and the test itself may wear one.
#[test]
fn a_card_that_keeps_no_data_has_a_next_step() {
    let shown = |kind, test| {
        let mut record = tested(kind, 32_000_000_000, 2_000_000_000);
        record.integrity.as_mut().unwrap().test = test;
        terminal(&record, 200, Style::Plain)
    };
    let page = format!(
        "`cardmark report {} --for seller`",
        empty().id.to_string().split('-').next().unwrap()
    );
    for (kind, begin) in [
        (StorageKind::Limbo, "Return it: "),
        (StorageKind::Wraparound, "Return it: "),
        (StorageKind::Chain, "Return it: "),
        (
            StorageKind::Damaged,
            "Copy your data from it, and replace it.",
        ),
        (StorageKind::Dead, "Try another reader; "),
    ] {
        for test in [IntegrityTest::Probe, IntegrityTest::Verify] {
            let text = shown(kind, test);
            assert!(text.contains(begin) && text.contains(&page), "{text}");
        }
    }
    for kind in [StorageKind::Confirmed, StorageKind::Unfinished] {
        let text = shown(kind, IntegrityTest::Probe);
        assert!(!text.contains("seller"), "{text}");
    }
    let worn = shown(StorageKind::Damaged, IntegrityTest::Endure);
    assert!(!worn.contains("seller"), "{worn}");
}

#[test]
fn samples_confirm_a_capacity_only_up_to_the_cache_that_they_exclude() {
    let verdict = |excluded_cache_bytes| {
        let mut record = tested(StorageKind::Confirmed, 64_000_000_000, 64_000_000_000);
        let found = record.integrity.as_mut().unwrap();
        found.test = IntegrityTest::Probe;
        found.excluded_cache_bytes = excluded_cache_bytes;
        terminal(&record, 200, Style::Plain)
    };
    let hidden = "Capacity confirmed unless a cache of more than 1 GiB hides a loss: ";
    assert!(verdict(Some(1 << 30)).contains(hidden));
    for none in [None, Some(64_000_000_000)] {
        assert!(verdict(none).contains("Capacity confirmed: "));
    }
}

/// A verdict explains all that the test saw.
#[test]
fn verdicts_of_failed_tests() {
    let said = |record: &Record, part: &str| {
        let text = terminal(record, 400, Style::Plain);
        assert!(text.contains(part), "no {part} in {text}");
    };
    let of = |test: IntegrityTest, kind: StorageKind| {
        let mut record = tested(kind, 1_000_000_000_000, 1_000_000);
        let found = record.integrity.as_mut().unwrap();
        found.test = test;
        found.blocks = Some(BlockCounts::default());
        record
    };
    let mut record = of(IntegrityTest::Verify, StorageKind::Limbo);
    said(&record, "exist, less than 0.1 %.");
    record = of(IntegrityTest::Verify, StorageKind::ReadOnly);
    said(&record, "READ-ONLY: the device accepts no writes.");
    record.written_bytes = 3_000_000_000;
    said(&record, "the device accepted no more writes after 3 GB.");
    said(&record, "--for seller");
    record = of(IntegrityTest::Probe, StorageKind::Damaged);
    record.integrity.as_mut().unwrap().blocks = None;
    said(&record, "cannot be relied on.");
    record = of(IntegrityTest::Probe, StorageKind::Dead);
    record.integrity.as_mut().unwrap().hidden_cache_bytes = Some(1_000_000_000);
    said(&record, "only until other data, at most 1 GB, was written.");
    for kind in [StorageKind::Damaged, StorageKind::Dead] {
        record = of(IntegrityTest::Retention, kind);
        let found = record.integrity.as_mut().unwrap();
        found.rested_ms = Some(30 * 24 * 3_600_000);
        found.faded_count = Some(0);
        said(&record, "Nothing was lost during 30 d of rest");
        record.integrity.as_mut().unwrap().faded_count = Some(2_000_000);
        said(&record, "1.02 GB was lost during 30 d of rest.");
        said(&record, "Keep nothing on it for that long");
    }
    for (collateral_count, part) in [
        (0, "acknowledges before data are safe."),
        (9, "and 9 places that were not being written changed"),
    ] {
        record = of(IntegrityTest::PowerCut, StorageKind::LosesAcknowledged);
        let found = record.integrity.as_mut().unwrap();
        found.lost_acknowledged_count = Some(5);
        found.collateral_count = Some(collateral_count);
        said(&record, part);
        said(&record, "Try another reader");
    }
}

/// A full filesystem is no fault of the card, unless the test saw one before.
#[test]
fn a_test_that_its_filesystem_ended_has_no_verdict_on_the_card() {
    for (kinds, sentence, weight, in_list) in [
        (
            &[FindingKind::NoSpace][..],
            "No verdict on the card: its filesystem became full",
            Weight::Warning,
            "NOT FINISHED",
        ),
        (
            &[FindingKind::RemountedReadOnly],
            "No verdict on the card: its filesystem became read-only",
            Weight::Warning,
            "NOT FINISHED",
        ),
        (
            &[FindingKind::NoSpace, FindingKind::DataLost],
            "Do not rely on this device: it did not keep its data",
            Weight::Error,
            "DATA LOST",
        ),
    ] {
        let mut record = tested(StorageKind::Unfinished, 1_000_000, 1_000_000);
        for kind in kinds {
            let finding = Finding::new(*kind, Severity::Error, String::new());
            record.findings.push(finding);
        }
        let answer = answer_of_run(&record).unwrap();
        assert_eq!(
            (answer.sentence.as_str(), answer.weight),
            (sentence, weight)
        );
        assert_eq!(result_of(&record), in_list);
    }
}
