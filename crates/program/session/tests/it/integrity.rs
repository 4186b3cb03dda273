//! Tests of whole cards: simulated ones with a known truth, and loop devices.

use std::fs::File;
use std::time::Duration;

use cardmark_core::{FindingKind, IntegrityTest, Record, StorageKind, WritePattern};
use cardmark_integrity::{EndureEnd, Load};
use cardmark_judge::{Fault, Reason, attention, cards_of, faults};
use cardmark_report::{Style, terminal, usable_part};
use cardmark_session::{
    CommandError, Consent, EndureRequest, Exit, LoanTerms, ProbeTerms, Session, TestRequest,
    TestResult, Tested, VerifyPart, VerifyScope, VerifyTarget, anatomy, endure, probe, to_endure,
    verify, verify_reading,
};
use cardmark_testkit::{Mount, needs, run_tool};

use crate::card::{Card, cycles};
use crate::world::{Ended, MIB, World, text};

const WHOLE: &str = "a test of the whole";
/// Size of the cards on loop devices: more than one step of a verification.
const SIZE: u64 = 72 * MIB;

/// Done by a test of a target, which no one has agreed to be written.
fn tested(
    world: &World,
    test: impl FnOnce(&Session<'_>, &TestRequest<'_>) -> Result<TestResult, CommandError>,
) -> Ended {
    tested_within(world, 60, test)
}

/// The same, of a person who waits this number of seconds for an answer.
fn tested_within(
    world: &World,
    seconds: u64,
    test: impl FnOnce(&Session<'_>, &TestRequest<'_>) -> Result<TestResult, CommandError>,
) -> Ended {
    world.job(|session| {
        let session = Session {
            limit: Duration::from_secs(seconds),
            ..session.clone()
        };
        let request = TestRequest {
            seed: None,
            consent: &Consent::default(),
            restart: false,
        };
        test(&session, &request)
    })
}

fn probing(world: &World, name: &str) -> Ended {
    tested(world, |session, request| {
        let tested = Tested::to_write(name, WHOLE)?;
        let (loan, terms) = (LoanTerms::default(), ProbeTerms::default());
        probe(session, &tested, request, &loan, terms)
    })
}

fn verifying(world: &World, name: &str, scope: &VerifyScope) -> Ended {
    tested(world, |session, request| {
        let target = VerifyTarget::named(name)?;
        verify(session, name, &target, request, scope)
    })
}

fn reading(world: &World, name: &str, scope: &VerifyScope) -> Ended {
    tested(world, |session, request| {
        verify_reading(session, &Tested::to_read(name, WHOLE)?, request.seed, scope)
    })
}

fn enduring(world: &World, name: &str, end: EndureEnd, after_days: Option<u32>) -> Ended {
    tested(world, |session, request| {
        let request = EndureRequest {
            test: TestRequest { ..*request },
            end,
            after_days,
        };
        endure(
            session,
            &to_endure(name, false, Some(&world.data))?,
            &request,
        )
    })
}

fn part(from_percent: f64, to_percent: f64) -> VerifyScope {
    let part = VerifyPart {
        from_percent,
        to_percent,
    };
    VerifyScope {
        part: Some(part),
        ..VerifyScope::default()
    }
}

/// The record as a terminal shows it, in lines that end only where they must.
fn shown(record: &Record) -> String {
    terminal(record, 400, Style::Plain)
}

