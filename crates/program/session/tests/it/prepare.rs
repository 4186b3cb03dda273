//! Preparations: the content of the device, the entry in the store, and the text of later runs.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};

use cardmark_core::{Fill, Preparation, Record, fill_content};
use cardmark_report::{Style, terminal};
use cardmark_session::{
    Chosen, CommandError, Consent, Exit, WholeDevice, choose, devices, prepare,
};
use cardmark_testkit::{Mount, needs};

use crate::card::Card;
use crate::run::{EIO, QUICKEST, Run, SPAN_BYTES, trial};
use crate::world::{Act, Ended, MIB, Person, World, text};

/// More than one stretch, and an end inside a block.
const SIZE: u64 = 100 * MIB + 4096 + 512;
/// Three stretches.
const LONG: u64 = 3 * STRETCH;
/// Number of bytes that become durable together.
const STRETCH: u64 = 64 * MIB;
/// Number of bytes compared at once.
const PIECE: u64 = 8 * MIB;

impl Card {
    fn prepare(&self, fill: Fill) -> (Ended, Option<u64>) {
        self.prepare_with(Person::absent(), fill, false)
    }

    /// Prepares all of it, from the beginning.
    #[track_caller]
    fn prepare_whole(&self, fill: Fill, restart: bool) -> Ended {
        let (ended, from) = self.prepare_with(Person::absent(), fill, restart);
        ended.assert_exit(Exit::Done);
        assert_eq!(from, Some(0));
        ended
    }

    /// A preparation that is stopped after its first stretch.
    #[track_caller]
    fn stop_preparing(&self, fill: Fill) -> Preparation {
        let person = Person::absent().at(1, Act::Stop);
        let (ended, _) = self.prepare_with(person, fill, false);
        ended.assert_heard(&["error: the preparation was stopped", "goes on there"]);
        let last = self.last().unwrap();
        assert_eq!(last.finished_at, None);
        last
    }

    /// The last preparation, as a run of now would name it.
    fn last(&self) -> Option<Preparation> {
        let Chosen::Real { resolution, .. } = choose(self.name()).unwrap() else {
            panic!("a device");
        };
        let known = devices(&resolution, &self.world.data).unwrap();
        let mut prepared = known.into_iter().filter_map(|device| device.prepared);
        prepared.next()
    }

    /// The end of this content without a gap on the device.
    fn reached(&self, preparation: &Preparation) -> u64 {
        let file = File::open(self.device.file()).unwrap();
        let seed = preparation.seed_number().unwrap();
        let mut found = vec![0; usize::try_from(PIECE).unwrap()];
        let mut expected = found.clone();
        for offset in (0..self.size_bytes).step_by(found.len()) {
            let length = usize::try_from(PIECE.min(self.size_bytes - offset)).unwrap();
            file.read_exact_at(&mut found[..length], offset).unwrap();
            fill_content(preparation.fill, seed, offset, &mut expected[..length]);
            let differs = |index: &usize| found[*index] != expected[*index];
            if let Some(index) = (0..length).find(differs) {
                return offset + index as u64;
            }
        }
        self.size_bytes
    }

    /// The device holds exactly the content that the store names, all of it.
    #[track_caller]
    fn assert_whole(&self, fill: Fill) -> Preparation {
        let last = self.last().unwrap();
        assert_eq!(last.fill, fill);
        let sizes = (last.size_bytes, last.done_bytes);
        assert_eq!(sizes, (self.size_bytes, self.size_bytes));
        assert!(last.finished_at.is_some());
        assert_eq!(self.reached(&last), self.size_bytes);
        assert_eq!(self.world.remembered(), <[&str; 0]>::default());
        last
    }
}

#[test]
fn every_fill_yields_exactly_its_content() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let mut seeds = Vec::new();
    for fill in [Fill::Ff, Fill::Random, Fill::Zero, Fill::Random] {
        card.prepare_whole(fill, false);
        seeds.push(card.assert_whole(fill).seed);
    }
    assert!(seeds[1].is_some() && seeds[3].is_some());
    assert_ne!(seeds[1], seeds[3], "every time other content");
}