/// Checks that the record is shown with these parts.
#[track_caller]
fn assert_shown(record: &Record, parts: &[&str]) {
    let shown = shown(record);
    for part in parts {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
}

#[test]
fn each_simulated_fake_is_recognised() {
    let world = World::new();
    let mut count = 0;
    for (model, kind, real_bytes) in [
        ("a1-32gb", StorageKind::Confirmed, 32_010_928_128),
        ("limbo-32gb", StorageKind::Limbo, 1_777_645_568),
        ("wrap-700mb", StorageKind::Wraparound, 700 * MIB),
        ("rotten-64gb", StorageKind::Damaged, 64_000_000_000),
    ] {
        let name = format!("sim:{model}");
        for is_verify in [false, true] {
            let (test, ended) = match is_verify {
                false => (IntegrityTest::Probe, probing(&world, &name)),
                true => (
                    IntegrityTest::Verify,
                    verifying(&world, &name, &VerifyScope::default()),
                ),
            };
            ended.assert_exit(match kind {
                StorageKind::Confirmed => Exit::Done,
                _ => Exit::Bad,
            });
            let record = ended.record();
            let found = record.integrity.as_ref().unwrap();
            let result = (found.test, found.kind, found.real_bytes);
            assert_eq!(result, (test, kind, real_bytes), "{model}");
            assert!(record.written_bytes > 0);
            let map: u64 = record.surface.iter().map(|part| part.size_bytes).sum();
            assert_eq!(map, if is_verify { found.size_bytes } else { 0 });
            count += 1;
            let runs = world.runs();
            assert_eq!(runs.len(), count);
            let stored = runs[0].integrity.as_ref().unwrap();
            assert_eq!((stored.test, stored.kind), (test, kind), "{model}");
            assert_eq!(runs[0].id, record.id);
            assert!(!shown(&runs[0]).is_empty());
        }
    }
}

#[test]
fn a_part_of_a_card_is_no_verdict_on_the_rest() {
    let world = World::new();
    let good = verifying(&world, "sim:limbo-32gb", &part(0.0, 5.0));
    good.assert_exit(Exit::Done);
    assert_shown(
        good.record(),
        &[
            "No bad block: from 0 % to 5 % of 32.5 GB (30.3 GiB), every block kept its data.",
            "the capacity is not confirmed",
        ],
    );
    let bad = verifying(&world, "sim:limbo-32gb", &part(50.0, 60.0));
    bad.assert_exit(Exit::Bad);
    assert_shown(
        bad.record(),
        &["DATA LOST in the part tested, from 50 % to 60 % of 32.5 GB"],
    );
    assert!(!shown(bad.record()).contains("FALSE"));
    assert_eq!(usable_part(bad.record()), None);
    // Parts that follow each other leave no gap and do not overlap.
    let mut end = 0;
    for (from, to) in [(0.0, 33.3), (33.3, 66.7), (66.7, 100.0)] {
        let ended = verifying(&world, "sim:a1-32gb", &part(from, to));
        let found = ended.record().integrity.as_ref().unwrap();
        assert_eq!(
            (found.test, found.from_bytes),
            (IntegrityTest::Verify, Some(end))
        );
        end += found.size_bytes;
    }
    assert_eq!(end, 32_010_928_128);
    for (from, to) in [(20.0, 10.0), (100.0, 100.0)] {
        verifying(&world, "sim:a1-32gb", &part(from, to))
            .assert_error(Exit::Usage, &["there is nothing to test"]);
    }
}

#[test]
fn a_part_that_a_cache_may_hold_is_shown_with_a_warning() {
    let world = World::new();
    let warning = "A cache of up to 1.07 GB (1 GiB) could hide losses in so small a part.";
    for (to_percent, is_small) in [(3.0, true), (4.0, false)] {
        let ended = verifying(&world, "sim:a1-32gb", &part(0.0, to_percent));
        ended.assert_exit(Exit::Done);
        let shown = shown(ended.record());
        assert_eq!(shown.contains(warning), is_small, "{shown}");
    }
    // The truth: losses of a fake behind a cache, beyond its real capacity.
    let fake = verifying(&world, "sim:huge-cache-64gb", &part(50.0, 51.0));
    fake.assert_exit(Exit::Done);
    assert_shown(fake.record(), &[warning]);
}

#[test]
fn a_card_is_read_twice_and_nothing_is_written() {
    let world = World::new();
    for (model, kind, message) in [
        (
            "a1-32gb",
            StorageKind::Readable,
            "was read twice, with the same content",
        ),
        (
            "patchy-32gb",
            StorageKind::Readable,
            "Slow sectors, the slowest first:",
        ),
        (
            "unreadable-64gb",
            StorageKind::Damaged,
            "could not be read. Copy what you need",
        ),
        (
            "flipping-32gb",
            StorageKind::Damaged,
            "differed when read again",
        ),
    ] {
        let ended = reading(&world, &format!("sim:{model}"), &part(0.0, 80.0));
        ended.assert_exit(match kind {
            StorageKind::Damaged => Exit::Bad,
            _ => Exit::Done,
        });
        assert_shown(ended.record(), &[message]);
        let stored = &world.runs()[0];
        let found = stored.integrity.as_ref().unwrap();
        let test = (found.test, found.kind);
        assert_eq!(test, (IntegrityTest::Read, kind), "{model}");
        assert_eq!((stored.written_bytes, found.from_bytes), (0, Some(0)));
        assert_eq!(found.slow.is_empty(), model != "patchy-32gb", "{model}");
    }
    let folder = world.folder("folder");
    reading(&world, text(&folder), &VerifyScope::default())
        .assert_error(Exit::Usage, &["is a directory", WHOLE]);
}

#[test]
fn each_card_that_breaks_under_load_passes_without_it() {
    let world = World::new();
    let load = |pattern, queue_depth, discards| {
        Some(Load {
            pattern,
            queue_depth,
            discards,
        })
    };
    for (model, load) in [
        ("crossing-32gb", load(WritePattern::Sequential, 32, false)),
        ("forgetting-32gb", load(WritePattern::Random, 1, false)),
        ("spilling-32gb", load(WritePattern::Sequential, 1, true)),
    ] {
        let name = format!("sim:{model}");
        let plain = verifying(&world, &name, &part(0.0, 10.0));
        plain.assert_exit(Exit::Done);
        let found = plain.record().integrity.as_ref().unwrap();
        let shown_load = (found.pattern, found.queue_depth, found.discarded_bytes);
        assert_eq!(shown_load, (None, None, None));
        let scope = VerifyScope {
            load,
            ..part(0.0, 10.0)
        };
        let loaded = verifying(&world, &name, &scope);
        loaded.assert_exit(Exit::Bad);
        assert_shown(
            loaded.record(),
            &[
                "DATA LOST in the part tested",
                "requests in flight, at most",
            ],
        );
    }
}

/// The advised command makes a partition of the real part, and of nothing else.
#[test]
fn a_fake_gets_a_partition_of_what_is_real() {
    needs!(Sfdisk);
    let world = World::new();
    let ended = probing(&world, "sim:limbo-32gb");
    ended.assert_exit(Exit::Bad);
    let last_sector = 1_777_645_568 / 512 - 1;
    let message = format!("Last good sector: {last_sector} ");
    assert_shown(ended.record(), &[&message]);
    let image = world.path("image");
    let advice = usable_part(ended.record()).unwrap();
    let advice = advice.advice(text(&image), 400).unwrap();
    let command = advice.lines().find(|line| line.contains("sfdisk"));
    let command = command.unwrap().replace("sudo ", "");
    File::create(&image)
        .unwrap()
        .set_len(32_010_928_128)
        .unwrap();
    let table = world.path("table");
    let dump = format!("{command} && sfdisk --json \"$0\" >\"$1\"");
    run_tool("sh", &["-c", &dump, text(&image), text(&table)]);
    let table = std::fs::read_to_string(table).unwrap();
    let table: serde_json::Value = serde_json::from_str(&table).unwrap();
    let parts = table["partitiontable"]["partitions"].as_array().unwrap();
    let [part] = parts.as_slice() else {
        panic!("{table}");
    };
    let sectors = |name: &str| part[name].as_u64().unwrap();
    assert_eq!(sectors("start"), 4 * MIB / 512);
    let end = sectors("start") + sectors("size");
    let is_real = end < last_sector && end > last_sector / 100 * 98;
    assert!(is_real, "{end} {last_sector}");
}

#[test]
fn the_inside_of_a_card_is_found() {
    let world = World::new();
    let ended = tested(&world, |session, request| {
        let card = Tested::to_write("sim:units-16gb", WHOLE)?;
        anatomy(session, &card, request, &LoanTerms::default(), (true, None))
    });
    ended.assert_exit(Exit::Done);
    assert_shown(
        ended.record(),
        &[
            "erase blocks look 4 MiB large",
            "5 units of 4 MiB (as found)",
        ],
    );
}

#[test]
fn endure_ends_when_a_share_is_bad_or_after_its_cycles() {
    let world = World::new();
    let until = |bad_share| EndureEnd {
        bad_share,
        most_bytes: None,
        most_cycles: None,
    };
    let worn = enduring(&world, "sim:wearing-1gb", until(0.01), None);
    worn.assert_exit(Exit::Bad);
    let found = worn.record().integrity.as_ref().unwrap();
    let shares: Vec<f64> = found.milestones.iter().map(|one| one.bad_ratio).collect();
    assert_eq!(shares, [0.0, 0.001, 0.01]);
    enduring(&world, "sim:a1-32gb", until(0.5), None)
        .assert_error(Exit::Usage, &["never wears out", "--cycles"]);
    let three = enduring(&world, "sim:a1-32gb", cycles(3), None);
    three.assert_exit(Exit::Done);
    let found = three.record().integrity.as_ref().unwrap();
    assert_eq!(found.cycles_count, Some(3));
}

#[test]
fn what_a_card_forgets_in_a_rest_is_found() {
    let world = World::new();
    let ended = enduring(&world, "sim:fading-1gb", cycles(1), Some(120));
    ended.assert_exit(Exit::Bad);
    let found = ended.record().integrity.as_ref().unwrap();
    assert_eq!(found.test, IntegrityTest::Retention);
    assert_eq!(found.rested_ms, Some(120 * 86_400 * 1_000));
    let faded = found.faded_count.unwrap();
    assert!(faded > 0 && faded == found.blocks.unwrap().changed_count);
    assert_shown(ended.record(), &["lost during the rest"]);
    assert_eq!(world.runs().len(), 2, "one of the cycles");
}

#[test]
fn a_device_is_read_without_consent_even_in_use() {
    needs!(Root, LoopDevice, Ext4);
    let card = Card::new(SIZE);
    let idle = reading(&card.world, card.name(), &VerifyScope::default());
    idle.assert_exit(Exit::Done);
    assert_shown(idle.record(), &["READABLE: every block of 75.5 MB"]);
    assert!(!idle.heard.contains("in use"), "{idle:?}");
    assert!(card.is_untouched());
    let mounted = Mount::ext4(card.world.scratch.path(), 96 * MIB);
    let name = text(mounted.device().path());
    reading(&card.world, name, &VerifyScope::default())
        .assert_exit(Exit::Done)
        .assert_heard(&["the device is in use: content that differs"]);
}

#[test]
fn no_test_writes_to_a_device_without_consent() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    for ended in card.device.unwritten(|_| {
        [
            probing(&card.world, card.name()),
            verifying(&card.world, card.name(), &VerifyScope::default()),
            enduring(&card.world, card.name(), cycles(1), None),
        ]
    }) {
        ended.assert_error(
            Exit::Refused,
            &["there is no terminal to confirm", "nothing was written"],
        );
    }
    card.world.assert_nothing_kept();
}