#[test]
fn discard_gives_the_blocks_back() {
    needs!(Root, LoopDevice);
    let card = Card::new(SIZE);
    let held = || card.device.file().metadata().unwrap().blocks() * 512;
    assert!(held() >= SIZE);
    card.prepare_whole(Fill::Discard, false);
    assert!(held() < MIB, "{} bytes are still held", held());
    let last = card.last().unwrap();
    assert_eq!((last.fill, last.done_bytes), (Fill::Discard, SIZE));
    assert!(last.finished_at.is_some());
    assert_eq!(card.world.remembered(), <[&str; 0]>::default());
}

#[test]
fn a_stopped_preparation_goes_on_where_it_was() {
    needs!(Root, LoopDevice);
    let card = Card::new(LONG);
    for fill in [Fill::Random, Fill::Ff] {
        let begun = card.stop_preparing(fill);
        assert_eq!(begun.done_bytes, STRETCH);
        assert_eq!(card.reached(&begun), STRETCH);
        let person = Person::absent().at(1, Act::Stop);
        let (stopped, from) = card.prepare_with(person, fill, false);
        assert_eq!(from, Some(STRETCH));
        let day = &begun.started_at[..10];
        stopped.assert_heard(&[
            "continues at 33 %: ",
            &format!(" were written on {day}"),
            "66 % (134 MB of 201 MB) of the device is filled with ",
        ]);
        assert_eq!(card.reached(&begun), 2 * STRETCH);
        let (ended, from) = card.prepare(fill);
        ended.assert_exit(Exit::Done);
        assert_eq!(from, Some(2 * STRETCH));
        let last = card.assert_whole(fill);
        let identity = |one: &Preparation| (one.started_at.clone(), one.seed.clone());
        assert_eq!(identity(&last), identity(&begun));
    }
}

#[test]
fn another_fill_begins_again_and_so_does_the_first_after_it() {
    needs!(Root, LoopDevice);
    let card = Card::new(LONG);
    card.stop_preparing(Fill::Ff);
    let second = card.stop_preparing(Fill::Random);
    assert_eq!((second.fill, second.done_bytes), (Fill::Random, STRETCH));
    let ended = card.prepare_whole(Fill::Ff, false);
    assert!(!ended.heard.contains("continues"), "{ended:?}");
    card.assert_whole(Fill::Ff);
}

#[test]
fn it_begins_again_when_asked_to_or_when_the_device_holds_something_else() {
    needs!(Root, LoopDevice);
    let card = Card::new(LONG);
    let first = card.stop_preparing(Fill::Random);
    card.prepare_whole(Fill::Random, true);
    assert_ne!(card.assert_whole(Fill::Random).seed, first.seed);
    let second = card.stop_preparing(Fill::Random);
    // As another card of that size in the same reader would answer, or one that was used since.
    card.write(0, &[0; 4096]);
    let ended = card.prepare_whole(Fill::Random, false);
    ended.assert_heard(&[
        "begins again: ",
        "but at byte 0 the device holds something else",
    ]);
    assert_ne!(card.assert_whole(Fill::Random).seed, second.seed);
}

/// Content that is the same everywhere is on many cards.
#[test]
fn a_card_that_holds_the_same_content_is_not_continued_as_the_first() {
    needs!(Root, LoopDevice);
    let card = Card::new(LONG);
    let first = card.stop_preparing(Fill::Ff);
    card.write(0, &vec![0xff; usize::try_from(LONG).unwrap()]);
    // Between the places that are compared it holds something else.
    card.write(first.done_bytes / 2 + 512, &[7; 512]);
    let ended = card.prepare_whole(Fill::Ff, false);
    ended.assert_heard(&["begins again: "]);
    card.assert_whole(Fill::Ff);
}

/// A run that is stopped when it has just begun.
fn short_run(card: &Card) -> Record {
    let run = Run::of(card.name()).only(&[QUICKEST]).read_only();
    let ended = run.attended(&card.world, Person::absent().at(trial(1), Act::Stop));
    ended.record().clone()
}

#[test]
fn the_next_run_names_how_the_device_was_prepared() {
    needs!(Root, LoopDevice);
    let card = Card::new(SPAN_BYTES);
    let name = card.device.path().file_name().unwrap().to_str().unwrap();
    let prepared = |record: &Record| {
        let devices = record.devices.iter();
        let mut known = devices.filter(|device| device.prepared.is_some());
        let first = known.next()?;
        assert_eq!(first.name, name, "the disk below was not prepared");
        assert!(known.next().is_none());
        first.prepared.clone()
    };
    let shown = |record: &Record| terminal(record, 80, Style::default());
    let record = short_run(&card);
    assert_eq!(prepared(&record), None);
    assert!(!shown(&record).contains("prepared"));

    let partly = card.stop_preparing(Fill::Ff);
    let record = short_run(&card);
    assert_eq!(prepared(&record), Some(partly));
    let text = shown(&record);
    assert!(
        text.contains("prepared: partly filled with 0xFF (25 %"),
        "{text}"
    );

    assert_eq!(card.prepare(Fill::Ff).1, Some(STRETCH));
    let whole = card.last().unwrap();
    let record = short_run(&card);
    assert_eq!(prepared(&record), Some(whole.clone()));
    let day = &whole.finished_at.unwrap()[..10];
    let text = shown(&record);
    let said = format!("prepared: filled with 0xFF on {day}");
    assert!(text.contains(&said), "{text}");
}

#[test]
fn the_file_of_a_loop_device_is_neither_in_the_store_nor_in_a_record() {
    needs!(Root, LoopDevice);
    let card = Card::new(SPAN_BYTES);
    card.prepare_whole(Fill::Ff, false);
    short_run(&card);
    let stored = std::fs::read(&card.world.data.database).unwrap();
    let holds = |part: &str| {
        let mut windows = stored.windows(part.len());
        windows.any(|found| found == part.as_bytes())
    };
    assert!(holds("\"fill\":\"ff\""), "the record is in the store");
    let folder = card.world.scratch.path().file_name().unwrap();
    assert!(!holds(text(card.device.file())) && !holds(folder.to_str().unwrap()));
    let metadata = card.device.file().metadata().unwrap();
    assert!(!holds(&format!("{}:{}", metadata.dev(), metadata.ino())));
}

#[test]
fn an_error_in_the_middle_is_reported_with_its_place_and_what_was_written_is_kept() {
    needs!(Root, LoopDevice, Fuse);
    let card = Card::fragile(SIZE);
    card.below().fail_writes_beyond(70 * MIB, EIO);
    let (failed, _) = card.prepare(Fill::Random);
    failed.assert_error(
        Exit::Trouble,
        &[
            "error: the preparation failed",
            &format!("cause: cannot write at byte {}", 70 * MIB),
            "os error 5",
            "hint: the same command goes on there",
        ],
    );
    let last = card.last().unwrap();
    assert_eq!(last.done_bytes, 70 * MIB);
    assert_eq!(card.reached(&last), 70 * MIB);
    // As a device that came to itself again.
    card.below().fail_writes_beyond(u64::MAX, EIO);
    let (ended, from) = card.prepare(Fill::Random);
    ended
        .assert_exit(Exit::Done)
        .assert_heard(&["continues at 69 %"]);
    assert_eq!(from, Some(70 * MIB));
    card.assert_whole(Fill::Random);
}