#[test]
fn an_honest_device_passes_under_load_and_its_discards_reach_it() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let scope = VerifyScope {
        load: Some(Load {
            pattern: WritePattern::Random,
            queue_depth: 32,
            discards: true,
        }),
        ..VerifyScope::default()
    };
    let before = card.device.discarded_bytes();
    let ended = card.verify(&scope);
    ended.assert_exit(Exit::Done);
    let record = ended.record();
    let found = record.integrity.as_ref().unwrap();
    assert_eq!(found.kind, StorageKind::Confirmed);
    assert_eq!(found.pattern, Some(WritePattern::Random));
    assert_eq!(found.queue_depth, Some(32));
    let discarded = found.discarded_bytes.unwrap();
    assert_eq!(card.device.discarded_bytes() - before, discarded);
    let share = SIZE * 2 / 5..SIZE * 3 / 5;
    assert!(share.contains(&discarded), "{discarded}");
    assert_eq!(record.written_bytes, SIZE + discarded);
    assert_eq!(card.world.remembered(), <[&str; 0]>::default());
}

/// The device is bad, whatever the test would have found; only its end is missing.
#[test]
fn a_card_that_fails_during_a_test_leaves_a_record_that_says_so() {
    for (model, kind, how) in [
        ("vanishing-32gb", FindingKind::Vanished, "it disappeared"),
        ("silent-32gb", FindingKind::NoAnswer, "it stopped answering"),
    ] {
        let name = format!("sim:{model}");
        for test in 0..4 {
            let world = World::new();
            let ended = match test {
                0 => probing(&world, &name),
                1 => verifying(&world, &name, &VerifyScope::default()),
                2 => reading(&world, &name, &VerifyScope::default()),
                _ => enduring(&world, &name, cycles(1), None),
            };
            ended
                .assert_exit(Exit::Trouble)
                .assert_heard(&["hint: take it out and put it in again"]);
            let record = ended.record();
            assert_eq!(world.runs().first().map(|run| run.id), Some(record.id));
            let found = record.integrity.as_ref().unwrap();
            assert_eq!(found.kind, StorageKind::Unfinished);
            assert_eq!(faults(record), [Fault::Finding(kind)]);
            assert!((test == 2) == (record.written_bytes == 0), "{model} {test}");
            assert_shown(record, &[&format!("Do not rely on this device: {how}")]);
            let runs = [record.clone()];
            let cards = cards_of(&runs);
            let rows = attention(&cards);
            let reasons: Vec<&Reason> = rows
                .iter()
                .filter_map(|row| Some(&row.worst()?.reason))
                .collect();
            assert_eq!(reasons, [&Reason::Failing { finding: kind }]);
        }
    }
}

/// A longer limit waits for the answer.
#[test]
fn a_card_that_answers_within_the_limit_has_not_failed() {
    let world = World::new();
    for (seconds, kind) in [(5, StorageKind::Unfinished), (700, StorageKind::Confirmed)] {
        let ended = tested_within(&world, seconds, |session, request| {
            let tested = Tested::to_write("sim:silent-32gb", WHOLE)?;
            let (loan, terms) = (LoanTerms::default(), ProbeTerms::default());
            probe(session, &tested, request, &loan, terms)
        });
        assert_eq!(ended.record().integrity.as_ref().unwrap().kind, kind);
    }
    assert_eq!(world.runs().len(), 2);
}