#[test]
fn what_could_not_be_made_durable_is_not_counted() {
    needs!(Root, LoopDevice, Fuse);
    let card = Card::fragile(SIZE);
    card.below().fail_syncs(EIO);
    let (failed, _) = card.prepare(Fill::Ff);
    failed.assert_error(
        Exit::Trouble,
        &[
            "cannot make durable what was written at byte 0",
            "0 % (0 B of",
        ],
    );
    assert_eq!(card.last().unwrap().done_bytes, 0);
}

#[test]
fn a_device_that_cannot_discard_is_left_as_it_is_known() {
    needs!(Root, LoopDevice, Fuse);
    let card = Card::fragile(4 * MIB);
    card.prepare_whole(Fill::Ff, false);
    let before = card.assert_whole(Fill::Ff);
    let (refused, _) = card.prepare(Fill::Discard);
    refused.assert_error(
        Exit::Trouble,
        &[
            "cause: the device cannot discard",
            "hint: `--fill ff` writes",
        ],
    );
    assert_eq!(card.assert_whole(Fill::Ff), before);
}

#[test]
fn only_a_whole_device_is_prepared() {
    needs!(Root, LoopDevice, Ext4);
    let world = World::new();
    let refused = |target: &str| match WholeDevice::to_write(target, "all of it is lost") {
        Ok(_) => panic!("{target} is no device"),
        Err(CommandError {
            exit, what, hints, ..
        }) => (exit, format!("{what}\n{}", hints.join("\n"))),
    };
    let mounted = Mount::ext4(world.scratch.path(), 64 * MIB);
    let file = world.path("file");
    std::fs::write(&file, "precious").unwrap();
    for (target, exit, parts) in [
        (
            text(mounted.folder()),
            Exit::Usage,
            ["is a directory", "name the block device"],
        ),
        (
            "sim:a1-32gb",
            Exit::Usage,
            ["is a simulated card", "name a block device"],
        ),
        (
            text(&file),
            Exit::Usage,
            ["neither a directory nor a block device", ""],
        ),
        (
            text(&world.path("missing")),
            Exit::Trouble,
            ["cannot find", ""],
        ),
    ] {
        let (found, words) = refused(target);
        assert_eq!(found, exit, "{words}");
        assert!(parts.iter().all(|part| words.contains(part)), "{words}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
}

#[test]
fn nothing_is_written_without_consent() {
    needs!(Root, LoopDevice);
    let card = Card::new(4 * MIB);
    let ended = card.device.unwritten(|_| {
        card.world.job(|session| {
            let device = WholeDevice::to_write(card.name(), "all of it is lost")?;
            let consent = Consent::default();
            prepare(session, card.name(), &device, (Fill::Ff, false), &consent).map(|_| Exit::Done)
        })
    });
    ended.assert_error(Exit::Refused, &["there is no terminal to confirm"]);
    assert!(card.is_untouched());
    assert_eq!(card.last(), None);
    card.world.assert_nothing_kept();
}

/// Another job has the turn of this disk: nothing is written until it gives it back.
#[test]
fn it_waits_for_another_job_on_its_disk() {
    needs!(Root, LoopDevice);
    let card = Card::new(4 * MIB);
    let disk = card.device.path().file_name().unwrap().to_str().unwrap();
    let beside = card.world.data.lock_file.as_deref().unwrap();
    let lock = |end: &str| {
        let path = format!("{}.{disk}{end}", text(beside));
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        options.open(path).unwrap()
    };
    let other = lock("");
    other.lock().unwrap();
    let next = lock(".next");
    std::thread::scope(|scope| {
        let job = scope.spawn(|| card.prepare(Fill::Ff));
        // Whoever waits for a turn holds the next one.
        while next.try_lock().is_ok() {
            next.unlock().unwrap();
            assert!(!job.is_finished(), "it did not wait");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let was_untouched = card.is_untouched();
        other.unlock().unwrap();
        job.join().unwrap().0.assert_exit(Exit::Done);
        assert!(was_untouched);
    });
    card.assert_whole(Fill::Ff);
}
